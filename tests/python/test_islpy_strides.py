"""Strides of dimensions, given the others, as islpy finds them."""

from __future__ import annotations

import random

import pytest

ours = pytest.importorskip("tangram.presburger")
islpy = pytest.importorskip("islpy", reason="needs islpy")
from islpy_twin import plain  # noqa: E402

SETS = [
    "{ A[i] : i = 5 }",
    "{ A[i] : i = 4 or i = 9 or i = 19 }",
    "{ A[i, j] : i = 2j }",
    "{ [i, j] : i = 2j and j mod 3 = 0 }",
    "[n] -> { A[i, j] : (i - j) mod 3 = 2 and i > 4 }",
    "[n] -> { A[i, j] : 0 <= i < n and 0 <= j <= i and (i + j) mod 2 = 0 }",
    "{ [i, j] : i mod 2 = 0 and i mod 3 = 1 and j = i }",
    "{ [i, j] : (2i + j) mod 6 = 0 }",
    "{ [i, j, k] : (2i + j) mod 6 = 0 and (i + k) mod 4 = 0 }",
    "{ [i, j] : (2i + j) mod 6 = 0 and i = 4 }",
    "[n] -> { [i, j] : (i + 3j - n) mod 4 = 1 and (i + n) mod 6 = 3 }",
    "{ [i] : false }",
    "{ [i] : 5 <= i <= 6 }",
]


@pytest.mark.parametrize("text", SETS)
def test_strides_are_those_of_islpy_or_multiples_of_them(text: str) -> None:
    theirs, mine = islpy.Set(text), ours.Set(text)
    for dim in range(mine.dim(ours.dim_type.set)):
        expected, found = theirs.get_stride_info(dim), mine.get_stride_info(dim)
        stride = plain(expected.get_stride())
        assert mine.get_stride(dim) == found.get_stride() and found.get_stride() % stride == 0
        value = ours.Aff.var_on_domain(mine.get_space(), ours.dim_type.set, dim)
        for offset, modulus in ((plain(expected.get_offset()), stride), (found.get_offset(), found.stride)):
            rest = ((value - offset) / modulus).intersect_domain(mine)
            assert rest.floor() == rest, (dim, offset, modulus)
        assert type(found.get_offset()) is ours.Aff


def test_an_offset_may_depend_on_other_dimensions() -> None:
    triangle = ours.Set("[n] -> { A[i, j] : 0 <= i < n and 0 <= j <= i and (i + j) mod 2 = 0 }")
    assert triangle.get_stride(0) == triangle.get_stride(1) == 2
    # What holds for all values of the others counts as well, which isl leaves out.
    assert ours.Set("{ [i, j] : i = 2j }").get_stride(0) == 2
    with pytest.raises(ours.PresburgerError, match="below 2"):
        triangle.get_stride(2)


@pytest.mark.parametrize("seed", range(6))
def test_strides_of_outputs_are_given_their_inputs(seed: int) -> None:
    rng = random.Random(seed)
    a, b, m, r = rng.randint(1, 3), rng.randint(-3, 3), rng.randint(2, 6), rng.randint(0, 1)
    text = f"[n] -> {{ A[i] -> [j, k] : ({a}j + {b}i - n) mod {m} = {r} and k mod 3 = 1 and k > j }}"
    theirs, mine = islpy.Map(text), ours.Map(text)
    for dim in range(2):
        expected, found = theirs.get_range_stride_info(dim), mine.get_range_stride_info(dim)
        stride = plain(expected.get_stride())
        assert found.stride == stride
        assert found.get_offset().get_domain_space() == mine.get_space().domain()
        rest = ((found.get_offset() - plain(expected.get_offset())) / stride).intersect_domain(mine.domain())
        assert rest.floor() == rest


@pytest.mark.parametrize(
    "text", ["{ A[i] : i > 3 }", "{ A[i] : i > 3 or i < 0 }", "[n] -> { : n > 3 }", "[n] -> { [i, j = n] }"]
)
def test_indicators_are_0_elsewhere(text: str) -> None:
    found = ours.Set(text).indicator_function()
    assert type(found) is ours.PwAff and found == plain(islpy.Set(text).indicator_function())
