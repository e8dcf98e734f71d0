//! Folders and functions as patterns.

use std::sync::Arc;

use smallvec::SmallVec;
use tangram_ir::{Attr, Context, Op};
use tangram_rewrite::{NoMatch, RewritePattern, Rewriter, Roots};

use super::{Constants, Cx, FoldCx, FoldFn, Folded, Known, Rewrite, RewriteFn};

/// Replaces an operation by what a folder says of it.
pub(super) struct Folder {
    name: String,
    roots: Roots,
    fold: FoldFn,
    constants: Arc<Constants>,
}

impl Folder {
    pub(super) fn new(
        context: &Context,
        name: &str,
        fold: FoldFn,
        constants: &Arc<Constants>,
    ) -> Folder {
        let roots = Roots::Names(vec![context.name(name)]);
        Folder { name: format!("fold-{name}"), roots, fold, constants: constants.clone() }
    }
}

impl RewritePattern for Folder {
    fn name(&self) -> &str {
        &self.name
    }

    fn roots(&self) -> Roots {
        self.roots.clone()
    }

    /// Folding comes before every pattern.
    fn benefit(&self) -> u16 {
        1000
    }

    fn depth(&self) -> u32 {
        2
    }

    fn match_and_rewrite(&self, rewriter: &mut Rewriter<'_>, op: Op) -> Result<(), NoMatch> {
        let module = rewriter.module();
        if module.result_count(op) != 1 {
            return Err(NoMatch::SILENT);
        }
        let known = Known::of(module.context());
        let constants: SmallVec<[Option<Attr>; 4]> =
            module.operands(op).map(|value| known.constant_of(module, value)).collect();
        let cx = FoldCx { module, op, constants: &constants, known };
        let Some(folded) = (self.fold)(&cx) else { return Err(NoMatch::SILENT) };
        let result = module.result(op, 0);
        let (ty, loc) = (module.value_type(result), module.loc(op));
        let value = match folded {
            Folded::Value(value) => value,
            Folded::Attr(attr) => {
                let made = self.constants.find(rewriter, op, attr, ty, loc);
                made.ok_or(NoMatch::SILENT)?
            }
        };
        // In code that is never reached an operation may use its own result.
        if value == result || rewriter.module().value_type(value) != ty {
            return Err(NoMatch::SILENT);
        }
        rewriter.replace(op, &[value]).map_err(|_| NoMatch::SILENT)
    }
}

/// A pattern made of a function.
pub(super) struct Native {
    name: &'static str,
    roots: Roots,
    rewrite: RewriteFn,
    constants: Arc<Constants>,
}

impl Native {
    pub(super) fn new(context: &Context, rewrite: Rewrite, constants: &Arc<Constants>) -> Native {
        let (name, roots, rewrite) = rewrite;
        let roots = Roots::Names(roots.iter().map(|root| context.name(root)).collect());
        Native { name, roots, rewrite, constants: constants.clone() }
    }
}

impl RewritePattern for Native {
    fn name(&self) -> &str {
        self.name
    }

    fn roots(&self) -> Roots {
        self.roots.clone()
    }

    fn depth(&self) -> u32 {
        2
    }

    fn match_and_rewrite(&self, rewriter: &mut Rewriter<'_>, op: Op) -> Result<(), NoMatch> {
        let context = rewriter.module().context_arc().clone();
        let known = Known::of(&context);
        let mut cx = Cx { rewriter, op, known, context: &context, constants: &self.constants };
        (self.rewrite)(&mut cx).ok_or(NoMatch::SILENT)
    }
}
