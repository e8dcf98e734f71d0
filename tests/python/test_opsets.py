"""Models written in other versions of ONNX's operator set: they compute the same, or it is said why not."""

from __future__ import annotations

import subprocess

import numpy as np
import onnx
import pytest

import oracle
import small
import tangram
from conftest import ROOT
from test_examples import SMALL, given

MODELS = ROOT / "examples" / "models"


@pytest.mark.parametrize("name", ["cnn", "control", "inception", "legacy", "lstm_tagger", "transformer"])
@pytest.mark.parametrize("version", [11, 13, 15, 18, 21])
def test_examples_go_up_and_down(name, version) -> None:
    before = onnx.load(MODELS / f"{name}.onnx")
    after = tangram.optimize(before, opset=version).to_onnx()
    assert {s.domain: s.version for s in after.opset_import}[""] == version
    onnx.checker.check_model(after, full_check=True)
    inputs = oracle.random_inputs(before, {**SMALL, "steps": 3}, given=given(before))
    assert oracle.same(oracle.run_ort(after, inputs), oracle.run_ort(before, inputs))


def test_all_that_cannot_be_said_is_said_at_once(tangram_bin, tmp_path) -> None:
    words = [tangram_bin, "opt", MODELS / "text.onnx", "-o", tmp_path / "o.onnx", "--opset"]
    ran = subprocess.run([*words, "13"], capture_output=True, text=True)
    assert ran.returncode != 0 and not (tmp_path / "o.onnx").exists()
    first, *reasons, hint = ran.stderr.strip().splitlines()
    assert first.endswith("the model cannot be written in operator set 13:")
    # StringConcat and StringSplit came with operator set 20: that is what onnx's schemas say.
    assert [reason.split(":")[0].strip() for reason in reasons] == ["StringConcat", "StringSplit"]
    since = {op: onnx.defs.get_schema(op, 20).since_version for op in ("StringConcat", "StringSplit")}
    assert set(since.values()) == {20} and all("needs operator set 20" in reason for reason in reasons)
    assert hint == "operator set 20 is the first that has all of it"
    assert subprocess.run([*words, "20", "--quiet"]).returncode == 0


def test_attributes_that_came_later_are_no_defect() -> None:
    with pytest.raises(tangram.ModelError, match="DequantizeLinear of operator set 11 has no attribute `axis`") as told:
        tangram.optimize(MODELS / "quantised.onnx", opset=11)
    assert "operator set 13 is the first" in str(told.value) and "defect" not in str(told.value)


def with_function(body: str, model_opset: int = 12, function_opset: int = 12) -> onnx.ModelProto:
    """A model that calls a function of its own, which refers to an operator set itself."""
    return onnx.parser.parse_model(
        f"""<ir_version: 8, opset_import: ["" : {model_opset}, "own" : 1]>
        g (float[2, 3, 4] x) => (float[2, 3, 4] y) {{ y = own.f(x) }}
        <domain: "own", opset_import: ["" : {function_opset}]> f (a) => (b) {{ {body} }}"""
    )


@pytest.mark.parametrize(("body", "stays"), [
    ("b = Elu(a)", True), ("b = Softmax <axis = 1> (a)", False), ("c = Elu(a)  b = Softmax(c)", False),
])  # fmt: skip
def test_functions_follow_the_model_to_another_operator_set(body, stays) -> None:
    before = with_function(body)
    inputs = oracle.random_inputs(before)
    expected = oracle.run_ort(before, inputs)
    for opset in (11, 15, 18, 21):
        after = tangram.optimize(before, opset=opset).to_onnx()
        onnx.checker.check_model(after, full_check=True)
        versions = {s.domain: s.version for f in after.functions for s in f.opset_import}
        # Before 13 all of these are what they are in 12.
        assert bool(after.functions) == (stays or opset < 13) and versions.get("", opset) == opset
        assert oracle.same(oracle.run_ort(after, inputs), expected)


def test_a_function_of_another_operator_set_is_told() -> None:
    before = with_function("b = Softmax <axis = 1> (a)", 13, 12)
    with pytest.raises(tangram.ModelError, match="its operators mean something else there, at function `f`"):
        tangram.optimize(before, opset=15)


