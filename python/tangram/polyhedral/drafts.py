"""Schedule trees that are being changed, as nodes that can be replaced."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tangram import _native
from tangram.presburger import Set

NOTHING = _native.Union("{ }")


@dataclass(eq=False)
class Draft:
    """A node: what it is, what it holds, and the nodes right below it."""

    kind: str
    unions: list[_native.Union] = field(default_factory=list)
    """Sets and relations; of a band the options, then its members."""
    flags: list[bool] = field(default_factory=list)
    """Of a band: whether it is permutable, then which members are coincident."""
    name: str = ""
    children: list[Draft] = field(default_factory=list)

    @classmethod
    def leaf(cls) -> Draft:
        """The end of a branch."""
        return cls("leaf")

    @classmethod
    def band(cls, members: list[_native.Union]) -> Draft:
        """A band that promises nothing."""
        return cls("band", [NOTHING, *members], [False] * (1 + len(members)))

    def members(self) -> list[_native.Union]:
        """The members of a band."""
        return self.unions[1:]

    def like(self, members: list[_native.Union], below: list[Draft]) -> Draft:
        """A band of the same flags and options with other members."""
        return Draft("band", [self.unions[0], *members], list(self.flags), "", below)

    def copy(self) -> Draft:
        """The same nodes again, from here down."""
        copies: dict[int, Draft] = {}
        for node in reversed(list(self.walk())):
            below = [copies[id(child)] for child in node.children]
            copies[id(node)] = Draft(node.kind, node.unions[:], node.flags[:], node.name, below)
        return copies[id(self)]

    def walk(self) -> Iterator[Draft]:
        """This node and all below it, each before those below it."""
        open_nodes = [self]
        while open_nodes:
            node = open_nodes.pop()
            yield node
            open_nodes += node.children[::-1]


def filtered(filter: Set, below: Draft) -> Draft:
    """A filter above a node; of two filters one is made."""
    if below.kind == "filter":
        filter, below = filter & Set._wrap(below.unions[0]), below.children[0]
    return Draft("filter", [filter._union], children=[below])


def gist(root: Draft, reached: Set) -> Draft:
    """What is left of a tree for the instances of a set: children of lists that get none go away.

    Of a list with one child left, what is below its filter stays. Below an expansion or extension
    the instances are others, and nothing changes.
    """
    if reached.is_empty():
        return Draft.leaf()
    contexts: dict[int, Set | None] = {id(root): reached}
    nodes = list(root.walk())
    for node in nodes:
        context = contexts[id(node)]
        if node.kind == "filter" and context is not None:
            context = context & Set._wrap(node.unions[0])
        elif node.kind in {"expansion", "extension"}:
            context = None
        contexts.update((id(child), context) for child in node.children)

    def is_left(child: Draft) -> bool:
        context = contexts[id(child)]
        return context is None or not (context & Set._wrap(child.unions[0])).is_empty()

    made: dict[int, Draft] = {}
    for node in reversed(nodes):
        made[id(node)] = node
        if node.kind in {"sequence", "set"}:
            left = [child for child in node.children if is_left(child)]
            node.children = [made[id(child)] for child in left]
            if len(left) <= 1:
                made[id(node)] = node.children[0].children[0] if left else Draft.leaf()
        else:
            node.children = [made[id(child)] for child in node.children]
    return made[id(root)]


def drafts(tree: _native.ScheduleTree) -> list[Draft]:
    """All nodes of a tree, by their numbers; the root is the first."""
    nodes: dict[int, Draft] = {}
    open_nodes = [0]
    while open_nodes:
        index = open_nodes.pop()
        nodes[index] = draft = _held(tree, index)
        parent = tree.parent(index)
        if parent is not None:
            nodes[parent].children.append(draft)
        open_nodes += tree.children(index)[::-1]
    return [nodes[index] for index in sorted(nodes)]


def _held(tree: _native.ScheduleTree, index: int) -> Draft:
    kind, union, band = tree.kind(index), tree.union(index), tree.band(index)
    if band is not None:
        members, permutable, options = band
        flags = [permutable, *(coincident for _, coincident in members)]
        return Draft("band", [options, *(schedule for schedule, _ in members)], flags)
    contraction = tree.contraction(index)
    unions = [held for held in (contraction, union) if held is not None]
    return Draft(kind, unions, [], tree.mark(index) or "")


def tree_of(root: Draft, at: Draft) -> tuple[_native.ScheduleTree, int]:
    """The tree below a root, and the number of one of its nodes.

    Raises:
        PresburgerError: the tree breaks a rule of schedule trees.
    """
    described: list[tuple[int, str, list[_native.Union], list[bool], str]] = []
    open_nodes, wanted = [(0, root)], 0
    while open_nodes:
        parent, node = open_nodes.pop()
        index = len(described)
        wanted = index if node is at else wanted
        described.append((parent, node.kind, node.unions, node.flags, node.name))
        open_nodes += [(index, child) for child in node.children[::-1]]
    return _native.ScheduleTree.of_nodes(described), wanted
