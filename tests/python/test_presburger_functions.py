"""`tangram.presburger`: functions agree with islpy method by method, and with arithmetic."""

from __future__ import annotations

import itertools
import math
import pickle
import random
from fractions import Fraction

import pytest

presburger = pytest.importorskip("tangram.presburger")
from tangram.presburger import (  # noqa: E402
    Map,
    MultiPwAff,
    Point,
    PresburgerError,
    PwAff,
    PwMultiAff,
    Set,
    UnionPwMultiAff,
)

isl = pytest.importorskip("islpy", reason="needs islpy")

GRID = list(itertools.product(range(-4, 5, 2), range(-3, 4)))


def linear(rng: random.Random) -> str:
    return f"{rng.randint(-3, 3)}*i + {rng.randint(-3, 3)}*j + {rng.randint(-6, 6)}"


def expression(rng: random.Random) -> str:
    kind = rng.randrange(3)
    if kind == 0:
        return linear(rng)
    if kind == 1:
        return f"floor(({linear(rng)})/{rng.randint(2, 4)}) + {linear(rng)}"
    return f"({linear(rng)}) mod {rng.randint(2, 5)}"


def function_text(rng: random.Random) -> str:
    """A function of one or two pieces, which do not overlap."""
    border = rng.randint(-2, 2)
    first = f"[i, j] -> [({expression(rng)})] : i <= {border} and {linear(rng)} >= 0"
    second = f"[i, j] -> [({expression(rng)})] : i > {border}"
    return "{ " + "; ".join([first, second][: rng.randint(1, 2)]) + " }"


def tuple_text(rng: random.Random) -> str:
    return f"{{ [i, j] -> [({expression(rng)}), ({expression(rng)})] : {linear(rng)} >= 0 }}"


def their_value(function: isl.PwAff, point: tuple[int, ...]) -> Fraction | None:
    place = isl.Set(f"{{ [{point[0]}, {point[1]}] }}").sample_point()
    value = function.eval(place)
    if value.is_nan():
        return None
    return Fraction(value.get_num_si(), value.get_den_val().to_python())


UNARY = ["neg", "floor", "ceil", "coalesce"]
BINARY = ["add", "sub", "min", "max", "union_add", "union_min", "union_max"]
REGIONS = ["zero_set", "non_zero_set", "nonneg_set", "pos_set"]
COMPARISONS = ["le_set", "lt_set", "ge_set", "gt_set", "eq_set", "ne_set"]


@pytest.mark.parametrize("seed", range(15))
def test_expressions_agree_with_islpy(seed: int) -> None:
    rng = random.Random(seed)
    a, b = function_text(rng), function_text(rng)
    (f, g), (x, y) = (PwAff(a), PwAff(b)), (isl.PwAff(a), isl.PwAff(b))
    for point in GRID:
        assert f(*point) == their_value(x, point), (a, point)
    for name in UNARY:
        assert PwAff(str(getattr(x, name)())) == getattr(f, name)(), name
    for name in BINARY:
        assert PwAff(str(getattr(x, name)(y))) == getattr(f, name)(g), name
    for name in REGIONS:
        assert Set(str(getattr(x, name)())) == getattr(f, name)(), name
    for name in COMPARISONS:
        assert Set(str(getattr(x, name)(y))) == getattr(f, name)(g), name
    half = isl.Val("1/3")
    assert PwAff(str(x.scale_val(half))) == f / 3 == f * Fraction(1, 3)
    assert PwAff(str(x.mod_val(5))) == f % 5
    assert Map(str(isl.Map.from_pw_aff(x))) == Map.from_pw_aff(f) == f.as_map()
    assert Set(str(x.domain())) == f.domain()
    assert PwAff(str(x.cond(y, x))) == f.cond(g, f)
    points = f"{{ [i, j] : {linear(rng)} >= 0 }}"
    for name in ["intersect_domain", "subtract_domain"]:
        assert PwAff(str(getattr(x, name)(isl.Set(points)))) == getattr(f, name)(Set(points))
    inside = f.intersect_domain(Set(points))
    assert inside.gist(Set(points)).intersect_domain(Set(points)) == inside


