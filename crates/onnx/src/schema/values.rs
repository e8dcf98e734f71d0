//! Values of attributes that came later than the attributes themselves: the table of schemas does
//! not have them, since they stand in the operators' descriptions only.

use crate::proto::{AttributeProto, NodeProto};

/// Operator, attribute, a text that it may be, and the first operator set in which it may.
const LATER: &[(&str, &str, &str, i64)] = &[
    ("Pad", "mode", "wrap", 19),
    ("Resize", "coordinate_transformation_mode", "half_pixel_symmetric", 19),
    ("ScatterElements", "reduction", "max", 18),
    ("ScatterElements", "reduction", "min", 18),
    ("ScatterND", "reduction", "max", 18),
    ("ScatterND", "reduction", "min", 18),
];

/// Notes texts of `node` that its operator does not have in version `version` of ONNX's own set.
pub(super) fn later(node: &NodeProto, version: i64, problems: &mut Vec<String>) {
    let says = |attribute: &&AttributeProto, row: &(&str, &str, &str, i64)| {
        attribute.name() == row.1 && attribute.s.as_deref() == Some(row.2.as_bytes())
    };
    let of_operator = LATER.iter().filter(|row| row.0 == node.op_type() && version < row.3);
    for row in of_operator {
        if node.attribute.iter().any(|attribute| says(&attribute, row)) {
            let (_, name, text, since) = row;
            problems.push(format!("has no `{text}` as `{name}`, which came with {since}"));
        }
    }
}
