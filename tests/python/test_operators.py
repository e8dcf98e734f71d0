"""The list of ONNX operators that stay as they are is what the import does."""

from __future__ import annotations

import pytest

import operators


def test_the_list_is_current() -> None:
    assert operators.PATH.read_text() == operators.generate(), "run tests/python/operators.py"


def test_reasons_and_operators_belong_together() -> None:
    assert operators.explained({"d.A", "d.B"}, {"d": "x"}) == [("d", ["d.A", "d.B"], "x")]
    with pytest.raises(KeyError):
        operators.explained({"d.A"}, {"d": "x", "e": "y"})
    with pytest.raises(KeyError):
        operators.explained({"d.A"}, {})
