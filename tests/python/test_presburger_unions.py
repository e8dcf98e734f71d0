"""Functions of the points of several tuples, and bounds, beside islpy's."""

from __future__ import annotations

import pickle
from fractions import Fraction

import pytest

ours = pytest.importorskip("tangram.presburger")
islpy = pytest.importorskip("islpy", reason="needs islpy")

LEFT = "[n] -> { A[i] -> n * i : i >= 0; B[i, j] -> i^2 - floor((j)/2); 7 : n <= 3 }"
RIGHT = "[n, m] -> { A[i] -> m : i <= 5; C[] -> n * m; 2 : n > 0 }"
MAPS = "[n] -> { S[k] -> A[i] : 0 <= i <= k; S[k] -> B[k, j] : 1 <= j <= n; T[] -> A[2] }"


def both(kind: str, text: str) -> tuple:
    return getattr(ours, kind)(text), getattr(islpy, kind)(text)


def test_functions_of_several_tuples_are_islpys() -> None:
    a, their_a = both("UnionPwQPolynomial", LEFT)
    b, their_b = both("UnionPwQPolynomial", RIGHT)
    some, their_some = both("UnionSet", "[n] -> { A[i] : i > n; B[i, i]; C[] }")
    maps, their_maps = both("UnionMap", MAPS)
    same = [
        (a + b, their_a.add(their_b)),
        (a - b, their_a.sub(their_b)),
        (a * b, their_a.mul(their_b)),
        (a.neg(), their_a.neg()),
        (Fraction(2, 3) * a, their_a.scale_val(islpy.Val("2/3"))),
        (a.intersect_domain(some), their_a.intersect_domain(their_some)),
        (a.subtract_domain(some), their_a.subtract_domain(their_some)),
        (a.apply(maps), their_maps.apply_union_pw_qpolynomial(their_a)),
        (maps.card(), their_maps.card()),
        (a.to_polynomial(0), their_a.to_polynomial(0)),
    ]
    for mine, theirs in same:
        assert mine == ours.UnionPwQPolynomial(str(theirs)), (mine, theirs)
    short = a.gist(some)
    assert short.intersect_domain(some) == a.intersect_domain(some)
    assert a.domain() == ours.Set(str(their_a.domain()))
    assert a != b and hash(a) == hash(a.coalesce()) and a == a.coalesce()
    assert pickle.loads(pickle.dumps(a)) == a
    assert len(a) == a.n_pw_qpolynomial() == their_a.n_pw_qpolynomial() == 3
    assert [f.get_domain_space().get_tuple_name() for f in a[:2]] == ["A", "B"]
    space = ours.Space("[n] -> { B[x, y] }")
    assert a.extract_pw_qpolynomial(space) == a[1]
    assert a.extract_pw_qpolynomial(ours.Space("{ D[] }")).is_zero()
    assert ours.UnionPwQPolynomial.collect(list(a)) == a
    assert ours.UnionPwQPolynomial.from_pw_qpolynomial(a[0]) + a[1] + a[2] == a


def test_sums_and_bounds_of_pairs_are_of_the_first_points() -> None:
    pairs = ours.UnionPwQPolynomial(
        "[n] -> { [A[i] -> B[j]] -> 2 * j - i : 0 <= j <= i; C[i] -> i : 0 <= i <= n }"
    )
    sums, upper = pairs.sum(), pairs.bound()
    assert isinstance(upper, ours.UnionPwQPolynomialFold) and upper.is_upper()
    for n, i in [(0, 0), (3, 5), (2, 1), (4, -1)]:
        values = [2 * j - i for j in range(i + 1)]
        of_a = sums.extract_pw_qpolynomial(ours.Space("[n] -> { A[i] }"))
        assert of_a(i, n=n) == sum(values)
        bounds = {bound.get_domain_space().get_tuple_name(): bound for bound in upper}
        assert bounds["A"](i, n=n) == max(values, default=None)
        assert bounds[None](n=n) == n


def test_bounds_depend_on_points_and_follow_relations() -> None:
    upper = ours.UnionPwQPolynomialFold("[n] -> { A[i] -> max(i, n); B[i, j] -> max(3 * j - i) }")
    maps = ours.Map(MAPS)
    after = upper.apply(maps)
    assert after.get_param_names() == ["n"] and len(after) == 2
    for n, k in [(1, 0), (4, 3), (2, 5), (0, -1), (3, -2)]:
        values = [max(i, n) for i in range(k + 1)] + [3 * j - k for j in range(1, n + 1)]
        assert after[0](k, n=n) == max(values, default=None), (n, k)
        assert after[1](n=n) == max(2, n)
    assert maps.apply_union_pw_qpolynomial_fold(upper).plain_is_equal(after)
    assert pickle.loads(pickle.dumps(after)).plain_is_equal(after)
    moved = upper + ours.PwQPolynomial("{ A[i] -> 10 * i }")
    assert moved[0](7, n=3) == 77 and moved[1](1, 2, n=0) == 5
    lower = upper.scale_val(-1)
    assert not lower.is_upper() and lower[0](7, n=3) == -7
    with pytest.raises(ours.PresburgerError, match="a lower bound"):
        upper.fold(lower)
    kept = upper.intersect_domain(ours.Set("[n] -> { A[i] : i > n }"))
    assert kept.domain() == ours.Set("[n] -> { A[i] : i > n }")
    ((short, _),) = kept.gist(ours.Set("[n] -> { A[i] : i > n }"))[0].get_pieces()
    assert short.plain_is_universe()


