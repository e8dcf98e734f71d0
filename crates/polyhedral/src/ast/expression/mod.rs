//! Affine rows as expressions of the generated code, in their shortest form.
//!
//! A row is shortened by what holds where the code runs: by equations (`substitute_equalities`),
//! by divisions whose value or remainder is known (`simplify_divisions`), by dimensions that have
//! one value (`substitute_fixed_dims`). Only then `affine_form` builds its expression.

pub(super) mod affine_form;
pub(super) mod normalize_divisions;
pub(super) mod simplify_divisions;
mod substitute_equalities;
pub(super) mod substitute_fixed_dims;
