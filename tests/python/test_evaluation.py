"""The reference evaluation computes ONNX's own node cases."""

from __future__ import annotations

import evaluation

# Cases that are right; a fall means that an operator lost its evaluation.
LEAST_RIGHT = 1838


def test_what_is_evaluated_is_right() -> None:
    results = evaluation.run()
    wrong = [result for result in results if result.verdict == "wrong"]
    assert not wrong, evaluation.summary(wrong)
    assert sum(result.verdict == "ok" for result in results) >= LEAST_RIGHT
