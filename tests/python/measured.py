"""A runtime whose clock is made up: what it takes to run a model is known, and the same every time.

A package `onnxruntime` that is put before the real one. A run takes the sum of what its operators
take, by a table; the clock of the process shows that and nothing else. What was loaded and run is
written to a file.
"""

from __future__ import annotations

import json
import pathlib
from typing import Any

import onnx

PACKAGE = '''
import json, os, pathlib, random, time
import onnx

__version__ = os.environ["MADE_UP_VERSION"]
_seconds = json.loads(os.environ["MADE_UP_SECONDS"])
_log = pathlib.Path(os.environ["MADE_UP_LOG"])
_noise = float(os.environ.get("MADE_UP_NOISE", "0"))
_random = random.Random(1)
_now = 0.0
time.perf_counter = lambda: _now
_loaded = 0


class SessionOptions:
    pass


def _note(line):
    with _log.open("a") as file:
        file.write(line + "\\n")


class InferenceSession:
    def __init__(self, path, options, providers):
        global _loaded
        self.graph = onnx.load(path).graph
        self.number, _loaded = _loaded, _loaded + 1
        _note("load " + " ".join(node.op_type for node in self.graph.node))

    def get_inputs(self):
        return self.graph.input

    def run(self, names, inputs):
        global _now
        each = [_seconds.get(node.op_type, 1.0) for node in self.graph.node if node.op_type != "Constant"]
        if min(each) < 0:
            raise RuntimeError("no kernel")
        takes = sum(each)
        _now += takes * (1 + _noise * _random.random())
        _note(f"run {self.number}")
'''


class Clock:
    """The package in a folder, and what it noted."""

    def __init__(self, folder: pathlib.Path, monkeypatch: Any) -> None:
        self.folder, self.monkeypatch = folder, monkeypatch
        package = folder / "made-up" / "onnxruntime"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(PACKAGE)
        self.log = folder / "made-up" / "log"
        monkeypatch.setenv("PYTHONPATH", str(package.parent))
        monkeypatch.setenv("MADE_UP_LOG", str(self.log))
        monkeypatch.setenv("TANGRAM_CACHE", str(folder / "cache"))
        self.set(version="made up 1", seconds={})

    def set(self, version: str | None = None, seconds: dict[str, float] | None = None, noise: float = 0) -> None:
        """Says what operators take: a second if it is not said, and none of what is less than 0."""
        if version is not None:
            self.monkeypatch.setenv("MADE_UP_VERSION", version)
        if seconds is not None:
            self.monkeypatch.setenv("MADE_UP_SECONDS", json.dumps(seconds))
        self.monkeypatch.setenv("MADE_UP_NOISE", str(noise))

    def runs(self) -> list[int]:
        """The numbers of the models that ran, in order, since the last call."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return [int(line.split()[1]) for line in lines if line.startswith("run")]


def database(folder: pathlib.Path) -> pathlib.Path:
    """Where times are kept if nothing else is said."""
    return folder / "cache" / "measured.jsonl"


def operators(model: onnx.ModelProto) -> list[str]:
    """The operators of a model, without constants."""
    return [node.op_type for node in model.graph.node if node.op_type != "Constant"]
