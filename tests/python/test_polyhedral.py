"""Dependences, schedules and code from Python, beside islpy's."""

from __future__ import annotations

import doctest
import importlib
import pickle
import re
from collections.abc import Iterator
from typing import Any

import pytest

ours = pytest.importorskip("tangram.isl")
islpy = pytest.importorskip("islpy", reason="needs islpy")

def test_the_documentation_is_true() -> None:
    names = ["", ".builds", ".constraints", ".flow", ".schedules"]
    modules = [importlib.import_module(f"tangram.polyhedral{name}") for name in names]
    results = [doctest.testmod(module) for module in modules]
    assert [result.failed for result in results] == [0] * len(names)
    assert all(result.attempted for result in results)


def test_kinds_have_the_names_that_programs_make_keys_of() -> None:
    for kind in ("BasicSet", "Set", "Map", "PwAff", "PwQPolynomial", "Schedule"):
        assert getattr(ours, kind)._base_name == getattr(islpy, kind)._base_name


DOMAIN = "[n] -> { S[i] : 0 <= i < n; T[i, j] : 0 <= i, j < n }"
WRITES = "[n] -> { S[i] -> x[i] : 0 <= i < n; T[i, j] -> x[i] : 0 <= i, j < n }"
READS = "[n] -> { T[i, j] -> x[i] : 0 <= i, j < n; T[i, j] -> y[j] : 0 <= i, j < n }"
ORDER = "[n] -> { S[i] -> [i, 0, 0] : 0 <= i < n; T[i, j] -> [i, 1, j] : 0 <= i, j < n }"


def flow(isl: Any) -> Any:
    info = isl.UnionAccessInfo.from_sink(isl.UnionMap(READS))
    info = info.set_must_source(isl.UnionMap(WRITES))
    return info.set_schedule_map(isl.UnionMap(ORDER)).compute_flow()


@pytest.mark.parametrize(
    "name",
    [
        "get_must_dependence",
        "get_may_dependence",
        "get_full_must_dependence",
        "get_full_may_dependence",
        "get_must_no_source",
        "get_may_no_source",
    ],
)
def test_dataflow_is_that_of_isl(name: str) -> None:
    expected, found = str(getattr(flow(islpy), name)()), getattr(flow(ours), name)()
    assert found == ours.Map(expected)


def test_kills_and_uncertain_writes_end_up_where_isl_puts_them() -> None:
    for isl in (ours, islpy):
        info = isl.UnionAccessInfo.from_sink(isl.UnionMap("{ R[] -> a[i] : 0 <= i < 9 }"))
        info = info.set_must_source(isl.UnionMap("{ M[] -> a[i] : 0 <= i < 5 }"))
        info = info.set_may_source(isl.UnionMap("{ W[] -> a[i] : 3 <= i < 9 }"))
        info = info.set_kill(isl.UnionMap("{ K[] -> a[i] : i = 4 }"))
        order = "{ M[] -> [0]; K[] -> [1]; W[] -> [2]; R[] -> [3] }"
        all_of_it = info.set_schedule_map(isl.UnionMap(order)).compute_flow()
        found = [
            str(all_of_it.get_full_must_dependence()),
            str(all_of_it.get_full_may_dependence()),
            str(all_of_it.get_must_no_source()),
            str(all_of_it.get_may_no_source()),
        ]
        if isl is ours:
            here = [ours.Map(text) for text in found]
    assert here == [ours.Map(text) for text in found]


def scheduled(isl: Any) -> Any:
    pairs = flow(isl).get_must_dependence()
    constraints = isl.ScheduleConstraints.on_domain(isl.UnionSet(DOMAIN))
    constraints = constraints.set_validity(pairs).set_proximity(pairs)
    return constraints.set_coincidence(pairs).compute_schedule()


def test_a_schedule_keeps_its_dependences() -> None:
    schedule = scheduled(ours)
    assert schedule.get_domain() == ours.Set(DOMAIN)
    times, pairs = schedule.get_map(), flow(ours).get_must_dependence()
    assert not pairs.is_empty()
    # isl's own order of the times of both ends.
    late = islpy.UnionMap(str(times)).lex_lt_union_map(islpy.UnionMap(str(times)))
    assert islpy.UnionMap(str(pairs)).is_subset(late)
    again = pickle.loads(pickle.dumps(schedule))
    assert again == schedule and hash(again) == hash(schedule)
    assert islpy.Schedule(str(schedule)).get_domain() == islpy.UnionSet(DOMAIN)
    assert schedule._repr_svg_().startswith("<svg")


def shape(node: Any) -> Any:
    """What a tree of isl or of ours is, without sets; islpy's sequences have no leaves to list."""
    kind = node.get_type().name
    held: list[Any] = [kind]
    if kind == "band":
        members = range(node.band_n_member())
        held += [node.band_get_permutable(), [node.band_member_get_coincident(i) for i in members]]
    return [*held, [shape(node.child(i)) for i in range(node.n_children())]]


