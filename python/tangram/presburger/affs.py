"""Quasi-affine expressions, alone and by pieces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Final, Self, TYPE_CHECKING

from tangram import _native
from tangram._native import PresburgerError
from tangram.presburger._relations import wrap
from tangram.presburger.coefficients import Coefficients, Floors
from tangram.presburger.constrained import column
from tangram.presburger.dimensions import Dimensions
from tangram.presburger.functions import Single
from tangram.presburger.maps import Map
from tangram.presburger.names import Context, dim_type
from tangram.presburger.sets import Set
from tangram.presburger.spaces import Space
from tangram.presburger.values import Val, make_number, ratio

if TYPE_CHECKING:
    from tangram.presburger.lists import AffList, PwAffList
    from tangram.presburger.multi_affs import PwMultiAff
    from tangram.presburger.union_affs import UnionPwAff


class PwAff(Single):
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

    def eval(self, point: Sequence[int], **params: int) -> Val | None:
        """The value at a point, as a call gives it."""
        value = self(*point, **params)
        return None if value is None else Val(value)

    def _rows(self) -> Iterator[list[int]]:
        for _, value in self.get_pieces():
            row, _, floors = value._row()
            yield row
            yield from (numerator for numerator, _ in floors)

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

    pullback_multi_aff = pullback_pw_multi_aff
    pullback_multi_pw_aff = pullback_pw_multi_aff

    pullback_aff = pullback_pw_multi_aff

    # Made of spaces and of parts.

    @classmethod
    def zero_on_domain(cls, space: Dimensions) -> Self:
        """0 on all points of a space, or of a set."""
        return cls.val_on_domain(space, 0)

    @classmethod
    def val_on_domain(cls, space: Dimensions, value: int | Fraction) -> Self:
        """A number on all points of a space, or of a set."""
        row = [value.numerator] + [0] * space.dim(dim_type.all)
        return cls._on(space, row, value.denominator)

    @classmethod
    def _on(cls, domain: Dimensions, row: list[int], divisor: int) -> Self:
        """An affine form on all points of a space, or of a set."""
        form = cls._of(_native.PwAff.of_row(domain.get_space()._form, row, divisor, []))
        return form.intersect_domain(domain) if isinstance(domain, Set) else form

    @classmethod
    def val_on_domain_space(cls, space: Dimensions, val: int | Fraction) -> Self:
        """A number on all points of a space."""
        return cls.val_on_domain(space, val)

    @classmethod
    def zero_on_domain_space(cls, space: Dimensions) -> Self:
        """0 on all points of a space."""
        return cls.val_on_domain(space, 0)

    @classmethod
    def param_on_domain_space_id(cls, space: Dimensions, id: str) -> Self:
        """The value of a parameter, which is added where a space lacks it."""
        space = space.get_space()
        if str(id) not in space._params:
            from tangram.presburger.spaces import Space

            space = Space._of(((*space._params, str(id)), space._input, space._output))
        return cls.var_on_domain(space, dim_type.param, list(space._params).index(str(id)))

    @classmethod
    def param_on_domain_id(cls, points: Dimensions, id: str) -> PwAff:
        """The value of a parameter at the points of a set, which need not have it yet."""
        value = PwAff.param_on_domain_space_id(points, id)
        return value.intersect_domain(points) if isinstance(points, Set) else value

    def to_union_pw_aff(self) -> UnionPwAff:
        """The function as the only one of a union."""
        from tangram.presburger.union_affs import UnionPwAff

        return UnionPwAff(self)

    def add_constant_val(self, v: int | Fraction) -> PwAff:
        """The values plus a number."""
        return self + v

    def max_val(self) -> Val | None:
        """The greatest value over all arguments and parameters; ``None`` if there is none."""
        return self._values().dim_max_val(0)

    def min_val(self) -> Val | None:
        """The least value over all arguments and parameters; ``None`` if there is none."""
        return self._values().dim_min_val(0)

    def _values(self) -> Set:
        tuple_function = self.as_pw_multi_aff()
        if not self.get_space().is_map():
            return tuple_function.as_set().project_out_params()
        return tuple_function.as_map().range().project_out_params()

    def to_list(self) -> AffList | PwAffList:
        """The list of this expression."""
        from tangram.presburger.lists import AffList, PwAffList

        return AffList([self]) if isinstance(self, Aff) else PwAffList([self])

    @classmethod
    def var_on_domain(cls, space: Dimensions, type: dim_type, pos: int) -> Self:
        """The value of a dimension at each point of a space, or of a parameter."""
        row = [0] * (1 + space.dim(dim_type.all))
        row[1 + column(space, type, pos)] = 1
        return cls._on(space, row, 1)

    @classmethod
    def from_aff(cls, function: PwAff) -> PwAff:
        """The same function, as one in pieces."""
        return PwAff._of(function._function)

    @classmethod
    def alloc(cls, points: Set, value: PwAff) -> PwAff:
        """The values of a function at ``points`` alone."""
        return PwAff.from_aff(value).intersect_domain(points)

    @classmethod
    def empty(cls, space: Dimensions) -> PwAff:
        """The function of a space that has no value anywhere."""
        domain = space.get_space().domain() if space.get_space().is_map() else space
        return PwAff.alloc(Set.empty(domain), Aff.zero_on_domain(domain))

    def to_pw_aff(self) -> PwAff:
        """The same function, as one in pieces."""
        return PwAff.from_aff(self)

    def isa_aff(self) -> bool:
        """Whether it is one expression everywhere."""
        return self._function.row() is not None

    def as_aff(self) -> Aff:
        """As one expression.

        Raises:
            PresburgerError: there are several, or it has no value somewhere.
        """
        return Aff(self)

    def tdiv_q(self, other: PwAff) -> PwAff:
        """The quotient by what is constant on each piece, rounded towards 0."""
        quotient = self / other
        positive = quotient.intersect_domain(quotient.nonneg_set()).floor()
        return positive.union_add(quotient.subtract_domain(quotient.nonneg_set()).ceil())

    def tdiv_r(self, other: PwAff) -> PwAff:
        """What :meth:`tdiv_q` leaves; it has the sign of this."""
        return self - other * self.tdiv_q(other)

    def is_cst(self) -> bool:
        """Whether each part has the same value everywhere."""
        return all(not any(aff._row()[0][1:]) for _, aff in self.get_pieces())

    def is_empty(self) -> bool:
        """Whether it has no value anywhere."""
        return self.domain().is_empty()

    def params(self) -> Set:
        """The values of the parameters for which it has a value."""
        return self.domain().params()

    def as_pw_multi_aff(self) -> PwMultiAff:
        """As a function to tuples of one dimension."""
        from tangram.presburger.multi_affs import PwMultiAff

        return PwMultiAff._of(self._function.to_tuple())

    def as_map(self) -> Map:
        """Relates each argument to its value, where that is an integer."""
        return self.as_pw_multi_aff().as_map()

    def as_set(self) -> Set:
        """The values of a function of the parameters, where they are integers."""
        return self.as_pw_multi_aff().as_set()

    def _region(self, name: str, *others: PwAff | int | Fraction) -> Set:
        operands = []
        for other in others:
            operand = self._other(other)
            if operand is None:
                raise TypeError(f"expected a function or a number, found {other!r}")
            operands.append(operand._function)
        return wrap(Set, self._function.region(name, *operands))

    def le_set(self, other: PwAff | int | Fraction) -> Set:
        """The arguments for which this is at most ``other``."""
        return self._region("le", other)

    def lt_set(self, other: PwAff | int | Fraction) -> Set:
        """The arguments for which this is less than ``other``."""
        return self._region("lt", other)

    def ge_set(self, other: PwAff | int | Fraction) -> Set:
        """The arguments for which this is at least ``other``."""
        return self._region("ge", other)

    def gt_set(self, other: PwAff | int | Fraction) -> Set:
        """The arguments for which this is more than ``other``."""
        return self._region("gt", other)

    def eq_set(self, other: PwAff | int | Fraction) -> Set:
        """The arguments for which both are equal."""
        return self._region("eq", other)

    def ne_set(self, other: PwAff | int | Fraction) -> Set:
        """The arguments for which both have values, which differ."""
        return self._region("ne", other)

    def _compared(self, name: str, other: PwAff) -> Map:
        spaces = [one.get_domain_space() for one in (self, other)]
        pairs = Set.universe(spaces[0]).cross(Set.universe(spaces[1]))
        left = self.pullback_pw_multi_aff(pairs.domain_map().as_pw_multi_aff())
        right = other.pullback_pw_multi_aff(pairs.range_map().as_pw_multi_aff())
        return left._region(name, right).unwrap()

    def le_map(self, other: PwAff) -> Map:
        """Relates the arguments at which this is at most what ``other`` is at the second ones."""
        return self._compared("le", other)

    def lt_map(self, other: PwAff) -> Map:
        """Relates the arguments at which this is less than ``other`` at the second ones."""
        return self._compared("lt", other)

    def ge_map(self, other: PwAff) -> Map:
        """Relates the arguments at which this is at least what ``other`` is at the second ones."""
        return self._compared("ge", other)

    def gt_map(self, other: PwAff) -> Map:
        """Relates the arguments at which this is more than ``other`` at the second ones."""
        return self._compared("gt", other)

    def eq_map(self, other: PwAff) -> Map:
        """Relates the arguments at which this is what ``other`` is at the second ones."""
        return self._compared("eq", other)

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
            return PwAff._of(self._function.number(*ratio(other)))
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


class Aff(PwAff, Coefficients):
    """One quasi-affine expression, which has a value everywhere.

    >>> i = Aff("[n] -> { [i] -> [(i + n)] }")
    >>> i.set_coefficient_val(dim_type.in_, 0, 3).get_coefficients_by_name()
    {'n': 1, 'i': 3}
    """

    __slots__ = ()
    _kinds = (dim_type.param, dim_type.in_, dim_type.div)

    def __init__(self, text: str | PwAff, context: Context | None = None) -> None:
        super().__init__(text)  # type: ignore[arg-type]
        if self._function.row() is None:
            raise PresburgerError(f"expected one expression everywhere; PwAff(...) reads {text}")

    @classmethod
    def _of(cls, function: _native.PwAff) -> PwAff:  # type: ignore[override]
        kind = PwAff if function.row() is None else cls
        result = kind.__new__(kind)
        result._function = function
        return result

    @classmethod
    def _of_row(cls, domain: Space, row: list[int], divisor: int, floors: Floors) -> Aff:
        function = _native.PwAff.of_row(domain._form, row, divisor, floors)
        result = cls.__new__(cls)
        result._function = function
        return result

    def _row(self) -> tuple[list[int], int, Floors]:
        return self._function.row()

    def _with(self, row: list[int], divisor: int, floors: Floors) -> Aff:  # type: ignore[override]
        return self._of_row(self.get_domain_space(), row, divisor, floors)

    def get_denominator_val(self) -> Val:
        """What divides all numbers, at least 1."""
        return Val(self._row()[1])

    def get_div(self, pos: int) -> Aff:
        """The expression that a division rounds down.

        Raises:
            PresburgerError: there are not as many divisions.
        """
        floors = self._row()[2]
        if not 0 <= pos < len(floors):
            raise PresburgerError(f"expected a division below {len(floors)}, found {pos}")
        row, divisor = floors[pos]
        return self._of_row(self.get_domain_space(), row, divisor, floors[:pos])

    def plain_is_zero(self) -> bool:
        """Whether it is 0 everywhere."""
        return not any(self._row()[0])

    def zero_basic_set(self) -> Set:
        """The arguments for which this is 0."""
        return self.zero_set()

    def neg_basic_set(self) -> Set:
        """The arguments for which this is less than 0."""
        return self.lt_set(0)

    # Of two expressions, what is compared is one conjunction.
    eq_basic_set: Final = PwAff.eq_set
    le_basic_set: Final = PwAff.le_set
    lt_basic_set: Final = PwAff.lt_set
    ge_basic_set: Final = PwAff.ge_set
    gt_basic_set: Final = PwAff.gt_set

    def coefficient_sgn(self, type: dim_type, pos: int) -> int:
        """The sign of the factor of a dimension or division."""
        return self.get_coefficient_val(type, pos).sgn()

    def add_constant_num_si(self, v: int) -> Aff:
        """With the numerator of the constant that much larger."""
        return self.add_constant_val(Fraction(v, self._row()[1]))

    # Divisions are dimensions of an expression as well.
    involves_dims: Final = Coefficients.involves_dims


PwAff._family, PwAff._piece_kind = PwAff, Aff
