//! Verdicts on rules as data, for whoever reads them with a program.

use serde_json::{Value, json};
use tangram_gsl::verify::{Leaf, Verdict};

/// The verdict on the rule `name`: what it says, what was tried, and the counterexample if there is
/// one.
pub fn verdict_json(name: &str, verdict: &Verdict) -> Value {
    let mut out = json!({
        "rule": name, "holds": verdict.holds(), "wrong": verdict.is_wrong(),
        "verdict": verdict.to_string(),
    });
    if let Some(evidence) = verdict.evidence() {
        let tried = &evidence.coverage;
        out["promise"] = evidence.promise.map(|promise| promise.word()).into();
        out["instances"] = evidence.count().into();
        out["coverage"] = json!({
            "types": tried.types, "ranks": tried.ranks, "extents": tried.extents,
            "operators": tried.operators, "attributes": tried.attributes,
            "values": tried.values, "pairs": tried.pairs, "branches": tried.branches,
        });
    }
    if let Verdict::HoldsIf { condition, .. } = verdict {
        out["condition"] = condition.as_str().into();
    }
    if let Some(found) = verdict.counterexample() {
        out["counterexample"] = json!({
            "inputs": found.leaves.iter().map(leaf_json).collect::<Vec<_>>(),
            "matched": found.matched, "program": found.source, "difference": found.difference,
        });
    }
    out
}

/// An input with its elements; what JSON has no numbers for is text: `"NaN"`, `"inf"`, `"-inf"`.
fn leaf_json(leaf: &Leaf) -> Value {
    let element = |x: &f64| match x.is_finite() {
        true => json!(x),
        false => x.to_string().into(),
    };
    let elements: Vec<_> = leaf.elements.iter().map(element).collect();
    json!({ "name": leaf.name, "type": leaf.ty, "elements": elements })
}
