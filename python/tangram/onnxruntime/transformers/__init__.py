"""Not here: these make models of onnxruntime's own operators; use that package for them, the models run here."""

from collections.abc import Callable
from typing import Any

from tangram.onnxruntime import _alias, _elsewhere

_alias.unify(__name__)

__getattr__: Callable[[str], Any] = _elsewhere.of(
    "transformers", "these make models of onnxruntime's own operators; use that package for them, the models run here"
)
