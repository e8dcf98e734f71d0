//! Random formulas with quantifiers: as texts, and as what they mean at a point.

use std::fmt::Write as _;

/// The parameter, and the dimensions.
pub const FREE: [&str; 3] = ["n", "x", "y"];
/// The values of each of those, from `-SIDE` on.
pub const SIDE: i64 = 4;
/// Where a variable that only comparisons bound has a value if it has one: the sums of others in
/// those are less than 260, and their moduli divide 60.
const FAR: i64 = 320;

/// A sum of variables with factors, and a number.
#[derive(Debug, Clone)]
struct Sum {
    terms: Vec<(usize, i64)>,
    constant: i64,
}

/// What is compared with a sum.
#[derive(Debug, Clone, Copy)]
enum Fact {
    AtLeastZero,
    Zero,
    NotZero,
    /// The remainder of the first number is the second.
    Remainder(i64, i64),
    /// The quotient of the first number, rounded, and a factor of the variable: at least that.
    Quotient(i64, usize, i64),
}

#[derive(Debug, Clone)]
enum Formula {
    Holds(Sum, Fact),
    All(Vec<Formula>),
    Any(Vec<Formula>),
    Not(Box<Formula>),
    Implies(Box<Formula>, Box<Formula>),
    /// There are values of variables in these ranges, or all of them do.
    Bounded {
        variables: Vec<(usize, i64, i64)>,
        every: bool,
        inner: Box<Formula>,
    },
    /// There is any value of a variable for which comparisons hold.
    Free {
        variable: usize,
        inner: Vec<Formula>,
    },
}

/// A linear congruential generator, and how many variables it has bound.
pub struct Source {
    state: u64,
    bound: usize,
}

/// A set `[n] -> { [x, y] : .. }` within a box, as a text and as its points.
pub struct Case {
    pub text: String,
    pub points: Vec<[i64; 3]>,
}

impl Source {
    pub fn new(seed: u64) -> Self {
        Self { state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5851_F42D, bound: 0 }
    }

    pub fn below(&mut self, end: i64) -> i64 {
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.state >> 33) % end as u64) as i64
    }

    pub fn number(&mut self, size: i64) -> i64 {
        self.below(2 * size + 1) - size
    }

    fn bind(&mut self) -> usize {
        self.bound += 1;
        FREE.len() + self.bound - 1
    }

    /// A sum of some of the variables, the last ones more often than others.
    fn sum(&mut self, variables: &[usize], size: i64) -> Sum {
        let mut terms = Vec::new();
        for (index, variable) in variables.iter().rev().enumerate() {
            let factor = self.number(size);
            if factor != 0 && (index < 2 || self.below(2) == 0) {
                terms.push((*variable, factor));
            }
        }
        Sum { terms, constant: self.number(8) }
    }

    fn comparison(&mut self, variables: &[usize]) -> Formula {
        let fact = match self.below(9) {
            0..4 => Fact::AtLeastZero,
            4 | 5 => Fact::Zero,
            6 => Fact::NotZero,
            7 => {
                let by = [2, 3, 4, 5][self.below(4) as usize];
                Fact::Remainder(by, self.below(by))
            }
            _ => {
                let of = variables[self.below(variables.len() as i64) as usize];
                Fact::Quotient([2, 3, 5][self.below(3) as usize], of, self.number(2))
            }
        };
        let size = if matches!(fact, Fact::Zero) { 5 } else { 4 };
        Formula::Holds(self.sum(variables, size), fact)
    }

    fn formula(&mut self, variables: &[usize], depth: usize) -> Formula {
        if depth == 0 {
            return self.comparison(variables);
        }
        match self.below(12) {
            0 | 1 => self.comparison(variables),
            2 | 3 => Formula::All(self.several(variables, depth)),
            4 => Formula::Any(self.several(variables, depth)),
            5 => Formula::Not(Box::new(self.formula(variables, depth - 1))),
            6 => {
                let first = Box::new(self.formula(variables, depth - 1));
                Formula::Implies(first, Box::new(self.formula(variables, depth - 1)))
            }
            7..10 => {
                let mut all = variables.to_vec();
                let count = 1 + self.below(2);
                let bounds = (0..count).map(|_| {
                    let (variable, low) = (self.bind(), self.number(3));
                    all.push(variable);
                    (variable, low, low + self.below(5))
                });
                let (variables, every) = (bounds.collect(), self.below(6) == 0);
                let inner = Box::new(self.formula(&all, depth - 1));
                Formula::Bounded { variables, every, inner }
            }
            _ => {
                let variable = self.bind();
                let all = [variables, &[variable]].concat();
                let inner = (0..=self.below(3)).map(|_| self.comparison(&all)).collect();
                Formula::Free { variable, inner }
            }
        }
    }

    fn several(&mut self, variables: &[usize], depth: usize) -> Vec<Formula> {
        (0..2 + self.below(2)).map(|_| self.formula(variables, depth - 1)).collect()
    }

    /// A random set, with a quantifier more often than not.
    pub fn case(&mut self) -> Case {
        self.bound = 0;
        let formula = Formula::All(vec![self.formula(&[0, 1, 2], 3), self.formula(&[0, 1, 2], 2)]);
        let mut text = format!("[n] -> {{ [x, y] : -{SIDE} <= n, x, y <= {SIDE} and ");
        formula.write(&mut text);
        text.push_str(" }");
        let side = || -SIDE..=SIDE;
        let all = side().flat_map(|n| side().flat_map(move |x| side().map(move |y| [n, x, y])));
        let mut values = vec![0; FREE.len() + self.bound];
        let points = all.filter(|point| {
            values[..FREE.len()].copy_from_slice(point);
            formula.holds(&mut values)
        });
        Case { text, points: points.collect() }
    }
}

