"""The node suite itself: it passes what changes nothing and catches what breaks a model."""

from __future__ import annotations

import onnx
import pytest

import node_suite

# How many cases an engine computes rightly; a fall means that the suite went blind.
LEAST_JUDGED = {"as-is": 1850, "first-free": 1340, "constant": 1830, "symbolic": 1820}


@pytest.mark.parametrize("mode", node_suite.MODES)
def test_identity_has_no_fault(mode: str) -> None:
    results = node_suite.run(node_suite.identity, mode)
    assert not node_suite.faults(results), node_suite.summary(results, by_operator=False)
    judged = sum(result.verdict == "ok" for result in results)
    assert judged >= LEAST_JUDGED[mode]


def change(edit):
    """Makes an optimiser of a function that edits a model in place."""

    def optimise(content: bytes) -> bytes:
        model = onnx.load_from_string(content)
        edit(model)
        return model.SerializeToString()

    return optimise


def negate(model: onnx.ModelProto) -> None:
    """Replaces `Abs` by `Neg`: valid, and wrong."""
    for node in model.graph.node:
        node.op_type = "Neg"


def misspell(model: onnx.ModelProto) -> None:
    """Names an operator that no opset has."""
    model.graph.node[0].op_type = "Absolutely"


def rename(model: onnx.ModelProto) -> None:
    """Gives the input another name, everywhere."""
    model.graph.input[0].name = "other"
    model.graph.node[0].input[0] = "other"


def refuse(model: onnx.ModelProto) -> None:
    """Gives up."""
    raise RuntimeError("no")


@pytest.mark.parametrize(
    ("edit", "verdict"),
    [(negate, "wrong"), (misspell, "invalid"), (rename, "interface"), (refuse, "crash")],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_a_broken_optimiser_is_caught(edit, verdict: str) -> None:
    (result,) = node_suite.run(change(edit), "as-is", "^test_abs$")
    assert result.verdict == verdict
    assert node_suite.faults([result]) == [result]
    assert f"{verdict}: test_abs" in node_suite.summary([result])


def test_modes_change_what_they_say() -> None:
    case = next(case for case in node_suite.cases() if case.name == "test_add_bcast")
    free, inputs = node_suite.variant(case, "first-free")
    assert [value.name for value in free.graph.input] == ["x"] == list(inputs)
    assert [tensor.name for tensor in free.graph.initializer] == ["y"]
    constant, inputs = node_suite.variant(case, "constant")
    assert not constant.graph.input and not inputs
    symbolic, _ = node_suite.variant(case, "symbolic")
    dims = symbolic.graph.input[0].type.tensor_type.shape.dim
    assert [dim.dim_param for dim in dims] == ["x_0", "x_1", "x_2"]


def test_bodies_count_with_their_operator() -> None:
    operators = {case.name: case.operator for case in node_suite.cases()}
    assert len(operators) == 1884
    assert operators["test_gelu_tanh_1_expanded"] == "Gelu"
