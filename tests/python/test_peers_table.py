"""The page for people who come from onnxsim and onnxslim names all that these packages have."""

from __future__ import annotations

import fnmatch
import importlib.util
import json
import re
import subprocess
import sys

import numpy as np
import onnx
import pytest

import oracle
from conftest import ROOT

PAGE = (ROOT / "docs" / "from-onnxsim.md").read_text()


def section(title: str) -> set[str]:
    """The words in code of the first columns of a section's table."""
    text = PAGE.split(f"## {title}\n")[1].split("\n## ")[0]
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| ") and "---" not in line]
    return {word for row in rows[1:] for code in re.findall(r"`([^`]+)`", row) for word in code.split()}


def flags(package: str) -> set[str]:
    """The flags that the help of a package lists."""
    words = [sys.executable, "-m", package, "--help"]
    told = subprocess.run(words, capture_output=True, text=True, check=True, timeout=300).stdout
    listed = re.findall(r"^  (-[^\n]*)$", told, re.MULTILINE)
    return {flag for line in listed for flag in re.findall(r"(?<![\w-])--?[a-z][\w-]*", re.split(r"\s{2,}", line)[0])}


@pytest.mark.parametrize("package", ["onnxsim", "onnxslim"])
def test_every_flag_is_in_the_table(package) -> None:
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"needs the package {package}")
    found = flags(package)
    assert len(found) > 15
    assert sorted(found - section(f"Flags of {package}")) == []


@pytest.mark.parametrize("package", ["onnxsim", "onnxslim"])
def test_every_function_is_in_the_table(package) -> None:
    module = pytest.importorskip(package, reason=f"needs the package {package}")
    public = getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]
    # Modules and names of the standard library are no functions of the package.
    names = [n for n in public if callable(getattr(module, n)) and getattr(module, n).__module__.startswith(package)]
    patterns = section(f"Functions of {package}")
    missing = [name for name in names if not any(fnmatch.fnmatch(name, p) for p in patterns)]
    assert missing == [] and len(names) > 1


def test_what_stands_on_our_side_is_there(tangram_bin) -> None:
    """Flags in the second columns are flags of `tangram opt`, `show`, `check` or `rules`."""
    told = ""
    for command in (["opt"], ["show"], ["check"], ["compile"], ["diff"], ["rules", "check"]):
        told += subprocess.run([tangram_bin, *command, "--help"], capture_output=True, text=True, check=True).stdout
    known = set(re.findall(r"--[a-z][\w-]*", told)) | {"--version", "--help"}
    rows = [line.split("|")[2] for line in PAGE.splitlines() if line.startswith("| ") and line.count("|") >= 3]
    ours = {flag for row in rows for code in re.findall(r"`([^`]+)`", row) for flag in re.findall(r"--[a-z][\w-]*", code)}
    assert sorted(ours - known) == []


CNN = ROOT / "examples" / "models" / "cnn.onnx"
RELU = next(node.output[0] for node in onnx.load(CNN).graph.node if node.op_type == "Relu")
# For each flag in the second columns, the words that it is given with.
RUNS = {
    "--check": ["--check"],
    "--runs": ["--check", "--runs", "2", "--shape", "image=1,3,16,16"],
    "--tolerance": ["--check", "--tolerance", "1e-3", "--shape", "image=1,3,16,16"],
    "--shape": ["--check", "--shape", "image=1,3,16,16"],
    "--data": ["--check", "--data", "image={data}"],
    "--input-shape": ["--input-shape", "image:1,3,16,16"],
    "--inputs": ["--inputs", RELU],
    "--outputs": ["--outputs", RELU],
    "--disable": ["--disable", "conv-batch-norm", "--disable", "fuse"],
    "--no-library": ["--no-library"],
    "--rules": ["--rules", "lower"],
    "--fold-limit": ["--fold-limit", "0"],
    "--external-data": ["--external-data", "always"],
    "--opset": ["--opset", "18"],
    "--inline-functions": ["--inline-functions"],
    "--strategy": ["--strategy", "saturate", "--max-seconds", "2"],
    "--explain": ["--strategy", "saturate", "--explain", "--max-seconds", "2"],
    "--to": ["--to", "float16"],
    "--json": ["--json", "{out}.json"],
    "--trace": ["--trace", "{out}.html"],
}
# These are of other commands, which have tests of their own.
ELSEWHERE = {"--emit", "--format", "--help", "--version"}
# What a result shows of a flag.
SHOWN = {
    "--input-shape": lambda model, out: [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim] == [1, 3, 16, 16],
    "--inputs": lambda model, out: [value.name for value in model.graph.input] == [RELU],
    "--outputs": lambda model, out: [value.name for value in model.graph.output] == [RELU],
    "--disable": lambda model, out: "BatchNormalization" in {node.op_type for node in model.graph.node},
    "--no-library": lambda model, out: "BatchNormalization" in {node.op_type for node in model.graph.node},
    "--external-data": lambda model, out: out.with_name(out.name + ".data").is_file(),
    "--opset": lambda model, out: model.opset_import[0].version == 18,
    "--to": lambda model, out: onnx.TensorProto.FLOAT16 in {tensor.data_type for tensor in model.graph.initializer},
    "--json": lambda model, out: json.loads(out.with_name(out.name + ".json").read_text())["nodes"]["before"] == 32,
    "--trace": lambda model, out: "conv-batch-norm" in out.with_name(out.name + ".html").read_text(),
}


def test_every_flag_of_the_table_is_run() -> None:
    rows = [line.split("|")[2] for line in PAGE.splitlines() if line.startswith("| ") and line.count("|") >= 3]
    ours = {flag for row in rows for code in re.findall(r"`([^`]+)`", row) for flag in re.findall(r"--[a-z][\w-]*", code)}
    assert sorted(ours - set(RUNS) - ELSEWHERE) == [] and set(SHOWN) <= set(RUNS)


@pytest.mark.parametrize("flag", RUNS)
def test_a_row_of_the_table(flag, tangram_bin, tmp_path) -> None:
    """The flag does what the row says, on a model with what people have in theirs."""
    out, data = tmp_path / "out.onnx", tmp_path / "image.npy"
    np.save(data, np.random.default_rng(1).random((2, 3, 16, 16), np.float32))
    words = [word.format(out=out, data=data) for word in RUNS[flag]]
    ran = subprocess.run([tangram_bin, "opt", CNN, "-o", out, *words], capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ("check  equal" in ran.stdout) == ("--check" in words), ran.stdout
    model = onnx.load(out)
    onnx.checker.check_model(str(out), full_check=True)
    assert flag not in SHOWN or SHOWN[flag](model, out)
    if not {"--inputs", "--outputs"} & set(words):
        feed = {"image": np.load(data)[:1]}
        (before,), (after,) = oracle.run_ort(onnx.load(CNN), feed), oracle.run_ort(str(out), feed)
        tolerance = 2e-2 if flag == "--to" else 1e-4
        np.testing.assert_allclose(before, after, rtol=tolerance, atol=tolerance * np.abs(before).max())
