"""The vertices of sets under islpy's names."""

from __future__ import annotations

from collections.abc import Callable

from tangram.presburger.multi_affs import PwMultiAff
from tangram.presburger.names import DEFAULT_CONTEXT, Context
from tangram.presburger.sets import Set


class Vertex:
    """A vertex as a function of the parameters."""

    __slots__ = ("_expr", "_id")

    def __init__(self, id: int, expr: PwMultiAff) -> None:
        self._id, self._expr = id, expr

    def get_id(self) -> int:
        """The number of the vertex among those of its set."""
        return self._id

    def get_expr(self) -> PwMultiAff:
        """The coordinates."""
        return self._expr

    def get_domain(self) -> Set:
        """The parameters for which it is a vertex."""
        return self._expr.domain()

    def get_ctx(self) -> Context:
        """The context."""
        return DEFAULT_CONTEXT


class Vertices:
    """The vertices of the convex hull of a set."""

    __slots__ = ("_all",)

    def __init__(self, points: Set) -> None:
        self._all = [Vertex(at, expr) for at, expr in enumerate(points.vertices())]

    def get_n_vertices(self) -> int:
        """The number of vertices, whatever the parameters."""
        return len(self._all)

    def foreach_vertex(self, fn: Callable[[Vertex], object]) -> None:
        """Calls ``fn`` with each vertex."""
        for vertex in self._all:
            fn(vertex)

    def get_ctx(self) -> Context:
        """The context."""
        return DEFAULT_CONTEXT
