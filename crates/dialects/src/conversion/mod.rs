//! Conversions between dialects, through the conversion driver.
//!
//! - [`affine_to_scf`]: maps become arithmetic, affine loops and conditions those of scf.
//! - [`scf_to_cf`]: loops and conditions with regions become blocks and branches.
//! - [`index_to_i64`]: `index` becomes `i64` in func, arith and cf.

pub mod affine_to_scf;
pub mod index_to_i64;
pub mod scf_to_cf;
