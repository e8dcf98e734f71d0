//! Operators between two values.

use std::fmt::Display;
use std::num::NonZeroU64;

use tangram_presburger::count::{Integer, Rational};
use tangram_presburger::{Budget, Error, Order, Relation, Union};

use crate::error::Fault;
use crate::functions;
use crate::value::Value;

/// The operators, all of one precedence, and what they do.
pub const BINARY: [(&str, &str); 27] = [
    ("+", "unites sets or maps, adds functions or numbers, joins strings, `or` of booleans"),
    ("-", "subtracts; a set behind a map takes away its inputs"),
    ("*", "intersects or multiplies; a set behind a map restricts inputs; `and` of booleans"),
    ("/", "divides numbers"),
    (".", "first the left map, then the right map or function; of bounds, the better one"),
    ("before", "as `.`"),
    ("after", "first the right map, then the left map or function"),
    ("()", "applies a map to a set or map, sums a function over a set or after a map"),
    ("@", "the values of a function at the points of a set"),
    ("%", "what the left says beyond the right one"),
    ("->", "all pairs of the points of two sets, as a map"),
    ("->*", "restricts the outputs of a map to a set"),
    ("->-", "takes the outputs in a set away from a map"),
    ("=", "equal: the same points, or the same values at all of them"),
    ("==", "as `=`"),
    ("!=", "not equal"),
    ("<=", "subset, or at most"),
    ("<", "strict subset, or less"),
    (">=", "superset, or at least"),
    (">", "strict superset, or greater"),
    ("<<", "pairs in lexicographic order: of points, or of inputs by what maps make of them"),
    ("<<=", "as `<<`, or equal"),
    (">>", "as `<<`, the other way round"),
    (">>=", "as `>>`, or equal"),
    ("cross", "pairs of points, or of inputs and of outputs"),
    ("cross_range", "each input of both maps to the pair of outputs"),
    ("cross_domain", "the pair of inputs to each output of both maps"),
];

/// Why an operation failed; the place is known one level up.
#[derive(Debug)]
pub(crate) enum Failure {
    Library(Error),
    Loops(tangram_polyhedral::Error),
    Kinds(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Library(error)
    }
}

impl From<tangram_polyhedral::Error> for Failure {
    fn from(error: tangram_polyhedral::Error) -> Self {
        match error {
            tangram_polyhedral::Error::Presburger(error) => Self::Library(error),
            error => Self::Loops(error),
        }
    }
}

impl Failure {
    pub fn at(self, place: usize) -> Fault {
        match self {
            Self::Library(error) => Fault::of(place, None, &error),
            Self::Loops(error) => Fault::new(place, error.to_string()),
            Self::Kinds(message) => Fault::new(place, message),
        }
    }

    /// `operator` has no meaning for these operands.
    pub fn operands(operator: &str, left: &Value, right: &Value) -> Self {
        let (a, b) = (left.kind(), right.kind());
        let explained = |sign: &str| BINARY.iter().find(|(name, _)| *name == sign);
        // One of two names of an operator is explained by the other.
        let other =
            |does: &str| does.strip_prefix("as `").and_then(|s| explained(s.split('`').next()?));
        let entry = explained(operator).map(|entry| other(entry.1).unwrap_or(entry));
        let does = entry.map_or("", |(_, does)| does);
        let name = if operator == "()" { "application".into() } else { format!("`{operator}`") };
        Self::Kinds(format!("{name} does not work on a {a} and a {b}; it {}", third(does)))
    }
}

/// Makes a sentence's end of what an operator does.
fn third(does: &str) -> String {
    let verb = does.split([' ', ',']).next().is_some_and(|word| word.ends_with('s'));
    if verb { does.to_owned() } else { format!("gives: {does}") }
}

pub(crate) type Outcome = Result<Value, Failure>;

/// Applies `operator`.
pub(crate) fn binary(operator: &str, left: Value, right: Value, budget: &Budget) -> Outcome {
    // A pair of a result and whether it is exact stands for the result.
    let (left, right) = match (&left, &right) {
        (Value::Text(_), _) | (_, Value::Text(_)) => (left, right),
        _ => (left.result(), right.result()),
    };
    if let Some(outcome) = functions::binary(operator, &left, &right, budget) {
        return outcome;
    }
    match (&left, &right) {
        (Value::Union(a), Value::Union(b)) => unions(operator, a, b, budget)
            .unwrap_or_else(|| Err(Failure::operands(operator, &left, &right))),
        (Value::Number(a), Value::Number(b)) => numbers(operator, a, b)
            .unwrap_or_else(|| Err(Failure::operands(operator, &left, &right))),
        (Value::Bool(a), Value::Bool(b)) => Ok(Value::Bool(match operator {
            "=" | "==" => a == b,
            "!=" => a != b,
            "+" => *a || *b,
            "*" => *a && *b,
            _ => return Err(Failure::operands(operator, &left, &right)),
        })),
        (Value::Text(a), Value::Text(b)) if matches!(operator, "=" | "==" | "!=") => {
            Ok(Value::Bool((a == b) == (operator != "!=")))
        }
        (Value::Text(a), b) if operator == "+" => joined(a, b),
        (a, Value::Text(b)) if operator == "+" => joined(a, b),
        (Value::Schedule(tree), _) => {
            binary(operator, Value::Union(tree.to_map(budget)?), right, budget)
        }
        (_, Value::Schedule(tree)) => {
            binary(operator, left, Value::Union(tree.to_map(budget)?), budget)
        }
        _ => Err(Failure::operands(operator, &left, &right)),
    }
}

