"""What takes pairs apart says so where there are none, and keeps those that there are."""

from __future__ import annotations

from typing import Any

import pytest

ours = pytest.importorskip("tangram.presburger")
islpy = pytest.importorskip("islpy", reason="needs islpy")
from islpy_twin import plain  # noqa: E402

PLAIN = "{ A[i] -> B[j] : i < j }"
# Each method with the arguments that it takes besides, and a relation or set that it is made for.
PRODUCT = "{ [A[i] -> B[j]] -> [C[k] -> D[l]] : i < l }"
MAPS: dict[str, tuple[str, list[str]]] = {
    name: (PRODUCT, [])
    for name in "zip curry uncurry range_reverse domain_reverse factor_domain factor_range range_factor_domain "
    "range_factor_range domain_factor_domain domain_factor_range".split()
} | {
    "range_curry": ("{ A[i] -> [[B[j] -> C[k]] -> D[l]] : i < l }", []),
    "intersect_domain_factor_domain": (PRODUCT, ["{ A[i] -> [C[k] -> D[l]] : i = k }"]),
    "intersect_domain_factor_range": (PRODUCT, ["{ B[i] -> [C[k] -> D[l]] : i = k }"]),
    "intersect_range_factor_domain": (PRODUCT, ["{ [A[i] -> B[j]] -> C[k] : i = k }"]),
    "intersect_range_factor_range": (PRODUCT, ["{ [A[i] -> B[j]] -> D[k] : i = k }"]),
}
SETS: dict[str, tuple[str, list[str]]] = {
    "unwrap": ("{ [A[i] -> B[j]] : i < j }", []),
    "wrapped_domain_map": ("{ [A[i] -> B[j]] : i < j }", []),
    "wrapped_reverse": ("{ [A[i] -> B[j]] : i < j }", []),
    "intersect_factor_domain": ("{ [A[i] -> B[j]] : i < j }", ["{ A[i] : i > 3 }"]),
    "intersect_factor_range": ("{ [A[i] -> B[j]] : i < j }", ["{ B[i] : i > 3 }"]),
}
CASES = [("Map", *case) for case in MAPS.items()] + [("Set", *case) for case in SETS.items()]


def called(library: Any, kind: str, text: str, name: str, others: list[str]) -> Any:
    read = getattr(library, kind)
    return getattr(read(text), name)(*(read(other) for other in others))


@pytest.mark.parametrize(("kind", "name", "made_for"), CASES, ids=lambda value: str(value)[:30])
def test_what_is_no_pair_is_not_taken_apart(kind: str, name: str, made_for: tuple[str, list[str]]) -> None:
    text, others = made_for
    assert called(ours, kind, text, name, others) == plain(called(islpy, kind, text, name, others))
    wrong = PLAIN if kind == "Map" else "{ A[i] : i > 3 }"
    with pytest.raises(islpy.Error):
        called(islpy, kind, wrong, name, others)
    with pytest.raises(ours.PresburgerError, match="pairs"):
        called(ours, kind, wrong, name, others)
    # Of a union, what is a pair is kept; without points there is nothing to take apart.
    union = f"{text[:-2]}; {wrong[2:]}"
    assert called(ours, kind, union, name, others) == called(ours, kind, text, name, others)
    assert not called(ours, kind, f"{wrong[: wrong.index(':')]} : false }}", name, others)
    # Of several spaces without pairs, nothing is left, as in isl.
    if not others and name != "wrapped_reverse":
        several = f"{wrong[:-2]}; X[] -> Y[] }}" if kind == "Map" else f"{wrong[:-2]}; X[] }}"
        assert called(ours, kind, several, name, []) == plain(called(islpy, f"Union{kind}", several, name, []))


@pytest.mark.parametrize("name", ["intersect_domain_wrapped_domain", "intersect_range_wrapped_domain"])
def test_restricted_sides_are_sides_of_pairs(name: str) -> None:
    for library, error in ((islpy, islpy.Error), (ours, ours.PresburgerError)):
        with pytest.raises(error):
            getattr(library.Map(PLAIN), name)(library.Set("{ A[i] }"))


@pytest.mark.parametrize("name", ["zip", "curry", "range_curry", "wrapped_reverse", "domain_factor_range"])
def test_spaces_say_what_was_expected(name: str) -> None:
    for text in ("{ A[i] -> B[j] }", "{ A[i] }"):
        with pytest.raises(ours.PresburgerError, match="expected"):
            getattr(ours.Space(text), name)()
