"""The options of sessions and runs, under onnxruntime's names."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tangram import _native
from tangram._devices import OrtEpDevice, OrtExecutionProviderDevicePolicy
from tangram._exceptions import Fail, NotImplemented
from tangram._ort_value import OrtValue


class GraphOptimizationLevel(enum.IntEnum):
    """Whether rules are applied to a model before it runs: not at all, or all that are shipped."""

    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(enum.IntEnum):
    """Taken without effect: steps run in order."""

    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class ExecutionOrder(enum.IntEnum):
    """Taken without effect: steps run in order."""

    DEFAULT = 0
    PRIORITY_BASED = 1
    MEMORY_EFFICIENT = 2


class _Typed:
    """Attributes of fixed types: another value is a `TypeError`, as with onnxruntime's options."""

    __slots__ = ()

    if not TYPE_CHECKING:
        # Type checkers know the attributes that there are.
        def __setattr__(self, name: str, value: Any) -> None:
            object.__setattr__(self, name, _checked(name, value, _KINDS[name]) if name in _KINDS else value)


def _checked(name: str, value: Any, kind: type) -> Any:
    """A value of a type; numbers and `None` are truths, and whatever counts is a whole number."""
    if kind is bool and (value is None or isinstance(value, int)):
        return bool(value)
    if kind is int and hasattr(value, "__index__"):
        return value.__index__()
    if kind in (bool, int) or not isinstance(value, kind):
        raise TypeError(f"`{name}`: {kind.__name__} expected, found {value!r}")
    return value


class SessionOptions(_Typed):
    """How a model is compiled and run.

    Of onnxruntime's options, these have an effect: `graph_optimization_level`,
    `enable_profiling`, `profile_file_prefix`, `optimized_model_filepath`,
    `use_deterministic_compute` (products and sums are rounded each by itself),
    `intra_op_num_threads` (0: as many as the machine has; the results are the same bits for any
    number), `log_severity_level` (from 3 on, a first start does not say that it compiles),
    `add_free_dimension_override_by_name`, `add_initializer` and the two beside it, and the entries
    `session.intra_op_num_threads` and `session.model_external_initializers_file_folder_path`. The others
    are taken without effect.
    """

    __slots__ = (
        "_config",
        "_files",
        "_free_dimensions",
        "_initializers",
        "_providers",
        "enable_cpu_mem_arena",
        "enable_mem_pattern",
        "enable_mem_reuse",
        "enable_profiling",
        "execution_mode",
        "execution_order",
        "graph_optimization_level",
        "inter_op_num_threads",
        "interpret",
        "intra_op_num_threads",
        "log_severity_level",
        "log_verbosity_level",
        "logid",
        "optimized_model_filepath",
        "profile_file_prefix",
        "use_deterministic_compute",
        "use_per_session_threads",
    )

    def __init__(self) -> None:
        self.graph_optimization_level: GraphOptimizationLevel = GraphOptimizationLevel.ORT_ENABLE_ALL
        self.intra_op_num_threads: int = 0
        self.inter_op_num_threads: int = 0
        self.execution_mode: ExecutionMode = ExecutionMode.ORT_SEQUENTIAL
        self.execution_order: ExecutionOrder = ExecutionOrder.DEFAULT
        self.enable_profiling: bool = False
        self.profile_file_prefix: str = "tangram_profile"
        self.optimized_model_filepath: str = ""
        self.enable_cpu_mem_arena: bool = True
        self.enable_mem_pattern: bool = True
        self.enable_mem_reuse: bool = True
        self.log_severity_level: int = -1
        self.log_verbosity_level: int = 0
        self.logid: str = ""
        self.use_deterministic_compute: bool = False
        self.use_per_session_threads: bool = True
        self.interpret: bool = False
        """Whether nothing is compiled: every operation runs on the reference kernels."""
        self._config: dict[str, str] = {}
        self._free_dimensions: dict[str, int] = {}
        self._initializers: dict[str, OrtValue] = {}
        self._files: dict[str, bytes] = {}
        self._providers: list[str] = []

    def add_session_config_entry(self, key: str, value: str) -> None:
        """Takes an entry; the documentation of the class names those that have an effect."""
        self._config[key] = value

    def get_session_config_entry(self, key: str) -> str:
        """Returns an entry; raises `RuntimeError` if there is none."""
        return _entry(self._config, "session options", key)

    def has_session_config_entry(self, key: str) -> bool:
        """Returns whether there is an entry."""
        return key in self._config

    def add_free_dimension_override_by_name(self, name: str, value: int) -> None:
        """Fixes the size of a named dimension."""
        self._free_dimensions[name] = value

    def add_free_dimension_override_by_denotation(self, denotation: str, value: int) -> None:
        """Taken without effect: sizes are fixed by name."""

    def add_initializer(self, name: str, ort_value: OrtValue) -> None:
        """Gives an initializer of the model another value; one that it has not is not used."""
        self._initializers[name] = ort_value

    def add_external_initializers(self, names: Sequence[str], ort_values: Sequence[OrtValue]) -> None:
        """Gives initializers their values, in place of those that lie in other files."""
        self._initializers.update(zip(names, ort_values, strict=True))

    def add_external_initializers_from_files_in_memory(
        self, names: Sequence[str], buffers: Sequence[Any], lengths: Sequence[int]
    ) -> None:
        """Gives the bytes of files in which initializers lie."""
        for name, buffer, length in zip(names, buffers, lengths, strict=True):
            self._files[name] = bytes(memoryview(buffer).cast("B")[:length])

    def add_provider(self, name: str, options: Mapping[str, str]) -> None:
        """Takes a provider; there is one, `CPUExecutionProvider`."""
        self._providers.append(name)

    def add_provider_for_devices(
        self, devices: Sequence[OrtEpDevice], options: Mapping[str, str]
    ) -> None:
        """Takes the provider of devices; there is one, `CPUExecutionProvider`."""
        self._providers += [device.ep_name for device in devices]

    def has_providers(self) -> bool:
        """Returns whether a provider was named."""
        return bool(self._providers)

    def set_provider_selection_policy(self, policy: OrtExecutionProviderDevicePolicy) -> None:
        """Takes a policy, without effect: there is one provider."""

    def set_provider_selection_policy_delegate(self, delegate: Callable[..., Any]) -> None:
        """Takes a policy, without effect: there is one provider."""

    def set_load_cancellation_flag(self, value: bool) -> None:
        """Raises `NotImplemented` if it is set: making a session cannot be ended from outside."""
        if value:
            raise NotImplemented("making a session cannot be ended from outside")

    def set_ep_context_data_read_func(self, read_func: Callable[..., Any]) -> None:
        """Raises `NotImplemented`: there are no models compiled for other providers here."""
        raise NotImplemented("there are no models compiled for other providers here")

    def clear_ep_context_data_read_func(self) -> None:
        """Does nothing: none was set."""

    def register_custom_ops_library(self, path: str) -> None:
        """Raises `Fail`: custom operators are code for onnxruntime; `tangram.Operator` declares one."""
        raise Fail(
            f"{path}: libraries of custom operators are code for onnxruntime; operators of one's own "
            "are declared by `tangram.Operator`"
        )

    def _threads(self) -> int:
        """How many threads a run may have; 0 for as many as the machine has."""
        entry = self._config.get("session.intra_op_num_threads", "0")
        return max(0, self.intra_op_num_threads or (int(entry) if entry.isdigit() else 0))

    def _given(self, folder: str | None) -> dict[str, Any]:
        """What is given besides the model; `folder`: where external data of a model in memory lies."""
        folder = self._config.get("session.model_external_initializers_file_folder_path", folder)
        values = [(name, one.element_type(), one._value) for name, one in self._initializers.items()]
        return {"folder": folder, "values": values, "files": list(self._files.items())}


