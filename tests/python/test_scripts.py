"""The scripts of `examples/scripts`, as people run them; onnxruntime judges what they write."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
import pytest

import oracle
from conftest import ROOT

SCRIPTS = ROOT / "examples" / "scripts"
MODELS = ROOT / "examples" / "models"
SIZES = {"batch": 2, "sequence": 5, "height": 32, "width": 32}


@pytest.fixture
def script(tangram_bin, tmp_path):  # type: ignore[no-untyped-def]
    """Runs a script in an empty folder, with the command on the path; gives what it printed."""

    def run(name: str, *words: object) -> str:
        path = f"{tangram_bin.parent}{os.pathsep}{os.environ['PATH']}"
        program = ["sh"] if name.endswith(".sh") else [sys.executable]
        command = [*program, str(SCRIPTS / name), *map(str, words)]
        env = os.environ | {"PATH": path}
        ran = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=600)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout

    return run


def same(before: pathlib.Path, after: pathlib.Path, tolerance: float = 1e-4) -> None:
    """Both models give the same under onnxruntime."""
    model = onnx.load(before)
    onnx.checker.check_model(after, full_check=True)
    inputs = oracle.random_inputs(model, SIZES)
    for a, b in zip(oracle.run_ort(model, inputs), oracle.run_ort(onnx.load(after), inputs), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * np.abs(a).max())


def nodes(path: pathlib.Path) -> int:
    return len(onnx.load(path).graph.node)


def test_every_script_is_run() -> None:
    source = pathlib.Path(__file__).read_text()
    named = [path.name for path in SCRIPTS.iterdir() if path.suffix in (".py", ".sh")]
    assert len(named) == 10 and [name for name in named if f'"{name}"' not in source] == []
    listing = (SCRIPTS / "README.md").read_text()
    assert [name for name in named if name not in listing] == []


def test_a_step_of_continuous_integration(script, tmp_path) -> None:
    told = script("ci_step.sh", MODELS / "cnn.onnx", tmp_path / "out.onnx")
    assert "check  equal" in told
    assert json.loads((tmp_path / "report.json").read_text())["nodes"]["after"] < nodes(MODELS / "cnn.onnx")
    same(MODELS / "cnn.onnx", tmp_path / "out.onnx")


def test_a_call_of_slim(script, tmp_path) -> None:
    assert "nodes became" in script("slim_call.py", MODELS / "cnn.onnx", tmp_path / "out.onnx")
    same(MODELS / "cnn.onnx", tmp_path / "out.onnx")


def test_an_export_from_torch(script, tmp_path) -> None:
    pytest.importorskip("torch", reason="needs the package torch")
    pytest.importorskip("onnxscript", reason="needs the package onnxscript")
    script("torch_export.py", tmp_path / "out.onnx")
    model = onnx.load(tmp_path / "out.onnx")
    assert "BatchNormalization" not in {node.op_type for node in model.graph.node}
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    assert session.run(None, {"image": np.zeros((5, 3, 16, 16), np.float32)})[0].shape == (5, 10)


def test_a_folder_of_models(script, tmp_path) -> None:
    zoo = tmp_path / "zoo"
    zoo.mkdir()
    for name in ("cnn", "inception"):
        (zoo / f"{name}.onnx").write_bytes((MODELS / f"{name}.onnx").read_bytes())
    script("model_zoo.sh", zoo, tmp_path / "better")
    for name in ("cnn", "inception"):
        same(zoo / f"{name}.onnx", tmp_path / "better" / f"{name}.onnx")
    assert "cnn.onnx" in (tmp_path / "better" / "table.html").read_text()
    assert "2 unchanged" in script("model_zoo.sh", zoo, tmp_path / "better")


def test_rules_of_a_team(script, tmp_path) -> None:
    told = script("team_rules.py", MODELS / "transformer.onnx", tmp_path / "out.onnx")
    assert "holds" in told and "fired" in told
    same(MODELS / "transformer.onnx", tmp_path / "out.onnx")


def test_a_backbone(script, tmp_path) -> None:
    script("backbone.py", MODELS / "cnn.onnx", "/Relu_18_output_0", tmp_path / "out.onnx")
    part = onnx.load(tmp_path / "out.onnx")
    assert [value.name for value in part.graph.output] == ["/Relu_18_output_0"]
    whole = onnx.load(MODELS / "cnn.onnx")
    whole.graph.output.append(onnx.ValueInfoProto(name="/Relu_18_output_0"))
    inputs = oracle.random_inputs(onnx.load(MODELS / "cnn.onnx"), SIZES)
    (found,) = oracle.run_ort(part, inputs)
    np.testing.assert_allclose(found, oracle.run_ort(whole, inputs)[-1], rtol=1e-4, atol=1e-5)


def test_a_batch_size(script, tmp_path) -> None:
    assert "1, 3, 32, 32" in script("fix_batch.sh", MODELS / "cnn.onnx", tmp_path / "out.onnx")
    fixed = onnx.load(tmp_path / "out.onnx")
    assert [d.dim_value for d in fixed.graph.input[0].type.tensor_type.shape.dim] == [1, 3, 32, 32]
    assert all(d.dim_value for o in fixed.graph.output for d in o.type.tensor_type.shape.dim)


def test_floats_of_16_bits(script, tmp_path) -> None:
    told = script("half.py", MODELS / "transformer.onnx", tmp_path / "out.onnx", "LayerNormalization")
    assert "compute in float16" in told and "`LayerNormalization` was asked to stay" in told
    same(MODELS / "transformer.onnx", tmp_path / "out.onnx", 2e-2)
    assert (tmp_path / "out.onnx").stat().st_size < 0.8 * (MODELS / "transformer.onnx").stat().st_size


def test_a_report_in_a_pull_request(script, tmp_path) -> None:
    told = script("pull_request.py", MODELS / "inception.onnx", tmp_path / "out.onnx")
    assert "48 → 32 nodes" in told and "| Add | 14 | 0 |" in told and "equal" in told
    same(MODELS / "inception.onnx", tmp_path / "out.onnx")


def test_a_quantised_model(script, tmp_path) -> None:
    script("quantised.py", MODELS / "transformer.onnx", tmp_path / "out.onnx")
    same(tmp_path / "out.quantised.onnx", tmp_path / "out.onnx", 1e-6)
    kinds = {node.op_type for node in onnx.load(tmp_path / "out.onnx").graph.node}
    assert "MatMulInteger" in kinds
