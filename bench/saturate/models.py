"""The networks of the saturation benchmark, at the sizes their kind is used at on a processor.

Built from the pieces of the example models; weights are random, the same on every run.
"""

from __future__ import annotations

import pathlib
import sys

import onnx

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples" / "models"))
import make  # noqa: E402: its folder is no package
from make import FLOAT, Graph, conv, named, value  # noqa: E402


def unit(g: Graph, x: str, name: str, out: int, into: int, kernel: int, **attributes) -> str:
    """A convolution with its bias, and relu."""
    bias = g.weight(f"{name}.bias", out, 1, 1, scale=0.1)
    return g.node("Relu", g.node("Add", conv(g, x, name, out, into, kernel, **attributes), bias))


def head(g: Graph, x: str, channels: int) -> None:
    """Averages each channel and scores ten classes."""
    x = g.node("ReduceMean", x, axes=[2, 3], keepdims=0)
    x = g.node("MatMul", x, g.weight("head.weight", channels, 10))
    named(g, g.node("Add", x, g.weight("head.bias", 10)), "scores")


def image_model(g: Graph, size: int) -> onnx.ModelProto:
    """Closes a network over one image."""
    image = value("image", FLOAT, [1, 3, size, size])
    return g.model([image], [value("scores", FLOAT, [1, 10])])


def squeeze() -> onnx.ModelProto:
    """Fire modules: a squeeze, then windows of 1 and of 3 over the same value, joined."""
    g = Graph("squeeze", 13, seed=11)
    x, channels = unit(g, "image", "stem", 32, 3, 3, strides=[2, 2]), 32
    for block, (narrow, wide) in enumerate([(8, 32), (8, 32), (16, 64), (16, 64)]):
        name = f"fire.{block}"
        s = unit(g, x, f"{name}.squeeze", narrow, channels, 1)
        one = unit(g, s, f"{name}.one", wide, narrow, 1)
        three = unit(g, s, f"{name}.three", wide, narrow, 3)
        x, channels = g.node("Concat", one, three, axis=1), 2 * wide
        if block == 1:
            x = g.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2])
    head(g, x, channels)
    return image_model(g, 32)


def resnext() -> onnx.ModelProto:
    """Blocks of eight paths that are added up, and a shortcut: split, transform, merge."""
    g = Graph("resnext", 13, seed=12)
    paths, width, channels = 8, 4, 32
    x = unit(g, "image", "stem", channels, 3, 3)
    for block in range(3):
        total = None
        for path in range(paths):
            name = f"blocks.{block}.{path}"
            y = unit(g, x, f"{name}.in", width, channels, 1)
            y = unit(g, y, f"{name}.mid", width, width, 3)
            y = conv(g, y, f"{name}.out", channels, width, 1)
            total = y if total is None else g.node("Add", total, y)
        x = g.node("Relu", g.node("Add", total, x))
    head(g, x, channels)
    return image_model(g, 16)


def inception() -> onnx.ModelProto:
    """Branches over one value, several of them windows of 1 that could be one."""
    g = Graph("inception", 13, seed=13)
    x, channels = unit(g, "image", "stem", 24, 3, 3), 24
    for block in range(3):
        name = f"mixed.{block}"
        one = unit(g, x, f"{name}.one", 16, channels, 1)
        inner = unit(g, x, f"{name}.three_in", 16, channels, 1)
        three = unit(g, inner, f"{name}.three", 24, 16, 3)
        inner = unit(g, x, f"{name}.five_in", 4, channels, 1)
        five = unit(g, inner, f"{name}.five", 8, 4, 5)
        pool = g.node("MaxPool", x, kernel_shape=[3, 3], pads=[1] * 4, strides=[1, 1])
        pooled = unit(g, pool, f"{name}.pool", 8, channels, 1)
        x, channels = g.node("Concat", one, three, five, pooled, axis=1), 56
    head(g, x, channels)
    return image_model(g, 16)


def transformer() -> onnx.ModelProto:
    """An encoder of two blocks over token ids, in pieces as exporters write it."""
    return make.transformer(20)


def lstm() -> onnx.ModelProto:
    """A recurrent cell written out over six steps: for each gate two products and a bias."""
    g = Graph("lstm", 17, seed=14)
    width, steps = 32, 6
    gates = ("in", "forget", "cell", "out")
    own = {k: g.weight(f"{k}.w", width, width, scale=width**-0.5) for k in gates}
    back = {k: g.weight(f"{k}.u", width, width, scale=width**-0.5) for k in gates}
    bias = {k: g.weight(f"{k}.b", width, scale=0.1) for k in gates}
    state, cell = "state", "cell"
    for step in range(steps):
        x = f"x{step}"

        def gate(k: str, f: str) -> str:
            both = g.node("Add", g.node("MatMul", x, own[k]), g.node("MatMul", state, back[k]))
            return g.node(f, g.node("Add", both, bias[k]))

        kept = g.node("Mul", gate("forget", "Sigmoid"), cell)
        new = g.node("Mul", gate("in", "Sigmoid"), gate("cell", "Tanh"))
        opened = gate("out", "Sigmoid")
        cell = g.node("Add", kept, new)
        state = g.node("Mul", opened, g.node("Tanh", cell))
    named(g, state, "last")
    names = [f"x{step}" for step in range(steps)] + ["state", "cell"]
    inputs = [value(name, FLOAT, [1, width]) for name in names]
    return g.model(inputs, [value("last", FLOAT, [1, width])])


MODELS = {f.__name__: f for f in (squeeze, resnext, inception, transformer, lstm)}
