"""Relations between integer points."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from tangram import _native
from tangram._native import PresburgerError
from tangram.presburger._relations import bind_first, params_as_dims, wrap
from tangram.presburger.counts import PwQPolynomial
from tangram.presburger.bounds import Bounds
from tangram.presburger.dimensions import Dimensions
from tangram.presburger.names import Id, dim_type
from tangram.presburger.orders import Orders
from tangram.presburger.pairs import Pairs
from tangram.presburger.points import Point
from tangram.presburger.sets import Set, has_finite_params

if TYPE_CHECKING:
    from tangram.presburger.affs import PwAff
    from tangram.presburger.count_unions import UnionPwQPolynomial, UnionPwQPolynomialFold
    from tangram.presburger.folds import PwQPolynomialFold
    from tangram.presburger.lists import BasicMapList, MapList
    from tangram.presburger.multi_affs import PwMultiAff
    from tangram.presburger.multi_union_affs import MultiUnionPwAff
    from tangram.presburger.union_affs import UnionPwAff, UnionPwMultiAff
    from tangram.presburger.spaces import Space
    from tangram.presburger.strides import StrideInfo


class Map(Pairs, Orders, Bounds):
    """A relation between integer points: ``Map("{ S[i] -> A[j] : i <= j < i + 3 }")``."""

    __slots__ = ()

    def domain(self) -> Set:
        """The inputs."""
        return self._to(Set, "domain")

    def range(self) -> Set:
        """The outputs."""
        return self._to(Set, "range")

    def reverse(self) -> Map:
        """Swaps inputs and outputs."""
        return self._unary("inverse")

    def apply_range(self, other: Map) -> Map:
        """Relates ``x`` to ``z`` where this relates ``x`` to a ``y``, and ``other`` that to ``z``."""
        return self._binary("apply_range", other)

    def apply_domain(self, other: Map) -> Map:
        """Applies ``other`` to every input."""
        return self._binary("apply_domain", other)

    def intersect_domain(self, inputs: Set) -> Map:
        """Keeps the pairs whose input is in ``inputs``."""
        return self._binary("intersect_domain", inputs)

    def intersect_range(self, outputs: Set) -> Map:
        """Keeps the pairs whose output is in ``outputs``."""
        return self._binary("intersect_range", outputs)

    def subtract_domain(self, inputs: Set) -> Map:
        """Drops the pairs whose input is in ``inputs``."""
        return self._binary("subtract_domain", inputs)

    def subtract_range(self, outputs: Set) -> Map:
        """Drops the pairs whose output is in ``outputs``."""
        return self._binary("subtract_range", outputs)

    def product(self, other: Map) -> Map:
        """Relates ``[a -> b]`` to ``[c -> d]`` where this relates ``a`` to ``c``, and ``other`` ``b`` to ``d``."""
        return self._binary("product", other)

    def range_product(self, other: Map) -> Map:
        """Relates ``x`` to ``[y -> z]`` where this relates it to ``y`` and ``other`` to ``z``."""
        return self._binary("range_product", other)

    def flat_range_product(self, other: Map) -> Map:
        """As :meth:`range_product`, with the pairs flattened."""
        return self._binary("flat_range_product", other)

    def domain_product(self, other: Map) -> Map:
        """Relates ``[x -> y]`` to ``z`` where this relates ``x`` to ``z`` and ``other`` ``y``."""
        return self._binary("domain_product", other)

    @classmethod
    def from_domain_and_range(cls, domain: Set, range: Set) -> Map:
        """Relates every point of ``domain`` to every point of ``range``."""
        return domain.cross(range)

    @classmethod
    def from_domain(cls, domain: Set) -> Map:
        """Relates every point of ``domain`` to the point without dimensions."""
        return domain.cross(Set("{ [] }"))

    @classmethod
    def from_range(cls, range: Set) -> Map:
        """Relates the point without dimensions to every point of ``range``."""
        return Set("{ [] }").cross(range)

    @classmethod
    def from_pw_multi_aff(cls, function: PwAff | PwMultiAff) -> Map:
        """Relates each argument of a function to its value, where that is an integer point."""
        return function.as_map()

    from_aff = from_pw_multi_aff
    from_pw_aff = from_pw_multi_aff
    from_multi_aff = from_pw_multi_aff
    from_multi_pw_aff = from_pw_multi_aff

    @classmethod
    def from_union_pw_multi_aff(
        cls, function: UnionPwMultiAff | UnionPwAff | MultiUnionPwAff
    ) -> Map:
        """Relates each argument of functions to its value, where that is an integer point."""
        return function.as_union_map()

    from_union_pw_aff = from_union_pw_multi_aff
    from_multi_union_pw_aff = from_union_pw_multi_aff

    def as_multi_union_pw_aff(self) -> MultiUnionPwAff:
        """The function that gives each input its only output, dimension by dimension.

        Raises:
            PresburgerError: an input has two outputs, or there are several output tuples.
        """
        return self.as_union_pw_multi_aff().as_multi_union_pw_aff()

    def as_union_pw_multi_aff(self) -> UnionPwMultiAff:
        """The functions that give each input its only output in a tuple.

        Raises:
            PresburgerError: an input has two outputs in one tuple.
        """
        from tangram.presburger.union_affs import UnionPwMultiAff

        return UnionPwMultiAff._of(_native.UnionPwMultiAff.of_map(self._union))

    def preimage_domain_pw_multi_aff(self, function: PwMultiAff) -> Map:
        """Relates ``x`` to ``z`` where this relates ``function(x)`` to ``z``."""
        return self._preimage("domain", function)

    def preimage_range_pw_multi_aff(self, function: PwMultiAff) -> Map:
        """Relates ``x`` to ``z`` where this relates ``x`` to ``function(z)``."""
        return self._preimage("range", function)

    preimage_domain_multi_aff = preimage_domain_pw_multi_aff
    preimage_range_multi_aff = preimage_range_pw_multi_aff

    def preimage_domain_union_pw_multi_aff(self, functions: UnionPwMultiAff) -> Map:
        """As :meth:`preimage_domain_pw_multi_aff`, for functions of any tuples."""
        return self._preimage("domain", functions)

    def preimage_range_union_pw_multi_aff(self, functions: UnionPwMultiAff) -> Map:
        """As :meth:`preimage_range_pw_multi_aff`, for functions of any tuples."""
        return self._preimage("range", functions)

    def transitive_closure(self) -> tuple[Map, bool]:
        """Pairs that one or more steps connect, and whether that is exact; else it holds more."""
        closure, exact = self._union.closure()
        return wrap(Map, closure), exact

    def power(self) -> tuple[Map, bool]:
        """Relates ``[k]`` to the pairs that ``k`` steps connect, and whether that is exact."""
        power, exact = self._union.power()
        return wrap(Map, power), exact

    def fixed_power_val(self, exponent: int) -> Map:
        """This composed with itself ``exponent`` times; the inverse if it is negative.

        Raises:
            PresburgerError: the exponent is 0.
        """
        if exponent == 0:
            raise PresburgerError("expected an exponent other than 0; Set.identity() takes no step")
        step = self if exponent > 0 else self.reverse()
        result: Map | None = None
        for digit in bin(abs(exponent))[2:]:
            result = None if result is None else result.apply_range(result)
            if digit == "1":
                result = step if result is None else result.apply_range(step)
        assert result is not None
        return result

    def flat_domain_product(self, other: Map) -> Map:
        """As :meth:`domain_product`, with the pairs flattened."""
        return self.reverse().flat_range_product(other.reverse()).reverse()

    def gist_domain(self, inputs: Set) -> Map:
        """What this says beyond its inputs being in ``inputs``."""
        return self._to(Map, "gist_domain", inputs)

    def gist_range(self, outputs: Set) -> Map:
        """What this says beyond its outputs being in ``outputs``."""
        return self._to(Map, "gist_range", outputs)

    def is_identity(self) -> bool:
        """Whether every pair is of a point and itself."""
        return self.is_subset(self.domain().identity())

    def is_translation(self) -> bool:
        """Whether all pairs have the same difference, for all parameters."""
        return self.deltas().is_singleton()

    def lex_lt_map(self, other: Map) -> Map:
        """Pairs of inputs, the output of the first by this less than of the second by ``other``."""
        return self._ordered("lex_lt", other)

    def lex_le_map(self, other: Map) -> Map:
        """As :meth:`lex_lt_map`, or equal."""
        return self._ordered("lex_le", other)

    def lex_gt_map(self, other: Map) -> Map:
        """Pairs of inputs, the output of the first by this more than of the second by ``other``."""
        return self._ordered("lex_gt", other)

    def lex_ge_map(self, other: Map) -> Map:
        """As :meth:`lex_gt_map`, or equal."""
        return self._ordered("lex_ge", other)

    lex_lt_union_map = lex_lt_map
    lex_le_union_map = lex_le_map
    lex_gt_union_map = lex_gt_map
    lex_ge_union_map = lex_ge_map

    def _ordered(self, name: str, other: Map) -> Map:
        pairs = self._full().range()._to(Map, name, other._full().range())
        return self.apply_range(pairs).apply_range(other.reverse())

    def eq_at_multi_pw_aff(self, mpa: PwMultiAff) -> Map:
        """Keeps the pairs at whose sides a function has one value."""
        return self.intersect(mpa.eq_map(mpa))

    def lex_lt_at_multi_pw_aff(self, mpa: PwMultiAff) -> Map:
        """Keeps the pairs at whose inputs a function is before its value at the outputs."""
        return self.intersect(mpa.lex_lt_map(mpa))

    def lex_le_at_multi_pw_aff(self, mpa: PwMultiAff) -> Map:
        """As :meth:`lex_lt_at_multi_pw_aff`, or equal."""
        return self.intersect(mpa.lex_le_map(mpa))

    def lex_gt_at_multi_pw_aff(self, mpa: PwMultiAff) -> Map:
        """Keeps the pairs at whose inputs a function is behind its value at the outputs."""
        return self.intersect(mpa.lex_gt_map(mpa))

    def lex_ge_at_multi_pw_aff(self, mpa: PwMultiAff) -> Map:
        """As :meth:`lex_gt_at_multi_pw_aff`, or equal."""
        return self.intersect(mpa.lex_ge_map(mpa))

    def get_range_stride_info(self, dim: int) -> StrideInfo:
        """The stride of an output, given the inputs, and its offset as a function of them."""
        from tangram.presburger.strides import range_stride_info

        return range_stride_info(self, dim)

    @classmethod
    def identity(cls, space: Dimensions) -> Map:
        """Relates every point to itself, in the space of relations from a tuple to itself."""
        return Set.universe(space.get_space().domain()).identity()

    @classmethod
    def lex_lt(cls, set_space: Dimensions) -> Map:
        """Pairs of a point of a set space and a lexicographically greater one."""
        return Set.universe(set_space).lex_lt_set(Set.universe(set_space))

    @classmethod
    def lex_le(cls, set_space: Dimensions) -> Map:
        """Pairs of a point of a set space and an equal or lexicographically greater one."""
        return Set.universe(set_space).lex_le_set(Set.universe(set_space))

    @classmethod
    def lex_gt(cls, set_space: Dimensions) -> Map:
        """Pairs of a point of a set space and a lexicographically smaller one."""
        return Set.universe(set_space).lex_gt_set(Set.universe(set_space))

    @classmethod
    def lex_ge(cls, set_space: Dimensions) -> Map:
        """Pairs of a point of a set space and an equal or lexicographically smaller one."""
        return Set.universe(set_space).lex_ge_set(Set.universe(set_space))

    @classmethod
    def from_basic_map(cls, basic: Map) -> Map:
        """The same pairs, as a relation in general."""
        return wrap(Map, basic._union)

    def to_map(self) -> Map:
        """The same pairs, as a relation in general."""
        return wrap(Map, self._union)

    def get_basic_maps(self) -> list[BasicMap]:
        """One relation for each conjunction of constraints."""
        return [wrap(BasicMap, part) for part in self._union.disjuncts()]

    def get_basic_map_list(self) -> BasicMapList:
        """One relation for each conjunction of constraints."""
        from tangram.presburger.lists import BasicMapList

        return BasicMapList(self.get_basic_maps())

    def get_map_list(self) -> MapList:
        """One relation for each pair of tuples."""
        from tangram.presburger.lists import MapList

        return MapList(self.pieces())

    def foreach_basic_map(self, visit: Callable[[BasicMap], object]) -> None:
        """Calls ``visit`` with a relation for each conjunction of constraints."""
        for part in self.get_basic_maps():
            visit(part)

    def foreach_map(self, visit: Callable[[Map], object]) -> None:
        """Calls ``visit`` with a relation for each pair of tuples."""
        for piece in self.pieces():
            visit(piece)

    def to_union_map(self) -> Map:
        """The same pairs: relations may have several spaces here."""
        return self.to_map()

    as_map = to_union_map

    @classmethod
    def from_union_map(cls, pairs: Map) -> Map:
        """The same pairs: relations may have several spaces here."""
        return pairs.to_map()

    from_map = from_union_map

    def add_map(self, other: Map) -> Map:
        """The pairs of either relation."""
        return self | other

    def extract_map(self, space: Space) -> Map:
        """The pairs of one space."""
        return self._in(space)

    def n_map(self) -> int:
        """The number of spaces."""
        return len(self._union.spaces())

    def every_map(self, test: Callable[[Map], bool]) -> bool:
        """Whether ``test`` holds for the relation of each space."""
        return all(test(piece) for piece in self.pieces())

    def isa_map(self) -> bool:
        """Whether all pairs are of one space."""
        return self.isa_single()

    def n_basic_map(self) -> int:
        """The number of conjunctions."""
        return len(self._union.disjuncts())

    def sum(self, other: Map) -> Map:
        """Relates each input to the sums of its outputs by both."""
        outputs = self._full().range()
        return self.neg().range_product(other).apply_range(outputs.cross(outputs).deltas_map())

    def image_is_bounded(self) -> bool:
        """Whether each input has finitely many outputs, for each value of the parameters."""
        from tangram.presburger.affs import PwAff

        ends = [
            PwAff._of(_native.PwAff.extremum(self._union, dim, greatest, True))
            for dim in range(self.dim(dim_type.set))
            for greatest in (False, True)
        ]
        return all(self.domain() <= end.domain() for end in ends)

    def floordiv_val(self, d: int) -> Map:
        """The pairs with all outputs divided by a number and rounded down."""
        from tangram.presburger.multi_affs import PwMultiAff

        values = PwMultiAff.identity_on_domain_space(self.get_space().range())
        return self.apply_range(values.scale_down_val(d).floor().as_map())

    def domain_map_union_pw_multi_aff(self) -> UnionPwMultiAff:
        """The functions that give each pair its input."""
        return self.domain_map().as_union_pw_multi_aff()

    def apply_pw_qpolynomial_fold(self, bound: PwQPolynomialFold) -> PwQPolynomialFold:
        """The bound for ``x`` over all ``y`` that ``x`` is related to."""
        return bound._of(bound._bound.apply(self._union))

    def neg(self) -> Map:
        """The pairs with all outputs of the other sign."""
        return self.apply_range(self._full().range().identity()._negated())

    def _negated(self) -> Map:
        """Relates the points of an identity to their opposites."""
        pieces = []
        for piece in self.pieces():
            space = piece.get_space()
            union = _native.Union.of_rows(space._form, [(_opposite(space), [], [])])
            pieces.append(Map._wrap(union))
        return functools.reduce(Map.union, pieces, Map("{ }"))

    def domain_tuple_dim(self) -> int:
        """The number of inputs."""
        return self.dim(dim_type.in_)

    def range_tuple_dim(self) -> int:
        """The number of outputs."""
        return self.dim(dim_type.set)

    def flat_product(self, other: Map) -> Map:
        """All pairs of inputs and outputs of two relations, flattened."""
        return self.product(other).flatten()

    def deltas(self) -> Set:
        """The differences output minus input."""
        return self._to(Set, "deltas")

    def deltas_map(self) -> Map:
        """Relates each pair to its difference."""
        return self._unary("deltas_map")

    def wrap(self) -> Set:
        """The set of the pairs ``[x -> y]``."""
        return self._to(Set, "wrap")

    def domain_map(self) -> Map:
        """Relates each pair to its input."""
        return self._unary("domain_map")

    def range_map(self) -> Map:
        """Relates each pair to its output."""
        return self._unary("range_map")

    def remove_map_if(self, fn: Callable[[Map], bool]) -> Map:
        """Without the relations, of one space each, for which ``fn`` holds."""
        kept = [piece for piece in self.pieces() if not fn(piece)]
        return functools.reduce(Map.union, kept, Map("{ }"))

    def compute_flow(self, must_source: Map, may_source: Map, schedule: Map) -> tuple[Map, Map, Map, Map]:
        """The sources of what this reads: certain and possible dependences, and accesses without."""
        from tangram import _native

        none = Map("{ }")
        parts = [self, must_source, may_source, none, schedule]
        found = [Map._wrap(u) for u in _native.compute_flow(*(part._union for part in parts))]
        pairs = [
            one if one.is_empty() else one.apply_range(one.range().unwrap().domain_map())
            for one in found[:2]
        ]
        return pairs[0], pairs[1], found[2], found[3]

    def get_range_tuple_id(self) -> Id:
        """The name of the output tuple, which may be empty."""
        return self.get_tuple_id(dim_type.set)

    def get_domain_tuple_id(self) -> Id:
        """The name of the input tuple, which may be empty."""
        return self.get_tuple_id(dim_type.in_)

    def has_range_tuple_id(self) -> bool:
        """Whether the output tuple has a name."""
        return self.has_tuple_name(dim_type.set)

    def has_domain_tuple_id(self) -> bool:
        """Whether the input tuple has a name."""
        return self.has_tuple_name(dim_type.in_)

    def set_range_tuple_id(self, id: str) -> Map:
        """With another name of the output tuple."""
        return self.set_tuple_name(dim_type.set, id)

    def set_domain_tuple_id(self, id: str) -> Map:
        """With another name of the input tuple."""
        return self.set_tuple_name(dim_type.in_, id)

    def fix_input_si(self, pos: int, value: int) -> Map:
        """Keeps the pairs whose input has that value of a dimension."""
        return self.fix_val(dim_type.in_, pos, value)

    def remove_inputs(self, first: int, n: int) -> Map:
        """Without ``n`` dimensions of the inputs."""
        return self.project_out(dim_type.in_, first, n)

    def preimage_domain_multi_pw_aff(self, mpa: PwMultiAff) -> Map:
        """The arguments that a function sends to inputs, with their outputs."""
        return self.preimage_domain_pw_multi_aff(mpa)

    def plain_is_single_valued(self) -> bool:
        """Whether each input has one output."""
        return self.is_single_valued()

    def plain_is_injective(self) -> bool:
        """Whether each output has one input."""
        return self.is_injective()

    def intersect_domain_space(self, space: Space) -> Map:
        """Keeps the pairs whose input is of a space."""
        return self.intersect_domain(Set.universe(space))

    def intersect_range_space(self, space: Space) -> Map:
        """Keeps the pairs whose output is of a space."""
        return self.intersect_range(Set.universe(space))

    def intersect_domain_union_set(self, uset: Set) -> Map:
        """Keeps the pairs whose input is in a set."""
        return self.intersect_domain(uset)

    def intersect_range_union_set(self, uset: Set) -> Map:
        """Keeps the pairs whose output is in a set."""
        return self.intersect_range(uset)

    def flatten_range(self) -> Map:
        """With outputs of one flat tuple."""
        return self._flat(dim_type.set)

    def flatten_domain(self) -> Map:
        """With inputs of one flat tuple."""
        return self._flat(dim_type.in_)

    def flatten(self) -> Map:
        """With inputs and outputs of one flat tuple each."""
        return self._flat(dim_type.in_)._flat(dim_type.set)

    def is_single_valued(self) -> bool:
        """Whether no input has two outputs."""
        return self._union.test("is_single_valued")

    def is_injective(self) -> bool:
        """Whether no output has two inputs."""
        return self._union.test("is_injective")

    def is_bijective(self) -> bool:
        """Whether inputs and outputs are paired one to one."""
        return self._union.test("is_bijective")

    def is_surjective_onto(self, codomain: Set) -> bool:
        """Whether every point of ``codomain`` is an output."""
        return self._union.test("is_surjective_onto", codomain._union)

    def card(self) -> UnionPwQPolynomial:
        """The number of outputs of each input: one function for each tuple of inputs."""
        from tangram.presburger.count_unions import UnionPwQPolynomial

        return UnionPwQPolynomial._of(self._union.card())

    def apply_union_pw_qpolynomial(self, functions: UnionPwQPolynomial) -> UnionPwQPolynomial:
        """The function of ``x`` that sums up the values at all ``y`` that ``x`` is related to."""
        return functions.apply(self)

    def apply_union_pw_qpolynomial_fold(
        self, bounds: UnionPwQPolynomialFold
    ) -> UnionPwQPolynomialFold:
        """The bound for ``x`` over all ``y`` that ``x`` is related to."""
        return bounds.apply(self)

    def apply_pw_qpolynomial(self, function: PwQPolynomial) -> PwQPolynomial:
        """The function of ``x`` that sums up the values at all ``y`` that ``x`` is related to."""
        return function.apply(self)

    def __call__(self, points: Set) -> Set:
        """The outputs of ``points``, a set of inputs.

        Raises:
            TypeError: it is no set.
        """
        if not isinstance(points, Set):
            way = "Set('{ [3] }') is the set of one point"
            raise TypeError(f"expected a Set of inputs, found {points!r}; {way}")
        return points.apply(self)

    def __iter__(self) -> Iterator[tuple[Point, Point]]:
        names, pieces = params_as_dims(self)
        count = len(names)
        for piece, own in zip(pieces, self.pieces(), strict=True):
            tuple_name = own.get_tuple_name(dim_type.in_) if count else None
            if count and not piece._to(Set, "wrap").is_bounded():
                raise bind_first(self)
            for _, source, (name, coordinates) in piece._union.points():
                assert source is not None
                values = dict(zip(names, source[1][:count]))
                first = Point(source[1][count:], tuple_name or source[0], values)
                yield first, Point(coordinates, name, values)

    def __contains__(self, pair: tuple[tuple[int, ...], tuple[int, ...]]) -> bool:
        source, target = pair
        sides = []
        for point, at in ((source, 1), (target, 2)):
            names = [""]
            if isinstance(point, Point):
                names = [point.name]
            else:
                tuples = [form[at] for form in self._union.spaces()]
                names = sorted({t[0] for t in tuples if t is not None and len(t[1]) == len(point)})
            coordinates = ", ".join(map(str, point))
            sides.append([f"{name}[{coordinates}]" for name in names])
        points = self.drop_unused_params()
        known = {**getattr(source, "params", {}), **getattr(target, "params", {})}
        points = points.bind(**known) if known else points
        if points.get_param_names() and not has_finite_params(points):
            raise bind_first(self)
        points = points.project_out_params()
        return any(Map(f"{{ {a} -> {b} }}") <= points for a in sides[0] for b in sides[1])

    def __len__(self) -> int:
        return len(self.wrap())


def _opposite(space: Space) -> list[list[int]]:
    """Rows that say that each output is the opposite of its input."""
    params, dims = space.dim(dim_type.param), space.dim(dim_type.set)
    rows = []
    for dim in range(dims):
        row = [0] * (1 + params + 2 * dims)
        row[1 + params + dim] = row[1 + params + dims + dim] = 1
        rows.append(row)
    return rows


class BasicMap(Map):
    """A relation of one conjunction of constraints, between two tuples; see :class:`BasicSet`."""

    __slots__ = ()


Map._general, Map._basic = Map, BasicMap
