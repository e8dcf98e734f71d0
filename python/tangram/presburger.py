"""Integer sets and relations: exact, parametric, in isl's notation.

>>> from tangram.presburger import Map, Set
>>> triangle = Set("[N] -> { S[i, j] : 0 <= i < N and 0 <= j <= i }")
>>> triangle.card()
PwQPolynomial('[N] -> { (1/2 * N + 1/2 * N^2) : N >= 1 }')
>>> triangle.card()(N=10)
55
>>> list(triangle.bind(N=2))
[S[0, 0], S[1, 0], S[1, 1]]
>>> Map("{ S[i, j] -> T[j, i] }")(triangle.bind(N=2)) == Set("{ T[0, 0]; T[0, 1]; T[1, 1] }")
True

A :class:`Set` or :class:`Map` may hold points of several spaces, told apart by the names and
the numbers of dimensions of their tuples. Values never change. Methods have the names that
islpy gives them; operators do what Python's own sets do: ``|``, ``&``, ``-``, ``^``, ``<=``, ``in``,
``len``, iteration, and ``~`` for the complement.

Notebooks show a finite set or relation of up to three dimensions as a picture.

There is no context object, and one class where islpy has several. Where names differ:

==========================================  ==================================================
islpy                                       here
==========================================  ==================================================
``BasicSet``, ``Set``, ``UnionSet``         :class:`Set`
``BasicMap``, ``Map``, ``UnionMap``         :class:`Map`
``PwQPolynomial``, ``UnionPwQPolynomial``   :class:`PwQPolynomial`, a function on one space
``PwQPolynomialFold``                       :class:`PwQPolynomialFold`
``Val``                                     ``int`` of any size, :class:`fractions.Fraction`
``get_basic_sets``, ``get_basic_maps``      :meth:`Set.disjuncts`
``get_set_list``, ``get_map_list``          :meth:`Set.pieces`
``a == b`` (the same text)                  ``a == b`` (the same points)
``fix_val(type, pos, value)``               ``fix(name, value)``, ``bind(N=value)``
``project_out(type, first, n)``             ``project_out(first, n)``, :meth:`Set.project_out_params`
``dim_min_val``, ``dim_max_val``            the same, of the only space; ``None`` if unbounded
``get_stride_info(pos)``                    ``get_stride_info(pos)``: the stride, and its offset as a map
``pwqp.eval(point)``                        ``pwqp(i, j, N=4)``
``foreach_*(f)``                            iteration
``dump``, ``get_ctx``, ``copy``             not needed
==========================================  ==================================================
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Self, TypeVar

from tangram import _native
from tangram._native import PresburgerError

__all__ = [
    "Map",
    "Point",
    "PresburgerError",
    "PwQPolynomial",
    "PwQPolynomialFold",
    "Set",
    "UnionMap",
    "UnionSet",
    "limits",
]

_NOTEBOOK_POINTS = 2_000


@contextlib.contextmanager
def limits(*, steps: int | None = None, seconds: float | None = None) -> Iterator[None]:
    """Ends operations of this thread that take longer, with a :class:`PresburgerError`.

    A step is one row of integers touched, so that a limit on steps strikes at the same place
    in every run.
    """
    before = _native.set_limits(steps, seconds)
    try:
        yield
    finally:
        _native.set_limits(*before)


class Point(tuple[int, ...]):
    """Coordinates of an integer point, and the name of its tuple, which may be empty.

    >>> Point((1, 2), "S")
    S[1, 2]
    """

    name: str

    def __new__(cls, coordinates: tuple[int, ...] | list[int], name: str = "") -> Self:
        point = super().__new__(cls, coordinates)
        point.name = name
        return point

    def __getnewargs__(self) -> tuple[tuple[int, ...], str]:
        return tuple(self), self.name

    def __repr__(self) -> str:
        return f"{self.name}[{', '.join(map(str, self))}]"


_R = TypeVar("_R", bound="_Relations")
_Names = tuple[str, list[str]]


class _Relations:
    """What sets and relations have in common."""

    __slots__ = ("_union",)
    _is_set: bool

    def __init__(self, text: str | Self) -> None:
        self._union = text._union if isinstance(text, _Relations) else _native.Union(text)
        if any((source is None) != self._is_set for source, _ in self._union.spaces()):
            wanted = "a set" if self._is_set else "a relation"
            other = "Map" if self._is_set else "Set"
            raise PresburgerError(f"expected {wanted}, found {text}; {other}(...) reads it")

    @classmethod
    def read_from_str(cls, text: str) -> Self:
        """Parses isl's notation, as the constructor does."""
        return cls(text)

    def __str__(self) -> str:
        return str(self._union)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        return type(self), (str(self),)

    def _unary(self, name: str) -> Self:
        return _wrap(type(self), self._union.unary(name))

    def _binary(self, name: str, other: _Relations) -> Self:
        return _wrap(type(self), self._union.binary(name, other._union))

    def _to(self, kind: type[_R], name: str, *others: _Relations) -> _R:
        union = self._union
        unions = [other._union for other in others]
        return _wrap(kind, union.binary(name, *unions) if unions else union.unary(name))

    # Sets of points, be they single or pairs.

    def union(self, other: Self) -> Self:
        """The points of either."""
        return self._binary("union", other)

    def intersect(self, other: Self) -> Self:
        """The points of both."""
        return self._binary("intersect", other)

    def subtract(self, other: Self) -> Self:
        """The points of this that are not in ``other``."""
        return self._binary("subtract", other)

    def complement(self) -> Self:
        """The points of the same spaces that are not in this."""
        return self._unary("complement")

    def universe(self) -> Self:
        """All points of the same spaces."""
        return self._unary("universe")

    def is_empty(self) -> bool:
        """Whether there is no point for any value of the parameters."""
        return self._union.test("is_empty")

    def is_equal(self, other: Self) -> bool:
        """Whether both hold the same points for all values of the parameters."""
        return self._union.test("is_equal", other._union)

    def is_subset(self, other: Self) -> bool:
        """Whether ``other`` holds every point of this."""
        return self._union.test("is_subset", other._union)

    def is_strict_subset(self, other: Self) -> bool:
        """Whether ``other`` holds every point of this and more."""
        return self._union.test("is_strict_subset", other._union)

    def is_disjoint(self, other: Self) -> bool:
        """Whether no point is in both."""
        return self._union.test("is_disjoint", other._union)

    def coalesce(self) -> Self:
        """The same points in fewer pieces, where pieces can be joined exactly."""
        return self._unary("coalesce")

    def gist(self, context: Self) -> Self:
        """What this says beyond ``context``: the same points within it, in fewer constraints."""
        return self._binary("gist", context)

    def affine_hull(self) -> Self:
        """The smallest superset that equations describe, in each space."""
        return self._unary("affine_hull")

    def simple_hull(self) -> Self:
        """A convex superset bounded by shifted constraints of the pieces, in each space."""
        return self._unary("simple_hull")

    def unshifted_simple_hull(self) -> Self:
        """A convex superset bounded by constraints of the pieces as they are, in each space."""
        return self._unary("unshifted_simple_hull")

    def convex_hull(self) -> Self:
        """The smallest convex superset, in each space."""
        return self._unary("convex_hull")

    def polyhedral_hull(self) -> Self:
        """The smallest convex superset within the affine hull, in each space."""
        return self._unary("polyhedral_hull")

    def remove_redundancies(self) -> Self:
        """The same points without constraints that others imply."""
        return self._unary("remove_redundancies")

    def make_disjoint(self) -> Self:
        """The same points in disjuncts that share none."""
        return self._unary("make_disjoint")

    def disjuncts(self) -> list[Self]:
        """One value for each conjunction of constraints."""
        return [_wrap(type(self), part) for part in self._union.disjuncts()]

    def lexmin(self) -> Self:
        """The first point, or the first output of each input; parametric."""
        return self._unary("lexmin")

    def lexmax(self) -> Self:
        """The last point, or the last output of each input; parametric."""
        return self._unary("lexmax")

    def sample(self) -> Self:
        """One point, or none where there is none."""
        return self._unary("sample")

    def params(self) -> Set:
        """The values of the parameters for which there is a point."""
        return self._to(Set, "params")

    def intersect_params(self, params: Set) -> Self:
        """Restricts the parameters to ``params``, a set of ``[]``."""
        return self._binary("intersect_params", params)

    def bind(self, **values: int) -> Self:
        """Gives parameters their values, after which they are gone.

        Raises:
            PresburgerError: there is no such parameter.
        """
        unknown = [name for name in values if name not in self.get_param_names()]
        if unknown:
            raise PresburgerError(f"no parameter {unknown[0]!r}; there are {self.get_param_names()}")
        return _wrap(type(self), self._union.bind(list(values.items())))

    def project_out_params(self, *names: str) -> Self:
        """Drops parameters: keeps what is there for some value of them; all if none is named."""
        gone = list(names) or self.get_param_names()
        return _wrap(type(self), self._union.project_params(gone))

    def gist_params(self, params: Set) -> Self:
        """What this says beyond ``params``, a set of ``[]``."""
        return self.gist(self.universe().intersect_params(params))

    def is_bounded(self) -> bool:
        """Whether each space has finitely many points for all parameters together."""
        boxes = [_ends(piece) for piece in self.pieces()]
        return all(None not in ends for box in boxes for ends in box)

    def is_singleton(self) -> bool:
        """Whether there is at most one point, the same for all values of the parameters."""
        points = self.project_out_params()
        return points.is_subset(points.sample())

    def to_str(self) -> str:
        """The text in isl's notation, as ``str`` gives it."""
        return str(self)

    def get_param_names(self) -> list[str]:
        """The names of the parameters."""
        return self._union.params()

    def pieces(self) -> list[Self]:
        """One value for each space."""
        return [_wrap(type(self), piece) for piece in self._union.pieces()]

    def __hash__(self) -> int:
        # Equal values have points in the same spaces; constraints have many forms.
        full = [piece for piece in self.pieces() if not piece.is_empty()]
        return hash(frozenset(_shape(piece._union.spaces()[0]) for piece in full))

    def __or__(self, other: Self) -> Self:
        return self.union(other) if isinstance(other, type(self)) else NotImplemented

    def __and__(self, other: Self) -> Self:
        return self.intersect(other) if isinstance(other, type(self)) else NotImplemented

    def __sub__(self, other: Self) -> Self:
        return self.subtract(other) if isinstance(other, type(self)) else NotImplemented

    def __xor__(self, other: Self) -> Self:
        return (self - other) | (other - self)

    def __invert__(self) -> Self:
        return self.complement()

    def __eq__(self, other: object) -> bool:
        return self.is_equal(other) if isinstance(other, type(self)) else NotImplemented

    def __le__(self, other: Self) -> bool:
        return self.is_subset(other) if isinstance(other, type(self)) else NotImplemented

    def __lt__(self, other: Self) -> bool:
        return self.is_strict_subset(other) if isinstance(other, type(self)) else NotImplemented

    def __ge__(self, other: Self) -> bool:
        return other.is_subset(self) if isinstance(other, type(self)) else NotImplemented

    def __gt__(self, other: Self) -> bool:
        return other.is_strict_subset(self) if isinstance(other, type(self)) else NotImplemented

    def __bool__(self) -> bool:
        return not self.is_empty()

    # Pictures.

    def plot(self, path: str | None = None, **params: int) -> str:
        """Draws the points as SVG text, with ``params`` bound; writes it to ``path`` if given.

        Raises:
            PresburgerError: more than three dimensions, too many points, or infinitely many.
        """
        picture = (self.bind(**params) if params else self)._union.svg()
        if path is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(picture)
        return picture

    def _repr_svg_(self) -> str | None:
        if self.get_param_names():
            return None
        try:
            with limits(steps=_NOTEBOOK_POINTS * 1_000):
                return self._union.svg()
        except PresburgerError:
            return None


