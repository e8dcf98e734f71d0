"""Not here: these work on files for onnxruntime; use that package for them."""

from tangram.onnxruntime import _alias, _elsewhere

_alias.unify(__name__)

__getattr__ = _elsewhere.of("tools", "these work on files for onnxruntime; use that package for them")
