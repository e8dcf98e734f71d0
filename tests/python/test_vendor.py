"""Operators of onnxruntime's own domain: looked through, given back, never written anew."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper

import oracle
import tangram


def model() -> onnx.ModelProto:
    """A product in onnxruntime's domain, then shape arithmetic that only its type decides."""
    nodes = [
        helper.make_node("FusedMatMul", ["x", "w"], ["y"], domain="com.microsoft", transB=1),
        helper.make_node("Shape", ["y"], ["shape"]),
        helper.make_node("Gather", ["shape", "last"], ["width"]),
        helper.make_node("Concat", ["minus", "width"], ["target"], axis=0),
        helper.make_node("Reshape", ["y", "target"], ["z"]),
    ]
    weights = np.random.default_rng(3).standard_normal((5, 4)).astype(np.float32)
    constants = {"w": weights, "last": np.array([2]), "minus": np.array([-1])}
    graph = helper.make_graph(
        nodes,
        "vendor",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3, 4])],
        [helper.make_tensor_value_info("z", TensorProto.FLOAT, None)],
        [onnx.numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    sets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=sets, ir_version=8)


def test_shapes_fold_behind_a_vendors_operator() -> None:
    before = model()
    after = tangram.optimize(before.SerializeToString()).to_onnx()
    assert [node.op_type for node in after.graph.node] == ["FusedMatMul", "Reshape"]
    assert after.graph.node[0] == before.graph.node[0]
    inputs = {"x": np.random.default_rng(5).standard_normal((2, 3, 4)).astype(np.float32)}
    assert oracle.same(oracle.run_ort(after, inputs), oracle.run_ort(before, inputs))


def test_a_function_of_the_model_comes_before_a_vendors_operator() -> None:
    changed = model()
    body = [helper.make_node("MatMul", ["a", "b"], ["c"])]
    sets = [helper.make_opsetid("", 17)]
    own = helper.make_function(
        "com.microsoft", "FusedMatMul", ["a", "b"], ["c"], body, sets, ["transB"]
    )
    changed.functions.append(own)
    after = tangram.Workload.from_onnx(changed.SerializeToString())
    assert "nn.contrib_fused_matmul" not in str(after)