def _wrap(kind: type[_R], union: _native.Union) -> _R:
    value = kind.__new__(kind)
    value._union = union
    return value


def _shape(space: tuple[_Names | None, _Names]) -> tuple[tuple[str, int] | None, ...]:
    """Names and numbers of dimensions of the tuples of a space."""
    return tuple(tuple_ and (tuple_[0], len(tuple_[1])) for tuple_ in space)


def _ends(piece: _Relations) -> list[tuple[int | None, int | None]]:
    """Least and greatest value of each dimension of a set, or of both sides of a relation."""
    sides = [piece] if isinstance(piece, Set) else [piece._to(Set, "domain"), piece._to(Set, "range")]
    return [ends for side in sides for ends in side._union.bounding_box() or []]


def _bound(value: _Relations) -> None:
    """Refuses parameters where points are asked for."""
    names = value.get_param_names()
    if names:
        call = ", ".join(f"{name}=..." for name in names)
        raise PresburgerError(f"the points depend on parameters; bind({call}) fixes them")


class Set(_Relations):
    """A set of integer points: ``Set("[N] -> { S[i] : 0 <= i < N }")``."""

    __slots__ = ()
    _is_set = True

    def apply(self, relation: Map) -> Set:
        """The points that ``relation`` relates those of this set to."""
        return self._binary("apply_range", relation)

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
        """The relation of the pairs ``[x -> y]`` that are the points of this set."""
        return self._to(Map, "unwrap")

    def project_out(self, first: int, count: int) -> Set:
        """Drops ``count`` dimensions from ``first`` on; exact over the integers."""
        return _wrap(Set, self._union.project_out(first, count))

    def flat_product(self, other: Set) -> Set:
        """All pairs of points of two sets of one space, as points of one flat tuple."""
        first, second = len(self.get_var_names()), len(other.get_var_names())
        left, right = _variables("a", first), _variables("b", second)
        flat = f"{{ [{_tuple(self, left)} -> {_tuple(other, right)}] -> [{', '.join(left + right)}] }}"
        return self.product(other).apply(Map(flat))

    def fix(self, name: str, value: int) -> Set:
        """Keeps the points of the only space whose dimension ``name`` is ``value``."""
        names = self.get_var_names()
        if name not in names:
            raise PresburgerError(f"no dimension {name!r}; there are {names}")
        dims = _variables("a", len(names))
        text = f"{{ {_tuple(self, dims)} : {dims[names.index(name)]} = {value} }}"
        return self.intersect(Set(text))

    def lift(self) -> Set:
        """The points as pairs with the values of the divisions that constraints use."""
        return self._unary("lift")

    def is_params(self) -> bool:
        """Whether this is a set of parameters, without dimensions."""
        return all(not target[0] and not target[1] for _, target in self._union.spaces())

    def is_wrapping(self) -> bool:
        """Whether the points are pairs ``[x -> y]``."""
        try:
            self.unwrap()
        except PresburgerError:
            return False
        return True

    def dim_min_val(self, dim: int) -> int | None:
        """The least value of a dimension over all parameters; ``None`` if there is none."""
        return self._end(dim, 0)

    def dim_max_val(self, dim: int) -> int | None:
        """The greatest value of a dimension over all parameters; ``None`` if there is none."""
        return self._end(dim, 1)

    def _end(self, dim: int, side: int) -> int | None:
        box = self._union.bounding_box()
        if box is None:
            raise PresburgerError("a set without points has no least or greatest value")
        if not 0 <= dim < len(box):
            raise PresburgerError(f"expected a dimension from 0 to {len(box) - 1}, found {dim}")
        return box[dim][side]

    def bounding_box(self) -> list[tuple[int | None, int | None]]:
        """Least and greatest value of each dimension; an empty list if there is no point."""
        return self._union.bounding_box() or []

    def get_stride_info(self, dim: int) -> tuple[int, Set]:
        """The stride of a dimension, and its offset as a set of one value for each parameter."""
        stride, offset = self._union.stride(dim)
        return stride, _wrap(Map, offset).range()

    def get_stride(self, dim: int) -> int:
        """The distance of the values of a dimension, at least 1."""
        return self._union.stride(dim)[0]

    def count_val(self) -> int:
        """The number of points, which may be larger than ``len`` allows."""
        _bound(self)
        return int(self.card()())

    def sample_point(self) -> Point | None:
        """One point, or none where there is none; with parameters, for some value of them."""
        for point in self.project_out_params().sample():
            return point
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

    def indicator_function(self) -> PwQPolynomial:
        """The function that is 1 on the points of the only space and 0 elsewhere."""
        return PwQPolynomial._of(_native.Count.constant(self._union, 1, 1))

    def wrapped_domain_map(self) -> Map:
        """Relates each pair ``[x -> y]`` to its ``x``."""
        return self.unwrap().domain_map()

    def get_var_names(self) -> list[str]:
        """The names of the dimensions of the only space."""
        return self._tuple()[1]

    def get_tuple_name(self) -> str:
        """The name of the tuple of the only space, which may be empty."""
        return self._tuple()[0]

    def _tuple(self) -> tuple[str, list[str]]:
        spaces = self._union.spaces()
        if len(spaces) != 1:
            raise PresburgerError(f"expected points of one space, found {len(spaces)} spaces")
        return spaces[0][1]

    def card(self) -> PwQPolynomial:
        """The number of points, as a function of the parameters."""
        counts = self._union.card() or _native.Union("{ [] : false }").card()
        return PwQPolynomial._of(counts[0])

    def foreach_point(self, visit: Callable[[Point], object]) -> None:
        """Calls ``visit`` with each point, space by space, in lexicographic order."""
        for point in self:
            visit(point)

    def __iter__(self) -> Iterator[Point]:
        _bound(self)
        for _, _, (name, coordinates) in self._union.points():
            yield Point(coordinates, name)

    def __contains__(self, point: tuple[int, ...]) -> bool:
        _bound(self)
        name = point.name if isinstance(point, Point) else ""
        text = f"{{ {name}[{', '.join(map(str, point))}] }}"
        return Set(text) <= self

    def __len__(self) -> int:
        _bound(self)
        return int(self.card()())


