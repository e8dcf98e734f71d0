"""Optimising: what a type checker accepts, and on the lines with `# error` what it has to refuse."""

from typing import assert_type

import tangram

w = tangram.optimize("m.onnx", ["gelu"], strategy="saturate", fold_limit=None, dim={"n": "1..4"})
assert_type(w, tangram.Workload)
assert_type(w.report, tangram.Report | None)
assert_type(tangram.Workload.from_onnx(b"").optimize(check=True, opset=18), tangram.Workload)
w.edit(input_shape={"x": [1, None]}, outputs="y").save("better.onnx", external_data="inline")
assert_type(w.inputs, list[str])
assert_type(tangram.rules(), tangram.Rules)
assert_type(tangram.check(w, w), tangram.Check)
for result in tangram.optimize_many("models", out="better", to="float16", steps=3):
    assert_type(result, tangram.fleet.Result)
    assert_type(result.state, str)

tangram.optimize("m.onnx", fold_limt=3)  # error
tangram.optimize("m.onnx", stratgy="greedy")  # error
tangram.optimize("m.onnx", strategy="gredy")  # error
tangram.optimize("m.onnx", opset="18")  # error
tangram.optimize(3)  # error
tangram.optimize("m.onnx", rules=[3])  # error
w.optimize(chek=True)  # error
w.reprot  # error
w.edit(dims={"n": 3})  # error
w.save("x.onnx", external_data="outside")  # error
for result in tangram.optimize_many("d", otu="o"):  # error
    result.reprot  # error
