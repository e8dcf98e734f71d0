"""Not here: the example models are in the package onnxruntime."""

from tangram.onnxruntime import _alias, _elsewhere

_alias.unify(__name__)

__getattr__ = _elsewhere.of("datasets", "the example models are in the package onnxruntime")
