"""What differs between two models is seen: no two equal lines, and no change that goes unsaid."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import small

LONG = list(range(100, 160))


def changed(values: list, at: int, to) -> list:
    return [*values[:at], to, *values[at + 1:]]


def encoder(**attributes) -> onnx.ModelProto:
    """A node with attributes of any kind; nobody runs it."""
    node = helper.make_node("LabelEncoder", ["x"], ["y"], domain="ai.onnx.ml", **attributes)
    ends = [helper.make_tensor_value_info(name, TensorProto.INT64, [2]) for name in "xy"]
    graph = helper.make_graph([node], "g", ends[:1], ends[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 4)])


def tensor(*values: float) -> onnx.TensorProto:
    return numpy_helper.from_array(np.array(values, np.float32))


# An attribute, what becomes of it, and how the difference is told.
ATTRIBUTES = {
    "strings": (["a", "b"], ["a", "c"], 'keys=["a", "c"]'),
    "floats": ([0.5, 1.5], [0.5, 2.5], "keys=[0.5, 2.5]"),
    "long integers": (LONG, changed(LONG, 39, 7), "keys[39]: 139 became 7"),
    "long strings": ([f"s{n}" for n in LONG], changed([f"s{n}" for n in LONG], 50, "t"), 'keys[50]: "s150" became "t"'),
    "more": (LONG, [*LONG, 160], "keys: 60 elements became 61"),
    "tensor": (tensor(1, 2), tensor(1, 3), "keys: other contents"),
    "tensors": ([tensor(1), tensor(2)], [tensor(1), tensor(3)], "keys: other contents"),
}


@pytest.mark.parametrize("kind", ATTRIBUTES)
def test_attributes_that_differ_are_told_apart(tangram_bin, tmp_path, kind) -> None:
    before, after, told = ATTRIBUTES[kind]
    printed = difference(tangram_bin, tmp_path, encoder(keys=before), encoder(keys=after))
    assert told in printed and "1 changed" in printed
    lines = [line[2:] for line in printed.splitlines() if line[:1] in "+-"]
    assert lines[0] != lines[1] or any(line.startswith("  keys") for line in printed.splitlines())


def test_weights_of_one_name_and_other_elements_are_a_change(tangram_bin, tmp_path) -> None:
    body = "(float[2, 3] x) => (float[2, 4] y) { m = MatMul(x, w)  r = Relu(m)  y = Add(r, c) }"
    row = np.ones(4, np.float32)
    before, after = (small.model(body, weights={"w": np.full((3, 4), n, np.float32), "c": row}) for n in (1, 2))
    printed = difference(tangram_bin, tmp_path, before, after)
    assert "  w: other elements" in printed and "2 nodes are the same, 0 removed, 0 added, 1 changed" in printed
    assert "0 changed" in difference(tangram_bin, tmp_path, before, before)


def difference(binary, folder, before: onnx.ModelProto, after: onnx.ModelProto) -> str:
    """What `tangram diff` prints."""
    for name, model in (("a.onnx", before), ("b.onnx", after)):
        onnx.save(model, folder / name)
    command = small.Command(binary, folder)
    code = 0 if before is after else 1
    return command.run("diff", "a.onnx", "b.onnx", code=code).stdout
