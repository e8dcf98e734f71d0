//! Operators on piecewise quasi-polynomials and their bounds.

use tangram_presburger::count::{
    PwQPolynomial, PwQPolynomialFold, Rational, Side, UnionPwQPolynomial, UnionPwQPolynomialFold,
};
use tangram_presburger::{Budget, Error, Relation, Tuple, Union};

use crate::operators::{Failure, Outcome};
use crate::value::Value;

type Functions = UnionPwQPolynomial;
type Bounds = UnionPwQPolynomialFold;

/// Applies an operator, if one of its operands is a function or a bound.
pub(crate) fn binary(
    operator: &str,
    left: &Value,
    right: &Value,
    budget: &Budget,
) -> Option<Outcome> {
    let result = match (operator, left, right) {
        ("*", Value::Functions(f), Value::Number(n))
        | ("*", Value::Number(n), Value::Functions(f)) => Ok(Value::Functions(f.scale(n))),
        ("*", Value::Bound(b), Value::Number(n)) | ("*", Value::Number(n), Value::Bound(b)) => {
            Ok(Value::Bound(b.scale(n)))
        }
        (_, Value::Functions(a), Value::Functions(b)) => two(operator, a, b, budget)?,
        // The empty set is the function that is 0 as well.
        (_, Value::Functions(a), Value::Union(none)) if is_nothing(none) => {
            two(operator, a, &Functions::default(), budget)?
        }
        (_, Value::Union(none), Value::Functions(b)) if is_nothing(none) => {
            two(operator, &Functions::default(), b, budget)?
        }
        ("+", Value::Functions(f), Value::Bound(b))
        | ("+", Value::Bound(b), Value::Functions(f)) => b.add(f, budget).map(Value::Bound),
        (".", Value::Bound(a), Value::Bound(b)) => a.fold(b, budget).map(Value::Bound),
        ("=" | "==", Value::Bound(a), Value::Bound(b)) => {
            a.plain_is_equal(b, budget).map(Value::Bool)
        }
        ("!=", Value::Bound(a), Value::Bound(b)) => {
            a.plain_is_equal(b, budget).map(|equal| Value::Bool(!equal))
        }
        (_, Value::Functions(f), Value::Union(u)) => functions_with(operator, f, u, budget)?,
        (_, Value::Bound(b), Value::Union(u)) => bounds_with(operator, b, u, budget)?,
        ("." | "before", Value::Union(map), Value::Functions(f)) => {
            f.apply(map, budget).map(Value::Functions)
        }
        ("." | "before", Value::Union(map), Value::Bound(b)) => {
            b.apply(map, budget).map(Value::Bound)
        }
        _ => return None,
    };
    Some(result.map_err(Failure::from))
}

/// Returns whether it was written without any space, `{ }`.
fn is_nothing(union: &Union) -> bool {
    union.relations().next().is_none()
}

/// Adds, subtracts, multiplies or compares functions, tuple by tuple.
fn two(
    operator: &str,
    a: &Functions,
    b: &Functions,
    budget: &Budget,
) -> Option<Result<Value, Error>> {
    let result = match operator {
        "+" => a.add(b, budget),
        "-" => a.sub(b, budget),
        "*" => a.mul(b, budget),
        "=" | "==" => return Some(a.is_equal(b, budget).map(Value::Bool)),
        "!=" => return Some(a.is_equal(b, budget).map(|equal| Value::Bool(!equal))),
        _ => return None,
    };
    Some(result.map(Value::Functions))
}

fn has_maps(union: &Union) -> bool {
    union.relations().any(|piece| !piece.is_set())
}

/// Restricts, evaluates, simplifies or sums functions by sets, or sums them after relations.
fn functions_with(
    operator: &str,
    functions: &Functions,
    union: &Union,
    budget: &Budget,
) -> Option<Result<Value, Error>> {
    let result = match (operator, has_maps(union)) {
        ("*", false) => functions.intersect_domain(union, budget),
        ("%", false) => functions.gist(union, budget),
        ("@", false) => values_at(functions, union, budget),
        ("()", false) => functions.intersect_domain(union, budget).and_then(|f| f.sum(budget)),
        ("()" | "after", true) => functions.apply(union, budget),
        _ => return None,
    };
    Some(result.map(Value::Functions))
}