def _variables(letter: str, count: int) -> list[str]:
    return [f"{letter}{index}" for index in range(count)]


def _tuple(value: Set, dims: list[str]) -> str:
    """The tuple of the only space, with names of our own; pairs have no such form."""
    if value.is_wrapping():
        raise PresburgerError("expected points without pairs; apply a map that flattens them first")
    return f"{value.get_tuple_name()}[{', '.join(dims)}]"


class Map(_Relations):
    """A relation between integer points: ``Map("{ S[i] -> A[j] : i <= j < i + 3 }")``."""

    __slots__ = ()
    _is_set = False

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

    def transitive_closure(self) -> tuple[Map, bool]:
        """Pairs that one or more steps connect, and whether that is exact; else it holds more."""
        closure, exact = self._union.closure()
        return _wrap(Map, closure), exact

    def power(self) -> tuple[Map, bool]:
        """Relates ``[k]`` to the pairs that ``k`` steps connect, and whether that is exact."""
        power, exact = self._union.power()
        return _wrap(Map, power), exact

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

    def curry(self) -> Map:
        """Turns ``[a -> b] -> c`` into ``a -> [b -> c]``."""
        return self._unary("curry")

    def uncurry(self) -> Map:
        """Turns ``a -> [b -> c]`` into ``[a -> b] -> c``."""
        return self._unary("uncurry")

    def factor_domain(self) -> Map:
        """Turns ``[a -> b] -> [c -> d]`` into ``a -> c``."""
        return self.zip().domain().unwrap()

    def factor_range(self) -> Map:
        """Turns ``[a -> b] -> [c -> d]`` into ``b -> d``."""
        return self.zip().range().unwrap()

    def range_factor_domain(self) -> Map:
        """Turns ``a -> [b -> c]`` into ``a -> b``."""
        return self.apply_range(self.range().unwrap().domain_map())

    def range_factor_range(self) -> Map:
        """Turns ``a -> [b -> c]`` into ``a -> c``."""
        return self.apply_range(self.range().unwrap().range_map())

    def domain_factor_domain(self) -> Map:
        """Turns ``[a -> b] -> c`` into ``a -> c``."""
        return self.reverse().range_factor_domain().reverse()

    def domain_factor_range(self) -> Map:
        """Turns ``[a -> b] -> c`` into ``b -> c``."""
        return self.reverse().range_factor_range().reverse()

    def gist_domain(self, inputs: Set) -> Map:
        """What this says beyond its inputs being in ``inputs``."""
        return self.gist(self.universe().intersect_domain(inputs))

    def gist_range(self, outputs: Set) -> Map:
        """What this says beyond its outputs being in ``outputs``."""
        return self.gist(self.universe().intersect_range(outputs))

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

    def _ordered(self, name: str, other: Map) -> Map:
        pairs = self.universe().range()._to(Map, name, other.universe().range())
        return self.apply_range(pairs).apply_range(other.reverse())

    def get_range_stride_info(self, dim: int) -> tuple[int, Map]:
        """The stride of an output, and its offset, one value for each input."""
        stride, offset = self._union.stride(dim)
        return stride, _wrap(Map, offset)

    def deltas(self) -> Set:
        """The differences output minus input."""
        return self._to(Set, "deltas")

    def deltas_map(self) -> Map:
        """Relates each pair to its difference."""
        return self._unary("deltas_map")

    def wrap(self) -> Set:
        """The set of the pairs ``[x -> y]``."""
        return self._to(Set, "wrap")

    def zip(self) -> Map:
        """Turns ``[a -> b] -> [c -> d]`` into ``[a -> c] -> [b -> d]``."""
        return self._unary("zip")

    def domain_map(self) -> Map:
        """Relates each pair to its input."""
        return self._unary("domain_map")

    def range_map(self) -> Map:
        """Relates each pair to its output."""
        return self._unary("range_map")

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

    def card(self) -> list[PwQPolynomial]:
        """The number of outputs of each input: one function for each tuple of inputs."""
        return [PwQPolynomial._of(count) for count in self._union.card()]

    def __call__(self, points: Set) -> Set:
        """The outputs of ``points``."""
        return points.apply(self)

    def __iter__(self) -> Iterator[tuple[Point, Point]]:
        _bound(self)
        for _, source, (name, coordinates) in self._union.points():
            assert source is not None
            yield Point(source[1], source[0]), Point(coordinates, name)

    def __contains__(self, pair: tuple[tuple[int, ...], tuple[int, ...]]) -> bool:
        _bound(self)
        source, target = (p if isinstance(p, Point) else Point(p) for p in pair)
        return Map(f"{{ {source!r} -> {target!r} }}") <= self

    def __len__(self) -> int:
        return len(self.wrap())


