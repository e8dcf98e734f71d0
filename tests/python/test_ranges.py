"""Dimensions that lie between two sizes: folding and rules may rely on that, the check keeps to it."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import oracle
import small
import tangram

I64 = np.int64


def at_least_one() -> onnx.ModelProto:
    """Asks at run time whether `seq` is at least 1 and below 600, and slices the first 512."""
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Gather", ["s", "one"], ["seq"], axis=0),
        helper.make_node("Greater", ["seq", "limit"], ["big"]),
        helper.make_node("Where", ["big", "neg", "two"], ["factor"]),
        helper.make_node("Mul", ["x", "factor"], ["m"]),
        helper.make_node("Slice", ["m", "zeros", "ends", "axes"], ["y"]),
    ]
    constants = {
        "one": np.array(1, I64), "limit": np.array(600, I64), "zeros": np.array([0], I64),
        "ends": np.array([512], I64), "axes": np.array([1], I64),
        "neg": np.array(-1, np.float32), "two": np.array(2, np.float32),
    }
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", "seq"])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", None])
    graph = helper.make_graph(nodes, "limits", [x], [y], [numpy_helper.from_array(v, n) for n, v in constants.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def operators(workload) -> list[str]:
    return [node.op_type for node in workload.to_onnx().graph.node]


@pytest.mark.parametrize("size", ["1..512", (1, 512), range(1, 513)])
def test_what_holds_for_all_allowed_sizes_is_decided(size) -> None:
    before = at_least_one()
    kept = tangram.optimize(before, check=True)
    assert "Slice" in operators(kept) and "Greater" in operators(kept)
    better = tangram.optimize(before, dim={"seq": size}, check=True)
    assert operators(better) == ["Mul"]
    for n in (1, 7, 512):
        x = np.ones((2, n), np.float32)
        np.testing.assert_array_equal(oracle.run_ort(better.to_onnx(), {"x": x})[0], oracle.run_ort(before, {"x": x})[0])


def test_a_range_that_does_not_decide_changes_nothing() -> None:
    assert "Slice" in operators(tangram.optimize(at_least_one(), dim={"seq": "1..513"}))
    assert "Greater" in operators(tangram.optimize(at_least_one(), dim={"seq": "1..601"}))
    # One that is beyond the limit decides the other way.
    after = tangram.optimize(at_least_one(), dim={"seq": "601.."}, check=True)
    assert "Greater" not in operators(after) and "Slice" in operators(after)
    x = np.ones((1, 700), np.float32)
    np.testing.assert_array_equal(oracle.run_ort(after.to_onnx(), {"x": x})[0], -np.ones((1, 512), np.float32))


def test_the_model_itself_stays_open() -> None:
    whole = tangram.Workload.from_onnx(at_least_one())
    whole.edit(dim={"seq": "1..512"})
    assert "Slice" in operators(whole.optimize())


def test_rules_see_the_range() -> None:
    rule = """
    rule only-short exact {
      let x = *;
      match relu(x);
      where x.shape[1] <= 512;
      rewrite maximum(x, 0.0);
    }
    """
    node = helper.make_node("Relu", ["x"], ["y"])
    io = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", "seq"]) for name in "xy"]
    graph = helper.make_graph([node], "relu", io[:1], io[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    for dim, fired in ((None, 0), ({"seq": "1..512"}, 1), ({"seq": "1..513"}, 0)):
        made = tangram.optimize(model, rule, library=False, dim=dim)
        assert made.report.fired.get("only-short", 0) == fired


def test_the_check_tries_allowed_sizes() -> None:
    short = tangram.Workload.from_onnx(at_least_one()).edit(dim={"seq": "40..44"})
    found = tangram.check(short, short, runs=4)
    sizes = {run[0][1] for run in found.data["runs"]}
    assert len(sizes) > 1 and sizes <= set(range(40, 45))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dim": {"rows": "1..4"}}, "no input has a dimension `rows`"),
        ({"dim": {"seq": "1..4"}, "input_shape": {"x": [2, 5]}}, "`seq` cannot be 5: it is between 1 and 4"),
    ],
)
def test_what_cannot_be_is_said(options, message) -> None:
    with pytest.raises(tangram.ModelError, match=message):
        tangram.optimize(at_least_one(), **options)


def test_an_empty_range_is_no_range() -> None:
    with pytest.raises(ValueError, match="no size is between 5 and 4"):
        tangram.optimize(at_least_one(), dim={"seq": "5..4"})


@pytest.mark.parametrize("options", [{"dim": {"n": 3}}, {"input_shape": {"x": [3, 2]}}])
def test_a_size_that_contradicts_the_model_is_an_error(options) -> None:
    model = small.model("(float[n, 2] x) => (float[5, 2] y) { y = Add(x, k) }", weights={"k": np.ones((5, 2), np.float32)})
    with pytest.raises(tangram.ModelError, match="with these sizes the model cannot run: .* 3 and 5 do not broadcast"):
        tangram.optimize(model, **options)
    assert operators(tangram.optimize(model, dim={"n": 5})) == ["Add"]


@pytest.mark.parametrize(("body", "sizes"), [
    ("(float[n, 4] x) => (float[p, 6] y) { y = Reshape(x, s) }", {"n": 4}),
    ("(float[n, k] a, float[p, j] b) => (float[q, 2] y) { c = Concat <axis = 0> (a, b)  y = MatMul(c, w) }", {"j": 5}),
    ("(float[n, k] a, float[p, j] b) => (float[q, 2] y) { c = Concat <axis = 0> (b, a)  y = MatMul(c, w) }", {"j": 5}),
])  # fmt: skip
def test_sizes_that_no_run_can_have_are_refused(body, sizes) -> None:
    weights = {"s": np.array([-1, 6])} if "Reshape" in body else {"w": np.ones((4, 2), np.float32)}
    model = small.model(body, 17, weights)
    with pytest.raises(tangram.ModelError, match="with these sizes the model cannot run"):
        tangram.optimize(model, dim=sizes)
    fits = {"n": 6} if "n" in sizes else {"j": 4}
    tangram.optimize(model, dim=fits)
