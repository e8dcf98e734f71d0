"""Models in floats of 16 bits: what onnxruntime and onnx's evaluator make of them."""

from __future__ import annotations

import json
import subprocess

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import oracle
import tangram
from conftest import ROOT
from test_examples import SMALL, given

MODELS = ROOT / "examples" / "models"
FLOAT, HALF, BRAIN = TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16


def model(nodes, constants=(), opset=21, outputs=("y",), shape=(2, 4), checked=True) -> onnx.ModelProto:
    """A model of one input `x`."""
    graph = helper.make_graph(
        [helper.make_node(*node[:3], **(node[3] if len(node) > 3 else {})) for node in nodes],
        "small",
        [helper.make_tensor_value_info("x", FLOAT, shape)],
        [helper.make_tensor_value_info(name, FLOAT, ["rows", "columns"]) for name in outputs],
        [numpy_helper.from_array(np.asarray(value, np.float32), name) for name, value in constants],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    if checked:
        onnx.checker.check_model(made)
    return made


def narrowed(given: onnx.ModelProto, to: str = "float16", **options) -> tuple[onnx.ModelProto, dict]:
    """The model as it is, in narrow floats, and the report; the interface is what it was."""
    made = tangram.optimize(given, to=to, only="remove-identity", **options)
    result = made.to_onnx()
    onnx.checker.check_model(result, full_check=True)
    interface = [[(v.name, v.type.tensor_type.elem_type) for v in side] for m in (given, result) for side in (m.graph.input, m.graph.output)]
    assert interface[:2] == interface[2:]
    return result, made.report.narrowed


def kinds(model: onnx.ModelProto) -> dict[str, int]:
    """The element types of weights by name."""
    return {tensor.name: tensor.data_type for tensor in model.graph.initializer}


def operators(model: onnx.ModelProto) -> list[str]:
    return [node.op_type for node in model.graph.node]


def stays(report: dict) -> dict[str, str]:
    return {kept["operator"]: kept["why"] for kept in report["kept"]}


@pytest.mark.parametrize("name", ["cnn", "transformer", "inception", "lstm_tagger", "legacy", "control", "text", "quantised"])
def test_examples_compute_nearly_the_same_in_half(name) -> None:
    before = onnx.load(MODELS / f"{name}.onnx")
    made = tangram.optimize(before, to="float16", check=True)
    after = made.to_onnx()
    onnx.checker.check_model(after, full_check=True)
    inputs = oracle.random_inputs(before, {**SMALL, "steps": 3}, given=given(before))
    for a, b in zip(oracle.run_ort(before, inputs), oracle.run_ort(after, inputs), strict=True):
        assert a.dtype == b.dtype
        if a.dtype == np.float32:
            np.testing.assert_allclose(b, a, rtol=0, atol=1e-2 * max(1e-3, np.abs(a).max()))
    assert made.report.narrowed["nodes"] > 0


def test_every_weight_and_value_is_narrow() -> None:
    after = tangram.optimize(MODELS / "transformer.onnx", to="float16").to_onnx()
    assert FLOAT not in kinds(after).values()
    inferred = onnx.shape_inference.infer_shapes(after, strict_mode=True, data_prop=True)
    wide = {v.name for v in inferred.graph.value_info if v.type.tensor_type.elem_type == FLOAT}
    assert wide == set(), "a value in between is wide"


def test_the_difference_is_the_one_that_is_measured() -> None:
    before = onnx.load(MODELS / "transformer.onnx")
    made = tangram.optimize(before, to="bfloat16")
    found = made.report.narrowed["difference"]["relative"]
    # bfloat16 has 8 bits: a rounding is up to 2^-9 of a number, and they add up.
    assert 2**-10 < found < 2**-4
    assert made.report.narrowed["to"] == "bfloat16"
    assert BRAIN in kinds(made.to_onnx()).values()


def test_bfloat16_agrees_with_the_evaluator_of_onnx() -> None:
    weights = np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3)
    before = model([("MatMul", ["x", "w"], ["m"]), ("Relu", ["m"], ["y"])], [("w", weights)])
    after, _ = narrowed(before, "bfloat16")
    assert operators(after) == ["Cast", "MatMul", "Relu", "Cast"]
    x = np.linspace(-2, 2, 8, dtype=np.float32).reshape(2, 4)
    (wide,), (narrow,) = (oracle.run_reference(m, {"x": x}) for m in (before, after))
    np.testing.assert_allclose(narrow, wide, atol=3e-2)
    assert not np.array_equal(narrow, wide)


