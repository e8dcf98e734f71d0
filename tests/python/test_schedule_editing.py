"""Schedule trees are changed from Python, the calculator and the command, and as islpy changes them."""

from __future__ import annotations

import functools
import json
import os
import pathlib
import subprocess
import sys
from typing import Any

import pytest
import schedule_programs
from schedule_programs import PROGRAMS, TREES, Program, described

ours = pytest.importorskip("tangram.isl")
from tangram import _native  # noqa: E402

STEPS = pathlib.Path(__file__).resolve().parents[2] / "crates/polyhedral/tests/steps.txt"
PAIRS = {
    "stencil": "[n] -> { P[i] -> C[i] : 1 <= i <= n; P[i] -> C[i + 1] : 0 <= i < n }",
    "time": "[n] -> { S[t, i] -> S[t + 1, k] : 0 <= t < n - 1 and 0 <= i, k < 6 and i - 1 <= k <= i + 1 }",
}


def cases() -> list[tuple[str, str, str, str]]:
    lines = (line for line in STEPS.read_text().splitlines() if not line.startswith("#"))
    return [tuple(line.split(" | ")) for line in lines]  # type: ignore[misc]


CASES = cases()


def edited(tree: str, steps: str) -> str:
    pairs = ours.Map(PAIRS[tree]) if tree in PAIRS else None
    return str(ours.Schedule(TREES[tree]).do(steps, pairs))


def test_there_is_a_case_for_each_step() -> None:
    assert {name for name, *_ in CASES} == {name for name, *_ in _native.ScheduleTree.steps()}


@pytest.mark.parametrize(("name", "tree", "first", "step"), CASES, ids=[c[0] for c in CASES])
def test_steps_from_python(name: str, tree: str, first: str, step: str) -> None:
    going = name in {"root", "parent", "child", "next", "previous", "find", "find_mark"}
    before, after = edited(tree, first), edited(tree, f"{first}; {step}")
    assert (before == after) == going
    ours.Schedule(after)
    # The step is a method of the node, too.
    method = getattr(ours.ScheduleNode, name, None)
    if method is not None and method.__module__ == "tangram.polyhedral.editing" and method.__name__ == name:
        node = ours.Schedule(TREES[tree]).get_root().do(first)
        if "{" not in step and tree not in PAIRS and step.startswith(name) and method.__doc__.endswith("step."):
            assert str(method(node, *step.split()[1:]).get_schedule()) == after


@pytest.mark.parametrize(("name", "tree", "first", "step"), CASES, ids=[c[0] for c in CASES])
def test_steps_from_the_command(
    name: str, tree: str, first: str, step: str, tmp_path: pathlib.Path
) -> None:
    path = tmp_path / "tree.st"
    path.write_text(TREES[tree])
    given = ["--respecting", PAIRS[tree]] if tree in PAIRS else []
    run = command("schedule", str(path), "--do", f"{first}; {step}", *given)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout == edited(tree, f"{first}; {step}")


@pytest.mark.parametrize(("name", "tree", "first", "step"), CASES, ids=[c[0] for c in CASES])
def test_steps_from_the_calculator(
    name: str, tree: str, first: str, step: str, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "tree").write_text(TREES[tree])
    pairs = f" respecting {PAIRS[tree]}" if tree in PAIRS else ""
    program = tmp_path / "edit.calc"
    program.write_text(f'S := read "tree"; print edit S using "{first}; {step}"{pairs};')
    run = command("calc", "--allow-files", str(program), cwd=tmp_path)
    assert run.stdout.strip() == edited(tree, f"{first}; {step}").strip(), run.stderr


def command(*arguments: str, cwd: pathlib.Path | None = None) -> subprocess.CompletedProcess[str]:
    binary = os.environ.get("TANGRAM_BIN")
    if not binary:
        pytest.skip("needs the command in TANGRAM_BIN")
    return subprocess.run([binary, *arguments], capture_output=True, text=True, cwd=cwd, timeout=120)


# Forms of schedules.

