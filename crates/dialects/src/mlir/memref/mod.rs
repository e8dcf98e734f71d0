//! MLIR's `memref` dialect: buffers, their elements, and views of them.

mod canonicalize;
mod casts;
mod globals;
pub(super) mod layout;
mod metadata;
mod reshapes;
mod scopes;
mod views;

use tangram_ir::{Absence, AttrDef, AttrKind, OpDef, OperandDef, ResultDef, Traits};

use super::fold::Rewrite;
use super::{INDICES, RESULT, infer, maybe, optional, required, result, results, value, values};

/// The canonicalisation patterns.
pub(super) const REWRITES: [&[Rewrite]; 7] = [
    canonicalize::REWRITES,
    // What a cast says is read before it is passed by.
    metadata::REWRITES,
    casts::REWRITES,
    globals::REWRITES,
    reshapes::REWRITES,
    scopes::REWRITES,
    views::REWRITES,
];

/// Every definition of this dialect.
pub static DEFS: &[OpDef] = &[
    OpDef {
        operands: SIZES,
        results: BUFFER,
        attrs: ALIGNMENT,
        assembly: Some("`(` $dynamicSizes `)` ( `` `[` $symbolOperands `]` )? attr-dict `:` type($memref); $dynamicSizes: index, $symbolOperands: index"), result_names: &["alloc"], ..OpDef::new("memref.alloc", "a new buffer, to be freed")
    },
    OpDef {
        operands: SIZES,
        results: BUFFER,
        attrs: ALIGNMENT,
        assembly: Some("`(` $dynamicSizes `)` ( `` `[` $symbolOperands `]` )? attr-dict `:` type($memref); $dynamicSizes: index, $symbolOperands: index"), result_names: &["alloca"], ..OpDef::new("memref.alloca", "a new buffer that lives until the scope around it ends")
    },
    OpDef {
        results: &[results("results", "what the region ends with")],
        regions: Some(1),
        traits: Traits::SINGLE_BLOCK.union(Traits::RECURSIVE_EFFECTS),
        assembly: Some("space results region(0, memref.alloca_scope.return) attr-dict"), ..OpDef::new("memref.alloca_scope", "a scope for `memref.alloca`")
    },
    OpDef {
        operands: &[values("results", "the results of the scope")],
        traits: ENDS,
        assembly: Some("attr-dict ( $results `:` type($results) )?"), ..OpDef::new("memref.alloca_scope.return", "ends a scope with its results")
    },
    OpDef {
        operands: &[value("source", "a buffer"), maybe("dynamicResultSize", "the new size")],
        results: BUFFER,
        attrs: ALIGNMENT,
        assembly: Some("$source ( `` `(` $dynamicResultSize `)` )? attr-dict `:` type($source) `to` type($memref); $dynamicResultSize: index"), ..OpDef::new("memref.realloc", "a buffer of another size with the same elements")
    },
    OpDef { operands: MEMREF, assembly: Some("$memref attr-dict `:` type($memref)"), ..OpDef::new("memref.dealloc", "frees a buffer") },
    OpDef {
        operands: ELEMENT,
        results: RESULT,
        attrs: ACCESS,
        infer: Some(infer::element_of_first),
        assembly: Some("$memref `[` $indices `]` attr-dict `:` type($memref); $indices: index"), ..OpDef::new("memref.load", "an element of a buffer")
    },
    OpDef {
        operands: STORED,
        attrs: ACCESS,
        assembly: Some("$value `,` $memref `[` $indices `]` attr-dict `:` type($memref); $value: element($memref), $indices: index"), ..OpDef::new("memref.store", "writes an element of a buffer")
    },
    OpDef {
        operands: STORED,
        results: RESULT,
        attrs: &[required("kind", AttrKind::Int, "MLIR's number of the combination")],
        infer: Some(infer::like_first),
        assembly: Some("enum($kind, i64, addf, addi, andi, assign, maximumf, maxnumf, maxs, maxu, minimumf, minnumf, mins, minu, mulf, muli, ori, xori) $value `,` $memref `[` $indices `]` attr-dict `:` `(` type($value) `,` type($memref) `)` `->` type($result); $indices: index"), ..OpDef::new(
            "memref.atomic_rmw",
            "combines an element with a value at once; gives the old one",
        )
    },
    OpDef {
        operands: ELEMENT,
        results: RESULT,
        regions: Some(1),
        traits: Traits::SINGLE_BLOCK,
        infer: Some(infer::element_of_first),
        assembly: Some("$memref `[` $indices `]` `:` type($memref) region(0) attr-dict; $indices: index"), ..OpDef::new("memref.generic_atomic_rmw", "changes an element at once, as a region says")
    },
    OpDef {
        operands: &[value("result", "the new element")],
        traits: ENDS,
        assembly: Some("$result attr-dict `:` type($result)"), ..OpDef::new("memref.atomic_yield", "ends the region of `memref.generic_atomic_rmw`")
    },
    OpDef {
        operands: &[value("source", "what is read"), value("target", "what is written")],
        assembly: Some("$source `,` $target attr-dict `:` type($source) `to` type($target)"), ..OpDef::new("memref.copy", "copies all elements of a buffer")
    },
    OpDef {
        operands: ELEMENT,
        attrs: &[
            required("isWrite", AttrKind::Bool, "whether a write follows"),
            required("localityHint", AttrKind::Int, "0 for used once, up to 3 for used often"),
            required("isDataCache", AttrKind::Bool, "whether it holds data, not instructions"),
        ],
        assembly: Some("$memref `[` $indices `]` `,` choice($isWrite, read, write) `,` `locality` `<` int($localityHint, i32) `>` `,` choice($isDataCache, instr, data) attr-dict `:` type($memref); $indices: index"), ..OpDef::new("memref.prefetch", "announces an access to a buffer")
    },
    OpDef {
        operands: &[values("operands", "buffers, sizes and strides, as MLIR orders them")],
        assembly: Some("dma-start attr-dict"),
        ..OpDef::new("memref.dma_start", "starts to copy between memory spaces")
    },
    OpDef {
        operands: &[
            value("tagMemRef", "the buffer of tags"),
            values("tagIndices", "the place of the tag"),
            value("numElements", "how many elements were to be copied"),
        ],
        assembly: Some("$tagMemRef `[` $tagIndices `]` `,` $numElements attr-dict `:` type($tagMemRef); $tagIndices: index, $numElements: index"),
        ..OpDef::new("memref.dma_wait", "waits for a copy between memory spaces")
    },
    OpDef {
        attrs: &[
            required("sym_name", AttrKind::Str, "the name"),
            optional("sym_visibility", AttrKind::Str, "who sees the name"),
            required("type", AttrKind::Type, "the type of the buffer"),
            optional("initial_value", AttrKind::Any, "its elements; `unit` if not set"),
            optional("constant", AttrKind::Any, "present where nothing writes to it"),
            ALIGNMENT[0],
        ],
        traits: Traits::SYMBOL,
        assembly: Some("global attr-dict"), ..OpDef::new("memref.global", "a buffer that lives as long as the program")
    },
    OpDef {
        results: RESULT,
        attrs: &[required("name", AttrKind::Any, "its symbol")],
        traits: Traits::PURE,
        assembly: Some("$name `:` type($result) attr-dict"), ..OpDef::new("memref.get_global", "a global buffer")
    },
    OpDef {
        operands: &[value("source", "a buffer"), value("index", "the number of the dimension")],
        results: RESULT,
        traits: Traits::PURE.union(Traits::MAY_TRAP),
        infer: Some(infer::index),
        fold: Some(canonicalize::fold_dim),
        assembly: Some("attr-dict $source `,` $index `:` type($source); $index: index"), result_names: &["dim"], ..OpDef::new("memref.dim", "an extent of a buffer")
    },
    OpDef {
        operands: MEMREF,
        results: RESULT,
        traits: Traits::PURE,
        infer: Some(infer::index),
        fold: Some(canonicalize::fold_rank),
        assembly: Some("$memref attr-dict `:` type($memref)"), ..OpDef::new("memref.rank", "how many dimensions a buffer has")
    },
    OpDef {
        operands: MEMREF,
        results: RESULT,
        attrs: &[required("alignment", AttrKind::Int, "in bytes, a power of two")],
        traits: Traits::PURE.union(Traits::SAME_TYPE),
        infer: Some(infer::like_first),
        assembly: Some("$memref `,` int($alignment, i32) attr-dict `:` type($memref)"), result_names: &["assume_align"], ..OpDef::new("memref.assume_alignment", "the buffer, of which the alignment is known")
    },
    OpDef {
        operands: &[values("operands", "buffers")],
        results: &[results("results", "the same buffers")],
        traits: Traits::PURE,
        assembly: Some("$operands attr-dict `:` type($operands); $results: $operands"), ..OpDef::new("memref.distinct_objects", "the buffers, which are known not to overlap")
    },
    OpDef {
        fold: Some(canonicalize::fold_cast),
        assembly: Some("$source attr-dict `:` type($source) `to` type($result)"), result_names: &["cast"], ..view("memref.cast", "the same buffer with a type that knows more or less", SOURCE, &[])
    },
    view("memref.memory_space_cast", "the same buffer in another memory space", SOURCE, &[]).text("$source attr-dict `:` type($source) `to` type($result)").named(&["memspacecast"]),
    view("memref.reshape", "the buffer with the shape that another buffer holds", RESHAPED, &[]).text("$source `(` $shape `)` attr-dict `:` functional-type").named(&["reshape"]),
    view(
        "memref.collapse_shape",
        "the buffer with neighbouring dimensions joined",
        SRC,
        REASSOCIATION,
    ).text("$src $reassociation attr-dict `:` type($src) `into` type($result)").named(&["collapse_shape"]),
    view("memref.expand_shape", "the buffer with dimensions split", EXPANDED, EXPANSION).text("$src $reassociation `output_shape` mixed($output_shape, static_output_shape) attr-dict `:` type($src) `into` type($result)").named(&["expand_shape"]),
    view("memref.transpose", "the buffer with its dimensions in another order", IN, PERMUTATION).text("$in permutation($permutation) attr-dict `:` type($in) `to` type($result)").named(&["transpose"]),
    view("memref.view", "elements of some type in a buffer of bytes", BYTES, &[]).text("$source `[` $byte_shift `]` `` `[` $sizes `]` attr-dict `:` type($source) `to` type($result); $byte_shift: index, $sizes: index").named(&["view"]),
    view("memref.subview", "a part of a buffer, with steps", SLICED, SLICE).text("$source mixed($offsets, static_offsets, tight) mixed($sizes, static_sizes) mixed($strides, static_strides) attr-dict `:` type($source) `to` type($result)").named(&["subview"]),
    view(
        "memref.reinterpret_cast",
        "the buffer with another offset, shape and strides",
        SLICED,
        SLICE,
    ).text("$source `to` `offset` `` `:` mixed($offsets, static_offsets) `` `,` `sizes` `` `:` mixed($sizes, static_sizes) `` `,` `strides` `` `:` mixed($strides, static_strides) attr-dict `:` type($source) `to` type($result)").named(&["reinterpret_cast"]),
    OpDef {
        operands: SOURCE,
        results: &[
            result("base_buffer", "the buffer without a layout"),
            result("offset", "where its elements start"),
            results("sizes", "its extents"),
            results("strides", "its strides"),
        ],
        traits: Traits::PURE.union(Traits::SAME_SIZES),
        result_names: &["base_buffer", "offset", "sizes", "strides"], assembly: Some("$source `:` type($source) `->` all-results attr-dict"), ..OpDef::new(
            "memref.extract_strided_metadata",
            "a buffer's base, offset, extents and strides",
        )
    },
    OpDef {
        operands: SOURCE,
        results: &[result("aligned_pointer", "the address")],
        traits: Traits::PURE,
        infer: Some(infer::index),
        assembly: Some("$source `:` type($source) `->` type($aligned_pointer) attr-dict"), result_names: &["intptr"], ..OpDef::new("memref.extract_aligned_pointer_as_index", "the address of a buffer")
    },
];

