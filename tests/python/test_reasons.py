"""Why operations are not compiled: every one that is not has a reason, and the right one."""

from __future__ import annotations

import json
import pathlib
import subprocess

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import random_models
import tangram

EXAMPLES = sorted((pathlib.Path(__file__).resolve().parents[2] / "examples" / "models").glob("*.onnx"))


def model(nodes: list, inputs: list, outputs: list) -> onnx.ModelProto:
    """A model of operator set 18."""
    value = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "g", [value(*one) for one in inputs], [value(*one) for one in outputs])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def places(x: tuple = (4,)) -> onnx.ModelProto:
    """How many places it gives depends on data."""
    return model([helper.make_node("NonZero", ["x"], ["y"])],
                 [("x", TensorProto.FLOAT, x)], [("y", TensorProto.INT64, None)])


def words() -> onnx.ModelProto:
    """Strings."""
    return model([helper.make_node("Identity", ["x"], ["t"]), helper.make_node("Concat", ["t", "x"], ["y"], axis=0)],
                 [("x", TensorProto.STRING, (2,))], [("y", TensorProto.STRING, None)])


def unranked() -> onnx.ModelProto:
    """Nothing says how many dimensions the operand has."""
    return model([helper.make_node("Relu", ["x"], ["y"])],
                 [("x", TensorProto.FLOAT, None)], [("y", TensorProto.FLOAT, None)])


def counted(session: tangram.InferenceSession) -> None:
    """Checks that each operation has as many reasons as it is not compiled."""
    for name, count in session.coverage().items():
        assert sum(count.reasons.values()) == count.reference, (name, count)


@pytest.mark.parametrize("make, operation, said", [
    (places, "nn.nonzero", "result 0 has no place in memory: its type or extents are not known"),
    (words, "nn.concatenate", "elements of type str are not compiled"),
    (unranked, "nn.relu", "result 0 has no place in memory: its type or extents are not known"),
])
def test_a_reason_names_what_is_in_the_way(make, operation, said) -> None:
    """Each class of reasons, by a model that has it."""
    count = tangram.InferenceSession(make()).coverage()[operation]
    assert (count.compiled, count.reference, count.reasons) == (0, 1, {said: 1})


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_operation_of_an_example_is_compiled_or_has_a_reason(path) -> None:
    """The examples hold control flow, layers and text."""
    counted(tangram.InferenceSession(str(path)))


def test_every_operation_of_a_random_model_is_compiled_or_has_a_reason() -> None:
    """Random models of any operators."""
    for seed in range(12):
        counted(tangram.InferenceSession(random_models.Grower(seed).model(8).SerializeToString()))


def test_commands_give_the_reason(tangram_bin, tmp_path) -> None:
    """`compile` in its error, `run` in its profile and as JSON."""
    path = tmp_path / "places.onnx"
    onnx.save(places(), path)
    np.save(tmp_path / "x.npy", np.float32([0, 1, 0, 2]))
    said = "result 0 has no place in memory: its type or extents are not known"
    compiled = subprocess.run([tangram_bin, "compile", path, "-o", tmp_path / "m.so"], capture_output=True, text=True)
    assert compiled.returncode == 2 and said in compiled.stderr
    command = [tangram_bin, "run", path, "--input", tmp_path / "x.npy"]
    shown = subprocess.run([*command, "--profile"], capture_output=True, text=True, check=True)
    assert f"not compiled: 1 nn.nonzero: {said}" in shown.stdout
    data = json.loads(subprocess.run([*command, "--json"], capture_output=True, check=True).stdout)
    assert data["reasons"] == {"nn.nonzero": {said: 1}}
