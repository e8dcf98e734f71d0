"""A model that a backend has prepared."""

from __future__ import annotations

from typing import Any

from tangram._session import InferenceSession
from tangram._session_options import RunOptions
from tangram.onnxruntime import _alias

_alias.unify(__name__)

__all__ = [
    "OnnxRuntimeBackendRep",
    "RunOptions",
]


class OnnxRuntimeBackendRep:
    """A session under the names of ONNX's `BackendRep`."""

    def __init__(self, session: InferenceSession) -> None:
        self._session = session

    def run(self, inputs: Any, **kwargs: Any) -> list[Any]:
        """Runs the model on an array, a list of them in the order of inputs, or arrays by name."""
        names = [node.name for node in self._session.get_inputs()]
        if isinstance(inputs, dict):
            feed = inputs
        elif isinstance(inputs, (list, tuple)) and len(names) > 1:
            feed = dict(zip(names, inputs, strict=True))
        else:
            alone = inputs[0] if isinstance(inputs, (list, tuple)) and len(inputs) == 1 else inputs
            feed = {names[0]: alone}
        return self._session.run(kwargs.get("output_names"), feed)
