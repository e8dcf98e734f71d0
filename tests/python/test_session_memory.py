"""What a session and its caller share: arrays that are bound once, refilled and run again.

Each part is put to onnxruntime as well: what the two do with memory has to be the same.
"""

from __future__ import annotations

import ctypes

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

import tangram
import tangram.onnxruntime

ENGINES = pytest.mark.parametrize(
    "ort", [onnxruntime, tangram, tangram.onnxruntime], ids=["onnxruntime", "tangram", "stand-in"]
)


def model(operator: str = "Relu", kind: int = TensorProto.FLOAT, **attributes: object) -> bytes:
    """`y = operator(x)` over vectors."""
    tensor = helper.make_tensor_value_info
    node = helper.make_node(operator, ["x"], ["y"], **attributes)
    graph = helper.make_graph([node], "g", [tensor("x", kind, ["n"])], [tensor("y", kind, ["n"])])
    opset = [helper.make_opsetid("", 18)]
    return helper.make_model(graph, opset_imports=opset, ir_version=9).SerializeToString()


@ENGINES
def test_an_array_is_bound_once_refilled_and_run_again(ort) -> None:
    session = ort.InferenceSession(model())
    x = np.float32([-1, 2, 3])
    binding = session.io_binding()
    binding.bind_cpu_input("x", x)
    binding.bind_output("y")
    session.run_with_iobinding(binding)
    first = binding.copy_outputs_to_cpu()[0]
    x[:] = [4, -5, 6]
    session.run_with_iobinding(binding)
    assert first.tolist() == [0, 2, 3], "a copy stays what it was"
    assert binding.copy_outputs_to_cpu()[0].tolist() == [4, 0, 6]


@ENGINES
def test_values_share_their_memory_with_arrays_both_ways(ort) -> None:
    session = ort.InferenceSession(model())
    x = np.float32([-1, 2])
    value = ort.OrtValue.ortvalue_from_numpy(x)
    assert value.data_ptr() == x.ctypes.data and np.shares_memory(value.numpy(), x)
    x[:] = [7, -8]
    assert value.numpy().tolist() == [7, -8]
    value.numpy()[1] = 9
    (y,) = session.run_with_ort_values(["y"], {"x": value})
    assert x.tolist() == [7, 9] and y.numpy().tolist() == [7, 9]
    y.numpy()[0] = -1
    assert y.numpy().tolist() == [-1, 9], "an output is memory of its own"
    value.update_inplace(np.float32([-3, 4]))
    assert x.tolist() == [-3, 4]
    with pytest.raises(RuntimeError):
        value.update_inplace(np.float32([1, 2, 3]))
    assert value.tensor_size_in_bytes() == 8


@ENGINES
def test_memory_is_bound_by_its_address(ort) -> None:
    session = ort.InferenceSession(model())
    x, y = np.float32([-1, 2, -3]), np.zeros(3, np.float32)
    binding = session.io_binding()
    binding.bind_input("x", "cpu", 0, np.float32, x.shape, x.ctypes.data)
    binding.bind_output("y", "cpu", 0, np.float32, y.shape, y.ctypes.data)
    session.run_with_iobinding(binding)
    assert y.tolist() == [0, 2, 0]
    x[:] = 5
    binding.bind_output("y", "cpu", 0, TensorProto.FLOAT, y.shape, y.ctypes.data)
    session.run_with_iobinding(binding)
    assert y.tolist() == [5, 5, 5] and binding.get_outputs()[0].data_ptr() == y.ctypes.data
    kept = ort.OrtValue.ortvalue_from_shape_and_type([3], np.float32)
    binding.bind_ortvalue_output("y", kept)
    session.run_with_iobinding(binding)
    assert kept.numpy().tolist() == [5, 5, 5]
    binding.bind_output("y", "cpu", 0, np.float32, [2], y.ctypes.data)
    with pytest.raises((RuntimeError, ValueError)):
        session.run_with_iobinding(binding)


