//! MLIR's `linalg` dialect: operations on whole tensors or buffers.
//!
//! An operation reads `inputs` and writes `outputs`. On tensors, each output is an operand that
//! gives the shape and the first elements, and a result; on buffers there is no result. A region
//! says what happens to the elements at one point of the iteration space.

mod body;
mod canonicalize;
mod casts;
mod fills;
mod maps;
mod packing;
mod tiles;

use tangram_ir::{
    Absence, Attr, AttrDef, AttrKind, Module, Op, OpDef, OperandDef, ResultDef, Traits,
};

pub(super) use maps::maps;

use super::fold::Rewrite;

/// The patterns of this dialect, with their roots.
pub(super) const REWRITES: [&[Rewrite]; 5] =
    [canonicalize::REWRITES, casts::REWRITES, fills::REWRITES, packing::REWRITES, tiles::REWRITES];

use super::{RESULT, infer, maybe, optional, required, result, results, value, values};

/// Every definition of this dialect.
pub static DEFS: &[OpDef] = &[
    OpDef {
        attrs: &[
            required(
                "indexing_maps",
                AttrKind::Any,
                "from the point to an index, for each operand",
            ),
            required("iterator_types", AttrKind::Any, "parallel or reduction, for each dimension"),
            optional("doc", AttrKind::Str, "what it computes, in words"),
            optional("library_call", AttrKind::Str, "the function that does the same"),
        ],
        implies: None,
        assembly: Some(
            "generic-attributes(linalg, doc, indexing_maps, iterator_types, library_call) structured attr-dict-assigned region(0) one-result",
        ),
        ..named("linalg.generic", "what its maps and its region say")
    },
    OpDef {
        operands: &[values("values", "the elements of the outputs")],
        traits: Traits::TERMINATOR.union(Traits::PURE),
        assembly: Some("( $values )? attr-dict ( `:` type($values) )?"),
        ..OpDef::new("linalg.yield", "ends a region with elements")
    },
    OpDef {
        results: RESULT,
        attrs: &[required("dim", AttrKind::Int, "the number of the dimension")],
        traits: Traits::PURE,
        infer: Some(infer::index),
        assembly: Some("int($dim, i64) attr-dict `:` type($result)"),
        ..OpDef::new("linalg.index", "a coordinate of the point of the iteration space")
    },
    OpDef {
        operands: &[values("inputs", "what is read"), value("init", "what is written")],
        results: TENSOR,
        regions: Some(1),
        traits: STRUCTURED,
        infer: Some(infer::tensor_inits),
        assembly: Some("payload(linalg.yield, fastmath) structured attr-dict region(0, mapper)"),
        result_names: &["mapped"],
        ..OpDef::new("linalg.map", "a function of elements at equal places")
    },
    OpDef {
        operands: &[values("inputs", "what is read"), values("inits", "what is written")],
        results: &[results("results", "the tensors")],
        attrs: DIMENSIONS,
        regions: Some(1),
        traits: STRUCTURED.union(Traits::SAME_SIZES),
        infer: Some(infer::tensor_inits),
        assembly: Some(
            "payload(linalg.yield, fastmath, init) structured `dimensions` `=` ints($dimensions) space attr-dict region(0, mapper)",
        ),
        result_names: &["reduced"],
        ..OpDef::new("linalg.reduce", "combines the elements along dimensions")
    },
    moved("linalg.transpose", "the dimensions in another order", PERMUTATION)
        .text("structured `permutation` `=` ints($permutation) space attr-dict")
        .named(&["transposed"]),
    moved("linalg.broadcast", "the elements repeated along new dimensions", DIMENSIONS)
        .text("structured `dimensions` `=` ints($dimensions) space attr-dict")
        .named(&["broadcasted"]),
    OpDef {
        attrs: &[
            required("kind", AttrKind::Any, "the function"),
            optional(
                "indexing_maps",
                AttrKind::Any,
                "from the point to an index, for each operand",
            ),
        ],
        implies: Some(body::elementwise),
        assembly: Some(
            "`kind` `` `=` `` $kind maps($indexing_maps) attr-dict structured one-result",
        ),
        ..named("linalg.elementwise", "a function of elements, as an attribute says")
    },
    named("linalg.fill", "one value everywhere"),
    named("linalg.fill_rng_2d", "numbers without pattern between two others"),
    OpDef { attrs: CAST, ..named("linalg.copy", "the elements of the input") },
    named("linalg.abs", "the size of each element"),
    named("linalg.ceil", "each element rounded up"),
    named("linalg.erf", "the error function of each element"),
    named("linalg.exp", "e to the power of each element"),
    named("linalg.floor", "each element rounded down"),
    named("linalg.log", "the natural logarithm of each element"),
    named("linalg.negf", "each element with its sign turned"),
    named("linalg.reciprocal", "one divided by each element"),
    named("linalg.round", "each element rounded to the nearest integer"),
    named("linalg.rsqrt", "one divided by the square root of each element"),
    named("linalg.sqrt", "the square root of each element"),
    named("linalg.square", "the square of each element"),
    named("linalg.tanh", "the hyperbolic tangent of each element"),
    named("linalg.add", "sums of elements"),
    named("linalg.sub", "differences of elements"),
    named("linalg.mul", "products of elements"),
    named("linalg.div", "quotients of elements, signed where integer"),
    named("linalg.div_unsigned", "unsigned quotients of elements"),
    named("linalg.max", "the greater of two elements, signed where integer"),
    named("linalg.min", "the smaller of two elements, signed where integer"),
    named("linalg.powf", "elements to the power of elements"),
    named("linalg.select", "one of two elements, as a third says"),
    OpDef {
        attrs: MATMUL,
        assembly: Some(WITH_MAPS),
        ..named("linalg.matmul", "the product of two matrices, added to the output")
    },
    OpDef {
        attrs: MATMUL,
        assembly: Some(WITH_MAPS),
        ..named("linalg.batch_matmul", "products of matrices, one for each batch")
    },
    OpDef {
        attrs: MATMUL,
        assembly: Some(WITH_MAPS),
        ..named("linalg.batch_reduce_matmul", "the sum of products of matrices over the batch")
    },
    OpDef {
        attrs: CONTRACTED,
        assembly: Some(WITH_MAPS),
        ..named("linalg.contract", "the sum over products that maps describe")
    },
    named("linalg.batch_matvec", "products of a matrix and a vector, one for each batch"),
    named("linalg.batch_vecmat", "products of a vector and a matrix, one for each batch"),
    named("linalg.matvec", "the product of a matrix and a vector"),
    named("linalg.vecmat", "the product of a vector and a matrix"),
    named("linalg.dot", "the inner product of two vectors"),
    named("linalg.mmt4d", "a product of tiled matrices, the second one transposed"),
    named("linalg.batch_mmt4d", "products of tiled matrices, one for each batch"),
    named("linalg.quantized_matmul", "the product of two matrices without their zero points"),
    named("linalg.quantized_batch_matmul", "such products, one for each batch"),
    named("linalg.conv_1d", "a convolution over one dimension, without channels"),
    named("linalg.conv_2d", "a convolution over two dimensions, without channels"),
    named("linalg.conv_3d", "a convolution over three dimensions, without channels"),
    window("linalg.conv_1d_ncw_fcw", "a convolution over one dimension, channels first"),
    window("linalg.conv_1d_nwc_wcf", "a convolution over one dimension, channels last"),
    window("linalg.conv_2d_nchw_fchw", "a convolution over two dimensions, channels first"),
    window(
        "linalg.conv_2d_nhwc_fhwc",
        "a convolution over two dimensions, filters before channels",
    ),
    window("linalg.conv_2d_nhwc_hwcf", "a convolution over two dimensions, channels last"),
    window("linalg.conv_2d_ngchw_gfchw", "a convolution in groups, groups before channels"),
    window("linalg.conv_2d_nchw_fchw_q", "a convolution without zero points, channels first"),
    window("linalg.conv_2d_nhwc_fhwc_q", "a convolution without zero points, filters first"),
    window("linalg.conv_2d_nhwc_hwcf_q", "a convolution without zero points, channels last"),
    window("linalg.conv_2d_ngchw_fgchw", "a convolution in groups, filters before groups"),
    window("linalg.conv_2d_ngchw_gfchw_q", "a convolution in groups without zero points"),
    window("linalg.conv_2d_nhwgc_gfhwc", "a convolution in groups, channels last"),
    window("linalg.conv_2d_nhwgc_gfhwc_q", "the same without zero points"),
    window("linalg.conv_3d_ncdhw_fcdhw", "a convolution over three dimensions, channels first"),
    window("linalg.conv_3d_ndhwc_dhwcf", "a convolution over three dimensions, channels last"),
    window("linalg.conv_3d_ndhwc_dhwcf_q", "the same without zero points"),
    window("linalg.depthwise_conv_1d_ncw_cw", "a convolution of each channel, channels first"),
    window(
        "linalg.depthwise_conv_1d_nwc_wcm",
        "a convolution of each channel with several filters",
    ),
    window("linalg.depthwise_conv_1d_nwc_wc", "a convolution of each channel with one filter"),
    window("linalg.depthwise_conv_2d_nchw_chw", "a convolution of each channel, channels first"),
    window("linalg.depthwise_conv_2d_nhwc_hwc", "a convolution of each channel, channels last"),
    window(
        "linalg.depthwise_conv_2d_nhwc_hwcm",
        "a convolution of each channel with several filters",
    ),
    window("linalg.depthwise_conv_2d_nhwc_hwc_q", "a convolution of each channel, quantised"),
    window("linalg.depthwise_conv_2d_nhwc_hwcm_q", "the same with several filters"),
    window("linalg.depthwise_conv_3d_ncdhw_cdhw", "a convolution of each channel, channels first"),
    window("linalg.depthwise_conv_3d_ndhwc_dhwc", "a convolution of each channel, channels last"),
    window(
        "linalg.depthwise_conv_3d_ndhwc_dhwcm",
        "a convolution of each channel with several filters",
    ),
    window("linalg.pooling_ncw_max", "the greatest element of each window, channels first"),
    window("linalg.pooling_ncw_sum", "the sum of each window, channels first"),
    window("linalg.pooling_nwc_max", "the greatest element of each window, channels last"),
    window("linalg.pooling_nwc_max_unsigned", "the same of unsigned elements"),
    window("linalg.pooling_nwc_min", "the smallest element of each window, channels last"),
    window("linalg.pooling_nwc_min_unsigned", "the same of unsigned elements"),
    window("linalg.pooling_nwc_sum", "the sum of each window, channels last"),
    window("linalg.pooling_ndhwc_max", "the greatest element of each window, channels last"),
    window("linalg.pooling_ndhwc_min", "the smallest element of each window, channels last"),
    window("linalg.pooling_ndhwc_sum", "the sum of each window, channels last"),
    window("linalg.pooling_nhwc_max_unsigned", "the greatest unsigned element of each window"),
    window("linalg.pooling_nhwc_min_unsigned", "the smallest unsigned element of each window"),
    window("linalg.pooling_nchw_max", "the greatest element of each window, channels first"),
    window("linalg.pooling_nchw_sum", "the sum of each window, channels first"),
    window("linalg.pooling_nhwc_max", "the greatest element of each window, channels last"),
    window("linalg.pooling_nhwc_min", "the smallest element of each window, channels last"),
    window("linalg.pooling_nhwc_sum", "the sum of each window, channels last"),
    winograd(
        "linalg.winograd_filter_transform",
        "filters as a fast convolution takes them",
        &[value("filter", "the filters"), value("output", "what is written")],
        "attr-dict `fmr` `(` enum($fmr, i32, F_2_3, F_4_3, F_2_5) `)` `ins` `(` $filter `:` type($filter) `)` `outs` `(` $output `:` type($output) `)` `->` type($result)",
    ),
    winograd(
        "linalg.winograd_input_transform",
        "tiles of the input as a fast convolution takes them",
        &[value("input", "the input"), value("output", "what is written")],
        "attr-dict `fmr` `(` enum($fmr, i32, F_2_3, F_4_3, F_2_5) `)` `ins` `(` $input `:` type($input) `)` `outs` `(` $output `:` type($output) `)` `->` type($result)",
    ),
    winograd(
        "linalg.winograd_output_transform",
        "the output of a fast convolution, of its tiles",
        &[value("value", "the tiles"), value("output", "what is written")],
        "attr-dict `fmr` `(` enum($fmr, i32, F_2_3, F_4_3, F_2_5) `)` `ins` `(` $value `:` type($value) `)` `outs` `(` $output `:` type($output) `)` `->` type($result)",
    ),
    OpDef {
        operands: &[value("input", "what is read"), value("output", "what is written")],
        results: TENSOR,
        attrs: &[required("dimension", AttrKind::Int, "along which the elements add up to one")],
        traits: Traits::RECURSIVE_EFFECTS.union(Traits::WRITES_BUFFERS),
        infer: Some(infer::second_if_tensor),
        assembly: Some(
            "attr-dict `dimension` `(` int($dimension, i64) `)` `ins` `(` $input `:` type($input) `)` `outs` `(` $output `:` type($output) `)` ( `->` type($result) )?",
        ),
        ..OpDef::new("linalg.softmax", "exponentials, scaled so that they add up to one")
    },
    OpDef {
        operands: &[
            value("source", "the tensor"),
            value("dest", "the tiled tensor"),
            maybe("padding_value", "what fills tiles that are not full"),
            values("inner_tiles", "the sizes of tiles that are not constant"),
        ],
        results: &[result("result", "the tiled tensor")],
        attrs: TILES,
        traits: Traits::PURE,
        infer: Some(infer::like_second),
        assembly: Some(
            "$source ( `padding_value` `(` $padding_value `:` type($padding_value) `)` )? ( `outer_dims_perm` `=` ints($outer_dims_perm) )? `inner_dims_pos` `=` ints($inner_dims_pos) `inner_tiles` `=` mixed($inner_tiles, static_inner_tiles) `into` $dest attr-dict `:` type($source) `->` type($dest)",
        ),
        result_names: &["pack"],
        ..OpDef::new("linalg.pack", "the tensor in tiles")
    },
    OpDef {
        operands: &[
            value("source", "the tiled tensor"),
            value("dest", "the tensor"),
            values("inner_tiles", "the sizes of tiles that are not constant"),
        ],
        results: &[result("result", "the tensor")],
        attrs: TILES,
        traits: Traits::PURE,
        infer: Some(infer::like_second),
        assembly: Some(
            "$source ( `outer_dims_perm` `=` ints($outer_dims_perm) )? `inner_dims_pos` `=` ints($inner_dims_pos) `inner_tiles` `=` mixed($inner_tiles, static_inner_tiles) `into` $dest attr-dict `:` type($source) `->` type($dest)",
        ),
        result_names: &["unpack"],
        ..OpDef::new("linalg.unpack", "the tensor whose tiles are given")
    },
];

