"""The main job: what comes out computes the same, is valid, keeps its interface, and is smaller."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

import node_suite
import oracle
import tangram

from test_examples import LARGE, SMALL, given

# What no rule of ours can reach: models before operator set 7 are refused.
REFUSED = "operator set 1 is not supported"
# Nodes, constants not counted, of the best peer whose result is right and valid.
BEST_PEER = {
    "cnn": 18,
    "control": 12,
    "half": 33,
    "inception": 33,
    "legacy": 9,
    "lstm_tagger": 13,
    "quantised": 13,
    "text": 8,
    "transformer": 71,
    "transformer_17": 79,
}


def optimise(content: bytes) -> bytes:
    return tangram.optimize(content).to_bytes()


def unchanged(content: bytes) -> bytes:
    return tangram.Workload.from_onnx(content).to_bytes()


@pytest.mark.parametrize("mode", node_suite.MODES)
def test_some_node_cases_stay_right(mode: str) -> None:
    # Each case in one mode or two.
    stays_right(mode, slice(list(node_suite.MODES).index(mode), None, 3))


@pytest.mark.long
@pytest.mark.parametrize("mode", node_suite.MODES)
def test_every_node_case_stays_right(mode: str) -> None:
    stays_right(mode, slice(None))


def stays_right(mode: str, part: slice) -> None:
    results = node_suite.run(optimise, mode, part=part)
    faults = [fault for fault in node_suite.faults(results) if REFUSED not in fault.detail]
    assert not faults, node_suite.summary(faults, by_operator=False)


def test_every_node_case_survives_the_round_trip() -> None:
    results = node_suite.run(unchanged, "as-is")
    faults = [fault for fault in node_suite.faults(results) if REFUSED not in fault.detail]
    assert not faults, node_suite.summary(faults, by_operator=False)


@pytest.mark.parametrize("sizes", [SMALL, LARGE], ids=["small", "large"])
def test_an_example_computes_the_same(example, sizes) -> None:
    model = onnx.load(example)
    better = tangram.optimize(example)
    written = better.to_onnx()
    onnx.checker.check_model(written, full_check=True)
    assert oracle.interface(written) == oracle.interface(model)
    inputs = oracle.random_inputs(model, {**sizes, "steps": 3}, given=given(model))
    assert oracle.same(oracle.run_ort(written, inputs), oracle.run_ort(model, inputs))
    assert better.report.nodes_after <= BEST_PEER[example.stem]


def test_what_no_rule_touches_comes_out_as_it_came_in(example) -> None:
    model = onnx.load(example)
    same = tangram.Workload.from_onnx(example).to_onnx()
    for part in (computing, constants, initializers):
        assert part(same.graph) == part(model.graph)
    assert (same.graph.input, same.graph.output) == (model.graph.input, model.graph.output)
    assert same.metadata_props == model.metadata_props


def computing(graph: onnx.GraphProto) -> list[onnx.NodeProto]:
    return [node for node in graph.node if node.op_type != "Constant"]


def constants(graph: onnx.GraphProto) -> list[onnx.NodeProto]:
    """Constants come where they are first used."""
    found = [node for node in graph.node if node.op_type == "Constant"]
    return sorted(found, key=lambda node: node.output[0])


def initializers(graph: onnx.GraphProto) -> list[onnx.TensorProto]:
    """Their order means nothing."""
    return sorted(graph.initializer, key=lambda tensor: tensor.name)


def test_optimising_again_changes_nothing(example) -> None:
    once = tangram.optimize(example)
    assert tangram.optimize(once.to_bytes()).to_onnx() == once.to_onnx()


# Each of them ran, and was fused into an operator that onnxruntime has not for this type.
FUSED = {
    "integers": """g (int64[1,4] x, int64[4,3] w) => (int64[1,3] y) <int64[1,3] k = {1, 2, 3}>
        { p = MatMul (x, w)  y = Add (k, p) }""",
    "doubles": """g (double[2,3] x) => (double[2,3] y) <double a = {3}, double b = {0}, double c = {6}>
        { s = Add (x, a)  t = Clip (s, b, c)  y = Div (t, c) }""",
}


@pytest.mark.parametrize("name", FUSED)
def test_what_ran_runs(name: str) -> None:
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> {FUSED[name]}')
    rng = np.random.default_rng(3)
    data = {}
    for value in model.graph.input:
        dtype = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
        data[value.name] = rng.integers(-9, 9, shape).astype(dtype)
    optimised = optimise(model.SerializeToString())
    assert oracle.same(oracle.run_ort(optimised, data), oracle.run_ort(model, data))


@pytest.mark.parametrize("form", ["path", "str", "bytes", "proto", "workload"])
def test_a_model_comes_in_any_form(root, form: str) -> None:
    path = root / "examples/models/cnn.onnx"
    forms = {
        "path": path,
        "str": str(path),
        "bytes": path.read_bytes(),
        "proto": onnx.load(path),
        "workload": tangram.Workload.from_onnx(path),
    }
    better = tangram.optimize(forms[form])
    assert better.report.fired["conv-batch-norm"] == 5
    assert "BatchNormalization" not in {node.op_type for node in better.to_onnx().graph.node}


def test_a_rule_of_ones_own_is_applied(root) -> None:
    rule = """
    /// Drops relu, which is wrong, and shows in the result.
    rule drop-relu { let x = *; match relu(x); rewrite x; }
    """
    path = root / "examples/models/cnn.onnx"
    kept = tangram.optimize(path, library=False)
    changed = tangram.optimize(path, rules=rule, library=False)
    assert changed.report.fired["drop-relu"] > 0
    assert "Relu" in {node.op_type for node in kept.to_onnx().graph.node}
    assert "Relu" not in {node.op_type for node in changed.to_onnx().graph.node}


def test_rules_are_switched_off_by_name_and_label(root) -> None:
    path = root / "examples/models/cnn.onnx"
    assert "conv-batch-norm" not in tangram.optimize(path, disable=["conv-batch-norm"]).report.fired
    assert "conv-batch-norm" not in tangram.optimize(path, disable=["fuse"]).report.fired
    only = tangram.optimize(path, only=["conv-batch-norm"]).report.fired
    assert set(only) == {"conv-batch-norm"}
    with pytest.raises(tangram.RuleError, match="`no-such-rule`"):
        tangram.optimize(path, disable=["no-such-rule"])


@pytest.mark.parametrize("seconds", [-1.0, float("nan")])
def test_seconds_are_a_number_from_0_on(root, seconds: float) -> None:
    with pytest.raises(ValueError, match="`max_seconds` must be a number of seconds, 0 or more"):
        tangram.optimize(root / "examples/models/cnn.onnx", max_seconds=seconds)


def test_saving_writes_a_file_that_loads(root, tmp_path) -> None:
    better = tangram.optimize(root / "examples/models/transformer.onnx")
    better.save(tmp_path / "better.onnx")
    assert onnx.load(tmp_path / "better.onnx") == better.to_onnx()


def test_errors_are_exceptions_that_say_where(root, tmp_path) -> None:
    with pytest.raises(FileNotFoundError, match="missing.onnx"):
        tangram.optimize(tmp_path / "missing.onnx")
    with pytest.raises(tangram.ModelError):
        tangram.optimize(b"no model")
    with pytest.raises(tangram.RuleError, match="expected"):
        tangram.optimize(root / "examples/models/cnn.onnx", rules="rule broken {")
    with pytest.raises(TypeError, match="unknown: \\['nothing'\\]"):
        tangram.Workload.from_onnx(root / "examples/models/cnn.onnx")(nothing=np.zeros(1))
