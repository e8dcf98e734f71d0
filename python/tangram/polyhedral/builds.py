"""How code is generated: what is known, names of iterators, and callbacks that make nodes."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from typing import Self

from tangram import _native
from tangram._native import PresburgerError
from tangram.polyhedral.code import AstExpr, AstNode
from tangram.polyhedral.made import MadeNode, rebuilt, with_children
from tangram.polyhedral.schedules import Schedule
from tangram.presburger import (
    DEFAULT_CONTEXT,
    Aff,
    Context,
    Id,
    Map,
    PwAff,
    PwMultiAff,
    Set,
    Space,
    dim_type,
)

NodeCallback = Callable[[AstNode, "AstBuild"], AstNode]
"""Makes another node of one."""


class AstBuild:
    """How code is generated: what is known about the parameters, and options.

    >>> build = AstBuild.from_context(Set("[n] -> { [] : n > 0 }"))
    >>> node = build.node_from_schedule_map(Map("[n] -> { S[i] -> [i] : 0 <= i < n }"))
    >>> print(node.to_C_str(), end="")
    for (int64_t c0 = 0; c0 < n; c0 += 1)
      S(c0);

    Callbacks are given the build of the place where the node stands, which knows the instances and
    the points of their schedule. As in islpy, methods that set one return the build and the callback.
    """

    __slots__ = ("_after_for", "_after_mark", "_at_domain", "_before_for", "_before_mark")
    __slots__ += ("_call", "_context", "_iterators", "_leaf", "_options", "_times")

    def __init__(self, context: Set | None = None, options: Map | None = None) -> None:
        self._context, self._options = context, options
        self._iterators: list[str] = []
        self._at_domain: NodeCallback | None = None
        self._after_for: NodeCallback | None = None
        self._after_mark: NodeCallback | None = None
        self._before_for: Callable[[AstBuild], Id] | None = None
        self._before_mark: Callable[[Id, AstBuild], object] | None = None
        self._leaf: Callable[[AstBuild], AstNode] | None = None
        # Where a callback is: the points of all instances, and the call of one.
        self._times: Map | None = None
        self._call: AstExpr | None = None

    @classmethod
    def alloc(cls, context: Context | None = None) -> Self:
        """Nothing is known and asked for."""
        return cls()

    @classmethod
    def from_context(cls, context: Set) -> Self:
        """With a set of parameters that hold when the code runs."""
        return cls(context)

    def copy(self) -> Self:
        """The same build."""
        return copy.copy(self)

    def get_ctx(self) -> Context:
        """The context."""
        return DEFAULT_CONTEXT

    def _changed(self, **values: object) -> Self:
        changed = self.copy()
        for name, value in values.items():
            setattr(changed, f"_{name}", value)
        return changed

    def restrict(self, context: Set) -> Self:
        """With more that is known about the parameters."""
        known = context if self._context is None else self._context & context
        return self._changed(context=known)

    def set_options(self, options: Map) -> Self:
        """With options of schedule maps: ``{ [i, j] -> separate[0]; [i, j] -> unroll[1] }``."""
        return self._changed(options=options)

    def set_iterators(self, iterators: Iterable[str]) -> Self:
        """With names of the loops over the first dimensions of the schedule."""
        return self._changed(iterators=[str(name) for name in iterators])

    def set_at_each_domain(self, fn: NodeCallback) -> tuple[Self, NodeCallback]:
        """With a callback for each node that runs instances."""
        return self._changed(at_domain=fn), fn

    def set_after_each_for(self, fn: NodeCallback) -> tuple[Self, NodeCallback]:
        """With a callback for each loop, after what is inside it."""
        return self._changed(after_for=fn), fn

    def set_after_each_mark(self, fn: NodeCallback) -> tuple[Self, NodeCallback]:
        """With a callback for each mark, after what is inside it."""
        return self._changed(after_mark=fn), fn

    def set_before_each_for(
        self, fn: Callable[[AstBuild], Id]
    ) -> tuple[Self, Callable[[AstBuild], Id]]:
        """With a callback for each loop, before what is inside it, that gives its annotation."""
        return self._changed(before_for=fn), fn

    def set_before_each_mark(
        self, fn: Callable[[Id, AstBuild], object]
    ) -> tuple[Self, Callable[[Id, AstBuild], object]]:
        """With a callback for each mark, before what is inside it."""
        return self._changed(before_mark=fn), fn

    def set_create_leaf(
        self, fn: Callable[[AstBuild], AstNode]
    ) -> tuple[Self, Callable[[AstBuild], AstNode]]:
        """With a callback that makes the node of each instance."""
        return self._changed(leaf=fn), fn

    # Generating code.

    def _given(self) -> _native.Union | None:
        return None if self._context is None else self._context._union

    def node_from_schedule(self, schedule: Schedule) -> AstNode:
        """The code of a schedule tree, whose bands have options of their own.

        Raises:
            PresburgerError: a loop has no first value.
        """
        root = _native.Ast.of_tree(schedule._tree, self._given()).root()
        return self._made(AstNode(root), schedule.get_map)

    def node_from_schedule_map(self, schedule: Map) -> AstNode:
        """The code of a map of instances to points in lexicographic order.

        Raises:
            PresburgerError: a loop has no first value, or points differ in dimensions.
        """
        options = Map("{ }") if self._options is None else self._options
        root = _native.Ast.of_map(schedule._union, self._given(), options._union).root()
        return self._made(AstNode(root), lambda: schedule)

    ast_from_schedule = node_from_schedule_map

    def _made(self, top: AstNode, times: Callable[[], Map]) -> AstNode:
        callbacks = (self._at_domain, self._after_for, self._after_mark, self._leaf)
        before = self._before_for or self._before_mark
        if not self._iterators and not before and not any(callbacks):
            return top
        place = self._changed(times=times() if before or any(callbacks) else None)
        names = {Id(f"c{at}"): AstExpr.from_id(Id(n)) for at, n in enumerate(self._iterators)}
        if before:
            top = place._announced(top)
        return rebuilt(top, lambda node, inside: place._visited(node, inside, names))

    def _announced(self, top: AstNode) -> AstNode:
        """Calls what is to be called before loops and marks; loops keep their annotations."""
        found: list[Id | None] = []
        open_nodes = [top]
        while open_nodes:
            node = open_nodes.pop()
            kind = node.get_type().name
            annotation = None
            if kind == "mark" and self._before_mark:
                self._before_mark(node.mark_get_id(), self)
            if kind == "for_" and self._before_for:
                annotation = self._before_for(self)
            found.append(annotation)
            open_nodes.extend(reversed(node._children()))
        # Nodes in the order in which they are left: each keeps its number on the way down.
        order = iter(numbers_bottom_up(top))

        def annotated(node: AstNode, inside: list[AstNode]) -> AstNode:
            annotation = found[next(order)]
            made = with_children(node, inside)
            return made if annotation is None else made.set_annotation(annotation)

        return rebuilt(top, annotated)

    def _visited(
        self, node: AstNode, inside: list[AstNode], names: dict[Id, AstExpr]
    ) -> AstNode:
        made = with_children(node, inside)
        if isinstance(made, MadeNode) and names:
            made._exprs = [expr.substitute_ids(names) for expr in made._exprs]
            if made._kind == "for" and made._name is not None and Id(made._name) in names:
                made._name = str(names[Id(made._name)])
        kind = made.get_type().name
        if kind == "user":
            place = self._changed(call=made.user_get_expr())
            if self._leaf:
                made = self._leaf(place)
            if self._at_domain:
                made = self._at_domain(made, place)
        if kind == "for_" and self._after_for:
            made = self._after_for(made, self)
        if kind == "mark" and self._after_mark:
            made = self._after_mark(made, self)
        return made

    # What callbacks ask.

    def get_schedule(self) -> Map:
        """The points of the instances that run here.

        Raises:
            PresburgerError: no callback is running.
        """
        if self._times is None:
            raise PresburgerError("only callbacks know a schedule: set_at_each_domain(...)")
        if self._call is None:
            return self._times
        name, count = self._statement()
        own = [
            piece
            for piece in self._times.pieces()
            if (piece.get_tuple_name(dim_type.in_) or "") == name and piece.dim(dim_type.in_) == count
        ]
        return own[0] if own else Map("{ }")

    def get_schedule_space(self) -> Space:
        """The space of the points."""
        return self.get_schedule().range().get_space()

    def _statement(self) -> tuple[str, int]:
        assert self._call is not None
        return str(self._call.op_get_arg(0)), self._call.op_get_n_arg() - 1

    def _of_instances(self, function: PwMultiAff) -> PwMultiAff:
        """A function of points of the schedule as one of the instances."""
        if self._call is None:
            return function
        space = function.get_space()
        if not space.is_map():
            return function
        name, count = self._statement()
        own = (space.get_tuple_name(dim_type.in_) or "", space.dim(dim_type.in_))
        if own == (name, count):
            return function
        return function.pullback_pw_multi_aff(self.get_schedule().as_pw_multi_aff())

    def _values(self) -> list[AstExpr]:
        if self._call is None:
            return []
        return [self._call.op_get_arg(at) for at in range(1, self._call.op_get_n_arg())]

    def expr_from_pw_aff(self, pa: PwAff) -> AstExpr:
        """The value of a function of the instances here, of their points, or of parameters."""
        if pa.get_space().is_map() and self._call is not None:
            pa = self._of_instances(pa.as_pw_multi_aff()).get_at(0)
        return expression(pa, self._values())

    def expr_from_set(self, set: Set) -> AstExpr:
        """Whether parameters, or the point of the schedule here, are in a set."""
        values: list[AstExpr] = []
        if not set.is_params() and set.n_dim():
            identity = PwMultiAff.identity_on_domain_space(set.get_space())
            own = self._of_instances(identity)
            values = [expression(own.get_at(at), self._values()) for at in range(set.n_dim())]
        return condition(set, values)

    def access_from_pw_multi_aff(self, pma: PwMultiAff) -> AstExpr:
        """The element of an array that a function gives for the instance here, or its point."""
        return AstExpr("access", self._parts(pma))

    def call_from_pw_multi_aff(self, pma: PwMultiAff) -> AstExpr:
        """As :meth:`access_from_pw_multi_aff`, as the call of a function."""
        return AstExpr("call", self._parts(pma))

    access_from_multi_pw_aff = access_from_pw_multi_aff
    call_from_multi_pw_aff = call_from_pw_multi_aff

    def _parts(self, pma: PwMultiAff) -> list[AstExpr]:
        own, values = self._of_instances(pma), self._values()
        name = AstExpr.from_id(Id(pma.get_tuple_name(dim_type.set) or ""))
        return [name, *(expression(own.get_at(at), values) for at in range(len(own)))]


def numbers_bottom_up(top: AstNode) -> list[int]:
    """The numbers that nodes have from the outermost on, in the order in which they are left."""
    order: list[int] = []
    count = 0
    todo: list[tuple[AstNode, int]] = [(top, -1)]
    while todo:
        node, number = todo.pop()
        if number >= 0:
            order.append(number)
            continue
        todo.append((node, count))
        count += 1
        todo.extend((child, -1) for child in reversed(node._children()))
    return order


# Expressions of functions.


def expression(value: PwAff, dims: Sequence[AstExpr]) -> AstExpr:
    """The value of a function whose arguments have these values."""
    pieces = value.get_pieces()
    if not pieces:
        raise PresburgerError(f"expected a function with a value, found {value}")
    *firsts, (_, last) = pieces
    result = affine(last, dims)
    for domain, part in reversed(firsts):
        result = AstExpr("select", [condition(domain, dims), affine(part, dims), result])
    return result


def affine(value: PwAff, dims: Sequence[AstExpr]) -> AstExpr:
    """The value of an expression in one piece."""
    row, divisor, floors = Aff(str(value))._row() if not isinstance(value, Aff) else value._row()
    atoms = [AstExpr.from_id(Id(name)) for name in value.get_space()._params]
    atoms += dims[: value.dim(dim_type.in_)] if value.get_space().is_map() else []
    for numerator, by in floors:
        atoms.append(AstExpr("fdiv_q", [total(numerator, atoms), AstExpr.from_val(by)]))
    whole = total(row, atoms)
    return whole if divisor == 1 else whole.div(AstExpr.from_val(divisor))


def condition(points: Set, dims: Sequence[AstExpr]) -> AstExpr:
    """Whether a point with these coordinates is in a set."""
    cases = []
    for equalities, inequalities, floors in points._union.rows():
        atoms = [AstExpr.from_id(Id(name)) for name in points.get_param_names()]
        atoms += dims
        for numerator, by in floors:
            atoms.append(AstExpr("fdiv_q", [total(numerator, atoms), AstExpr.from_val(by)]))
        zero = AstExpr.from_val(0)
        facts = [total(row, atoms).eq(zero) for row in equalities]
        facts += [total(row, atoms).ge(zero) for row in inequalities]
        case = facts[0] if facts else AstExpr.from_val(1)
        for fact in facts[1:]:
            case = case.and_(fact)
        cases.append(case)
    result = cases[0] if cases else AstExpr.from_val(0)
    for case in cases[1:]:
        result = result.or_(case)
    return result


def total(row: Sequence[int], atoms: Sequence[AstExpr]) -> AstExpr:
    """A number plus factors times expressions; sums within these become one sum."""
    constant = row[0]
    terms: dict[str, tuple[AstExpr, int]] = {}
    todo = [(expr, factor) for expr, factor in zip(atoms, row[1:], strict=False) if factor]
    todo.reverse()
    while todo:
        expr, factor = todo.pop()
        kind, inner = expr._kind, [] if expr._kind in {"int", "id"} else expr._operands()
        if kind == "int":
            assert isinstance(expr._value, int)
            constant += factor * expr._value
        elif kind in {"add", "sub"}:
            todo.append((inner[1], factor if kind == "add" else -factor))
            todo.append((inner[0], factor))
        elif kind == "minus":
            todo.append((inner[0], -factor))
        elif kind == "mul" and inner[0]._kind == "int":
            assert isinstance(inner[0]._value, int)
            todo.append((inner[1], factor * inner[0]._value))
        else:
            known = terms.get(str(expr), (expr, 0))
            terms[str(expr)] = (expr, known[1] + factor)
    return summed([(expr, factor) for expr, factor in terms.values() if factor], constant)


def summed(terms: list[tuple[AstExpr, int]], constant: int) -> AstExpr:
    """Positive terms first, the number last unless nothing else is positive."""
    positive = [term for term in terms if term[1] > 0]
    negative = [term for term in terms if term[1] < 0]
    result: AstExpr | None = None
    if not positive and (constant > 0 or not negative):
        result, constant = AstExpr.from_val(constant), 0
    for expr, factor in [*positive, *negative]:
        term = expr if abs(factor) == 1 else AstExpr.from_val(abs(factor)).mul(expr)
        if result is None:
            result = term if factor > 0 else term.neg()
        else:
            result = result.add(term) if factor > 0 else result.sub(term)
    assert result is not None
    if constant:
        number = AstExpr.from_val(abs(constant))
        result = result.add(number) if constant > 0 else result.sub(number)
    return result