/// On tensors there is no effect; on buffers there is, so operations do not count as pure.
const STRUCTURED: Traits =
    Traits::SINGLE_BLOCK.union(Traits::RECURSIVE_EFFECTS).union(Traits::WRITES_BUFFERS);
const IN_OUT: &[OperandDef] =
    &[values("inputs", "what is read"), values("outputs", "what is written")];
const MOVED: &[OperandDef] = &[value("input", "what is read"), value("init", "what is written")];
const TENSORS: &[ResultDef] = &[results("result_tensors", "the tensors among the outputs")];
const TENSOR: &[ResultDef] = &[results("result", "the tensor")];
const CAST: &[AttrDef] =
    &[optional("cast", AttrKind::Any, "how integers are widened: signed where absent")];
const MATMUL: &[AttrDef] = &[
    optional("indexing_maps", AttrKind::Any, "transposed or broadcast operands; none where absent"),
    CAST[0],
];
const CONTRACTED: &[AttrDef] = &[
    required("indexing_maps", AttrKind::Any, "from the point to an index, for each operand"),
    CAST[0],
];
const WINDOW: &[AttrDef] = &[
    optional("strides", AttrKind::Any, "steps of the window; ones where absent"),
    optional("dilations", AttrKind::Any, "steps inside the window; ones where absent"),
];
const DIMENSIONS: &[AttrDef] =
    &[required("dimensions", AttrKind::Ints, "the dimensions, in ascending order")];
