"""Two runs give the same bytes: in other folders, with other temporary folders, caches and threads.

Reports name how long things took; those numbers are left out of the comparison, and nothing else is.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from conftest import ROOT

MODELS = ROOT / "examples" / "models"
needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")

# Of each command what it is called with; its outputs are all files that there are afterwards.
COMMANDS: dict[str, list[str]] = {
    "opt": ["opt", "m.onnx", "-o", "o.onnx", "--json", "r.json", "--trace", "t.html"],
    "external": ["opt", "m.onnx", "-o", "o.onnx", "--external-data", "always", "--trace", "t.json"],
    "saturate": ["opt", "m.onnx", "-o", "o.onnx", "--strategy", "saturate", "--max-nodes", "1500"],
    "float16": ["opt", "m.onnx", "-o", "o.onnx", "--to", "float16"],
    "show": ["show", "m.onnx"],
    "show json": ["show", "m.onnx", "--format", "json", "-o", "m.json"],
    "show svg": ["show", "m.onnx", "--format", "svg", "-o", "m.svg"],
    "show dot": ["show", "m.onnx", "--format", "dot", "-o", "m.dot"],
    "show mlir": ["show", "m.onnx", "--format", "mlir", "-o", "m.mlir"],
    "diff": ["diff", "m.onnx", "m.onnx", "--json"],
    "run": ["run", "m.onnx", "--random", "--interpret", "-o", "o.npz"],
    "mlir": ["compile", "m.onnx", "-o", "k.mlir", "--emit", "mlir"],
}
COMPILED: dict[str, list[str]] = {
    "c": ["compile", "m.onnx", "-o", "k.c", "--emit", "c"],
    "library": ["compile", "m.onnx", "-o", "k.so"],
}
OTHERS: dict[str, list[str]] = {
    "scop": ["scop", "k.c", "-o", "o.c"],
    "scop report": ["scop", "k.c", "--print", "report", "--format", "json"],
    "deps": ["scop", "k.c", "--print", "deps"],
    "tree": ["scop", "k.c", "--print", "tree"],
    "svg": ["scop", "k.c", "--print", "tree", "--format", "svg"],
}


def timeless(name: str, content: bytes) -> bytes:
    """The content without how long things took."""
    if name.endswith(".json"):
        return json.dumps(without_seconds(json.loads(content))).encode()
    # What is printed has a column of milliseconds, as wide as they are, and a line.
    return re.sub(rb"( *[0-9]+\.[0-9]+( m?s)?)| +", b" ", content) if name == "stdout" else content


def without_seconds(value):
    """JSON in its order, without what stands under names with `seconds` in them."""
    if isinstance(value, dict):
        return {key: without_seconds(inner) for key, inner in value.items() if "seconds" not in key}
    return [without_seconds(inner) for inner in value] if isinstance(value, list) else value


def done(binary: pathlib.Path, folder: pathlib.Path, command: list[str], given: pathlib.Path, name: str) -> dict[str, bytes]:
    """All files after a command in a folder, and what it printed."""
    (folder / "tmp").mkdir(parents=True)
    shutil.copy(given, folder / name)
    # Names of folders, of temporary ones and of caches are others, and so is what is cached.
    environment = os.environ | {
        "TMPDIR": str(folder / "tmp"),
        "XDG_CACHE_HOME": str(folder / "tmp" / "cache"),
        "RAYON_NUM_THREADS": str(1 + len(folder.name) % 3),
    }
    ran = subprocess.run([binary, *command], cwd=folder, env=environment, capture_output=True, timeout=300, check=False)
    shutil.rmtree(folder / "tmp")
    found = {path.name: timeless(path.name, path.read_bytes()) for path in folder.iterdir()}
    return found | {"stdout": timeless("stdout", ran.stdout), "code": str(ran.returncode).encode()}


def compare(binary: pathlib.Path, tmp_path: pathlib.Path, command: list[str], given: pathlib.Path, name: str) -> dict[str, bytes]:
    folders = [tmp_path / "one", tmp_path / "another folder, of a longer name"]
    first, second = (done(binary, folder, command, given, name) for folder in folders)
    assert first.keys() == second.keys()
    for file, content in first.items():
        assert content == second[file], f"{file} differs"
    return first


@pytest.mark.parametrize("model", ["cnn", "transformer_17"])
@pytest.mark.parametrize("command", COMMANDS)
def test_models(command, model, tangram_bin, tmp_path) -> None:
    found = compare(tangram_bin, tmp_path, COMMANDS[command], MODELS / f"{model}.onnx", "m.onnx")
    assert found["code"] == b"0", found["stdout"]


@needs_compiler
@pytest.mark.parametrize("model", ["cnn", "quantised"])
@pytest.mark.parametrize("command", COMPILED)
def test_compiled_models(command, model, tangram_bin, tmp_path) -> None:
    found = compare(tangram_bin, tmp_path, COMPILED[command], MODELS / f"{model}.onnx", "m.onnx")
    assert found["code"] == b"0" and "k.weights" in found


@needs_compiler
@pytest.mark.parametrize("kernel", ["gemm", "jacobi_2d"])
@pytest.mark.parametrize("command", OTHERS)
def test_loops(command, kernel, tangram_bin, tmp_path) -> None:
    compare(tangram_bin, tmp_path, OTHERS[command], ROOT / "examples" / "kernels" / f"{kernel}.c", "k.c")


def test_seconds_are_the_only_thing_left_out() -> None:
    report = json.dumps({"seconds": {"load": 1.25}, "nodes": 3, "rules": [{"search_seconds": 2e-05, "name": "r"}]})
    assert timeless("r.json", report.encode()) == b'{"nodes": 3, "rules": [{"name": "r"}]}'
    assert timeless("stdout", b"n  12.5 ms 3") == b"n  3"
    assert timeless("m.svg", b"1.5 ms") == b"1.5 ms"
