"""Generated code: loops, conditions and calls."""

from __future__ import annotations

import copy
import enum
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Self

from tangram import _native
from tangram._native import PresburgerError
from tangram.presburger import DEFAULT_CONTEXT, Context, Id, Printer, Val
from tangram.presburger.lists import ValueList


class ast_node_type(enum.Enum):  # noqa: N801  (islpy's name)
    """What a node of generated code is."""

    error = -1
    for_ = 1
    if_ = 2
    block = 3
    mark = 4
    user = 5


class ast_expr_type(enum.Enum):  # noqa: N801  (islpy's name)
    """What an expression of generated code is."""

    error = -1
    op = 0
    id = 1
    int = 2


class ast_expr_op_type(enum.Enum):  # noqa: N801  (islpy's name)
    """What an operation of generated code does."""

    error = -1
    and_ = 0
    and_then = 1
    or_ = 2
    or_else = 3
    max = 4
    min = 5
    minus = 6
    add = 7
    sub = 8
    mul = 9
    div = 10
    fdiv_q = 11
    pdiv_q = 12
    pdiv_r = 13
    zdiv_r = 14
    cond = 15
    select = 16
    eq = 17
    le = 18
    lt = 19
    ge = 20
    gt = 21
    call = 22
    access = 23
    member = 24
    address_of = 25


class AstNode:
    """A node of generated code; a block of nothing where there is nothing to run."""

    __slots__ = ("_annotation", "_node")

    def __init__(self, node: _native.AstNode | None) -> None:
        self._node = node
        self._annotation: Id | None = None

    @classmethod
    def user_from_expr(cls, expr: AstExpr) -> AstNode:
        """The node that runs an expression, as a call."""
        from tangram.polyhedral.made import MadeNode

        return MadeNode("user", exprs=[expr])

    alloc_user = user_from_expr

    def get_annotation(self) -> Id:
        """What :meth:`set_annotation` put there.

        Raises:
            PresburgerError: nothing did.
        """
        if self._annotation is None:
            raise PresburgerError("the node has no annotation")
        return self._annotation

    def set_annotation(self, annotation: Id) -> Self:
        """With a name that later callbacks find."""
        changed = copy.copy(self)
        changed._annotation = annotation
        return changed

    def get_ctx(self) -> Context:
        """The context."""
        return DEFAULT_CONTEXT

    def copy(self) -> Self:
        """The same node."""
        return self

    def dump(self) -> None:
        """Prints the code."""
        print(self)

    def to_str(self) -> str:
        """The code in C."""
        return self.to_C_str()

    def to_list(self) -> AstNodeList:
        """The list of this node."""
        return AstNodeList([self])

    def for_is_degenerate(self) -> bool:
        """Whether a loop has one value, which none that is generated has."""
        self._check(ast_node_type.for_)
        return False

    def foreach_descendant_top_down(self, fn: Callable[[AstNode], bool]) -> None:
        """Calls ``fn`` with each node, those above first; below where it says ``False``, with none."""
        open_nodes = [self._here()]
        while open_nodes:
            node = open_nodes.pop()
            if fn(node):
                open_nodes.extend(reversed(node._children()))

    def map_descendant_bottom_up(self, fn: Callable[[AstNode], AstNode]) -> AstNode:
        """What ``fn`` makes of each node, after those inside it."""
        from tangram.polyhedral.made import rebuilt, with_children

        return rebuilt(self, lambda node, children: fn(with_children(node, children)))

    def _here(self) -> AstNode:
        return self

    def _children(self) -> list[AstNode]:
        """The nodes right inside."""
        if self._node is None:
            return []
        return [AstNode(node) for node in self._node.children()]

    def print_(self, printer: Printer, options: AstPrintOptions | None = None) -> Printer:
        """Adds the code to a printer; callbacks of the options write loops and calls."""
        options = options or AstPrintOptions.alloc()
        kind = self.get_type()
        if kind == ast_node_type.user and options._user:
            return options._user(printer, options, self)
        if kind == ast_node_type.for_ and options._for:
            return options._for(printer, options, self)
        if kind == ast_node_type.block and (options._user or options._for):
            for child in self._children():
                printer = child.print_(printer, options)
            return printer
        return printer.print_str(self.to_C_str())

    for_print = print_
    if_print = print_

    def print_macros(self, printer: Printer) -> Printer:
        """Adds the definitions that the code may use."""
        return printer.print_str(self.macros())

    def _check(self, kind: ast_node_type) -> None:
        if self.get_type() != kind:
            raise PresburgerError(f"expected a node {kind.name}, found {self.get_type().name}")

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

    def block_get_children(self) -> AstNodeList:
        """The parts of a block, in the order in which they run."""
        if self._node is None:
            return AstNodeList()
        self._need(ast_node_type.block)
        return AstNodeList(self._children())

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

    if_get_then = if_get_then_node
    if_has_else = if_has_else_node
    if_get_else = if_get_else_node

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


