"""What random models have shown, each cause in a small model, and where nobody is a judge."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper

import exemptions
import oracle
import random_models
import small


@pytest.fixture
def command(tangram_bin, tmp_path) -> small.Command:
    return small.Command(tangram_bin, tmp_path)


def keeps_meaning(command: small.Command, model: onnx.ModelProto, inputs: dict) -> onnx.ModelProto:
    """Optimises a model, checks the result as others do, and gives it."""
    found, _ = command.optimise(model)
    onnx.checker.check_model(found, full_check=True)
    same = oracle.same(oracle.run_ort(found, inputs), oracle.run_ort(model, inputs))
    assert same, same.why
    return found


# Old operator sets count axes from the front, and some read them in order.
@pytest.mark.parametrize("opset", [9, 10, 11, 12, 13, 18])
@pytest.mark.parametrize("axes", ["-4", "-1", "2, -3, 0", "1, -1"])
def test_axes_of_extent_one_are_squeezed_in_any_set(command, opset, axes) -> None:
    shape = [1, 1, 1, 2] if axes == "2, -3, 0" else [1, 1, 2, 1]
    count = len(shape) - len({int(a) % 4 for a in axes.split(",")})
    names = ", ".join("abcd"[:count])
    body = f"(float{shape} x) => (float[{names}] y) {{ y = ReduceMax <axes = [{axes}], keepdims = 0> (x) }}"
    model = small.model(body, opset=opset)
    if opset >= 18:
        model = onnx.version_converter.convert_version(small.model(body, opset=17), opset)
    found = keeps_meaning(command, model, {"x": np.ones(shape, np.float32)})
    assert "ReduceMax" not in small.operators(found)


# A constant of a branch that is taken within the body of a loop.
@pytest.mark.parametrize("constant", ["init", "node"])
@pytest.mark.parametrize("folded", [False, True])
def test_a_body_returns_a_constant_of_a_branch_that_it_took(command, constant, folded) -> None:
    weight = "<float[1] w = {2}>" if constant == "init" else ""
    node = "w = Constant <value = float[1] {2}> ()" if constant == "node" else ""
    model = small.model(f"""(float[n] x) => (float[n] y, float[m, k] z) <int64 trips = {{2}}, bool go = {{1}}> {{
        y, z = Loop (trips, go, x) <body = b (int64 i, bool c, float[n] s) => (bool d, float[n] t, float[k] u)
            <bool yes = {{1}}> {{
            d = Identity(c)  t = Neg(s)
            u = If (yes) <then_branch = a () => (float[k] p) {weight} {{ {node} p = {"Exp" if folded else "Identity"}(w) }},
                          else_branch = e () => (float[k] q) {{ q = Neg(s) }}>
        }}>
    }}""", opset=13)
    keeps_meaning(command, model, {"x": np.ones(1, np.float32)})


# Its axes are an attribute, so that nothing in the program holds them any more.
@pytest.mark.parametrize("constant", ["init", "node"])
def test_a_constant_that_is_an_attribute_outlives_its_branch(command, constant) -> None:
    weight = "<int64[1] w = {1}>" if constant == "init" else ""
    node = "w = Constant <value = int64[1] {1}> ()" if constant == "node" else ""
    model = small.model(f"""(float[2, n] x) => (float[2, 1] y, float[2, 1] z) <bool yes = {{1}}> {{
        y = If (yes) <then_branch = a () => (float[2, 1] p) {weight} {{ {node} p = ReduceSum(x, w) }},
                      else_branch = e () => (float[2, 1] q) {{ q = ReduceMax <axes = [1]> (x) }}>
        z = If (yes) <then_branch = c () => (float[2, 1] r) {weight} {{ {node} s = Exp(x)  r = ReduceSum(s, w) }},
                      else_branch = f () => (float[2, 1] t) {{ t = ReduceMax <axes = [1]> (x) }}>
    }}""", opset=13)
    keeps_meaning(command, model, {"x": np.ones((2, 3), np.float32)})


# Bodies beside each other may use one name; what is taken out of them comes to lie in one graph.
SHARED = """(float[2, n] x, bool p) => (float[2, n] y, float[2, n] z) <bool yes = {1}> {
    y = If (%s) <then_branch = a () => (float[2, n] r) <float[1] w = {3}> { s = Exp(x)  r = Mul(s, w) },
                  else_branch = b () => (float[2, n] r) { s = Neg(x)  r = Abs(s) }>
    z = If (%s) <then_branch = c () => (float[2, n] r) <float[1] w = {4}> { s = Cos(x)  r = Div(s, w) },
                  else_branch = d () => (float[2, n] r) <float[1] w = {5}> { s = Sin(x)  r = Sub(s, w) }>
}"""


@pytest.mark.parametrize("first", ["p", "yes"])
@pytest.mark.parametrize("second", ["p", "yes"])
def test_bodies_that_share_names_may_be_taken(command, first, second) -> None:
    model = small.model(SHARED % (first, second), opset=13)
    for flag in (True, False):
        inputs = {"x": np.ones((2, 3), np.float32), "p": np.array(flag)}
        found = keeps_meaning(command, model, inputs)
    assert small.operators(found).count("If") == (first, second).count("p")
    if (first, second) == ("p", "p"):
        assert found.graph.node[1] == model.graph.node[1]


def test_a_loop_in_a_body_that_is_taken_has_its_own_names(command) -> None:
    model = small.model("""(float[n] x) => (float[n] y) <bool yes = {1}> {
        v = If (yes) <then_branch = a () => (float[n] r) { s = Abs(x)  t = Sqrt(s)  r = Add(s, t) },
                      else_branch = c () => (float[n] q) { q = Neg(x) }>
        w = If (yes) <then_branch = d () => (float[n] r) <int64 m = {2}, bool g = {1}> {
                r = Loop (m, g, x) <body = b (int64 i, bool c, float[n] s) => (bool d, float[n] t) {
                    d = Identity(c)  u = Neg(s)  t = Exp(u)
                }>
            }, else_branch = e () => (float[n] q) { q = Neg(x) }>
        y = Add(v, w)
    }""", opset=13)
    found = keeps_meaning(command, model, {"x": np.ones(3, np.float32)})
    assert small.operators(found).count("If") == 0


# The result of the first is an initializer of the branch, of the second a folded one.
def test_a_result_of_a_branch_that_is_a_constant_has_a_type(command) -> None:
    model = small.model("""(float x, bool p) => (int64 k, float[n] z) {
        y = If (p) <then_branch = a () => (float[1] r) { r = Abs(x) },
                    else_branch = b () => (float[1] q) <float[1] w = {2}> { q = Concat <axis = 0> (w) }>
        z = If (p) <then_branch = c () => (float[1] s) <float[1] v = {2}> { s = Exp(v) },
                    else_branch = d () => (float[1] t) <float[1] u = {2}> { m = Neg(u)  t = Concat <axis = 0> (m, m) }>
        k = Size(y)
    }""", opset=12)
    for body in [a.g for node in model.graph.node for a in node.attribute]:
        body.output[0].type.tensor_type.ClearField("shape")
    found, _ = command.optimise(model)
    onnx.checker.check_model(found, full_check=True)
    inferred = onnx.shape_inference.infer_shapes(found, strict_mode=True)
    bodies = [a.g for node in inferred.graph.node for a in node.attribute]
    shapes = [body.output[0].type.tensor_type.HasField("shape") for body in bodies]
    assert shapes == [True] * 4


# A list of axes that names one twice is a set for engines, where the rank is known only later too.
@pytest.mark.parametrize("axes", ["1, 1", "1, -1"])
@pytest.mark.parametrize("operator", ["ReduceMax", "ReduceSum"])
def test_axes_that_are_named_twice_are_left_alone(command, operator, axes) -> None:
    model = small.model(f"""(float[2, n] x, float[1, 2, n] e) => (float[2, m] y) <bool yes = {{1}}, int64[2] w = {{{axes}}}> {{
        v = If (yes) <then_branch = a () => (float[2, n] r) {{ r = Abs(x) }},
                      else_branch = b () => (float[2, n] q) {{ q = Neg(x) }}>
        y = {operator} (v, w)
    }}""", opset=18)
    for attribute in model.graph.node[0].attribute:
        attribute.g.output[0].type.tensor_type.ClearField("shape")
    keeps_meaning(command, model, {"x": np.ones((2, 3), np.float32), "e": np.ones((1, 2, 3), np.float32)})


# Of a window that does not fit, engines make one or none: the node stays.
@pytest.mark.parametrize("operator", ["AveragePool", "MaxPool", "LpPool"])
def test_a_window_that_does_not_fit_is_left_to_the_engine(command, operator) -> None:
    weights = {"x": np.full((1, 1, 1, 1), 3, np.float32)}
    body = f"""(float[4] z) => (float[a, b, c, d] y) {{
        v = {operator} <kernel_shape = [1, 2], strides = [2, 2]> (x)
        u = Exp(v)
        y = Mul(u, z)
    }}"""
    keeps_meaning(command, small.model(body, weights=weights), {"z": np.ones(4, np.float32)})


def test_the_cubic_gelu_has_the_numbers_of_its_function(command) -> None:
    x = np.linspace(-4, 4, 33)
    body = '(double[1] z) => (double[33] y) { v = Gelu <approximate = "tanh"> (x)  y = Mul(v, z) }'
    model = small.model(body, opset=20, weights={"x": x}, ir=9)
    found = keeps_meaning(command, model, {"z": np.ones(1)})
    assert "Gelu" not in small.operators(found)


INTEGERS = [[0], [-1], [-5, 2], [1], [3, 4], [700], [40], [-40, 7, 33]]


# Roots and logarithms of sums of integers become integers as a cast makes them.
@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("operator", ["ReduceLogSum", "ReduceLogSumExp", "ReduceL2"])
def test_integers_of_logarithms_are_folded_as_they_are_computed(command, operator, dtype) -> None:
    weights = {f"w{i}": np.array(values, dtype) for i, values in enumerate(INTEGERS)}
    nodes = "".join(f"v{i} = {operator} (w{i}) " for i in range(len(INTEGERS)))
    names = ", ".join(f"v{i}" for i in range(len(INTEGERS)))
    body = f"({dtype}[1] z) => ({dtype}[n] y) {{ {nodes} y = Concat <axis = 0> ({names}, z) }}"
    model = small.model(body, opset=13, weights=weights)
    found = keeps_meaning(command, model, {"z": np.zeros(1, dtype)})
    assert operator not in small.operators(found)


def inferred_otherwise(body: str, opset: int, values: dict[str, np.ndarray]) -> str:
    """Runs the one node of a graph; gives what the standard has against its results."""
    model = small.model(body, opset=opset, ir=random_models.IR[opset])
    node = model.graph.node[0]
    results = oracle.run_ort(model, values)
    form = {"opset_imports": [helper.make_opsetid("", opset)], "ir_version": random_models.IR[opset]}
    return exemptions.contradicted(
        node, values, results, lambda graph: helper.make_model(graph, **form)
    )


NONE, BACK = np.zeros(0, np.int64), np.array([-1])
CONTRADICTED = [
    ("(int64[0] x) => (int64[n] y) { y = ArgMin <axis = -1> (x) }", 21, {"x": NONE}),
    ("(int64[0] x) => (int64[n] y) { y = ReduceLogSum <axes = [-1]> (x) }", 13, {"x": NONE}),
    ("(int64 x) => (int64[r, n] y) { y = NonZero(x) }", 18, {"x": np.array(-1)}),
    ("(float x, float[2, 3] w) => (float[a, b] y) { y = PRelu(x, w) }", 11,
     {"x": np.ones((), np.float32), "w": np.ones((2, 3), np.float32)}),
    ("(int64[4] x, int64[1] a, int64[1] b, int64[1] c) => (int64[n] y) { y = Slice(x, a, b, , c) }", 13,
     {"x": np.arange(4), "a": BACK, "b": np.array([2**63 - 1]), "c": BACK}),
    ("(int64[2] x) => (int64[2] y) { y = Pow(x, x) }", 15, {"x": np.array([2, 60])}),
    ("(int64[2] x) => (int64[n] y) { y = ReduceLogSumExp(x) }", 13, {"x": np.array([-2, -1])}),
    ("(seq(float[a, b]) x) => (float[a, b] y) { y = ConcatFromSequence <axis = 0> (x) }", 13,
     {"x": [np.ones((2, 1), np.float32), np.ones((1, 0), np.float32)]}),
]  # fmt: skip


@pytest.mark.parametrize(("body", "opset", "values"), CONTRADICTED)
def test_what_contradicts_the_standard_is_no_measure(body, opset, values) -> None:
    assert inferred_otherwise(body, opset, values)


def test_what_agrees_with_the_standard_is_kept() -> None:
    body = "(int64[4] x, int64[1] a, int64[1] b) => (int64[n] y) { y = Slice(x, a, b) }"
    values = {"x": np.arange(4), "a": BACK, "b": np.array([2**63 - 1])}
    assert inferred_otherwise(body, 13, values) == ""
    joined = "(seq(float[a, b]) x) => (float[a, b] y) { y = ConcatFromSequence <axis = 0> (x) }"
    assert inferred_otherwise(joined, 13, {"x": [np.ones((2, 1), np.float32)] * 2}) == ""
    sums = "(int64[2] x) => (int64[n] y) { y = ReduceLogSumExp(x) }"
    assert inferred_otherwise(sums, 13, {"x": np.array([3, 4])}) == ""
    powers = {"x": np.array([2, 10])}
    assert inferred_otherwise("(int64[2] x) => (int64[2] y) { y = Pow(x, x) }", 15, powers) == ""
    assert inferred_otherwise("(int64[0] x) => (int64[n] y) { y = ReduceSum(x) }", 13, {"x": NONE}) == ""


def test_an_open_bound_of_a_clip_leaves_infinities_and_a_closed_one_is_seen() -> None:
    body = "(float[2] x) => (float[2] y) { y = %s }"
    clip, other = (small.model(body % text) for text in ("Clip(x)", "Identity(x)"))
    given = {"x": np.array([np.inf, 1], np.float32)}
    assert not oracle.same(oracle.run_ort(other, given), oracle.run_ort(clip, given))
    assert exemptions.excused(clip, other, given, 0)
    assert not exemptions.excused(clip, small.model(body % "Neg(x)"), given, 0)


def test_a_pool_of_nothing_but_nan_is_nan_and_others_are_compared() -> None:
    body = "(float[1, 1, 3] x) => (float[1, 1, n] y) { y = %s }"
    pool = small.model(body % "MaxPool <kernel_shape = [1]> (x)")
    other = small.model(body % "Identity(x)")
    given = {"x": np.array([[[np.nan, np.inf, -np.inf]]], np.float32)}
    assert not oracle.same(oracle.run_ort(other, given), oracle.run_ort(pool, given))
    assert exemptions.alike(pool, other, given, 0)
    assert not exemptions.alike(pool, small.model(body % "Abs(x)"), given, 0)
