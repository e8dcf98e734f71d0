"""Models that schemas of any operator set suggest compute the same after optimisation."""

from __future__ import annotations

import collections

import onnx
import pytest
import schema_nodes
from apart import apart


def drawn(seeds: range) -> collections.Counter:
    """Judges the models of these seeds; all that is wrong is told at once."""
    counts: collections.Counter = collections.Counter()
    faults = []
    for seed in seeds:
        verdict = apart(lambda begun, seed=seed: schema_nodes.told(seed, begun))
        counts[verdict.kind] += 1
        if verdict.kind in schema_nodes.FAULTS:
            faults.append(f"{seed}: {verdict.kind}: {verdict.why}")
    assert not faults, "\n".join(faults)
    return counts


def test_some_models_that_schemas_suggest_stay_right() -> None:
    counts = drawn(range(40))
    assert counts["ok"] >= 30, counts


@pytest.mark.long
def test_many_models_that_schemas_suggest_stay_right() -> None:
    counts = drawn(range(100, 6100))
    assert counts["ok"] >= 5000, counts


def test_what_is_wrong_is_seen(monkeypatch) -> None:
    """The judge fails on models that compute something else."""

    def other(model: onnx.ModelProto, opset: int | None) -> onnx.ModelProto:
        made = onnx.ModelProto()
        made.CopyFrom(model)
        for node in made.graph.node:
            if node.op_type in ("Add", "Max"):
                node.op_type = "Sub" if node.op_type == "Add" else "Min"
        return made

    monkeypatch.setattr(schema_nodes.schema_walk, "in_process", other)
    verdicts = [schema_nodes.judged(seed, only="^(Add|Max)$")[0].kind for seed in range(20)]
    assert "wrong" in verdicts, verdicts
