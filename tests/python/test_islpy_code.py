"""Generated code makes the calls that islpy's code of the same schedule makes, each as often."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
import schedule_maps
from schedule_maps import calls_of, random_map

ours = pytest.importorskip("tangram.isl")


def of_islpy(maps: list[str]) -> list[dict[str, Any]]:
    """What islpy's code calls, from a process of its own."""
    pytest.importorskip("islpy", reason="needs islpy")
    command = [sys.executable, schedule_maps.__file__]
    run = subprocess.run(command, input="\n".join(maps), capture_output=True, text=True, timeout=3000)
    return [json.loads(line) for line in run.stdout.splitlines()]


def judged(count: int) -> None:
    expected = of_islpy([random_map(seed) for seed in range(count)])
    # Of the others, islpy has no code.
    assert len(expected) > 0.97 * count
    wrong, total = [], 0
    for line in expected:
        found = calls_of(ours, line["map"])
        total += sum(sum(calls.values()) for calls in found)
        if found != line["calls"]:
            wrong.append(line["map"])
    print(f"{total} calls of {len(expected)} maps")
    assert total > 10 * count
    assert not wrong, f"{len(wrong)} of {count}: {wrong[:5]}"


def test_code_of_random_maps_makes_islpys_calls() -> None:
    judged(60)


@pytest.mark.long
def test_code_of_many_random_maps_makes_islpys_calls() -> None:
    judged(5000)
