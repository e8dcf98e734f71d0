//! The whole pipeline: rules and native patterns, applied to a model.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use tangram_dialects::nn::patterns;
use tangram_gsl::ast::{Exactness, Rule};
use tangram_gsl::rules::{CompiledRule, RuleDiscriminator};
use tangram_ir::{Module, Order, walk};
use tangram_onnx::edit::Narrowing;
use tangram_onnx::{Model, expressible_since, is_expressible};
use tangram_rewrite::greedy::{self, GreedyConfig, Stop};
use tangram_rewrite::{
    FrozenPatternSet, PatternReport, PatternSet, RewritePattern, Roots, WalkLimits,
    most_constant_bytes, walk_within,
};
use tangram_saturate::CostModel;

use crate::choose::Choosing;
use crate::cost::{self, Cost};
use crate::library::{Library, Selection};
use crate::progress::Progress;
use crate::ranks;
use crate::report::{self, BeforeAfter, Report, RuleReport, shares};
use crate::saturation::{self, Sets};
use crate::steps::Recorder;
use crate::wholes::{WHOLE, Waiting};

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
    /// Whether only rules are applied that give the same number for every input: none that change
    /// how results are rounded, or the sign of a zero.
    pub exact: bool,
    /// The operator set that the result has to be written in; the model's own if absent.
    pub opset: Option<i64>,
    /// Whether several rewritings are made, of which the best for some purpose is taken.
    pub choosing: Option<Choosing>,
    /// The floats of 16 bits that the result is to compute in; those of the model if absent.
    pub narrow: Option<Narrowing>,
    /// How many bytes are compared at most to find weights that are stored twice.
    pub compare_limit: u64,
    /// How many steps the report tells of; 0 for none, which costs nothing.
    pub max_steps: usize,
    /// Ends the search when it becomes true; what is reached is kept.
    pub cancel: Arc<AtomicBool>,
    /// Grows while the search goes on.
    pub progress: Arc<Progress>,
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
            exact: false,
            opset: None,
            choosing: None,
            narrow: None,
            compare_limit: 1 << 30,
            max_steps: 0,
            cancel: Arc::default(),
            progress: Arc::default(),
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
    /// A strategy that only models have.
    #[error("saturation works on models, not on programs: apply the rules greedily or in a walk")]
    NoModel,
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
        warnings: report::warnings(model),
        ..Report::default()
    };
    let before = cost::estimate(&model.module);
    let compiled = rules(model, library, options, &mut report)?;
    let default: Vec<CompiledRule> = compiled
        .iter()
        .filter(|rule| is_applied_alone(rule.rule(), library, options))
        .cloned()
        .collect();
    let set = pattern_set(model, library, &default, options)?;
    let first = narrowing(model, library, &default, options)?;
    let most = most_constants(&model.module, options);
    let config = greedy_config(options, most);
    let natives = native_set(model, options);
    ranks::decide(&mut model.module, || natives.freeze_filtered(&options.disable, &[]), &config);
    options.progress.start(walk(&model.module, model.module.root(), Order::Pre).len() as u64);
    match options.strategy {
        Strategy::Greedy => {
            greedily(&mut model.module, (first.as_ref(), &set), (options, &config), &mut report);
        }
        Strategy::Walk => {
            in_one_walk(&mut model.module, &set, (options, &config), &mut report);
        }
        Strategy::Saturate => {
            let natives = native_set(model, options).freeze_filtered(&options.disable, &[]);
            let sets = Sets { first: first.as_ref(), all: &set, natives: &natives };
            let (found, done) =
                saturation::run(&mut model.module, &compiled, &sets, options, &config);
            report.saturation = Some(found);
            record(&mut report, done.patterns, done.stopped_by);
        }
    }
    report.warnings.extend(report::wrong_claims(model));
    let refused = refused_everywhere(&report, library);
    report.warnings.extend(refused);
    report.cost = comparable(before, cost::estimate(&model.module));
    Ok(report)
}

/// The report on a model that stays as it is.
pub(crate) fn untouched(model: &Model) -> Report {
    let cost = cost::estimate(&model.module);
    let mut warnings = report::warnings(model);
    warnings.extend(report::wrong_claims(model));
    Report {
        shares: shares(&model.module),
        cost: BeforeAfter { before: cost, after: cost },
        warnings,
        ..Report::default()
    }
}

/// Rules that were asked for, match, and were refused wherever they do.
fn refused_everywhere(report: &Report, library: &Library) -> Vec<String> {
    let idle = report.rules.iter().filter(|rule| rule.fired == 0 && library.is_asked(&rule.name));
    let line = |rule: &RuleReport| {
        let mut refused = report.refused.iter().filter(|refused| refused.rule == rule.name);
        let first = refused.next()?;
        let places = match refused.count() + 1 {
            1 => "1 place".to_owned(),
            count => format!("{count} places"),
        };
        let (name, reason) = (&rule.name, &first.reason);
        Some(format!("`{name}` matches at {places} and is refused at each: {reason}"))
    };
    idle.filter_map(line).collect()
}

