"""The strategy `saturate` is never worse than the greedy one, and ends in its time."""

from __future__ import annotations

import importlib.util
import json
import pathlib
import subprocess

import onnx
import pytest

import random_models

# The models that the benchmark times, whose folder is on no path.
FILE = pathlib.Path(__file__).resolve().parents[2] / "bench" / "choosing" / "pairs.py"
SPEC = importlib.util.spec_from_file_location("pairs", FILE)
pairs = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(pairs)


def reports(binary: pathlib.Path, source: pathlib.Path, folder: pathlib.Path, *options) -> list:
    """Optimises a model greedily and by saturation; gives both results and both reports."""
    found = []
    for strategy in ("greedy", "saturate"):
        target, report = folder / f"{strategy}.onnx", folder / f"{strategy}.json"
        words = ["--strategy", strategy, "--json", report, "-q"]
        words += options if strategy == "saturate" else []
        subprocess.run([binary, "opt", source, "-o", target, *words], check=True, timeout=240)
        found.append((onnx.load(target), json.loads(report.read_text())))
    return found


def compare(found: list) -> None:
    """Saturation has at most the nodes of greedy rewriting, and at most its estimated time."""
    (_, greedy), (_, saturated) = found
    assert saturated["nodes"]["after"] <= greedy["nodes"]["after"]
    assert saturated["saturation"]["after"] <= saturated["saturation"]["greedy"]


def test_examples_are_no_worse(tangram_bin, root, tmp_path) -> None:
    for name in ("cnn", "transformer", "lstm_tagger", "inception", "quantised"):
        source = root / "examples" / "models" / f"{name}.onnx"
        compare(reports(tangram_bin, source, tmp_path, "--max-nodes", "1000"))


def test_random_models_are_no_worse_and_compute_the_same(tangram_bin, tmp_path) -> None:
    command = [str(tangram_bin), "opt", "--quiet", "--strategy", "saturate", "--max-nodes", "1000"]
    for seed in range(500, 508):
        verdict = random_models.judge_apart(seed, 12, command, tmp_path)
        assert verdict.kind in ("right", "not a model", "does not run"), (seed, verdict)
        if verdict.kind == "right":
            compare(reports(tangram_bin, tmp_path / "in.onnx", tmp_path, "--max-nodes", "1000"))


@pytest.mark.parametrize("limit", [0.2, 1.0])
def test_it_ends_in_its_time(tangram_bin, root, tmp_path, limit) -> None:
    source = root / "examples" / "models" / "transformer.onnx"
    words = ["--strategy", "saturate", "--max-seconds", str(limit), "--max-nodes", "10000000"]
    report = tmp_path / "r.json"
    command = [tangram_bin, "opt", source, "-o", tmp_path / "o.onnx", "-q", "--json", report]
    # The limit of the test is there for a search that would never end.
    subprocess.run([*command, *words], check=True, timeout=120)
    told = json.loads(report.read_text())
    stops = [f["stop"] for run in told["saturation"]["runs"] for f in run["functions"] if "stop" in f]
    assert told["stopped_by"] or stops


def made_of_pair(binary: pathlib.Path, name: str, folder: pathlib.Path) -> tuple[onnx.ModelProto, list]:
    """A model of the benchmark, and what both strategies make of it."""
    model = next(make() for _, known, make in pairs.PAIRS if known == name)
    source = folder / "in.onnx"
    onnx.save(model, source)
    return model, reports(binary, source, folder)


@pytest.mark.parametrize("name", ["branches-20x96", "branches-10x256"])
def test_branches_that_are_kernels_stay_apart(name, tangram_bin, tmp_path) -> None:
    """A runtime computes each function in the convolution before it, of which nothing is left to gain."""
    model, (_, (found, _)) = made_of_pair(tangram_bin, name, tmp_path)
    operators = [node.op_type for node in found.graph.node]
    assert operators == [node.op_type for node in model.graph.node]


@pytest.mark.parametrize("name", ["row_of_attention-48x320x4", "row_of_product-40x192x2000"])
def test_rows_are_cut_as_they_are_greedily(name, tangram_bin, tmp_path) -> None:
    _, ((_, greedy), (_, saturated)) = made_of_pair(tangram_bin, name, tmp_path)
    assert saturated["cost"]["after"]["flops"] <= greedy["cost"]["after"]["flops"]


def test_each_output_is_explained_by_name(tangram_bin, tmp_path) -> None:
    """A branch that is added to a convolution becomes one product with it, which greedy does not see."""
    model = next(make() for _, known, make in pairs.PAIRS if known == "residual-28x64x256")
    onnx.save(model, tmp_path / "in.onnx")

    def ran(*words: str) -> subprocess.CompletedProcess[str]:
        command = [tangram_bin, "opt", "in.onnx", "-o", "out.onnx", "--strategy", "saturate", "--max-nodes", "600"]
        return subprocess.run([*command, *words], cwd=tmp_path, capture_output=True, text=True, check=False)

    output = model.graph.output[0].name
    for words in ("--explain", f"--explain={output}"):
        told = ran(words)
        assert told.returncode == 0 and "nn.add = nn.bias_add by sum-of-biased-joined" in told.stdout, told
    wrong = ran("--explain=no-such-output")
    assert wrong.returncode == 2 and f"there is no output `no-such-output`; there are: {output}" in wrong.stderr, wrong
