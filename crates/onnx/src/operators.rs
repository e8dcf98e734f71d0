//! The correspondence between ONNX operators and nn operations that is plain data.
//!
//! A [`Row`] pairs an operator with an operation whose operands are the operator's inputs in the
//! same order. Both directions of the conversion read it. Operators that need more than renaming
//! and defaults (a bias that is split off, one operation for each rank...) are written out in
//! `import::special` and `export::special`.
//!
//! In IR attributes are in normal form: one that has a default in ONNX is always there. The
//! export leaves out what equals the default, as exporters do.

use std::collections::HashMap;
use std::sync::OnceLock;

/// How the value of an attribute is written in IR.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// An integer.
    Int,
    /// An integer that means false or true.
    Flag,
    /// A 32-bit float.
    Float,
    /// A text.
    Text,
    /// A list of integers.
    Ints,
    /// The number of an element type.
    DType,
    /// A tensor.
    Tensor,
}

/// What an absent attribute means.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Default {
    /// Something that no value says.
    None,
    /// This integer or flag.
    Int(i64),
    /// This number.
    Float(f32),
    /// This text.
    Text(&'static str),
}

/// An attribute in both worlds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AttrRow {
    /// The name in ONNX.
    pub onnx: &'static str,
    /// The name in IR.
    pub nn: &'static str,
    /// How it is written.
    pub kind: Kind,
    /// What its absence means.
    pub default: Default,
}

/// An input that is an attribute in IR when it is constant, and was one in older opsets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Absorbed {
    /// The number of the input.
    pub input: usize,
    /// The attribute in IR.
    pub nn: &'static str,
    /// `Int`, `Ints` or `Float`.
    pub kind: Kind,
    /// The attribute in opsets before `since`, if it was one.
    pub onnx: Option<&'static str>,
    /// The first opset in which it is an input.
    pub since: i64,
}

/// An operator and its operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// The operator in ONNX's default domain.
    pub onnx: &'static str,
    /// The operation.
    pub nn: &'static str,
    /// The first opset that has the operator in the form that export writes.
    pub since: i64,
    /// Its attributes.
    pub attrs: &'static [AttrRow],
    /// Inputs that become attributes.
    pub absorbed: &'static [Absorbed],
}

const fn attr(onnx: &'static str, nn: &'static str, kind: Kind, default: Default) -> AttrRow {
    AttrRow { onnx, nn, kind, default }
}

const fn int(name: &'static str, default: i64) -> AttrRow {
    attr(name, name, Kind::Int, Default::Int(default))
}

const fn flag(name: &'static str, default: bool) -> AttrRow {
    attr(name, name, Kind::Flag, Default::Int(default as i64))
}

const fn float(name: &'static str, default: f32) -> AttrRow {
    attr(name, name, Kind::Float, Default::Float(default))
}

const fn text(name: &'static str, default: &'static str) -> AttrRow {
    attr(name, name, Kind::Text, Default::Text(default))
}

const fn bare(name: &'static str, kind: Kind) -> AttrRow {
    attr(name, name, kind, Default::None)
}

const fn takes(
    input: usize,
    nn: &'static str,
    kind: Kind,
    onnx: Option<&'static str>,
    since: i64,
) -> Absorbed {
    Absorbed { input, nn, kind, onnx, since }
}

const fn row(onnx: &'static str, nn: &'static str, since: i64, attrs: &'static [AttrRow]) -> Row {
    Row { onnx, nn, since, attrs, absorbed: &[] }
}

const fn with(
    onnx: &'static str,
    nn: &'static str,
    since: i64,
    attrs: &'static [AttrRow],
    absorbed: &'static [Absorbed],
) -> Row {
    Row { onnx, nn, since, attrs, absorbed }
}

const KEEPDIMS: &[AttrRow] = &[flag("keepdims", true), flag("noop_with_empty_axes", false)];
const AXES_13: &[Absorbed] = &[takes(1, "axis", Kind::Ints, Some("axes"), 13)];
const AXES_18: &[Absorbed] = &[takes(1, "axis", Kind::Ints, Some("axes"), 18)];
const ARG: &[AttrRow] = &[int("axis", 0), flag("keepdims", true), flag("select_last_index", false)];
const RNN: &[AttrRow] =
    &[text("direction", "forward"), bare("hidden_size", Kind::Int), int("layout", 0)];
