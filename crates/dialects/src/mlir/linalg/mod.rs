//! MLIR's `linalg` dialect: operations on whole tensors or buffers.
//!
//! An operation reads `inputs` and writes `outputs`. On tensors, each output is an operand that
//! gives the shape and the first elements, and a result; on buffers there is no result. A region
//! says what happens to the elements at one point of the iteration space.

mod body;
mod canonicalize;

use tangram_ir::{AttrDef, AttrKind, OpDef, OperandDef, ResultDef, Traits};

pub(super) use canonicalize::REWRITES;

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
        assembly: Some("generic-attributes structured attr-dict-assigned region(0) one-result"),
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
        ..OpDef::new("linalg.map", "a function of elements at equal places")
    },
    OpDef {
        operands: &[values("inputs", "what is read"), values("inits", "what is written")],
        results: &[results("results", "the tensors")],
        attrs: DIMENSIONS,
        regions: Some(1),
        traits: STRUCTURED.union(Traits::SAME_SIZES),
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
        implies: None,
        assembly: None,
        ..named("linalg.elementwise", "a function of elements, as an attribute says")
    },
    named("linalg.fill", "one value everywhere"),
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
        ..named("linalg.matmul", "the product of two matrices, added to the output")
    },
    OpDef {
        attrs: MATMUL,
        ..named("linalg.batch_matmul", "products of matrices, one for each batch")
    },
    OpDef {
        attrs: MATMUL,
        ..named("linalg.batch_reduce_matmul", "the sum of products of matrices over the batch")
    },
    OpDef {
        attrs: CONTRACTED,
        implies: None,
        assembly: None,
        ..named("linalg.contract", "the sum over products that maps describe")
    },
    named("linalg.batch_matvec", "products of a matrix and a vector, one for each batch"),
    named("linalg.batch_vecmat", "products of a vector and a matrix, one for each batch"),
    named("linalg.matvec", "the product of a matrix and a vector"),
    named("linalg.vecmat", "the product of a vector and a matrix"),
    named("linalg.dot", "the inner product of two vectors"),
    named("linalg.mmt4d", "a product of tiled matrices, the second one transposed"),
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
    window("linalg.conv_3d_ncdhw_fcdhw", "a convolution over three dimensions, channels first"),
    window("linalg.conv_3d_ndhwc_dhwcf", "a convolution over three dimensions, channels last"),
    window("linalg.depthwise_conv_1d_nwc_wc", "a convolution of each channel with one filter"),
    window("linalg.depthwise_conv_2d_nchw_chw", "a convolution of each channel, channels first"),
    window("linalg.depthwise_conv_2d_nhwc_hwc", "a convolution of each channel, channels last"),
    window(
        "linalg.depthwise_conv_2d_nhwc_hwcm",
        "a convolution of each channel with several filters",
    ),
    window("linalg.pooling_nchw_max", "the greatest element of each window, channels first"),
    window("linalg.pooling_nchw_sum", "the sum of each window, channels first"),
    window("linalg.pooling_nhwc_max", "the greatest element of each window, channels last"),
    window("linalg.pooling_nhwc_min", "the smallest element of each window, channels last"),
    window("linalg.pooling_nhwc_sum", "the sum of each window, channels last"),
    OpDef {
        operands: &[value("input", "what is read"), value("output", "what is written")],
        results: TENSOR,
        attrs: &[required("dimension", AttrKind::Int, "along which the elements add up to one")],
        infer: Some(infer::second_if_tensor),
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
const TILES: &[AttrDef] = &[
    optional("outer_dims_perm", AttrKind::Ints, "the order of the tiles; unchanged where absent"),
    required("inner_dims_pos", AttrKind::Ints, "the dimensions that are tiled"),
    required("static_inner_tiles", AttrKind::Ints, "sizes of tiles; the least `i64` if dynamic"),
];

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
