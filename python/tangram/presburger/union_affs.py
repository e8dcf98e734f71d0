"""Quasi-affine functions of the points of several tuples."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, Self

from tangram import _native
from tangram._native import PresburgerError
from tangram.presburger._relations import wrap
from tangram.presburger.affs import PwAff
from tangram.presburger.dimensions import Dimensions
from tangram.presburger.functions import Function
from tangram.presburger.gathered import Gathered
from tangram.presburger.maps import Map
from tangram.presburger.multi_affs import PwMultiAff
from tangram.presburger.names import Context
from tangram.presburger.sets import Set
from tangram.presburger.values import Val, ratio

if TYPE_CHECKING:
    from tangram.presburger.lists import PwAffList, PwMultiAffList
    from tangram.presburger.multi_union_affs import MultiUnionPwAff
    from tangram.presburger.multi_vals import MultiVal


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

    every_pw_multi_aff: Final = Gathered[PwMultiAff]._every
    foreach_pw_multi_aff: Final = Gathered[PwMultiAff]._foreach
    n_pw_multi_aff: Final = Gathered[PwMultiAff]._count

    def extract_pw_multi_aff(self, space: Dimensions) -> PwMultiAff:
        """The function of a space; of one without any, one that has no values."""
        return self._extracted(space) or PwMultiAff.empty(space)

    def add_pw_multi_aff(self, function: PwMultiAff) -> UnionPwMultiAff:
        """Adds a function of a tuple to that of the same tuple."""
        return self.union_add(UnionPwMultiAff.from_pw_multi_aff(function))

    def isa_pw_multi_aff(self) -> bool:
        """Whether there is one function."""
        return self.n_pw_multi_aff() == 1

    def as_pw_multi_aff(self) -> PwMultiAff:
        """The only function.

        Raises:
            PresburgerError: there are several, or none.
        """
        if not self.isa_pw_multi_aff():
            raise PresburgerError(f"expected one function, found {self.n_pw_multi_aff()}")
        return self.functions()[0]

    @classmethod
    def from_pw_multi_aff(cls, function: PwMultiAff) -> UnionPwMultiAff:
        """The function as the only one."""
        return cls._gather([function])

    from_multi_aff = from_pw_multi_aff

    @classmethod
    def from_aff(cls, function: PwAff) -> UnionPwMultiAff:
        """The function to tuples of one dimension, as the only one."""
        return cls._gather([function.as_pw_multi_aff()])

    @classmethod
    def from_union_pw_aff(cls, functions: UnionPwAff) -> UnionPwMultiAff:
        """The functions to tuples of one dimension."""
        return cls._gather([function.as_pw_multi_aff() for function in functions.functions()])

    @classmethod
    def from_union_map(cls, pairs: Map) -> UnionPwMultiAff:
        """The functions that give each input its only output."""
        return pairs.as_union_pw_multi_aff()

    @classmethod
    def from_union_set(cls, points: Set) -> UnionPwMultiAff:
        """The functions of the parameters that give the only point."""
        return cls._gather([piece.as_pw_multi_aff() for piece in points.pieces()])

    @classmethod
    def from_domain(cls, points: Set) -> UnionPwMultiAff:
        """The functions that give each point ``[]``."""
        return cls._gather([PwMultiAff.from_domain(piece) for piece in points.pieces()])

    @classmethod
    def multi_val_on_domain(cls, points: Set, mv: MultiVal) -> UnionPwMultiAff:
        """The functions that give each point the same numbers."""
        return cls._gather([PwMultiAff.multi_val_on_domain(piece, mv) for piece in points.pieces()])

    def involves_locals(self) -> bool:
        """Whether there are integer divisions in domains or values."""
        return any(function.involves_locals() for function in self.functions())

    def plain_is_empty(self) -> bool:
        """Whether there is no function that has a value somewhere."""
        return self.domain().is_empty()

    def neg(self) -> UnionPwMultiAff:
        """Changes the signs."""
        return self._all("neg")

    def scale_val(self, factor: int | Fraction) -> UnionPwMultiAff:
        """Multiplies with a number."""
        return self._all("scale_val", factor)

    def scale_down_val(self, divisor: int | Fraction) -> UnionPwMultiAff:
        """Divides by a number.

        Raises:
            PresburgerError: the number is 0.
        """
        return self._all("scale_down_val", divisor)

    def scale_multi_val(self, mv: Sequence[int | Fraction]) -> UnionPwMultiAff:
        """Each value times its number, of the functions with as many values; others are left out."""
        fitting = [function for function in self.functions() if len(function) == len(mv)]
        return self._gather([function.scale_multi_val(mv) for function in fitting])

    def get_union_pw_aff(self, pos: int) -> UnionPwAff:
        """One output of all functions that have so many."""
        return UnionPwAff._gather([f.get_at(pos) for f in self.functions() if pos < len(f)])

    def range_factor_domain(self) -> UnionPwMultiAff:
        """The ``y`` of values that are pairs ``[y -> z]``; other functions are left out."""
        return self._gather([f.range_factor_domain() for f in self.functions() if f.range_is_wrapping()])

    def range_factor_range(self) -> UnionPwMultiAff:
        """The ``z`` of values that are pairs ``[y -> z]``; other functions are left out."""
        return self._gather([f.range_factor_range() for f in self.functions() if f.range_is_wrapping()])

    def _paired(self, name: str, other: UnionPwMultiAff) -> UnionPwMultiAff:
        """What a method makes of each two functions of the same arguments."""
        return self._gather([
            getattr(one, name)(two)
            for one in self.functions()
            for two in other.functions()
            if one.get_domain_space().has_equal_tuples(two.get_domain_space())
        ])

    def range_product(self, other: UnionPwMultiAff) -> UnionPwMultiAff:
        """The pairs ``[y -> z]`` of the values of both."""
        return self._paired("range_product", other)

    def flat_range_product(self, other: UnionPwMultiAff) -> UnionPwMultiAff:
        """As :meth:`range_product`, with the pairs flattened."""
        return self._paired("flat_range_product", other)

    def apply_union_pw_multi_aff(self, outer: UnionPwMultiAff) -> UnionPwMultiAff:
        """The functions of ``x`` that are ``outer`` at what this is at ``x``, for all tuples that fit."""
        return outer.pullback_union_pw_multi_aff(self)

    def preimage_domain_wrapped_domain_union_pw_multi_aff(self, inner: UnionPwMultiAff) -> UnionPwMultiAff:
        """The functions of ``[x -> b]`` that are this at ``[inner(x) -> b]``, for all tuples that fit."""
        return self._gather([
            outer.preimage_domain_wrapped_domain_pw_multi_aff(function)
            for outer in self.functions()
            for function in inner.functions()
            if outer.get_domain_space().is_wrapping()
            and outer.get_domain_space().unwrap().domain()._output.shape() == function._output().shape()
        ])

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
        from tangram.presburger.multi_union_affs import MultiUnionPwAff

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

    every_pw_aff: Final = Gathered[PwAff]._every
    foreach_pw_aff: Final = Gathered[PwAff]._foreach
    n_pw_aff: Final = Gathered[PwAff]._count

    def extract_pw_aff(self, space: Dimensions) -> PwAff:
        """The function of a space; of one without any, one that has no values."""
        return self._extracted(space) or PwAff.empty(space)

    def add_pw_aff(self, function: PwAff) -> UnionPwAff:
        """Adds a function of a tuple to that of the same tuple."""
        return self.union_add(UnionPwAff(function))

    @classmethod
    def val_on_domain(cls, points: Set, value: int | Fraction) -> UnionPwAff:
        """A number at all points."""
        return cls._gather([PwAff.val_on_domain(piece, value) for piece in points.pieces()])

    @classmethod
    def param_on_domain_id(cls, points: Set, id: str) -> UnionPwAff:
        """The value of a parameter at all points."""
        return cls._gather([PwAff.param_on_domain_id(piece, id) for piece in points.pieces()])

    @classmethod
    def pw_aff_on_domain(cls, points: Set, function: PwAff) -> UnionPwAff:
        """The value of a function of the parameters at all points."""
        return cls._gather([on_domain(function, piece) for piece in points.pieces()])

    aff_on_domain = pw_aff_on_domain

    def mod_val(self, modulus: int) -> UnionPwAff:
        """The remainder from 0 up to ``modulus``, which is positive."""
        return self._all("mod_val", modulus)

    def max_val(self) -> Val | None:
        """The greatest value of all functions; ``None`` if there is none."""
        return extreme([function.max_val() for function in self.functions()], max)

    def min_val(self) -> Val | None:
        """The least value of all functions; ``None`` if there is none."""
        return extreme([function.min_val() for function in self.functions()], min)

    def zero_union_set(self) -> Set:
        """The arguments for which a function is 0."""
        return functools.reduce(Set.union, [f.zero_set() for f in self.functions()], Set("{ }"))

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


def on_domain(function: Any, points: Set) -> Any:
    """The values of a function of the parameters at points of one space."""
    return function.insert_domain(points.get_space()).intersect_domain(points)


def extreme(values: Sequence[Val | None], of: Callable[[list[Val]], Val]) -> Val | None:
    """The greatest or least value; ``None`` if there is none, or one is unbounded."""
    known = [value for value in values if value is not None]
    return of(known) if known and len(known) == len(values) else None
