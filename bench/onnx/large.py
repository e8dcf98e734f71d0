"""Writes a model whose weights are larger than memory, in a sparse file that takes no room.

    python bench/onnx/large.py GIGABYTES OUT

The weights are holes in the file but for a few numbers at the start of each, which no two weights
have in common: whoever removes equal weights has to read them to know.
"""

from __future__ import annotations

import argparse
import pathlib
import struct

import onnx
from onnx import TensorProto, helper

# One weight has 4096 x 4096 float32 numbers.
WIDTH = 4096
WEIGHT_BYTES = 4 * WIDTH * WIDTH


def build(path: pathlib.Path, least_bytes: int) -> int:
    """Writes a model with at least `least_bytes` of weights; gives how many there are."""
    layers = -(-least_bytes // WEIGHT_BYTES)
    nodes, weights, x = [], [], "x"
    for layer in range(layers):
        weights.append(weight(f"w{layer}", layer, path.name + ".data"))
        # A transposed weight invites folding, an identity and a twin invite removal.
        nodes.append(helper.make_node("Transpose", [f"w{layer}"], [f"t{layer}"], perm=[1, 0]))
        nodes.append(helper.make_node("MatMul", [x, f"t{layer}"], [f"m{layer}"]))
        nodes.append(helper.make_node("Identity", [f"m{layer}"], [f"i{layer}"]))
        nodes.append(helper.make_node("Tanh", [f"i{layer}"], [f"a{layer}"]))
        x = f"a{layer}"
    y = nodes[-1].output[0] = "y"
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", WIDTH]) for name in ("x", y)]
    graph = helper.make_graph(nodes, "large", ends[:1], ends[1:], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.write_bytes(model.SerializeToString(deterministic=True))
    with path.with_name(path.name + ".data").open("wb") as data:
        for layer in range(layers):
            data.seek(layer * WEIGHT_BYTES)
            data.write(struct.pack("<2f", layer + 1.0, 0.5))
        data.truncate(layers * WEIGHT_BYTES)
    return layers * WEIGHT_BYTES


def weight(name: str, index: int, location: str) -> TensorProto:
    """Declares a weight that lies in the file beside the model."""
    tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=[WIDTH, WIDTH])
    tensor.data_location = TensorProto.EXTERNAL
    place = {"location": location, "offset": index * WEIGHT_BYTES, "length": WEIGHT_BYTES}
    for key, value in place.items():
        tensor.external_data.append(onnx.StringStringEntryProto(key=key, value=str(value)))
    return tensor


def main() -> None:
    """Writes one model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gigabytes", type=float)
    parser.add_argument("out", type=pathlib.Path)
    arguments = parser.parse_args()
    written = build(arguments.out, int(arguments.gigabytes * 1e9))
    print(f"{arguments.out}: {written / 1e9:.2f} GB of weights")


if __name__ == "__main__":
    main()
