"""Models as Python sees them."""

from __future__ import annotations

import json
import logging
import os
import pathlib
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, Unpack

from tangram import _native
from tangram._operators import natives
from tangram._options import Edits, Options, edited, edits_of, settings, with_options
from tangram._progress import ProgressLike, listener
from tangram._report import Report
from tangram._rules import rule_functions, rule_sources

if TYPE_CHECKING:
    import onnx

    from tangram._operators import OperatorLike
    from tangram._rules import RuleLike

    class Message(Protocol):
        """A model as a message of protobuf: an `onnx.ModelProto`."""

        def SerializeToString(self) -> bytes: ...

    class Exported(Protocol):
        """What `torch.onnx.export(dynamo=True)` returns."""

        @property
        def model_proto(self) -> Any: ...

    CheckLike: TypeAlias = "bool | Literal['onnxruntime']"
    ModelLike: TypeAlias = "str | os.PathLike[str] | bytes | bytearray | Message | Exported | Workload"


_TOLERANCES = {"float16": 5e-3, "bfloat16": 3e-2}
"""What suits results that were computed in these types."""


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
        self.report: Report | None = report
        """What made this workload, if an optimisation did."""

    @classmethod
    def from_onnx(cls, model: ModelLike, operators: OperatorLike = ()) -> Workload:
        """Reads a model from a path, bytes, an `onnx.ModelProto` or a `torch.onnx.ONNXProgram`.

        `operators`: those that the model has of its own, each an `Operator` or what `gsl.define` made.

        Raises `ModelError` if it is no model that can be read, and what their functions raise.
        """
        own = natives(operators)
        if isinstance(model, Workload):
            return cls(_native.Model.decode(model.to_bytes(), own)) if own else model
        if isinstance(model, (str, os.PathLike)):
            return cls(_native.Model.open(model, own))
        if isinstance(model, (bytes, bytearray, memoryview)):
            return cls(_native.Model.decode(bytes(model), own))
        # What `torch.onnx.export(dynamo=True)` returns holds one.
        model = getattr(model, "model_proto", model)
        if hasattr(model, "SerializeToString"):
            return cls(_native.Model.decode(model.SerializeToString(), own))
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
        try:
            import onnx
        except ModuleNotFoundError as missing:
            if missing.name != "onnx":
                raise
            raise ImportError("`to_onnx` needs the package onnx: `pip install onnx`", name="onnx") from None

        return onnx.load_from_string(self.to_bytes())

    def edit(self, **options: Unpack[Edits]) -> Workload:
        """Returns the model with fixed sizes, or a part of it.

        `input_shape`: extents of inputs by name, `None` leaves one open. `dim`: sizes of named
        dimensions. `inputs`, `outputs`: values between which the part lies.

        Raises `ModelError` for what cannot be.
        """
        return Workload(edited(self._model, edits_of(options)))

    @with_options()
    def optimize(
        self,
        rules: RuleLike | Iterable[RuleLike] = (),
        *,
        operators: OperatorLike = (),
        check: CheckLike = False,
        shape: Mapping[str, Sequence[int]] | None = None,
        data: Mapping[str, Any] | None = None,
        tolerance: float | None = None,
        runs: int = 1,
        trace: str | os.PathLike[str] | None = None,
        progress: ProgressLike = None,
        **options: Unpack[Options],
    ) -> Workload:
        """Returns the model after rewriting; its `report` says what was done.

        `rules`: further rules, as text, files, folders, `gsl.Subst` objects, or names, labels and
        topics of shipped rules that are applied on request only; `tangram.rules()` lists them.
        `operators`: those that the model has of its own, each an `Operator` or what `gsl.define` made.
        `check`: evaluate both models on random inputs; raises `CheckError` if they differ. With
        `"onnxruntime"` that engine evaluates them without optimisations of its own, where it is
        installed, not the reference kernels that fold constants as well.
        `shape`, `data`: extents and arrays for inputs by name, where the check is not to choose;
        rewritings are timed on inputs of these extents.
        `tolerance`: the largest difference that the check allows, as a share of the greatest
        magnitude in an output. `runs`: on how many inputs, of other sizes where sizes are open.
        `trace`: a file for every step with the operations that it matched and made, as JSON or, if
        its name ends in `.html`, as a page that steps through the graph; not for saturation.
        `progress`: a function that is called with a `Progress` while it lasts; or whether to show
        a bar, which is what notebooks do by default.

        Raises `RuleError` for rules that are wrong or unknown.
        """
        edits, asked = edits_of(options), settings(options)
        asked["shapes"] = native_inputs(shape, None)[0]
        python_of(check)
        if not isinstance(rules, (str, os.PathLike)) and isinstance(rules, Iterable):
            rules = list(rules)
        model = edited(Workload.from_onnx(self, operators)._model, edits)
        path = None if trace is None else pathlib.Path(trace)
        page = None if path is None else (path.stem, path.suffix in (".html", ".htm"))
        heard, bar = listener(progress)
        try:
            sources, functions = rule_sources(rules), rule_functions(rules)
            model = model.defined(sources) if sources else model
            better, told, shown = model.optimize(sources, asked, page, heard, functions)
        finally:
            if bar is not None:
                bar.close()
        if path is not None:
            _write_whole(path, shown)
        report = Report(json.loads(told))
        _log(report)
        if check:
            given = tolerance if tolerance is not None else _TOLERANCES.get(asked["to"])
            report.data["check"] = _checked(
                model, better, shape, data, asked["exact"], given, runs, python_of(check)
            )
        return Workload(better, report)

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
        from tangram._arrays import from_native, to_native

        results = self._model.evaluate([to_native(given[name]) for name in names])
        results = [from_native(result) for result in results]
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

    def to_svg(self, *, around: str | None = None, limit: int = 1000, fold: bool = True) -> str:
        """Returns a picture of the graph: at most `limit` operations.

        Those are drawn that are nearest to the value or node `around`, or to the inputs. Of equal
        blocks that follow each other, such as layers, the first is drawn, in a frame that says how
        many there are, unless `fold` is false or a place is named.
        """
        return self._model.svg(around, limit, fold)

    def visualize(
        self,
        path: str | os.PathLike[str] = "workload.svg",
        *,
        around: str | None = None,
        limit: int = 1000,
        fold: bool = True,
    ) -> None:
        """Writes a picture of the graph; see `to_svg`."""
        picture = self.to_svg(around=around, limit=limit, fold=fold)
        _native.write_file(path, picture.encode())


