//! Operators of `com.microsoft`, onnxruntime's own domain, as exported and quantised models use
//! them.
//!
//! Types are inferred behind their operations, which are evaluated and run, and rules may match
//! them. The export gives their nodes back; it never writes one that the model did not have.

use super::{AttrRow, Default, Kind, Row, attr, bare, flag, float, int, row, text};

const fn contrib(onnx: &'static str, nn: &'static str, attrs: &'static [AttrRow]) -> Row {
    Row { domain: "com.microsoft", ..row(onnx, nn, 1, attrs) }
}

const TRANSPOSES: &[AttrRow] = &[
    attr("transA", "transpose_a", Kind::Flag, Default::Int(0)),
    attr("transB", "transpose_b", Kind::Flag, Default::Int(0)),
];
const GEMM: &[AttrRow] = &[TRANSPOSES[0], TRANSPOSES[1], float("alpha", 1.0), float("beta", 1.0)];
const QGEMM: &[AttrRow] = &[TRANSPOSES[0], TRANSPOSES[1], float("alpha", 1.0)];
const MATMUL: &[AttrRow] = &[
    TRANSPOSES[0],
    TRANSPOSES[1],
    attr("transBatchA", "transpose_batch_a", Kind::Flag, Default::Int(0)),
    attr("transBatchB", "transpose_batch_b", Kind::Flag, Default::Int(0)),
    float("alpha", 1.0),
];
const WINDOWS: &[AttrRow] = &[
    attr("pads", "padding", Kind::Ints, Default::None),
    attr("dilations", "dilation", Kind::Ints, Default::None),
    attr("group", "groups", Kind::Int, Default::Int(1)),
];

pub(super) static ROWS: &[Row] = &[
    // Elementwise.
    contrib("Gelu", "nn.contrib_gelu", &[]),
    contrib("FastGelu", "nn.contrib_fast_gelu", &[]),
    contrib("QuickGelu", "nn.contrib_quick_gelu", &[float("alpha", 1.702)]),
    contrib("BiasGelu", "nn.contrib_bias_gelu", &[]),
    contrib("BiasAdd", "nn.contrib_bias_add", &[]),
    // Products and convolutions.
    contrib("FusedMatMul", "nn.contrib_fused_matmul", MATMUL),
    contrib("TransposeMatMul", "nn.contrib_transpose_matmul", MATMUL),
    contrib("FusedGemm", "nn.contrib_fused_gemm", GEMM),
    contrib("FusedConv", "nn.contrib_fused_conv", WINDOWS),
    contrib("MatMulNBits", "nn.contrib_matmul_nbits", &[]),
    // Normalisations.
    contrib("SkipLayerNormalization", "nn.contrib_skip_layer_norm", &[float("epsilon", 1e-12)]),
    contrib(
        "SkipSimplifiedLayerNormalization",
        "nn.contrib_skip_rms_norm",
        &[float("epsilon", 1e-12)],
    ),
    contrib(
        "EmbedLayerNormalization",
        "nn.contrib_embed_layer_norm",
        &[float("epsilon", 1e-12), int("mask_index_type", 0)],
    ),
    // This one stands in the default domain, but in no operator set of ONNX.
    row(
        "SimplifiedLayerNormalization",
        "nn.contrib_rms_norm",
        i64::MAX,
        &[int("axis", -1), float("epsilon", 1e-5), int("stash_type", 1)],
    ),
    // Attention.
    contrib("RotaryEmbedding", "nn.contrib_rotary_embedding", &[flag("interleaved", false)]),
    contrib("Attention", "nn.contrib_attention", &[]),
    contrib("MultiHeadAttention", "nn.contrib_multi_head_attention", &[]),
    contrib("GroupQueryAttention", "nn.contrib_group_query_attention", &[]),
    // Quantised.
    contrib("QuantizeLinear", "nn.contrib_quantize", &[int("axis", 1)]),
    contrib("DequantizeLinear", "nn.contrib_dequantize", &[int("axis", 1)]),
    contrib("DynamicQuantizeMatMul", "nn.contrib_dynamic_quantize_matmul", &[]),
    contrib("MatMulIntegerToFloat", "nn.contrib_matmul_integer_to_float", &[]),
    contrib(
        "DynamicQuantizeLSTM",
        "nn.contrib_dynamic_quantize_lstm",
        &[
            text("direction", "forward"),
            bare("hidden_size", Kind::Int),
            flag("input_forget", false),
        ],
    ),
    contrib("QGemm", "nn.contrib_qgemm", QGEMM),
    contrib("QLinearAdd", "nn.contrib_qlinear_add", &[]),
    contrib("QLinearMul", "nn.contrib_qlinear_multiply", &[]),
    contrib("QLinearSigmoid", "nn.contrib_qlinear_sigmoid", &[]),
    contrib("QLinearLeakyRelu", "nn.contrib_qlinear_leaky_relu", &[float("alpha", 0.01)]),
    contrib("QLinearSoftmax", "nn.contrib_qlinear_softmax", &[int("axis", -1)]),
    contrib("QLinearConcat", "nn.contrib_qlinear_concat", &[bare("axis", Kind::Int)]),
    contrib(
        "QLinearGlobalAveragePool",
        "nn.contrib_qlinear_global_avg_pool",
        &[flag("channels_last", false)],
    ),
];
