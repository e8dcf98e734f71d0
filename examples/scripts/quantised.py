"""A model that onnxruntime has quantised, optimised without a change of a single number.

`exact=True` leaves out what rounds otherwise: a quantised model is the result of a calibration, and
that should stay what it was.
"""

import pathlib
import sys

from onnxruntime.quantization import QuantType, quantize_dynamic

import tangram

model, out = map(pathlib.Path, sys.argv[1:])
quantised = out.with_suffix(".quantised.onnx")
quantize_dynamic(model, quantised, weight_type=QuantType.QInt8)
better = tangram.optimize(quantised, exact=True)
better.save(out)
print(f"{quantised.name}: {better.report.nodes_before} nodes became {better.report.nodes_after}")
