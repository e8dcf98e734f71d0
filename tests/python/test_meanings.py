"""Nodes whose meaning is easily missed: odd flags, absent bounds, names, kinds of sequences."""

from __future__ import annotations

import re

import numpy as np
import onnx
import pytest
from onnx import helper

import oracle
import small


@pytest.fixture
def command(tangram_bin, tmp_path) -> small.Command:
    return small.Command(tangram_bin, tmp_path)


def same_on(model: onnx.ModelProto, found: onnx.ModelProto, inputs: dict) -> None:
    """Compares both in onnxruntime."""
    onnx.checker.check_model(found, full_check=True)
    assert oracle.same(oracle.run_ort(found, inputs), oracle.run_ort(model, inputs))


@pytest.mark.parametrize("node", [
    "y = ReduceMean <axes = [0], keepdims = 2> (x)",
    "y = ReduceMax <axes = [0], keepdims = -1> (x)",
    "y = ArgMax <axis = 0, keepdims = 3> (x)",
])  # fmt: skip
def test_a_flag_that_is_neither_0_nor_1_means_what_it_means_to_others(command, node) -> None:
    kind = "int64" if "ArgMax" in node else "float"
    model = small.model(f"(float[1] x) => ({kind} y) {{ {node} }}")
    found, report = command.optimise(model)
    same_on(model, found, {"x": np.array([2], np.float32)})
    assert any("neither 0 nor 1" in line for line in report["warnings"])


@pytest.mark.parametrize("opset", [9, 10, 11, 12, 17])
def test_a_clip_without_bounds_makes_infinities_finite(command, opset) -> None:
    model = small.model("(float[4] x) => (float[4] y) { y = Clip(x) }", opset=opset)
    found, _ = command.optimise(model)
    same_on(model, found, {"x": np.array([np.inf, -np.inf, 1, -1], np.float32)})


def test_no_node_takes_the_name_of_another(command) -> None:
    weights = {"w": np.eye(3, dtype=np.float32), "b": np.ones(3, np.float32)}
    model = small.model(
        """(float[2, 3] x) => (float16[2, 3] y) {
            p = MatMul(x, w)  s = Add(p, b)  y = Cast <to = 10> (s)
        }""",
        weights=weights,
    )
    # As converters to half precision name their casts.
    for node, name in zip(model.graph.node, ["", "", "s"]):
        node.name = name
    found, _ = command.optimise(model)
    assert small.operators(found) == ["Gemm", "Cast"]
    assert len({node.name for node in found.graph.node}) == 2
    same_on(model, found, {"x": np.ones((2, 3), np.float32)})


def test_nodes_of_two_branches_may_have_one_name(command) -> None:
    def branch(operator: str, output: str) -> onnx.GraphProto:
        info = helper.make_tensor_value_info(output, onnx.TensorProto.FLOAT, [2])
        node = helper.make_node(operator, ["x"], [output], name="same")
        return helper.make_graph([node], f"g{output}", [], [info])

    model = small.model("(float[2] x) => (float[2] y, float[2] z) { y = Neg(x)  z = Neg(x) }")
    del model.graph.node[:]
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.array(True), "yes"))
    for output, operator in (("y", "Neg"), ("z", "Exp")):
        branches = {
            "then_branch": branch(operator, f"{output}a"),
            "else_branch": branch("Abs", f"{output}b"),
        }
        node = helper.make_node("If", ["yes"], [output], name=output, **branches)
        model.graph.node.append(node)
    found, _ = command.optimise(model)
    assert sorted(small.operators(found)) == ["Exp", "Neg"]
    same_on(model, found, {"x": np.ones(2, np.float32)})


def test_a_sequence_may_know_less_of_its_tensors_than_they_do(command) -> None:
    model = small.model(
        """(float[2, 3] x) => (float[a, b] y) {
            yes = Constant <value = bool {1}> ()
            v = If (yes) <then_branch = a () => (float[2, 3] p) { p = Neg(x) },
                          else_branch = b () => (float[1] q) { q = Constant <value = float[1] {0.0}> () }>
            s = SequenceConstruct(v, x)  y = ConcatFromSequence <axis = 0> (s)
        }"""
    )
    found, _ = command.optimise(model)
    same_on(model, found, {"x": np.ones((2, 3), np.float32)})


