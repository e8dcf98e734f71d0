"""Nodes of generated code that Python makes, and trees of them in the place of others."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence

from tangram._native import PresburgerError
from tangram.polyhedral.code import AstExpr, AstNode, AstNodeList, ast_node_type
from tangram.presburger import Id


class MadeNode(AstNode):
    """A node that Python made, with nodes and expressions inside."""

    __slots__ = ("_exprs", "_inside", "_kind", "_name", "_step")

    def __init__(
        self,
        kind: str,
        inside: Sequence[AstNode] = (),
        exprs: Sequence[AstExpr] = (),
        name: str | None = None,
        step: tuple[int, bool] = (1, False),
    ) -> None:
        super().__init__(None)
        self._kind, self._inside, self._exprs = kind, list(inside), list(exprs)
        self._name, self._step = name, step

    def get_type(self) -> ast_node_type:
        """What the node is."""
        return ast_node_type[{"for": "for_", "if": "if_"}.get(self._kind, self._kind)]

    def _children(self) -> list[AstNode]:
        return list(self._inside)

    def block_get_children(self) -> AstNodeList:
        """The parts of a block, in the order in which they run."""
        self._check(ast_node_type.block)
        return AstNodeList(self._inside)

    def for_get_iterator(self) -> AstExpr:
        """The variable of a loop."""
        self._check(ast_node_type.for_)
        return AstExpr._name(self._name)

    def for_get_init(self) -> AstExpr:
        """The first value of the variable of a loop."""
        self._check(ast_node_type.for_)
        return self._exprs[0]

    def for_get_cond(self) -> AstExpr:
        """The condition under which a loop goes on."""
        self._check(ast_node_type.for_)
        if len(self._exprs) < 2:
            raise PresburgerError("the loop has no last value")
        return AstExpr("le", [self.for_get_iterator(), self._exprs[1]])

    def for_get_inc(self) -> AstExpr:
        """What is added to the variable of a loop after each iteration."""
        self._check(ast_node_type.for_)
        return AstExpr("int", value=self._step[0])

    def for_is_coincident(self) -> bool:
        """Whether the iterations of a loop may run at the same time."""
        self._check(ast_node_type.for_)
        return self._step[1]

    def for_get_body(self) -> AstNode:
        """What runs in each iteration of a loop."""
        self._check(ast_node_type.for_)
        return self._inside[0]

    def if_get_cond(self) -> AstExpr:
        """The condition of an ``if``."""
        self._check(ast_node_type.if_)
        return self._exprs[0]

    def if_get_then_node(self) -> AstNode:
        """What runs if the condition holds."""
        self._check(ast_node_type.if_)
        return self._inside[0]

    def if_has_else_node(self) -> bool:
        """Whether something runs if the condition does not hold."""
        self._check(ast_node_type.if_)
        return len(self._inside) > 1

    def if_get_else_node(self) -> AstNode:
        """What runs if the condition does not hold."""
        if not self.if_has_else_node():
            raise PresburgerError("the condition has no else")
        return self._inside[1]

    if_get_then = if_get_then_node
    if_has_else = if_has_else_node
    if_get_else = if_get_else_node

    def mark_get_id(self) -> Id:
        """The name of a mark."""
        self._check(ast_node_type.mark)
        return Id(self._name)

    def mark_get_node(self) -> AstNode:
        """What a mark stands above."""
        self._check(ast_node_type.mark)
        return self._inside[0]

    def user_get_expr(self) -> AstExpr:
        """What is run, as a call."""
        self._check(ast_node_type.user)
        return self._exprs[0]

    def to_C_str(self) -> str:  # noqa: N802  (islpy's name)
        """The code in C; it uses what :meth:`macros` defines."""
        return "".join(f"{line}\n" for line in self._lines())

    __str__ = to_C_str

    def _lines(self) -> list[str]:
        if self._kind == "user":
            return [f"{self._exprs[0]};"]
        if self._kind == "block":
            return [line for node in self._inside for line in lines_of(node)]
        if self._kind == "mark":
            return [f"// {self._name}", *lines_of(self._inside[0])]
        if self._kind == "if":
            lines = braced(f"if ({self._exprs[0]})", self._inside[0])
            if len(self._inside) > 1:
                rest = braced("else", self._inside[1])
                if lines[-1] == "}":
                    lines[-1:], rest = [f"}} {rest[0]}"], rest[1:]
                lines += rest
            return lines
        end = f" {self._name} <= {self._exprs[1]}" if len(self._exprs) > 1 else ""
        start = f"int64_t {self._name} = {self._exprs[0]}"
        return braced(f"for ({start};{end}; {self._name} += {self._step[0]})", self._inside[0])


def lines_of(node: AstNode) -> list[str]:
    return str(node).splitlines()


def braced(head: str, body: AstNode) -> list[str]:
    """A statement over a body, between braces where it is more than one line of its own."""
    inner = [f"  {line}" for line in lines_of(body)]
    single = body.get_type() not in {ast_node_type.block, ast_node_type.mark}
    return [head, *inner] if single else [f"{head} {{", *inner, "}"]


def with_children(node: AstNode, children: list[AstNode]) -> AstNode:
    """The node with others inside; the same if they are the same."""
    if isinstance(node, MadeNode):
        made = copy.copy(node)
        made._inside = children
        return made
    native = node._node
    if native is None:
        return node
    kind = native.kind()
    if kind == "user":
        return MadeNode(kind, exprs=[node.user_get_expr()])
    exprs = [AstExpr._of(expr) for expr in native.expressions()]
    made = MadeNode(kind, children, exprs, native.name(), native.step() or (1, False))
    made._annotation = node._annotation
    return made


def rebuilt(top: AstNode, make: Callable[[AstNode, list[AstNode]], AstNode]) -> AstNode:
    """What ``make`` makes of each node and what it made of those inside."""
    done: list[AstNode] = []
    todo: list[tuple[AstNode, int | None]] = [(top, None)]
    while todo:
        node, count = todo.pop()
        if count is None:
            children = node._children()
            todo.append((node, len(children)))
            todo.extend((child, None) for child in reversed(children))
        else:
            inside = done[len(done) - count :]
            del done[len(done) - count :]
            done.append(make(node, inside))
    return done[0]
