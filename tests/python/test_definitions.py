"""Operators of one's own with a definition: typed, evaluated, checked, and rules about them verified.

What a definition means is computed beside it by numpy; that a rule is wrong is seen by numbers that
numpy gives as well.
"""

from __future__ import annotations

import subprocess

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import gsl
import oracle
import tangram
from gsl import attr, op, pat

DEFINITION = """
/// `alpha * tanh(x)`.
rule scaled-tanh [definition] {
  let x = *;
  let s = acme.ScaledTanh(x);
  match s;
  attr alpha = if native absent(s, "alpha") then 1.0 else s.alpha;
  rewrite tanh(x) * const(alpha);
}
"""
RULES = {
    "right": 'let x = *; let a = tanh(x) * const(splat 0.5); match a; rewrite acme.ScaledTanh(x) { alpha = 0.5 };',
    "right-both": "let x = *; let s = acme.ScaledTanh(x); match negative(s); rewrite acme.ScaledTanh(negative(x)) { ..s };",
    "wrong": "let x = *; let s = acme.ScaledTanh(x); match negative(s); rewrite s;",
    "wrong-default": "let x = *; let s = acme.ScaledTanh(x); match s; rewrite tanh(x);",
    "wrong-order": "let x = *; let y = *; match acme.ScaledTanh(x) + acme.ScaledTanh(y); rewrite acme.ScaledTanh(x + y);",
}


def scaled_tanh(x, alpha=1.0):  # noqa: ANN001, ANN201
    return op.Tanh(x) * alpha


def definitions() -> list[gsl.Definition]:
    """The same by text and by a function."""
    (text,) = gsl.parse(DEFINITION)
    return [text, gsl.define("acme.ScaledTanh", scaled_tanh)]


def model(*nodes: onnx.NodeProto, extents=("n", 3)) -> onnx.ModelProto:
    """Nodes from `x` to `y`; nothing says the types between them."""
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, extents) for name in "xy"]
    graph = helper.make_graph(list(nodes), "g", info[:1], info[1:])
    sets = [helper.make_opsetid("", 17), helper.make_opsetid("acme", 1)]
    return helper.make_model(graph, opset_imports=sets, ir_version=8)


def chain(**attributes) -> onnx.ModelProto:
    return model(
        helper.make_node("ScaledTanh", ["x"], ["s"], domain="acme", **attributes),
        helper.make_node("Neg", ["s"], ["y"]),
    )


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize("name", RULES)
def test_rules_are_verified_by_the_definition(name: str, kind: int) -> None:
    (rule,) = gsl.parse(f"rule r {{ {RULES[name]} }}")
    assert "unverified" in str(rule.check())
    verdict = rule.check(definitions()[kind])
    assert verdict.holds == name.startswith("right") and verdict.wrong == name.startswith("wrong"), str(verdict)


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize("attributes", [{}, {"alpha": 0.25}])
def test_what_is_defined_is_typed_and_evaluated(attributes: dict, kind: int) -> None:
    x = np.linspace(-2, 2, 6, dtype=np.float32).reshape(2, 3)
    workload = tangram.Workload.from_onnx(chain(**attributes), definitions()[kind])
    expected = -np.tanh(x) * np.float32(attributes.get("alpha", 1.0))
    np.testing.assert_allclose(workload(x), expected, rtol=1e-6)
    # Behind an operator of which nothing is known, no shape is.
    shaped = model(
        helper.make_node("ScaledTanh", ["x"], ["s"], domain="acme", **attributes),
        helper.make_node("Shape", ["s"], ["n"]),
        helper.make_node("Expand", ["x", "n"], ["y"]),
        extents=(2, 3),
    )
    found = tangram.optimize(shaped, operators=definitions()[kind]).to_onnx()
    assert [node.op_type for node in found.graph.node] in ([], ["Identity"])


@pytest.mark.parametrize("kind", [0, 1])
def test_a_rewrite_is_checked_by_the_definition(kind: int) -> None:
    definition = definitions()[kind]
    right, wrong = (gsl.parse(f"rule r {{ {RULES[name]} }}")[0] for name in ("right-both", "wrong"))
    made = tangram.optimize(chain(alpha=0.5), [definition, right], check=True)
    assert made.report.data["check"]
    nodes = made.to_onnx().graph.node
    assert [node.op_type for node in nodes] == ["Neg", "ScaledTanh"]
    assert [helper.get_attribute_value(a) for a in nodes[1].attribute] == [0.5]
    with pytest.raises(tangram.CheckError):
        tangram.optimize(chain(alpha=0.5), [definition, wrong], check=True)