@pytest.mark.parametrize("seed", range(10))
def test_tuples_agree_with_islpy(seed: int) -> None:
    rng = random.Random(300 + seed)
    a, b, c = tuple_text(rng), tuple_text(rng), function_text(rng)
    (f, g), (x, y) = (PwMultiAff(a), PwMultiAff(b)), (isl.PwMultiAff(a), isl.PwMultiAff(b))
    for name in ["add", "sub", "union_add", "flat_range_product", "range_product"]:
        assert PwMultiAff(str(getattr(x, name)(y))) == getattr(f, name)(g), name
    assert PwMultiAff(str(x.pullback_pw_multi_aff(y))) == f.pullback_pw_multi_aff(g)
    outer = isl.PwAff(c).pullback_pw_multi_aff(x)
    assert PwAff(str(outer)) == PwAff(c).pullback_pw_multi_aff(f)
    for point in GRID:
        inner = f(*point)
        expected = None if inner is None else PwAff(c)(*inner)
        assert PwAff(c).pullback_pw_multi_aff(f)(*point) == expected
    assert Map(str(isl.Map.from_pw_multi_aff(x))) == f.as_map()
    assert f.as_map().as_pw_multi_aff() == f and f.as_map().is_single_valued()
    for index in range(2):
        assert PwAff(str(x.get_at(index))) == f.get_at(index)
    assert PwMultiAff.from_pw_affs(f.get_at(0), f.get_at(1)) == f
    target = f"{{ [i, j] : 0 <= i <= 9 and {linear(rng)} >= 0 }}"
    expected = isl.Set(target).preimage_pw_multi_aff(x)
    assert Set(str(expected)) == Set(target).preimage_pw_multi_aff(f)
    parts = [part.domain() for _, part in f.get_pieces()]
    assert parts and all(domain.plain_is_universe() for domain in parts)


@pytest.mark.parametrize("seed", range(10))
def test_extremes_are_functions_as_in_islpy(seed: int) -> None:
    rng = random.Random(500 + seed)
    triangle = f"{linear(rng)} >= 0 and 0 <= i <= n and -n <= j <= i + 3"
    text = f"[n] -> {{ S[i, j] : {triangle} }}"
    for dim in range(2):
        assert PwAff(str(isl.Set(text).dim_min(dim))) == Set(text).dim_min(dim)
        assert PwAff(str(isl.Set(text).dim_max(dim))) == Set(text).dim_max(dim)
    for n in range(-1, 5):
        points = list(Set(text).bind(n=n))
        first = Set(text).lexmin_pw_multi_aff()(n=n)
        assert first == (min(points) if points else None)
        assert Set(text).lexmax_pw_multi_aff()(n=n) == (max(points) if points else None)
    relation = f"[n] -> {{ S[i] -> [j, i + j] : {triangle} }}"
    for name in ["lexmin_pw_multi_aff", "lexmax_pw_multi_aff"]:
        expected = getattr(isl.Map(relation), name)()
        assert PwMultiAff(str(expected)) == getattr(Map(relation), name)()


UNBOUNDED = [
    ("Set", "[N] -> { [i] : i <= N }"),
    ("Set", "{ [i, j] : i >= 0 }"),
    ("Set", "{ [i] : i <= 0 or 5 <= i <= 7 }"),
    ("Set", "{ [i] : i < 0 and i > 0 }"),
    ("Set", "{ [i, j] : 2i = 1 and j >= 0 }"),
    ("Set", "[N] -> { [i] : 0 <= i <= N or (i <= 0 and N > 5) }"),
    ("BasicSet", "{ [i] : i >= 0 }"),
    ("Map", "{ A[a] -> B[b] : b <= a }"),
    ("Map", "{ A[a] -> B[b] : a >= 0 and b >= 0 and (b <= 5 or a >= 7) }"),
    ("BasicMap", "{ A[a] -> B[b] : b <= a }"),
    ("UnionSet", "{ A[a] : a >= 0; B[b] : 0 <= b <= 5 }"),
    ("UnionMap", "{ A[a] -> [b] : b >= a; B[b] -> [b] }"),
]


@pytest.mark.parametrize(("kind", "text"), UNBOUNDED)
def test_missing_extremes_are_errors_as_in_islpy(kind: str, text: str) -> None:
    theirs, ours = getattr(isl, kind)(text), getattr(presburger, kind)(text)
    for name in ["lexmin", "lexmax", "lexmin_pw_multi_aff", "lexmax_pw_multi_aff", "dim_min", "dim_max"]:
        if not hasattr(theirs, name):
            continue
        arguments = [0] if name.startswith("dim") else []
        try:
            expected = getattr(theirs, name)(*arguments)
        except isl.Error:
            with pytest.raises(PresburgerError, match=r"dimension \d .* has no (least|greatest) value"):
                getattr(ours, name)(*arguments)
        else:
            found = getattr(ours, name)(*arguments)
            assert type(found)(str(expected)) == found, name


