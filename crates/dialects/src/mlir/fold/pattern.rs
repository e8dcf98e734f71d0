//! Functions as patterns.

use tangram_ir::{Context, Op, Traits};
use tangram_rewrite::{NoMatch, RewritePattern, Rewriter, Roots};

use super::{Cx, Known, Rewrite, RewriteFn};

/// A pattern made of a function.
pub(crate) struct Native {
    name: &'static str,
    roots: Roots,
    rewrite: RewriteFn,
}

impl Native {
    pub(crate) fn new(context: &Context, rewrite: Rewrite) -> Native {
        let (name, roots, rewrite) = rewrite;
        let names = roots.iter().flat_map(|root| named(root)).map(|root| context.name(root));
        Native { name, roots: Roots::Names(names.collect()), rewrite }
    }
}

impl Native {
    /// A pattern at all operations with these traits.
    pub(crate) fn of_traits(name: &'static str, traits: Traits, rewrite: RewriteFn) -> Native {
        Native { name, roots: Roots::Traits(traits), rewrite }
    }
}

/// The operations that `root` names: one, or with `dialect.*` all of a dialect.
fn named(root: &'static str) -> Vec<&'static str> {
    let Some(dialect) = root.strip_suffix('*') else { return vec![root] };
    let all = crate::mlir::TABLES.into_iter().flatten().map(|def| def.name);
    all.filter(|name| name.starts_with(dialect)).collect()
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
        let mut cx = Cx { rewriter, op, known, context: &context };
        (self.rewrite)(&mut cx).ok_or(NoMatch::SILENT)
    }
}