def test_the_command_checks_by_the_definition(tangram_bin, tmp_path) -> None:
    source, rules = tmp_path / "m.onnx", tmp_path / "r.gsl"
    onnx.save(chain(alpha=0.5), source)
    for name, code in (("right-both", 0), ("wrong", 1)):
        rules.write_text(DEFINITION + f"rule {name} {{ {RULES[name]} }}\n")
        words = [tangram_bin, "opt", source, "-o", tmp_path / "o.onnx", "--rules", rules, "--check"]
        ran = subprocess.run(words, capture_output=True, text=True, check=False)
        assert (ran.returncode != 0) == bool(code), (ran.stdout, ran.stderr)
        checked = subprocess.run([tangram_bin, "rules", "check", rules], capture_output=True, text=True, check=False)
        assert (checked.returncode != 0) == bool(code), (checked.stdout, checked.stderr)
        assert ("holds" if code == 0 else "WRONG") in checked.stdout


def test_definitions_name_others_and_never_themselves() -> None:
    twice = gsl.define("acme.Twice", lambda x: x + x)
    four = gsl.define("acme.Four", lambda x: pat.Call("acme.Twice", pat.Call("acme.Twice", x)))
    proto = model(helper.make_node("Four", ["x"], ["y"], domain="acme"))
    x = np.ones((1, 3), np.float32)
    np.testing.assert_array_equal(tangram.Workload.from_onnx(proto, [twice, four])(x), 4 * x)


def test_definitions_that_come_back_to_themselves_are_told(tangram_bin, tmp_path) -> None:
    with pytest.raises(tangram.RuleError, match="`acme.Four` is made of `acme.Four`"):
        gsl.define("acme.Four", lambda x: pat.Call("acme.Four", x) + pat.Call("acme.Four", op.Negative(x)))
    proto = model(helper.make_node("A", ["x"], ["y"], domain="acme"))
    text = "rule %s [definition] { let x = *; match acme.%s(x); rewrite acme.%s(x); }"
    ring = [gsl.parse(text % (a, a, b))[0] for a, b in ("AB", "BC", "CA")]
    for call in (tangram.optimize, tangram.Workload.from_onnx):
        with pytest.raises(tangram.RuleError, match="`acme.B` is made of `acme.C`"):
            call(proto, operators=ring)
    rules = tmp_path / "r.gsl"
    one = "rule %s [definition] { let x = *; match acme.%s(x); rewrite relu(acme.%s(x)); }\n"
    rules.write_text(one % ("a", "A", "B") + one % ("b", "B", "A"))
    ran = subprocess.run([tangram_bin, "rules", "check", rules], capture_output=True, text=True, check=False)
    told = ran.stdout + ran.stderr
    column = (one % ("a", "A", "B")).index("acme.B") + 1
    for line, step in ((1, "`acme.A` is made of `acme.B`"), (2, "`acme.B` is made of `acme.A`")):
        assert ran.returncode != 0 and f"r.gsl:{line}:{column}: {step}" in told, told


FOLDED = {
    "scaled": (lambda x, alpha=1.0: op.Tanh(x) * alpha, lambda v: np.tanh(v) * np.float32(0.5), {"alpha": 0.5}),
    "weighted": (lambda x, axes=(1,): op.Sum(x, axis=axes, keepdims=True), lambda v: v.sum(axis=0, keepdims=True), {"axes": [0]}),
    "nested": (lambda x: pat.Call("acme.Twice", pat.Call("acme.Twice", x)), lambda v: 4 * v, {}),
}  # fmt: skip


@pytest.mark.parametrize("case", FOLDED)
def test_nodes_of_constants_are_folded_by_the_definition(case: str) -> None:
    function, meaning, attributes = FOLDED[case]
    definitions = [gsl.define("acme.Twice", lambda x: x + x), gsl.define("acme.F", function)]
    constant = np.linspace(-2, 2, 6, dtype=np.float32).reshape(2, 3)
    proto = model(
        helper.make_node("F", ["c"], ["k"], domain="acme", **attributes),
        helper.make_node("Add", ["k", "x"], ["y"]),
        extents=(2, 3),
    )
    proto.graph.initializer.append(numpy_helper.from_array(constant, "c"))
    for made in (tangram.optimize(proto, operators=definitions), tangram.optimize(proto, definitions, check=True)):
        found = made.to_onnx()
        assert [node.op_type for node in found.graph.node] == ["Add"]
        x = np.full((2, 3), 0.25, np.float32)
        np.testing.assert_allclose(oracle.run_ort(found, {"x": x})[0], meaning(constant) + x, rtol=1e-6)