def test_what_may_leave_the_range_stays_until_it_is_small_again() -> None:
    # The root of a mean of squares, as exporters write it: 300 squared is beyond float16.
    nodes = [
        ("Pow", ["x", "two"], ["p"]),
        ("ReduceMean", ["p"], ["m"], {"keepdims": 1}),
        ("Sqrt", ["m"], ["s"]),
        ("Div", ["x", "s"], ["d"]),
        ("Mul", ["d", "w"], ["y"]),
    ]
    before = model(nodes, [("two", 2), ("w", [1, 2, 3, 4])])
    after, report = narrowed(before)
    assert set(stays(report)) == {"Pow", "ReduceMean", "Sqrt"}
    x = np.array([[300, -200, 400, 500], [1, 2, 3, 4]], np.float32)
    wide, narrow = (oracle.run_ort(m, {"x": x})[0] for m in (before, after))
    np.testing.assert_allclose(narrow, wide, rtol=2e-3)
    assert kinds(after)["w"] == HALF and kinds(after)["two"] == FLOAT


@pytest.mark.parametrize(("value", "why"), [(-1e38, "float16 has no -1e38"), (1e-9, "1e-9 is 0 in float16")])
def test_constants_that_do_not_fit_keep_what_reads_them(value, why) -> None:
    before = model([("Add", ["x", "c"], ["a"]), ("Softmax", ["a"], ["y"])], [("c", value)])
    after, report = narrowed(before)
    assert f"reads `c`: {why}" == stays(report)["Add"] and kinds(after) == {"c": FLOAT}
    x = np.ones((2, 4), np.float32)
    wide, narrow = (oracle.run_ort(m, {"x": x})[0] for m in (before, after))
    np.testing.assert_allclose(narrow, wide, rtol=1e-3)
    assert narrow.sum() > 1.9, "a row whose every place is masked still adds up to 1"
    # bfloat16 has the range of float32.
    assert stays(narrowed(before, "bfloat16")[1]) == {}


@pytest.mark.parametrize("to", ["float16", "bfloat16"])
def test_a_row_that_is_all_masked_stays_finite(to) -> None:
    # The least float32 is -inf in both types, and a Softmax of nothing but -inf is NaN.
    nodes = [("Mul", ["x", "least"], ["m"]), ("Reshape", ["m", "shape"], ["r"]), ("Softmax", ["r"], ["y"])]
    constants = [("least", np.finfo(np.float32).min)]
    before = model(nodes, constants, checked=False)
    before.graph.initializer.append(numpy_helper.from_array(np.array([2, 4], np.int64), "shape"))
    after, report = narrowed(before, to)
    assert {"Mul", "Softmax"} <= set(stays(report))
    x = np.ones((2, 4), np.float32)
    np.testing.assert_allclose(tangram.Workload.from_onnx(after)(x), 0.25)


def test_a_constant_of_both_kinds_is_there_twice_and_casts_once() -> None:
    nodes = [
        ("Mul", ["x", "w"], ["a"]),
        ("Exp", ["w"], ["e"]),
        ("Mul", ["a", "e"], ["b"]),
        ("Neg", ["b"], ["y"]),
        ("Abs", ["b"], ["z"]),
    ]
    before = model(nodes, [("w", [1, 2, 3, 4])], outputs=("y", "z"))
    after, report = narrowed(before)
    assert sorted(kinds(after).values()) == [FLOAT, HALF]
    # One for the input, one for each output; `e` is wide, and all that is computed from it.
    assert stays(report) == {
        "Exp": "results may leave the range of float16",
        "Mul": "reads what may leave the range of float16",
        "Neg": "reads what may leave the range of float16",
        "Abs": "reads what may leave the range of float16",
    }
    assert operators(after).count("Cast") == report["casts"] == 2


