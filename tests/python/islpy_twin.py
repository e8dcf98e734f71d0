"""The same values in islpy and in `tangram.presburger`, and whether they are equal."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import tangram.presburger as ours


class Bounds:
    """A bound, which compares by what it is the greatest or least of."""

    def __init__(self, text: str) -> None:
        self.value = ours.UnionPwQPolynomialFold(text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Bounds) and self.value.plain_is_equal(other.value)

    __hash__ = None  # type: ignore[assignment]


def items_of(values: Any) -> list[Any]:
    """The items of a sequence; lists of islpy have methods for them alone."""
    if isinstance(values, list | tuple):
        return [*values]
    return [values.get_at(at) for at in range(values.size())]


def plain(value: Any) -> Any:
    """A value of either library as one of ours, or of Python, that `==` compares."""
    if isinstance(value, Mapping):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, str):
        return str(value)
    kind = type(value).__name__
    if isinstance(value, list | tuple) and kind not in {"MultiVal", "Point"} or kind.endswith("List"):
        return [plain(item) for item in items_of(value)]
    if kind == "Val":
        text = str(value)
        return None if text in {"infty", "-infty", "NaN"} else Fraction(text)
    if kind in {"BasicSet", "Set", "UnionSet"}:
        return ours.Set(str(value))
    if kind in {"BasicMap", "Map", "UnionMap"}:
        return ours.Map(str(value))
    if kind in {"Aff", "PwAff"}:
        return ours.PwAff(str(value))
    if kind in {"MultiAff", "PwMultiAff", "MultiPwAff"}:
        return ours.PwMultiAff(str(value))
    if kind in {"PwQPolynomial", "QPolynomial"}:
        return ours.PwQPolynomial(str(value))
    if kind in {"UnionPwAff", "UnionPwMultiAff", "MultiUnionPwAff", "UnionPwQPolynomial"}:
        return getattr(ours, kind)(str(value))
    if kind in {"PwQPolynomialFold", "UnionPwQPolynomialFold"}:
        return Bounds(str(value))
    if kind == "MultiVal":
        return str(value)
    if kind == "Constraint":
        return ours.Set(str(value)), value.is_equality()
    if kind == "Space":
        return ours.Space(str(value))
    if kind == "Id":
        return value.name
    if kind == "fold":
        return str(value).split(".")[-1] if not isinstance(value, int) else value.name
    if kind == "dim_type":
        return {1: "param", 2: "in", 3: "out"}[int(value)]
    return value
