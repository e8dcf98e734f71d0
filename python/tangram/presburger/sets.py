"""Sets of integer points."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from tangram import _native
from tangram._native import PresburgerError
from tangram.presburger._relations import Relations, bind_first, wrap
from tangram.presburger.points import Point

if TYPE_CHECKING:
    from tangram.presburger.functions import PwMultiAff


class Set(Relations):
    """A set of integer points: ``Set("[N] -> { S[i] : 0 <= i < N }")``."""

    __slots__ = ()
    _is_set = True

    def apply(self, relation: Map) -> Set:
        """The points that ``relation`` relates those of this set to."""
        return self._binary("apply_range", relation)

    def preimage_pw_multi_aff(self, function: PwMultiAff) -> Set:
        """The arguments that ``function`` sends into this set."""
        return wrap(Set, function._function.preimage("set", self._union))

    preimage_multi_aff = preimage_multi_pw_aff = preimage_pw_multi_aff

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
        return wrap(Set, self._union.project_out(first, count))

    def flat_product(self, other: Set) -> Set:
        """All pairs of points of two sets of one space, as points of one flat tuple."""
        first, second = len(self.get_var_names()), len(other.get_var_names())
        left, right = variables("a", first), variables("b", second)
        flat = f"{{ [{plain_tuple(self, left)} -> {plain_tuple(other, right)}] -> [{', '.join(left + right)}] }}"
        return self.product(other).apply(Map(flat))

    def fix(self, name: str, value: int) -> Set:
        """Keeps the points of the only space whose dimension ``name`` is ``value``."""
        names = self.get_var_names()
        if name not in names:
            raise PresburgerError(f"no dimension {name!r}; there are {names}")
        dims = variables("a", len(names))
        text = f"{{ {plain_tuple(self, dims)} : {dims[names.index(name)]} = {value} }}"
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
        return stride, wrap(Map, offset).range()

    def get_stride(self, dim: int) -> int:
        """The distance of the values of a dimension, at least 1."""
        return self._union.stride(dim)[0]

    def count_val(self) -> int:
        """The number of points, which may be larger than ``len`` allows."""
        bind_first(self)
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
        bind_first(self)
        for _, _, (name, coordinates) in self._union.points():
            yield Point(coordinates, name)

    def __contains__(self, point: tuple[int, ...]) -> bool:
        bind_first(self)
        name = point.name if isinstance(point, Point) else ""
        text = f"{{ {name}[{', '.join(map(str, point))}] }}"
        return Set(text) <= self

    def __len__(self) -> int:
        bind_first(self)
        return int(self.card()())


def variables(letter: str, count: int) -> list[str]:
    return [f"{letter}{index}" for index in range(count)]


def plain_tuple(value: Set, dims: list[str]) -> str:
    """The tuple of the only space, with names of our own; pairs have no such form."""
    if value.is_wrapping():
        raise PresburgerError("expected points without pairs; apply a map that flattens them first")
    return f"{value.get_tuple_name()}[{', '.join(dims)}]"


# Relations are made of sets and sets of relations; sets are loaded first.
from tangram.presburger.counts import PwQPolynomial  # noqa: E402
from tangram.presburger.maps import Map  # noqa: E402
