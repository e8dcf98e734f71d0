"""What is below a node of a schedule tree, and schedules made of others, under islpy's names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from tangram import _native
from tangram._native import PresburgerError
from tangram.polyhedral.drafts import Draft, drafts, gist, tree_of
from tangram.presburger import Map, Set, Space, UnionPwMultiAff

if TYPE_CHECKING:
    from tangram.polyhedral.schedules import Schedule


class Subtree:
    """What a node says of all nodes below it."""

    __slots__ = ()
    _schedule: Schedule
    _index: int

    def align_params(self, space: Space) -> Self:
        """This node; operations line parameters up by themselves."""
        return self

    def _cut_out(self) -> _native.ScheduleTree:
        """The nodes from here on, for the instances that reach this one."""
        reached = Set._wrap(self._schedule._tree.active(self._index))
        below = drafts(self._schedule._tree)[self._index]
        tree, _ = tree_of(root := Draft("domain", [reached._union], children=[below]), root)
        return tree

    def _leaves(self) -> tuple[Set, Map]:
        """The instances that reach the node, and those that each becomes at the leaves."""
        if self.get_type().name == "domain":  # type: ignore[attr-defined]
            return self.child(0)._leaves()  # type: ignore[attr-defined]
        reached: Set = self.get_domain()  # type: ignore[attr-defined]
        found = Map("{ }")
        open_nodes = [(self._index, reached.identity())]
        tree = self._schedule._tree
        while open_nodes:
            index, made = open_nodes.pop()
            union, kind = tree.union(index), tree.kind(index)
            if kind == "filter" and union is not None:
                made = made.intersect_range(Set._wrap(union))
            elif kind == "expansion" and union is not None:
                made = made.apply_range(Map._wrap(union))
            elif kind == "extension":
                raise PresburgerError("expected no extension below the node")
            elif kind == "leaf":
                found = found | made
            open_nodes += [(child, made) for child in tree.children(index)]
        return reached, found

    def get_subtree_expansion(self) -> Map:
        """The instances at the leaves that each instance at this node becomes."""
        return self._leaves()[1]

    def get_subtree_contraction(self) -> UnionPwMultiAff:
        """The instance at this node of each instance at the leaves."""
        return self._leaves()[1].reverse().as_union_pw_multi_aff()

    def get_subtree_schedule_union_map(self) -> Map:
        """The points of the instances at the leaves in what is below, this node included."""
        if self.get_type().name == "domain":  # type: ignore[attr-defined]
            return self._schedule.get_map()
        return Map._wrap(self._cut_out().to_map())

    def is_subtree_anchored(self) -> bool:
        """Whether something below speaks of outer bands: a context, guard, extension or isolation."""
        isolated = Set("{ [isolate[] -> atomic[x]]; [isolate[] -> unroll[x]]; [isolate[] -> separate[x]] }")
        for node in self:  # type: ignore[attr-defined]
            kind = node.get_type().name
            if kind in {"context", "guard", "extension"}:
                return True
            if kind == "band":
                options: Set = node.band_get_ast_build_options()
                plain = Set("{ atomic[x]; unroll[x]; separate[x] }")
                if not (options - plain - isolated).is_empty():
                    return True
        return False

    def band_get_space(self) -> Space:
        """The space of the values of a band's members."""
        return self.band_get_partial_schedule_union_map().range().get_space()  # type: ignore[attr-defined]


class Whole:
    """What makes a schedule of others."""

    __slots__ = ()
    _tree: _native.ScheduleTree

    def copy(self) -> Self:
        """This schedule; schedules never change."""
        return self

    def align_params(self, space: Space) -> Self:
        """This schedule; operations line parameters up by themselves."""
        return self

    def gist_domain_params(self, context: Set) -> Self:
        """With instances that are known only where parameters are in a set."""
        root = drafts(self._tree)[0]
        if root.kind != "domain":
            raise PresburgerError(f"expected a domain as root, found a {root.kind}")
        root.unions = [Set._wrap(root.unions[0]).gist_params(context)._union]
        return self._of(tree_of(root, root)[0])  # type: ignore[attr-defined]

    def expand(self, contraction: UnionPwMultiAff, expansion: Schedule) -> Self:
        """Lets each instance be those that a function maps to it, in the order of another schedule."""
        pairs = contraction.as_union_map().intersect_domain(expansion.get_domain())
        inner = drafts(expansion._tree)[0].children[0]
        nodes = drafts(self._tree)
        for index, node in enumerate(nodes):
            if node.kind == "leaf":
                own = pairs.intersect_range(Set._wrap(self._tree.active(index)))
                inside = [gist(inner.copy(), own.domain())]
                unions = [pairs._union, own.reverse()._union]
                # Instances that are none of the others go.
                node.kind, node.unions = "filter", [own.range()._union]
                node.children = [Draft("expansion", unions, children=inside)]
        return self._of(tree_of(nodes[0], nodes[0])[0])  # type: ignore[attr-defined]
