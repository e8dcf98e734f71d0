"""Tuples of functions as bounds and orders, as programs that generate code use them: beside islpy."""

from __future__ import annotations

from typing import Any

import pytest
from islpy_twin import plain

isl = pytest.importorskip("islpy", reason="needs islpy")
ours = pytest.importorskip("tangram.isl")

FUNCTIONS = [
    "{ S[i, j] -> A[i, j + 2] }",
    "[n] -> { S[i, j] -> A[2i - n, floor((i + j)/3)] }",
    "[n] -> { S[i, j] -> A[j, 7 - i] }",
]


def both(kind: str, text: str) -> tuple[Any, Any]:
    return getattr(isl, kind)(text), getattr(ours, kind)(text)


@pytest.mark.parametrize("text", FUNCTIONS)
@pytest.mark.parametrize("numbers", [(2, 3), (1, 5), (32, 4)])
@pytest.mark.parametrize(
    "name", ["scale_multi_val", "scale_down_multi_val", "mod_multi_val", "add_constant_multi_val"]
)
def test_each_value_has_its_number(text: str, numbers: tuple[int, int], name: str) -> None:
    theirs, mine = both("MultiPwAff", text)
    sizes = f"{{ A[{numbers[0]}, {numbers[1]}] }}"
    expected = getattr(theirs, name)(isl.MultiVal(sizes))
    assert getattr(mine, name)(ours.MultiVal(sizes)) == plain(expected)
    with pytest.raises(ours.Error, match="expected 2 numbers, found 3"):
        getattr(mine, name)([1, 2, 3])


def test_one_number_is_added_to_all_values() -> None:
    for text in FUNCTIONS:
        theirs, mine = both("MultiPwAff", text)
        assert mine.add_constant_val(5) == plain(theirs.add_constant_val(isl.Val(5)))
    theirs, mine = both("PwAff", "[n] -> { S[i] -> [i + n] : i > 0; S[i] -> [3] : i < 0 }")
    assert mine.add_constant_val(-4) == plain(theirs.add_constant_val(isl.Val(-4)))
    assert isinstance(ours.Aff("{ S[i] -> [i] }").add_constant_val(1), ours.Aff)


@pytest.mark.parametrize("name", ["min", "max"])
def test_extremes_are_taken_value_by_value(name: str) -> None:
    for first in FUNCTIONS:
        for second in FUNCTIONS:
            theirs, mine = both("MultiPwAff", first)
            their_other, other = both("MultiPwAff", second)
            assert getattr(mine, name)(other) == plain(getattr(theirs, name)(their_other))
    mine = ours.MultiPwAff(FUNCTIONS[0])
    with pytest.raises(ours.Error, match="expected a function of"):
        getattr(mine, name)(ours.MultiPwAff("{ S[i, j] -> B[i, j] }"))


@pytest.mark.parametrize("name", ["eq_map", "lex_lt_map", "lex_le_map", "lex_gt_map", "lex_ge_map"])
def test_arguments_are_ordered_by_their_values(name: str) -> None:
    for text in FUNCTIONS:
        theirs, mine = both("MultiPwAff", text)
        their_other, other = both("MultiPwAff", "{ T[k] -> A[k, 3k] }")
        assert getattr(mine, name)(other) == plain(getattr(theirs, name)(their_other))
    half = ours.MultiPwAff("{ T[k] -> A[k/2, k] }")
    with pytest.raises(ours.Error, match="expected integers for values"):
        getattr(half, name)(half)


@pytest.mark.parametrize("order", ["eq", "lex_lt", "lex_le", "lex_gt", "lex_ge"])
def test_pairs_are_kept_by_a_function_of_both_sides(order: str) -> None:
    relation = "[n] -> { S[i, j] -> S[k, l] : i <= k <= i + n and 0 <= l <= j }"
    for text in FUNCTIONS:
        theirs, mine = both("Map", relation)
        schedule, other = both("MultiPwAff", text)
        name = f"{order}_at_multi_pw_aff"
        assert getattr(mine, name)(other) == plain(getattr(theirs, name)(schedule))


@pytest.mark.parametrize("name", ["min_multi_pw_aff", "max_multi_pw_aff"])
def test_ends_of_all_dimensions_are_one_function(name: str) -> None:
    for kind, text in [
        ("Set", "[n] -> { A[x, y] : 0 <= x <= y < n }"),
        ("Set", "[n] -> { A[x, y] : n <= 2x <= 3n and 5 <= y <= n }"),
        ("Map", "[n] -> { S[i] -> A[x, y] : 0 <= i <= x <= y < n and x < i + 8 }"),
    ]:
        theirs, mine = both(kind, text)
        assert getattr(mine, name)() == plain(getattr(theirs, name)())


