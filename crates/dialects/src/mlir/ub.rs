//! MLIR's `ub` dialect: values and places that only undefined behaviour reaches.

use tangram_ir::{AttrKind, OpDef, Traits};

use super::{RESULT, optional};

/// Every definition of this dialect.
pub static DEFS: &[OpDef] = &[
    OpDef {
        results: RESULT,
        attrs: &[optional("value", AttrKind::Any, "which elements; all where absent")],
        traits: Traits::PURE,
        assembly: Some(
            "attr-dict ( `<` $value `>` )? `:` type($result) default($value, ub.poison)",
        ),
        ..OpDef::new("ub.poison", "a value that may be anything")
    },
    OpDef {
        traits: Traits::TERMINATOR,
        assembly: Some("attr-dict"),
        ..OpDef::new("ub.unreachable", "a place that is never reached")
    },
];
