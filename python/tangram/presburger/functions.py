"""Quasi-affine functions: of one value, of tuples, and between several tuples."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Self

from tangram import _native
from tangram._native import PresburgerError
from tangram.presburger._relations import shape, wrap
from tangram.presburger.counts import make_number, ratio
from tangram.presburger.maps import Map
from tangram.presburger.points import Point
from tangram.presburger.sets import Set

_Kinds = _native.PwAff | _native.PwMultiAff | _native.UnionPwMultiAff


class _Function:
    """What all functions have in common: text, parameters, a domain, equality."""

    __slots__ = ("_function",)
    _native_kind: type[_Kinds]
    _function: Any

    def __init__(self, text: str | Self) -> None:
        known = isinstance(text, _Function)
        self._function = text._function if known else self._native_kind(text)

    @classmethod
    def _of(cls, function: _Kinds) -> Self:
        result = cls.__new__(cls)
        result._function = function
        return result

    @classmethod
    def read_from_str(cls, text: str) -> Self:
        """Parses isl's notation, as the constructor does."""
        return cls(text)

    def get_param_names(self) -> list[str]:
        """The names of the parameters."""
        return self._function.params()

    def domain(self) -> Set:
        """The arguments that have a value; of a function of the parameters, those."""
        return wrap(Set, self._function.domain())

    def _binary(self, name: str, other: Self) -> Self:
        return self._of(self._function.binary(name, other._function))

    def add(self, other: Self) -> Self:
        """Adds where both have values."""
        return self._binary("add", other)

    def sub(self, other: Self) -> Self:
        """Subtracts where both have values."""
        return self._binary("sub", other)

    def union_add(self, other: Self) -> Self:
        """The values of either; the sum where both have one."""
        return self._binary("union_add", other)

    def is_equal(self, other: Self) -> bool:
        """Whether both have the same values at the same arguments."""
        return self._function.is_equal(other._function)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        try:
            return self.is_equal(other)
        except PresburgerError:
            if self._shape() != other._shape():
                return False
            raise

    def __hash__(self) -> int:
        return hash(self._shape())

    def _shape(self) -> object:
        return shape(self._function.space())

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        return type(self), (str(self),)

    def __str__(self) -> str:
        return str(self._function)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


class _Single(_Function):
    """A function from one tuple, or from the parameters."""

    __slots__ = ()

    def _at(self, point: tuple[int, ...], params: dict[str, int]) -> Any:
        known, (source, _) = self.get_param_names(), self._function.space()
        wanted = len(source[1]) if source else 0
        if len(point) != wanted or set(params) != set(known):
            raise TypeError(f"expected {wanted} coordinates and the parameters {known}")
        return self._function.evaluate([*(params[name] for name in known), *point])

    def get_pieces(self) -> list[tuple[Set, Self]]:
        """Parts of the domain that do not overlap, each with one expression."""
        return [(wrap(Set, part), self._of(value)) for part, value in self._function.pieces()]

    def coalesce(self) -> Self:
        """The same function in fewer pieces, where pieces can be joined exactly."""
        return self._of(self._function.unary("coalesce"))

    def floor(self) -> Self:
        """Rounds down."""
        return self._of(self._function.unary("floor"))

    def neg(self) -> Self:
        """Changes the sign."""
        return self._of(self._function.unary("neg"))

    def scale_val(self, factor: int | Fraction) -> Self:
        """Multiplies with a number."""
        return self._of(self._function.scale(*ratio(factor)))

    def scale_down_val(self, divisor: int | Fraction) -> Self:
        """Divides by a number.

        Raises:
            PresburgerError: the number is 0.
        """
        top, bottom = ratio(divisor)
        return self._of(self._function.scale(bottom, top))

    def intersect_domain(self, points: Set) -> Self:
        """Keeps the values at ``points``."""
        return self._of(self._function.within("intersect_domain", points._union))

    def subtract_domain(self, points: Set) -> Self:
        """Drops the values at ``points``."""
        return self._of(self._function.within("subtract_domain", points._union))

    def gist(self, context: Set) -> Self:
        """The same values within ``context``, in shorter pieces."""
        return self._of(self._function.within("gist", context._union))

    def __neg__(self) -> Self:
        return self.neg()

    def __truediv__(self, other: int | Fraction) -> Self:
        return self.scale_down_val(other) if isinstance(other, int | Fraction) else NotImplemented


