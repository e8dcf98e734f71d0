"""What is made of spaces, pairs and comparisons, beside islpy."""

from __future__ import annotations

from typing import Any

import pytest

ours = pytest.importorskip("tangram.isl")
islpy = pytest.importorskip("islpy", reason="needs islpy")
from islpy_twin import plain  # noqa: E402

SPACES = [
    "[n] -> { A[i, j] }",
    "{ [i] -> [j, k] }",
    "[n, m] -> { A[i] -> B[j] }",
    "{ [A[i] -> B[j]] -> C[k] }",
    "[n] -> { A[i] -> [B[j] -> C[k]] }",
    "{ [A[i] -> B[j, l]] -> [C[k] -> D[m]] }",
    "{ A[i] -> [[B[j] -> C[k]] -> D[]] }",
    "{ [A[i] -> B[j]] }",
    "[n] -> { : }",
]
UNARY = """curry uncurry range_curry zip domain_reverse range_reverse wrapped_reverse factor_domain
    factor_range domain_factor_domain domain_factor_range range_factor_domain range_factor_range
    domain_wrapped_domain domain_wrapped_range range_wrapped_domain range_wrapped_range
    flatten_domain flatten_range domain_map range_map drop_all_params domain_is_wrapping
    range_is_wrapping is_product can_zip can_curry can_uncurry can_range_curry has_domain_tuple_id
    has_range_tuple_id""".split()
BINARY = """product domain_product range_product join is_domain is_range has_equal_params""".split()


def outcome(run: Any) -> Any:
    """What a call gives, or that it is refused."""
    try:
        found = run()
    except Exception:  # noqa: BLE001
        return "refused"
    # Of sides that are not there, nothing can be read.
    return "refused" if "#none" in str(found) else plain(found)


@pytest.mark.parametrize("name", UNARY)
def test_spaces_are_those_of_islpy(name: str) -> None:
    seen = set()
    for text in SPACES:
        mine, theirs = ours.Space(text), islpy.Space(text)
        expected = outcome(lambda: getattr(theirs, name)())  # noqa: B023
        if expected == "refused":
            continue
        found = outcome(lambda: getattr(mine, name)())  # noqa: B023
        assert found == expected, text
        seen.add(str(found))
    assert seen


@pytest.mark.parametrize("name", BINARY)
def test_two_spaces_make_those_of_islpy(name: str) -> None:
    seen = 0
    for first in SPACES:
        for second in SPACES:
            pairs = [(isl.Space(first), isl.Space(second)) for isl in (islpy, ours)]
            expected, found = (outcome(lambda: getattr(a, name)(b)) for a, b in pairs)  # noqa: B023
            # Parameters alone have no points that something could be done with.
            if expected != "refused" and first != SPACES[-1]:
                assert found == expected, (first, second)
                seen += 1
    assert seen


def operands(isl: Any) -> list[Any]:
    """Pairs whose sides are kept, each with what keeps them."""
    pairs = isl.Map("[n] -> { [A[i] -> B[j]] -> C[k] : 0 <= i, j, k < n }")
    swapped = isl.Map("[n] -> { C[k] -> [A[i] -> B[j]] : 0 <= i, j, k < n }")
    points = isl.Set("[n] -> { [A[i] -> B[j]] : 0 <= i <= j < n }")
    a, b = isl.Set("{ A[i] : i < 7 }"), isl.Set("{ B[j] : j mod 2 = 0 }")
    first, second = isl.Map("{ A[i] -> C[k] : k >= 2i }"), isl.Map("{ B[j] -> C[k] : k < j }")
    return [
        pairs.intersect_domain_factor_domain(first),
        pairs.intersect_domain_factor_range(second),
        swapped.intersect_range_factor_domain(first.reverse()),
        swapped.intersect_range_factor_range(second.reverse()),
        pairs.intersect_domain_wrapped_domain(a),
        swapped.intersect_range_wrapped_domain(a),
        points.intersect_factor_domain(a),
        points.intersect_factor_range(b),
        points.wrapped_reverse(),
        isl.Set("{ [i, j] : 0 <= i <= 3 and j = 2i }").translation(),
    ]


def test_pairs_are_kept_as_islpy_keeps_them() -> None:
    assert plain(operands(ours)) == plain(operands(islpy))


@pytest.mark.parametrize("name", ["le_map", "lt_map", "ge_map", "gt_map", "eq_map"])
def test_functions_of_two_arguments_are_compared(name: str) -> None:
    def compared(isl: Any) -> Any:
        first = isl.PwAff("[n] -> { A[i] -> [(2i + n)] : i > 0; A[i] -> [(floor((i)/3))] : i <= 0 }")
        second = isl.PwAff("[n] -> { B[j, k] -> [(j - 3k)] : j <= n }")
        return getattr(first, name)(second)

    assert plain(compared(ours)) == plain(compared(islpy))


@pytest.mark.parametrize("sign", ["le", "lt", "ge", "gt", "eq"])
def test_expressions_are_compared_as_one_conjunction(sign: str) -> None:
    def compared(isl: Any) -> Any:
        first, second = isl.Aff("{ [i, j] -> [(2i - j)] }"), isl.Aff("{ [i, j] -> [(j + 3)] }")
        return getattr(first, f"{sign}_basic_set")(second), first.neg_basic_set()

    assert plain(compared(ours)) == plain(compared(islpy))