UnionSet = Set
"""islpy's name for sets over several spaces; every :class:`Set` may be one."""
UnionMap = Map
"""islpy's name for relations over several spaces; every :class:`Map` may be one."""


def _number(numerator: int, denominator: int) -> Fraction | int:
    value = Fraction(numerator, denominator)
    return int(value) if value.denominator == 1 else value


def _ratio(value: int | Fraction) -> tuple[int, int]:
    return value.numerator, value.denominator


class PwQPolynomial:
    """A piecewise quasi-polynomial: what counting returns. 0 where no piece holds.

    >>> PwQPolynomial("{ [i] -> i^2 }").intersect_domain(Set("{ [i] : 0 <= i < 4 }")).sum()()
    14
    """

    __slots__ = ("_count",)
    _count: _native.Count

    def __init__(self, text: str | PwQPolynomial) -> None:
        self._count = text._count if isinstance(text, PwQPolynomial) else _native.Count(text)

    @classmethod
    def _of(cls, count: _native.Count) -> Self:
        result = cls.__new__(cls)
        result._count = count
        return result

    @classmethod
    def read_from_str(cls, text: str) -> Self:
        """Parses isl's notation, as the constructor does."""
        return cls(text)

    def __call__(self, *point: int, **params: int) -> Fraction | int:
        """The value at a point: coordinates of the domain, and parameters by name.

        Raises:
            TypeError: a parameter or a coordinate is missing or too many.
        """
        known, domain = self._count.params(), self._count.domain()
        wanted = len(domain[1]) if domain else 0
        if len(point) != wanted or set(params) - set(known) or set(known) - set(params):
            raise TypeError(f"expected {wanted} coordinates and the parameters {known}")
        values = [params[name] for name in known]
        return _number(*self._count.evaluate([*values, *point]))

    def get_param_names(self) -> list[str]:
        """The names of the parameters."""
        return self._count.params()

    def domain(self) -> Set:
        """The points for which a piece holds."""
        return _wrap(Set, self._count.support())

    def is_zero(self) -> bool:
        """Whether the value is 0 everywhere."""
        return self._count.is_zero()

    def sum(self) -> PwQPolynomial:
        """Sums over all points of the domain; of pairs ``[x -> y]`` over ``y``."""
        return self._of(self._count.sum())

    def apply(self, relation: Map) -> PwQPolynomial:
        """The function of ``x`` that sums up the values at all ``y`` that ``x`` is related to."""
        return self._of(self._count.apply(relation._union))

    def intersect_domain(self, points: Set) -> PwQPolynomial:
        """Keeps the values at ``points``; elsewhere it is 0."""
        return self._of(self._count.intersect_domain(points._union))

    def gist(self, points: Set) -> PwQPolynomial:
        """What this says beyond ``points``: the same values there, in shorter pieces."""
        return self._of(self._count.gist(points._union))

    def bound(self, upper: bool = True) -> PwQPolynomialFold:
        """A bound of the values over all points, for each value of the parameters."""
        return PwQPolynomialFold._of(self._count.bound(upper))

    def scale_val(self, factor: int | Fraction) -> PwQPolynomial:
        """Multiplies with a number."""
        return self._of(self._count.scale(*_ratio(factor)))

    def neg(self) -> PwQPolynomial:
        """Changes the sign of all values."""
        return self.scale_val(-1)

    def _other(self, other: PwQPolynomial | int | Fraction) -> _native.Count | None:
        if isinstance(other, PwQPolynomial):
            return other._count
        if not isinstance(other, int | Fraction):
            return None
        domain = self._count.domain()
        # Adding 0 times itself gives the number the same space, wherever it holds.
        text = "{ 1 }" if domain is None else f"{{ {domain[0]}[{', '.join(domain[1])}] -> 1 }}"
        return _native.Count(text).scale(*_ratio(other))

    def __add__(self, other: PwQPolynomial | int | Fraction) -> PwQPolynomial:
        count = self._other(other)
        return NotImplemented if count is None else self._of(self._count.add(count))

    def __sub__(self, other: PwQPolynomial | int | Fraction) -> PwQPolynomial:
        count = self._other(other)
        return NotImplemented if count is None else self._of(self._count.sub(count))

    def __rsub__(self, other: int | Fraction) -> PwQPolynomial:
        return self.neg() + other

    def __mul__(self, other: PwQPolynomial | int | Fraction) -> PwQPolynomial:
        if isinstance(other, int | Fraction):
            return self.scale_val(other)
        if not isinstance(other, PwQPolynomial):
            return NotImplemented
        return self._of(self._count.mul(other._count))

    def __neg__(self) -> PwQPolynomial:
        return self.neg()

    __radd__ = __add__
    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PwQPolynomial):
            return NotImplemented
        try:
            return (self - other).is_zero()
        except PresburgerError:  # functions on different spaces
            return self.is_zero() and other.is_zero()

    def __hash__(self) -> int:
        return hash(self.is_zero())

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        return type(self), (str(self),)

    def __str__(self) -> str:
        return str(self._count)

    def __repr__(self) -> str:
        return f"PwQPolynomial({str(self)!r})"


