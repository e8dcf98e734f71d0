//! Quasi-affine functions on integer points, alone, in tuples and by pieces.
//!
//! - [`Aff`] is an affine expression with integer divisions and rational coefficients,
//!   `{ [i] -> [(2 + floor((i)/3))] }`; [`MultiAff`] is a tuple of them.
//! - [`PwAff`] and [`PwMultiAff`] are such expressions on pieces of a domain that do not
//!   overlap; outside of them there is no value. [`MultiPwAff`] is a tuple of [`PwAff`],
//!   each of which has pieces of its own.
//! - [`UnionPwMultiAff`] and [`UnionPwAff`] collect functions of different spaces;
//!   [`MultiUnionPwAff`] is a tuple of the latter, as schedules are written.
//!
//! A piecewise function splits its domain. (A piecewise *schedule* in the literature
//! splits the range instead: that is a [`Union`](crate::Union) of relations.)
//! A function without an input tuple is one of the parameters.
//!
//! The names are isl's.

mod aff;
pub(crate) mod affine;
mod compare;
mod convert;
mod factors;
mod multi_aff;
mod multi_pw_aff;
mod multi_union_pw_aff;
mod multi_union_text;
pub(crate) mod pieces;
mod print;
mod pw_aff;
mod pw_multi_aff;
mod read;
mod union_pw_aff;
mod union_pw_multi_aff;
mod wrapped;

pub use aff::Aff;
pub use multi_aff::MultiAff;
pub use multi_pw_aff::MultiPwAff;
pub use multi_union_pw_aff::MultiUnionPwAff;
pub use pw_aff::PwAff;
pub use pw_multi_aff::PwMultiAff;
pub use union_pw_aff::UnionPwAff;
pub use union_pw_multi_aff::UnionPwMultiAff;
