"""Weights that several nodes use are not copied by what is folded into them.

Each kind is a model of some uses of one weight with something behind, before or around each use that
a rule or folding would take into a copy of it. What comes out may not be larger than what went in by
more than a little, under every strategy, and computes the same. Where all uses let go of the weight
together, or only one is there, it is folded as ever.
"""

from __future__ import annotations

import pathlib
import subprocess
import tempfile

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

USES = 6


class Graph:
    """Nodes and weights that are being put together."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: dict[str, np.ndarray] = {}
        self.shared = ""
        self.rng = np.random.default_rng(5)

    def weight(self, *shape: int, scale: float = 0.1) -> str:
        return self.constant((self.rng.standard_normal(shape) * scale).astype(np.float32))

    def constant(self, value: object, dtype: type = np.float32) -> str:
        name = f"w{len(self.weights)}"
        self.weights[name] = np.asarray(value, dtype)
        return name

    def node(self, operator: str, *inputs: str, **attributes: object) -> str:
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [name], **attributes))
        return name

    def normalised(self, x: str, channels: int, parts: list[str] | None = None) -> str:
        return self.node("BatchNormalization", x, *(parts or self.normalisation(channels)))

    def normalisation(self, channels: int) -> list[str]:
        spread = np.abs(self.rng.standard_normal(channels)) + 0.5
        return [self.weight(channels), self.weight(channels), self.weight(channels), self.constant(spread)]

    def model(self, results: list[str], *shape: int) -> onnx.ModelProto:
        total = results[0]
        for other in results[1:]:
            total = self.node("Add", self.node("Tanh", total), self.node("Tanh", other))
        tensor = helper.make_tensor_value_info
        graph = helper.make_graph(
            self.nodes,
            "g",
            [tensor("x", TensorProto.FLOAT, shape)],
            [tensor(total, TensorProto.FLOAT, None)],
            [numpy_helper.from_array(value, name) for name, value in self.weights.items()],
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


IMAGE, ROWS = (1, 32, 14, 14), (9, 64)


def chained(step, shape: tuple, times: int) -> onnx.ModelProto:
    """`step(g, x, i)` after itself, with `Relu` in between."""
    g, x = Graph(), "x"
    for i in range(times):
        x = g.node("Relu", step(g, x, i))
    return g.model([x], *shape)


def beside(step, shape: tuple, times: int) -> onnx.ModelProto:
    """`step(g, x, i)` on one value, added up."""
    g = Graph()
    return g.model([step(g, "x", i) for i in range(times)], *shape)


def first(g: Graph, *shape: int) -> str:
    """The weight that all uses share."""
    g.shared = g.shared or g.weight(*shape)
    return g.shared


def convolution(g: Graph, x: str, i: int, groups: int = 1) -> str:
    w = first(g, 32, 32 // groups, 3, 3)
    return g.node("Conv", x, w, pads=[1] * 4, group=groups)


def transposed_convolution(g: Graph, x: str, i: int) -> str:
    y = g.node("ConvTranspose", x, first(g, 32, 32, 3, 3), pads=[1] * 4)
    return g.normalised(y, 32)


def product(g: Graph, x: str) -> str:
    return g.node("MatMul", x, first(g, 64, 64))


def taken(g: Graph, x: str, i: int) -> str:
    table = first(g, 500, 64)
    places = g.node("Cast", g.node("Abs", g.node("Gather", x, g.constant(i, np.int64), axis=1)), to=TensorProto.INT64)
    return g.node("MatMul", g.node("Gather", table, places), g.weight(64, 64))


def with_low_rank(g: Graph, x: str, i: int) -> str:
    both = g.node("MatMul", g.node("MatMul", x, g.weight(64, 4)), g.weight(4, 64))
    return g.node("Add", product(g, x), both)


# What folds into one weight, and how the uses hang together.
KINDS = {
    "normalised": (lambda g, x, i: g.normalised(convolution(g, x, i), 32), IMAGE, chained),
    "normalised_in_groups": (lambda g, x, i: g.normalised(convolution(g, x, i, 32), 32), IMAGE, chained),
    "normalised_beside": (lambda g, x, i: g.normalised(convolution(g, x, i), 32), IMAGE, beside),
    "normalised_transposed": (transposed_convolution, IMAGE, chained),
    "scaled": (lambda g, x, i: g.node("Mul", convolution(g, x, i), g.weight(32, 1, 1)), IMAGE, chained),
    "scaled_before": (lambda g, x, i: convolution(g, g.node("Mul", x, g.constant(0.5 + i)), i), IMAGE, chained),
    "scaled_product": (lambda g, x, i: g.node("Mul", product(g, x), g.constant(0.5 + i)), ROWS, chained),
    "scaled_columns": (lambda g, x, i: g.node("Mul", product(g, x), g.weight(64)), ROWS, chained),
    "scaled_rows": (lambda g, x, i: product(g, g.node("Mul", x, g.weight(64))), ROWS, chained),
    "scaled_weight": (
        lambda g, x, i: g.node("MatMul", x, g.node("Mul", first(g, 64, 64), g.constant(0.5 + i))), ROWS, chained,
    ),
    "projected": (lambda g, x, i: g.node("MatMul", product(g, x), g.weight(64, 16)), ROWS, beside),
    "projected_table": (taken, ROWS, beside),
    "summed": (lambda g, x, i: g.node("Add", product(g, x), g.node("MatMul", x, g.weight(64, 64))), ROWS, chained),
    "low_rank": (with_low_rank, ROWS, chained),
    "turned": (
        lambda g, x, i: g.node("MatMul", x, g.node("Transpose", first(g, 64, 64), perm=[1, 0])) if i % 2
        else product(g, x), ROWS, chained,
    ),
    "normalised_pointwise": (
        lambda g, x, i: g.normalised(g.node("Conv", x, first(g, 32, 32, 1, 1)), 32), IMAGE, chained,
    ),
    "biased_and_normalised": (
        lambda g, x, i: g.normalised(
            g.node("Conv", x, first(g, 32, 32, 3, 3), g.weight(32), pads=[1] * 4), 32), IMAGE, chained,
    ),
}  # fmt: skip


def weights(model: onnx.ModelProto) -> int:
    """The bytes of weights."""
    constants = [a.t for n in model.graph.node if n.op_type == "Constant" for a in n.attribute if a.name == "value"]
    return sum(numpy_helper.to_array(t).nbytes for t in [*model.graph.initializer, *constants])


def optimised(command, model: onnx.ModelProto, *options: str) -> onnx.ModelProto:
    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder) / "in.onnx", pathlib.Path(folder) / "out.onnx"
        onnx.save(model, source)
        subprocess.run([command, "opt", source, "-o", target, "-q", *options], check=True, capture_output=True)
        return onnx.load(target)


def agree(model: onnx.ModelProto, other: onnx.ModelProto, shape: tuple) -> None:
    feed = {"x": np.random.default_rng(1).standard_normal(shape).astype(np.float32)}
    (a,), (b,) = (onnxruntime.InferenceSession(m.SerializeToString()).run(None, feed) for m in (model, other))
    assert np.abs(a - b).max() <= 1e-4 * max(1.0, np.abs(a).max())


def by_onnxruntime(model: onnx.ModelProto) -> onnx.ModelProto:
    """What onnxruntime makes of a model before it lays out weights."""
    with tempfile.TemporaryDirectory() as folder:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.optimized_model_filepath = str(pathlib.Path(folder) / "out.onnx")
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
        onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return onnx.load(options.optimized_model_filepath)


def operators(model: onnx.ModelProto) -> list[str]:
    return [node.op_type for node in model.graph.node]


STRATEGIES = ["greedy", "walk", "saturate"]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_weight_of_several_uses_is_not_copied(kind: str, strategy: str, tangram_bin) -> None:
    step, shape, around = KINDS[kind]
    model = around(step, shape, USES)
    found = optimised(tangram_bin, model, "--strategy", strategy)
    assert weights(found) <= 1.05 * weights(model) + 2048
    assert weights(found) <= 1.05 * weights(by_onnxruntime(model)) + 2048
    agree(model, found, shape)


# What is folded away where the weight has one use.
FOLDED = {
    "normalised": "BatchNormalization", "normalised_in_groups": "BatchNormalization",
    "normalised_transposed": "BatchNormalization", "normalised_pointwise": "BatchNormalization",
    "biased_and_normalised": "BatchNormalization", "scaled": "Mul", "scaled_before": "Mul", "scaled_product": "Mul",
    "scaled_weight": "Mul", "low_rank": "Add", "summed": "Add",
}  # fmt: skip


@pytest.mark.parametrize("kind", FOLDED)
def test_a_weight_of_one_use_takes_in_what_is_beside_it(kind: str, tangram_bin) -> None:
    step, shape, around = KINDS[kind]
    model = around(step, shape, 1)
    found = optimised(tangram_bin, model)
    assert FOLDED[kind] in operators(model) and FOLDED[kind] not in operators(found)
    agree(model, found, shape)


@pytest.mark.parametrize("strategy", ["greedy", "saturate"])
@pytest.mark.parametrize("times", [2, 5])
def test_uses_that_make_the_same_of_a_weight_fold_it_together(times: int, strategy: str, tangram_bin) -> None:
    """Twins: each has the same convolution and the same normalisation."""
    parts: list[str] = []

    def step(g: Graph, x: str, i: int) -> str:
        if not parts:
            parts.extend(g.normalisation(32))
        return g.normalised(convolution(g, x, i), 32, parts)

    model = chained(step, IMAGE, times)
    found = optimised(tangram_bin, model, "--strategy", strategy)
    assert operators(found).count("BatchNormalization") == 0
    assert weights(found) <= weights(model)
    agree(model, found, IMAGE)


def test_parts_of_a_weight_take_its_place_together(tangram_bin) -> None:
    def step(g: Graph, x: str, i: int) -> str:
        places = [g.constant([n], np.int64) for n in (32 * i, 32 * i + 32, 1)]
        part = g.node("Slice", first(g, 64, 96), *places)
        return g.node("MatMul", x, part)

    model = beside(step, ROWS, 3)
    found = optimised(tangram_bin, model, "--disable", "parallel")
    assert "Slice" not in operators(found) and weights(found) <= weights(model)
    agree(model, found, ROWS)


def test_equal_weights_of_several_names_leave_room_for_what_is_made_of_them(tangram_bin) -> None:
    """Each use has a weight of its own; that all are equal makes nothing larger, and keeps nothing."""
    equal = np.random.default_rng(2).standard_normal((32, 32, 3, 3)).astype(np.float32) / 10

    def step(g: Graph, x: str, i: int) -> str:
        return g.normalised(g.node("Conv", x, g.constant(equal), pads=[1] * 4), 32)

    model = chained(step, IMAGE, USES)
    found = optimised(tangram_bin, model)
    assert "BatchNormalization" not in operators(found) and weights(found) <= weights(model)
    agree(model, found, IMAGE)


def random_model(seed: int) -> onnx.ModelProto:
    """Steps of all kinds on rows, each with a weight that others may have, or one of its own."""
    g, rng = Graph(), np.random.default_rng(seed)
    g.rng = rng
    pool = [g.weight(64, 64) for _ in range(int(rng.integers(1, 3)))]
    values = ["x"]

    def square() -> str:
        return str(rng.choice(pool)) if rng.random() < 0.8 else g.weight(64, 64)

    for _ in range(int(rng.integers(2, 9))):
        x = str(rng.choice(values[-2:]))
        match rng.integers(0, 7):
            case 0:
                y = g.node("Mul", g.node("MatMul", x, square()), g.constant(float(rng.choice([0.5, 2.0]))))
            case 1:
                y = g.node("MatMul", x, g.node("Mul", square(), g.weight(64)))
            case 2:
                y = g.node("MatMul", g.node("MatMul", x, square()), square())
            case 3:
                y = g.node("Add", g.node("MatMul", x, square()), g.node("MatMul", x, square()))
            case 4:
                y = g.node("Gemm", x, square(), g.weight(64), transB=int(rng.integers(0, 2)))
            case 5:
                y = g.node("MatMul", x, g.node("Transpose", square(), perm=[1, 0]))
            case _:
                y = g.node("Add", g.node("MatMul", x, square()), g.weight(64))
        values.append(g.node("Tanh", y) if rng.random() < 0.6 else y)
    return g.model(list(dict.fromkeys(values[-2:])), *ROWS)


def random_models_do_not_grow(seeds: range, command) -> None:
    for seed in seeds:
        model = random_model(seed)
        strategy = STRATEGIES[seed % 3]
        found = optimised(command, model, "--strategy", strategy)
        assert weights(found) <= 1.05 * weights(model) + 2048, (seed, strategy)
        agree(model, found, ROWS)


def test_random_models_do_not_grow(tangram_bin) -> None:
    random_models_do_not_grow(range(30), tangram_bin)


@pytest.mark.long
def test_many_random_models_do_not_grow(tangram_bin) -> None:
    random_models_do_not_grow(range(30, 600), tangram_bin)
