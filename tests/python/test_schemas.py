"""What is written keeps to the schemas of its own operator set."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import small
from conftest import ROOT


def test_the_table_says_what_the_installed_onnx_says() -> None:
    script = [sys.executable, ROOT / "python" / "generate_schemas.py", "--check"]
    ran = subprocess.run(script, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("opset", range(11, 24))
@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_sizes_that_are_computed_give_a_resize_of_the_same_operator_set(
    tangram_bin, tmp_path, opset, mode
) -> None:
    roi, empty = ("roi", "none") if opset < 13 else ("", "")
    nodes = [
        helper.make_node("Concat", ["head", "tail"], ["sizes"], axis=0),
        helper.make_node("Resize", ["x", roi, empty, "sizes"], ["y"], mode=mode),
    ]
    weights = {"head": np.array([1, 2]), "tail": np.array([8, 6])}
    weights |= {name: np.array([], np.float32) for name in (roi, empty) if name}
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "g",
        [value("x", TensorProto.FLOAT, [1, 2, 4, 3])],
        [value("y", TensorProto.FLOAT, [1, 2, 8, 6])],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=7)
    onnx.checker.check_model(model, full_check=True)
    found, _ = small.Command(tangram_bin, tmp_path).optimise(model, "--check")
    assert small.operators(found) == ["Resize"]
    onnx.checker.check_model(found, full_check=True)


def test_an_operator_set_that_is_not_known_is_refused_and_says_which_are(
    tangram_bin, tmp_path
) -> None:
    command = small.Command(tangram_bin, tmp_path)
    onnx.save(small.model("(float[2] x) => (float[2] y) { y = Relu(x) }"), tmp_path / "m.onnx")
    said = command.run("opt", "m.onnx", "-o", "o.onnx", "--opset", "99", code=2).stderr
    newest = onnx.defs.onnx_opset_version()
    assert f"7 to {newest}" in said and "17" in said and said.count("m.onnx") == 1
    assert not (tmp_path / "o.onnx").exists()


@pytest.mark.parametrize(
    ("node", "why"),
    [
        ("y = Softmax(x, more)", "2 inputs"),
        ("y = Transpose<perm = [0]>(x, more)", "2 inputs"),
        ("y, z = Relu(x)", "2 outputs"),
        ("y = BatchNormalization(x)", "1 input,"),
        ("y = Resize<axes = 7>(x, , more)", "another kind"),
    ],
)
def test_a_node_that_its_operator_does_not_take_is_carried_along(tangram_bin, tmp_path, node, why) -> None:
    # What it has beyond its operator was forgotten when it was read, and missing when it was written.
    text = f"(float[2] x) => (float[?] y) {{ three = Relu(x) more = Shape(three) {node} }}"
    model = small.model(text, opset=18)
    onnx.save(model, tmp_path / "m.onnx")
    command = [tangram_bin, "opt", "m.onnx", "-o", "o.onnx"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    assert "defect" not in said, said
    assert "carried along unchanged" in said and why in said, said
    if done.returncode == 0:
        found = onnx.load(tmp_path / "o.onnx").graph
        known = {x.name for x in [*found.input, *found.initializer]} | {o for n in found.node for o in n.output}
        used = {name for n in found.node for name in n.input if name}
        assert used <= known
