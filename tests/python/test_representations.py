"""What objects show of themselves: a line in a session, tables and text in notebooks, a log."""

from __future__ import annotations

import logging
import sys

import pytest

import tangram
from gsl import Subst, op, pat


def test_patterns_read_as_gsl() -> None:
    x, w = pat.Wildcard(), pat.Variable()
    assert repr(op.ReLU(op.Matmul(x, w))) == "relu(matmul(*, variable))"
    assert repr(op.Transpose(x, axes=(0, 2, 1)) + 2) == "add(transpose(*) {axes = ...}, const(2))"
    assert repr(pat.Tuple(x, x)) == "(*, *)" and repr(pat.GetItem(op.Split(x), 1)) == "split(*)[1]"
    assert repr(pat.Alt(x, w)) == "Alt(*, variable)"


def test_a_deep_pattern_is_cut() -> None:
    pattern: pat.Pattern = pat.Wildcard()
    for _ in range(100_000):
        pattern = op.ReLU(pattern)
    assert repr(pattern) == "relu(relu(relu(relu(relu(...)))))"


def test_rules_are_counted_and_named() -> None:
    rules = tangram.rules()
    assert repr(rules).startswith(f"Rules({len(rules)}: {rules[0].name}, ") and repr(rules).endswith(", ...)")


def test_a_difference_says_how_much(example) -> None:
    workload = tangram.Workload.from_onnx(example)
    assert repr(tangram.diff(workload, workload)) == "Diff(0 removed, 0 added, 0 changed)"
    assert tangram.diff(workload, workload)._repr_html_().startswith("<pre>")


def test_a_check_says_its_verdict(root) -> None:
    model = root / "examples" / "models" / "cnn.onnx"
    check = tangram.check(model, model, runs=1)
    assert repr(check) == "Check(equal, difference=0)" and check.text.splitlines()[0] in check._repr_html_()


def test_an_optimisation_is_logged(root, caplog) -> None:
    with caplog.at_level(logging.DEBUG, logger="tangram"):
        better = tangram.optimize(root / "examples" / "models" / "cnn.onnx")
    assert better.report is not None
    assert caplog.messages[0] == f"optimised {better.report.nodes_before} nodes to {better.report.nodes_after}"
    assert any(message.startswith("rule ") for message in caplog.messages)


def test_a_missing_package_is_named_with_the_way_to_get_it(root, monkeypatch) -> None:
    workload = tangram.Workload.from_onnx(root / "examples" / "models" / "cnn.onnx")
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match="pip install onnx"):
        workload.to_onnx()


def test_a_rule_is_named() -> None:
    x = pat.Wildcard()
    assert repr(Subst(op.ReLU(op.ReLU(x)), op.ReLU(x))).startswith("Subst(")
