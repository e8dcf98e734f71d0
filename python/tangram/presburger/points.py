"""Points of sets and relations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from tangram.presburger.names import dim_type
from tangram.presburger.values import Val

if TYPE_CHECKING:
    from tangram.presburger.sets import Set


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

    def get_coordinate_val(self, type: dim_type, pos: int) -> Val:
        """The coordinate of a dimension."""
        return Val(self[pos])

    def is_void(self) -> bool:
        """Whether it is no point, which it always is."""
        return False

    def to_set(self) -> Set:
        """The set of this point."""
        from tangram.presburger.sets import Set

        return Set.from_point(self)
