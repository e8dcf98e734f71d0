"""The measure of equality: what it lets pass and what it does not."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import oracle


def array(values, dtype=np.float32) -> np.ndarray:
    return np.array(values, dtype=dtype)


def test_float_tolerance_goes_with_the_largest_magnitude() -> None:
    assert oracle.same(array([1000.0, 0.5]), array([1000.0, 0.0]))
    assert not oracle.same(array([1.0, 0.5]), array([1.0, 0.0]))
    found = oracle.same(array([2.0]), array([1.0]))
    assert found.largest == 1.0 and "largest difference 1 at scale 1" in found.why


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.bool_, ml_dtypes.float8_e4m3fn])
def test_other_types_are_exact(dtype) -> None:
    assert oracle.same(array([0, 1], dtype), array([0, 1], dtype))
    assert not oracle.same(array([1, 1], dtype), array([0, 1], dtype))


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (array([[1.0]]), array([1.0])),
        (array([1.0], np.float64), array([1.0])),
        (array([np.nan]), array([1.0])),
        (array([np.inf]), array([-np.inf])),
        ([array([1.0])], [array([1.0]), array([1.0])]),
        (None, array([1.0])),
    ],
)
def test_what_is_never_equal(actual, expected) -> None:
    assert not oracle.same(actual, expected)


def test_what_is_equal_in_its_own_way() -> None:
    assert oracle.same(array([np.nan, np.inf, 1.0]), array([np.nan, np.inf, 1.0]))
    assert oracle.same(np.array(["a"], dtype=object), np.array(["a"]))
    assert oracle.same(array([]), array([]))
    assert oracle.same([[array([1.0])], None], [[array([1.0])], None])


def model_with_inputs(*values) -> onnx.ModelProto:
    return helper.make_model(helper.make_graph([], "inputs", list(values), []))


def test_random_inputs_bind_symbols_and_repeat() -> None:
    model = model_with_inputs(
        helper.make_tensor_value_info("x", TensorProto.FLOAT16, ["N", "S", None, 3]),
        helper.make_tensor_value_info("ids", TensorProto.INT64, ["N"]),
    )
    inputs = oracle.random_inputs(model, {"N": 5, "S": 7})
    assert inputs["x"].shape == (5, 7, 2, 3) and inputs["x"].dtype == np.float16
    assert inputs["ids"].shape == (5,) and set(inputs["ids"]) <= {0, 1, 2, 3}
    again = oracle.random_inputs(model, {"N": 5, "S": 7})
    assert np.array_equal(inputs["x"], again["x"])
    other = oracle.random_inputs(model, {"N": 5, "S": 7}, seed=1)
    assert not np.array_equal(inputs["x"], other["x"])


def test_initializers_need_no_input() -> None:
    model = model_with_inputs(helper.make_tensor_value_info("w", TensorProto.FLOAT, [2]))
    model.graph.initializer.append(helper.make_tensor("w", TensorProto.FLOAT, [2], [1.0, 2.0]))
    assert oracle.random_inputs(model) == {}


def test_the_interface_is_names_and_types_in_order() -> None:
    model = model_with_inputs(helper.make_tensor_value_info("x", TensorProto.INT8, [1]))
    assert oracle.interface(model) == [("input", "x", TensorProto.INT8)]
