"""Random nodes of onnxruntime's own domain, evaluated here and there.

    python tests/python/vendor_nodes.py [--seeds N] [--only REGEX] [--session]

Each operator has a function that draws operands and attributes. onnxruntime is the definition, so
it alone says what is right; a node that it refuses counts as refused.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import re
import sys
from collections.abc import Callable

import numpy as np
import onnx
from onnx import helper

import oracle
import tangram

DOMAIN = "com.microsoft"


@dataclasses.dataclass
class Node:
    """A node and what it is given."""

    inputs: list[np.ndarray | None]
    attributes: dict
    outputs: int = 1
    # Which outputs onnxruntime's processor kernels write; all by default.
    written: tuple[int, ...] | None = None
    # How far quantised results may lie apart, and real ones, relative to the largest.
    steps: int = 0
    tolerance: float = 2e-5
    domain: str = DOMAIN


class Draw:
    """Random operands."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def int(self, low: int, high: int) -> int:
        """A number from `low` to `high`."""
        return int(self.rng.integers(low, high + 1))

    def of(self, *choices):
        return choices[self.int(0, len(choices) - 1)]

    def maybe(self, value):
        return value if self.rng.random() < 0.5 else None

    def real(self, *shape: int) -> np.ndarray:
        return self.rng.standard_normal(shape).astype(np.float32)

    def scale(self, *shape: int) -> np.ndarray:
        return self.rng.uniform(0.01, 0.1, shape).astype(np.float32)

    def whole(self, kind, *shape: int, low=None, high=None) -> np.ndarray:
        limits = np.iinfo(kind)
        low, high = limits.min if low is None else low, limits.max if high is None else high
        return self.rng.integers(low, high, shape, endpoint=True).astype(kind)

    def weights(self, kind, *shape: int) -> np.ndarray:
        """Signed ones have 7 bits: onnxruntime adds products of bytes in pairs in 16 bits, which
        overflow for others, on processors without instructions for such sums (VNNI)."""
        signed = kind == np.int8
        return self.whole(kind, *shape, low=-64 if signed else None, high=63 if signed else None)

    def extents(self, rank: int, most: int = 5) -> list[int]:
        return [self.int(1, most) for _ in range(rank)]

    def given(self, **attributes) -> dict:
        """Those that are not `None`."""
        return {name: value for name, value in attributes.items() if value is not None}


def gelu(d: Draw) -> Node:
    return Node([3 * d.real(*d.extents(d.int(1, 4)))], {})


def fast_gelu(d: Draw) -> Node:
    shape = d.extents(d.int(1, 4))
    return Node([3 * d.real(*shape), d.maybe(d.real(shape[-1]))], {}, tolerance=1e-4)


def quick_gelu(d: Draw) -> Node:
    return Node([d.real(*d.extents(2))], d.given(alpha=d.of(None, 1.0, 0.5)))


def bias_gelu(d: Draw) -> Node:
    shape = d.extents(d.int(1, 3))
    return Node([d.real(*shape), d.real(shape[-1])], {})


def fused_matmul(d: Draw) -> Node:
    batch, (m, k, n) = d.extents(d.int(0, 2), 3), d.extents(3)
    swapped = [d.of(0, 1), d.of(0, 1)]
    by_batch = [d.of(0, 1), d.of(0, 1)] if batch else [0, 0]

    def side(rows: int, columns: int, i: int) -> np.ndarray:
        x = d.real(*batch, *((columns, rows) if swapped[i] else (rows, columns)))
        return np.ascontiguousarray(np.moveaxis(x, -2, 0)) if by_batch[i] else x

    names = dict(transA=swapped[0], transB=swapped[1], transBatchA=by_batch[0], transBatchB=by_batch[1])
    return Node([side(m, k, 0), side(k, n, 1)], {**names, "alpha": d.of(1.0, 0.5)})


def transpose_matmul(d: Draw) -> Node:
    node = fused_matmul(d)
    while node.attributes["transBatchA"] or node.attributes["transBatchB"]:
        node = fused_matmul(d)
    kept = {name: value for name, value in node.attributes.items() if "Batch" not in name}
    return dataclasses.replace(node, attributes=kept)


