//! Constraints, terms and numbers as JSON.
//!
//! Rows have a number for the constant, each parameter, each dimension and each division; a
//! division is over those before it.

use serde_json::{Value as Json, json};
use tangram_presburger::count::{QPolynomial, Rational};
use tangram_presburger::{Division, Integer, Relation};

/// A space and the disjuncts of the relation over it.
pub(super) fn space(piece: &Relation) -> Json {
    let space = piece.space();
    json!({
        "input": space.input.as_ref().map(super::tuple),
        "output": super::tuple(&space.output),
        "disjuncts": disjuncts(piece),
    })
}

/// The disjuncts: rows that are 0, rows that are at least 0, and the divisions that they use.
pub(super) fn disjuncts(relation: &Relation) -> Json {
    let parts = relation.conjunctions().into_iter().map(|part| {
        json!({
            "divisions": part.divisions.iter().map(division).collect::<Vec<_>>(),
            "equalities": part.equalities.iter().map(|r| row(r)).collect::<Vec<_>>(),
            "inequalities": part.inequalities.iter().map(|r| row(r)).collect::<Vec<_>>(),
        })
    });
    parts.collect()
}

/// The terms of a polynomial; factors are parameters, dimensions and divisions by number.
pub(super) fn terms(value: &QPolynomial) -> Json {
    let term = |(factors, coefficient): (&[u32], &Rational)| json!({ "coefficient": number(coefficient.clone()), "factors": factors });
    json!({
        "divisions": value.divisions().iter().map(division).collect::<Vec<_>>(),
        "terms": value.terms().map(term).collect::<Vec<_>>(),
    })
}

fn division(division: &Division) -> Json {
    json!({ "numerator": row(&division.numerator), "denominator": integer(&division.denominator) })
}

fn row(row: &[Integer]) -> Json {
    row.iter().map(integer).collect()
}

fn integer(value: &Integer) -> Json {
    value.to_i64().map_or_else(|| value.to_string().into(), Json::from)
}

/// A number as JSON has them if it is small and whole, else as a text.
pub(super) fn number(value: Rational) -> Json {
    match value.to_integer() {
        Some(whole) => integer(&whole),
        None => value.to_string().into(),
    }
}
