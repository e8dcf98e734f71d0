"""The names of onnxruntime's native module, where its package loads them."""

from tangram.onnxruntime.capi.onnxruntime_pybind11_state import *
from tangram.onnxruntime import _alias

_alias.unify(__name__)
