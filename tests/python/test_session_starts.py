"""How sessions start, and what they are given besides a model: files, initializers, a cache, a compiler."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import tangram as ort

ENGINES = pytest.mark.parametrize("engine", [onnxruntime, ort], ids=["onnxruntime", "tangram"])
tensor = helper.make_tensor_value_info


def model(nodes, inputs, outputs, constants=()) -> onnx.ModelProto:
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(constants))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def adder(width: int = 3) -> onnx.ModelProto:
    """`y = x + w`."""
    return model(
        [helper.make_node("Add", ["x", "w"], ["y"])],
        [tensor("x", TensorProto.FLOAT, ["n"])],
        [tensor("y", TensorProto.FLOAT, ["n"])],
        [numpy_helper.from_array(np.arange(width, dtype=np.float32), "w")],
    )


@ENGINES
def test_inputs_may_share_a_name_of_an_extent_that_nothing_relates(engine) -> None:
    built = model(
        [
            helper.make_node("Relu", ["x"], ["a"]),
            helper.make_node("Softmax", ["y"], ["s"]),
            helper.make_node("Mul", ["s", "y"], ["b"]),
        ],
        [tensor("x", TensorProto.FLOAT, ["n", 4]), tensor("y", TensorProto.FLOAT, ["n", 4])],
        [tensor("a", TensorProto.FLOAT, ["n", 4]), tensor("b", TensorProto.FLOAT, ["n", 4])],
    )
    session = engine.InferenceSession(built.SerializeToString())
    random = np.random.default_rng(0)
    for sizes in [(2, 2), (2, 3), (5, 1), (0, 2)]:
        x, y = (random.normal(size=(n, 4)).astype(np.float32) for n in sizes)
        a, b = session.run(None, {"x": x, "y": y})
        share = np.exp(y - y.max(axis=1, keepdims=True, initial=0))
        assert np.array_equal(a, np.maximum(x, 0))
        assert np.allclose(b, share / share.sum(axis=1, keepdims=True) * y, atol=1e-6)


@ENGINES
def test_inputs_that_an_operation_relates_have_one_size(engine) -> None:
    pair = [tensor(name, TensorProto.FLOAT, ["n"]) for name in "xy"]
    built = model([helper.make_node("Add", ["x", "y"], ["z"])], pair, [tensor("z", 1, ["n"])])
    session = engine.InferenceSession(built.SerializeToString())
    wrong = engine.capi.onnxruntime_pybind11_state if engine is onnxruntime else ort
    with pytest.raises((wrong.Fail, wrong.InvalidArgument)) as caught:
        session.run(None, {"x": np.ones(2, np.float32), "y": np.ones(3, np.float32)})
    if engine is ort:
        assert "which is `n` of input `x`" in str(caught.value)


@ENGINES
def test_bytes_find_their_data_in_the_current_folder(engine, tmp_path, monkeypatch) -> None:
    onnx.save(adder(), tmp_path / "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    content = (tmp_path / "m.onnx").read_bytes()
    x = np.zeros(3, np.float32)
    if engine is ort:
        options = engine.SessionOptions()
        key = "session.model_external_initializers_file_folder_path"
        options.add_session_config_entry(key, str(tmp_path))
        assert engine.InferenceSession(content, options).run(None, {"x": x})[0].tolist() == [0, 1, 2]
    monkeypatch.chdir(tmp_path)
    if engine is ort:
        # onnxruntime does so too, unless it folds what lies there.
        assert engine.InferenceSession(content).run(None, {"x": x})[0].tolist() == [0, 1, 2]
    given = engine.SessionOptions()
    data = np.float32([7, 8, 9]).tobytes()
    given.add_external_initializers_from_files_in_memory(["w.bin"], [data], [len(data)])
    (tmp_path / "w.bin").unlink()
    assert engine.InferenceSession(content, given).run(None, {"x": x})[0].tolist() == [7, 8, 9]
    named = engine.SessionOptions()
    value = engine.OrtValue.ortvalue_from_numpy(np.float32([4, 5, 6]))
    named.add_external_initializers(["w"], [value])
    assert engine.InferenceSession(content, named).run(None, {"x": x})[0].tolist() == [4, 5, 6]


@ENGINES
def test_an_initializer_is_replaced(engine) -> None:
    value = engine.OrtValue.ortvalue_from_numpy(np.float32([10, 20, 30]))
    other = engine.OrtValue.ortvalue_from_numpy(np.float32([1]))
    options = engine.SessionOptions()
    options.add_initializer("w", value)
    options.add_initializer("not there", other)
    session = engine.InferenceSession(adder().SerializeToString(), options)
    assert session.run(None, {"x": np.ones(3, np.float32)})[0].tolist() == [11, 21, 31]


def test_an_initializer_of_another_type_is_refused() -> None:
    options = ort.SessionOptions()
    options.add_initializer("w", ort.OrtValue.ortvalue_from_numpy(np.float64([10])))
    with pytest.raises(ort.ModelError, match="initializer `w` is of ONNX's type 1, not 11"):
        ort.InferenceSession(adder().SerializeToString(), options)


@ENGINES
def test_profiling_ends_without_a_file_where_none_was_asked_for(engine, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    session = engine.InferenceSession(adder().SerializeToString())
    assert session.end_profiling() == "" and not list(tmp_path.iterdir())
    options = engine.SessionOptions()
    options.enable_profiling = True
    options.profile_file_prefix = "times"
    session = engine.InferenceSession(adder().SerializeToString(), options)
    session.run(None, {"x": np.ones(3, np.float32)})
    path = session.end_profiling()
    names = [event["name"] for event in json.loads((tmp_path / path).read_text())]
    assert any("add" in name.lower() for name in names), names
    assert session.end_profiling() == "" and len(list(tmp_path.iterdir())) == 1


START = """
import sys, numpy as np, tangram as ort
session = ort.InferenceSession(sys.argv[1])
print(session.run(None, {"x": np.ones(3, np.float32)})[0].tolist(), session.coverage())
"""


def start(path, folder, tmp_path, **variables: str) -> str:
    """What a process prints that starts a session from a cache."""
    environment = {**os.environ, "TANGRAM_CACHE": str(folder), **variables}
    command = [sys.executable, "-c", START, str(path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done.stdout or done.stderr


def without_compilers(tmp_path) -> str:
    """A search path on which there is no C compiler."""
    empty = tmp_path / "empty"
    empty.mkdir(exist_ok=True)
    return str(empty)


def test_what_is_in_the_cache_runs_without_a_compiler_or_with_another_one(tmp_path) -> None:
    whole, cut = tmp_path / "whole.onnx", tmp_path / "cut.onnx"
    onnx.save(adder(), whole)
    # A model of which a part is not compiled leaves its code, and no session.
    onnx.save(
        model(
            [
                helper.make_node("Mul", ["x", "w"], ["a"]),
                helper.make_node("NonZero", ["a"], ["y"]),
            ],
            [tensor("x", TensorProto.FLOAT, ["n"])],
            [tensor("y", TensorProto.INT64, [1, "m"])],
            [numpy_helper.from_array(np.arange(3, dtype=np.float32), "w")],
        ),
        cut,
    )
    cache, nowhere = tmp_path / "cache", without_compilers(tmp_path)
    for path in (whole, cut):
        assert "no C compiler was found" in start(path, cache, tmp_path, PATH=nowhere, CC="")
        first = start(path, cache, tmp_path)
        assert "[" in first
        assert start(path, cache, tmp_path, PATH=nowhere, CC="") == first
    # One that does not work is never asked.
    broken = tmp_path / "cc"
    broken.write_text("#!/bin/sh\nif [ \"$1\" = --version ]; then echo other; else exit 1; fi\n")
    broken.chmod(0o755)
    assert "[1.0, 2.0, 3.0]" in start(whole, cache, tmp_path, CC=str(broken))


@pytest.mark.skipif(sys.platform != "linux", reason="mounts are those of Linux")
def test_a_cache_on_a_mount_without_execution_will_do(tmp_path) -> None:
    mount = tmp_path / "mount"
    mount.mkdir()
    options = ["-t", "tmpfs", "-o", "noexec,size=64m,mode=700", "none", str(mount)]
    made = subprocess.run(["mount", *options], capture_output=True, check=False)
    if made.returncode != 0:
        pytest.skip("nothing can be mounted here")
    try:
        path = tmp_path / "m.onnx"
        onnx.save(adder(), path)
        for _ in range(2):
            assert "[1.0, 2.0, 3.0]" in start(path, mount, tmp_path)
        assert any(mount.rglob("code.so")), "it is kept there"
    finally:
        subprocess.run(["umount", str(mount)], check=False)


def test_a_first_start_says_that_it_compiles(tmp_path, monkeypatch, caplog) -> None:
    from tangram import _starting

    monkeypatch.setenv("TANGRAM_CACHE", str(tmp_path))
    monkeypatch.setattr(_starting, "_PATIENCE", 0)
    with caplog.at_level(logging.INFO, logger="tangram"):
        ort.InferenceSession(adder())
        assert [record.message for record in caplog.records] == [
            "compiling the model, once for this machine"
        ]
        caplog.clear()
        ort.InferenceSession(adder())
        assert not caplog.records, "the second one has nothing to compile"
        options = ort.SessionOptions()
        options.log_severity_level = 3
        options.use_deterministic_compute = True
        ort.InferenceSession(adder(), options)
        assert not caplog.records


def test_on_a_terminal_a_line_says_how_far_it_is_and_goes_away(monkeypatch) -> None:
    from tangram import _starting

    class Terminal(list):
        def isatty(self) -> bool:
            return True

        write, flush = list.append, lambda self: None

    shown = Terminal()
    monkeypatch.setattr(_starting, "_PATIENCE", 0)
    monkeypatch.setattr(sys, "stderr", shown)
    with _starting.Starting() as starting:
        starting.heard(12, 0, 0)
        starting.heard(0, 3, 8)
    assert "12 functions written" in shown[0] and "3 of 8 files built" in shown[1]
    assert shown[-1].strip() == "" and shown[-1].endswith("\r")


def test_a_run_ends_when_its_caller_wants_it_to() -> None:
    """A loop of a billion steps, which another thread ends."""
    import threading

    body = helper.make_graph(
        [
            helper.make_node("Identity", ["go"], ["again"]),
            helper.make_node("Sin", ["state"], ["next"]),
        ],
        "body",
        [tensor("i", TensorProto.INT64, []), tensor("go", TensorProto.BOOL, []), tensor("state", 1, [4])],
        [tensor("again", TensorProto.BOOL, []), tensor("next", 1, [4])],
    )
    built = model(
        [helper.make_node("Loop", ["count", "", "x"], ["y"], body=body)],
        [tensor("x", TensorProto.FLOAT, [4]), tensor("count", TensorProto.INT64, [])],
        [tensor("y", TensorProto.FLOAT, [4])],
    )
    session = ort.InferenceSession(built)
    options = ort.RunOptions()
    timer = threading.Timer(0.5, lambda: setattr(options, "terminate", True))
    timer.start()
    with pytest.raises(ort.Fail, match="ended by its caller"):
        session.run(None, {"x": np.ones(4, np.float32), "count": np.array(10**9)}, options)
