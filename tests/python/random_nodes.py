"""Random nodes of any operator of ONNX: inputs by the operator's schema, attributes by their names.

Nothing here knows an operator's meaning: what a schema leaves open is drawn, and whoever runs the
node finds out whether it is one. Names say much, though: `axis` is a small number, `perm` an order.
"""

from __future__ import annotations

import functools

import numpy as np
import onnx
from onnx import helper

# Random results, side effects, functions that want much data, and operators that need a license
# to run for long: none of them can be compared.
LEFT_OUT = {
    "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial",
    "Bernoulli", "Dropout", "If", "Loop", "Scan", "SequenceMap", "ImageDecoder", "MelWeightMatrix",
    "Constant", "StringNormalizer", "TfIdfVectorizer", "Optional", "OptionalGetElement",
    "OptionalHasElement", "MaxUnpool", "Det", "BlackmanWindow", "HannWindow", "HammingWindow",
}  # fmt: skip
# What models are made of is drawn more often than what is rare.
COMMON = (
    "Add Sub Mul Div Pow Neg Relu Sigmoid Tanh Sqrt Exp Erf Clip Cast Identity MatMul Gemm Conv "
    "BatchNormalization MaxPool AveragePool GlobalAveragePool Reshape Transpose Squeeze Unsqueeze "
    "Flatten Concat Split Slice Gather Pad Expand Tile Where Shape Size ConstantOfShape Softmax "
    "ReduceMean ReduceSum ReduceMax Equal Not And Greater LayerNormalization Resize LSTM GRU "
    "Min Max Sum Mean QuantizeLinear DequantizeLinear Einsum ArgMax CastLike Range"
).split()
INTEGERS = (np.int64, np.int32, np.int16, np.int8, np.uint8, np.uint16, np.uint32, np.uint64)


@functools.cache
def operators(opset: int) -> dict[str, onnx.defs.OpSchema]:
    """The operators of an operator set, by name."""
    found: dict[str, onnx.defs.OpSchema] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        newer = schema.name not in found or found[schema.name].since_version < schema.since_version
        if schema.domain == "" and schema.since_version <= opset and newer:
            found[schema.name] = schema
    return {
        name: schema
        for name, schema in sorted(found.items())
        if not schema.deprecated and name not in LEFT_OUT and not name.startswith("Sequence")
    }


def draw_operator(rng: np.random.Generator, opset: int) -> onnx.defs.OpSchema:
    """Draws an operator, a common one most of the time."""
    known = operators(opset)
    common = [name for name in COMMON if name in known]
    names = common if rng.random() < 0.7 else list(known)
    return known[names[rng.integers(len(names))]]


def type_name(value: np.ndarray | list) -> str:
    """The name of a value's type in schemas."""
    if isinstance(value, list):
        return f"seq({type_name(value[0])})" if value else "seq(tensor(float))"
    if value.dtype.kind in "OUS":
        return "tensor(string)"
    element = onnx.TensorProto.DataType.Name(helper.np_dtype_to_tensor_dtype(value.dtype))
    return f"tensor({element.lower()})"


# The greatest value, and one more, of attributes that are extents: what most models have, and what
# some do. Past these nothing else happens.
USUAL = {"kernel": 4, "stride": 3, "dilation": 3, "pad": 2, "group": 3, "block": 3, "hidden": 4}
WIDE = {"kernel": 6, "stride": 5, "dilation": 4, "pad": 4, "group": 5, "block": 4, "hidden": 6}


def attributes(
    rng: np.random.Generator, schema: onnx.defs.OpSchema, rank: int, ends: dict = USUAL
) -> dict:
    """Draws attributes: those that are required, of the others some."""
    chosen = {}
    for name, attribute in schema.attributes.items():
        if attribute.required or rng.random() < 0.35:
            value = _attribute(rng, schema.name, name, attribute, rank, ends)
            if value is not None and value != []:
                chosen[name] = value
    return chosen


