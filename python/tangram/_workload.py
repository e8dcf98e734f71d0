"""Models as Python sees them."""

from __future__ import annotations

import json
import math
import os
import pathlib
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tangram import _native
from tangram._progress import ProgressLike, listener
from tangram._report import Report
from tangram._rules import rule_names, rule_sources

if TYPE_CHECKING:
    import onnx

    from tangram._rules import NameLike, RuleLike

    ModelLike = str | os.PathLike[str] | bytes | onnx.ModelProto | "Workload"


class CheckError(_native.TangramError):
    """The optimised model computes something else than the model."""

    __module__ = "tangram"


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

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        external_data: Literal["auto", "inline", "external", "keep"] = "auto",
    ) -> None:
        """Writes an ONNX file; one that is there is replaced once the new one is complete.

        `external_data`: where large weights go: beside the model if they were beside it or if it is
        too long for one file, all into it, all beside it, or left in the files they came in.
        """
        self._model.save(path, external_data)

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
        disable: NameLike | Iterable[NameLike] = (),
        only: NameLike | Iterable[NameLike] = (),
        strategy: Literal["greedy", "walk", "saturate"] = "greedy",
        max_seconds: float | None = None,
        max_rewrites: int | None = None,
        max_nodes: int = 20_000,
        fold_limit: int | None = 1 << 20,
        opset: int | None = None,
        cost: str | os.PathLike[str] | dict[str, Any] | None = None,
        explain: bool = False,
        exact: bool = False,
        check: bool = False,
        shape: Mapping[str, Sequence[int]] | None = None,
        data: Mapping[str, Any] | None = None,
        trace: str | os.PathLike[str] | None = None,
        steps: int = 10_000,
        progress: ProgressLike = None,
    ) -> Workload:
        """Returns the model after rewriting; its `report` says what was done.

        `rules`: further rules, as text, files, folders, `gsl.Subst` objects, or names, labels and
        topics of shipped rules that are applied on request only. `library`: apply the others too.
        `disable`, `only`: names and labels of rules, one or several; `tangram.rules()` lists them.
        `strategy`: until no rule fires, each operation once, or all rules at once in an e-graph.
        `max_seconds`, `max_rewrites`, and `max_nodes` of the e-graph: limits, at which what is
        reached is kept. `fold_limit`: bytes that a folded constant may add.
        `opset`: the version of ONNX's operator set that the result is written in.
        `cost`: what operations cost, for saturation: a file, or what stands in it.
        `explain`: have a saturation prove its result; the proofs are in the report.
        `exact`: apply only rules that give the same number for every input.
        `check`: evaluate both models on random inputs; raises `CheckError` if they differ.
        `shape`, `data`: extents and arrays for inputs by name, where the check is not to choose.
        `trace`: a file for every step with the operations that it matched and made, as JSON or, if
        its name ends in `.html`, as a page that steps through the graph; not for saturation.
        `steps`: how many steps report and trace tell of.
        `progress`: a function that is called with a `Progress` while it lasts; or whether to show
        a bar, which is what notebooks do by default.

        Raises `RuleError` for rules that are wrong or unknown.
        """
        settings = {
            "library": library,
            "disable": rule_names("disable", disable),
            "only": rule_names("only", only),
            "max_seconds": max_seconds,
            "max_rewrites": max_rewrites,
            "max_nodes": max_nodes,
            "fold_limit": fold_limit,
            "strategy": strategy,
            "opset": opset,
            "cost": _cost_text(cost),
            "explain": explain,
            "exact": exact,
            "steps": steps,
        }
        path = None if trace is None else pathlib.Path(trace)
        page = None if path is None else (path.stem, path.suffix in (".html", ".htm"))
        heard, bar = listener(progress)
        try:
            model, told, shown = self._model.optimize(rule_sources(rules), settings, page, heard)
        finally:
            if bar is not None:
                bar.close()
        if path is not None:
            _write_whole(path, shown)
        report = Report(json.loads(told))
        if check:
            report.data["check"] = _checked(self._model, model, shape, data, exact)
        return Workload(model, report)

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

    def to_mlir(self, *, weights: bool = True) -> str:
        """Returns the program as MLIR's generic text, with the bytes of its weights or without."""
        return self._model.text(weights)

    def __str__(self) -> str:
        return self.to_mlir(weights=False)

    def __repr__(self) -> str:
        return f"Workload({', '.join(self.inputs)} -> {', '.join(self.outputs)})"

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def to_svg(self, *, around: str | None = None, limit: int = 1000) -> str:
        """Returns a picture of the graph: at most `limit` operations.

        Those are drawn that are nearest to the value or node `around`, or to the inputs.
        """
        return self._model.svg(around, limit)

    def visualize(
        self,
        path: str | os.PathLike[str] = "workload.svg",
        *,
        around: str | None = None,
        limit: int = 1000,
    ) -> None:
        """Writes a picture of the graph; see `to_svg`."""
        pathlib.Path(path).write_text(self.to_svg(around=around, limit=limit), encoding="utf-8")


