"""Programs for islpy that edit schedule trees, and what the trees hold that they make.

Run as a command it prints what islpy's trees hold, a line of JSON for each program. islpy can end a
process where it frees what is still in use, so that each program has a process of its own.
"""

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

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

Program = Callable[[Any], Any]
PROGRAMS: list[Program] = []


def program(function: Program) -> Program:
    PROGRAMS.append(function)
    return function


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


# Random programs.


def somewhere(rng: random.Random, schedule: Any) -> Any:
    """A node of the tree below the root; leaves as often as inner nodes."""
    node = schedule.get_root().child(0)
    while node.has_children() and rng.random() < 0.7:
        node = node.child(rng.randrange(node.n_children()))
    return node


def statements(rng: random.Random, isl: Any) -> list[Any]:
    """Sets that divide the instances of the trees."""
    at = rng.randint(0, 2)
    divided = [
        ["{ S[i, j]; S[i] }", "{ T[i, j]; T[i] }"],
        [f"{{ S[i, j] : i <= {at}; S[i] : i <= {at} }}",
         f"{{ S[i, j] : i > {at}; S[i] : i > {at}; T[i, j]; T[i] }}"],
        [f"{{ S[i, j] : (i + j) mod 2 = 0; T[i, j] : j < {at} }}",
         f"{{ S[i, j] : (i + j) mod 2 = 1; T[i, j] : j >= {at}; S[i]; T[i] }}"],
    ]  # fmt: skip
    return [isl.UnionSet(text) for text in rng.choice(divided)]


def as_list(isl: Any, sets: list[Any]) -> Any:
    first = isl.UnionSetList.from_union_set(sets[0])
    for one in sets[1:]:
        first = first.add(one)
    return first


def of_band(rng: random.Random, isl: Any, band: Any) -> Any:
    """A band with one operation of bands."""
    count = band.band_n_member()
    numbers = isl.MultiVal(f"{{ [{', '.join(str(rng.randint(1, 4)) for _ in range(count))}] }}")
    member = rng.randrange(count)
    flag = rng.randint(0, 1)
    kind = rng.choice(["default", "atomic", "unroll", "separate"])
    pieces = [f"{{ S[i, j] -> [({rng.randint(0, 3)})]; T[i, j] -> [(i)]; S[i] -> [(1)]; T[i] -> [(i)]; "
              "P[i] -> [(2)]; C[i] -> [(-i)] }" for _ in range(count)]  # fmt: skip
    name = rng.choice(["tile", *["split"] * (count > 1), "sink", "scale", "scale_down", "mod", "shift", "permutable",
                       "coincident", "type"])  # fmt: skip
    match name:
        case "split":
            return band.band_split(rng.randrange(1, count))
        case "sink":
            return band.band_sink()
        case "shift":
            reached = band.get_domain()
            shift = isl.MultiUnionPwAff(f"[{', '.join(pieces)}]")
            return band.band_shift(shift.intersect_domain(reached))
        case "permutable":
            return band.band_set_permutable(flag)
        case "coincident":
            return band.band_member_set_coincident(member, flag)
        case "type":
            return band.band_member_set_ast_loop_type(member, getattr(isl.ast_loop_type, kind))
        case _:
            return getattr(band, f"band_{name}")(numbers)


def of_node(rng: random.Random, isl: Any, node: Any) -> Any:
    """A node with one operation of any node; not a graft, below which islpy knows no instances."""
    depth = node.get_schedule_depth()
    outer = f"[{', '.join(f'd{at}' for at in range(depth))}]"
    first = statements(rng, isl)
    at = rng.randint(0, 2)
    name = rng.choice(["insert_mark", "insert_filter", "insert_context", "insert_guard", "band",
                       "insert_sequence", "insert_set", "order_before", "order_after", "splice",
                       "splice_all", "delete", "cut", "group"])  # fmt: skip
    match name:
        case "insert_mark":
            return node.insert_mark(isl.Id(f"mark{at}"))
        case "insert_filter" | "order_before" | "order_after":
            return getattr(node, name)(first[at % 2])
        case "insert_context" | "insert_guard":
            fact = f"d0 >= {at}" if depth else f"n > {at}"
            return getattr(node, name)(isl.Set(f"[n] -> {{ {outer} : {fact} }}"))
        case "band":
            text = "[{ S[i, j] -> [(i + j)]; T[i, j] -> [(2i)]; S[i] -> [(i)]; T[i] -> [(-i)]; " \
                "P[i] -> [(i)]; C[i] -> [(i + 1)] }]"
            return node.insert_partial_schedule(isl.MultiUnionPwAff(text))
        case "insert_sequence" | "insert_set":
            return getattr(node, name)(as_list(isl, first))
        case "splice":
            return node.sequence_splice_child(rng.randrange(max(node.n_children(), 1)))
        case "splice_all":
            return node.sequence_splice_children()
        case "group":
            return node.group(isl.Id(f"G{at}"))
        case _:
            return getattr(node, name)()


