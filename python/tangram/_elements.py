"""Element types under the names of numpy, of ONNX, and as onnxruntime writes them."""

from __future__ import annotations

from typing import Any

from tangram._exceptions import InvalidArgument

# What ONNX calls the element types that numpy calls otherwise.
_WRITTEN = {
    "float32": "float",
    "float64": "double",
    "str": "string",
    "float8_e4m3fn": "float8e4m3fn",
    "float8_e4m3fnuz": "float8e4m3fnuz",
    "float8_e5m2": "float8e5m2",
    "float8_e5m2fnuz": "float8e5m2fnuz",
    "float8_e8m0fnu": "float8e8m0",
    "float4_e2m1fn": "float4e2m1",
}

# By ONNX's number (`TensorProto.DataType`), from 1 on.
_NUMBERED = (
    "float32 uint8 int8 uint16 int16 int32 int64 str bool float16 float64 uint32 uint64 complex64 "
    "complex128 bfloat16 float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz uint4 int4 "
    "float4_e2m1fn float8_e8m0fnu uint2 int2"
).split()
_NUMBERS = {name: number for number, name in enumerate(_NUMBERED, start=1)}


def written(name: str) -> str:
    """An element type as onnxruntime writes it: `float` for `float32`."""
    return _WRITTEN.get(name, name)


def number(name: str) -> int:
    """ONNX's number of an element type."""
    return _NUMBERS[name]


def name_of(element: Any) -> str:
    """The name of an element type that is given as a type of numpy, its name, or ONNX's number.

    Raises `InvalidArgument` for what is none of ONNX's types.
    """
    if isinstance(element, int) and not isinstance(element, bool):
        if not 1 <= element <= len(_NUMBERED):
            raise InvalidArgument(f"{element} is no number of an element type of ONNX")
        return _NUMBERED[element - 1]
    import numpy as np

    return name_of_dtype(np.dtype(element))


def name_of_dtype(dtype: Any) -> str:
    """The name of an element type of numpy.

    Raises `InvalidArgument` for one that ONNX has not, such as records and dates.
    """
    if dtype.kind in "OSU":
        return "str"
    if dtype.name not in _NUMBERS:
        raise InvalidArgument(f"ONNX has no elements of type {dtype}")
    return str(dtype.name)


def type_text(kind: Any) -> str:
    """A type as onnxruntime writes it: `tensor(float)`, `seq(map(int64,tensor(float)))`."""
    if kind is None:
        return ""
    if kind[0] == "tensor":
        return f"tensor({written(kind[1])})"
    if kind[0] == "map":
        return f"map({written(kind[2])},{type_text(kind[1])})"
    return f"{kind[0]}({type_text(kind[1])})"
