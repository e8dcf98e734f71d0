"""A backend of ONNX on sessions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tangram._devices import OrtDevice
from tangram._environment import get_available_providers, get_device
from tangram._session import InferenceSession
from tangram._session_options import SessionOptions
from tangram.onnxruntime.backend.backend_rep import OnnxRuntimeBackendRep
from tangram.onnxruntime import _alias

_alias.unify(__name__)

__all__ = [
    "OnnxRuntimeBackend",
    "get_available_providers",
    "get_device",
    "is_compatible",
    "prepare",
    "run",
    "supports_device",
]


class OnnxRuntimeBackend:
    """Runs models under the names of ONNX's `Backend`."""

    allowReleasedOpsetsOnly = True

    @classmethod
    def is_compatible(cls, model: Any, device: str | None = None, **kwargs: Any) -> bool:
        """Returns whether a session of the model can be made."""
        return cls.supports_device(device or "CPU")

    @classmethod
    def is_opset_supported(cls, model: Any) -> tuple[bool, str]:
        """Returns whether the operator sets of the model are known: what is not, `prepare` says."""
        return True, ""

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Returns whether models run on a device: on the CPU they do."""
        return device.upper().split(":")[0] == "CPU"

    @classmethod
    def prepare(cls, model: Any, device: str | None = None, **kwargs: Any) -> OnnxRuntimeBackendRep:
        """Makes a session of a path, bytes, an `onnx.ModelProto` or a session, ready to run.

        Keywords are options of sessions.
        """
        OrtDevice.make((device or "cpu").lower().split(":")[0], 0).needs_cpu()
        if isinstance(model, OnnxRuntimeBackendRep):
            return model
        if isinstance(model, InferenceSession):
            return OnnxRuntimeBackendRep(model)
        options = SessionOptions()
        for name, value in kwargs.items():
            if hasattr(options, name):
                setattr(options, name, value)
        return OnnxRuntimeBackendRep(InferenceSession(model, options))

    @classmethod
    def run_model(
        cls, model: Any, inputs: Any, device: str | None = None, **kwargs: Any
    ) -> Sequence[Any]:
        """Makes a session of a model and runs it."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(cls, node: Any, inputs: Any, device: str | None = None, **kwargs: Any) -> None:
        """Raises `NotImplementedError`: a node has no types; make a model of it."""
        raise NotImplementedError("a node says no types of its values: make a model of it")


is_compatible: Final = OnnxRuntimeBackend.is_compatible
prepare: Final = OnnxRuntimeBackend.prepare
run: Final = OnnxRuntimeBackend.run_model
supports_device: Final = OnnxRuntimeBackend.supports_device
