"""Random nodes of onnxruntime's own domain, which onnxruntime judges."""

from __future__ import annotations

import collections

import numpy as np
import pytest

import tangram
import vendor_nodes


@pytest.mark.parametrize("operator", vendor_nodes.OPERATORS)
def test_the_kernels_agree_with_onnxruntime(operator: str) -> None:
    verdicts = [vendor_nodes.judge(operator, seed) for seed in range(1000, 1016)]
    counts = collections.Counter(verdict for verdict, _ in verdicts)
    assert counts["right"] >= 8, verdicts
    assert not counts["wrong"] and not counts["unknown"], verdicts


@pytest.mark.parametrize("operator", vendor_nodes.OPERATORS)
def test_a_session_agrees_with_onnxruntime(operator: str) -> None:
    verdicts = [vendor_nodes.judge(operator, seed, vendor_nodes.compiled) for seed in range(2)]
    assert all(verdict in ("right", "refused") for verdict, _ in verdicts), verdicts


def test_packed_heads_are_those_side_by_side() -> None:
    """onnxruntime has packed operands on other devices only, so the plain form judges."""
    d = vendor_nodes.Draw(7)
    q, k, v = (d.real(2, 3, 4, 8) for _ in range(3))

    def result(inputs: list) -> np.ndarray:
        made, given = vendor_nodes.model(
            "MultiHeadAttention", vendor_nodes.Node(inputs, {"num_heads": 4})
        )
        return vendor_nodes.evaluated(made, given)[0]

    flat = [x.reshape(2, 3, 32) for x in (q, k, v)]
    expected = result(flat)
    np.testing.assert_allclose(result([np.stack([q, k, v], 3)]), expected, rtol=1e-6)
    np.testing.assert_allclose(result([flat[0], np.stack([k, v], 3)]), expected, rtol=1e-6)


def test_what_is_not_known_is_said() -> None:
    d = vendor_nodes.Draw(8)
    inputs = [d.real(1, 1, 4), d.real(1, 3, 4), d.real(1, 3, 4), *[None] * 5, np.array([2], np.int32)]
    made, given = vendor_nodes.model("MultiHeadAttention", vendor_nodes.Node(inputs, {"num_heads": 2}))
    with pytest.raises(tangram.EvaluationError, match="past_sequence_length"):
        vendor_nodes.evaluated(made, given)
