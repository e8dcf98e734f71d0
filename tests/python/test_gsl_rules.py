"""Rules from Python: what they take, what they say of themselves, and operators and functions of one's own."""

from __future__ import annotations

import time

import numpy as np
import onnx
import onnx.defs
import pytest
from onnx import TensorProto, helper, numpy_helper

import gsl
import oracle
import small
from gsl import Subst, Workload, attr, op, pat


def model(nodes, weights=(), shape=(2, 3), out=None, domains=()) -> onnx.ModelProto:
    """A model from `x` to `y`."""
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, out)],
        [numpy_helper.from_array(value, name) for name, value in dict(weights).items()],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 17), *(helper.make_opsetid(d, 1) for d in domains)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def operators(made: Workload) -> list[str]:
    return [node.op_type for node in made.to_onnx().graph.node]


RELU = helper.make_node("Relu", ["x"], ["y"])


def test_a_rule_takes_a_model_and_numbers() -> None:
    x = pat.Wildcard()
    bounded = Subst(op.ReLU(x), op.Maximum(x, 0.0))
    assert operators(bounded(model([RELU]))) == ["Max"]
    assert "it matches" in bounded.explain(model([RELU]))
    # A number as an output is a constant.
    assert "rewrite 0.0" in Subst(op.ReLU(x), 0.0).to_gsl()


def test_what_text_says_objects_say() -> None:
    x, w = pat.Wildcard(), pat.Const(shape=(None, 3), ndim=2)
    scale = attr.sqrt(attr.mean([1.0, attr.pow(2.0, 3)]))
    rule = Subst(
        pat.associative(pat.commutative(op.Add(op.Matmul(x, w), w))), op.Multiply(x, pat.Const(scale)), priority=7
    )
    text = rule.to_gsl()
    for part in ("priority 7", "associative", "commutative", "const { shape = [_, 3], ndim = 2 }", "sqrt(mean([1.0, pow(2.0, 3)]))"):
        assert part in text, text
    assert gsl.parse(text)[0] == rule


def test_an_attribute_that_is_not_there_is_told_where_it_is_written() -> None:
    x, w = pat.Wildcard(), pat.Const()
    with pytest.raises(AttributeError, match="`conv2d` has no attribute 'stride'; did you mean 'strides'"):
        op.Conv2D(x, w).stride  # noqa: B018
    with pytest.raises(AttributeError, match="did you mean 'shape'"):
        x.shpe  # noqa: B018
    assert isinstance(op.Conv2D(x, w).strides, attr.Attr)


def test_names_of_onnx_are_understood() -> None:
    with pytest.raises(AttributeError, match="did you mean 'Take'"):
        op.Gather  # noqa: B018
    with pytest.raises(AttributeError, match="did you mean 'ReLU'"):
        op.Relu  # noqa: B018
    meant = {"Gather": "take", "Unsqueeze": "expand_dims", "BitwiseXor": "bitwise_xor", "Relu": "relu", "Slice": "strided_slice"}
    for name, operation in meant.items():
        with pytest.raises(gsl._subst._native.RuleError, match=f"did you mean `{operation}`"):
            gsl.parse(f"rule r {{ let x = *; match {name}(x); rewrite x; }}")


def test_every_operator_of_onnx_has_a_hint_or_none_that_is_wrong() -> None:
    """A node of each operator that is read as one operation is what the hint says."""
    names = sorted({s.name for s in onnx.defs.get_all_schemas() if s.domain == "" and not s.deprecated})
    without = []
    for name in names:
        try:
            gsl.parse(f"rule r {{ let x = *; match {name}(x); rewrite x; }}")
        except gsl._subst._native.RuleError as error:
            if "did you mean" not in str(error):
                without.append(name)
    assert without == [], without