/// Restricts, evaluates, simplifies or bounds bounds by sets, or bounds them after relations.
fn bounds_with(
    operator: &str,
    bounds: &Bounds,
    union: &Union,
    budget: &Budget,
) -> Option<Result<Value, Error>> {
    let result = match (operator, has_maps(union)) {
        ("*", false) => bounds.intersect_domain(union, budget),
        ("%", false) => bounds.gist(union, budget),
        ("@", false) => bounds_at(bounds, union, budget),
        ("()", false) => bounds.intersect_domain(union, budget).and_then(|b| b.bound(budget)),
        ("()" | "after", true) => bounds.apply(union, budget),
        _ => return None,
    };
    Some(result.map(Value::Bound))
}

/// Gives functions their values at the points of sets; without parameters they are numbers.
fn values_at(functions: &Functions, sets: &Union, budget: &Budget) -> Result<Functions, Error> {
    let mut values = Vec::new();
    for (set, function) in sets.relations().filter_map(|s| Some((s, functions.get(tuple(s))?))) {
        // Without points it is 0 there, as a function of the same tuple.
        let none = Relation::empty(set.space().clone());
        values.push(function.intersect_domain(&none, budget)?);
        for point in set.points(budget)? {
            let single = Relation::point(set.space().clone(), &point)?;
            values.push(if function.params().is_empty() && set.space().params.is_empty() {
                let value = function.evaluate(&point)?;
                PwQPolynomial::constant(&single, &value, budget)?
            } else {
                function.intersect_domain(&single, budget)?
            });
        }
    }
    Functions::collect(values, budget)
}

/// Gives bounds their values at the points of sets, as [`values_at`] does.
fn bounds_at(bounds: &Bounds, sets: &Union, budget: &Budget) -> Result<Bounds, Error> {
    let mut values = Vec::new();
    for set in sets.relations() {
        let of_set = |bound: &&PwQPolynomialFold| bound.space().output == *tuple(set);
        let Some(bound) = bounds.bounds().iter().find(of_set) else { continue };
        for point in set.points(budget)? {
            let single = Relation::point(set.space().clone(), &point)?;
            if !bound.params().is_empty() || !set.space().params.is_empty() {
                values.push(bound.intersect_domain(&single, budget)?);
            } else if let Some(value) = bound.evaluate(&point) {
                values.push(PwQPolynomialFold::constant(&single, &value, bound.side(), budget)?);
            }
        }
    }
    Bounds::collect(bounds.side(), values, budget)
}

/// The tuple of a set.
fn tuple(set: &Relation) -> &Tuple {
    &set.space().output
}

/// Applies the operator `name` to functions; none if it has no meaning for them.
pub(crate) fn unary(name: &str, functions: &Functions, budget: &Budget) -> Option<Outcome> {
    let polynomial = |side| functions.to_polynomial(side, budget).map(Value::Functions);
    let result = match name {
        "sum" => functions.sum(budget).map(Value::Functions),
        "dom" | "domain" => functions.support().map(Value::Union),
        "coalesce" => functions.coalesce(budget).map(Value::Functions),
        "poly" => polynomial(None),
        "lpoly" => polynomial(Some(Side::Lower)),
        "upoly" => polynomial(Some(Side::Upper)),
        "lb" | "ub" if functions.is_empty() => {
            return Some(Err(Failure::Kinds("there is no function to bound".to_owned())));
        }
        "lb" => bound(functions, Side::Lower, budget),
        "ub" => bound(functions, Side::Upper, budget),
        _ => return None,
    };
    Some(result.map_err(Failure::from))
}

/// Bounds all values; says whether the bound is known to be reached.
fn bound(functions: &Functions, side: Side, budget: &Budget) -> Result<Value, Error> {
    let fixed = |f: &PwQPolynomial| f.domain().is_none_or(|t| t.dims.is_empty());
    let is_tight = functions.functions().iter().all(fixed);
    let bound = functions.bound(side, budget)?;
    Ok(Value::List(vec![Value::Bound(bound), Value::Bool(is_tight)]))
}

/// Changes the sign.
pub(crate) fn negative(functions: &Functions) -> Functions {
    functions.scale(&Rational::from(-1))
}