def test_what_a_definition_leaves_open_or_makes_too_long_is_not_folded() -> None:
    constant = np.linspace(-2, 2, 1500 * 1500, dtype=np.float32).reshape(1500, 1500)
    proto = model(
        helper.make_node("F", ["c"], ["k"], domain="acme"),
        helper.make_node("ReduceSum", ["k"], ["s"], keepdims=0),
        helper.make_node("Add", ["s", "x"], ["y"]),
    )
    proto.graph.initializer.append(numpy_helper.from_array(constant, "c"))
    product = gsl.define("acme.F", lambda x: op.Matmul(op.Matmul(x, x), x))
    made = tangram.optimize(proto, operators=product, fold_limit=None)
    assert [node.op_type for node in made.to_onnx().graph.node] == ["F", "ReduceSum", "Add"]
    unsorted = definition("let x = *; match acme.F(x); rewrite topk(x) { axis = 1, k = 2, sorted = false }[0];")
    made = tangram.optimize(proto, operators=unsorted)
    assert [node.op_type for node in made.to_onnx().graph.node] == ["F", "ReduceSum", "Add"]


@pytest.mark.parametrize("kind", ["text", "function"])
def test_attributes_that_a_definition_does_not_read_belong_to_the_operator(kind: str) -> None:
    text = """
    rule f [definition] {
      let x = *;
      let s = acme.F(x);
      match s;
      attr kind = if native absent(s, "kind") then "fast" else s.kind;
      rewrite tanh(x);
    }
    """

    def function(x, kind="fast"):  # noqa: ANN001, ANN202, ARG001
        return op.Tanh(x)

    made = gsl.parse(text)[0] if kind == "text" else gsl.define("acme.F", function)
    right = 'rule r { let x = *; match acme.F(x) { kind = "slow" }; rewrite tanh(x); }'
    (rule,) = gsl.parse(made.to_gsl() + right)[1:]
    assert rule.check(made).holds
    with pytest.raises(tangram.RuleError, match="did you mean `kind`"):
        gsl.parse(made.to_gsl() + right.replace("kind", "kimd"))
    # Two nodes that differ in it stay two, and only what the rule names is rewritten.
    two = model(
        helper.make_node("F", ["x"], ["a"], domain="acme", kind="slow"),
        helper.make_node("F", ["x"], ["b"], domain="acme"),
        helper.make_node("Sub", ["a", "b"], ["y"]),
    )
    found = tangram.optimize(two, [made, rule], check=True).to_onnx()
    assert sorted(node.op_type for node in found.graph.node) == ["F", "Sub", "Tanh"]


def test_an_operator_is_defined_once(tangram_bin, tmp_path) -> None:
    twice, thrice = gsl.define("acme.Twice", lambda x: x + x), gsl.define("acme.Twice", lambda x: x + x + x)
    proto = model(helper.make_node("Twice", ["x"], ["y"], domain="acme"))
    x = np.ones((1, 3), np.float32)
    # Said again it is no other one.
    np.testing.assert_array_equal(tangram.Workload.from_onnx(proto, [twice, twice])(x), 2 * x)
    for pair in ([twice, thrice], [thrice, twice]):
        with pytest.raises(Exception, match="two rules define `acme.Twice`"):
            tangram.Workload.from_onnx(proto, pair)
        with pytest.raises(Exception, match="two rules define `acme.Twice`"):
            tangram.optimize(proto, operators=pair)
    rules = tmp_path / "r.gsl"
    one = "rule %s [definition] { let x = *; match acme.Twice(x); rewrite %s; }\n"
    rules.write_text(one % ("a", "x + x") + one % ("b", "x + x + x"))
    ran = subprocess.run([tangram_bin, "rules", "check", rules], capture_output=True, text=True, check=False)
    assert ran.returncode != 0 and "r.gsl:2:6" in ran.stdout + ran.stderr, (ran.stdout, ran.stderr)


def test_several_operands_lists_and_shapes() -> None:
    """`weights . x` over the last dimension, where the extents of both decide."""

    def weighted(x, w, axes=(1,)):  # noqa: ANN001, ANN202
        return op.Sum(x * w, axis=axes, keepdims=False)

    definition = gsl.define("acme.Weighted", weighted)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    nodes = [
        helper.make_node("Neg", ["x"], ["w"]),
        helper.make_node("Weighted", ["x", "w"], ["y"], domain="acme", axes=[0]),
    ]
    proto = model(*nodes, extents=(2, 3))
    del proto.graph.output[:]
    proto.graph.output.append(helper.make_tensor_value_info("y", TensorProto.FLOAT, [3]))
    found = tangram.Workload.from_onnx(proto, definition)(x)
    np.testing.assert_allclose(found, (-x * x).sum(axis=0))


