"""What onnxruntime has and is not here: each name raises an error that says why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn


def _absent_class(name: str, why: str) -> type:
    def refuse(self: object, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"onnxruntime's `{name}` is not in tangram: {why}")

    def refuse_static(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"onnxruntime's `{name}` is not in tangram: {why}")

    class _Refusing(type):
        def __getattr__(cls, attribute: str) -> Any:
            if attribute.startswith("__"):
                raise AttributeError(attribute)
            return refuse_static

    return _Refusing(name, (), {"__init__": refuse, "__doc__": f"Not here: {why}."})


def _absent_function(name: str, why: str) -> Callable[..., NoReturn]:
    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"onnxruntime's `{name}` is not in tangram: {why}")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = f"Raises `NotImplementedError`: {why}."
    return refuse


_LORA = "adapters replace weights while a model runs, and weights are packed when it is compiled"
_SPARSE = "sessions compute on dense tensors; give dense arrays"
_CONTEXT = "models are not compiled for accelerators; `tangram compile` writes libraries and C"
_PLUGIN = "there is one provider, `CPUExecutionProvider`, and no other can be loaded"
_STREAM = "a run is done when it returns: there is no stream to wait for"
_KERNELS = "operators are not implemented by kernels of onnxruntime"
_PACK = "it lays out weights for an operator of onnxruntime; use the package onnxruntime for that"

AdapterFormat: Any = _absent_class("AdapterFormat", _LORA)
LoraAdapter: Any = _absent_class("LoraAdapter", _LORA)
ModelCompiler: Any = _absent_class("ModelCompiler", _CONTEXT)
OrtEpContextData: Any = _absent_class("OrtEpContextData", _CONTEXT)
OrtEpContextDataBuffer: Any = _absent_class("OrtEpContextDataBuffer", _CONTEXT)
OrtSyncStream: Any = _absent_class("OrtSyncStream", _STREAM)
SparseTensor: Any = _absent_class("SparseTensor", _SPARSE)
register_execution_provider_library: Callable[..., NoReturn] = _absent_function(
    "register_execution_provider_library", _PLUGIN
)
unregister_execution_provider_library: Callable[..., NoReturn] = _absent_function(
    "unregister_execution_provider_library", _PLUGIN
)

INTERNAL: dict[str, Any] = {
    **{name: _absent_class(name, _SPARSE) for name in (
        "SparseBlockSparseView", "SparseCooView", "SparseCsrView",
    )},
    **{name: _absent_function(name, _KERNELS) for name in (
        "get_all_operator_schema", "get_all_opkernel_def", "get_registered_ep_kernel_defs",
    )},
    **{name: _absent_function(name, _PLUGIN) for name in (
        "get_compatibility_info_from_model", "get_compatibility_info_from_model_bytes",
        "get_hardware_device_ep_incompatibility_details", "get_model_compatibility_for_ep_devices",
    )},
    **{name: _absent_class(name, _PLUGIN) for name in (
        "OrtCompiledModelCompatibility", "OrtDeviceEpIncompatibilityReason",
    )},
    **{name: _absent_function(name, _PACK) for name in (
        "pack_fp4_weights_for_cuda_moe_gemm", "quantize_matmul_2bits", "quantize_matmul_4bits",
        "quantize_matmul_8bits", "quantize_matmul_bnb4", "quantize_qdq_matmul_2bits",
        "quantize_qdq_matmul_4bits",
    )},
    **{name: _absent_class(name, _KERNELS) for name in ("opkernel", "schemadef")},
    "SessionObjectInitializer": _absent_class("SessionObjectInitializer", "it has no use"),
    "get_session_initializer": _absent_function("get_session_initializer", "it has no use"),
}
"""Names of the native module of onnxruntime that no program has reason to use."""