class PwAff(_Single):
    """A piecewise quasi-affine expression; its values may be fractions.

    >>> i = PwAff("{ [i] -> [(i)] }")
    >>> (3 * i + 1) // 2
    PwAff('{ [i] -> [(i + floor((i + 1)/2))] }')
    >>> ((3 * i + 1) // 2)(5)
    8
    """

    __slots__ = ()
    _native_kind = _native.PwAff

    def __call__(self, *point: int, **params: int) -> Fraction | int | None:
        """The value at a point: coordinates, and parameters by name; ``None`` where it has none.

        Raises:
            TypeError: a parameter or a coordinate is missing or too many.
        """
        value = self._at(point, params)
        return None if value is None else make_number(*value)

    def ceil(self) -> PwAff:
        """Rounds up."""
        return self._of(self._function.unary("ceil"))

    def mod_val(self, modulus: int) -> PwAff:
        """The remainder from 0 up to ``modulus``, which is positive."""
        return self._of(self._function.modulo(modulus))

    def mul(self, other: PwAff) -> PwAff:
        """Multiplies; one of both must be constant on each piece."""
        return self._binary("mul", other)

    def div(self, other: PwAff) -> PwAff:
        """Divides by what is constant on each piece."""
        return self._binary("div", other)

    def min(self, other: PwAff) -> PwAff:
        """The lesser value, where both have one."""
        return self._binary("min", other)

    def max(self, other: PwAff) -> PwAff:
        """The greater value, where both have one."""
        return self._binary("max", other)

    def union_min(self, other: PwAff) -> PwAff:
        """The values of either; the lesser where both have one."""
        return self._binary("union_min", other)

    def union_max(self, other: PwAff) -> PwAff:
        """The values of either; the greater where both have one."""
        return self._binary("union_max", other)

    def cond(self, yes: PwAff, no: PwAff) -> PwAff:
        """The value of ``yes`` where this is not 0, of ``no`` where it is."""
        return self._of(self._function.cond(yes._function, no._function))

    def pullback_pw_multi_aff(self, inner: PwMultiAff) -> PwAff:
        """The function of ``x`` that is this at ``inner(x)``."""
        return self._of(self._function.pullback(inner._function))

    pullback_multi_aff = pullback_multi_pw_aff = pullback_pw_multi_aff

    def as_pw_multi_aff(self) -> PwMultiAff:
        """As a function to tuples of one dimension."""
        return PwMultiAff._of(self._function.to_tuple())

    def as_map(self) -> Map:
        """Relates each argument to its value, where that is an integer."""
        return self.as_pw_multi_aff().as_map()

    def as_set(self) -> Set:
        """The values of a function of the parameters, where they are integers."""
        return self.as_pw_multi_aff().as_set()

    def _region(self, name: str, *others: PwAff) -> Set:
        return wrap(Set, self._function.region(name, *(other._function for other in others)))

    def le_set(self, other: PwAff) -> Set:
        """The arguments for which this is at most ``other``."""
        return self._region("le", other)

    def lt_set(self, other: PwAff) -> Set:
        """The arguments for which this is less than ``other``."""
        return self._region("lt", other)

    def ge_set(self, other: PwAff) -> Set:
        """The arguments for which this is at least ``other``."""
        return self._region("ge", other)

    def gt_set(self, other: PwAff) -> Set:
        """The arguments for which this is more than ``other``."""
        return self._region("gt", other)

    def eq_set(self, other: PwAff) -> Set:
        """The arguments for which both are equal."""
        return self._region("eq", other)

    def ne_set(self, other: PwAff) -> Set:
        """The arguments for which both have values, which differ."""
        return self._region("ne", other)

    def zero_set(self) -> Set:
        """The arguments for which this is 0."""
        return self._region("zero")

    def non_zero_set(self) -> Set:
        """The arguments for which this is not 0."""
        return self._region("non_zero")

    def nonneg_set(self) -> Set:
        """The arguments for which this is at least 0."""
        return self._region("nonneg")

    def pos_set(self) -> Set:
        """The arguments for which this is more than 0."""
        return self._region("pos")

    def _other(self, other: PwAff | int | Fraction) -> PwAff | None:
        if isinstance(other, int | Fraction):
            return self._of(self._function.number(*ratio(other)))
        return other if isinstance(other, PwAff) else None

    def __add__(self, other: PwAff | int | Fraction) -> PwAff:
        number = self._other(other)
        return NotImplemented if number is None else self.add(number)

    def __sub__(self, other: PwAff | int | Fraction) -> PwAff:
        number = self._other(other)
        return NotImplemented if number is None else self.sub(number)

    def __rsub__(self, other: int | Fraction) -> PwAff:
        return self.neg() + other

    def __mul__(self, other: PwAff | int | Fraction) -> PwAff:
        if isinstance(other, int | Fraction):
            return self.scale_val(other)
        return self.mul(other) if isinstance(other, PwAff) else NotImplemented

    def __truediv__(self, other: PwAff | int | Fraction) -> PwAff:
        return self.div(other) if isinstance(other, PwAff) else super().__truediv__(other)

    def __floordiv__(self, other: PwAff | int | Fraction) -> PwAff:
        if not isinstance(other, PwAff | int | Fraction):
            return NotImplemented
        return (self / other).floor()

    def __mod__(self, other: int) -> PwAff:
        return self.mod_val(other) if isinstance(other, int) else NotImplemented

    __radd__ = __add__
    __rmul__ = __mul__


