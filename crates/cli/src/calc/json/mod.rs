//! Values as JSON: the kind, the text, and what a program would else read out of the text.

mod rows;

use serde_json::{Value as Json, json};
use tangram_calc::Value;
use tangram_polyhedral::{Node, NodeKind, ScheduleTree};
use tangram_presburger::Tuple;
use tangram_presburger::count::{PwQPolynomial, PwQPolynomialFold, Side};

use rows::{disjuncts, number, terms};

/// Returns an object with `kind`, `text`, what its kind has besides, and the name that it got.
pub(super) fn of(name: Option<&str>, value: &Value) -> Json {
    let mut object = match value {
        Value::Union(union) => json!({
            "params": union.parameters(),
            "spaces": union.relations().map(rows::space).collect::<Vec<_>>(),
        }),
        Value::Functions(functions) => {
            let parts: Vec<Json> = functions.functions().iter().map(function).collect();
            json!({ "functions": parts })
        }
        Value::Bound(bounds) => json!({
            "side": match bounds.side() { Side::Lower => "lower", Side::Upper => "upper" },
            "bounds": bounds.bounds().iter().map(bound).collect::<Vec<_>>(),
        }),
        Value::Bool(value) => json!({ "value": value }),
        Value::Number(value) => json!({ "value": number(value.clone()) }),
        Value::Text(text) => json!({ "value": text }),
        Value::List(items) => {
            json!({ "items": items.iter().map(|item| of(None, item)).collect::<Vec<_>>() })
        }
        Value::Schedule(tree) => json!({
            "nodes": tree.nodes().map(|at| node(tree, at)).collect::<Vec<_>>(),
        }),
    };
    if let Some(name) = name {
        object["name"] = name.into();
    }
    object["kind"] = value.kind().into();
    object["text"] = value.to_string().into();
    object
}

/// A tuple; of a pair, both sides too.
fn tuple(tuple: &Tuple) -> Json {
    let sides = tuple.sides().map(|(left, right)| [self::tuple(&left), self::tuple(&right)]);
    let mut object = json!({ "name": tuple.shown_name(), "dimensions": tuple.dims });
    if let Some(sides) = sides {
        object["sides"] = Json::from(sides.to_vec());
    }
    object
}

fn function(function: &PwQPolynomial) -> Json {
    let constant = function.params().is_empty() && function.domain().is_none();
    // A function with an infinite value has no terms there: nothing, and not 0, is said of it.
    let parts = function.parts().ok();
    let piece = |(set, value)| json!({ "disjuncts": disjuncts(&set), "value": terms(&value) });
    json!({
        "params": function.params(),
        "domain": function.domain().map(tuple),
        "pieces": parts.map(|parts| parts.into_iter().map(piece).collect::<Vec<_>>()),
        "value": constant.then(|| function.constant_value().ok()).flatten().map(number),
    })
}

fn bound(bound: &PwQPolynomialFold) -> Json {
    let constant = bound.params().is_empty() && bound.domain().is_none();
    let parts = bound.parts().unwrap_or_default();
    let piece = |(set, values): (_, Vec<_>)| json!({ "disjuncts": disjuncts(&set), "values": values.iter().map(terms).collect::<Vec<_>>() });
    json!({
        "params": bound.params(),
        "domain": bound.domain().map(tuple),
        "pieces": parts.into_iter().map(piece).collect::<Vec<_>>(),
        "value": constant.then(|| bound.constant_value()).flatten().map(number),
    })
}

/// A node of a schedule tree: its kind, the number of its parent, and what it holds.
fn node(tree: &ScheduleTree, at: Node) -> Json {
    let kind = tree.kind(at);
    let mut object = match kind {
        NodeKind::Domain(set) | NodeKind::Filter(set) | NodeKind::Extension(set) => {
            json!({ "relation": set.to_string() })
        }
        NodeKind::Context(set) | NodeKind::Guard(set) => json!({ "relation": set.to_string() }),
        NodeKind::Expansion { contraction, expansion } => json!({
            "contraction": contraction.to_string(),
            "relation": expansion.to_string(),
        }),
        NodeKind::Band(band) => {
            let members = band.members.iter().map(|member| {
                json!({ "schedule": member.schedule.to_string(), "coincident": member.coincident })
            });
            json!({
                "members": members.collect::<Vec<_>>(),
                "permutable": band.permutable,
                "options": band.options.to_string(),
            })
        }
        NodeKind::Mark(name) => json!({ "name": name }),
        _ => json!({}),
    };
    object["kind"] = kind.name().into();
    object["parent"] = tree.parent(at).map(Node::index).into();
    object
}

#[cfg(test)]
mod tests {
    use super::{Json, Value, of};
    use serde_json::json;
    use tangram_calc::Session;

    fn value(program: &str) -> Json {
        let mut results = Vec::new();
        let mut session = Session::default();
        session.run_with(program, |printed| results.push(of(None, printed.value))).expect(program);
        results.remove(0)
    }

