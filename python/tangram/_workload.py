"""Models as Python sees them."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from tangram import _native

if TYPE_CHECKING:
    import onnx

    ModelLike = str | os.PathLike[str] | bytes | onnx.ModelProto | "Workload"


@dataclasses.dataclass(frozen=True)
class Report:
    """What an optimisation did: nodes, rules, cost, seconds.

    `data` holds everything, in the form of `tangram opt --json`.
    """

    data: dict[str, Any]

    @property
    def nodes_before(self) -> int:
        """Nodes before, constants not counted."""
        return self.data["nodes"]["before"]

    @property
    def nodes_after(self) -> int:
        """Nodes after, constants not counted."""
        return self.data["nodes"]["after"]

    @property
    def fired(self) -> dict[str, int]:
        """How often each rule fired, for those that did."""
        return {rule["name"]: rule["fired"] for rule in self.data["rules"] if rule["fired"]}

    def __repr__(self) -> str:
        return f"Report({self.nodes_before} -> {self.nodes_after} nodes, {self.fired})"


class Workload:
    """A model that rules can be applied to.

    Made by `from_onnx`; never changed in place. Calling it evaluates it.
    """

    __slots__ = ("_model", "report")

    def __init__(self, model: _native.Model, report: Report | None = None) -> None:
        self._model = model
        self.report = report
        """What made this workload, if an optimisation did."""

    @classmethod
    def from_onnx(cls, model: ModelLike) -> Workload:
        """Reads a model from a path, from bytes, or from an `onnx.ModelProto`.

        Raises `ModelError` if it is no model that can be read.
        """
        if isinstance(model, Workload):
            return model
        if isinstance(model, (str, os.PathLike)):
            return cls(_native.Model.open(model))
        if isinstance(model, (bytes, bytearray, memoryview)):
            return cls(_native.Model.decode(bytes(model)))
        if hasattr(model, "SerializeToString"):
            return cls(_native.Model.decode(model.SerializeToString()))
        raise TypeError(f"a path, bytes or an onnx.ModelProto is needed, not {type(model).__name__}")

    @property
    def inputs(self) -> list[str]:
        """Names of the inputs, in order."""
        return self._model.inputs()

    @property
    def outputs(self) -> list[str]:
        """Names of the outputs, in order."""
        return self._model.outputs()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes an ONNX file; one that is there is replaced once the new one is complete."""
        self._model.save(path)

    def to_bytes(self) -> bytes:
        """Encodes the model as an ONNX file holds it."""
        return self._model.encode()

    def to_onnx(self) -> onnx.ModelProto:
        """Returns an `onnx.ModelProto`. Needs the package `onnx`."""
        import onnx

        return onnx.load_from_string(self.to_bytes())

    def optimize(
        self,
        rules: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
        *,
        library: bool = True,
        disable: Iterable[str] = (),
        only: Iterable[str] = (),
        max_seconds: float | None = None,
        max_rewrites: int | None = None,
        fold_limit: int | None = 1 << 20,
    ) -> Workload:
        """Returns the model after rewriting; its `report` says what was done.

        `rules`: texts or files of further rules. `library`: apply the shipped rules too.
        `disable`, `only`: names and labels. `fold_limit`: bytes that a folded constant may add.
        Raises `RuleError` for rules that are wrong.
        """
        given = [rules] if isinstance(rules, (str, os.PathLike)) else list(rules)
        texts = [_rule_text(rule) for rule in given]
        model, told = self._model.optimize(
            texts, library, list(disable), list(only), max_seconds, max_rewrites, fold_limit
        )
        return Workload(model, Report(json.loads(told)))

    def __call__(
        self, *args: Any, **inputs: Any
    ) -> np.ndarray | list[np.ndarray]:
        """Evaluates the model by reference: right rather than fast.

        Inputs by position or name. Returns the array of the only output, or a list of all.
        """
        names = self.inputs
        given = dict(zip(names, args, strict=False)) | inputs
        missing = [name for name in names if name not in given]
        unknown = [name for name in given if name not in names]
        if missing or unknown:
            raise TypeError(f"inputs missing: {missing}, unknown: {unknown}; there are {names}")
        arrays = [_to_native(np.asarray(given[name])) for name in names]
        results = [_from_native(*result) for result in self._model.evaluate(arrays)]
        return results[0] if len(results) == 1 else results

    def __str__(self) -> str:
        return self._model.text()

    def __repr__(self) -> str:
        return f"Workload({', '.join(self.inputs)} -> {', '.join(self.outputs)})"

    def _repr_svg_(self) -> str:
        return self._model.svg()

    def visualize(self, path: str | os.PathLike[str] = "workload.svg") -> None:
        """Writes a picture of the graph."""
        pathlib.Path(path).write_text(self._model.svg())


def optimize(model: ModelLike, rules: Any = (), **options: Any) -> Workload:
    """Optimises a model: a path, bytes, an `onnx.ModelProto` or a `Workload`.

    The same as `Workload.from_onnx(model).optimize(rules, **options)`.
    """
    return Workload.from_onnx(model).optimize(rules, **options)


def _rule_text(rule: str | os.PathLike[str]) -> tuple[str, str]:
    if isinstance(rule, str) and ("{" in rule or "\n" in rule):
        return "<text>", rule
    path = pathlib.Path(rule)
    return str(path), path.read_text()


def _to_native(array: np.ndarray) -> tuple[str, list[int], bytes]:
    contiguous = np.ascontiguousarray(array)
    return array.dtype.name, list(array.shape), contiguous.tobytes()


def _from_native(dtype: str, shape: list[int], data: bytes) -> np.ndarray:
    try:
        kind = np.dtype(dtype)
    except TypeError:
        import ml_dtypes

        kind = np.dtype(getattr(ml_dtypes, dtype))
    return np.frombuffer(data, dtype=kind).reshape(shape).copy()