def fused_gemm(d: Draw) -> Node:
    m, k, n = d.extents(3)
    a, b = d.of(0, 1), d.of(0, 1)
    inputs = [d.real(*((k, m) if a else (m, k))), d.real(*((n, k) if b else (k, n)))]
    inputs.append(d.maybe(d.real(*d.of((n,), (m, n), (1, n)))))
    activation = d.of({"activation": "Tanh"}, {"activation": "Relu"}, {"activation": "LeakyRelu", "activation_alpha": 0.2})
    return Node(inputs, {"transA": a, "transB": b, "alpha": 0.5, "beta": 2.0, **activation})


def fused_conv(d: Draw) -> Node:
    groups, rank = d.of(1, 2), d.of(2, 2, 1)
    x = d.real(d.int(1, 2), 2 * groups, *[d.int(5, 8) for _ in range(rank)])
    w = d.real(3 * groups, 2, *[d.int(1, 3) for _ in range(rank)])
    attributes = d.given(
        group=groups,
        strides=d.maybe([2] * rank),
        pads=d.maybe([1] * (2 * rank)),
        dilations=d.maybe([2] * rank),
    )
    attributes |= d.of(
        {"activation": "Relu"},
        {"activation": "Clip", "activation_params": [-0.5, 0.5]},
        {"activation": "LeakyRelu", "activation_params": [0.1]},
        {"activation": "HardSigmoid", "activation_params": [0.3, 0.4]},
        {"activation": "Sigmoid"},
        {"activation": "Tanh"},
    )
    return Node([x, w, d.maybe(d.real(3 * groups))], attributes)


