"""Changing schedule trees, under islpy's names and under those of the steps of scripts."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Final, Self, TYPE_CHECKING

from tangram import _native
from tangram._native import PresburgerError
from tangram.polyhedral.drafts import NOTHING, Draft, drafts, filtered, gist, tree_of
from tangram.presburger import Map, MultiUnionPwAff, Set, UnionPwMultiAff

if TYPE_CHECKING:
    from tangram.polyhedral.schedules import Schedule


class ast_loop_type(enum.Enum):  # noqa: N801  (islpy's name)
    """How code generation treats a member of a band."""

    error = -1
    default = 0
    atomic = 1
    unroll = 2
    separate = 3


def _members(function: MultiUnionPwAff) -> list[_native.Union]:
    return [member.as_union_map()._union for member in function.get_list()]


def _loop_types(options: _native.Union, members: range, first: int | None = None) -> _native.Union:
    """The options that say how loops of some members are generated, with numbers from 0 on."""
    by = members.start if first is None else first
    pieces = (
        f"{kind}[x] -> {kind}[x - {by}] : {members.start} <= x < {members.stop}"
        for kind in ("atomic", "unroll", "separate")
    )
    return Set._wrap(options).apply(Map(f"{{ {'; '.join(pieces)} }}"))._union


def _value(expression: str) -> Map:
    """The map from one number to another."""
    return Map(f"{{ [x] -> [{expression}] }}")


class Editing:
    """The operations of a node that make another tree; they return the node in that tree.

    islpy's operations do what islpy's do: the tree is well-formed afterwards, and whether it
    keeps dependences is the caller's matter. :meth:`do` and the methods that are named as steps
    of scripts are checked.
    """

    __slots__ = ()
    _schedule: Schedule
    _index: int

    # Replacing nodes.

    def _made(self, root: Draft, at: Draft) -> Self:
        tree, index = tree_of(root, at)
        return self.__class__(self._schedule._of(tree), index)  # type: ignore[call-arg]

    def _drafts(self) -> tuple[Draft, Draft, Draft | None]:
        """The root, this node, and the node above it."""
        nodes = drafts(self._schedule._tree)
        parent = self._schedule._tree.parent(self._index)
        return nodes[0], nodes[self._index], None if parent is None else nodes[parent]

    def _replaced(self, change: Callable[[Draft], Draft], at: Callable[[Draft], Draft] | None = None) -> Self:
        root, node, above = self._drafts()
        new = change(node)
        if above is None:
            root = new
        else:
            place = next(i for i, child in enumerate(above.children) if child is node)
            above.children[place] = new
        return self._made(root, at(new) if at else new)

    def _need_room_above(self) -> None:
        """Refuses places above which no node can stand."""
        tree = self._schedule._tree
        parent = tree.parent(self._index)
        if parent is None:
            raise PresburgerError("expected a node below the root, found the root")
        if tree.kind(parent) in {"sequence", "set"}:
            kind = tree.kind(parent)
            raise PresburgerError(f"expected a node below a filter, found a child of a {kind}")

    def _inserted(self, new: Draft) -> Self:
        """Puts a node above this one."""
        self._need_room_above()

        def above(node: Draft) -> Draft:
            new.children = [node]
            return new

        return self._replaced(above)

    def _changed_band(self, change: Callable[[Draft], Draft]) -> Self:
        self._need_band()  # type: ignore[attr-defined]
        return self._replaced(change)

    # Bands.

    def _each(self, values: Sequence[int], expression: str) -> Self:
        maps = [_value(expression.format(value)) for value in self._fitting(values)]

        def change(band: Draft) -> Draft:
            members = [
                Map._wrap(member).apply_range(by)._union
                for member, by in zip(band.members(), maps, strict=True)
            ]
            return band.like(members, band.children)

        return self._changed_band(change)

    def _fitting(self, values: Sequence[int]) -> Sequence[int]:
        count = len(self._need_band()[0])  # type: ignore[attr-defined]
        if len(values) != count or any(value <= 0 for value in values):
            raise PresburgerError(f"expected {count} positive integers, found {tuple(values)}")
        return values

    def band_scale(self, mv: Sequence[int]) -> Self:
        """Multiplies each member of a band."""
        return self._each(mv, "{}x")

    def band_scale_down(self, mv: Sequence[int]) -> Self:
        """Divides each member of a band and rounds down."""
        return self._each(mv, "floor(x/{})")

    def band_mod(self, mv: Sequence[int]) -> Self:
        """Replaces each member of a band by its remainder."""
        return self._each(mv, "x mod {}")

    def band_shift(self, shift: MultiUnionPwAff) -> Self:
        """Adds a function of the instances to each member of a band."""
        shifted = self.band_get_partial_schedule() + shift  # type: ignore[attr-defined]
        return self._changed_band(lambda band: band.like(_members(shifted), band.children))

    def band_tile(self, sizes: Sequence[int]) -> Self:
        """Splits a band into tile loops, in steps of the sizes, and point loops inside them."""
        sizes = self._fitting(sizes)

        def change(band: Draft) -> Draft:
            pairs = list(zip(band.members(), sizes, strict=True))
            by = lambda text: [  # noqa: E731
                Map._wrap(member).apply_range(_value(text.format(size)))._union
                for member, size in pairs
            ]
            points = band.like(by("x mod {}"), band.children)
            points.unions[0] = _loop_types(band.unions[0], range(len(pairs)))
            return band.like(by("x - x mod {}"), [points])

        return self._changed_band(change)

    def band_split(self, pos: int) -> Self:
        """Splits a band: the first ``pos`` members over the others."""
        count = len(self._need_band()[0])  # type: ignore[attr-defined]
        if not 0 < pos < count:
            raise PresburgerError(f"expected a position inside a band of {count}, found {pos}")

        def change(band: Draft) -> Draft:
            members, flags = band.members(), band.flags
            types = _loop_types(band.unions[0], range(pos, count))
            inner = Draft("band", [types, *members[pos:]], [flags[0], *flags[1 + pos :]])
            inner.children = band.children
            moved = Set._wrap(band.unions[0]) - Set._wrap(_loop_types(band.unions[0], range(pos, count), 0))
            outer = Draft("band", [moved._union, *members[:pos]], flags[: 1 + pos])
            outer.children = [inner]
            return outer

        return self._changed_band(change)

    def band_sink(self) -> Self:
        """Moves a band down to the leaves; returns what was below it."""

        def change(band: Draft) -> Draft:
            (below,) = band.children
            if below.kind == "leaf":
                return band
            # What is put in is not looked at again.
            for node in list(below.walk()):
                node.children = [
                    band.like(band.members(), [child]) if child.kind == "leaf" else child
                    for child in node.children
                ]
            return below

        return self._changed_band(change)

    def band_set_permutable(self, permutable: int) -> Self:
        """Returns whether the members of a band may be interchanged."""

        def change(band: Draft) -> Draft:
            band.flags[0] = bool(permutable)
            return band

        return self._changed_band(change)

    def band_member_set_coincident(self, pos: int, coincident: int) -> Self:
        """Returns whether iterations of a member may run at the same time."""
        self._at_member(pos)

        def change(band: Draft) -> Draft:
            band.flags[1 + pos] = bool(coincident)
            return band

        return self._changed_band(change)

    def _at_member(self, pos: int) -> None:
        count = len(self._need_band()[0])  # type: ignore[attr-defined]
        if not 0 <= pos < count:
            raise PresburgerError(f"expected a member of a band of {count}, found {pos}")

    def band_set_ast_build_options(self, options: Set) -> Self:
        """With other options of code generation."""

        def change(band: Draft) -> Draft:
            band.unions[0] = options._union
            return band

        return self._changed_band(change)

    def band_member_set_ast_loop_type(self, pos: int, type: ast_loop_type) -> Self:
        """Says how code generation treats a member."""
        return self._with_type(pos, type, "{}[x]")

    def band_member_set_isolate_ast_loop_type(self, pos: int, type: ast_loop_type) -> Self:
        """Says how code generation treats a member in the part that the band isolates."""
        return self._with_type(pos, type, "[isolate[] -> {}[x]]")

    def _with_type(self, pos: int, type: ast_loop_type, form: str) -> Self:
        self._at_member(pos)
        options: Set = self.band_get_ast_build_options()  # type: ignore[attr-defined]
        for one in (ast_loop_type.atomic, ast_loop_type.unroll, ast_loop_type.separate):
            at = Set(f"{{ {form.format(one.name)} : x = {pos} }}")
            options = options | at if one is type else options - at
        return self.band_set_ast_build_options(options)

    def band_member_get_ast_loop_type(self, pos: int) -> ast_loop_type:
        """How code generation treats a member."""
        return self._type_of(pos, "{}[x]")

    def band_member_get_isolate_ast_loop_type(self, pos: int) -> ast_loop_type:
        """How code generation treats a member in the part that the band isolates."""
        return self._type_of(pos, "[isolate[] -> {}[x]]")

    def _type_of(self, pos: int, form: str) -> ast_loop_type:
        self._at_member(pos)
        options: Set = self.band_get_ast_build_options()  # type: ignore[attr-defined]
        for one in (ast_loop_type.atomic, ast_loop_type.unroll, ast_loop_type.separate):
            if Set(f"{{ {form.format(one.name)} : x = {pos} }}").is_subset(options):
                return one
        return ast_loop_type.default

    # New nodes.

    def insert_mark(self, mark: str) -> Self:
        """Puts a mark above this node."""
        return self._inserted(Draft("mark", name=str(mark)))

    def insert_context(self, context: Set) -> Self:
        """Puts a context, facts on parameters and outer bands, above this node."""
        return self._inserted(Draft("context", [context._union]))

    def insert_guard(self, guard: Set) -> Self:
        """Puts a guard, a condition on parameters and outer bands, above this node."""
        return self._inserted(Draft("guard", [guard._union]))

    def insert_filter(self, filter: Set) -> Self:
        """Puts a filter above this node; one that is there already becomes stricter."""
        self._need_room_above()
        return self._replaced(lambda node: filtered(filter, node))

    def insert_partial_schedule(self, schedule: MultiUnionPwAff) -> Self:
        """Puts a band above this node."""
        return self._inserted(Draft.band(_members(schedule)))

    def insert_extension(self, extension: Map) -> Self:
        """Puts an extension, instances for each point of outer bands, above this node."""
        return self._inserted(Draft("extension", [extension._union]))

    def insert_sequence(self, filters: Sequence[Set]) -> Self:
        """Puts a sequence above this node, with a copy of the node below each filter."""
        return self._listed("sequence", filters)

    def insert_set(self, filters: Sequence[Set]) -> Self:
        """Puts a set above this node, with a copy of the node below each filter."""
        return self._listed("set", filters)

    def _listed(self, kind: str, filters: Sequence[Set]) -> Self:
        def change(node: Draft) -> Draft:
            below = [gist(node.copy(), own & one) for one in filters]
            pairs = zip(filters, below, strict=True)
            return Draft(kind, children=[filtered(one, new) for one, new in pairs])

        own = self._domain()

        self._need_room_above()
        return self._replaced(change)

    def _domain(self) -> Set:
        return Set._wrap(self._schedule._tree.active(self._index))

    def _ordered(self, filter: Set, before: bool) -> Self:
        own = self._domain() & filter
        rest = self._domain() - filter
        if own.is_empty() or rest.is_empty():
            return self.__class__(self._schedule, self._index)  # type: ignore[call-arg]

        def change(node: Draft) -> Draft:
            first = filtered(own, gist(node.copy(), own))
            kept = filtered(rest, gist(node, rest))
            return Draft("sequence", children=[first, kept] if before else [kept, first])

        position = 1 if before else 0
        made = self._replaced(change, lambda new: new.children[position].children[0])
        return made._spliced_up(2)

    def order_before(self, filter: Set) -> Self:
        """Runs the instances of ``filter`` before the others; returns the node of the others."""
        return self._ordered(filter, before=True)

    def order_after(self, filter: Set) -> Self:
        """Runs the instances of ``filter`` after the others; returns the node of the others."""
        return self._ordered(filter, before=False)

    def _spliced_up(self, above: int) -> Self:
        """Joins the sequence ``above`` this node with one that its filter is a child of."""
        tree, index = self._schedule._tree, self._index
        for _ in range(above):
            up = tree.parent(index)
            assert up is not None
            index = up
        filter_ = tree.parent(index)
        outer = None if filter_ is None else tree.parent(filter_)
        if filter_ is None or outer is None or tree.kind(outer) != "sequence":
            return self
        nodes = drafts(tree)
        position = tree.children(outer).index(filter_)
        _splice(nodes[outer], position)
        return self._made(nodes[0], nodes[self._index])

    def sequence_splice_child(self, pos: int) -> Self:
        """Puts the children of the sequence below a child in the child's place."""
        tree = self._schedule._tree
        children = tree.children(self._index)
        inner = tree.children(children[pos]) if 0 <= pos < len(children) else []
        if tree.kind(self._index) != "sequence" or not inner or tree.kind(inner[0]) != "sequence":
            raise PresburgerError("expected a sequence whose child stands over a sequence")

        def change(node: Draft) -> Draft:
            _splice(node, pos)
            return node

        return self._replaced(change)

    def sequence_splice_children(self) -> Self:
        """Puts the children of all sequences right below children in the children's places."""

        def change(node: Draft) -> Draft:
            if node.kind != "sequence":
                raise PresburgerError(f"expected a sequence, found a {node.kind}")
            for position in reversed(range(len(node.children))):
                if node.children[position].children[0].kind == "sequence":
                    _splice(node, position)
            return node

        return self._replaced(change)

    @classmethod
    def from_extension(cls, extension: Map) -> Self:
        """A tree to graft: the instances that an extension adds."""
        root = Draft("extension", [extension._union], children=[Draft.leaf()])
        return cls._alone(root)

    @classmethod
    def from_domain(cls, domain: Set) -> Self:
        """A tree of instances without an order."""
        return cls._alone(Draft("domain", [domain._union], children=[Draft.leaf()]))

    @classmethod
    def _alone(cls, root: Draft) -> Self:
        from tangram.polyhedral.schedules import Schedule

        tree, index = tree_of(root, root)
        return cls(Schedule._of(tree), index)  # type: ignore[call-arg]

    def graft_before(self, graft: Self) -> Self:
        """Runs another tree, a domain or an extension, before this node."""
        return self._grafted(graft, before=True)

    def graft_after(self, graft: Self) -> Self:
        """Runs another tree, a domain or an extension, after this node."""
        return self._grafted(graft, before=False)

    def _grafted(self, graft: Self, before: bool) -> Self:
        root = drafts(graft._schedule._tree)[0]
        if root.kind not in {"domain", "extension"}:
            raise PresburgerError("expected a graft with a domain or an extension as root")
        depth = self.get_schedule_depth()  # type: ignore[attr-defined]
        if root.kind == "domain":
            points = Set._wrap(root.unions[0])
            added = Set(f"{{ [{', '.join(f'd{at}' for at in range(depth))}] }}").cross(points)
        else:
            added = Map._wrap(root.unions[0])
        new = Draft("filter", [added.range()._union], children=root.children)

        own = self._domain()

        def change(node: Draft) -> Draft:
            old = Draft("filter", [own._union], children=[node])
            order = [new, old] if before else [old, new]
            return Draft("extension", [added._union], children=[Draft("sequence", children=order)])

        self._need_room_above()
        position = 1 if before else 0
        return self._replaced(change, lambda top: top.children[0].children[position].children[0])

    def group(self, group_id: str) -> Self:
        """Groups the instances that have one point in the bands above to one, which is expanded here."""
        from tangram.polyhedral.grouping import grouped

        return self._made(*grouped(self, str(group_id)))

    # Nodes taken out.

    def delete(self) -> Self:
        """Takes the node out; its only child takes its place."""
        tree = self._schedule._tree
        above = tree.parent(self._index)
        if above is None or len(tree.children(self._index)) != 1 or tree.kind(above) in {"sequence", "set"}:
            raise PresburgerError("expected a node with one child, below the root and in no list")
        return self._replaced(lambda node: node.children[0])

    def cut(self) -> Self:
        """Takes away the node and what is below it."""
        tree = self._schedule._tree
        above = tree.parent(self._index)
        if above is None or tree.kind(above) in {"sequence", "set"}:
            raise PresburgerError("expected a node below the root and in no list")
        return self._replaced(lambda node: Draft.leaf())

    # Steps that are checked.

    def do(self, steps: str, respecting: Map | None = None, coincident: Map | None = None) -> Self:
        """Applies a script of steps from this node on, each checked; ``do("help")`` lists them.

        Args:
            respecting: pairs of instances whose order stays.
            coincident: pairs that parallel loops keep together; those of ``respecting``
                without it.

        Raises:
            PresburgerError: a step is none, does not fit its node, or breaks an order.
        """
        validity = NOTHING if respecting is None else respecting._union
        pairs = validity if coincident is None else coincident._union
        tree, index = self._schedule._tree.edited(self._index, steps, validity, pairs)
        return self.__class__(self._schedule._of(tree), index)  # type: ignore[call-arg]


