//! Equality saturation of IR functions.
//!
//! The pure operations of a function become an e-graph: all programs that the rules can reach are
//! held at once, so that neither the order of the rules nor a rewrite that pays only together with
//! others matters. Then the cheapest program is chosen, where what is shared is paid for once.
//!
//! # How a function becomes an e-graph
//! Every e-node has a *witness*: an operation in a copy of the function. The operands of a witness
//! are the *representatives* of classes, so that the uses of a value are the e-nodes above its
//! class, and the matcher of GSL runs on the copy as it runs on a program, except that a value may
//! be made in several ways. The e-graph itself ([`tangram_egraph`]) keeps the classes, closes them
//! under congruence and remembers why they were united.
//!
//! A target is built by the same code as in every other driver. Its types are inferred and
//! compared with those of the source, so that no ill-typed term ever enters; the type of a class
//! is all that is known of any member.
//!
//! Operations with regions or effects are e-nodes that equal nothing else. Those with effects are
//! chained, each an operand of the next, so that what is chosen always has an order.
//!
//! Cycles in the e-graph are fine; the choice of a term avoids them.
//! ```
//! use tangram_gsl::rules::{CompiledRule, Options};
//! use tangram_gsl::schema::NnSchema;
//! use tangram_saturate::{Config, Stop, saturate};
//!
//! let context = tangram_dialects::context();
//! let schema = NnSchema::new(&context);
//! let rules = "rule commute { let x = *; let y = *; match x + y; rewrite y + x; }
//!              rule factor { let x = *; let y = *; let z = *;
//!                            match matmul(x, z) + matmul(y, z); rewrite matmul(x + y, z); }";
//! let options = Options::default();
//! let compiled = |rule| CompiledRule::new(rule, &context, &schema, &options, &|_| true);
//! let rules = tangram_gsl::text::parse(rules)?;
//! let rules: Vec<CompiledRule> = rules.iter().map(compiled).collect::<Result<_, _>>()?;
//!
//! let source = r#"
//! "func.func"() <{sym_name = "f", function_type =
//!     (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>}> ({
//! ^bb0(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>, %z: tensor<8x8xf32>):
//!   %0 = "nn.matmul"(%x, %z) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
//!   %1 = "nn.matmul"(%y, %z) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
//!   %2 = "nn.add"(%0, %1) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
//!   "func.return"(%2) : (tensor<8x8xf32>) -> ()
//! }) : () -> ()"#;
//! let mut module = tangram_ir::text::parse(source, "f.mlir", context.clone())
//!     .expect("a right program");
//! let function = module.first_op(module.body()).expect("a function");
//! let report = saturate(&mut module, function, &rules, &Config::default())?;
//! assert!(report.stop == Stop::Saturated && report.cost.best < report.cost.before, "{report:?}");
//! assert_eq!(tangram_ir::text::print(&module).matches("nn.matmul").count(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod choose;
mod classes;
pub mod cost;
mod export;
mod graph;
mod joined;
mod proof;
mod report;
mod search;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tangram_gsl::rules::CompiledRule;
use tangram_ir::{Module, Op};
use tangram_rewrite::all_bytes;

pub use cost::CostModel;
pub use proof::{OutputProof, Proof, ProofStep};
pub use report::{Extraction, Report, RuleReport, Stop};