@ENGINES
@pytest.mark.parametrize("operator", ["Relu", "Identity", "Softmax"])
def test_an_output_may_be_written_over_its_input(ort, operator: str) -> None:
    session = ort.InferenceSession(model(operator))
    values = np.random.default_rng(0).normal(size=1000).astype(np.float32)
    expected = session.run(None, {"x": values})[0]
    array = values.copy()
    binding = session.io_binding()
    binding.bind_cpu_input("x", array)
    binding.bind_output("y", "cpu", 0, np.float32, array.shape, array.ctypes.data)
    session.run_with_iobinding(binding)
    assert np.allclose(array, expected, atol=1e-6)


@ENGINES
def test_an_output_is_no_view_of_an_input_or_of_another_output(ort) -> None:
    tensor = helper.make_tensor_value_info
    nodes = [
        helper.make_node("Identity", ["x"], ["a"]),
        helper.make_node("Reshape", ["x", "shape"], ["b"]),
        helper.make_node("Identity", ["c"], ["d"]),
    ]
    constants = [
        onnx.numpy_helper.from_array(np.int64([2, -1]), "shape"),
        onnx.numpy_helper.from_array(np.float32([1, 2]), "c"),
    ]
    outputs = [
        tensor("a", TensorProto.FLOAT, ["n"]),
        tensor("b", TensorProto.FLOAT, [2, "m"]),
        tensor("d", TensorProto.FLOAT, [2]),
    ]
    graph = helper.make_graph(nodes, "g", [tensor("x", TensorProto.FLOAT, ["n"])], outputs, constants)
    opset = [helper.make_opsetid("", 18)]
    built = helper.make_model(graph, opset_imports=opset, ir_version=9)
    session = ort.InferenceSession(built.SerializeToString())
    x = np.float32([1, 2, 3, 4])
    for _ in range(2):
        found = session.run(None, {"x": x})
        assert [one.ravel().tolist() for one in found] == [[1, 2, 3, 4], [1, 2, 3, 4], [1, 2]]
        arrays = [*found, x]
        pairs = [(a, b) for at, a in enumerate(arrays) for b in arrays[:at]]
        assert not any(np.shares_memory(a, b) for a, b in pairs)
        for one in found:
            one[...] = 99


@ENGINES
def test_tensors_cross_by_dlpack_both_ways(ort) -> None:
    x = np.float32([[1, 2], [3, 4]])
    value = ort.OrtValue.from_dlpack(x)
    assert value.data_ptr() == x.ctypes.data and value.shape() == [2, 2]
    back = np.from_dlpack(value)
    assert np.shares_memory(back, x) and value.__dlpack_device__() == (1, 0)
    again = ort.OrtValue.from_dlpack(value.__dlpack__())
    assert again.data_ptr() == x.ctypes.data
    with pytest.raises((RuntimeError, BufferError, ValueError)):
        ort.OrtValue.from_dlpack(np.array(["text"]))


@pytest.mark.parametrize("kind", ["float64", "int64", "uint8", "bool", "float16", "int8", "uint64"])
@ENGINES
def test_types_keep_their_memory(ort, kind: str) -> None:
    x = np.arange(6).astype(kind)
    number = helper.np_dtype_to_tensor_dtype(x.dtype)
    value = ort.OrtValue.ortvalue_from_numpy(x)
    assert value.numpy().dtype == x.dtype and np.shares_memory(value.numpy(), x)
    assert value.element_type() == number
    session = ort.InferenceSession(model("Identity", number))
    assert (session.run(None, {"x": x})[0] == x).all()
    for other in (x[::-1], x[::2], x[1:], np.asfortranarray(x)):
        assert (session.run(None, {"x": other})[0] == other).all()


def test_elements_of_16_bits_are_given_as_such() -> None:
    import ml_dtypes

    x = np.float32([1, -2.5]).astype(ml_dtypes.bfloat16)
    value = tangram.OrtValue.ortvalue_from_numpy_with_onnx_type(x.view(np.uint16), 16)
    assert value.data_type() == "tensor(bfloat16)"
    assert np.shares_memory(value.numpy().view(np.uint16), x.view(np.uint16))
    assert (tangram.OrtValue.ortvalue_from_numpy(x).numpy() == x).all()
    with pytest.raises(ValueError, match="not as wide"):
        tangram.OrtValue.ortvalue_from_numpy_with_onnx_type(x.view(np.uint8), 16)


