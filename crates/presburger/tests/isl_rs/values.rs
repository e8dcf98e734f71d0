//! Tables of values and of what expressions are at their greatest.

use tangram_presburger::{Aff, Budget, Error, PwAff, PwMultiAff, Relation, Value};

use super::Row;

fn value(text: &str) -> Result<Value, Error> {
    text.parse()
}

/// NaN is expected as NaN.
fn is(found: &Value, expected: &str) -> Result<bool, Error> {
    let expected = value(expected)?;
    Ok(if expected.is_nan() { found.is_nan() } else { *found == expected })
}

pub fn unary(row: Row<'_>, _: &Budget) -> Result<bool, Error> {
    let given = value(&row[1])?;
    let found = match row[0].as_str() {
        "&isl_val_neg" => given.neg(),
        "&isl_val_abs" => given.abs(),
        "&isl_val_floor" => given.floor(),
        "&isl_val_ceil" => given.ceil(),
        "&isl_val_pow2" => given.pow2()?,
        _ => given.inv(),
    };
    is(&found, &row[2])
}

pub fn binary(row: Row<'_>, _: &Budget) -> Result<bool, Error> {
    let (a, b) = (value(&row[0])?, value(&row[2])?);
    let found = match row[1].as_str() {
        "+" => a.add(&b),
        "-" => a.sub(&b),
        "*" => a.mul(&b),
        "/" => a.div(&b),
        "g" => a.gcd(&b),
        "m" => a.min(&b),
        _ => a.max(&b),
    };
    is(&found, &row[3])
}

pub fn optimum(row: Row<'_>, budget: &Budget) -> Result<bool, Error> {
    let (set, objective) = (Relation::parse(&row[0], budget)?, Aff::parse(&row[1], budget)?);
    let found = match row[2].as_str() {
        "&isl_set_max_val" => set.max_value(&objective, budget)?,
        _ => set.min_value(&objective, budget)?,
    };
    is(&found, &row[3])
}

pub fn optima(row: Row<'_>, budget: &Budget) -> Result<bool, Error> {
    let function = PwMultiAff::parse(&row[0], budget)?;
    let found = function.max_values(budget)?;
    let inside = row[1].split(['[', ']']).nth(1).unwrap_or_default();
    let same = found.iter().zip(inside.split(',')).map(|(value, text)| is(value, text));
    Ok(found.len() == inside.split(',').count()
        && same.collect::<Result<Vec<_>, _>>()?.iter().all(|same| *same))
}

/// A point outside of the domain has the value NaN, as in isl.
pub fn evaluated(row: Row<'_>, budget: &Budget) -> Result<bool, Error> {
    let function = PwAff::parse(&row[0], budget)?;
    let set = Relation::parse(&row[1], budget)?.align_params(&function.space().params)?;
    let found = match set.sample(budget)? {
        Some(point) => function.eval(&point)?.map_or(Value::NaN, Value::from),
        None => Value::NaN,
    };
    is(&found, &row[2])
}
