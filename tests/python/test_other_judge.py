"""`--check --with onnxruntime`: an engine of its own says whether two models compute the same."""

from __future__ import annotations

import os
import sys

import numpy as np
import onnx
import pytest

import small
import tangram

BODY = "(float[n, 3] x) => (float[n, 4] y) { m = MatMul(x, w)  a = Add(m, b)  y = Relu(a) }"
WEIGHTS = {"w": np.arange(12, dtype=np.float32).reshape(3, 4), "b": np.ones(4, np.float32)}
DRAWN = """(bool c, float[2, 3] x) => (float[2, 3] y) {
    y = If (c) < then_branch = t () => (float[2, 3] a) { r = RandomNormalLike(x)  a = Add(r, x) },
                 else_branch = e () => (float[2, 3] b) { b = Neg(x) }> }"""


@pytest.fixture
def command(tangram_bin, tmp_path, monkeypatch) -> small.Command:
    monkeypatch.setenv("TANGRAM_PYTHON", sys.executable)
    return small.Command(tangram_bin, tmp_path)


def saved(command, name: str, model: onnx.ModelProto) -> str:
    onnx.save(model, command.folder / name)
    return name


def test_it_judges_what_opt_makes(command) -> None:
    source = saved(command, "a.onnx", small.model(BODY, weights=WEIGHTS))
    ran = command.run("opt", source, "-o", "b.onnx", "--check", "--with", "onnxruntime", "--runs", "3")
    assert "check  equal" in ran.stdout


def test_it_finds_models_that_differ(command) -> None:
    first = saved(command, "a.onnx", small.model(BODY, weights=WEIGHTS))
    other = saved(command, "b.onnx", small.model(BODY, weights=WEIGHTS | {"b": np.full(4, 2, np.float32)}))
    ran = command.run("check", first, other, "--with", "onnxruntime", code=1)
    assert "DIFFERENT" in ran.stdout and "`y`" in ran.stdout
    assert "equal" in command.run("check", first, first, "--with", "onnxruntime").stdout


def test_what_a_branch_draws_is_given_to_both(command) -> None:
    model = saved(command, "a.onnx", small.model(DRAWN))
    command.run("opt", model, "-o", "b.onnx", "--check", "--with", "onnxruntime")


def test_without_an_engine_it_says_so(command, monkeypatch) -> None:
    model = saved(command, "a.onnx", small.model(BODY, weights=WEIGHTS))
    monkeypatch.setenv("TANGRAM_PYTHON", os.path.join(str(command.folder), "no-python"))
    ran = command.run("check", model, model, "--with", "onnxruntime", code=3)
    assert "TANGRAM_PYTHON" in ran.stderr
    # An operator that onnxruntime does not have.
    monkeypatch.setenv("TANGRAM_PYTHON", sys.executable)
    body = "(float[2] x) => (float[2] y) { y = Relu(x) }"
    newer = saved(command, "c.onnx", small.model(body, opset=28, ir=14))
    assert "does not load" in command.run("check", newer, newer, "--with", "onnxruntime", code=3).stderr


@pytest.mark.parametrize("runs", [1, 3])
def test_python_asks_onnxruntime(runs) -> None:
    model = small.model(BODY, weights=WEIGHTS)
    made = tangram.optimize(model, check="onnxruntime", runs=runs)
    assert made.report.data["check"]["state"] == "equal", made.report.data["check"]
    assert tangram.check(model, made, engine="onnxruntime").holds
    other = small.model(BODY, weights=WEIGHTS | {"b": np.full(4, 2, np.float32)})
    assert not tangram.check(model, other, engine="onnxruntime").holds


def test_python_is_told_of_a_rule_that_onnxruntime_refutes() -> None:
    wrong = "rule wrong { let x = *; match relu(x); rewrite x; }"
    with pytest.raises(tangram.CheckError, match="y"):
        tangram.optimize(small.model(BODY, weights=WEIGHTS), wrong, data={"x": -np.ones((2, 3), np.float32)}, check="onnxruntime")


def test_python_knows_one_other_engine() -> None:
    with pytest.raises(ValueError, match="no engine"):
        tangram.optimize(small.model(BODY, weights=WEIGHTS), check="onnx")  # type: ignore[arg-type]


def test_a_python_without_onnxruntime_leaves_models_uncompared(monkeypatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    found = tangram.optimize(small.model(BODY, weights=WEIGHTS), check="onnxruntime").report.data["check"]
    assert found["state"] == "not possible" and "/nowhere/python" in found["text"], found
