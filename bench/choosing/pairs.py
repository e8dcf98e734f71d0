"""Models in which a better choice of rewrites gains much, one function for each kind.

Each is small and looks like a part of a network: what is cut, pooled, added or multiplied stands
between other operations. `PAIRS` lists them with several sizes each; none is a size that a rule or
a cost model was made for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 20


class Graph:
    """A graph that grows node by node."""

    def __init__(self, opset: int = OPSET, dtype=np.float32) -> None:
        self.opset, self.dtype = opset, dtype
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.inputs: list[onnx.ValueInfoProto] = []
        self.rng = np.random.default_rng(5)

    def input(self, *shape: int | str, dtype=None) -> str:
        """Declares an input."""
        name = f"x{len(self.inputs)}"
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype or self.dtype))
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def weight(self, *shape: int) -> str:
        """Adds a random weight."""
        fan = max(1, int(np.prod(shape[1:] if len(shape) > 2 else shape[:1])))
        return self.constant((self.rng.standard_normal(shape) / fan**0.5).astype(self.dtype))

    def constant(self, value, dtype=None) -> str:
        """Adds a weight of these numbers."""
        value = np.asarray(value) if dtype is None else np.asarray(value, dtype)
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(value, name))
        return name

    def ints(self, *values: int) -> str:
        """Adds a list of integers."""
        return self.constant(list(values), np.int64)

    def node(self, operator: str, *inputs: str, outputs: int = 1, **attributes):
        """Adds a node; gives its result, or all of several."""
        names = [f"v{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(operator, inputs, names, **attributes))
        return names[0] if outputs == 1 else names

    def dense(self, x: str, rows: int, columns: int, bias: bool = True) -> str:
        """A product with weights, and its bias."""
        y = self.node("MatMul", x, self.weight(rows, columns))
        return self.node("Add", y, self.weight(columns)) if bias else y

    def conv(self, x: str, into: int, out: int, window: int = 1, bias: bool = True, **attributes) -> str:
        """A convolution that keeps the extents."""
        weights = [self.weight(out, into // attributes.get("group", 1), window, window)]
        weights += [self.weight(out)] if bias else []
        return self.node("Conv", x, *weights, pads=[window // 2] * 4, **attributes)

    def model(self, *outputs: str) -> onnx.ModelProto:
        """The model with these outputs."""
        results = [onnx.ValueInfoProto(name=name) for name in outputs]
        graph = helper.make_graph(self.nodes, "pair", self.inputs, results, self.weights)
        model = helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", self.opset)])
        inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
        types = {value.name: value for value in inferred.graph.value_info}
        for output in model.graph.output:
            output.CopyFrom(types[output.name])
        return model


PAIRS: list[tuple[str, str, Callable[[], onnx.ModelProto]]] = []


def pair(kind: str, *sizes: tuple):
    """Lists a function once for each of the sizes."""

    def add(function):
        for size in sizes:
            name = f"{function.__name__}-{'x'.join(map(str, size))}"
            PAIRS.append((kind, name, lambda size=size: function(*size)))
        return function

    return add


def last_row(g: Graph, x: str, rank: int = 3) -> str:
    return g.node("Slice", x, g.ints(-1), g.ints(2**31), g.ints(rank - 2))


@pair("last row before a product", (96, 384, 1000), (40, 192, 2000))
def row_of_product(rows: int, width: int, classes: int) -> onnx.ModelProto:
    g = Graph()
    x = g.node("LayerNormalization", g.input(1, rows, width), g.weight(width), g.weight(width))
    return g.model(g.node("Softmax", last_row(g, g.dense(x, width, classes))))


@pair("last row before a product", (80, 256), (200, 128))
def gathered_row(rows: int, width: int) -> onnx.ModelProto:
    g = Graph()
    hidden = g.node("Gelu", g.dense(g.input(2, rows, width), width, 4 * width))
    y = g.dense(hidden, 4 * width, width)
    return g.model(g.node("Tanh", g.node("Gather", y, g.constant(0, np.int64), axis=1)))


@pair("last row before a product", (48, 320, 4))
def row_of_attention(rows: int, width: int, heads: int) -> onnx.ModelProto:
    g = Graph()
    x = g.input(1, rows, width)
    parts = [g.ints(1, rows, heads, width // heads), g.ints(1, rows, width)]

    def head(perm):
        return g.node("Transpose", g.node("Reshape", g.dense(x, width, width), parts[0]), perm=perm)

    scores = g.node("MatMul", head([0, 2, 1, 3]), head([0, 2, 3, 1]))
    weights = g.node("Softmax", g.node("Mul", scores, g.constant((width // heads) ** -0.5, np.float32)))
    mixed = g.node("Transpose", g.node("MatMul", weights, head([0, 2, 1, 3])), perm=[0, 2, 1, 3])
    y = g.node("Add", x, g.dense(g.node("Reshape", mixed, parts[1]), width, width))
    return g.model(g.dense(last_row(g, y), width, 100))


@pair("mean before a product", (24, 96, 480), (14, 320, 1280))
def pooled_head(side: int, into: int, out: int) -> onnx.ModelProto:
    g = Graph()
    y = g.conv(g.node("Relu", g.input(1, into, side, side)), into, out)
    y = g.node("Flatten", g.node("GlobalAveragePool", y))
    return g.model(g.node("Gemm", y, g.weight(200, out), g.weight(200), transB=1))


@pair("mean before a product", (120, 192, 384))
def mean_of_rows(rows: int, width: int, out: int) -> onnx.ModelProto:
    g = Graph()
    y = g.dense(g.node("Gelu", g.input(1, rows, width)), width, out)
    return g.model(g.node("ReduceMean", y, g.ints(1), keepdims=0))


@pair("mean before a product", (20, 128, 256))
def mean_over_space(side: int, into: int, out: int) -> onnx.ModelProto:
    g = Graph()
    y = g.conv(g.node("Relu", g.input(1, into, side, side)), into, out)
    return g.model(g.node("ReduceMean", y, g.ints(2, 3), keepdims=0))


@pair("pointwise after convolution", (20, 48, 192, 48), (40, 32, 128, 24))
def two_pointwise(side: int, into: int, middle: int, out: int) -> onnx.ModelProto:
    g = Graph()
    y = g.conv(g.conv(g.input(1, into, side, side), into, middle), middle, out)
    return g.model(g.node("Relu", y))


@pair("pointwise after convolution", (24, 32, 96, 32))
def window_and_pointwise(side: int, into: int, middle: int, out: int) -> onnx.ModelProto:
    g = Graph()
    y = g.conv(g.conv(g.input(1, into, side, side), into, middle, 3), middle, out)
    return g.model(g.node("Relu", y))


@pair("pointwise before resize", (20, 160, 40), (36, 64, 48))
def pointwise_of_resized(side: int, into: int, out: int) -> onnx.ModelProto:
    g = Graph()
    x = g.node("Relu", g.input(1, into, side, side))
    scales = g.constant([1, 1, 2, 2], np.float32)
    u = g.node("Resize", x, "", scales, mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    return g.model(g.node("Relu", g.conv(u, into, out)))


@pair("products of constants", (100, 320, 320, 40), (60, 80, 640, 80))
def low_rank(rows: int, width: int, middle: int, out: int) -> onnx.ModelProto:
    g = Graph()
    y = g.dense(g.dense(g.node("Relu", g.input(1, rows, width)), width, middle, False), middle, out)
    return g.model(g.node("Relu", y))


@pair("attention without softmax", (320, 40), (512, 48))
def linear_attention(rows: int, width: int) -> onnx.ModelProto:
    g = Graph()
    q, k, v = (g.input(1, 4, rows, width) for _ in range(3))
    scores = g.node("MatMul", q, g.node("Transpose", k, perm=[0, 1, 3, 2]))
    scaled = g.node("Mul", scores, g.constant(width**-0.5, np.float32))
    return g.model(g.node("Relu", g.node("MatMul", scaled, v)))


@pair("product in a table", (1500, 96, 80), (800, 48, 256))
def projected_table(words: int, width: int, out: int) -> onnx.ModelProto:
    g = Graph()
    x = g.node("Gather", g.weight(words, width), g.input(1, 100, dtype=np.int64))
    return g.model(g.node("Tanh", g.dense(x, width, out)))


@pair("product in a table", (1500, 96, 80), (900, 128, 64))
def shifted_table(words: int, width: int, out: int) -> onnx.ModelProto:
    g = Graph()
    x = g.node("Gather", g.weight(words, width), g.input(1, 100, dtype=np.int64))
    return g.model(g.node("Tanh", g.dense(g.node("Add", x, g.weight(100, width)), width, out)))


@pair("product in a table", (1200, 128), (600, 320))
def normalised_table(words: int, width: int) -> onnx.ModelProto:
    g = Graph()
    x = g.node("Gather", g.weight(words, width), g.input(1, 90, dtype=np.int64))
    return g.model(g.node("Tanh", g.node("LayerNormalization", x, g.weight(width), g.weight(width))))


@pair("einsum", (96, 6, 48, "bshd,bthd->bhst"), (80, 4, 32, "bhst,bthd->bshd"))
def einsum(rows: int, heads: int, width: int, equation: str) -> onnx.ModelProto:
    g = Graph()
    sizes = {"b": 1, "s": rows, "t": rows, "h": heads, "d": width}
    terms = equation.split("->")[0].split(",")
    x, y = (g.input(*(sizes[letter] for letter in term)) for term in terms)
    return g.model(g.node("Relu", g.node("Einsum", x, y, equation=equation)))


@pair("paths", (8, 8, 16, 64), (6, 12, 24, 96), (16, 4, 28, 64))
def paths(count: int, width: int, side: int, channels: int) -> onnx.ModelProto:
    g = Graph()
    x = g.node("Relu", g.input(1, channels, side, side))
    total = None
    for _ in range(count):
        y = g.node("Relu", g.conv(x, channels, width))
        y = g.node("Relu", g.conv(y, width, width, 3))
        y = g.conv(y, width, channels, bias=False)
        total = y if total is None else g.node("Add", total, y)
    return g.model(g.node("Relu", g.node("Add", total, x)))


@pair("broadcast part", (150, 96, 64, 96), (64, 200, 300, 128))
def joined_global(rows: int, width: int, extra: int, out: int) -> onnx.ModelProto:
    g = Graph()
    x, y = g.node("Relu", g.input(1, rows, width)), g.input(1, 1, extra)
    wide = g.node("Expand", y, g.ints(1, rows, extra))
    return g.model(g.node("Relu", g.dense(g.node("Concat", x, wide, axis=2), width + extra, out)))


@pair("sum of products", (90, 256, 256), (300, 64, 200))
def two_products(rows: int, width: int, out: int) -> onnx.ModelProto:
    g = Graph()
    x = g.node("Relu", g.input(1, rows, width))
    y = g.node("Add", g.dense(x, width, out, False), g.dense(x, width, out, False))
    return g.model(g.node("Relu", y))


@pair("equal blocks", (90, 160, 200))
def shared_blocks(rows: int, width: int, out: int) -> onnx.ModelProto:
    g = Graph()
    x, y = g.node("Relu", g.input(1, rows, width)), g.node("Relu", g.input(1, rows, width))
    block = g.rng.standard_normal((width, out)).astype(np.float32)
    joined = g.node("Concat", x, y, axis=2)
    return g.model(g.node("Relu", g.node("MatMul", joined, g.constant(np.concatenate([block, block])))))


@pair("constant along softmax", (6, 160), (12, 96))
def shifted_softmax(heads: int, rows: int) -> onnx.ModelProto:
    g = Graph()
    x = g.input(1, heads, rows, rows)
    shifted = g.node("Sub", x, g.node("ReduceMax", x, g.ints(-1)))
    return g.model(g.node("Softmax", shifted))


@pair("RepVGG", (20, 64), (36, 40))
def repvgg(side: int, channels: int) -> onnx.ModelProto:
    g = Graph()
    x = g.node("Relu", g.input(1, channels, side, side))
    y = g.node("Add", g.conv(x, channels, channels, 3), g.conv(x, channels, channels))
    norm = [g.constant(np.abs(g.rng.standard_normal(channels)) + 0.5, np.float32) for _ in range(4)]
    return g.model(g.node("Relu", g.node("Add", y, g.node("BatchNormalization", x, *norm))))


@pair("LoRA", (80, 256, 8), (40, 512, 16))
def lora(rows: int, width: int, rank: int) -> onnx.ModelProto:
    g = Graph()
    x = g.node("Relu", g.input(1, rows, width))
    low = g.dense(g.dense(x, width, rank, False), rank, width, False)
    low = g.node("Mul", low, g.constant(2.0, np.float32))
    return g.model(g.node("Relu", g.node("Add", g.dense(x, width, width), low)))


@pair("leave it", (24, 128), (48, 256))
def gates(rows: int, width: int) -> onnx.ModelProto:
    g = Graph()
    x, s = g.input(1, width), g.input(1, width)
    weights = [(g.weight(width, width), g.weight(width, width)) for _ in range(4)]
    for _ in range(rows // 8):
        i, f, o, c = (g.node("Add", g.node("MatMul", x, a), g.node("MatMul", s, b)) for a, b in weights)
        s = g.node("Mul", g.node("Sigmoid", i), g.node("Tanh", c))
        s = g.node("Add", s, g.node("Mul", g.node("Sigmoid", f), g.node("Tanh", o)))
    return g.model(s)


@pair("leave it", (20, 96), (10, 256))
def branches(side: int, channels: int) -> onnx.ModelProto:
    g = Graph()
    x = g.node("Relu", g.input(1, channels, side, side))
    a, b, c = (g.node("Relu", g.conv(x, channels, out)) for out in (32, 48, 16))
    results = [g.node("GlobalAveragePool", a), g.node("GlobalAveragePool", b), g.conv(c, 16, 16, 3)]
    return g.model(*results)


@pair("leave it", (28, 64, 256), (14, 96, 192))
def residual(side: int, width: int, channels: int) -> onnx.ModelProto:
    g = Graph()
    x = g.input(1, width, side, side)
    y = g.conv(g.node("Relu", g.conv(x, width, width, 3)), width, channels)
    return g.model(g.node("Relu", g.node("Add", y, g.conv(x, width, channels))))


@pair("leave it", (64, 192))
def encoder(rows: int, width: int) -> onnx.ModelProto:
    g = Graph()
    x = g.input(1, rows, width)
    parts = [g.ints(0, 0, 4, width // 4), g.ints(0, 0, width)]

    def head(perm):
        return g.node("Transpose", g.node("Reshape", g.dense(x, width, width), parts[0]), perm=perm)

    scores = g.node("MatMul", head([0, 2, 1, 3]), head([0, 2, 3, 1]))
    scores = g.node("Div", scores, g.constant((width // 4) ** 0.5, np.float32))
    mixed = g.node("MatMul", g.node("Softmax", scores), head([0, 2, 1, 3]))
    joined = g.node("Reshape", g.node("Transpose", mixed, perm=[0, 2, 1, 3]), parts[1])
    y = g.node("Add", g.dense(joined, width, width), x)
    y = g.node("LayerNormalization", y, g.weight(width), g.weight(width))
    z = g.dense(g.node("Gelu", g.dense(y, width, 4 * width)), 4 * width, width)
    return g.model(g.node("LayerNormalization", g.node("Add", z, y), g.weight(width), g.weight(width)))


def all_pairs() -> Iterator[tuple[str, str, onnx.ModelProto]]:
    """Each kind, name and model."""
    for kind, name, make in PAIRS:
        yield kind, name, make()
