"""Functions of Python in conditions and attributes of rules."""

from __future__ import annotations

import pytest

import tangram
from gsl import Subst, attr, op, pat
from test_ranges import at_least_one

HELPER = __import__("onnx").helper


def model(shape=("batch", 8)) -> object:
    """Two activations, of which the second is longer."""
    nodes = [HELPER.make_node("Relu", ["x"], ["a"]), HELPER.make_node("Relu", ["b"], ["c"])]
    io = {"x": shape, "b": ("batch", 99), "a": shape, "c": ("batch", 99)}
    infos = {name: HELPER.make_tensor_value_info(name, 1, list(extents)) for name, extents in io.items()}
    graph = HELPER.make_graph(nodes, "two", [infos["x"], infos["b"]], [infos["a"], infos["c"]])
    return HELPER.make_model(graph, opset_imports=[HELPER.make_opsetid("", 17)], ir_version=8)


def rule(function, *more: object) -> Subst:
    x = pat.Wildcard()
    return Subst(op.ReLU(x), op.Maximum(x, 0.0), name="mine", where=[attr.Call(function, x, *more)])


def test_a_condition_sees_what_was_matched() -> None:
    seen = []

    def is_short(x: attr.Matched, limit: int) -> bool:
        seen.append(x)
        return x.shape[1] < limit

    made = tangram.optimize(model(), [rule(is_short, 64)], library=False)
    assert made.report.fired["mine"] == 1
    assert [node.op_type for node in made.to_onnx().graph.node] == ["Max", "Relu"]
    assert {(x.name, x.dtype, x.shape) for x in seen} == {("x", "float32", ("batch", 8)), ("b", "float32", ("batch", 99))}
    assert tangram.optimize(model(), rule(is_short, 4), library=False).report.fired == {}


def test_none_refuses_and_an_exception_is_raised() -> None:
    assert tangram.optimize(model(), [rule(lambda x: None)], library=False).report.fired == {}

    def fails(x: attr.Matched) -> bool:
        raise LookupError(f"nothing known of {x.name}")

    with pytest.raises(LookupError, match="nothing known of x"):
        tangram.optimize(model(), [rule(fails)], library=False)


def test_a_function_gives_attributes() -> None:
    x = pat.Wildcard()
    inner = op.Transpose(x)
    outer = op.Transpose(inner)

    def composed(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(a[i] for i in b)

    twice = Subst(outer, op.Transpose(x, axes=attr.Call(composed, inner.axes, outer.axes)), name="twice")
    nodes = [HELPER.make_node("Transpose", ["x"], ["a"], perm=[1, 2, 0]), HELPER.make_node("Transpose", ["a"], ["y"], perm=[1, 2, 0])]
    infos = [HELPER.make_tensor_value_info("x", 1, [2, 3, 4]), HELPER.make_tensor_value_info("y", 1, [4, 2, 3])]
    graph = HELPER.make_graph(nodes, "twice", infos[:1], infos[1:])
    given = HELPER.make_model(graph, opset_imports=[HELPER.make_opsetid("", 17)], ir_version=8)
    made = tangram.optimize(given, twice, library=False, check=True)
    assert made.report.fired == {"twice": 1} and list(made.to_onnx().graph.node[0].attribute[0].ints) == [2, 0, 1]


def test_verification_says_that_it_does_not_see_it() -> None:
    def anything(x: attr.Matched) -> bool:
        return True

    verdict = rule(anything).check()
    assert not verdict.holds and not verdict.wrong
    assert "unverified" in str(verdict) and "`native anything`" in str(verdict)


def test_two_functions_of_one_name_are_two() -> None:
    def make(limit: int):  # type: ignore[no-untyped-def]
        def is_short(x: attr.Matched) -> bool:
            return x.shape[1] < limit

        return is_short

    x = pat.Wildcard()
    both = Subst(op.ReLU(x), op.Maximum(x, 0.0), name="mine", where=[attr.Call(make(100), x), attr.Call(make(50), x)])
    assert list(both.functions) == ["is-short", "is-short-2"]
    assert tangram.optimize(model(), both, library=False).report.fired == {"mine": 1}


def test_a_name_that_nobody_defined_is_an_error() -> None:
    text = "rule named { let x = *; match relu(x); where native is-short(x); rewrite maximum(x, 0.0); }"
    with pytest.raises(tangram.RuleError, match="calls `native is-short`, which nobody has defined"):
        tangram.optimize(at_least_one(), text)
