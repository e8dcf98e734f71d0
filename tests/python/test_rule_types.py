"""Every rule on models of its own in which types are mixed as the schemas allow."""

from __future__ import annotations

import collections

import pytest
import rule_types

# Rules whose operators take several types, and some that make another operator of what they match.
SAMPLE = {
    "lower-batch-norm", "lower-l2-norm", "conv-bias-batch-norm", "conv-transpose-batch-norm", "sum-of-products", "cast-cast",
    "sequence-at-of-even-split", "merge-element-wise", "cast-to-type-of", "reshape-like",
}  # fmt: skip


def judged(command: str, count: int, names: set[str]) -> None:
    rules = rule_types.shipped(command, names)
    total: collections.Counter = collections.Counter()
    faults: list[str] = []
    for name, text in rules:
        counts, found = rule_types.judged(name, text, count)
        total += counts
        faults += found
    assert not faults, "\n".join(faults)
    assert total["mixtures"] > len(rules) and total["fires"], total


def test_mixed_types_are_taken_by_some_rules(tangram_bin) -> None:
    judged(str(tangram_bin), 2, SAMPLE)


@pytest.mark.long
def test_mixed_types_are_taken_by_every_rule(tangram_bin) -> None:
    judged(str(tangram_bin), 4, set())