@pytest.mark.parametrize("opset", range(18, 21))
def test_groups_are_scaled_as_before(opset) -> None:
    text = "(float[2, 6, 4] x, float[3] g, float[3] b) => (float[2, 6, 4] y) { y = GroupNormalization <num_groups = 3> (x, g, b) }"
    before = small.model(text, opset=opset)
    inputs = oracle.random_inputs(before)
    after = tangram.optimize(before, opset=21).to_onnx()
    assert oracle.same(oracle.run_ort(after, inputs), oracle.run_ort(before, inputs))


@pytest.mark.parametrize(("text", "opset", "to", "why"), [
    ("(float[n, 4] x) => (float[n, 4] y, float[n, 4] m) { y, m = Dropout(x) }", 9, 10, "means something else"),
    ("(float[n, 4] x) => (float[n, 4] y, bool[n, 4] m) { y, m = Dropout(x) }", 12, 8, "needs operator set 9"),
    ("(float[1, 1, 4, 4] x, float[1, 4] r, int64[1] i) => (float[1, 1, 1, 1] y) { y = RoiAlign(x, r, i) }",
     16, 15, "half a pixel of shift needs operator set 16"),
    ("(float[1, 1, 4, 4] x, float[4] s) => (float[a, b, c, d] y) { y = Resize(x, s) }", 10, 11, "another meaning|means something"),
    ("(float[2] x) => (float[2] y) { y = Cast <to = 16> (x) }", 13, 9, "gives no bfloat16"),
    ("(float[3] x, int64[2] p) => (float[5] y) { y = Pad <mode = \"wrap\"> (x, p) }", 19, 18, "has no `wrap` as `mode`"),
])  # fmt: skip
def test_what_means_something_else_there_is_refused(text, opset, to, why) -> None:
    with pytest.raises(tangram.ModelError, match=why):
        tangram.optimize(small.model(text, opset=opset), opset=to)


@pytest.mark.parametrize("to", [9, 10, 11])
def test_the_mask_of_a_dropout_is_written_apart(to) -> None:
    before = small.model("(float[2, 3] x) => (float[2, 3] y, bool[2, 3] m) { y, m = Dropout(x) }", opset=13)
    after = tangram.optimize(before, opset=to).to_onnx()
    inputs = {"x": np.ones((2, 3), np.float32)}
    assert oracle.same(oracle.run_ort(after, inputs), oracle.run_ort(before, inputs))


TEXTS = "(int64 i) => (string[2] y, string z) { k = Constant <value_strings = [\"a\", \"b c\"]> ()  y = Identity(k)  z = Gather(k, i) }"
TEXT = "(int64[1] i) => (string[1] y) { k = Constant <value_string = \"b\"> ()  s = Shape(i)  y = Expand(k, s) }"


@pytest.mark.parametrize("to", [7, 8, 9, 11])
@pytest.mark.parametrize("text", [TEXTS, TEXT])
def test_constant_texts_are_tensors_before_set_12(text, to) -> None:
    before = small.model(text, opset=13)
    before.ir_version = 8
    after = tangram.optimize(before, opset=to).to_onnx()
    onnx.checker.check_model(after, full_check=True)
    inputs = {"i": np.ones([1] if text == TEXT else [], np.int64)}
    assert oracle.same(oracle.run_ort(after, inputs), oracle.run_ort(before, inputs))


@pytest.mark.parametrize("to", [7, 9, 10])
@pytest.mark.parametrize("kind", ["float", "double"])
@pytest.mark.parametrize("given", ["alpha = 0.5, transA = 1", "transA = 1, beta = 0.25", "transA = 1, transB = 1"])
def test_a_gemm_without_a_third_input_gets_one_before_set_11(given, kind, to) -> None:
    shape = "4, 3" if "transB" in given else "3, 4"
    text = f"({kind}[3, 2] a, {kind}[{shape}] b) => ({kind}[2, 4] y) {{ y = Gemm <{given}> (a, b) }}"
    before = small.model(text, opset=13)
    before.ir_version = 8
    after = tangram.optimize(before, opset=to).to_onnx()
    onnx.checker.check_model(after, full_check=True)
    inputs = oracle.random_inputs(before)
    assert oracle.same(oracle.run_ort(after, inputs), oracle.run_ort(before, inputs))