@pytest.mark.parametrize("text", [
    "let x = *; match relu(x); rewrite x;",
    "let x = *; match acme.F(x, x); rewrite x;",
    "let x = *; match acme.F(relu(x)); rewrite x;",
    "let x = *; match acme.F(x) { alpha = 0.5 }; rewrite x;",
])  # fmt: skip
def test_what_is_no_definition_is_told(text: str) -> None:
    with pytest.raises(tangram.RuleError, match="a definition matches one call of an operator of your own"):
        gsl.parse(f"rule r [definition] {{ {text} }}")


def test_parameters_that_are_no_operands_are_told() -> None:
    with pytest.raises(TypeError, match="operands of its own"):
        gsl.define("acme.F", lambda *xs: xs[0])
    with pytest.raises(TypeError, match="verified by"):
        definitions()[1].check()


def test_attributes_of_the_definition_are_known(tangram_bin, tmp_path) -> None:
    text = DEFINITION + 'rule r { let x = *; let s = acme.ScaledTanh(x) { alhpa = 2.0 }; match s; rewrite x; }'
    rules = tmp_path / "r.gsl"
    rules.write_text(text)
    ran = subprocess.run([tangram_bin, "rules", "check", rules], capture_output=True, text=True, check=False)
    assert ran.returncode != 0 and "did you mean `alpha`" in ran.stdout + ran.stderr, (ran.stdout, ran.stderr)
    with pytest.raises(tangram.RuleError, match="did you mean `alpha`"):
        gsl.parse(text)
    assert isinstance(attr.Given(pat.Call("acme.F"), "alpha", 1.0), attr.Attr)


def definition(text: str) -> gsl.Definition:
    (made,) = gsl.parse(f"rule d [definition] {{ {text} }}")
    return made


def test_draws_of_a_definition_stay_apart() -> None:
    draws = definition("let x = *; match acme.F(x); rewrite bernoulli(x);")
    two = model(
        helper.make_node("F", ["x"], ["a"], domain="acme"),
        helper.make_node("F", ["x"], ["b"], domain="acme"),
        helper.make_node("Sub", ["a", "b"], ["y"]),
    )
    found = tangram.optimize(two, operators=draws).to_onnx()
    assert [node.op_type for node in found.graph.node] == ["F", "F", "Sub"]


def test_a_function_of_the_model_goes_before_a_definition() -> None:
    shaped = model(
        helper.make_node("F", ["x"], ["s"], domain="acme"),
        helper.make_node("Shape", ["s"], ["n"]),
        helper.make_node("Cast", ["n"], ["y"], to=TensorProto.FLOAT),
        extents=(2, 3),
    )
    turned = helper.make_function("acme", "F", ["x"], ["t"], [helper.make_node("Transpose", ["x"], ["t"])], shaped.opset_import[:1])
    shaped.functions.append(turned)
    del shaped.graph.output[0].type.tensor_type.shape.dim[:]
    shaped.graph.output[0].type.tensor_type.shape.dim.add().dim_value = 2
    found = tangram.optimize(shaped, operators=definition("let x = *; match acme.F(x); rewrite relu(x);"))
    x = np.zeros((2, 3), np.float32)
    np.testing.assert_array_equal(oracle.run_ort(found.to_onnx(), {"x": x})[0], [3, 2])


@pytest.mark.parametrize("case", ["results", "list", "tensor"])
def test_a_node_that_does_not_fit_is_carried_along(case: str) -> None:
    attributes = {"results": {}, "list": {"alpha": [1.0, 2.0]}, "tensor": {"alpha": helper.make_tensor("t", 1, [1], [2.0])}}
    outputs = ["s", "t"] if case == "results" else ["s"]
    odd = model(
        helper.make_node("ScaledTanh", ["x"], outputs, domain="acme", **attributes[case]),
        helper.make_node("Neg", ["s"], ["y"]),
    )
    for made in definitions():
        found = tangram.optimize(odd, operators=made).to_onnx()
        assert [node.op_type for node in found.graph.node] == ["ScaledTanh", "Neg"]


def test_a_definition_reads_the_shape_that_an_operand_is() -> None:
    shaped = definition("let x = *; let n = *; match acme.F(x, n); rewrite reshape(x, n);")
    shape = helper.make_tensor("n", TensorProto.INT64, [2], [3, 2])
    reshaped = model(helper.make_node("F", ["x", "n"], ["y"], domain="acme"), extents=(2, 3))
    reshaped.graph.initializer.append(shape)
    del reshaped.graph.output[0].type.tensor_type.shape.dim[:]
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(tangram.Workload.from_onnx(reshaped, shaped)(x), x.reshape(3, 2))
