"""Sessions: what a type checker accepts, and on the lines with `# error` what it has to refuse."""

from typing import Any, assert_type

import numpy as np

import tangram as ort
import tangram.onnxruntime

options = ort.SessionOptions()
options.intra_op_num_threads = 1
options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
session = ort.InferenceSession("m.onnx", options, providers=["CPUExecutionProvider"])
x = np.ones((2, 3), np.float32)
assert_type(session.run(None, {"x": x}), list[Any])
assert_type(session.get_inputs()[0].shape, list[int | str | None])
value = ort.OrtValue.ortvalue_from_numpy(x, "cpu", 0)
assert_type(value, ort.OrtValue)
assert_type(value.data_ptr(), int)
assert_type(session.run_with_ort_values(["y"], {"x": value}), list[ort.OrtValue])
binding = session.io_binding()
binding.bind_input("x", "cpu", 0, np.float32, x.shape, x.ctypes.data)
binding.bind_output("y")
session.run_with_iobinding(binding, ort.RunOptions())
assert_type(binding.get_outputs()[0].numpy(), Any)
assert_type(tangram.onnxruntime.get_version_string(), str)
assert_type(session.coverage()["nn.add"].reasons, dict[str, int])

session.rnu(None, {"x": x})  # error
session.run(None)  # error
session.run(["y"], {"x": x}, option=None)  # error
options.intra_op_threads = 1  # error
options.enable_profiling = "yes"  # error
ort.OrtValue.ortvalue_from_numpy(x, divice_type="cpu")  # error
binding.bind_input("x", "cpu", 0, np.float32, x.shape)  # error
session.end_profiling().name  # error
tangram.onnxruntime.InferenceSesion  # error
