"""The same values in islpy and in `tangram.presburger`, and whether they are equal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import tangram.presburger as ours


def plain(value: Any) -> Any:
    """A value of either library as one of ours, or of Python, that `==` compares."""
    if isinstance(value, Mapping):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Sequence) and not isinstance(value, ours.Point):
        return [plain(item) for item in value]
    kind = type(value).__name__
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
    if kind == "PwQPolynomial":
        return ours.PwQPolynomial(str(value))
    if kind == "Constraint":
        return ours.Set(str(value)), value.is_equality()
    if kind == "Space":
        return ours.Space(str(value))
    if kind == "Id":
        return value.name
    if kind == "dim_type":
        return {1: "param", 2: "in", 3: "out"}[int(value)]
    return value