class PwQPolynomialFold:
    """A bound of a :class:`PwQPolynomial`: the greatest or the least of several, piece by piece.

    >>> PwQPolynomial("[n] -> { [i] -> i * (n - i) : 0 <= i <= n }").bound()(n=4) >= 4
    True
    """

    __slots__ = ("_bound",)
    _bound: _native.Bound

    @classmethod
    def _of(cls, bound: _native.Bound) -> Self:
        result = cls.__new__(cls)
        result._bound = bound
        return result

    def __call__(self, **params: int) -> Fraction | int | None:
        """The bound for values of the parameters; ``None`` where there is no point.

        Raises:
            TypeError: a parameter is missing or unknown.
        """
        known = self._bound.params()
        if set(params) != set(known):
            raise TypeError(f"expected the parameters {known}")
        value = self._bound.evaluate([params[name] for name in known])
        return None if value is None else _number(*value)

    def get_param_names(self) -> list[str]:
        """The names of the parameters."""
        return self._bound.params()

    def is_upper(self) -> bool:
        """Whether it bounds from above."""
        return self._bound.is_upper()

    def domain(self) -> Set:
        """The parameters for which there is a bound, a set of ``[]``."""
        return _wrap(Set, self._bound.support())

    def fold(self, other: PwQPolynomialFold) -> PwQPolynomialFold:
        """The bound of both, which must be on the same side."""
        return self._of(self._bound.fold(other._bound))

    def scale_val(self, factor: int | Fraction) -> PwQPolynomialFold:
        """Multiplies with a number; a negative one changes the side."""
        return self._of(self._bound.scale(*_ratio(factor)))

    def __add__(self, other: PwQPolynomial) -> PwQPolynomialFold:
        if not isinstance(other, PwQPolynomial):
            return NotImplemented
        return self._of(self._bound.add(other._count))

    def __mul__(self, other: int | Fraction) -> PwQPolynomialFold:
        return self.scale_val(other) if isinstance(other, int | Fraction) else NotImplemented

    __radd__ = __add__
    __rmul__ = __mul__

    def __str__(self) -> str:
        return str(self._bound)

    def __repr__(self) -> str:
        return f"PwQPolynomialFold({str(self)!r})"
