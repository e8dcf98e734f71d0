"""Not here: models are quantised by the package onnxruntime, and run here."""

from tangram.onnxruntime import _alias, _elsewhere

_alias.unify(__name__)

__getattr__ = _elsewhere.of("quantization", "models are quantised by the package onnxruntime, and run here")
