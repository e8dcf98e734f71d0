"""Folders of models, and workers, for the tests of many models."""

from __future__ import annotations

import concurrent.futures
import pathlib
import shutil

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tangram
from conftest import EXAMPLES
from tangram.fleet import wire


@pytest.fixture
def folder(tmp_path) -> pathlib.Path:
    """The examples in folders, one of them with external weights."""
    models = tmp_path / "models"
    for number, path in enumerate(EXAMPLES):
        (models / str(number % 3)).mkdir(parents=True, exist_ok=True)
        shutil.copy(path, models / str(number % 3) / path.name)
    onnx.save(heavy(), models / "heavy.onnx", save_as_external_data=True, location="heavy.bin", size_threshold=0)
    return models


def heavy() -> onnx.ModelProto:
    """A product with weights, and two nodes that undo each other."""
    weights = numpy_helper.from_array(np.linspace(-1, 1, 64 * 64, dtype=np.float32).reshape(64, 64), "w")
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"]),
        helper.make_node("Neg", ["a"], ["b"]),
        helper.make_node("Neg", ["b"], ["y"]),
    ]
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", 64]) for name in "xy"]
    graph = helper.make_graph(nodes, "heavy", info[:1], info[1:], [weights])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def names(models: pathlib.Path) -> set[str]:
    return {path.relative_to(models).as_posix() for path in models.rglob("*.onnx")}


class Elsewhere(concurrent.futures.ThreadPoolExecutor):
    """Workers that do not see the files of the one who asks; counts the bytes that reach them."""

    def __init__(self) -> None:
        super().__init__(2)
        self.sent: list[int] = []

    def submit(self, function, data):  # type: ignore[no-untyped-def, override]
        header, pieces = wire.unpack(data)
        if header["path"] is not None:
            header["scratch"] += "-unseen"
            data = wire.pack(header, pieces)
        self.sent.append(len(data))
        return super().submit(function, data)


class Slow:
    """Rules whose search lasts: each model takes a while, so that a worker dies at its work."""

    TEXT = "rule swap { let a = *; let b = *; match add(a, b); rewrite add(b, a); }"


def slow(models: pathlib.Path, out: pathlib.Path, **more):  # type: ignore[no-untyped-def]
    """Optimises the models, each for a while."""
    return tangram.optimize_many(models, Slow.TEXT, out=out, max_seconds=0.3, max_rewrites=10**15, **more)
