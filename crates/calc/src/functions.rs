//! Operators on piecewise quasi-polynomials and their bounds.

use tangram_presburger::count::{self, PiecewiseBound, PiecewiseQuasiPolynomial, Rational, Side};
use tangram_presburger::{Budget, Error, Relation, Tuple, Union};

use crate::operators::{Failure, Outcome};
use crate::value::Value;

type Function = PiecewiseQuasiPolynomial;

/// Applies an operator, if one of its operands is a function or a bound.
pub(crate) fn binary(
    operator: &str,
    left: &Value,
    right: &Value,
    budget: &Budget,
) -> Option<Outcome> {
    let outcome = match (operator, left, right) {
        ("*", Value::Functions(f), Value::Number(n))
        | ("*", Value::Number(n), Value::Functions(f)) => {
            Ok(Value::Functions(f.iter().map(|f| f.scale(n)).collect()))
        }
        ("*", Value::Bound(f), Value::Number(n)) | ("*", Value::Number(n), Value::Bound(f)) => {
            Ok(Value::Bound(f.scale(n)))
        }
        (_, Value::Functions(a), Value::Functions(b)) => two(operator, a, b, budget)?,
        // The empty set is the function that is 0 as well.
        (_, Value::Functions(a), Value::Union(none)) if is_nothing(none) => {
            two(operator, a, &[], budget)?
        }
        (_, Value::Union(none), Value::Functions(b)) if is_nothing(none) => {
            two(operator, &[], b, budget)?
        }
        ("+", Value::Functions(f), Value::Bound(b))
        | ("+", Value::Bound(b), Value::Functions(f)) => plus(b, f, budget),
        (".", Value::Bound(a), Value::Bound(b)) => {
            a.fold(b, budget).map(Value::Bound).map_err(Failure::from)
        }
        ("=" | "==", Value::Bound(a), Value::Bound(b)) => Ok(Value::Bool(a == b)),
        (_, Value::Functions(f), Value::Union(u)) => with_union(operator, f, u, budget)?,
        ("." | "before", Value::Union(map), Value::Functions(f)) => applied(f, map, budget),
        ("*", Value::Bound(bound), Value::Union(sets)) => restricted(bound, sets, budget),
        _ => return None,
    };
    Some(outcome)
}

/// Says whether it was written without any space, `{ }`.
fn is_nothing(union: &Union) -> bool {
    union.relations().next().is_none()
}

/// Adds, subtracts, multiplies or compares functions, tuple by tuple.
fn two(operator: &str, a: &[Function], b: &[Function], budget: &Budget) -> Option<Outcome> {
    let minus = || b.iter().map(|f| f.scale(&Rational::from(-1)));
    let all = match operator {
        "+" => count::collect(a.iter().chain(b).cloned(), budget),
        "-" => count::collect(a.iter().cloned().chain(minus()), budget),
        "=" | "==" | "!=" => {
            let gap = count::collect(a.iter().cloned().chain(minus()), budget);
            return Some(
                gap.and_then(|gap| vanish(&gap, budget))
                    .map_err(Failure::from)
                    .map(|equal| Value::Bool(equal == (operator != "!="))),
            );
        }
        "*" => {
            let pairs = a.iter().flat_map(|x| b.iter().map(move |y| (x, y)));
            let same = pairs.filter(|(x, y)| x.domain() == y.domain());
            same.map(|(x, y)| x.mul(y, budget)).collect()
        }
        _ => return None,
    };
    Some(all.map_err(Failure::from).map(Value::Functions))
}