SIGNS = {
    "member": (9, "."), "mul": (7, " * "), "div": (7, " / "), "pdiv_q": (7, " / "),
    "pdiv_r": (7, " % "), "zdiv_r": (7, " % "), "add": (6, " + "), "sub": (6, " - "),
    "lt": (5, " < "), "le": (5, " <= "), "gt": (5, " > "), "ge": (5, " >= "), "eq": (4, " == "),
    "and_": (3, " && "), "and_then": (3, " && "), "or_": (2, " || "), "or_else": (2, " || "),
}  # fmt: skip
"""How strongly operations bind, and their signs in C."""


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

    @classmethod
    def from_val(cls, v: int) -> AstExpr:
        """A number."""
        return cls("int", value=int(v))

    @classmethod
    def from_id(cls, id: Id) -> AstExpr:
        """A name."""
        return cls("id", value=str(id))

    def _with(self, kind: str, *others: AstExpr) -> AstExpr:
        return AstExpr(kind, [self, *others])

    def add(self, expr2: AstExpr) -> AstExpr:
        """The sum."""
        return self._with("add", expr2)

    def sub(self, expr2: AstExpr) -> AstExpr:
        """The difference."""
        return self._with("sub", expr2)

    def mul(self, expr2: AstExpr) -> AstExpr:
        """The product."""
        return self._with("mul", expr2)

    def div(self, expr2: AstExpr) -> AstExpr:
        """The quotient, which is an integer."""
        return self._with("div", expr2)

    def pdiv_q(self, expr2: AstExpr) -> AstExpr:
        """The quotient of numbers that are not negative."""
        return self._with("pdiv_q", expr2)

    def pdiv_r(self, expr2: AstExpr) -> AstExpr:
        """The remainder of numbers that are not negative."""
        return self._with("pdiv_r", expr2)

    def eq(self, expr2: AstExpr) -> AstExpr:
        """Whether both are equal."""
        return self._with("eq", expr2)

    def le(self, expr2: AstExpr) -> AstExpr:
        """Whether this is at most the other."""
        return self._with("le", expr2)

    def lt(self, expr2: AstExpr) -> AstExpr:
        """Whether this is less than the other."""
        return self._with("lt", expr2)

    def ge(self, expr2: AstExpr) -> AstExpr:
        """Whether this is at least the other."""
        return self._with("ge", expr2)

    def gt(self, expr2: AstExpr) -> AstExpr:
        """Whether this is greater than the other."""
        return self._with("gt", expr2)

    def and_(self, expr2: AstExpr) -> AstExpr:
        """Whether both hold."""
        return self._with("and_", expr2)

    def and_then(self, expr2: AstExpr) -> AstExpr:
        """Whether both hold; the second is looked at if the first does."""
        return self._with("and_then", expr2)

    def or_(self, expr2: AstExpr) -> AstExpr:
        """Whether one holds."""
        return self._with("or_", expr2)

    def or_else(self, expr2: AstExpr) -> AstExpr:
        """Whether one holds; the second is looked at if the first does not."""
        return self._with("or_else", expr2)

    def neg(self) -> AstExpr:
        """The opposite."""
        return self._with("minus")

    def address_of(self) -> AstExpr:
        """The address of an access."""
        return self._with("address_of")

    def access(self, indices: Sequence[AstExpr]) -> AstExpr:
        """The element of an array at some subscripts."""
        return self._with("access", *indices)

    def call(self, arguments: Sequence[AstExpr]) -> AstExpr:
        """The call of a function."""
        return self._with("call", *arguments)

    def set_op_arg(self, pos: int, arg: AstExpr) -> AstExpr:
        """With another operand."""
        self.op_get_arg(pos)
        operands = list(self._operands())
        operands[pos] = arg
        return AstExpr(self._kind, operands)

    op_set_arg = set_op_arg

    def substitute_ids(self, id2expr: Mapping[Id, AstExpr]) -> AstExpr:
        """With expressions in the place of names."""
        known = {str(name): expr for name, expr in id2expr.items()}
        if self._kind == "id":
            return known.get(str(self._value), self)
        if self._kind == "int":
            return self
        return AstExpr(self._kind, [operand.substitute_ids(id2expr) for operand in self._operands()])

    def is_equal(self, expr2: AstExpr) -> bool:
        """Whether both are written alike."""
        return self == expr2

    def copy(self) -> AstExpr:
        """The same expression."""
        return self

    def get_ctx(self) -> Context:
        """The context."""
        return DEFAULT_CONTEXT

    def dump(self) -> None:
        """Prints the expression."""
        print(self)

    def to_str(self) -> str:
        """The expression in C."""
        return self.to_C_str()

    def to_list(self) -> AstExprList:
        """The list of this expression."""
        return AstExprList([self])

    def print_macros(self, printer: Printer) -> Printer:
        """Adds the definitions that the expression may use."""
        return printer.print_str(AstNode.macros())

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
        return self._text()[1]

    def _text(self) -> tuple[int, str]:
        """How strongly the outermost operation binds, and the text."""
        if self._kind in {"int", "id"}:
            return (10 if self._kind == "id" or str(self._value)[:1] != "-" else 8), str(self._value)
        parts = [operand._text() for operand in self._operands()]
        texts = [text for _, text in parts]
        if self._kind == "call":
            return 9, f"{texts[0]}({', '.join(texts[1:])})"
        if self._kind == "access":
            return 9, texts[0] + "".join(f"[{text}]" for text in texts[1:])
        if self._kind in {"min", "max"}:
            joined = texts[-1]
            for text in reversed(texts[:-1]):
                joined = f"{self._kind}({text}, {joined})"
            return 9, joined
        if self._kind == "fdiv_q":
            return 9, f"floord({', '.join(texts)})"
        if self._kind in {"cond", "select"}:
            return 1, "{} ? {} : {}".format(*(f"({t})" if p <= 1 else t for p, t in parts))
        if self._kind in {"minus", "address_of"}:
            sign = "-" if self._kind == "minus" else "&"
            return 8, sign + (f"({texts[0]})" if parts[0][0] < 9 else texts[0])
        bind, sign = SIGNS[self._kind]
        strict = self._kind in {"sub", "div", "pdiv_q", "pdiv_r", "zdiv_r"}
        shown = [
            f"({text})" if own < bind or (own == bind and at > 0 and (strict or bind == 7)) else text
            for at, (own, text) in enumerate(parts)
        ]
        return bind, sign.join(shown)

    __str__ = to_C_str

    def __eq__(self, other: object) -> bool:
        return str(self) == str(other) if isinstance(other, AstExpr) else NotImplemented

    def __hash__(self) -> int:
        return hash(str(self))

    def __repr__(self) -> str:
        return f"AstExpr({str(self)!r})"


