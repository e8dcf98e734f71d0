"""A weight that several nodes use is stored once in each layout, whatever uses it and however it is named.

The file of weights of `tangram compile` must not grow with the number of uses, in a library and in
C alike, and a session computes what onnxruntime does.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import tangram

RANDOM = np.random.default_rng(3)
VECTORS, IMAGE = ["n", 64], [1, 32, 28, 28]


def floats(*shape: int) -> np.ndarray:
    return (RANDOM.standard_normal(shape) / 8).astype(np.float32)


def used(operator: str, weight: np.ndarray, shape: list, **attributes: object) -> Callable:
    """`times` nodes, one behind the other, each with the same weight."""

    def make(times: int) -> onnx.ModelProto:
        uses = [helper.make_node(operator, [f"r{i}", "w"], [f"m{i}"], **attributes) for i in range(times)]
        return chain(uses, {"w": weight}, shape)

    return make


def named_apart(times: int) -> onnx.ModelProto:
    """Each node has an equal weight under a name of its own."""
    weight = floats(64, 64)
    uses = [helper.make_node("MatMul", [f"r{i}", f"w{i}"], [f"m{i}"]) for i in range(times)]
    return chain(uses, {f"w{i}": weight for i in range(times)}, VECTORS)


def both_ways(times: int) -> onnx.ModelProto:
    """The weight and its transpose in turns: two layouts."""
    pairs = [(2 * i + t, t) for i in range(times) for t in (0, 1)]
    uses = [helper.make_node("Gemm", [f"r{i}", "w"], [f"m{i}"], transB=t) for i, t in pairs]
    return chain(uses, {"w": floats(64, 64)}, VECTORS)


def quantised(times: int) -> onnx.ModelProto:
    """Products of bytes between steps of quantisation.

    Weights have 7 bits: onnxruntime saturates sums of two products where the processor has no VNNI.
    """
    weights = {
        "w": RANDOM.integers(-64, 64, (64, 64)).astype(np.int8),
        "scale": np.float32(0.02),
        "zero": np.uint8(128),
    }
    uses = []
    for i in range(times):
        uses += [
            helper.make_node("QuantizeLinear", [f"r{i}", "scale", "zero"], [f"q{i}"]),
            helper.make_node("MatMulInteger", [f"q{i}", "w", "zero"], [f"p{i}"]),
            helper.make_node("Cast", [f"p{i}"], [f"c{i}"], to=TensorProto.FLOAT),
            helper.make_node("Mul", [f"c{i}", "scale"], [f"m{i}"]),
        ]
    return chain(uses, weights, VECTORS)


def chain(uses: list, weights: dict[str, np.ndarray], shape: list) -> onnx.ModelProto:
    """Nodes that read `r0`, `r1`... and give `m0`, `m1`..., with `Tanh` between them."""
    nodes = []
    for node in uses:
        nodes.append(node)
        if node.output[0].startswith("m"):
            number = int(node.output[0][1:])
            nodes.append(helper.make_node("Tanh", [f"m{number}"], [f"r{number + 1}"]))
    tensor = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "g",
        [tensor("r0", TensorProto.FLOAT, shape)],
        [tensor(nodes[-1].output[0], TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in weights.items()],
    )
    opset = [helper.make_opsetid("", 18)]
    return helper.make_model(graph, opset_imports=opset, ir_version=9)


# What each use makes of a byte of its weight: a convolution of 3 by 3 may be of 36 products for 9
# weights, and bytes may be multiplied in pairs of 16 bits.
USES = {
    "matmul": (used("MatMul", floats(64, 64), VECTORS), 1),
    "gemm_transposed": (used("Gemm", floats(64, 64), VECTORS, transB=1), 1),
    "conv_1x1": (used("Conv", floats(32, 32, 1, 1), IMAGE), 1),
    "conv_3x3": (used("Conv", floats(32, 32, 3, 3), IMAGE, pads=[1] * 4), 4),
    "conv_dilated": (used("Conv", floats(32, 32, 3, 3), IMAGE, pads=[2] * 4, dilations=[2, 2]), 1),
    "depthwise": (used("Conv", floats(32, 1, 3, 3), IMAGE, pads=[1] * 4, group=32), 1),
    "named_apart": (named_apart, 1),
    "both_ways": (both_ways, 2),
    "quantised": (quantised, 2),
}


def stored(command, model: onnx.ModelProto, folder, *form: str) -> int:
    """The bytes of the file of weights."""
    source, made = folder / "model.onnx", folder / "model"
    onnx.save(model, source)
    ending = ".c" if form else ".so"
    asked = [command, "compile", source, "-o", made.with_suffix(ending), *form]
    subprocess.run(asked, check=True, capture_output=True)
    return made.with_suffix(".weights").stat().st_size


@pytest.mark.parametrize("use", USES)
def test_a_weight_is_stored_once_whatever_uses_it(use: str, tmp_path, tangram_bin) -> None:
    make, factor = USES[use]
    twice = make(2)
    weight = next(t for t in twice.graph.initializer if t.name.startswith("w"))
    most = 1.2 * factor * numpy_helper.to_array(weight).nbytes + 1024
    asked = [(make(1),), (twice,), (make(6),), (make(6), "--emit", "c")]
    sizes = [stored(tangram_bin, model, tmp_path, *form) for model, *form in asked]
    assert max(sizes) <= most and max(sizes) <= min(sizes) + 1024, sizes
    shape = [7 if isinstance(extent, str) else extent for extent in VECTORS]
    if use.startswith(("conv", "depth")):
        shape = IMAGE
    feed = {"r0": floats(*shape)}
    many = make(6).SerializeToString()
    (ours,), (theirs,) = (
        engine.InferenceSession(many).run(None, feed) for engine in (tangram, onnxruntime)
    )
    tolerance = 0.05 if use == "quantised" else 1e-4
    assert np.abs(ours - theirs).max() <= tolerance * max(1, np.abs(theirs).max())