INTEGERS = "(float[2, 3] x) => (float[a, b] y) { k = Constant <value_ints = [3, 2]> ()  y = Reshape(x, k) }"
TRUTHS = "(float[2] x) => (bool[2] y) { k = Constant <value = bool[2] {1, 0}> ()  n = Not(k)  y = Or(n, k) }"
BRANCH = """(bool c) => (int64[2] y) {
    y = If (c) <then_branch = t () => (int64[2] u) { u = Constant <value_ints = [3, 2]> () },
                else_branch = e () => (int64[2] v) { v = Constant <value_ints = [-1, 4611686018427387904]> () }> }"""


@pytest.mark.parametrize("to", [7, 8, 9, 11])
@pytest.mark.parametrize("ir", [3, 8])
@pytest.mark.parametrize("text", [INTEGERS, TRUTHS, BRANCH])
def test_constants_are_of_types_that_a_set_holds(text, ir, to) -> None:
    """Before operator set 9 a `Constant` holds floats only, and before IR 4 initializers are inputs."""
    before = small.model(text, opset=13)
    before.ir_version = ir
    after = tangram.optimize(before, opset=to).to_onnx()
    onnx.checker.check_model(after, full_check=True)
    assert [i.name for i in after.graph.input] == [i.name for i in before.graph.input]
    given = {"c": np.array(False)} if text == BRANCH else oracle.random_inputs(before)
    for inputs in (given, {name: np.asarray(np.logical_not(value), value.dtype) for name, value in given.items()}):
        assert oracle.same(oracle.run_ort(after, inputs), oracle.run_ort(before, inputs))


def pools(count: int, seed: int):
    """Pools with `ceil_mode` of any windows, where onnxruntime runs them."""
    rng = np.random.default_rng(seed)
    made = 0
    while made < count:
        kernel, strides = rng.integers(1, 5, 2), rng.integers(1, 7, 2)
        pads = [int(rng.integers(0, k)) for k in [*kernel, *kernel]]
        extents = ", ".join(map(str, rng.integers(1, 9, 2)))
        operator = rng.choice(["MaxPool", "AveragePool", "LpPool"])
        counts = "count_include_pad = 1," if operator == "AveragePool" and rng.random() < 0.5 else ""
        dilated = operator != "AveragePool" and rng.random() < 0.5
        apart = f"dilations = [{', '.join(map(str, rng.integers(1, 4, 2)))}]," if dilated else ""
        text = f"""(float[1, 1, {extents}] x) => (float[a, b, c, d] y) {{ y = {operator}
            <kernel_shape = [{kernel[0]}, {kernel[1]}], strides = [{strides[0]}, {strides[1]}], {counts} {apart}
             pads = [{", ".join(map(str, pads))}], ceil_mode = 1> (x) }}"""
        model = small.model(text, opset=22)
        inputs = oracle.random_inputs(model)
        try:
            expected = oracle.run_ort(model, inputs)
        except Exception:  # noqa: BLE001: no window fits
            continue
        if 0 in expected[0].shape:
            # Of windows that do not fit, inference makes one where the engine makes none.
            continue
        made += 1
        # The shape is said, so that the checker compares it with what the set infers.
        del model.graph.output[0].type.tensor_type.shape.dim[:]
        for n in expected[0].shape:
            model.graph.output[0].type.tensor_type.shape.dim.add().dim_value = n
        yield model, inputs, expected


def test_pools_that_round_up_are_what_older_sets_infer() -> None:
    """Before operator set 22 inference counts a last window that begins behind the data."""
    changed = refused = 0
    for model, inputs, expected in pools(60, 7):
        onnx.checker.check_model(model, full_check=True)
        for to in (11, 19) if model.graph.node[0].op_type != "LpPool" else (18,):
            try:
                after = tangram.optimize(model, opset=to).to_onnx()
            except tangram.ModelError as error:
                assert any(why in str(error) for why in ("reach over padding that counts", "as long as a window"))
                refused += 1
                continue
            onnx.checker.check_model(after, full_check=True)
            changed += all(a.name != "ceil_mode" for a in after.graph.node[0].attribute)
            assert oracle.same(oracle.run_ort(after, inputs), expected)
    assert changed > 5 and refused < 10


