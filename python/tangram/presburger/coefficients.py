"""Coefficients by kind and position of a dimension, or by its name."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Literal, Self

from tangram._native import PresburgerError
from tangram.presburger.dimensions import Dimensions
from tangram.presburger.names import dim_type
from tangram.presburger.values import Val

Number = int | Fraction
ByName = Mapping[str | Literal[1], Number] | Iterable[tuple[str | Literal[1], Number]]
Floors = list[tuple[list[int], int]]
"""Integer divisions: numerators, which use those before, and denominators."""


class Coefficients(Dimensions):
    """An affine form: numbers for the constant, each dimension and each integer division."""

    __slots__ = ()
    _kinds: tuple[dim_type, ...]
    """The kinds of dimensions that have coefficients, in the order of the columns."""

    def _row(self) -> tuple[list[int], int, Floors]:
        """The numbers, constant first, what divides them all, and the divisions."""
        raise NotImplementedError

    def _with(self, row: list[int], divisor: int, floors: Floors) -> Self:
        raise NotImplementedError

    def _column(self, type: dim_type, pos: int) -> int:
        count = 1
        for kind in self._kinds:
            dims = self.dim(kind)
            if kind == type:
                if not 0 <= pos < dims:
                    raise PresburgerError(f"expected a {type!r} below {dims}, found {pos}")
                return count + pos
            count += dims
        raise PresburgerError(f"dimensions of {type!r} have no coefficients here")

    def dim(self, type: dim_type) -> int:
        """The number of dimensions or divisions of a kind."""
        return len(self._row()[2]) if type == dim_type.div else super().dim(type)

    def _get(self, column: int) -> Val:
        row, divisor, _ = self._row()
        return Val(row[column], divisor)

    def _set(self, column: int, value: Number) -> Self:
        row, divisor, floors = self._row()
        common = math.lcm(divisor, value.denominator)
        row = [number * (common // divisor) for number in row]
        row[column] = value.numerator * (common // value.denominator)
        return self._with(row, common, floors)

    def get_constant_val(self) -> Val:
        """The constant."""
        return self._get(0)

    def set_constant_val(self, value: Number) -> Self:
        """With another constant."""
        return self._set(0, value)

    def add_constant_val(self, value: Number) -> Self:
        """With the constant that much larger."""
        return self._set(0, self._get(0) + value)

    def get_coefficient_val(self, type: dim_type, pos: int) -> Val:
        """The factor of a dimension or division."""
        return self._get(self._column(type, pos))

    def set_coefficient_val(self, type: dim_type, pos: int, value: Number) -> Self:
        """With another factor of a dimension or division."""
        return self._set(self._column(type, pos), value)

    def add_coefficient_val(self, type: dim_type, pos: int, value: Number) -> Self:
        """With the factor of a dimension or division that much larger."""
        column = self._column(type, pos)
        return self._set(column, self._get(column) + value)

    add_constant = add_constant_val
    set_constant = set_constant_val
    add_coefficient = add_coefficient_val
    set_coefficient = set_coefficient_val

    def set_coefficients(self, dim_tp: dim_type, args: Sequence[Number]) -> Self:
        """With other factors of all dimensions of a kind."""
        result = self
        for pos, value in enumerate(args):
            result = result.set_coefficient_val(dim_tp, pos, value)
        return result

    def get_coefficients_by_name(
        self, dimtype: dim_type | None = None, dim_to_name: object = None
    ) -> dict[str | Literal[1], Val]:
        """The factors that are not 0, by the names of their dimensions; the constant is at 1."""
        found: dict[str | Literal[1], Val] = {}
        for kind in self._kinds if dimtype is None else (dimtype,):
            if kind != dim_type.div:
                for pos, name in enumerate(self.get_var_names(kind)):
                    found[name] = self.get_coefficient_val(kind, pos)
        if dimtype is None or dimtype == dim_type.cst:
            found[1] = self.get_constant_val()
        return {name: value for name, value in found.items() if value}

    def set_coefficients_by_name(self, iterable: ByName, name_to_dim: object = None) -> Self:
        """With other factors, by the names of their dimensions; the constant is at 1.

        Raises:
            PresburgerError: there is no dimension of a name.
        """
        result, known = self, self.get_var_dict()
        for name, value in dict(iterable).items():
            if name == 1:
                result = result.set_constant_val(value)
            elif name in known:
                result = result.set_coefficient_val(*known[name], value)
            else:
                raise PresburgerError(f"no dimension {name!r}; there are {list(known)}")
        return result

    def involves_dims(self, type: dim_type, first: int, n: int) -> bool:
        """Whether one of ``n`` dimensions from ``first`` on has a factor, within divisions too."""
        columns = [self._column(type, pos) for pos in range(first, first + n)]
        row, _, floors = self._row()
        rows = [row, *(numerator for numerator, _ in floors)]
        return any(column < len(one) and one[column] for one in rows for column in columns)
