"""Kinds of dimensions, names, and tuples of dimensions."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import NamedTuple


class Context:
    """What islpy asks for and nothing here needs: it is accepted, and does nothing."""


DEFAULT_CONTEXT = Context()
"""The only context that there is."""


class Id(str):
    """A name, of a tuple or a dimension."""

    __slots__ = ()

    @classmethod
    def read_from_str(cls, *arguments: object) -> Id:
        """The name that is the last argument."""
        return cls(str(arguments[-1]))

    alloc = read_from_str

    @property
    def name(self) -> str:
        """The name as a plain string."""
        return str(self)

    def get_name(self) -> str:
        """The name as a plain string."""
        return str(self)

    def get_ctx(self) -> Context:
        """What islpy asks for; it does nothing."""
        return DEFAULT_CONTEXT


class dim_type(enum.IntEnum):  # noqa: N801  (islpy's name)
    """Which dimensions are meant. Those of a set are outputs: ``set`` and ``out`` are one."""

    cst = 0
    param = 1
    in_ = 2
    set = 3
    out = 3
    div = 4
    all = 5


class Tuple(NamedTuple):
    """A tuple of dimensions: its name, theirs, and the two sides of a pair."""

    name: str = ""
    dims: Sequence[str] = ()
    sides: tuple[Tuple, Tuple] | None = None

    def renamed(self, dims: Sequence[str]) -> Tuple:
        """The same tuple with other names of dimensions."""
        if self.sides is None:
            return Tuple(self.name, tuple(dims))
        cut = len(self.sides[0].dims)
        sides = self.sides[0].renamed(dims[:cut]), self.sides[1].renamed(dims[cut:])
        return Tuple(self.name, tuple(dims), sides)

    def shape(self) -> object:
        """What equal tuples have in common; names of dimensions do not count."""
        sides = self.sides and tuple(side.shape() for side in self.sides)
        return self.name, len(self.dims), sides


PARAMS = Tuple(":")
"""What the space of parameters alone has for a tuple; no text can name one so."""

Form = tuple[Sequence[str], Tuple | None, Tuple]


class Column(NamedTuple):
    """A dimension by its name, and the column where it was; a new one was nowhere."""

    name: str
    old: int | None = None


Columns = dict[dim_type, list[Column]]


def read_tuple(shape: Tuple | tuple) -> Tuple:
    """A tuple as the native half gives it."""
    name, dims, sides = shape
    return Tuple(name, tuple(dims), sides and (read_tuple(sides[0]), read_tuple(sides[1])))
