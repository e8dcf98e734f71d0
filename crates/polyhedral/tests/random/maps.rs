//! Random maps of instances to points: disjunctive, piecewise, many-valued.

use std::collections::BTreeSet;

use super::condition::{Condition, Piecewise};
use super::{Dice, PARAMETER, Timed, points};

/// The side of the box that points of relations without a formula are in.
const SIDE: i128 = 3;

/// Some pairs of instances of one statement and points.
#[derive(Debug)]
struct Piece {
    statement: usize,
    condition: Condition,
    /// Formulas of the point; without them, every point of a box that the condition allows.
    formulas: Option<Vec<Piecewise>>,
}

/// A random map.
#[derive(Debug)]
pub struct RandomMap {
    /// For each statement, the sizes of its box.
    statements: Vec<Vec<i128>>,
    dims: usize,
    pieces: Vec<Piece>,
}

fn names(first: &str, count: usize) -> Vec<String> {
    (0..count).map(|index| format!("{first}{index}")).collect()
}

impl RandomMap {
    /// With `single`, each instance has one point.
    pub fn new(dice: &mut Dice, single: bool) -> Self {
        let sizes = |dice: &mut Dice| (0..1 + dice.roll(2)).map(|_| dice.between(2, 5)).collect();
        let statements: Vec<Vec<i128>> = (0..1 + dice.roll(2)).map(|_| sizes(dice)).collect();
        let dims = 1 + dice.roll(2);
        let mut pieces = Vec::new();
        for (statement, sizes) in statements.iter().enumerate() {
            let count = if single { 1 } else { 1 + dice.roll(2) };
            for _ in 0..count {
                let formulas = (single || dice.chance(60))
                    .then(|| (0..dims).map(|_| Piecewise::random(dice, 1 + sizes.len())).collect());
                let variables = 1 + sizes.len() + if formulas.is_some() { 0 } else { dims };
                let condition = Condition::random(dice, variables);
                pieces.push(Piece { statement, condition, formulas });
            }
        }
        Self { statements, dims, pieces }
    }

    /// The map in isl's notation.
    pub fn text(&self) -> String {
        let mut texts = Vec::new();
        for piece in &self.pieces {
            let sizes = &self.statements[piece.statement];
            let instance = names("i", sizes.len());
            let mut variables = vec![PARAMETER.to_owned()];
            variables.extend(instance.clone());
            let mut bounds: Vec<String> = instance
                .iter()
                .zip(sizes)
                .map(|(name, size)| format!("0 <= {name} < {size}"))
                .collect();
            let mut outputs = vec![(Vec::new(), bounds.clone())];
            match &piece.formulas {
                Some(formulas) => {
                    for formula in formulas {
                        let mut grown = Vec::new();
                        for (point, conditions) in &outputs {
                            for (value, condition) in formula.texts(&variables) {
                                let mut point: Vec<String> = point.clone();
                                point.push(value);
                                grown.push((point, [conditions.clone(), vec![condition]].concat()));
                            }
                        }
                        outputs = grown;
                    }
                }
                None => {
                    let point = names("t", self.dims);
                    bounds.extend(point.iter().map(|name| format!("0 <= {name} < {SIDE}")));
                    variables.extend(point.clone());
                    outputs = vec![(point, bounds)];
                }
            }
            let own = piece.condition.text(&variables);
            texts.extend(outputs.iter().map(|(point, conditions)| {
                let (tuple, point) = (instance.join(", "), point.join(", "));
                let conditions = conditions.join(" and ");
                format!("S{}[{tuple}] -> [{point}] : {conditions} and {own}", piece.statement)
            }));
        }
        format!("[{PARAMETER}] -> {{ {} }}", texts.join("; "))
    }

    /// All pairs for a value of the parameter.
    pub fn due(&self, parameter: i128) -> Vec<Timed> {
        let mut all = BTreeSet::new();
        for piece in &self.pieces {
            let sizes = &self.statements[piece.statement];
            let name = format!("S{}", piece.statement);
            for instance in points(sizes) {
                let mut values = vec![parameter];
                values.extend(&instance);
                let candidates = match &piece.formulas {
                    Some(formulas) => vec![formulas.iter().map(|f| f.value(&values)).collect()],
                    None => points(&vec![SIDE; self.dims]),
                };
                for point in candidates {
                    let mut variables = values.clone();
                    if piece.formulas.is_none() {
                        variables.extend(&point);
                    }
                    if piece.condition.holds(&variables) {
                        all.insert((point, (name.clone(), instance.clone())));
                    }
                }
            }
        }
        all.into_iter().collect()
    }

    /// The sizes of each statement's box.
    pub fn dims_of(&self, statement: usize) -> usize {
        self.statements[statement].len()
    }
}
