"""The part of a network before its head, with the images as input and features as output.

It was `onnx.utils.extract_model(path, out, inputs, outputs)`. Names of values are those that
`tangram show --format mlir` and Netron have.
"""

import sys

import tangram

model, features, out = sys.argv[1:]
backbone = tangram.optimize(model, outputs=[features])
backbone.save(out)
print(tangram.summary(backbone))