const PERMUTATION: &[AttrDef] =
    &[required("permutation", AttrKind::Ints, "for each result dimension, that of the input")];
/// A list without entries.
fn is_empty(module: &Module, _: Op, list: Attr) -> bool {
    module.context().as_i64s(list).is_some_and(|list| list.is_empty())
}

const TILES: &[AttrDef] = &[
    optional("outer_dims_perm", AttrKind::Ints, "the order of the tiles; unchanged where absent")
        .absent(Absence::HidesIf(is_empty)),
    required("inner_dims_pos", AttrKind::Ints, "the dimensions that are tiled"),
    required("static_inner_tiles", AttrKind::Ints, "sizes of tiles; the least `i64` if dynamic"),
];

/// Maps stand in front where they are not those that the name implies.
const WITH_MAPS: &str = "maps($indexing_maps) attr-dict structured one-result";

const fn named(name: &'static str, summary: &'static str) -> OpDef {
    OpDef {
        operands: IN_OUT,
        results: TENSORS,
        regions: Some(1),
        traits: STRUCTURED,
        infer: Some(infer::tensor_outputs),
        assembly: Some(
            "hidden($indexing_maps, $linalg.memoized_indexing_maps) attr-dict structured one-result",
        ),
        implies: Some(body::named),
        ..OpDef::new(name, summary)
    }
}

const fn window(name: &'static str, summary: &'static str) -> OpDef {
    OpDef { attrs: WINDOW, ..named(name, summary) }
}

const TILE_SIZES: &[AttrDef] =
    &[required("fmr", AttrKind::Int, "which tiles and filters, by MLIR's number")];

const fn winograd(
    name: &'static str,
    summary: &'static str,
    operands: &'static [OperandDef],
    assembly: &'static str,
) -> OpDef {
    OpDef {
        operands,
        results: RESULT,
        attrs: TILE_SIZES,
        traits: Traits::PURE,
        infer: Some(infer::like_second),
        assembly: Some(assembly),
        ..OpDef::new(name, summary)
    }
}

const fn moved(name: &'static str, summary: &'static str, attrs: &'static [AttrDef]) -> OpDef {
    OpDef {
        operands: MOVED,
        results: TENSOR,
        attrs,
        regions: Some(1),
        traits: STRUCTURED,
        infer: Some(infer::second_if_tensor),
        implies: Some(body::moved),
        ..OpDef::new(name, summary)
    }
}
