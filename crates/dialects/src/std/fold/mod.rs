//! Folding and canonicalisation of MLIR's dialects.
//!
//! A *folder* says what an operation gives: values that are there, or constants. It makes
//! nothing; it belongs to the definition ([`tangram_ir::OpDef::fold`]), and every driver applies
//! it. A *pattern* makes other operations; [`canonicalization`] gives all of them to a driver.
//! Both are functions in a file beside the definitions; here is what they share.

mod cx;
mod known;
mod look;
pub(crate) mod number;
mod pattern;
mod regions;

use std::sync::Arc;

use tangram_ir::Context;
use tangram_rewrite::RewritePattern;

pub(crate) use cx::Cx;
pub(crate) use known::Known;
pub(crate) use look::Look;
use pattern::Native;

/// A rewrite by code: `None` if it does not match, and then nothing was changed.
pub(crate) type RewriteFn = fn(&mut Cx<'_, '_>) -> Option<()>;

/// The name of a rewrite, the operations it starts at, and its code.
pub(crate) type Rewrite = (&'static str, &'static [&'static str], RewriteFn);

/// The canonicalisation patterns of all dialects.
pub fn canonicalization(context: &Arc<Context>) -> Vec<Box<dyn RewritePattern>> {
    let tables: [&[Rewrite]; 8] = [
        super::arith::REWRITES,
        super::cf::REWRITES,
        super::scf::LOOPS,
        super::scf::CONDITIONS,
        super::affine::REWRITES,
        super::memref::REWRITES,
        super::linalg::REWRITES,
        crate::func::REWRITES,
    ];
    let all = tables.into_iter().flatten().copied();
    all.map(|rewrite| Box::new(Native::new(context, rewrite)) as Box<dyn RewritePattern>).collect()
}