const LSTM: &[AttrRow] = &[RNN[0], RNN[1], RNN[2], flag("input_forget", false)];
const GRU: &[AttrRow] = &[RNN[0], RNN[1], RNN[2], flag("linear_before_reset", false)];
const WINDOW: &[AttrRow] =
    &[attr("output_datatype", "dtype", Kind::DType, Default::Int(1)), flag("periodic", true)];

/// Every row. Attributes that no row names are carried along under their ONNX name.
pub(crate) static ROWS: &[Row] = &[
    // Elementwise, one operand.
    row("Abs", "nn.abs", 6, &[]),
    row("Neg", "nn.negative", 6, &[]),
    row("Sqrt", "nn.sqrt", 6, &[]),
    row("Exp", "nn.exp", 6, &[]),
    row("Log", "nn.log", 6, &[]),
    row("Erf", "nn.erf", 9, &[]),
    row("Sin", "nn.sin", 7, &[]),
    row("Cos", "nn.cos", 7, &[]),
    row("Tan", "nn.tan", 7, &[]),
    row("Asin", "nn.asin", 7, &[]),
    row("Acos", "nn.acos", 7, &[]),
    row("Atan", "nn.atan", 7, &[]),
    row("Sinh", "nn.sinh", 9, &[]),
    row("Cosh", "nn.cosh", 9, &[]),
    row("Tanh", "nn.tanh", 6, &[]),
    row("Asinh", "nn.asinh", 9, &[]),
    row("Acosh", "nn.acosh", 9, &[]),
    row("Atanh", "nn.atanh", 9, &[]),
    row("Sigmoid", "nn.sigmoid", 6, &[]),
    row("Relu", "nn.relu", 6, &[]),
    row("Softplus", "nn.softplus", 1, &[]),
    row("Softsign", "nn.softsign", 1, &[]),
    row("Mish", "nn.mish", 18, &[]),
    row("Floor", "nn.floor", 6, &[]),
    row("Ceil", "nn.ceil", 6, &[]),
    row("Round", "nn.round", 11, &[]),
    row("Sign", "nn.sign", 9, &[]),
    row("Reciprocal", "nn.reciprocal", 6, &[]),
    row("Not", "nn.logical_not", 1, &[]),
    row("BitwiseNot", "nn.bitwise_not", 18, &[]),
    row("IsNaN", "nn.isnan", 9, &[]),
    row("IsInf", "nn.isinf", 10, &[flag("detect_negative", true), flag("detect_positive", true)]),
    row("Identity", "nn.identity", 1, &[]),
    row("HardSwish", "nn.hard_swish", 14, &[]),
    row("LeakyRelu", "nn.leaky_relu", 6, &[float("alpha", 0.01)]),
    row("Elu", "nn.elu", 6, &[float("alpha", 1.0)]),
    row("Selu", "nn.selu", 6, &[float("alpha", 1.673_263_2), float("gamma", 1.050_701)]),
    row("Celu", "nn.celu", 12, &[float("alpha", 1.0)]),
    row("ThresholdedRelu", "nn.thresholded_relu", 10, &[float("alpha", 1.0)]),
    row("HardSigmoid", "nn.hard_sigmoid", 6, &[float("alpha", 0.2), float("beta", 0.5)]),
    row("Gelu", "nn.gelu", 20, &[text("approximate", "none")]),
    row("Swish", "nn.swish", 24, &[float("alpha", 1.0)]),
    row("Shrink", "nn.shrink", 9, &[float("bias", 0.0), float("lambd", 0.5)]),
    row(
        "Cast",
        "nn.cast",
        6,
        &[attr("to", "dtype", Kind::DType, Default::None), flag("saturate", true)],
    ),
    row("CastLike", "nn.cast_like", 15, &[flag("saturate", true)]),
    row("BitCast", "nn.bitcast", 26, &[attr("to", "dtype", Kind::DType, Default::None)]),
    with(
        "Clip",
        "nn.clip",
        6,
        &[],
        &[
            takes(1, "a_min", Kind::Float, Some("min"), 11),
            takes(2, "a_max", Kind::Float, Some("max"), 11),
        ],
    ),
    // Elementwise, several operands.
    row("Add", "nn.add", 7, &[]),
    row("Sub", "nn.subtract", 7, &[]),
    row("Mul", "nn.multiply", 7, &[]),
    row("Div", "nn.divide", 7, &[]),
    row("Mod", "nn.mod", 10, &[flag("fmod", false)]),
    row("Pow", "nn.power", 7, &[]),
    row("PRelu", "nn.prelu", 7, &[]),
    row("And", "nn.logical_and", 7, &[]),
    row("Or", "nn.logical_or", 7, &[]),
    row("Xor", "nn.logical_xor", 7, &[]),
    row("BitwiseAnd", "nn.bitwise_and", 18, &[]),
    row("BitwiseOr", "nn.bitwise_or", 18, &[]),
    row("BitwiseXor", "nn.bitwise_xor", 18, &[]),
    row("Equal", "nn.equal", 7, &[]),
    row("Less", "nn.less", 7, &[]),
    row("LessOrEqual", "nn.less_equal", 12, &[]),
    row("Greater", "nn.greater", 7, &[]),
    row("GreaterOrEqual", "nn.greater_equal", 12, &[]),
    row("Where", "nn.where", 9, &[]),
    // Shape and data movement.
    with(
        "Reshape",
        "nn.reshape",
        5,
        &[flag("allowzero", false)],
        &[takes(1, "newshape", Kind::Ints, None, 5)],
    ),
    row("Transpose", "nn.transpose", 1, &[attr("perm", "axes", Kind::Ints, Default::None)]),
    row("Concat", "nn.concatenate", 4, &[bare("axis", Kind::Int)]),
    with("Squeeze", "nn.squeeze", 1, &[], AXES_13),
    with("Unsqueeze", "nn.expand_dims", 1, &[], AXES_13),
    with("Expand", "nn.broadcast_to", 8, &[], &[takes(1, "shape", Kind::Ints, None, 8)]),
    with("Tile", "nn.tile", 6, &[], &[takes(1, "reps", Kind::Ints, None, 6)]),
    with(
        "Pad",
        "nn.pad",
        2,
        &[attr("mode", "pad_mode", Kind::Text, Default::Text("constant"))],
        &[
            takes(1, "pad_width", Kind::Ints, Some("pads"), 11),
            takes(2, "pad_value", Kind::Float, Some("value"), 11),
            takes(3, "axes", Kind::Ints, None, 18),
        ],
    ),
    row("Shape", "nn.shape_of", 1, &[bare("start", Kind::Int), bare("end", Kind::Int)]),
    row("Size", "nn.ndarray_size", 1, &[]),
    with(
        "ConstantOfShape",
        "nn.full",
        9,
        &[bare("value", Kind::Tensor)],
        &[takes(0, "shape", Kind::Ints, None, 9)],
    ),
    row("Range", "nn.arange", 11, &[]),
    row(
        "EyeLike",
        "nn.eye_like",
        9,
        &[attr("dtype", "dtype", Kind::DType, Default::None), int("k", 0)],
    ),
    with("Trilu", "nn.trilu", 14, &[flag("upper", true)], &[takes(1, "k", Kind::Int, None, 14)]),
    row("OneHot", "nn.one_hot", 9, &[int("axis", -1)]),
    row(
        "DepthToSpace",
        "nn.depth_to_space",
        1,
        &[attr("blocksize", "block_size", Kind::Int, Default::None), text("mode", "DCR")],
    ),
    row(
        "SpaceToDepth",
        "nn.space_to_depth",
        1,
        &[attr("blocksize", "block_size", Kind::Int, Default::None), text("mode", "DCR")],
    ),
    row("ReverseSequence", "nn.reverse_sequence", 10, &[int("batch_axis", 1), int("time_axis", 0)]),
    row("Compress", "nn.compress", 9, &[bare("axis", Kind::Int)]),
    // Index.
    row("Gather", "nn.take", 1, &[int("axis", 0)]),
    row("GatherElements", "nn.gather_elements", 11, &[int("axis", 0)]),
    row("GatherND", "nn.gather_nd", 11, &[int("batch_dims", 0)]),
    row("ScatterElements", "nn.scatter_elements", 11, &[int("axis", 0), text("reduction", "none")]),
    row("ScatterND", "nn.scatter_nd", 11, &[text("reduction", "none")]),
    row("TensorScatter", "nn.tensor_scatter", 24, &[int("axis", -2), text("mode", "linear")]),
    row("NonZero", "nn.nonzero", 9, &[]),
    with(
        "TopK",
        "nn.topk",
        1,
        &[int("axis", -1), flag("largest", true), flag("sorted", true)],
        &[takes(1, "k", Kind::Int, Some("k"), 10)],
    ),
    row("Unique", "nn.unique", 11, &[bare("axis", Kind::Int), flag("sorted", true)]),
    row("ArgMax", "nn.argmax", 1, ARG),
    row("ArgMin", "nn.argmin", 1, ARG),
    with(
        "CumSum",
        "nn.cumsum",
        11,
        &[flag("exclusive", false), flag("reverse", false)],
        &[takes(1, "axis", Kind::Int, None, 11)],
    ),
    with(
        "CumProd",
        "nn.cumprod",
        26,
        &[flag("exclusive", false), flag("reverse", false)],
        &[takes(1, "axis", Kind::Int, None, 26)],
    ),
    // Reductions.
    with("ReduceSum", "nn.sum", 1, KEEPDIMS, AXES_13),
    with("ReduceMean", "nn.mean", 1, KEEPDIMS, AXES_18),
    with("ReduceMax", "nn.max", 1, KEEPDIMS, AXES_18),
    with("ReduceMin", "nn.min", 1, KEEPDIMS, AXES_18),
    with("ReduceProd", "nn.prod", 1, KEEPDIMS, AXES_18),
    with("ReduceL1", "nn.reduce_l1", 1, KEEPDIMS, AXES_18),
    with("ReduceL2", "nn.reduce_l2", 1, KEEPDIMS, AXES_18),
    with("ReduceLogSum", "nn.reduce_log_sum", 1, KEEPDIMS, AXES_18),
    with("ReduceLogSumExp", "nn.reduce_log_sum_exp", 1, KEEPDIMS, AXES_18),
    with("ReduceSumSquare", "nn.reduce_sum_square", 1, KEEPDIMS, AXES_18),
    // Linear and neural.
    row("MatMul", "nn.matmul", 1, &[]),
    row("Einsum", "nn.einsum", 12, &[bare("equation", Kind::Text)]),
    row("GlobalMaxPool", "nn.global_max_pool", 1, &[]),
    row("GlobalAveragePool", "nn.global_avg_pool", 1, &[]),
    row("GlobalLpPool", "nn.global_lp_pool", 2, &[int("p", 2)]),
    row("InstanceNormalization", "nn.instance_norm", 6, &[float("epsilon", 1e-5)]),
    row(
        "LayerNormalization",
        "nn.layer_norm",
        17,
        &[int("axis", -1), float("epsilon", 1e-5), int("stash_type", 1)],
    ),
    row(
        "RMSNormalization",
        "nn.rms_norm",
        23,
        &[int("axis", -1), float("epsilon", 1e-5), int("stash_type", 1)],
    ),
    row(
        "GroupNormalization",
        "nn.group_norm",
        21,
        &[bare("num_groups", Kind::Int), float("epsilon", 1e-5), int("stash_type", 1)],
    ),
    row("LpNormalization", "nn.lp_norm", 1, &[int("axis", -1), int("p", 2)]),
    row("MeanVarianceNormalization", "nn.mean_variance_norm", 9, &[bare("axes", Kind::Ints)]),
    row(
        "LRN",
        "nn.lrn",
        1,
        &[float("alpha", 0.0001), float("beta", 0.75), float("bias", 1.0), bare("size", Kind::Int)],
    ),
    row("LSTM", "nn.lstm", 7, LSTM),
    row("GRU", "nn.gru", 7, GRU),
    row("RNN", "nn.rnn", 7, RNN),
    row(
        "GridSample",
        "nn.grid_sample",
        16,
        &[text("mode", "linear"), text("padding_mode", "zeros"), flag("align_corners", false)],
    ),
    row("AffineGrid", "nn.affine_grid", 20, &[flag("align_corners", false)]),
    row("NonMaxSuppression", "nn.non_max_suppression", 10, &[int("center_point_box", 0)]),
    row("Det", "nn.det", 11, &[]),
    row("MaxUnpool", "nn.max_unpool", 9, &[]),
    row(
        "MaxRoiPool",
        "nn.roi_pool",
        1,
        &[bare("pooled_shape", Kind::Ints), float("spatial_scale", 1.0)],
    ),
    row("Col2Im", "nn.col2im", 18, &[]),
    row("CenterCropPad", "nn.center_crop_pad", 18, &[bare("axes", Kind::Ints)]),
    // Quantised.
    row(
        "QuantizeLinear",
        "nn.quantize",
        10,
        &[int("axis", 1), flag("saturate", true), bare("output_dtype", Kind::DType)],
    ),
    row(
        "DequantizeLinear",
        "nn.dequantize",
        10,
        &[int("axis", 1), bare("output_dtype", Kind::DType)],
    ),
    row("DynamicQuantizeLinear", "nn.dynamic_quantize", 11, &[]),
    row("MatMulInteger", "nn.matmul_integer", 10, &[]),
    row("QLinearMatMul", "nn.qlinear_matmul", 10, &[]),
    // Attention, signals, losses, chance.
    row("Attention", "nn.attention", 23, &[]),
    row("RotaryEmbedding", "nn.rotary_embedding", 23, &[]),
    row("DFT", "nn.dft", 20, &[flag("inverse", false), flag("onesided", false)]),
    row("STFT", "nn.stft", 17, &[flag("onesided", true)]),
    row("HannWindow", "nn.hann_window", 17, WINDOW),
    row("HammingWindow", "nn.hamming_window", 17, WINDOW),
    row("BlackmanWindow", "nn.blackman_window", 17, WINDOW),
    row(
        "MelWeightMatrix",
        "nn.mel_weight_matrix",
        17,
        &[attr("output_datatype", "dtype", Kind::DType, Default::Int(1))],
    ),
    row("NegativeLogLikelihoodLoss", "nn.nll_loss", 12, &[text("reduction", "mean")]),
    row(
        "SoftmaxCrossEntropyLoss",
        "nn.softmax_cross_entropy_loss",
        12,
        &[text("reduction", "mean")],
    ),
    row("RandomNormal", "nn.random_normal", 1, &[]),
    row("RandomNormalLike", "nn.random_normal_like", 1, &[]),
    row("RandomUniform", "nn.random_uniform", 1, &[]),
    row("RandomUniformLike", "nn.random_uniform_like", 1, &[]),
    row("Multinomial", "nn.multinomial", 7, &[]),
    row("Bernoulli", "nn.bernoulli", 15, &[]),
    // Containers.
    row("SequenceConstruct", "nn.sequence_construct", 11, &[]),
    row(
        "SequenceEmpty",
        "nn.sequence_empty",
        11,
        &[attr("dtype", "dtype", Kind::DType, Default::Int(1))],
    ),
    row("SequenceAt", "nn.sequence_at", 11, &[]),
    row("SequenceInsert", "nn.sequence_insert", 11, &[]),
    row("SequenceErase", "nn.sequence_erase", 11, &[]),
    row("SequenceLength", "nn.sequence_length", 11, &[]),
    row("SplitToSequence", "nn.split_to_sequence", 11, &[int("axis", 0), flag("keepdims", true)]),
    row(
        "ConcatFromSequence",
        "nn.concat_from_sequence",
        11,
        &[bare("axis", Kind::Int), flag("new_axis", false)],
    ),
];

/// The row of an ONNX operator of the default domain.
pub(crate) fn by_onnx(op_type: &str) -> Option<&'static Row> {
    static INDEX: OnceLock<HashMap<&str, &Row>> = OnceLock::new();
    INDEX.get_or_init(|| ROWS.iter().map(|row| (row.onnx, row)).collect()).get(op_type).copied()
}

/// The row of an nn operation.
pub(crate) fn by_nn(name: &str) -> Option<&'static Row> {
    static INDEX: OnceLock<HashMap<&str, &Row>> = OnceLock::new();
    INDEX.get_or_init(|| ROWS.iter().map(|row| (row.nn, row)).collect()).get(name).copied()
}
