"""Functions of several tuples: what is done to the function of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from tangram._native import PresburgerError
from tangram.presburger.dimensions import Dimensions
from tangram.presburger.names import PARAMS, dim_type
from tangram.presburger.spaces import Space

P = TypeVar("P", bound=Dimensions)


class Gathered(Dimensions, Generic[P]):
    """One function for each of several tuples.

    All that they have in common are parameters, which are therefore the only dimensions.
    """

    __slots__ = ()

    if TYPE_CHECKING:

        def get_param_names(self) -> list[str]: ...

    def _each(self) -> list[P]:
        """The functions."""
        raise NotImplementedError

    @classmethod
    def _gather(cls, functions: Sequence[P]) -> Self:
        """The functions of different tuples as one value."""
        raise NotImplementedError

    def get_space(self) -> Space:
        """The space of the parameters."""
        return Space._of((self.get_param_names(), None, PARAMS))

    def _placed(self, space: Space, to: list[int]) -> Self:
        tuples = space._input, space._output.name, space._output.dims
        if tuples != (None, PARAMS.name, ()):
            raise PresburgerError(f"functions of several tuples have parameters alone, not {space}")
        names = {name: space._params[at] for name, at in zip(self.get_param_names(), to) if at >= 0}
        return self._gather([with_params(f, names).align_params(space) for f in self._each()])


def with_params(function: Any, names: dict[str, str]) -> Any:
    """A function with other names of its parameters, all at once."""
    columns = function.get_space()._columns()
    known = columns[dim_type.param]
    columns[dim_type.param] = [column._replace(name=names.get(column.name, column.name)) for column in known]
    return function._rearranged(columns)

