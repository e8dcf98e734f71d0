//! Operators between two values.

use tangram_presburger::count::{self, Integer, PiecewiseQuasiPolynomial, Rational};
use tangram_presburger::{Budget, Error, Order, Relation, Tuple, Union};

use crate::error::Fault;
use crate::value::Value;

/// The operators, all of one precedence.
pub(crate) const BINARY: [&str; 26] = [
    "+",
    "-",
    "*",
    ".",
    "%",
    "@",
    "->",
    "->*",
    "->-",
    "=",
    "==",
    "!=",
    "<=",
    "<",
    ">=",
    ">",
    "<<",
    "<<=",
    ">>",
    ">>=",
    "cross",
    "cross_range",
    "cross_domain",
    "before",
    "after",
    "/",
];

/// Why an operation failed; the place is known one level up.
#[derive(Debug)]
pub(crate) enum Failure {
    Library(Error),
    Kinds(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Library(error)
    }
}

impl Failure {
    pub fn at(self, place: usize) -> Fault {
        match self {
            Self::Library(error) => Fault::of(place, None, &error),
            Self::Kinds(message) => Fault::new(place, message),
        }
    }
}

type Outcome = Result<Value, Failure>;

/// Applies `operator`.
pub(crate) fn binary(operator: &str, left: &Value, right: &Value, budget: &Budget) -> Outcome {
    match (left, right) {
        (Value::Union(a), Value::Union(b)) => unions(operator, a, b, budget),
        (Value::Counts(a), Value::Counts(b)) => polynomials(operator, a, b, budget),
        (Value::Counts(a), Value::Union(b)) if operator == "*" => {
            Ok(Value::Counts(restricted(a, b, budget)?))
        }
        (Value::Counts(a), Value::Int(b)) | (Value::Int(b), Value::Counts(a))
            if operator == "*" =>
        {
            let factor = Rational::from(Integer::from(*b));
            Ok(Value::Counts(a.iter().map(|f| f.scale(&factor)).collect()))
        }
        (Value::Int(a), Value::Int(b)) => numbers(operator, *a, *b),
        (Value::Bool(a), Value::Bool(b)) if operator == "=" || operator == "==" => {
            Ok(Value::Bool(a == b))
        }
        (Value::Text(a), b) if operator == "+" => Ok(Value::Text(format!("{a}{b}"))),
        (a, Value::Text(b)) if operator == "+" => Ok(Value::Text(format!("{a}{b}"))),
        (a, b) => Err(Failure::Kinds(format!(
            "`{operator}` does not work on a {} and a {}",
            a.kind(),
            b.kind()
        ))),
    }
}

fn is_map(union: &Union) -> bool {
    union.relations().next().is_some_and(|piece| !piece.is_set())
}

fn unions(operator: &str, a: &Union, b: &Union, budget: &Budget) -> Outcome {
    // A relation and a set: the set restricts the inputs.
    let restricts = is_map(a) && !is_map(b);
    let result = match operator {
        "+" => a.union(b)?,
        "*" if restricts => a.intersect_domain(b, budget)?,
        "*" => a.intersect(b, budget)?,
        "-" if restricts => a.subtract_domain(b, budget)?,
        "-" => a.subtract(b, budget)?,
        "->*" => a.intersect_range(b, budget)?,
        "->-" => a.subtract_range(b, budget)?,
        "." | "before" => a.apply_range(b, budget)?,
        "after" => b.apply_range(a, budget)?,
        "()" | "@" => b.apply_range(a, budget)?,
        "%" => a.gist(b, budget)?,
        "->" => a.cross(b, budget)?,
        "cross" => a.product(b, budget)?,
        "cross_range" => a.range_product(b, budget)?,
        "cross_domain" => a.domain_product(b, budget)?,
        "<<" => ordered(a, b, Order::Less, budget)?,
        "<<=" => ordered(a, b, Order::LessOrEqual, budget)?,
        ">>" => ordered(a, b, Order::Greater, budget)?,
        ">>=" => ordered(a, b, Order::GreaterOrEqual, budget)?,
        "=" | "==" => return Ok(Value::Bool(a.is_equal(b, budget)?)),
        "!=" => return Ok(Value::Bool(!a.is_equal(b, budget)?)),
        "<=" => return Ok(Value::Bool(a.is_subset(b, budget)?)),
        "<" => return Ok(Value::Bool(a.is_strict_subset(b, budget)?)),
        ">=" => return Ok(Value::Bool(b.is_subset(a, budget)?)),
        ">" => return Ok(Value::Bool(b.is_strict_subset(a, budget)?)),
        _ => return Err(Failure::Kinds(format!("`{operator}` does not work on sets"))),
    };
    Ok(Value::Union(result))
}

