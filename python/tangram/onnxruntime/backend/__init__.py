"""The interface of ONNX's backends: `prepare` a model, `run` it."""

from tangram.onnxruntime.backend.backend import (
    OnnxRuntimeBackend,
    is_compatible,
    prepare,
    run,
    supports_device,
)
from tangram.onnxruntime import _alias

_alias.unify(__name__)

__all__ = ["OnnxRuntimeBackend", "is_compatible", "prepare", "run", "supports_device"]
