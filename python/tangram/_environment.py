"""What onnxruntime's package says and sets for the whole process."""

from __future__ import annotations

import os
import platform
from typing import Any

from tangram import _native
from tangram._devices import OrtArenaCfg, OrtEpDevice, OrtMemoryInfo

ONNXRUNTIME = "1.31.1"
"""The version of onnxruntime whose interface this is."""

PROVIDERS = ["CPUExecutionProvider"]

ELSEWHERE = frozenset(
    f"{name}ExecutionProvider"
    for name in "ACL Azure CANN CUDA CoreML Dml Dnnl Js MIGraphX Nnapi NvTensorRTRTX OpenVINO QNN Rknpu Tensorrt "
    "VSINPU VitisAI WebGpu WebNN Xnnpack".split()
)
"""The providers that onnxruntime has in some of its packages, and sessions here have not."""


def get_available_providers() -> list[str]:
    """Returns what can run models: `CPUExecutionProvider`."""
    return list(PROVIDERS)


def get_all_providers() -> list[str]:
    """Returns what can run models: `CPUExecutionProvider`."""
    return list(PROVIDERS)


def get_ep_devices() -> list[OrtEpDevice]:
    """Returns what can run models: one provider, on the processor."""
    return [OrtEpDevice()]


def get_device() -> str:
    """Returns what models run on: `CPU`."""
    return "CPU"


def get_version_string() -> str:
    """Returns the version of onnxruntime whose interface this is; `tangram.version()` is tangram's."""
    return ONNXRUNTIME


def get_build_info() -> str:
    """Returns what runs the models."""
    return f"tangram {_native.version()}, with the interface of onnxruntime {ONNXRUNTIME}"


def has_collective_ops() -> bool:
    """Returns whether models run on several machines together: they do not."""
    return False


def set_default_logger_severity(severity: int) -> None:
    """Takes a severity; sessions write no log."""


def set_default_logger_verbosity(verbosity: int) -> None:
    """Takes a verbosity; sessions write no log."""


def enable_telemetry_events() -> None:
    """Does nothing: nothing is ever sent to anyone."""


def disable_telemetry_events() -> None:
    """Does nothing: nothing is ever sent to anyone."""


def set_seed(seed: int) -> None:
    """Takes a seed, without effect: operators that draw numbers have an attribute for theirs."""


def set_global_thread_pool_sizes(intra_op_num_threads: int = 0, inter_op_num_threads: int = 0) -> None:
    """Takes numbers of threads, without effect: `SessionOptions.intra_op_num_threads` has one."""


def create_and_register_allocator(memory_info: OrtMemoryInfo, arena_cfg: OrtArenaCfg) -> None:
    """Takes an allocator, without effect: each session plans its memory."""


def create_and_register_allocator_v2(
    provider_type: str, memory_info: OrtMemoryInfo, options: Any, arena_cfg: OrtArenaCfg
) -> None:
    """Takes an allocator, without effect: each session plans its memory."""


def preload_dlls(
    cuda: bool = True, cudnn: bool = True, msvc: bool = True, directory: str | None = None
) -> None:
    """Does nothing: models run on the CPU and need no libraries of others."""


def print_debug_info() -> None:
    """Prints versions and places, for whoever reports what went wrong."""
    print(get_build_info())
    print(f"python {platform.python_version()} on {platform.platform()}")
    print(f"package {os.path.dirname(_native.__file__)}")