const ENDS: Traits = Traits::TERMINATOR.union(Traits::PURE);
const MEMREF: &[OperandDef] = &[value("memref", "the buffer")];
const SOURCE: &[OperandDef] = &[value("source", "the buffer")];
const SRC: &[OperandDef] = &[value("src", "the buffer")];
const IN: &[OperandDef] = &[value("in", "the buffer")];
const ELEMENT: &[OperandDef] = &[value("memref", "the buffer"), INDICES];
const STORED: &[OperandDef] =
    &[value("value", "the element"), value("memref", "the buffer"), INDICES];
const SIZES: &[OperandDef] = &[
    values("dynamicSizes", "the extents that are not constant"),
    values("symbolOperands", "the symbols of the layout"),
];
const RESHAPED: &[OperandDef] =
    &[value("source", "the buffer"), value("shape", "a buffer that holds the extents")];
const EXPANDED: &[OperandDef] =
    &[value("src", "the buffer"), values("output_shape", "the new extents that are not constant")];
const BYTES: &[OperandDef] = &[
    value("source", "a buffer of bytes"),
    value("byte_shift", "where the elements start"),
    values("sizes", "the extents that are not constant"),
];
const SLICED: &[OperandDef] = &[
    value("source", "the buffer"),
    values("offsets", "starts that are not constant"),
    values("sizes", "extents that are not constant"),
    values("strides", "steps that are not constant"),
];
const BUFFER: &[ResultDef] = &[result("memref", "the buffer")];
const ALIGNMENT: &[AttrDef] = &[optional("alignment", AttrKind::Int, "in bytes, a power of two")];
const ACCESS: &[AttrDef] = &[
    optional("nontemporal", AttrKind::Bool, "whether caches are passed by; no where absent")
        .absent(Absence::Hides("false")),
    ALIGNMENT[0],
];
const PERMUTATION: &[AttrDef] = &[required("permutation", AttrKind::Any, "an affine map")];
const REASSOCIATION: &[AttrDef] =
    &[required("reassociation", AttrKind::Any, "the dimensions of each group")];
const EXPANSION: &[AttrDef] = &[
    REASSOCIATION[0],
    required("static_output_shape", AttrKind::Ints, "the extents; the least `i64` if dynamic"),
];
const SLICE: &[AttrDef] = &[
    required("static_offsets", AttrKind::Ints, "starts; the least `i64` if dynamic"),
    required("static_sizes", AttrKind::Ints, "extents; the least `i64` if dynamic"),
    required("static_strides", AttrKind::Ints, "steps; the least `i64` if dynamic"),
];

const fn view(
    name: &'static str,
    summary: &'static str,
    operands: &'static [OperandDef],
    attrs: &'static [AttrDef],
) -> OpDef {
    OpDef { operands, results: RESULT, attrs, traits: Traits::PURE, ..OpDef::new(name, summary) }
}
