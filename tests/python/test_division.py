"""Integers divided by zero, and the least number by -1: one thing wherever a model is computed.

onnxruntime refuses to divide an integer by zero, as the reference kernels do. So does compiled code,
in a session, as a library and as C; what is constant is not folded, and the model refuses when it
runs. The least number by -1 wraps around, as numpy has it.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper, numpy_helper

import tangram
from small import Command

TYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FORMS = [("Div", {}), ("Mod", {}), ("Mod", {"fmod": 1})]
needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")


def model(operator: str, element: str, constants: dict[str, np.ndarray] | None = None, **attributes) -> onnx.ModelProto:
    """`c = operator(a, b)`."""
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(element))
    given = [helper.make_tensor_value_info(name, kind, ["N"]) for name in "ab" if name not in (constants or {})]
    weights = [numpy_helper.from_array(values, name) for name, values in (constants or {}).items()]
    node = helper.make_node(operator, ["a", "b"], ["c"], **attributes)
    graph = helper.make_graph([node], "g", given, [helper.make_tensor_value_info("c", kind, ["N"])], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def session(of: onnx.ModelProto, interpret: bool) -> tangram.InferenceSession:
    options = tangram.SessionOptions()
    options.interpret = interpret
    return tangram.InferenceSession(of.SerializeToString(), options)


def expected(operator: str, attributes: dict, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """By Python's own integers, wrapped around."""
    def one(x: int, y: int) -> int:
        truncated = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        if operator == "Div":
            return truncated
        return x - truncated * y if attributes else x % y

    values = np.array([one(int(x), int(y)) for x, y in zip(a, b)], dtype=object)
    bits = a.dtype.itemsize * 8
    wrapped = [value % 2**bits for value in values]
    return np.array(wrapped, dtype=f"uint{bits}").astype(a.dtype)


