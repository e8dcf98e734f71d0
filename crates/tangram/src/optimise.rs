//! The whole pipeline: rules and native patterns, applied to a model.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use tangram_dialects::nn::patterns;
use tangram_gsl::ast::Rule;
use tangram_gsl::check::{check_rule, has_errors};
use tangram_gsl::rules::{self, CompileError, CompiledRule};
use tangram_gsl::schema::NnSchema;
use tangram_onnx::{Model, is_expressible};
use tangram_rewrite::{FrozenPatternSet, GreedyConfig, PatternSet, Report as Rewriting, greedy};
use tangram_saturate::CostModel;

use crate::cost;
use crate::library::Library;
use crate::natives::natives;
use crate::report::{BeforeAfter, Report, RuleReport, shares};
use crate::saturation;

/// How rules are applied.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Strategy {
    /// Until no rule fires any more.
    #[default]
    Greedy,
    /// Each operation once, in order.
    Walk,
    /// All rules at once, in an e-graph; then the cheapest program.
    Saturate,
}

/// What to do, and when to stop.
#[derive(Clone, Debug)]
pub struct Options {
    /// How rules are applied.
    pub strategy: Strategy,
    /// Names and labels of rules that are left out.
    pub disable: Vec<String>,
    /// Names and labels of the only rules that are applied; all if empty.
    pub only: Vec<String>,
    /// When to stop.
    pub max_time: Option<Duration>,
    /// After how many rewrites to stop.
    pub max_rewrites: Option<u64>,
    /// The most e-nodes of a saturation.
    pub max_nodes: usize,
    /// What operations cost, when programs are compared.
    pub cost: CostModel,
    /// Whether a saturation proves that its result equals the model.
    pub explain: bool,
    /// How many bytes a folded constant may add to the model; `None` for no limit.
    pub fold_limit: Option<u64>,
    /// The operator set that the result has to be written in; the model's own if absent.
    pub opset: Option<i64>,
    /// Ends the search when it becomes true; what is reached is kept.
    pub cancel: Arc<AtomicBool>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            strategy: Strategy::Greedy,
            disable: Vec::new(),
            only: Vec::new(),
            max_time: None,
            max_rewrites: None,
            max_nodes: 20_000,
            cost: CostModel::default(),
            explain: false,
            fold_limit: Some(1 << 20),
            opset: None,
            cancel: Arc::default(),
        }
    }
}

/// Why a model could not be optimised. It is as it was then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OptimiseError {
    /// A rule does not fit the operations.
    #[error("{0}")]
    Rules(String),
    /// A name stands for no rule and no label.
    #[error("`{0}` is the name of no rule and no label; `tangram rules list` names all")]
    UnknownRule(String),
}

/// Optimises `model` with the rules of `library` and the native patterns.
///
/// # Errors
/// [`OptimiseError`]; the model is unchanged then.
pub fn optimise(
    model: &mut Model,
    library: &Library,
    options: &Options,
) -> Result<Report, OptimiseError> {
    let mut report = Report {
        shares: shares(&model.module),
        warnings: model.warnings().to_vec(),
        ..Report::default()
    };
    let before = cost::estimate(&model.module);
    let compiled = rules(model, library, options, &mut report)?;
    let set = pattern_set(model, library, &compiled, options)?;
    let root = model.module.root();
    let config = GreedyConfig {
        max_rewrites: options.max_rewrites,
        deadline: options.max_time.and_then(|time| Instant::now().checked_add(time)),
        cancel: Some(options.cancel.clone()),
        ..GreedyConfig::default()
    };
    let done = if options.strategy == Strategy::Saturate {
        let natives = native_set(model, options).freeze(&options.disable, &[]);
        let sets = (&set, &natives);
        let (found, done) = saturation::run(&mut model.module, &compiled, sets, options, &config);
        report.saturation = Some(found);
        done
    } else {
        greedy::apply(&mut model.module, root, &set, &config)
    };
    record(&mut report, done);
    report.cost = BeforeAfter { before, after: cost::estimate(&model.module) };
    Ok(report)
}

/// The native patterns.
fn native_set(model: &Model, options: &Options) -> PatternSet {
    let context = model.module.context_arc();
    let mut set = PatternSet::new();
    for pattern in
        patterns::all(context, &patterns::Options { max_growth_bytes: options.fold_limit })
    {
        set.add(pattern);
    }
    set
}

/// The patterns that apply to `model`, in one frozen set.
fn pattern_set(
    model: &Model,
    library: &Library,
    rules: &[CompiledRule],
    options: &Options,
) -> Result<FrozenPatternSet, OptimiseError> {
    let mut set = native_set(model, options);
    for rule in rules {
        set.add(Box::new(rule.clone()));
    }
    for name in options.disable.iter().chain(&options.only) {
        let idle = || library.rules.iter().any(|located| is_named(&located.rule, name));
        if !set.names(name) && !idle() {
            return Err(OptimiseError::UnknownRule(name.clone()));
        }
    }
    Ok(set.freeze(&options.disable, &options.only))
}

/// The label of rules that are no improvement by themselves: applied only where `only` asks for
/// them by name or by one of their labels.
const ON_REQUEST: &str = "on-request";

fn is_named(rule: &Rule, name: &str) -> bool {
    rule.name() == name || rule.labels().iter().any(|label| label == name)
}

fn is_wanted(rule: &Rule, options: &Options) -> bool {
    !is_named(rule, ON_REQUEST) || options.only.iter().any(|name| is_named(rule, name))
}

/// The rules of `library` whose results can be written in the wanted operator set; `report` hears
/// of the others.
fn rules(
    model: &Model,
    library: &Library,
    options: &Options,
    report: &mut Report,
) -> Result<Vec<CompiledRule>, OptimiseError> {
    let opset = options.opset.or_else(|| model.opset("")).unwrap_or(0);
    let growth =
        options.fold_limit.map_or(usize::MAX, |n| usize::try_from(n).unwrap_or(usize::MAX));
    let settings =
        rules::Options { natives: natives(), fold_growth: growth, ..rules::Options::default() };
    let expressible = |name: &str| is_expressible(name, opset);
    let context = model.module.context();
    let schema = NnSchema::new(context);
    let mut compiled = Vec::with_capacity(library.rules.len());
    for located in library.rules.iter().filter(|located| is_wanted(&located.rule, options)) {
        let found = check_rule(located, &schema);
        if has_errors(&found) {
            return Err(OptimiseError::Rules(library.sources.render(&found)));
        }
        match CompiledRule::checked(&located.rule, context, &settings, &expressible) {
            Ok(rule) => compiled.push(rule),
            Err(CompileError::Inexpressible { rule, operation }) => {
                let why = format!("`{rule}` is left out: opset {opset} has no `{operation}`");
                report.left_out.push(why);
            }
            Err(other) => return Err(OptimiseError::Rules(other.to_string())),
        }
    }
    Ok(compiled)
}

fn record(report: &mut Report, done: Rewriting) {
    let mut rules: Vec<RuleReport> = done
        .patterns
        .into_iter()
        .map(|p| RuleReport {
            name: p.name,
            fired: p.hits,
            attempts: p.attempts,
            removed: p.removed,
            added: p.added,
            seconds: p.time.as_secs_f64(),
        })
        .collect();
    rules.sort_by(|a, b| b.fired.cmp(&a.fired).then_with(|| a.name.cmp(&b.name)));
    report.rules = rules;
    report.stopped_by = done.stopped_by.map(|limit| limit.to_string());
}