def _attribute(rng, operator: str, name: str, attribute, rank: int, ends: dict):
    kinds = onnx.defs.OpSchema.AttrType
    spatial = max(rank - 2, 1)
    few = {
        "perm": lambda: rng.permutation(rank),
        "axis": lambda: rng.integers(-rank, max(rank, 1)),
        "axes": lambda: _axes(rng, rank),
        "kernel_shape": lambda: rng.integers(1, ends["kernel"], spatial),
        "strides": lambda: rng.integers(1, ends["stride"], spatial),
        "dilations": lambda: rng.integers(1, ends["dilation"], spatial),
        "pads": lambda: rng.integers(0, ends["pad"], 2 * (rank if operator == "Pad" else spatial)),
        "output_padding": lambda: rng.integers(0, 2, spatial),
        "to": lambda: rng.choice([1, 1, 1, 2, 3, 6, 7, 7, 9, 10, 11]),
        "dtype": lambda: rng.choice([1, 6, 7, 10, 11]),
        "group": lambda: rng.integers(1, ends["group"]),
        "hidden_size": lambda: rng.integers(1, ends["hidden"]),
        "blocksize": lambda: 2 if ends is USUAL else rng.integers(1, ends["block"]),
        "num_groups": lambda: rng.integers(1, ends["group"]),
        "num_outputs": lambda: rng.integers(1, 4),
        "equation": lambda: rng.choice(EQUATIONS),
        "auto_pad": lambda: rng.choice(["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"]),
        "mode": lambda: rng.choice(MODES.get(operator, ["constant"])),
        "direction": lambda: rng.choice(["forward", "reverse", "bidirectional"])
        if attribute.type == kinds.STRING else rng.choice(["LEFT", "RIGHT"]),
        "reduction": lambda: rng.choice(["none", "add", "mul", "max", "min", "mean", "sum"]),
        "coordinate_transformation_mode": lambda: rng.choice(COORDINATES),
        "nearest_mode": lambda: rng.choice(["floor", "ceil", "round_prefer_floor"]),
        "approximate": lambda: rng.choice(["none", "tanh"]),
        "padding_mode": lambda: rng.choice(["zeros", "border", "reflection"]),
        "value": lambda: _fill(rng) if attribute.type == kinds.TENSOR else rng.standard_normal(),
        "size": lambda: rng.integers(1, 4),
        # Others mean nothing; the draw keeps what is drawn later.
        "stash_type": lambda: rng.integers(-1, 3) * 0 + 1,
        "split": lambda: rng.integers(1, 3, 2),
    }  # fmt: skip
    if name in few:
        return _plain(few[name]())
    if name in FLAGS and rng.random() < 0.95:
        return int(rng.integers(0, 2))
    if attribute.type == kinds.INT:
        return int(rng.integers(-1, 3))
    if attribute.type == kinds.FLOAT:
        return float(rng.choice([0.0, 0.25, 0.5, 1.0, 2.0, -1.0]))
    if attribute.type == kinds.INTS:
        return [int(n) for n in rng.integers(-1, 3, max(rank, 1))]
    if attribute.type == kinds.FLOATS:
        return [float(n) for n in rng.choice([0.5, 1.0, 2.0], max(rank, 1))]
    return None


def _plain(value):
    if isinstance(value, np.ndarray):
        return [int(n) for n in value]
    return value.item() if isinstance(value, np.generic) else value


EQUATIONS = ["ij,jk->ik", "ij,jk", "bij,bjk->bik", "ij->ji", "ii->i", "i,j->ij", "...ij->...ji",
             "ij,ij->i", "bij,kj->bik", "i,i->"]  # fmt: skip
FLAGS = {
    "keepdims", "noop_with_empty_axes", "ceil_mode", "count_include_pad", "exclusive", "reverse",
    "largest", "sorted", "select_last_index", "transA", "transB", "allowzero", "align_corners",
    "saturate", "fmod", "is_causal", "training_mode", "layout", "new_axis", "cubic", "upper",
}  # fmt: skip
COORDINATES = ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"]
MODES = {
    "Pad": ["constant", "reflect", "edge", "wrap"],
    "Resize": ["nearest", "linear", "cubic"],
    "Upsample": ["nearest", "linear"],
    "DepthToSpace": ["DCR", "CRD"],
    "GridSample": ["linear", "nearest", "bilinear"],
    "RoiAlign": ["avg", "max"],
}


