"""Names of passes of onnxsim and onnxslim: the rules here that do what they do.

A name without rules is one of a pass that has no counterpart: what it would do is not done here, or
is no matter of a rule. It is told by a warning. A name that is in neither table is one of a rule or
label here, and an error if it is not.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping

_BATCH_NORMS = [
    f"{product}-{bias}batch-norm" for product in ("conv", "conv-transpose") for bias in ("", "bias-")
]
_IDENTITY = ["remove-identity"]
_RESHAPES = ["reshape-reshape", "reshape-reshape-static", "reshape-reshape-copied", "expand-dims-reshape",
             "squeeze-reshape", "flatten-reshape", "reshape-expand-dims", "reshape-expand"]  # fmt: skip
_TRANSPOSES = ["transpose-transpose", "join-transposes", "unit-transpose"]
_REDUCTIONS = ["unit-reduction", "max-max", "max-max-kept", "sum-sum", "sum-sum-kept"]
_SQUEEZES = ["expand-dims-squeeze", "squeeze-expand-dims"]
_BIAS_OF_CONV = ["conv-add", "conv-add-number"]
_FACTOR_OF_CONV = ["conv-multiply", "conv-bias-multiply", "conv-scale", "conv-bias-scale"]
_BIAS_OF_PRODUCT = ["matmul-add", "matmul-add-row", "dense-add"]
_PADS = ["pad-conv2d", "pad-conv2d-default"]
_GELU = ["gelu", "gelu-half-first", "gelu-half-inside"]

ONNXSIM: Mapping[str, list[str]] = {
    "nop": [],
    "eliminate_common_subexpression": [],
    "eliminate_consecutive_idempotent_ops": ["relu-relu", "cast-cast", "negative-negative", "not-not", *_RESHAPES],
    "eliminate_deadend": [],
    "eliminate_duplicate_initializer": [],
    "eliminate_identity": _IDENTITY,
    "eliminate_if_with_const_cond": ["inline-constant-if", "inline-squeezing-if"],
    "eliminate_loop_with_const_trip_count": [],
    "eliminate_nop_cast": [*_IDENTITY, "cast-cast"],
    "eliminate_nop_concat": _IDENTITY,
    "eliminate_nop_dropout": _IDENTITY,
    "eliminate_nop_expand": [*_IDENTITY, "static-broadcast"],
    "eliminate_nop_flatten": [*_IDENTITY, "flatten-reshape"],
    "eliminate_nop_monotone_argmax": [],
    "eliminate_nop_pad": _IDENTITY,
    "eliminate_nop_reduce": [*_IDENTITY, "unit-reduction"],
    "eliminate_nop_reshape": [*_IDENTITY, "static-reshape"],
    "eliminate_nop_softmax": [],
    "eliminate_nop_split": _IDENTITY,
    "eliminate_nop_transpose": [*_IDENTITY, "unit-transpose"],
    "eliminate_nop_with_unit": ["remove-neutral-element"],
    "eliminate_optional_get_element": [],
    "eliminate_optional_has_element": [],
    "eliminate_reshape_around_elementwise": [],
    "eliminate_reshape_family_on_constant": ["fold-constants"],
    "eliminate_sequence_at_construct": ["sequence-at-of-construct"],
    "eliminate_sequence_length_construct": [],
    "eliminate_shape_gather": ["fold-shapes"],
    "eliminate_shape_op": ["fold-shapes"],
    "eliminate_slice_after_shape": ["fold-shapes"],
    "eliminate_unused_initializer": [],
    "extract_constant_to_initializer": [],
    "fuse_add_bias_into_conv": _BIAS_OF_CONV,
    "fuse_attention": [],
    "fuse_bn_into_conv": _BATCH_NORMS,
    "fuse_concat_into_reshape": ["static-operands", "static-reshape"],
    "fuse_consecutive_concats": ["flatten-concatenate"],
    "fuse_consecutive_log_softmax": [],
    "fuse_consecutive_mul": ["multiply-multiply-constants"],
    "fuse_consecutive_reduce": _REDUCTIONS,
    "fuse_consecutive_reduce_unsqueeze": [],
    "fuse_consecutive_reshapes": _RESHAPES,
    "fuse_consecutive_slices": ["slice-slice"],
    "fuse_consecutive_squeeze_unsqueeze": _SQUEEZES,
    "fuse_consecutive_squeezes": _SQUEEZES,
    "fuse_consecutive_transposes": _TRANSPOSES,
    "fuse_consecutive_unsqueezes": ["expand-dims-expand-dims"],
    "fuse_gelu": _GELU,
    "fuse_gqa": [],
    "fuse_layer_norm": ["layer-norm"],
    "fuse_lp_normalization": [],
    "fuse_matmul_add_bias_into_gemm": _BIAS_OF_PRODUCT,
    "fuse_matmul_add_bias_into_gemm_batched": [],
    "fuse_matmul_into_conv": [],
    "fuse_mul_into_conv": _FACTOR_OF_CONV,
    "fuse_pad_into_conv": _PADS,
    "fuse_pad_into_pool": [],
    "fuse_preceding_mul_into_conv": ["scale-conv", "divided-conv", "multiply-conv"],
    "fuse_qkv": ["parallel-matmul", "parallel-matmul-add"],
    "fuse_reduce_sum_into_conv": [],
    "fuse_reshape_family": _RESHAPES,
    "fuse_rms_norm": [],
    "fuse_rope": [],
    "fuse_split_gather_concat": [],
    "fuse_transpose_into_gemm": [],
    "rewrite_where": [],
}
ONNXSLIM: Mapping[str, list[str]] = {
    "EliminationConcat": ["flatten-concatenate"],
    "EliminationReshape": _RESHAPES,
    "EliminationReshapeAs": ["static-reshape"],
    "EliminationSlice": ["slice-slice"],
    "EliminationTranspose": _TRANSPOSES,
    "EliminationTransposeAsReshape": ["unit-transpose"],
    "EliminationTransposeViewTranspose": _TRANSPOSES,
    "EliminationUnsqueeze": ["expand-dims-expand-dims"],
    "FusionConcatReshape": ["static-operands", "static-reshape"],
    "FusionConvAdd": _BIAS_OF_CONV,
    "FusionConvBN": _BATCH_NORMS[:2],
    "FusionConvMul": _FACTOR_OF_CONV,
    "FusionConvTransposeAdd": _BIAS_OF_CONV,
    "FusionConvTransposeBN": _BATCH_NORMS[2:],
    "FusionConvTransposeMul": ["conv-scale", "conv-bias-scale"],
    "FusionGelu": _GELU,
    "FusionGemm": _BIAS_OF_PRODUCT,
    "FusionGemmAdd": ["bias-bias", "bias-add-constant", "bias-add-number"],
    "FusionGemmMul": ["matmul-scale", "scale-matmul"],
    "FusionPadConv": _PADS,
    "FusionReduce": _REDUCTIONS,
}


def rules(function: str, names: Iterable[str], passes: Mapping[str, list[str]]) -> list[str]:
    """The rules that stand for the passes among `names`, and the other names as they are."""
    found: list[str] = []
    without = []
    for name in names:
        found += passes.get(name, [name])
        if not passes.get(name, [name]):
            without.append(f"`{name}`")
    if without:
        listed = ", ".join(without)
        warnings.warn(f"{function}: nothing here stands for the pass {listed}", stacklevel=4)
    return list(dict.fromkeys(found))
