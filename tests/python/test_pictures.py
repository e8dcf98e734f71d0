"""Pictures of models name what the file names: operators, nodes, weights."""

from __future__ import annotations

import pathlib
import subprocess
import xml.etree.ElementTree as ET

import onnx

SVG = "{http://www.w3.org/2000/svg}"


def test_boxes_have_the_names_of_the_file(tangram_bin: pathlib.Path, example: pathlib.Path) -> None:
    """Each named node is drawn once under its operator, with all its weights at hand."""
    words = [tangram_bin, "show", "--format", "svg", "--unfold", example]
    printed = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    drawing = ET.fromstring(printed)
    boxes = {}
    for one in drawing.iter(f"{SVG}text"):
        if (name := one.findtext(f"{SVG}tspan")) is not None:
            assert name not in boxes
            boxes[name] = (one.text or "").strip()
    titles = "\n".join(one.text or "" for one in drawing.iter(f"{SVG}title"))
    graph = onnx.load(example, load_external_data=False).graph
    drawn = {node.name: node for node in graph.node if node.op_type != "Constant" and node.name}
    assert boxes == {name: node.op_type for name, node in drawn.items()}
    weights = {tensor.name for tensor in graph.initializer if len(tensor.dims) > 1}
    read = {weight for node in drawn.values() for weight in node.input if weight in weights}
    assert all(f"{weight} " in titles for weight in read)
