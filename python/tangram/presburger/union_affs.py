"""Quasi-affine functions of the points of several tuples."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Self

from tangram import _native
from tangram._native import PresburgerError
from tangram.presburger._relations import wrap
from tangram.presburger.affs import PwAff
from tangram.presburger.functions import Function
from tangram.presburger.gathered import Gathered
from tangram.presburger.maps import Map
from tangram.presburger.multi_affs import PwMultiAff
from tangram.presburger.names import PARAMS, Context, Tuple, read_tuple
from tangram.presburger.sets import Set
from tangram.presburger.spaces import Space
from tangram.presburger.values import ratio

if TYPE_CHECKING:
    from tangram.presburger.lists import PwAffList, PwMultiAffList, UnionPwAffList


class UnionPwMultiAff(Gathered[PwMultiAff], Function):
    """Functions between different tuples, one for each pair of tuples."""

    __slots__ = ()
    _native_kind = _native.UnionPwMultiAff

    def functions(self) -> list[PwMultiAff]:
        """One function for each pair of tuples."""
        return [PwMultiAff._of(function) for function in self._function.functions()]

    _each = functions

    def get_pw_multi_aff_list(self) -> PwMultiAffList:
        """One function for each pair of tuples."""
        from tangram.presburger.lists import PwMultiAffList

        return PwMultiAffList(self.functions())

    @classmethod
    def _gather(cls, functions: Sequence[PwMultiAff]) -> Self:
        parts = [cls(str(function)) for function in functions]
        return functools.reduce(cls.union_add, parts) if parts else cls("{ }")

    def coalesce(self) -> UnionPwMultiAff:
        """The same functions in fewer pieces, where pieces can be joined exactly."""
        return self._of(self._function.coalesce())

    def intersect_domain(self, points: Set) -> UnionPwMultiAff:
        """Keeps the values at ``points``."""
        return self._of(self._function.intersect_domain(points._union))

    def pullback_union_pw_multi_aff(self, inner: UnionPwMultiAff) -> UnionPwMultiAff:
        """The function of ``x`` that is this at ``inner(x)``, for all tuples that fit."""
        return self._binary("pullback", inner)

    def as_union_map(self) -> Map:
        """Relates each argument to its values, where they are integers."""
        return wrap(Map, self._function.graph())

    def as_multi_union_pw_aff(self) -> MultiUnionPwAff:
        """The outputs one by one, each a function of all tuples of arguments.

        Raises:
            PresburgerError: there are several output tuples, or no function.
        """
        return MultiUnionPwAff._of(_native.MultiUnionPwAff.of_functions(self._function))

    @classmethod
    def from_multi_union_pw_aff(cls, function: MultiUnionPwAff) -> UnionPwMultiAff:
        """The functions of all tuples of arguments."""
        return function.as_union_pw_multi_aff()

    def _shape(self) -> object:
        full = [f for f in self.functions() if not f.domain().is_empty()]
        return frozenset(function._shape() for function in full)

    def __add__(self, other: UnionPwMultiAff) -> UnionPwMultiAff:
        return self.add(other) if isinstance(other, UnionPwMultiAff) else NotImplemented

    def __sub__(self, other: UnionPwMultiAff) -> UnionPwMultiAff:
        return self.sub(other) if isinstance(other, UnionPwMultiAff) else NotImplemented


class UnionPwAff(Gathered[PwAff], Function):
    """A :class:`PwAff` for each of several tuples.

    >>> UnionPwAff("{ S[i] -> [(i)]; T[i, j] -> [(j)] }").functions()[1](3, 5)
    5
    """

    __slots__ = ()
    _native_kind = _native.UnionPwAff

    def __init__(self, text: str | PwAff | UnionPwAff, context: Context | None = None) -> None:
        if isinstance(text, PwAff):
            self._function = _native.UnionPwAff.of([text._function])
        else:
            super().__init__(text)

    @classmethod
    def from_pw_aff(cls, function: PwAff) -> UnionPwAff:
        """The function as the only one."""
        return cls(function)

    from_aff = from_pw_aff

    @classmethod
    def collect(cls, functions: Sequence[PwAff]) -> UnionPwAff:
        """The functions of any tuples; of two of the same tuple, the first one counts."""
        return cls._gather(functions)

    def functions(self) -> list[PwAff]:
        """One function for each tuple."""
        return [PwAff._of(function) for function in self._function.functions()]

    _each = functions

    def get_pw_aff_list(self) -> PwAffList:
        """One function for each tuple."""
        from tangram.presburger.lists import PwAffList

        return PwAffList(self.functions())

    @classmethod
    def _gather(cls, functions: Sequence[PwAff]) -> Self:
        return cls._of(_native.UnionPwAff.of([function._function for function in functions]))

    def n_pw_aff(self) -> int:
        """The number of tuples."""
        return len(self._function.functions())

    def foreach_pw_aff(self, visit: Callable[[PwAff], object]) -> None:
        """Calls ``visit`` with the function of each tuple."""
        for function in self.functions():
            visit(function)

    def neg(self) -> UnionPwAff:
        """Changes the sign."""
        return self._of(self._function.unary("neg"))

    def floor(self) -> UnionPwAff:
        """Rounds down."""
        return self._of(self._function.unary("floor"))

    def scale_val(self, factor: int | Fraction) -> UnionPwAff:
        """Multiplies with a number."""
        return self._of(self._function.scale(*ratio(factor)))

    def scale_down_val(self, divisor: int | Fraction) -> UnionPwAff:
        """Divides by a number.

        Raises:
            PresburgerError: the number is 0.
        """
        top, bottom = ratio(divisor)
        return self._of(self._function.scale(bottom, top))

    def intersect_domain(self, points: Set) -> UnionPwAff:
        """Keeps the values at ``points``."""
        return self._of(self._function.intersect_domain(points._union))

    def subtract_domain(self, points: Set) -> UnionPwAff:
        """Drops the values at ``points``."""
        return self.intersect_domain(self.domain() - points)

    def pullback_union_pw_multi_aff(self, inner: UnionPwMultiAff) -> UnionPwAff:
        """The function of ``x`` that is this at ``inner(x)``, for all tuples that fit."""
        return self._of(self._function.pullback(inner._function))

    def as_union_map(self) -> Map:
        """Relates each argument to its value, where that is an integer."""
        return wrap(Map, self._function.graph())

    def _shape(self) -> object:
        full = [f for f in self.functions() if not f.domain().is_empty()]
        return frozenset(function._shape() for function in full)

    def __neg__(self) -> UnionPwAff:
        return self.neg()

    def __add__(self, other: UnionPwAff) -> UnionPwAff:
        return self.add(other) if isinstance(other, UnionPwAff) else NotImplemented

    def __sub__(self, other: UnionPwAff) -> UnionPwAff:
        return self.sub(other) if isinstance(other, UnionPwAff) else NotImplemented

    def __mul__(self, other: int | Fraction) -> UnionPwAff:
        return self.scale_val(other) if isinstance(other, int | Fraction) else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, other: int | Fraction) -> UnionPwAff:
        return self.scale_down_val(other) if isinstance(other, int | Fraction) else NotImplemented


class MultiUnionPwAff(Function):
    """A :class:`UnionPwAff` for each dimension of one output tuple, as schedules are written.

    >>> MultiUnionPwAff("C[{ A[i] -> [(i)]; B[j] -> [(j)] }, { A[i] -> [(0)]; B[j] -> [(1)] }]")[1]
    UnionPwAff('{ A[i] -> [(0)]; B[j] -> [(1)] }')
    """

    __slots__ = ()
    _native_kind = _native.MultiUnionPwAff

    @classmethod
    def from_union_pw_affs(cls, *members: UnionPwAff, name: str = "") -> MultiUnionPwAff:
        """The tuple of functions; without any, it has a value everywhere."""
        output = Tuple(name, tuple(f"o{at}" for at in range(len(members))))
        return cls._of(_native.MultiUnionPwAff.of(output, [m._function for m in members]))

    @classmethod
    def from_union_pw_aff(cls, member: UnionPwAff) -> MultiUnionPwAff:
        """The tuple of one function."""
        return cls.from_union_pw_affs(member)

    @classmethod
    def from_union_pw_multi_aff(cls, functions: UnionPwMultiAff) -> MultiUnionPwAff:
        """The outputs one by one, each a function of all tuples of arguments.

        Raises:
            PresburgerError: there are several output tuples, or no function.
        """
        return functions.as_multi_union_pw_aff()

    @classmethod
    def from_union_map(cls, pairs: Map) -> MultiUnionPwAff:
        """The function that gives each input its only output.

        Raises:
            PresburgerError: an input has two outputs, or there are several output tuples.
        """
        return pairs.as_union_pw_multi_aff().as_multi_union_pw_aff()

    def as_union_pw_multi_aff(self) -> UnionPwMultiAff:
        """The functions of all tuples of arguments.

        Raises:
            PresburgerError: there is a value everywhere, whatever the arguments.
        """
        return UnionPwMultiAff._of(self._function.functions())

    def as_union_map(self) -> Map:
        """Relates each argument to its values, where they are integers."""
        return self.as_union_pw_multi_aff().as_union_map()

    def get_list(self) -> UnionPwAffList:
        """The functions of all outputs."""
        from tangram.presburger.lists import UnionPwAffList

        return UnionPwAffList(UnionPwAff._of(member) for member in self._function.members())

    def get_at(self, output: int) -> UnionPwAff:
        """The function of one output."""
        return self.get_list()[output]

    get_union_pw_aff = get_at
    __getitem__ = get_at

    def __len__(self) -> int:
        return len(self._function.members())

    def get_space(self) -> Space:
        """The parameters and the output tuple."""
        return Space._of((self.get_param_names(), None, self._function.output()))

    def _placed(self, space: Space, to: list[int]) -> Self:
        if space._input is not None or len(space._output.dims) != len(self):
            raise PresburgerError(f"expected a space of {len(self)} dimensions, found {space}")
        params = Space._of((self.get_param_names(), None, PARAMS)), space.params()
        moved = to[: len(params[0]._params)]
        members = [member._placed(params[1], moved)._function for member in self.get_list()]
        return self._of(_native.MultiUnionPwAff.of(space._output, members))

    def domain(self) -> Set:
        """The arguments for which all outputs have values.

        Raises:
            PresburgerError: these are all that there are.
        """
        union = self._function.domain()
        return wrap(Set, self._function.functions().domain() if union is None else union)

    def range_product(self, other: MultiUnionPwAff) -> MultiUnionPwAff:
        """The pairs ``[y -> z]`` of the values of both."""
        return self._binary("range_product", other)

    def range_factor_domain(self) -> MultiUnionPwAff:
        """The first half ``y`` of values that are pairs ``[y -> z]``."""
        return self._of(self._function.unary("range_factor_domain"))

    def range_factor_range(self) -> MultiUnionPwAff:
        """The second half ``z`` of values that are pairs ``[y -> z]``."""
        return self._of(self._function.unary("range_factor_range"))

    def _within(self, name: str, points: Set) -> Self:
        return self._of(self._function.within(name, points._union))

    def intersect_domain(self, points: Set) -> MultiUnionPwAff:
        """Keeps the values at ``points``."""
        return self._within("intersect_domain", points)

    def intersect_params(self, params: Set) -> MultiUnionPwAff:
        """Keeps the values for parameters in ``params``."""
        return self._within("intersect_params", params.params())

    def intersect_range(self, values: Set) -> MultiUnionPwAff:
        """Keeps the arguments whose values are in ``values``."""
        return self._within("intersect_range", values)

    def apply_pw_multi_aff(self, function: PwMultiAff) -> MultiUnionPwAff:
        """The function of ``x`` that is ``function`` at what this is at ``x``."""
        return self._of(self._function.apply(function._function))

    apply_multi_aff = apply_pw_multi_aff

    def pullback_union_pw_multi_aff(self, inner: UnionPwMultiAff) -> MultiUnionPwAff:
        """The function of ``x`` that is this at ``inner(x)``, for all tuples that fit."""
        return self._of(self._function.pullback(inner._function))

    def _shape(self) -> object:
        return read_tuple(self._function.output()).shape()

    def __add__(self, other: MultiUnionPwAff) -> MultiUnionPwAff:
        return self.add(other) if isinstance(other, MultiUnionPwAff) else NotImplemented

    def __sub__(self, other: MultiUnionPwAff) -> MultiUnionPwAff:
        return self.sub(other) if isinstance(other, MultiUnionPwAff) else NotImplemented


UnionPwMultiAff._family, UnionPwAff._family = UnionPwMultiAff, UnionPwAff
MultiUnionPwAff._family = MultiUnionPwAff
