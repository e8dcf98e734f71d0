//! Passes made of patterns: applied greedily, or towards a target, with options to switch some off.

use std::sync::Arc;

use tangram_dialects::mlir::canonicalization;
use tangram_ir::{Context, Diagnostic};
use tangram_rewrite::conversion::{Conversion, ConversionTarget};
use tangram_rewrite::greedy::{self, Seeding, Simplify};
use tangram_rewrite::{
    DebugKind, FrozenPatternSet, GreedyConfig, Listener, PatternSet, RewritePattern, Silent,
};

use crate::effects::erasable;
use crate::pass::{Pass, PassCx, PassError};
use crate::registry::{Entry, OptionError, PassOptions, Registration};

/// The options that every pass of patterns has: which of them are applied.
pub const FILTERS: &[(&str, &str)] = &[
    ("disable-patterns", "patterns to leave out, separated by commas"),
    ("enable-patterns", "the only patterns to apply, separated by commas"),
];

/// The options of a pass that applies patterns greedily.
pub const OPTIONS: &[(&str, &str)] = &[
    ("top-down", "whether operations are first looked at from the top; `true`"),
    ("region-simplify", "what is done with blocks: `disabled`, `normal` or `aggressive`"),
    ("max-iterations", "the most rounds over all operations; no limit: `-1`"),
    ("max-num-rewrites", "the most rewrites by patterns; no limit but one for loops: `-1`"),
    ("test-convergence", "whether not to come to an end is an error; `false`"),
    FILTERS[0],
    FILTERS[1],
];

pub(crate) const CANONICALIZE: Entry = Entry {
    name: "canonicalize",
    summary: "folds and applies canonicalisation patterns until none matches any more",
    options: OPTIONS,
    make: |options| Ok(Box::new(Greedy::new(options, Arc::new(canonicalization))?)),
};

/// Which patterns of a set are applied, by names and labels.
///
/// ```
/// use tangram_passes::PassOptions;
/// use tangram_passes::patterns::PatternFilter;
///
/// let options = PassOptions(vec![("disable-patterns".into(), "slow,double".into())]);
/// assert_eq!(PatternFilter::new(&options).disabled, ["slow", "double"]);
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PatternFilter {
    /// Patterns to leave out.
    pub disabled: Vec<String>,
    /// The only patterns to apply; all if there is none.
    pub enabled: Vec<String>,
}

impl PatternFilter {
    /// What the options [`FILTERS`] say.
    pub fn new(options: &PassOptions) -> PatternFilter {
        PatternFilter {
            disabled: options.words("disable-patterns"),
            enabled: options.words("enable-patterns"),
        }
    }

    /// Freezes `set` with the patterns that are left.
    ///
    /// # Errors
    /// If a word is neither the name nor a label of a pattern of the set.
    pub fn freeze(&self, cx: &PassCx<'_>, set: PatternSet) -> Result<FrozenPatternSet, PassError> {
        let (disabled, enabled) = (&self.disabled, &self.enabled);
        match set.first_unknown(disabled).or(set.first_unknown(enabled)) {
            Some(word) => Err(Box::new(unknown_pattern(cx, word))),
            None => Ok(set.freeze_filtered(disabled, enabled)),
        }
    }
}

fn unknown_pattern(cx: &PassCx<'_>, word: &str) -> Diagnostic {
    let message = format!("expected the name or label of a pattern, found `{word}`");
    Diagnostic::error("unknown-pattern", cx.module.loc(cx.root), message)
        .with_hint("`--statistics` lists the patterns that were tried")
}

type MakePatterns = dyn Fn(&Arc<Context>) -> Vec<Box<dyn RewritePattern>> + Send + Sync;
type MakeConversion = dyn Fn(&Arc<Context>) -> (ConversionTarget, PatternSet) + Send + Sync;

impl Registration {
    /// A pass that folds and applies patterns until none matches any more, with the options
    /// [`OPTIONS`]. `patterns` makes them for the context of the module.
    pub fn of_patterns(
        name: &'static str,
        summary: &'static str,
        patterns: impl Fn(&Arc<Context>) -> Vec<Box<dyn RewritePattern>> + Send + Sync + 'static,
    ) -> Registration {
        let patterns: Arc<MakePatterns> = Arc::new(patterns);
        Registration::new(name, summary, move |options| {
            Ok(Box::new(Greedy::new(options, patterns.clone())?))
        })
        .with_options(OPTIONS)
    }

    /// A pass that converts to a target, partially, with the options [`FILTERS`]. `conversion`
    /// makes target and patterns for the context of the module.
    pub fn of_conversion(
        name: &'static str,
        summary: &'static str,
        conversion: impl Fn(&Arc<Context>) -> (ConversionTarget, PatternSet) + Send + Sync + 'static,
    ) -> Registration {
        let conversion: Arc<MakeConversion> = Arc::new(conversion);
        Registration::new(name, summary, move |options| {
            let (filter, make) = (PatternFilter::new(options), conversion.clone());
            Ok(Box::new(Converting { make, filter, made: None }))
        })
        .with_options(FILTERS)
    }
}

