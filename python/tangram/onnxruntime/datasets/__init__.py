"""Not here: the example models are in the package onnxruntime."""

from collections.abc import Callable
from typing import Any

from tangram.onnxruntime import _alias, _elsewhere

_alias.unify(__name__)

__getattr__: Callable[[str], Any] = _elsewhere.of(
    "datasets", "the example models are in the package onnxruntime"
)