def _splice(outer: Draft, position: int) -> None:
    filter_ = outer.children[position]
    limit = Set._wrap(filter_.unions[0])
    inner = []
    for child in filter_.children[0].children:
        child.unions = [(Set._wrap(child.unions[0]) & limit)._union]
        inner.append(child)
    outer.children[position : position + 1] = inner


def _operand(operand: object) -> str:
    """What a step reads: numbers and names as they are, others between quotes."""
    if isinstance(operand, int | str):
        return str(operand)
    if isinstance(operand, list | tuple):
        return " ".join(map(_operand, operand))
    tree = getattr(operand, "get_schedule", None)
    if isinstance(operand, UnionPwMultiAff):
        operand = operand.as_union_map()
    text = str(tree() if tree else operand)
    return "'" + text.replace("'", "''") + "'"


def _step(name: str, does: str) -> Callable[..., Editing]:
    def step(self: Editing, *operands: object, respecting: Map | None = None) -> Editing:
        text = " ".join(map(_operand, operands))
        return self.do(f"{name} {text}", respecting)

    step.__name__ = step.__qualname__ = name
    step.__doc__ = f"{does}, checked against ``respecting``; the operands are those of the step."
    return step


# Steps of scripts that islpy has no name for are methods as well.
_GOING = {"root", "parent", "child", "next", "previous"}
for _name, _isl, _does in _native.ScheduleTree.steps():
    if _name not in _GOING and not hasattr(Editing, _name):
        setattr(Editing, _name, _step(_name, _does))
