"""Operations on unions give what islpy's give, whatever their operands are made of.

Operands are sets of parameters alone, of the point ``[]``, of several tuples, of pairs, with and
without parameters, infinite or empty. What isl refuses is not compared; what we refuse is said.
"""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

ours = pytest.importorskip("tangram.presburger")
islpy = pytest.importorskip("islpy", reason="needs islpy")

SECONDS = 20
"""No operation may take longer."""

TUPLES = {"A[i]": "i", "A[i, j]": "ij", "B[i]": "i", "[i]": "i", "[]": "", "B[]": "",
          "[A[i] -> B[j]]": "ij", "[A[i] -> A[j]]": "ij", "C[[i] -> B[j]]": "ij"}  # fmt: skip
SIDES = ["A[{0}]", "B[{0}]", "[{0}]", "[]", "A[{0}, {1}]", "[A[{0}] -> B[{1}]]", "[B[{0}] -> A[{1}]]"]


def form(rng: random.Random, names: list[str]) -> str:
    terms = [f"{rng.randint(-2, 2)}*{name}" for name in names]
    return " + ".join([*terms, str(rng.randint(-3, 5))])


def condition(rng: random.Random, dims: list[str], params: list[str]) -> str:
    """Bounds for most dimensions, and a few facts about all."""
    facts = []
    for name in dims:
        # One in six has no end on one side or both.
        draw = rng.randint(0, 11)
        facts += [f"{name} >= {rng.randint(-2, 2)}"] if draw != 0 else []
        high = rng.choice([str(rng.randint(1, 6)), *params])
        facts += [f"{name} <= {high}"] if draw > 1 else []
    for name in params:
        facts += [f"{name} {rng.choice(['=', '<=', '>='])} {rng.randint(0, 4)}"] if rng.random() < 0.4 else []
    names = [*dims, *params]
    if names:
        facts += [f"{form(rng, names)} >= 0" for _ in range(rng.choice([0, 0, 1]))]
        facts += [f"({form(rng, names)}) mod {rng.randint(2, 3)} = 0"] if rng.random() < 0.25 else []
        facts += [f"{form(rng, names)} = 0"] if rng.random() < 0.1 else []
    return " : " + " and ".join(facts) if facts else ""


def text_of(rng: random.Random, piece: Callable[[list[str]], str], most: int) -> str:
    params = rng.choice([[], ["N"], ["N"], ["N", "M"], ["M"]])
    pieces = [piece(params) for _ in range(rng.randint(1, most))]
    if rng.random() < 0.03:
        pieces = []
    return f"[{', '.join(params)}] -> {{ {'; '.join(pieces)} }}"


def set_text(rng: random.Random) -> str:
    """A set of parameters alone, one time in four; else one of up to three tuples."""
    if rng.random() < 0.25:
        return text_of(rng, lambda params: ":" + condition(rng, [], params).removeprefix(" :"), 1)

    def piece(params: list[str]) -> str:
        shape = rng.choice(list(TUPLES))
        return shape + condition(rng, list(TUPLES[shape]), params)

    return text_of(rng, piece, 3)


def map_text(rng: random.Random) -> str:
    """A relation between up to three pairs of tuples."""

    def piece(params: list[str]) -> str:
        left, right = rng.choice(SIDES), rng.choice(SIDES)
        shape = f"{left.format('i', 'j')} -> {right.format('k', 'l')}"
        dims = [name for name in "ijkl" if name in shape]
        return shape + condition(rng, dims, params)

    return text_of(rng, piece, 3)


def params_text(rng: random.Random) -> str:
    return text_of(rng, lambda params: ":" + condition(rng, [], params).removeprefix(" :"), 1)


MAKE = {"set": ("UnionSet", "Set", set_text), "map": ("UnionMap", "Map", map_text),
        "params": ("Set", "Set", params_text)}  # fmt: skip

# What the methods of a kind take beside it.
OPERATIONS = {
    "set": {
        "": "coalesce is_empty lexmin lexmax params identity unwrap affine_hull polyhedral_hull "
        "detect_equalities card compute_divs is_params remove_redundancies",
        "set": "union intersect subtract gist is_equal is_subset is_strict_subset is_disjoint product "
        "lex_lt_union_set lex_le_union_set lex_gt_union_set lex_ge_union_set",
        "map": "apply",
        "params": "intersect_params gist_params",
    },
    "map": {
        "": "coalesce is_empty lexmin lexmax params domain range reverse deltas deltas_map wrap zip "
        "curry uncurry domain_map range_map is_single_valued is_injective is_bijective card "
        "affine_hull detect_equalities range_curry domain_factor_domain domain_factor_range factor_domain factor_range "
        "range_factor_domain range_factor_range domain_reverse range_reverse",
        "map": "union intersect subtract gist is_equal is_subset is_strict_subset is_disjoint product "
        "apply_range apply_domain range_product domain_product flat_range_product flat_domain_product "
        "lex_lt_union_map lex_le_union_map lex_gt_union_map lex_ge_union_map",
        "set": "intersect_domain intersect_range subtract_domain subtract_range gist_domain gist_range",
        "params": "intersect_params gist_params",
    },
}
CASES = [
    (kind, other, name)
    for kind, table in OPERATIONS.items()
    for other, names in table.items()
    for name in names.split()
    if hasattr(getattr(islpy, MAKE[kind][0]), name)
]


