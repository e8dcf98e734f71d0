#!/usr/bin/env python3
"""Builds the small models of this folder: the same bytes on every run.

Each is written the way exporters write, before any optimiser has seen it: shapes computed at run
time, layer norms and gelus in pieces, dropouts and identities left in. Weights are random.

    python examples/models/make.py            writes every model
    python examples/models/make.py cnn half   writes these
"""

from __future__ import annotations

import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, HALF, INT64 = TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.INT64
# The IR version that exporters wrote at the time of each opset.
IR_VERSION = {9: 3, 13: 7, 17: 8, 20: 9}


class Graph:
    """A graph under construction: nodes in order, weights, and fresh names."""

    def __init__(self, name: str, opset: int, seed: int, dtype=np.float32) -> None:
        self.name = name
        self.opset = opset
        self.dtype = dtype
        self.rng = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def node(self, operator: str, *inputs: str, outputs: int = 1, **attributes):
        """Adds a node; gives the name of its output, or the names of several."""
        name = f"/{operator}_{len(self.nodes)}"
        results = [f"{name}_output_{index}" for index in range(outputs)]
        self.nodes.append(helper.make_node(operator, inputs, results, name=name, **attributes))
        return results[0] if outputs == 1 else results

    def weight(self, name: str, *shape: int, scale: float | None = None) -> str:
        """Adds a random parameter, scaled by its fan-in unless told otherwise."""
        fan_in = int(np.prod(shape[1:])) if len(shape) > 1 else 1
        scale = fan_in**-0.5 if scale is None else scale
        values = self.rng.standard_normal(shape) * scale
        return self.parameter(name, values.astype(self.dtype))

    def parameter(self, name: str, values: np.ndarray) -> str:
        """Adds a parameter of given values."""
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def constant(self, values, dtype=np.int64) -> str:
        """Adds a `Constant` node, as exporters do for everything that is no parameter."""
        return self.node("Constant", value=numpy_helper.from_array(np.array(values, dtype)))

    def scalar(self, value: float) -> str:
        """Adds a scalar of the graph's floating-point type."""
        return self.constant(value, self.dtype)

    def model(self, inputs: list, outputs: list, **opsets: int) -> onnx.ModelProto:
        """Closes the graph. A weight is an input as well where the IR version asks for it."""
        version = IR_VERSION[self.opset]
        if version < 4:
            inputs = inputs + [value(w.name, w.data_type, list(w.dims)) for w in self.weights]
        graph = helper.make_graph(self.nodes, self.name, inputs, outputs, self.weights)
        imports = [helper.make_opsetid("", self.opset)]
        imports += [helper.make_opsetid(domain, number) for domain, number in opsets.items()]
        model = helper.make_model(graph, opset_imports=imports, producer_name="tangram-examples")
        model.ir_version = version
        return model


def value(name: str, element: int, shape: list | None) -> onnx.ValueInfoProto:
    """Declares an input or an output."""
    return helper.make_tensor_value_info(name, element, shape)


def named(graph: Graph, result: str, name: str) -> str:
    """Gives a result the name of an output of the graph."""
    for node in graph.nodes:
        node.output[:] = [name if output == result else output for output in node.output]
        node.input[:] = [name if used == result else used for used in node.input]
    return name


def unsqueeze(g: Graph, x: str, *axes: int) -> str:
    """Unsqueezes; the axes became an input in opset 13."""
    if g.opset < 13:
        return g.node("Unsqueeze", x, axes=list(axes))
    return g.node("Unsqueeze", x, g.constant(list(axes)))


def size(g: Graph, x: str, axis: int) -> str:
    """Computes one dimension of a value as a tensor of one element."""
    dimension = g.node("Gather", g.node("Shape", x), g.constant(axis), axis=0)
    return unsqueeze(g, dimension, 0)


def reshape(g: Graph, x: str, *parts) -> str:
    """Reshapes to a shape put together at run time: numbers, or results of `size`."""
    pieces = [part if isinstance(part, str) else g.constant([part]) for part in parts]
    return g.node("Reshape", x, g.node("Concat", *pieces, axis=0))


