"""Schedule trees: in which order instances run."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from typing import Self

from tangram import _native
from tangram._native import PresburgerError
from tangram.polyhedral.drafts import Draft
from tangram.polyhedral.editing import Editing
from tangram.polyhedral.subtrees import Subtree, Whole
from tangram.presburger import DEFAULT_CONTEXT, Context, Id, Map, MultiUnionPwAff, Set, Space, UnionPwMultiAff
from tangram.presburger.names import last_text


class schedule_node_type(enum.Enum):  # noqa: N801  (islpy's name)
    """What a node of a schedule tree is."""

    band = 0
    context = 1
    domain = 2
    expansion = 3
    extension = 4
    filter = 5
    leaf = 6
    guard = 7
    mark = 8
    sequence = 9
    set = 10


class Schedule(Whole):
    """A schedule as a tree; the text is YAML, as isl writes it.

    >>> tree = Schedule.from_map(Map("{ S[i] -> [i, 0]; T[i] -> [i, 1] }") & Map(
    ...     "{ S[i] -> [a, b] : 0 <= i < 4; T[i] -> [a, b] : 0 <= i < 4 }"
    ... ))
    >>> [node.get_type().name for node in tree.get_root()]
    ['domain', 'band', 'sequence', 'filter', 'leaf', 'filter', 'leaf']
    """

    __slots__ = ("_tree",)
    _tree: _native.ScheduleTree

    def __init__(self, text: str, context: Context | None = None) -> None:
        self._tree = _native.ScheduleTree(text)

    @classmethod
    def _of(cls, tree: _native.ScheduleTree) -> Self:
        result = cls.__new__(cls)
        result._tree = tree
        return result

    @classmethod
    def read_from_str(cls, *arguments: str | Context | None) -> Self:
        """Parses isl's YAML, as the constructor does; a context before it is accepted."""
        return cls(last_text(arguments))

    def dump(self) -> None:
        """Prints the tree."""
        print(self)

    def get_ctx(self) -> Context:
        """The context."""
        return DEFAULT_CONTEXT

    def reset_user(self) -> Self:
        """The same tree: names stand for nothing else."""
        return self

    @classmethod
    def from_domain(cls, domain: Set) -> Self:
        """The instances of ``domain``, in no order."""
        return cls._of(_native.ScheduleTree.of_domain(domain._union))

    @classmethod
    def from_map(cls, schedule: Map) -> Self:
        """The tree of a map of instances to points in lexicographic order."""
        return cls._of(_native.ScheduleTree.of_map(schedule._union))

    @classmethod
    def from_map_with_copies(cls, schedule: Map) -> Self:
        """The tree of a map that may give an instance several points: it runs several times."""
        return cls._of(_native.ScheduleTree.of_form("many-valued", schedule._union))

    @classmethod
    def from_kelly(cls, points: Map) -> Self:
        """The tree of Kelly's form or of the 2d+1 form; what it leaves open gets an order."""
        return cls._of(_native.ScheduleTree.of_form("kelly", points._union))

    from_regular = from_kelly

    @classmethod
    def from_affine_functions(cls, functions: Map) -> Self:
        """The tree of a function for each statement; statements run one after the other."""
        return cls._of(_native.ScheduleTree.of_form("affine", functions._union))

    @classmethod
    def empty(cls, space: Space) -> Self:
        """The tree of no instances."""
        return cls.from_domain(Set("{ }"))

    def get_map_of_roots(self) -> Map:
        """The instances at the root and all their points; an expanded one has several."""
        return Map._wrap(self._tree.to_form("many-valued"))

    def get_kelly(self) -> Map:
        """Kelly's form: points of different lengths."""
        return Map._wrap(self._tree.to_form("kelly"))

    def get_regular(self) -> Map:
        """The 2d+1 form: a constant before each iterator and behind the last."""
        return Map._wrap(self._tree.to_form("regular"))

    def get_affine_functions(self) -> Map:
        """A function for each statement; the order of statements is lost."""
        return Map._wrap(self._tree.to_form("affine"))

    def _below_root(self) -> ScheduleNode:
        return self.get_root().child(0)

    def insert_context(self, context: Set) -> Self:
        """With facts on parameters below the root."""
        return self._of(self._below_root().insert_context(context)._tree)

    def insert_guard(self, guard: Set) -> Self:
        """With a condition on parameters below the root."""
        return self._of(self._below_root().insert_guard(guard)._tree)

    def insert_partial_schedule(self, partial: MultiUnionPwAff) -> Self:
        """With an outermost band."""
        return self._of(self._below_root().insert_partial_schedule(partial)._tree)

    def intersect_domain(self, domain: Set) -> Self:
        """With the instances in ``domain`` only."""
        return self._of(self.get_root()._restricted(domain)._tree)

    def pullback_union_pw_multi_aff(self, upma: UnionPwMultiAff) -> Self:
        """The tree of the instances that a function maps to those of this tree."""
        return self._of(self.get_root()._pulled_back(upma)._tree)

    def do(self, steps: str, respecting: Map | None = None) -> Self:
        """Applies a script of steps from the root on, as :meth:`ScheduleNode.do`.

        >>> tree = Schedule.from_map(Map("{ S[i, j] -> [i, j] : 0 <= i < 9 and 0 <= j < 9 }"))
        >>> tree.do("find band; interchange 0 1").get_map()
        Map('{ S[i, j] -> [j, i] : 0 <= i <= 8 and 0 <= j <= 8 }')
        """
        return self._of(self.get_root().do(steps, respecting)._tree)

    def map_schedule_node_bottom_up(self, fn: Callable[[ScheduleNode], ScheduleNode]) -> Self:
        """Calls ``fn`` with each node, those below first, and goes on with what it returns."""
        return self._of(self.get_root().map_descendant_bottom_up(fn)._tree)

    def sequence(self, other: Schedule) -> Self:
        """All instances of this, then those of ``other``."""
        return self._of(_native.ScheduleTree.joined([self._tree, other._tree], True))

    def set(self, other: Schedule) -> Self:
        """The instances of this and of ``other``, in any order."""
        return self._of(_native.ScheduleTree.joined([self._tree, other._tree], False))

    def get_domain(self) -> Set:
        """The instances."""
        return Set._wrap(self._tree.domain())

    def get_map(self) -> Map:
        """The instances and their points in time, which run in lexicographic order."""
        return Map._wrap(self._tree.to_map())

    def get_root(self) -> ScheduleNode:
        """The node above all others."""
        return ScheduleNode(self, 0)

    def foreach_schedule_node_top_down(self, visit: Callable[[ScheduleNode], object]) -> None:
        """Calls ``visit`` with each node; what is false keeps it away from those below."""
        self.get_root().foreach_descendant_top_down(visit)

    def plain_is_equal(self, other: Schedule) -> bool:
        """Whether both are written as the same tree."""
        return str(self) == str(other)

    def __eq__(self, other: object) -> bool:
        return self.plain_is_equal(other) if isinstance(other, Schedule) else NotImplemented

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        return str(self._tree)

    to_str = __str__

    def __repr__(self) -> str:
        return f"Schedule({str(self)!r})"

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        return type(self), (str(self),)

    def _repr_svg_(self) -> str:
        return self._tree.svg()


