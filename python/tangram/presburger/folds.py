"""Bounds of quasi-polynomials."""

from __future__ import annotations

from fractions import Fraction
from typing import Self

from tangram import _native
from tangram.presburger._relations import wrap
from tangram.presburger.counts import PwQPolynomial
from tangram.presburger.sets import Set
from tangram.presburger.values import make_number, ratio


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
