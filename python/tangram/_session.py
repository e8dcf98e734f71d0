"""Models that run, under the names that users of onnxruntime know.

`import tangram as ort` runs a script that was written for `onnxruntime`: what it asks of the session
is done, and options that mean nothing here are taken without effect.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tangram import _native
from tangram._devices import (
    OrtDevice,
    OrtDeviceVendorId,
    OrtEpAssignedNode,
    OrtEpAssignedSubgraph,
    OrtEpDevice,
    OrtMemoryInfo,
    cpu_memory,
)
from tangram._environment import ELSEWHERE, PROVIDERS
from tangram._exceptions import Fail, InvalidArgument, failure, opening_failure
from tangram._feeds import fitting
from tangram._io_binding import IOBinding
from tangram._ort_value import NodeArg, OrtValue, arrays
from tangram._session_options import GraphOptimizationLevel, RunOptions, SessionOptions
from tangram._starting import Starting
from tangram._workload import Workload

if TYPE_CHECKING:
    from tangram._workload import ModelLike

    Provider = str | tuple[str, Mapping[str, Any]]


class ModelMetadata:
    """What a model says of itself."""

    def __init__(self, model: _native.Model) -> None:
        texts, version, pairs = model.metadata()
        self.producer_name, self.domain, self.description = texts[:3]
        self.graph_name, self.graph_description = texts[3:]
        self.version = version
        self.custom_metadata_map = pairs


class Coverage(NamedTuple):
    """How many times an operation is compiled, and how many times it runs on the reference kernels."""

    compiled: int
    reference: int
    reasons: dict[str, int]
    """Why it is not compiled, with the number of times that this is the reason."""


class InferenceSession:
    """A model that runs.

    `path_or_bytes`: a path, the bytes of a model, an `onnx.ModelProto` or a `Workload`; external data
    of bytes is looked for in the current folder. `sess_options`: a `SessionOptions`. `providers`: there
    is one, `CPUExecutionProvider`.

    The rules of the library are applied first, unless `graph_optimization_level` says otherwise.
    Compiled code lies in the user's cache folder; what is not compiled runs on the reference
    kernels. Several threads may run one session. Inputs are read where they lie: an array is left
    alone while a run has it.

    Raises `NoSuchFile`, `InvalidProtobuf` or `InvalidGraph` (the latter two are `ModelError`s) for
    what is no model, and `ModelError` where code is to be compiled but there is no C compiler.
    """

    def __init__(
        self,
        path_or_bytes: ModelLike,
        sess_options: SessionOptions | None = None,
        providers: Sequence[Provider] | None = None,
        provider_options: Sequence[Mapping[str, Any]] | None = None,
        **kwargs: Any,
    ) -> None:
        options = sess_options if sess_options is not None else SessionOptions()
        _check_providers(providers)
        is_path = isinstance(path_or_bytes, (str, os.PathLike))
        self._model_path = os.fspath(path_or_bytes) if is_path else None  # type: ignore[arg-type]
        self._options = options
        try:
            workload = _opened(path_or_bytes, options)
        except (_native.ModelError, FileNotFoundError) as error:
            raise opening_failure(error) from None
        self._metadata = ModelMetadata(workload._model)
        if options._free_dimensions:
            known = set(json.loads(workload._model.summary())["symbols"])
            sizes = {n: size for n, size in options._free_dimensions.items() if n in known}
            workload = workload.edit(dim=sizes)
        if options.optimized_model_filepath:
            workload.optimize().save(options.optimized_model_filepath)
        self._session = _compiled(workload, options)
        ports = self._session.inputs()
        self._inputs = [NodeArg(name, kind) for name, kind, default in ports if not default]
        self._defaults = [NodeArg(name, kind) for name, kind, default in ports if default]
        self._kinds = {name: kind for name, kind, _ in ports}
        self._outputs = [NodeArg(name, kind) for name, kind in self._session.outputs()]
        self._places = {node.name: at for at, node in enumerate(self._outputs)}
        self._all = list(range(len(self._outputs)))
        self._started = time.time_ns()
        self._events: list[dict[str, Any]] = []
        self._profiles = options.enable_profiling

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
        wanted = self._wanted(output_names)
        values = {name: self._native_value(name, value) for name, value in input_feed.items()}
        view = arrays().view
        return [view(value) for value in self._run(wanted, values, {}, _flag(run_options))]

    def run_with_ort_values(
        self,
        output_names: Sequence[str] | None,
        input_dict_ort_values: Mapping[str, Any],
        run_options: RunOptions | None = None,
    ) -> list[OrtValue]:
        """Runs as `run` does, and returns values that stay where they are."""
        wanted = self._wanted(output_names)
        given = input_dict_ort_values.items()
        values = {name: self._native_value(name, value) for name, value in given}
        return [OrtValue(value) for value in self._run(wanted, values, {}, _flag(run_options))]

    def run_with_ortvaluevector(
        self,
        run_options: RunOptions | None,
        feed_names: Sequence[str],
        feeds: Sequence[OrtValue],
        fetch_names: Sequence[str],
        fetches: list[OrtValue],
        fetch_devices: Sequence[Any],
    ) -> None:
        """Runs on values in the order of `feed_names`, and appends outputs to `fetches`."""
        given = dict(zip(feed_names, feeds, strict=True))
        fetches += self.run_with_ort_values(fetch_names, given, run_options)

    def run_async(
        self,
        output_names: Sequence[str] | None,
        input_feed: Mapping[str, Any],
        callback: Callable[[list[Any], Any, str], object],
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
        """Runs on what is bound, and fills the outputs that are."""
        if iobinding._session is not self:
            raise InvalidArgument("the binding is that of another session")
        iobinding._run(_flag(run_options))

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
        return list(PROVIDERS)

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        """Returns the options of each provider: none."""
        return {name: {} for name in PROVIDERS}

    def set_providers(
        self,
        providers: Sequence[Provider] | None = None,
        provider_options: Sequence[Mapping[str, Any]] | None = None,
    ) -> None:
        """Takes the names of providers; there is one.

        Raises `Fail` for a name that is none of a provider of onnxruntime.
        """
        for name in _provider_names(providers):
            if name not in PROVIDERS and name not in ELSEWHERE:
                raise Fail(f"there is no provider `{name}`; models run on {', '.join(PROVIDERS)}")
        _check_providers(providers)

    def enable_fallback(self) -> None:
        """Does nothing: what is not compiled runs on the reference kernels in any case."""

    def disable_fallback(self) -> None:
        """Does nothing: what is not compiled runs on the reference kernels in any case."""

    def create_ortvalue_from_shape_and_type(
        self,
        shape: Sequence[int],
        element_type: Any,
        device_type: str,
        device_id: int = 0,
        vendor_id: int | OrtDeviceVendorId = -1,
    ) -> OrtValue:
        """Makes a tensor of zeros, which may be bound to any session."""
        OrtDevice.make(device_type, device_id, vendor_id).needs_cpu()
        return OrtValue.ortvalue_from_shape_and_type(shape, element_type)

    def get_input_memory_infos(self) -> list[OrtMemoryInfo]:
        """Returns where each input is: in the memory of the CPU."""
        return [cpu_memory() for _ in self._inputs]

    def get_output_memory_infos(self) -> list[OrtMemoryInfo]:
        """Returns where each output is: in the memory of the CPU."""
        return [cpu_memory() for _ in self._outputs]

    def get_input_epdevices(self) -> list[OrtEpDevice]:
        """Returns what reads each input: the processor."""
        return [OrtEpDevice() for _ in self._inputs]

    def get_provider_graph_assignment_info(self) -> list[OrtEpAssignedSubgraph]:
        """Returns what runs where: all operations, as the rules left them, on the processor."""
        counts = self.coverage().items()
        nodes = [OrtEpAssignedNode("", "", name) for name, count in counts for _ in range(count.compiled + count.reference)]
        return [OrtEpAssignedSubgraph(PROVIDERS[0], nodes)]

    def set_ep_dynamic_options(self, options: Mapping[str, str]) -> None:
        """Raises `Fail`: there is one provider, which has no options."""
        raise Fail("`CPUExecutionProvider` has no options that could be set while a model runs")

    def get_tuning_results(self) -> list[Any]:
        """Returns what was tuned: nothing is; code is chosen by a model of the processor."""
        return []

    def set_tuning_results(self, results: Sequence[Any], *, error_on_invalid: bool = False) -> None:
        """Takes what was tuned, without effect; raises `Fail` for something if that is an error."""
        if results and error_on_invalid:
            raise Fail("nothing is tuned: code is chosen by a model of the processor")

    def release_captured_graph(self, graph_annotation_id: int = 0) -> None:
        """Does nothing: no graph of a device is captured."""

    def get_profiling_start_time_ns(self) -> int:
        """Returns when the times of the profile start; 0 if nothing is profiled."""
        return self._started if self._options.enable_profiling else 0

    def end_profiling(self) -> str:
        """Writes what each step of each run took, as Chrome's trace viewer reads it.

        Returns the name of the file; nothing is written, and the name is empty, unless
        `enable_profiling` was set when the session was made, and where profiling has ended.
        """
        if not self._profiles:
            return ""
        stamp = time.strftime("%Y-%m-%d_%H-%M-%S", time.localtime(self._started // 10**9))
        path = f"{self._options.profile_file_prefix}_{stamp}.json"
        _native.write_file(path, json.dumps(self._events).encode())
        self._events, self._profiles = [], False
        return path

    def coverage(self) -> dict[str, Coverage]:
        """Returns for each operation how many are compiled, how many run on the reference kernels,
        and why.

        >>> session.coverage()["nn.nonzero"]  # doctest: +SKIP
        Coverage(compiled=0, reference=1, reasons={'it has no definition as loops': 1})
        """
        return {name: Coverage(*counts) for name, *counts in self._session.coverage()}

    def __repr__(self) -> str:
        inputs = ", ".join(node.name for node in self._inputs)
        return f"InferenceSession({inputs} -> {', '.join(node.name for node in self._outputs)})"

    def _run(
        self,
        wanted: list[int],
        values: Mapping[str, _native.Value],
        targets: Mapping[str, _native.Value],
        stop: _native.Flag | None,
    ) -> list[_native.Value]:
        """Runs on values, writes outputs to `targets`, and returns those that are wanted."""
        profiles = self._profiles
        start = time.time_ns() if profiles else 0
        places = [targets.get(node.name) for node in self._outputs] if targets else []
        try:
            outputs, steps = self._session.run(
                list(values), list(values.values()), profiles, places, stop
            )
        except (_native.EvaluationError, ValueError) as error:
            raise failure(error) from None
        if profiles:
            self._record(start, time.time_ns(), steps)
        return [outputs[at] for at in wanted]

    def _wanted(self, names: Sequence[str] | None) -> list[int]:
        """The numbers of outputs."""
        if not names:
            return self._all
        try:
            return [self._places[name] for name in names]
        except KeyError:
            unknown = [name for name in names if name not in self._places]
            known = list(self._places)
            raise InvalidArgument(f"the model has no output {unknown}; it has {known}") from None

    def _known_input(self, name: str) -> Any:
        """The kind of an input."""
        kind = self._kinds.get(name)
        if kind is None:
            raise InvalidArgument(f"the model has no input `{name}`; it has {list(self._kinds)}")
        return kind

    def _native_value(self, name: str, value: Any) -> _native.Value:
        if isinstance(value, OrtValue):
            return value._value
        array = fitting(name, value, self._known_input(name))
        try:
            return arrays().native(array)
        except InvalidArgument as error:
            raise InvalidArgument(f"input `{name}`: {error}") from None

    def _record(
        self, start: int, end: int, steps: list[tuple[str, list[str], bool, float]]
    ) -> None:
        origin = (start - self._started) / 1000
        common = {"ph": "X", "pid": os.getpid(), "tid": 0}
        whole = {"cat": "Session", "name": "model_run", "ts": origin, "dur": (end - start) / 1000}
        self._events.append(common | whole)
        for name, operations, compiled, seconds in steps:
            # Who looks at times looks for operators.
            shown = ", ".join(operation.removeprefix("nn.") for operation in operations)
            what = {"op_name": ", ".join(operations), "compiled": compiled, "function": name}
            step = {"cat": "Node", "name": shown, "ts": origin, "dur": seconds * 1e6, "args": what}
            self._events.append(common | step)
            origin += seconds * 1e6


def _opened(path_or_bytes: ModelLike, options: SessionOptions) -> Workload:
    """The model with what the options give besides it."""
    if isinstance(path_or_bytes, (str, os.PathLike)):
        # The file may be written to while the session lives.
        return Workload(_native.Model.read(path_or_bytes, options._given(None)))
    if isinstance(path_or_bytes, (bytes, bytearray, memoryview)):
        given = options._given(os.getcwd())
        return Workload(_native.Model.decode(bytes(path_or_bytes), [], given))
    return Workload.from_onnx(path_or_bytes)


def _compiled(workload: Workload, options: SessionOptions) -> _native.Session:
    """The native session; while it is compiled, that is said."""
    optimize = options.graph_optimization_level != GraphOptimizationLevel.ORT_DISABLE_ALL
    with Starting(quiet=options.log_severity_level >= 3) as starting:
        try:
            return _native.Session.of(
                workload._model,
                optimize,
                options.use_deterministic_compute,
                options.interpret,
                options._threads(),
                starting.heard,
            )
        except (_native.ModelError, _native.EvaluationError, ValueError) as error:
            raise opening_failure(error) from None


def _flag(run_options: RunOptions | None) -> _native.Flag | None:
    return None if run_options is None else run_options._flag


def _provider_names(providers: Sequence[Provider] | None) -> list[str]:
    return [one if isinstance(one, str) else one[0] for one in providers or ()]


def _check_providers(providers: Sequence[Provider] | None) -> None:
    for name in _provider_names(providers):
        if name not in PROVIDERS:
            known = ", ".join(PROVIDERS)
            warnings.warn(f"there is no provider `{name}`; the model runs on {known}", stacklevel=3)
