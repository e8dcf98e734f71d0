"""Local functions of a model in the place of their calls; onnx's own evaluator, which calls them, judges."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import AttributeProto, FunctionProto, TensorProto, helper

import oracle
import tangram

X = np.linspace(-2, 3, 8, dtype=np.float32).reshape(2, 4)
SETS = [helper.make_opsetid("", 18), helper.make_opsetid("local", 1)]


def reference(node: onnx.NodeProto, name: str, of: str, kind: int) -> onnx.NodeProto:
    """The node with an attribute that is one of the function's."""
    node.attribute.append(AttributeProto(name=name, ref_attr_name=of, type=kind))
    return node


def scale(sets=SETS) -> FunctionProto:
    """`a * factor`, 2 if it is not given; and `a`, as it came."""
    constant = reference(helper.make_node("Constant", [], ["f"]), "value_float", "factor", AttributeProto.FLOAT)
    nodes = [constant, helper.make_node("Mul", ["a", "f"], ["b"])]
    made = helper.make_function("local", "Scale", ["a"], ["b", "a"], nodes, sets)
    made.attribute_proto.append(helper.make_attribute("factor", 2.0))
    return made


def gate(sets=SETS) -> FunctionProto:
    """One of two, by the greatest number; calls another function in a branch."""
    def graph(name: str, *nodes: onnx.NodeProto) -> onnx.GraphProto:
        return helper.make_graph(nodes, name, [], [helper.make_tensor_value_info("r", TensorProto.FLOAT, [2, 4])])

    choice = helper.make_node(
        "If", ["c"], ["y"],
        then_branch=graph("t", helper.make_node("Scale", ["v"], ["r"], domain="local", factor=3.0)),
        else_branch=graph("e", helper.make_node("Neg", ["v"], ["n"]), helper.make_node("Scale", ["n"], ["r"], domain="local")),
    )
    nodes = [
        helper.make_node("ReduceMax", ["v"], ["m"], keepdims=0),
        helper.make_node("Cast", ["m"], ["c"], to=TensorProto.BOOL),
        choice,
    ]
    return helper.make_function("local", "Gate", ["v"], ["y"], nodes, sets)


def model(functions=None) -> onnx.ModelProto:
    nodes = [
        helper.make_node("Scale", ["x"], ["s", "same"], domain="local", factor=-1.0),
        helper.make_node("Gate", ["s"], ["g"], domain="local", name="first"),
        helper.make_node("Gate", ["g"], ["h"], domain="local"),
        helper.make_node("Add", ["h", "same"], ["y"]),
    ]
    io = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 4]) for name in "xy"]
    graph = helper.make_graph(nodes, "calls", io[:1], io[1:])
    functions = [scale(), gate()] if functions is None else functions
    return helper.make_model(graph, opset_imports=SETS, functions=functions, ir_version=9)


def test_bodies_take_the_place_of_calls() -> None:
    before = model()
    after = tangram.optimize(before, inline_functions=True, check=True).to_onnx()
    onnx.checker.check_model(after, full_check=True)
    assert not after.functions and not any(node.domain == "local" for node in after.graph.node)
    for x in (X, -abs(X)):
        (expected,) = oracle.run_reference(before, {"x": x})
        np.testing.assert_allclose(oracle.run_ort(after, {"x": x})[0], expected, rtol=1e-6)


def test_without_the_flag_calls_stay() -> None:
    after = tangram.optimize(model()).to_onnx()
    assert {f.name for f in after.functions} == {"Scale", "Gate"}


def test_other_edits_see_what_stood_in_functions() -> None:
    part = tangram.Workload.from_onnx(model()).edit(inline_functions=True, outputs=["first/m"])
    np.testing.assert_allclose(oracle.run_ort(part.to_onnx(), {"x": X})[0], 2.0)


def test_a_function_of_other_operator_sets_stays_and_says_so() -> None:
    # ReduceSum took its axes as an attribute before operator set 13.
    old = helper.make_function(
        "local", "Scale", ["a"], ["b"], [helper.make_node("ReduceSum", ["a"], ["b"], axes=[1])],
        [helper.make_opsetid("", 11)],
    )
    nodes = [helper.make_node("Scale", ["x"], ["y"], domain="local")]
    io = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 4]) for name in "xy"]
    graph = helper.make_graph(nodes, "old", io[:1], io[1:])
    before = helper.make_model(graph, opset_imports=SETS, functions=[old], ir_version=9)
    made = tangram.optimize(before, inline_functions=True)
    assert [f.name for f in made.to_onnx().functions] == ["Scale"]
    told = " ".join(made.report.data["warnings"])
    assert "`Scale` stays: its `ReduceSum` is that of version 11" in told


def test_functions_without_end_are_refused() -> None:
    call = helper.make_node("Gate", ["v"], ["y"], domain="local")
    loop = helper.make_function("local", "Gate", ["v"], ["y"], [call], SETS)
    with pytest.raises(tangram.ModelError, match="function `Gate` calls itself"):
        tangram.optimize(model([scale(), loop]), inline_functions=True)
    # Each calls the one before twice: 2^40 nodes.
    doubling = [scale()]
    for n in range(40):
        name = f"F{n - 1}" if n else "Scale"
        nodes = [helper.make_node(name, ["a"], ["b"], domain="local"), helper.make_node(name, ["b"], ["c"], domain="local")]
        doubling.append(helper.make_function("local", f"F{n}", ["a"], ["c"], nodes, SETS))
    with pytest.raises(tangram.ModelError, match="too many nodes"):
        tangram.optimize(model([*doubling, gate()]), inline_functions=True)


def test_an_absent_input_stays_absent() -> None:
    nodes = [helper.make_node("Clip", ["a", "low", "high"], ["b"])]
    clip = helper.make_function("local", "Bound", ["a", "low", "high"], ["b"], nodes, SETS)
    calls = [helper.make_node("Bound", ["x", "", "top"], ["y"], domain="local")]
    io = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 4]) for name in "xy"]
    top = onnx.numpy_helper.from_array(np.float32(1), "top")
    graph = helper.make_graph(calls, "absent", io[:1], io[1:], [top])
    before = helper.make_model(graph, opset_imports=SETS, functions=[clip], ir_version=9)
    after = tangram.optimize(before, inline_functions=True).to_onnx()
    np.testing.assert_array_equal(oracle.run_ort(after, {"x": X})[0], np.minimum(X, 1))
