"""Models as Python sees them."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import pathlib
import tempfile
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tangram import _native

if TYPE_CHECKING:
    import onnx

    import gsl

    ModelLike = str | os.PathLike[str] | bytes | onnx.ModelProto | "Workload"
    RuleLike = str | os.PathLike[str] | gsl.Subst


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

    @property
    def steps(self) -> list[dict[str, Any]]:
        """The changes one by one: rule, what was matched, made, removed and modified.

        Ten thousand at most; `data["step_count"]` says how many there were.
        """
        return self.data["steps"]

    @property
    def refused(self) -> list[dict[str, Any]]:
        """The matches that were left as they are: rule, where, the kind of reason, the reason."""
        return self.data["refused"]

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
        rules: RuleLike | Iterable[RuleLike] = (),
        *,
        library: bool = True,
        disable: Iterable[str] = (),
        only: Iterable[str] = (),
        max_seconds: float | None = None,
        max_rewrites: int | None = None,
        fold_limit: int | None = 1 << 20,
        strategy: Literal["greedy", "walk", "saturate"] = "greedy",
        trace: str | os.PathLike[str] | None = None,
    ) -> Workload:
        """Returns the model after rewriting; its `report` says what was done.

        `rules`: further rules, as text, files, folders, `gsl.Subst` objects, or names, labels and
        topics of shipped rules that are applied on request only. `library`: apply the others too.
        `disable`, `only`: names and labels. `fold_limit`: bytes that a folded constant may add.
        `strategy`: until no rule fires, each operation once, or all rules at once in an e-graph.
        `trace`: a file for every step with the operations that it matched and made, as JSON or, if
        its name ends in `.html`, as a page that steps through the graph; not for saturation.
        Raises `RuleError` for rules that are wrong.
        """
        given = list(rules) if isinstance(rules, Iterable) and not isinstance(rules, str) else [rules]
        sources = [_rule_source(rule) for rule in given]
        path = None if trace is None else pathlib.Path(trace)
        model, told, steps = self._model.optimize(
            sources,
            library,
            list(disable),
            list(only),
            max_seconds,
            max_rewrites,
            fold_limit,
            strategy,
            None if path is None else (path.stem, path.suffix in (".html", ".htm")),
        )
        if path is not None:
            _write_whole(path, steps)
        return Workload(model, Report(json.loads(told)))

    def __call__(self, *args: Any, **inputs: Any) -> Any:
        """Evaluates the model by reference: right rather than fast.

        Inputs by position or name: arrays, lists for sequences, `None` for an absent optional
        value. Returns the value of the only output, or a list of all.
        """
        names = self.inputs
        given = dict(zip(names, args, strict=False)) | inputs
        missing = [name for name in names if name not in given]
        unknown = [name for name in given if name not in names]
        if missing or unknown:
            raise TypeError(f"inputs missing: {missing}, unknown: {unknown}; there are {names}")
        results = self._model.evaluate([_to_native(given[name]) for name in names])
        results = [_from_native(result) for result in results]
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


def _write_whole(path: pathlib.Path, text: str) -> None:
    """Writes a file under another name first: nobody sees half of it."""
    with tempfile.NamedTemporaryFile("w", dir=path.parent, encoding="utf-8", delete=False) as file:
        try:
            file.write(text)
            file.close()
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


def _rule_source(rule: RuleLike) -> tuple[str, str | None]:
    """A name and, unless the name says where to find them, the text of the rules."""
    if hasattr(rule, "to_gsl"):
        return "<Subst>", rule.to_gsl()
    if isinstance(rule, str) and ("{" in rule or "\n" in rule):
        return "<text>", rule
    return os.fspath(rule), None


# Types of which several elements share a byte, the first one in the lowest bits.
_PACKED = {"int4": 4, "uint4": 4, "float4_e2m1fn": 4, "int2": 2, "uint2": 2}


def _pack(elements: np.ndarray, bits: int) -> bytes:
    per = 8 // bits
    padded = np.zeros(-(-elements.size // per) * per, np.uint8)
    padded[: elements.size] = elements & ((1 << bits) - 1)
    shifted = padded.reshape(-1, per) << (np.arange(per, dtype=np.uint8) * bits)
    return np.bitwise_or.reduce(shifted, axis=1).tobytes()


def _unpack(data: bytes, bits: int, dtype: str) -> np.ndarray:
    per = 8 // bits
    parts = np.frombuffer(data, np.uint8)[:, None] >> (np.arange(per, dtype=np.uint8) * bits)
    parts = (parts & ((1 << bits) - 1)).ravel()
    if dtype.startswith("int"):
        # Negative numbers fill the upper bits of the byte that holds them.
        sign = 1 << (bits - 1)
        parts = ((parts.astype(np.int16) ^ sign) - sign).astype(np.uint8)
    return parts


def _to_native(value: Any) -> Any:
    """An array, a sequence or an absent value, in the form that `_native` takes."""
    if value is None:
        return None
    if isinstance(value, list):
        return [_to_native(item) for item in value]
    array = np.asarray(value)
    shape = list(array.shape)
    if array.dtype.kind in "OSU":
        texts = [t if isinstance(t, bytes) else str(t).encode() for t in array.ravel().tolist()]
        return "str", shape, texts
    if bits := _PACKED.get(array.dtype.name):
        return array.dtype.name, shape, _pack(array.ravel().view(np.uint8), bits)
    return array.dtype.name, shape, np.ascontiguousarray(array).tobytes()


def _from_native(value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, list):
        return [_from_native(item) for item in value]
    dtype, shape, data = value
    if dtype == "str":
        texts = np.empty(len(data), dtype=object)
        texts[:] = [text.decode(errors="surrogateescape") for text in data]
        return texts.reshape(shape)
    try:
        kind = np.dtype(dtype)
    except TypeError:
        import ml_dtypes

        kind = np.dtype(getattr(ml_dtypes, dtype))
    if bits := _PACKED.get(dtype):
        return _unpack(data, bits, dtype).view(kind)[: math.prod(shape)].reshape(shape).copy()
    return np.frombuffer(data, dtype=kind).reshape(shape).copy()
