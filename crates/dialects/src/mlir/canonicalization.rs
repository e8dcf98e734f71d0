//! The canonicalisation patterns of all dialects, from the tables beside the definitions.

use std::sync::Arc;

use tangram_ir::Context;
use tangram_rewrite::RewritePattern;

use super::fold::{Native, Rewrite};

/// The canonicalisation patterns of all dialects.
pub fn canonicalization(context: &Arc<Context>) -> Vec<Box<dyn RewritePattern>> {
    let tables: [&[Rewrite]; 15] = [
        super::arith::REWRITES,
        super::cf::REWRITES,
        super::scf::LOOPS,
        super::scf::CONDITIONS,
        super::scf::PARALLEL,
        super::affine::REWRITES,
        super::affine::INDEX_REWRITES,
        super::memref::REWRITES,
        super::memref::VIEWS,
        super::tensor::REWRITES,
        super::tensor::CASTS,
        super::tensor::RESHAPES,
        super::linalg::REWRITES,
        super::linalg::PACKING,
        crate::func::REWRITES,
    ];
    let all = tables.into_iter().flatten().copied();
    all.map(|rewrite| Box::new(Native::new(context, rewrite)) as Box<dyn RewritePattern>).collect()
}
