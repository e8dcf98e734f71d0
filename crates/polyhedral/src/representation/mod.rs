//! Ways to write a schedule down beside trees and union maps.
//!
//! For `for i { S(i); for j: T(i, j) }`:
//!
//! | form | `S` | `T` |
//! | --- | --- | --- |
//! | [`AffineFunctions`] | `[i]` | `[i, j]` |
//! | [`Kelly`] | `[i, 0]` | `[i, 1, j]` |
//! | [`Regular`], 2d+1 | `[0, i, 0]` | `[0, i, 1, j, 0]` |
//! | union map | `[i, 0, 0]` | `[i, 1, j]` |
//! | [`ScheduleTree`](crate::ScheduleTree) | band `i` over a sequence | of a leaf and band `j` |
//!
//! Every form goes to every other one by way of the tree, or fails with the statement that
//! does not fit. What a step loses is in the name of the function or in its first lines.
//!
//! # Source
//! W. Kelly, W. Pugh, "A unifying framework for iteration reordering transformations"
//! (1995); P. Feautrier (1992) for 2d+1.

mod affine;
mod form;
mod kelly;
mod regular;
mod row;

use std::fmt;

use tangram_presburger::Union;

use crate::Error;

pub use affine::AffineFunctions;
pub use form::Form;
pub use kelly::Kelly;
pub use regular::{Regular, RegularStatement};

/// Writes the points of a form.
fn show(points: Result<Union, Error>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match points {
        Ok(points) => fmt::Display::fmt(&points, f),
        Err(_) => f.write_str("{ numbers outgrow 128 bits }"),
    }
}