def test_operators_are_arithmetic() -> None:
    i, j = PwAff("[n] -> { [i, j] -> [(i)] }"), PwAff("[n] -> { [i, j] -> [(j + n)] }")
    for a, b, n in itertools.product(range(-3, 4), range(-2, 3), [0, 5]):
        at = {"n": n}
        y = b + n
        assert (i + j)(a, b, **at) == a + y and (i - j)(a, b, **at) == a - y
        assert (2 * i + 3)(a, b, **at) == 2 * a + 3 and (3 - i * 2)(a, b, **at) == 3 - 2 * a
        assert (i // 3)(a, b, **at) == a // 3 and (j % 4)(a, b, **at) == y % 4
        assert (i / 2 + Fraction(1, 3))(a, b, **at) == Fraction(a, 2) + Fraction(1, 3)
        assert (j / -2).ceil()(a, b, **at) == math.ceil(Fraction(y, -2))
        assert i.max(-i)(a, b, **at) == abs(a) and i.min(j)(a, b, **at) == min(a, y)
    large = 10**40 + 9
    assert (i * large + large)(large, 0, n=0) == large * large + large
    assert ((i + large) % (large - 1))(1, 0, n=0) == 2
    point, parameter = PwAff("{ [] -> [(1)] }"), PwAff("[n] -> { [(n)] }")
    assert (Fraction(1, 2) - point)() == Fraction(-1, 2) and (parameter + 1)(n=large) == large + 1
    assert (parameter + 1).as_set() == Set("[n] -> { [n + 1] }")
    assert (PwAff("{ [[i] -> [j]] -> [(i)] }") + 1)(4, 5) == 5
    with pytest.raises(PresburgerError):
        i * j
    with pytest.raises(PresburgerError):
        i / 0
    with pytest.raises(TypeError, match="n"):
        i(1, 2)
    with pytest.raises(TypeError):
        i + "1"  # type: ignore[operator]


def test_functions_are_values() -> None:
    f = PwAff("{ S[i] -> [(i)] : i >= 0; S[i] -> [(-i)] : i < 0 }")
    same = PwAff("{ S[i] -> [(-i)] : i <= 0; S[i] -> [(i)] : i > 0 }")
    assert f == same and hash(f) == hash(same) and len({f, same}) == 1
    assert f != f + 1 and f != PwAff("{ T[i] -> [(i)] }") and f != 3
    assert len(f.get_pieces()) == 2 and f(-7) == 7
    assert pickle.loads(pickle.dumps(f)) == f and "PwAff('{ S[i]" in repr(f)
    swap = PwMultiAff("{ S[i, j] -> A[(j), (i)] }")
    assert swap(1, 2) == Point((2, 1), "A") and repr(swap(1, 2)) == "A[2, 1]" and len(swap) == 2
    assert (swap * Fraction(1, 2))(1, 2) == (1, Fraction(1, 2))
    assert pickle.loads(pickle.dumps(swap)) == swap == PwMultiAff(swap)
    clipped = MultiPwAff("{ [i] -> [(i : i >= 0; 0 : i < 0), (1)] }")
    assert clipped(-3) == (0, 1) and clipped(3) == (3, 1)
    assert PwMultiAff("[n] -> { A[(n), (2n)] }").as_set() == Set("[n] -> { A[n, 2n] }")
    with pytest.raises(PresburgerError, match="as_set"):
        PwMultiAff("[n] -> { A[(n)] }").as_map()
    with pytest.raises(PresburgerError, match="as_map"):
        swap.as_set()
    with pytest.raises(PresburgerError):
        Map("{ [i] -> [j] : 0 <= j < 2 }").as_pw_multi_aff()


def test_functions_of_several_tuples() -> None:
    text = "{ S[i] -> A[(i + 1)]; T[i, j] -> B[(j)] : i >= 0 }"
    both, theirs = UnionPwMultiAff(text), isl.UnionPwMultiAff(text)
    more = "{ S[i] -> A[(2i)] : i > 3; U[] -> A[(7)] }"
    for name in ["add", "sub", "union_add"]:
        expected = getattr(theirs, name)(isl.UnionPwMultiAff(more))
        assert UnionPwMultiAff(str(expected)) == getattr(both, name)(UnionPwMultiAff(more)), name
    assert both.as_union_map() == Map("{ S[i] -> A[i + 1]; T[i, j] -> B[j] : i >= 0 }")
    assert both.as_union_map().as_union_pw_multi_aff() == both
    assert Map.from_union_pw_multi_aff(both) == both.as_union_map()
    assert both.domain() == Set("{ S[i]; T[i, j] : i >= 0 }") and len(both.functions()) == 2
    kept = both.intersect_domain(Set("{ S[i] : i > 0 }"))
    assert kept == UnionPwMultiAff("{ S[i] -> A[(i + 1)] : i > 0 }") and kept != both
    inner = UnionPwMultiAff("{ X[k] -> S[(3k)]; X[k] -> Z[(k)] }")
    assert both.pullback_union_pw_multi_aff(inner) == UnionPwMultiAff("{ X[k] -> A[(3k + 1)] }")
    assert len({both, both.coalesce(), kept}) == 2
    assert pickle.loads(pickle.dumps(both)) == both
