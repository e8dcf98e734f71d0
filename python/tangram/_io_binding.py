"""What is bound to the inputs and outputs of a session, and kept between runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tangram import _native
from tangram._devices import OrtDevice
from tangram._exceptions import Fail, InvalidArgument
from tangram._ort_value import OrtValue, numbers_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from tangram._session import InferenceSession


class IOBinding:
    """What a session runs on, and where its outputs go, kept between runs.

    Nothing is copied: an array that is bound is read in each run as it is then, and an output that
    has memory is written to it.
    """

    def __init__(self, session: InferenceSession) -> None:
        self._session = session
        self._inputs: dict[str, OrtValue] = {}
        self._outputs: dict[str, OrtValue | None] = {}
        self._found: dict[str, OrtValue] = {}

    def bind_cpu_input(self, name: str, arr_on_cpu: npt.NDArray[Any]) -> None:
        """Binds an array, which may be filled anew before each run."""
        self._inputs[name] = OrtValue(self._session._native_value(name, arr_on_cpu), arr_on_cpu)

    def bind_ortvalue_input(self, name: str, ortvalue: OrtValue) -> None:
        """Binds a value."""
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
        """Binds memory by its address; whoever owns it keeps it as long as the binding is used.

        `element_type`: a type of numpy, its name, or ONNX's number.
        """
        OrtDevice.make(device_type, device_id).needs_cpu()
        self._session._known_input(name)
        self._inputs[name] = OrtValue(_native.Value.at(buffer_ptr, *numbers_of(element_type, shape)))

    def bind_output(
        self,
        name: str,
        device_type: str = "cpu",
        device_id: int = 0,
        element_type: Any = None,
        shape: Sequence[int] | None = None,
        buffer_ptr: int | None = None,
    ) -> None:
        """Asks for an output: in new memory, or at an address with a type and a shape."""
        OrtDevice.make(device_type, device_id).needs_cpu()
        self._session._wanted([name])
        self._outputs[name] = None
        if buffer_ptr is not None:
            if element_type is None or shape is None:
                raise InvalidArgument("an address needs `element_type` and `shape`")
            value = _native.Value.at(buffer_ptr, *numbers_of(element_type, shape))
            self._outputs[name] = OrtValue(value)

    def bind_ortvalue_output(self, name: str, ortvalue: OrtValue) -> None:
        """Asks for an output, which is written to the memory of `ortvalue`."""
        self._session._wanted([name])
        self._outputs[name] = ortvalue

    def _run(self, stop: _native.Flag | None) -> None:
        """Runs the session on what is bound."""
        if not self._outputs:
            raise Fail("no output is bound: `bind_output` asks for one")
        values = {name: value._value for name, value in self._inputs.items()}
        targets = {name: out._value for name, out in self._outputs.items() if out is not None}
        names = list(self._outputs)
        found = self._session._run(self._session._wanted(names), values, targets, stop)
        self._found = {
            name: self._outputs[name] or OrtValue(value)
            for name, value in zip(names, found, strict=True)
        }

    def get_outputs(self) -> list[OrtValue]:
        """Returns the values of the last run, in the order in which they were bound."""
        return list(self._found.values())

    def get_outputs_as_ortvaluevector(self) -> list[OrtValue]:
        """Returns the values of the last run, in the order in which they were bound."""
        return self.get_outputs()

    def copy_outputs_to_cpu(self) -> list[Any]:
        """Returns copies of the values of the last run, as arrays."""
        from copy import copy

        return [copy(value.numpy()) for value in self._found.values()]

    def clear_binding_inputs(self) -> None:
        """Forgets the inputs."""
        self._inputs.clear()

    def clear_binding_outputs(self) -> None:
        """Forgets the outputs."""
        self._outputs.clear()
        self._found = {}

    def synchronize_inputs(self) -> None:
        """Does nothing: values are there."""

    def synchronize_outputs(self) -> None:
        """Does nothing: values are there."""
