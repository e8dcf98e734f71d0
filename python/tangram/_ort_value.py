"""Values of sessions, which share their memory with arrays."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tangram import _native
from tangram._devices import OrtDevice, OrtDeviceVendorId, OrtMemoryInfo
from tangram._elements import name_of, number, type_text
from tangram._exceptions import InvalidArgument, failure

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@functools.cache
def arrays() -> ModuleType:
    """What turns arrays into native values and back; it loads numpy, so whoever computes asks for it."""
    from tangram import _arrays

    return _arrays


class NodeArg:
    """An input or output of a model: `name`, `type` and `shape`.

    A shape has a number for each dimension, its name where it is open, or `None`.
    """

    __slots__ = ("name", "shape", "type")

    def __init__(self, name: str, kind: Any) -> None:
        self.name: str = name
        self.type: str = type_text(kind)
        while kind[0] != "tensor":
            kind = kind[1]
        self.shape: list[int | str | None] = kind[2] if kind[2] is not None else []

    def __repr__(self) -> str:
        return f"NodeArg(name={self.name!r}, type={self.type!r}, shape={self.shape})"


class OrtValue:
    """A value that a session reads where it lies: a tensor shares its memory with arrays.

    What changes in the array changes here, and the other way round: so an array can be bound once,
    filled again and run again. While a run lasts it is left alone.
    """

    __slots__ = ("_array", "_value")

    def __init__(
        self,
        ortvalue: _native.Value,
        numpy_obj: npt.NDArray[Any] | None = None,
        session: object | None = None,
    ) -> None:
        self._value = ortvalue
        self._array = numpy_obj

    @classmethod
    def ortvalue_from_numpy(
        cls,
        numpy_obj: npt.NDArray[Any],
        /,
        device_type: str = "cpu",
        device_id: int = 0,
        vendor_id: int | OrtDeviceVendorId = -1,
    ) -> OrtValue:
        """Shares the memory of an array; one that is not in the order of C is copied."""
        OrtDevice.make(device_type, device_id, vendor_id).needs_cpu()
        return cls(arrays().native(numpy_obj), numpy_obj)

    @classmethod
    def ortvalue_from_numpy_with_onnx_type(
        cls, data: npt.NDArray[Any], /, onnx_element_type: int
    ) -> OrtValue:
        """Shares the memory of an array whose elements are those of another type, such as bfloat16.

        Raises `ValueError` if the elements of that type are wider or narrower.
        """
        return cls(arrays().reinterpreted(data, name_of(onnx_element_type)), data)

    @classmethod
    def ortvalue_from_shape_and_type(
        cls,
        shape: Sequence[int],
        element_type: Any,
        device_type: str = "cpu",
        device_id: int = 0,
        vendor_id: int | OrtDeviceVendorId = -1,
        memory_info: OrtMemoryInfo | None = None,
    ) -> OrtValue:
        """Makes a tensor of zeros; `element_type`: a type of numpy, its name, or ONNX's number.

        Raises `InvalidArgument` for texts and for negative sizes, `Fail` where there is not enough memory.
        """
        OrtDevice.make(device_type, device_id, vendor_id).needs_cpu()
        kind = numbers_of(element_type, shape)
        try:
            return cls(_native.Value.zeros(*kind))
        except _native.EvaluationError as error:
            raise failure(error) from None

    @classmethod
    def from_dlpack(cls, data: Any, /) -> OrtValue:
        """Shares the memory of a tensor of another library, or of a capsule of DLPack."""
        import numpy as np

        array = np.from_dlpack(data if hasattr(data, "__dlpack__") else _Capsule(data))
        return cls(arrays().native(array), array)

    @classmethod
    def ort_value_from_sparse_tensor(cls, sparse_tensor: Any) -> OrtValue:
        """Raises `NotImplementedError`: sessions compute on dense tensors."""
        raise NotImplementedError("sessions compute on dense tensors: give a dense array")

    def as_sparse_tensor(self) -> Any:
        """Raises `NotImplementedError`: sessions compute on dense tensors."""
        raise NotImplementedError("sessions compute on dense tensors: `numpy` gives the value")

    def numpy(self) -> Any:
        """Returns the value: an array that shares the memory, a list, a dictionary for a map, `None`."""
        return arrays().view(self._value)

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Lends the memory to another library: `torch.from_dlpack(value)`."""
        array, asked = self.numpy(), {"max_version": max_version, "dl_device": dl_device, "copy": copy}
        return array.__dlpack__(**{name: given for name, given in asked.items() if given is not None})

    def __dlpack_device__(self) -> tuple[int, int]:
        """Returns where the memory is: on the CPU, as DLPack says it."""
        return (1, 0)

    def update_inplace(self, data: npt.NDArray[Any] | OrtValue) -> None:
        """Copies an array of as many bytes here, and so into the array whose memory this is."""
        if isinstance(data, OrtValue):
            data = data.numpy()
        self._value.write(arrays().as_bytes(data))

    def data_ptr(self) -> int:
        """Returns the address of the first element."""
        address = self._value.address()
        if address is None:
            raise RuntimeError("only a tensor of numbers has an address")
        return address

    def tensor_size_in_bytes(self) -> int:
        """Returns how many bytes a tensor has."""
        if self._value.address() is None:
            raise RuntimeError("only a tensor of numbers has a number of bytes")
        return memoryview(self._value).nbytes

    def data_type(self) -> str:
        """Returns the type: `tensor(float)`."""
        return type_text(self._value.kind())

    def shape(self) -> list[int]:
        """Returns the shape of a tensor."""
        kind: Any = self._value.kind()
        if kind is None or kind[0] != "tensor":
            raise RuntimeError("only a tensor has a shape")
        return kind[2]

    def element_type(self) -> int:
        """Returns ONNX's number of the element type."""
        kind: Any = self._value.kind()
        if kind is None or kind[0] != "tensor":
            raise RuntimeError("only a tensor has an element type")
        return number(kind[1])

    def device_name(self) -> str:
        """Returns where the value is: `cpu`."""
        return "cpu"

    def is_tensor(self) -> bool:
        """Returns whether the value is a tensor."""
        kind = self._value.kind()
        return kind is not None and kind[0] == "tensor"

    def is_sparse_tensor(self) -> bool:
        """Returns whether the value is a sparse tensor: none is."""
        return False

    def is_tensor_sequence(self) -> bool:
        """Returns whether the value is a sequence."""
        kind = self._value.kind()
        return kind is not None and kind[0] == "seq"

    def has_value(self) -> bool:
        """Returns whether there is a value."""
        return self._value.kind() is not None

    def __repr__(self) -> str:
        return f"OrtValue({self.data_type() or 'absent'}{self.shape() if self.is_tensor() else ''})"

    def _get_c_value(self) -> _native.Value:
        return self._value


def numbers_of(element_type: Any, shape: Sequence[int]) -> tuple[str, list[int]]:
    """The type and the shape of numbers that lie side by side.

    Raises `InvalidArgument` for texts, which lie elsewhere, and for negative sizes.
    """
    name, sizes = name_of(element_type), list(shape)
    if name == "str":
        raise InvalidArgument("texts have no fixed size: `ortvalue_from_numpy` takes an array of them")
    if any(size < 0 for size in sizes):
        raise InvalidArgument(f"expected sizes of at least 0, found {sizes}")
    return name, sizes


class _Capsule:
    """A capsule of DLPack, as numpy takes tensors of others."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **asked: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


def copy_tensors(src: Sequence[OrtValue], dst: Sequence[OrtValue], stream: Any = None) -> None:
    """Copies each tensor of `src` into the one of `dst` at its place."""
    for source, target in zip(src, dst, strict=True):
        target.update_inplace(source)
