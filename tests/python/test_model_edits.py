"""Sizes of inputs and parts of models, as the command and Python give them; onnxruntime judges."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import tangram
from conftest import EXAMPLES


def run(model: onnx.ModelProto, **feed) -> list[np.ndarray]:
    """The outputs under onnxruntime, by its own reading of the model."""
    onnx.checker.check_model(model, full_check=True)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    return session.run(None, feed)


def shape(value: onnx.ValueInfoProto) -> list[object]:
    return [d.dim_param or d.dim_value for d in value.type.tensor_type.shape.dim]


def dynamic() -> onnx.ModelProto:
    """A network that computes its own shapes, with a branch, a loop's worth of names, and a weight."""
    weight = numpy_helper.from_array(np.arange(12, dtype=np.float32).reshape(3, 4), "w")
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["m"]),
        helper.make_node("Shape", ["m"], ["s"]),
        helper.make_node("Gather", ["s", "zero"], ["n"]),
        helper.make_node("Unsqueeze", ["n", "axes"], ["n1"]),
        helper.make_node("Concat", ["n1", "rest"], ["to"], axis=0),
        helper.make_node("Reshape", ["m", "to"], ["flat"]),
        helper.make_node("Relu", ["flat"], ["r"]),
        helper.make_node("Add", ["r", "mask"], ["y"]),
        helper.make_node("Neg", ["y"], ["z"]),
    ]
    constants = [
        numpy_helper.from_array(np.array(0, np.int64), "zero"),
        numpy_helper.from_array(np.array([0], np.int64), "axes"),
        numpy_helper.from_array(np.array([-1], np.int64), "rest"),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", "seq", 3])
    mask = helper.make_tensor_value_info("mask", TensorProto.FLOAT, ["batch", "seq * 4"])
    outs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["batch", None]) for n in "yz"]
    graph = helper.make_graph(nodes, "dynamic", [x, mask], outs, [weight, *constants])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


FEED = {
    "x": np.linspace(-1, 1, 2 * 5 * 3, dtype=np.float32).reshape(2, 5, 3),
    "mask": np.linspace(0, 1, 40, dtype=np.float32).reshape(2, 20),
}


@pytest.mark.parametrize("how", [{"dim": {"batch": 2, "seq": 5}}, {"input_shape": {"x": [2, 5, 3]}}])
def test_sizes_are_fixed_wherever_their_names_stand(how) -> None:
    model = tangram.optimize(dynamic(), **how).to_onnx()
    assert shape(model.graph.input[0]) == [2, 5, 3] and shape(model.graph.input[1])[0] == 2
    # What computed shapes is gone, which is what fixing them is for.
    assert not {"Shape", "Gather", "Concat"} & {node.op_type for node in model.graph.node}
    for a, b in zip(run(dynamic(), **FEED), run(model, **FEED), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_some_extents_stay_open() -> None:
    model = tangram.optimize(dynamic(), input_shape={"x": [2, None, 3]}).to_onnx()
    assert shape(model.graph.input[0]) == [2, "seq", 3]
    assert [a.shape for a in run(model, **FEED)] == [a.shape for a in run(dynamic(), **FEED)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"input_shape": {"x": [2, 5, 4]}}, r"\[batch, seq, 3\], which cannot be \[2, 5, 4\]"),
        ({"input_shape": {"x": [2, 5]}}, "cannot be"),
        ({"input_shape": {"nope": [1]}}, "there are `x`, `mask`"),
        ({"input_shape": {"x": [2, 5, 3], "mask": [3, 20]}}, "`batch` would be 2 and 3"),
        ({"dim": {"bacth": 1}}, "there are `batch`, `seq`"),
        ({"outputs": ["nope"]}, "no value of the graph is named `nope`"),
        ({"inputs": ["x"], "outputs": ["y"]}, "`y` needs the input `mask`"),
    ],
)
def test_what_cannot_be_is_said(options, message) -> None:
    with pytest.raises(tangram.ModelError, match=message):
        tangram.optimize(dynamic(), **options)


