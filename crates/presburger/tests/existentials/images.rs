//! Images of boxes under sums with factors, remainders and quotients, whose points are listed.

use std::collections::BTreeSet;

use tangram_presburger::{Budget, Error, Integer, Relation};

use super::formula::Source;

/// The values of the parameter that are tried.
const PARAMETERS: std::ops::Range<i64> = -1..6;

/// `factors` times the inputs, plus a number; then the remainder or the quotient by one, if there
/// is one.
struct Output {
    factors: Vec<i64>,
    constant: i64,
    rounding: Option<(bool, i64)>,
}

/// A relation `[n] -> { [a, b, c] -> [x, y] : .. }`: the ends of each input, of which a missing one
/// is the parameter, and the outputs.
pub struct Image {
    ends: Vec<Option<i64>>,
    outputs: Vec<Output>,
}

const INPUTS: [&str; 3] = ["a", "b", "c"];
const OUTPUTS: [&str; 2] = ["x", "y"];

impl Image {
    pub fn random(source: &mut Source) -> Self {
        let inputs = 1 + source.below(3) as usize;
        let ends = (0..inputs).map(|_| match source.below(2) {
            0 => None,
            _ => Some(1 + source.below(5)),
        });
        let ends = ends.collect();
        let outputs = (0..1 + source.below(2)).map(|_| {
            let factors = (0..inputs).map(|_| source.number(13)).collect();
            let rounding = match source.below(4) {
                0 => Some((true, 2 + source.below(9))),
                1 => Some((false, 2 + source.below(9))),
                _ => None,
            };
            Output { factors, constant: source.number(9), rounding }
        });
        Self { ends, outputs: outputs.collect() }
    }

    /// As a set with a quantifier, and as a relation.
    pub fn texts(&self) -> [String; 2] {
        let inputs = INPUTS[..self.ends.len()].join(", ");
        let outputs = OUTPUTS[..self.outputs.len()].join(", ");
        let mut facts = Vec::new();
        for (end, name) in self.ends.iter().zip(INPUTS) {
            let end = end.map_or_else(|| "n".to_owned(), |end| end.to_string());
            facts.push(format!("0 <= {name} <= {end}"));
        }
        for (output, name) in self.outputs.iter().zip(OUTPUTS) {
            let terms = output.factors.iter().zip(INPUTS).map(|(v, name)| format!("{v}*{name} + "));
            let sum = terms.collect::<String>() + &output.constant.to_string();
            facts.push(match output.rounding {
                None => format!("{name} = {sum}"),
                Some((true, by)) => format!("{name} = ({sum}) mod {by}"),
                Some((false, by)) => format!("{name} = floor(({sum})/{by})"),
            });
        }
        let facts = facts.join(" and ");
        [
            format!("[n] -> {{ [{outputs}] : exists {inputs} : {facts} }}"),
            format!("[n] -> {{ [{inputs}] -> [{outputs}] : {facts} }}"),
        ]
    }

    /// The points for a value of the parameter.
    fn points(&self, n: i64) -> BTreeSet<Vec<i64>> {
        let mut inputs = vec![Vec::new()];
        for end in &self.ends {
            let values = 0..=end.unwrap_or(n);
            let longer = inputs.iter().flat_map(|point: &Vec<i64>| {
                values.clone().map(|value| [&point[..], &[value]].concat())
            });
            inputs = longer.collect();
        }
        let image = |inputs: Vec<i64>| {
            let value = |output: &Output| {
                let terms =
                    output.factors.iter().zip(&inputs).map(|(factor, value)| factor * value);
                let sum = output.constant + terms.sum::<i64>();
                match output.rounding {
                    None => sum,
                    Some((true, by)) => sum.rem_euclid(by),
                    Some((false, by)) => sum.div_euclid(by),
                }
            };
            self.outputs.iter().map(value).collect()
        };
        inputs.into_iter().map(image).collect()
    }

    /// Compares the points for each value of the parameter, and how many there are; says whether the
    /// number as a function of the parameter was within its budget.
    pub fn check(&self, steps: u64) -> Result<bool, Error> {
        let [set, relation] = self.texts();
        let budget = Budget::steps(steps);
        let range = Relation::parse(&relation, &budget)?.range(&budget)?;
        let read = Relation::parse(&set, &budget)?;
        let count = match read.card(&Budget::steps(steps)) {
            Err(Error::Steps { .. }) => None,
            count => Some(count?),
        };
        for n in PARAMETERS {
            let expected: Vec<Vec<i64>> = self.points(n).into_iter().collect();
            for (what, all) in [("the set", &read), ("the range", &range)] {
                let at = Relation::parse(&format!("[n] -> {{ : n = {n} }}"), &budget)?;
                let found = all.intersect_params(&at, &budget)?.points(&budget)?;
                let small = |point: &Vec<Integer>| -> Vec<i64> {
                    point[1..].iter().filter_map(Integer::to_i64).collect()
                };
                let found: Vec<Vec<i64>> = found.iter().map(small).collect();
                assert_eq!(found, expected, "{what} of {set} where n is {n}: {all}");
            }
            if let Some(count) = &count {
                let found = count.evaluate(&[n])?.to_string();
                let wanted = expected.len().to_string();
                assert_eq!(found, wanted, "how many points {set} has where n is {n}");
            }
            let fixed = set.replacen("[n] -> {", "{", 1).replace("<= n", &format!("<= {n}"));
            let alone = Relation::parse(&fixed, &budget)?.card(&budget)?.constant_value()?;
            assert_eq!(
                alone.to_string(),
                expected.len().to_string(),
                "how many points {fixed} has"
            );
        }
        Ok(count.is_some())
    }
}
