//! The classes of difference between what we and `mlir-opt` leave of a function; each is described
//! in `docs/mlir.md`.

use std::collections::BTreeMap;

/// By operation, how many more of it we leave.
pub type Kinds = BTreeMap<String, i64>;

/// What is of no class.
pub const UNKNOWN: &str = "unknown";

/// The class of a difference.
pub fn class(kinds: &Kinds) -> &'static str {
    let any = |sign: i64, names: &[&str]| {
        let named = |name: &str| names.iter().any(|prefix| name.starts_with(prefix));
        kinds.iter().any(|(name, n)| n.signum() == sign && named(name))
    };
    let more = kinds.values().any(|n| *n > 0);
    let loops = ["scf.for", "affine.for", "scf.while", "affine.if", "scf.if"];
    if !more {
        return match () {
            () if any(-1, &["memref.alloc"]) => "dead buffers",
            () if any(-1, &loops) => "dead regions",
            () if any(-1, &["cf."]) => "branches",
            () => "shorter arithmetic",
        };
    }
    match () {
        () if any(1, &["scf.while", "affine.for"]) => "repeated loops",
        () if any(1, &["scf.for"]) => "exchanged values",
        () if any(1, &["scf.if", "affine.if", "cf."]) => "choices",
        () if any(1, &["affine.apply", "affine.min", "affine.max"]) => "affine ranges",
        () if any(1, &["arith."]) => "longer arithmetic",
        () => UNKNOWN,
    }
}
