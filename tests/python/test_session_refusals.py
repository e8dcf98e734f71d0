"""What is refused: the exceptions that onnxruntime raises, by both under one `except`."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper

import tangram

ENGINES = pytest.mark.parametrize("ort", [onnxruntime, tangram], ids=["onnxruntime", "tangram"])
RECORDS = np.zeros(2, dtype=[("a", "f4"), ("b", "i4")])
ARRAY = np.zeros(2, np.float32)


def session(ort: Any) -> Any:
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "relu", ports[:1], ports[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    options = ort.SessionOptions()
    options.log_severity_level = 4
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


@ENGINES
def test_providers_that_nobody_has_are_refused(ort: Any) -> None:
    for names in (["NopeExecutionProvider"], ["CPUExecutionProvider", "NopeExecutionProvider"]):
        with pytest.raises(RuntimeError, match="NopeExecutionProvider"):
            session(ort).set_providers(names)
    session(ort).set_providers([("CPUExecutionProvider", {})])


@ENGINES
@pytest.mark.parametrize("array", [RECORDS, np.zeros(2, "V4"), np.array([1, None], object)], ids=str)
def test_elements_that_onnx_has_not_are_refused(ort: Any, array: Any) -> None:
    kind = tangram.InvalidArgument if ort is tangram else onnxruntime.capi.onnxruntime_pybind11_state.InvalidArgument
    with pytest.raises(kind, match="expected" if array.dtype == object or ort is onnxruntime else "`x`: ONNX has no"):
        session(ort).run(None, {"x": array})


@ENGINES
@pytest.mark.parametrize("kind", ["M8[s]", "m8[s]", "c16", "g"])
def test_dates_and_wide_numbers_are_refused(ort: Any, kind: str) -> None:
    with pytest.raises(RuntimeError):
        session(ort).run(None, {"x": np.zeros(2, kind)})
    if kind != "c16":
        with pytest.raises(RuntimeError):
            ort.OrtValue.ortvalue_from_numpy(np.zeros(2, kind))


@ENGINES
@pytest.mark.parametrize(
    ("shape", "element"),
    [([2], np.str_), ([2], object), ([-1], np.float32), ([1 << 62, 4], np.float32), ([2], "M8[s]"), ([2], RECORDS.dtype),
     ([2], 77)],
    ids=str,
)  # fmt: skip
def test_values_without_memory_are_refused(ort: Any, shape: list[int], element: Any) -> None:
    with pytest.raises(RuntimeError):
        ort.OrtValue.ortvalue_from_shape_and_type(shape, element)


@ENGINES
@pytest.mark.parametrize(
    ("name", "value"),
    [("graph_optimization_level", 99), ("execution_mode", 1), ("execution_order", "x"), ("intra_op_num_threads", 1.5),
     ("inter_op_num_threads", None), ("enable_profiling", "x"), ("logid", 3), ("optimized_model_filepath", 3),
     ("log_severity_level", "x")],
    ids=str,
)  # fmt: skip
def test_options_have_types(ort: Any, name: str, value: Any) -> None:
    with pytest.raises(TypeError):
        setattr(ort.SessionOptions(), name, value)
    if hasattr(ort.RunOptions(), name):
        with pytest.raises(TypeError):
            setattr(ort.RunOptions(), name, value)


@ENGINES
def test_options_take_what_can_be_meant(ort: Any) -> None:
    options = ort.SessionOptions()
    options.enable_profiling, options.intra_op_num_threads = 1, np.int64(2)
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    assert options.enable_profiling is True and options.intra_op_num_threads == 2
    assert options.graph_optimization_level == ort.GraphOptimizationLevel.ORT_DISABLE_ALL


def bound(ort: Any, array: Any, output: str | None = "y") -> None:
    running = session(ort)
    binding = running.io_binding()
    binding.bind_cpu_input("x", array)
    if output:
        binding.bind_output(output)
    running.run_with_iobinding(binding)


@ENGINES
def test_what_is_wrong_with_a_binding_is_a_runtime_error(ort: Any) -> None:
    for array in (np.zeros(2, np.int64), np.zeros(3, np.float32), RECORDS):
        with pytest.raises(RuntimeError):
            bound(ort, array)
    with pytest.raises(RuntimeError):
        bound(ort, ARRAY, None)
    binding = session(ort).io_binding()
    for name, element, shape in (("x", np.str_, [2]), ("x", np.float32, [-2])):
        with pytest.raises(RuntimeError):
            binding.bind_input(name, "cpu", 0, element, shape, ARRAY.ctypes.data)
    with pytest.raises(ValueError):
        session(ort).run_with_iobinding(binding)


def test_here_each_of_them_is_a_runtime_error() -> None:
    binding = session(tangram).io_binding()
    for call in (
        lambda: session(tangram).run_with_iobinding(binding),
        lambda: binding.bind_output("y", "cpu", 0, None, None, 4096),
        lambda: binding.bind_output("y", "toaster"),
        lambda: binding.bind_output("z"),
    ):
        with pytest.raises(RuntimeError):
            call()