def test_a_bound_of_one_tuple_is_called_and_taken_apart() -> None:
    bound = ours.PwQPolynomialFold("[n] -> { A[i] -> max(n, 2 * i) : i >= 0; A[i] -> max(7) : i < 0 }")
    assert (bound(5, n=3), bound(1, n=3), bound(-1, n=0)) == (10, 3, 7)
    assert bound.get_space() == ours.Space("[n] -> { A[i] -> [o0] }") and bound.n_piece() == 2
    for points, values in bound.get_pieces():
        for i in range(-2, 3):
            if (i,) in points.bind(n=4):
                assert max(value(i, n=4) for value in values) == bound(i, n=4)
    few = bound.intersect_domain(ours.Set("{ A[i] : -1 <= i <= 3 }"))
    assert few(4, n=1) is None and few.bound()(n=1) == 7 and few.bound()(n=11) == 11
    assert few.subtract_domain(ours.Set("{ A[i] : i < 0 }")).bound()(n=1) == 6
    least = ours.PwQPolynomialFold.from_pw_qpolynomial(ours.PwQPolynomial("{ A[i] -> i }"), False)
    assert not least.is_upper() and least(-3) == -3
    with pytest.raises(TypeError, match="expected 1 coordinates"):
        bound(n=3)


def test_affine_functions_of_several_tuples_are_islpys() -> None:
    text = "[n] -> { A[i] -> [(i + n)]; B[i, j] -> [(floor((j)/2))] : i > 0 }"
    more = "[n] -> { A[i] -> [(i)] : i < n; C[] -> [(3)] }"
    (a, their_a), (b, their_b) = both("UnionPwAff", text), both("UnionPwAff", more)
    some, their_some = both("UnionSet", "{ A[i] : i > 2; B[i, i] }")
    inner, their_inner = both("UnionPwMultiAff", "{ X[k] -> A[(3k)]; Y[k] -> B[(k), (k + 1)] }")
    same = [
        (a + b, their_a.add(their_b)),
        (a - b, their_a.sub(their_b)),
        (a.union_add(b), their_a.union_add(their_b)),
        (-a, their_a.neg()),
        ((a / 2).floor(), their_a.scale_down_val(islpy.Val(2)).floor()),
        (a.intersect_domain(some), their_a.intersect_domain(their_some)),
        (a.subtract_domain(some), their_a.subtract_domain(their_some)),
        (
            a.pullback_union_pw_multi_aff(inner),
            their_a.pullback_union_pw_multi_aff(their_inner),
        ),
    ]
    for mine, theirs in same:
        assert mine == ours.UnionPwAff(str(theirs)), (mine, theirs)
    assert a != b and pickle.loads(pickle.dumps(a)) == a and a.n_pw_aff() == 2
    assert ours.Map.from_union_pw_aff(a) == ours.Map(str(islpy.UnionMap.from_union_pw_aff(their_a)))
    assert ours.UnionPwAff.collect(a.functions()) == a
    assert ours.UnionPwAff.from_pw_aff(a.functions()[0]).domain() == ours.Set("{ A[i] }")


def test_schedules_of_several_statements_are_islpys() -> None:
    text = "[n] -> P[{ A[i] -> [(i)]; B[j] -> [(j + n)] }, { A[i] -> [(0)]; B[j] -> [(1)] }]"
    a, their_a = both("MultiUnionPwAff", text)
    b, their_b = both("MultiUnionPwAff", "P[{ A[i] -> [(1)] }, { A[i] -> [(i)] }]")
    some, their_some = both("UnionSet", "{ A[i] : i > 2 }")
    values, their_values = both("Set", "{ P[x, y] : x >= 5 and y = 1 }")
    outer, their_outer = both("PwMultiAff", "{ P[x, y] -> Q[(x + y)] }")
    inner, their_inner = both("UnionPwMultiAff", "{ X[k] -> A[(3k)]; Y[k] -> B[(k)] }")
    same = [
        (a + b, their_a.add(their_b)),
        (a - b, their_a.sub(their_b)),
        (a.union_add(b), their_a.union_add(their_b)),
        (a.range_product(b), their_a.range_product(their_b)),
        (a.range_product(b).range_factor_range(), their_b.intersect_domain(their_a.domain())),
        (a.intersect_domain(some), their_a.intersect_domain(their_some)),
        (a.intersect_range(values), their_a.intersect_range(their_values)),
        (a.apply_pw_multi_aff(outer), their_a.apply_pw_multi_aff(their_outer)),
        (
            a.pullback_union_pw_multi_aff(inner),
            their_a.pullback_union_pw_multi_aff(their_inner),
        ),
    ]
    for mine, theirs in same:
        assert mine == ours.MultiUnionPwAff(str(theirs)), (mine, theirs)
    assert a.as_union_map() == ours.Map(str(islpy.UnionMap.from_multi_union_pw_aff(their_a)))
    assert a.as_union_map().as_multi_union_pw_aff() == a
    assert ours.MultiUnionPwAff.from_union_pw_affs(*a.get_list(), name="P") == a
    assert len(a) == 2 and a.get_tuple_name() == "P" and a.get_param_names() == ["n"]
    assert a[1] == ours.UnionPwAff("{ A[i] -> [(0)]; B[j] -> [(1)] }")
    everywhere = ours.MultiUnionPwAff("P[]")
    with pytest.raises(ours.PresburgerError):
        everywhere.domain()
