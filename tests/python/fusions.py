"""What onnxruntime recognises, written out as exporters write it, and what is left of it.

    python tests/python/fusions.py BINARY [--opset N]... [--model FILE]...

A form is a graph in which onnxruntime finds one operator of its own: a gelu in pieces behind a bias,
a layer normalisation behind a residual, a convolution before its activation. Each is written at the
operator sets of models that are around. `lost` compares what onnxruntime makes of a model as it
came and as it was optimised: an operator that it no longer finds is lost, unless the graph that it
runs is smaller without it.
"""

from __future__ import annotations

import argparse
import collections
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator

import numpy as np
import onnx
import onnxruntime as ort

import small

OPSETS = (11, 12, 13, 15, 17, 18, 20, 22, 25)
# The IR version that has an operator set, as far as onnxruntime reads it.
IR = {11: 6, 12: 7, 13: 7, 15: 8, 17: 8, 18: 8, 20: 9, 22: 10, 25: 12}
WIDTH, HEADS = 16, 4

FORMS: dict[str, Callable[[Text], None]] = {}


class Text:
    """A graph that grows line by line, in the words of its operator set."""

    def __init__(self, opset: int) -> None:
        self.opset, self.lines = opset, []
        self.inputs: list[str] = []
        self.weights: dict[str, np.ndarray] = {}
        self.rng = np.random.default_rng(3)
        self.result = "x"
        self.shape = "[a, b, c]"

    def input(self, declared: str) -> str:
        """Declares an input, as `float[2, 8, 16] x`."""
        self.inputs.append(declared)
        return declared.split()[-1]

    def weight(self, *shape: int, positive: bool = False) -> str:
        """A random weight; behind a bias or a scale it is as good as any other."""
        values = self.rng.standard_normal(shape).astype(np.float32) * 0.3
        return self.constant(np.abs(values) + 0.1 if positive else values)

    def constant(self, value, dtype=np.float32) -> str:
        """A constant of the model."""
        name = f"w{len(self.weights)}"
        self.weights[name] = np.asarray(value, dtype)
        return name

    def node(self, operator: str, *inputs: str, **attributes) -> str:
        """Adds a node; gives the name of its result."""
        name = f"v{len(self.lines)}"
        shown = ", ".join(f"{key} = {_shown(value)}" for key, value in attributes.items())
        self.lines.append(f"{name} = {operator} <{shown}> ({', '.join(inputs)})" if shown
                          else f"{name} = {operator} ({', '.join(inputs)})")
        return name

    def mean(self, x: str) -> str:
        """The mean over the last axis, which is an attribute or an input."""
        if self.opset >= 18:
            return self.node("ReduceMean", x, self.constant([-1], np.int64), keepdims=1)
        return self.node("ReduceMean", x, axes=[-1], keepdims=1)

    def unsqueeze(self, x: str, axes: list[int]) -> str:
        """Adds axes, which are an attribute or an input."""
        if self.opset >= 13:
            return self.node("Unsqueeze", x, self.constant(axes, np.int64))
        return self.node("Unsqueeze", x, axes=axes)

    def dense(self, x: str, width: int = WIDTH, into: int = WIDTH) -> str:
        """A product and its bias."""
        return self.node("Add", self.node("MatMul", x, self.weight(into, width)), self.weight(width))

    def layer_norm(self, x: str) -> str:
        """A layer normalisation: one node where the operator set has it."""
        if self.opset >= 17:
            scale, bias = self.weight(WIDTH, positive=True), self.weight(WIDTH)
            return self.node("LayerNormalization", x, scale, bias, axis=-1, epsilon=1e-5)
        return self.written_norm(x)

    def written_norm(self, x: str, twice: bool = False, squared: bool = True) -> str:
        """The same in pieces; `twice` computes the difference for each use, as old exporters did."""
        mean = self.mean(x)
        d = self.node("Sub", x, mean)
        e = self.node("Sub", x, mean) if twice else d
        square = self.node("Pow", d, self.constant(2.0)) if squared else self.node("Mul", d, d)
        root = self.node("Sqrt", self.node("Add", self.mean(square), self.constant(1e-5)))
        scaled = self.node("Mul", self.node("Div", e, root), self.weight(WIDTH, positive=True))
        return self.node("Add", scaled, self.weight(WIDTH))

    def model(self) -> onnx.ModelProto:
        """The model; its output is a node of its own, so that nothing ends with what is looked for."""
        self.lines.append(f"y = Identity ({self.result})")
        body = "\n".join(self.lines)
        graph = f"({', '.join(self.inputs)}) => (float{self.shape} y) {{ {body} }}"
        return small.model(graph, self.opset, self.weights, IR[self.opset])