/// Says whether all are 0 at all integer points, however they are written.
fn vanish(functions: &[Function], budget: &Budget) -> Result<bool, Error> {
    for function in functions {
        if !function.is_zero(budget)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Restricts, evaluates, simplifies or sums functions by sets, or sums them after relations.
fn with_union(
    operator: &str,
    functions: &[Function],
    union: &Union,
    budget: &Budget,
) -> Option<Outcome> {
    let maps = union.relations().any(|piece| !piece.is_set());
    let result = match operator {
        "*" if !maps => pairs(functions, union, |f, set| f.intersect_domain(set, budget)),
        "%" if !maps => pairs(functions, union, |f, set| f.gist(set, budget)),
        "@" if !maps => pairs(functions, union, |f, set| at(f, set, budget)),
        "()" if !maps => {
            pairs(functions, union, |f, set| f.intersect_domain(set, budget)?.sum(budget))
        }
        "()" | "after" if maps => return Some(applied(functions, union, budget)),
        _ => return None,
    };
    let sums = result.and_then(|all| count::collect(all, budget));
    Some(sums.map(Value::Functions).map_err(Failure::from))
}

/// Takes each function with each set of the same tuple.
fn pairs(
    functions: &[Function],
    sets: &Union,
    f: impl Fn(&Function, &Relation) -> Result<Function, Error>,
) -> Result<Vec<Function>, Error> {
    let pairs = functions.iter().flat_map(|f| sets.relations().map(move |set| (f, set)));
    let same =
        pairs.filter(|(f, set)| *f.domain().unwrap_or(&Tuple::default()) == set.space().output);
    same.map(|(function, set)| f(function, set)).collect()
}

/// Gives a function its values at the points of a set; without parameters they are numbers.
fn at(function: &Function, set: &Relation, budget: &Budget) -> Result<Function, Error> {
    let mut result = function.intersect_domain(&Relation::empty(set.space().clone()), budget)?;
    for point in set.points(budget)? {
        let single = Relation::point(set.space().clone(), &point)?;
        let value = if function.params().is_empty() && set.space().params.is_empty() {
            let value = function.evaluate(&point)?;
            Function::constant(&single, &value, budget)?
        } else {
            function.intersect_domain(&single, budget)?
        };
        result = result.add(&value, budget)?;
    }
    Ok(result)
}

/// Sums functions over what relations lead to.
fn applied(functions: &[Function], maps: &Union, budget: &Budget) -> Outcome {
    let mut all = Vec::new();
    for map in maps.relations().filter(|map| !map.is_set()) {
        for function in functions.iter().filter(|f| f.domain() == Some(&map.space().output)) {
            all.push(function.apply(map, budget)?);
        }
    }
    Ok(Value::Functions(count::collect(all, budget)?))
}

/// Adds functions of the parameters to a bound.
fn plus(bound: &PiecewiseBound, functions: &[Function], budget: &Budget) -> Outcome {
    let mut sum = bound.clone();
    for function in functions {
        sum = sum.add(function, budget)?;
    }
    Ok(Value::Bound(sum))
}

fn restricted(bound: &PiecewiseBound, sets: &Union, budget: &Budget) -> Outcome {
    match sets.relations().next() {
        Some(set) => Ok(Value::Bound(bound.intersect_params(set, budget)?)),
        None => Ok(Value::Union(Union::empty())),
    }
}

/// Applies the operator `name` to functions; none if it has no meaning for them.
pub(crate) fn unary(name: &str, functions: &[Function], budget: &Budget) -> Option<Outcome> {
    let side = match name {
        "sum" => return Some(sum(functions, budget)),
        "dom" | "domain" => return Some(support(functions)),
        "coalesce" => {
            let all = functions.iter().map(|f| f.coalesce(budget)).collect::<Result<_, _>>();
            return Some(all.map(Value::Functions).map_err(Failure::from));
        }
        "poly" => return Some(polynomial(functions, None, budget)),
        "lpoly" => return Some(polynomial(functions, Some(Side::Lower), budget)),
        "upoly" => return Some(polynomial(functions, Some(Side::Upper), budget)),
        "lb" => Side::Lower,
        "ub" => Side::Upper,
        _ => return None,
    };
    Some(bound(functions, side, budget))
}

/// Sums over all points; over the second points of pairs.
fn sum(functions: &[Function], budget: &Budget) -> Outcome {
    let sums = functions.iter().map(|f| f.sum_second(budget)).collect::<Result<Vec<_>, _>>()?;
    Ok(Value::Functions(count::collect(sums, budget)?))
}

/// Replaces values by polynomials: above, below, or near them.
fn polynomial(functions: &[Function], side: Option<Side>, budget: &Budget) -> Outcome {
    let all = functions.iter().map(|f| f.to_polynomial(side, budget));
    Ok(Value::Functions(all.collect::<Result<_, _>>()?))
}

fn support(functions: &[Function]) -> Outcome {
    let sets = functions.iter().map(Function::support).collect::<Result<Vec<_>, _>>()?;
    Ok(Value::Union(Union::collect(sets)?))
}

/// Bounds all values; says whether the bound is known to be reached.
fn bound(functions: &[Function], side: Side, budget: &Budget) -> Outcome {
    let mut all: Option<PiecewiseBound> = None;
    for function in functions {
        let bound = function.bound(side, budget)?;
        all = Some(match all {
            Some(known) => known.fold(&bound, budget)?,
            None => bound,
        });
    }
    let tight = functions.iter().all(|f| f.domain().is_none_or(|t| t.dims.is_empty()));
    match all {
        Some(bound) => Ok(Value::List(vec![Value::Bound(bound), Value::Bool(tight)])),
        None => Err(Failure::Kinds("there is no function to bound".to_owned())),
    }
}
