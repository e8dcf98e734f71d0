"""Values of sessions that stay in the native half, and what is bound to inputs and outputs."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tangram import _native

if TYPE_CHECKING:
    import numpy as np

    from tangram._session import InferenceSession

# What ONNX calls the element types that numpy calls otherwise.
_ELEMENTS = {
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


@functools.cache
def arrays() -> ModuleType:
    """What turns arrays into native values and back; it loads numpy, so whoever computes asks for it."""
    from tangram import _arrays

    return _arrays


def type_text(kind: Any) -> str:
    """A type as onnxruntime writes it: `tensor(float)`, `seq(map(int64,tensor(float)))`."""
    if kind is None:
        return ""
    if kind[0] == "tensor":
        return f"tensor({_ELEMENTS.get(kind[1], kind[1])})"
    if kind[0] == "map":
        return f"map({_ELEMENTS.get(kind[2], kind[2])},{type_text(kind[1])})"
    return f"{kind[0]}({type_text(kind[1])})"


class NodeArg:
    """An input or output of a model: `name`, `type` and `shape`.

    A shape has a number for each dimension, its name where it is open, or `None`.
    """

    __slots__ = ("name", "shape", "type")

    def __init__(self, name: str, kind: Any) -> None:
        self.name = name
        self.type = type_text(kind)
        while kind[0] != "tensor":
            kind = kind[1]
        self.shape: list[int | str | None] = kind[2] if kind[2] is not None else []

    def __repr__(self) -> str:
        return f"NodeArg(name={self.name!r}, type={self.type!r}, shape={self.shape})"


class OrtValue:
    """A value that stays in the native half until `numpy` copies it.

    An output that is given as an input again is not copied at all.
    """

    __slots__ = ("_value",)

    def __init__(self, value: _native.Value) -> None:
        self._value = value

    @staticmethod
    def ortvalue_from_numpy(
        numpy_obj: np.ndarray, device_type: str = "cpu", device_id: int = 0
    ) -> OrtValue:
        """Copies an array."""
        return OrtValue(_native.Value.of(arrays().to_native(numpy_obj)))

    @staticmethod
    def ortvalue_from_shape_and_type(
        shape: Sequence[int], element_type: Any, device_type: str = "cpu", device_id: int = 0
    ) -> OrtValue:
        """Makes a tensor of zeros."""
        import numpy as np

        return OrtValue.ortvalue_from_numpy(np.zeros(shape, element_type))

    def numpy(self) -> Any:
        """Copies the value out: an array, a list, a dictionary for a map, or `None`."""
        return arrays().from_native(self._value.get())

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
        import onnx

        name = self.data_type().removeprefix("tensor(").removesuffix(")").upper()
        return int(onnx.TensorProto.DataType.Value(name))

    def device_name(self) -> str:
        """Returns where the value is: `cpu`."""
        return "cpu"

    def is_tensor(self) -> bool:
        """Returns whether the value is a tensor."""
        kind = self._value.kind()
        return kind is not None and kind[0] == "tensor"

    def is_tensor_sequence(self) -> bool:
        """Returns whether the value is a sequence."""
        kind = self._value.kind()
        return kind is not None and kind[0] == "seq"

    def has_value(self) -> bool:
        """Returns whether there is a value."""
        return self._value.kind() is not None


class IOBinding:
    """What a session runs on, and what it gives, kept between runs."""

    def __init__(self, session: InferenceSession) -> None:
        self._session = session
        self._inputs: dict[str, OrtValue] = {}
        self._outputs: dict[str, OrtValue | None] = {}
        self._targets: dict[str, Any] = {}

    def bind_cpu_input(self, name: str, arr_on_cpu: np.ndarray) -> None:
        """Gives an input an array; it is copied now."""
        self._inputs[name] = OrtValue(self._session._native_value(name, arr_on_cpu))

    def bind_ortvalue_input(self, name: str, ortvalue: OrtValue) -> None:
        """Gives an input a value."""
        self._inputs[name] = ortvalue

    def bind_input(
        self,
        name: str,
        device_type: str,
        device_id: int,
        element_type: Any,
        shape: Sequence[int],
        buffer_ptr: int,
    ) -> None:
        """Raises `NotImplementedError`: addresses are not taken, `bind_cpu_input` takes arrays."""
        raise NotImplementedError("addresses are not taken; bind_cpu_input takes arrays")

    def bind_output(
        self,
        name: str,
        device_type: str = "cpu",
        device_id: int = 0,
        element_type: Any = None,
        shape: Sequence[int] | None = None,
        buffer_ptr: int | None = None,
    ) -> None:
        """Asks for an output; its memory is the session's."""
        if buffer_ptr is not None:
            raise NotImplementedError("addresses are not taken; leave `buffer_ptr` out")
        self._session._wanted([name])
        self._outputs[name] = None

    def bind_ortvalue_output(self, name: str, ortvalue: OrtValue) -> None:
        """Asks for an output; a run gives `ortvalue` its value."""
        self._session._wanted([name])
        self._outputs[name] = ortvalue

    def _fill(self, values: dict[str, OrtValue]) -> None:
        for name, value in values.items():
            bound = self._outputs.get(name)
            if bound is not None and name in self._outputs:
                bound._value = value._value
            self._targets[name] = value

    def get_outputs(self) -> list[OrtValue]:
        """Returns the values of the last run, in the order in which they were bound."""
        return list(self._targets.values())

    def copy_outputs_to_cpu(self) -> list[Any]:
        """Returns the values of the last run as arrays."""
        return [value.numpy() for value in self._targets.values()]

    def clear_binding_inputs(self) -> None:
        """Forgets the inputs."""
        self._inputs.clear()

    def clear_binding_outputs(self) -> None:
        """Forgets the outputs."""
        self._outputs.clear()
        self._targets.clear()

    def synchronize_inputs(self) -> None:
        """Does nothing: values are there."""

    def synchronize_outputs(self) -> None:
        """Does nothing: values are there."""

