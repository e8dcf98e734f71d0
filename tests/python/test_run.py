"""`tangram run` and `tangram compile`: arrays of numpy in and out, beside onnxruntime."""

from __future__ import annotations

import ctypes
import json
import os
import re
import subprocess

import numpy as np
import onnx
import pytest

import oracle
import small
from test_examples import SMALL, given


def tangram(binary, *words: object, env: dict[str, str] | None = None) -> subprocess.CompletedProcess:
    """Runs the command."""
    return subprocess.run(
        [str(binary), *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **(env or {})},
    )


def test_examples_run_on_arrays_in_files(example, tangram_bin, tmp_path) -> None:
    model = onnx.load(example)
    inputs = oracle.random_inputs(model, {**SMALL, "steps": 3}, given=given(model))
    if any(array.dtype == object for array in inputs.values()):
        pytest.skip("the format of arrays has no texts")
    np.savez(tmp_path / "feed.npz", **inputs)
    out = tmp_path / "out.npz"
    ran = tangram(tangram_bin, "run", example, "--input", tmp_path / "feed.npz", "-o", out, "--json")
    if "is no tensor" in ran.stderr or "elements of type" in ran.stderr:
        pytest.skip(ran.stderr)
    assert ran.returncode == 0, ran.stderr
    expected = oracle.run_ort(model, inputs)
    tolerances = dict(oracle.TOLERANCES)
    if example.stem == "half":
        tolerances[np.dtype(np.float32)] = tolerances[np.dtype(np.float16)]
    with np.load(out) as found:
        names = [value.name for value in model.graph.output]
        assert sorted(found.files) == sorted(names)
        same = oracle.same([found[name] for name in names], expected, tolerances)
        assert same, same.why
    told = json.loads(ran.stdout)
    assert [output["name"] for output in told["outputs"]] == names
    # Bodies of loops and branches have operations of their own.
    steps = sum(len(step["operations"]) for step in told["steps"])
    assert told["compiled"] + told["reference"] >= steps


def test_one_input_and_one_output_need_no_names(tangram_bin, root, tmp_path) -> None:
    model = root / "examples/models/cnn.onnx"
    image = np.random.default_rng(0).normal(size=(2, 3, 16, 24)).astype(np.float32)
    np.save(tmp_path / "image.npy", image)
    out = tmp_path / "scores.npy"
    ran = tangram(tangram_bin, "run", model, "--input", tmp_path / "image.npy", "-o", out, "--profile")
    assert ran.returncode == 0, ran.stderr
    assert "share" in ran.stdout and "operations compiled" in ran.stdout
    same = oracle.same(np.load(out), oracle.run_ort(str(model), {"image": image})[0])
    assert same, same.why


def test_what_is_wrong_is_said(tangram_bin, root, tmp_path) -> None:
    model = root / "examples/models/cnn.onnx"
    np.save(tmp_path / "flat.npy", np.zeros(3, np.float32))
    np.save(tmp_path / "fortran.npy", np.zeros((2, 3), np.float32, order="F"))
    np.savez_compressed(tmp_path / "small.npz", image=np.zeros((1, 3, 8, 8), np.float32))
    for words, said in [
        ([], "no value is given for `image`; `--input NAME=FILE.npy` gives one"),
        (["--input", tmp_path / "flat.npy"], "input `image`: rank 4 expected, 1 given"),
        (["--input", tmp_path / "fortran.npy"], "Fortran's order"),
        (["--input", tmp_path / "small.npz"], "compressed"),
        (["--input", f"picture={tmp_path / 'flat.npy'}"], "names no input"),
        (["--random", "--shape", "picture=1"], "no input `picture`"),
    ]:
        ran = tangram(tangram_bin, "run", model, *words)
        assert ran.returncode == 2 and said in ran.stderr, ran.stderr
        assert "\n" not in ran.stderr.strip()


def test_what_is_not_compiled_names_the_sizes_to_fix(tangram_bin, root, tmp_path) -> None:
    model = small.model(
        "(float[n, 3] x) => (float[a, 3] y, float[b, 3] z) { y, z = Split <axis = 0, num_outputs = 2> (x) }",
        opset=18,
    )
    path = tmp_path / "split.onnx"
    onnx.save(model, path)
    ran = tangram(tangram_bin, "compile", path, "-o", tmp_path / "split.so")
    assert ran.returncode == 2 and [path] == list(tmp_path.iterdir())
    assert "compiled yet: Split: it has no definition as loops while extents are open" in ran.stderr
    assert "where sizes are known, more is compiled: `--dim n=N`" in ran.stderr
    # Texts are not compiled for any size.
    text = root / "examples" / "models" / "text.onnx"
    ran = tangram(tangram_bin, "compile", text, "-o", tmp_path / "text.so")
    assert ran.returncode == 2 and "StringSplit (node" in ran.stderr
    assert "--dim" not in ran.stderr