TREE = """
domain: "[n] -> { S[i, j] : 0 <= i, j < n; T[i] : 0 <= i < n }"
child:
  context: "[n] -> { [] : n > 3 }"
  child:
    sequence:
    - filter: "{ S[i, j] }"
      child:
        mark: "kernel"
        child:
          schedule: "[{ S[i, j] -> [(i)] }, { S[i, j] -> [(j)] }]"
          permutable: 1
          coincident: [ 1, 0 ]
          options: "{ separate[0] }"
    - filter: "{ T[i] }"
      child:
        schedule: "[{ T[i] -> [(i)] }]"
"""


def test_trees_are_walked_as_in_isl() -> None:
    mine, theirs = ours.Schedule(TREE).get_root(), islpy.Schedule(TREE).get_root()
    assert shape(mine) == shape(theirs)
    sequence = mine.child(0).child(0)
    assert sequence.child(0).filter_get_filter() == ours.Set("[n] -> { S[i, j] }")
    assert mine.domain_get_domain() == ours.Schedule(TREE).get_domain()
    assert mine.child(0).context_get_context() == ours.Set("[n] -> { [] : n > 3 }")
    mark = sequence.child(0).child(0)
    assert mark.mark_get_id() == "kernel" and mark.get_tree_depth() == 4
    band = mark.child(0)
    their_band = theirs.child(0).child(0).child(0).child(0).child(0)
    assert band.band_get_ast_build_options() == ours.Set("{ separate[0] }")
    reached = band.get_domain()
    assert reached == ours.Set(str(their_band.get_domain()))
    leaf, their_leaf = band.child(0), their_band.child(0)
    assert leaf.get_schedule_depth() == their_leaf.get_schedule_depth() == 2
    for name, node, theirs_of_it in (
        ("band_get_partial_schedule_union_map", band, their_band),
        ("get_prefix_schedule_union_map", band, their_band),
        ("get_prefix_schedule_union_map", leaf, their_leaf),
    ):
        # isl's relations hold for all points, ours for the instances that are there.
        expected = ours.Map(str(getattr(theirs_of_it, name)())).intersect_domain(reached)
        assert getattr(node, name)().intersect_domain(reached) == expected, name
    second = sequence.child(1)
    assert second.has_previous_sibling() and not second.has_next_sibling()
    assert second.previous_sibling() == sequence.child(0) and second.get_child_position() == 1
    assert second.parent() == sequence and second.root() == mine
    assert [node.get_type().name for node in mine].count("leaf") == 2
    assert mine.every_descendant(lambda node: node.get_type() != ours.schedule_node_type.guard)
    for wrong in (mine.parent, mine.band_n_member, sequence.mark_get_id, lambda: mine.child(5)):
        with pytest.raises(ours.PresburgerError):
            wrong()


def instances(isl: Any, node: Any, values: dict[str, int]) -> Iterator[tuple[str, list[int]]]:
    """Runs generated code of either library by its nodes and expressions."""
    kind = node.get_type()
    if kind == isl.ast_node_type.for_:
        name = node.for_get_iterator().to_C_str()
        value = number(isl, node.for_get_init(), values)
        while number(isl, node.for_get_cond(), {**values, name: value}):
            yield from instances(isl, node.for_get_body(), {**values, name: value})
            value += number(isl, node.for_get_inc(), values)
    elif kind == isl.ast_node_type.if_:
        if number(isl, node.if_get_cond(), values):
            yield from instances(isl, node.if_get_then_node(), values)
        elif node.if_has_else_node():
            yield from instances(isl, node.if_get_else_node(), values)
    elif kind == isl.ast_node_type.block:
        children = node.block_get_children()
        if isl is islpy:
            children = [children.get_at(i) for i in range(children.n_ast_node())]
        for child in children:
            yield from instances(isl, child, values)
    elif kind == isl.ast_node_type.mark:
        yield from instances(isl, node.mark_get_node(), values)
    else:
        call = node.user_get_expr()
        arguments = [call.op_get_arg(i) for i in range(1, call.op_get_n_arg())]
        yield call.op_get_arg(0).to_C_str(), [number(isl, one, values) for one in arguments]


