//! Two models from anywhere: do they compute the same, and where does a difference begin?
//!
//! Unlike a model and what rules made of it, two files need not have their inputs in one order:
//! inputs and outputs are paired by name where the names are the same, else by place.

use std::fmt;

use serde::Serialize;
use tangram_dialects::interpret::Datum;
use tangram_onnx::Model;
use tangram_onnx::edit::{Edits, edit};

use super::{CheckOptions, Difference, Reason, difference, evaluated, inputs, run};

/// How two models compare.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Comparison {
    /// The largest difference over all runs, by how far it is above its tolerance.
    pub worst: Difference,
    /// The extents of the inputs of each run; none where another engine ran them.
    pub runs: Vec<Vec<Vec<usize>>>,
    /// The first value that differs, of those that both models have under one name.
    pub begins: Option<Difference>,
}

impl Comparison {
    /// Whether the difference is within the tolerance in every run.
    pub fn holds(&self) -> bool {
        self.worst.holds()
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.worst)?;
        let shown = |shapes: &Vec<Vec<usize>>| {
            shapes.iter().map(|shape| format!("{shape:?}")).collect::<Vec<_>>().join(" ")
        };
        let runs: Vec<String> = self.runs.iter().map(shown).collect();
        if !runs.is_empty() {
            writeln!(f, "sizes of the inputs: {}", runs.join("; "))?;
        }
        match &self.begins {
            Some(first) => writeln!(f, "it begins at `{}`: {first}", first.output),
            None => Ok(()),
        }
    }
}

/// Evaluates both models on the same inputs, `runs` times, of other sizes where sizes are open.
///
/// # Errors
/// Why they cannot be compared, in words.
pub fn compare_files(
    a: &Model,
    b: &Model,
    options: &CheckOptions,
    runs: usize,
) -> Result<Comparison, Reason> {
    let (a, b) = (evaluated(a)?, evaluated(b)?);
    let (a, b) = (a.as_ref(), b.as_ref());
    let order = pairing(&inputs::names(&a.module)?, &inputs::names(&b.module)?, "inputs")?;
    let outputs = pairing(&a.output_names(), &b.output_names(), "outputs")?;
    let mut found = Comparison::default();
    let mut worst_inputs = None;
    for tried in inputs::find_all(a, options, runs.max(1))? {
        let given: Vec<Datum> = order.iter().map(|&at| tried.inputs[at].clone()).collect();
        let right = run(b, &given)?;
        for (at, name) in a.output_names().into_iter().enumerate() {
            let one = options.judged(difference(&tried.outputs[at], &right[outputs[at]], name)?);
            if one.is_worse_than(&found.worst) {
                found.worst = one;
                worst_inputs = Some(tried.inputs.clone());
            }
        }
        found.runs.push(tried.shapes);
    }
    if let Some(given) = worst_inputs.filter(|_| !found.holds()) {
        found.begins = first_difference(a, b, &given, &order, options);
    }
    Ok(found)
}

/// For each of `theirs` the place of its partner in `ours`.
fn pairing(ours: &[String], theirs: &[String], what: &str) -> Result<Vec<usize>, Reason> {
    if ours.len() != theirs.len() {
        return Err(format!("one model has {} {what}, the other {}", ours.len(), theirs.len()));
    }
    let by_name: Option<Vec<usize>> =
        theirs.iter().map(|name| ours.iter().position(|own| own == name)).collect();
    Ok(by_name.unwrap_or_else(|| (0..ours.len()).collect()))
}

/// The first value in the order of `a` that differs, of those that `b` has under the same name.
fn first_difference(
    a: &Model,
    b: &Model,
    given: &[Datum],
    order: &[usize],
    options: &CheckOptions,
) -> Option<Difference> {
    let known: rustc_hash::FxHashSet<String> = values(b).into_iter().collect();
    let outputs: Vec<String> = values(a).into_iter().filter(|name| known.contains(name)).collect();
    let edits = |model: &Model| -> Option<Edits> {
        Some(Edits {
            inputs: inputs::names(&model.module).ok()?,
            outputs: outputs.clone(),
            ..Edits::default()
        })
    };
    let left = run(&edit(a, &edits(a)?).ok()?, given).ok()?;
    let theirs: Vec<Datum> = order.iter().map(|&at| given[at].clone()).collect();
    let right = run(&edit(b, &edits(b)?).ok()?, &theirs).ok()?;
    for ((x, y), name) in left.iter().zip(&right).zip(&outputs) {
        let Ok(one) = difference(x, y, name.clone()) else { continue };
        let one = options.judged(one);
        if !one.holds() {
            return Some(one);
        }
    }
    None
}

/// The names of the values that nodes of the main graph make, in order.
fn values(model: &Model) -> Vec<String> {
    let module = &model.module;
    let ops = model.graph().into_iter().flat_map(|block| module.ops(block));
    let made = ops.filter(|&op| model.is_node(op)).flat_map(|op| module.results(op));
    made.filter_map(|v| Some(module.context().text(module.value_name(v)?).to_owned())).collect()
}
