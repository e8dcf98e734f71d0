//! Passes that convert one dialect to others: `lower-affine`, `convert-scf-to-cf`,
//! `convert-index-to-i64`, and `reconcile-unrealized-casts`.

use tangram_dialects::conversion::{affine_to_scf, index_to_i64, scf_to_cf};
use tangram_ir::{Diagnostic, Module, Op};
use tangram_rewrite::conversion::{ConversionReport, reconcile_casts};
use tangram_rewrite::{DebugKind, Listener, Rewriter, Silent};

use crate::pass::{Pass, PassCx, PassError};
use crate::registry::Entry;

pub(crate) const LOWER_AFFINE: Entry = Entry {
    name: "lower-affine",
    summary: "makes operations of `scf`, `arith` and `memref` of those of `affine`",
    options: &[],
    make: |_| Ok(Box::new(Convert(affine_to_scf::run))),
};

pub(crate) const SCF_TO_CF: Entry = Entry {
    name: "convert-scf-to-cf",
    summary: "makes blocks and branches of `scf.for`, `scf.if` and `scf.while`",
    options: &[],
    make: |_| Ok(Box::new(Convert(scf_to_cf::run))),
};

pub(crate) const INDEX_TO_I64: Entry = Entry {
    name: "convert-index-to-i64",
    summary: "makes `i64` of `index` in `func`, `arith` and `cf`",
    options: &[],
    make: |_| Ok(Box::new(Convert(index_to_i64::run))),
};

pub(crate) const RECONCILE: Entry = Entry {
    name: "reconcile-unrealized-casts",
    summary: "removes casts of types that undo each other",
    options: &[],
    make: |_| Ok(Box::new(Reconcile)),
};

type Run = fn(&mut Module, Op, &mut dyn Listener) -> Result<ConversionReport, Vec<Diagnostic>>;

struct Convert(Run);

impl Pass for Convert {
    fn run(&mut self, cx: &mut PassCx<'_>) -> Result<(), PassError> {
        let mut silent = Silent;
        let listener: &mut dyn Listener = match cx.observer.listener(DebugKind::Conversion) {
            Some(listener) => listener,
            None => &mut silent,
        };
        let outcome = (self.0)(cx.module, cx.root, listener);
        let report = outcome.map_err(|mut errors| {
            // The first says most: the others stayed because of it, or are alike.
            Box::new(errors.swap_remove(0))
        })?;
        cx.count("converted", report.converted);
        cx.count("undone", report.undone);
        cx.count_patterns(report.patterns);
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
