//! MLIR's `tensor` dialect: tensors made, taken apart and reshaped.

mod casts;
mod elements;
mod fold;
mod pads;
mod reshape;
mod shaped;
mod slices;
mod types;

use tangram_ir::{AttrDef, AttrKind, OpDef, OperandDef, Traits};

pub(super) use pads::{padded_with, sum};
pub(super) use types::{
    cast_to, extents, is_static, may_be_cast, remake, says_more, with_dims, with_extents,
};

use super::fold::Rewrite;

/// The patterns of this dialect, with their roots.
pub(super) const REWRITES: [&[Rewrite]; 6] = [
    casts::REWRITES,
    elements::REWRITES,
    pads::REWRITES,
    reshape::REWRITES,
    shaped::REWRITES,
    slices::REWRITES,
];

use super::{INDICES, RESULT, infer, optional, required, result, value, values};

/// Every definition of this dialect.
pub static DEFS: &[OpDef] = &[
    plain("tensor.empty", "a tensor of which only the shape matters", DYNAMIC, &[]).text("`(` $dynamicSizes `)` attr-dict `:` type($result); $dynamicSizes: index"),
    plain(
        "tensor.from_elements",
        "the tensor with these elements, in row-major order",
        ELEMENTS,
        &[],
    ).text("$elements attr-dict `:` type($result); $elements: element($result)").named(&["from_elements"]),
    OpDef {
        operands: &[value("input", "the element"), DYNAMIC[0]],
        results: &[result("aggregate", "the tensor")],
        traits: Traits::PURE,
        assembly: Some("$input ( `` `[` $dynamicSizes `]` )? attr-dict `:` type($aggregate); $input: element($aggregate), $dynamicSizes: index"), result_names: &["splat"], ..OpDef::new("tensor.splat", "a tensor with one value everywhere")
    },
    OpDef {
        operands: &[values("dynamicExtents", "the extents that are not constant")],
        results: RESULT,
        regions: Some(1),
        traits: Traits::SINGLE_BLOCK.union(Traits::RECURSIVE_EFFECTS),
        assembly: Some("$dynamicExtents region(0) attr-dict `:` type($result); $dynamicExtents: index"), result_names: &["generated"], ..OpDef::new(
            "tensor.generate",
            "a tensor whose elements a region computes from their indices",
        )
    },
    OpDef {
        operands: &[value("value", "the element")],
        traits: Traits::TERMINATOR.union(Traits::PURE),
        assembly: Some("$value attr-dict `:` type($value)"), ..OpDef::new("tensor.yield", "ends a region with an element")
    },
    OpDef {
        operands: &[value("tensor", "the tensor"), INDICES],
        infer: Some(infer::element_of_first),
        fold: Some(fold::extract),
        assembly: Some("$tensor `[` $indices `]` attr-dict `:` type($tensor); $indices: index"), result_names: &["extracted"], ..plain("tensor.extract", "an element of a tensor", &[], &[])
    },
    OpDef {
        operands: &[value("scalar", "the element"), value("dest", "the tensor"), INDICES],
        infer: Some(infer::like_second),
        assembly: Some("$scalar `into` $dest `[` $indices `]` attr-dict `:` type($dest); $scalar: element($dest), $indices: index"), result_names: &["inserted"], ..plain("tensor.insert", "the tensor with an element replaced", &[], &[])
    },
    OpDef {
        fold: Some(fold::whole_part),
        assembly: Some("$source mixed($offsets, static_offsets, tight) mixed($sizes, static_sizes) mixed($strides, static_strides) attr-dict `:` type($source) `to` type($result)"), result_names: &["extracted_slice"], ..plain("tensor.extract_slice", "a part of a tensor, with steps", SLICED, SLICE)
    },
    OpDef {
        infer: Some(infer::like_second),
        fold: Some(fold::insert_whole),
        assembly: Some("$source `into` $dest mixed($offsets, static_offsets, tight) mixed($sizes, static_sizes) mixed($strides, static_strides) attr-dict `:` type($source) `into` type($dest)"), result_names: &["inserted_slice"], ..plain("tensor.insert_slice", "the tensor with a part replaced", INSERTED, SLICE)
    },
    OpDef {
        operands: INSERTED,
        attrs: SLICE,
        assembly: Some("$source `into` $dest mixed($offsets, static_offsets, tight) mixed($sizes, static_sizes) mixed($strides, static_strides) attr-dict `:` type($source) `into` type($dest)"), ..OpDef::new("tensor.parallel_insert_slice", "writes a part of a tensor, in `scf.forall`")
    },
    OpDef {
        regions: Some(1),
        traits: Traits::PURE.union(Traits::SINGLE_BLOCK),
        fold: Some(fold::pad_by_nothing),
        assembly: Some("$source keyword($nofold, nofold) `low` mixed($low, static_low, tight) `high` mixed($high, static_high, tight) region(0) attr-dict `:` type($source) `to` type($result)"), result_names: &["padded"], ..plain(
            "tensor.pad",
            "the tensor with elements around it that a region computes",
            PADDED,
            PADDING,
        )
    },
    OpDef {
        infer: Some(infer::concatenated),
        assembly: Some("`dim` `(` int($dim, i64) `)` $inputs attr-dict `:` functional-type"), result_names: &["concat"], ..plain("tensor.concat", "tensors one after the other along a dimension", INPUTS, DIM)
    },
    plain(
        "tensor.gather",
        "parts of a tensor at the places that another tensor holds",
        GATHERED,
        GATHER,
    )
    .text("$source `[` $indices `]` `gather_dims` `(` ints($gather_dims) `)` keyword($unique, unique) attr-dict `:` functional-type")
    .named(&["gather"]),
    OpDef {
        infer: Some(infer::like_second),
        ..plain(
            "tensor.scatter",
            "the tensor with parts replaced at places that another holds",
            SCATTERED,
            SCATTER,
        )
        .text("$source `into` $dest `[` $indices `]` `scatter_dims` `(` ints($scatter_dims) `)` keyword($unique, unique) attr-dict `:` functional-type")
        .named(&["scatter"])
    },
    OpDef {
        fold: Some(fold::cast),
        assembly: Some("$source attr-dict `:` type($source) `to` type($result)"), result_names: &["cast"], ..plain("tensor.cast", "the same tensor with a type that knows more or less", SOURCE, &[])
    },
    plain("tensor.bitcast", "the same bits as elements of another type", SOURCE, &[]).text("$source attr-dict `:` type($source) `to` type($result)"),
    plain("tensor.reshape", "the tensor with the shape that another tensor holds", RESHAPED, &[]).text("$source `(` $shape `)` attr-dict `:` functional-type").named(&["reshape"]),
    plain(
        "tensor.collapse_shape",
        "the tensor with neighbouring dimensions joined",
        SRC,
        REASSOCIATION,
    ).text("$src $reassociation attr-dict `:` type($src) `into` type($result)").named(&["collapsed"]),
    plain("tensor.expand_shape", "the tensor with dimensions split", EXPANDED, EXPANSION).text("$src $reassociation `output_shape` mixed($output_shape, static_output_shape) attr-dict `:` type($src) `into` type($result)").named(&["expanded"]),
    OpDef {
        traits: Traits::PURE.union(Traits::MAY_TRAP),
        infer: Some(infer::index),
        fold: Some(fold::dim),
        assembly: Some("attr-dict $source `,` $index `:` type($source); $index: index"), result_names: &["dim"], ..plain("tensor.dim", "an extent of a tensor", DIMENSION, &[])
    },
    OpDef {
        infer: Some(infer::index),
        fold: Some(fold::rank),
        assembly: Some("$tensor attr-dict `:` type($tensor)"), result_names: &["rank"], ..plain("tensor.rank", "how many dimensions a tensor has", TENSOR, &[])
    },
];

