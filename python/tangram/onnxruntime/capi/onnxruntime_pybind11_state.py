"""The names of onnxruntime's native module: classes, functions and exceptions."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

from tangram._exceptions import (
    DeviceReset,
    EngineError,
    EPFail,
    Fail,
    InvalidArgument,
    InvalidGraph,
    ModelLoadCanceled,
    ModelLoaded,
    ModelRequiresCompilation,
    NoModel,
    NoSuchFile,
    NotFound,
    NotImplemented,
    RuntimeException,
)
from tangram._native import InvalidProtobuf
from tangram._ort_value import OrtValue
from tangram.onnxruntime import *
from tangram.onnxruntime import OrtHardwareDevice, SessionOptions, _absent, _alias

_alias.unify(__name__)


class ArenaExtendStrategy(enum.IntEnum):
    """Taken without effect: a session's arena is planned."""

    kNextPowerOfTwo = 0
    kSameAsRequested = 1


kNextPowerOfTwo = ArenaExtendStrategy.kNextPowerOfTwo
kSameAsRequested = ArenaExtendStrategy.kSameAsRequested


class OrtValueVector(list[OrtValue]):
    """Values in a list."""

    def push_back(self, ortvalue: OrtValue) -> None:
        """Appends a value."""
        self.append(ortvalue)

    def push_back_batch(self, tensors: Sequence[Any], *described: Any) -> None:
        """Appends tensors of another library, which share their memory."""
        self.extend(OrtValue.from_dlpack(tensor) for tensor in tensors)

    def reserve(self, count: int) -> None:
        """Does nothing: lists grow."""

    def shrink_to_fit(self) -> None:
        """Does nothing: lists shrink."""

    def bool_tensor_indices(self) -> list[int]:
        """Returns which of the values are tensors of truth values."""
        return [at for at, value in enumerate(self) if value.data_type() == "tensor(bool)"]

    def dlpack_at(self, index: int) -> Any:
        """Returns a capsule of DLPack of a value."""
        return self[index].__dlpack__()

    def element_type_at(self, index: int) -> int:
        """Returns ONNX's number of the element type of a value."""
        return self[index].element_type()

    def to_dlpacks(self, to_tensor: Any) -> list[Any]:
        """Returns what `to_tensor` makes of a capsule of each value; capsules if it is `None`."""
        capsules = [value.__dlpack__() for value in self]
        return [capsule if to_tensor is None else to_tensor(capsule) for capsule in capsules]


def get_default_session_options() -> SessionOptions:
    """Returns options as they are if nothing is said."""
    return SessionOptions()


def get_hardware_devices() -> list[OrtHardwareDevice]:
    """Returns the processor."""
    return [OrtHardwareDevice()]


def is_dlpack_uint8_tensor(capsule: Any) -> bool:
    """Returns whether a capsule of DLPack is that of bytes."""
    return OrtValue.from_dlpack(capsule).data_type() == "tensor(uint8)"


globals().update(_absent.INTERNAL)
