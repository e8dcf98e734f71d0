"""Pipelines from Python, in which passes are functions."""

from __future__ import annotations

import doctest

import pytest

mlir = pytest.importorskip("tangram.mlir")

SUMS = """
func.func @f(%x: i32, %y: i32) -> i32 {
  %a = "toy.neg"(%x) : (i32) -> i32
  %b = "toy.neg"(%a) : (i32) -> i32
  %c = arith.addi %b, %y : i32
  return %c : i32
}
func.func @g() {
  return
}
"""


@mlir.passes("double-negation", "-(-x) is x")
def double_negation(root, rewriter) -> None:
    for op in root.walk():
        if op.alive and op.name == "toy.neg":
            inner = op.operands[0].definition
            if inner is not None and inner.name == "toy.neg":
                rewriter.replace(op, inner.operands)
                if not inner.results[0].users:
                    rewriter.erase(inner)


def run(pipeline: str, *own: object, source: str = SUMS) -> str:
    return mlir.rewrite(source, pipeline, own)


def test_the_module_shows_what_happens() -> None:
    assert doctest.testmod(mlir).failed == 0


def test_a_function_stands_in_a_pipeline_beside_others() -> None:
    text = run("builtin.module(func.func(double-negation,canonicalize))", double_negation)
    assert "toy.neg" not in text
    assert "arith.addi %arg0, %arg1 : i32" in text
    assert "toy.neg" in run("builtin.module(canonicalize)")


def test_operations_say_what_they_are() -> None:
    seen = []

    @mlir.passes("look")
    def look(root, rewriter) -> None:
        for op in root.walk():
            types = [value.type for value in (*op.operands, *op.results)]
            seen.append((op.name, op.parent == root, types))
        call = root.walk()[0]
        assert [user.name for user in call.results[0].users] == ["toy.neg"]
        assert dict(root.attributes)["sym_name"] == '"f"'
        assert 'toy.neg' in str(root)

    run("builtin.module(func.func(look))", look, source=SUMS.split("func.func @g")[0])
    assert seen[0] == ("toy.neg", True, ["i32", "i32"])
    assert seen[2] == ("arith.addi", True, ["i32", "i32", "i32"])


def test_operations_are_made_moved_and_marked() -> None:
    @mlir.passes("lower")
    def lower(root, rewriter) -> None:
        rewriter.set_attribute(root, "toy.seen", "42 : i64")
        for op in root.walk():
            if op.name != "toy.neg":
                continue
            zero = rewriter.create("arith.constant", [], ["i32"], [("value", "0 : i32")], op)
            operands = [zero.results[0], op.operands[0]]
            difference = rewriter.create("arith.subi", operands, ["i32"], [], op)
            rewriter.replace_uses(op.results[0], difference.results[0])
            rewriter.erase(op)
            rewriter.move_before(zero, root.walk()[0])

    text = run("builtin.module(func.func(lower,canonicalize))", lower)
    assert "toy.neg" not in text and text.count("toy.seen = 42 : i64") == 2
    assert text.count("arith.subi") <= 2


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda root, rewriter: rewriter.erase(root.walk()[0]), "results of the operation are used"),
        (lambda root, rewriter: rewriter.erase(root), "inside of the one that it runs on"),
        (lambda root, rewriter: rewriter.replace(root.walk()[0], []), "not as many"),
        (lambda root, rewriter: rewriter.set_attribute(root, "a", "1 :"), "expected"),
        (
            lambda root, rewriter: rewriter.move_before(root.walk()[0], root.parent),
            "inside of the one that it runs on",
        ),
        (
            lambda root, rewriter: rewriter.create("toy.x", [], ["i3 2"], [], root.walk()[0]),
            "expected",
        ),
    ],
)
def test_what_is_not_possible_is_refused(change, says: str) -> None:
    source = SUMS.split("func.func @g")[0]
    with pytest.raises(mlir.MlirError, match=says):
        run("builtin.module(func.func(change))", mlir.Pass("change", change), source=source)


def test_what_a_pass_raises_is_raised_and_what_it_leaves_is_verified() -> None:
    def fail(root, rewriter) -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        run("builtin.module(fail)", mlir.Pass("fail", fail))

    def spoil(root, rewriter) -> None:
        rewriter.erase(root.walk()[-1])

    with pytest.raises(mlir.MlirError, match="`spoil` left a program that is not valid"):
        run("builtin.module(func.func(spoil))", mlir.Pass("spoil", spoil))


def test_handles_end_with_the_pass() -> None:
    kept = []
    keep = mlir.Pass("keep", lambda root, rewriter: kept.extend([root, rewriter]))
    run("builtin.module(keep)", keep)
    assert not kept[0].alive
    with pytest.raises(mlir.MlirError, match="the pass has ended"):
        kept[0].walk()
    with pytest.raises(mlir.MlirError, match="the pass has ended"):
        kept[1].erase(kept[0])


def test_errors_name_the_place() -> None:
    with pytest.raises(mlir.MlirError, match="^a.mlir:1:1: "):
        mlir.rewrite("what", "builtin.module()", file="a.mlir")
    with pytest.raises(mlir.MlirError, match="no pass `nope`"):
        run("builtin.module(nope)")
    with pytest.raises(mlir.MlirError, match="`cse` is registered already"):
        run("builtin.module()", mlir.Pass("cse", lambda root, rewriter: None))
