//! Checks rules at their definition.
pub(crate) mod suggest;
