"""Not here: these work on files for onnxruntime; use that package for them."""

from collections.abc import Callable
from typing import Any

from tangram.onnxruntime import _alias, _elsewhere

_alias.unify(__name__)

__getattr__: Callable[[str], Any] = _elsewhere.of(
    "tools", "these work on files for onnxruntime; use that package for them"
)
