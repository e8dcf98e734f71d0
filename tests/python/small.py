"""Small models in ONNX's text form, and the command on them."""

from __future__ import annotations

import json
import pathlib
import subprocess

import numpy as np
import onnx
from onnx import numpy_helper


def model(body: str, opset: int = 17, weights: dict[str, np.ndarray] | None = None, ir: int = 8):
    """Parses a graph; `weights` become initializers."""
    head = f'<ir_version: {ir}, opset_import: ["" : {opset}, "ai.onnx.ml" : 3]>'
    parsed = onnx.parser.parse_model(f"{head} g {body}")
    for name, values in (weights or {}).items():
        parsed.graph.initializer.append(numpy_helper.from_array(np.asarray(values), name))
    return parsed


class Command:
    """Runs `tangram opt` in a folder."""

    def __init__(self, binary: pathlib.Path, folder: pathlib.Path) -> None:
        self.binary, self.folder = binary, folder

    def run(self, *arguments, code: int = 0, **kwargs) -> subprocess.CompletedProcess:
        """Runs the command with any arguments; checks how it ended."""
        kwargs = {"capture_output": True, "text": True, "cwd": self.folder, "timeout": 240} | kwargs
        ran = subprocess.run([self.binary, *arguments], check=False, **kwargs)
        assert ran.returncode == code, (ran.stdout, ran.stderr)
        return ran

    def optimise(self, parsed: onnx.ModelProto, *arguments, code: int = 0):
        """Optimises a model; gives the result and the report."""
        source, target = self.folder / "in.onnx", self.folder / "out.onnx"
        onnx.save(parsed, source)
        self.run("opt", source, "-o", target, "--json", "report.json", "-q", *arguments, code=code)
        return onnx.load(target), json.loads((self.folder / "report.json").read_text())


def operators(parsed: onnx.ModelProto) -> list[str]:
    """Lists the operators of a graph in order, without constants."""
    return [node.op_type for node in parsed.graph.node if node.op_type != "Constant"]
