"""Quasi-polynomials, which counting returns, and their bounds."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

from tangram import _native
from tangram._native import PresburgerError
from tangram.presburger._relations import wrap
from tangram.presburger.arguments import Arguments
from tangram.presburger.dimensions import Dimensions
from tangram.presburger.names import Context, Tuple, dim_type, last_text
from tangram.presburger.points import Point
from tangram.presburger.sets import Set
from tangram.presburger.spaces import Space
from tangram.presburger.values import Val, make_number, ratio

if TYPE_CHECKING:
    from tangram.presburger.affs import Aff, PwAff
    from tangram.presburger.count_unions import UnionPwQPolynomial
    from tangram.presburger.folds import PwQPolynomialFold
    from tangram.presburger.names import fold
    from tangram.presburger.maps import Map
    from tangram.presburger.multi_affs import PwMultiAff
    from tangram.presburger.polynomials import QPolynomial


class PwQPolynomial(Arguments):
    """A piecewise quasi-polynomial: what counting returns. 0 where no piece holds.

    >>> PwQPolynomial("{ [i] -> i^2 }").intersect_domain(Set("{ [i] : 0 <= i < 4 }")).sum()()
    14
    """

    __slots__ = ("_count",)
    _count: _native.Count

    _nameless = (dim_type.set,)
    _piece_kind: ClassVar[type[QPolynomial]]
    """The class of a function of one piece."""

    def __init__(self, text: str | PwQPolynomial, context: Context | None = None) -> None:
        self._count = text._count if isinstance(text, PwQPolynomial) else _native.Count(text)

    @classmethod
    def _of(cls, count: _native.Count) -> Self:
        result = cls.__new__(cls)
        result._count = count
        return result

    @classmethod
    def read_from_str(cls, *arguments: str | Context | None) -> Self:
        """Parses isl's notation, as the constructor does; a context before it is accepted."""
        return cls(last_text(arguments))

    def __call__(self, *point: int, **params: int) -> Fraction | int | float:
        """The value at a point: coordinates of the domain, and parameters by name.

        A parameter that has one value where the function has one needs none:
        ``Set("[n] -> { [i] : 0 <= i < n and n = 4 }").card()()`` is 4. The value is ``math.inf`` for
        infinitely many points, and ``math.nan`` for sums over them.

        Raises:
            TypeError: a parameter or a coordinate is missing or too many.
        """
        known, wanted = self.get_param_names(), self.dim(dim_type.in_)
        if len(point) == wanted and set(params) < set(known):
            params = self._fixed_params() | params
        if len(point) != wanted or set(params) ^ set(known):
            raise TypeError(f"expected {wanted} coordinates and the parameters {known}")
        values = [params[name] for name in known]
        numerator, denominator = self._count.evaluate([*values, *point])
        if denominator == 0:
            return numerator * math.inf if numerator else math.nan
        return make_number(numerator, denominator)

    def _fixed_params(self) -> dict[str, int]:
        """The values of parameters that have one where a piece holds."""
        where, found = self.domain(), {}
        for at, name in enumerate(self.get_param_names()):
            with contextlib.suppress(PresburgerError):
                found[name] = int(where.plain_get_val_if_fixed(dim_type.param, at))
        return found

    def eval(self, point: Point) -> Val:
        """The value at a point, which knows the values of the parameters.

        Raises:
            TypeError: a parameter or a coordinate is missing or too many.
        """
        return Val(finite(self(*point, **point.params)))

    def eval_with_dict(self, value_dict: Mapping[str, int]) -> int:
        """The value for those of the parameters and of the dimensions, by their names.

        Raises:
            TypeError: a value is missing.
            ValueError: it is a fraction.
        """
        dims = self.get_var_names(dim_type.in_)
        missing = [name for name in [*self.get_param_names(), *dims] if name not in value_dict]
        if missing:
            raise TypeError(f"expected a value of {missing[0]!r}")
        params = {name: value_dict[name] for name in self.get_param_names()}
        return Val(finite(self(*(value_dict[name] for name in dims), **params))).to_python()

    # Spaces and pieces.

    def get_space(self) -> Space:
        """The parameters and arguments; the value is an output without a name."""
        params, _, arguments = self._count.space()
        given = self._count.domain() is not None
        return Space._of((params, arguments if given else None, Tuple("", ("o0",))))

    def get_domain_space(self) -> Space:
        """The space of the arguments; of a function of the parameters, theirs."""
        return Space._of(self._count.space())

    def get_param_names(self) -> list[str]:
        """The names of the parameters."""
        return self._count.params()

    def _placed(self, space: Space, to: list[int]) -> Self:
        # The value is no coordinate of the pieces.
        domain = space.domain() if space.is_map() else space.params()
        arguments = self.dim(dim_type.param) + self.dim(dim_type.in_)
        return self._of(self._count.placed(domain._form, to[:arguments]))

    def _pull(self, inner: PwMultiAff) -> Self:
        return self._of(self._count.apply(relation_of(inner)._union))

    def _parts(self) -> list[tuple[Set, Any]]:
        return self.get_pieces()

    def _rows(self) -> Iterator[list[int]]:
        for _, value in self.get_pieces():
            for term in value.get_terms():
                yield [0, *term._exponents]
                yield from (numerator for numerator, _ in term._floors)

    def _united(self, other: PwQPolynomial) -> PwQPolynomial:
        return self.add(other)

    def domain(self) -> Set:
        """The points for which a piece holds."""
        return wrap(Set, self._count.support())

    get_aggregate_domain = domain

    def get_pieces(self) -> list[tuple[Set, QPolynomial]]:
        """Parts of the domain that do not overlap, each with one quasi-polynomial."""
        parts = self._count.parts()
        kind = self._piece_kind
        return [(wrap(Set, points), kind._of(value)) for points, value in parts]

    def n_piece(self) -> int:
        """The number of parts of the domain, each with one quasi-polynomial."""
        return len(self._count.parts())

    def foreach_piece(self, visit: Callable[[Set, QPolynomial], object]) -> None:
        """Calls ``visit`` with each part of the domain and its quasi-polynomial."""
        for points, value in self.get_pieces():
            visit(points, value)

    def every_piece(self, test: Callable[[Set, QPolynomial], bool]) -> bool:
        """Whether ``test`` holds for each part of the domain and its quasi-polynomial."""
        return all(test(points, value) for points, value in self.get_pieces())

    foreach_lifted_piece = foreach_piece

    def to_union_pw_qpolynomial(self) -> UnionPwQPolynomial:
        """The function as the only one of a union."""
        from tangram.presburger.count_unions import UnionPwQPolynomial

        return UnionPwQPolynomial(self)

    def max(self) -> Val:
        """The greatest value at the points where a piece holds, which are finitely many; 0 if there are none."""
        return max(self._values(), default=Val(0))

    def min(self) -> Val:
        """The least value at the points where a piece holds, which are finitely many; 0 if there are none."""
        return min(self._values(), default=Val(0))

    def _values(self) -> Iterator[Val]:
        return (self.eval(point) for point in self.domain())

    def coalesce(self) -> Self:
        """The same function in fewer pieces, where pieces can be joined exactly."""
        return self._of(self._count.coalesce())

    # Made of spaces and of parts.

    @classmethod
    def zero(cls, space: Dimensions) -> PwQPolynomial:
        """The function that is 0 at all points of the domain of a space."""
        space = space.get_space()
        domain = space.domain() if space.is_map() else space.params()
        return cls._piece_kind.zero_on_domain(domain).to_pw_qpolynomial()

    @classmethod
    def from_qpolynomial(cls, value: PwQPolynomial) -> PwQPolynomial:
        """The same function, as one in pieces."""
        return PwQPolynomial._of(value._count)

    def to_pw_qpolynomial(self) -> PwQPolynomial:
        """The same function, as one in pieces."""
        return PwQPolynomial._of(self._count)

    @classmethod
    def alloc(cls, points: Set, value: PwQPolynomial) -> PwQPolynomial:
        """The values of a function at ``points`` alone."""
        return value.to_pw_qpolynomial().intersect_domain(points)

    @classmethod
    def from_pw_aff(cls, function: PwAff) -> PwQPolynomial:
        """The values of a quasi-affine function, and 0 where it has none."""
        result: PwQPolynomial | None = None
        for points, value in function.get_pieces():
            part = PwQPolynomial.alloc(points, cls._piece_kind.from_aff(value))
            result = part if result is None else result + part
        return PwQPolynomial.zero(function.get_domain_space()) if result is None else result

    def isa_qpolynomial(self) -> bool:
        """Whether it is one quasi-polynomial everywhere."""
        parts = self._count.parts()
        return len(parts) == 1 and Set._wrap(parts[0][0]).plain_is_universe()

    def as_qpolynomial(self) -> QPolynomial:
        """As one quasi-polynomial.

        Raises:
            PresburgerError: there are several, or it does not hold everywhere.
        """
        return self._piece_kind(self)

    # Operations.

    def is_zero(self) -> bool:
        """Whether the value is 0 everywhere."""
        return self._count.is_zero()

    def plain_is_equal(self, other: PwQPolynomial) -> bool:
        """Whether both have the same values everywhere."""
        return self == other

    def sum(self) -> PwQPolynomial:
        """Sums over all points of the domain; of pairs ``[x -> y]`` over ``y``."""
        return PwQPolynomial._of(self._count.sum())

    def apply(self, relation: Map) -> PwQPolynomial:
        """The function of ``x`` that sums up the values at all ``y`` that ``x`` is related to."""
        return PwQPolynomial._of(self._count.apply(relation._union))

    def intersect_domain(self, points: Set) -> PwQPolynomial:
        """Keeps the values at ``points``; elsewhere it is 0."""
        return PwQPolynomial._of(self._count.intersect_domain(points._union))

    def subtract_domain(self, points: Set) -> PwQPolynomial:
        """Keeps the values elsewhere; it is 0 at ``points``."""
        return self - self.intersect_domain(points)

    def intersect_params(self, params: Set) -> PwQPolynomial:
        """Keeps the values for parameters in ``params``; for others it is 0."""
        return self.intersect_domain(Set.universe(self.get_domain_space()).intersect_params(params))

    def gist(self, points: Set) -> PwQPolynomial:
        """What this says beyond ``points``: the same values there, in shorter pieces."""
        return PwQPolynomial._of(self._count.gist(points._union))

    def gist_params(self, params: Set) -> PwQPolynomial:
        """What this says beyond the parameters being in ``params``."""
        return self.gist(Set.universe(self.get_domain_space()).intersect_params(params))

    def bound(self, upper: bool | fold = True) -> PwQPolynomialFold:
        """A bound of the values over all points, for each value of the parameters: the greatest
        value, or with ``False`` or ``fold.min`` the least."""
        from tangram.presburger.folds import PwQPolynomialFold

        return PwQPolynomialFold._of(self._count.bound(bool(upper)))

    def to_polynomial(self, sign: int) -> PwQPolynomial:
        """Without floors: nowhere below this for a ``sign`` of 1, nowhere above for -1.

        With 0, floors are left out.
        """
        return PwQPolynomial._of(self._count.to_polynomial(sign))

    def scale_val(self, factor: int | Fraction) -> Self:
        """Multiplies with a number."""
        return self._of(self._count.scale(*ratio(factor)))

    def scale_down_val(self, divisor: int | Fraction) -> Self:
        """Divides by a number.

        Raises:
            PresburgerError: the number is 0.
        """
        top, bottom = ratio(divisor)
        return self._of(self._count.scale(bottom, top))

    def neg(self) -> Self:
        """Changes the sign of all values."""
        return self.scale_val(-1)

    def add(self, other: PwQPolynomial) -> Self:
        """Adds."""
        return self + other

    add_disjoint = add

    def sub(self, other: PwQPolynomial) -> Self:
        """Subtracts."""
        return self - other

    def mul(self, other: PwQPolynomial) -> Self:
        """Multiplies."""
        return self * other

    def pow(self, exponent: int) -> Self:
        """The product of as many of itself as ``exponent`` says, which is at least 0.

        Raises:
            ValueError: the exponent is negative.
        """
        if exponent < 0:
            raise ValueError(f"expected an exponent of at least 0, found {exponent}")
        result = self._of(self._number(1))
        for digit in bin(exponent)[2:]:
            result = result * result * self if digit == "1" else result * result
        return result

    def _number(self, value: int | Fraction) -> _native.Count:
        """A number at all points of the space."""
        domain = Set.universe(self.get_domain_space())
        if self._count.domain() is None:
            params = ", ".join(self.get_param_names())
            return _native.Count(f"[{params}] -> {{ 1 }}").scale(*ratio(value))
        return _native.Count.constant(domain._union, *ratio(value))

    def _other(self, other: PwQPolynomial | int | Fraction) -> _native.Count | None:
        if isinstance(other, PwQPolynomial):
            return other._count
        return self._number(other) if isinstance(other, int | Fraction) else None

    def _kind_with(self, other: object) -> type[Self] | type[PwQPolynomial]:
        """What comes of both: one quasi-polynomial of two, and of one and a number."""
        single = isinstance(other, self._piece_kind) or not isinstance(other, PwQPolynomial)
        return type(self) if single else PwQPolynomial

    def __add__(self, other: PwQPolynomial | int | Fraction) -> Self:
        count = self._other(other)
        if count is None:
            return NotImplemented
        return self._kind_with(other)._of(self._count.add(count))  # type: ignore[return-value]

    def __sub__(self, other: PwQPolynomial | int | Fraction) -> Self:
        count = self._other(other)
        if count is None:
            return NotImplemented
        return self._kind_with(other)._of(self._count.sub(count))  # type: ignore[return-value]

    def __rsub__(self, other: int | Fraction) -> Self:
        return self.neg() + other

    def __mul__(self, other: PwQPolynomial | int | Fraction) -> Self:
        if isinstance(other, int | Fraction):
            return self.scale_val(other)
        if not isinstance(other, PwQPolynomial):
            return NotImplemented
        product = self._count.mul(other._count)
        return self._kind_with(other)._of(product)  # type: ignore[return-value]

    def __pow__(self, exponent: int) -> Self:
        return self.pow(exponent) if isinstance(exponent, int) else NotImplemented

    def __neg__(self) -> Self:
        return self.neg()

    __radd__ = __add__
    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PwQPolynomial):
            return NotImplemented
        if self._count.domain() != other._count.domain():
            mine, theirs = self.get_domain_space(), other.get_domain_space()
            if mine._output.shape() != theirs._output.shape():
                return self.is_zero() and other.is_zero()
        return self._count.is_equal(other._count)

    def __hash__(self) -> int:
        # Functions that are 0 are equal whatever their space is, however they are written.
        return hash(PwQPolynomial)

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        return type(self), (str(self),)

    def __str__(self) -> str:
        return str(self._count)

    def to_str(self) -> str:
        """The text in isl's notation, as ``str`` gives it."""
        return str(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


def finite(value: Fraction | int | float) -> Fraction | int:
    """The number that a value is.

    Raises:
        PresburgerError: it is an infinity, or no number.
    """
    if isinstance(value, float):
        raise PresburgerError(f"expected a finite value, found {value}; bind parameters or dimensions")
    return value


def relation_of(function: PwMultiAff) -> Map:
    """The relation of arguments and values; of a function of the parameters, from ``[]``."""
    from tangram.presburger.maps import Map

    return function.as_map() if function.get_space().is_map() else Map.from_range(function.as_set())
