"""Functions of several tuples: what is done to the function of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from tangram._native import PresburgerError
from tangram.presburger.constrained import columns
from tangram.presburger.dimensions import Dimensions
from tangram.presburger.names import PARAMS, Context, dim_type
from tangram.presburger.sets import Set
from tangram.presburger.spaces import Space

P = TypeVar("P", bound=Dimensions)


class Gathered(Dimensions, Generic[P]):
    """One function for each of several tuples.

    All that they have in common are parameters, which are therefore the only dimensions.
    """

    __slots__ = ()

    if TYPE_CHECKING:

        def get_param_names(self) -> list[str]: ...
        def domain(self) -> Set: ...
        def intersect_domain(self, points: Set) -> Self: ...

    def _each(self) -> list[P]:
        """The functions."""
        raise NotImplementedError

    @classmethod
    def _gather(cls, functions: Sequence[P]) -> Self:
        """The functions of different tuples as one value."""
        raise NotImplementedError

    def _all(self, name: str, *arguments: Any) -> Self:
        """What a method makes of each function."""
        return self._gather([getattr(function, name)(*arguments) for function in self._each()])

    def get_space(self) -> Space:
        """The space of the parameters."""
        return Space._of((self.get_param_names(), None, PARAMS))

    def _placed(self, space: Space, to: list[int]) -> Self:
        tuples = space._input, space._output.name, space._output.dims
        if tuples != (None, PARAMS.name, ()):
            raise PresburgerError(f"functions of several tuples have parameters alone, not {space}")
        names = {name: space._params[at] for name, at in zip(self.get_param_names(), to) if at >= 0}
        return self._gather([with_params(f, names).align_params(space) for f in self._each()])

    # The functions.

    def _count(self) -> int:
        """The number of tuples."""
        return len(self._each())

    def _every(self, test: Callable[[P], bool]) -> bool:
        """Whether ``test`` holds for the function of each tuple."""
        return all(test(function) for function in self._each())

    def _foreach(self, visit: Callable[[P], object]) -> None:
        """Calls ``visit`` with the function of each tuple."""
        for function in self._each():
            visit(function)

    def _extracted(self, space: Dimensions) -> P | None:
        """The function of a space, or of the points of one, if there is one."""
        wanted = space.get_space()
        for function in self._each():
            found = function.get_space()
            if wanted.has_equal_tuples(found if wanted.is_map() or not found.is_map() else found.domain()):
                return function
        return None

    @classmethod
    def empty(cls, space: Dimensions | None = None) -> Self:
        """No function."""
        return cls._gather([])

    @classmethod
    def empty_ctx(cls, ctx: Context | None = None) -> Self:
        """No function."""
        return cls._gather([])

    empty_space = empty

    # Without parameters.

    def drop_dims(self, type: dim_type, first: int, n: int) -> Self:
        """Without ``n`` parameters from ``first`` on.

        Raises:
            PresburgerError: a function depends on one.
        """
        names = self.get_param_names()
        gone = [names[at] for at in sorted(columns(self, type, first, n))]
        return self._gather([without_params(function, gone) for function in self._each()])

    def drop_unused_params(self) -> Self:
        """Without the parameters that no function depends on."""
        unused = [
            name
            for name in self.get_param_names()
            if not any(function.involves_param_id(name) for function in self._functions())
        ]
        return self._gather([without_params(function, unused) for function in self._each()])

    def _functions(self) -> list[Any]:
        return [*self._each()]

    # At some points.

    def intersect_domain_union_set(self, points: Set) -> Self:
        """Keeps the values at ``points``."""
        return self.intersect_domain(points)

    def intersect_domain_space(self, space: Dimensions) -> Self:
        """Keeps the values at the points of a space."""
        return self.intersect_domain(Set.universe(space))

    def intersect_domain_wrapped_domain(self, points: Set) -> Self:
        """Keeps the values at ``[a -> b]`` where ``a`` is in ``points``."""
        return self.intersect_domain(self.domain().universe().unwrap().intersect_domain(points).wrap())

    def intersect_domain_wrapped_range(self, points: Set) -> Self:
        """Keeps the values at ``[a -> b]`` where ``b`` is in ``points``."""
        return self.intersect_domain(self.domain().universe().unwrap().intersect_range(points).wrap())

    def intersect_params(self, params: Set) -> Self:
        """Keeps the values for parameters in ``params``."""
        return self._all("intersect_params", params)

    def subtract_domain(self, points: Set) -> Self:
        """Drops the values at ``points``."""
        return self.intersect_domain(self.domain().subtract(points))

    subtract_domain_union_set = subtract_domain

    def subtract_domain_space(self, space: Dimensions) -> Self:
        """Drops the values at the points of a space."""
        return self.subtract_domain(Set.universe(space))

    def gist(self, points: Set) -> Self:
        """The same values at ``points``, in shorter pieces; of other tuples, none."""
        found = []
        for function in self._functions():
            context = points._in(function.get_domain_space())
            if not context.is_empty():
                found.append(function.gist(context))
        return self._gather(found)

    def gist_params(self, params: Set) -> Self:
        """The same values for parameters in ``params``, in shorter pieces."""
        return self._all("gist_params", params)

    def coalesce(self) -> Self:
        """The same functions in fewer pieces, where pieces can be joined exactly."""
        return self._all("coalesce")

    def domain_reverse(self) -> Self:
        """The functions of ``[b -> a]``, of those of ``[a -> b]``; others are left out."""
        pairs = [f for f in self._functions() if f.get_domain_space().is_wrapping()]
        return self._gather([function.domain_reverse() for function in pairs])

    def plain_is_equal(self, other: Self) -> bool:
        """Whether both have the same values at the same arguments."""
        return self == other


def with_params(function: Any, names: dict[str, str]) -> Any:
    """A function with other names of its parameters, all at once."""
    columns = function.get_space()._columns()
    known = columns[dim_type.param]
    columns[dim_type.param] = [column._replace(name=names.get(column.name, column.name)) for column in known]
    return function._rearranged(columns)


def without_params(function: Any, names: Sequence[str]) -> Any:
    """A function without those of some parameters that it has."""
    for name in names:
        pos = function.find_dim_by_name(dim_type.param, name)
        function = function.drop_dims(dim_type.param, pos, 1) if pos >= 0 else function
    return function
