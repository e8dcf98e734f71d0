"""Tuples of functions of points of any tuples, as schedules are written."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

from tangram import _native
from tangram._native import PresburgerError
from tangram.presburger._relations import wrap
from tangram.presburger.affs import PwAff
from tangram.presburger.dimensions import Dimensions
from tangram.presburger.functions import Function
from tangram.presburger.maps import Map
from tangram.presburger.multi_affs import PwMultiAff
from tangram.presburger.multis import Functions
from tangram.presburger.names import PARAMS, Tuple, dim_type, read_tuple
from tangram.presburger.sets import Set
from tangram.presburger.spaces import Space
from tangram.presburger.union_affs import UnionPwAff, UnionPwMultiAff, on_domain

if TYPE_CHECKING:
    from tangram.presburger.lists import UnionPwAffList
    from tangram.presburger.multi_vals import MultiVal


class MultiUnionPwAff(Functions, Function):
    """A :class:`UnionPwAff` for each dimension of one output tuple, as schedules are written.

    >>> MultiUnionPwAff("C[{ A[i] -> [(i)]; B[j] -> [(j)] }, { A[i] -> [(0)]; B[j] -> [(1)] }]")[1]
    UnionPwAff('{ A[i] -> [(0)]; B[j] -> [(1)] }')
    """

    __slots__ = ()
    _native_kind = _native.MultiUnionPwAff

    @classmethod
    def from_union_pw_affs(cls, *members: UnionPwAff, name: str = "") -> MultiUnionPwAff:
        """The tuple of functions; without any, it has a value everywhere."""
        output = Tuple(name, tuple(f"o{at}" for at in range(len(members))))
        return cls._of(_native.MultiUnionPwAff.of(output, [m._function for m in members]))

    @classmethod
    def from_union_pw_aff(cls, member: UnionPwAff) -> MultiUnionPwAff:
        """The tuple of one function."""
        return cls.from_union_pw_affs(member)

    @classmethod
    def from_union_pw_multi_aff(cls, functions: UnionPwMultiAff) -> MultiUnionPwAff:
        """The outputs one by one, each a function of all tuples of arguments.

        Raises:
            PresburgerError: there are several output tuples, or no function.
        """
        return functions.as_multi_union_pw_aff()

    @classmethod
    def from_union_map(cls, pairs: Map) -> MultiUnionPwAff:
        """The function that gives each input its only output.

        Raises:
            PresburgerError: an input has two outputs, or there are several output tuples.
        """
        return pairs.as_union_pw_multi_aff().as_multi_union_pw_aff()

    def as_union_pw_multi_aff(self) -> UnionPwMultiAff:
        """The functions of all tuples of arguments.

        Raises:
            PresburgerError: there is a value everywhere, whatever the arguments.
        """
        return UnionPwMultiAff._of(self._function.functions())

    def as_union_map(self) -> Map:
        """Relates each argument to its values, where they are integers."""
        return self.as_union_pw_multi_aff().as_union_map()

    def get_list(self) -> UnionPwAffList:
        """The functions of all outputs."""
        from tangram.presburger.lists import UnionPwAffList

        return UnionPwAffList(UnionPwAff._of(member) for member in self._function.members())

    def _members(self) -> list[Any]:
        return [*self.get_list()]

    def _made(self, output: Tuple, members: Sequence[UnionPwAff]) -> MultiUnionPwAff:
        return self._of(_native.MultiUnionPwAff.of(output, [member._function for member in members]))

    def _all(self, name: str, *arguments: Any) -> MultiUnionPwAff:
        """What a method makes of each member."""
        return self._each([getattr(member, name)(*arguments) for member in self.get_list()])

    def get_at(self, output: int) -> UnionPwAff:
        """The function of one output."""
        return self.get_list()[output]

    get_union_pw_aff = get_at
    __getitem__ = get_at

    def set_at(self, output: int, value: UnionPwAff) -> MultiUnionPwAff:
        """With another function of one output."""
        self._check_member(output)
        members = self._members()
        members[output] = value
        return self._each(members)

    set_union_pw_aff = set_at

    def __len__(self) -> int:
        return len(self._function.members())

    @classmethod
    def zero(cls, space: Dimensions) -> MultiUnionPwAff:
        """The tuple of a space without dimensions.

        Raises:
            PresburgerError: there are some, whose functions have values nowhere.
        """
        given = space.get_space()
        if given.dim(dim_type.set):
            raise PresburgerError(f"expected a space without dimensions, found {given}")
        return cls._of(_native.MultiUnionPwAff.of(given._output, []))

    @classmethod
    def from_multi_pw_aff(cls, function: PwMultiAff) -> MultiUnionPwAff:
        """The outputs of a function, one by one."""
        return UnionPwMultiAff.from_pw_multi_aff(function).as_multi_union_pw_aff()

    from_multi_aff = from_multi_pw_aff

    @classmethod
    def pw_multi_aff_on_domain(cls, points: Set, function: PwMultiAff) -> MultiUnionPwAff:
        """The values of a function of the parameters at all points."""
        parts = [on_domain(function, piece) for piece in points.pieces()]
        return UnionPwMultiAff._gather(parts).as_multi_union_pw_aff()

    multi_aff_on_domain = pw_multi_aff_on_domain

    @classmethod
    def multi_val_on_domain(cls, points: Set, mv: MultiVal) -> MultiUnionPwAff:
        """The same numbers at all points."""
        return UnionPwMultiAff.multi_val_on_domain(points, mv).as_multi_union_pw_aff()

    def extract_multi_pw_aff(self, space: Dimensions) -> PwMultiAff:
        """The function of a space, with all outputs."""
        given = space.get_space()
        domain = given.domain() if given.is_map() else given
        members = [member.extract_pw_aff(domain) for member in self.get_list()]
        return PwMultiAff._over(domain.map_from_domain_and_range(self.get_space()), members)

    def drop_dims(self, type: dim_type, first: int, n: int) -> MultiUnionPwAff:
        """Without ``n`` dimensions from ``first`` on: outputs, or parameters that nothing depends on."""
        if type == dim_type.set:
            return self._drop_outputs(first, n)
        return self._all("drop_dims", type, first, n)

    def get_domain_space(self) -> Space:
        """The space of the parameters."""
        return self.get_space().params()

    def flat_range_product(self, other: MultiUnionPwAff) -> MultiUnionPwAff:
        """The values of both, one behind the other."""
        return self.range_splice(len(self), other)

    def apply_pw_aff(self, function: PwAff) -> UnionPwAff:
        """The function of ``x`` that is ``function`` at what this is at ``x``."""
        return UnionPwAff(function).pullback_union_pw_multi_aff(self.as_union_pw_multi_aff())

    apply_aff = apply_pw_aff

    def coalesce(self) -> MultiUnionPwAff:
        """The same functions in fewer pieces, where pieces can be joined exactly."""
        return self._all("coalesce")

    def floor(self) -> MultiUnionPwAff:
        """Rounds down."""
        return self._all("floor")

    def neg(self) -> MultiUnionPwAff:
        """Changes the signs."""
        return self._all("neg")

    def scale_val(self, factor: int | Fraction) -> MultiUnionPwAff:
        """Multiplies with a number."""
        return self._all("scale_val", factor)

    def scale_down_val(self, divisor: int | Fraction) -> MultiUnionPwAff:
        """Divides by a number.

        Raises:
            PresburgerError: the number is 0.
        """
        return self._all("scale_down_val", divisor)

    def gist(self, points: Set) -> MultiUnionPwAff:
        """The same values at ``points``, in shorter pieces."""
        return self._all("gist", points)

    def gist_params(self, params: Set) -> MultiUnionPwAff:
        """The same values for parameters in ``params``, in shorter pieces."""
        return self._all("gist_params", params)

    def zero_union_set(self) -> Set:
        """The arguments for which all outputs are 0."""
        zeros = [member.zero_union_set() for member in self.get_list()]
        return functools.reduce(Set.intersect, zeros) if zeros else self.domain()

    def plain_is_equal(self, other: MultiUnionPwAff) -> bool:
        """Whether both have the same values at the same arguments."""
        return self == other

    def get_space(self) -> Space:
        """The parameters and the output tuple."""
        return Space._of((self.get_param_names(), None, self._function.output()))

    def _placed(self, space: Space, to: list[int]) -> Self:
        if space._input is not None or len(space._output.dims) != len(self):
            raise PresburgerError(f"expected a space of {len(self)} dimensions, found {space}")
        params = Space._of((self.get_param_names(), None, PARAMS)), space.params()
        moved = to[: len(params[0]._params)]
        members = [member._placed(params[1], moved)._function for member in self.get_list()]
        return self._of(_native.MultiUnionPwAff.of(space._output, members))

    def domain(self) -> Set:
        """The arguments for which all outputs have values.

        Raises:
            PresburgerError: these are all that there are.
        """
        union = self._function.domain()
        return wrap(Set, self._function.functions().domain() if union is None else union)

    def range_product(self, other: MultiUnionPwAff) -> MultiUnionPwAff:
        """The pairs ``[y -> z]`` of the values of both."""
        return self._binary("range_product", other)

    def _within(self, name: str, points: Set) -> Self:
        return self._of(self._function.within(name, points._union))

    def intersect_domain(self, points: Set) -> MultiUnionPwAff:
        """Keeps the values at ``points``."""
        return self._within("intersect_domain", points)

    def intersect_params(self, params: Set) -> MultiUnionPwAff:
        """Keeps the values for parameters in ``params``."""
        return self._within("intersect_params", params.params())

    def intersect_range(self, values: Set) -> MultiUnionPwAff:
        """Keeps the arguments whose values are in ``values``."""
        return self._within("intersect_range", values)

    def apply_pw_multi_aff(self, function: PwMultiAff) -> MultiUnionPwAff:
        """The function of ``x`` that is ``function`` at what this is at ``x``."""
        return self._of(self._function.apply(function._function))

    apply_multi_aff = apply_pw_multi_aff

    def pullback_union_pw_multi_aff(self, inner: UnionPwMultiAff) -> MultiUnionPwAff:
        """The function of ``x`` that is this at ``inner(x)``, for all tuples that fit."""
        return self._of(self._function.pullback(inner._function))

    def _shape(self) -> object:
        return read_tuple(self._function.output()).shape()

    def __add__(self, other: MultiUnionPwAff) -> MultiUnionPwAff:
        return self.add(other) if isinstance(other, MultiUnionPwAff) else NotImplemented

    def __sub__(self, other: MultiUnionPwAff) -> MultiUnionPwAff:
        return self.sub(other) if isinstance(other, MultiUnionPwAff) else NotImplemented


UnionPwMultiAff._family, UnionPwAff._family = UnionPwMultiAff, UnionPwAff
MultiUnionPwAff._family = MultiUnionPwAff
