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
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Self, TypeVar

from tangram import _native
from tangram._native import PresburgerError

__all__ = ["Map", "Point", "PresburgerError", "PwQPolynomial", "Set", "UnionMap", "UnionSet", "limits"]

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


class _Relations:
    """What sets and relations have in common."""

    __slots__ = ("_union",)
    _is_set: bool
    __hash__ = None  # type: ignore[assignment]

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

    def get_param_names(self) -> list[str]:
        """The names of the parameters."""
        return self._union.params()

    def pieces(self) -> list[Self]:
        """One value for each space."""
        return [_wrap(type(self), piece) for piece in self._union.pieces()]

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


class PwQPolynomial:
    """A piecewise quasi-polynomial: what counting returns. 0 where no piece holds."""

    __slots__ = ("_count",)
    _count: _native.Count

    @classmethod
    def _of(cls, count: _native.Count) -> Self:
        result = cls.__new__(cls)
        result._count = count
        return result

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
        numerator, denominator = self._count.evaluate([*values, *point])
        value = Fraction(numerator, denominator)
        return int(value) if value.denominator == 1 else value

    def sum(self) -> PwQPolynomial:
        """Sums over all points of the domain."""
        return self._of(self._count.sum())

    def __add__(self, other: PwQPolynomial) -> PwQPolynomial:
        return self._of(self._count.add(other._count))

    def __sub__(self, other: PwQPolynomial) -> PwQPolynomial:
        return self._of(self._count.sub(other._count))

    def __mul__(self, other: PwQPolynomial) -> PwQPolynomial:
        return self._of(self._count.mul(other._count))

    def __str__(self) -> str:
        return str(self._count)

    def __repr__(self) -> str:
        return f"PwQPolynomial({str(self)!r})"
