"""The modules behind the package onnxruntime, which programs import names of."""

from tangram.onnxruntime import _alias

_alias.unify(__name__)
