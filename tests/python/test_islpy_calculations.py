"""Calculations written once and run in islpy and here, with the import renamed."""

from __future__ import annotations

import re

import pytest

ours = pytest.importorskip("tangram.isl")
islpy = pytest.importorskip("islpy", reason="needs islpy")
from islpy_twin import plain  # noqa: E402

# Values by short names, read in both.
GIVEN = {
    "affs": ("UnionPwAff", "[n, m] -> { A[i] -> [(i + n)] : i > 0; B[j] -> [(2j)] }"),
    "more": ("UnionPwAff", "[n] -> { A[i] -> [(3)] : i < 9; C[] -> [(n)] }"),
    "flat": ("UnionPwAff", "{ A[i] -> [(i)] : 0 <= i < 9; B[j] -> [(2 - j)] : 0 <= j < 4 }"),
    "wrapped": ("UnionPwAff", "{ [A[i] -> B[j]] -> [(i + j)]; B[j] -> [(j)] }"),
    "tuples": ("UnionPwMultiAff", "[n, m] -> { A[i] -> C[(i), (n)] : i > 0; B[j] -> C[(j), (1)] }"),
    "others": ("UnionPwMultiAff", "{ A[i] -> D[(3i)]; C[i, j] -> E[(i - j), (7)] }"),
    "pairs": ("UnionPwMultiAff", "{ [A[i] -> B[j]] -> [C[(i)] -> D[(j)]]; B[j] -> C[(j)] }"),
    "into": ("UnionPwMultiAff", "{ X[i] -> A[(2i)]; Y[i, k] -> A[(k - i)]; X[i] -> B[(3)] : false }"),
    "schedule": ("MultiUnionPwAff", "[n] -> T[{ A[i] -> [(i)]; B[j] -> [(n)] }, { A[i] -> [(i - 3)]; B[j] -> [(1 - j)] }]"),
    "sums": ("UnionPwQPolynomial", "[n, m] -> { A[i] -> i * n : i > 0; [A[i] -> B[j]] -> j^2 }"),
    "bound_of_a": ("PwQPolynomialFold", "[n, m] -> { A[i] -> max(i, n) : i > 0 }"),
    "bound_of_pairs": ("PwQPolynomialFold", "[n, m] -> { [A[i] -> B[j]] -> max(j) }"),
    "points": ("UnionSet", "[n] -> { A[i] : 0 <= i < n; B[j] : j > 2; C[] }"),
    "at_a": ("Set", "{ A[i] : i > 4 }"),
    "at_b": ("Set", "{ B[i] : i > 4 }"),
    "params": ("Set", "[n] -> { : n > 3 }"),
    "two": ("MultiVal", "{ C[3, 5] }"),
    "number": ("PwAff", "[n] -> { [(2n)] : n > 3 }"),
    "vector": ("PwMultiAff", "[n] -> { S[(2n), (1)] : n > 3 }"),
    "first": ("PwMultiAff", "[n] -> { A[i, j] -> B[(i), (n)] : i > j }"),
    "second": ("PwMultiAff", "[n] -> { A[i, j] -> B[(j), (3)] : i < 9 }"),
    "single": ("MultiAff", "[n] -> { A[i, j] -> B[(i + 2), (n - 1)] }"),
    "third": ("MultiAff", "[n] -> { D[k] -> E[(k + n)] }"),
    "side": ("PwMultiAff", "{ [A[i] -> B[j]] -> C[(i + j)] : i > j }"),
    "inner": ("PwMultiAff", "{ X[k] -> A[(2k)] }"),
    "square": ("PwQPolynomial", "{ A[i] -> i^2 - 3 : -2 <= i <= 4 }"),
    "bound": ("PwQPolynomialFold", "{ A[i] -> max(i, 2) : -2 <= i <= 4 }"),
    "aff": ("Aff", "[n] -> { A[i] -> [(floor(i/2) + n/3 + 1)] }"),
}  # fmt: skip
BOUNDS = "bound_of_a.to_union_pw_qpolynomial_fold().fold_pw_qpolynomial_fold(bound_of_pairs)"
CALLS = """
affs.get_space()
affs.dim(isl.dim_type.param)
affs.get_var_names(isl.dim_type.param)
affs.align_params(isl.Space("[k, n] -> { : }"))
affs.drop_dims(isl.dim_type.param, 1, 1)
affs.drop_unused_params()
affs.coalesce()
affs.gist(at_a)
affs.gist_params(params)
affs.intersect_params(params)
affs.intersect_domain_space(at_a.get_space())
affs.intersect_domain_union_set(points)
affs.subtract_domain_space(at_a.get_space())
affs.subtract_domain_union_set(points)
affs.extract_pw_aff(isl.Space("{ A[i] -> [o] }"))
affs.every_pw_aff(lambda one: one.isa_aff())
affs.add_pw_aff(isl.PwAff("{ D[i] -> [(7)] : i < 3 }"))
affs.plain_is_equal(more)
affs.mod_val(3)
affs.zero_union_set()
flat.max_val()
flat.min_val()
wrapped.intersect_domain_wrapped_domain(at_a)
wrapped.intersect_domain_wrapped_range(at_b)
isl.UnionPwAff.empty(at_a.get_space())
isl.UnionPwAff.empty_space(at_a.get_space())
isl.UnionPwAff.empty_ctx(isl.DEFAULT_CONTEXT)
isl.UnionPwAff.val_on_domain(points, isl.Val(3))
isl.UnionPwAff.param_on_domain_id(points, isl.Id("k"))
isl.UnionPwAff.pw_aff_on_domain(points, number)
isl.UnionPwAff.aff_on_domain(points, isl.Aff("[n] -> { [(n)] }"))
tuples.get_space()
tuples.drop_dims(isl.dim_type.param, 1, 1)
tuples.drop_unused_params()
tuples.gist(at_a)
tuples.gist_params(params)
tuples.intersect_params(params)
tuples.intersect_domain_space(at_a.get_space())
tuples.intersect_domain_union_set(points)
tuples.subtract_domain(points)
tuples.subtract_domain_space(at_a.get_space())
tuples.subtract_domain_union_set(points)
tuples.extract_pw_multi_aff(isl.Space("{ A[i] -> C[k, l] }"))
tuples.every_pw_multi_aff(lambda one: one.isa_multi_aff())
tuples.n_pw_multi_aff()
tuples.isa_pw_multi_aff()
tuples.involves_locals()
tuples.plain_is_empty()
tuples.plain_is_equal(others)
tuples.neg()
tuples.scale_val(3)
tuples.scale_down_val(3)
tuples.scale_multi_val(two)
tuples.get_union_pw_aff(1)
tuples.range_product(others)
tuples.flat_range_product(others)
tuples.apply_union_pw_multi_aff(others)
tuples.add_pw_multi_aff(isl.PwMultiAff("{ D[j] -> C[(1), (1)] : j < 3 }"))
tuples.intersect_domain(at_a).as_pw_multi_aff()
pairs.range_factor_domain()
pairs.range_factor_range()
pairs.intersect_domain_wrapped_domain(at_a)
pairs.intersect_domain_wrapped_range(at_b)
pairs.preimage_domain_wrapped_domain_union_pw_multi_aff(into)
isl.UnionPwMultiAff.empty(at_a.get_space())
isl.UnionPwMultiAff.empty_space(at_a.get_space())
isl.UnionPwMultiAff.from_aff(aff)
isl.UnionPwMultiAff.from_domain(points)
isl.UnionPwMultiAff.from_multi_aff(single)
isl.UnionPwMultiAff.from_pw_multi_aff(first)
isl.UnionPwMultiAff.from_union_pw_aff(affs)
isl.UnionPwMultiAff.from_union_map(isl.UnionMap("{ A[i] -> B[i + 1]; C[] -> B[0] }"))
isl.UnionPwMultiAff.from_union_set(isl.UnionSet("[n] -> { A[n] }"))
isl.UnionPwMultiAff.multi_val_on_domain(points, two)
schedule.get_space()
schedule.get_domain_space()
schedule.coalesce()
schedule.floor()
schedule.neg()
schedule.scale_val(3)
schedule.scale_down_val(3)
schedule.scale_multi_val(isl.MultiVal("{ T[3, 5] }"))
schedule.scale_down_multi_val(isl.MultiVal("{ T[3, 5] }"))
schedule.mod_multi_val(isl.MultiVal("{ T[3, 5] }"))
schedule.gist(points)
schedule.gist_params(params)
schedule.has_range_tuple_id()
schedule.get_range_tuple_id()
schedule.set_range_tuple_id(isl.Id("U"))
schedule.reset_range_tuple_id()
schedule.range_is_wrapping()
schedule.range_product(schedule).flatten_range()
schedule.range_product(schedule).factor_range()
schedule.range_splice(1, schedule)
schedule.flat_range_product(schedule)
schedule.drop_dims(isl.dim_type.set, 0, 1)
schedule.set_at(0, affs)
schedule.set_union_pw_aff(1, affs)
schedule.plain_is_equal(schedule.neg())
schedule.apply_pw_aff(isl.PwAff("{ T[i, j] -> [(i + j)] : i > j }"))
schedule.apply_aff(isl.Aff("{ T[i, j] -> [(i + j)] }"))
schedule.extract_multi_pw_aff(at_a.get_space())
schedule.zero_union_set()
schedule.intersect_domain(isl.UnionSet("[n] -> { A[i] : 0 <= i < 9 }")).max_multi_val()
schedule.intersect_domain(isl.UnionSet("[n] -> { A[i] : 0 <= i < 9 }")).min_multi_val()
isl.MultiUnionPwAff.from_multi_aff(single)
isl.MultiUnionPwAff.multi_val_on_domain(points, two)
isl.MultiUnionPwAff.multi_aff_on_domain(points, isl.MultiAff("[n] -> { S[(2n), (1)] }"))
isl.MultiUnionPwAff.pw_multi_aff_on_domain(points, vector)
sums.get_space()
sums.dim(isl.dim_type.param)
sums.get_var_dict()
sums.find_dim_by_name(isl.dim_type.param, "m")
sums.drop_dims(isl.dim_type.param, 1, 1)
sums.drop_unused_params()
sums.set_dim_name(isl.dim_type.param, 0, "k")
sums.align_params(isl.Space("[k, n] -> { : }"))
sums.domain_reverse()
sums.every_pw_qpolynomial(lambda one: one.isa_qpolynomial())
sums.intersect_domain_space(at_a.get_space())
sums.intersect_domain_union_set(points)
sums.intersect_domain_wrapped_domain(at_a)
sums.intersect_domain_wrapped_range(at_b)
sums.subtract_domain_space(at_a.get_space())
sums.subtract_domain_union_set(points)
isl.UnionPwQPolynomial.zero(at_a.get_space())
isl.UnionPwQPolynomial("{ A[i] -> i^2; B[] -> 5 }").eval(isl.Set("{ A[4] }").sample_point())
bounds.get_space()
bounds.get_var_names(isl.dim_type.param)
bounds.drop_dims(isl.dim_type.param, 1, 1)
bounds.drop_unused_params()
bounds.set_dim_name(isl.dim_type.param, 0, "k")
bounds.every_pw_qpolynomial_fold(lambda one: one.n_piece() == 1)
bounds.gist_params(params)
bounds.intersect_params(params)
bounds.intersect_domain_space(at_a.get_space())
bounds.intersect_domain_union_set(points)
bounds.intersect_domain_wrapped_domain(at_a)
bounds.intersect_domain_wrapped_range(at_b)
bounds.subtract_domain(points)
bounds.subtract_domain_space(at_a.get_space())
bounds.subtract_domain_union_set(points)
bounds.scale_down_val(3)
bounds.get_type()
first.union_lexmax(second)
first.union_lexmin(second)
first.fix_si(isl.dim_type.in_, 0, 3)
first.involves_locals()
first.to_union_pw_multi_aff()
side.preimage_domain_wrapped_domain_pw_multi_aff(inner)
isl.PwMultiAff.empty(isl.Space("{ A[i] -> B[k] }")).domain()
isl.PwMultiAff.from_domain(at_a)
isl.PwMultiAff.multi_val_on_domain(at_a, two)
isl.PwMultiAff.project_out_map(isl.Space("{ A[i, j] }"), isl.dim_type.set, 0, 1)
isl.PwMultiAff("{ A[i] -> B[(i), (3)] : 0 <= i < 9 }").max_multi_val()
isl.PwMultiAff("{ A[i] -> B[(i), (3)] : 0 <= i < 9 }").min_multi_val()
single.splice(1, 2, third)
single.range_splice(1, single)
single.get_constant_multi_val()
single.to_multi_union_pw_aff()
single.lex_lt_set(single.add(single))
single.lex_le_set(single.add(single))
single.lex_gt_set(single.add(single))
single.lex_ge_set(single.add(single))
isl.MultiAff("{ [A[i] -> A[j]] -> [B[(i)] -> C[(0)]] }").flatten_domain().flatten_range()
isl.MultiAff("{ A[i] -> A[(i + 1)] }").identity_multi_aff()
isl.MultiAff.multi_val_on_domain_space(at_a.get_space(), two)
isl.MultiAff.multi_val_on_space(isl.Space("{ C[i, j] }"), two)
isl.MultiPwAff("{ A[i] -> B[(i + 1)] : i > 3 }").pullback_multi_pw_aff(isl.MultiPwAff("{ C[i] -> A[(i + 1)] : i < 9 }"))
number.to_union_pw_aff()
isl.PwAff.param_on_domain_id(at_a, isl.Id("k"))
aff.coefficient_sgn(isl.dim_type.in_, 0)
aff.coefficient_sgn(isl.dim_type.param, 0)
aff.add_constant_num_si(1)
square.max()
square.min()
square.every_piece(lambda points, value: not points.is_empty())
square.fix_val(isl.dim_type.in_, 0, isl.Val(3))
square.has_equal_space(square.neg())
square.to_union_pw_qpolynomial()
square.reset_domain_space(isl.Space("{ C[j] }"))
bound.max()
bound.every_piece(lambda points, value: not points.is_empty())
bound.fix_val(isl.dim_type.in_, 0, isl.Val(3))
bound.get_type()
bound.is_zero()
bound.scale_down_val(isl.Val(3))
bound.eval(isl.Set("{ A[4] }").sample_point())
bound.has_equal_space(bound)
bound.plain_is_equal(bound.scale_val(2))
bound.to_union_pw_qpolynomial_fold()
bound.add_disjoint(isl.PwQPolynomialFold("{ A[i] -> max(i) : i > 7 }"))
"""


def calculated(isl: object, call: str) -> object:
    call = call.replace("bounds.", f"{BOUNDS}.")
    used = {name: getattr(isl, kind)(text) for name, (kind, text) in GIVEN.items() if re.search(rf"\b{name}\b", call)}
    return eval(call, {"isl": isl, **used})


@pytest.mark.parametrize("call", CALLS.strip().splitlines())
def test_calculations_agree_with_islpy(call: str) -> None:
    expected, found = plain(calculated(islpy, call)), plain(calculated(ours, call))
    assert found == expected, (str(found), str(expected))