@pytest.mark.parametrize("name", ["lower_bound_multi_pw_aff", "upper_bound_multi_pw_aff"])
def test_functions_bound_all_dimensions(name: str) -> None:
    for kind, text, function in [
        ("Set", "[n] -> { A[x, y] : 0 <= x <= y < n }", "[n] -> { A[n - 3, 2] }"),
        ("Set", "[n] -> { A[x, y] : 0 <= x <= y < n }", "[m] -> { A[m/2, (m - 1)/3] }"),
        ("Map", "{ S[i, j] -> A[x, y] }", "{ S[i, j] -> A[i/2 + 3, j] }"),
        ("Map", "{ S[i, j] -> A[x, y] : x < y }", "[n] -> { S[i, j] -> A[n - j, floor(i/3)] }"),
    ]:
        theirs, mine = both(kind, text)
        end, other = both("MultiPwAff", function)
        assert getattr(mine, name)(other) == plain(getattr(theirs, name)(end))
    with pytest.raises(ours.Error, match="expected a function to"):
        getattr(ours.Set("{ A[x] }"), name)(ours.MultiPwAff("{ A[1, 2] }"))


@pytest.mark.parametrize("name", ["lower_bound_multi_val", "upper_bound_multi_val"])
def test_numbers_bound_all_dimensions(name: str) -> None:
    theirs, mine = both("Set", "[n] -> { A[x, y] : 0 <= x <= y < n }")
    expected = getattr(theirs, name)(isl.MultiVal("{ A[3, 5] }"))
    assert getattr(mine, name)(ours.MultiVal("{ A[3, 5] }")) == plain(expected)
    with pytest.raises(ours.Error, match="expected 2 numbers, found 1"):
        getattr(mine, name)([3])


@pytest.mark.parametrize("name", ["eq_set", "ne_set", "le_set", "lt_set", "ge_set", "gt_set"])
def test_lists_are_compared_each_with_each(name: str) -> None:
    first = ["[n] -> { [i] -> [i] }", "[n] -> { [i] -> [2i - n] }"]
    second = ["[n] -> { [i] -> [n] }", "[n] -> { [i] -> [floor(i/2) + 1] }"]
    theirs = [isl.PwAffList.from_pw_aff(isl.PwAff(a)).add(isl.PwAff(b)) for a, b in [first, second]]
    mine = [ours.PwAffList([ours.PwAff(text) for text in texts]) for texts in [first, second]]
    assert getattr(mine[0], name)(mine[1]) == plain(getattr(theirs[0], name)(theirs[1]))
    with pytest.raises(ours.Error, match="expected expressions to compare"):
        getattr(mine[0], name)([])


def test_constraints_say_what_bounds_they_are() -> None:
    text = "[n] -> { A[x, y] : 3x <= y + 7 and 2x >= n - y and y >= x }"
    kind = isl.dim_type.set
    seen = 0
    for theirs in isl.BasicSet(text).get_constraints():
        mine = [c for c in ours.BasicSet(text).get_constraints() if (c._holds() and ours.Set(str(c)) == plain(theirs)[0])]
        assert len(mine) == 1
        for at in range(2):
            if theirs.get_coefficient_val(kind, at) == 0:
                continue
            assert mine[0].get_bound(ours.dim_type.set, at) == plain(theirs.get_bound(kind, at))
            seen += 1
        opposite = ours.Set(str(mine[0].negate()))
        assert opposite == ours.Set(str(plain(theirs)[0])).complement()
    assert seen == 6
    equation = ours.BasicSet("{ [i, j] : i = 2 }").get_constraints()[0]
    with pytest.raises(ours.Error, match="bounds the dimension"):
        equation.get_bound(ours.dim_type.set, 1)
    with pytest.raises(ours.Error, match="expected an inequality"):
        equation.negate()


def test_spaces_make_functions() -> None:
    text = "[n] -> { S[i] -> A[x, y] }"
    theirs, mine = both("Space", "[n] -> { S[i] -> A[x, y] }")
    for name in ["zero_multi_aff", "zero_multi_pw_aff", "domain_map_multi_aff", "range_map_multi_aff"]:
        assert getattr(mine, name)() == plain(getattr(theirs, name)()), text
    pairs = both("MultiAff", "[n] -> { S[i] -> [A[i, n] -> B[i + n]] }")
    for name in ["range_factor_domain", "range_factor_range"]:
        assert getattr(pairs[1], name)() == plain(getattr(pairs[0], name)())
    values = [ours.Aff("{ S[i] -> [i] }"), ours.Aff("{ S[i] -> [7] }")]
    assert mine.multi_aff(values) == ours.MultiAff("{ S[i] -> A[i, 7] }")
    with pytest.raises(ours.Error, match="expected 2 expressions, found 1"):
        mine.multi_aff(values[:1])