def stepped(isl: Any, schedule: Any, seed: int, step: int) -> Any:
    """Applies the random operation of a number somewhere in a tree."""
    rng = random.Random(f"{seed} {step}")
    at = somewhere(rng, schedule)
    is_band = at.get_type().name == "band" and rng.random() < 0.6
    return (of_band if is_band else of_node)(rng, isl, at)


def history(isl: Any, seed: int, steps: int) -> Iterator[dict[str, Any]]:
    """Trees before random operations that are not refused, and what they hold afterwards."""
    schedule = isl.Schedule(TREES[random.Random(seed).choice(sorted(TREES))])
    for step in range(steps):
        before = str(schedule)
        try:
            node = stepped(isl, schedule, seed, step)
        except isl.Error:
            continue
        schedule = node.get_schedule()
        yield {"seed": seed, "step": step, "before": before, "nodes": described(node)}


def held(node: Any) -> dict[str, Any]:
    """What a node holds, as text."""
    kind = node.get_type().name
    entry: dict[str, Any] = {"kind": kind}
    try:
        # At the root, islpy's `get_domain` is what reaches it: nothing.
        entry["domain"] = str(node.domain_get_domain() if kind == "domain" else node.get_domain())
    except Exception:  # noqa: BLE001  (islpy knows no domain below an extension)
        entry["domain"] = None
    if kind == "band":
        members = range(node.band_n_member())
        entry["flags"] = [bool(node.band_get_permutable())]
        entry["flags"] += [bool(node.band_member_get_coincident(at)) for at in members]
        entry["schedule"] = str(node.band_get_partial_schedule_union_map())
        entry["options"] = str(node.band_get_ast_build_options())
    elif kind in {"context", "guard"}:
        entry["set"] = str(node.context_get_context() if kind == "context" else node.guard_get_guard())
    elif kind == "extension":
        entry["extension"] = str(node.extension_get_extension())
    elif kind == "expansion":
        entry["expansion"] = str(node.expansion_get_expansion())
    elif kind == "mark":
        mark = node.mark_get_id()
        entry["mark"] = str(getattr(mark, "name", mark))
    return entry


def described(node: Any) -> list[dict[str, Any]]:
    """A node, and all nodes of its tree from the root down."""
    entries = [{"kind": node.get_type().name, "depth": node.get_tree_depth()}]
    open_nodes = [node.get_schedule().get_root()]
    while open_nodes:
        above = open_nodes.pop()
        entries.append({**held(above), "depth": above.get_tree_depth()})
        open_nodes += [above.child(at) for at in reversed(range(above.n_children()))]
    return entries


def main() -> None:
    """Prints what islpy makes of each program, or of so many random ones."""
    import islpy

    def of_program(one: Program) -> list[dict[str, Any]]:
        return [{"name": one.__name__, "nodes": described(one(islpy))}]

    def of_seed(seed: int) -> list[dict[str, Any]]:
        return list(history(islpy, seed, 6))

    count = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    for make, what in [(of_seed, seed) for seed in range(count)] or [(of_program, p) for p in PROGRAMS]:
        if os.fork():
            os.wait()
            continue
        for line in make(what):  # type: ignore[operator]
            print(json.dumps(line), flush=True)
        os._exit(0)


if __name__ == "__main__":
    main()