/// What to do, and when to stop.
#[derive(Clone, Debug)]
pub struct Config {
    /// The most e-nodes.
    pub max_nodes: usize,
    /// The most rounds of searching all rules.
    pub max_rounds: usize,
    /// In how many rounds rules with several outputs take part: each round may square what they
    /// find.
    pub multi_output_rounds: usize,
    /// The most steps that the search for matches of one rule takes in one round. What is left then
    /// comes first in the next round, for which a rule that found nothing has half as many.
    pub max_steps: usize,
    /// The most matches of one rule that are applied in one round.
    pub max_matches: usize,
    /// The most bytes that folded constants may take together.
    pub max_folded_bytes: usize,
    /// The most bytes that the e-graph may take, its folded constants included; less where
    /// the process has less left.
    pub max_bytes: usize,
    /// The most bytes that the constants of the module may take afterwards, or as many as they do
    /// now; any number if absent.
    pub max_constant_bytes: Option<u64>,
    /// When to stop searching, and choosing by other ways than the quickest.
    pub deadline: Option<Instant>,
    /// Stops the search when it becomes true; the best so far is chosen.
    pub cancel: Option<Arc<AtomicBool>>,
    /// Grows while the search goes on.
    pub progress: Arc<Progress>,
    /// What operations cost.
    pub cost: CostModel,
    /// How long exact extraction may take; zero leaves it out.
    pub exact_time: Duration,
    /// The most e-nodes for exact extraction.
    pub exact_nodes: usize,
    /// Whether the report has a proof that the result equals the function.
    pub explain: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            max_nodes: 20_000,
            max_rounds: 8,
            multi_output_rounds: 2,
            max_steps: 1 << 19,
            max_matches: 2_000,
            max_folded_bytes: 256 << 20,
            max_bytes: 4 << 30,
            max_constant_bytes: None,
            deadline: None,
            cancel: None,
            progress: Arc::default(),
            cost: CostModel::default(),
            exact_time: Duration::from_secs(2),
            exact_nodes: 4_000,
            explain: false,
        }
    }
}

impl Config {
    /// Whether the time is over, or the caller has ended the search.
    pub(crate) fn is_over(&self) -> bool {
        let cancelled = self.cancel.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed));
        cancelled || self.left().is_some_and(|left| left.is_zero())
    }

    /// The time that is left, if it is bounded.
    pub(crate) fn left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }
}

/// How far a saturation is, for whoever watches from another thread.
#[derive(Debug, Default)]
pub struct Progress {
    round: AtomicU64,
    nodes: AtomicU64,
}

impl Progress {
    /// The round of searching and applying rules, from 1; 0 until there is one.
    pub fn round(&self) -> u64 {
        self.round.load(Ordering::Relaxed)
    }

    /// The e-nodes so far.
    pub fn nodes(&self) -> u64 {
        self.nodes.load(Ordering::Relaxed)
    }

    fn tell(&self, round: usize, nodes: usize) {
        self.round.store(round as u64, Ordering::Relaxed);
        self.nodes.store(nodes as u64, Ordering::Relaxed);
    }
}

/// Why a function cannot be saturated; it is as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Control flow between blocks is not supported.
    #[error("`{0}` is no function of one block that ends with a terminator")]
    Shape(String),
}

/// Replaces the body of `func` by the cheapest equal one that `rules` reach.
///
/// The result costs at most what `func` costs by `config.cost`; otherwise `func` is left as it is.
/// Only operations of the entry block take part; their regions are carried along.
///
/// # Errors
/// [`Error::Shape`] if the body has several blocks or no terminator.
pub fn saturate(
    module: &mut Module,
    func: Op,
    rules: &[CompiledRule],
    config: &Config,
) -> Result<Report, Error> {
    let started = Instant::now();
    let mut graph = graph::Graph::new(module, func)
        .ok_or_else(|| Error::Shape(module.name_text(func).to_owned()))?;
    let before = choose::function_cost(module, graph.block, &config.cost);
    let mut report = search::run(&mut graph, rules, config);
    report.seconds.search = started.elapsed().as_secs_f64();
    let started = Instant::now();
    let mut problem = choose::Problem::new(module, &graph, &config.cost);
    let most = config.max_constant_bytes.map_or(f64::INFINITY, |most| most as f64);
    let room = (most - all_bytes(module) as f64).max(0.0);
    let chosen = problem.solve(before, room, config);
    report.cost = chosen.costs;
    report.seconds.extract = started.elapsed().as_secs_f64();
    if !chosen.improves() {
        return Ok(report);
    }
    if config.explain {
        report.proof = proof::of(module, &mut graph, &problem, &chosen);
    }
    export::write(module, &graph, &problem, &chosen);
    report.changed = true;
    Ok(report)
}