FORMS = {
    "map": ("{ S[i] -> [i, 0] : 0 <= i < 4; T[i] -> [i, 1] : 0 <= i < 4 }", "from_map", "get_map"),
    "many-valued": ("{ S[i] -> [i] : 0 <= i < 4; S[i] -> [i + 9] : 1 <= i < 3 }", "from_map_with_copies",
                    "get_map_of_roots"),
    "kelly": ("{ S[i] -> [i, 0] : 0 <= i < 4; T[i, j] -> [i, 1, j] : 0 <= i, j < 4 }", "from_kelly",
              "get_kelly"),
    "regular": ("{ S[i] -> [0, i, 0] : 0 <= i < 4; T[i, j] -> [0, i, 1, j, 0] : 0 <= i, j < 4 }",
                "from_regular", "get_regular"),
    "affine": ("{ S[i] -> [i] : 0 <= i < 4; T[i, j] -> [j, i] : 0 <= i, j < 4 }", "from_affine_functions",
               "get_affine_functions"),
}  # fmt: skip
CALCULATOR = {
    "map": ("tree", "map"),
    "many-valued": ("tree_with_copies", "map_of_roots"),
    "kelly": ("tree_of_kelly", "kelly"),
    "regular": ("tree_of_kelly", "regular"),
    "affine": ("tree_of_affine", "affine"),
}


def test_every_form_has_all_three_ways() -> None:
    assert set(FORMS) == set(CALCULATOR) == set(_native.ScheduleTree.forms())
    said = command("schedule", "--help").stdout
    for form in FORMS:
        assert said.count(f"- {form}:") == 2, form


def test_instances_alone_are_a_tree(tmp_path: pathlib.Path) -> None:
    text = "[n] -> { S[i] : 0 <= i < n }"
    tree = ours.Schedule.from_domain(ours.Set(text))
    path = tmp_path / "set"
    path.write_text(text)
    assert command("schedule", str(path)).stdout == str(tree)
    (tmp_path / "domain.calc").write_text(f"print tree ({text});")
    assert command("calc", "--allow-files", str(tmp_path / "domain.calc")).stdout.strip() == str(tree).strip()


# What other methods of islpy do that give a tree or a node: they make, read, copy or go.
NO_STEPS = {
    "ancestor", "copy", "empty", "first_child", "from_domain", "from_extension", "get_child", "get_root",
    "get_schedule", "get_shared_ancestor", "grandchild", "grandparent", "map_descendant_bottom_up",
    "map_schedule_node_bottom_up", "read_from_str", "align_params", "reset_user",
}  # fmt: skip


def test_all_that_islpy_does_to_a_tree_is_a_step() -> None:
    islpy = pytest.importorskip("islpy", reason="needs islpy")
    steps = {isl for _, isl, _ in _native.ScheduleTree.steps()} - {""}
    makes = set()
    for kind in (islpy.Schedule, islpy.ScheduleNode):
        for name in dir(kind):
            says = (getattr(kind, name).__doc__ or "").splitlines()
            if not name.startswith("_") and any("-> Schedule" in line for line in says[:1]):
                makes.add(name)
    assert len(makes) > 40
    assert makes - NO_STEPS <= steps, "no step does this"
    assert steps <= makes | {"insert_extension"}, "islpy has no such name"


INNER = '{ domain: "{ A[i, j] : 0 <= j < 2; T[i] }", child: { schedule: "[{ A[i, j] -> [(-j)]; T[i] -> [(0)] }]" } }'
LATER = '{ domain: "{ X[i] : 0 <= i < 3 }", child: { schedule: "[{ X[i] -> [(-i)] }]" } }'
FUNCTION = "{ A[i, j] -> S[i]; T[i] -> T[i] }"


@pytest.mark.parametrize(
    ("tree", "step", "method"),
    [
        ("rows", f"then {LATER}", lambda s: s.sequence(ours.Schedule(LATER))),
        ("rows", f"beside {LATER}", lambda s: s.set(ours.Schedule(LATER))),
        ("rows", "intersect_domain { S[i] : i > 2 }", lambda s: s.intersect_domain(ours.Set("{ S[i] : i > 2 }"))),
        ("stencil", "gist_domain_params [n] -> { : n > 0 }",
         lambda s: s.gist_domain_params(ours.Set("[n] -> { : n > 0 }"))),
        ("rows", f"pullback {FUNCTION}",
         lambda s: s.pullback_union_pw_multi_aff(ours.UnionPwMultiAff("{ A[i, j] -> S[(i)]; T[i] -> T[(i)] }"))),
        ("rows", f"expand {FUNCTION} {INNER}",
         lambda s: s.expand(ours.UnionPwMultiAff("{ A[i, j] -> S[(i)]; T[i] -> T[(i)] }"), ours.Schedule(INNER))),
        ("nest", "find sequence; insert_expansion G", lambda s: s.get_root().child(0).child(0).group("G").get_schedule()),
        ("nest", f"find sequence; graft_before {LATER}",
         lambda s: s.get_root().child(0).child(0).graft_before(ours.Schedule(LATER).get_root()).get_schedule()),
        ("nest", "find band; isolate_loop_type 0 unroll",
         lambda s: s.get_root().child(0).band_member_set_isolate_ast_loop_type(0, ours.ast_loop_type.unroll).get_schedule()),
        ("rows", "find sequence; group 0 2; splice_all",
         lambda s: s.get_root().do("find sequence; group 0 2; root").child(0).sequence_splice_children().get_schedule()),
    ],
)  # fmt: skip
def test_steps_do_what_methods_of_islpys_name_do(tree: str, step: str, method: Any) -> None:
    schedule = ours.Schedule(TREES[tree])
    assert_same(described(schedule.do(step).get_root()), described(method(schedule).get_root()))


