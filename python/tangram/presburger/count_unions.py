"""Quasi-polynomials of the points of several tuples, and their bounds."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Self, overload

from tangram import _native
from tangram._native import PresburgerError
from tangram.presburger._relations import wrap
from tangram.presburger.counts import PwQPolynomial
from tangram.presburger.dimensions import Dimensions
from tangram.presburger.folds import PwQPolynomialFold
from tangram.presburger.gathered import Gathered
from tangram.presburger.maps import Map
from tangram.presburger import names
from tangram.presburger.names import Context, last_text
from tangram.presburger.points import Point
from tangram.presburger.sets import Set
from tangram.presburger.values import Val, ratio

if TYPE_CHECKING:
    from tangram.presburger.lists import PwQPolynomialFoldList, PwQPolynomialList


class UnionPwQPolynomial(Gathered[PwQPolynomial], Sequence[PwQPolynomial]):
    """A :class:`PwQPolynomial` for each of several tuples, in their order, and 0 elsewhere.

    >>> Map("[n] -> { S[i] -> A[j] : 0 <= j < i; T[] -> A[j] : 0 <= j < n }").card()
    UnionPwQPolynomial('[n] -> { S[i] -> i : i >= 1; T[] -> n : n >= 1 }')
    """

    __slots__ = ("_counts",)
    _counts: _native.Counts

    def __init__(
        self, text: str | PwQPolynomial | UnionPwQPolynomial, context: Context | None = None
    ) -> None:
        if isinstance(text, UnionPwQPolynomial):
            self._counts = text._counts
        elif isinstance(text, PwQPolynomial):
            self._counts = _native.Counts.of([text._count])
        else:
            self._counts = _native.Counts(text)

    @classmethod
    def _of(cls, counts: _native.Counts) -> Self:
        result = cls.__new__(cls)
        result._counts = counts
        return result

    @classmethod
    def read_from_str(cls, *arguments: str | Context | None) -> Self:
        """Parses isl's notation, as the constructor does; a context before it is accepted."""
        return cls(last_text(arguments))

    @classmethod
    def from_pw_qpolynomial(cls, function: PwQPolynomial) -> UnionPwQPolynomial:
        """The function as the only one."""
        return cls(function)

    @classmethod
    def collect(cls, functions: Sequence[PwQPolynomial]) -> UnionPwQPolynomial:
        """The sum of functions of any tuples."""
        return cls._of(_native.Counts.of([function._count for function in functions]))

    def get_param_names(self) -> list[str]:
        """The names of the parameters."""
        return self._counts.params()

    def get_pw_qpolynomial_list(self) -> PwQPolynomialList:
        """One function for each tuple."""
        from tangram.presburger.lists import PwQPolynomialList

        return PwQPolynomialList([PwQPolynomial._of(count) for count in self._counts.functions()])

    _each = get_pw_qpolynomial_list
    every_pw_qpolynomial: Final = Gathered[PwQPolynomial]._every
    foreach_pw_qpolynomial: Final = Gathered[PwQPolynomial]._foreach
    n_pw_qpolynomial: Final = Gathered[PwQPolynomial]._count

    def __len__(self) -> int:
        return len(self._counts.functions())

    @classmethod
    def _gather(cls, functions: Sequence[PwQPolynomial]) -> Self:
        return cls._of(_native.Counts.of([function._count for function in functions]))

    @classmethod
    def zero(cls, space: Dimensions | None = None) -> Self:
        """0 everywhere."""
        return cls._gather([])

    @classmethod
    def zero_ctx(cls, ctx: Context | None = None) -> Self:
        """0 everywhere."""
        return cls._gather([])

    zero_space = zero

    def eval(self, point: Point) -> Val:
        """The value at a point, which knows the values of the parameters; 0 in another tuple."""
        function = self._extracted(point.get_space())
        return Val(0) if function is None else function.eval(point)

    def extract_pw_qpolynomial(self, space: Dimensions) -> PwQPolynomial:
        """The function of the domain of a space; 0 if there is none."""
        space = space.get_space()
        wanted = space.domain() if space.is_map() else space
        for function in self:
            if function.get_domain_space()._output.shape() == wanted._output.shape():
                return function
        return PwQPolynomial._piece_kind.zero_on_domain(wanted).to_pw_qpolynomial()

    @overload
    def __getitem__(self, at: int) -> PwQPolynomial: ...
    @overload
    def __getitem__(self, at: slice) -> list[PwQPolynomial]: ...
    def __getitem__(self, at: int | slice) -> PwQPolynomial | list[PwQPolynomial]:
        return self.get_pw_qpolynomial_list()[at]

    def __iter__(self) -> Iterator[PwQPolynomial]:
        return iter(self.get_pw_qpolynomial_list())

    def domain(self) -> Set:
        """The points for which a piece holds."""
        return wrap(Set, self._counts.support())

    def sum(self) -> UnionPwQPolynomial:
        """Sums over all points of each domain; of pairs ``[x -> y]`` over ``y``."""
        return self._of(self._counts.sum())

    def bound(self, upper: bool = True) -> UnionPwQPolynomialFold:
        """A bound of the values over all points; of pairs ``[x -> y]`` over all ``y``."""
        return UnionPwQPolynomialFold._of(self._counts.bound(upper))

    def apply(self, relation: Map) -> UnionPwQPolynomial:
        """The function of ``x`` that sums up the values at all ``y`` that ``x`` is related to."""
        return self._of(self._counts.within("apply", relation._union))

    def intersect_domain(self, points: Set) -> UnionPwQPolynomial:
        """Keeps the values at ``points``; elsewhere it is 0."""
        return self._of(self._counts.within("intersect_domain", points._union))

    def subtract_domain(self, points: Set) -> UnionPwQPolynomial:
        """Keeps the values elsewhere; it is 0 at ``points``."""
        return self - self.intersect_domain(points)

    def gist(self, points: Set) -> UnionPwQPolynomial:
        """The same values at ``points``, in shorter pieces."""
        return self._of(self._counts.within("gist", points._union))

    def coalesce(self) -> UnionPwQPolynomial:
        """The same functions in fewer pieces, where pieces can be joined exactly."""
        return self._of(self._counts.coalesce())

    def to_polynomial(self, sign: int) -> UnionPwQPolynomial:
        """Without floors: nowhere below this for a ``sign`` of 1, nowhere above for -1.

        With 0, floors are left out.
        """
        return self._of(self._counts.to_polynomial(sign))

    def scale_val(self, factor: int | Fraction) -> UnionPwQPolynomial:
        """Multiplies with a number."""
        return self._of(self._counts.scale(*ratio(factor)))

    def scale_down_val(self, divisor: int | Fraction) -> UnionPwQPolynomial:
        """Divides by a number.

        Raises:
            PresburgerError: the number is 0.
        """
        top, bottom = ratio(divisor)
        return self._of(self._counts.scale(bottom, top))

    def neg(self) -> UnionPwQPolynomial:
        """Changes the sign of all values."""
        return self.scale_val(-1)

    def _binary(self, name: str, other: UnionPwQPolynomial | PwQPolynomial) -> UnionPwQPolynomial:
        if not isinstance(other, UnionPwQPolynomial | PwQPolynomial):
            return NotImplemented
        return self._of(self._counts.binary(name, UnionPwQPolynomial(other)._counts))

    def add(self, other: UnionPwQPolynomial | PwQPolynomial) -> UnionPwQPolynomial:
        """Adds, tuple by tuple."""
        return self + other

    add_pw_qpolynomial = add

    def sub(self, other: UnionPwQPolynomial | PwQPolynomial) -> UnionPwQPolynomial:
        """Subtracts, tuple by tuple."""
        return self - other

    def mul(self, other: UnionPwQPolynomial | PwQPolynomial) -> UnionPwQPolynomial:
        """Multiplies, tuple by tuple."""
        return self * other

    def __add__(self, other: UnionPwQPolynomial | PwQPolynomial) -> UnionPwQPolynomial:
        return self._binary("add", other)

    def __sub__(self, other: UnionPwQPolynomial | PwQPolynomial) -> UnionPwQPolynomial:
        return self._binary("sub", other)

    def __mul__(
        self, other: UnionPwQPolynomial | PwQPolynomial | int | Fraction
    ) -> UnionPwQPolynomial:
        if isinstance(other, int | Fraction):
            return self.scale_val(other)
        return self._binary("mul", other)

    __rmul__ = __mul__

    def __neg__(self) -> UnionPwQPolynomial:
        return self.neg()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, UnionPwQPolynomial):
            return NotImplemented
        return self._counts.is_equal(other._counts)

    def __hash__(self) -> int:
        # Functions that are 0 are equal whatever their tuples are, however they are written.
        return hash(UnionPwQPolynomial)

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        return type(self), (str(self),)

    def __str__(self) -> str:
        return str(self._counts)

    def __repr__(self) -> str:
        return f"UnionPwQPolynomial({str(self)!r})"


