"""Quasi-polynomials, which counting returns, and their bounds."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Self

from tangram import _native
from tangram._native import PresburgerError
from tangram.presburger._relations import wrap
from tangram.presburger.sets import Set
from tangram.presburger.values import Val, make_number, ratio

if TYPE_CHECKING:
    from tangram.presburger.maps import Map


class PwQPolynomial:
    """A piecewise quasi-polynomial: what counting returns. 0 where no piece holds.

    >>> PwQPolynomial("{ [i] -> i^2 }").intersect_domain(Set("{ [i] : 0 <= i < 4 }")).sum()()
    14
    """

    __slots__ = ("_count",)
    _count: _native.Count

    def __init__(self, text: str | PwQPolynomial) -> None:
        self._count = text._count if isinstance(text, PwQPolynomial) else _native.Count(text)

    @classmethod
    def _of(cls, count: _native.Count) -> Self:
        result = cls.__new__(cls)
        result._count = count
        return result

    @classmethod
    def read_from_str(cls, text: str) -> Self:
        """Parses isl's notation, as the constructor does."""
        return cls(text)

    def __call__(self, *point: int, **params: int) -> Fraction | int:
        """The value at a point: coordinates of the domain, and parameters by name.

        Raises:
            TypeError: a parameter or a coordinate is missing or too many.
        """
        known, domain = self._count.params(), self._count.domain()
        wanted = len(domain[1]) if domain else 0
        if len(point) != wanted or set(params) - set(known) or set(known) - set(params):
            raise TypeError(f"expected {wanted} coordinates and the parameters {known}")
        values = [params[name] for name in known]
        return make_number(*self._count.evaluate([*values, *point]))

    def eval_with_dict(self, value_dict: Mapping[str, int]) -> int:
        """The value for those of the parameters and of the dimensions, by their names.

        Raises:
            TypeError: a value is missing.
            ValueError: it is a fraction.
        """
        domain = self._count.domain()
        dims = domain[1] if domain else []
        missing = [name for name in [*self.get_param_names(), *dims] if name not in value_dict]
        if missing:
            raise TypeError(f"expected a value of {missing[0]!r}")
        params = {name: value_dict[name] for name in self.get_param_names()}
        return Val(self(*(value_dict[name] for name in dims), **params)).to_python()

    def get_param_names(self) -> list[str]:
        """The names of the parameters."""
        return self._count.params()

    def domain(self) -> Set:
        """The points for which a piece holds."""
        return wrap(Set, self._count.support())

    def is_zero(self) -> bool:
        """Whether the value is 0 everywhere."""
        return self._count.is_zero()

    def sum(self) -> PwQPolynomial:
        """Sums over all points of the domain; of pairs ``[x -> y]`` over ``y``."""
        return self._of(self._count.sum())

    def apply(self, relation: Map) -> PwQPolynomial:
        """The function of ``x`` that sums up the values at all ``y`` that ``x`` is related to."""
        return self._of(self._count.apply(relation._union))

    def intersect_domain(self, points: Set) -> PwQPolynomial:
        """Keeps the values at ``points``; elsewhere it is 0."""
        return self._of(self._count.intersect_domain(points._union))

    def gist(self, points: Set) -> PwQPolynomial:
        """What this says beyond ``points``: the same values there, in shorter pieces."""
        return self._of(self._count.gist(points._union))

    def bound(self, upper: bool = True) -> PwQPolynomialFold:
        """A bound of the values over all points, for each value of the parameters."""
        return PwQPolynomialFold._of(self._count.bound(upper))

    def scale_val(self, factor: int | Fraction) -> PwQPolynomial:
        """Multiplies with a number."""
        return self._of(self._count.scale(*ratio(factor)))

    def neg(self) -> PwQPolynomial:
        """Changes the sign of all values."""
        return self.scale_val(-1)

    def _other(self, other: PwQPolynomial | int | Fraction) -> _native.Count | None:
        if isinstance(other, PwQPolynomial):
            return other._count
        if not isinstance(other, int | Fraction):
            return None
        domain = self._count.domain()
        # Adding 0 times itself gives the number the same space, wherever it holds.
        text = "{ 1 }" if domain is None else f"{{ {domain[0]}[{', '.join(domain[1])}] -> 1 }}"
        return _native.Count(text).scale(*ratio(other))

    def __add__(self, other: PwQPolynomial | int | Fraction) -> PwQPolynomial:
        count = self._other(other)
        return NotImplemented if count is None else self._of(self._count.add(count))

    def __sub__(self, other: PwQPolynomial | int | Fraction) -> PwQPolynomial:
        count = self._other(other)
        return NotImplemented if count is None else self._of(self._count.sub(count))

    def __rsub__(self, other: int | Fraction) -> PwQPolynomial:
        return self.neg() + other

    def __mul__(self, other: PwQPolynomial | int | Fraction) -> PwQPolynomial:
        if isinstance(other, int | Fraction):
            return self.scale_val(other)
        if not isinstance(other, PwQPolynomial):
            return NotImplemented
        return self._of(self._count.mul(other._count))

    def __neg__(self) -> PwQPolynomial:
        return self.neg()

    __radd__ = __add__
    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PwQPolynomial):
            return NotImplemented
        try:
            return (self - other).is_zero()
        except PresburgerError:  # functions on different spaces
            return self.is_zero() and other.is_zero()

    def __hash__(self) -> int:
        return hash(self.is_zero())

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        return type(self), (str(self),)

    def __str__(self) -> str:
        return str(self._count)

    def __repr__(self) -> str:
        return f"PwQPolynomial({str(self)!r})"


class PwQPolynomialFold:
    """A bound of a :class:`PwQPolynomial`: the greatest or the least of several, piece by piece.

    >>> PwQPolynomial("[n] -> { [i] -> i * (n - i) : 0 <= i <= n }").bound()(n=4) >= 4
    True
    """

    __slots__ = ("_bound",)
    _bound: _native.Bound

    @classmethod
    def _of(cls, bound: _native.Bound) -> Self:
        result = cls.__new__(cls)
        result._bound = bound
        return result

    def __call__(self, **params: int) -> Fraction | int | None:
        """The bound for values of the parameters; ``None`` where there is no point.

        Raises:
            TypeError: a parameter is missing or unknown.
        """
        known = self._bound.params()
        if set(params) != set(known):
            raise TypeError(f"expected the parameters {known}")
        value = self._bound.evaluate([params[name] for name in known])
        return None if value is None else make_number(*value)

    def get_param_names(self) -> list[str]:
        """The names of the parameters."""
        return self._bound.params()

    def is_upper(self) -> bool:
        """Whether it bounds from above."""
        return self._bound.is_upper()

    def domain(self) -> Set:
        """The parameters for which there is a bound, a set of ``[]``."""
        return wrap(Set, self._bound.support())

    def fold(self, other: PwQPolynomialFold) -> PwQPolynomialFold:
        """The bound of both, which must be on the same side."""
        return self._of(self._bound.fold(other._bound))

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

    def __str__(self) -> str:
        return str(self._bound)

    def __repr__(self) -> str:
        return f"PwQPolynomialFold({str(self)!r})"
