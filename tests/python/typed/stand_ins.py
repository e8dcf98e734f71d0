"""Stand-ins: what a type checker accepts, and on the lines with `# error` what it has to refuse."""

import onnx

from tangram.compat.onnxsim import simplify
from tangram.compat.onnxslim import slim

model, same = simplify("m.onnx", check_n=1)
found: onnx.ModelProto = model
holds: bool = same
slim("m.onnx", "better.onnx", model_check=True)

simplify(3)  # error
simplify("m.onnx", check_n="one")  # error
slim("m.onnx", model_check="yes")  # error