@pytest.mark.parametrize("name", ["LeakyRelu", "Elu", "Selu", "HardSigmoid", "Celu", "ThresholdedRelu", "Shrink"])
def test_a_decimal_is_the_default_of_a_float_attribute(name: str) -> None:
    schema = onnx.defs.get_schema(name, 17)
    floats = {n: a.default_value.f for n, a in schema.attributes.items() if a.default_value.type == onnx.AttributeProto.FLOAT}
    assert floats
    snake = {"LeakyRelu": "leaky_relu", "HardSigmoid": "hard_sigmoid", "ThresholdedRelu": "thresholded_relu"}.get(name, name.lower())
    given = ", ".join(f"{n} = {float(str(np.float32(value)))!r}" for n, value in floats.items())
    rule = gsl.parse(f"rule r {{ let x = *; match {snake}(x) {{ {given} }}; rewrite tanh(x); }}")[0]
    absent = model([helper.make_node(name, ["x"], ["y"])])
    written = model([helper.make_node(name, ["x"], ["y"], **floats)])
    other = model([helper.make_node(name, ["x"], ["y"], **{n: value + 0.25 for n, value in floats.items()})])
    assert [operators(rule(m)) for m in (absent, written, other)] == [["Tanh"], ["Tanh"], [name]]


@pytest.mark.parametrize("dtype", ["float", "double"])
@pytest.mark.parametrize(("body", "weights", "pattern"), [
    ("y = Clip(x, a, b)", {"a": 0.1, "b": 0.7}, "clip(x) { a_min = 0.1, a_max = 0.7 }"),
    ("y = Clip(x, a)", {"a": 0.3}, "clip(x) { a_min = 0.3 }"),
    ("y = Pad(x, p, a)", {"a": 0.1}, "pad(x) { pad_value = 0.1 }"),
])  # fmt: skip
def test_a_decimal_is_the_number_of_an_operand(body, weights, pattern, dtype) -> None:
    kind = {"float": np.float32, "double": np.float64}[dtype]
    constants = {name: np.asarray(value, kind) for name, value in weights.items()} | {"p": np.array([0, 0])}
    rule = gsl.parse(f"rule r {{ let x = *; match {pattern}; rewrite tanh(x); }}")[0]
    found = small.model(f"({dtype}[3] x) => ({dtype}[3] y) {{ {body} }}", 17, {n: constants[n] for n in constants if n in body})
    assert operators(rule(found)) == ["Tanh"]
    constants["a"] = np.nextafter(constants["a"], kind(9))
    other = small.model(f"({dtype}[3] x) => ({dtype}[3] y) {{ {body} }}", 17, {n: constants[n] for n in constants if n in body})
    assert operators(rule(other)) != ["Tanh"]


@pytest.mark.parametrize(("graph", "pattern", "after"), [
    ("(float[1, 3, 1] x) => (float[1, 3, 1] y) { y = Transpose(x) }", "transpose(x) { axes = [2, 1, 0] }", "tanh(x)"),
    ("(float[2, 3] x) => (float[2, 3] y) { t = Transpose(x)  y = Transpose(t) }",
     "transpose(transpose(x) { axes = [1, 0] }) { axes = [1, 0] }", "tanh(x)"),
    ("(float[1, 3, 1] x) => (float[3] y) { y = Squeeze(x) }", "squeeze(x) { axis = [0, 2] }", "tanh(squeeze(x) { axis = [2, 0] })"),
])  # fmt: skip
def test_what_an_absent_attribute_means_here_is_matched(graph, pattern, after) -> None:
    rule = gsl.parse(f"rule r {{ let x = *; match {pattern}; rewrite {after}; }}")[0]
    assert "Tanh" in operators(rule(small.model(graph)))


def test_a_rule_that_is_refused_everywhere_says_so() -> None:
    rule = gsl.parse("rule widen { let x = *; match relu(x); rewrite concatenate(x, x) { axis = 0 }; }")[0]
    made = rule(model([RELU]))
    assert operators(made) == ["Relu"]
    (warning,) = [line for line in made.report.warnings if "widen" in line]
    assert "matches at 1 place and is refused" in warning
    assert "it matches, and is refused" in rule.explain(model([RELU]))


