"""Quasi-affine functions to tuples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tangram import _native
from tangram._native import PresburgerError
from tangram.presburger._relations import wrap
from tangram.presburger.affs import Aff, PwAff
from tangram.presburger.dimensions import Dimensions, check
from tangram.presburger.functions import Single
from tangram.presburger.maps import Map
from tangram.presburger.multis import Functions
from tangram.presburger.names import Tuple, dim_type
from tangram.presburger.points import Point
from tangram.presburger.sets import Set
from tangram.presburger.spaces import Space
from tangram.presburger.values import make_number

if TYPE_CHECKING:
    from tangram.presburger.lists import AffList, PwAffList, PwMultiAffList
    from tangram.presburger.multi_vals import MultiVal
    from tangram.presburger.multi_union_affs import MultiUnionPwAff
    from tangram.presburger.union_affs import UnionPwMultiAff


class PwMultiAff(Functions, Single):
    """A piecewise function to tuples.

    >>> PwMultiAff("{ S[i, j] -> A[(j), (i + 1)] }")(3, 5)
    A[5, 4]
    """

    __slots__ = ()
    _native_kind = _native.PwMultiAff
    _nameless = ()

    @classmethod
    def from_pw_affs(cls, *members: PwAff, name: str = "") -> PwMultiAff:
        """The tuple of functions of the same arguments, where all have values."""
        return cls._of(_native.PwMultiAff.of_members(name, [m._function for m in members]))

    def __call__(self, *point: int, **params: int) -> tuple[Fraction | int, ...] | None:
        """The values at a point, a :class:`Point` if they are integers; ``None`` if there are none.

        Raises:
            TypeError: a parameter or a coordinate is missing or too many.
        """
        values = self._at(point, params)
        if values is None:
            return None
        numbers = tuple(make_number(*value) for value in values)
        whole = [number for number in numbers if isinstance(number, int)]
        if len(whole) < len(numbers):
            return numbers
        return Point(whole, self.get_tuple_name() or "")

    def _members(self) -> list[Any]:
        return [*self.get_list()]

    def _made(self, output: Tuple, members: Sequence[PwAff]) -> PwMultiAff:
        if not members:
            # The values say nothing; where there are some does.
            points, params = self.domain(), Set.universe(Space._of((self.get_param_names(), None, output)))
            if not self.get_space().is_map():
                return params.intersect_params(points.params()).as_pw_multi_aff()
            return points.cross(params).as_pw_multi_aff()
        flat = PwMultiAff.from_pw_affs(*members)
        params, source, dims = flat.get_space()._form
        to = list(range(flat.get_space().dim(dim_type.all)))
        return flat._placed(Space._of((params, source, output.renamed(dims.dims))), to)

    def _rows(self) -> Iterator[list[int]]:
        for _, value in self.get_pieces():
            for member in value.get_list():
                yield from member._rows()

    def drop_dims(self, type: dim_type, first: int, n: int) -> PwMultiAff:
        """Without ``n`` dimensions from ``first`` on: values, or what nothing depends on."""
        if type == dim_type.set:
            return self._drop_outputs(first, n)
        return super().drop_dims(type, first, n)

    def get_at(self, output: int) -> PwAff:
        """The function of one output, an :class:`Aff` if it has one piece everywhere."""
        member = PwAff._of(self._function.member(output))
        return member.as_aff() if member.isa_aff() else member

    get_pw_aff = get_at
    get_aff = get_at

    def range_product(self, other: PwMultiAff) -> PwMultiAff:
        """The pairs ``[y -> z]`` of the values of both."""
        return self._binary("range_product", other)

    def product(self, other: PwMultiAff) -> PwMultiAff:
        """The function of pairs ``[x -> y]`` that gives the pair of the values of both."""
        pairs = self.domain().cross(other.domain())
        first = self.pullback_pw_multi_aff(pairs.domain_map().as_pw_multi_aff())
        second = other.pullback_pw_multi_aff(pairs.range_map().as_pw_multi_aff())
        return first.range_product(second)

    def to_list(self) -> PwMultiAffList:
        """The list of this function."""
        from tangram.presburger.lists import PwMultiAffList

        return PwMultiAffList([self])

    def as_multi_aff(self) -> PwMultiAff:
        """The same function: there is one class here.

        Raises:
            PresburgerError: it is not one expression everywhere.
        """
        if not self.isa_multi_aff():
            raise PresburgerError(f"expected expressions in one piece, found {self}")
        return self

    def isa_multi_aff(self) -> bool:
        """Whether all values are of one expression everywhere."""
        return all(member.isa_aff() for member in self.get_list())

    def flat_range_product(self, other: PwMultiAff) -> PwMultiAff:
        """As :meth:`range_product`, with the pairs flattened."""
        return self._binary("flat_range_product", other)

    def pullback_pw_multi_aff(self, inner: PwMultiAff) -> PwMultiAff:
        """The function of ``x`` that is this at ``inner(x)``."""
        return self._binary("pullback", inner)

    pullback_multi_aff = pullback_pw_multi_aff

    def get_list(self) -> AffList | PwAffList:
        """The expressions of all outputs."""
        from tangram.presburger.lists import AffList, PwAffList

        members = [self.get_at(output) for output in range(len(self))]
        single = [member for member in members if isinstance(member, Aff)]
        return AffList(single) if len(single) == len(members) else PwAffList(members)

    def set_at(self, output: int, value: PwAff) -> PwMultiAff:
        """With another expression of one output."""
        self._check_member(output)
        members = self._members()
        members[output] = value
        return self._each(members)

    set_pw_aff = set_at
    set_aff = set_at

    @classmethod
    def from_pw_aff(cls, value: PwAff) -> PwMultiAff:
        """The function to tuples of one dimension."""
        return value.as_pw_multi_aff()

    from_aff = from_pw_aff

    @classmethod
    def from_pw_aff_list(cls, space: Dimensions, values: Sequence[PwAff]) -> PwMultiAff:
        """The function to the range of a space, of an expression for each output."""
        return cls._over(space.get_space(), values)

    from_aff_list = from_pw_aff_list

    @classmethod
    def from_map(cls, pairs: Map) -> PwMultiAff:
        """The function that gives each input its only output."""
        return pairs.as_pw_multi_aff()

    @classmethod
    def from_set(cls, points: Set) -> PwMultiAff:
        """The function of the parameters that gives the only point."""
        return points.as_pw_multi_aff()

    @classmethod
    def from_multi_aff(cls, function: PwMultiAff) -> PwMultiAff:
        """The same function: there is one class here."""
        return function

    from_multi_pw_aff = from_multi_aff
    from_pw_multi_aff = from_multi_aff

    def to_pw_multi_aff(self) -> PwMultiAff:
        """The same function: there is one class here."""
        return self

    to_multi_pw_aff = to_pw_multi_aff

    @classmethod
    def alloc(cls, points: Set, value: PwMultiAff) -> PwMultiAff:
        """The values of a function at ``points`` alone."""
        return value.intersect_domain(points)

    @classmethod
    def identity(cls, space: Dimensions) -> PwMultiAff:
        """The function of a space from a tuple to itself that gives each point itself."""
        return Map.identity(space).as_pw_multi_aff()

    @classmethod
    def identity_on_domain_space(cls, space: Dimensions) -> PwMultiAff:
        """The function that gives each point of a set space itself."""
        return Set.universe(space).identity().as_pw_multi_aff()

    @classmethod
    def zero(cls, space: Dimensions) -> PwMultiAff:
        """The function of a space of relations whose values are all 0."""
        given = space.get_space()
        domain = given.domain() if given.is_map() else given.params()
        return cls._over(given, [PwAff.zero_on_domain(domain)] * given.dim(dim_type.set))

    @classmethod
    def _over(cls, space: Space, members: Sequence[PwAff]) -> PwMultiAff:
        """The function of a space, of an expression for each output."""
        if len(members) != space.dim(dim_type.set):
            raise PresburgerError(f"expected {space.dim(dim_type.set)} expressions, found {len(members)}")
        if members:
            return cls.from_pw_affs(members[0])._made(space._output, members)
        full = Map.universe(space) if space.is_map() else Set.universe(space)
        return full.as_pw_multi_aff()

    def add_constant_multi_val(self, mv: Sequence[int]) -> PwMultiAff:
        """Each value plus its number."""
        return self._by_number("__add__", mv)

    def add_constant_val(self, v: int) -> PwMultiAff:
        """All values plus a number."""
        return self._by_number("__add__", [v] * len(self))

    def min(self, multi2: PwMultiAff) -> PwMultiAff:
        """The smaller of each two values, where both functions have some."""
        return self._with_each("min", multi2)

    def max(self, multi2: PwMultiAff) -> PwMultiAff:
        """The greater of each two values, where both functions have some."""
        return self._with_each("max", multi2)

    def _with_each(self, name: str, other: PwMultiAff) -> PwMultiAff:
        if other.get_space().drop_all_params() != self.get_space().drop_all_params():
            raise PresburgerError(f"expected a function of {self.get_space()}, found {other}")
        members = zip(self.get_list(), other.get_list())
        return self._each([getattr(mine, name)(theirs) for mine, theirs in members])

    def is_cst(self) -> bool:
        """Whether the values are the same everywhere."""
        return all(member.is_cst() for member in self.get_list())

    def _whole(self) -> Map:
        """As :meth:`as_map`, of a function whose values are all integers.

        Raises:
            PresburgerError: some are not.
        """
        pairs = self.as_map()
        if pairs.domain() != self.domain():
            raise PresburgerError(f"expected integers for values, found {self}")
        return pairs

    def eq_map(self, mpa2: PwMultiAff) -> Map:
        """Relates the arguments at which this is what ``mpa2`` is at the second ones."""
        return self._whole().apply_range(mpa2._whole().reverse())

    def lex_lt_map(self, mpa2: PwMultiAff) -> Map:
        """Relates the arguments at which this is before ``mpa2`` at the second ones."""
        return self._whole().lex_lt_map(mpa2._whole())

    def lex_le_map(self, mpa2: PwMultiAff) -> Map:
        """As :meth:`lex_lt_map`, or equal."""
        return self._whole().lex_le_map(mpa2._whole())

    def lex_gt_map(self, mpa2: PwMultiAff) -> Map:
        """Relates the arguments at which this is behind ``mpa2`` at the second ones."""
        return self._whole().lex_gt_map(mpa2._whole())

    def lex_ge_map(self, mpa2: PwMultiAff) -> Map:
        """As :meth:`lex_gt_map`, or equal."""
        return self._whole().lex_ge_map(mpa2._whole())

    @classmethod
    def empty(cls, space: Dimensions) -> PwMultiAff:
        """The function of a space of relations that has no values."""
        given = space.get_space()
        return cls.zero(given).intersect_domain(Set.empty(given.domain() if given.is_map() else given.params()))

    @classmethod
    def from_domain(cls, points: Set) -> PwMultiAff:
        """The function that gives each point ``[]``."""
        return Map.from_domain(points).as_pw_multi_aff()

    @classmethod
    def multi_val_on_domain(cls, points: Dimensions, mv: MultiVal) -> PwMultiAff:
        """The function that gives each point of a space, or of a set, the same numbers."""
        space = points.get_space().map_from_domain_and_range(mv.get_space().range())
        if not mv:
            return Map.universe(space).as_pw_multi_aff()
        return cls._over(space, [PwAff.val_on_domain(points, Fraction(value)) for value in mv])

    multi_val_on_domain_space = multi_val_on_domain
    multi_val_on_space = multi_val_on_domain

    @classmethod
    def project_out_map(cls, space: Dimensions, type: dim_type, first: int, n: int) -> PwMultiAff:
        """The function of the points of a space that gives their dimensions but for ``n`` from ``first`` on."""
        identity = cls.identity_on_domain_space(space).flatten_range()
        check(identity, type, first, n)
        return identity._drop_outputs(first, n)

    def to_union_pw_multi_aff(self) -> UnionPwMultiAff:
        """The function as the only one of a union."""
        from tangram.presburger.union_affs import UnionPwMultiAff

        return UnionPwMultiAff.from_pw_multi_aff(self)

    def to_multi_union_pw_aff(self) -> MultiUnionPwAff:
        """The outputs one by one, each as the only function of a union."""
        return self.to_union_pw_multi_aff().as_multi_union_pw_aff()

    def identity_multi_aff(self) -> PwMultiAff:
        """The function from the tuple of arguments, which is that of values too, that gives each point itself."""
        return PwMultiAff.identity(self)

    identity_multi_pw_aff = identity_multi_aff

    def get_constant_multi_val(self) -> MultiVal:
        """The constants of expressions in one piece each.

        Raises:
            PresburgerError: one is of several pieces.
        """
        numbers = self._numbers([member.as_aff().get_constant_val() for member in self.get_list()])
        return numbers.drop_dims(dim_type.param, 0, numbers.dim(dim_type.param))

    def pullback_multi_pw_aff(self, inner: PwMultiAff) -> PwMultiAff:
        """The function of ``x`` that is this at ``inner(x)``."""
        return self.pullback_pw_multi_aff(inner)

    def preimage_domain_wrapped_domain_pw_multi_aff(self, inner: PwMultiAff) -> PwMultiAff:
        """The function of ``[x -> b]`` that is this at ``[inner(x) -> b]``."""
        second = self.get_domain_space().unwrap().range()
        return self.pullback_pw_multi_aff(inner.product(PwMultiAff.identity_on_domain_space(second)))

    def flatten_domain(self) -> PwMultiAff:
        """With arguments of one flat tuple, without a name."""
        params, source, output = self.get_space()._form
        if source is None or source.sides is None:
            return self
        flat = Space._of((params, Tuple("", source.dims), output))
        return self._placed(flat, list(range(flat.dim(dim_type.all))))

    def splice(self, in_pos: int, out_pos: int, other: PwMultiAff) -> PwMultiAff:
        """With the arguments and values of another function before those at two positions."""
        check(self, dim_type.in_, in_pos, 0)
        own, others = self.dim(dim_type.in_), other.dim(dim_type.in_)
        first = self.insert_dims(dim_type.in_, in_pos, others)
        second = other.insert_dims(dim_type.in_, others, own - in_pos).insert_dims(dim_type.in_, 0, in_pos)
        return first.range_splice(out_pos, second)

    def _before(self, name: str, other: PwMultiAff) -> Set:
        """The arguments at which the values stand in a lexicographic order to those of ``other``."""
        values = Set.universe(self.get_space().range())
        order = getattr(values, name)(values).wrap()
        return order.preimage_pw_multi_aff(self.range_product(other))

    def lex_lt_set(self, other: PwMultiAff) -> Set:
        """The arguments at which this is lexicographically less than ``other``."""
        return self._before("lex_lt_set", other)

    def lex_le_set(self, other: PwMultiAff) -> Set:
        """As :meth:`lex_lt_set`, or equal."""
        return self._before("lex_le_set", other)

    def lex_gt_set(self, other: PwMultiAff) -> Set:
        """The arguments at which this is lexicographically greater than ``other``."""
        return self._before("lex_gt_set", other)

    def lex_ge_set(self, other: PwMultiAff) -> Set:
        """As :meth:`lex_gt_set`, or equal."""
        return self._before("lex_ge_set", other)

    def _united_by(self, name: str, other: PwMultiAff) -> PwMultiAff:
        mine = self.subtract_domain(self.domain().intersect(other.domain()).subtract(getattr(self, name)(other)))
        return mine.union_add(other.subtract_domain(mine.domain()))

    def union_lexmin(self, other: PwMultiAff) -> PwMultiAff:
        """The values of either; the lexicographically lesser where both have some."""
        return self._united_by("lex_le_set", other)

    def union_lexmax(self, other: PwMultiAff) -> PwMultiAff:
        """The values of either; the lexicographically greater where both have some."""
        return self._united_by("lex_ge_set", other)

    @classmethod
    def domain_map(cls, space: Dimensions) -> PwMultiAff:
        """The function of the pairs ``[x -> y]`` of a space of relations that gives ``x``."""
        return Map.universe(space).domain_map().as_pw_multi_aff()

    @classmethod
    def range_map(cls, space: Dimensions) -> PwMultiAff:
        """The function of the pairs ``[x -> y]`` of a space of relations that gives ``y``."""
        return Map.universe(space).range_map().as_pw_multi_aff()

    def as_map(self) -> Map:
        """Relates each argument to its values, where they are integers.

        Raises:
            PresburgerError: it is a function of the parameters; see :meth:`as_set`.
        """
        if not self.get_space().is_map():
            raise PresburgerError("a function of the parameters is a set; use as_set()")
        return wrap(Map, self._function.graph())

    def as_set(self) -> Set:
        """The points that are the values of a function of the parameters.

        Raises:
            PresburgerError: it has arguments; see :meth:`as_map`.
        """
        if self.get_space().is_map():
            raise PresburgerError("a function with arguments is a relation; use as_map()")
        return wrap(Set, self._function.graph())

    def __add__(self, other: PwMultiAff) -> PwMultiAff:
        return self.add(other) if isinstance(other, PwMultiAff) else NotImplemented

    def __sub__(self, other: PwMultiAff) -> PwMultiAff:
        return self.sub(other) if isinstance(other, PwMultiAff) else NotImplemented

    def __mul__(self, other: int | Fraction) -> PwMultiAff:
        return self.scale_val(other) if isinstance(other, int | Fraction) else NotImplemented

    __rmul__ = __mul__


PwMultiAff._family, PwMultiAff._piece_kind = PwMultiAff, PwMultiAff
