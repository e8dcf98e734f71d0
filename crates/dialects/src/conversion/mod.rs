//! Conversions between dialects, through the conversion driver.
//!
//! - [`affine_to_scf`]: maps become arithmetic, affine loops and conditions those of scf.
//! - [`scf_to_cf`]: loops and conditions with regions become blocks and branches.
//! - [`index_to_i64`]: `index` becomes `i64` in func, arith and cf.
//! - [`nn_to_linalg`](mod@nn_to_linalg): tensor operations become `linalg` on tensors.

pub mod affine_to_scf;
pub mod index_to_i64;
#[cfg(feature = "nn")]
pub mod nn_to_linalg;
pub mod scf_to_cf;

use tangram_ir::{Attr, Context, Op, Value};
use tangram_rewrite::{NoMatch, Rewriter};

type Matched = Result<(), NoMatch>;

/// MLIR's numbers of the comparisons.
const EQ: i64 = 0;
const SLT: i64 = 2;
const SGE: i64 = 5;
const ULT: i64 = 6;

/// The attributes of an `arith.cmpi` with this comparison.
fn predicate(context: &Context, number: i64) -> Attr {
    context.dict([(context.str("predicate"), context.i64_attr(number))])
}

/// Replaces `op` and says so if that is not possible.
fn finish(rewriter: &mut Rewriter<'_>, op: Op, values: &[Value]) -> Matched {
    rewriter.replace(op, values).map_err(|error| NoMatch::because(error.message))
}
