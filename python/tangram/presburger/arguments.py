"""The arguments of functions of one space: restricted, reordered and left out."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

from tangram import _native
from tangram._native import PresburgerError
from tangram.presburger.constrained import columns
from tangram.presburger.dimensions import Dimensions
from tangram.presburger.names import Tuple, dim_type
from tangram.presburger.spaces import Space

if TYPE_CHECKING:
    from tangram.presburger.multi_affs import PwMultiAff
    from tangram.presburger.sets import Set


class Arguments(Dimensions):
    """A function from the points of one space, or from parameters alone."""

    __slots__ = ()

    if TYPE_CHECKING:

        def domain(self) -> Set: ...
        def get_domain_space(self) -> Space: ...
        def intersect_domain(self, points: Set) -> Any: ...
        def subtract_domain(self, points: Set) -> Any: ...

    def _pull(self, inner: PwMultiAff) -> Any:
        """The function of ``x`` that is this at ``inner(x)``."""
        raise NotImplementedError

    def _parts(self) -> list[tuple[Set, Any]]:
        """Parts of the domain, each with the function that has the values there, everywhere."""
        raise NotImplementedError

    def _rows(self) -> Iterable[list[int]]:
        """What the values are made of: rows whose columns are those of parameters and arguments."""
        raise NotImplementedError

    def _united(self, other: Self) -> Any:
        """The values of both, which have no arguments in common."""
        raise NotImplementedError

    # What is used.

    def _used(self) -> set[int]:
        """The parameters and arguments that domains or values depend on, by their columns."""
        rows = [*self._rows()]
        for points, _ in self._parts():
            rows += rows_of(points._union)
        count = self.dim(dim_type.param) + self.dim(dim_type.in_)
        return {at for row in rows for at, number in enumerate(row[1 : 1 + count]) if number}

    def involves_dims(self, type: dim_type, first: int, n: int) -> bool:
        """Whether values, or where there are some, depend on ``n`` dimensions from ``first`` on."""
        return bool(columns(self, type, first, n) & self._used())

    def involves_param_id(self, id: str) -> bool:
        """Whether values, or where there are some, depend on a parameter."""
        pos = self.find_dim_by_name(dim_type.param, id)
        return pos >= 0 and self.involves_dims(dim_type.param, pos, 1)

    def involves_locals(self) -> bool:
        """Whether there are integer divisions in domains or values."""
        count = 1 + self.dim(dim_type.param) + self.dim(dim_type.in_)
        rows = [*self._rows()]
        for points, _ in self._parts():
            rows += rows_of(points._union)
        return any(len(row) > count for row in rows)

    # Without some.

    def drop_dims(self, type: dim_type, first: int, n: int) -> Self:
        """Without ``n`` parameters or arguments from ``first`` on; a tuple that changes loses its name.

        Raises:
            PresburgerError: a value, or where there is one, depends on them.
        """
        if type == dim_type.set:
            raise PresburgerError("expected parameters or arguments, found values")
        return self._dropped(columns(self, type, first, n))

    def drop_unused_params(self) -> Self:
        """Without the parameters that nothing depends on."""
        return self._dropped(set(range(self.dim(dim_type.param))) - self._used())

    def _dropped(self, gone: set[int]) -> Self:
        if not gone:
            return self
        if gone & self._used():
            raise PresburgerError(f"expected dimensions that nothing depends on, found {self}")
        domain = self.get_domain_space()
        all = domain._columns()
        params = [c for c in all[dim_type.param] if c.old not in gone]
        kept = {dim_type.param: params, dim_type.in_: []}
        rest, _ = domain._rebuilt(kept | {dim_type.set: [c for c in all[dim_type.set] if c.old not in gone]})
        # What goes becomes arguments first, which are then given a value: any one, as none counts.
        lost = [c for c in all[dim_type.param] if c.old in gone]
        given, to = domain._rebuilt(kept | {dim_type.set: [*lost, *all[dim_type.set]]})
        given = Space._of((given._params, None, Tuple("", given._output.dims)))
        return self._given(rest, given, to, [c.old in gone for c in (*lost, *all[dim_type.set])])

    def _given(self, rest: Space, given: Space, to: list[int], constant: list[bool]) -> Self:
        """The function on ``rest`` that gives some arguments in ``given`` the value 0."""
        from tangram.presburger.affs import PwAff
        from tangram.presburger.multi_affs import PwMultiAff

        output = self.get_space()._output
        moved = [*to, *range(len(to), len(to) + len(output.dims))]
        if not constant:
            return self._placed(Space._of((rest._params, None, output)), moved)
        source = self._placed(Space._of((given._params, given._output, output)), moved)
        kept = iter(range(rest.dim(dim_type.set)))
        members = [
            PwAff.zero_on_domain(rest) if zero else PwAff.var_on_domain(rest, dim_type.set, next(kept))
            for zero in constant
        ]
        result: Self = source._pull(PwMultiAff.from_pw_affs(*members))
        return result._without_tuple() if rest.is_params() else result

    def project_domain_on_params(self) -> Self:
        """The function of the parameters, of one whose values do not depend on arguments.

        Raises:
            PresburgerError: some do.
        """
        if not self.get_space().is_map():
            return self
        count = self.dim(dim_type.param)
        gone = set(range(count, count + self.dim(dim_type.in_)))
        parts: list[Any] = []
        for points, value in self._parts():
            left = points.params()
            for part in parts:
                left = left.subtract(part.domain().params())
            alone = value._dropped(gone)
            parts.append(alone._without_tuple().intersect_domain(left))
        if not parts:
            raise PresburgerError(f"expected a value somewhere, found {self}")
        return functools.reduce(lambda a, b: a._united(b), parts)

    def _without_tuple(self) -> Self:
        """The function of the parameters, of one whose argument is a tuple without dimensions."""
        params, _, output = self.get_space()._form
        to = list(range(len(params) + len(output.dims)))
        return self._placed(Space._of((params, None, output)), to)

    # With others.

    def from_range(self) -> Self:
        """The function of the argument ``[]``, of one of the parameters.

        Raises:
            PresburgerError: there are arguments already.
        """
        return self.insert_domain(Space._of(((), None, Tuple())))

    def insert_domain(self, domain: Space) -> Self:
        """The function of all points of a space, of one of the parameters.

        Raises:
            PresburgerError: there are arguments already.
        """
        if self.get_space().is_map():
            raise PresburgerError(f"expected a function of parameters alone, found {self}")
        value = self.align_params(domain)
        params, _, output = value.get_space()._form
        to = [*range(len(params)), *(len(params) + len(domain._output.dims) + at for at in range(len(output.dims)))]
        return value._placed(Space._of((params, domain._output, output)), to)

    def domain_reverse(self) -> Self:
        """The function of ``[b -> a]``, of one of ``[a -> b]``.

        Raises:
            PresburgerError: the arguments are no pairs.
        """
        params, source, output = self.get_space()._form
        if source is None or source.sides is None:
            raise PresburgerError(f"expected arguments that are pairs `[a -> b]`, found {self}")
        first, second = source.sides
        start, a, b = len(params), len(first.dims), len(second.dims)
        to = [*range(start), *range(start + b, start + b + a), *range(start, start + b)]
        to += range(start + a + b, start + a + b + len(output.dims))
        pair = Tuple(source.name, (*second.dims, *first.dims), (second, first))
        return self._placed(Space._of((params, pair, output)), to)

    def reset_domain_space(self, space: Dimensions) -> Self:
        """With other names of parameters and tuples of the arguments, as many as there are."""
        domain = space.get_space()
        source = None if domain.is_params() else domain._output
        target = Space._of((domain._params, source, self.get_space()._output))
        if target.dim(dim_type.all) != self.get_space().dim(dim_type.all):
            raise PresburgerError(f"expected as many dimensions as {self.get_domain_space()} has, found {domain}")
        return self._placed(target, list(range(target.dim(dim_type.all))))

    # At some points.

    def _pairs(self) -> Any:
        from tangram.presburger.sets import Set

        return Set.universe(self.get_domain_space()).unwrap()

    def intersect_domain_wrapped_domain(self, points: Set) -> Self:
        """Keeps the values at ``[a -> b]`` where ``a`` is in ``points``."""
        found: Self = self.intersect_domain(self._pairs().intersect_domain(points).wrap())
        return found

    def intersect_domain_wrapped_range(self, points: Set) -> Self:
        """Keeps the values at ``[a -> b]`` where ``b`` is in ``points``."""
        found: Self = self.intersect_domain(self._pairs().intersect_range(points).wrap())
        return found

    def fix_val(self, type: dim_type, pos: int, value: int | Fraction) -> Self:
        """Keeps the values where a parameter or an argument has that value."""
        from tangram.presburger.sets import Set

        of_domain = dim_type.set if type == dim_type.in_ else type
        found: Self = self.intersect_domain(Set.universe(self.get_domain_space()).fix_val(of_domain, pos, int(value)))
        return found

    def fix_si(self, type: dim_type, pos: int, value: int) -> Self:
        """Keeps the values where a parameter or an argument has that value."""
        return self.fix_val(type, pos, value)

    def has_equal_space(self, other: Dimensions) -> bool:
        """Whether both have the same parameters, arguments and values."""
        return self.get_space().is_equal(other.get_space())


def rows_of(union: _native.Union) -> list[list[int]]:
    """The constraints of a union, and the numerators of its divisions."""
    found = []
    for equations, inequalities, floors in union.rows():
        found += [*equations, *inequalities, *(numerator for numerator, _ in floors)]
    return found