def numbers(element: str) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of numbers at the limits but those with a divisor of zero."""
    kind = np.iinfo(element)
    limits = sorted({kind.min, kind.min + 1, kind.max, kind.max - 1, 0, 1, 2, 7, 100} | ({-1, -2, -7} if kind.min else set()))
    pairs = [(a, b) for a in limits for b in limits if b]
    return tuple(np.array(side, element) for side in zip(*pairs))


@pytest.mark.parametrize("interpret", [False, True])
@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize(("operator", "attributes"), FORMS)
def test_numbers_at_the_limits(operator, attributes, element, interpret) -> None:
    a, b = numbers(element)
    want = expected(operator, attributes, a, b)
    made = session(model(operator, element, **attributes), interpret)
    np.testing.assert_array_equal(made.run(None, {"a": a, "b": b})[0], want)
    # onnxruntime ends the process at the least number by -1, and computes `fmod` in double.
    safe = ~((a == np.iinfo(element).min) & (b.astype(object) == -1))
    if attributes:
        safe &= np.array([max(abs(int(x)), abs(int(y))) < 2**53 for x, y in zip(a, b)])
    runtime = onnxruntime.InferenceSession(model(operator, element, **attributes).SerializeToString())
    np.testing.assert_array_equal(runtime.run(None, {"a": a[safe], "b": b[safe]})[0], want[safe])
    # By constants, for which code may be another.
    for at in (0, len(a) // 2, len(a) - 1):
        divisor = model(operator, element, {"b": b[at : at + 1]}, **attributes)
        np.testing.assert_array_equal(
            session(divisor, interpret).run(None, {"a": a[at : at + 1]})[0], want[at : at + 1]
        )


@pytest.mark.parametrize("interpret", [False, True])
@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize(("operator", "attributes"), FORMS)
def test_zero_is_refused_everywhere(operator, attributes, element, interpret) -> None:
    a = np.arange(40, dtype=element)
    b = np.ones(40, element)
    b[[3, 39]] = 0
    made = model(operator, element, **attributes)
    with pytest.raises(Exception, match="by zero"):
        onnxruntime.InferenceSession(made.SerializeToString()).run(None, {"a": a, "b": b})
    run = session(made, interpret)
    with pytest.raises(Exception, match="integer division by zero"):
        run.run(None, {"a": a, "b": b})
    # The session goes on.
    np.testing.assert_array_equal(run.run(None, {"a": a, "b": np.ones_like(b)})[0], a if operator == "Div" else 0 * a)
    assert run.run(None, {"a": a[:0], "b": b[:0]})[0].shape == (0,)


@pytest.mark.parametrize("interpret", [False, True])
def test_a_negative_power_of_zero_is_a_division(interpret) -> None:
    run = session(model("Pow", "int64"), interpret)
    base, exponent = np.array([0, 2, 0, -1, 1]), np.array([2, -1, 0, -3, -5])
    np.testing.assert_array_equal(run.run(None, {"a": base, "b": exponent})[0], [0, 0, 1, -1, 1])
    with pytest.raises(Exception, match="integer division by zero"):
        run.run(None, {"a": base, "b": np.array([-1, 1, 1, 1, 1])})


def test_what_is_constant_is_not_folded(tangram_bin, tmp_path) -> None:
    constants = {"a": np.array([1, 2], "int32"), "b": np.array([1, 0], "int32")}
    for operator, attributes in FORMS:
        made, _ = Command(tangram_bin, tmp_path).optimise(model(operator, "int32", constants, **attributes))
        assert [node.op_type for node in made.graph.node] == [operator]
        for interpret in (False, True):
            with pytest.raises(Exception, match="integer division by zero"):
                session(made, interpret).run(None, {})


@needs_compiler
def test_libraries_and_c_say_so(tangram_bin, tmp_path) -> None:
    command = Command(tangram_bin, tmp_path)
    onnx.save(model("Div", "int32"), tmp_path / "m.onnx")
    command.run("compile", "m.onnx", "-o", "m.so")
    feed = {"a": np.arange(4, dtype="int32"), "b": np.array([1, 2, 0, 4], "int32")}
    np.savez(tmp_path / "in.npz", **feed)
    refused = command.run("run", "m.so", "--input", "in.npz", code=2)
    assert "integer division by zero" in refused.stderr
    command.run("compile", "m.onnx", "-o", "m.c", "--emit", "c")
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", "c.so", "m.c", "-lm"], cwd=tmp_path, check=True)
    library = ctypes.CDLL(str(tmp_path / "c.so"))
    library.m_arena_bytes.restype = ctypes.c_size_t

    def status(b: np.ndarray) -> tuple[int, np.ndarray]:
        dims, out = (ctypes.c_int64 * 1)(4), np.zeros(4, "int32")
        arena = np.zeros(library.m_arena_bytes(dims, None) + 64, "uint8")
        aligned = arena.ctypes.data + -arena.ctypes.data % 64
        pointers = (ctypes.c_void_p * 2)(feed["a"].ctypes.data, b.ctypes.data)
        results = (ctypes.c_void_p * 1)(out.ctypes.data)
        done = library.m_run(None, ctypes.c_void_p(aligned), pointers, results, dims, None)
        return done, out

    assert status(feed["b"])[0] == 3
    done, out = status(np.array([1, 2, 3, 4], "int32"))
    assert done == 0 and out.tolist() == [0, 0, 0, 0]
    assert "3 for an integer that is divided by zero" in (tmp_path / "m.h").read_text()


def test_quantised_products_divided(tangram_bin) -> None:
    """A division behind a product of integers, which one function computes, is looked at as well."""
    node = helper.make_node
    graph = helper.make_graph(
        [node("MatMulInteger", ["x", "w"], ["p"]), node("Div", ["p", "d"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", 3, [5, 16]), helper.make_tensor_value_info("d", 6, [1, 8])],
        [helper.make_tensor_value_info("y", 6, [5, 8])],
        [numpy_helper.from_array(np.arange(128).reshape(16, 8).astype("int8"), "w")],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    x, d = np.arange(-40, 40).reshape(5, 16).astype("int8"), np.array([[1, 2, 3, -1, 5, 6, 7, 8]], "int32")
    want = onnxruntime.InferenceSession(made.SerializeToString()).run(None, {"x": x, "d": d})[0]
    for interpret in (False, True):
        run = session(made, interpret)
        np.testing.assert_array_equal(run.run(None, {"x": x, "d": d})[0], want)
        with pytest.raises(Exception, match="integer division by zero"):
            run.run(None, {"x": x, "d": d * (d < 8)})
