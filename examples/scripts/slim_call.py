"""One call in a longer script; the import was `from onnxslim import slim`."""

import sys

import onnx

from tangram.compat.onnxslim import slim

model = onnx.load(sys.argv[1])
slimmed = slim(model, model_check=True)
print(f"{len(model.graph.node)} nodes became {len(slimmed.graph.node)}")
onnx.save(slimmed, sys.argv[2])
