//! Matrices whose elements the threads of a subgroup hold together.

use tangram_ir::{AttrDef, AttrKind, OpDef, ResultDef, Traits};

use super::super::{INDICES, optional, required, result, value, values};

/// Every definition of this file.
pub(super) static DEFS: &[OpDef] = &[
    OpDef {
        operands: &[value("srcMemref", "the buffer"), INDICES],
        results: RES,
        attrs: PLACED,
        ..OpDef::new("gpu.subgroup_mma_load_matrix", "reads a matrix")
    }
    .text(
        "$srcMemref `[` $indices `]` attr-dict `:` type($srcMemref) `->` type($res); \
         $indices: index",
    ),
    OpDef {
        operands: &[value("src", "the matrix"), value("dstMemref", "the buffer"), INDICES],
        attrs: PLACED,
        ..OpDef::new("gpu.subgroup_mma_store_matrix", "writes a matrix")
    }
    .text(
        "$src `,` $dstMemref `[` $indices `]` attr-dict `:` type($src) `,` type($dstMemref); \
         $indices: index",
    ),
    OpDef {
        operands: &[
            value("opA", "a factor"),
            value("opB", "a factor"),
            value("opC", "what is added"),
        ],
        attrs: &[
            optional("a_transpose", AttrKind::Any, "present where the first is transposed"),
            optional("b_transpose", AttrKind::Any, "present where the second is transposed"),
        ],
        ..pure("gpu.subgroup_mma_compute", "a product and a sum of matrices")
    }
    .text(
        "$opA `,` $opB `,` $opC attr-dict `:` type($opA) `,` type($opB) `->` type($res); \
         $opC: $res",
    ),
    OpDef {
        operands: &[value("value", "the element")],
        ..pure("gpu.subgroup_mma_constant_matrix", "the matrix of one element everywhere")
    }
    .text("$value attr-dict `:` type($res); $value: own"),
    OpDef {
        operands: &[value("matrix", "the matrix"), INDICES],
        ..pure("gpu.subgroup_mma_extract_thread_local", "an element that this thread holds")
    }
    .text("$matrix `[` $indices `]` attr-dict `:` type($matrix) `->` type($res); $indices: index"),
    OpDef {
        operands: &[value("value", "the element"), value("matrix", "the matrix"), INDICES],
        ..pure("gpu.subgroup_mma_insert_thread_local", "the matrix with one element replaced")
    }
    .text(
        "$value `,` $matrix `[` $indices `]` attr-dict `:` type($value) `,` type($matrix) `->` \
         type($res); $indices: index",
    ),
    OpDef {
        operands: &[values("args", "the matrices")],
        attrs: &[required("opType", AttrKind::Any, "the function")],
        ..pure("gpu.subgroup_mma_elementwise", "a function of the elements in one place")
    }
    .text(
        "space space word($opType, gpu<mma_element_wise, addf, mulf, subf, maxf, minf, divf, \
         addi, muli, subi, divs, divu, negatef, negates, extf) $args attr-dict `:` \
         functional-type",
    ),
];

const RES: &[ResultDef] = &[result("res", "the result")];
const PLACED: &[AttrDef] = &[
    required("leadDimension", AttrKind::Int, "how far apart rows are"),
    optional("transpose", AttrKind::Any, "present where rows and columns are exchanged"),
];

const fn pure(name: &'static str, summary: &'static str) -> OpDef {
    OpDef { results: RES, traits: Traits::PURE, ..OpDef::new(name, summary) }
}
