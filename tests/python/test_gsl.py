"""The package gsl: the language chapter's sample program, rules as objects, as text and as pictures."""

from __future__ import annotations

import importlib.util
import pathlib
import xml.dom.minidom

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import gsl
import tangram
from gsl import Subst, attr, op, pat
from sample import mergeable, sample

ROOT = pathlib.Path(__file__).resolve().parents[2]


def inception(seed: int = 0) -> onnx.ModelProto:
    """Blocks of parallel branches over a shared value, as in Inception networks."""
    rng = np.random.default_rng(seed)
    nodes, weights = [], []

    def conv(x: str, channels: int, filters: int, size: int, stride: int = 1, groups: int = 1) -> str:
        name = f"v{len(nodes)}"
        w = rng.normal(size=(filters, channels // groups, size, size)).astype(np.float32) / channels
        weights.append(numpy_helper.from_array(w, f"{name}_w"))
        pads = [size // 2] * 4
        nodes.append(
            helper.make_node(
                "Conv", [x, f"{name}_w"], [name], name=name, strides=[stride] * 2, pads=pads,
                group=groups, kernel_shape=[size, size],
            )
        )
        return name

    def relu(x: str) -> str:
        nodes.append(helper.make_node("Relu", [x], [f"{x}_r"], name=f"{x}_r"))
        return f"{x}_r"

    def block(x: str, channels: int) -> tuple[str, int]:
        # Four windows of size 1 read x; two of size 3, one of which is in groups.
        ones = [relu(conv(x, channels, n, 1)) for n in (4, 6, 8, 4)]
        threes = [relu(conv(x, channels, n, 3)) for n in (4, 8)]
        apart = relu(conv(x, channels, 4, 3, groups=2))
        deep = relu(conv(ones[2], 8, 4, 3))
        out = f"cat{len(nodes)}"
        nodes.append(helper.make_node("Concat", [*ones, *threes, apart, deep], [out], axis=1))
        return out, 4 + 6 + 8 + 4 + 4 + 8 + 4 + 4

    x, channels = block("x", 4)
    x, channels = block(x, channels)
    nodes.append(helper.make_node("GlobalAveragePool", [x], ["y"]))
    graph = helper.make_graph(
        nodes, "inception",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4, 9, 9])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, channels, 1, 1])],
        weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.checker.check_model(model)
    return model