def test_operands_of_steps_are_values(tmp_path: pathlib.Path) -> None:
    root = ours.Schedule(TREES["rows"]).get_root()
    later = ours.Schedule(LATER)
    both = root.then(later).get_schedule()
    assert str(both) == str(root.get_schedule().sequence(later)) == str(root.do(f"sequence {LATER}").get_schedule())
    # Quotes in a text are doubled: dimensions of one name have one.
    primed = ours.Map("{ A[i] -> S[i'] : i' = i; T[i] -> T[i'] : i' = i }")
    assert "'" in str(primed)
    moved = root.pullback(primed).get_schedule()
    assert moved.get_domain() == ours.Set("[n] -> { A[i] : 0 <= i < n; T[i] : 0 <= i < n }")
    (tmp_path / "s").write_text(TREES["rows"])
    (tmp_path / "t").write_text("domain: '{ X[i] : 0 <= i < 3 }'\nchild:\n  schedule: '[{ X[i] -> [(-i)] }]'\n")
    program = tmp_path / "both.calc"
    program.write_text('print in_sequence(read "s", read "t"); print in_set(read "s", read "t");')
    said = command("calc", "--allow-files", str(program), cwd=tmp_path)
    assert said.stdout.split("domain:")[1].strip() == str(both).removeprefix("domain:").strip(), said.stderr


@pytest.mark.parametrize("form", FORMS)
def test_forms_go_to_trees_and_back(form: str, tmp_path: pathlib.Path) -> None:
    text, make, show = FORMS[form]
    tree = getattr(ours.Schedule, make)(ours.Map(text))
    assert getattr(tree, show)() == ours.Map(text)
    path = tmp_path / "map"
    path.write_text(text)
    run = command("schedule", str(path), "--from", form, "--format", form)
    assert (run.stderr, ours.Map(run.stdout)) == ("", ours.Map(text))
    there, back = CALCULATOR[form]
    program = tmp_path / "forms.calc"
    program.write_text(f"assert {back} ({there} ({text})) = {text};")
    run = command("calc", "--allow-files", str(program))
    assert (run.returncode, run.stderr) == (0, "")


def test_bands_that_no_instance_reaches_have_members() -> None:
    text = '{ domain: "{ S[i] }", child: { filter: "{ }", child: { schedule: "[{ }, { }]" } } }'
    band = ours.Schedule(text).get_root().child(0).child(0)
    nothing = ours.MultiUnionPwAff("[{ }, { }]")
    assert str(band.band_get_partial_schedule()) == str(nothing)
    assert band.band_shift(nothing).band_n_member() == 2


# Programs for islpy.


def of_islpy(*arguments: str) -> list[dict[str, Any]]:
    """What islpy makes of programs, in a process of its own."""
    pytest.importorskip("islpy", reason="needs islpy")
    command = [sys.executable, schedule_programs.__file__, *arguments]
    run = subprocess.run(command, capture_output=True, text=True, timeout=900)
    return [json.loads(line) for line in run.stdout.splitlines()]


@functools.cache
def islpys() -> dict[str, list[dict[str, Any]]]:
    return {line["name"]: line["nodes"] for line in of_islpy()}


