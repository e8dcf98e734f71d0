"""Bounds of quasi-polynomials."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

from tangram import _native
from tangram._native import PresburgerError
from tangram.presburger._relations import wrap
from tangram.presburger.arguments import Arguments
from tangram.presburger.counts import PwQPolynomial, relation_of
from tangram.presburger import names
from tangram.presburger.dimensions import Dimensions
from tangram.presburger.names import Context, Tuple, dim_type, last_text
from tangram.presburger.polynomials import QPolynomial
from tangram.presburger.sets import Set
from tangram.presburger.spaces import Space
from tangram.presburger.points import Point
from tangram.presburger.values import Val, make_number, ratio

if TYPE_CHECKING:
    from tangram.presburger.count_unions import UnionPwQPolynomialFold
    from tangram.presburger.multi_affs import PwMultiAff


class PwQPolynomialFold(Arguments):
    """A bound of a :class:`PwQPolynomial`: the greatest or the least of several, piece by piece.

    >>> PwQPolynomial("[n] -> { [i] -> i * (n - i) : 0 <= i <= n }").bound()(n=4) >= 4
    True
    >>> PwQPolynomialFold("[n] -> { A[i] -> max(n, 2 * i) : i >= 0 }")(5, n=3)
    10
    """

    __slots__ = ("_bound",)
    _bound: _native.Bound

    _nameless = (dim_type.set,)

    def __init__(self, text: str | PwQPolynomialFold, context: Context | None = None) -> None:
        known = isinstance(text, PwQPolynomialFold)
        self._bound = text._bound if known else _native.Bound(str(text))

    @classmethod
    def _of(cls, bound: _native.Bound) -> Self:
        result = cls.__new__(cls)
        result._bound = bound
        return result

    @classmethod
    def read_from_str(cls, *arguments: str | Context | None) -> Self:
        """Parses isl's notation, as the constructor does; a context before it is accepted."""
        return cls(last_text(arguments))

    @classmethod
    def from_pw_qpolynomial(cls, function: PwQPolynomial, upper: bool = True) -> PwQPolynomialFold:
        """The bound that is reached: the values of a function where it has pieces."""
        return cls._of(_native.Bound.of(function._count, upper))

    def __call__(self, *point: int, **params: int) -> Fraction | int | None:
        """The bound at a point: coordinates of the domain, and parameters by name.

        ``None`` where there is none, as what is bounded has no points.

        Raises:
            TypeError: a parameter or a coordinate is missing or too many.
        """
        known, wanted = self.get_param_names(), self.dim(dim_type.in_)
        if len(point) != wanted or set(params) != set(known):
            raise TypeError(f"expected {wanted} coordinates and the parameters {known}")
        value = self._bound.evaluate([*(params[name] for name in known), *point])
        return None if value is None else make_number(*value)

    def get_space(self) -> Space:
        """The parameters and arguments; the value is an output without a name."""
        params, _, arguments = self._bound.space()
        given = self._bound.domain() is not None
        return Space._of((params, arguments if given else None, Tuple("", ("o0",))))

    def get_domain_space(self) -> Space:
        """The space of the arguments; of a bound that depends on parameters alone, theirs."""
        return Space._of(self._bound.space())

    def _placed(self, space: Space, to: list[int]) -> Self:
        domain = space.domain() if space.is_map() else space.params()
        moved = to[: self.dim(dim_type.param) + self.dim(dim_type.in_)]
        parts = [
            _native.Bound.of(value.intersect_domain(points)._count.placed(domain._form, moved), self.is_upper())
            for points, values in self.get_pieces()
            for value in values
        ]
        if not parts:
            raise PresburgerError(f"expected a bound somewhere, found {self}")
        return self._of(functools.reduce(_native.Bound.fold, parts))

    def get_param_names(self) -> list[str]:
        """The names of the parameters."""
        return self._bound.params()

    def _pull(self, inner: PwMultiAff) -> PwQPolynomialFold:
        return self._of(self._bound.apply(relation_of(inner)._union))

    def _parts(self) -> list[tuple[Set, Any]]:
        return [
            (points, functools.reduce(PwQPolynomialFold.fold, (self._single(value) for value in values)))
            for points, values in self.get_pieces()
        ]

    def _single(self, value: PwQPolynomial) -> PwQPolynomialFold:
        """The bound on the same side that is the values of a function."""
        return PwQPolynomialFold.from_pw_qpolynomial(value, self.is_upper())

    def _rows(self) -> Iterator[list[int]]:
        for _, values in self.get_pieces():
            for value in values:
                yield from value._rows()

    def _united(self, other: PwQPolynomialFold) -> PwQPolynomialFold:
        return self.fold(other)

    def is_upper(self) -> bool:
        """Whether it bounds from above."""
        return self._bound.is_upper()

    def domain(self) -> Set:
        """The points for which there is a bound, a set of ``[]`` for parameters alone."""
        return wrap(Set, self._bound.support())

    def get_pieces(self) -> list[tuple[Set, list[QPolynomial]]]:
        """Parts of the domain that do not overlap, each with what the bound is the extreme of."""
        return [
            (wrap(Set, points), [QPolynomial._of(value) for value in values])
            for points, values in self._bound.parts()
        ]

    def n_piece(self) -> int:
        """The number of parts of the domain."""
        return len(self._bound.parts())

    def foreach_piece(self, visit: Callable[[Set, list[QPolynomial]], object]) -> None:
        """Calls ``visit`` with each part of the domain and its quasi-polynomials."""
        for points, values in self.get_pieces():
            visit(points, values)

    def coalesce(self) -> PwQPolynomialFold:
        """The same bound in fewer pieces: those of the same quasi-polynomials are joined."""
        joined: dict[str, tuple[Set, PwQPolynomialFold]] = {}
        for points, value in self._parts():
            known = joined.get(str(value))
            joined[str(value)] = (points if known is None else known[0] | points, value)
        parts = [value.intersect_domain(points.coalesce()) for points, value in joined.values()]
        return functools.reduce(PwQPolynomialFold.fold, parts) if parts else self

    def every_piece(self, test: Callable[[Set, list[QPolynomial]], bool]) -> bool:
        """Whether ``test`` holds for each part of the domain and its quasi-polynomials."""
        return all(test(points, values) for points, values in self.get_pieces())

    foreach_lifted_piece = foreach_piece

    def to_union_pw_qpolynomial_fold(self) -> UnionPwQPolynomialFold:
        """The bound as the only one of a union."""
        from tangram.presburger.count_unions import UnionPwQPolynomialFold

        return UnionPwQPolynomialFold(self)

    def eval(self, point: Point) -> Val | None:
        """The bound at a point, which knows the values of the parameters; ``None`` where there is none."""
        value = self(*point, **point.params)
        return None if value is None else Val(value)

    def max(self) -> Val:
        """The greatest bound at all points, which are finitely many; 0 if there are none."""
        return max(self._values(), default=Val(0))

    def min(self) -> Val:
        """The least bound at all points, which are finitely many; 0 if there are none."""
        return min(self._values(), default=Val(0))

    def _values(self) -> Iterator[Val]:
        return (value for value in map(self.eval, self.domain()) if value is not None)

    def get_type(self) -> names.fold:
        """The side on which it is."""
        return names.fold.max if self.is_upper() else names.fold.min

    def is_zero(self) -> bool:
        """Whether there is no bound anywhere, or it is 0 wherever there is one."""
        return all(value.is_zero() for _, values in self.get_pieces() for value in values)

    def scale_down_val(self, divisor: int | Fraction) -> PwQPolynomialFold:
        """Divides by a number; a negative one changes the side.

        Raises:
            PresburgerError: the number is 0.
        """
        top, bottom = ratio(divisor)
        return self._of(self._bound.scale(bottom, top))

    def plain_is_equal(self, other: PwQPolynomialFold) -> bool:
        """Whether both are the greatest, or the least, of the same values everywhere."""
        return self.to_union_pw_qpolynomial_fold().plain_is_equal(other.to_union_pw_qpolynomial_fold())

    def reset_space(self, space: Dimensions) -> PwQPolynomialFold:
        """With the names of another space of as many dimensions."""
        given = space.get_space()
        return self.reset_domain_space(given.domain() if given.is_map() else given.params())

    def add_disjoint(self, other: PwQPolynomialFold) -> PwQPolynomialFold:
        """The bound of both, which have no arguments in common."""
        return self.fold(other)

    def fold(self, other: PwQPolynomialFold) -> PwQPolynomialFold:
        """The bound of both, which must be on the same side."""
        return self._of(self._bound.fold(other._bound))

    def bound(self) -> PwQPolynomialFold:
        """A bound over all points; of pairs ``[x -> y]`` over all ``y``."""
        return self._of(self._bound.bound())

    def intersect_domain(self, points: Set) -> PwQPolynomialFold:
        """Keeps the bound at ``points``."""
        return self._of(self._bound.intersect_domain(points._union))

    def subtract_domain(self, points: Set) -> PwQPolynomialFold:
        """Keeps the bound elsewhere than at ``points``."""
        return self.intersect_domain(self.domain() - points)

    def intersect_params(self, params: Set) -> PwQPolynomialFold:
        """Keeps the bound for parameters in ``params``."""
        return self.intersect_domain(Set.universe(self.get_domain_space()).intersect_params(params))

    def gist(self, points: Set) -> PwQPolynomialFold:
        """The same bound at ``points``, in shorter pieces."""
        return self._of(self._bound.gist(points._union))

    def gist_params(self, params: Set) -> PwQPolynomialFold:
        """The same bound for parameters in ``params``, in shorter pieces."""
        return self.gist(Set.universe(self.get_domain_space()).intersect_params(params))

    def scale_val(self, factor: int | Fraction) -> PwQPolynomialFold:
        """Multiplies with a number; a negative one changes the side."""
        return self._of(self._bound.scale(*ratio(factor)))

    def __add__(self, other: PwQPolynomial) -> PwQPolynomialFold:
        if not isinstance(other, PwQPolynomial):
            return NotImplemented
        return self._of(self._bound.add(other._count))

    def __mul__(self, other: int | Fraction) -> PwQPolynomialFold:
        return self.scale_val(other) if isinstance(other, int | Fraction) else NotImplemented

    __radd__ = __add__
    __rmul__ = __mul__

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        return type(self), (str(self),)

    def __str__(self) -> str:
        return str(self._bound)

    def __repr__(self) -> str:
        return f"PwQPolynomialFold({str(self)!r})"