def _axes(rng, rank: int) -> np.ndarray:
    count = int(rng.integers(0 if rank == 0 else 1, rank + 1))
    chosen = rng.permutation(max(rank, 1))[:count]
    return np.where(rng.random(count) < 0.3, chosen - rank, chosen)


def _fill(rng) -> onnx.TensorProto:
    dtype = [np.float32, np.int64, np.int32, np.bool_][rng.integers(4)]
    return onnx.numpy_helper.from_array(np.array([rng.integers(0, 3)]).astype(dtype))


def constant_input(rng, operator: str, name: str, kinds: set[str], rank: int, data):
    """Draws a constant for an input that says how much or where, not what; `None` for others."""
    name = name.lower()
    dims = list(data.shape) if isinstance(data, np.ndarray) else [1]
    size = int(np.prod(dims)) if dims else 1
    made = {
        "axes": lambda: _axes(rng, rank),
        "axis": lambda: np.array(rng.integers(-rank, max(rank, 1))),
        "shape": lambda: _shape(rng, dims, size, operator),
        "starts": lambda: rng.integers(-2, 3, 1),
        "ends": lambda: rng.choice([1, 2, 3, -1, 2**31 - 1, 2**63 - 1], 1),
        "steps": lambda: rng.choice([1, 1, 2, -1], 1),
        "pads": lambda: rng.integers(-1 if rng.random() < 0.1 else 0, 2, 2 * rank),
        "repeats": lambda: rng.integers(1, 3, rank),
        "split": lambda: _split(rng, dims),
        "k": lambda: rng.integers(1, 3, 1),
        "sizes": lambda: np.array([n * rng.integers(1, 3) for n in dims]),
        "depth": lambda: np.array(rng.integers(1, 5)),
        "start": lambda: np.array(rng.integers(-1, 3)),
        "limit": lambda: np.array(rng.integers(0, 5)),
        "delta": lambda: np.array(rng.choice([1, 2, -1])),
    }
    if name in made and kinds & {"tensor(int64)", "tensor(int32)"}:
        dtype = np.int64 if "tensor(int64)" in kinds else np.int32
        return np.asarray(made[name]()).astype(dtype)
    if name == "scales" and operator in ("Resize", "Upsample"):
        return rng.choice([1.0, 2.0, 0.5], rank).astype(np.float32)
    return None


def _shape(rng, dims: list[int], size: int, operator: str) -> np.ndarray:
    if operator == "Expand":
        return np.array([1, *dims][rng.integers(2) :] or [1])
    draw = rng.random()
    if draw < 0.3:
        return np.array([-1])
    if draw < 0.5 and dims:
        return np.array([0, -1][: max(1, len(dims))])
    # A way to write the size as a product.
    parts, left = [], size
    for factor in (2, 3, 2, 5):
        if left % factor == 0 and left > 1 and rng.random() < 0.7:
            parts.append(factor)
            left //= factor
    parts.append(left)
    parts += [1] * int(rng.integers(0, 2))
    found = np.array(parts)[rng.permutation(len(parts))]
    if rng.random() < 0.3 and size:
        found[rng.integers(len(found))] = -1
    return found


def _split(rng, dims: list[int]) -> np.ndarray:
    length = dims[rng.integers(len(dims))] if dims else 1
    first = int(rng.integers(0, length + 1))
    return np.array([first, length - first])


def weight(rng, dtype: np.dtype, shape: list[int]) -> np.ndarray:
    """Draws a tensor, often one of those that rules and folding look for."""
    draw, size = rng.random(), int(np.prod(shape))
    if dtype == np.bool_:
        return rng.integers(0, 2, shape).astype(dtype)
    if draw < 0.3:
        return np.full(shape, rng.choice([0, 1, 2]), dtype)
    if np.dtype(dtype).kind in "iu":
        return rng.integers(0, 4, shape).astype(dtype)
    # Quarters: sums and products of a few of them are exact.
    return (rng.integers(-8, 9, size) / 4).reshape(shape).astype(dtype)
