"""Brute force as a judge of mutants: rules with one change, applied to every small model made of their source.

Models are made and judged by onnxruntime, and know nothing of the verifier: where a mutant changes
what one of them computes, verification must not have said that it holds.
"""

from __future__ import annotations

import json
import pathlib
import subprocess

import pytest
import rule_models
import rule_mutants

# Rules, and how many of their mutants are judged: one in so many.
SAMPLE = {
    "transpose-transpose": 1, "clip-clip": 3, "conv-bias-multiply": 6, "matmul-add-row": 6,
    "hard-sigmoid": 4, "full-element-wise": 3, "parallel-dense": 5,
}  # fmt: skip


def names(tangram_bin: pathlib.Path) -> list[str]:
    words = [str(tangram_bin), "rules", "list", "--json"]
    found = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return [rule["name"] for rule in json.loads(found)]


@pytest.mark.parametrize("name", SAMPLE)
def test_what_brute_force_distinguishes_is_not_said_to_hold(
    tangram_bin: pathlib.Path, name: str
) -> None:
    found = rule_mutants.judge(str(tangram_bin), name, 50, SAMPLE[name])
    assert found.matching > 0 and not found.missed, found.missed
    assert not found.original, found.original


@pytest.mark.long
def test_all_that_brute_force_distinguishes_is_not_said_to_hold(tangram_bin: pathlib.Path) -> None:
    found = [rule_mutants.judge(str(tangram_bin), name, 150) for name in names(tangram_bin)]
    print(rule_mutants.score(found))
    assert sum(judged.matching > 0 for judged in found) > 70
    assert not [line for judged in found for line in (*judged.missed, judged.original) if line]


@pytest.mark.parametrize("name", ["reshape-reshape", "pad-conv2d", "layer-norm"])
def test_models_are_made_that_a_rule_matches(tangram_bin: pathlib.Path, name: str) -> None:
    words = [str(tangram_bin), "rules", "show", name]
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert len(list(rule_models.models(text, 10))) == 10