def test_explanations_call_functions() -> None:
    x = pat.Wildcard()
    never = Subst(op.ReLU(x), op.Maximum(x, 0.0), where=[attr.Call(lambda value: False, x)])
    said = never.explain(model([RELU]))
    assert "at nn.relu (y): expected `native function(p0)` to hold, found false" in said
    # What is equal is one value for the driver and for the explanation.
    twice = gsl.parse("rule r { let x = *; match x * 2.0 + 2.0; rewrite (x + 1.0) * 2.0; }")[0]
    nodes = [helper.make_node("Mul", ["x", "k"], ["a"]), helper.make_node("Add", ["a", "l"], ["y"])]
    two = model(nodes, {"k": np.float32(2), "l": np.float32(2)})
    assert "it matches" in twice.explain(two)
    assert operators(twice(two)) == ["Add", "Mul"]


def test_constants_are_computed_from_arrays() -> None:
    x, w = pat.Wildcard(), pat.Const()
    seen = []

    def halved(array: np.ndarray) -> np.ndarray:
        seen.append((array.shape, array.dtype))
        return array / 2

    rule = Subst(op.Tanh(op.Matmul(x, w)), op.Matmul(x, pat.Const(attr.Call(halved, w.value), dtype=w.dtype)))
    big = np.random.default_rng(0).standard_normal((768, 3072)).astype(np.float32)
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("Tanh", ["a"], ["y"])]
    workload = Workload.from_onnx(model(nodes, {"w": big}, (2, 768)))
    start = time.process_time()
    made = rule(workload).to_onnx()
    assert time.process_time() - start < 5
    assert [node.op_type for node in made.graph.node] == ["MatMul"] and seen[0] == ((768, 3072), np.float32)
    assert np.array_equal(numpy_helper.to_array(made.graph.initializer[0]), big / 2)
    assert "unverified" in str(rule.check())


ACME = helper.make_node("ScaledTanh", ["x"], ["y"], domain="acme", alpha=0.5)


def test_operators_of_ones_own_are_matched_and_made() -> None:
    away = gsl.parse("rule away { let x = *; match acme.ScaledTanh(x) as s; rewrite tanh(x) * const(s.alpha); }")[0]
    made = away(model([ACME], out=(2, 3), domains=["acme"]))
    assert operators(made) == ["Tanh", "Mul"]
    x = np.linspace(-2, 2, 6, dtype=np.float32).reshape(2, 3)
    found = oracle.run_ort(made.to_onnx(), {"x": x})[0]
    np.testing.assert_allclose(found, np.tanh(x) * np.float32(0.5), rtol=1e-6)
    assert "nobody defines `acme.ScaledTanh`" in str(away.check())
    # Another attribute is no match, and nor is the operator of another domain.
    only = gsl.parse("rule only { let x = *; match acme.ScaledTanh(x) { alpha = 0.25 }; rewrite x; }")[0]
    assert operators(only(model([ACME], out=(2, 3), domains=["acme"]))) == ["ScaledTanh"]
    x = pat.Wildcard()
    back = Subst(op.Multiply(op.Tanh(x), 0.5), pat.Call("acme.ScaledTanh", x, alpha=0.5, mode="fast"))
    fused = back(made).to_onnx()
    (node,) = fused.graph.node
    assert (node.domain, node.op_type) == ("acme", "ScaledTanh")
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    assert attributes == {"alpha": 0.5, "mode": b"fast"}
    assert "acme" in {opset.domain for opset in fused.opset_import}
    onnx.checker.check_model(fused)


def test_axes_of_a_model_match_however_they_are_written() -> None:
    for name, operation in (("Softmax", "softmax"), ("LogSoftmax", "log_softmax"), ("Hardmax", "hardmax")):
        for axis in (-1, 2):
            given = model([helper.make_node(name, ["x"], ["y"], axis=axis)], shape=(2, 3, 4))
            for asked in ("-1", "2", "x.ndim - 1"):
                rule = gsl.parse(f"rule r {{ let x = *; match {operation}(x) {{ axis = {asked} }}; rewrite tanh(x); }}")[0]
                assert operators(rule(given)) == ["Tanh"], (name, axis, asked)