def _shown(value) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(str, value))}]"
    return f'"{value}"' if isinstance(value, str) else str(value)


def form(function: Callable[[Text], None]) -> Callable[[Text], None]:
    """Lists a form under its name."""
    FORMS[function.__name__] = function
    return function


def tokens(g: Text) -> str:
    """Data of a transformer, of any batch and length."""
    return g.input(f"float[n, s, {WIDTH}] x")


def activated(g: Text, gelu: Callable[[Text, str], str]) -> None:
    """Two products with an activation between them, as a transformer has."""
    g.result = g.dense(gelu(g, g.dense(tokens(g))))


def erf(g: Text, x: str) -> str:
    return g.node("Add", g.node("Erf", g.node("Div", x, g.constant(2**0.5))), g.constant(1.0))


def cubic(g: Text, x: str, power: bool) -> str:
    """`1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))`."""
    if power:
        cube = g.node("Mul", g.node("Pow", x, g.constant(3.0)), g.constant(0.044715))
        inner = g.node("Mul", g.node("Add", x, cube), g.constant((2 / np.pi) ** 0.5))
    else:
        square = g.node("Mul", g.node("Mul", x, g.constant(0.044715)), x)
        line = g.node("Mul", x, g.constant((2 / np.pi) ** 0.5))
        inner = g.node("Mul", line, g.node("Add", square, g.constant(1.0)))
    return g.node("Add", g.node("Tanh", inner), g.constant(1.0))


@form
def gelu_half_last(g: Text) -> None:
    activated(g, lambda g, x: g.node("Mul", g.node("Mul", x, erf(g, x)), g.constant(0.5)))


@form
def gelu_half_first(g: Text) -> None:
    activated(g, lambda g, x: g.node("Mul", g.node("Mul", x, g.constant(0.5)), erf(g, x)))


@form
def gelu_half_inside(g: Text) -> None:
    activated(g, lambda g, x: g.node("Mul", x, g.node("Mul", erf(g, x), g.constant(0.5))))


@form
def gelu_without_bias(g: Text) -> None:
    x = tokens(g)
    g.result = g.dense(g.node("Mul", g.node("Mul", x, erf(g, x)), g.constant(0.5)))


@form
def gelu_scaled_behind(g: Text) -> None:
    x = g.dense(tokens(g))
    gelu = g.node("Mul", g.node("Mul", x, erf(g, x)), g.constant(0.5))
    g.result = g.node("Mul", gelu, g.constant(0.25))


@form
def tanh_gelu_power(g: Text) -> None:
    activated(g, lambda g, x: g.node("Mul", g.node("Mul", x, g.constant(0.5)), cubic(g, x, True)))


@form
def tanh_gelu_power_half_last(g: Text) -> None:
    activated(g, lambda g, x: g.node("Mul", g.node("Mul", x, cubic(g, x, True)), g.constant(0.5)))


@form
def tanh_gelu_product(g: Text) -> None:
    activated(g, lambda g, x: g.node("Mul", g.node("Mul", x, g.constant(0.5)), cubic(g, x, False)))


@form
def quick_gelu(g: Text) -> None:
    activated(g, lambda g, x: g.node("Mul", x, g.node("Sigmoid", g.node("Mul", x, g.constant(1.702)))))


@form
def silu(g: Text) -> None:
    activated(g, lambda g, x: g.node("Mul", x, g.node("Sigmoid", x)))


@form
def layer_norm(g: Text) -> None:
    g.result = g.dense(g.written_norm(tokens(g)))


@form
def layer_norm_twice(g: Text) -> None:
    g.result = g.dense(g.written_norm(tokens(g), twice=True))


