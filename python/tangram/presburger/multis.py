"""Tuples of functions or numbers: what is done to their outputs, whatever the members are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from tangram._native import PresburgerError
from tangram.presburger.dimensions import Dimensions, check
from tangram.presburger.names import Id, Tuple, dim_type

if TYPE_CHECKING:
    from tangram.presburger.multi_vals import MultiVal


class Multi(Dimensions):
    """A tuple with a member for each dimension."""

    __slots__ = ()

    def _members(self) -> list[Any]:
        """The members."""
        raise NotImplementedError

    def _made(self, output: Tuple, members: Sequence[Any]) -> Self:
        """Other members in another tuple, of the same arguments."""
        raise NotImplementedError

    def __len__(self) -> int:
        return self.dim(dim_type.set)

    def size(self) -> int:
        """The number of members."""
        return len(self)

    def _output(self) -> Tuple:
        return self.get_space()._output

    def _check_member(self, pos: int) -> None:
        check(self, dim_type.set, pos, 1)

    def _drop_outputs(self, first: int, n: int) -> Self:
        """Without ``n`` members from ``first`` on; the tuple loses its name."""
        check(self, dim_type.set, first, n)
        dims = [*self._output().dims]
        members = self._members()
        del dims[first : first + n], members[first : first + n]
        return self._made(Tuple("", dims), members)

    def flatten_range(self) -> Self:
        """With the members in one flat tuple, without a name."""
        output = self._output()
        # Where nothing is nested, nothing changes.
        return self if output.sides is None else self._made(Tuple("", output.dims), self._members())

    def range_is_wrapping(self) -> bool:
        """Whether the values of arguments are pairs."""
        return self.get_space().range_is_wrapping()

    def _side(self, first: bool) -> Self:
        sides = self._output().sides
        if sides is None:
            raise PresburgerError(f"expected pairs for values, found {self}")
        cut = len(sides[0].dims)
        if first:
            return self._made(sides[0], self._members()[:cut])
        return self._made(sides[1], self._members()[cut:])

    def range_factor_domain(self) -> Self:
        """The ``y`` of the pairs ``[y -> z]`` that are the values."""
        return self._side(True)

    def range_factor_range(self) -> Self:
        """The ``z`` of the pairs ``[y -> z]`` that are the values."""
        return self._side(False)

    def factor_range(self) -> Self:
        """The ``z`` of a pair ``[y -> z]`` of values without arguments.

        Raises:
            PresburgerError: there are arguments, or the values are no pair.
        """
        if self.get_space().is_map():
            raise PresburgerError(f"expected values without arguments, found {self}")
        return self._side(False)

    def range_splice(self, pos: int, multi2: Self) -> Self:
        """With the members of another tuple before that at ``pos``, in a flat tuple."""
        check(self, dim_type.set, pos, 0)
        members, others = self._members(), multi2._members()
        dims = tuple(f"o{at}" for at in range(len(members) + len(others)))
        return self._made(Tuple("", dims), [*members[:pos], *others, *members[pos:]])

    def get_range_tuple_id(self) -> Id:
        """The name of the tuple of values, which may be empty."""
        return self.get_tuple_id(dim_type.set)

    def has_range_tuple_id(self) -> bool:
        """Whether the tuple of values has a name."""
        return self.has_tuple_name(dim_type.set)

    def set_range_tuple_id(self, id: str) -> Self:
        """With another name of the tuple of values."""
        return self.set_tuple_name(dim_type.set, id)

    def reset_range_tuple_id(self) -> Self:
        """Without a name of the tuple of values."""
        return self.set_tuple_name(dim_type.set, "")

    def _each(self, members: Sequence[Any]) -> Self:
        """The same tuple with other members."""
        return self._made(self._output(), members)

    def _by_number(self, name: str, numbers: Sequence[Any]) -> Self:
        """What a method of the members makes of each with its number."""
        if len(numbers) != len(self):
            raise PresburgerError(f"expected {len(self)} numbers, found {len(numbers)}")
        return self._each([getattr(m, name)(v) for m, v in zip(self._members(), numbers)])

    def scale_multi_val(self, mv: Sequence[Any]) -> Self:
        """Each value times its number."""
        return self._by_number("scale_val", mv)

    def scale_down_multi_val(self, mv: Sequence[Any]) -> Self:
        """Each value divided by its number, not rounded.

        Raises:
            PresburgerError: a number is 0, or there are more or fewer numbers than values.
        """
        return self._by_number("scale_down_val", mv)

    def mod_multi_val(self, mv: Sequence[Any]) -> Self:
        """The remainder of each value by its number, which is positive."""
        return self._by_number("mod_val", mv)

    def _numbers(self, values: Sequence[Any]) -> MultiVal:
        """The tuple of a number for each member; ``None`` stands for one that there is not."""
        from tangram.presburger.multi_vals import MultiVal

        if any(value is None for value in values):
            raise PresburgerError(f"expected a number for each output, found one without any in {self}")
        space = self.get_space()
        return MultiVal.from_val_list(space.range() if space.is_map() else space, values)


class Functions(Multi):
    """A tuple of functions of the same arguments."""

    __slots__ = ()

    def max_multi_val(self) -> MultiVal:
        """The greatest value of each output.

        Raises:
            PresburgerError: one has none.
        """
        return self._numbers([member.max_val() for member in self._members()])

    def min_multi_val(self) -> MultiVal:
        """The least value of each output.

        Raises:
            PresburgerError: one has none.
        """
        return self._numbers([member.min_val() for member in self._members()])