@ENGINES
def test_what_nobody_may_write_is_not_written(ort) -> None:
    x = np.float32([1, -2])
    x.flags.writeable = False
    session = ort.InferenceSession(model())
    assert session.run(None, {"x": x})[0].tolist() == [1, 0]
    value = ort.OrtValue.ortvalue_from_numpy(x)
    assert value.numpy().tolist() == [1, -2]
    if ort is not onnxruntime:
        assert not value.numpy().flags.writeable
        with pytest.raises(RuntimeError, match="cannot be written"):
            value.update_inplace(np.float32([0, 0]))


@ENGINES
def test_empty_tensors_and_scalars_have_no_trouble(ort) -> None:
    session = ort.InferenceSession(model())
    nothing = np.zeros(0, np.float32)
    assert session.run(None, {"x": nothing})[0].shape == (0,)
    binding = session.io_binding()
    binding.bind_cpu_input("x", nothing)
    binding.bind_output("y")
    session.run_with_iobinding(binding)
    assert binding.copy_outputs_to_cpu()[0].shape == (0,)
    assert ort.OrtValue.ortvalue_from_numpy(np.array(3, np.float32)).shape() == []


@ENGINES
def test_memory_outlives_who_made_it(ort) -> None:
    session = ort.InferenceSession(model())
    arrays = [session.run(None, {"x": np.full(5000, n, np.float32)})[0] for n in range(20)]
    value = ort.OrtValue.ortvalue_from_numpy(np.full(5000, 7, np.float32))
    del session
    for n, array in enumerate(arrays):
        assert (array == n).all()
    assert (value.numpy() == 7).all()


def test_an_address_of_another_library_will_do() -> None:
    session = tangram.InferenceSession(model())
    numbers = (ctypes.c_float * 3)(-1, 2, 3)
    binding = session.io_binding()
    binding.bind_input("x", "cpu", 0, np.float32, [3], ctypes.addressof(numbers))
    binding.bind_output("y")
    session.run_with_iobinding(binding)
    numbers[0] = 8
    session.run_with_iobinding(binding)
    assert binding.copy_outputs_to_cpu()[0].tolist() == [8, 2, 3]
    for bad in [dict(device_type="cuda"), dict(device_type="tpu"), dict(buffer_ptr=0)]:
        given = dict(name="x", device_type="cpu", device_id=0, element_type=np.float32, shape=[3])
        with pytest.raises((NotImplementedError, ValueError)):
            binding.bind_input(**{**given, "buffer_ptr": 8, **bad})


def test_a_cache_that_grows_is_written_where_it_is_bound() -> None:
    """One array holds the keys of all steps: a step reads what is there, and appends its own."""
    tensor = helper.make_tensor_value_info
    node = helper.make_node("Concat", ["past", "x"], ["now"], axis=1)
    graph = helper.make_graph(
        [node],
        "g",
        [tensor("past", TensorProto.FLOAT, [1, "p", 8]), tensor("x", TensorProto.FLOAT, [1, 1, 8])],
        [tensor("now", TensorProto.FLOAT, [1, "t", 8])],
    )
    opset = [helper.make_opsetid("", 18)]
    built = helper.make_model(graph, opset_imports=opset, ir_version=9)
    session = tangram.InferenceSession(built)
    cache = np.zeros((1, 20, 8), np.float32)
    binding = session.io_binding()
    for step in range(20):
        new = np.full((1, 1, 8), step + 1, np.float32)
        start = cache.ctypes.data
        binding.bind_input("past", "cpu", 0, np.float32, [1, step, 8], start)
        binding.bind_cpu_input("x", new)
        binding.bind_output("now", "cpu", 0, np.float32, [1, step + 1, 8], start)
        session.run_with_iobinding(binding)
    assert (cache[0, :, 0] == np.arange(1, 21)).all()
