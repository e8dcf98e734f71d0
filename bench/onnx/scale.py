"""Writes generated models of any size, for measuring how time grows with the graph.

    python bench/onnx/scale.py NODES OUT [--seed S]

The model is a stack of small units, each with work for rules of every kind: chains of
transposes, identities, shape computations that fold, equal subexpressions, dead nodes, and
batch norms behind convolutions. A unit does not depend on how many there are, so that work per
node stays the same at every size. Weights are shared: the file grows with the nodes alone.
"""

from __future__ import annotations

import argparse
import pathlib
import random

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

CHANNELS = 4


class Stack:
    """Nodes in order; every unit takes the value of the one before."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.nodes: list[onnx.NodeProto] = []

    def node(self, operator: str, *inputs: str, **attributes) -> str:
        """Adds a node with one output; gives its name."""
        result = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [result], **attributes))
        return result

    def unit(self, x: str) -> str:
        """Adds one unit, drawn by the seed."""
        return self.random.choice(UNITS)(self, x)


def transposes(s: Stack, x: str) -> str:
    """Two transposes that undo each other around an activation."""
    y = s.node("Relu", s.node("Transpose", x, perm=[0, 2, 3, 1]))
    return s.node("Transpose", y, perm=[0, 3, 1, 2])


def norm(s: Stack, x: str) -> str:
    """A convolution, its batch norm, and an identity."""
    y = s.node("Conv", x, "weight", kernel_shape=[1, 1])
    y = s.node("BatchNormalization", y, "scale", "shift", "mean", "variance")
    return s.node("Identity", y)


def twins(s: Stack, x: str) -> str:
    """One expression computed twice, and a result that nobody reads."""
    s.node("Exp", x)
    return s.node("Add", s.node("Tanh", x), s.node("Tanh", x))


def reshaped(s: Stack, x: str) -> str:
    """A reshape to the shape that the value has already."""
    return s.node("Reshape", x, s.node("Shape", x))


def neutral(s: Stack, x: str) -> str:
    """Arithmetic that changes nothing."""
    return s.node("Mul", s.node("Add", x, "zero"), "one")


def residual(s: Stack, x: str) -> str:
    """A skip connection that has to stay."""
    y = s.node("Sigmoid", s.node("Conv", x, "weight", kernel_shape=[1, 1]))
    return s.node("Add", s.node("Mul", x, y), x)


UNITS = (transposes, norm, twins, reshaped, neutral, residual)


def build(count: int, seed: int = 0) -> onnx.ModelProto:
    """Builds a model of exactly `count` nodes."""
    stack = Stack(seed)
    x = "x"
    while len(stack.nodes) + 8 < count:
        x = stack.unit(x)
    while len(stack.nodes) + 1 < count:
        x = stack.node("Neg", x)
    stack.nodes.append(helper.make_node("Softmax", [x], ["y"], axis=1))
    shape = ["N", CHANNELS, "H", "W"]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        stack.nodes,
        f"scale_{count}",
        [value("x", TensorProto.FLOAT, shape)],
        [value("y", TensorProto.FLOAT, shape)],
        weights(seed),
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    return model


def weights(seed: int) -> list[onnx.TensorProto]:
    """Makes the weights that all units share."""
    rng = np.random.default_rng(seed)
    arrays = {
        "weight": rng.standard_normal((CHANNELS, CHANNELS, 1, 1)) * 0.5,
        "scale": rng.uniform(0.5, 1.5, CHANNELS),
        "shift": rng.standard_normal(CHANNELS) * 0.1,
        "mean": rng.standard_normal(CHANNELS) * 0.1,
        "variance": rng.uniform(0.5, 1.5, CHANNELS),
        "zero": np.zeros(1),
        "one": np.ones(1),
    }
    return [numpy_helper.from_array(a.astype(np.float32), name) for name, a in arrays.items()]


def main() -> None:
    """Writes one model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("nodes", type=int)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    content = build(arguments.nodes, arguments.seed).SerializeToString(deterministic=True)
    arguments.out.write_bytes(content)
    print(f"{arguments.out}: {arguments.nodes} nodes, {len(content) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