def test_constant_nodes_and_filled_tensors_are_narrow() -> None:
    nodes = [
        ("Constant", [], ["c"], {"value_floats": [1.0, 2.0, 3.0, 4.0]}),
        ("Shape", ["x"], ["s"]),
        ("ConstantOfShape", ["s"], ["f"]),
        ("Add", ["x", "c"], ["a"]),
        ("Add", ["a", "f"], ["y"]),
    ]
    before = model(nodes)
    after = tangram.Workload.from_onnx(before).optimize(to="float16", library=False, only="remove-identity", fold_limit=0)
    types = {node.op_type: node.attribute[0].t.data_type for node in after.to_onnx().graph.node if node.op_type.startswith("Constant")}
    assert set(types.values()) <= {HALF}
    x = np.ones((2, 4), np.float32)
    np.testing.assert_array_equal(oracle.run_ort(after.to_onnx(), {"x": x})[0], oracle.run_ort(before, {"x": x})[0])


def test_what_is_asked_to_stay_stays() -> None:
    before = onnx.load(MODELS / "transformer.onnx")
    report = tangram.optimize(before, to="float16", keep="MatMul,Gelu").report.narrowed
    assert stays(report) == {"MatMul": "`MatMul` was asked to stay", "Gelu": "`Gelu` was asked to stay"}
    with pytest.raises(tangram.ModelError, match="`Nope` is no operator, node or value"):
        tangram.optimize(before, to="float16", keep=["Nope"])
    with pytest.raises(ValueError, match="give both"):
        tangram.optimize(before, keep=["MatMul"])
    with pytest.raises(ValueError, match="`to` is `float8`"):
        tangram.optimize(before, to="float8")


def test_branches_see_what_is_outside_in_the_type_that_they_want() -> None:
    def branch(name: str, node: onnx.NodeProto) -> onnx.GraphProto:
        return helper.make_graph([node], name, [], [helper.make_tensor_value_info("r", FLOAT, [2, 4])])

    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("ReduceMax", ["a"], ["m"], keepdims=0),
        helper.make_node("Cast", ["m"], ["c"], to=TensorProto.BOOL),
        helper.make_node("If", ["c"], ["i"], then_branch=branch("t", helper.make_node("Exp", ["a"], ["r"])),
                         else_branch=branch("e", helper.make_node("Neg", ["a"], ["r"]))),
        helper.make_node("Mul", ["i", "a"], ["y"]),
    ]
    io = [helper.make_tensor_value_info(name, FLOAT, [2, 4]) for name in "xy"]
    graph = helper.make_graph(nodes, "branches", io[:1], io[1:])
    before = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    after, report = narrowed(before)
    assert "what goes into its graphs" in stays(report)["If"]
    for x in (np.ones((2, 4), np.float32), -np.ones((2, 4), np.float32)):
        wide, narrow = (oracle.run_ort(m, {"x": x})[0] for m in (before, after))
        np.testing.assert_allclose(narrow, wide, rtol=2e-3)


def test_the_command_says_what_stays(tangram_bin, tmp_path) -> None:
    words = [tangram_bin, "opt", MODELS / "control.onnx", "-o", tmp_path / "o.onnx", "--json", tmp_path / "r.json"]
    told = subprocess.run([*words, "--to", "float16", "--check"], capture_output=True, text=True, check=True).stdout
    report = json.loads((tmp_path / "r.json").read_text())["narrowed"]
    assert "ReduceSum" in told and "may leave the range of float16" in told and "difference" in told
    assert f"{report['nodes']} nodes" in told and "tolerance 5e-3" in told
    # What the model's own operator set has no Cast for is said, with the way out.
    words = [tangram_bin, "opt", MODELS / "legacy.onnx", "-o", tmp_path / "o.onnx", "--to", "bfloat16"]
    refused = subprocess.run(words, capture_output=True, text=True)
    assert refused.returncode != 0 and "operator set 9 has no bfloat16" in refused.stderr
    assert subprocess.run([*words, "--opset", "17", "-q"]).returncode == 0
    assert onnx.load(tmp_path / "o.onnx").opset_import[0].version == 17
