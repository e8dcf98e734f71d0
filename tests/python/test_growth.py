"""What grew with the square, or faster, of the size of a model: each ends soon at a size where it did not.

The limits are of the processor's time and of memory, several times what is needed.
"""

from __future__ import annotations

import pathlib
import resource
import subprocess

import onnx
import pytest
from onnx import TensorProto, helper

FLOAT = TensorProto.FLOAT
MEMORY = 1500 << 20


def value(name: str, extent: int = 4) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, FLOAT, [extent])


def model(nodes, inputs, outputs, functions=()) -> bytes:
    graph = helper.make_graph(nodes, "g", inputs, outputs)
    sets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    return helper.make_model(graph, opset_imports=sets, ir_version=8, functions=list(functions)).SerializeToString()


def chain(count: int) -> bytes:
    nodes = [helper.make_node(["Neg", "Relu"][k % 2], [f"v{k}"], [f"v{k + 1}"]) for k in range(count)]
    return model(nodes, [value("v0")], [value(f"v{count}")])


def concat(count: int) -> bytes:
    return model([helper.make_node("Concat", ["x"] * count, ["y"], axis=0)], [value("x")], [value("y", 4 * count)])


def branches(count: int) -> bytes:
    nodes = [helper.make_node(["Neg", "Exp"][k % 2], [f"x{k}"], [f"y{k}"]) for k in range(count)]
    return model(nodes, [value(f"x{k}") for k in range(count)], [value(f"y{k}") for k in range(count)])


def functions(count: int) -> bytes:
    body = [helper.make_node("Neg", ["a"], ["b"])]
    own = [helper.make_function("own", f"F{k}", ["a"], ["b"], body, [helper.make_opsetid("", 17)]) for k in range(count)]
    calls = [helper.make_node(f"F{k}", [f"v{k}"], [f"v{k + 1}"], domain="own") for k in range(count)]
    return model(calls, [value("v0")], [value(f"v{count}")], own)


CASES = {
    # The sets of extraction had 3.4 GB.
    "saturate": (chain, 40_000, ["opt", "m.onnx", "-o", "o.onnx", "--strategy", "saturate", "--max-seconds", "10"], 0),
    # One function of C for each operand, at which the C compiler did not come to an end.
    "run": (concat, 100_000, ["run", "m.onnx", "--random", "--no-rules"], 0),
    "compile": (concat, 100_000, ["compile", "m.onnx", "-o", "m.so", "--no-rules"], 2),
    # Each branch was compared with all others.
    "draw": (branches, 20_000, ["show", "m.onnx", "--format", "svg", "--limit", "50", "-o", "m.svg"], 0),
    "diff": (branches, 20_000, ["diff", "m.onnx", "m.onnx"], 0),
    # Each call, and each function, looked at all functions.
    "functions": (functions, 20_000, ["show", "m.onnx", "--format", "json", "-o", "m.json"], 0),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_large_models_end_soon(name, tangram_bin, tmp_path: pathlib.Path) -> None:
    make, count, command, code = CASES[name]
    (tmp_path / "m.onnx").write_bytes(make(count))

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (15, 16))

    done = subprocess.run([tangram_bin, *command], cwd=tmp_path, preexec_fn=limited, capture_output=True, text=True, check=False)
    assert done.returncode == code, (done.returncode, done.stderr[-500:])
    if code:
        assert "Concat" in done.stderr