def test_a_part_is_extracted() -> None:
    part = tangram.optimize(dynamic(), inputs=["m", "mask"], outputs="y").to_onnx()
    assert [v.name for v in part.graph.input] == ["m", "mask"] and [v.name for v in part.graph.output] == ["y"]
    assert "w" not in {tensor.name for tensor in part.graph.initializer}
    m = np.matmul(FEED["x"], np.arange(12, dtype=np.float32).reshape(3, 4))
    np.testing.assert_allclose(run(part, m=m, mask=FEED["mask"])[0], run(dynamic(), **FEED)[0], rtol=1e-6)
    # Outputs alone: inputs that they do not need go away.
    head = tangram.optimize(dynamic(), outputs=["r"]).to_onnx()
    assert [v.name for v in head.graph.input] == ["x"]
    assert run(head, x=FEED["x"])[0].min() >= 0


def middle(model: onnx.ModelProto) -> list[str]:
    """Values between nodes of the main graph, from early to late."""
    made = [name for node in model.graph.node for name in node.output if name]
    return made[:: max(1, len(made) // 6)]


def inputs_of(session: onnxruntime.InferenceSession) -> dict[str, np.ndarray]:
    random, feed = np.random.default_rng(0), {}
    kinds = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(int64)": np.int64}
    for value in session.get_inputs():
        if value.type not in kinds:
            pytest.skip(f"inputs of {value.type}")
        extents = [d if isinstance(d, int) else 3 for d in value.shape]
        numbers = random.uniform(-1, 1, extents) if "float" in value.type else random.integers(0, 2, extents)
        feed[value.name] = numbers.astype(kinds[value.type])
    return feed


def test_every_cut_of_the_examples_computes_what_the_model_does(example) -> None:
    """The part before a value and the part behind it, one after the other, are the model."""
    whole = onnx.load(example)
    exposed = onnx.load(example)
    known = {v.name for v in exposed.graph.output}
    cuts = [name for name in middle(whole) if name not in known]
    exposed.graph.output.extend(onnx.ValueInfoProto(name=name) for name in cuts)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(exposed.SerializeToString(), options)
    feed = inputs_of(session)
    names = [value.name for value in session.get_outputs()]
    expected = dict(zip(names, session.run(None, feed), strict=True))
    for cut in cuts:
        part = tangram.optimize(whole, outputs=[cut], exact=True, opset=None).to_onnx()
        # Old models list their weights among the inputs.
        used = {v.name: feed[v.name] for v in part.graph.input if v.name in feed}
        (found,) = run(part, **used)
        np.testing.assert_allclose(
            np.asarray(found, np.float64), np.asarray(expected[cut], np.float64), rtol=2e-3, atol=2e-3
        )


def test_the_command_does_the_same(tangram_bin, tmp_path) -> None:
    onnx.save(dynamic(), tmp_path / "m.onnx")

    def opt(*words: str, code: int = 0) -> str:
        line = [tangram_bin, "opt", tmp_path / "m.onnx", "-o", tmp_path / "o.onnx", *words]
        ran = subprocess.run(line, capture_output=True, text=True)
        assert ran.returncode == code, ran.stdout + ran.stderr
        return ran.stderr

    for words in (["--input-shape", "x:2,5,3"], ["--dim", "batch=2", "--dim", "seq=5"]):
        opt(*words, "--check")
        assert shape(onnx.load(tmp_path / "o.onnx").graph.input[0]) == [2, 5, 3]
    opt("--input-shape", "x:?,5,3")
    assert shape(onnx.load(tmp_path / "o.onnx").graph.input[0]) == ["batch", 5, 3]
    opt("--inputs", "m,mask", "--outputs", "y", "--check")
    assert [v.name for v in onnx.load(tmp_path / "o.onnx").graph.input] == ["m", "mask"]
    assert "there are `x`, `mask`" in opt("--input-shape", "2,5,3", code=2)
    assert "above 0" in opt("--dim", "batch=0", code=2)
    words = [sys.executable, "-m", "tangram", "opt", tmp_path / "m.onnx", "-o", tmp_path / "out.onnx"]
    ran = subprocess.run([*words, "--dim", "batch=2", "--outputs", "r"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert shape(onnx.load(tmp_path / "out.onnx").graph.input[0]) == [2, "seq", 3]


def test_a_model_is_summed_up(tangram_bin, tmp_path) -> None:
    onnx.save(dynamic(), tmp_path / "m.onnx")
    said = subprocess.run([tangram_bin, "show", tmp_path / "m.onnx"], capture_output=True, text=True, check=True).stdout
    for word in ("batch, seq, 3", "MatMul", "parameters", "dynamic", "ai.onnx 17"):
        assert word in said, said
    found = tangram.summary(dynamic())
    words = [tangram_bin, "show", tmp_path / "m.onnx", "--format", "json"]
    assert json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout) == found.data
    assert found.nodes == 9 and found.parameters == 12 + 3 and "batch" in found.symbols
    assert "MatMul" in found._repr_html_()


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_summary_counts_as_onnx_does(path) -> None:
    model = onnx.load(path)
    found = tangram.summary(path)
    numbers = sum(int(np.prod(tensor.dims)) for tensor in model.graph.initializer)
    assert found.parameters >= numbers
    assert [port["name"] for port in found.data["outputs"]] == [value.name for value in model.graph.output]


def test_a_check_finds_where_a_difference_begins(tangram_bin, tmp_path) -> None:
    assert tangram.check(dynamic(), tangram.optimize(dynamic()).to_onnx(), runs=4)
    wrong = dynamic()
    wrong.graph.node[6].op_type = "Elu"
    found = tangram.check(dynamic(), wrong)
    assert not found and found.begins == "r" and found.difference > 1e-3
    assert len({str(sizes) for sizes in found.data["runs"]}) == 3, "other sizes in each run"
    for name, model in (("a", dynamic()), ("b", wrong)):
        onnx.save(model, tmp_path / f"{name}.onnx")
    words = [tangram_bin, "check", tmp_path / "a.onnx", tmp_path / "b.onnx"]
    ran = subprocess.run(words, capture_output=True, text=True)
    assert ran.returncode == 1 and "it begins at `r`" in ran.stdout, ran.stdout + ran.stderr
    assert subprocess.run([*words[:3], words[2]], capture_output=True).returncode == 0
    # Inputs in another order are the same model.
    turned = dynamic()
    first, second = list(turned.graph.input)
    del turned.graph.input[:]
    turned.graph.input.extend([second, first])
    assert tangram.check(dynamic(), turned)


def test_a_difference_of_models_names_the_nodes(tangram_bin, tmp_path) -> None:
    assert not tangram.diff(dynamic(), dynamic())
    renamed = dynamic()
    for node in renamed.graph.node:
        node.name = f"other_{node.output[0]}"
        for names in (node.input, node.output):
            names[:] = [f"v_{n}" if n in ("m", "s", "n", "flat", "r") else n for n in names]
    assert not tangram.diff(dynamic(), renamed), "names of values inside are no difference"
    other = dynamic()
    other.graph.node[6].op_type = "Elu"
    found = tangram.diff(dynamic(), other)
    assert [pair["before"]["operator"] for pair in found.data["changed"]] == ["Relu"]
    assert found.data["same"] == 8 and not found.data["added"] and not found.data["removed"]
    shorter = dynamic()
    del shorter.graph.node[6]
    shorter.graph.node[6].input[0] = "flat"
    found = tangram.diff(dynamic(), shorter)
    gone = [node["operator"] for node in found.data["removed"]]
    assert gone == ["Relu"] and "Relu: 1 -> 0" in str(found), str(found)
    onnx.save(dynamic(), tmp_path / "a.onnx")
    onnx.save(shorter, tmp_path / "b.onnx", save_as_external_data=True, size_threshold=0, location="w")
    words = [tangram_bin, "diff", tmp_path / "a.onnx", tmp_path / "b.onnx"]
    ran = subprocess.run(words, capture_output=True, text=True)
    assert ran.returncode == 1 and "- r = Relu(flat)" in ran.stdout
    told = json.loads(subprocess.run([*words, "--json"], capture_output=True, text=True).stdout)
    assert told == found.data, "weights in another file are the same weights"
    assert subprocess.run([*words[:3], words[2]], capture_output=True).returncode == 0