class AstExprList(ValueList[AstExpr]):
    """islpy's list of ``AstExpr``."""

    __slots__ = ()

    @classmethod
    def from_ast_expr(cls, el: AstExpr) -> Self:
        """The list of one expression."""
        return cls([el])

    n_ast_expr: Final = ValueList[AstExpr].size
    get_ast_expr: Final = ValueList[AstExpr].get_at
    set_ast_expr: Final = ValueList[AstExpr].set_at


class AstNodeList(ValueList[AstNode]):
    """islpy's list of ``AstNode``."""

    __slots__ = ()

    @classmethod
    def from_ast_node(cls, el: AstNode) -> Self:
        """The list of one node."""
        return cls([el])

    n_ast_node: Final = ValueList[AstNode].size
    get_ast_node: Final = ValueList[AstNode].get_at
    set_ast_node: Final = ValueList[AstNode].set_at


class IdToAstExpr(dict[Id, AstExpr]):
    """Expressions by name."""

    __slots__ = ()


PrintCallback = Callable[[Printer, "AstPrintOptions", AstNode], Printer]


class AstPrintOptions:
    """How a printer writes nodes; callbacks may write loops and calls."""

    __slots__ = ("_for", "_user")

    def __init__(self) -> None:
        self._user: PrintCallback | None = None
        self._for: PrintCallback | None = None

    @classmethod
    def alloc(cls, ctx: Context | None = None) -> Self:
        """Nodes are written in C."""
        return cls()

    def copy(self) -> Self:
        """The same options."""
        return copy.copy(self)

    def get_ctx(self) -> Context:
        """The context."""
        return DEFAULT_CONTEXT

    def set_print_user(self, print_user: PrintCallback) -> tuple[Self, PrintCallback]:
        """With a callback that writes calls; as in islpy, the callback comes back, too."""
        changed = self.copy()
        changed._user = print_user
        return changed, print_user

    def set_print_for(self, print_for: PrintCallback) -> tuple[Self, PrintCallback]:
        """With a callback that writes loops; as in islpy, the callback comes back, too."""
        changed = self.copy()
        changed._for = print_for
        return changed, print_for