def number(isl: Any, expr: Any, values: dict[str, int]) -> int:
    """The value of an expression of either library."""
    kind = expr.get_type()
    if kind == isl.ast_expr_type.int:
        return int(expr.int_get_val().to_python())
    if kind == isl.ast_expr_type.id:
        return values[expr.to_C_str()]
    arguments = [number(isl, expr.op_get_arg(i), values) for i in range(expr.op_get_n_arg())]
    name = expr.op_get_type().name
    operations: dict[str, Any] = {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "minus": lambda a: -a,
        "fdiv_q": lambda a, b: a // b,
        "pdiv_q": lambda a, b: a // b,
        "div": lambda a, b: a // b,
        "pdiv_r": lambda a, b: a % b,
        "zdiv_r": lambda a, b: a % b,
        "min": min,
        "max": max,
        "and_": lambda *all_of_it: all(all_of_it),
        "or_": lambda *some: any(some),
        "eq": lambda a, b: a == b,
        "le": lambda a, b: a <= b,
        "lt": lambda a, b: a < b,
        "ge": lambda a, b: a >= b,
        "gt": lambda a, b: a > b,
    }
    return operations[name](*arguments)


@pytest.mark.parametrize(
    "schedule",
    [
        "[n] -> { S[i] -> [i] : 0 <= i < n }",
        "[n] -> { S[i, j] -> [i + j, j] : 0 <= i < n and 0 <= j <= i }",
        "[n] -> { S[i] -> [i, 0] : 0 <= i < n and i mod 3 = 1; T[i] -> [i, 1] : 2 <= 2i <= n }",
        "[n] -> { S[i, j] -> [floor(i/4), floor(j/4), i, j] : 0 <= i, j < n and j >= i - 5 }",
        "{ }",
    ],
)
def test_code_runs_the_instances_of_the_schedule_in_order(schedule: str) -> None:
    n = 11
    runs = []
    for isl in (ours, islpy):
        build = isl.AstBuild.from_context(isl.Set("[n] -> { : n >= 0 }"))
        node = build.node_from_schedule_map(isl.UnionMap(schedule))
        runs.append(list(instances(isl, node, {"n": n})))
    assert runs[0] == runs[1]
    points = ours.Map(schedule).bind(n=n) if "n" in schedule else ours.Map(schedule)
    assert len(runs[0]) == len(points)


def test_code_of_trees_has_marks_and_text() -> None:
    build = ours.AstBuild.from_context(ours.Set("[n] -> { [] : n > 3 }"))
    node = build.node_from_schedule(ours.Schedule(TREE))
    theirs = islpy.AstBuild.from_context(islpy.Set("[n] -> { : n > 3 }"))
    theirs = theirs.node_from_schedule(islpy.Schedule(TREE))
    found, expected = (list(instances(isl, one, {"n": 5})) for isl, one in ((ours, node), (islpy, theirs)))
    assert found == expected and len(found) == 30
    first = node.block_get_children()[0]
    assert first.get_type() == ours.ast_node_type.mark and first.mark_get_id() == "kernel"
    assert "kernel" in first.to_C_str() and "T(" not in first.to_C_str()
    assert re.fullmatch(r"c0 <= n - 1", first.mark_get_node().for_get_cond().to_C_str())
    assert "floord" in ours.AstNode.macros()
    for wrong in (first.for_get_init, node.user_get_expr, first.mark_get_node().if_get_cond):
        with pytest.raises(ours.PresburgerError):
            wrong()


def test_schedules_are_made_and_joined() -> None:
    first = ours.Schedule.from_domain(ours.Set("{ A[i] : 0 <= i < 2 }"))
    second = ours.Schedule.from_map(ours.Map("{ B[i] -> [-i] : 0 <= i < 2 }"))
    code = ours.AstBuild().node_from_schedule(first.sequence(second))
    assert [name for name, _ in instances(ours, code, {})] == ["A", "A", "B", "B"]
    assert [at for name, at in instances(ours, code, {}) if name == "B"] == [[1], [0]]
    both = first.set(second).get_root().child(0)
    assert both.get_type() == ours.schedule_node_type.set and both.n_children() == 2


def test_constraints_are_read_and_written() -> None:
    text = '{ domain: "{ S[i] : 0 <= i < 9 }", validity: "{ S[i] -> S[i + 1] }" }'
    constraints = ours.ScheduleConstraints(text)
    assert constraints.get_validity() == ours.Map("{ S[i] -> S[i + 1] }")
    again = pickle.loads(pickle.dumps(constraints))
    assert again.get_domain() == constraints.get_domain() == ours.Set("{ S[i] : 0 <= i < 9 }")
    assert str(islpy.ScheduleConstraints(str(constraints)).get_domain()) == "{ S[i] : 0 <= i <= 8 }"
    back = constraints.set_validity(ours.Map("{ S[i] -> S[j] }"))
    with pytest.raises(ours.PresburgerError):
        back.compute_schedule()
    with pytest.raises(ours.PresburgerError, match="line 1"):
        ours.ScheduleConstraints('{ domain: "{ S[i : }" }')


def test_limits_end_schedulers_too() -> None:
    with pytest.raises(ours.PresburgerError, match="limits"), ours.limits(steps=50):
        scheduled(ours)
