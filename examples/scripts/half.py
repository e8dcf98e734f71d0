"""A model in floats of 16 bits; its inputs and outputs stay float32.

What stays is printed with the reason; names of operators, nodes or values after the two files stay
as well. It was `onnxslim model.onnx half.onnx --dtype fp16`.
"""

import sys

import tangram

model, out, *keep = sys.argv[1:]
half = tangram.optimize(model, to="float16", keep=keep, check=True)
half.save(out)
narrowed = half.report.narrowed
for kept in narrowed["kept"]:
    print(f"{len(kept['nodes'])} {kept['operator']} stay float32: {kept['why']}")
print(f"{narrowed['nodes']} nodes compute in float16, {narrowed['weights']} weights are float16")
print(f"largest difference: {narrowed['difference']['relative']:.1e} of the greatest magnitude")
