"""Generated code: loops, conditions and calls."""

from __future__ import annotations

import enum
from typing import Self

from tangram import _native
from tangram._native import PresburgerError
from tangram.polyhedral.schedules import Schedule
from tangram.presburger import Context, Id, Map, Set, Val


class ast_node_type(enum.Enum):  # noqa: N801  (islpy's name)
    """What a node of generated code is."""

    for_ = 1
    if_ = 2
    block = 3
    mark = 4
    user = 5


class ast_expr_type(enum.Enum):  # noqa: N801  (islpy's name)
    """What an expression of generated code is."""

    op = 0
    id = 1
    int = 2


class ast_expr_op_type(enum.Enum):  # noqa: N801  (islpy's name)
    """What an operation of generated code does."""

    and_ = 0
    or_ = 2
    max = 4
    min = 5
    minus = 6
    add = 7
    sub = 8
    mul = 9
    fdiv_q = 11
    pdiv_q = 12
    pdiv_r = 13
    zdiv_r = 14
    eq = 17
    le = 18
    lt = 19
    ge = 20
    call = 22


class AstBuild:
    """How code is generated: what is known about the parameters, and options.

    >>> build = AstBuild.from_context(Set("[n] -> { [] : n > 0 }"))
    >>> node = build.node_from_schedule_map(Map("[n] -> { S[i] -> [i] : 0 <= i < n }"))
    >>> print(node.to_C_str(), end="")
    for (int64_t c0 = 0; c0 < n; c0 += 1)
      S(c0);
    """

    __slots__ = ("_context", "_options")

    def __init__(self, context: Set | None = None, options: Map | None = None) -> None:
        self._context, self._options = context, options

    @classmethod
    def alloc(cls, context: Context | None = None) -> Self:
        """Nothing is known and asked for."""
        return cls()

    @classmethod
    def from_context(cls, context: Set) -> Self:
        """With a set of parameters that hold when the code runs."""
        return cls(context)

    def restrict(self, context: Set) -> Self:
        """With more that is known about the parameters."""
        known = context if self._context is None else self._context & context
        return self.__class__(known, self._options)

    def set_options(self, options: Map) -> Self:
        """With options of schedule maps: ``{ [i, j] -> separate[0]; [i, j] -> unroll[1] }``."""
        return self.__class__(self._context, options)

    def _given(self) -> _native.Union | None:
        return None if self._context is None else self._context._union

    def node_from_schedule(self, schedule: Schedule) -> AstNode:
        """The code of a schedule tree, whose bands have options of their own.

        Raises:
            PresburgerError: a loop has no first value.
        """
        return _top(_native.Ast.of_tree(schedule._tree, self._given()))

    def node_from_schedule_map(self, schedule: Map) -> AstNode:
        """The code of a map of instances to points in lexicographic order.

        Raises:
            PresburgerError: a loop has no first value, or points differ in dimensions.
        """
        options = Map("{ }") if self._options is None else self._options
        return _top(_native.Ast.of_map(schedule._union, self._given(), options._union))

    ast_from_schedule = node_from_schedule_map


def _top(ast: _native.Ast) -> AstNode:
    return AstNode(ast.root())


class AstNode:
    """A node of generated code; a block of nothing where there is nothing to run."""

    __slots__ = ("_node",)

    def __init__(self, node: _native.AstNode | None) -> None:
        self._node = node

    def get_type(self) -> ast_node_type:
        """What the node is."""
        kind = "block" if self._node is None else self._node.kind()
        return ast_node_type[{"for": "for_", "if": "if_"}.get(kind, kind)]

    def _need(self, kind: ast_node_type) -> _native.AstNode:
        if self.get_type() != kind or self._node is None:
            raise PresburgerError(f"expected a node {kind.name}, found {self.get_type().name}")
        return self._node

    def to_C_str(self) -> str:  # noqa: N802  (islpy's name)
        """The code in C; it uses what :meth:`macros` defines."""
        return "" if self._node is None else str(self._node)

    __str__ = to_C_str

    @staticmethod
    def macros() -> str:
        """The definitions of ``floord``, ``min`` and ``max``, which code may use."""
        return _native.Ast.macros()

    def block_get_children(self) -> list[AstNode]:
        """The parts of a block, in the order in which they run."""
        if self._node is None:
            return []
        return [AstNode(node) for node in self._need(ast_node_type.block).children()]

    def for_get_iterator(self) -> AstExpr:
        """The variable of a loop."""
        return AstExpr._name(self._need(ast_node_type.for_).name())

    def for_get_init(self) -> AstExpr:
        """The first value of the variable of a loop."""
        return AstExpr._of(self._need(ast_node_type.for_).expressions()[0])

    def for_get_cond(self) -> AstExpr:
        """The condition under which a loop goes on.

        Raises:
            PresburgerError: the loop goes on without end.
        """
        bounds = self._need(ast_node_type.for_).expressions()
        if len(bounds) < 2:
            raise PresburgerError("the loop has no last value")
        return AstExpr("le", [self.for_get_iterator(), AstExpr._of(bounds[1])])

    def for_get_inc(self) -> AstExpr:
        """What is added to the variable of a loop after each iteration."""
        step = self._need(ast_node_type.for_).step()
        assert step is not None
        return AstExpr("int", value=step[0])

    def for_is_coincident(self) -> bool:
        """Whether the iterations of a loop may run at the same time."""
        step = self._need(ast_node_type.for_).step()
        assert step is not None
        return step[1]

    def for_get_body(self) -> AstNode:
        """What runs in each iteration of a loop."""
        return AstNode(self._need(ast_node_type.for_).children()[0])

    def if_get_cond(self) -> AstExpr:
        """The condition of an ``if``."""
        return AstExpr._of(self._need(ast_node_type.if_).expressions()[0])

    def if_get_then_node(self) -> AstNode:
        """What runs if the condition holds."""
        return AstNode(self._need(ast_node_type.if_).children()[0])

    def if_has_else_node(self) -> bool:
        """Whether something runs if the condition does not hold."""
        return len(self._need(ast_node_type.if_).children()) > 1

    def if_get_else_node(self) -> AstNode:
        """What runs if the condition does not hold.

        Raises:
            PresburgerError: there is nothing.
        """
        if not self.if_has_else_node():
            raise PresburgerError("the condition has no else")
        return AstNode(self._need(ast_node_type.if_).children()[1])

    if_get_then, if_has_else, if_get_else = if_get_then_node, if_has_else_node, if_get_else_node

    def mark_get_id(self) -> Id:
        """The name of a mark."""
        return Id(self._need(ast_node_type.mark).name())

    def mark_get_node(self) -> AstNode:
        """What a mark stands above."""
        return AstNode(self._need(ast_node_type.mark).children()[0])

    def user_get_expr(self) -> AstExpr:
        """The call of an instance: the name of the statement, then the coordinates."""
        node = self._need(ast_node_type.user)
        arguments = [AstExpr._of(argument) for argument in node.expressions()]
        return AstExpr("call", [AstExpr._name(node.name()), *arguments])

    def __repr__(self) -> str:
        return f"<AstNode {self.get_type().name}: {self.to_C_str().strip()!r}>"


