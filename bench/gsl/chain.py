"""Models for the rule benchmark: chains in which every rule has work, at any size."""

from __future__ import annotations

import pathlib
import random
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHANNELS = 4
# Inference of types takes too long for larger chains.
MOST_TYPED = 100_000


class Chain:
    """Nodes in order; every unit takes the value of the one before and keeps its type."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def weight(self, *shape: int, low: float = -1.0) -> str:
        """Adds a weight of its own; some rules of the peer leave shared ones alone."""
        count = int(np.prod(shape))
        values = np.array([self.random.uniform(low, 1.5) for _ in range(count)], np.float32)
        self.weights.append(numpy_helper.from_array(values.reshape(shape), f"w{len(self.weights)}"))
        return self.weights[-1].name

    def node(self, operator: str, *inputs: str, outputs: int = 1, **attributes):
        """Adds a node; gives the name of its output, or of all."""
        names = [f"v{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(operator, inputs, names, **attributes))
        return names[0] if outputs == 1 else names


def transposes(c: Chain, x: str) -> str:
    """Two transposes that are one."""
    y = c.node("Transpose", x, perm=[0, 2, 3, 1])
    return c.node("Transpose", c.node("Tanh", c.node("Transpose", y, perm=[0, 3, 1, 2])), perm=[0, 1, 2, 3])


def relus(c: Chain, x: str) -> str:
    """One activation twice, and one that stands alone."""
    return c.node("Cos", c.node("Relu", c.node("Relu", x)))


def clips(c: Chain, x: str) -> str:
    """Two ranges that are one."""
    return c.node("Tanh", c.node("Clip", c.node("Clip", x, "low", "high"), "lower", "higher"))


def unsqueezes(c: Chain, x: str) -> str:
    """Two new dimensions, which go again."""
    y = c.node("Unsqueeze", c.node("Unsqueeze", x, "axis0"), "axis1")
    return c.node("Squeeze", y, "axes01")


def reshapes(c: Chain, x: str) -> str:
    """Two reshapes that are one."""
    y = c.node("Reshape", c.node("Reshape", x, "flat"), "matrix")
    return c.node("Reshape", c.node("Sigmoid", y), "full")


def norm(c: Chain, x: str) -> str:
    """A convolution and its batch norm."""
    y = c.node("Conv", x, c.weight(CHANNELS, CHANNELS, 1, 1), kernel_shape=[1, 1])
    statistics = [c.weight(CHANNELS, low=0.5) for _ in range(4)]
    return c.node("BatchNormalization", y, *statistics)


def gelu(c: Chain, x: str) -> str:
    """Five nodes that are one operation."""
    y = c.node("Add", c.node("Erf", c.node("Div", x, "root2")), "one")
    return c.node("Mul", c.node("Mul", x, y), "half")


def branches(c: Chain, x: str) -> str:
    """Two convolutions of one value."""
    y = c.node("Conv", x, "weight", kernel_shape=[1, 1])
    return c.node("Add", y, c.node("Conv", x, "weight2", kernel_shape=[1, 1]))


def residual(c: Chain, x: str) -> str:
    """Nothing for any rule."""
    y = c.node("Sigmoid", c.node("Conv", x, "weight", kernel_shape=[1, 1]))
    return c.node("Sub", c.node("Mul", x, y), x)


UNITS = (
    transposes, relus, clips, unsqueezes, reshapes, norm, gelu, branches, residual, residual,
)


def chain(count: int, seed: int = 0) -> onnx.ModelProto:
    """A chain of exactly `count` nodes."""
    c, x = Chain(seed), "x"
    while len(c.nodes) + 7 < count:
        x = c.random.choice(UNITS)(c, x)
    while len(c.nodes) + 1 < count:
        x = c.node("Neg", x)
    c.nodes.append(helper.make_node("Identity", [x], ["y"]))
    shape = [2, CHANNELS, 6, 6]
    value = helper.make_tensor_value_info
    ends = [[value(name, TensorProto.FLOAT, shape)] for name in "xy"]
    graph = helper.make_graph(c.nodes, f"chain_{count}", *ends, weights(seed, shape) + c.weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])
    model.ir_version = 9
    # The peer reads types of what is declared alone.
    return onnx.shape_inference.infer_shapes(model) if count <= MOST_TYPED else model


def weights(seed: int, shape: list[int]) -> list[onnx.TensorProto]:
    """The constants that all units share."""
    rng = np.random.default_rng(seed)
    floats = {
        "weight": rng.standard_normal((CHANNELS, CHANNELS, 1, 1)) * 0.5,
        "weight2": rng.standard_normal((CHANNELS, CHANNELS, 1, 1)) * 0.5,
        "low": np.array(-2.0), "high": np.array(2.0), "lower": np.array(-3.0), "higher": np.array(1.0),
        "root2": np.array(2.0**0.5), "one": np.array(1.0), "half": np.array(0.5),
    }
    batch, channels, height, width = shape
    ints = {
        "axis0": [0], "axis1": [1], "axes01": [0, 1],
        "flat": [batch, channels, height * width], "matrix": [batch * channels, height * width], "full": shape,
    }
    arrays = {name: value.astype(np.float32) for name, value in floats.items()}
    arrays |= {name: np.array(value, np.int64) for name, value in ints.items()}
    return [numpy_helper.from_array(np.asarray(value), name) for name, value in arrays.items()]


def transformer() -> onnx.ModelProto:
    """The transformer of the examples."""
    return onnx.load(ROOT / "examples" / "models" / "transformer.onnx")


if __name__ == "__main__":
    onnx.save(chain(int(sys.argv[1])), sys.argv[2])
