"""The names of the package onnxruntime, so that a program which imports that runs on this.

>>> import tangram.onnxruntime as ort                 # in place of: import onnxruntime as ort

For packages that are not one's own, before they are imported:

>>> tangram.onnxruntime.install()                     # doctest: +SKIP
>>> import rapidocr_onnxruntime                       # doctest: +SKIP

What is not here raises an error that says why. `__version__` is that of the interface.
"""

from __future__ import annotations

import sys

from tangram._devices import (
    OrtAllocatorType,
    OrtArenaCfg,
    OrtCompileApiFlags,
    OrtDevice,
    OrtDeviceMemoryType,
    OrtDeviceVendorId,
    OrtEpAssignedNode,
    OrtEpAssignedSubgraph,
    OrtEpDevice,
    OrtExecutionProviderDevicePolicy,
    OrtExternalInitializerInfo,
    OrtHardwareDevice,
    OrtHardwareDeviceType,
    OrtMemoryInfo,
    OrtMemoryInfoDeviceType,
    OrtMemType,
    OrtSparseFormat,
)
from tangram._environment import (
    ONNXRUNTIME,
    create_and_register_allocator,
    create_and_register_allocator_v2,
    disable_telemetry_events,
    enable_telemetry_events,
    get_all_providers,
    get_available_providers,
    get_build_info,
    get_device,
    get_ep_devices,
    get_version_string,
    has_collective_ops,
    preload_dlls,
    print_debug_info,
    set_default_logger_severity,
    set_default_logger_verbosity,
    set_global_thread_pool_sizes,
    set_seed,
)
from tangram._io_binding import IOBinding
from tangram._ort_value import NodeArg, OrtValue, copy_tensors
from tangram._session import InferenceSession, ModelMetadata
from tangram._session_options import (
    ExecutionMode,
    ExecutionOrder,
    GraphOptimizationLevel,
    RunOptions,
    SessionOptions,
)
from tangram.onnxruntime._absent import (
    AdapterFormat,
    LoraAdapter,
    ModelCompiler,
    OrtEpContextData,
    OrtEpContextDataBuffer,
    OrtSyncStream,
    SparseTensor,
    register_execution_provider_library,
    unregister_execution_provider_library,
)

SessionIOBinding = IOBinding
"""One class binds here, in onnxruntime two."""

__version__ = version = ONNXRUNTIME
package_name = "onnxruntime"
cuda_version = ""
import_capi_exception: Exception | None = None


def install() -> None:
    """Makes `import onnxruntime` give this package, in this process, from now on.

    Raises `RuntimeError` if onnxruntime itself is imported already.
    """
    here = sys.modules[__name__]
    there = sys.modules.setdefault("onnxruntime", here)
    if there is not here and not getattr(there, "__file__", "").startswith(__path__[0]):
        raise RuntimeError("onnxruntime is imported already: install before anything imports it")


__all__ = [
    "AdapterFormat",
    "ExecutionMode",
    "ExecutionOrder",
    "GraphOptimizationLevel",
    "IOBinding",
    "InferenceSession",
    "LoraAdapter",
    "ModelCompiler",
    "ModelMetadata",
    "NodeArg",
    "OrtAllocatorType",
    "OrtArenaCfg",
    "OrtCompileApiFlags",
    "OrtDevice",
    "OrtDeviceMemoryType",
    "OrtDeviceVendorId",
    "OrtEpAssignedNode",
    "OrtEpAssignedSubgraph",
    "OrtEpContextData",
    "OrtEpContextDataBuffer",
    "OrtEpDevice",
    "OrtExecutionProviderDevicePolicy",
    "OrtExternalInitializerInfo",
    "OrtHardwareDevice",
    "OrtHardwareDeviceType",
    "OrtMemType",
    "OrtMemoryInfo",
    "OrtMemoryInfoDeviceType",
    "OrtSparseFormat",
    "OrtSyncStream",
    "OrtValue",
    "RunOptions",
    "SessionIOBinding",
    "SessionOptions",
    "SparseTensor",
    "__version__",
    "copy_tensors",
    "create_and_register_allocator",
    "create_and_register_allocator_v2",
    "disable_telemetry_events",
    "enable_telemetry_events",
    "get_all_providers",
    "get_available_providers",
    "get_build_info",
    "get_device",
    "get_ep_devices",
    "get_version_string",
    "has_collective_ops",
    "install",
    "preload_dlls",
    "print_debug_info",
    "register_execution_provider_library",
    "set_default_logger_severity",
    "set_default_logger_verbosity",
    "set_global_thread_pool_sizes",
    "set_seed",
    "unregister_execution_provider_library",
]