def twin(value: Any) -> Any:
    """A value of islpy as one of ours."""
    kind = type(value).__name__
    # What isl calls the tuple of parameters within a pair, no text can name.
    text = str(value).replace("#none", "")
    if kind in {"BasicSet", "Set", "UnionSet"}:
        return ours.Set(text)
    if kind in {"BasicMap", "Map", "UnionMap"}:
        # isl's identity of parameters has no tuples: nothing of ours is one.
        return ours.Map(text) if "->" in text.split("{")[1] else ours.Map("{ }")
    if kind == "UnionPwQPolynomial":
        return ours.UnionPwQPolynomial(text)
    return value


def agree(name: str, mine: list[Any], found: Any, expected: Any) -> bool:
    if name in {"affine_hull", "polyhedral_hull"}:
        # Ours has strides that isl's may leave out.
        return mine[0] <= found <= expected
    if name == "is_params" and mine[0].is_empty():
        # A union of nothing has no space in islpy.
        return True
    if name == "card":
        return ours.UnionPwQPolynomial(str(found)) == expected
    if not name.startswith("gist"):
        return found == expected
    # A gist is any value that is the same within its context.
    within = {"gist": "intersect", "gist_domain": "intersect_domain", "gist_range": "intersect_range",
              "gist_params": "intersect_params"}[name]  # fmt: skip
    both = (getattr(value, within)(mine[1]) for value in (found, expected))
    return len(set(map(str, both))) == 1 or getattr(found, within)(mine[1]) == getattr(expected, within)(mine[1])


def compare(rng: random.Random, case: tuple[str, str, str], counts: Counter[str]) -> None:
    kind, other, name = case
    kinds = [kind, other] if other else [kind]
    texts = [MAKE[one][2](rng) for one in kinds]
    try:
        theirs = [getattr(islpy, MAKE[one][0])(text) for one, text in zip(kinds, texts, strict=True)]
        expected = twin(getattr(theirs[0], name)(*theirs[1:]))
    except islpy.Error:
        counts["refused by isl"] += 1
        return
    mine = [getattr(ours, MAKE[one][1])(text) for one, text in zip(kinds, texts, strict=True)]
    start = time.monotonic()
    try:
        found = getattr(mine[0], name)(*mine[1:])
        same = agree(name, mine, found, expected)
    except ours.PresburgerError as error:
        if "pairs" in str(error) and mine[0].isa_single() and expected.is_empty():
            # So it is for a set or a relation in isl; here they are unions as well.
            counts["refused by isl"] += 1
            return
        if "more than" not in str(error):
            raise AssertionError(f"{name} of {texts} is refused: {error}") from error
        counts["given up"] += 1
        return
    assert same, f"{name} of {texts}: found {found}, isl has {expected}"
    counts["slow"] += time.monotonic() - start > SECONDS
    counts["equal"] += 1


@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_operations_take_every_operand_that_isl_takes(case: tuple[str, str, str]) -> None:
    rng, counts = random.Random("-".join(case)), Counter[str]()
    for _ in range(6):
        compare(rng, case, counts)
    assert counts["given up"] == 0, counts


@pytest.mark.long
def test_ten_thousand_operations_take_every_operand_that_isl_takes() -> None:
    """Of as many as `TANGRAM_DRAWS` says, none is wrong and none takes long."""
    rng, counts = random.Random(os.environ.get("TANGRAM_SEED", "operands")), Counter[str]()
    for draw in range(int(os.environ.get("TANGRAM_DRAWS", "10000"))):
        compare(rng, CASES[draw % len(CASES)], counts)
    print(dict(counts))
    assert counts["slow"] == 0 and counts["given up"] == 0, counts


def test_sets_of_parameters_restrict_those_of_others() -> None:
    points = ours.Set("[N] -> { A[i] : 0 <= i < N }")
    three = ours.Set("[N] -> { : N = 3 }")
    assert points & three == ours.Set("[N] -> { A[i] : N = 3 and 0 <= i <= 2 }") == three & points
    assert points.gist(three) & three == points & three
    assert (points & ours.Set("[N] -> { [] : N = 3 }")).is_empty()
    assert str(three) == "[N] -> { : N = 3 }" and three.is_params()
    assert not ours.Set("[N] -> { [] : N = 3 }").is_params()


def test_what_is_no_set_is_told_so() -> None:
    double = ours.Map("{ [i] -> [2i] }")
    for call in (lambda: double(3), lambda: double.intersect(3), lambda: double.is_equal("{ [1] }")):
        with pytest.raises(TypeError, match="expected a"):
            call()


def test_infinitely_many_points_are_counted() -> None:
    half = ours.Set("{ [i] : i >= 0 }")
    assert str(half.card()) == "{ infty }" and half.card()() == float("inf")
    with pytest.raises(ours.PresburgerError, match="expected a finite value"):
        len(half)


def test_operations_end_where_nobody_has_set_a_limit() -> None:
    from tangram import _native

    assert _native.set_limits((10, None)) is None, "no limits of its own are left by other tests"
    assert _native.set_limits(None) == (10, None)
    with ours.limits(seconds=5):
        assert _native.set_limits((None, 5.0)) == (None, 5.0)
    assert _native.set_limits(None) is None
