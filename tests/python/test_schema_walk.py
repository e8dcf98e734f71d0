"""Old operator sets mean what they meant: every version of every operator, as it came and converted."""

from __future__ import annotations

import onnx
import pytest

import operator_versions as versions
import schema_walk

# Pairs that no engine here runs, and why.
WITHOUT_JUDGE = {
    ("GlobalLpPool", 22): "neither onnxruntime nor onnx's evaluator has it",
    ("GroupNormalization", 18): "neither has it; what it becomes in set 21 is compared in test_opsets.py",
    ("ImageDecoder", 20): "onnxruntime has none, and onnx's evaluator needs a package for images",
    ("MaxRoiPool", 22): "neither onnxruntime nor onnx's evaluator has it",
    ("Multinomial", 22): "neither onnxruntime nor onnx's evaluator has it",
}


def is_gone(operator: str, since: int) -> bool:
    """Whether the operator is not to be used any more from this version on, and nobody runs it."""
    return onnx.defs.get_schema(operator, since).deprecated and operator != "GroupNormalization"


def judged(most: int | None, step: int = 1) -> schema_walk.Walk:
    walk = schema_walk.Walk()
    for operator, since in list(versions.pairs())[::step]:
        walk.pair(operator, since, most)
    return walk


def checked(walk: schema_walk.Walk) -> None:
    print(walk.table())
    assert not walk.faults, "\n".join(walk.faults)
    # A version that onnx adds has to be judged, or it is said why it cannot be.
    unjudged = [pair for pair in walk.unjudged() if not is_gone(*pair)]
    assert unjudged == [pair for pair in WITHOUT_JUDGE if pair in walk.counts]


@pytest.mark.slow
def test_some_versions_of_operators_mean_what_they_say() -> None:
    checked(judged(most=1, step=4))


@pytest.mark.long
def test_every_version_of_every_operator_means_what_it_says() -> None:
    checked(judged(most=1))


@pytest.mark.long
def test_every_version_of_every_operator_by_all_node_tests() -> None:
    checked(judged(most=None))
