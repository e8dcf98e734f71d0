"""Dimensions of several values matched by name; expressions of single dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeVar

from tangram._native import PresburgerError
from tangram.presburger.affs import Aff
from tangram.presburger.dimensions import Dimensions
from tangram.presburger.names import Column, Context, dim_type
from tangram.presburger.spaces import Space

T = TypeVar("T", bound=Dimensions)
U = TypeVar("U", bound=Dimensions)


def align_spaces(obj: T, template: Dimensions, obj_bigger_ok: bool = False) -> T:
    """``obj`` with the dimensions of ``template``, found by their names; those it lacks are free.

    The dimensions of a set are matched with the arguments of a function.

    Raises:
        PresburgerError: ``obj`` has others, and ``obj_bigger_ok`` is not set.
    """
    columns = obj.get_space()._columns()
    kinds = [k for k in (dim_type.param, dim_type.in_, dim_type.set) if k not in obj._nameless]
    wanted = {kind: template.get_var_names(counterpart(obj, template, kind)) for kind in kinds}
    # Names that the template has elsewhere go there; of an expression, parameters stay what they are.
    loose = [kind for kind in kinds if kind != dim_type.param or not obj._nameless]
    elsewhere = {name for kind in loose for name in wanted[kind]}
    moved = {
        column.name: column
        for kind in loose
        for column in columns[kind]
        if column.name in elsewhere and column.name not in wanted[kind]
    }
    going = {column.old for column in moved.values()}
    for kind in kinds:
        known = {c.name: c for c in columns[kind] if c.old not in going}
        first = []
        for name in wanted[kind]:
            own = known.pop(name, None)
            if own is None and kind in loose:
                own = moved.pop(name, None)
            first.append(own or Column(name))
        if known and not obj_bigger_ok:
            raise PresburgerError(f"{template.get_space()} has no dimension {next(iter(known))!r}")
        columns[kind] = [*first, *known.values()]
    return obj._rearranged(columns)


def counterpart(obj: Dimensions, template: Dimensions, kind: dim_type) -> dim_type:
    """Which dimensions of ``template`` those of a kind in ``obj`` are."""
    if obj._nameless and not template._nameless and kind == dim_type.in_:
        return dim_type.set if template.get_space().is_set() else kind
    if template._nameless and not obj._nameless and kind == dim_type.set:
        return dim_type.in_
    return kind


def align_two(obj1: T, obj2: U) -> tuple[T, U]:
    """Both with the dimensions of both, found by their names."""
    obj1 = align_spaces(obj1, obj2, obj_bigger_ok=True)
    return obj1, align_spaces(obj2, obj1)


def affs_from_space(space: Space) -> dict[str | Literal[0], Aff]:
    """The value of each dimension of a set space and of each parameter, by its name; 0 at 0.

    >>> v = affs_from_space(Space.create_from_names(set=["i", "j"], params=["n"]))
    >>> v[0].le_set(v["i"]) & v["i"].lt_set(v["n"] - 2 * v["j"])
    Set('[n] -> { [i, j] : i >= 0 and 2j < n - i }')
    """
    found: dict[str | Literal[0], Aff] = {0: Aff.zero_on_domain(space)}
    for name, (type, pos) in space.get_var_dict().items():
        found[name] = Aff.var_on_domain(space, type, pos)
    return found


def make_zero_and_vars(
    set_vars: Sequence[str] | str, params: Sequence[str] | str = (), ctx: Context | None = None
) -> dict[str | Literal[0], Aff]:
    """As :func:`affs_from_space`, of names in lists or separated by commas."""
    return affs_from_space(Space.create_from_names(set=names(set_vars), params=names(params)))


def names(given: Sequence[str] | str) -> list[str]:
    if not isinstance(given, str):
        return list(given)
    return [name.strip() for name in given.split(",") if name.strip()]
