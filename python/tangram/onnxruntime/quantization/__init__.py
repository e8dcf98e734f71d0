"""Not here: models are quantised by the package onnxruntime, and run here."""

from collections.abc import Callable
from typing import Any

from tangram.onnxruntime import _alias, _elsewhere

_alias.unify(__name__)

__getattr__: Callable[[str], Any] = _elsewhere.of(
    "quantization", "models are quantised by the package onnxruntime, and run here"
)
