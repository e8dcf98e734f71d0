"""The options of sessions and runs, under onnxruntime's names."""

from __future__ import annotations

import enum


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


class SessionOptions:
    """How a model is compiled and run.

    Of onnxruntime's options, these have an effect: `graph_optimization_level`,
    `enable_profiling`, `profile_file_prefix`, `optimized_model_filepath`,
    `use_deterministic_compute` (products and sums are rounded each by itself),
    `intra_op_num_threads` (0: as many as the machine has; the results are the same bits for any
    number) and `add_free_dimension_override_by_name`. The others are taken without effect.
    """

    __slots__ = (
        "_config",
        "_free_dimensions",
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
    )

    def __init__(self) -> None:
        self.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_ALL
        self.intra_op_num_threads = 0
        self.inter_op_num_threads = 0
        self.execution_mode = ExecutionMode.ORT_SEQUENTIAL
        self.execution_order = ExecutionOrder.DEFAULT
        self.enable_profiling = False
        self.profile_file_prefix = "tangram_profile"
        self.optimized_model_filepath = ""
        self.enable_cpu_mem_arena = True
        self.enable_mem_pattern = True
        self.enable_mem_reuse = True
        self.log_severity_level = -1
        self.log_verbosity_level = 0
        self.logid = ""
        self.use_deterministic_compute = False
        self.interpret = False
        """Whether nothing is compiled: every operation runs on the reference kernels."""
        self._config: dict[str, str] = {}
        self._free_dimensions: dict[str, int] = {}

    def add_session_config_entry(self, key: str, value: str) -> None:
        """Takes an entry; none has an effect."""
        self._config[key] = value

    def get_session_config_entry(self, key: str) -> str:
        """Returns an entry; raises `KeyError` if there is none."""
        return self._config[key]

    def has_session_config_entry(self, key: str) -> bool:
        """Returns whether there is an entry."""
        return key in self._config

    def add_free_dimension_override_by_name(self, name: str, value: int) -> None:
        """Fixes the size of a named dimension."""
        self._free_dimensions[name] = value

    def add_free_dimension_override_by_denotation(self, denotation: str, value: int) -> None:
        """Taken without effect: sizes are fixed by name."""

    def register_custom_ops_library(self, path: str) -> None:
        """Raises `NotImplementedError`: custom operators are code for onnxruntime."""
        raise NotImplementedError(f"{path}: libraries of custom operators are not supported")


class RunOptions:
    """How a model is run; taken without effect."""

    __slots__ = (
        "_config",
        "log_severity_level",
        "log_verbosity_level",
        "logid",
        "only_execute_path_to_fetches",
        "terminate",
    )

    def __init__(self) -> None:
        self.log_severity_level = -1
        self.log_verbosity_level = 0
        self.logid = ""
        self.only_execute_path_to_fetches = False
        self.terminate = False
        self._config: dict[str, str] = {}

    def add_run_config_entry(self, key: str, value: str) -> None:
        """Takes an entry; none has an effect."""
        self._config[key] = value

    def get_run_config_entry(self, key: str) -> str:
        """Returns an entry; raises `KeyError` if there is none."""
        return self._config[key]
