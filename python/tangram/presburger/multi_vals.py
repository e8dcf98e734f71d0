"""Tuples of numbers, such as the sizes of tiles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any, Self

from tangram._native import PresburgerError
from tangram.presburger.constrained import columns
from tangram.presburger.dimensions import Dimensions
from tangram.presburger.lists import ValList
from tangram.presburger.multi_affs import PwMultiAff
from tangram.presburger.multis import Multi
from tangram.presburger.names import Context, Tuple, dim_type, last_text
from tangram.presburger.spaces import Space
from tangram.presburger.values import Val, make_number

Number = int | Fraction


class MultiVal(Multi, tuple[int, ...]):
    """Numbers in a tuple, which may have a name; it compares and counts as a Python tuple.

    >>> MultiVal("{ S[32, 8] }"), MultiVal([3, 4]).scale_down_val(2)
    (MultiVal('{ S[32, 8] }'), MultiVal('{ [3/2, 2] }'))
    """

    # Types say that they are integers, as those are that sizes are given by.
    _space: Space
    _nameless = (dim_type.set,)

    def __new__(cls, values: str | Iterable[Number], context: Context | None = None) -> Self:
        if isinstance(values, str):
            return cls._read(values)
        if isinstance(values, MultiVal):
            return cls._of(values._space, values)
        numbers = list(values)
        return cls._of(Space.set_alloc(None, 0, len(numbers)), numbers)

    @classmethod
    def _read(cls, text: str) -> Self:
        function = PwMultiAff(text)
        rows = [member.as_aff()._row() for member in function.get_list()]
        if any(any(row[1:]) for row, _, _ in rows):
            raise PresburgerError(f"expected numbers, as in `{{ [32, 8] }}`, found {text}")
        return cls._of(function.get_space(), [Fraction(row[0], divisor) for row, divisor, _ in rows])

    @classmethod
    def _of(cls, space: Space, values: Iterable[Number]) -> Self:
        """The numbers of a space, as ``int`` where they are integers."""
        numbers = [make_number(value.numerator, value.denominator) for value in values]
        if len(numbers) != space.dim(dim_type.set):
            raise PresburgerError(f"expected {space.dim(dim_type.set)} numbers, found {len(numbers)}")
        result = super().__new__(cls, [v if isinstance(v, int) else Val(v) for v in numbers])  # type: ignore[list-item]
        result._space = space
        return result

    @classmethod
    def read_from_str(cls, *arguments: str | Context | None) -> Self:
        """Reads numbers between brackets; a context before the text is accepted."""
        return cls(last_text(arguments))

    @classmethod
    def zero(cls, space: Dimensions) -> Self:
        """As many zeros as a space has dimensions."""
        return cls._of(space.get_space(), [0] * space.dim(dim_type.set))

    @classmethod
    def from_val_list(cls, space: Dimensions, list: Iterable[Number]) -> Self:
        """The values of a list, one for each dimension of a space."""
        return cls._of(space.get_space(), list)

    def get_space(self) -> Space:
        """The parameters and the tuple."""
        return self._space

    def get_domain_space(self) -> Space:
        """The space of the arguments; without any, of the parameters."""
        return self._space.domain() if self._space.is_map() else self._space.params()

    def __len__(self) -> int:
        return tuple.__len__(self)

    def _members(self) -> list[Any]:
        return [*self]

    def _made(self, output: Tuple, members: Sequence[Any]) -> Self:
        params, source, _ = self._space._form
        return self._of(Space._of((params, source, output)), members)

    def _placed(self, space: Space, to: list[int]) -> Self:
        start = self._space.dim(dim_type.all) - len(self)
        first = space.dim(dim_type.all) - space.dim(dim_type.set)
        values = {to[start + at] - first: value for at, value in enumerate(self)}
        if sorted(values) != [*range(space.dim(dim_type.set))]:
            raise PresburgerError(f"expected a space of {len(self)} dimensions, found {space}")
        return self._of(space, [values[at] for at in range(len(values))])

    def drop_dims(self, type: dim_type, first: int, n: int) -> Self:
        """Without ``n`` dimensions from ``first`` on, and their values."""
        if type == dim_type.set:
            return self._drop_outputs(first, n)
        return self._of(self._space.drop_dims(type, first, n), self)

    def involves_dims(self, type: dim_type, first: int, n: int) -> bool:
        """Whether a value depends on dimensions, which none does."""
        return bool(columns(self, type, first, n) & set())

    def from_range(self) -> Self:
        """The same values for the argument ``[]``.

        Raises:
            PresburgerError: there are arguments.
        """
        if self._space.is_map():
            raise PresburgerError(f"expected values without arguments, found {self}")
        return self._of(self._space.from_range(), self)

    def project_domain_on_params(self) -> Self:
        """The same values without arguments."""
        return self._of(self._space.range(), self)

    def get_val(self, pos: int) -> Val:
        """The value at a position.

        Raises:
            PresburgerError: there is none.
        """
        if not 0 <= pos < len(self):
            raise PresburgerError(f"expected a position below {len(self)}, found {pos}")
        return Val(self[pos])

    get_at = get_val

    def set_val(self, pos: int, el: Number) -> Self:
        """With another value at a position."""
        self.get_val(pos)
        return self._of(self._space, (*self[:pos], el, *self[pos + 1 :]))

    set_at = set_val

    def get_list(self) -> ValList:
        """The values in a list."""
        return ValList(Val(value) for value in self)

    def _change(self, change: Callable[[Val], Number]) -> Self:
        return self._of(self._space, [change(Val(value)) for value in self])

    def _both(self, other: Iterable[Number], change: Callable[[Val, Val], Number]) -> Self:
        numbers = [Val(value) for value in other]
        if isinstance(other, MultiVal) and not self._space.has_equal_tuples(other._space):
            raise PresburgerError(f"expected values of {self._space}, found {other}")
        if len(numbers) != len(self):
            raise PresburgerError(f"expected {len(self)} numbers, found {len(numbers)}")
        return self._of(self._space, [change(Val(a), b) for a, b in zip(self, numbers)])

    def add(self, multi2: Iterable[Number]) -> Self:
        """The sums of values at the same place."""
        return self._both(multi2, Val.__add__)

    def sub(self, multi2: Iterable[Number]) -> Self:
        """The differences of values at the same place."""
        return self._both(multi2, Val.__sub__)

    def min(self, multi2: Iterable[Number]) -> Self:
        """The lesser of values at the same place."""
        return self._both(multi2, Val.min)

    def max(self, multi2: Iterable[Number]) -> Self:
        """The greater of values at the same place."""
        return self._both(multi2, Val.max)

    def scale_multi_val(self, mv: Iterable[Number]) -> Self:
        """The products of values at the same place."""
        return self._both(mv, Val.__mul__)

    def scale_down_multi_val(self, mv: Iterable[Number]) -> Self:
        """The quotients of values at the same place.

        Raises:
            ZeroDivisionError: one is divided by 0.
        """
        return self._both(mv, Val.__truediv__)

    def mod_multi_val(self, mv: Iterable[Number]) -> Self:
        """The remainders by the values at the same place."""
        return self._both(mv, Val.__mod__)

    def neg(self) -> Self:
        """The opposites."""
        return self._change(Val.__neg__)

    def add_val(self, v: Number) -> Self:
        """All values that much larger."""
        return self._change(lambda value: value + v)

    def scale_val(self, v: Number) -> Self:
        """All values that often."""
        return self._change(lambda value: value * v)

    def scale_down_val(self, v: Number) -> Self:
        """All values divided by a number.

        Raises:
            ZeroDivisionError: it is 0.
        """
        return self._change(lambda value: value / v)

    def mod_val(self, v: Number) -> Self:
        """The remainders of all values."""
        return self._change(lambda value: value % v)

    def is_zero(self) -> bool:
        """Whether all values are 0."""
        return not any(self)

    def involves_nan(self) -> bool:
        """Whether a value is no number, which none is."""
        return False

    def plain_is_equal(self, multi2: Iterable[Number]) -> bool:
        """Whether all values are the same, in the same tuple."""
        same = not isinstance(multi2, MultiVal) or self._space.is_equal(multi2._space)
        return same and self == tuple(multi2)

    def range_product(self, multi2: MultiVal) -> Self:
        """The pair of the values of both."""
        one, other = self._output(), multi2._output()
        return self._made(Tuple("", (*one.dims, *other.dims), (one, other)), [*self, *multi2])

    product = range_product

    def flat_range_product(self, multi2: Iterable[Number]) -> Self:
        """The values of both, one behind the other."""
        values = [*self, *multi2]
        return self._made(Tuple("", tuple(f"o{at}" for at in range(len(values)))), values)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._of, (self._space, [*self])

    def __str__(self) -> str:
        params, source, output = self._space._form
        values = iter(self)
        text = f"{_text(source, iter(source.dims))} -> " if source else ""
        said = f"[{', '.join(params)}] -> " if params else ""
        return f"{said}{{ {text}{_text(output, values)} }}"

    def __repr__(self) -> str:
        return f"MultiVal({str(self)!r})"


def _text(shape: Tuple, values: Any) -> str:
    """A tuple with values in the places of its dimensions, taken one after the other."""
    if shape.sides is None:
        return f"{shape.name}[{', '.join(str(next(values)) for _ in shape.dims)}]"
    first, second = (_text(side, values) for side in shape.sides)
    return f"{shape.name}[{first} -> {second}]"