class ScheduleNode(Editing, Subtree):
    """A node of a schedule tree, which knows what is above and below it."""

    __slots__ = ("_index", "_schedule")

    def __init__(self, schedule: Schedule, index: int) -> None:
        self._schedule, self._index = schedule, index

    @property
    def _tree(self) -> _native.ScheduleTree:
        return self._schedule._tree

    def _at(self, index: int) -> Self:
        return self.__class__(self._schedule, index)

    def get_schedule(self) -> Schedule:
        """The whole tree."""
        return self._schedule

    def get_type(self) -> schedule_node_type:
        """What the node is."""
        return schedule_node_type[self._tree.kind(self._index)]

    # Ways through the tree.

    def root(self) -> Self:
        """The node above all others."""
        return self._at(0)

    def has_parent(self) -> bool:
        """Whether there is a node above this one."""
        return self._tree.parent(self._index) is not None

    def parent(self) -> Self:
        """The node above this one.

        Raises:
            PresburgerError: it is the root.
        """
        index = self._tree.parent(self._index)
        if index is None:
            raise PresburgerError("the root has no parent")
        return self._at(index)

    def ancestor(self, generation: int) -> Self:
        """The node that many steps above."""
        node = self
        for _ in range(generation):
            node = node.parent()
        return node

    def children(self) -> list[Self]:
        """The nodes right below, in their order."""
        return [self._at(index) for index in self._tree.children(self._index)]

    def n_children(self) -> int:
        """The number of nodes right below."""
        return len(self._tree.children(self._index))

    def has_children(self) -> bool:
        """Whether there is a node below."""
        return self.n_children() > 0

    def child(self, pos: int) -> Self:
        """The node right below at a position.

        Raises:
            PresburgerError: there is none.
        """
        children = self._tree.children(self._index)
        if not 0 <= pos < len(children):
            raise PresburgerError(f"expected a child below {len(children)}, found {pos}")
        return self._at(children[pos])

    get_child = child

    def first_child(self) -> Self:
        """The first node right below."""
        return self.child(0)

    def get_child_position(self) -> int:
        """The position among the nodes below the same parent; 0 of the root."""
        return self._tree.children(self.parent()._index).index(self._index) if self.has_parent() else 0

    def _sibling(self, by: int) -> int:
        return self.get_child_position() + by

    def has_next_sibling(self) -> bool:
        """Whether the parent has a further child."""
        return self.has_parent() and self._sibling(1) < self.parent().n_children()

    def has_previous_sibling(self) -> bool:
        """Whether the parent has a child before this one."""
        return self.has_parent() and self._sibling(-1) >= 0

    def next_sibling(self) -> Self:
        """The next child of the parent."""
        return self.parent().child(self._sibling(1))

    def previous_sibling(self) -> Self:
        """The child of the parent before this one."""
        return self.parent().child(self._sibling(-1))

    def get_tree_depth(self) -> int:
        """The number of nodes above."""
        return len(self._above())

    def get_schedule_depth(self) -> int:
        """The number of band members above."""
        return sum(node.band_n_member() for node in self._above() if node._band())

    def _above(self) -> list[Self]:
        """The nodes above, outermost first."""
        nodes: list[Self] = []
        index = self._tree.parent(self._index)
        while index is not None:
            nodes.append(self._at(index))
            index = self._tree.parent(index)
        return nodes[::-1]

    def __iter__(self) -> Iterator[Self]:
        """This node and all below it, each before those below it."""
        open_nodes = [self._index]
        while open_nodes:
            index = open_nodes.pop()
            yield self._at(index)
            open_nodes += self._tree.children(index)[::-1]

    def foreach_descendant_top_down(self, visit: Callable[[Self], object]) -> None:
        """Calls ``visit`` with each node; what is false keeps it away from those below."""
        open_nodes = [self._index]
        while open_nodes:
            index = open_nodes.pop()
            if visit(self._at(index)):
                open_nodes += self._tree.children(index)[::-1]

    def every_descendant(self, test: Callable[[Self], bool]) -> bool:
        """Whether ``test`` holds for this node and all below it."""
        return all(test(node) for node in self)

    def grandparent(self) -> Self:
        """The node above the one above."""
        return self.ancestor(2)

    def grandchild(self, pos1: int, pos2: int) -> Self:
        """The node at a position below the one at a position."""
        return self.child(pos1).child(pos2)

    def get_parent_type(self) -> schedule_node_type:
        """What the node above is."""
        return self.parent().get_type()

    def get_ancestor_child_position(self, ancestor: ScheduleNode) -> int:
        """The position below ``ancestor`` of the node on the way to this one.

        Raises:
            PresburgerError: ``ancestor`` is not above this node.
        """
        node = self
        while node.has_parent():
            if node.parent()._index == ancestor._index:
                return node.get_child_position()
            node = node.parent()
        raise PresburgerError("expected a node above this one")

    def get_shared_ancestor(self, node2: ScheduleNode) -> Self:
        """The innermost node that is above, or is, this one and another one."""
        own = [self._index, *(node._index for node in self._above()[::-1])]
        other = {node2._index, *(node._index for node in node2._above())}
        return self._at(next(index for index in own if index in other))

    def foreach_ancestor_top_down(self, fn: Callable[[Self], object]) -> None:
        """Calls ``fn`` with each node above, the root first."""
        for node in self._above():
            fn(node)

    def map_descendant_bottom_up(self, fn: Callable[[Self], Self]) -> Self:
        """Calls ``fn`` with each node from here down, those below first.

        What it returns is the node in the tree that goes on. Returns this node in the last one.
        """
        place = [node.get_child_position() for node in [*self._above(), self][1:]]

        def visit_order(node: Self) -> list[list[int]]:
            order: list[list[int]] = []
            open_nodes: list[tuple[list[int], Self]] = [([], node)]
            while open_nodes:
                path, at = open_nodes.pop()
                order.append(path)
                open_nodes += [([*path, pos], child) for pos, child in enumerate(at.children())]
            return order[::-1]

        node = self
        # Those below are done before a node changes what is at its place.
        for path in visit_order(self):
            at = node
            for pos in path:
                at = at.child(pos)
            depth = at.get_tree_depth()
            changed = fn(at)
            while changed.get_tree_depth() > depth:
                changed = changed.parent()
            node = changed.root()
            for pos in place:
                node = node.child(pos)
        return node

    def is_equal(self, node2: ScheduleNode) -> bool:
        """Whether both are the same node of the same tree."""
        return self == node2

    def copy(self) -> Self:
        """This node; nodes never change."""
        return self

    def to_str(self) -> str:
        """The text of the tree, as isl writes it."""
        return str(self._schedule)

    def _restricted(self, domain: Set) -> Self:
        def change(root: Draft) -> Draft:
            root.unions = [(Set._wrap(root.unions[0]) & domain)._union]
            return root

        return self._replaced(change)

    def _pulled_back(self, function: UnionPwMultiAff) -> Self:
        pairs = function.as_union_map()

        def change(root: Draft) -> Draft:
            for node in root.walk():
                if node.kind in {"domain", "filter"}:
                    node.unions = [pairs.intersect_range(Set._wrap(node.unions[0])).domain()._union]
                elif node.kind == "band":
                    members = [pairs.apply_range(Map._wrap(one))._union for one in node.members()]
                    node.unions[1:] = members
                elif node.kind in {"extension", "expansion"}:
                    raise PresburgerError(f"expected no {node.kind} in the tree")
            return root

        return self._replaced(change)

    def dump(self) -> None:
        """Prints the tree."""
        print(self._schedule)

    def get_ctx(self) -> Context:
        """The context."""
        return DEFAULT_CONTEXT

    def reset_user(self) -> Self:
        """The same node: names stand for nothing else."""
        return self

    # What nodes hold.

    def get_domain(self) -> Set:
        """The instances that reach the node; of the root, all of them."""
        if not self.has_parent():
            return self._schedule.get_domain()
        return Set._wrap(self._tree.active(self._index))

    def get_prefix_schedule_union_map(self) -> Map:
        """The instances that reach the node, and their points in the bands above it."""
        result = Map("{ }")
        for node in self._above():
            result = node._passed(result)
        return result

    def _passed(self, times: Map) -> Map:
        """Points of the bands above this node, of the instances that it passes on."""
        kind, union = self.get_type().name, self._tree.union(self._index)
        if kind == "band":
            return times.flat_range_product(self.band_get_partial_schedule_union_map())
        if union is None or kind in {"context", "guard"}:
            return times
        if kind == "domain":
            return Set._wrap(union).cross(Set("{ [] }"))
        if kind == "filter":
            return times.intersect_domain(Set._wrap(union))
        if kind == "expansion":
            return Map._wrap(union).reverse().apply_range(times)
        return times | Map._wrap(union).reverse()

    get_prefix_schedule_relation = get_prefix_schedule_union_map

    def get_prefix_schedule_multi_union_pw_aff(self) -> MultiUnionPwAff:
        """The values of the members of the bands above, each a function of the instances."""
        return self.get_prefix_schedule_union_map().as_multi_union_pw_aff()

    def get_prefix_schedule_union_pw_multi_aff(self) -> UnionPwMultiAff:
        """The points in the bands above as a function of the instances."""
        return self.get_prefix_schedule_union_map().as_union_pw_multi_aff()

    def get_universe_domain(self) -> Set:
        """All points of the spaces of the instances that reach the node."""
        return self.get_domain()._full()

    def band_get_ast_isolate_option(self) -> Set:
        """The points that a band isolates, by those of the bands above."""
        options = self.band_get_ast_build_options()
        outer, own = self.get_schedule_depth(), self.band_n_member()
        names = [f"d{at}" for at in range(outer)], [f"m{at}" for at in range(own)]
        left, right = (f"[{', '.join(part)}]" for part in names)
        all_of_it = Set(f"{{ isolate[{left} -> {right}] }}")
        plain = Map(f"{{ isolate[{left} -> {right}] -> [{left} -> {right}] }}")
        return (options & all_of_it).apply(plain)

    def _band(self) -> tuple | None:
        return self._tree.band(self._index)

    def _need_band(self) -> tuple:
        band = self._band()
        if band is None:
            raise PresburgerError(f"expected a band, found a {self.get_type().name}")
        return band

    def band_n_member(self) -> int:
        """The number of members of a band."""
        return len(self._need_band()[0])

    def band_get_permutable(self) -> bool:
        """Whether the members of a band may be interchanged."""
        return self._need_band()[1]

    def band_member_get_coincident(self, pos: int) -> bool:
        """Whether the iterations of a member may run at the same time."""
        return self._need_band()[0][pos][1]

    def band_get_ast_build_options(self) -> Set:
        """The options of code generation of a band."""
        return Set._wrap(self._need_band()[2])

    def band_member_get_schedule(self, pos: int) -> Map:
        """The instances and their values of one member."""
        return Map._wrap(self._need_band()[0][pos][0])

    def band_get_partial_schedule_union_map(self) -> Map:
        """The instances and their values of all members of a band."""
        maps = [Map._wrap(schedule) for schedule, _ in self._need_band()[0]]
        result = maps[0]
        for more in maps[1:]:
            result = result.flat_range_product(more)
        return result

    def band_get_partial_schedule(self) -> MultiUnionPwAff:
        """The values of all members of a band, each a function of the instances."""
        values = self.band_get_partial_schedule_union_map()
        if values.is_empty():
            # A map of nothing does not say how many there are.
            return MultiUnionPwAff(f"[{', '.join(['{ }'] * self.band_n_member())}]")
        return values.as_multi_union_pw_aff()

    def _held(self, kind: str) -> _native.Union:
        union = self._tree.union(self._index)
        if self.get_type().name != kind or union is None:
            raise PresburgerError(f"expected a {kind}, found a {self.get_type().name}")
        return union

    def domain_get_domain(self) -> Set:
        """The instances of a domain."""
        return Set._wrap(self._held("domain"))

    def filter_get_filter(self) -> Set:
        """The instances that a filter passes on."""
        return Set._wrap(self._held("filter"))

    def context_get_context(self) -> Set:
        """What a context says on parameters and outer bands."""
        return Set._wrap(self._held("context"))

    def guard_get_guard(self) -> Set:
        """The condition of a guard on parameters and outer bands."""
        return Set._wrap(self._held("guard"))

    def extension_get_extension(self) -> Map:
        """The instances that an extension adds at points of outer bands."""
        return Map._wrap(self._held("extension"))

    def expansion_get_expansion(self) -> Map:
        """The instances that each one of an expansion stands for."""
        return Map._wrap(self._held("expansion"))

    def expansion_get_contraction(self) -> Map:
        """The instance that stands for each new one of an expansion."""
        self._held("expansion")
        contraction = self._tree.contraction(self._index)
        assert contraction is not None
        return Map._wrap(contraction)

    def mark_get_id(self) -> Id:
        """The name of a mark."""
        name = self._tree.mark(self._index)
        if name is None:
            raise PresburgerError(f"expected a mark, found a {self.get_type().name}")
        return Id(name)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ScheduleNode):
            return NotImplemented
        return self._index == other._index and self._schedule == other._schedule

    def __hash__(self) -> int:
        return hash((self._index, self._schedule))

    def __repr__(self) -> str:
        return f"<ScheduleNode {self._index}: {self.get_type().name}>"
