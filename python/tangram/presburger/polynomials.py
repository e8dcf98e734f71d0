"""Quasi-polynomials in one piece, and their terms."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Self

from tangram import _native
from tangram._native import PresburgerError
from tangram.presburger.coefficients import Floors
from tangram.presburger.constrained import column
from tangram.presburger.counts import PwQPolynomial
from tangram.presburger.dimensions import Dimensions
from tangram.presburger.names import DEFAULT_CONTEXT, Context, dim_type
from tangram.presburger.spaces import Space
from tangram.presburger.values import Val

if TYPE_CHECKING:
    from tangram.presburger.affs import Aff


class Term:
    """A product in a quasi-polynomial: a number, and powers of dimensions and of floors."""

    __slots__ = ("_coefficient", "_exponents", "_floors", "_space")

    def __init__(
        self, space: Space, coefficient: Val, exponents: list[int], floors: Floors
    ) -> None:
        self._space, self._coefficient = space, coefficient
        self._exponents, self._floors = exponents, floors

    def dim(self, type: dim_type) -> int:
        """The number of dimensions or floors of a kind."""
        return len(self._floors) if type == dim_type.div else self._space.dim(type)

    def copy(self) -> Term:
        """The same product."""
        return self

    def get_ctx(self) -> Context:
        """The context."""
        return DEFAULT_CONTEXT

    def get_coefficient_val(self) -> Val:
        """The number."""
        return self._coefficient

    def get_exp(self, type: dim_type, pos: int) -> int:
        """The power of a dimension or of a floor.

        Raises:
            PresburgerError: there is no such dimension.
        """
        if not 0 <= pos < self.dim(type):
            raise PresburgerError(f"expected a {type!r} below {self.dim(type)}, found {pos}")
        first = {dim_type.param: 0, dim_type.in_: 0, dim_type.set: self._space.dim(dim_type.param)}
        start = first.get(type, self._space.dim(dim_type.all))
        return self._exponents[start + pos]

    def get_div(self, pos: int) -> Aff:
        """The expression that a floor rounds down.

        Raises:
            PresburgerError: there are not as many floors.
        """
        from tangram.presburger.affs import Aff

        if not 0 <= pos < len(self._floors):
            raise PresburgerError(f"expected a floor below {len(self._floors)}, found {pos}")
        row, divisor = self._floors[pos]
        return Aff._of_row(self._space, row, divisor, self._floors[:pos])


class QPolynomial(PwQPolynomial):
    """One quasi-polynomial, everywhere.

    >>> n = QPolynomial.var_on_domain(Space("[n] -> { [i] }"), dim_type.param, 0)
    >>> (3 * n * n + 1).get_terms()[1].get_coefficient_val()
    3
    """

    __slots__ = ()

    def __init__(self, text: str | PwQPolynomial, context: Context | None = None) -> None:
        super().__init__(text)
        if not self.is_zero() and not self.isa_qpolynomial():
            message = f"expected one value everywhere; PwQPolynomial(...) reads {text}"
            raise PresburgerError(message)

    @classmethod
    def val_on_domain(cls, space: Dimensions, value: int | Fraction) -> Self:
        """A number at all points of a space."""
        space = space.get_space()
        row = [value.numerator] + [0] * space.dim(dim_type.all)
        return cls._of(_native.Count.of_row(space._form, row, value.denominator, []))

    @classmethod
    def zero_on_domain(cls, space: Dimensions) -> Self:
        """0 at all points of a space."""
        return cls.val_on_domain(space, 0)

    @classmethod
    def one_on_domain(cls, space: Dimensions) -> Self:
        """1 at all points of a space."""
        return cls.val_on_domain(space, 1)

    @classmethod
    def var_on_domain(cls, space: Dimensions, type: dim_type, pos: int) -> Self:
        """The value of a dimension at each point of a space, or of a parameter."""
        space = space.get_space()
        row = [0] * (1 + space.dim(dim_type.all))
        row[1 + column(space, type, pos)] = 1
        return cls._of(_native.Count.of_row(space._form, row, 1, []))

    @classmethod
    def from_aff(cls, function: Aff) -> Self:
        """The values of a quasi-affine expression."""
        row, divisor, floors = function._row()
        domain = function.get_domain_space()
        return cls._of(_native.Count.of_row(domain._form, row, divisor, floors))

    def get_terms(self) -> list[Term]:
        """The products that it is the sum of."""
        found = self._count.terms()
        if found is None:
            raise PresburgerError(f"expected one value everywhere, found {self}")
        terms, floors = found
        space = self.get_domain_space()
        count = space.dim(dim_type.all) + len(floors)
        all = []
        for factors, numerator, denominator in terms:
            exponents = [0] * count
            for factor in factors:
                exponents[factor] += 1
            all.append(Term(space, Val(numerator, denominator), exponents, floors))
        return all

    @classmethod
    def from_term(cls, term: Term) -> QPolynomial:
        """The function that a product is."""
        space, kinds = term._space, (dim_type.param, dim_type.in_, dim_type.set)
        factors = [cls.var_on_domain(space, kind, at) for kind in kinds for at in range(space.dim(kind))]
        factors += [cls.from_aff(term.get_div(at).floor()) for at in range(len(term._floors))]
        result = cls.val_on_domain(space, term.get_coefficient_val())
        for factor, exponent in zip(factors, term._exponents):
            result = result * factor**exponent
        return result

    def isa_aff(self) -> bool:
        """Whether no product has two factors."""
        return all(sum(term._exponents) <= 1 for term in self.get_terms())

    def as_aff(self) -> Aff:
        """As a quasi-affine expression.

        Raises:
            PresburgerError: a product has two factors.
        """
        from tangram.presburger.affs import Aff

        if not self.isa_aff():
            raise PresburgerError(f"expected sums of single factors, found {self}")
        terms, space = self.get_terms(), self.get_domain_space()
        if not terms:
            return Aff._of_row(space, [0] * (1 + space.dim(dim_type.all)), 1, [])
        divisor = math.lcm(*(term._coefficient.denominator for term in terms))
        row = [0] * (1 + len(terms[0]._exponents))
        for term in terms:
            at = 1 + term._exponents.index(1) if any(term._exponents) else 0
            row[at] = int(term._coefficient * divisor)
        return Aff._of_row(space, row, divisor, terms[0]._floors)

    def is_infty(self) -> bool:
        """Whether it is infinite, which it never is."""
        return False

    is_neginfty = is_infty

    def foreach_term(self, visit: Callable[[Term], object]) -> None:
        """Calls ``visit`` with each of the products that it is the sum of."""
        for term in self.get_terms():
            visit(term)

    def get_constant_val(self) -> Val:
        """The number without any factor."""
        constants = [t for t in self.get_terms() if not any(t._exponents)]
        return constants[0].get_coefficient_val() if constants else Val(0)


PwQPolynomial._piece_kind = QPolynomial
