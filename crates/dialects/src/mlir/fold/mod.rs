//! Folding and canonicalisation of MLIR's dialects.
//!
//! A *folder* says what an operation gives: values that are there, or constants. It makes
//! nothing; it belongs to the definition ([`tangram_ir::OpDef::fold`]), and every driver applies
//! it. A *pattern* makes other operations; [`super::canonicalization`] gives all of them to a
//! driver. Both are functions in a file beside the definitions; here is what they share, which
//! knows no dialect in particular.

mod cx;
mod known;
mod look;
pub(crate) mod number;
mod pattern;
mod regions;

pub(crate) use cx::Cx;
pub(crate) use known::Known;
pub(crate) use look::Look;
pub(crate) use pattern::Native;

/// A rewrite by code: `None` if it does not match, and then nothing was changed.
pub(crate) type RewriteFn = fn(&mut Cx<'_, '_>) -> Option<()>;

/// The name of a rewrite, the operations it starts at (`dialect.*` is all of a dialect), and its
/// code.
pub(crate) type Rewrite = (&'static str, &'static [&'static str], RewriteFn);