def run(model: onnx.ModelProto, x: np.ndarray) -> np.ndarray:
    """What onnxruntime computes."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    data = model.SerializeToString()
    session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x})[0]


def test_the_sample_merges_all_that_can_be_merged() -> None:
    model = inception()
    expected = mergeable(model)
    assert expected == [2, 2, 4, 4]
    _, merged = sample(gsl.Workload.from_onnx(model))
    result = merged.to_onnx()
    onnx.checker.check_model(result)
    convs = [node for node in result.graph.node if node.op_type == "Conv"]
    before = sum(node.op_type == "Conv" for node in model.graph.node)
    assert len(convs) == before - sum(n - 1 for n in expected)
    parts = sorted(len(n.output) for n in result.graph.node if n.op_type == "Split")
    assert parts == expected
    assert mergeable(result) == []
    x = np.random.default_rng(1).normal(size=(1, 4, 9, 9)).astype(np.float32)
    np.testing.assert_allclose(run(result, x), run(model, x), rtol=1e-4, atol=1e-6)


def test_the_sample_holds() -> None:
    subst, _ = sample(gsl.Workload.from_onnx(inception()))
    verdict = subst.check()
    assert verdict.holds and not verdict.wrong, verdict
    weak = gsl.parse(subst.to_gsl().replace("groups = 1", "groups = _"))[0]
    assert weak.check().wrong


def test_text_and_objects_are_one() -> None:
    subst, _ = sample(gsl.Workload.from_onnx(inception()))
    text = subst.to_gsl()
    (again,) = gsl.parse(text)
    assert again.to_gsl() == text
    assert again == subst
    assert len(text.splitlines()) < 25


def test_mistakes_are_told() -> None:
    x, y = pat.Wildcard(), pat.Wildcard()
    with pytest.raises(tangram.RuleError):
        Subst(op.ReLU(x), y)
    with pytest.raises(tangram.RuleError, match="strdes"):
        Subst(pat.Call("conv2d", x, y, strdes=1), x)
    with pytest.raises(tangram.RuleError, match="outputs"):
        Subst([op.ReLU(x), op.Tanh(x)], x)
    with pytest.raises(TypeError, match="truth value"):
        bool(x.ndim == 3)
    with pytest.raises(ValueError, match="initial"):
        attr.ReduceTuple(attr.BinaryOp.ADD, (1, 2), init=1)


def transposed() -> onnx.ModelProto:
    """Two transposes that undo each other, and one that does not."""
    nodes = [
        helper.make_node("Transpose", ["x"], ["a"], perm=[0, 2, 1]),
        helper.make_node("Transpose", ["a"], ["b"], perm=[0, 2, 1]),
        helper.make_node("Relu", ["b"], ["y"]),
    ]
    info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2, 3, 4]) for n in "xy"]
    graph = helper.make_graph(nodes, "transposes", info[:1], info[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def test_patterns_may_be_shared_and_workloads_keep_their_name() -> None:
    x = pat.Wildcard()
    inner = op.Transpose(x, axes=(0, 2, 1))
    outer = op.Transpose(inner, axes=(0, 2, 1))
    undo = Subst(outer, x, name="undo", doc="Undoes itself.", labels=["simplify"])
    same = Subst(outer, x)
    wl = gsl.Workload.from_onnx(transposed(), name="mine")
    for rule in (undo, same):
        made = rule(wl)
        assert [node.op_type for node in made.to_onnx().graph.node] == ["Relu"]
        assert made.name == "mine"
    assert undo(wl, new_name="new").name == "new"
    assert undo.name == "undo" and "Undoes itself." in undo.to_gsl()


def test_a_near_miss_is_explained() -> None:
    x = pat.Wildcard()
    other = Subst(op.Transpose(op.Transpose(x, axes=(1, 0, 2)), axes=(0, 2, 1)), x)
    wl = gsl.Workload.from_onnx(transposed())
    assert other(wl).report.fired == {}
    told = other.explain(wl)
    assert "nn.transpose" in told and "expected" in told and "found" in told


def test_forms_of_expressions() -> None:
    x = pat.Wildcard()
    t = op.Transpose(x)
    u = op.Transpose(t)
    axes = attr.Map(u.axes, lambda a: t.axes[a])
    compose = Subst(u, op.Transpose(x, axes=axes))
    assert compose.check().holds
    wl = gsl.Workload.from_onnx(transposed())
    assert compose(wl).report.fired
    conditions = [
        attr.TupleLen(x.shape) == 3,
        attr.In(x.dtype, ("float32", "float64")),
        attr.Reverse(attr.Range(3)) == (2, 1, 0),
        attr.Zip([(1, 2), (3, 4)])[1][0] == 2,
        attr.Cond(x.ndim > 2, True, False),
        attr.ReduceTuple(attr.BinaryOp.MUL, x.shape) == 24,
        attr.LayoutRemap("NCHW", "NHWC") == (0, 2, 3, 1),
        x.shape[1:] == (3, 4),
        ~(x.ndim % 2 == 0) & (x.ndim // 2 == 1) | (-x.ndim == 3),
        attr.Const(1).max(2) == 2,
    ]
    limited = Subst(u, op.Transpose(x, axes=axes), where=conditions)
    assert limited(wl).report.fired
    assert gsl.parse(limited.to_gsl())[0] == limited


def test_alternatives_choices_and_traits() -> None:
    x = pat.Wildcard()
    a, b = op.ReLU(x), op.Tanh(x)
    either = pat.Alt(a, b)
    rule = Subst(op.Negative(either), pat.Match(either, [op.Tanh(x), op.ReLU(x)]), name="swap")
    assert "case" in rule.to_gsl() and rule.check().wrong
    chosen = Subst(op.Abs(op.Abs(x)), pat.Cond(x.ndim > 2, op.Abs(x), op.Abs(x)), may_alias=True)
    assert chosen.check().holds
    # A branch that no instance takes is not known to be right.
    never = Subst(op.Abs(op.Abs(x)), pat.Cond(x.ndim > 9, x, op.Abs(x)), may_alias=True).check()
    assert not never.holds and not never.wrong and "branches" in never.text
    strict = Subst(op.Add(x, x), op.Multiply(x, 2.0), exactness="exact")
    assert strict.to_gsl().startswith(f"rule {strict.name} exact {{")
    f = pat.OpWithTrait("idempotent")
    once = pat.Call(f, x)
    twice = Subst(pat.Call(f, once), once)
    assert gsl.parse(twice.to_gsl())[0] == twice
    assert once in pat.Call(f, once) and x in once and a not in b
    assert "2.0 * p0 + 1 - p0 / 3" in Subst(2.0 * x + 1 - x / 3, x).to_gsl()


def test_pictures_are_svg() -> None:
    subst, merged = sample(gsl.Workload.from_onnx(inception()))
    for picture in (subst._repr_svg_(), merged._repr_svg_()):
        assert xml.dom.minidom.parseString(picture).documentElement.tagName == "svg"
    assert "conv2d" in subst._repr_svg_() and "split" in subst._repr_svg_()


def test_constructors_are_those_of_the_operations() -> None:
    path = ROOT / "python" / "generate_op.py"
    spec = importlib.util.spec_from_file_location("generate_op", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.generate() == (ROOT / "python" / "gsl" / "op.py").read_text()
