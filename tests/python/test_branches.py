"""Branches that shapes decide, states that are zeros, types behind learned models."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

import oracle
import small


@pytest.fixture
def command(tangram_bin, tmp_path) -> small.Command:
    return small.Command(tangram_bin, tmp_path)


def recurrent(operator: str) -> str:
    """A layer that takes a sample or a batch: whether it does is asked of the rank."""
    states, outputs = ("h", "y0, yh") if operator == "GRU" else ("h, h", "y0, yh, yc")
    return f"""(float[n, 4, t] x, float[1, n, 3] h) => (float[1, 1, n, 3] y) {{
        s = Shape(x)  two = Constant <value = int64 {{2}}> ()
        last = Gather(s, two)  one = Constant <value = int64 {{1}}> ()
        single = Equal(last, one)
        v = If (single) <then_branch = a () => (float[n, 4] p) {{ p = Squeeze(x, axes) }},
                         else_branch = b () => (float[n, 4, t] q) {{ q = Identity(x) }}>
        vs = Shape(v)  rank = Size(vs)  flat = Equal(rank, two)  batch = Not(flat)
        w = If (batch) <then_branch = c () => (float[a, b, c, d] p2) {{ p2 = Unsqueeze(v, zero) }},
                        else_branch = d () => (float[n, 4] q2) {{ q2 = Identity(v) }}>
        u = Unsqueeze(w, zero)
        {outputs} = {operator} <hidden_size = 3> (u, w0, r0, , , {states})
        y = Identity(y0)
    }}"""


@pytest.mark.parametrize("operator", ["LSTM", "GRU", "RNN"])
def test_a_branch_that_a_layer_cannot_take_is_not_taken(command, operator) -> None:
    gates = {"LSTM": 12, "GRU": 9, "RNN": 3}[operator]
    rng = np.random.default_rng(0)
    weights = {
        "w0": rng.standard_normal((1, gates, 4)).astype(np.float32),
        "r0": rng.standard_normal((1, gates, 3)).astype(np.float32),
        "axes": np.array([2]),
        "zero": np.array([0]),
    }
    body = recurrent("GRU" if operator == "RNN" else operator).replace("GRU", operator)
    model = small.model(body, weights=weights)
    found, _ = command.optimise(model)
    # The second branch follows from the rank that the layer takes, and with it that of the first,
    # which only squeezes: the other one would be of another rank.
    assert small.operators(found).count("If") == 0
    assert "Squeeze" in small.operators(found)
    x = rng.standard_normal((2, 4, 1)).astype(np.float32)
    inputs = {"x": x, "h": np.zeros((1, 2, 3), np.float32)}
    assert oracle.same(oracle.run_ort(found, inputs), oracle.run_ort(model, inputs))


def test_a_branch_within_a_branch_is_decided_by_the_layer_beside_it(command) -> None:
    rng = np.random.default_rng(0)
    weights = {
        "w0": rng.standard_normal((1, 12, 4)).astype(np.float32),
        "r0": rng.standard_normal((1, 12, 3)).astype(np.float32),
        "axes": np.array([2]),
        "zero": np.array([0]),
    }
    model = small.model(recurrent("LSTM"), weights=weights)
    # The whole program becomes one branch of a condition that data decides.
    body = onnx.helper.make_graph(
        list(model.graph.node), "then", [], list(model.graph.output), list(model.graph.initializer)
    )
    other = small.model(
        "(float[1, n, 3] h) => (float[1, 1, n, 3] z) { z = Unsqueeze(h, zero2) }",
        weights={"zero2": np.array([0])},
    ).graph
    del other.input[:]
    flag = onnx.helper.make_tensor_value_info("flag", onnx.TensorProto.BOOL, [])
    outer = small.model("(float[n, 4, t] x, float[1, n, 3] h) => (float[1, 1, n, 3] out) {}")
    outer.graph.input.append(flag)
    outer.graph.node.append(
        onnx.helper.make_node("If", ["flag"], ["out"], then_branch=body, else_branch=other)
    )
    found, _ = command.optimise(outer)
    (choice,) = [node for node in found.graph.node if node.op_type == "If"]
    then = next(a.g for a in choice.attribute if a.name == "then_branch")
    assert "If" not in [node.op_type for node in then.node]
    x = rng.standard_normal((2, 4, 1)).astype(np.float32)
    inputs = {"x": x, "h": np.zeros((1, 2, 3), np.float32), "flag": np.array(True)}
    assert oracle.same(oracle.run_ort(found, inputs), oracle.run_ort(outer, inputs))


def test_ranks_that_both_could_be_stay_open(command) -> None:
    model = small.model(
        """(float[n, 4, t] x) => (float y) {
            s = Shape(x)  two = Constant <value = int64 {2}> ()
            last = Gather(s, two)  one = Constant <value = int64 {1}> ()
            single = Equal(last, one)
            v = If (single) <then_branch = a () => (float[n, 4] p) { p = Squeeze(x, axes) },
                             else_branch = b () => (float[n, 4, t] q) { q = Identity(x) }>
            vs = Shape(v)  rank = Size(vs)  flat = Equal(rank, two)
            w = If (flat) <then_branch = c () => (float[a, b] p2) { p2 = Relu(v) },
                           else_branch = d () => (float[a, b, c] q2) { q2 = Neg(v) }>
            y = ReduceSum <keepdims = 0> (w)
        }""",
        weights={"axes": np.array([2])},
    )
    found, _ = command.optimise(model)
    assert small.operators(found).count("If") == 2
    for steps in (1, 2):
        inputs = {"x": np.random.default_rng(0).standard_normal((2, 4, steps)).astype(np.float32)}
        assert oracle.same(oracle.run_ort(found, inputs), oracle.run_ort(model, inputs))


LEARNED = {
    "scaler": "a = ai.onnx.ml.Scaler <offset = [0.5], scale = [2.0]> (x)",
    "normalizer": 'a = ai.onnx.ml.Normalizer <norm = "L2"> (x)',
    "binarizer": "a = ai.onnx.ml.Binarizer <threshold = 0.1> (x)",
    "regressor": "a = ai.onnx.ml.LinearRegressor <coefficients = [1.0, 2.0], intercepts = [0.5]> (x)",
}


@pytest.mark.parametrize("name", LEARNED)
def test_what_does_nothing_behind_a_learned_model_goes_away(command, name) -> None:
    width = 1 if name == "regressor" else 2
    model = small.model(
        f"""(float[n, 2] x) => (float[n, {width}] y) {{
            {LEARNED[name]}
            b = Cast <to = 1> (a)  c = Mul(b, one)  d = Identity(c)  y = Reshape(d, s)
        }}""",
        weights={"one": np.ones(1, np.float32), "s": np.array([0, width])},
    )
    found, _ = command.optimise(model)
    assert len(small.operators(found)) == 1, small.operators(found)
    inputs = {"x": np.array([[1.0, -2.0], [0.05, 3.0]], np.float32)}
    assert oracle.same(oracle.run_ort(found, inputs), oracle.run_ort(model, inputs))


# A value of a body has the name of a result of the node around it, or of one that comes later.
NAMED_ALIKE = {
    "a state": """y = Scan <num_scan_inputs = 1, body = b (float[4] z) => (float[4] e) { e = Neg(z) }> (x)
                  z = Abs(y)""",
    "a state, of the node itself": """z = If (c) <
        then_branch = p () => (float[n, 4] y1) {
            y1 = Scan <num_scan_inputs = 1, body = b (float[4] z) => (float[4] e) { e = Neg(z) }> (x) },
        else_branch = q () => (float[n, 4] y2) { y2 = Abs(x) }>""",
    "a result, of a later node": """y = If (c) <
        then_branch = p () => (float[n, 4] z) { z = Neg(x) },
        else_branch = q () => (float[n, 4] y2) { y2 = Abs(x) }>  z = Exp(y)""",
    "seen from a graph further in": """z = If (c) <
        then_branch = p () => (float[n, 4] y1) {
            y1, l = Scan <num_scan_inputs = 1, body = b (float[n, 4] z, float[4] e)
                => (float[n, 4] s, float[4] l0) {
                    s = If (c) <then_branch = p1 () => (float[n, 4] y3) { y3 = Neg(z) },
                                else_branch = q1 () => (float[n, 4] y4) { y4 = Exp(z) }>
                    l0 = Identity(e) }> (x, x) },
        else_branch = q () => (float[n, 4] y2) { y2 = Abs(x) }>""",
}  # fmt: skip


@pytest.mark.parametrize("case", NAMED_ALIKE)
def test_a_body_may_name_its_values_as_what_comes_later(command, case) -> None:
    before = small.model(f"(float[n, 4] x, bool c) => (float[n, 4] z) {{ {NAMED_ALIKE[case]} }}")
    after, _ = command.optimise(before)
    for flag in (True, False):
        inputs = {"x": np.ones((3, 4), np.float32), "c": np.array(flag)}
        assert oracle.same(oracle.run_ort(after, inputs), oracle.run_ort(before, inputs))
