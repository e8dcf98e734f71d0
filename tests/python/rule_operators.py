"""The operators of rules as nodes of ONNX: operands that fit, attributes, and how they are written."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from onnx import NodeProto, helper, numpy_helper

UNARY = {
    "identity": "Identity", "abs": "Abs", "negative": "Neg", "sqrt": "Sqrt", "exp": "Exp",
    "log": "Log", "erf": "Erf", "tanh": "Tanh", "sigmoid": "Sigmoid", "relu": "Relu",
    "floor": "Floor", "ceil": "Ceil", "round": "Round", "sign": "Sign", "sin": "Sin",
    "reciprocal": "Reciprocal", "logical_not": "Not", "hard_swish": "HardSwish",
    "softplus": "Softplus",
}
BINARY = {
    "add": "Add", "subtract": "Sub", "multiply": "Mul", "divide": "Div", "power": "Pow",
    "maximum": "Max", "minimum": "Min", "less": "Less", "greater": "Greater", "equal": "Equal",
    "logical_and": "And", "logical_or": "Or",
}
REDUCTIONS = {"sum": "ReduceSum", "mean": "ReduceMean", "max": "ReduceMax", "min": "ReduceMin"}
ELEMENTWISE = ["relu", "abs", "negative", "tanh", "exp", "sigmoid", "floor"]
WIDEST = 2**63 - 1


def extents(rng: np.random.Generator, rank: int | None = None) -> tuple[int, ...]:
    """Any small extents; sometimes all equal, so that what confuses dimensions is seen."""
    rank = int(rng.choice([0, 1, 1, 2, 2, 2, 3, 3, 4])) if rank is None else rank
    if rng.random() < 0.2:
        return (int(rng.integers(1, 4)),) * rank
    return tuple(int(n) for n in rng.choice([1, 2, 2, 3, 4], rank))


def numbers(dtype: np.dtype, shape: tuple, rng: np.random.Generator) -> np.ndarray:
    """Quarters of either sign, or integers, and now and then numbers next to the limits."""
    if dtype == bool:
        return rng.random(shape) < 0.5
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        wide = rng.random() < 0.2
        low, high = (limits.min, limits.max) if wide else (max(limits.min, -4), 4)
        return rng.integers(low, high, shape, dtype=dtype, endpoint=True)
    return np.asarray(rng.integers(-16, 17, shape) / 4, dtype)


def spatial(name: str) -> int:
    """How many spatial dimensions a convolution has."""
    return next((int(n) for n in "123" if f"{n}d" in name), 2)


def operand_shape(name, index, shapes, attrs, want, rng) -> tuple | None:
    """A shape for an operand, given those of the others."""
    other = next((s for i, s in enumerate(shapes) if s is not None and i != index), None)
    if name in BINARY or name == "where":
        like = other if other is not None else want
        return None if like is None else _broadcasting(like, rng)
    if name.startswith("conv"):
        return _convolution(name, index, shapes, attrs, rng)
    if name == "bias_add" and index == 1 and other is not None and len(other) > 1:
        axis = attrs.get("axis", 1)
        return (other[axis % len(other)] if isinstance(axis, int) else other[1],)
    if name in ("batch_norm", "instance_norm", "group_norm"):
        first = shapes[0] if shapes[0] is not None else None
        if index:
            return (first[1],) if first is not None and len(first) > 1 else None
        return extents(rng, int(rng.choice([3, 4])))
    if name == "layer_norm" and index:
        first = shapes[0]
        return (first[-1],) if first else None
    if name in ("matmul", "dense"):
        return _product(name, index, other, rng)
    if name == "concatenate" and other is not None:
        axis = attrs.get("axis", 0)
        out = list(other)
        if out and isinstance(axis, int):
            out[axis % len(out)] = int(rng.integers(1, 4))
        return tuple(out)
    if index == 0:
        return want
    if name in ("reshape", "broadcast_to", "cast_like"):
        return None
    return other


def _broadcasting(like: tuple, rng) -> tuple:
    match int(rng.integers(0, 8)):
        case 0 | 1 | 2:
            return tuple(like)
        case 3:
            return ()
        case 4:
            return tuple(like[int(rng.integers(0, len(like) + 1)):])
        case 5:
            return tuple(n if rng.random() < 0.5 else 1 for n in like)
        case 6 if len(like) > 1:
            return (like[1],) + (1,) * (len(like) - 2)
        case _:
            kept = int(rng.integers(0, max(len(like), 1)))
            return tuple(n if i == kept else 1 for i, n in enumerate(like))


def _convolution(name, index, shapes, attrs, rng) -> tuple:
    dims = spatial(name)
    groups = attrs.get("groups", None)
    if index == 0:
        channels = int(rng.choice([1, 2, 2, 3, 4, 6]))
        if isinstance(groups, int) and groups > 0:
            channels = groups * int(rng.integers(1, 3))
        return (int(rng.integers(1, 4)), channels, *(int(n) for n in rng.integers(2, 7, dims)))
    channels = shapes[0][1] if shapes[0] is not None else 2
    fits = [g for g in range(1, channels + 1) if channels % g == 0]
    group = groups if isinstance(groups, int) and groups in fits else int(rng.choice(fits))
    window = (int(rng.choice([1, 1, 2, 3, 3])),) * dims
    if rng.random() < 0.4:
        window = tuple(int(n) for n in rng.choice([1, 2, 3, 4], dims))
    if "transpose" in name:
        return (channels, int(rng.integers(1, 4)), *window)
    batch = shapes[0][0] if shapes[0] is not None else 1
    filters = batch * group if rng.random() < 0.2 else group * int(rng.integers(1, 4))
    return (filters, channels // group, *window)


def _product(name, index, other, rng) -> tuple:
    if other is None or not other:
        ranks = [2] if name == "dense" else [1, 2, 2, 3, 4]
        return extents(rng, int(rng.choice(ranks)))
    free = int(rng.integers(1, 5))
    if name == "dense":
        return (free, other[-1])
    inner = other[-1] if index == 1 else other[-2 if len(other) > 1 else 0]
    if rng.random() < 0.15:
        return (inner,)
    batch = tuple(other[:-2]) if rng.random() < 0.5 else ()
    return batch + ((inner, free) if index == 1 else (free, inner))


def _axis(rank: int, rng) -> int:
    at = int(rng.integers(0, max(rank, 1)))
    return at if rng.random() < 0.7 else at - max(rank, 1)


def _axes(rank: int, rng, fits=None) -> list[int]:
    known = [i for i in range(rank) if fits is None or fits(i)]
    rng.shuffle(known)
    chosen = known[: int(rng.integers(1, 3))]
    return [a - rank for a in chosen] if rng.random() < 0.25 else chosen


def _newshape(shape: tuple, rng) -> list[int]:
    left, out = math.prod(shape), []
    for _ in range(int(rng.integers(0, 4))):
        part = int(rng.choice([d for d in range(1, left + 1) if left % d == 0] or [1]))
        out.append(part)
        left //= part
    if left > 1 or not out and shape:
        out.append(left)
    if out and rng.random() < 0.25:
        out[int(rng.integers(0, len(out)))] = -1
    same = [i for i, n in enumerate(out) if i < len(shape) and shape[i] == n]
    if same and rng.random() < 0.25:
        out[int(rng.choice(same))] = 0
    return out


def draw_attributes(name, attrs, shapes, results, draft) -> None:
    """Draws the attributes that the rule leaves open."""
    rng = draft.rng
    x = shapes[0] if shapes else ()
    rank = len(x)

    def put(key: str, value) -> None:
        attrs.setdefault(key, value)

    if name.startswith("conv"):
        dims = spatial(name)
        plain = rng.random() < 0.3
        draw = lambda low, high: [int(n) for n in rng.integers(low, high, dims)]  # noqa: E731
        put("strides", [1] * dims if plain else draw(1, 4))
        put("dilation", [1] * dims if plain else draw(1, 3))
        put("padding", [0] * (2 * dims) if rng.random() < 0.3 else draw(0, 3) + draw(0, 3))
        if rng.random() < 0.3 and not plain:
            half = [(k - 1) // 2 for k in shapes[1][2:]]
            attrs["padding"] = attrs.get("padding") if plain else half + half
        w = shapes[1]
        put("groups", 1 if "transpose" in name else max(x[1] // max(w[1], 1), 1))
        return
    match name:
        case "transpose":
            put("axes", [int(a) for a in rng.permutation(rank)])
        case "reshape" if len(shapes) == 1:
            put("newshape", _newshape(x, rng))
        case "expand_dims":
            put("axis", _axes(rank + 1, rng))
        case "squeeze":
            put("axis", _axes(rank, rng, lambda i: x[i] == 1))
        case "strided_slice":
            axes = _axes(rank, rng)
            put("axes", axes)
            count = len(attrs["axes"])
            put("begin", [int(rng.choice([0, 0, 1, -1, -2, 2])) for _ in range(count)])
            put("end", [int(rng.choice([1, 2, 3, -1, WIDEST])) for _ in range(count)])
            put("strides", [int(rng.choice([1, 1, 2])) for _ in range(count)])
        case "concatenate" | "softmax" | "split" | "lp_norm" | "split_to_sequence":
            put("axis", _axis(rank, rng))
            if name == "split":
                n = x[attrs["axis"]] if -rank <= attrs["axis"] < rank else 1
                cuts = sorted(int(c) for c in rng.choice(range(1, max(n, 2)), min(results - 1, max(n - 1, 0)), replace=False))
                put("indices_or_sections", cuts if len(cuts) == results - 1 and results > 1 else results)
        case "clip":
            low = sorted(float(v) for v in rng.choice([-2.0, 0.0, 1.0, 3.0, *draft.source.floats], 2))
            if rng.random() < 0.2:
                low.reverse()
            put("a_min", low[0])
            put("a_max", low[1])
        case "cast":
            put("dtype", str(rng.choice([*_TYPES, *draft.source.types])))
        case "pad":
            mode = str(rng.choice(["constant"] * 4 + ["edge", "reflect"]))
            put("pad_mode", mode)
            put("pad_value", float(rng.choice([0, 0, 0, 1])))
            widths = [int(n) for n in rng.integers(0, 3, 2 * rank)]
            if rng.random() < 0.6:
                widths = [0 if i % rank < 2 else n for i, n in enumerate(widths)]
            put("pad_width", widths)
        case "broadcast_to" if len(shapes) == 1:
            grown = [n if n > 1 else int(rng.integers(1, 4)) for n in x]
            put("shape", ([int(rng.integers(1, 3))] if rng.random() < 0.5 else []) + grown)
        case "full" if not shapes:
            put("shape", list(extents(rng)))
        case "batch_norm" | "instance_norm" | "layer_norm" | "group_norm":
            put("epsilon", float(rng.choice([0.5, 0.25, 1e-5])))
            if name == "layer_norm":
                put("axis", -1)
            if name == "group_norm":
                put("num_groups", int(rng.choice([g for g in range(1, x[1] + 1) if x[1] % g == 0])))
        case "hard_sigmoid":
            put("alpha", float(rng.choice([0.2, 0.5, float(np.float32(1 / 6)), *draft.source.floats])))
            put("beta", float(rng.choice([0.5, 0.5, 0.25])))
        case _ if name in REDUCTIONS:
            put("axis", _axes(rank, rng) if rng.random() < 0.6 else [-1])
            put("keepdims", bool(rng.random() < 0.6))


_TYPES = ("float32", "float16", "float64", "int8", "int32", "int64", "bool", "uint8")


def emit(name, operands, outputs, attrs, draft) -> list[NodeProto] | None:
    """The nodes of an operation; none where ONNX has none."""
    fixed, dtype = draft.fixed, draft.dtype

    def node(op: str, inputs: list[str], **given: Any) -> list[NodeProto]:
        return [helper.make_node(op, inputs, outputs, **given)]

    if name in UNARY:
        return node(UNARY[name], operands)
    if name in BINARY:
        return node(BINARY[name], operands)
    if name in REDUCTIONS:
        axes = [fixed(attrs["axis"])] if attrs.get("axis") is not None else []
        return node(REDUCTIONS[name], operands + axes, keepdims=int(attrs["keepdims"]))
    if name.startswith("conv"):
        op = "ConvTranspose" if "transpose" in name else "Conv"
        return node(op, operands, strides=attrs["strides"], dilations=attrs["dilation"],
                    pads=attrs["padding"], group=attrs["groups"])
    match name:
        case "bias_add":
            # The bias of the node before, where that is a convolution or a product.
            before = next((n for n in draft.nodes if operands[0] in n.output), None)
            if before is None or len(before.input) > 2 or before.op_type not in (
                "Conv", "ConvTranspose", "Gemm",
            ) or attrs.get("axis", 1) != 1:
                return None
            draft.nodes.remove(before)
            made = NodeProto()
            made.CopyFrom(before)
            made.input.append(operands[1])
            del made.output[:]
            made.output.extend(outputs)
            return [made]
        case "dense":
            return node("Gemm", operands, transB=1)
        case "matmul":
            return node("MatMul", operands)
        case "batch_norm":
            return node("BatchNormalization", operands, epsilon=attrs["epsilon"])
        case "instance_norm":
            return node("InstanceNormalization", operands, epsilon=attrs["epsilon"])
        case "layer_norm":
            return node("LayerNormalization", operands, epsilon=attrs["epsilon"], axis=attrs["axis"])
        case "group_norm":
            return node("GroupNormalization", operands, epsilon=attrs["epsilon"], num_groups=attrs["num_groups"])
        case "lp_norm":
            return node("LpNormalization", operands, axis=attrs["axis"], p=int(attrs.get("p", 2)))
        case "transpose":
            return node("Transpose", operands, perm=attrs["axes"])
        case "reshape":
            return node("Reshape", operands if len(operands) > 1 else [*operands, fixed(attrs["newshape"])])
        case "batch_flatten":
            return node("Flatten", operands, axis=1)
        case "expand_dims":
            return node("Unsqueeze", [*operands, fixed(attrs["axis"])])
        case "squeeze":
            return node("Squeeze", [*operands, fixed(attrs["axis"])])
        case "strided_slice":
            lists = [fixed(attrs[key]) for key in ("begin", "end", "axes", "strides")]
            return node("Slice", [*operands, *lists])
        case "concatenate":
            return node("Concat", operands, axis=attrs["axis"])
        case "split":
            cuts, axis = attrs["indices_or_sections"], attrs["axis"]
            if isinstance(cuts, int):
                return node("Split", operands, axis=axis, num_outputs=cuts) if cuts == len(outputs) else None
            shape = np.shape(draft.values[operands[0]])
            sizes = np.diff([0, *cuts, shape[axis]]).tolist()
            return node("Split", [*operands, fixed(sizes)], axis=axis) if len(sizes) == len(outputs) else None
        case "split_to_sequence":
            return node("SplitToSequence", operands, axis=attrs["axis"])
        case "sequence_construct":
            return node("SequenceConstruct", operands)
        case "sequence_at":
            return node("SequenceAt", operands)
        case "clip":
            return node("Clip", [operands[0], fixed(attrs["a_min"], dtype), fixed(attrs["a_max"], dtype)])
        case "cast":
            to = helper.np_dtype_to_tensor_dtype(np.dtype(attrs["dtype"]))
            return node("Cast", operands, to=to)
        case "cast_like":
            return node("CastLike", operands)
        case "pad":
            value = [fixed(attrs["pad_value"], dtype)] if attrs["pad_mode"] == "constant" else []
            return node("Pad", [*operands, fixed(attrs["pad_width"]), *value], mode=attrs["pad_mode"])
        case "broadcast_to":
            return node("Expand", operands if len(operands) > 1 else [*operands, fixed(attrs["shape"])])
        case "shape_of":
            return node("Shape", operands)
        case "full":
            value = numpy_helper.from_array(np.asarray([1], dtype))
            return node("ConstantOfShape", operands or [fixed(attrs["shape"])], value=value)
        case "hard_sigmoid":
            return node("HardSigmoid", operands, alpha=attrs["alpha"], beta=attrs["beta"])
    return None
