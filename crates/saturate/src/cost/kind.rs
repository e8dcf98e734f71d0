//! Kinds of operations: those of one kind take their time for the same reasons.

use serde::{Deserialize, Serialize};

/// What decides how long an operation takes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Kind {
    /// Convolutions; their parts are batches times groups.
    Convolution,
    /// Products of matrices; their parts are batches.
    Product,
    /// Functions of each element by themselves that take an instruction or two.
    ElementWise,
    /// Functions of each element by themselves that take many instructions.
    Transcendental,
    /// Sums and norms over axes.
    Reduction,
    /// Pooling.
    Window,
    /// A value in parts.
    Split,
    /// Parts in one value.
    Concatenate,
    /// Axes in another order.
    Transpose,
    /// Other ways of copying.
    Copy,
    /// Says only how memory is read.
    View,
}

impl Kind {
    /// The kind of the operation with this name.
    pub fn of(name: &str) -> Kind {
        let Some(name) = name.strip_prefix("nn.") else { return Kind::ElementWise };
        match name {
            "contrib_fused_conv" | "deform_conv" => Kind::Convolution,
            _ if name.starts_with("conv") => Kind::Convolution,
            "contrib_fused_gemm" | "contrib_fused_matmul" => Kind::Product,
            "dense" | "matmul" | "batch_matmul" | "gemm" | "einsum" | "attention" => Kind::Product,
            "tanh" | "sigmoid" | "exp" | "log" | "erf" | "gelu" | "sin" | "cos" | "tan"
            | "power" | "softplus" | "mish" | "swish" | "elu" | "selu" | "celu" | "sinh"
            | "cosh" | "contrib_gelu" | "contrib_fast_gelu" | "contrib_quick_gelu"
            | "contrib_bias_gelu" | "asin" | "acos" | "atan" | "asinh" | "acosh" | "atanh" => {
                Kind::Transcendental
            }
            "sum" | "mean" | "max" | "min" | "prod" | "argmax" | "argmin" | "softmax"
            | "log_softmax" | "layer_norm" | "rms_norm" | "group_norm" | "instance_norm"
            | "batch_norm" | "lp_norm" | "global_avg_pool" | "global_max_pool" => Kind::Reduction,
            _ if name.starts_with("reduce_") => Kind::Reduction,
            _ if name.starts_with("max_pool") || name.starts_with("avg_pool") => Kind::Window,
            "split" => Kind::Split,
            "concatenate" => Kind::Concatenate,
            "transpose" | "depth_to_space" | "space_to_depth" => Kind::Transpose,
            "strided_slice" | "take" | "gather_elements" | "gather_nd" | "pad" | "tile"
            | "broadcast_to" | "full" => Kind::Copy,
            "reshape" | "squeeze" | "expand_dims" | "batch_flatten" | "flatten" | "shape_of"
            | "identity" => Kind::View,
            _ => Kind::ElementWise,
        }
    }
}

/// Operations that are no work.
pub(super) fn is_silent(name: &str) -> bool {
    let silent = matches!(name, "nn.constant" | "nn.none" | "nn.yield");
    silent || name.starts_with("func.") || name.starts_with("builtin.")
}