class UnionPwQPolynomialFold(Gathered[PwQPolynomialFold], Sequence[PwQPolynomialFold]):
    """A :class:`PwQPolynomialFold` for each of several tuples, in their order, on one side.

    >>> bounds = UnionPwQPolynomialFold("{ A[i] -> max(i, 3); B[i, j] -> max(i * j) }")
    >>> bounds.apply(Map("{ S[k] -> A[i] : 0 <= i <= k; S[k] -> B[k, 2] }"))[0](5)
    10
    """

    __slots__ = ("_bounds",)
    _bounds: _native.Bounds

    def __init__(
        self, text: str | PwQPolynomialFold | UnionPwQPolynomialFold, context: Context | None = None
    ) -> None:
        if isinstance(text, UnionPwQPolynomialFold):
            self._bounds = text._bounds
        elif isinstance(text, PwQPolynomialFold):
            self._bounds = _native.Bounds.of(text._bound)
        else:
            self._bounds = _native.Bounds(text)

    @classmethod
    def _of(cls, bounds: _native.Bounds) -> Self:
        result = cls.__new__(cls)
        result._bounds = bounds
        return result

    @classmethod
    def from_pw_qpolynomial_fold(cls, bound: PwQPolynomialFold) -> UnionPwQPolynomialFold:
        """The bound as the only one."""
        return cls(bound)

    def get_param_names(self) -> list[str]:
        """The names of the parameters."""
        return self._bounds.params()

    def is_upper(self) -> bool:
        """Whether all bound from above."""
        return self._bounds.is_upper()

    def get_pw_qpolynomial_fold_list(self) -> PwQPolynomialFoldList:
        """One bound for each tuple."""
        from tangram.presburger.lists import PwQPolynomialFoldList

        return PwQPolynomialFoldList([PwQPolynomialFold._of(bound) for bound in self._bounds.bounds()])

    _each = get_pw_qpolynomial_fold_list
    every_pw_qpolynomial_fold: Final = Gathered[PwQPolynomialFold]._every
    foreach_pw_qpolynomial_fold: Final = Gathered[PwQPolynomialFold]._foreach
    n_pw_qpolynomial_fold: Final = Gathered[PwQPolynomialFold]._count

    def __len__(self) -> int:
        return len(self._bounds.bounds())

    @classmethod
    def _gather(cls, functions: Sequence[PwQPolynomialFold]) -> Self:
        bounds = [_native.Bounds.of(function._bound) for function in functions]
        return cls._of(functools.reduce(_native.Bounds.fold, bounds)) if bounds else cls("{ }")

    def extract_pw_qpolynomial_fold(self, space: Dimensions) -> PwQPolynomialFold:
        """The bound of a space.

        Raises:
            PresburgerError: there is none.
        """
        found = self._extracted(space)
        if found is None:
            raise PresburgerError(f"expected a bound of {space}, found {self}")
        return found

    @classmethod
    def zero(cls, space: Dimensions, type: names.fold) -> Self:
        """No bound, of either side."""
        return cls._gather([])

    @classmethod
    def zero_ctx(cls, ctx: Context | None, type: names.fold) -> Self:
        """No bound, of either side."""
        return cls._gather([])

    zero_space = zero

    def get_type(self) -> names.fold:
        """The side on which all are."""
        return names.fold.max if self.is_upper() else names.fold.min

    def eval(self, point: Point) -> Val | None:
        """The bound at a point, which knows the values of the parameters; ``None`` where there is none."""
        function = self._extracted(point.get_space())
        return None if function is None else function.eval(point)

    def scale_down_val(self, divisor: int | Fraction) -> UnionPwQPolynomialFold:
        """Divides by a number; a negative one changes the side.

        Raises:
            PresburgerError: the number is 0.
        """
        return self._all("scale_down_val", divisor)

    @overload
    def __getitem__(self, at: int) -> PwQPolynomialFold: ...
    @overload
    def __getitem__(self, at: slice) -> list[PwQPolynomialFold]: ...
    def __getitem__(self, at: int | slice) -> PwQPolynomialFold | list[PwQPolynomialFold]:
        return self.get_pw_qpolynomial_fold_list()[at]

    def __iter__(self) -> Iterator[PwQPolynomialFold]:
        return iter(self.get_pw_qpolynomial_fold_list())

    def domain(self) -> Set:
        """The points for which there is a bound."""
        return wrap(Set, self._bounds.support())

    def fold(self, other: UnionPwQPolynomialFold) -> UnionPwQPolynomialFold:
        """The bound of both, tuple by tuple; both must be on the same side."""
        return self._of(self._bounds.fold(other._bounds))

    def fold_pw_qpolynomial_fold(self, other: PwQPolynomialFold) -> UnionPwQPolynomialFold:
        """The bound of both, which must be on the same side."""
        return self.fold(UnionPwQPolynomialFold(other))

    def add_union_pw_qpolynomial(self, functions: UnionPwQPolynomial) -> UnionPwQPolynomialFold:
        """Adds functions, tuple by tuple; those where there is no bound have no effect."""
        return self._of(self._bounds.add(functions._counts))

    def bound(self) -> UnionPwQPolynomialFold:
        """A bound over all points; of pairs ``[x -> y]`` over all ``y``."""
        return self._of(self._bounds.bound())

    def apply(self, relation: Map) -> UnionPwQPolynomialFold:
        """The bound for ``x`` over all ``y`` that ``x`` is related to."""
        return self._of(self._bounds.within("apply", relation._union))

    def intersect_domain(self, points: Set) -> UnionPwQPolynomialFold:
        """Keeps the bounds at ``points``."""
        return self._of(self._bounds.within("intersect_domain", points._union))

    def gist(self, points: Set) -> UnionPwQPolynomialFold:
        """The same bounds at ``points``, in shorter pieces."""
        return self._of(self._bounds.within("gist", points._union))

    def scale_val(self, factor: int | Fraction) -> UnionPwQPolynomialFold:
        """Multiplies with a number; a negative one changes the side."""
        return self._of(self._bounds.scale(*ratio(factor)))

    def plain_is_equal(self, other: UnionPwQPolynomialFold) -> bool:
        """Whether both are the greatest, or the least, of the same values everywhere.

        Others may agree as well: ``max(0, i)`` is ``max(i)`` where ``i >= 0``.
        """
        return self._bounds.is_equal(other._bounds)

    def __add__(self, other: UnionPwQPolynomial | PwQPolynomial) -> UnionPwQPolynomialFold:
        if not isinstance(other, UnionPwQPolynomial | PwQPolynomial):
            return NotImplemented
        return self.add_union_pw_qpolynomial(UnionPwQPolynomial(other))

    def __mul__(self, other: int | Fraction) -> UnionPwQPolynomialFold:
        return self.scale_val(other) if isinstance(other, int | Fraction) else NotImplemented

    __radd__ = __add__
    __rmul__ = __mul__

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        return type(self), (str(self),)

    def __str__(self) -> str:
        return str(self._bounds)

    def __repr__(self) -> str:
        return f"UnionPwQPolynomialFold({str(self)!r})"
