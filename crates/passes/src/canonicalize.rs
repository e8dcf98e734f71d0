//! `canonicalize`: folds, and applies the canonicalisation patterns of all dialects until none
//! matches any more.

use tangram_dialects::mlir::canonicalization;
use tangram_ir::Diagnostic;
use tangram_rewrite::greedy::{self, Seeding, Simplify};
use tangram_rewrite::{DebugKind, FrozenPatternSet, GreedyConfig, PatternSet};

use crate::effects::erasable;
use crate::pass::{Pass, PassCx, PassError};
use crate::registry::{Entry, OptionError, PassOptions};

pub(crate) const ENTRY: Entry = Entry {
    name: "canonicalize",
    summary: "folds and applies canonicalisation patterns until none matches any more",
    options: &[
        ("top-down", "whether operations are first looked at from the top; `true`"),
        ("region-simplify", "what is done with blocks: `disabled`, `normal` or `aggressive`"),
        ("max-num-rewrites", "the most rewrites by patterns; no limit but one for loops: `-1`"),
        ("test-convergence", "whether not to come to an end is an error; `false`"),
        ("disable-patterns", "patterns to leave out, separated by commas"),
        ("enable-patterns", "the only patterns to apply, separated by commas"),
    ],
    make: |options| Ok(Box::new(Canonicalize::new(options)?)),
};

struct Canonicalize {
    top_down: bool,
    regions: Simplify,
    max_rewrites: i64,
    must_converge: bool,
    disabled: Vec<String>,
    enabled: Vec<String>,
    /// Made in the first run: patterns belong to a context.
    set: Option<FrozenPatternSet>,
}

impl Canonicalize {
    fn new(options: &PassOptions) -> Result<Canonicalize, OptionError> {
        Ok(Canonicalize {
            top_down: options.get("top-down", true)?,
            regions: level(&options.get("region-simplify", "normal".to_owned())?)?,
            max_rewrites: options.get("max-num-rewrites", -1)?,
            must_converge: options.get("test-convergence", false)?,
            disabled: options.words("disable-patterns"),
            enabled: options.words("enable-patterns"),
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

fn unknown_pattern(cx: &PassCx<'_>, word: &str) -> Diagnostic {
    let message = format!("expected the name or label of a pattern, found `{word}`");
    Diagnostic::error("unknown-pattern", cx.module.loc(cx.root), message)
        .with_hint("`--statistics` lists the patterns that were tried")
}

impl Pass for Canonicalize {
    fn run(&mut self, cx: &mut PassCx<'_>) -> Result<(), PassError> {
        let context = cx.module.context_arc().clone();
        let (disabled, enabled) = (&self.disabled, &self.enabled);
        if self.set.is_none() {
            let mut set = PatternSet::new();
            set.extend(canonicalization(&context));
            if let Some(word) = set.first_unknown(disabled).or(set.first_unknown(enabled)) {
                return Err(Box::new(unknown_pattern(cx, word)));
            }
            self.set = Some(set.freeze_filtered(disabled, enabled));
        }
        let Some(set) = &self.set else { return Ok(()) };
        let config = GreedyConfig {
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
        let report = match cx.observer.listener(DebugKind::Greedy) {
            None => greedy::apply(cx.module, cx.root, set, &config),
            Some(heard) => greedy::apply_with_listener(cx.module, cx.root, set, &config, heard),
        };
        cx.count_patterns(report.patterns);
        if let Some(breach) = report.breaches.first() {
            let error =
                Diagnostic::error("pattern-contract", cx.module.loc(cx.root), breach.to_string());
            return Err(Box::new(error));
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
        let loc = cx.module.loc(cx.root);
        let error = Diagnostic::error("no-convergence", loc, message).with_hint(
            "switch off one of the patterns with `disable-patterns`, or raise `max-num-rewrites`",
        );
        if self.must_converge {
            return Err(Box::new(error));
        }
        cx.warnings.push(error);
        Ok(())
    }
}
