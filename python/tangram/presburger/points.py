"""Points of sets and relations."""

from __future__ import annotations

from typing import Self


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
