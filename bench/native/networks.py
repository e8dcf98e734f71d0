"""Networks with random weights, in the shapes that their papers give them.

Each function returns an ONNX model (opset 17) whose batch is open. Batch normalisation is there as
its multiplication and addition per channel would be after export: folded into the convolution.
"""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Builder:
    """A graph that grows node by node."""

    def __init__(self, seed: int) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[TensorProto] = []
        self.random = np.random.default_rng(seed)
        self.count = 0

    def node(self, operator: str, inputs: list[str], outputs: int = 1, **attributes):
        """Adds a node; returns the name of its output, or their names."""
        self.count += 1
        names = [f"v{self.count}_{at}" for at in range(outputs)]
        self.nodes.append(helper.make_node(operator, inputs, names, **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, value: np.ndarray) -> str:
        """Adds an initializer."""
        self.count += 1
        name = f"w{self.count}"
        self.weights.append(numpy_helper.from_array(value, name))
        return name

    def weight(self, *shape: int) -> str:
        """Random numbers whose products keep the magnitude; the first extent is that of results."""
        fan = max(1, int(np.prod(shape[1:])))
        values = self.random.standard_normal(shape) * (1.0 / fan) ** 0.5
        return self.constant(values.astype(np.float32))

    def conv(
        self, x: str, inputs: int, outputs: int, side: int = 1, stride: int = 1, group: int = 1
    ) -> str:
        """A convolution with bias that keeps the extent where its stride is 1."""
        pads = [side // 2] * 4
        operands = [x, self.weight(outputs, inputs // group, side, side), self.weight(outputs)]
        return self.node("Conv", operands, pads=pads, strides=[stride] * 2, group=group)

    def relu(self, x: str) -> str:
        """What is above zero."""
        return self.node("Relu", [x])

    def pool(self, x: str) -> str:
        """The maximum of windows of 3 by 3 at every second position."""
        return self.node("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)

    def classes(self, x: str, channels: int) -> str:
        """Means of channels, and a dense layer for 1,000 classes."""
        flat = self.node("Flatten", [self.node("GlobalAveragePool", [x])])
        return self.node("Gemm", [flat, self.weight(1000, channels), self.weight(1000)], transB=1)

    def model(self, inputs: list[onnx.ValueInfoProto], output: str) -> onnx.ModelProto:
        """The whole, with one output."""
        last = helper.make_node("Identity", [output], ["y"])
        result = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
        graph = helper.make_graph([*self.nodes, last], "graph", inputs, [result], self.weights)
        opsets = [helper.make_opsetid("", 17)]
        return onnx.shape_inference.infer_shapes(
            helper.make_model(graph, opset_imports=opsets, ir_version=8)
        )


def image(side: int = 224) -> list[onnx.ValueInfoProto]:
    """The input `x` of networks for pictures."""
    return [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3, side, side])]


def resnet50() -> onnx.ModelProto:
    """He et al., "Deep Residual Learning for Image Recognition", 2015 (stride in the 3x3 layer)."""
    b = Builder(50)
    x = b.pool(b.relu(b.conv("x", 3, 64, side=7, stride=2)))
    channels = 64
    for stage, blocks in enumerate((3, 4, 6, 3)):
        width = 64 << stage
        for block in range(blocks):
            stride = 2 if stage > 0 and block == 0 else 1
            y = b.relu(b.conv(x, channels, width))
            y = b.relu(b.conv(y, width, width, side=3, stride=stride))
            y = b.conv(y, width, 4 * width)
            if block == 0:
                x = b.conv(x, channels, 4 * width, stride=stride)
            x = b.relu(b.node("Add", [y, x]))
            channels = 4 * width
    return b.model(image(), b.classes(x, channels))


def densenet121() -> onnx.ModelProto:
    """Huang et al., "Densely Connected Convolutional Networks", 2017."""
    b = Builder(121)

    def normed(x: str, channels: int) -> str:
        # Before a ReLU in front of a convolution, scale and shift cannot be folded.
        scale, shift = b.weight(channels, 1, 1), b.weight(channels, 1, 1)
        return b.relu(b.node("Add", [b.node("Mul", [x, scale]), shift]))

    x = b.pool(b.relu(b.conv("x", 3, 64, side=7, stride=2)))
    channels = 64
    for stage, layers in enumerate((6, 12, 24, 16)):
        for _ in range(layers):
            y = b.relu(b.conv(normed(x, channels), channels, 128))
            y = b.conv(y, 128, 32, side=3)
            x = b.node("Concat", [x, y], axis=1)
            channels += 32
        if stage < 3:
            x = b.conv(normed(x, channels), channels, channels // 2)
            x = b.node("AveragePool", [x], kernel_shape=[2, 2], strides=[2, 2])
            channels //= 2
    return b.model(image(), b.classes(normed(x, channels), channels))


def shufflenet_v2() -> onnx.ModelProto:
    """Ma et al., "ShuffleNet V2: Practical Guidelines for Efficient CNN Architecture Design", 2018."""
    b = Builder(2)

    def branch(x: str, inputs: int, outputs: int, stride: int) -> str:
        y = b.relu(b.conv(x, inputs, outputs))
        y = b.conv(y, outputs, outputs, side=3, stride=stride, group=outputs)
        return b.relu(b.conv(y, outputs, outputs))

    def shuffled(parts: list[str], channels: int, side: int) -> str:
        x = b.node("Concat", parts, axis=1)
        apart = b.constant(np.array([0, 2, channels // 2, side, side], np.int64))
        x = b.node("Reshape", [x, apart])
        x = b.node("Transpose", [x], perm=[0, 2, 1, 3, 4])
        return b.node("Reshape", [x, b.constant(np.array([0, channels, side, side], np.int64))])

    x = b.pool(b.relu(b.conv("x", 3, 24, side=3, stride=2)))
    channels, side = 24, 56
    for blocks, width in ((4, 116), (8, 232), (4, 464)):
        side //= 2
        other = b.conv(x, channels, channels, side=3, stride=2, group=channels)
        other = b.relu(b.conv(other, channels, width // 2))
        x = shuffled([other, branch(x, channels, width // 2, 2)], width, side)
        channels = width
        for _ in range(blocks - 1):
            kept, x = b.node("Split", [x], outputs=2, axis=1)
            x = shuffled([kept, branch(x, width // 2, width // 2, 1)], width, side)
    x = b.relu(b.conv(x, channels, 1024))
    return b.model(image(), b.classes(x, 1024))


def minilm_l6() -> onnx.ModelProto:
    """The encoder of Wang et al., "MiniLM", 2020: 6 layers, 384 wide, 12 heads; 1,000 words."""
    b = Builder(6)
    width, heads = 384, 12
    scale = b.constant(np.float32((width // heads) ** 0.5))
    apart = b.constant(np.array([0, 0, heads, width // heads], np.int64))
    joined = b.constant(np.array([0, 0, width], np.int64))

    def dense(x: str, inputs: int, outputs: int) -> str:
        weight = b.random.standard_normal((inputs, outputs)) / inputs**0.5
        product = b.node("MatMul", [x, b.constant(weight.astype(np.float32))])
        return b.node("Add", [product, b.weight(outputs)])

    def norm(x: str) -> str:
        ones = b.constant(np.ones(width, np.float32))
        return b.node("LayerNormalization", [x, ones, b.weight(width)], axis=-1, epsilon=1e-12)

    x = norm(b.node("Gather", [b.weight(1000, width), "ids"]))
    for _ in range(6):
        q, k, v = (b.node("Reshape", [dense(x, width, width), apart]) for _ in range(3))
        q = b.node("Transpose", [q], perm=[0, 2, 1, 3])
        k = b.node("Transpose", [k], perm=[0, 2, 3, 1])
        v = b.node("Transpose", [v], perm=[0, 2, 1, 3])
        scores = b.node("Div", [b.node("MatMul", [q, k]), scale])
        y = b.node("MatMul", [b.node("Softmax", [scores], axis=-1), v])
        y = b.node("Reshape", [b.node("Transpose", [y], perm=[0, 2, 1, 3]), joined])
        x = norm(b.node("Add", [dense(y, width, width), x]))
        h = dense(x, width, 4 * width)
        gate = b.node("Erf", [b.node("Div", [h, b.constant(np.float32(2**0.5))])])
        gate = b.node("Add", [gate, b.constant(np.float32(1))])
        h = b.node("Mul", [b.node("Mul", [h, gate]), b.constant(np.float32(0.5))])
        x = norm(b.node("Add", [dense(h, 4 * width, width), x]))
    ids = helper.make_tensor_value_info("ids", TensorProto.INT64, ["batch", "sequence"])
    return b.model([ids], x)


def small_operations() -> onnx.ModelProto:
    """A hundred and sixty operations on 64 numbers: what a call costs."""
    b = Builder(200)
    x = "x"
    for at in range(50):
        y = b.node("Tanh", [b.node("Mul", [x, b.weight(64)])])
        x = b.node("Add", [x, y])
        if at % 5 == 4:
            x = b.node("MatMul", [x, b.weight(64, 64)])
    row = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 64])
    return b.model([row], x)


ALL = {
    "resnet50": resnet50,
    "densenet121": densenet121,
    "shufflenet_v2": shufflenet_v2,
    "minilm_l6": minilm_l6,
    "small_operations": small_operations,
}
