"""Schedule trees are changed from Python, the calculator and the command, and as islpy changes them."""

from __future__ import annotations

import os
import pathlib
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

ours = pytest.importorskip("tangram.isl")
from tangram import _native  # noqa: E402

STEPS = pathlib.Path(__file__).resolve().parents[2] / "crates/polyhedral/tests/steps.txt"
TREES = {
    "nest": """domain: "[n] -> { S[i, j] : 0 <= i < n and 0 <= j < 4; T[i, j] : 0 <= i < n and 0 <= j < 4 }"
child:
  schedule: "[{ S[i, j] -> [(i)]; T[i, j] -> [(i)] }, { S[i, j] -> [(j)]; T[i, j] -> [(j)] }]"
  permutable: 1
  coincident: [ 1, 0 ]
  child:
    sequence:
    - filter: "{ S[i, j] }"
    - filter: "{ T[i, j] }"
""",
    "rows": """domain: "[n] -> { S[i] : 0 <= i < n; T[i] : 0 <= i < n }"
child:
  sequence:
  - filter: "{ S[i] }"
    child:
      schedule: "[{ S[i] -> [(i)] }]"
  - filter: "{ T[i] }"
    child:
      schedule: "[{ T[i] -> [(i)] }]"
""",
    "stencil": """domain: "[n] -> { P[i] : 0 <= i <= n and n > 0; C[i] : 1 <= i <= n }"
child:
  sequence:
  - filter: "{ P[i] }"
    child:
      schedule: "[{ P[i] -> [(i)] }]"
  - filter: "{ C[i] }"
    child:
      schedule: "[{ C[i] -> [(i)] }]"
""",
    "time": """domain: "[n] -> { S[t, i] : 0 <= t < n and 0 <= i < 6 }"
child:
  schedule: "[{ S[t, i] -> [(t)] }, { S[t, i] -> [(t + i)] }]"
""",
}
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
    run = command("calc", str(program), cwd=tmp_path)
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
    run = command("calc", str(program))
    assert (run.returncode, run.stderr) == (0, "")


# Programs for islpy.

Program = Callable[[Any], Any]
PROGRAMS: list[Program] = []


def program(function: Program) -> Program:
    PROGRAMS.append(function)
    return function


def points(isl: Any, schedule: Any) -> Any:
    """What a tree says, in a form that both libraries have: its map, and all its nodes."""
    nodes: list[Any] = []

    def note(node: Any) -> bool:
        kind = node.get_type().name
        entry: list[Any] = [kind]
        if kind == "band":
            entry.append(node.band_get_permutable())
            count = node.band_n_member()
            entry += [node.band_member_get_coincident(at) for at in range(count)]
            entry.append(ours.Map(str(node.band_get_partial_schedule_union_map())))
            entry.append(ours.Set(str(node.band_get_ast_build_options())))
        elif kind in {"filter", "domain"}:
            entry.append(ours.Set(str(node.get_domain())) if kind == "domain" else None)
        elif kind in {"context", "guard"}:
            held = node.context_get_context() if kind == "context" else node.guard_get_guard()
            entry.append(ours.Set(str(held)))
        elif kind == "extension":
            entry.append(ours.Map(str(node.extension_get_extension())))
        elif kind == "mark":
            entry.append(str(getattr(node.mark_get_id(), "name", node.mark_get_id())))
        if kind not in {"domain", "leaf"} and node.has_children():
            entry.append(ours.Set(str(node.child(0).get_domain())))
        # The schedule of a band counts on the instances that reach it.
        if kind == "band":
            entry[-3] = entry[-3].intersect_domain(ours.Set(str(node.get_domain())))
        nodes.append(entry)
        return True

    schedule.get_root().foreach_descendant_top_down(note)
    return nodes


def nest(isl: Any) -> Any:
    return isl.Schedule(TREES["nest"]).get_root().child(0)


def rows(isl: Any) -> Any:
    return isl.Schedule(TREES["rows"]).get_root().child(0)


@program
def band_tile(isl: Any) -> Any:
    return nest(isl).band_tile(isl.MultiVal("{ [32, 8] }"))


@program
def band_split(isl: Any) -> Any:
    return nest(isl).band_split(1)


@program
def band_split_and_tile(isl: Any) -> Any:
    return nest(isl).band_split(1).child(0).band_tile(isl.MultiVal("{ [4] }")).insert_mark(isl.Id("tiles"))


@program
def band_sink(isl: Any) -> Any:
    return nest(isl).band_sink()


@program
def band_scale(isl: Any) -> Any:
    return nest(isl).band_scale(isl.MultiVal("{ [2, 3] }"))


@program
def band_scale_down(isl: Any) -> Any:
    return nest(isl).band_scale_down(isl.MultiVal("{ [2, 3] }"))


@program
def band_mod(isl: Any) -> Any:
    return nest(isl).band_mod(isl.MultiVal("{ [2, 3] }"))


@program
def band_shift(isl: Any) -> Any:
    text = "[n] -> [{ S[i, j] -> [(n)]; T[i, j] -> [(0)] }, { S[i, j] -> [(i)]; T[i, j] -> [(1)] }]"
    return nest(isl).band_shift(isl.MultiUnionPwAff(text))


@program
def band_set_permutable(isl: Any) -> Any:
    return nest(isl).band_set_permutable(0)


