"""Operators that Tangram does not know, declared with what they give."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tangram
from tangram import Operand, Operator


RANKS = {"z": 2, "c": 3, "d": 2, "e": 1}


def model(*extra: onnx.NodeProto, outputs: tuple[str, ...] = ("z",)) -> onnx.ModelProto:
    """Two equal nodes `acme.Swish` and a third that nobody reads, between what is known; behind
    them shape arithmetic that only their types decide."""
    nodes = [
        helper.make_node("Neg", ["x"], ["n"]),
        helper.make_node("Neg", ["n"], ["m"]),
        helper.make_node("Swish", ["m"], ["a"], name="first", domain="acme", beta=1.5, kind="fast"),
        helper.make_node("Swish", ["m"], ["b"], name="second", domain="acme", beta=1.5, kind="fast"),
        helper.make_node("Swish", ["m"], ["unused"], domain="acme", beta=2.0, kind="fast"),
        helper.make_node("Add", ["a", "b"], ["y"]),
        helper.make_node("Shape", ["y"], ["shape"]),
        helper.make_node("Gather", ["shape", "last"], ["width"]),
        helper.make_node("Concat", ["minus", "width"], ["target"], axis=0),
        helper.make_node("Reshape", ["y", "target"], ["z"]),
        *extra,
    ]
    constants = {"last": np.array([2]), "minus": np.array([-1]), "few": np.array([3, 5])}
    graph = helper.make_graph(
        nodes, "own",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3, 4])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [None] * RANKS[name]) for name in outputs],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )  # fmt: skip
    sets = [helper.make_opsetid("", 17), helper.make_opsetid("acme", 2)]
    return helper.make_model(graph, opset_imports=sets, ir_version=8)


def operators(made: tangram.Workload) -> list[str]:
    proto = made.to_onnx()
    onnx.checker.check_model(proto)
    return [node.op_type for node in proto.graph.node]


def swish(**more: bool) -> Operator:
    return Operator("acme", "Swish", lambda operands, attributes: operands[0].type, **more)


@pytest.mark.parametrize("strategy", ["greedy", "walk", "saturate"])
def test_what_is_around_a_declared_operator_is_optimised(strategy) -> None:
    made = tangram.optimize(model(), operators=swish(), strategy=strategy)
    # A walk visits each operation once, and merges none.
    found = operators(made)
    assert found == (["Swish"] * 2 if strategy == "walk" else ["Swish"]) + ["Add", "Reshape"]
    node = made.to_onnx().graph.node[0]
    before = model().graph.node[2]
    assert (node.domain, list(node.attribute)) == ("acme", list(before.attribute))
    assert list(made.to_onnx().opset_import) == list(model().opset_import)
    assert any("`acme.Swish` is declared: 3 nodes" in line for line in made.report.warnings)


def test_an_operator_that_is_not_declared_stays_with_all_that_is_behind_it() -> None:
    made = tangram.optimize(model())
    assert operators(made).count("Swish") == 3 and "Shape" in operators(made)
    assert any("`acme.Swish` is not known: 3 nodes" in line for line in made.report.warnings)


def test_one_with_effects_is_neither_merged_nor_erased() -> None:
    found = operators(tangram.optimize(model(), operators=[swish(pure=False)]))
    assert found.count("Swish") == 3 and "Shape" not in found


def test_functions_see_operands_attributes_and_constants() -> None:
    seen: list[tuple[list[Operand | None], dict[str, object]]] = []

    def infer(operands, attributes):  # type: ignore[no-untyped-def]
        seen.append((operands, attributes))
        rows = operands[0].shape[0]
        return [(np.float32, (rows, *map(int, operands[1].data))), ("int64", (f"2*{rows}", None)), None]

    extra = helper.make_node(
        "Cut", ["m", "few", "", "x"], ["c", "d", "e"], domain="acme", sizes=[1, 2], names=["p", "q"], scales=[0.5]
    )
    made = tangram.Workload.from_onnx(
        model(extra, outputs=("z", "c", "d", "e")), [swish(), Operator("acme", "Cut", infer)]
    )
    (((x, few, absent, last), attributes),) = seen
    assert (x.dtype, x.shape, x.data) == ("float32", ("batch", 3, 4), None)
    assert (few.name, few.dtype, few.shape, few.data.tolist()) == ("few", "int64", (2,), [3, 5])
    assert absent is None and last.name == "x"
    assert attributes == {"sizes": [1, 2], "names": ["p", "q"], "scales": [0.5]}
    text = str(made)
    assert "tensor<?x3x5xf32" in text or "3x5xf32" in text
    found = tangram.summary(made.to_onnx())
    assert found.operators["acme.Cut"] == 1
    shapes = {port["name"]: port["shape"] for port in found.data["outputs"]}
    assert set(shapes) == {"z", "c", "d", "e"}


def test_edits_keep_what_is_declared() -> None:
    for edit in ({"dim": {"batch": 2}}, {"dim": {"batch": "1..8"}}, {"input_shape": {"x": [2, 3, 4]}}):
        made = tangram.optimize(model(), operators=swish(), **edit)
        assert operators(made) == ["Swish", "Add", "Reshape"], edit
    again = tangram.optimize(tangram.Workload.from_onnx(model()), operators=swish())
    assert operators(again) == ["Swish", "Add", "Reshape"]


def test_what_a_function_raises_comes_through_and_wrong_types_are_told() -> None:
    def broken(operands, attributes):  # type: ignore[no-untyped-def]
        raise KeyError("no such thing")

    with pytest.raises(KeyError, match="no such thing"):
        tangram.optimize(model(), operators=Operator("acme", "Swish", broken))
    for given, told in [(("float33", (1,)), "float33"), (("float32", ("a b",)), "a b"), (("float32", (-1,)), "-1")]:
        with pytest.raises(tangram.ModelError, match=told):
            tangram.optimize(model(), operators=Operator("acme", "Swish", lambda *_, g=given: g))
    # What is not known is no mistake.
    for unknown in (None, [None], ("float32", None), [("float32", None)]):
        made = tangram.optimize(model(), operators=Operator("acme", "Swish", lambda *_, g=unknown: g))
        assert operators(made).count("Swish") == 1


def test_a_domain_may_be_called_as_a_dialect_is() -> None:
    """`nn.relu` of somebody's domain `nn` is not the operation of that name: no rule applies."""
    nodes = [
        helper.make_node("relu", ["x"], ["a"], domain="nn"),
        helper.make_node("relu", ["a"], ["y"], domain="nn"),
    ]
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy"]
    graph = helper.make_graph(nodes, "g", info[:1], info[1:])
    sets = [helper.make_opsetid("", 17), helper.make_opsetid("nn", 1)]
    proto = helper.make_model(graph, opset_imports=sets, ir_version=8)
    for own in ((), Operator("nn", "relu", lambda operands, _: operands[0].type)):
        made = tangram.optimize(proto, operators=own)
        assert [(n.domain, n.op_type) for n in made.to_onnx().graph.node] == [("nn", "relu")] * 2
