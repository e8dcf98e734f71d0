"""Models that run, under the names that users of onnxruntime know.

`import tangram as ort` runs a script that was written for `onnxruntime`: what it asks of the session
is done, and options that mean nothing here are taken without effect.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tangram import _native
from tangram._ort_value import IOBinding, NodeArg, OrtValue, arrays, type_text
from tangram._session_options import GraphOptimizationLevel, RunOptions, SessionOptions
from tangram._workload import Workload

if TYPE_CHECKING:
    from tangram._workload import ModelLike

_PROVIDERS = ["CPUExecutionProvider"]


class Fail(_native.TangramError, RuntimeError):
    """What could not be done, such as a model that an operation of cannot be evaluated."""

    __module__ = "tangram"


class InvalidArgument(_native.TangramError, ValueError, RuntimeError):
    """Inputs or outputs that are not those of the model."""

    __module__ = "tangram"


def _failure(error: Exception) -> Exception:
    """What the native half raises, as an exception of sessions."""
    if isinstance(error, _native.EvaluationError):
        return Fail(str(error))
    return error if isinstance(error, InvalidArgument) else InvalidArgument(str(error))


class ModelMetadata:
    """What a model says of itself."""

    def __init__(self, model: _native.Model) -> None:
        texts, version, pairs = model.metadata()
        self.producer_name, self.domain, self.description = texts[:3]
        self.graph_name, self.graph_description = texts[3:]
        self.version = version
        self.custom_metadata_map = pairs


class InferenceSession:
    """A model that runs.

    `path_or_bytes`: a path, the bytes of a model, an `onnx.ModelProto` or a `Workload`.
    `sess_options`: a `SessionOptions`. `providers`: there is one, `CPUExecutionProvider`.

    The rules of the library are applied first, unless `graph_optimization_level` says otherwise.
    Compiled code lies in the user's cache folder; what is not compiled runs on the reference
    kernels. Several threads may run one session.

    Raises `ModelError` for what is no model, and where code is to be compiled but there is no C
    compiler.
    """

    def __init__(
        self,
        path_or_bytes: ModelLike,
        sess_options: SessionOptions | None = None,
        providers: Sequence[str | tuple[str, Mapping[str, Any]]] | None = None,
        provider_options: Sequence[Mapping[str, Any]] | None = None,
        **kwargs: Any,
    ) -> None:
        options = sess_options if sess_options is not None else SessionOptions()
        _check_providers(providers)
        if isinstance(path_or_bytes, (str, os.PathLike)):
            # The file may be written to while the session lives.
            workload = Workload(_native.Model.read(path_or_bytes))
        else:
            workload = Workload.from_onnx(path_or_bytes)
        self._options = options
        self._metadata = ModelMetadata(workload._model)
        if options._free_dimensions:
            known = set(_symbols(workload))
            sizes = {n: size for n, size in options._free_dimensions.items() if n in known}
            workload = workload.edit(dim=sizes)
        if options.optimized_model_filepath:
            workload.optimize().save(options.optimized_model_filepath)
        optimize = options.graph_optimization_level != GraphOptimizationLevel.ORT_DISABLE_ALL
        try:
            self._session = _native.Session.of(
                workload._model,
                optimize,
                options.use_deterministic_compute,
                options.interpret,
                max(0, options.intra_op_num_threads),
            )
        except (_native.EvaluationError, ValueError) as error:
            raise _failure(error) from None
        ports = self._session.inputs()
        self._inputs = [NodeArg(name, kind) for name, kind, default in ports if not default]
        self._defaults = [NodeArg(name, kind) for name, kind, default in ports if default]
        self._kinds = {name: kind for name, kind, _ in ports}
        self._outputs = [NodeArg(name, kind) for name, kind in self._session.outputs()]
        self._started = time.time_ns()
        self._events: list[dict[str, Any]] = []

    def run(
        self,
        output_names: Sequence[str] | None,
        input_feed: Mapping[str, Any],
        run_options: RunOptions | None = None,
    ) -> list[Any]:
        """Returns the values of outputs, all if `output_names` is `None`.

        `input_feed`: arrays by name, lists of arrays for sequences, dictionaries for maps, `None` for
        an absent optional value, or `OrtValue`s.

        Raises `InvalidArgument` for inputs that do not fit, `Fail` for what cannot be evaluated.
        """
        return [value.numpy() for value in self.run_with_ort_values(output_names, input_feed)]

    def run_with_ort_values(
        self,
        output_names: Sequence[str] | None,
        input_dict_ort_values: Mapping[str, Any],
        run_options: RunOptions | None = None,
    ) -> list[OrtValue]:
        """Runs as `run` does, and returns values that stay where they are."""
        wanted = self._wanted(output_names) if output_names else None
        values = [self._native_value(*pair) for pair in input_dict_ort_values.items()]
        profiles = self._options.enable_profiling
        start = time.time_ns() if profiles else 0
        try:
            outputs, steps = self._session.run(list(input_dict_ort_values), values, profiles)
        except (_native.EvaluationError, ValueError) as error:
            raise _failure(error) from None
        if profiles:
            self._record(start, time.time_ns(), steps)
        chosen = outputs if wanted is None else [outputs[i] for i in wanted]
        return [OrtValue(value) for value in chosen]

    def run_async(
        self,
        output_names: Sequence[str] | None,
        input_feed: Mapping[str, Any],
        callback: Any,
        user_data: Any,
        run_options: RunOptions | None = None,
    ) -> None:
        """Runs on a thread of its own; `callback` gets the values, `user_data`, and an error text."""
        import threading

        def work() -> None:
            try:
                outputs = self.run(output_names, input_feed, run_options)
            except Exception as error:
                callback([], user_data, str(error))
            else:
                callback(outputs, user_data, "")

        threading.Thread(target=work, daemon=True).start()

    def run_with_iobinding(
        self, iobinding: IOBinding, run_options: RunOptions | None = None
    ) -> None:
        """Runs on what is bound, and binds the outputs."""
        names = list(iobinding._outputs) or [node.name for node in self._outputs]
        values = self.run_with_ort_values(names, iobinding._inputs, run_options)
        iobinding._fill(dict(zip(names, values, strict=True)))

    def io_binding(self) -> IOBinding:
        """Returns a binding of inputs and outputs, for `run_with_iobinding`."""
        return IOBinding(self)

    def get_inputs(self) -> list[NodeArg]:
        """Returns the inputs that have to be given, in order."""
        return list(self._inputs)

    def get_outputs(self) -> list[NodeArg]:
        """Returns the outputs, in order."""
        return list(self._outputs)

    def get_overridable_initializers(self) -> list[NodeArg]:
        """Returns the inputs that may be given, and have a default."""
        return list(self._defaults)

    def get_modelmeta(self) -> ModelMetadata:
        """Returns what the model says of itself."""
        return self._metadata

    def get_session_options(self) -> SessionOptions:
        """Returns the options that the session was made with."""
        return self._options

    def get_providers(self) -> list[str]:
        """Returns what runs the model: `CPUExecutionProvider`."""
        return list(_PROVIDERS)

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        """Returns the options of each provider: none."""
        return {name: {} for name in _PROVIDERS}

    def set_providers(
        self,
        providers: Sequence[str | tuple[str, Mapping[str, Any]]] | None = None,
        provider_options: Sequence[Mapping[str, Any]] | None = None,
    ) -> None:
        """Takes the names of providers; there is one."""
        _check_providers(providers)

    def enable_fallback(self) -> None:
        """Does nothing: what is not compiled runs on the reference kernels in any case."""

    def disable_fallback(self) -> None:
        """Does nothing: what is not compiled runs on the reference kernels in any case."""

    def get_profiling_start_time_ns(self) -> int:
        """Returns when the times of the profile start."""
        return self._started

    def end_profiling(self) -> str:
        """Writes what each step of each run took, as Chrome's trace viewer reads it.

        Returns the name of the file.
        """
        stamp = time.strftime("%Y-%m-%d_%H-%M-%S", time.localtime(self._started // 10**9))
        path = f"{self._options.profile_file_prefix}_{stamp}.json"
        _native.write_file(path, json.dumps(self._events).encode())
        self._events = []
        return path

    def coverage(self) -> dict[str, tuple[int, int]]:
        """Returns for each operation how many are compiled and how many run on reference kernels."""
        rows = self._session.coverage()
        return {name: (compiled, reference) for name, compiled, reference in rows}

    def __repr__(self) -> str:
        inputs = ", ".join(node.name for node in self._inputs)
        return f"InferenceSession({inputs} -> {', '.join(node.name for node in self._outputs)})"

    def _wanted(self, names: Sequence[str]) -> list[int]:
        known = [node.name for node in self._outputs]
        unknown = [name for name in names if name not in known]
        if unknown:
            raise InvalidArgument(f"the model has no output {unknown}; it has {known}")
        return [known.index(name) for name in names]

    def _native_value(self, name: str, value: Any) -> _native.Value:
        if isinstance(value, OrtValue):
            return value._value
        kind = self._kinds.get(name)
        if kind is None:
            raise InvalidArgument(f"the model has no input `{name}`; it has {list(self._kinds)}")
        return _native.Value.of(arrays().to_native(_fitting(name, value, kind)))

    def _record(
        self, start: int, end: int, steps: list[tuple[str, list[str], bool, float]]
    ) -> None:
        origin = (start - self._started) / 1000
        common = {"ph": "X", "pid": os.getpid(), "tid": 0}
        whole = {"cat": "Session", "name": "model_run", "ts": origin, "dur": (end - start) / 1000}
        self._events.append(common | whole)
        for name, operations, compiled, seconds in steps:
            what = {"op_name": ", ".join(operations), "compiled": compiled}
            step = {"cat": "Node", "name": name, "ts": origin, "dur": seconds * 1e6, "args": what}
            self._events.append(common | step)
            origin += seconds * 1e6


def _fitting(name: str, value: Any, kind: Any) -> Any:
    """`value` as an array where a tensor is wanted; numbers of Python get the type of the input."""
    if kind[0] == "tensor" and hasattr(value, "dtype"):
        return value
    import numpy as np

    if kind[0] == "seq":
        if not isinstance(value, (list, tuple)):
            raise InvalidArgument(f"input `{name}`: a list expected, {type(value).__name__} given")
        return [_fitting(name, item, kind[1]) for item in value]
    if kind[0] == "map":
        return _fitting_map(name, value, kind)
    if kind[0] == "optional":
        return None if value is None else _fitting(name, value, kind[1])
    if value is None:
        raise InvalidArgument(f"input `{name}`: an array expected, None given")
    if hasattr(value, "dtype"):
        return np.asarray(value)
    plain = {"str": np.dtype(object), None: None}
    element = kind[1]
    try:
        return np.asarray(value, dtype=plain.get(element, element))
    except (TypeError, ValueError) as error:
        raise InvalidArgument(f"input `{name}`: {type_text(kind)} expected: {error}") from None


def _fitting_map(name: str, value: Any, kind: Any) -> Any:
    """`value` as a dictionary whose keys and values have the types that are wanted."""
    import numpy as np

    if not isinstance(value, Mapping):
        raise InvalidArgument(f"input `{name}`: a map expected, {type(value).__name__} given")
    _, of, key = kind
    element = of[1] if of[0] == "tensor" else None
    parts = []
    for items, dtype in ((value.keys(), key), (value.values(), element)):
        try:
            parts.append(np.array(list(items), dtype=object if dtype == "str" else dtype))
        except (TypeError, ValueError) as error:
            text = f"input `{name}`: {type_text(kind)} expected: {error}"
            raise InvalidArgument(text) from None
    return dict(zip(*parts, strict=True))


def _symbols(workload: Workload) -> Iterable[str]:
    return json.loads(workload._model.summary())["symbols"]


def _check_providers(
    providers: Sequence[str | tuple[str, Mapping[str, Any]]] | None,
) -> None:
    for provider in providers or ():
        name = provider if isinstance(provider, str) else provider[0]
        if name not in _PROVIDERS:
            known = ", ".join(_PROVIDERS)
            warnings.warn(f"there is no provider `{name}`; the model runs on {known}", stacklevel=3)


def get_available_providers() -> list[str]:
    """Returns what can run models: `CPUExecutionProvider`."""
    return list(_PROVIDERS)


def get_all_providers() -> list[str]:
    """Returns what can run models: `CPUExecutionProvider`."""
    return list(_PROVIDERS)


def get_device() -> str:
    """Returns what models run on: `CPU`."""
    return "CPU"


def set_default_logger_severity(severity: int) -> None:
    """Takes a severity; sessions write no log."""


def set_default_logger_verbosity(verbosity: int) -> None:
    """Takes a verbosity; sessions write no log."""
