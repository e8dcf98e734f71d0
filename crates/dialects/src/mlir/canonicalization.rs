//! The canonicalisation patterns of all dialects, from the tables beside the definitions.

use std::sync::Arc;

use tangram_ir::Context;
use tangram_rewrite::RewritePattern;

use super::fold::{Native, Rewrite};

/// The canonicalisation patterns of all dialects.
pub fn canonicalization(context: &Arc<Context>) -> Vec<Box<dyn RewritePattern>> {
    let tables: [&[Rewrite]; 6] = [
        super::ub::REWRITES,
        super::arith::REWRITES,
        super::arith::EXTENDED,
        super::cf::REWRITES,
        super::bufferization::REWRITES,
        crate::func::REWRITES,
    ];
    let tables = tables.into_iter().chain(super::affine::REWRITES).chain(super::memref::REWRITES);
    let tables = tables.chain(super::tensor::REWRITES).chain(super::linalg::REWRITES);
    let tables = tables.chain(super::scf::REWRITES).chain(super::vector::REWRITES);
    let all = tables.flatten().copied();
    let named = all.map(|rewrite| Native::new(context, rewrite));
    let all = std::iter::once(super::ub::poison_operands()).chain(named);
    all.map(|pattern| Box::new(pattern) as Box<dyn RewritePattern>).collect()
}
