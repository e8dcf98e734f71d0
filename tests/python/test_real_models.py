"""Real models from packages: the judge of the benchmark finds inputs that each of them runs on."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "bench" / "onnx"))
import collection  # noqa: E402


@pytest.mark.long
def test_a_model_judged_against_itself_is_right() -> None:
    models, absent = collection.from_packages(ROOT / "target" / "bench-models")
    models |= collection.from_onnx()
    assert not absent and len(models) >= 17
    for name, path in models.items():
        command = [sys.executable, ROOT / "bench/onnx/judge.py", path, f"same={path}"]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        verdict = json.loads(output.splitlines()[-1])["same"]
        assert verdict["verdict"] == "ok", (name, verdict)