def matmul_nbits(d: Draw) -> Node:
    bits, block, n = d.of(4, 4, 8), d.of(16, 32), d.int(1, 6)
    k = block * d.int(1, 3) - d.of(0, 0, 3)
    blocks = -(-k // block)
    a = d.real(*d.extents(d.int(1, 2), 3), k)
    b = d.whole(np.uint8, n, blocks, block * bits // 8)
    zeros = d.maybe(d.whole(np.uint8, n * -(-blocks * bits // 8)))
    attributes = {"K": k, "N": n, "bits": bits, "block_size": block}
    bias = d.maybe(d.real(n))
    return Node([a, b, d.scale(n * blocks), zeros, None, bias], attributes, tolerance=1e-3)


def skip_layer_norm(d: Draw) -> Node:
    batch, steps, width = d.extents(3)
    width += 1
    skip = d.of((batch, steps, width), (1, steps, width), (steps, width))
    inputs = [d.real(batch, steps, width), d.real(*skip), d.real(width)]
    inputs += [d.maybe(d.real(width)), d.maybe(d.real(width))]
    return Node(inputs, d.given(epsilon=d.maybe(1e-3)), outputs=4, written=(0, 3))


def skip_rms_norm(d: Draw) -> Node:
    batch, steps, width = d.extents(3)
    skip = d.of((batch, steps, width), (1, steps, width), (steps, width))
    inputs = [d.real(batch, steps, width), d.real(*skip), d.real(width), d.maybe(d.real(width))]
    return Node(inputs, d.given(epsilon=d.maybe(1e-3)), outputs=4, written=(0, 3))


def embed_layer_norm(d: Draw) -> Node:
    batch, steps, width = d.extents(3)
    width += 3
    ids, segments = (d.whole(np.int32, batch, steps, low=0, high=h) for h in (10, 1))
    segmented = d.of(True, False)
    inputs = [ids, segments if segmented else None, d.real(11, width), d.real(8, width)]
    inputs += [d.real(2, width) if segmented else None, d.real(width), d.real(width)]
    inputs += [d.maybe(d.whole(np.int32, batch, steps, low=0, high=1))]
    inputs += [d.maybe(d.whole(np.int32, batch, steps, low=0, high=7))]
    return Node(inputs, {}, outputs=3)


def rms_norm(d: Draw) -> Node:
    shape = d.extents(d.int(1, 4))
    axis = d.of(-1, len(shape) - 1)
    return Node([d.real(*shape), d.real(shape[-1])], {"axis": axis}, outputs=1, domain="")


def rotary(d: Draw) -> Node:
    batch, steps, heads = d.extents(3, 4)
    width = 2 * d.int(1, 4)
    x = d.real(*d.of((batch, heads, steps, width), (batch, steps, heads * width)))
    positions = d.of(
        d.whole(np.int64, batch, steps, low=0, high=9), np.array([d.int(0, 4)], np.int64)
    )
    attributes = d.given(interleaved=d.of(0, 1), num_heads=heads if x.ndim == 3 else None)
    rotated = width // 2
    if width % 4 == 0 and d.of(True, False):
        attributes |= {"rotary_embedding_dim": rotated, "num_heads": heads}
        rotated //= 2
    return Node([x, positions, d.real(10, rotated), d.real(10, rotated)], attributes)


def mask(d: Draw, batch: int, steps: int, keys: int, causal: bool) -> np.ndarray | None:
    """A mask that leaves each query some key."""
    flags = d.whole(np.int32, batch, keys, low=0, high=1)
    flags[:, 0] = 1
    rows = d.whole(np.int32, batch, steps, keys, low=0, high=1)
    rows[:, :, 0] = 1
    ends = d.whole(np.int32, batch, low=1, high=keys)
    both = np.concatenate([ends, np.zeros(batch, np.int32)])
    return d.of(None, flags, rows, ends, both)


def attention(d: Draw) -> Node:
    batch, steps, heads, width = d.int(1, 3), d.int(1, 4), d.int(1, 3), d.int(1, 4)
    values = d.of(width, width + 1)
    features = d.int(1, 6)
    hidden = heads * width
    total = 2 * hidden + heads * values
    before = d.of(0, 2) if values == width else 0
    past = d.real(2, batch, heads, before, width) if before else None
    causal = d.of(0, 1)
    keys = before + steps
    inputs = [d.real(batch, steps, features), d.real(features, total), d.real(total)]
    inputs += [mask(d, batch, steps, keys, bool(causal)), past]
    inputs += [d.maybe(d.real(d.of(1, batch), d.of(1, heads), steps, keys))]
    attributes = d.given(num_heads=heads, unidirectional=causal, scale=d.maybe(0.3))
    if values != width:
        attributes["qkv_hidden_sizes"] = [hidden, hidden, heads * values]
    return Node(inputs, attributes, outputs=2 if before else 1)


def multi_head(d: Draw) -> Node:
    batch, steps, heads, width = d.int(1, 3), d.int(1, 4), d.int(1, 3), d.int(1, 4)
    hidden, form = heads * width, d.of("plain", "heads", "past")
    keys, before = d.int(1, 4), 0
    q, past = d.real(batch, steps, hidden), [None, None]
    if form == "heads":
        inputs = [q, d.real(batch, heads, keys, width), d.real(batch, heads, keys, width)]
    else:
        keys = steps if form == "past" else keys
        inputs = [q, d.real(batch, keys, hidden), d.real(batch, keys, hidden)]
    if form == "past":
        before = d.int(1, 3)
        past = [d.real(batch, heads, before, width), d.real(batch, heads, before, width)]
    total = before + keys
    bias = d.maybe(d.real(3 * hidden)) if form in ("plain", "past") else None
    flags = d.whole(np.int32, batch, total, low=0, high=1)
    flags[:, 0] = 1
    inputs += [bias, d.maybe(flags)]
    inputs += [d.maybe(d.real(d.of(1, batch), d.of(1, heads), steps, total)), *past]
    causal = d.of(0, 1) if keys == steps else 0
    outputs = 3 if form in ("plain", "past") else 1
    return Node(inputs, d.given(num_heads=heads, unidirectional=causal, scale=d.maybe(0.3)), outputs)


def group_query(d: Draw) -> Node:
    batch, shared, width = d.int(1, 3), d.int(1, 2), 16
    heads = shared * d.int(1, 3)
    prompt = d.of(True, False)
    steps = d.int(1, 5) if prompt else 1
    room = d.int(6, 8)
    lengths = np.full(batch, steps - 1, np.int32) if prompt else d.whole(np.int32, batch, low=1, high=5)
    total = steps if prompt else int(lengths.max()) + 1
    q, k, v = (d.real(batch, steps, n * width) for n in (heads, shared, shared))
    inputs = [np.concatenate([q, k, v], -1), None, None] if d.of(True, False) else [q, k, v]
    if prompt and d.of(True, False):
        inputs += [None, None]
        room = steps
    else:
        inputs += [d.real(batch, shared, room, width), d.real(batch, shared, room, width)]
    inputs += [lengths, np.array(total, np.int32).reshape(d.of((), (1,)))]
    rotate = d.of(0, 1)
    if rotate:
        inputs += [d.real(16, width // 2), d.real(16, width // 2)]
    attributes = d.given(
        num_heads=heads,
        kv_num_heads=shared,
        do_rotary=rotate,
        rotary_interleaved=d.of(0, 1) if rotate else None,
        scale=d.maybe(0.4),
        softcap=d.maybe(2.0),
        local_window_size=d.of(None, None, 2, 3),
        smooth_softmax=d.of(None, None, 1),
    )
    return Node(inputs, attributes, outputs=3)


def quantised(d: Draw, kind, *shape: int) -> list[np.ndarray]:
    """Values, a scale and a zero point."""
    return [d.whole(kind, *shape), d.scale(), d.whole(kind)]


def target(d: Draw, kind) -> list[np.ndarray]:
    """A scale and a zero point."""
    return [d.scale(), d.whole(kind)]


def quantize(d: Draw) -> Node:
    kind = d.of(np.uint8, np.int8, np.uint16, np.int16)
    shape = d.extents(3)
    axis = d.int(0, 2)
    along = d.of((), (shape[axis],))
    return Node([3 * d.real(*shape), d.scale(*along), d.whole(kind, *along)], {"axis": axis})


def dequantize(d: Draw) -> Node:
    kind = d.of(np.uint8, np.int8, np.uint16, np.int16)
    shape = d.extents(3)
    axis = d.int(0, 2)
    along = d.of((), (shape[axis],))
    return Node([d.whole(kind, *shape), d.scale(*along), d.whole(kind, *along)], {"axis": axis})


def dynamic_quantize_matmul(d: Draw) -> Node:
    m, k, n = d.extents(3, 8)
    kind, along = d.of(np.uint8, np.int8), d.of((), (n,))
    inputs = [d.real(*d.extents(d.int(0, 1), 3), m, k), d.weights(kind, k, n), d.scale(*along)]
    inputs += [d.maybe(d.whole(kind, *along)), d.maybe(d.real(n))]
    return Node(inputs, {})


def matmul_integer_to_float(d: Draw) -> Node:
    m, k, n = d.extents(3, 8)
    left, right, along = d.of(np.uint8, np.int8), d.of(np.uint8, np.int8), d.of((), (n,))
    inputs = [d.whole(left, *d.extents(d.int(0, 1), 3), m, k), d.weights(right, k, n), d.scale()]
    inputs += [d.scale(*along), d.maybe(d.whole(left)), d.maybe(d.whole(right, *along))]
    return Node([*inputs, d.maybe(d.real(n))], {})


def dynamic_quantize_lstm(d: Draw) -> Node:
    steps, batch, width, hidden = d.int(1, 4), d.int(1, 3), d.int(1, 5), d.int(1, 4)
    direction = d.of("forward", "reverse", "bidirectional")
    ways = 2 if direction == "bidirectional" else 1
    kind, along = d.of(np.uint8, np.int8), d.of((ways,), (ways, 4 * hidden))
    weights = [d.weights(kind, ways, n, 4 * hidden) for n in (width, hidden)]
    inputs = [d.real(steps, batch, width), *weights, d.maybe(d.real(ways, 8 * hidden))]
    inputs += [d.maybe(d.whole(np.int32, batch, low=1, high=steps))]
    inputs += [d.maybe(d.real(ways, batch, hidden)), d.maybe(d.real(ways, batch, hidden))]
    inputs += [d.maybe(d.real(ways, 3 * hidden))]
    for _ in range(2):
        inputs += [d.scale(*along) / 10, d.whole(kind, *along) if kind == np.uint8 else np.zeros(along, kind)]
    return Node(inputs, {"direction": direction, "hidden_size": hidden}, outputs=3, tolerance=1e-4)


def qgemm(d: Draw) -> Node:
    m, k, n = d.extents(3, 8)
    kind, weights, a, b = np.uint8, d.of(np.uint8, np.int8), d.of(0, 1), d.of(0, 1)
    along = d.of((), (n,))
    inputs = [d.whole(kind, *((k, m) if a else (m, k))), d.scale(), d.whole(kind)]
    inputs += [d.weights(weights, *((n, k) if b else (k, n))), d.scale(*along), d.whole(weights, *along)]
    inputs += [d.maybe(d.whole(np.int32, n, low=-1000, high=1000))]
    if d.of(True, False):
        inputs += target(d, kind)
    return Node(inputs, {"transA": a, "transB": b, "alpha": d.of(1.0, 0.5)}, steps=1)


def qlinear_pair(d: Draw) -> Node:
    kind, shape = d.of(np.uint8, np.int8), d.extents(3)
    other = d.of(shape, shape[1:], [1, 1, shape[2]], [1])
    return Node([*quantised(d, kind, *shape), *quantised(d, kind, *other), *target(d, kind)], {}, steps=1)


def qlinear_unary(d: Draw) -> Node:
    kind = d.of(np.uint8, np.int8)
    return Node([*quantised(d, kind, *d.extents(3)), *target(d, kind)], {}, steps=1)


def qlinear_leaky_relu(d: Draw) -> Node:
    return dataclasses.replace(qlinear_unary(d), attributes=d.given(alpha=d.maybe(0.3)))


def qlinear_softmax(d: Draw) -> Node:
    kind, opset = d.of(np.uint8, np.int8), d.of(12, 13)
    zero = np.array(0 if kind == np.uint8 else -128, kind)
    scale = np.array(1 / 128, np.float32)
    axis = d.int(0, 2) if opset == 12 else d.of(-1, 0, 1, 2)
    return Node([*quantised(d, kind, *d.extents(3)), scale, zero], {"axis": axis, "opset": opset}, steps=1)


def qlinear_concat(d: Draw) -> Node:
    kind, shape, axis = d.of(np.uint8, np.int8), d.extents(3), d.int(0, 2)
    inputs = target(d, kind)
    for _ in range(d.int(1, 3)):
        shape[axis] = d.int(1, 4)
        inputs += quantised(d, kind, *shape)
    return Node(inputs, {"axis": axis}, steps=1)


def qlinear_global_pool(d: Draw) -> Node:
    kind = d.of(np.uint8, np.int8)
    last = d.of(0, 1)
    return Node([*quantised(d, kind, *d.extents(4)), *target(d, kind)], {"channels_last": last}, steps=1)


OPERATORS: dict[str, Callable[[Draw], Node]] = {
    "Gelu": gelu,
    "FastGelu": fast_gelu,
    "QuickGelu": quick_gelu,
    "BiasGelu": bias_gelu,
    "FusedMatMul": fused_matmul,
    "TransposeMatMul": transpose_matmul,
    "FusedGemm": fused_gemm,
    "FusedConv": fused_conv,
    "MatMulNBits": matmul_nbits,
    "SkipLayerNormalization": skip_layer_norm,
    "SkipSimplifiedLayerNormalization": skip_rms_norm,
    "EmbedLayerNormalization": embed_layer_norm,
    "SimplifiedLayerNormalization": rms_norm,
    "RotaryEmbedding": rotary,
    "Attention": attention,
    "MultiHeadAttention": multi_head,
    "GroupQueryAttention": group_query,
    "QuantizeLinear": quantize,
    "DequantizeLinear": dequantize,
    "DynamicQuantizeMatMul": dynamic_quantize_matmul,
    "MatMulIntegerToFloat": matmul_integer_to_float,
    "DynamicQuantizeLSTM": dynamic_quantize_lstm,
    "QGemm": qgemm,
    "QLinearAdd": qlinear_pair,
    "QLinearMul": qlinear_pair,
    "QLinearSigmoid": qlinear_unary,
    "QLinearLeakyRelu": qlinear_leaky_relu,
    "QLinearSoftmax": qlinear_softmax,
    "QLinearConcat": qlinear_concat,
    "QLinearGlobalAveragePool": qlinear_global_pool,
}


def model(operator: str, node: Node) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
    """A model of that node alone, all of whose operands are inputs but scales and zero points."""
    names = [f"x{i}" if x is not None else "" for i, x in enumerate(node.inputs)]
    written = range(node.outputs) if node.written is None else node.written
    outputs = [f"y{i}" if i in written else "" for i in range(node.outputs)]
    while names and not names[-1]:
        names.pop()
    graph = helper.make_graph(
        [helper.make_node(operator, names, outputs, domain=node.domain, **node.attributes)],
        "vendor",
        [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
            for name, x in zip(names, node.inputs)
            if name
        ],
        [onnx.ValueInfoProto(name=name) for name in outputs if name],
    )
    inputs = {name: x for name, x in zip(names, node.inputs) if name}
    # Operators want these to be constants.
    kept = [i for i in graph.input if inputs[i.name].ndim <= 3 and constant(operator, i.name)]
    for value in kept:
        graph.initializer.append(onnx.numpy_helper.from_array(inputs.pop(value.name), value.name))
        graph.input.remove(value)
    sets = [helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)]
    return helper.make_model(graph, opset_imports=sets, ir_version=8), inputs


def constant(operator: str, name: str) -> bool:
    """Whether kernels want the operand as a constant."""
    if operator in ("MatMulNBits", "DynamicQuantizeLSTM"):
        return name != "x0"
    quantised = operator.startswith("Q") and not operator.startswith("Qu")
    return quantised and operator != "QGemm" and name not in ("x0", "x3")


def evaluated(model: onnx.ModelProto, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
    """The outputs by the reference kernels."""
    found = tangram.Workload.from_onnx(model)(*inputs.values())
    return found if len(model.graph.output) > 1 else [found]


def compiled(model: onnx.ModelProto, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
    """The outputs of an inference session."""
    return tangram.InferenceSession(model).run(None, inputs)


def judge(operator: str, seed: int, engine=evaluated) -> tuple[str, str]:
    """The verdict on one node, and what lies behind it."""
    node = OPERATORS[operator](Draw(seed))
    made, inputs = model(operator, node)
    try:
        expected = oracle.session(made).run(None, inputs)
    except Exception as error:  # onnxruntime's own classes
        return "refused", str(error).splitlines()[0]
    try:
        found = engine(made, inputs)
    except (tangram.EvaluationError, tangram.ModelError, tangram.Fail) as error:
        return "unknown", str(error)
    for i, (mine, theirs) in enumerate(zip(found, expected, strict=True)):
        if mine.dtype != theirs.dtype or mine.shape != theirs.shape:
            return "wrong", f"output {i}: {mine.dtype}{mine.shape}, not {theirs.dtype}{theirs.shape}"
        if not theirs.size:
            continue
        gap = np.abs(mine.astype(np.float64) - theirs.astype(np.float64)).max()
        largest = np.abs(theirs.astype(np.float64)).max()
        most = node.steps if theirs.dtype.kind in "iu" else node.tolerance * max(largest, 1e-2)
        if not gap <= most:
            return "wrong", f"output {i}: {gap} of {largest}; {node.attributes}"
    return "right", ""


def main() -> int:
    """Prints a line for each operator, and what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=100, help="nodes of each operator")
    parser.add_argument("--only", default="", metavar="REGEX", help="operators by name")
    parser.add_argument("--session", action="store_true", help="run inference sessions")
    given = parser.parse_args()
    engine = compiled if given.session else evaluated
    bad = 0
    for operator in filter(lambda name: re.search(given.only, name), OPERATORS):
        verdicts = [judge(operator, seed, engine) for seed in range(given.seeds)]
        counts = collections.Counter(verdict for verdict, _ in verdicts)
        print(f"{operator:<34}", dict(counts))
        whys = collections.Counter((v, why[:150]) for v, why in verdicts if v != "right")
        for (verdict, why), count in whys.most_common(3):
            print(f"    {verdict} {count}: {why}")
        bad += counts["wrong"] + counts["unknown"]
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