class PwMultiAff(_Single):
    """A piecewise function to tuples.

    >>> PwMultiAff("{ S[i, j] -> A[(j), (i + 1)] }")(3, 5)
    A[5, 4]
    """

    __slots__ = ()
    _native_kind = _native.PwMultiAff

    @classmethod
    def from_pw_affs(cls, *members: PwAff, name: str = "") -> PwMultiAff:
        """The tuple of functions of the same arguments, where all have values."""
        return cls._of(_native.PwMultiAff.of_members(name, [m._function for m in members]))

    def __call__(self, *point: int, **params: int) -> tuple[Fraction | int, ...] | None:
        """The values at a point, a :class:`Point` if they are integers; ``None`` if there are none.

        Raises:
            TypeError: a parameter or a coordinate is missing or too many.
        """
        values = self._at(point, params)
        if values is None:
            return None
        numbers = tuple(make_number(*value) for value in values)
        whole = [number for number in numbers if isinstance(number, int)]
        if len(whole) < len(numbers):
            return numbers
        return Point(whole, self._function.space()[1][0])

    def __len__(self) -> int:
        return len(self._function.space()[1][1])

    def get_at(self, output: int) -> PwAff:
        """The function of one output."""
        return PwAff._of(self._function.member(output))

    get_pw_aff = get_at

    def range_product(self, other: PwMultiAff) -> PwMultiAff:
        """The pairs ``[y -> z]`` of the values of both."""
        return self._binary("range_product", other)

    def flat_range_product(self, other: PwMultiAff) -> PwMultiAff:
        """As :meth:`range_product`, with the pairs flattened."""
        return self._binary("flat_range_product", other)

    def pullback_pw_multi_aff(self, inner: PwMultiAff) -> PwMultiAff:
        """The function of ``x`` that is this at ``inner(x)``."""
        return self._binary("pullback", inner)

    pullback_multi_aff = pullback_pw_multi_aff

    def as_map(self) -> Map:
        """Relates each argument to its values, where they are integers.

        Raises:
            PresburgerError: it is a function of the parameters; see :meth:`as_set`.
        """
        if self._function.space()[0] is None:
            raise PresburgerError("a function of the parameters is a set; use as_set()")
        return wrap(Map, self._function.graph())

    def as_set(self) -> Set:
        """The points that are the values of a function of the parameters.

        Raises:
            PresburgerError: it has arguments; see :meth:`as_map`.
        """
        if self._function.space()[0] is not None:
            raise PresburgerError("a function with arguments is a relation; use as_map()")
        return wrap(Set, self._function.graph())

    def __add__(self, other: PwMultiAff) -> PwMultiAff:
        return self.add(other) if isinstance(other, PwMultiAff) else NotImplemented

    def __sub__(self, other: PwMultiAff) -> PwMultiAff:
        return self.sub(other) if isinstance(other, PwMultiAff) else NotImplemented

    def __mul__(self, other: int | Fraction) -> PwMultiAff:
        return self.scale_val(other) if isinstance(other, int | Fraction) else NotImplemented

    __rmul__ = __mul__


class UnionPwMultiAff(_Function):
    """Functions between different tuples, one for each pair of tuples."""

    __slots__ = ()
    _native_kind = _native.UnionPwMultiAff

    def functions(self) -> list[PwMultiAff]:
        """One function for each pair of tuples."""
        return [PwMultiAff._of(function) for function in self._function.functions()]

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

    def _shape(self) -> object:
        full = [f for f in self.functions() if not f.domain().is_empty()]
        return frozenset(function._shape() for function in full)

    def __add__(self, other: UnionPwMultiAff) -> UnionPwMultiAff:
        return self.add(other) if isinstance(other, UnionPwMultiAff) else NotImplemented

    def __sub__(self, other: UnionPwMultiAff) -> UnionPwMultiAff:
        return self.sub(other) if isinstance(other, UnionPwMultiAff) else NotImplemented
