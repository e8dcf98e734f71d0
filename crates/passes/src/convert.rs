//! Passes that convert one dialect to others: `lower-affine`, `convert-scf-to-cf`,
//! `convert-index-to-i64`, and `reconcile-unrealized-casts`.

use std::collections::BTreeMap;

use tangram_dialects::conversion::{affine_to_scf, index_to_i64, scf_to_cf};
use tangram_ir::{Context, Diagnostic, Module, Op, Order, Severity, walk};
use tangram_rewrite::conversion::{Conversion, reconcile_casts};
use tangram_rewrite::{Rewriter, Silent};

use crate::pass::{Pass, PassCx, PassError};
use crate::patterns::{FILTERS, PatternFilter, convert};
use crate::registry::{Entry, PassOptions};

pub(crate) const LOWER_AFFINE: Entry = Entry {
    name: "lower-affine",
    summary: "makes operations of `scf`, `arith` and `memref` of those of `affine`",
    options: FILTERS,
    make: |options| Ok(Box::new(Convert::by(affine_to_scf::conversion, "affine.", options))),
};

pub(crate) const SCF_TO_CF: Entry = Entry {
    name: "convert-scf-to-cf",
    summary: "makes blocks and branches of the loops and conditions of `scf`",
    options: FILTERS,
    make: |options| Ok(Box::new(Convert::by(scf_to_cf::conversion, "scf.", options))),
};

pub(crate) const INDEX_TO_I64: Entry = Entry {
    name: "convert-index-to-i64",
    summary: "makes `i64` of `index` in `func`, `arith` and `cf`",
    options: FILTERS,
    make: |options| Ok(Box::new(Convert::by(index_to_i64::conversion, "", options))),
};

pub(crate) const RECONCILE: Entry = Entry {
    name: "reconcile-unrealized-casts",
    summary: "removes casts of types that undo each other",
    options: &[],
    make: |_| Ok(Box::new(Reconcile)),
};

struct Convert {
    make: fn(&Context) -> Conversion,
    /// Made at the first run: all runs of a pass are on one module.
    made: Option<Conversion>,
    /// How the names of operations begin that should be gone; empty where none should.
    lowered: &'static str,
    filter: PatternFilter,
}

impl Convert {
    fn by(
        make: fn(&Context) -> Conversion,
        lowered: &'static str,
        options: &PassOptions,
    ) -> Convert {
        Convert { make, made: None, lowered, filter: PatternFilter::new(options) }
    }

    /// The conversion, with the patterns that the options leave.
    fn prepared(&mut self, cx: &PassCx<'_>) -> Result<&Conversion, PassError> {
        let made = match self.made.take() {
            Some(made) => made,
            None => {
                let context = cx.module.context();
                let choose = |set| self.filter.freeze(cx, set);
                (self.make)(context).with_patterns(context, choose)?
            }
        };
        Ok(self.made.insert(made))
    }
}

/// Says which operations, and how many of each, a lowering has left, if it has.
fn left(module: &Module, root: Op, lowered: &str) -> Option<Diagnostic> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut first = None;
    for op in walk(module, root, Order::Pre) {
        let name = module.name_text(op);
        if !lowered.is_empty() && name.starts_with(lowered) {
            *counts.entry(name).or_default() += 1;
            first = first.or(Some(op));
        }
    }
    let names: Vec<String> =
        counts.into_iter().map(|(name, count)| format!("{count} `{name}`")).collect();
    let loc = module.loc(first?);
    let message = format!("not lowered: {}", names.join(", "));
    Some(Diagnostic {
        severity: Severity::Warning,
        ..Diagnostic::error("not-lowered", loc, message)
    })
}

impl Pass for Convert {
    fn run(&mut self, cx: &mut PassCx<'_>) -> Result<(), PassError> {
        let conversion = self.prepared(cx)?;
        convert(cx, conversion)?;
        let left = left(cx.module, cx.root, self.lowered);
        cx.warnings.extend(left);
        Ok(())
    }
}

struct Reconcile;

impl Pass for Reconcile {
    fn run(&mut self, cx: &mut PassCx<'_>) -> Result<(), PassError> {
        let mut silent = Silent;
        reconcile_casts(&mut Rewriter::new(cx.module, &mut silent), cx.root);
        Ok(())
    }
}
