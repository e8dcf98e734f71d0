//! What an optimisation did, in numbers.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;
use tangram_ir::{DimKind, Module, Order, TypeData, walk};
use tangram_onnx::proto::{GraphProto, ModelProto};
use tangram_onnx::{Model, edit};
use tangram_tensor::budget;

use crate::check::{self, CheckOptions, Difference};
use crate::choose::Choice;
use crate::cost::Cost;
use crate::saturation::Saturation;
use crate::steps::{DriverCounts, Recorded, Refused, RewriteStep};

/// What an optimisation did.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// Seconds by phase.
    pub seconds: Seconds,
    /// How much is known of the model.
    pub shares: Shares,
    /// Nodes before and after, constants not counted.
    pub nodes: BeforeAfter<usize>,
    /// Estimated cost before and after.
    pub cost: BeforeAfter<Cost>,
    /// Nodes by operator, before and after.
    pub operators: BTreeMap<String, BeforeAfter<usize>>,
    /// Every rule that was tried, in the order of its hits.
    pub rules: Vec<RuleReport>,
    /// What was folded, merged and erased besides.
    pub driver: DriverCounts,
    /// The first changes, one by one, if they were asked for.
    pub steps: Vec<RewriteStep>,
    /// How many changes there were, those that are not told of counted.
    pub step_count: u64,
    /// Matches that were left as they are, and why.
    pub refused: Vec<Refused>,
    /// What saturation found, if that was the strategy.
    pub saturation: Option<Saturation>,
    /// What became of the floats, if they were to become narrower.
    pub narrowed: Option<Narrowed>,
    /// Why this rewriting was taken, if there were several.
    pub choice: Option<Choice>,
    /// The limit that stopped the search, if one did.
    pub stopped_by: Option<String>,
    /// Whether whoever started it stopped it; the result is right, and not the last word.
    pub interrupted: bool,
    /// Rules that were left out, and why.
    pub left_out: Vec<String>,
    /// What was carried along unchanged, what was refused, and why.
    pub warnings: Vec<String>,
}

impl Report {
    /// Takes over what was recorded.
    pub(crate) fn tell(&mut self, recorded: Recorded) {
        (self.steps, self.step_count) = (recorded.steps, recorded.step_count);
        (self.refused, self.driver) = (recorded.refused, recorded.driver);
    }
}

/// What the import of `model` could not make sense of, operators of other domains among it.
pub(crate) fn warnings(model: &Model) -> Vec<String> {
    let line = |(name, count, declared): (String, usize, bool)| {
        let nodes = if count == 1 { "node stays as it is" } else { "nodes stay as they are" };
        match declared {
            true => format!("`{name}` is declared: {count} {nodes}"),
            false => {
                format!("`{name}` is not known: {count} {nodes}, and what depends on its types")
            }
        }
    };
    model.warnings().iter().cloned().chain(model.foreign().into_iter().map(line)).collect()
}

/// Which outputs the model declares with types that they do not have.
pub(crate) fn wrong_claims(model: &Model) -> Vec<String> {
    let claim = |name: String| {
        format!("output `{name}` is declared with another type than it has: that is mended")
    };
    model.contradicted_outputs().into_iter().map(claim).collect()
}

/// What became of `float32` where a result of 16 bits was asked for.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Narrowed {
    /// What it became.
    pub to: String,
    /// Nodes that take or give the narrow type.
    pub nodes: usize,
    /// Constants in the narrow type.
    pub weights: usize,
    /// Nodes `Cast` that were added.
    pub casts: usize,
    /// What stayed as it was, and why; the most frequent first.
    pub kept: Vec<Kept>,
    /// How far results are apart from those of the wide model, on random inputs.
    pub difference: Option<Difference>,
    /// Why that was not measured.
    pub unmeasured: Option<String>,
}

/// Beyond so many operations, evaluation by the reference kernels takes minutes.
const MEASURED_FLOPS: f64 = 2e9;
/// How long it may take where nothing else is said: loops make more of it than can be seen.
const MEASURED_TIME: Duration = Duration::from_secs(60);

impl Narrowed {
    /// Evaluates both models on random inputs, if that takes seconds rather than minutes, and no
    /// longer than `most`.
    pub(crate) fn measure(
        &mut self,
        wide: &Model,
        narrow: &Model,
        flops: Option<f64>,
        most: Option<Duration>,
    ) {
        if let Some(flops) = flops.filter(|&flops| flops > MEASURED_FLOPS) {
            let flops = flops / 1e9;
            let why = format!("{flops:.1} GFLOP take long to evaluate; a check does it");
            self.unmeasured = Some(why);
            return;
        }
        let most = most.unwrap_or(MEASURED_TIME);
        let compared = || check::compare(wide, narrow, &CheckOptions::default());
        match budget::within_time(Some(most), compared) {
            Ok(found) => self.difference = Some(found),
            Err(why) => self.unmeasured = Some(why),
        }
    }
}