/// Both estimates, of which neither has a number that the other lacks.
fn comparable(before: Cost, after: Cost) -> BeforeAfter<Cost> {
    let only = |cost: Cost, other: Cost| Cost {
        flops: cost.flops.filter(|_| other.flops.is_some()),
        bytes: cost.bytes.filter(|_| other.bytes.is_some()),
        ..cost
    };
    BeforeAfter { before: only(before, after), after: only(after, before) }
}

/// The most refusals that a report tells of.
const MAX_REFUSED: usize = 10_000;

/// Applies the patterns until none matches; `first` before all others.
fn greedily(
    module: &mut Module,
    (first, set): (Option<&FrozenPatternSet>, &FrozenPatternSet),
    (options, config): (&Options, &GreedyConfig),
    report: &mut Report,
) {
    let mut recorder =
        Recorder::new(options.max_steps, MAX_REFUSED).with_progress(&options.progress);
    let root = module.root();
    let mut patterns = Vec::new();
    if let Some(first) = first {
        patterns = greedy::apply_with_listener(module, root, first, config, &mut recorder).patterns;
    }
    let done = greedy::apply_with_listener(module, root, set, config, &mut recorder);
    report.tell(recorder.finish(module));
    let cycle = done.cycle.map(|cycle| format!("at the end, these were applied: {cycle}"));
    report.warnings.extend(cycle);
    record(report, together(patterns, done.patterns), done.stopped_by);
}

/// What patterns did in two runs, of which the second had all of them.
pub(crate) fn together(
    first: Vec<PatternReport>,
    mut second: Vec<PatternReport>,
) -> Vec<PatternReport> {
    for earlier in first {
        if let Some(pattern) = second.iter_mut().find(|pattern| pattern.name == earlier.name) {
            pattern.hits += earlier.hits;
            pattern.attempts += earlier.attempts;
            pattern.removed += earlier.removed;
            pattern.added += earlier.added;
            pattern.time += earlier.time;
        }
    }
    second
}

/// The label of rules that cut before what is cut is computed.
const NARROW: &str = "narrow";

/// The patterns that are applied before all others, if the model has what they start from: once
/// products are merged, all rows of all of them are computed.
fn narrowing(
    model: &Model,
    library: &Library,
    rules: &[CompiledRule],
    options: &Options,
) -> Result<Option<FrozenPatternSet>, OptimiseError> {
    let module = &model.module;
    let rules: Vec<_> =
        rules.iter().filter(|rule| is_named(rule.rule(), NARROW)).cloned().collect();
    let is_root = |op| {
        rules.iter().any(|rule| match rule.roots() {
            Roots::Names(names) => names.contains(&module.name(op)),
            _ => false,
        })
    };
    match walk(module, module.root(), Order::Pre).into_iter().any(is_root) {
        true => pattern_set(model, library, &rules, options).map(Some),
        false => Ok(None),
    }
}

/// Gives each operation to the patterns once, then drops what nobody uses any more.
fn in_one_walk(
    module: &mut Module,
    set: &FrozenPatternSet,
    (options, config): (&Options, &GreedyConfig),
    report: &mut Report,
) {
    let mut recorder =
        Recorder::new(options.max_steps, MAX_REFUSED).with_progress(&options.progress);
    let limits = WalkLimits {
        max_rewrites: config.max_rewrites,
        max_constant_bytes: config.max_constant_bytes,
        deadline: config.deadline,
        cancel: config.cancel.clone(),
    };
    let root = module.root();
    let done = walk_within(module, root, set, &limits, &mut recorder);
    let none = PatternSet::new().freeze();
    let only_dead = GreedyConfig { merge_equal: false, fold: false, ..GreedyConfig::default() };
    greedy::apply_with_listener(module, root, &none, &only_dead, &mut recorder);
    report.tell(recorder.finish(module));
    report.warnings.extend(done.breaches.iter().map(ToString::to_string));
    record(report, done.patterns, done.stopped_by);
}

/// How many times as many operations rules may add as there are at the start.
const MAX_GROWTH: u32 = 8;

/// How many bytes the constants of a model may take before none is copied any more; without end
/// where folding has no limit.
fn most_constants(module: &Module, options: &Options) -> Option<u64> {
    options.fold_limit.map(|_| most_constant_bytes(module))
}

fn greedy_config(options: &Options, max_constant_bytes: Option<u64>) -> GreedyConfig {
    GreedyConfig {
        max_rewrites: options.max_rewrites,
        max_growth: Some(MAX_GROWTH),
        max_constant_bytes,
        deadline: deadline(options),
        cancel: Some(options.cancel.clone()),
        merge_equal_bytes: options.compare_limit,
        ..GreedyConfig::default()
    }
}

