"""Sets and relations by their dimensions and constraints."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Self, TypeVar, overload

from tangram import _native
from tangram._native import PresburgerError
from tangram.presburger.dimensions import Dimensions, check, new_names
from tangram.presburger.names import Column, Context, Form, Tuple, dim_type, last_text
from tangram.presburger.spaces import Space

if TYPE_CHECKING:
    from tangram.presburger.affs import Aff
    from tangram.presburger.constraints import Constraint
    from tangram.presburger.sets import Set


C = TypeVar("C", bound="Constrained")


class Universe:
    """``Set.universe(space)`` and ``points.universe()``, as islpy has both."""

    @overload
    def __get__(self, value: None, kind: type[C]) -> Callable[[Dimensions], C]: ...
    @overload
    def __get__(self, value: C, kind: type[C]) -> Callable[..., C]: ...
    def __get__(self, value: C | None, kind: type[C]) -> Callable[..., C]:
        def universe(space: Dimensions) -> C:
            """All points of a space."""
            return kind._wrap(_native.Union.full(space.get_space()._form))

        def universe_of(space: Dimensions | None = None) -> C:
            """All points of a space, or of all spaces of this."""
            return value._full() if value is not None and space is None else universe(space or value)

        return universe if value is None else universe_of


class Constrained(Dimensions):
    """What is done to sets and relations of one space, dimension by dimension."""

    __slots__ = ()
    _union: _native.Union

    @classmethod
    def _wrap(cls, union: _native.Union) -> Self:
        raise NotImplementedError

    def _full(self) -> Self:
        """All points of the same spaces."""
        raise NotImplementedError

    def get_space(self) -> Space:
        """The parameters and tuples.

        Raises:
            PresburgerError: there are points of several spaces, or of none.
        """
        spaces = self._union.spaces()
        if len(spaces) != 1:
            raise PresburgerError(f"expected points of one space, found {len(spaces)} spaces")
        return Space._of(spaces[0])

    def _placed(self, space: Space, to: list[int]) -> Self:
        return self._wrap(self._union.placed(space._form, to))

    # Made of spaces and constraints.

    universe: Universe = Universe()
    """All points of a space; of a value, those of its spaces."""

    @classmethod
    def empty(cls, space: Dimensions) -> Self:
        """No point of a space."""
        return cls._wrap(_native.Union.of_rows(space.get_space()._form, []))

    @classmethod
    def from_constraint(cls, constraint: Constraint) -> Self:
        """The points for which a constraint holds."""
        return cls._wrap(constraint._holds())

    def n_constraint(self) -> int:
        """The number of constraints of the only conjunction."""
        return len(self.get_constraints())

    def foreach_constraint(self, visit: Callable[[Constraint], object]) -> None:
        """Calls ``visit`` with each constraint of the only conjunction."""
        for constraint in self.get_constraints():
            visit(constraint)

    def from_params(self) -> Self:
        """A set of parameters as one of the point ``[]``."""
        space = self.get_space()
        return self._placed(space.set_from_params(), list(range(space.dim(dim_type.all))))

    def add_constraint(self, constraint: Constraint) -> Self:
        """The points of this for which a constraint holds."""
        return self._constrained(constraint._holds())

    def add_constraints(self, constraints: Iterable[Constraint]) -> Self:
        """The points of this for which constraints hold."""
        result = self
        for constraint in constraints:
            result = result.add_constraint(constraint)
        return result

    def get_constraints(self) -> list[Constraint]:
        """The equations and inequalities of one conjunction.

        Raises:
            PresburgerError: there are several; see ``get_basic_sets`` or ``get_basic_maps``.
        """
        from tangram.presburger.constraints import Constraint

        space, parts = self.get_space(), self._union.rows()
        if len(parts) != 1:
            raise PresburgerError(f"expected one conjunction, found {len(parts)} in {self}")
        equalities, inequalities, floors = parts[0]
        rows = [(True, row) for row in equalities] + [(False, row) for row in inequalities]
        return [Constraint._of(space, equality, row, floors) for equality, row in rows]

    def _constrained(self, union: _native.Union) -> Self:
        return self._wrap(self._union.binary("intersect", union))

    def _where(self, equality: bool, constant: int, *terms: tuple[dim_type, int, int]) -> Self:
        """The points for which a sum of the constant and of factors times dimensions is 0, or not
        negative."""
        space = self.get_space()
        row = [0] * (1 + space.dim(dim_type.all))
        row[0] = constant
        for type, pos, factor in terms:
            row[1 + column(self, type, pos)] += factor
        equations, limits = ([row], []) if equality else ([], [row])
        return self._constrained(_native.Union.of_rows(space._form, [(equations, limits, [])]))

    def fix_val(self, type: dim_type, pos: int, value: int) -> Self:
        """The points with that value of a dimension."""
        return self._where(True, -value.__index__(), (type, pos, 1))

    def lower_bound_val(self, type: dim_type, pos: int, value: int) -> Self:
        """The points with at least that value of a dimension."""
        return self._where(False, -value.__index__(), (type, pos, 1))

    def upper_bound_val(self, type: dim_type, pos: int, value: int) -> Self:
        """The points with at most that value of a dimension."""
        return self._where(False, value.__index__(), (type, pos, -1))

    fix_si = fix_val
    lower_bound_si = lower_bound_val
    upper_bound_si = upper_bound_val

    def equate(self, type1: dim_type, pos1: int, type2: dim_type, pos2: int) -> Self:
        """The points with two equal dimensions."""
        return self._where(True, 0, (type1, pos1, 1), (type2, pos2, -1))

    def order_lt(self, type1: dim_type, pos1: int, type2: dim_type, pos2: int) -> Self:
        """The points whose first dimension is less than the second."""
        return self._where(False, -1, (type1, pos1, -1), (type2, pos2, 1))

    def order_le(self, type1: dim_type, pos1: int, type2: dim_type, pos2: int) -> Self:
        """The points whose first dimension is at most the second."""
        return self._where(False, 0, (type1, pos1, -1), (type2, pos2, 1))

    def order_gt(self, type1: dim_type, pos1: int, type2: dim_type, pos2: int) -> Self:
        """The points whose first dimension is more than the second."""
        return self.order_lt(type2, pos2, type1, pos1)

    def order_ge(self, type1: dim_type, pos1: int, type2: dim_type, pos2: int) -> Self:
        """The points whose first dimension is at least the second."""
        return self.order_le(type2, pos2, type1, pos1)

    def _flat(self, type: dim_type) -> Self:
        space = self.get_space()
        tuple = space._tuple(type)
        if tuple.sides is None:
            # Nothing is nested, so nothing changes.
            return self
        changed = space._with_tuple(type, Tuple("", tuple.dims))
        return self._placed(changed, list(range(space.dim(dim_type.all))))

    # Without some dimensions.

    def project_out(self, type: dim_type, first: int, n: int) -> Self:
        """Drops ``n`` dimensions from ``first`` on: what is there for some value of them; exact
        over the integers. A tuple that changes loses its name."""
        return self._without(columns(self, type, first, n))

    remove_dims = project_out

    def project_out_except(self, names: Collection[str], types: Collection[dim_type]) -> Self:
        """Drops the dimensions of these kinds, but for those of these names."""
        return self._without(others(self, names, types))

    def eliminate(self, type: dim_type, first: int, n: int) -> Self:
        """Frees ``n`` dimensions from ``first`` on: they have any value wherever they had one."""
        return self._freed(columns(self, type, first, n))

    def eliminate_except(self, names: Collection[str], types: Collection[dim_type]) -> Self:
        """Frees the dimensions of these kinds, but for those of these names."""
        return self._freed(others(self, names, types))

    def _without(self, gone: set[int]) -> Self:
        # What goes becomes parameters first, which are projected away by their names.
        if not gone:
            return self
        space = self.get_space()
        all = space._columns()
        kept = {kind: [c for c in part if c.old not in gone] for kind, part in all.items()}
        names = new_names("gone", 0, len(gone), all)
        hidden = [Column(name, old) for name, old in zip(names, sorted(gone), strict=True)]
        kept[dim_type.param] = [*kept[dim_type.param], *hidden]
        moved = self._union.placed(*form_of(space._rebuilt(kept)))
        return self._wrap(moved.project_params(list(names)))

    def _freed(self, gone: set[int]) -> Self:
        space = self.get_space()
        kept = [index for index in range(space.dim(dim_type.all)) if index not in gone]
        return self._without(gone)._placed(space, kept)

    def involves_dims(self, type: dim_type, first: int, n: int) -> bool:
        """Whether a constraint is about one of ``n`` dimensions from ``first`` on."""
        wanted = columns(self, type, first, n)
        for equalities, inequalities, floors in self._union.rows():
            rows = [*equalities, *inequalities, *(numerator for numerator, _ in floors)]
            if any(row[1 + column] for row in rows for column in wanted):
                return True
        return False

    def drop_constraints_involving_dims(self, type: dim_type, first: int, n: int) -> Self:
        """Without the constraints that are about ``n`` dimensions from ``first`` on: a superset."""
        return self._dropped(columns(self, type, first, n), False)

    def remove_divs(self) -> Self:
        """Without the constraints that use integer divisions: a superset."""
        return self._dropped(set(), True)

    def involves_locals(self) -> bool:
        """Whether constraints use integer divisions."""
        return any(floors for _, _, floors in self._union.rows())

    def get_div(self, pos: int) -> Aff:
        """The expression that an integer division of the only conjunction rounds down.

        Raises:
            PresburgerError: there are not as many divisions.
        """
        from tangram.presburger.affs import Aff

        floors = [floors for _, _, floors in self._union.rows()]
        if len(floors) != 1 or not 0 <= pos < len(floors[0]):
            raise PresburgerError(f"expected one conjunction with a division {pos}, found {self}")
        row, divisor = floors[0][pos]
        return Aff._of_row(self.get_space(), row, divisor, floors[0][:pos])

    @classmethod
    def nat_universe(cls, space: Dimensions) -> Self:
        """The points of a space whose dimensions and parameters are not negative."""
        points = cls.universe(space)
        for kind in (dim_type.param, dim_type.in_, dim_type.set):
            for pos in range(points.dim(kind)):
                points = points.lower_bound_val(kind, pos, 0)
        return points

    @classmethod
    def empty_ctx(cls, ctx: Context | None = None) -> Self:
        """No point, of no space."""
        return cls.read_from_str("{ }")

    @classmethod
    def empty_space(cls, space: Dimensions) -> Self:
        """No point, of no space."""
        return cls.read_from_str("{ }")

    def reset_space(self, space: Dimensions) -> Self:
        """With the names of another space of as many dimensions of each kind."""
        given, own = space.get_space(), self.get_space()
        kinds = (dim_type.param, dim_type.in_, dim_type.set)
        if [given.dim(kind) for kind in kinds] != [own.dim(kind) for kind in kinds]:
            raise PresburgerError(f"expected as many dimensions as {own} has, found {given}")
        return self._placed(given, list(range(own.dim(dim_type.all))))

    def oppose(self, type1: dim_type, pos1: int, type2: dim_type, pos2: int) -> Self:
        """The points one of whose dimensions is the opposite of another."""
        return self._where(True, 0, (type1, pos1, 1), (type2, pos2, 1))

    def plain_cmp(self, other: Self) -> int:
        """0 if both are equal, else -1 or 1, by how they are written."""
        return 0 if self == other else -1 if str(self) < str(other) else 1

    def remove_divs_involving_dims(self, type: dim_type, first: int, n: int) -> Self:
        """Without the constraints that use integer divisions of ``n`` dimensions from ``first`` on: a superset."""
        return self._dropped(set(), False, columns(self, type, first, n))

    def _dropped(self, gone: set[int], divided: bool, inside: Collection[int] = ()) -> Self:
        """Without the constraints about dimensions, about divisions, or about divisions of dimensions."""
        space = self.get_space()
        size = 1 + space.dim(dim_type.all)
        kept = []
        for equalities, inequalities, floors in self._union.rows():
            # Whether each column is dropped; a division is if its numerator is.
            drop = [False, *(index in gone for index in range(size - 1))]
            for numerator, _ in floors:
                drop.append(divided or uses(numerator, drop) or any(numerator[1 + at] for at in inside))
            sides = [[r for r in rows if not uses(r, drop)] for rows in (equalities, inequalities)]
            kept.append((sides[0], sides[1], floors))
        return self._wrap(_native.Union.of_rows(space._form, kept))

    @classmethod
    def read_from_str(cls, *arguments: str | Context | None) -> Self:
        """Parses isl's notation, as the constructor does; a context before it is accepted."""
        return cls(last_text(arguments))  # type: ignore[call-arg]


def uses(row: list[int], drop: list[bool]) -> bool:
    return any(number and gone for number, gone in zip(row, drop, strict=False))


def form_of(placed: tuple[Space, list[int]]) -> tuple[Form, list[int]]:
    return placed[0]._form, placed[1]


def column(value: Dimensions, type: dim_type, pos: int) -> int:
    """The column of a dimension, counted from the parameters on."""
    check(value, type, pos, 1)
    kinds = (dim_type.param, dim_type.in_, dim_type.set)
    return sum(value.dim(kind) for kind in kinds if kind < type) + pos


def columns(value: Dimensions, type: dim_type, first: int, n: int) -> set[int]:
    check(value, type, first, n)
    return {column(value, type, pos) for pos in range(first, first + n)}


def others(value: Dimensions, names: Collection[str], types: Collection[dim_type]) -> set[int]:
    return {
        column(value, type, pos)
        for type in types
        for pos, name in enumerate(value.get_var_names(type))
        if name not in names
    }