def batch_norm(g: Graph, x: str, name: str, channels: int) -> str:
    """Adds an inference batch norm with a positive variance."""
    scale = g.parameter(f"{name}.weight", g.rng.uniform(0.5, 1.5, channels).astype(g.dtype))
    bias = g.weight(f"{name}.bias", channels, scale=0.1)
    mean = g.weight(f"{name}.running_mean", channels, scale=0.1)
    variance = g.rng.uniform(0.5, 1.5, channels).astype(g.dtype)
    spread = g.parameter(f"{name}.running_var", variance)
    return g.node("BatchNormalization", x, scale, bias, mean, spread, epsilon=1e-5)


def conv(g: Graph, x: str, name: str, out: int, into: int, kernel: int, **attributes) -> str:
    """Adds a square convolution without bias that keeps the image's size at stride one."""
    weight = g.weight(f"{name}.weight", out, into, kernel, kernel)
    pads = [kernel // 2] * 4
    return g.node("Conv", x, weight, kernel_shape=[kernel] * 2, pads=pads, **attributes)


def cnn() -> onnx.ModelProto:
    """A residual network: conv, bn, relu; a flatten whose shape is computed."""
    g = Graph("cnn", 17, seed=1)
    x = g.node("Relu", batch_norm(g, conv(g, "image", "stem", 16, 3, 3), "stem.bn", 16))
    for block in range(2):
        name = f"blocks.{block}"
        y = batch_norm(g, conv(g, x, f"{name}.conv1", 16, 16, 3), f"{name}.bn1", 16)
        y = conv(g, g.node("Relu", y), f"{name}.conv2", 16, 16, 3)
        y = g.node("Identity", batch_norm(g, y, f"{name}.bn2", 16))
        x = g.node("Relu", g.node("Add", y, x))
    # The padding stands apart from the convolution, as the image pipeline of the net wrote it.
    x = g.node("Pad", x, g.constant([0, 0, 1, 1, 0, 0, 1, 1]), g.scalar(0.0), mode="constant")
    strided = g.weight("down.weight", 32, 16, 3, 3)
    x = g.node("Conv", x, strided, g.weight("down.bias", 32), kernel_shape=[3, 3], strides=[2, 2])
    x = g.node("Mul", x, g.weight("down.gain", 32, 1, 1, scale=1.0))
    x = g.node("Dropout", g.node("Relu", x), g.constant(0.5, np.float32))
    x = reshape(g, g.node("GlobalAveragePool", x), size(g, x, 0), -1)
    x = g.node("Gemm", x, g.weight("head.weight", 10, 32), g.weight("head.bias", 10), transB=1)
    named(g, g.node("Softmax", x, axis=-1), "probabilities")
    image = value("image", FLOAT, ["batch", 3, "height", "width"])
    return g.model([image], [value("probabilities", FLOAT, ["batch", 10])])


def layer_norm(g: Graph, x: str, name: str, width: int) -> str:
    """Normalises the last axis in pieces, as exporters did before there was an operator."""
    centred = g.node("Sub", x, mean_of_last(g, x))
    variance = mean_of_last(g, g.node("Pow", centred, g.scalar(2.0)))
    deviation = g.node("Sqrt", g.node("Add", variance, g.scalar(1e-5)))
    scaled = g.node("Mul", g.node("Div", centred, deviation), g.weight(f"{name}.weight", width))
    return g.node("Add", scaled, g.weight(f"{name}.bias", width, scale=0.1))


def mean_of_last(g: Graph, x: str) -> str:
    """Takes the mean of the last axis; the axes became an input in opset 18."""
    if g.opset < 18:
        return g.node("ReduceMean", x, axes=[-1], keepdims=1)
    return g.node("ReduceMean", x, g.constant([-1]), keepdims=1)


def gelu(g: Graph, x: str) -> str:
    """Computes the exact gelu from the error function."""
    cdf = g.node("Add", g.node("Erf", g.node("Div", x, g.scalar(2**0.5))), g.scalar(1.0))
    return g.node("Mul", g.node("Mul", x, cdf), g.scalar(0.5))


def linear(g: Graph, x: str, name: str, out: int, into: int) -> str:
    """Multiplies by a transposed weight and adds a bias, bias first, as exporters write it."""
    product = g.node("MatMul", x, g.weight(f"{name}.weight_t", into, out, scale=into**-0.5))
    return g.node("Add", g.weight(f"{name}.bias", out, scale=0.1), product)


def heads(g: Graph, x: str, count: int, width: int, order: list[int]) -> str:
    """Splits the last axis into heads, the sizes taken from the value at run time."""
    split = reshape(g, x, size(g, x, 0), size(g, x, 1), count, width // count)
    return g.node("Transpose", split, perm=order)


def attention(g: Graph, x: str, mask: str, name: str, width: int, count: int) -> str:
    """Attends with a mask that is added to the scores."""
    query = heads(g, linear(g, x, f"{name}.query", width, width), count, width, [0, 2, 1, 3])
    key = heads(g, linear(g, x, f"{name}.key", width, width), count, width, [0, 2, 3, 1])
    what = heads(g, linear(g, x, f"{name}.value", width, width), count, width, [0, 2, 1, 3])
    scores = g.node("Div", g.node("MatMul", query, key), g.scalar((width / count) ** 0.5))
    weights = g.node("Softmax", g.node("Add", scores, mask), axis=-1)
    mixed = g.node("MatMul", g.node("Identity", weights), what)
    mixed = g.node("Transpose", mixed, perm=[0, 2, 1, 3])
    merged = reshape(g, mixed, size(g, mixed, 0), size(g, mixed, 1), width)
    return linear(g, merged, f"{name}.out", width, width)


def transformer(opset: int = 20) -> onnx.ModelProto:
    """An encoder of two blocks over token ids, batch and sequence dynamic."""
    g = Graph("transformer", opset, seed=2)
    width, count, vocabulary = 32, 4, 200
    embedded = g.node("Gather", g.weight("tokens.weight", vocabulary, width, scale=1.0), "ids")
    length = g.node("Gather", g.node("Shape", "ids"), g.constant(1), axis=0)
    places = g.node("Range", g.constant(0), length, g.constant(1))
    x = g.node("Add", embedded, g.node("Gather", g.weight("places.weight", 64, width), places))
    kept = g.node("Cast", unsqueeze(g, "mask", 1, 2), to=FLOAT)
    mask = g.node("Mul", g.node("Sub", g.scalar(1.0), kept), g.scalar(-1e4))
    x = layer_norm(g, x, "norm", width)
    for block in range(2):
        name = f"blocks.{block}"
        y = attention(g, x, mask, f"{name}.attention", width, count)
        x = layer_norm(g, g.node("Add", y, x), f"{name}.norm1", width)
        y = gelu(g, linear(g, x, f"{name}.up", 4 * width, width))
        y = linear(g, y, f"{name}.down", width, 4 * width)
        x = layer_norm(g, g.node("Add", y, x), f"{name}.norm2", width)
    named(g, x, "hidden")
    ids, seen = (value(name, INT64, ["batch", "sequence"]) for name in ("ids", "mask"))
    return g.model([ids, seen], [value("hidden", FLOAT, ["batch", "sequence", width])])


def transformer_17() -> onnx.ModelProto:
    """The same encoder in opset 17, which has no `Gelu`."""
    return transformer(17)


def lstm_tagger() -> onnx.ModelProto:
    """A bidirectional LSTM over embedded tokens, its state made at run time."""
    g = Graph("lstm_tagger", 17, seed=3)
    width, hidden, tags = 16, 24, 7
    x = g.node("Gather", g.weight("tokens.weight", 100, width, scale=1.0), "ids")
    x = g.node("Transpose", x, perm=[1, 0, 2])
    shape = g.node("Concat", g.constant([2]), size(g, "ids", 0), g.constant([hidden]), axis=0)
    zero = numpy_helper.from_array(np.zeros(1, np.float32))
    state, cell = (g.node("ConstantOfShape", shape, value=zero) for _ in range(2))
    w = g.weight("lstm.w", 2, 4 * hidden, width, scale=0.2)
    r = g.weight("lstm.r", 2, 4 * hidden, hidden, scale=0.2)
    b = g.weight("lstm.b", 2, 8 * hidden, scale=0.1)
    y, _, _ = g.node(
        "LSTM", x, w, r, b, "", state, cell, outputs=3, hidden_size=hidden, direction="bidirectional"
    )
    y = g.node("Transpose", y, perm=[2, 0, 1, 3])
    y = reshape(g, y, 0, 0, -1)
    y = g.node("MatMul", y, g.weight("head.weight", 2 * hidden, tags, scale=0.2))
    scores = g.node("Add", y, g.weight("head.bias", tags))
    named(g, g.node("LogSoftmax", scores, axis=-1), "scores")
    named(g, g.node("ArgMax", scores, axis=-1, keepdims=0), "tags")
    outputs = [value("scores", FLOAT, ["batch", "sequence", tags])]
    outputs += [value("tags", INT64, ["batch", "sequence"])]
    return g.model([value("ids", INT64, ["batch", "sequence"])], outputs)


def inception() -> onnx.ModelProto:
    """Branches over one value, several of them 1x1 convolutions that could be one."""
    g = Graph("inception", 13, seed=4)

    def unit(x: str, name: str, out: int, into: int, kernel: int) -> str:
        bias = g.weight(f"{name}.bias", out, 1, 1, scale=0.1)
        return g.node("Relu", g.node("Add", conv(g, x, name, out, into, kernel), bias))

    x, channels = unit("image", "stem", 12, 3, 3), 12
    for block in range(2):
        name = f"mixed.{block}"
        one = unit(x, f"{name}.one", 8, channels, 1)
        three = unit(unit(x, f"{name}.three_in", 8, channels, 1), f"{name}.three", 12, 8, 3)
        five = unit(unit(x, f"{name}.five_in", 4, channels, 1), f"{name}.five", 8, 4, 5)
        pool = g.node("MaxPool", x, kernel_shape=[3, 3], pads=[1] * 4, strides=[1, 1])
        pooled = unit(pool, f"{name}.pool", 4, channels, 1)
        x, channels = g.node("Concat", one, three, five, pooled, axis=1), 32
        x = g.node("Concat", x, axis=1)
    x = g.node("ReduceMean", x, axes=[2, 3], keepdims=0)
    x = g.node("MatMul", x, g.weight("head.weight", channels, 5))
    named(g, g.node("Add", x, g.weight("head.bias", 5)), "scores")
    image = value("image", FLOAT, ["N", 3, 16, 16])
    return g.model([image], [value("scores", FLOAT, ["N", 5])])


def legacy() -> onnx.ModelProto:
    """Opset 9, IR version 3: weights are inputs too, and much that is an input now is not."""
    g = Graph("legacy", 9, seed=5)
    x = g.node("Pad", "data", mode="constant", value=0.0, pads=[0, 0, 1, 1, 0, 0, 1, 1])
    weight = g.weight("conv1_w", 8, 3, 3, 3)
    x = g.node("Conv", x, weight, g.weight("conv1_b", 8), kernel_shape=[3, 3])
    x = batch_norm(g, x, "bn1", 8)
    scale = g.node("Unsqueeze", g.weight("scale", 8, scale=1.0), axes=[1, 2])
    x = g.node("Clip", g.node("Mul", x, scale), min=0.0, max=6.0)
    x = g.node("Upsample", x, g.parameter("zoom", np.array([1, 1, 2, 2], np.float32)), mode="nearest")
    x = g.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = g.node("Slice", x, axes=[2, 3], starts=[0, 0], ends=[4, 4])
    x = g.node("Dropout", g.node("Sum", x, x, x), ratio=0.4)
    x = g.node("Reshape", x, g.parameter("flat", np.array([1, -1], np.int64)))
    x = g.node("Gemm", x, g.weight("fc_w", 6, 128), g.weight("fc_b", 6), transB=1)
    named(g, g.node("Softmax", x, axis=1), "prob")
    return g.model([value("data", FLOAT, [1, 3, 8, 8])], [value("prob", FLOAT, [1, 6])])


def branch(g: Graph, name: str, build) -> onnx.GraphProto:
    """Builds a branch of an `If`: no inputs, it reads values of the graph around it."""
    inner = Graph(name, g.opset, seed=6)
    result = named(inner, build(inner), f"{name}_result")
    return helper.make_graph(inner.nodes, name, [], [value(result, FLOAT, None)], inner.weights)


def control() -> onnx.ModelProto:
    """An `If` on a computed condition, one on a constant, and a `Loop` that captures a weight."""
    g = Graph("control", 17, seed=6)
    gain = g.weight("gain", 8, scale=1.0)
    large = g.node("Greater", g.node("ReduceSum", "x", keepdims=0), g.scalar(0.0))
    upper = branch(g, "upper", lambda b: b.node("Mul", b.node("Identity", "x"), gain))
    lower = branch(g, "lower", lambda b: b.node("Neg", b.node("Neg", "x")))
    x = g.node("If", large, then_branch=upper, else_branch=lower)
    rows = g.node("Gather", g.node("Shape", "x"), g.constant(1), axis=0)
    fixed = g.node("Equal", rows, g.constant(8))
    same = branch(g, "same", lambda b: b.node("Add", x, gain))
    other = branch(g, "other", lambda b: b.node("Sub", x, gain))
    x = g.node("If", fixed, then_branch=same, else_branch=other)
    x, trace = g.node("Loop", "steps", "", x, outputs=2, body=loop_body(g))
    named(g, x, "last")
    named(g, trace, "trace")
    inputs = [value("x", FLOAT, ["rows", 8]), value("steps", INT64, [])]
    outputs = [value("last", FLOAT, ["rows", 8]), value("trace", FLOAT, ["steps", "rows"])]
    return g.model(inputs, outputs)


def loop_body(g: Graph) -> onnx.GraphProto:
    """Builds the body of the loop: a damped step, and the sum of each row as its trace."""
    inner = Graph("body", g.opset, seed=6)
    stepped = inner.node("Tanh", inner.node("Mul", "state", "gain"))
    total = inner.node("ReduceSum", stepped, inner.constant([-1]), keepdims=0)
    results = [inner.node("Identity", "going"), stepped, total]
    inputs = [value("step", INT64, []), value("going", TensorProto.BOOL, [])]
    inputs += [value("state", FLOAT, None)]
    types = [TensorProto.BOOL, FLOAT, FLOAT]
    outputs = [value(name, element, None) for name, element in zip(results, types)]
    outputs[0] = value(results[0], TensorProto.BOOL, [])
    return helper.make_graph(inner.nodes, "body", inputs, outputs)


def quantise(g: Graph, x: str, scale: float) -> str:
    """Wraps a value in a quantise-dequantise pair of one scale."""
    step, zero = g.constant(scale, np.float32), g.constant(0, np.int8)
    return g.node("DequantizeLinear", g.node("QuantizeLinear", x, step, zero), step, zero)


def dequantised(g: Graph, name: str, *shape: int) -> str:
    """Adds a weight that is stored in eight bits, with a scale for each output channel."""
    values = g.parameter(f"{name}_q", g.rng.integers(-127, 128, shape).astype(np.int8))
    scale = g.rng.uniform(0.001, 0.004, shape[0]).astype(np.float32)
    zero = g.parameter(f"{name}_zero", np.zeros(shape[0], np.int8))
    return g.node("DequantizeLinear", values, g.parameter(f"{name}_scale", scale), zero, axis=0)


def quantised() -> onnx.ModelProto:
    """Quantise-dequantise pairs around a convolution and a fully connected layer."""
    g = Graph("quantised", 17, seed=7)
    x = quantise(g, "image", 0.03)
    weight, bias = dequantised(g, "conv", 8, 3, 3, 3), g.weight("conv_bias", 8)
    x = g.node("Conv", x, weight, bias, kernel_shape=[3, 3], pads=[1] * 4)
    x = quantise(g, g.node("Relu", x), 0.05)
    x = g.node("Flatten", g.node("GlobalAveragePool", x), axis=1)
    weight, bias = dequantised(g, "head", 5, 8), g.weight("head_bias", 5)
    named(g, g.node("Gemm", quantise(g, x, 0.02), weight, bias, transB=1), "scores")
    image = value("image", FLOAT, ["N", 3, 12, 12])
    return g.model([image], [value("scores", FLOAT, ["N", 5])])


def half() -> onnx.ModelProto:
    """A gated layer in float16 with casts to and from float32, some of no use."""
    g = Graph("half", 17, seed=8, dtype=np.float16)
    x = g.node("Cast", g.node("Cast", "x", to=HALF), to=HALF)
    for layer in range(2):
        up = linear(g, x, f"layers.{layer}.up", 32, 16)
        gate, what = g.node("Split", up, g.constant([16, 16]), outputs=2, axis=-1)
        y = g.node("Mul", g.node("Mul", gate, g.node("Sigmoid", gate)), what)
        # The norm runs in float32, between two casts.
        wide = g.node("Cast", g.node("Add", x, y), to=FLOAT)
        square = mean_of_last(g, g.node("Mul", wide, wide))
        steady = g.node("Add", square, g.constant(1e-6, np.float32))
        normed = g.node("Mul", wide, g.node("Reciprocal", g.node("Sqrt", steady)))
        x = g.node("Mul", g.node("Cast", normed, to=HALF), g.weight(f"layers.{layer}.norm", 16))
    named(g, g.node("Cast", x, to=FLOAT), "y")
    return g.model([value("x", FLOAT, ["N", 16])], [value("y", FLOAT, ["N", 16])])


def text() -> onnx.ModelProto:
    """Strings and sequences: words are joined, split and counted; rows travel in a sequence."""
    g = Graph("text", 20, seed=9)
    words = g.node("StringConcat", g.node("Identity", "words"), g.parameter("suffix", text_of(" end")))
    pieces, counts = g.node("StringSplit", words, outputs=2, delimiter=" ")
    named(g, pieces, "pieces")
    named(g, counts, "counts")
    rows = g.node("SplitToSequence", "x", axis=0, keepdims=1)
    first = g.node("SequenceAt", rows, g.constant(0))
    grown = g.node("SequenceInsert", rows, g.node("Mul", first, g.weight("gain", 4, scale=1.0)))
    joined = g.node("ConcatFromSequence", grown, axis=0)
    named(g, g.node("Transpose", g.node("Transpose", joined, perm=[1, 0]), perm=[1, 0]), "y")
    named(g, g.node("SequenceLength", grown), "length")
    inputs = [value("words", TensorProto.STRING, ["W"]), value("x", FLOAT, ["rows", 4])]
    outputs = [value("pieces", TensorProto.STRING, ["W", "most"]), value("counts", INT64, ["W"])]
    outputs += [value("y", FLOAT, ["grown", 4]), value("length", INT64, [])]
    return g.model(inputs, outputs)


def text_of(word: str) -> np.ndarray:
    """Makes a string tensor of one element."""
    return np.array([word], dtype=object)


MODELS = {
    build.__name__: build
    for build in (
        cnn, transformer, transformer_17, lstm_tagger, inception,
        legacy, control, quantised, half, text,
    )
}  # fmt: skip


def build(name: str) -> bytes:
    """Builds one model by name and checks it; gives the bytes of its file."""
    model = MODELS[name]()
    model.doc_string = MODELS[name].__doc__ or ""
    onnx.checker.check_model(model, full_check=True)
    return model.SerializeToString(deterministic=True)


def main() -> None:
    """Writes the models that the command line names, or all."""
    folder = pathlib.Path(__file__).resolve().parent
    for name in sys.argv[1:] or MODELS:
        content = build(name)
        (folder / f"{name}.onnx").write_bytes(content)
        nodes = len(onnx.load_from_string(content).graph.node)
        print(f"{name}.onnx: {nodes} nodes, {len(content) / 1024:.0f} KiB")


if __name__ == "__main__":
    main()
