//! Integer sets and relations, quasi-affine functions, counting, symbolic dimensions.

pub mod symbolic;
