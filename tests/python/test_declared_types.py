"""What a result declares of the types of its values: as exact as is known, and true."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import oracle
import small
import tangram

SIZES = {"batch": 2, "sequence": 5, "height": 32, "width": 48}


def extents(value: onnx.ValueInfoProto) -> list[int | str | None] | None:
    """Numbers, names and expressions; none where one is open, or all are."""
    tensor = value.type.tensor_type
    if not tensor.HasField("shape"):
        return None
    return [d.dim_value if d.HasField("dim_value") else d.dim_param or None for d in tensor.shape.dim]


def opened(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model, which declares the types of its values and leaves each extent open."""
    inferred = onnx.shape_inference.infer_shapes(model)
    for value in inferred.graph.value_info:
        for dim in value.type.tensor_type.shape.dim:
            dim.Clear()
    return inferred


def test_what_is_declared_is_made_exact_and_true(example) -> None:
    before = opened(onnx.load(example))
    after = tangram.optimize(before).to_onnx()
    onnx.checker.check_model(after, full_check=True)
    declared = {value.name: value for value in after.graph.value_info}
    if not before.graph.value_info:
        assert not declared
        return
    known = [extents(value) for value in declared.values()]
    assert sum(dims is not None and None not in dims for dims in known) >= len(known) / 2
    # Every value becomes an output, and has the extents that are declared of it.
    probe = onnx.ModelProto()
    probe.CopyFrom(after)
    outputs = {value.name for value in after.graph.output}
    probe.graph.output.extend(value for name, value in declared.items() if name not in outputs)
    inputs = oracle.random_inputs(before, SIZES)
    symbols = dict(SIZES)
    for value in before.graph.input:
        if value.name in inputs:
            dims = [dim.dim_param for dim in value.type.tensor_type.shape.dim]
            symbols |= {name: n for name, n in zip(dims, np.shape(inputs[value.name]), strict=False) if name}
    names = [value.name for value in probe.graph.output]
    for name, found in zip(names, oracle.run_ort(probe, inputs), strict=True):
        dims = extents(declared[name]) if name in declared else None
        if dims is None or not isinstance(found, np.ndarray):
            continue
        assert len(dims) == found.ndim, name
        for dim, size in zip(dims, found.shape, strict=True):
            if isinstance(dim, int) or dim in symbols:
                assert symbols.get(dim, dim) == size, (name, dims, found.shape)


def chain(declared: list[onnx.ValueInfoProto]) -> onnx.ModelProto:
    """Two heads of an attention as exporters write them: a reshape with -1, and a softmax."""
    constants = {"flat": np.array([-1, 3, 4]), "heads": np.array([-1, 2, 3, 4])}
    nodes = [
        helper.make_node("Reshape", ["x", "flat"], ["a"]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Reshape", ["b", "heads"], ["c"]),
        helper.make_node("Softmax", ["c"], ["y"], axis=-1),
    ]
    graph = helper.make_graph(
        nodes, "chain",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 2, 3, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None] * 4)],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
        value_info=declared,
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def test_a_graph_that_declares_some_gets_all() -> None:
    gone = helper.make_tensor_value_info("gone", TensorProto.FLOAT, [1])
    open_ = helper.make_tensor_value_info("a", TensorProto.FLOAT, [None, None, 4])
    open_.doc_string = "kept"
    after = tangram.Workload.from_onnx(chain([gone, open_])).to_onnx()
    found = {value.name: extents(value) for value in after.graph.value_info}
    assert found == {"a": ["2*N", 3, 4], "b": ["2*N", 3, 4], "c": ["N", 2, 3, 4]}
    assert after.graph.value_info[0].doc_string == "kept"
    assert [extents(value) for value in after.graph.output] == [[None] * 4]
    # What is written is read again, and changes no more.
    assert tangram.Workload.from_onnx(after).to_onnx() == after


def test_a_graph_that_declares_none_is_left_alone() -> None:
    after = tangram.Workload.from_onnx(chain([])).to_onnx()
    assert list(after.graph.value_info) == []


@pytest.mark.parametrize("declared", [["M", 3, 4], [7, 3, 4], [None, 3, 5]])
def test_what_is_declared_wrongly_is_put_right(declared) -> None:
    wrong = helper.make_tensor_value_info("a", TensorProto.FLOAT, declared)
    after = tangram.Workload.from_onnx(chain([wrong])).to_onnx()
    assert extents(next(v for v in after.graph.value_info if v.name == "a")) == ["2*N", 3, 4]


@pytest.mark.parametrize("claim", ["float", "float[n]", "float[1, 7]", "float[n, m, 4]", "int64[n, m]"])
def test_a_wrong_claim_about_an_output_is_mended_and_told(claim) -> None:
    model = small.model(f"(float[n, 6] x) => ({claim} y) {{ y = Relu(x) }}")
    kept = tangram.optimize(model)
    after = kept.to_onnx()
    onnx.checker.check_model(after, full_check=True)
    assert extents(after.graph.output[0]) == ["n", 6]
    assert after.graph.output[0].type.tensor_type.elem_type == TensorProto.FLOAT
    assert any("output `y` is declared with another type" in line for line in kept.report.warnings)


def test_one_name_for_two_extents_is_mended() -> None:
    kept = tangram.optimize(small.model("(float[2, 3] x) => (float[n, n] y) { t = Neg(x)  y = Relu(t) }"))
    assert extents(kept.to_onnx().graph.output[0]) == [2, 3]
    assert any("`y` is declared" in line for line in kept.report.warnings)


def test_a_claim_that_only_folding_refutes_is_mended() -> None:
    weights = {"zero": np.array([0]), "one": np.array([1]), "tail": np.array([3, 2], np.int32)}
    model = small.model("""(float[n, 6] x) => (float y) {
        s = Shape(x)  b = Slice(s, zero, one)  i = Cast <to = 6> (b)  c = Concat <axis = 0> (i, tail)
        l = Cast <to = 7> (c)  r = Reshape(x, l)  y = Softmax <axis = 2> (r) }""", 11, weights)
    kept = tangram.optimize(model)
    onnx.checker.check_model(kept.to_onnx(), full_check=True)
    assert any("`y` is declared" in line for line in kept.report.warnings)


def test_a_claim_that_is_only_less_exact_stays() -> None:
    kept = tangram.optimize(small.model("(float[n, 6] x) => (float[a, b] y) { y = Relu(x) }"))
    assert kept.report.warnings == [] and extents(kept.to_onnx().graph.output[0]) == ["a", "b"]
