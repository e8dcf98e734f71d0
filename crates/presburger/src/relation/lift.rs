//! Lifting: divisions become dimensions.

use crate::{Budget, Conjunction, Division, Error, Integer, Relation, Space, Tuple};

impl Relation {
    /// Makes a set of pairs `lifted[x -> local[q0, q1..]]` of the points and the values of the
    /// divisions that their constraints use; no division is left.
    ///
    /// Disjuncts share equal divisions. The first sides of the pairs are the points of the set.
    ///
    /// # Errors
    /// [`Error::Space`] for a relation.
    ///
    /// # Source
    /// isl `isl_set_lift`.
    pub fn lift(&self, budget: &Budget) -> Result<Self, Error> {
        let space = self.space();
        if !self.is_set() {
            return Err(Error::Space { expected: "a set".into(), found: space.to_string() });
        }
        let dims = space.params.len() + space.output.dims.len();
        let parts = self.conjunctions();
        let mut all: Vec<Division> = Vec::new();
        let mut places = Vec::new();
        for part in &parts {
            budget.spend(1 + part.divisions.len())?;
            let mut to: Vec<usize> = Vec::new();
            for division in &part.divisions {
                let numerator = moved(&division.numerator, dims, &to, all.len());
                let known = all.iter().position(|known| {
                    let short = numerator.len().min(known.numerator.len());
                    let rest = numerator[short..].iter().chain(&known.numerator[short..]);
                    known.denominator == division.denominator
                        && known.numerator[..short] == numerator[..short]
                        && rest.into_iter().all(Integer::is_zero)
                });
                to.push(known.unwrap_or(all.len()));
                if known.is_none() {
                    let denominator = division.denominator.clone();
                    all.push(Division { numerator, denominator });
                }
            }
            places.push(to);
        }
        let names = (0..all.len()).map(|index| format!("q{index}"));
        let pair = Tuple::wrapping(space.output.clone(), Tuple::new("local", names));
        let output = Tuple { name: "lifted".to_owned(), ..pair };
        let columns = 1 + dims + all.len();
        let mut limits = Vec::new();
        for (index, division) in all.iter().enumerate() {
            limits.extend(bounds(division, 1 + dims + index, columns));
        }
        let lifted = |(part, to): (&Conjunction, &Vec<usize>)| {
            let wide = |row: &Vec<Integer>| moved(row, dims, to, all.len());
            let inequalities = part.inequalities.iter().map(wide).chain(limits.clone()).collect();
            let equalities = part.equalities.iter().map(wide).collect();
            Conjunction { divisions: Vec::new(), equalities, inequalities }
        };
        let parts: Vec<Conjunction> = parts.iter().zip(&places).map(lifted).collect();
        Self::from_conjunctions(Space::set(space.params.clone(), output), &parts)
    }
}

/// Puts division `i` of a row at `to[i]` of `count`.
fn moved(row: &[Integer], dims: usize, to: &[usize], count: usize) -> Vec<Integer> {
    let mut wide = row[..=dims].to_vec();
    wide.resize(1 + dims + count, Integer::ZERO);
    for (value, place) in row[1 + dims..].iter().zip(to) {
        wide[1 + dims + place] = value.clone();
    }
    wide
}

/// Writes `0 <= numerator - denominator * q < denominator`.
fn bounds(division: &Division, column: usize, columns: usize) -> [Vec<Integer>; 2] {
    let mut low = division.numerator.clone();
    low.resize(columns, Integer::ZERO);
    low[column] = division.denominator.neg();
    let mut high: Vec<Integer> = low.iter().map(Integer::neg).collect();
    high[0] = high[0].add(&division.denominator).sub(&Integer::ONE);
    [low, high]
}