def _entry(entries: Mapping[str, str], whose: str, key: str) -> str:
    """An entry; what is absent is a `KeyError` and, as in onnxruntime, a `RuntimeError`."""
    if key not in entries:
        raise _NoEntry(f"{whose} have no entry `{key}`")
    return entries[key]


class _NoEntry(KeyError, RuntimeError):
    def __str__(self) -> str:
        return str(self.args[0])


class RunOptions(_Typed):
    """How a model is run: `terminate` ends runs that have these options; the others have no effect."""

    __slots__ = (
        "_config",
        "_flag",
        "log_severity_level",
        "log_verbosity_level",
        "logid",
        "only_execute_path_to_fetches",
    )

    def __init__(self) -> None:
        self.log_severity_level: int = -1
        self.log_verbosity_level: int = 0
        self.logid: str = ""
        self.only_execute_path_to_fetches: bool = False
        self._flag = _native.Flag()
        self._config: dict[str, str] = {}

    @property
    def terminate(self) -> bool:
        """Whether runs that have these options end, before their next step, with a `Fail`."""
        return self._flag.is_set()

    @terminate.setter
    def terminate(self, value: bool) -> None:
        self._flag.set(value)

    def add_run_config_entry(self, key: str, value: str) -> None:
        """Takes an entry; none has an effect."""
        self._config[key] = value

    def get_run_config_entry(self, key: str) -> str:
        """Returns an entry; raises `RuntimeError` if there is none."""
        return _entry(self._config, "run options", key)

    def add_active_adapter(self, adapter: Any) -> None:
        """Raises `NotImplemented`: adapters replace weights, which are packed when a model is compiled."""
        raise NotImplemented("adapters replace weights, which are packed when a model is compiled")


_KINDS: dict[str, type] = {
    "enable_cpu_mem_arena": bool,
    "enable_mem_pattern": bool,
    "enable_mem_reuse": bool,
    "enable_profiling": bool,
    "execution_mode": ExecutionMode,
    "execution_order": ExecutionOrder,
    "graph_optimization_level": GraphOptimizationLevel,
    "inter_op_num_threads": int,
    "interpret": bool,
    "intra_op_num_threads": int,
    "log_severity_level": int,
    "log_verbosity_level": int,
    "logid": str,
    "only_execute_path_to_fetches": bool,
    "optimized_model_filepath": str,
    "profile_file_prefix": str,
    "use_deterministic_compute": bool,
    "use_per_session_threads": bool,
}
"""The types of the options."""
