//! The canonicalisation patterns of all dialects, from the tables beside the definitions.

use std::sync::Arc;

use tangram_ir::Context;
use tangram_rewrite::RewritePattern;

use super::fold::{Native, Rewrite};

/// The canonicalisation patterns of all dialects.
pub fn canonicalization(context: &Arc<Context>) -> Vec<Box<dyn RewritePattern>> {
    let tables: [&[Rewrite]; 10] = [
        super::ub::REWRITES,
        super::arith::REWRITES,
        super::arith::EXTENDED,
        super::cf::REWRITES,
        super::scf::LOOPS,
        super::scf::CONDITIONS,
        super::scf::PARALLEL,
        super::scf::FORALL,
        super::vector::REWRITES,
        crate::func::REWRITES,
    ];
    let tables = tables.into_iter().chain(super::affine::REWRITES).chain(super::memref::REWRITES);
    let tables = tables.chain(super::tensor::REWRITES).chain(super::linalg::REWRITES);
    let all = tables.flatten().copied();
    all.map(|rewrite| Box::new(Native::new(context, rewrite)) as Box<dyn RewritePattern>).collect()
}
