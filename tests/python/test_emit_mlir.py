"""`tangram compile --emit mlir`: models as `linalg`, which upstream MLIR runs."""

from __future__ import annotations

import subprocess

import onnx
import onnx.parser
import pytest

import mlir_runner
import oracle
import random_models

# Examples whose operations all become loops.
WHOLE = ["cnn", "half", "inception", "legacy", "lstm_tagger", "quantised", "transformer", "transformer_17"]

needs_mlir = pytest.mark.skipif(not mlir_runner.is_here(), reason="MLIR 22 is not installed")


@pytest.mark.parametrize("name", WHOLE)
def test_a_model_is_linalg_and_is_read_again(tangram_bin, root, tmp_path, name):
    model = onnx.load(root / "examples" / "models" / f"{name}.onnx")
    text, whole = mlir_runner.emit(str(tangram_bin), model, tmp_path)
    assert whole
    assert "linalg.generic" in text
    assert "nn." not in text.partition("{-#")[0]
    again = [tangram_bin, "rewrite", tmp_path / "out.mlir", "--pass-pipeline", "builtin.module(func.func(cse))"]
    subprocess.run(again, check=True, capture_output=True)


@needs_mlir
@pytest.mark.parametrize("name", WHOLE)
def test_mlir_runs_an_example_as_onnxruntime_does(tangram_bin, root, tmp_path, name):
    model = onnx.load(root / "examples" / "models" / f"{name}.onnx")
    text, _ = mlir_runner.emit(str(tangram_bin), model, tmp_path)
    feeds = oracle.random_inputs(model, seed=1, default_size=3)
    expected = oracle.run_ort(model, feeds)
    found = mlir_runner.run(text, [feeds[value.name] for value in model.graph.input if value.name in feeds])
    assert mlir_runner.differences(found, expected) == []


@needs_mlir
@pytest.mark.parametrize("seed", range(7000, 7024))
def test_mlir_runs_a_random_model(tangram_bin, tmp_path, seed):
    model = random_models.Grower(seed).model(8)
    verdict = mlir_runner.judge(str(tangram_bin), model, tmp_path)
    assert ":" not in verdict, verdict


def test_what_has_no_loops_stays_and_is_named(tangram_bin, tmp_path):
    text = """<ir_version: 8, opset_import: ["" : 17]>
    agraph (float[n, 6] x, int64[1] k) => (float[n, m] values, int64[n, m] places)
    { y = Relu (x) values, places = TopK (y, k) }"""
    onnx.save(onnx.parser.parse_model(text), tmp_path / "in.onnx")
    wanted = [tangram_bin, "compile", tmp_path / "in.onnx", "-o", tmp_path / "out.mlir", "--emit", "mlir"]
    done = subprocess.run(wanted, check=True, capture_output=True, text=True)
    assert "1 nn.topk" in done.stdout
    assert '"nn.topk"' in (tmp_path / "out.mlir").read_text()
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["in.onnx", "out.mlir"]


def test_bodies_are_refused_and_nothing_is_written(tangram_bin, root, tmp_path):
    model = root / "examples" / "models" / "control.onnx"
    wanted = [tangram_bin, "compile", model, "-o", tmp_path / "out.mlir", "--emit", "mlir"]
    done = subprocess.run(wanted, check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert "control.onnx: `nn.if` has bodies of its own" in done.stderr
    assert not (tmp_path / "out.mlir").exists()