@form
def layer_norm_product(g: Text) -> None:
    g.result = g.dense(g.written_norm(tokens(g), squared=False))


@form
def rms_norm(g: Text) -> None:
    x = tokens(g)
    square = g.node("Pow", x, g.constant(2.0))
    root = g.node("Sqrt", g.node("Add", g.mean(square), g.constant(1e-6)))
    g.result = g.dense(g.node("Mul", g.node("Div", x, root), g.weight(WIDTH, positive=True)))


@form
def rms_norm_reciprocal(g: Text) -> None:
    x = tokens(g)
    root = g.node("Sqrt", g.node("Add", g.mean(g.node("Pow", x, g.constant(2.0))), g.constant(1e-6)))
    normal = g.node("Mul", x, g.node("Reciprocal", root))
    g.result = g.dense(g.node("Mul", g.weight(WIDTH, positive=True), normal))


@form
def skip_layer_norm(g: Text) -> None:
    x = tokens(g)
    g.result = g.layer_norm(g.node("Add", g.dense(x), x))


@form
def skip_layer_norm_used_twice(g: Text) -> None:
    x = tokens(g)
    s = g.node("Add", g.dense(x), x)
    g.result = g.node("Add", g.dense(g.layer_norm(s)), s)


@form
def skip_of_two(g: Text) -> None:
    x = tokens(g)
    g.result = g.dense(g.layer_norm(g.node("Add", x, g.input(f"float[n, s, {WIDTH}] z"))))


@form
def embedding(g: Text) -> None:
    words = g.node("Gather", g.weight(40, WIDTH), g.input("int64[n, 8] x"))
    kinds = g.node("Gather", g.weight(16, WIDTH), g.input("int64[n, 8] z"))
    places = g.node("Gather", g.weight(8, WIDTH), g.constant(np.arange(8).reshape(1, 8), np.int64))
    g.result = g.layer_norm(g.node("Add", g.node("Add", words, places), kinds))


