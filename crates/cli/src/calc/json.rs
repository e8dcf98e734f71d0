//! Values as JSON: the kind, the text, and what a program would else read out of the text.

use serde_json::{Value as Json, json};
use tangram_calc::Value;
use tangram_presburger::count::{PiecewiseQuasiPolynomial, Rational, Side};
use tangram_presburger::{Relation, Tuple};

/// Returns an object with `kind`, `text`, and what its kind has besides.
pub(super) fn of(value: &Value) -> Json {
    let mut object = match value {
        Value::Union(union) => json!({
            "params": union.parameters(),
            "spaces": union.relations().map(space).collect::<Vec<_>>(),
        }),
        Value::Functions(functions) => {
            let parts: Vec<Json> = functions.iter().map(function).collect();
            json!({ "functions": parts })
        }
        Value::Bound(bound) => json!({
            "params": bound.params(),
            "side": match bound.side() { Side::Lower => "lower", Side::Upper => "upper" },
            "value": bound.params().is_empty().then(|| bound.evaluate::<i64>(&[])).flatten().map(number),
        }),
        Value::Bool(value) => json!({ "value": value }),
        Value::Number(value) => json!({ "value": number(value.clone()) }),
        Value::Text(text) => json!({ "value": text }),
        Value::List(items) => json!({ "items": items.iter().map(of).collect::<Vec<_>>() }),
        Value::Schedule(tree) => json!({
            "nodes": tree.nodes().map(|node| tree.kind(node).name()).collect::<Vec<_>>(),
        }),
    };
    object["kind"] = value.kind().into();
    object["text"] = value.to_string().into();
    object
}

fn space(piece: &Relation) -> Json {
    let space = piece.space();
    json!({
        "input": space.input.as_ref().map(tuple),
        "output": tuple(&space.output),
        "disjuncts": piece.conjunctions().len(),
    })
}

fn tuple(tuple: &Tuple) -> Json {
    json!({ "name": tuple.name, "dimensions": tuple.dims })
}

fn function(function: &PiecewiseQuasiPolynomial) -> Json {
    let constant = function.params().is_empty() && function.domain().is_none();
    json!({
        "params": function.params(),
        "domain": function.domain().map(tuple),
        "pieces": function.pieces().len(),
        "value": constant.then(|| function.evaluate::<i64>(&[]).ok()).flatten().map(number),
    })
}

/// A number as JSON has them if it is small and whole, else as a text.
fn number(value: Rational) -> Json {
    match value.to_integer().and_then(|value| value.to_i64()) {
        Some(value) => value.into(),
        None => value.to_string().into(),
    }
}
