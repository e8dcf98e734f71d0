"""Strides: what the values of a dimension are congruent to, given those of the others.

Of ``{ [i, j] : (i + j) mod 2 = 0 }``, ``i`` has a stride of 2 and an offset of ``-j``: it takes every
integer, but with ``j`` fixed every second one. An equation ``h + v x + m y = 0`` of the affine hull, with
an integer ``y`` that nothing else says of, gives a stride of ``m / g`` and an offset of ``-a h / g``,
where ``g = gcd(v, m)`` and ``a v / g`` is 1 modulo ``m / g``. Strides of several equations are joined by
the Chinese remainder theorem.

isl: ``isl_set_get_stride_info``. Divergence: what all values of the dimension are congruent to counts as
well, such as 0 modulo 2 in ``{ [i, j] : i = 2j }``.
"""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

from tangram.presburger._relations import Relations, wrap
from tangram.presburger.affs import Aff
from tangram.presburger.constrained import column
from tangram.presburger.maps import Map
from tangram.presburger.names import DEFAULT_CONTEXT, Context, dim_type
from tangram.presburger.sets import Set
from tangram.presburger.spaces import Space
from tangram.presburger.values import Val


class StrideInfo(NamedTuple):
    """The distance of the values of a dimension, and a value that they start from."""

    stride: int
    offset: Aff

    def get_stride(self) -> Val:
        """The distance of the values."""
        return Val(self.stride)

    def get_offset(self) -> Aff:
        """A value that they start from, by the other dimensions or the inputs."""
        return self.offset

    def copy(self) -> StrideInfo:
        """The same stride."""
        return self

    def get_ctx(self) -> Context:
        """The context."""
        return DEFAULT_CONTEXT


def stride_info(points: Set, dim: int) -> StrideInfo:
    """The stride of a dimension of a set, and its offset by the other dimensions."""
    space = points.get_space()
    at = 1 + column(points, dim_type.set, dim)
    found = _congruences(points, at, space, 1 + space.dim(dim_type.all))
    return functools.reduce(_joined, found, _alone(points, dim, space))


def range_stride_info(pairs: Map, dim: int) -> StrideInfo:
    """The stride of an output of a relation, and its offset by the inputs."""
    # The other outputs are no arguments of the offset.
    count = pairs.dim(dim_type.set)
    line = pairs.project_out(dim_type.set, dim + 1, count - dim - 1).project_out(dim_type.set, 0, dim)
    space = pairs.get_space().domain()
    size = 1 + space.dim(dim_type.all)
    return functools.reduce(_joined, _congruences(line, size, space, size), _alone(pairs, dim, space))


def _alone(value: Relations, dim: int, space: Space) -> StrideInfo:
    """The stride for all values of the other dimensions, or outputs."""
    stride, offset = value._union.stride(dim)
    kind: Any = Set if value.get_space().is_set() else Map
    row, divisor, floors = wrap(kind, offset).as_pw_multi_aff().get_at(0).as_aff()._row()
    missing = 1 + space.dim(dim_type.all) - len(row)
    return StrideInfo(stride, Aff._of_row(space, [*row, *[0] * missing], divisor, floors))


def _congruences(value: Relations, at: int, space: Space, size: int) -> list[StrideInfo]:
    """What each equation of the affine hull says of the dimension in column ``at``.

    ``size``: the number of the columns that offsets may use, the first ones.
    """
    found = []
    columns = 1 + value.get_space().dim(dim_type.all)
    for equations, _, _ in value.affine_hull()._union.rows():
        for row in equations:
            factor, free = row[at], math.gcd(*row[columns:])
            common = math.gcd(factor, free)
            stride = free // common if factor else 1
            if stride > 1:
                sign = -pow(factor // common, -1, stride)
                rest = [0 if i == at else _small(sign * row[i], free) for i in range(size)]
                found.append(StrideInfo(stride, Aff._of_row(space, rest, common, [])))
    return found


def _small(number: int, modulus: int) -> int:
    """What is congruent to a number and nearest to 0."""
    rest = number % modulus
    return rest - modulus if 2 * rest > modulus else rest


def _joined(one: StrideInfo, other: StrideInfo) -> StrideInfo:
    """The stride of what has both strides."""
    (s, a), (t, b) = one, other
    if s == 1 or t % s == 0:
        return other
    if t == 1:
        return one
    common = math.gcd(s, t)
    # p s + q t = gcd(s, t), so that x = (p s x + q t x) / gcd(s, t), where x is a mod s and b mod t.
    p = pow(s // common, -1, t // common) if t != common else 0
    q = (common - p * s) // t
    offset = b.scale_val(p * s // common).add(a.scale_val(q * t // common))
    return StrideInfo(s * t // common, Aff(offset))