def split_heads(g: Text, x: str, perm: list[int]) -> str:
    shape = g.constant([0, 0, HEADS, WIDTH // HEADS], np.int64)
    return g.node("Transpose", g.node("Reshape", x, shape), perm=perm)


def attended(g: Text, x: str, scale_both: bool = False, masked: bool = False) -> str:
    """Attention as exporters write it."""
    q, k, v = (split_heads(g, g.dense(x), p) for p in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))
    if scale_both:
        root = g.constant((WIDTH // HEADS) ** -0.25)
        scores = g.node("MatMul", g.node("Mul", q, root), g.node("Mul", k, root))
    else:
        scores = g.node("Div", g.node("MatMul", q, k), g.constant((WIDTH // HEADS) ** 0.5))
    if masked:
        mask = g.node("Cast", g.unsqueeze(g.input("int64[n, s] mask"), [1, 2]), to=1)
        scores = g.node("Add", scores, g.node("Mul", g.node("Sub", g.constant(1.0), mask), g.constant(-10000.0)))
    mixed = g.node("MatMul", g.node("Softmax", scores, axis=3 if g.opset < 13 else -1), v)
    joined = g.node("Reshape", g.node("Transpose", mixed, perm=[0, 2, 1, 3]), g.constant([0, 0, WIDTH], np.int64))
    return g.dense(joined)


@form
def attention(g: Text) -> None:
    x = g.layer_norm(tokens(g))
    g.result = g.layer_norm(g.node("Add", attended(g, x), x))


@form
def attention_masked(g: Text) -> None:
    x = g.layer_norm(tokens(g))
    g.result = g.layer_norm(g.node("Add", attended(g, x, masked=True), x))


@form
def attention_scaled_before(g: Text) -> None:
    x = tokens(g)
    g.result = g.node("Add", attended(g, x, scale_both=True), x)


@form
def product_of_transposed(g: Text) -> None:
    x = tokens(g)
    z = g.input(f"float[n, s, {WIDTH}] z")
    g.result = g.node("MatMul", x, g.node("Transpose", z, perm=[0, 2, 1]))


@form
def product_scaled(g: Text) -> None:
    x, z = tokens(g), g.input(f"float[n, {WIDTH}, 8] z")
    g.result = g.node("Mul", g.node("MatMul", x, z), g.constant(0.125))


@form
def product_of_scaled(g: Text) -> None:
    x, z = tokens(g), g.input(f"float[n, {WIDTH}, 8] z")
    g.result = g.node("MatMul", g.node("Div", x, g.constant(4.0)), z)


def pictured(g: Text, channels: int = 4) -> str:
    g.shape = "[n, c, h, w]"
    x = g.input(f"float[n, {channels}, 9, 9] x")
    return g.node("Conv", x, g.weight(8, channels, 3, 3), g.weight(8), pads=[1, 1, 1, 1])


@form
def conv_activations(g: Text) -> None:
    x = pictured(g)
    for operator, attributes in (("Relu", {}), ("Sigmoid", {}), ("Tanh", {}), ("LeakyRelu", {"alpha": 0.1}),
                                 ("HardSigmoid", {"alpha": 0.2, "beta": 0.5})):
        x = g.node("Conv", g.node(operator, x, **attributes), g.weight(8, 8, 3, 3), pads=[1, 1, 1, 1])
    g.result = g.node("Clip", x, g.constant(0.0), g.constant(6.0))


@form
def conv_residual(g: Text) -> None:
    x = pictured(g)
    y = g.node("Conv", g.node("Relu", x), g.weight(8, 8, 3, 3), g.weight(8), pads=[1, 1, 1, 1])
    g.result = g.node("Relu", g.node("Add", y, x))


@form
def conv_swish(g: Text) -> None:
    x = pictured(g)
    g.result = g.node("Mul", x, g.node("Sigmoid", x))


@form
def conv_hard_swish(g: Text) -> None:
    x = pictured(g)
    line = g.node("Clip", g.node("Add", x, g.constant(3.0)), g.constant(0.0), g.constant(6.0))
    g.result = g.node("Div", g.node("Mul", x, line), g.constant(6.0))


@form
def conv_scaled(g: Text) -> None:
    x = pictured(g)
    y = g.node("Add", g.node("Mul", x, g.weight(8, 1, 1)), g.weight(8, 1, 1))
    g.result = g.node("Relu", y)


@form
def gemm_activations(g: Text) -> None:
    g.shape = "[n, c]"
    x = g.input("float[n, 16] x")
    for operator in ("Relu", "LeakyRelu", "Sigmoid", "Tanh"):
        x = g.node(operator, g.node("Gemm", x, g.weight(16, 16), g.weight(16), transB=1))
    g.result = x


@form
def rows_activated(g: Text) -> None:
    g.shape = "[n, c]"
    x = g.dense(g.input("float[n, 16] x"))
    g.result = g.dense(g.node("Mul", g.node("Mul", x, erf(g, x)), g.constant(0.5)))


def quantised(g: Text, x: str, scale: float = 0.05) -> str:
    x = g.node("QuantizeLinear", x, g.constant(scale), g.constant(128, np.uint8))
    return g.node("DequantizeLinear", x, g.constant(scale), g.constant(128, np.uint8))


def levels(g: Text, *shape: int) -> str:
    values = g.rng.integers(-100, 100, shape)
    return g.node("DequantizeLinear", g.constant(values, np.int8), g.constant(0.02), g.constant(0, np.int8))


@form
def quantised_conv(g: Text) -> None:
    g.shape = "[n, c, h, w]"
    x = quantised(g, g.input("float[n, 4, 9, 9] x"))
    y = quantised(g, g.node("Relu", g.node("Conv", x, levels(g, 8, 4, 3, 3), pads=[1, 1, 1, 1])))
    g.result = quantised(g, g.node("Conv", y, levels(g, 8, 8, 1, 1)))


@form
def quantised_product(g: Text) -> None:
    x = quantised(g, tokens(g))
    y = quantised(g, g.node("MatMul", x, levels(g, WIDTH, WIDTH)))
    g.result = quantised(g, g.node("Add", y, x))


@form
def quantised_functions(g: Text) -> None:
    x = quantised(g, tokens(g))
    y = quantised(g, g.node("Sigmoid", x))
    z = quantised(g, g.node("Mul", x, y))
    s = quantised(g, g.node("Softmax", z, axis=2 if g.opset < 13 else -1))
    g.result = quantised(g, g.node("Concat", s, y, axis=1))


@form
def dynamically_quantised(g: Text) -> None:
    x = tokens(g)
    at = len(g.lines)
    g.lines.append(f"q{at}, s{at}, z{at} = DynamicQuantizeLinear ({x})")
    product = g.node("MatMulInteger", f"q{at}", g.constant(g.rng.integers(-90, 90, (WIDTH, 8)), np.int8), f"z{at}")
    scale = g.node("Mul", f"s{at}", g.constant(0.02))
    g.result = g.node("Add", g.node("Mul", g.node("Cast", product, to=1), scale), g.weight(8))


def forms(opsets=OPSETS) -> Iterator[tuple[str, int, onnx.ModelProto]]:
    """Each form at each operator set in which onnxruntime runs it."""
    for name, function in FORMS.items():
        for opset in opsets:
            text = Text(opset)
            function(text)
            yield name, opset, text.model()


def runtime_graph(model: onnx.ModelProto) -> list[str]:
    """The operators that onnxruntime runs, after optimisations that do not depend on a machine."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.log_severity_level = 4
    with tempfile.TemporaryDirectory() as folder:
        options.optimized_model_filepath = f"{folder}/made.onnx"
        ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        made = onnx.load(options.optimized_model_filepath, load_external_data=False)
    return [node.op_type for node in _nodes(made.graph)]


def _nodes(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    for node in graph.node:
        if node.op_type != "Constant":
            yield node
        for attribute in node.attribute:
            for inner in [*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])]:
                yield from _nodes(inner)


# What onnxruntime makes of a product and its neighbours; without the neighbours it is the product.
PLAIN = {"FusedMatMul": "MatMul"}


def lost(before: onnx.ModelProto, after: onnx.ModelProto) -> str | None:
    """What onnxruntime no longer makes of the optimised model, or by how many nodes it runs more.

    `None` if nothing. What is not found any more is no loss where fewer nodes run without it, or
    where what it was made of is gone: a factor that a weight took in.
    """
    had, has = runtime_graph(before), runtime_graph(after)
    if len(has) > len(had):
        return f"{len(had)} nodes became {len(has)}: {_counted(had)} became {_counted(has)}"
    known = {node.op_type for node in _nodes(before.graph)}
    made = collections.Counter(name for name in had if name not in known)
    gone = made - collections.Counter(has)
    new = collections.Counter(has) - collections.Counter(had)
    gone = {name: count for name, count in gone.items() if new[PLAIN.get(name, "")] < count}
    return f"without {gone}: {_counted(had)} became {_counted(has)}" if gone and len(has) == len(had) else None


def _counted(names: list[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(collections.Counter(names).items()))


def optimised(binary: pathlib.Path | str, model: onnx.ModelProto, *words: str) -> onnx.ModelProto:
    """What the command makes of a model."""
    command = [binary, "opt", "-", "-o", "-", "-q", *words]
    ran = subprocess.run(command, input=model.SerializeToString(), capture_output=True, check=True)
    return onnx.load_from_string(ran.stdout)


def main() -> int:
    """Prints a line for each form or model that loses something."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("--opset", type=int, action="append")
    parser.add_argument("--only", action="append")
    parser.add_argument("--all", action="store_true", help="a line for those that lose nothing too")
    parser.add_argument("--model", action="append", default=[])
    given = parser.parse_args()
    faults = 0
    tried = [(path, 0, onnx.load(path)) for path in given.model] or forms(given.opset or OPSETS)
    for name, opset, model in tried:
        if given.only and name not in given.only:
            continue
        try:
            runtime_graph(model)
        except Exception as error:  # noqa: BLE001: it does not run this form in this operator set
            print(f"{name} {opset}: not run: {str(error)[:150]}")
            continue
        found = lost(model, optimised(given.binary, model))
        faults += found is not None
        if found or given.all:
            print(f"{name} {opset}: {found or 'kept: ' + _counted(runtime_graph(model))}", flush=True)
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
