"""The example of a compiled model in a C program, as its first lines say to build it."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess

import numpy as np
import pytest

import tangram

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "examples/models/cnn.onnx"


@pytest.fixture(scope="module")
def program(tangram_bin, tmp_path_factory) -> pathlib.Path:
    """The program, built of C that needs no vectors, without a warning."""
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("native")
    emit = [tangram_bin, "compile", MODEL, "--emit", "c", "--machine", "scalar", "-o"]
    subprocess.run([*emit, folder / "cnn.c"], check=True, capture_output=True)
    # Debug information gives valgrind lines to speak of.
    flags = ["-std=gnu11", "-g", "-O1", "-I", folder]
    sources = [ROOT / "examples/native/main.c", folder / "cnn.c"]
    build = [*compiler.split(), *flags, *sources, "-lm", "-o", folder / "classify"]
    subprocess.run(build, check=True, capture_output=True)
    checked = [*compiler.split(), *flags, "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    subprocess.run([*checked, sources[0]], check=True)
    return folder / "classify"


def shares(output: str) -> np.ndarray:
    """What the program prints."""
    return np.array([float(line.split()[1]) for line in output.splitlines()])


def test_the_example_computes_what_a_session_does(program):
    run = [program, program.parent / "cnn.weights"]
    output = subprocess.run(run, check=True, capture_output=True, text=True).stdout
    image = np.full((1, 3, 32, 32), 0.5, np.float32)
    (expected,) = tangram.InferenceSession(MODEL).run(None, {"image": image})
    np.testing.assert_allclose(shares(output), expected[0], atol=2e-6)


def test_the_example_is_clean_under_valgrind(program):
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        pytest.skip("no valgrind")
    check = [valgrind, "--quiet", "--error-exitcode=9", "--leak-check=full"]
    run = [*check, program, program.parent / "cnn.weights"]
    done = subprocess.run(run, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len(shares(done.stdout)) == 10


def test_a_missing_file_is_said(program, tmp_path):
    done = subprocess.run([program, tmp_path / "none"], capture_output=True, text=True)
    assert done.returncode == 1 and "cannot be read" in done.stderr