INFIX = {"le": "<=", "zdiv_r": "%"}
"""The operations that are not native: a loop's condition, a remainder that is compared with 0."""


class AstExpr:
    """An expression of generated code: a number, a name, or an operation."""

    __slots__ = ("_arguments", "_kind", "_source", "_value")

    def __init__(
        self,
        kind: str,
        arguments: list[AstExpr] | None = None,
        value: int | str | None = None,
        source: _native.AstExpr | None = None,
    ) -> None:
        self._kind, self._value, self._source = kind, value, source
        # Those of native expressions are made when they are asked for.
        self._arguments = arguments

    @classmethod
    def _name(cls, name: str | None) -> AstExpr:
        return cls("id", value=name)

    @classmethod
    def _of(cls, expr: _native.AstExpr) -> AstExpr:
        kind = expr.kind()
        value = expr.number() if kind == "int" else str(expr) if kind == "id" else None
        return cls("eq" if kind == "multiple" else kind, value=value, source=expr)

    def _operands(self) -> list[AstExpr]:
        if self._arguments is None:
            self._arguments = self._made() if self._source is not None else []
        return self._arguments

    def _made(self) -> list[AstExpr]:
        """The operands of a native expression, numbers among them."""
        assert self._source is not None
        kind, number = self._source.kind(), self._source.number()
        operands = [AstExpr._of(operand) for operand in self._source.operands()]
        constant = AstExpr("int", value=number)
        if kind == "multiple":
            return [AstExpr("zdiv_r", [*operands, constant]), AstExpr("int", value=0)]
        if number is None or kind == "int":
            return operands
        return [constant, *operands] if kind == "mul" else [*operands, constant]

    def get_type(self) -> ast_expr_type:
        """Whether it is a number, a name, or an operation."""
        return ast_expr_type[self._kind if self._kind in {"int", "id"} else "op"]

    def _need(self, type: ast_expr_type) -> None:
        if self.get_type() != type:
            raise PresburgerError(f"expected an expression {type.name}, found {self}")

    def int_get_val(self) -> Val:
        """The number."""
        self._need(ast_expr_type.int)
        assert isinstance(self._value, int)
        return Val(self._value)

    get_val = int_get_val

    def id_get_id(self) -> Id:
        """The name."""
        self._need(ast_expr_type.id)
        return Id(self._value)

    get_id = id_get_id

    def op_get_type(self) -> ast_expr_op_type:
        """What the operation does."""
        self._need(ast_expr_type.op)
        return ast_expr_op_type[self._kind]

    get_op_type = op_get_type

    def op_get_n_arg(self) -> int:
        """The number of operands."""
        self._need(ast_expr_type.op)
        return len(self._operands())

    get_op_n_arg = op_get_n_arg

    def op_get_arg(self, pos: int) -> AstExpr:
        """An operand.

        Raises:
            PresburgerError: there are not as many.
        """
        if not 0 <= pos < self.op_get_n_arg():
            raise PresburgerError(f"expected an operand below {self.op_get_n_arg()}, found {pos}")
        return self._operands()[pos]

    get_op_arg = op_get_arg

    def to_C_str(self) -> str:  # noqa: N802  (islpy's name)
        """The expression in C."""
        if self._source is not None:
            return str(self._source)
        if self._kind == "call":
            name, *arguments = map(str, self._operands())
            return f"{name}({', '.join(arguments)})"
        if self._kind in INFIX:
            return f" {INFIX[self._kind]} ".join(map(str, self._operands()))
        return str(self._value)

    __str__ = to_C_str

    def __eq__(self, other: object) -> bool:
        return str(self) == str(other) if isinstance(other, AstExpr) else NotImplemented

    def __hash__(self) -> int:
        return hash(str(self))

    def __repr__(self) -> str:
        return f"AstExpr({str(self)!r})"
