"""Arrays on their way to the native half and back. Needs numpy, which only those who compute load."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from tangram import _native
from tangram._elements import name_of_dtype

Array = npt.NDArray[Any]

# Types of which several elements share a byte, the first one in the lowest bits.
_PACKED = {"int4": 4, "uint4": 4, "float4_e2m1fn": 4, "int2": 2, "uint2": 2}


def _pack(elements: np.ndarray, bits: int) -> bytes:
    per = 8 // bits
    padded = np.zeros(-(-elements.size // per) * per, np.uint8)
    padded[: elements.size] = elements & ((1 << bits) - 1)
    shifted = padded.reshape(-1, per) << (np.arange(per, dtype=np.uint8) * bits)
    return np.bitwise_or.reduce(shifted, axis=1).tobytes()


def _unpack(data: bytes, bits: int, dtype: str) -> np.ndarray:
    per = 8 // bits
    parts = np.frombuffer(data, np.uint8)[:, None] >> (np.arange(per, dtype=np.uint8) * bits)
    parts = (parts & ((1 << bits) - 1)).ravel()
    if dtype.startswith("int"):
        # Negative numbers fill the upper bits of the byte that holds them.
        sign = 1 << (bits - 1)
        parts = ((parts.astype(np.int16) ^ sign) - sign).astype(np.uint8)
    return parts


# Names of types whose elements are bytes as they lie, and back: numpy takes longer to say them.
_NAMES = {np.dtype(kind): np.dtype(kind).name for kind in "?bBhHiIlLqQefd"}
_KINDS = {name: kind for kind, name in _NAMES.items()}


def _vector(items: Any) -> np.ndarray:
    """The keys or values of a map as an array; `_fitting` has made numbers those of one type."""
    items = list(items)
    if items and isinstance(items[0], (str, bytes)):
        return np.array(items, dtype=object)
    return np.array(items, dtype=None if items else np.int64)


def to_native(value: Any) -> Any:
    """An array, a sequence, a map or an absent value, in the form that `_native` takes."""
    if value is None:
        return None
    if isinstance(value, list):
        return [to_native(item) for item in value]
    if isinstance(value, dict):
        return to_native(_vector(value.keys())), to_native(_vector(value.values()))
    array = np.asarray(value)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if name := _NAMES.get(array.dtype):
        return name, array.shape, array.tobytes()
    shape = list(array.shape)
    if array.dtype.kind in "OSU":
        texts = [t if isinstance(t, bytes) else str(t).encode() for t in array.ravel().tolist()]
        return "str", shape, texts
    name = name_of_dtype(array.dtype)
    if bits := _PACKED.get(name):
        return name, shape, _pack(array.ravel().view(np.uint8), bits)
    return name, shape, np.ascontiguousarray(array).tobytes()


def from_native(value: Any) -> Any:
    """The array, sequence, map or absent value that `_native` gave."""
    if value is None or isinstance(value, dict):
        return value
    if isinstance(value, list):
        return [from_native(item) for item in value]
    if len(value) == 2:
        keys, values = (from_native(part).tolist() for part in value)
        return dict(zip(keys, values, strict=True))
    dtype, shape, data = value
    if kind := _KINDS.get(dtype):
        # A view of the byte array that came for it, which nobody else has.
        return np.frombuffer(data, kind).reshape(shape)
    if dtype == "str":
        texts = np.empty(len(data), dtype=object)
        texts[:] = [text.decode(errors="surrogateescape") for text in data]
        return texts.reshape(shape)
    kind = _dtype(dtype)
    if bits := _PACKED.get(dtype):
        return _unpack(data, bits, dtype).view(kind)[: math.prod(shape)].reshape(shape).copy()
    return np.frombuffer(data, dtype=kind).reshape(shape)


def native(value: Any) -> _native.Value:
    """A native value of an array, a sequence, a map or nothing; an array shares its memory if it can."""
    if isinstance(value, np.ndarray):
        shared = _native.Value.share(value)
        if shared is not None:
            return shared
        name, value = name_of_dtype(value.dtype), _plain(value)
        if name != "str" and name not in _PACKED:
            return reinterpreted(value, name)
    return _native.Value.of(to_native(value))


def reinterpreted(array: Array, name: str) -> _native.Value:
    """A native value of elements `name` in the memory of an array of elements as wide.

    Raises `ValueError` for elements that are wider or narrower.
    """
    array = _plain(array)
    if _dtype(name).itemsize != array.dtype.itemsize or name in _PACKED or name == "str":
        raise ValueError(f"elements of {array.dtype} cannot be those of {name}: they are not as wide")
    return _native.Value.view_of(as_bytes(array), name, list(array.shape))


def as_bytes(array: Any) -> Array:
    """The bytes of an array, side by side: its memory if they lie so."""
    return np.ascontiguousarray(_plain(np.asarray(array))).reshape(-1).view(np.uint8)


def view(value: _native.Value) -> Any:
    """An array that shares the memory of a native value; a list, a dictionary, `None` or texts."""
    described = value.tensor()
    if described is None:
        return from_native(value.get())
    name, shape = described
    if kind := _KINDS.get(name):
        return np.frombuffer(value, kind).reshape(shape)
    if bits := _PACKED.get(name):
        parts = _unpack(np.frombuffer(value, np.uint8), bits, name)
        return parts.view(_dtype(name))[: math.prod(shape)].reshape(shape).copy()
    return np.frombuffer(value, np.uint8).view(_dtype(name)).reshape(shape)


def _plain(array: Array) -> Array:
    """The array in the order of bytes of this machine, and of elements of C."""
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    # A scalar stays one.
    return array if array.flags.c_contiguous else np.ascontiguousarray(array)


def _dtype(name: str) -> np.dtype[Any]:
    try:
        return np.dtype(name)
    except TypeError:
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, name))