/// Patterns, applied greedily.
struct Greedy {
    top_down: bool,
    regions: Simplify,
    max_iterations: i64,
    max_rewrites: i64,
    must_converge: bool,
    filter: PatternFilter,
    patterns: Arc<MakePatterns>,
    /// Made in the first run: patterns belong to a context.
    set: Option<FrozenPatternSet>,
}

impl Greedy {
    fn new(options: &PassOptions, patterns: Arc<MakePatterns>) -> Result<Greedy, OptionError> {
        Ok(Greedy {
            top_down: options.get("top-down", true)?,
            regions: level(&options.get("region-simplify", "normal".to_owned())?)?,
            max_iterations: options.get("max-iterations", -1)?,
            max_rewrites: options.get("max-num-rewrites", -1)?,
            must_converge: options.get("test-convergence", false)?,
            filter: PatternFilter::new(options),
            patterns,
            set: None,
        })
    }
}

/// What is done with blocks, by MLIR's words.
fn level(word: &str) -> Result<Simplify, OptionError> {
    match word {
        "disabled" => Ok(Simplify::Disabled),
        "normal" => Ok(Simplify::Normal),
        "aggressive" => Ok(Simplify::Aggressive),
        _ => Err(OptionError::Word {
            name: "region-simplify",
            value: word.into(),
            words: &["disabled", "normal", "aggressive"],
        }),
    }
}

impl Pass for Greedy {
    fn run(&mut self, cx: &mut PassCx<'_>) -> Result<(), PassError> {
        let context = cx.module.context_arc().clone();
        if self.set.is_none() {
            let mut set = PatternSet::new();
            set.extend((self.patterns)(&context));
            self.set = Some(self.filter.freeze(cx, set)?);
        }
        let Some(set) = &self.set else { return Ok(()) };
        let config = GreedyConfig {
            max_iterations: u32::try_from(self.max_iterations).ok(),
            max_rewrites: u64::try_from(self.max_rewrites).ok(),
            seeding: if self.top_down { Seeding::TopDown } else { Seeding::BottomUp },
            merge_equal: false,
            unique_constants: true,
            regions: self.regions,
            check: cx.check_patterns,
            reasons: cx.check_patterns,
            erasable: erasable().map(|name| context.name(name)).collect(),
            ..GreedyConfig::default()
        };
        apply(cx, set, &config, self.must_converge)
    }
}

/// Applies `set` and says what came of it.
fn apply(
    cx: &mut PassCx<'_>,
    set: &FrozenPatternSet,
    config: &GreedyConfig,
    must_converge: bool,
) -> Result<(), PassError> {
    let report = match cx.observer.listener(DebugKind::Greedy) {
        None => greedy::apply(cx.module, cx.root, set, config),
        Some(heard) => greedy::apply_with_listener(cx.module, cx.root, set, config, heard),
    };
    cx.count_patterns(report.patterns);
    let loc = cx.module.loc(cx.root);
    if let Some(breach) = report.breaches.first() {
        return Err(Box::new(Diagnostic::error("pattern-contract", loc, breach.to_string())));
    }
    cx.count("constants-merged", report.merged);
    cx.count("folded", report.folded);
    cx.count("rewrites", report.rewrites);
    cx.count("dead", report.dead);
    cx.count("visits", report.visits);
    let Some(stop) = report.stopped_by else { return Ok(()) };
    let mut message = format!("canonicalisation ended at {stop}");
    if let Some(cycle) = report.cycle {
        message += &format!("; the last rewrites were {cycle}");
    }
    let error = Diagnostic::error("no-convergence", loc, message).with_hint(
        "switch off one of the patterns with `disable-patterns`, or raise `max-num-rewrites`",
    );
    if must_converge {
        return Err(Box::new(error));
    }
    cx.warnings.push(error);
    Ok(())
}

/// Patterns, applied towards a target.
struct Converting {
    make: Arc<MakeConversion>,
    filter: PatternFilter,
    /// Made in the first run: patterns belong to a context.
    made: Option<Conversion>,
}

impl Pass for Converting {
    fn run(&mut self, cx: &mut PassCx<'_>) -> Result<(), PassError> {
        if self.made.is_none() {
            let context = cx.module.context_arc().clone();
            let (target, set) = (self.make)(&context);
            let set = self.filter.freeze(cx, set)?;
            self.made = Some(Conversion::new(&context, target, set));
        }
        match &self.made {
            Some(conversion) => convert(cx, conversion),
            None => Ok(()),
        }
    }
}

/// Converts what stands below the root, and counts.
pub(crate) fn convert(cx: &mut PassCx<'_>, conversion: &Conversion) -> Result<(), PassError> {
    let mut silent = Silent;
    let listener: &mut dyn Listener = match cx.observer.listener(DebugKind::Conversion) {
        Some(listener) => listener,
        None => &mut silent,
    };
    let outcome = conversion.run(cx.module, cx.root, listener);
    let report = outcome.map_err(|mut errors| {
        // The first says most: the others stayed because of it, or are alike.
        Box::new(errors.swap_remove(0))
    })?;
    cx.count("converted", report.converted);
    cx.count("undone", report.undone);
    cx.count_patterns(report.patterns);
    match report.breaches.first() {
        Some(breach) => {
            let loc = cx.module.loc(cx.root);
            Err(Box::new(Diagnostic::error("pattern-contract", loc, breach.to_string())))
        }
        None => Ok(()),
    }
}
