"""Ends of the dimensions of sets and of outputs, taken and given as functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from tangram._native import PresburgerError
from tangram.presburger._relations import Relations
from tangram.presburger.names import dim_type

if TYPE_CHECKING:
    from tangram.presburger.multi_affs import PwMultiAff


class Bounds(Relations):
    """What is asked of all dimensions of a tuple at once."""

    __slots__ = ()

    def min_multi_pw_aff(self) -> PwMultiAff:
        """The least value of each dimension, or output, as a function of parameters and inputs.

        Raises:
            PresburgerError: one has no least value for some input, or some values of the parameters.
        """
        return self._ends([self.dim_min(at) for at in range(self.dim(dim_type.set))])

    def max_multi_pw_aff(self) -> PwMultiAff:
        """The greatest value of each dimension, or output, as a function of parameters and inputs.

        Raises:
            PresburgerError: one has no greatest value for some input, or some values of the parameters.
        """
        return self._ends([self.dim_max(at) for at in range(self.dim(dim_type.set))])

    def _ends(self, members: list[Any]) -> PwMultiAff:
        from tangram.presburger.multi_affs import PwMultiAff

        return PwMultiAff.from_pw_affs(*members, name=self.get_tuple_name(dim_type.set) or "")

    def lower_bound_multi_pw_aff(self, lower: PwMultiAff) -> Self:
        """Keeps what is at least ``lower`` in each dimension; of a set, that is one of the parameters."""
        return self._bounded([value.ceil() for value in lower.get_list()], lower, "ge_set")

    def upper_bound_multi_pw_aff(self, upper: PwMultiAff) -> Self:
        """Keeps what is at most ``upper`` in each dimension; of a set, that is one of the parameters."""
        return self._bounded([value.floor() for value in upper.get_list()], upper, "le_set")

    def _bounded(self, members: Sequence[Any], given: PwMultiAff, side: str) -> Self:
        from tangram.presburger.affs import Aff

        tuple_of = self.get_space() if self._general is not self._sets() else None
        wanted = self.get_space().range() if tuple_of is not None else self.get_space()
        if given.get_space().range().drop_all_params() != wanted.drop_all_params():
            raise PresburgerError(f"expected a function to {wanted}, found {given}")
        ends = self._ends(list(members))
        every = self._sets().universe(wanted)
        pairs = every.cross(every).wrap()
        space, count = pairs.get_space(), len(members)
        for at in range(count):
            end = Aff.var_on_domain(space, dim_type.set, at)
            value = Aff.var_on_domain(space, dim_type.set, count + at)
            pairs = pairs.intersect(getattr(value, side)(end))
        if tuple_of is not None:
            return self.intersect(ends.as_map().apply_range(pairs.unwrap()))
        return self.intersect(ends.as_set().apply(pairs.unwrap()))

    @staticmethod
    def _sets() -> Any:
        from tangram.presburger.sets import Set

        return Set
