"""Several instances as one, which a node of a schedule tree expands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tangram._native import PresburgerError
from tangram.polyhedral.drafts import Draft, drafts
from tangram.presburger import Map, Set

if TYPE_CHECKING:
    from tangram.polyhedral.schedules import ScheduleNode


def grouped(node: ScheduleNode, name: str) -> tuple[Draft, Draft]:
    """The tree with a group for each point of the bands above a node, and the node in it.

    Raises:
        PresburgerError: the node is the root.
    """
    if not node.has_parent():
        raise PresburgerError("expected a node below the root, found the root")
    depth = node.get_schedule_depth()
    dims = ", ".join(f"d{at}" for at in range(depth))
    named = Map(f"{{ [{dims}] -> {name}[{dims}] }}")
    contraction = node.get_prefix_schedule_union_map().apply_range(named)
    active, groups = contraction.domain(), contraction.range()
    nodes = drafts(node._tree)
    index = node._tree.parent(node._index)
    path: list[Draft] = []
    while index is not None:
        path.append(nodes[index])
        index = node._tree.parent(index)
    below = _below_expansions(path, active, contraction)
    outer = sum(len(one.members()) for one in path[len(below) :] if one.kind == "band")
    for above in below:
        if above.kind in {"domain", "filter"}:
            points = Set._wrap(above.unions[0])
            above.unions = [((points - active) | _reached(groups, points, contraction))._union]
        elif above.kind == "band":
            for at, member in enumerate(above.members()):
                own = Map(f"{{ {name}[{dims}] -> [d{outer + at}] }}")
                above.unions[1 + at] = (Map._wrap(member) | own)._union
            outer += len(above.members())
    expansion = Draft("expansion", [contraction._union, contraction.reverse()._union])
    own = nodes[node._index]
    expansion.children = [own]
    parent = path[0]
    parent.children = [expansion if child is own else child for child in parent.children]
    return nodes[0], own


def _below_expansions(path: list[Draft], active: Set, contraction: Map) -> list[Draft]:
    """The nodes above, the root first, from the innermost expansion on, which makes groups now."""
    top = next((at for at, above in enumerate(path) if above.kind == "expansion"), len(path))
    if top < len(path):
        old, new = (Map._wrap(one) for one in path[top].unions)
        grouped = contraction.reverse().apply_range(old.intersect_domain(active))
        kept = old.subtract_domain(active)
        path[top].unions = [
            (kept | grouped)._union,
            (new.subtract_range(active) | new.intersect_range(active).apply_range(contraction))._union,
        ]
    return path[:top][::-1]


def _reached(groups: Set, points: Set, contraction: Map) -> Set:
    return groups & contraction.intersect_domain(points).range()