/// Relates the points of sets in the same space by lexicographic order.
fn ordered(a: &Union, b: &Union, order: Order, budget: &Budget) -> Result<Union, Error> {
    let mut pieces = Vec::new();
    for set in a.relations() {
        let Some(other) = b.get(set.space()) else { continue };
        let space = set.space();
        let all = Relation::lexicographic(space.params.clone(), space.output.clone(), order);
        pieces.push(all.intersect_domain(set, budget)?.intersect_range(other, budget)?);
    }
    Union::collect(pieces)
}

/// Adds, subtracts, multiplies or compares functions, tuple by tuple.
fn polynomials(
    operator: &str,
    a: &[PiecewiseQuasiPolynomial],
    b: &[PiecewiseQuasiPolynomial],
    budget: &Budget,
) -> Outcome {
    let minus: Vec<_> = b.iter().map(|f| f.scale(&Rational::from(-1))).collect();
    let sum = match operator {
        "+" => count::collect(a.iter().chain(b).cloned(), budget)?,
        "-" | "=" | "==" => count::collect(a.iter().cloned().chain(minus), budget)?,
        "*" => {
            let pairs = a.iter().flat_map(|x| b.iter().map(move |y| (x, y)));
            let same = pairs.filter(|(x, y)| x.domain() == y.domain());
            same.map(|(x, y)| x.mul(y, budget)).collect::<Result<_, _>>()?
        }
        _ => return Err(Failure::Kinds(format!("`{operator}` does not work on functions"))),
    };
    if operator.starts_with('=') {
        return Ok(Value::Bool(sum.iter().all(|f| f.pieces().is_empty())));
    }
    Ok(Value::Counts(sum))
}

/// Keeps the values at the points of the sets.
fn restricted(
    functions: &[PiecewiseQuasiPolynomial],
    sets: &Union,
    budget: &Budget,
) -> Result<Vec<PiecewiseQuasiPolynomial>, Error> {
    let pairs = functions.iter().flat_map(|f| sets.relations().map(move |set| (f, set)));
    let same = pairs.filter(|(f, set)| {
        set.is_set() && *f.domain().unwrap_or(&Tuple::default()) == set.space().output
    });
    same.map(|(f, set)| f.intersect_domain(set, budget)).collect()
}

fn numbers(operator: &str, a: i128, b: i128) -> Outcome {
    let value = match operator {
        "+" => a.checked_add(b),
        "-" => a.checked_sub(b),
        "*" => a.checked_mul(b),
        "=" | "==" => return Ok(Value::Bool(a == b)),
        "!=" => return Ok(Value::Bool(a != b)),
        "<=" => return Ok(Value::Bool(a <= b)),
        "<" => return Ok(Value::Bool(a < b)),
        ">=" => return Ok(Value::Bool(a >= b)),
        ">" => return Ok(Value::Bool(a > b)),
        _ => return Err(Failure::Kinds(format!("`{operator}` does not work on numbers"))),
    };
    value.map(Value::Int).ok_or(Failure::Library(Error::Overflow))
}

/// Composes a relation with itself `exponent` times.
pub(crate) fn power(value: &Value, exponent: i128, budget: &Budget) -> Outcome {
    let Value::Union(map) = value else {
        return Err(Failure::Kinds(format!("`^` does not work on a {}", value.kind())));
    };
    if exponent < 1 {
        return Err(Failure::Kinds("expected an exponent of at least 1".to_owned()));
    }
    let (mut result, mut square, mut rest) = (None::<Union>, map.clone(), exponent);
    loop {
        if rest % 2 == 1 {
            result = Some(match result {
                Some(done) => done.apply_range(&square, budget)?,
                None => square.clone(),
            });
        }
        rest /= 2;
        match result {
            Some(result) if rest == 0 => return Ok(Value::Union(result)),
            _ => square = square.apply_range(&square, budget)?,
        }
    }
}
