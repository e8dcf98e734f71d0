"""Models that substitutions are applied to."""

from __future__ import annotations

from typing import Any

from tangram import _native
from tangram._workload import Report
from tangram._workload import Workload as Base


class Workload(Base):
    """A model with a name. Made by `from_onnx`; calling it evaluates it."""

    __slots__ = ("name",)

    def __init__(self, model: _native.Model, report: Report | None = None, name: str = "") -> None:
        super().__init__(model, report)
        self.name: str = name

    @classmethod
    def from_onnx(cls, model: Any, name: str = "") -> Workload:
        """Reads a model from a path, from bytes, or from an `onnx.ModelProto`."""
        return cls(Base.from_onnx(model)._model, name=name)