def values(entry: dict[str, Any]) -> dict[str, Any]:
    """A node whose texts are sets and relations."""
    kinds = {"options": ours.Set, "set": ours.Set, "schedule": ours.Map, "extension": ours.Map,
             "expansion": ours.Map, "domain": ours.Set}  # fmt: skip
    made = {
        key: kinds[key](value) if key in kinds and value is not None else value
        for key, value in entry.items()
    }
    # The schedule of a band counts on the instances that reach it.
    if made.get("schedule") is not None and made["domain"] is not None:
        made["schedule"] = made["schedule"].intersect_domain(made["domain"])
    return made


def assert_same(found: list[dict[str, Any]], expected: list[dict[str, Any]]) -> None:
    assert [entry["kind"] for entry in found] == [entry["kind"] for entry in expected]
    for one, other in zip(map(values, found), map(values, expected), strict=True):
        if other.get("domain", 0) is None:
            del one["domain"], other["domain"]
        assert one == other


@pytest.mark.parametrize("run", PROGRAMS, ids=lambda run: run.__name__)
def test_programs_for_islpy_that_edit_trees_run(run: Program) -> None:
    expected = islpys()
    assert run.__name__ in expected, "islpy ended"
    assert_same(described(run(ours)), expected[run.__name__])


def nested(entries: list[dict[str, Any]]) -> Any:
    """A tree without what no instance reaches, filters that let all pass, and lists of one child.

    Where islpy takes such nodes out on the way and where not is a matter of its own.
    """
    made = [values(entry) for entry in entries]
    below: list[list[Any]] = [[] for _ in made]
    for at in reversed(range(len(made))):
        entry, children = made[at], below[at]
        reached = entry.get("domain")
        if reached is not None and reached.is_empty():
            children, entry = [], {"kind": "leaf", "domain": reached}
        elif entry["kind"] in {"sequence", "set"}:
            children = [child for child in children if child[0] != "nothing"]
            if len(children) == 1:
                entry, children = children[0][1][0], children[0][1][1]
        new: Any = (entry, children)
        if entry["kind"] == "filter" and children:
            inside = children[0][0].get("domain")
            empty = inside is not None and inside.is_empty()
            in_list = made[above(made, at)]["kind"] in {"sequence", "set"}
            if in_list:
                new = ("nothing" if empty else "filter", children[0])
            elif inside is not None and inside == reached:
                new = children[0]
        if at == 0:
            return new
        below[above(made, at)].insert(0, new)
    return None


def above(entries: list[dict[str, Any]], at: int) -> int:
    """The position of the node above one, in the order from the root down."""
    return max(i for i in range(at) if entries[i]["depth"] < entries[at]["depth"]) if at else 0


def plain(tree: Any) -> Any:
    """A nested tree without depths, and without what islpy does not know."""
    kind, children = tree
    if kind == "filter":
        return ["filter", plain(children)]
    held = {key: value for key, value in kind.items() if key not in {"depth", "domain"}}
    return [held, kind.get("domain"), [plain(child) for child in children]]


def loses(schedule: Any) -> bool:
    """Whether filters hold instances back: what is kept of nodes that order them is free."""
    return not schedule.get_domain() <= schedule.get_map_of_roots().domain()


# islpy's trees may have bands that give instances no value, and expansions that leave some out.
REFUSED = ("gives no value", "have no expansion")


def judged(count: int) -> None:
    """Edits so many random trees as islpy does, one step at a time."""
    expected = of_islpy(str(count))
    # Of the others, islpy's process ended.
    assert len({line["seed"] for line in expected}) > 0.97 * count
    wrong, refused = [], 0
    for line in expected:
        seed, step = line["seed"], line["step"]
        try:
            before = ours.Schedule(line["before"])
            node = schedule_programs.stepped(ours, before, seed, step)
            same = plain(nested(described(node)[1:])) == plain(nested(line["nodes"][1:]))
            if not same and not loses(before):
                wrong.append(f"seed {seed}, step {step}: {node.get_schedule()}")
        except ours.Error as error:
            known = any(text in str(error) for text in REFUSED)
            refused += known
            wrong += [f"seed {seed}, step {step}: {error}"] * (not known)
    print(f"{len(expected)} steps on {count} trees, {refused} refused")
    assert refused < 0.05 * len(expected)
    assert not wrong, f"{len(wrong)} of {len(expected)}: " + "\n".join(wrong[:5])


def test_random_programs_make_islpys_trees() -> None:
    judged(60)


@pytest.mark.long
def test_many_random_programs_make_islpys_trees() -> None:
    judged(3000)


