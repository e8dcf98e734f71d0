//! The strategy `saturate`: all rules at once in an e-graph, then the cheapest program.
//!
//! Three programs compete by one cost model: what the greedy strategy makes of the model, what
//! saturation makes of it, and what saturation makes of the greedy result. One that has more nodes
//! than the greedy result, or larger constants than a program may have, does not count, however
//! cheap it is estimated to be: so the outcome is never worse than that of greedy, in estimated time
//! and in nodes. Of estimates that are close nobody knows which is right, so what gains little by
//! them does not count either.

use std::time::Instant;

use serde::Serialize;
use tangram_dialects::nn::bias;
use tangram_gsl::rules::CompiledRule;
use tangram_ir::{Module, Op, Order, walk};
use tangram_rewrite::{
    FrozenPatternSet, GreedyConfig, Report as Rewriting, RewritePattern, all_bytes, greedy,
};
use tangram_saturate::{Config, Report, saturate};

use crate::optimise::{Options, together};

/// The share of a program's time that another has to gain, by estimates, to be taken in its place.
const CLOSE: f64 = 0.05;

/// What each strategy would reach, and how the best was found.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Saturation {
    /// Estimated seconds of the model as it was.
    pub before: f64,
    /// Estimated seconds of what the greedy strategy makes of it.
    pub greedy: f64,
    /// Estimated seconds of the outcome.
    pub after: f64,
    /// Seconds that the greedy strategy took.
    pub greedy_seconds: f64,
    /// Seconds that both saturations took.
    pub seconds: f64,
    /// The programs, by what was saturated, each with the estimated seconds of its result.
    pub runs: Vec<Run>,
    /// Which program was taken: `greedy`, or the name of a run.
    pub taken: String,
}

/// One saturation of one function.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// `model` or `greedy result`.
    pub from: &'static str,
    /// Estimated seconds of the result.
    pub cost: f64,
    /// What was done, by function.
    pub functions: Vec<Report>,
}

/// The patterns that the parts of the strategy apply.
pub(crate) struct Sets<'a> {
    /// What greedy applies before all others, if that is anything.
    pub(crate) first: Option<&'a FrozenPatternSet>,
    /// The rules and native patterns.
    pub(crate) all: &'a FrozenPatternSet,
    /// The native patterns.
    pub(crate) natives: &'a FrozenPatternSet,
}

/// Applies `rules` by saturation.
pub(crate) fn run(
    module: &mut Module,
    rules: &[CompiledRule],
    sets: &Sets<'_>,
    options: &Options,
    config: &GreedyConfig,
) -> (Saturation, Rewriting) {
    let rules: Vec<CompiledRule> =
        rules.iter().filter(|r| is_enabled(r, options)).cloned().collect();
    let cost = &options.cost;
    let mut outcome = Saturation { before: cost.total(module), ..Saturation::default() };
    let started = Instant::now();
    let mut by_greedy = module.clone();
    let first = sets.first.map(|first| apply(&mut by_greedy, first, config).patterns);
    let mut done = apply(&mut by_greedy, sets.all, config);
    done.patterns = together(first.unwrap_or_default(), done.patterns);
    outcome.greedy_seconds = started.elapsed().as_secs_f64();
    outcome.greedy = cost.total(&by_greedy);

    let started = Instant::now();
    let mut from_model = module.clone();
    // What is cut before it is computed is out of the reach of an e-graph's limits, as often as not.
    apply(&mut from_model, sets.first.unwrap_or(sets.natives), config);
    let nodes = nodes(&by_greedy);
    let most = config.max_constant_bytes.map(|most| most.max(all_bytes(&by_greedy)));
    let mut best = (outcome.greedy, "greedy", None);
    for (from, mut program) in [("model", from_model), ("greedy result", by_greedy.clone())] {
        let functions = functions(&mut program, &rules, options, config);
        apply(&mut program, sets.natives, config);
        let run = Run { from, cost: cost.total(&program), functions };
        let fits = most.is_none_or(|most| all_bytes(&program) <= most);
        if run.cost < best.0
            && run.cost < outcome.greedy * (1.0 - CLOSE)
            && self::nodes(&program) <= nodes
            && fits
        {
            best = (run.cost, from, Some(program));
        }
        outcome.runs.push(run);
    }
    outcome.seconds = started.elapsed().as_secs_f64();
    (outcome.after, outcome.taken) = (best.0, best.1.to_owned());
    *module = best.2.unwrap_or(by_greedy);
    (outcome, done)
}

fn apply(module: &mut Module, set: &FrozenPatternSet, config: &GreedyConfig) -> Rewriting {
    let root = module.root();
    greedy::apply(module, root, set, config)
}

/// How many nodes of ONNX a program stands for: constants are none, and a bias is part of the
/// convolution or product before it.
fn nodes(module: &Module) -> usize {
    let silent = ["nn.constant", "nn.none", "nn.yield", "onnx.constant"];
    let is_node =
        |op| !silent.contains(&module.name_text(op)) && bias::biased(module, op).is_none();
    let all = walk(module, module.root(), Order::Pre).into_iter();
    all.filter(|op| is_node(*op)).count()
}

/// Saturates each function that has one block.
fn functions(
    module: &mut Module,
    rules: &[CompiledRule],
    options: &Options,
    config: &GreedyConfig,
) -> Vec<Report> {
    let config = Config {
        deadline: config.deadline,
        max_constant_bytes: config.max_constant_bytes,
        cancel: Some(options.cancel.clone()),
        progress: options.progress.saturation.clone(),
        cost: options.cost.clone(),
        max_nodes: options.max_nodes,
        explain: options.explain,
        ..Config::default()
    };
    let all: Vec<Op> = module.ops(module.body()).collect();
    let functions = all.into_iter().filter(|op| module.name_text(*op) == "func.func");
    let functions: Vec<Op> = functions.collect();
    functions.into_iter().filter_map(|op| saturate(module, op, rules, &config).ok()).collect()
}

fn is_enabled(rule: &CompiledRule, options: &Options) -> bool {
    let named = |names: &[String]| {
        names.iter().any(|name| name == rule.name() || rule.labels().contains(name))
    };
    !named(&options.disable) && (options.only.is_empty() || named(&options.only))
}

impl Saturation {
    /// The run whose program was taken, if it was one.
    pub fn taken_run(&self) -> Option<&Run> {
        self.runs.iter().find(|run| run.from == self.taken)
    }
}