fn is_map(union: &Union) -> bool {
    union.relations().next().is_some_and(|piece| !piece.is_set())
}

fn unions(operator: &str, a: &Union, b: &Union, budget: &Budget) -> Option<Outcome> {
    let outcome = match operator {
        "=" | "==" => a.is_equal(b, budget),
        "!=" => a.is_equal(b, budget).map(|equal| !equal),
        "<=" => a.is_subset(b, budget),
        "<" => a.is_strict_subset(b, budget),
        ">=" => b.is_subset(a, budget),
        ">" => b.is_strict_subset(a, budget),
        _ => return combined(operator, a, b, budget).map(|result| Ok(Value::Union(result?))),
    };
    Some(outcome.map(Value::Bool).map_err(Failure::from))
}

fn combined(operator: &str, a: &Union, b: &Union, budget: &Budget) -> Option<Result<Union, Error>> {
    // A relation and a set: the set restricts the inputs.
    let restricts = is_map(a) && b.relations().next().is_some_and(Relation::is_set);
    let backwards = is_map(b) && a.relations().next().is_some_and(Relation::is_set);
    if backwards && matches!(operator, "*" | "-" | "%") {
        return None;
    }
    Some(match operator {
        "+" => a.union(b),
        "*" if restricts => a.intersect_domain(b, budget),
        "*" => a.intersect(b, budget),
        "-" if restricts => a.subtract_domain(b, budget),
        "-" => a.subtract(b, budget),
        "->*" => a.intersect_range(b, budget),
        "->-" => a.subtract_range(b, budget),
        "." | "before" => a.apply_range(b, budget),
        "after" | "()" | "@" => b.apply_range(a, budget),
        "%" if restricts => a.gist_domain(b, budget),
        "%" => a.gist(b, budget),
        "->" => a.cross(b, budget),
        "cross" => a.product(b, budget),
        "cross_range" => a.range_product(b, budget),
        "cross_domain" => a.domain_product(b, budget),
        "<<" => a.ordered(b, Order::Less, budget),
        "<<=" => a.ordered(b, Order::LessOrEqual, budget),
        ">>" => a.ordered(b, Order::Greater, budget),
        ">>=" => a.ordered(b, Order::GreaterOrEqual, budget),
        _ => return None,
    })
}

/// The longest text that is joined, in bytes: one that is added to itself has no end.
const LONGEST: usize = 1 << 24;

fn joined(a: &impl Display, b: &impl Display) -> Outcome {
    let text = format!("{a}{b}");
    match text.len() > LONGEST {
        true => Err(Failure::Kinds(format!("a text has at most {LONGEST} bytes here"))),
        false => Ok(Value::Text(text)),
    }
}

/// The bytes of numerators and denominators that are multiplied: 100,000 digits, as literals have.
const MOST_BYTES: usize = 41_525;

/// Whether two numbers are so long that what is made of both has no end where it is repeated.
fn are_long(a: &Rational, b: &Rational) -> bool {
    let bytes = |number: &Integer| match number.to_i128() {
        Some(_) => 16,
        None => number.to_signed_bytes().len(),
    };
    let longest = |number: &Rational| bytes(number.numer()).max(bytes(number.denom()));
    longest(a) + longest(b) > MOST_BYTES
}

fn numbers(operator: &str, a: &Rational, b: &Rational) -> Option<Outcome> {
    // Sums of whole numbers grow by a digit at most.
    let grows = match operator {
        "*" | "/" => true,
        "+" | "-" => [a, b].iter().any(|number| *number.denom() != Integer::ONE),
        _ => false,
    };
    if grows && are_long(a, b) {
        return Some(Err(Failure::Library(Error::Overflow)));
    }
    let value = match operator {
        "+" => a.add(b),
        "-" => a.sub(b),
        "*" => a.mul(b),
        "/" => {
            let quotient = Rational::new(a.numer().mul(b.denom()), a.denom().mul(b.numer()));
            return Some(quotient.map(Value::Number).ok_or_else(|| {
                Failure::Kinds(format!("{a} cannot be divided by 0; the divisor must be another"))
            }));
        }
        "=" | "==" => return Some(Ok(Value::Bool(a == b))),
        "!=" => return Some(Ok(Value::Bool(a != b))),
        "<=" => return Some(Ok(Value::Bool(a <= b))),
        "<" => return Some(Ok(Value::Bool(a < b))),
        ">=" => return Some(Ok(Value::Bool(a >= b))),
        ">" => return Some(Ok(Value::Bool(a > b))),
        _ => return None,
    };
    Some(Ok(Value::Number(value)))
}

/// Composes a relation with itself `exponent` times; its inverse if that is negative.
pub(crate) fn power(value: Value, exponent: &Integer, budget: &Budget) -> Outcome {
    let map = match value.result() {
        Value::Union(map) => map,
        Value::Schedule(tree) => tree.to_map(budget)?,
        other => {
            let kind = other.kind();
            return Err(Failure::Kinds(format!("`^` does not work on a {kind}; it takes a map")));
        }
    };
    let (map, count) = match exponent.sign() {
        0 => {
            let way = "identity (dom M + ran M)` is what no step reaches";
            let message = format!("expected an exponent other than 0; `{way}");
            return Err(Failure::Kinds(message));
        }
        1 => (map, exponent.clone()),
        _ => (map.inverse()?, exponent.neg()),
    };
    let count = count.to_i64().and_then(|count| NonZeroU64::new(count.unsigned_abs()));
    Ok(Value::Union(map.fixed_power(count.ok_or(Error::Overflow)?, budget)?))
}
