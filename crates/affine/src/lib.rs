//! Affine arithmetic, below the IR and below integer sets.
//!
//! [`symbolic`] holds the dimensions of tensors: polynomials of named symbols in a normal form,
//! and what is known of them.

pub mod symbolic;
