"""Kinds of dimensions, names, and tuples of dimensions."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any, NamedTuple, Self


OPTIONS: dict[str, object] = {
    "ast_always_print_block": 0,
    "ast_build_allow_else": 1,
    "ast_build_allow_or": 1,
    "ast_build_atomic_upper_bound": 1,
    "ast_build_detect_min_max": 0,
    "ast_build_exploit_nested_bounds": 1,
    "ast_build_group_coscheduled": 0,
    "ast_build_prefer_pdiv": 1,
    "ast_build_scale_strides": 1,
    "ast_build_separation_bounds": 0,
    "ast_iterator_type": "int",
    "ast_print_macro_once": 0,
    "ast_print_outermost_block": 1,
    "bound": 0,
    "coalesce_bounded_wrapping": 1,
    "coalesce_preserve_locals": 0,
    "gbr_only_first": 0,
    "max_operations": 0,
    "on_error": 0,
    "pip_symmetry": 1,
    "schedule_algorithm": 0,
    "schedule_carry_self_first": 1,
    "schedule_max_coefficient": -1,
    "schedule_max_constant_term": -1,
    "schedule_maximize_band_depth": 0,
    "schedule_maximize_coincidence": 0,
    "schedule_outer_coincidence": 0,
    "schedule_separate_components": 1,
    "schedule_serialize_sccs": 0,
    "schedule_split_scaled": 1,
    "schedule_treat_coalescing": 1,
    "schedule_whole_component": 1,
    "tile_scale_tile_loops": 1,
    "tile_shift_point_loops": 1,
}
"""isl's options and their values where nobody sets them."""


class Context:
    """isl's options. No argument needs a context: what is computed depends on the options of
    :data:`DEFAULT_CONTEXT` alone.

    Those of the scheduler that have a meaning here are kept to: its algorithm, outer coincidence,
    the largest coefficient, serialised components. ``max_operations`` is a limit on the steps of
    each call. Others are kept and read back, and change nothing.
    """

    def __init__(self) -> None:
        self._options = dict(OPTIONS)

    def _wraps_same_instance_as(self, other: object) -> bool:
        return self is other

    def get_max_operations(self) -> object:
        """The most steps that a call may take; 0 where there is no such limit."""
        return self._options["max_operations"]

    def set_max_operations(self, max_operations: int) -> None:
        """Limits the steps that each call from this thread may take; 0 for the usual limit."""
        from tangram import _native

        self._options["max_operations"] = max_operations
        _native.set_limits((max_operations, None) if max_operations else None)

    def reset_operations(self) -> None:
        """Does nothing: each call counts its own steps."""

    def abort(self) -> None:
        """Does nothing: Ctrl-C ends a call."""

    resume = abort

    def aborted(self) -> bool:
        """Whether calls are to end, which they never are."""
        return False


def _option(name: str) -> None:
    def get(self: Context) -> object:
        return self._options[name]

    def put(self: Context, value: object) -> None:
        self._options[name] = value

    get.__doc__, put.__doc__ = f"The option ``{name}``.", f"Sets the option ``{name}``."
    for start, function in (("get", get), ("set", put)):
        if not hasattr(Context, f"{start}_{name}"):
            setattr(Context, f"{start}_{name}", function)


for _name in OPTIONS:
    _option(_name)

DEFAULT_CONTEXT = Context()
"""The context whose options count."""


def last_text(arguments: tuple[object, ...]) -> str:
    """The text that is read; a context may stand before it."""
    if not arguments:
        raise TypeError("expected a text")
    return str(arguments[-1])


class Id(str):
    """A name, of a tuple or a dimension."""

    __slots__ = ()

    def __new__(cls, name: object = "", context: Context | None = None, user: object = None) -> Self:
        return super().__new__(cls, name)

    def get_user(self) -> None:
        """What else a name stands for, which is nothing here."""

    @property
    def user(self) -> None:
        """What else a name stands for, which is nothing here."""

    def to_str(self) -> str:
        """The name as a plain string."""
        return str(self)

    def dump(self) -> None:
        """Prints the name."""
        print(self)

    @classmethod
    def read_from_str(cls, *arguments: object) -> Id:
        """The name that is the last argument."""
        return cls(last_text(arguments))

    @classmethod
    def alloc(cls, context: Context | None, name: str, user: object = None) -> Id:
        """A name."""
        return cls(name)

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


class fold(enum.IntEnum):  # noqa: N801  (islpy's name)
    """Which bound is meant: the least or the greatest."""

    min = 0
    max = 1
    list = 2


class bound(enum.IntEnum):  # noqa: N801  (islpy's name)
    """How bounds of polynomials are found; one way is here."""

    bernstein = 0
    range = 1
    BERNSTEIN = 0
    RANGE = 1


class schedule_algorithm(enum.IntEnum):  # noqa: N801  (islpy's name)
    """How a schedule is searched for."""

    isl = 0
    feautrier = 1
    ISL = 0
    FEAUTRIER = 1


class format(enum.IntEnum):  # noqa: A001, N801  (islpy's name)
    """How values are written; a printer writes nodes of code in C, all else in isl's notation."""

    ISL = 0
    POLYLIB = 1
    POLYLIB_CONSTRAINTS = 2
    OMEGA = 3
    C = 4
    LATEX = 5
    EXT_POLYLIB = 6


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


def read_tuple(shape: Tuple | tuple[Any, ...]) -> Tuple:
    """A tuple as the native half gives it."""
    name, dims, sides = shape
    return Tuple(name, tuple(dims), sides and (read_tuple(sides[0]), read_tuple(sides[1])))