@pytest.mark.parametrize("opset", [11, 13, 14])
def test_two_outputs_may_be_one_sequence(command, opset) -> None:
    model = small.model(
        """(float[2] x) => (seq(float[2]) y, seq(float[2]) z) {
            y = SequenceConstruct(x, x)  z = SequenceConstruct(x, x)
        }""",
        opset=opset,
    )
    found, _ = command.optimise(model)
    same_on(model, found, {"x": np.ones(2, np.float32)})


def test_a_text_that_no_operator_knows_is_left_to_who_knows_it(command) -> None:
    model = small.model(
        """(float[2, 3] x, int64[2] t) => (float[a] y) {
            y = NegativeLogLikelihoodLoss <reduction = "add"> (x, t)
        }""",
        opset=13,
    )
    found, report = command.optimise(model)
    assert small.operators(found) == ["NegativeLogLikelihoodLoss"]
    assert any("not known" in line for line in report["warnings"])


# A model, its operators afterwards, and the extents of its inputs.
SHORTER = {
    "a reduction of one element": (
        "(float[n, 1] x) => (float[n, 1] y) { a = ReduceMean <axes = [1], keepdims = 0> (x)"
        " c = Unsqueeze(a, one)  y = Neg(c) }",
        ["Neg"],
        {"x": (3, 1)},
    ),
    "a reshape to what is there": (
        "(float[?, 2] x) => (float[?, ?] y) { a = Reshape(x, row)  y = Neg(a) }",
        ["Neg"],
        {"x": (3, 2)},
    ),
    "a matrix flattened": (
        "(float[?, ?] x) => (float[?, ?] y) { a = Flatten(x)  y = Neg(a) }",
        ["Neg"],
        {"x": (3, 2)},
    ),
    "columns chosen by place": (
        "(float[n, 4] x) => (float[n, ?] y) { a = ai.onnx.ml.ArrayFeatureExtractor(x, place)"
        " y = ReduceProd <axes = [1]> (a) }",
        ["ArrayFeatureExtractor"],
        {"x": (3, 4)},
    ),
    "a dimension put into a reshape": (
        "(float[n, 4] x) => (float[?, ?, ?, ?] y) { a = Reshape(x, pairs)  y = Unsqueeze(a, one) }",
        ["Reshape"],
        {"x": (3, 4)},
    ),
    "zeros for two directions": (
        "(float[2, n, 2] x) => (float[2, 2, n, 1] y) { s = Shape <start = 1, end = 2> (x)"
        " e = Concat <axis = 0> (one, s, one)  z = Expand(zero, e)  h = Concat <axis = 0> (z, z)"
        " y = GRU <hidden_size = 1, direction = \"bidirectional\"> (x, gw, gr, , , h) }",
        ["GRU"],
        {"x": (2, 3, 2)},
    ),
    "a row added to a product": (
        "(float[n, 2] x) => (float[n, 3] y) { a = MatMul(x, w)  y = Add(a, b) }",
        ["Gemm"],
        {"x": (4, 2)},
    ),
}


@pytest.mark.parametrize("name", SHORTER)
def test_nothing_is_left_that_does_nothing(command, name) -> None:
    body, expected, extents = SHORTER[name]
    weights = {
        "one": np.array([1]),
        "row": np.array([-1, 2]),
        "place": np.array([2]),
        "pairs": np.array([-1, 2, 2]),
        "zero": np.array(0, np.float32),
        "gw": np.ones((2, 3, 2), np.float32),
        "gr": np.ones((2, 3, 1), np.float32),
        "w": np.arange(6, dtype=np.float32).reshape(2, 3),
        "b": np.arange(3, dtype=np.float32).reshape(1, 3),
    }
    used = {key: value for key, value in weights.items() if re.search(rf"[(,] ?{key}[,)]", body)}
    body = body.replace("float[?, ?] x", "float[a, b] x").replace("float[?, 2] x", "float[a, 2] x")
    model = small.model(body.replace("?", "m"), opset=17, weights=used)
    for value in model.graph.input:
        # Extents of which nothing is said, as converters write them.
        for dim in value.type.tensor_type.shape.dim:
            dim.ClearField("dim_param")
    found, _ = command.optimise(model)
    assert small.operators(found) == expected
    rng = np.random.default_rng(0)
    inputs = {key: rng.standard_normal(shape).astype(np.float32) for key, shape in extents.items()}
    assert oracle.same(oracle.run_ort(found, inputs), oracle.run_ort(model, inputs))
