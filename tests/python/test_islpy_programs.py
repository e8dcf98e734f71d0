"""Programs for islpy run with `tangram.presburger` instead, and find the same.

Each is written as programs that use islpy are: code generators that build domains from affine
expressions, dimension by dimension, and ask for bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

ours = pytest.importorskip("tangram.presburger")
islpy = pytest.importorskip("islpy", reason="needs islpy")
from islpy_twin import plain  # noqa: E402

Program = Callable[[Any], Any]
PROGRAMS: list[Program] = []


def program(function: Program) -> Program:
    PROGRAMS.append(function)
    return function


@pytest.mark.parametrize("run", PROGRAMS, ids=lambda run: run.__name__)
def test_programs_for_islpy_run(run: Program) -> None:
    expected, found = plain(run(islpy)), plain(run(ours))
    assert found == expected


@program
def constraints_by_names(isl: Any) -> Any:
    space = isl.Space.create_from_names(isl.DEFAULT_CONTEXT, set=["x", "y"], params=["n"])
    square = (
        isl.BasicSet.universe(space)
        .add_constraint(isl.Constraint.ineq_from_names(space, {1: -1, "x": 1}))
        .add_constraint(isl.Constraint.ineq_from_names(space, {"n": 1, "x": -1}))
        .add_constraints(
            [
                isl.Constraint.ineq_from_names(space, {1: -1, "y": 1}),
                isl.Constraint.ineq_from_names(space, {1: 5, "y": -1}),
            ]
        )
    )
    other = isl.BasicSet("[n] -> { [x, y] : x >= 0 and x < 5 and y >= 0 and y < x + 4 }")
    parts: list[Any] = []
    (square | other).foreach_basic_set(parts.append)
    line = isl.BasicSet.from_constraint(isl.Constraint.eq_from_names(space, {"x": 2, "y": -1}))
    found = sorted(
        (c.is_equality(), sorted((str(k), int(v.to_python())) for k, v in terms.items()))
        for part in [square, line]
        for c in part.get_constraints()
        for terms in [c.get_coefficients_by_name()]
    )
    return square, square.union(other), (square & line), len(parts) > 1, found


@program
def expressions_of_variables(isl: Any) -> Any:
    v = isl.make_zero_and_vars("i,j,k", "n")
    zero, n = v[0], v["n"]
    inside = [zero.le_set(v[name]) & v[name].lt_set(n) for name in "ijk"]
    box = inside[0] & inside[1] & inside[2]
    wave = box & (v["i"] + v["j"]).eq_set(2 * v["k"] + 1)
    again = isl.affs_from_space(box.space)
    return box, wave, again["n"], sorted(str(name) for name in again), box <= isl.Set(str(wave))


@program
def a_slab_of_a_loop(isl: Any) -> Any:
    space = isl.Space.create_from_names(isl.DEFAULT_CONTEXT, set=["i", "j"], params=["n", "m"])
    zero = isl.Aff.zero_on_domain(space)
    kind, pos = zero.get_space().get_var_dict()["j"]
    name = zero.add_coefficient_val(kind, pos, 1)
    kind, pos = zero.get_space().get_var_dict()["m"]
    stop = zero.set_coefficient_val(kind, pos, 2).set_constant_val(-3)
    slab = (
        isl.BasicSet.universe(zero.get_domain_space())
        .add_constraint(isl.Constraint.inequality_from_aff(name - zero))
        .add_constraint(isl.Constraint.inequality_from_aff(stop - 1 - name))
        .add_constraint(isl.Constraint.equality_from_aff(name - 4 * (name // 4)))
    )
    values = stop.get_constant_val(), stop.get_coefficient_val(isl.dim_type.param, 1)
    return slab, stop, values, stop.is_cst(), zero.is_cst(), zero.plain_is_zero()


@program
def parameters_that_are_dimensions_elsewhere(isl: Any) -> Any:
    inner, outer = isl.Set("[n, i] -> { [k] : k = i + 5 and k < n }"), isl.Set("[n] -> { [i, j] : 0 <= i, j < n }")
    swapped = isl.Map("[a] -> { [k] -> [n] : k < n + a }")
    return [
        isl.align_two(inner, outer),
        isl.align_two(outer, inner),
        isl.align_spaces(isl.Set("{ [k, n] : k < n }"), isl.Set("[n] -> { [k] }")),
        isl.align_spaces(swapped, isl.Map("[n] -> { [k] -> [a] }"), obj_bigger_ok=True),
    ]


@program
def renamed_copies(isl: Any) -> Any:
    domain = isl.BasicSet("[n] -> { [i, j] : 0 <= i < n and 0 <= j <= i }")
    copy = domain
    for old, (kind, pos) in domain.get_var_dict().items():
        if kind == isl.dim_type.set:
            copy = copy.set_dim_name(kind, pos, old + "_0")
    first, second = isl.align_two(copy, domain)
    both = first & second
    names = both.get_var_names(isl.dim_type.set)
    return sorted(names), isl.align_spaces(both, isl.Set("[n] -> { [i, j, i_0, j_0, k] }").space)


@program
def dimensions_move(isl: Any) -> Any:
    t = isl.dim_type
    domain = isl.Set("[n, m] -> { [i, j, k] : 0 <= i < n and i <= j < m and k = 2i + j }")
    moved = domain.move_dims(t.param, 2, t.set, 0, 1)
    return (
        moved,
        moved.move_dims(t.set, 2, t.param, 0, 1),
        domain.insert_dims(t.set, 1, 2),
        domain.add_dims(t.param, 1),
        domain.project_out(t.set, 0, 2),
        domain.project_out(t.param, 0, 1),
        domain.project_out_except(["k", "n"], [t.set, t.param]),
        domain.eliminate(t.set, 1, 1),
        domain.fix_val(t.set, 0, 3),
        domain.lower_bound_val(t.param, 1, 3).upper_bound_val(t.set, 2, 9),
        domain.equate(t.set, 0, t.param, 1),
        domain.set_tuple_name("S").set_dim_name(t.set, 2, "z"),
        domain.align_params(isl.Space.create_from_names(isl.DEFAULT_CONTEXT, set=[], params=["m"])),
        domain.drop_constraints_involving_dims(t.set, 2, 1),
        [domain.dim(kind) for kind in (t.param, t.set)],
        domain.get_var_dict(),
        domain.find_dim_by_name(t.set, "k"),
        domain.find_dim_by_name(t.set, "n"),
        domain.get_dim_name(t.param, 1),
        domain.involves_dims(t.set, 0, 1),
    )


@program
def dimensions_of_relations_move(isl: Any) -> Any:
    t = isl.dim_type
    access = isl.Map("[n] -> { A[i, j] -> B[a] : a = i + n and 0 <= j < i }")
    return (
        access.move_dims(t.in_, 1, t.out, 0, 1),
        access.move_dims(t.param, 1, t.in_, 0, 1),
        access.project_out(t.in_, 1, 1),
        access.project_out(t.out, 0, 1),
        access.fix_val(t.in_, 0, 7),
        access.equate(t.in_, 1, t.out, 0),
        access.order_lt(t.in_, 1, t.out, 0),
        access.set_tuple_name(t.in_, "Z"),
        access.get_tuple_name(t.out),
        access.get_var_dict(),
        access.insert_dims(t.in_, 0, 1),
        isl.Map.universe(access.space),
        isl.Map.lex_lt(access.domain().space),
        isl.Map.identity(access.space.domain().map_from_set()),
    )


@program
def bounds_of_a_loop(isl: Any) -> Any:
    t = isl.dim_type
    domain = isl.Set("[n] -> { [i, j] : 0 <= i < n and 0 <= j <= 2i and i + j < 2n }")
    low, high = domain.dim_min(1), domain.dim_max(1)
    pieces = [aff for _, aff in high.get_pieces()]
    size = (high - low + 1).coalesce()
    whole = high.get_aggregate_domain()
    constant = all(aff.is_cst() for aff in pieces), {aff.dim(t.param) for aff in pieces}
    bound = isl.PwAff.alloc(whole, pieces[0])
    for aff in pieces[1:]:
        bound = bound.union_max(isl.PwAff.alloc(whole, aff))
    return low, high, size, size.max(isl.PwAff("[n] -> { [(4)] }")), whole, constant, bound.domain()


@program
def hulls_of_pieces(isl: Any) -> Any:
    pieces = isl.Set("{ [i] : 0 <= i <= 3 or 4 <= i <= 9 }").coalesce()
    parts = pieces.get_basic_sets()
    hull = isl.Set("{ [i, j] : 0 <= i, j <= 3; [i, j] : 2 <= i, j <= 6 }").simple_hull()
    return len(parts), parts[0], isl.Set.from_basic_set(parts[0]) <= pieces, hull.is_empty()


@program
def divisions_of_expressions(isl: Any) -> Any:
    t = isl.dim_type
    aff = isl.Aff("[n] -> { [i] -> [(2 + 3i - n + floor((i + 1)/4))] }")
    inner = aff.get_div(0)
    return (
        aff.dim(t.div),
        aff.get_coefficient_val(t.div, 0),
        inner.get_denominator_val(),
        inner,
        aff.set_coefficient_val(t.in_, 0, 0),
        aff.add_constant_val(5),
        aff.get_domain_space(),
        aff.floor(),
        aff.mod_val(5),
        aff.neg() + 3,
        (aff * 2).le_set(aff),
    )


@program
def parameters(isl: Any) -> Any:
    t = isl.dim_type
    params = isl.BasicSet("[n, m] -> { : 0 < n < m }")
    domain = isl.BasicSet("[n] -> { [i] : 0 <= i < n }")
    context = isl.Set.from_params(params.to_set())
    flat = isl.BasicSet.from_params(params)
    first, second = isl.align_two(domain, flat.add_dims(t.set, 1).set_dim_name(t.set, 0, "i"))
    return (
        domain.to_set().params(),
        domain.to_set().intersect_params(isl.Set("[n] -> { : n > 5 }")),
        context,
        first & second,
        domain.to_set().gist_params(isl.Set("[n] -> { : n > 5 }")),
        params.is_params(),
        domain.is_params(),
    )


@program
def spaces(isl: Any) -> Any:
    t = isl.dim_type
    space = isl.Space.create_from_names(
        isl.DEFAULT_CONTEXT, in_=["i", "j"], out=["a"], params=["n"]
    )
    named = space.set_tuple_name(t.in_, "S").set_tuple_name(t.out, "A")
    return (
        named,
        named.domain(),
        named.range().params(),
        named.reverse(),
        named.wrap(),
        named.wrap().unwrap(),
        named.wrap().is_wrapping(),
        named.domain().map_from_set(),
        named.insert_dims(t.out, 0, 1).dim(t.out),
        named.add_dims(t.param, 2).dim(t.param),
        named.drop_dims(t.in_, 0, 1),
        named.move_dims(t.out, 0, t.in_, 1, 1),
        named.get_tuple_name(t.in_),
        named == space,
        named.domain() == isl.Set("[n] -> { S[x, y] }").space,
        named.is_map(),
        named.domain().is_set(),
        isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 1, 2).dim(t.set),
        isl.Space.params_alloc(isl.DEFAULT_CONTEXT, 3).is_params(),
    )


@program
def counts(isl: Any) -> Any:
    triangle = isl.Set("[n] -> { [i, j] : 0 <= i < n and 0 <= j <= i }")
    count = triangle.card()
    return count, count.eval_with_dict({"n": 7}), count * count + count


@program
def extents(isl: Any) -> Any:
    domain = isl.Set("{ [i, j] : 3 <= i <= 12 and i mod 3 = 1 and j >= 2i }")
    strided = isl.Set("{ [i] : i mod 4 = 3 and 0 <= i < 50 }")
    info = strided.get_stride_info(0)
    return (
        domain.dim_min_val(0),
        domain.dim_max_val(0),
        domain.dim_max_val(1),
        domain.dim_min_val(1).is_zero(),
        info.get_stride(),
        strided.indicator_function(),
        strided.get_stride(0).is_one(),
        strided.count_val(),
        [domain.is_bounded(), strided.is_bounded()],
    )


@program
def numbers(isl: Any) -> Any:
    three = isl.Val(3)
    return (
        three + 4,
        three.neg(),
        three.div(isl.Val(2)).floor(),
        three.div(isl.Val(2)).is_int(),
        three.sub(isl.Val(3)).is_zero(),
        three.to_python(),
        three == 3,
        isl.Val(-1).is_negone(),
        isl.Val(7).mod(isl.Val(4)),
    )