@with_options()
def optimize(
    model: ModelLike,
    rules: RuleLike | Iterable[RuleLike] = (),
    *,
    operators: OperatorLike = (),
    check: CheckLike = False,
    shape: Mapping[str, Sequence[int]] | None = None,
    data: Mapping[str, Any] | None = None,
    tolerance: float | None = None,
    runs: int = 1,
    trace: str | os.PathLike[str] | None = None,
    progress: ProgressLike = None,
    **options: Unpack[Options],
) -> Workload:
    """Optimises a model: a path, bytes, an `onnx.ModelProto`, a `Workload`, or what
    `torch.onnx.export(dynamo=True)` returns.

    The same as `Workload.from_onnx(model).optimize(rules, ...)`, which says what the keywords mean.
    """
    workload = Workload.from_onnx(model, operators)
    return workload.optimize(
        rules,
        check=check,
        shape=shape,
        data=data,
        tolerance=tolerance,
        runs=runs,
        trace=trace,
        progress=progress,
        **options,
    )


def native_inputs(
    shape: Mapping[str, Sequence[int]] | None, data: Mapping[str, Any] | None
) -> tuple[list[tuple[str, list[int]]], list[tuple[str, Any]]]:
    """Extents and arrays by name, as the native half takes them."""
    shapes = [(name, list(extents)) for name, extents in (shape or {}).items()]
    if not data:
        return shapes, []
    from tangram._arrays import to_native

    return shapes, [(name, to_native(array)) for name, array in data.items()]


def python_of(engine: CheckLike) -> str | None:
    """The Python whose onnxruntime evaluates models, if that is the engine."""
    if isinstance(engine, bool):
        return None
    if engine != "onnxruntime":
        raise ValueError(f"check: {engine!r} is no engine; there is 'onnxruntime', or True")
    return sys.executable or "python3"


def compared(
    before: _native.Model,
    after: _native.Model,
    shape: Mapping[str, Sequence[int]] | None = None,
    data: Mapping[str, Any] | None = None,
    exact: bool = False,
    tolerance: float | None = None,
    runs: int = 1,
    python: str | None = None,
) -> dict[str, Any]:
    """How two models compare on the same inputs, as `Report.check` has it; `python` has the engine
    that evaluates them, if that is another one."""
    shapes, arrays = native_inputs(shape, data)
    try:
        if runs > 1 or python is not None:
            strict = (exact, tolerance)
            how = (runs, 0, python)
            holds, told, text = before.compare_files(after, shapes, arrays, strict, how)
            difference = json.loads(told)["worst"]["relative"]
        else:
            holds, difference, text = before.compare(after, shapes, arrays, exact, tolerance)
    except _native.EvaluationError as reason:
        return {"state": "not possible", "difference": None, "text": f"not possible: {reason}"}
    return {"state": "equal" if holds else "different", "difference": difference, "text": text}


def _checked(before: _native.Model, after: _native.Model, *given: Any) -> dict[str, Any]:
    found = compared(before, after, *given)
    if found["state"] == "different":
        raise CheckError(found["text"])
    return found


def _log(report: Report) -> None:
    """Tells who listens to the logger `tangram` what an optimisation did."""
    logger = logging.getLogger("tangram")
    logger.info("optimised %d nodes to %d", report.nodes_before, report.nodes_after)
    for warning in report.warnings:
        logger.info("%s", warning)
    for name, times in report.fired.items():
        logger.debug("rule %s fired %d times", name, times)


def _write_whole(path: pathlib.Path, text: str) -> None:
    """Writes a file under another name first: nobody sees half of it."""
    _native.write_file(path, text.encode())