/// Nodes of one operator that stayed for one reason.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Kept {
    /// The operator.
    pub operator: String,
    /// Why.
    pub why: String,
    /// The nodes, by the names of their first outputs.
    pub nodes: Vec<String>,
}

impl From<edit::Narrowed> for Narrowed {
    fn from(found: edit::Narrowed) -> Narrowed {
        let edit::Narrowed { to, nodes, weights, casts, kept } = found;
        let kept = kept.into_iter().map(|edit::Kept { operator, why, nodes }| Kept {
            operator,
            why,
            nodes,
        });
        let kept = kept.collect();
        Narrowed { to: to.to_string(), nodes, weights, casts, kept, ..Narrowed::default() }
    }
}

/// A quantity before and after.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct BeforeAfter<T> {
    /// Before.
    pub before: T,
    /// After.
    pub after: T,
}

/// Seconds by phase.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Seconds {
    /// Reading and import.
    pub load: f64,
    /// Rules.
    pub optimise: f64,
    /// Export and writing.
    pub save: f64,
}

/// How much is known of a model, as shares between 0 and 1.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Shares {
    /// Operations of the nn dialect among all that stand for nodes.
    pub nn_operators: f64,
    /// Extents of the values that nodes of the model make: what the import puts between them, such
    /// as a convolution before its bias, has no name and is not counted.
    pub dimensions: DimensionShares,
}

/// Shares of extents.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct DimensionShares {
    /// Numbers.
    #[serde(rename = "static")]
    pub fixed: f64,
    /// Expressions over named symbols.
    pub symbolic: f64,
    /// Not known; a tensor of unknown rank counts as one such extent.
    pub unknown: f64,
}

/// What one rule did.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct RuleReport {
    /// The rule.
    pub name: String,
    /// How often it fired.
    pub fired: u64,
    /// How often it was tried.
    pub attempts: u64,
    /// Operations that it removed.
    pub removed: u64,
    /// Operations that it added.
    pub added: u64,
    /// Seconds spent in it.
    pub seconds: f64,
}

/// Nodes by operator.
pub type Histogram = BTreeMap<String, usize>;

/// Nodes by operator; constants are not counted, nodes of subgraphs are.
pub fn histogram(model: &ModelProto) -> Histogram {
    let mut counts = BTreeMap::new();
    let mut stack: Vec<&GraphProto> = model.graph.iter().collect();
    while let Some(graph) = stack.pop() {
        for node in &graph.node {
            let constant = node.op_type() == "Constant" && node.domain().is_empty();
            if !constant {
                let name = match node.domain() {
                    "" | "ai.onnx" => node.op_type().to_owned(),
                    domain => format!("{domain}.{}", node.op_type()),
                };
                *counts.entry(name).or_default() += 1;
            }
            for attribute in &node.attribute {
                stack.extend(attribute.g.as_deref());
                stack.extend(&attribute.graphs);
            }
        }
    }
    counts
}

/// Histograms before and after, side by side.
pub fn compare(before: &Histogram, after: &Histogram) -> BTreeMap<String, BeforeAfter<usize>> {
    let mut both: BTreeMap<String, BeforeAfter<usize>> = BTreeMap::new();
    for (name, &count) in before {
        both.entry(name.clone()).or_default().before = count;
    }
    for (name, &count) in after {
        both.entry(name.clone()).or_default().after = count;
    }
    both
}

/// Counts what is known of `module`.
pub fn shares(module: &Module) -> Shares {
    let (mut nn, mut other) = (0usize, 0usize);
    let (mut fixed, mut symbolic, mut unknown) = (0usize, 0usize, 0usize);
    let context = module.context();
    for op in walk(module, module.root(), Order::Pre) {
        let name = module.name_text(op);
        if matches!(name, "nn.constant" | "nn.none" | "nn.yield") || name.starts_with("func.") {
            continue;
        }
        match name.starts_with("nn.") {
            true => nn += 1,
            false if name.starts_with("builtin.") => continue,
            false => other += 1,
        }
        for value in module.results(op).filter(|value| module.value_name(*value).is_some()) {
            match context.type_data(module.value_type(value)) {
                TypeData::Tensor(tensor) => {
                    for dim in &tensor.dims {
                        match dim.kind() {
                            DimKind::Static(_) => fixed += 1,
                            DimKind::Symbolic(_) => symbolic += 1,
                            DimKind::Unknown => unknown += 1,
                        }
                    }
                }
                _ => unknown += 1,
            }
        }
    }
    let share = |part: usize, whole: usize| {
        if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
    };
    let dims = fixed + symbolic + unknown;
    Shares {
        nn_operators: if nn + other == 0 { 1.0 } else { share(nn, nn + other) },
        dimensions: DimensionShares {
            fixed: share(fixed, dims),
            symbolic: share(symbolic, dims),
            unknown: share(unknown, dims),
        },
    }
}
