"""Single equations and inequalities."""

from __future__ import annotations

from typing import Self

from tangram import _native
from tangram._native import PresburgerError
from tangram.presburger.coefficients import ByName, Coefficients, Floors
from tangram.presburger.names import dim_type
from tangram.presburger.spaces import Space


class Constraint(Coefficients):
    """An affine form over a space that is 0, or not negative.

    >>> space = Space.create_from_names(set=["i", "j"], params=["n"])
    >>> Constraint.ineq_from_names(space, {"n": 1, "i": -2, 1: 5})
    Constraint('[n] -> { [i, j] : 2i <= n + 5 }')
    """

    __slots__ = ("_equality", "_floors", "_numbers", "_space")
    _space: Space
    _equality: bool
    _numbers: list[int]
    _floors: Floors
    _kinds = (dim_type.param, dim_type.in_, dim_type.set, dim_type.div)

    @classmethod
    def _of(cls, space: Space, equality: bool, numbers: list[int], floors: Floors) -> Self:
        result = cls.__new__(cls)
        result._space, result._equality = space, equality
        result._numbers, result._floors = numbers, floors
        return result

    @classmethod
    def alloc_equality(cls, space: Space) -> Self:
        """0 = 0, to which coefficients are added."""
        return cls._of(space, True, [0] * (1 + space.dim(dim_type.all)), [])

    @classmethod
    def alloc_inequality(cls, space: Space) -> Self:
        """0 >= 0, to which coefficients are added."""
        return cls._of(space, False, [0] * (1 + space.dim(dim_type.all)), [])

    equality_alloc = alloc_equality
    inequality_alloc = alloc_inequality

    @classmethod
    def eq_from_names(cls, space: Space, coefficients: ByName | None = None) -> Self:
        """That a sum is 0: numbers by the names of their dimensions, the constant at 1."""
        return cls.alloc_equality(space).set_coefficients_by_name(coefficients or {})

    @classmethod
    def ineq_from_names(cls, space: Space, coefficients: ByName | None = None) -> Self:
        """That a sum is not negative: numbers by the names of their dimensions, the constant at 1."""
        return cls.alloc_inequality(space).set_coefficients_by_name(coefficients or {})

    @classmethod
    def equality_from_aff(cls, aff: Aff) -> Self:
        """That an expression is 0."""
        row, _, floors = aff._row()
        return cls._of(aff.get_domain_space(), True, row, floors)

    @classmethod
    def inequality_from_aff(cls, aff: Aff) -> Self:
        """That an expression is not negative."""
        row, _, floors = aff._row()
        return cls._of(aff.get_domain_space(), False, row, floors)

    def get_aff(self) -> Aff:
        """The expression that is 0 or not negative."""
        return Aff._of_row(self._space, self._numbers, 1, self._floors)

    def get_div(self, pos: int) -> Aff:
        """The expression that a division rounds down."""
        return self.get_aff().get_div(pos)

    def get_space(self) -> Space:
        """The space of the points that it is about."""
        return self._space

    def is_equality(self) -> bool:
        """Whether it says that the form is 0."""
        return self._equality

    def is_lower_bound(self, type: dim_type, pos: int) -> bool:
        """Whether it bounds a dimension from below."""
        return not self._equality and self.get_coefficient_val(type, pos) > 0

    def is_upper_bound(self, type: dim_type, pos: int) -> bool:
        """Whether it bounds a dimension from above."""
        return not self._equality and self.get_coefficient_val(type, pos) < 0

    def get_bound(self, type: dim_type, pos: int) -> Aff:
        """What a dimension is, at least or at most, by what the others are; not rounded.

        Raises:
            PresburgerError: the constraint does not use the dimension, or a division of it.
        """
        column = self._column(type, pos)
        factor = self._numbers[column]
        inside = any(numerator[column] for numerator, _ in self._floors)
        if factor == 0 or inside:
            raise PresburgerError(f"expected a constraint that bounds the dimension, found {self}")
        rest = [0 if at == column else number for at, number in enumerate(self._numbers)]
        sign = -1 if factor > 0 else 1
        row = [sign * number for number in rest]
        return Aff._of_row(self._space, row, abs(factor), self._floors)

    def negate(self) -> Self:
        """What holds where an inequality does not.

        Raises:
            PresburgerError: it is an equation, whose opposite is no constraint.
        """
        if self._equality:
            raise PresburgerError(f"expected an inequality, found {self}")
        row = [-number for number in self._numbers]
        row[0] -= 1
        return self._of(self._space, False, row, self._floors)

    def _row(self) -> tuple[list[int], int, Floors]:
        return self._numbers, 1, self._floors

    def _with(self, row: list[int], divisor: int, floors: Floors) -> Self:
        # What divides all numbers is positive: without it the constraint is the same.
        return self._of(self._space, self._equality, row, floors)

    def _placed(self, space: Space, to: list[int]) -> Self:
        size = space.dim(dim_type.all)

        def moved(row: list[int]) -> list[int]:
            result = [0] * (1 + size + len(row) - 1 - len(to))
            result[0] = row[0]
            for column, target in enumerate(to):
                result[1 + target] = row[1 + column]
            result[1 + size :] = row[1 + len(to) :]
            return result

        floors = [(moved(numerator), denominator) for numerator, denominator in self._floors]
        return self._of(space, self._equality, moved(self._numbers), floors)

    def _holds(self) -> _native.Union:
        rows = ([self._numbers], []) if self._equality else ([], [self._numbers])
        return _native.Union.of_rows(self._space._form, [(*rows, self._floors)])

    def is_equal(self, other: Constraint) -> bool:
        """Whether both are written alike."""
        return self._key() == other._key()

    plain_is_equal = is_equal

    def _key(self) -> object:
        floors = tuple((tuple(numerator), denominator) for numerator, denominator in self._floors)
        return self._space, self._equality, tuple(self._numbers), floors

    def __eq__(self, other: object) -> bool:
        return self.is_equal(other) if isinstance(other, Constraint) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> tuple[object, ...]:
        return Constraint._of, (self._space, self._equality, self._numbers, self._floors)

    def __str__(self) -> str:
        return str(self._holds())

    def __repr__(self) -> str:
        return f"Constraint({str(self)!r})"


# Constraints are made of expressions, which are compared with the help of sets of constraints.
from tangram.presburger.affs import Aff  # noqa: E402
