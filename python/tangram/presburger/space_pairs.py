"""Spaces made of others, as the universe relations of both are.

What an operation does to tuples is said once, where relations have it: a space takes the tuples of the
result for its universe.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tangram._native import PresburgerError
from tangram.presburger.dimensions import Dimensions
from tangram.presburger.names import Id, Tuple, dim_type

if TYPE_CHECKING:
    from tangram.presburger.affs import Aff, PwAff
    from tangram.presburger.maps import Map
    from tangram.presburger.multi_affs import PwMultiAff
    from tangram.presburger.multi_vals import MultiVal
    from tangram.presburger.sets import Set
    from tangram.presburger.spaces import Space
    from tangram.presburger.multi_union_affs import MultiUnionPwAff
    from tangram.presburger.union_affs import UnionPwAff


class SpacePairs(Dimensions):
    """Operations on the tuples of a space, and what is made of all its points."""

    __slots__ = ()

    if TYPE_CHECKING:
        # Those of spaces.
        def is_set(self) -> bool: ...
        def is_map(self) -> bool: ...
        def is_params(self) -> bool: ...
        def is_wrapping(self) -> bool: ...
        def is_equal(self, other: Space) -> bool: ...
        def domain(self) -> Space: ...
        def range(self) -> Space: ...
        def reverse(self) -> Space: ...
        def map_from_set(self) -> Space: ...
        def drop_dims(self, type: dim_type, first: int, num: int) -> Space: ...
        def _tuple(self, type: dim_type) -> Any: ...

    def _all(self) -> Map | Set:
        """All points or pairs."""
        from tangram.presburger.maps import Map
        from tangram.presburger.sets import Set

        return (Set if self.is_set() else Map).universe(self)

    def _by(self, operation: str, *others: Space) -> Space:
        """The space of what an operation makes of universe relations."""
        every = self._all()
        if not hasattr(every, operation):
            kind, found = ("set", "relation")[:: -1 if self.is_set() else 1]
            raise PresburgerError(f"expected the space of a {kind}, found that of a {found}: {self}")
        made: Space = getattr(every, operation)(*(other._all() for other in others)).get_space()
        return made

    def universe_map(self) -> Map:
        """All pairs."""
        from tangram.presburger.maps import Map

        return Map.universe(self)

    def universe_set(self) -> Set:
        """All points."""
        from tangram.presburger.sets import Set

        return Set.universe(self)

    def unit(self, *_: object) -> Space:
        """The space of the point ``[]``, without parameters."""
        from tangram.presburger.spaces import Space

        return Space("{ [] }")

    def curry(self) -> Space:
        """Turns ``[a -> b] -> c`` into ``a -> [b -> c]``."""
        return self._by("curry")

    def uncurry(self) -> Space:
        """Turns ``a -> [b -> c]`` into ``[a -> b] -> c``."""
        return self._by("uncurry")

    def range_curry(self) -> Space:
        """Turns ``a -> [[b -> c] -> d]`` into ``a -> [b -> [c -> d]]``."""
        return self._by("range_curry")

    def zip(self) -> Space:
        """Turns ``[a -> b] -> [c -> d]`` into ``[a -> c] -> [b -> d]``."""
        return self._by("zip")

    def domain_reverse(self) -> Space:
        """Turns ``[a -> b] -> c`` into ``[b -> a] -> c``."""
        return self._by("domain_reverse")

    def range_reverse(self) -> Space:
        """Turns ``a -> [b -> c]`` into ``a -> [c -> b]``."""
        return self._by("range_reverse")

    def wrapped_reverse(self) -> Space:
        """Turns ``[a -> b]`` into ``[b -> a]``."""
        return self._by("wrapped_reverse")

    def product(self, other: Space) -> Space:
        """The space of pairs: of points, or of inputs to pairs of outputs."""
        return self._by("product", other) if self.is_map() else self._by("cross", other).wrap()

    def domain_product(self, other: Space) -> Space:
        """The space of relations from pairs of inputs to the outputs of both."""
        return self._by("domain_product", other)

    def range_product(self, other: Space) -> Space:
        """The space of relations from the inputs of both to pairs of outputs."""
        return self._by("range_product", other) if self.is_map() else self.product(other)

    def join(self, other: Space) -> Space:
        """The space of relations from these inputs to the outputs of ``other``; of these points, its outputs."""
        return self._by("apply_range" if self.is_map() else "apply", other)

    def factor_domain(self) -> Space:
        """Turns ``[a -> b] -> [c -> d]`` into ``a -> c``, and points ``[a -> b]`` into ``a``."""
        return self._by("factor_domain") if self.is_map() else self.unwrap().domain()

    def factor_range(self) -> Space:
        """Turns ``[a -> b] -> [c -> d]`` into ``b -> d``, and points ``[a -> b]`` into ``b``."""
        return self._by("factor_range") if self.is_map() else self.unwrap().range()

    def domain_factor_domain(self) -> Space:
        """Turns ``[a -> b] -> c`` into ``a -> c``."""
        return self._by("domain_factor_domain")

    def domain_factor_range(self) -> Space:
        """Turns ``[a -> b] -> c`` into ``b -> c``."""
        return self._by("domain_factor_range")

    def range_factor_domain(self) -> Space:
        """Turns ``a -> [b -> c]`` into ``a -> b``."""
        return self._by("range_factor_domain")

    def range_factor_range(self) -> Space:
        """Turns ``a -> [b -> c]`` into ``a -> c``."""
        return self._by("range_factor_range")

    def domain_wrapped_domain(self) -> Space:
        """The space of ``a`` in ``[a -> b] -> c``."""
        return self.domain().unwrap().domain()

    def domain_wrapped_range(self) -> Space:
        """The space of ``b`` in ``[a -> b] -> c``."""
        return self.domain().unwrap().range()

    def range_wrapped_domain(self) -> Space:
        """The space of ``b`` in ``a -> [b -> c]``."""
        return self.range().unwrap().domain()

    def range_wrapped_range(self) -> Space:
        """The space of ``c`` in ``a -> [b -> c]``."""
        return self.range().unwrap().range()

    def flatten_domain(self) -> Space:
        """With the dimensions of the inputs in one tuple; points have none."""
        return self._by("flatten_domain") if self.is_map() else self.to_local_space()

    def flatten_range(self) -> Space:
        """With the dimensions of the outputs, or the points, in one tuple."""
        return self._by("flatten_range") if self.is_map() else self._by("flatten")

    def domain_map(self) -> Space:
        """The space of relations from the pairs to their inputs."""
        return self._by("domain_map")

    def range_map(self) -> Space:
        """The space of relations from the pairs to their outputs."""
        return self._by("range_map")

    def domain_is_wrapping(self) -> bool:
        """Whether the inputs are pairs."""
        return self.is_map() and self.domain().is_wrapping()

    def range_is_wrapping(self) -> bool:
        """Whether the outputs are pairs."""
        return self.is_map() and self.range().is_wrapping()

    def is_product(self) -> bool:
        """Whether the points are pairs, or inputs and outputs are."""
        return self.is_wrapping() or self.can_zip()

    def can_zip(self) -> bool:
        """Whether inputs and outputs are pairs."""
        return self.domain_is_wrapping() and self.range_is_wrapping()

    def can_curry(self) -> bool:
        """Whether the inputs are pairs."""
        return self.domain_is_wrapping()

    def can_uncurry(self) -> bool:
        """Whether the outputs are pairs."""
        return self.range_is_wrapping()

    def can_range_curry(self) -> bool:
        """Whether the outputs are pairs whose inputs are pairs."""
        return self.range_is_wrapping() and self.range().unwrap().domain().is_wrapping()

    def is_domain(self, other: Space) -> bool:
        """Whether it is the space of the inputs of ``other``."""
        return self.is_set() and other.is_map() and self.is_equal(other.domain())

    def is_range(self, other: Space) -> bool:
        """Whether it is the space of the outputs of ``other``."""
        return self.is_set() and other.is_map() and self.is_equal(other.range())

    def has_equal_params(self, other: Space) -> bool:
        """Whether the parameters agree."""
        return self._form[0] == other._form[0]

    def tuple_is_equal(self, type: dim_type, other: Space, other_type: dim_type) -> bool:
        """Whether a tuple of each agrees."""
        return bool(self._tuple(type).shape() == other._tuple(other_type).shape())

    def drop_all_params(self) -> Space:
        """Without parameters."""
        return self.drop_dims(dim_type.param, 0, self.dim(dim_type.param))

    def drop_inputs(self, first: int, n: int) -> Space:
        """Without ``n`` inputs from ``first`` on."""
        return self.drop_dims(dim_type.in_, first, n)

    def drop_outputs(self, first: int, n: int) -> Space:
        """Without ``n`` outputs from ``first`` on."""
        return self.drop_dims(dim_type.set, first, n)

    def add_param_id(self, id: Id | str) -> Space:
        """With one parameter more, unless it is there.

        Raises:
            PresburgerError: it has no name.
        """
        from tangram.presburger.spaces import Space

        name = str(id)
        if not name:
            raise PresburgerError("expected a name of a parameter")
        params, source, target = self._form
        return Space._of(((*params, *([] if name in params else [name])), source, target))

    def zero_multi_aff(self) -> PwMultiAff:
        """The function of this space of relations whose values are all 0."""
        from tangram.presburger.multi_affs import PwMultiAff

        return PwMultiAff.zero(self)

    zero_multi_pw_aff = zero_multi_aff

    def multi_aff(self, list: Sequence[PwAff]) -> PwMultiAff:
        """The function to the range of this space, of an expression for each output."""
        from tangram.presburger.multi_affs import PwMultiAff

        if len(list) != self.dim(dim_type.set):
            raise PresburgerError(f"expected {self.dim(dim_type.set)} expressions, found {len(list)}")
        return PwMultiAff.from_pw_aff_list(self, list)

    multi_pw_aff = multi_aff

    def domain_map_multi_aff(self) -> PwMultiAff:
        """The function of the pairs ``[x -> y]`` of this space of relations that gives ``x``."""
        from tangram.presburger.multi_affs import PwMultiAff

        return PwMultiAff.domain_map(self)

    domain_map_pw_multi_aff = domain_map_multi_aff

    def range_map_multi_aff(self) -> PwMultiAff:
        """The function of the pairs ``[x -> y]`` of this space of relations that gives ``y``."""
        from tangram.presburger.multi_affs import PwMultiAff

        return PwMultiAff.range_map(self)

    range_map_pw_multi_aff = range_map_multi_aff

    def multi_val(self, list: Sequence[int | Fraction]) -> MultiVal:
        """The tuple of a number for each dimension."""
        from tangram.presburger.multi_vals import MultiVal

        return MultiVal.from_val_list(self, list)

    def zero_multi_val(self) -> MultiVal:
        """The tuple of a 0 for each dimension."""
        from tangram.presburger.multi_vals import MultiVal

        return MultiVal.zero(self)

    def multi_aff_on_domain_multi_val(self, mv: MultiVal) -> PwMultiAff:
        """The function that gives each point the same numbers."""
        from tangram.presburger.multi_affs import PwMultiAff

        return PwMultiAff.multi_val_on_domain(self, mv)

    def multi_union_pw_aff(self, list: Sequence[UnionPwAff]) -> MultiUnionPwAff:
        """The tuple of a function for each dimension."""
        from tangram.presburger.multi_union_affs import MultiUnionPwAff

        if len(list) != self.dim(dim_type.set):
            raise PresburgerError(f"expected {self.dim(dim_type.set)} functions, found {len(list)}")
        name = self.get_tuple_name(dim_type.set) or ""
        return MultiUnionPwAff.from_union_pw_affs(*list, name=name)

    def zero_multi_union_pw_aff(self) -> MultiUnionPwAff:
        """The tuple of a space without dimensions."""
        from tangram.presburger.multi_union_affs import MultiUnionPwAff

        return MultiUnionPwAff.zero(self)

    def param_aff_on_domain_id(self, id: Id | str) -> Aff:
        """The value of a parameter at all points."""
        from tangram.presburger.affs import Aff

        return Aff.param_on_domain_space_id(self, str(id))

    def add_unnamed_tuple_ui(self, dim: int) -> Space:
        """The space of the points of a tuple, or of relations from these points to those."""
        return self.add_named_tuple_id_ui("", dim)

    def add_named_tuple_id_ui(self, id: Id | str, dim: int) -> Space:
        """The space of the points of a tuple with a name, or of relations from these points to those."""
        from tangram.presburger.spaces import Space, named

        params, _, output = self._form
        added = Tuple(str(id), named("i" if self.is_params() else "o", dim))
        return Space._of((params, None if self.is_params() else output, added))

    def _has_tuple(self, type: dim_type) -> bool:
        return bool(self._tuple(type).name)

    def has_domain_tuple_id(self) -> bool:
        """Whether the tuple of the inputs has a name."""
        return self._has_tuple(dim_type.in_)

    def has_range_tuple_id(self) -> bool:
        """Whether the tuple of the outputs has a name."""
        return self._has_tuple(dim_type.set)

    def get_domain_tuple_id(self) -> Id:
        """The name of the tuple of the inputs."""
        return self.get_tuple_id(dim_type.in_)

    def get_range_tuple_id(self) -> Id:
        """The name of the tuple of the outputs."""
        return self.get_tuple_id(dim_type.set)

    def set_domain_tuple_id(self, id: Id | str) -> Space:
        """With a name for the tuple of the inputs."""
        return self.set_tuple_id(dim_type.in_, id)

    def set_range_tuple_id(self, id: Id | str) -> Space:
        """With a name for the tuple of the outputs."""
        return self.set_tuple_id(dim_type.set, id)

    def to_local_space(self) -> Space:
        """The space itself: spaces have no divisions here."""
        return self._all().get_space()

    def zero_aff_on_domain(self) -> Aff:
        """The function that is 0 at all points."""
        from tangram.presburger.affs import Aff

        return Aff.zero_on_domain(self)

    def identity_multi_aff_on_domain(self) -> PwMultiAff:
        """The function that gives each point itself."""
        from tangram.presburger.multi_affs import PwMultiAff

        return PwMultiAff.identity_on_domain_space(self)

    identity_multi_pw_aff_on_domain = identity_multi_aff_on_domain
    identity_pw_multi_aff_on_domain = identity_multi_aff_on_domain