def test_a_library_runs_as_its_model(tangram_bin, root, tmp_path) -> None:
    model, library = root / "examples/models/cnn.onnx", tmp_path / "cnn.so"
    assert tangram(tangram_bin, "compile", model, "-o", library).returncode == 0
    results = []
    for path in (model, library):
        out = tmp_path / f"{path.suffix}.npz"
        ran = tangram(tangram_bin, "run", path, "--random", "--seed", "3", "-o", out)
        assert ran.returncode == 0, ran.stderr
        results.append(np.load(out)["probabilities"])
    assert np.array_equal(*results)
    for words, said in [
        (["--exact"], "--exact is for models"),
        (["--dim", "batch=1"], "another size, input or output is for models"),
        ([], "no value is given for `image`"),
    ]:
        ran = tangram(tangram_bin, "run", library, *words)
        assert ran.returncode == 2 and said in ran.stderr, ran.stderr
    library.with_suffix(".weights").write_bytes(b"")
    ran = tangram(tangram_bin, "run", library, "--random")
    assert ran.returncode == 2 and "not the weights of the library" in ran.stderr


def test_a_missing_compiler_is_an_error_only_where_there_is_code(tangram_bin, root, tmp_path) -> None:
    model = root / "examples/models/cnn.onnx"
    none = {"CC": str(tmp_path / "no-such-compiler"), "TANGRAM_CACHE": str(tmp_path / "cache")}
    ran = tangram(tangram_bin, "run", model, "--random", env=none)
    if ran.returncode != 0:
        assert "no C compiler was found" in ran.stderr and "--interpret" in ran.stderr
    ran = tangram(tangram_bin, "run", model, "--random", "--interpret", env=none)
    assert ran.returncode == 0, ran.stderr
    assert " 0 of " in ran.stdout


def test_a_compiled_library_runs_by_itself(tangram_bin, root, tmp_path) -> None:
    model, library = root / "examples/models/cnn.onnx", tmp_path / "cnn.so"
    made = tangram(tangram_bin, "compile", model, "-o", library)
    assert made.returncode == 0, made.stderr
    header = (tmp_path / "cnn.h").read_text()
    symbols = re.findall(r"dims\[\d+\]: (\w+)", header)
    sizes = {"batch": 2, "height": 16, "width": 24}
    dims = (ctypes.c_int64 * len(symbols))(*[sizes[name] for name in symbols])
    image = np.random.default_rng(0).normal(size=(2, 3, 16, 24)).astype(np.float32)
    (expected,) = oracle.run_ort(str(model), {"image": image})
    found = np.full_like(expected, np.nan)
    code = ctypes.CDLL(str(library))
    code.cnn_arena_bytes.restype = ctypes.c_size_t
    weights = aligned((tmp_path / "cnn.weights").read_bytes())
    arena = aligned(bytes(code.cnn_arena_bytes(dims, None)))
    inputs = (ctypes.c_void_p * 1)(image.ctypes.data)
    outputs = (ctypes.c_void_p * 1)(found.ctypes.data)
    where = [ctypes.c_void_p(array.ctypes.data) for array in (weights, arena)]
    assert code.cnn_run(*where, inputs, outputs, dims, None) == 0
    same = oracle.same(found, expected)
    assert same, same.why


@pytest.mark.parametrize("command", ["run", "compile"])
def test_a_report_shows_time_memory_and_loops(tangram_bin, root, tmp_path, command) -> None:
    model, page = root / "examples/models/cnn.onnx", tmp_path / "cnn.html"
    how = ["--random"] if command == "run" else ["-o", tmp_path / "cnn.so"]
    made = tangram(tangram_bin, command, model, *how, "--report", page)
    assert made.returncode == 0, made.stderr
    held = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text(), re.S)
    data = json.loads(held[1])
    groups = data["groups"]
    assert sum(len(group["operations"]) for group in groups) >= 30
    assert all(group["compiled"] and group["seconds"] > 0 and group["cycles"] > 0 for group in groups)
    assert sum(group["seconds"] for group in groups) <= 2 * data["seconds"]
    # The loops of each function are whole, and of that function.
    for name, code in data["code"].items():
        assert f"int {name}(" in code and code.count("{") == code.count("}") and code.endswith("}")
    assert {group["name"] for group in groups} == set(data["code"])
    # What lives at the same time lies apart.
    live = [buffer for buffer in data["buffers"] if buffer["offset"] is not None and buffer["life"]]
    assert max(buffer["offset"] + buffer["bytes"] for buffer in live) == data["arena"]
    for i, a in enumerate(live):
        for b in live[:i]:
            meets = a["life"][0] <= b["life"][1] and b["life"][0] <= a["life"][1]
            apart = a["offset"] + a["bytes"] <= b["offset"] or b["offset"] + b["bytes"] <= a["offset"]
            assert apart or not meets


def test_a_report_lists_what_runs_on_reference_kernels(tangram_bin, root, tmp_path) -> None:
    page = tmp_path / "text.html"
    made = tangram(tangram_bin, "run", root / "examples/models/text.onnx", "--random", "--report", page)
    assert made.returncode == 0, made.stderr
    assert '"compiled":false' in page.read_text()


def aligned(data: bytes) -> np.ndarray:
    """The bytes at a multiple of 64."""
    whole = np.zeros(len(data) + 64, np.uint8)
    start = -whole.ctypes.data % 64
    whole[start : start + len(data)] = np.frombuffer(data, np.uint8)
    return whole[start : start + len(data)]