GROUPED = """domain: "[n] -> { G[i] : 0 <= i < n; T[i] : 0 <= i < n }"
child:
  schedule: "[{ G[i] -> [(i)]; T[i] -> [(i)] }]"
  child:
    sequence:
    - filter: "{ G[i] }"
      child:
        contraction: "{ S[i, j] -> G[(i)] }"
        expansion: "[n] -> { G[i] -> S[i, j] : 0 <= j < n }"
        child:
          schedule: "[{ S[i, j] -> [(j)] }]"
    - filter: "{ T[i] }"
"""


@pytest.mark.parametrize("text", [*TREES.values(), GROUPED])
def test_what_is_below_a_node_is_what_islpy_says(text: str) -> None:
    islpy = pytest.importorskip("islpy", reason="needs islpy")
    pairs = [(ours.Schedule(text).get_root().child(0), islpy.Schedule(text).get_root().child(0))]
    while pairs:
        one, other = pairs.pop()
        assert one.is_subtree_anchored() == other.is_subtree_anchored()
        # islpy's are of all points where nothing is expanded.
        expansion = ours.Map(str(other.get_subtree_expansion())).intersect_domain(one.get_domain())
        assert one.get_subtree_expansion() == expansion
        contraction = ours.Map(str(other.get_subtree_contraction())).intersect_range(one.get_domain())
        contraction = contraction.intersect_domain(expansion.range())
        assert one.get_subtree_contraction().as_union_map() == contraction
        below = ours.Map(str(other.get_subtree_schedule_union_map()))
        below = below.intersect_domain(expansion.range())
        assert one.get_subtree_schedule_union_map() == below
        if one.get_type().name == "band":
            assert one.band_get_space() == ours.Space(str(other.band_get_space().range()))
        pairs += [(one.child(at), other.child(at)) for at in range(other.n_children())]


@pytest.mark.parametrize(
    ("kind", "anchored"),
    [('schedule: "[{ S[i] -> [(-i)] }]"', False), ('context: "{ [i] : i > 0 }"', True), ('guard: "{ [i] : i > 0 }"', True)],
)
def test_subtrees_that_speak_of_outer_bands_are_anchored(kind: str, anchored: bool) -> None:
    text = '{ domain: "{ S[i] : 0 <= i < 9 }", child: { schedule: "[{ S[i] -> [(i)] }]", child: { %s } } }'
    for isl in (ours, pytest.importorskip("islpy", reason="needs islpy")):
        node = isl.Schedule(text % kind).get_root()
        assert node.child(0).is_subtree_anchored() is anchored


def test_schedules_are_expanded_and_gisted_as_islpy_does() -> None:
    islpy = pytest.importorskip("islpy", reason="needs islpy")
    maps = []
    for isl in (ours, islpy):
        outer = isl.Schedule(TREES["rows"])
        inner = isl.Schedule(
            '{ domain: "[n] -> { A[i, j] : 0 <= i < n and 0 <= j < n; B[i] : 0 <= i < n }", child: '
            '{ schedule: "[{ A[i, j] -> [(-j)]; B[i] -> [(0)] }]" } }'
        )
        groups = isl.UnionPwMultiAff("{ A[i, j] -> S[(i)]; B[i] -> T[(i)] }")
        facts = isl.Set("[n] -> { : n >= 3 }")
        gisted = outer.gist_domain_params(facts)
        assert ours.Set(str(gisted.get_domain())) == ours.Set("[n] -> { S[i] : 0 <= i < n; T[i] : 0 <= i < n }")
        maps.append(ours.Map(str(outer.expand(groups, inner).get_map())))
        assert outer.align_params(facts.get_space()).plain_is_equal(outer) or isl is islpy
    # islpy's map says no more of the instances than the tree's nodes do.
    assert maps[0] == maps[1].intersect_domain(maps[0].domain())
    assert not maps[0].is_empty()


# Names of islpy's that mean nothing here: memory, debugging, and what is only of C.
ABSENT = {"dump", "get_ctx", "reset_user"}


def test_all_names_of_islpy_are_there() -> None:
    islpy = pytest.importorskip("islpy", reason="needs islpy")
    for kind in ("Schedule", "ScheduleNode"):
        names = {name for name in dir(getattr(islpy, kind)) if not name.startswith("_")}
        missing = names - set(dir(getattr(ours, kind))) - ABSENT
        assert not missing, kind
