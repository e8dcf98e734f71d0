"""Networks with parallel branches, as exporters wrote them."""

from __future__ import annotations

import pathlib

import numpy as np
import onnx
import onnx.backend.test
from onnx import numpy_helper

LIGHT = pathlib.Path(onnx.backend.test.__file__).parent / "data" / "light"


def light(name: str) -> onnx.ModelProto:
    """A network that the onnx package ships for its backend tests, with random weights.

    It comes with weights that are all alike and computed by nodes: merging them in the wrong
    order would go unseen.
    """
    model = onnx.load(LIGHT / f"{name}.onnx")
    graph = model.graph
    shapes = {w.name: numpy_helper.to_array(w) for w in graph.initializer}
    rng = np.random.default_rng(3)
    nodes, weights = [], []
    for node in graph.node:
        if node.op_type != "ConstantOfShape" or node.input[0] not in shapes:
            nodes.append(node)
            continue
        shape = [int(n) for n in shapes[node.input[0]]]
        fan = max(1, int(np.prod(shape[1:])))
        values = rng.normal(size=shape) / np.sqrt(fan) if len(shape) > 1 else rng.uniform(0.5, 1.5, shape)
        weights.append(numpy_helper.from_array(values.astype(np.float32), node.output[0]))
    del graph.node[:]
    graph.node.extend(nodes)
    used = {name for node in nodes for name in node.input}
    kept = [w for w in graph.initializer if w.name in used]
    inputs = [value for value in graph.input if value.name not in shapes]
    del graph.initializer[:], graph.input[:]
    graph.initializer.extend([*kept, *weights])
    graph.input.extend(inputs)
    model.ir_version = 8
    onnx.checker.check_model(model)
    return model