    /// Who adds a kind adds a program whose value is of that kind, and what JSON has of it.
    fn example(kind: &Value) -> (&'static str, Json) {
        match kind {
            Value::Union(_) => (
                "[n] -> { A[i] -> [B[] -> C[j]] : 2j = i + n and i > 3 };",
                json!({
                    "kind": "map",
                    "params": ["n"],
                    "spaces": [{
                        "input": { "name": "A", "dimensions": ["i"] },
                        "output": { "name": "", "dimensions": ["j"], "sides": [
                            { "name": "B", "dimensions": [] },
                            { "name": "C", "dimensions": ["j"] },
                        ]},
                        "disjuncts": [{
                            "divisions": [],
                            "equalities": [[0, 1, 1, -2]],
                            "inequalities": [[-4, 0, 1, 0]],
                        }],
                    }],
                }),
            ),
            Value::Functions(_) => (
                "[n] -> { A[i] -> 1/2 * n * i^2 + floor((i + n)/3) : i > 3 };",
                json!({
                    "kind": "function",
                    "functions": [{
                        "params": ["n"],
                        "domain": { "name": "A", "dimensions": ["i"] },
                        "pieces": [{
                            "disjuncts": [{
                                "divisions": [], "equalities": [], "inequalities": [[-4, 0, 1]],
                            }],
                            "value": {
                                "divisions": [{ "numerator": [0, 1, 1], "denominator": 3 }],
                                "terms": [
                                    { "coefficient": "1/2", "factors": [0, 1, 1] },
                                    { "coefficient": 1, "factors": [2] },
                                ],
                            },
                        }],
                        "value": null,
                    }],
                }),
            ),
            Value::Bound(_) => (
                "[n] -> { A[i] -> max(3, 2 * i * n) : i > 4; max(7) };",
                json!({
                    "kind": "bound", "side": "upper",
                    "bounds": [
                        {
                            "params": ["n"],
                            "domain": { "name": "A", "dimensions": ["i"] },
                            "pieces": [{
                                "disjuncts": [{
                                    "divisions": [], "equalities": [],
                                    "inequalities": [[-5, 0, 1]],
                                }],
                                "values": [
                                    { "divisions": [], "terms": [
                                        { "coefficient": 3, "factors": [] },
                                    ]},
                                    { "divisions": [], "terms": [
                                        { "coefficient": 2, "factors": [0, 1] },
                                    ]},
                                ],
                            }],
                            "value": null,
                        },
                        {
                            "params": ["n"], "domain": null, "value": null,
                            "pieces": [{
                                "disjuncts": [{
                                    "divisions": [], "equalities": [], "inequalities": [],
                                }],
                                "values": [{ "divisions": [], "terms": [
                                    { "coefficient": 7, "factors": [] },
                                ]}],
                            }],
                        },
                    ],
                }),
            ),
            Value::Bool(_) => ("1 < 2;", json!({ "kind": "boolean", "value": true })),
            Value::Number(_) => ("2 / 3;", json!({ "kind": "number", "value": "2/3" })),
            Value::Text(_) => ("\"a\";", json!({ "kind": "string", "value": "a" })),
            Value::List(_) => (
                "(1, (\"b\", False));",
                json!({ "kind": "list", "items": [
                    { "kind": "number", "text": "1", "value": 1 },
                    { "kind": "list", "text": "(b, False)", "items": [
                        { "kind": "string", "text": "b", "value": "b" },
                        { "kind": "boolean", "text": "False", "value": false },
                    ]},
                ]}),
            ),
            Value::Schedule(_) => (
                "schedule { S[i] : 0 <= i < 4 };",
                json!({ "kind": "schedule", "nodes": [
                    { "kind": "domain", "parent": null, "relation": "{ S[i] : 0 <= i <= 3 }" },
                    {
                        "kind": "band", "parent": 0, "permutable": true, "options": "{ }",
                        "members": [
                            { "schedule": "{ S[i] -> [i] }", "coincident": true },
                        ],
                    },
                    { "kind": "leaf", "parent": 1 },
                ]}),
            ),
        }
    }

    #[test]
    fn values_of_every_kind_say_what_their_text_says() {
        let kinds = [
            "{ [1] };",
            "{ [i] -> i };",
            "(ub { [i] -> i : 0 <= i <= 1 })[0];",
            "True;",
            "1;",
            "\"\";",
            "(1, 2);",
            "schedule { A[] };",
        ];
        for kind in kinds {
            let mut session = Session::default();
            let check = |printed: tangram_calc::Printed<'_>| {
                let (program, expected) = example(printed.value);
                let found = value(program);
                for (key, wanted) in expected.as_object().expect("an object") {
                    assert_eq!(found[key], *wanted, "{program} {key}");
                }
                assert!(found["text"].is_string(), "{program}");
            };
            session.run_with(kind, check).expect(kind);
        }
    }

    #[test]
    fn numbers_keep_all_their_digits() {
        let big = "123456789012345678901234567890";
        assert_eq!(value(&format!("{big};"))["value"], big);
        let set = value(&format!("{{ [i] : i = {big} }};"));
        assert_eq!(set["spaces"][0]["disjuncts"][0]["equalities"][0][0], format!("-{big}"));
        assert_eq!(value("card { [i] : 0 <= i < 7 };")["functions"][0]["value"], 7);
        assert_eq!(value("{ max(1/2, 8) };")["bounds"][0]["value"], 8);
        assert_eq!(value("{ };")["spaces"], json!([]));
    }
}
