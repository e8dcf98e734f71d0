"""Random models of any operators: what the optimiser makes of them is valid and computes the same."""

from __future__ import annotations

import pathlib
import sys

import onnx
import pytest

import random_models

NOT_JUDGED = ("not a model", "does not run")


def judged(
    tangram_bin: pathlib.Path, folder: pathlib.Path, seeds: range, *options: str, wide: bool = False
) -> dict:
    """Judges a model for each seed; gives the verdicts that are not right, and counts the others."""
    found = {"right": 0}
    command = [str(tangram_bin), "opt", "--quiet", *options]
    for seed in seeds:
        verdict = random_models.judge_apart(seed, 12, command, folder, wide)
        if verdict.kind == "right":
            found["right"] += 1
        elif verdict.kind not in NOT_JUDGED:
            found[seed] = verdict
    return found


def test_random_models_keep_their_meaning(tangram_bin, tmp_path) -> None:
    found = judged(tangram_bin, tmp_path, range(50))
    assert found.pop("right") > 30 and not found


def test_wide_random_models_keep_their_meaning(tangram_bin, tmp_path) -> None:
    found = judged(tangram_bin, tmp_path, range(40), wide=True)
    assert found.pop("right") > 20 and not found


# 120007 slices an open extent from the end, which gave zeros.
def test_sessions_of_random_models_compute_what_the_kernels_do(tmp_path) -> None:
    verdicts = {seed: random_models.judge_session_apart(seed, 12, tmp_path) for seed in range(120000, 120040)}
    kinds = [verdict.kind for verdict in verdicts.values()]
    bad = {seed: v for seed, v in verdicts.items() if v.kind not in (*NOT_JUDGED, "right", "no kernel")}
    assert kinds.count("right") > 25 and not bad


# A pad of truth values whose fill is computed; a choice of the greatest in any order, folded; axes
# that are named twice, where the rank is known once a branch is taken.
@pytest.mark.parametrize("seed", [20928, 20973, 64443])
def test_models_that_went_wrong_are_right(tangram_bin, tmp_path, seed) -> None:
    assert judged(tangram_bin, tmp_path, range(seed, seed + 1)) == {"right": 1}


@pytest.mark.long
@pytest.mark.parametrize("options", [(), ("--exact",), ("--fold-limit", "none")])
def test_many_random_models_keep_their_meaning(tangram_bin, tmp_path, options) -> None:
    found = judged(tangram_bin, tmp_path, range(10_000, 13_000), *options)
    assert found.pop("right") > 2_000 and not found


def test_models_are_of_many_operators_and_have_bodies() -> None:
    used: set[str] = set()
    for seed in range(60):
        waiting = [random_models.Grower(seed).model(12).graph]
        while waiting:
            for node in waiting.pop().node:
                used.add(node.op_type)
                bodies = [a.g for a in node.attribute if a.type == onnx.AttributeProto.GRAPH]
                waiting.extend(bodies)
    assert len(used) > 80 and {"If", "Loop", "SequenceConstruct"} <= used


@pytest.mark.parametrize("broken", ["value", "name", "operator"])
def test_the_judge_sees_what_is_wrong(tangram_bin, tmp_path, broken) -> None:
    model = random_models.Grower(3).model(12)
    # A stand-in for the command that changes what the command wrote.
    script = tmp_path / "opt.py"
    script.write_text(f"""import sys, onnx, numpy as np
source, _, target = sys.argv[1:]
model = onnx.load(source)
node = model.graph.node[-1]
if {broken!r} == "operator":
    node.op_type = "Nothing"
elif {broken!r} == "name":
    model.graph.output[0].name = "other"
else:
    name = model.graph.output[0].name
    made = next(n for n in model.graph.node if name in n.output)
    made.op_type, made.input[:] = "Neg", list(made.input)[:1]
    del made.attribute[:]
onnx.save(model, target)
""")
    verdict = random_models.judge(model, [sys.executable, str(script)], tmp_path)
    assert verdict.kind not in ("right", *NOT_JUDGED)
