"""`tangram bench`: a model here and under onnxruntime."""

from __future__ import annotations

import json
import subprocess
import sys

import onnxruntime
import pytest
from conftest import EXAMPLES

MODEL = next(path for path in EXAMPLES if path.stem == "cnn")


def bench(tangram_bin, *words) -> dict:
    """What the command says as JSON."""
    command = [tangram_bin, "bench", MODEL, "--json", "--runs", "4", *words]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def test_both_run_on_the_same_inputs(tangram_bin):
    shape = ["--shape", "image=2,3,40,24"]
    found = bench(tangram_bin, "--python", sys.executable, *shape)
    assert found["onnxruntime_version"] == onnxruntime.__version__
    assert found["absent"] is None
    assert found["difference"] < 1e-5
    times = found["tangram"], found["onnxruntime"]
    assert all(0 < each["least_seconds"] <= each["median_seconds"] for each in times)
    ratio = times[0]["least_seconds"] / times[1]["least_seconds"]
    assert found["ratio"] == pytest.approx(ratio)


def test_without_onnxruntime_it_says_what_to_install(tangram_bin, tmp_path):
    (tmp_path / "onnxruntime.py").write_text("raise ModuleNotFoundError(\"No module named 'onnxruntime'\")\n")
    command = [tangram_bin, "bench", MODEL, "--runs", "1", "--python", sys.executable]
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, env={"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin:/bin"}
    )
    assert "-m pip install onnxruntime" in done.stdout
    assert "tangram" in done.stdout
