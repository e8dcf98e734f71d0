//! Conditions in disjunctive form, and piecewise quasi-affine values.

use super::Dice;

/// A sum over variables, which have names on one side and values on the other.
#[derive(Debug, Clone)]
pub struct Sum {
    constant: i128,
    factors: Vec<i128>,
}

impl Sum {
    pub fn random(dice: &mut Dice, variables: usize) -> Self {
        let factor = |dice: &mut Dice| [0, 0, 0, 1, 1, -1, 2][dice.roll(7)];
        let factors = (0..variables).map(|_| factor(dice)).collect();
        Self { constant: dice.between(-3, 3), factors }
    }

    fn text(&self, names: &[String]) -> String {
        let terms = self.factors.iter().zip(names).filter(|(factor, _)| **factor != 0);
        let terms: String = terms.map(|(factor, name)| format!(" + {factor}*{name}")).collect();
        format!("({}{terms})", self.constant)
    }

    fn value(&self, values: &[i128]) -> i128 {
        self.constant + self.factors.iter().zip(values).map(|(a, b)| a * b).sum::<i128>()
    }
}

#[derive(Debug, Clone)]
enum Atom {
    AtLeastZero(Sum),
    Zero(Sum),
    Multiple(Sum, i128),
}

impl Atom {
    fn random(dice: &mut Dice, variables: usize) -> Self {
        let sum = Sum::random(dice, variables);
        match dice.roll(8) {
            0..=2 => Self::Zero(sum),
            3 => Self::Multiple(sum, dice.between(2, 3)),
            _ => Self::AtLeastZero(sum),
        }
    }

    fn text(&self, names: &[String]) -> String {
        match self {
            Self::AtLeastZero(sum) => format!("{} >= 0", sum.text(names)),
            Self::Zero(sum) => format!("{} = 0", sum.text(names)),
            Self::Multiple(sum, of) => format!("{} mod {of} = 0", sum.text(names)),
        }
    }

    fn holds(&self, values: &[i128]) -> bool {
        match self {
            Self::AtLeastZero(sum) => sum.value(values) >= 0,
            Self::Zero(sum) => sum.value(values) == 0,
            Self::Multiple(sum, of) => sum.value(values) % of == 0,
        }
    }
}

/// One of several conjunctions; none at all never holds.
#[derive(Debug, Clone)]
pub struct Condition {
    parts: Vec<Vec<Atom>>,
    negated: bool,
}

impl Condition {
    pub fn always() -> Self {
        Self { parts: vec![Vec::new()], negated: false }
    }

    pub fn never() -> Self {
        Self { negated: true, ..Self::always() }
    }

    pub fn random(dice: &mut Dice, variables: usize) -> Self {
        let count = [1, 1, 2, 2, 3][dice.roll(5)];
        let part = |dice: &mut Dice| {
            let atoms = 1 + dice.roll(2);
            (0..atoms).map(|_| Atom::random(dice, variables)).collect()
        };
        Self { parts: (0..count).map(|_| part(dice)).collect(), negated: false }
    }

    pub fn not(&self) -> Self {
        Self { negated: !self.negated, ..self.clone() }
    }

    pub fn text(&self, names: &[String]) -> String {
        let part = |atoms: &Vec<Atom>| match atoms.is_empty() {
            true => "true".to_owned(),
            false => atoms.iter().map(|atom| atom.text(names)).collect::<Vec<_>>().join(" and "),
        };
        let parts: Vec<String> =
            self.parts.iter().map(|atoms| format!("({})", part(atoms))).collect();
        let text = format!("({})", parts.join(" or "));
        if self.negated { format!("(not {text})") } else { text }
    }

    pub fn holds(&self, values: &[i128]) -> bool {
        self.parts.iter().any(|atoms| atoms.iter().all(|atom| atom.holds(values))) != self.negated
    }
}

/// A quasi-affine value.
#[derive(Debug, Clone)]
enum Value {
    Sum(Sum),
    Quotient(Sum, i128),
    Remainder(Sum, i128),
}

impl Value {
    fn random(dice: &mut Dice, variables: usize) -> Self {
        let sum = Sum::random(dice, variables);
        match dice.roll(8) {
            0 => Self::Quotient(sum, dice.between(2, 3)),
            1 => Self::Remainder(sum, dice.between(2, 3)),
            _ => Self::Sum(sum),
        }
    }

    fn text(&self, names: &[String]) -> String {
        match self {
            Self::Sum(sum) => sum.text(names),
            Self::Quotient(sum, by) => format!("(floor({}/{by}))", sum.text(names)),
            Self::Remainder(sum, by) => format!("({} mod {by})", sum.text(names)),
        }
    }

    fn value(&self, values: &[i128]) -> i128 {
        match self {
            Self::Sum(sum) => sum.value(values),
            Self::Quotient(sum, by) => sum.value(values).div_euclid(*by),
            Self::Remainder(sum, by) => sum.value(values).rem_euclid(*by),
        }
    }
}

/// A value for each instance: one where a condition holds, another one where it does not.
#[derive(Debug, Clone)]
pub struct Piecewise {
    condition: Condition,
    there: Value,
    elsewhere: Value,
}

impl Piecewise {
    pub fn random(dice: &mut Dice, variables: usize) -> Self {
        let condition = match dice.chance(35) {
            true => Condition::random(dice, variables),
            false => Condition::always(),
        };
        let there = Value::random(dice, variables);
        Self { condition, there, elsewhere: Value::random(dice, variables) }
    }

    /// Texts of values and their conditions.
    pub fn texts(&self, names: &[String]) -> Vec<(String, String)> {
        let not = self.condition.not();
        vec![
            (self.there.text(names), self.condition.text(names)),
            (self.elsewhere.text(names), not.text(names)),
        ]
    }

    pub fn value(&self, values: &[i128]) -> i128 {
        if self.condition.holds(values) {
            self.there.value(values)
        } else {
            self.elsewhere.value(values)
        }
    }
}
