"""Sets of integer points."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from tangram import _native
from tangram._native import PresburgerError
from tangram.presburger._relations import bind_first, params_as_dims, wrap
from tangram.presburger.bounds import Bounds
from tangram.presburger.elimination import EliminationStep, LoopBounds
from tangram.presburger.names import dim_type
from tangram.presburger.points import Point
from tangram.presburger.set_functions import SetFunctions
from tangram.presburger.spaces import Space
from tangram.presburger.values import Val

if TYPE_CHECKING:
    from tangram.presburger._relations import Relations
    from tangram.presburger.affs import Aff, PwAff
    from tangram.presburger.lists import BasicSetList, SetList
    from tangram.presburger.multi_affs import PwMultiAff
    from tangram.presburger.strides import StrideInfo
    from tangram.presburger.union_affs import UnionPwMultiAff
    from tangram.presburger.vertices import Vertices


class Set(SetFunctions, Bounds):
    """A set of integer points: ``Set("[N] -> { S[i] : 0 <= i < N }")``."""

    __slots__ = ()

    def apply(self, relation: Map) -> Set:
        """The points that ``relation`` relates those of this set to."""
        return self._binary("apply_range", relation)

    def preimage_pw_multi_aff(self, function: PwMultiAff) -> Set:
        """The arguments that ``function`` sends into this set."""
        return self._preimage("set", function)

    preimage_multi_aff = preimage_pw_multi_aff
    preimage_multi_pw_aff = preimage_pw_multi_aff

    def preimage_union_pw_multi_aff(self, functions: UnionPwMultiAff) -> Set:
        """The arguments that functions of any tuples send into this set."""
        return self._preimage("set", functions)

    def product(self, other: Set) -> Set:
        """All pairs of points, as points ``[x -> y]``."""
        return self._binary("product", other)

    def cross(self, other: Set) -> Map:
        """Relates every point of this to every point of ``other``."""
        return self._to(Map, "cross", other)

    def identity(self) -> Map:
        """Relates every point to itself."""
        return self._to(Map, "identity")

    def unwrap(self) -> Map:
        """The relation of the pairs ``[x -> y]`` that are the points of this set.

        Of several spaces, those are dropped whose points are no pairs.

        Raises:
            PresburgerError: the points are of one space, and no pairs.
        """
        self._expect(Space.is_wrapping, "points that are pairs `[x -> y]`")
        return self._unwrapped()

    def _unwrapped(self) -> Map:
        """As :meth:`unwrap`, of any points."""
        return self._to(Map, "unwrap")

    def wrapped_reverse(self) -> Set:
        """Turns the points ``[x -> y]`` into ``[y -> x]``."""
        return self.unwrap().reverse().wrap()

    def intersect_factor_domain(self, points: Set) -> Set:
        """Keeps the points ``[x -> y]`` whose ``x`` is in ``points``."""
        return self.unwrap().intersect_domain(points).wrap()

    def intersect_factor_range(self, points: Set) -> Set:
        """Keeps the points ``[x -> y]`` whose ``y`` is in ``points``."""
        return self.unwrap().intersect_range(points).wrap()

    def translation(self) -> Map:
        """Relates each point to its sums with the points of this set."""
        pairs = self._full().cross(self._full())
        return pairs.deltas_map().intersect_range(self).domain().unwrap()

    def flat_product(self, other: Set) -> Set:
        """All pairs of points of two sets of one space, as points of one flat tuple."""
        return self.product(other).flatten()

    def flatten(self) -> Set:
        """The same points with coordinates of one flat tuple, without a name."""
        return self._flat(dim_type.set)

    def fix(self, name: str, value: int) -> Set:
        """Keeps the points of the only space whose dimension ``name`` is ``value``."""
        names = self.get_var_names()
        if name not in names:
            raise PresburgerError(f"no dimension {name!r}; there are {names}")
        return self.fix_val(dim_type.set, names.index(name), value)

    def lift(self) -> Set:
        """The points as pairs with the values of the divisions that constraints use."""
        return self._unary("lift")

    def is_params(self) -> bool:
        """Whether this is a set of parameters, ``{ : n > 0 }``, and not of the point ``[]``."""
        return all(Space._of(form).is_params() for form in self._union.spaces())

    def is_wrapping(self) -> bool:
        """Whether the points are pairs ``[x -> y]``."""
        return all(Space._of(form).is_wrapping() for form in self._union.spaces())

    def lower_bound_multi_val(self, lower: Sequence[int]) -> Set:
        """Keeps what is at least the number of each dimension."""
        return self._within(lower, "lower_bound_val")

    def upper_bound_multi_val(self, upper: Sequence[int]) -> Set:
        """Keeps what is at most the number of each dimension."""
        return self._within(upper, "upper_bound_val")

    def _within(self, numbers: Sequence[int], name: str) -> Set:
        if len(numbers) != self.dim(dim_type.set):
            raise PresburgerError(f"expected {self.dim(dim_type.set)} numbers, found {len(numbers)}")
        points = self
        for at, number in enumerate(numbers):
            points = getattr(points, name)(dim_type.set, at, number)
        return points

    def dim_min_val(self, dim: int) -> Val | None:
        """The least value of a dimension over all parameters; ``None`` if there is none."""
        return self._end(dim, 0)

    def dim_max_val(self, dim: int) -> Val | None:
        """The greatest value of a dimension over all parameters; ``None`` if there is none."""
        return self._end(dim, 1)

    def _end(self, dim: int, side: int) -> Val | None:
        box = self._union.bounding_box()
        if box is None:
            raise PresburgerError("a set without points has no least or greatest value")
        if not 0 <= dim < len(box):
            raise PresburgerError(f"expected a dimension from 0 to {len(box) - 1}, found {dim}")
        end = box[dim][side]
        return None if end is None else Val(end)

    def bounding_box(self) -> list[tuple[int | None, int | None]]:
        """Least and greatest value of each dimension; an empty list if there is no point."""
        return self._union.bounding_box() or []

    def get_stride_info(self, dim: int) -> StrideInfo:
        """The stride of a dimension, given the others, and its offset as a function of them."""
        from tangram.presburger.strides import stride_info

        return stride_info(self, dim)

    def get_stride(self, dim: int) -> Val:
        """The distance of the values of a dimension, given the others; at least 1."""
        return self.get_stride_info(dim).get_stride()

    def count_val(self) -> Val:
        """The number of points, which may be larger than ``len`` allows.

        Parameters that are used are counted with: of ``[n] -> { [i] : 0 <= i < n <= 3 }`` there
        are six.

        Raises:
            PresburgerError: a parameter that is used has infinitely many values.
        """
        names, pieces = params_as_dims(self)
        if names and not all(piece.is_bounded() for piece in pieces):
            raise bind_first(self)
        return Val(sum(piece.card().eval(Point(())) for piece in pieces))

    def sample_point(self) -> Point | None:
        """One point, or none where there is none; it knows values of parameters."""
        if not self.get_param_names():
            return next(iter(self.sample()), None)
        for piece in self.pieces():
            names, moved = piece.get_param_names(), piece
            if piece.is_params():
                moved = piece.from_params()
            moved = moved.move_dims(dim_type.set, 0, dim_type.param, 0, len(names))
            for point in moved.sample():
                values = dict(zip(names, point[: len(names)], strict=True))
                return Point(point[len(names) :], piece.get_tuple_name() or "", values)
        return None

    def lex_lt_set(self, other: Set) -> Map:
        """Pairs of a point of this and a lexicographically greater one of ``other``."""
        return self._to(Map, "lex_lt", other)

    def lex_le_set(self, other: Set) -> Map:
        """Pairs of a point of this and an equal or lexicographically greater one of ``other``."""
        return self._to(Map, "lex_le", other)

    def lex_gt_set(self, other: Set) -> Map:
        """Pairs of a point of this and a lexicographically smaller one of ``other``."""
        return self._to(Map, "lex_gt", other)

    def lex_ge_set(self, other: Set) -> Map:
        """Pairs of a point of this and an equal or lexicographically smaller one of ``other``."""
        return self._to(Map, "lex_ge", other)

    def fourier_motzkin(self, *variables: str) -> list[list[EliminationStep]]:
        """Eliminates variables in this order, over the rationals: the steps for each disjunct.

        >>> ((step,),) = Set("{ [i, j] : 0 <= i <= 10 and i <= j <= 2i }").fourier_motzkin("j")
        >>> step.names, step.combined, step.result
        (['i', 'j'], [[0, 1, 0]], [[0, 1, 0], [10, -1, 0]])

        Raises:
            PresburgerError: there is no such variable, or there are several spaces.
        """
        found = self._union.eliminations(list(variables))
        return [[EliminationStep(names, *step) for step in steps] for names, steps in found]

    def loop_bounds(self, *order: str) -> list[list[LoopBounds]]:
        """The bounds of loops over these variables, the outermost first, for each disjunct.

        All others are symbols. An inner loop may be empty, never wrong.

        >>> Set("[N] -> { [i, j] : 0 <= j <= i < N }").loop_bounds("j", "i")[0][1].iterations(N=5, j=3)
        range(3, 5)

        Raises:
            PresburgerError: there is no such variable, or there are several spaces.
        """
        found = self._union.loop_bounds(list(order))
        return [[LoopBounds(names, *bounds) for bounds in nest] for names, nest in found]

    def coefficients(self) -> Set:
        """The coefficients of all constraints that hold on this: of the constant and of
        parameters, then of dimensions."""
        return self._unary("coefficients")

    def solutions(self) -> Set:
        """The points for which all constraints hold whose :meth:`coefficients` are in this."""
        return self._unary("solutions")

    def compute_vertices(self) -> Vertices:
        """The vertices of the convex hull under islpy's names."""
        from tangram.presburger.vertices import Vertices

        return Vertices(self)

    def max_val(self, obj: Aff) -> Val | None:
        """The greatest value of an expression on the points; ``None`` if there is none."""
        return self.apply(obj.as_pw_multi_aff().as_map()).project_out_params().dim_max_val(0)

    def min_val(self, obj: Aff) -> Val | None:
        """The least value of an expression on the points; ``None`` if there is none."""
        return self.apply(obj.as_pw_multi_aff().as_map()).project_out_params().dim_min_val(0)

    def flatten_map(self) -> Map:
        """Relates each point to itself with coordinates of one flat tuple."""
        return self.identity().flatten_range()

    def insert_domain(self, domain: Space) -> Map:
        """Relates every point of a space to the points of this."""
        return Set.universe(domain).cross(self)

    @classmethod
    def from_multi_aff(cls, ma: PwMultiAff) -> Set:
        """The point that a function of the parameters gives."""
        return ma.as_set()

    from_pw_multi_aff = from_multi_aff
    from_multi_pw_aff = from_multi_aff

    def apply_pw_qpolynomial(self, pwqp: PwQPolynomial) -> PwQPolynomial:
        """The sum of a function over the points."""
        return pwqp.intersect_domain(self).sum()

    def is_box(self) -> bool:
        """Whether the points are all of those between bounds of their own in each dimension."""
        hull = self.universe(self.get_space()).intersect_params(self.params())
        for at in range(self.n_dim()):
            rest = self.eliminate(dim_type.set, 0, at)
            hull &= rest.eliminate(dim_type.set, at + 1, self.n_dim() - at - 1)
        return self.is_equal(hull)

    def dim_is_bounded(self, type: dim_type, pos: int) -> bool:
        """Whether a dimension has a least and a greatest value."""
        return self.dim_has_lower_bound(type, pos) and self.dim_has_upper_bound(type, pos)

    def dim_has_lower_bound(self, type: dim_type, pos: int) -> bool:
        """Whether a dimension has a least value for all parameters."""
        return self._has_end(pos, False)

    def dim_has_upper_bound(self, type: dim_type, pos: int) -> bool:
        """Whether a dimension has a greatest value for all parameters."""
        return self._has_end(pos, True)

    def _has_end(self, pos: int, greatest: bool) -> bool:
        from tangram.presburger.affs import PwAff

        end = PwAff._of(_native.PwAff.extremum(self._union, pos, greatest, True))
        return self.params() <= end.domain()

    def vertices(self) -> list[PwMultiAff]:
        """The vertices of the convex hull, as functions of the parameters, rational ones too."""
        from tangram.presburger.multi_affs import PwMultiAff

        return [PwMultiAff._of(vertex) for vertex in self._union.vertices()]

    lex_lt_union_set = lex_lt_set
    lex_le_union_set = lex_le_set
    lex_gt_union_set = lex_gt_set
    lex_ge_union_set = lex_ge_set

    def lattice_width(self) -> PwQPolynomial:
        """How thin the convex hull is: its least width in any integer direction, by parameters.

        Raises:
            PresburgerError: the hull is unbounded.
        """
        return PwQPolynomial._of(self._union.lattice_width())

    def indicator_function(self) -> PwAff:
        """The function that is 1 on the points of the only space and 0 elsewhere."""
        from tangram.presburger.affs import PwAff

        inside = PwAff.val_on_domain(self.to_set(), 1)
        return inside.union_add(PwAff.zero_on_domain(self.to_set().complement()))

    def wrapped_domain_map(self) -> Map:
        """Relates each pair ``[x -> y]`` to its ``x``."""
        return self.unwrap().domain_map()

    def card(self) -> PwQPolynomial:
        """The number of points, as a function of the parameters."""
        counts = self._union.card().functions()
        return PwQPolynomial._of(counts[0]) if counts else PwQPolynomial("{ 0 }")

    def neg(self) -> Set:
        """The points with all coordinates of the other sign."""
        zero = self._full()
        return self.apply(zero.identity()._negated())

    def to_union_set(self) -> Set:
        """The same points: sets may have several spaces here."""
        return self.to_set()

    as_set = to_union_set

    @classmethod
    def from_union_set(cls, points: Set) -> Set:
        """The same points: sets may have several spaces here."""
        return points.to_set()

    from_set = from_union_set

    def add_set(self, other: Set) -> Set:
        """The points of either set."""
        return self | other

    def extract_set(self, space: Space) -> Set:
        """The points of one space."""
        return self._in(space)

    def n_set(self) -> int:
        """The number of spaces."""
        return len(self._union.spaces())

    def every_set(self, test: Callable[[Set], bool]) -> bool:
        """Whether ``test`` holds for the set of each space."""
        return all(test(piece) for piece in self.pieces())

    def isa_set(self) -> bool:
        """Whether all points are of one space."""
        return self.isa_single()

    def fix_dim_si(self, dim: int, value: int) -> Set:
        """Keeps the points with a coordinate of ``value``."""
        return self.fix_val(dim_type.set, dim, value)

    @classmethod
    def from_basic_set(cls, basic: Set) -> Set:
        """The same points, as a set in general."""
        return wrap(Set, basic._union)

    @classmethod
    def from_point(cls, point: Point) -> Set:
        """The set of one point, for the values of parameters that it knows, or for all."""
        values = ", ".join(f"{name} = {value}" for name, value in point.params.items())
        coordinates = f"{point.name}[{', '.join(map(str, point))}]"
        return cls(f"[{values}] -> {{ {coordinates} }}")

    @classmethod
    def from_pw_aff(cls, function: PwAff) -> Set:
        """The values of a function of the parameters."""
        return function.as_set()

    def to_set(self) -> Set:
        """The same points, as a set in general."""
        return wrap(Set, self._union)

    def get_basic_sets(self) -> list[BasicSet]:
        """One set for each conjunction of constraints."""
        return [wrap(BasicSet, part) for part in self._union.disjuncts()]

    def get_basic_set_list(self) -> BasicSetList:
        """One set for each conjunction of constraints."""
        from tangram.presburger.lists import BasicSetList

        return BasicSetList(self.get_basic_sets())

    def get_set_list(self) -> SetList:
        """One set for each space."""
        from tangram.presburger.lists import SetList

        return SetList(self.pieces())

    def n_basic_set(self) -> int:
        """The number of conjunctions."""
        return len(self._union.disjuncts())

    def n_dim(self) -> int:
        """The number of dimensions, but for parameters."""
        return self.dim(dim_type.set)

    tuple_dim = n_dim

    def n_param(self) -> int:
        """The number of parameters."""
        return self.dim(dim_type.param)

    def foreach_basic_set(self, visit: Callable[[BasicSet], object]) -> None:
        """Calls ``visit`` with a set for each conjunction of constraints."""
        for part in self.get_basic_sets():
            visit(part)

    def foreach_set(self, visit: Callable[[Set], object]) -> None:
        """Calls ``visit`` with a set for each space."""
        for piece in self.pieces():
            visit(piece)

    def foreach_point(self, visit: Callable[[Point], object]) -> None:
        """Calls ``visit`` with each point, space by space, in lexicographic order."""
        for point in self:
            visit(point)

    def __iter__(self) -> Iterator[Point]:
        names, pieces = params_as_dims(self)
        count = len(names)
        for piece, own in zip(pieces, self.pieces(), strict=True):
            tuple_name = own.get_tuple_name() if count else None
            if count and not piece.is_bounded():
                raise bind_first(self)
            for _, _, (name, coordinates) in piece._union.points():
                values = dict(zip(names, coordinates[:count]))
                yield Point(coordinates[count:], tuple_name or name, values)

    def __contains__(self, point: tuple[int, ...]) -> bool:
        points = self
        if isinstance(point, Point):
            names = [point.name]
            points = points.bind(**point.params) if point.params else points
        else:
            # What has no name may be of any tuple.
            dims = len(point)
            names = [form[2][0] for form in self._union.spaces() if len(form[2][1]) == dims]
        points = points.drop_unused_params()
        if points.get_param_names() and not has_finite_params(points):
            raise bind_first(self)
        points = points.project_out_params()
        coordinates = ", ".join(map(str, point))
        return any(Set(f"{{ {name}[{coordinates}] }}") <= points for name in names)

    def __len__(self) -> int:
        return int(self.count_val())


def has_finite_params(points: Relations) -> bool:
    """Whether there are points for finitely many values of the parameters alone."""
    _, pieces = params_as_dims(points.params())
    return all(piece.is_bounded() for piece in pieces)


class BasicSet(Set):
    """A set of one conjunction of constraints, in one space.

    Every other :class:`Set` is a union of them. What is done to basic sets gives a basic set
    where the result is of one conjunction, else a :class:`Set`.
    """

    __slots__ = ()


Set._general, Set._basic = Set, BasicSet


# Relations are made of sets and sets of relations; sets are loaded first.
from tangram.presburger.counts import PwQPolynomial  # noqa: E402
from tangram.presburger.maps import Map  # noqa: E402