const TENSOR: &[OperandDef] = &[value("tensor", "the tensor")];
const SOURCE: &[OperandDef] = &[value("source", "the tensor")];
const SRC: &[OperandDef] = &[value("src", "the tensor")];
const DYNAMIC: &[OperandDef] = &[values("dynamicSizes", "the extents that are not constant")];
const ELEMENTS: &[OperandDef] = &[values("elements", "the elements")];
const INPUTS: &[OperandDef] = &[values("inputs", "the tensors")];
const DIMENSION: &[OperandDef] =
    &[value("source", "the tensor"), value("index", "the number of the dimension")];
const RESHAPED: &[OperandDef] =
    &[value("source", "the tensor"), value("shape", "a tensor that holds the extents")];
const EXPANDED: &[OperandDef] =
    &[value("src", "the tensor"), values("output_shape", "the new extents that are not constant")];
const OFFSETS: OperandDef = values("offsets", "starts that are not constant");
const SIZES: OperandDef = values("sizes", "extents that are not constant");
const STRIDES: OperandDef = values("strides", "steps that are not constant");
const SLICED: &[OperandDef] = &[value("source", "the tensor"), OFFSETS, SIZES, STRIDES];
const INSERTED: &[OperandDef] =
    &[value("source", "the part"), value("dest", "the tensor"), OFFSETS, SIZES, STRIDES];
const PADDED: &[OperandDef] = &[
    value("source", "the tensor"),
    values("low", "how much stands before, where not constant"),
    values("high", "how much stands after, where not constant"),
];
const GATHERED: &[OperandDef] = &[value("source", "the tensor"), value("indices", "the places")];
const SCATTERED: &[OperandDef] =
    &[value("source", "the parts"), value("dest", "the tensor"), value("indices", "the places")];
const SLICE: &[AttrDef] = &[
    required("static_offsets", AttrKind::Ints, "starts; the least `i64` if dynamic"),
    required("static_sizes", AttrKind::Ints, "extents; the least `i64` if dynamic"),
    required("static_strides", AttrKind::Ints, "steps; the least `i64` if dynamic"),
];
const PADDING: &[AttrDef] = &[
    required("static_low", AttrKind::Ints, "how much stands before; the least `i64` if dynamic"),
    required("static_high", AttrKind::Ints, "how much stands after; the least `i64` if dynamic"),
    optional("nofold", AttrKind::Any, "present where padding by nothing has to stay"),
];
const DIM: &[AttrDef] = &[required("dim", AttrKind::Int, "the number of the dimension")];
const UNIQUE: AttrDef = optional("unique", AttrKind::Any, "present where no place comes twice");
const GATHER: &[AttrDef] =
    &[required("gather_dims", AttrKind::Ints, "the dimensions that places name"), UNIQUE];
const SCATTER: &[AttrDef] =
    &[required("scatter_dims", AttrKind::Ints, "the dimensions that places name"), UNIQUE];
const REASSOCIATION: &[AttrDef] =
    &[required("reassociation", AttrKind::Any, "the dimensions of each group")];
const EXPANSION: &[AttrDef] = &[
    REASSOCIATION[0],
    required("static_output_shape", AttrKind::Ints, "the extents; the least `i64` if dynamic"),
];

const fn plain(
    name: &'static str,
    summary: &'static str,
    operands: &'static [OperandDef],
    attrs: &'static [AttrDef],
) -> OpDef {
    OpDef { operands, results: RESULT, attrs, traits: Traits::PURE, ..OpDef::new(name, summary) }
}