def optimize(
    model: ModelLike,
    rules: RuleLike | Iterable[RuleLike] = (),
    *,
    library: bool = True,
    disable: NameLike | Iterable[NameLike] = (),
    only: NameLike | Iterable[NameLike] = (),
    strategy: Literal["greedy", "walk", "saturate"] = "greedy",
    max_seconds: float | None = None,
    max_rewrites: int | None = None,
    max_nodes: int = 20_000,
    fold_limit: int | None = 1 << 20,
    opset: int | None = None,
    cost: str | os.PathLike[str] | dict[str, Any] | None = None,
    explain: bool = False,
    exact: bool = False,
    check: bool = False,
    shape: Mapping[str, Sequence[int]] | None = None,
    data: Mapping[str, Any] | None = None,
    trace: str | os.PathLike[str] | None = None,
    steps: int = 10_000,
    progress: ProgressLike = None,
) -> Workload:
    """Optimises a model: a path, bytes, an `onnx.ModelProto` or a `Workload`.

    The same as `Workload.from_onnx(model).optimize(rules, ...)`, which says what the options mean.
    """
    return Workload.from_onnx(model).optimize(
        rules,
        library=library,
        disable=disable,
        only=only,
        strategy=strategy,
        max_seconds=max_seconds,
        max_rewrites=max_rewrites,
        max_nodes=max_nodes,
        fold_limit=fold_limit,
        opset=opset,
        cost=cost,
        explain=explain,
        exact=exact,
        check=check,
        shape=shape,
        data=data,
        trace=trace,
        steps=steps,
        progress=progress,
    )


def _cost_text(cost: str | os.PathLike[str] | dict[str, Any] | None) -> str | None:
    if cost is None or isinstance(cost, dict):
        return None if cost is None else json.dumps(cost)
    return pathlib.Path(cost).read_text()


def compared(
    before: _native.Model,
    after: _native.Model,
    shape: Mapping[str, Sequence[int]] | None = None,
    data: Mapping[str, Any] | None = None,
    exact: bool = False,
) -> dict[str, Any]:
    """How two models compare on the same inputs, as `Report.check` has it."""
    shapes = [(name, list(extents)) for name, extents in (shape or {}).items()]
    arrays = [(name, _to_native(array)) for name, array in (data or {}).items()]
    try:
        holds, difference, text = before.compare(after, shapes, arrays, exact)
    except _native.EvaluationError as reason:
        return {"state": "not possible", "difference": None, "text": f"not possible: {reason}"}
    return {"state": "equal" if holds else "different", "difference": difference, "text": text}


def _checked(before: _native.Model, after: _native.Model, *given: Any) -> dict[str, Any]:
    found = compared(before, after, *given)
    if found["state"] == "different":
        raise CheckError(found["text"])
    return found


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