fn deadline(options: &Options) -> Option<Instant> {
    options.max_time.and_then(|time| Instant::now().checked_add(time))
}

/// The native patterns.
fn native_set(model: &Model, options: &Options) -> PatternSet {
    let context = model.module.context_arc();
    let mut set = PatternSet::new();
    let settings = patterns::Options {
        max_growth_bytes: options.fold_limit,
        exact: options.exact,
        ..patterns::Options::default()
    };
    set.extend(patterns::all(context, &settings));
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
    set.add_discriminator(RuleDiscriminator::new(rules));
    let wholes = wholes(model, library, options)?;
    for rule in rules {
        match waits(rule.rule(), library) && !wholes.is_empty() {
            true => set.add(Waiting { rule: rule.clone(), wholes: Arc::clone(&wholes) }),
            false => set.add(rule.clone()),
        }
    }
    let has = |library: &Library, name: &str| {
        library.rules.iter().any(|located| is_named(&located.rule, name))
    };
    let known = |name: &String| set.names(name) || has(library, name);
    // What the library would have, had it been asked for, is switched off already.
    let shipped = |name: &String| Library::shipped().is_ok_and(|shipped| has(&shipped, name));
    let unknown = options.only.iter().find(|name| !known(name));
    let unknown = unknown.or_else(|| options.disable.iter().find(|n| !known(n) && !shipped(n)));
    if let Some(name) = unknown {
        return Err(OptimiseError::UnknownRule(name.clone()));
    }
    Ok(set.freeze_filtered(&options.disable, &options.only))
}

/// The rules that name compositions which stay whole, whatever the operator set has a name for;
/// none where only some rules are asked for.
fn wholes(
    model: &Model,
    library: &Library,
    options: &Options,
) -> Result<Arc<[CompiledRule]>, OptimiseError> {
    if !options.only.is_empty() {
        return Ok(Arc::default());
    }
    let selection = Selection {
        wanted: &|rule| is_named(rule, WHOLE) && !library.is_asked(rule.name()),
        expressible: &|_| true,
        fold_growth: None,
    };
    Ok(library.compile(model.module.context(), &selection)?.rules.into())
}

/// Whether a rule leaves compositions whole: each but those that name one, and those that a user
/// has asked for.
fn waits(rule: &Rule, library: &Library) -> bool {
    !is_named(rule, RECOGNISE) && !library.is_asked(rule.name())
}

/// The label of rules that give compositions their names.
const RECOGNISE: &str = "recognise";

/// The label of rules that are no improvement by themselves: applied only where they are asked
/// for, by [`Library::add`] or by a name or label in `only`, or where saturation weighs what they
/// lead to.
pub const ON_REQUEST: &str = "on-request";

pub(crate) fn is_named(rule: &Rule, name: &str) -> bool {
    rule.name() == name || rule.labels().iter().any(|label| label == name)
}

/// Whether a rule is applied wherever it matches, and not only weighed by saturation.
fn is_applied_alone(rule: &Rule, library: &Library, options: &Options) -> bool {
    !is_named(rule, ON_REQUEST)
        || library.is_asked(rule.name())
        || options.only.iter().any(|name| is_named(rule, name))
}

fn is_wanted(rule: &Rule, library: &Library, options: &Options) -> bool {
    let saturated = options.strategy == Strategy::Saturate && options.only.is_empty();
    if options.exact && rule.exactness() != Some(Exactness::Exact) {
        return false;
    }
    saturated || is_applied_alone(rule, library, options)
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
    let selection = Selection {
        wanted: &|rule| is_wanted(rule, library, options),
        expressible: &|name| is_expressible(name, opset),
        fold_growth: Some(growth),
    };
    let compiled = library.compile(model.module.context(), &selection)?;
    let why = |(rule, name): (String, String)| match expressible_since(&name) {
        Some(since) => format!("`{rule}` needs `--opset {since}`, for `{name}`"),
        None => format!("`{rule}` needs `{name}`, which no operator set has"),
    };
    report.left_out.extend(compiled.left_out.into_iter().map(why));
    Ok(compiled.rules)
}

fn record(report: &mut Report, patterns: Vec<PatternReport>, stopped_by: Option<Stop>) {
    let rule = |p: PatternReport| RuleReport {
        name: p.name,
        fired: p.hits,
        attempts: p.attempts,
        removed: p.removed,
        added: p.added,
        seconds: p.time.as_secs_f64(),
    };
    let mut rules: Vec<RuleReport> = patterns.into_iter().map(rule).collect();
    rules.sort_by(|a, b| b.fired.cmp(&a.fired).then_with(|| a.name.cmp(&b.name)));
    report.rules = rules;
    report.interrupted = stopped_by == Some(Stop::Cancelled);
    report.stopped_by = stopped_by.map(|limit| limit.to_string());
}