@program
def band_member_set_coincident(isl: Any) -> Any:
    return nest(isl).band_member_set_coincident(1, 1).band_member_set_coincident(0, 0)


@program
def band_set_ast_build_options(isl: Any) -> Any:
    return nest(isl).band_set_ast_build_options(isl.UnionSet("{ separate[x] : 0 <= x <= 1 }"))


@program
def band_member_set_ast_loop_type(isl: Any) -> Any:
    band = nest(isl).band_member_set_ast_loop_type(0, isl.ast_loop_type.unroll)
    return band.band_member_set_ast_loop_type(1, isl.ast_loop_type.separate)


@program
def insert_mark(isl: Any) -> Any:
    return nest(isl).child(0).child(1).child(0).insert_mark(isl.Id("inner"))


@program
def insert_filter(isl: Any) -> Any:
    return nest(isl).insert_filter(isl.UnionSet("{ S[i, j] : i > 0; T[i, j] }"))


@program
def insert_context(isl: Any) -> Any:
    return nest(isl).insert_context(isl.Set("[n] -> { [] : n > 0 }"))


@program
def insert_guard(isl: Any) -> Any:
    return nest(isl).child(0).insert_guard(isl.Set("[n] -> { [a, b] : a > b }"))


@program
def insert_partial_schedule(isl: Any) -> Any:
    band = isl.MultiUnionPwAff("[{ S[i, j] -> [(i + j)]; T[i, j] -> [(2i)] }]")
    return nest(isl).child(0).insert_partial_schedule(band)


@program
def insert_sequence(isl: Any) -> Any:
    first = isl.UnionSetList.from_union_set(isl.UnionSet("{ S[i, j]; T[i, j] : j > 1 }"))
    return nest(isl).insert_sequence(first.add(isl.UnionSet("{ T[i, j] : j <= 1 }")))


@program
def insert_set(isl: Any) -> Any:
    first = isl.UnionSetList.from_union_set(isl.UnionSet("{ S[i, j] }"))
    return nest(isl).insert_set(first.add(isl.UnionSet("{ T[i, j] }")))


@program
def order_before(isl: Any) -> Any:
    return nest(isl).order_before(isl.UnionSet("{ S[i, j] : i = 0 }"))


@program
def order_after_below_a_filter(isl: Any) -> Any:
    return nest(isl).child(0).child(0).child(0).order_after(isl.UnionSet("{ S[i, j] : i = 0 }"))


@program
def sequence_splice_child(isl: Any) -> Any:
    inner = isl.UnionSetList.from_union_set(isl.UnionSet("{ S[i] : i > 2 }"))
    inner = inner.add(isl.UnionSet("{ S[i] : i <= 2 }"))
    return rows(isl).child(0).child(0).insert_sequence(inner).parent().parent().sequence_splice_child(0)


@program
def graft_before(isl: Any) -> Any:
    graft = isl.ScheduleNode.from_extension(isl.UnionMap("[n] -> { [a, b] -> X[k] : 0 <= k < a }"))
    return nest(isl).child(0).graft_before(graft)


@program
def graft_after(isl: Any) -> Any:
    graft = isl.ScheduleNode.from_extension(isl.UnionMap("[n] -> { [] -> X[k] : 0 <= k < n }"))
    return nest(isl).graft_after(graft)


@program
def delete_and_cut(isl: Any) -> Any:
    return rows(isl).child(0).child(0).delete().parent().parent().child(1).child(0).cut()


@program
def group(isl: Any) -> Any:
    return nest(isl).child(0).group(isl.Id("G"))


@program
def of_the_whole_tree(isl: Any) -> Any:
    tree = isl.Schedule(TREES["nest"])
    tree = tree.insert_partial_schedule(
        isl.MultiUnionPwAff("[{ S[i, j] -> [(j)]; T[i, j] -> [(i)] }]")
    )
    return tree.insert_context(isl.Set("[n] -> { : n > 0 }")).get_root()


@program
def map_bottom_up(isl: Any) -> Any:
    def marked(node: Any) -> Any:
        return node.insert_mark(isl.Id("loop")) if node.get_type().name == "band" else node

    return isl.Schedule(TREES["rows"]).map_schedule_node_bottom_up(marked).get_root()


@pytest.mark.long
@pytest.mark.parametrize("run", PROGRAMS, ids=lambda run: run.__name__)
def test_programs_for_islpy_that_edit_trees_run(run: Program) -> None:
    islpy = pytest.importorskip("islpy", reason="needs islpy")
    expected, found = run(islpy), run(ours)
    assert points(ours, found.get_schedule()) == points(islpy, expected.get_schedule())
    assert found.get_tree_depth() == expected.get_tree_depth()
    assert found.get_type().name == expected.get_type().name


# Names of islpy's that mean nothing here: memory, debugging, and what is only of C.
ABSENT = {"align_params", "dump", "get_ctx", "reset_user", "get_subtree_contraction",
          "get_subtree_expansion", "get_subtree_schedule_union_map", "is_subtree_anchored",
          "band_get_space", "expand", "gist_domain_params", "copy"}  # fmt: skip


def test_all_names_of_islpy_are_there() -> None:
    islpy = pytest.importorskip("islpy", reason="needs islpy")
    for kind in ("Schedule", "ScheduleNode"):
        names = {name for name in dir(getattr(islpy, kind)) if not name.startswith("_")}
        missing = names - set(dir(getattr(ours, kind))) - ABSENT
        assert not missing, kind