impl Sum {
    fn value(&self, values: &[i64]) -> i64 {
        self.constant + self.terms.iter().map(|(at, factor)| factor * values[*at]).sum::<i64>()
    }

    fn write(&self, text: &mut String) {
        for (at, factor) in &self.terms {
            write!(text, "{factor}*{} + ", name(*at)).expect("a text");
        }
        write!(text, "{}", self.constant).expect("a text");
    }
}

fn name(variable: usize) -> String {
    FREE.get(variable).map_or_else(|| format!("e{variable}"), |name| (*name).to_owned())
}

impl Formula {
    fn holds(&self, values: &mut [i64]) -> bool {
        match self {
            Self::Holds(sum, fact) => {
                let value = sum.value(values);
                match fact {
                    Fact::AtLeastZero => value >= 0,
                    Fact::Zero => value == 0,
                    Fact::NotZero => value != 0,
                    Fact::Remainder(by, rest) => value.rem_euclid(*by) == *rest,
                    Fact::Quotient(by, of, factor) => value.div_euclid(*by) >= factor * values[*of],
                }
            }
            Self::All(parts) => parts.iter().all(|part| part.holds(values)),
            Self::Any(parts) => parts.iter().any(|part| part.holds(values)),
            Self::Not(inner) => !inner.holds(values),
            Self::Implies(first, then) => !first.holds(values) || then.holds(values),
            Self::Bounded { variables, every, inner } => match &variables[..] {
                [] => inner.holds(values),
                [first, rest @ ..] => {
                    let rest = Self::Bounded {
                        variables: rest.to_vec(),
                        every: *every,
                        inner: inner.clone(),
                    };
                    let (at, low, high) = *first;
                    let found = (low..=high).any(|value| {
                        values[at] = value;
                        rest.holds(values) != *every
                    });
                    found != *every
                }
            },
            Self::Free { variable, inner } => (-FAR..=FAR).any(|value| {
                values[*variable] = value;
                inner.iter().all(|part| part.holds(values))
            }),
        }
    }

    fn write(&self, text: &mut String) {
        let list = |parts: &[Self], between: &str, text: &mut String| {
            text.push('(');
            for (index, part) in parts.iter().enumerate() {
                text.push_str(if index == 0 { "" } else { between });
                part.write(text);
            }
            text.push(')');
        };
        match self {
            Self::Holds(sum, fact) => {
                let (before, after) = match fact {
                    Fact::AtLeastZero => ("(", " >= 0)".to_owned()),
                    Fact::Zero => ("(", " = 0)".to_owned()),
                    Fact::NotZero => ("(", " != 0)".to_owned()),
                    Fact::Remainder(by, rest) => ("((", format!(") mod {by} = {rest})")),
                    Fact::Quotient(by, of, factor) => {
                        ("(floor((", format!(")/{by}) >= {factor}*{})", name(*of)))
                    }
                };
                text.push_str(before);
                sum.write(text);
                text.push_str(&after);
            }
            Self::All(parts) => list(parts, " and ", text),
            Self::Any(parts) => list(parts, " or ", text),
            Self::Not(inner) => {
                text.push_str("(not ");
                inner.write(text);
                text.push(')');
            }
            Self::Implies(first, then) => {
                text.push('(');
                first.write(text);
                text.push_str(" implies ");
                then.write(text);
                text.push(')');
            }
            Self::Bounded { variables, every, inner } => {
                let names: Vec<String> = variables.iter().map(|(at, ..)| name(*at)).collect();
                let bounds = variables
                    .iter()
                    .map(|(at, low, high)| format!("{low} <= {} <= {high}", name(*at)));
                let bounds = bounds.collect::<Vec<_>>().join(" and ");
                let (word, link) = if *every { ("forall", "implies") } else { ("exists", "and") };
                write!(text, "({word} {} : ({bounds}) {link} ", names.join(", ")).expect("a text");
                inner.write(text);
                text.push(')');
            }
            Self::Free { variable, inner } => {
                write!(text, "(exists ({} : ", name(*variable)).expect("a text");
                list(inner, " and ", text);
                text.push_str("))");
            }
        }
    }
}