def test_branches_of_other_shapes_are_refused_where_they_have_to_be_the_same() -> None:
    text = """(bool c, float[2] x, float[3] z) => (float[n] y) {
        y = If (c) <then_branch = t () => (float[2] u) { u = Relu(x) },
                    else_branch = e () => (float[3] v) { v = Relu(z) }> }"""
    model = small.model(text, opset=13)
    onnx.checker.check_model(tangram.optimize(model, opset=11).to_onnx(), full_check=True)
    with pytest.raises(tangram.ModelError, match="its branches give results of other shapes"):
        tangram.optimize(model, opset=9)


def test_results_that_a_node_does_not_give_there_are_refused() -> None:
    text = """(bool c, float[2] x) => (int64 n) {
        s = If (c) <then_branch = t () => (seq(float[2]) u) { u = SequenceConstruct(x) },
                    else_branch = e () => (seq(float[2]) v) { v = SequenceConstruct(x, x) }>
        n = SequenceLength(s) }"""
    with pytest.raises(tangram.ModelError, match="its results are of types that it does not give there"):
        tangram.optimize(small.model(text, opset=13), opset=11)


def test_a_real_signal_has_one_part_along_any_axis() -> None:
    text = """(float[1, 6, 10, 2] x, int64 axis) => (int64[1] n) {
        y = DFT <inverse = 1, onesided = 1> (x, , axis)  n = Shape <start = 3> (y) }"""
    before = small.model(text, opset=20)
    inputs = {"x": np.ones((1, 6, 10, 2), np.float32), "axis": np.array(1)}
    after = tangram.optimize(before).to_onnx()
    assert oracle.same(oracle.run_ort(after, inputs), oracle.run_ort(before, inputs))


@pytest.mark.parametrize("operator", ["Min", "Max", "Mean", "Sum"])
@pytest.mark.parametrize("shape", [(), (3,), (1, 3), (2, 3)])
def test_operands_of_several_shapes_are_made_alike_before_operator_set_8(operator, shape) -> None:
    c = np.full(shape, 2.5, np.float32)
    operands = "x, c, x" if operator == "Sum" else "x, c"
    before = small.model(f"(float[2, 3] x) => (float[2, 3] y) {{ y = {operator}({operands}) }}", 8, {"c": c}, 4)
    after = tangram.optimize(before, opset=7).to_onnx()
    inputs = oracle.random_inputs(before)
    assert oracle.same(oracle.run_ort(after, inputs), oracle.run_ort(before, inputs))
    open_size = small.model(f"(float[n, 3] x, float[m, 3] c) => (float[k, 3] y) {{ y = {operator}({operands}) }}", 8, ir=4)
    with pytest.raises(tangram.ModelError, match="several shapes need operator set 8"):
        tangram.optimize(open_size, opset=7)


def test_a_rule_makes_no_operands_of_several_shapes_before_operator_set_8(tmp_path) -> None:
    rule = tmp_path / "r.gsl"
    rule.write_text("rule r exact { let x = *; match relu(x); rewrite maximum(x, 0.0); }")
    before = small.model("(float[2, 3] x) => (float[2, 3] y) { y = Relu(x) }", 7, ir=3)
    assert small.operators(tangram.optimize(before, rules=[rule], only=["r"]).to_onnx()) == ["Relu"]
    newer = small.model("(float[2, 3] x) => (float[2, 3] y) { y = Relu(x) }", 8, ir=3)
    assert small.operators(tangram.optimize(newer, rules=[rule], only=["r"]).to_onnx()) == ["Max"]


def test_a_model_without_the_default_operators_gets_them_where_one_is_written() -> None:
    graph = onnx.parser.parse_graph("g () => (float[2, 2] z) { z = ai.onnx.ml.ArrayFeatureExtractor(x, i) }")
    for name, values in {"x": np.arange(6, dtype=np.float32).reshape(2, 3), "i": np.array([0, 1])}.items():
        graph.initializer.append(onnx.numpy_helper.from_array(values, name))
    before = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("ai.onnx.ml", 3)], ir_version=8)
    after = tangram.optimize(before).to_onnx()
    onnx.checker.check_model(after, full_check=True)
    assert oracle.same(oracle.run_ort(after, {}), oracle.run_ort(before, {}))
