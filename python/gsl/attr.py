"""Attribute expressions: integers, floats, truth values, strings and tuples computed from a match.

Indices count from 0, as everywhere in Python; a negative one is out of range.
"""

from __future__ import annotations

import enum
import typing
from collections.abc import Callable, Iterable, Sequence

if typing.TYPE_CHECKING:
    from gsl.pat import Alt, Pattern

AttrLike: typing.TypeAlias = typing.Union["Attr", int, float, bool, str, None, Sequence["AttrLike"]]
"""What stands for an attribute: an expression or a Python value; `None` is any value."""


class UnaryOp(enum.Enum):
    """Unary operations."""

    NEG = "neg"
    NOT = "not"


class BinaryOp(enum.Enum):
    """Binary operations."""

    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    DIV = "div"
    FLOOR_DIV = "floor-div"
    CEIL_DIV = "ceil-div"
    MOD = "mod"
    MAX = "max"
    MIN = "min"
    EQ = "eq"
    NE = "ne"
    LT = "lt"
    LE = "le"
    GT = "gt"
    GE = "ge"
    AND = "and"
    OR = "or"


class Attr:
    """An attribute expression."""

    __slots__ = ()

    # Equality builds an expression, so identity is what sets and dictionaries go by.
    def __hash__(self) -> int:
        return object.__hash__(self)

    def __bool__(self) -> bool:
        raise TypeError("an attribute expression has no truth value; write `&` and `|`, not `and` and `or`")

    def __iter__(self) -> typing.NoReturn:
        raise TypeError("the length of an attribute expression is not known; use `attr.Map`")

    def __neg__(self) -> Attr:
        return Unary(UnaryOp.NEG, self)

    def __invert__(self) -> Attr:
        return Unary(UnaryOp.NOT, self)

    def __add__(self, other: AttrLike) -> Attr:
        return Binary(BinaryOp.ADD, self, other)

    def __radd__(self, other: AttrLike) -> Attr:
        return Binary(BinaryOp.ADD, other, self)

    def __sub__(self, other: AttrLike) -> Attr:
        return Binary(BinaryOp.SUB, self, other)

    def __rsub__(self, other: AttrLike) -> Attr:
        return Binary(BinaryOp.SUB, other, self)

    def __mul__(self, other: AttrLike) -> Attr:
        return Binary(BinaryOp.MUL, self, other)

    def __rmul__(self, other: AttrLike) -> Attr:
        return Binary(BinaryOp.MUL, other, self)

    def __truediv__(self, other: AttrLike) -> Attr:
        return Binary(BinaryOp.DIV, self, other)

    def __rtruediv__(self, other: AttrLike) -> Attr:
        return Binary(BinaryOp.DIV, other, self)

    def __floordiv__(self, other: AttrLike) -> Attr:
        return Binary(BinaryOp.FLOOR_DIV, self, other)

    def __rfloordiv__(self, other: AttrLike) -> Attr:
        return Binary(BinaryOp.FLOOR_DIV, other, self)

    def __mod__(self, other: AttrLike) -> Attr:
        return Binary(BinaryOp.MOD, self, other)

    def __rmod__(self, other: AttrLike) -> Attr:
        return Binary(BinaryOp.MOD, other, self)

    def __eq__(self, other: object) -> Attr:  # type: ignore[override]
        return Binary(BinaryOp.EQ, self, typing.cast(AttrLike, other))

    def __ne__(self, other: object) -> Attr:  # type: ignore[override]
        return Binary(BinaryOp.NE, self, typing.cast(AttrLike, other))

    def __lt__(self, other: AttrLike) -> Attr:
        return Binary(BinaryOp.LT, self, other)

    def __le__(self, other: AttrLike) -> Attr:
        return Binary(BinaryOp.LE, self, other)

    def __gt__(self, other: AttrLike) -> Attr:
        return Binary(BinaryOp.GT, self, other)

    def __ge__(self, other: AttrLike) -> Attr:
        return Binary(BinaryOp.GE, self, other)

    def __and__(self, other: AttrLike) -> Attr:
        return Binary(BinaryOp.AND, self, other)

    def __rand__(self, other: AttrLike) -> Attr:
        return Binary(BinaryOp.AND, other, self)

    def __or__(self, other: AttrLike) -> Attr:
        return Binary(BinaryOp.OR, self, other)

    def __ror__(self, other: AttrLike) -> Attr:
        return Binary(BinaryOp.OR, other, self)

    def __getitem__(self, index: AttrLike | slice) -> Attr:
        if isinstance(index, slice):
            return GetSlice(self, Slice(index.start, index.stop, index.step))
        return GetItem(self, index)

    def max(self, other: AttrLike) -> Attr:
        """Returns the larger of two numbers."""
        return Binary(BinaryOp.MAX, self, other)

    def min(self, other: AttrLike) -> Attr:
        """Returns the smaller of two numbers."""
        return Binary(BinaryOp.MIN, self, other)


class NoneAttr(Attr):
    """Any value: matches everything, evaluates to nothing."""

    __slots__ = ()


class Const(Attr):
    """A constant."""

    __slots__ = ("value",)

    def __init__(self, value: int | float | bool | str) -> None:
        self.value: int | float | bool | str = value


class GetAttr(Attr):
    """Attribute `name` of what a pattern matched: `p.name`."""

    __slots__ = ("name", "pat")

    def __init__(self, pat: Pattern, name: str) -> None:
        self.pat: Pattern = pat
        self.name: str = name


class Given(Attr):
    """Attribute `name` of what a call matched, or `default` where it is absent."""

    __slots__ = ("call", "default", "name")

    def __init__(self, call: Pattern, name: str, default: AttrLike) -> None:
        self.call: Pattern = call
        self.name: str = name
        self.default: Attr = to_attr(default)


@typing.final
class Matched(typing.NamedTuple):
    """What a pattern matched, as a function of `Call` sees it."""

    name: str | None
    """Its name in the model; none for a value without one."""
    dtype: str | None
    """Its element type, such as `float32`; none if it is no tensor."""
    shape: tuple[int | str | None, ...] | None
    """Its extents: numbers, expressions of named dimensions, or none; none for an unknown rank."""


class Call(Attr):
    """What a function of Python gives: for conditions and attributes that the language lacks.

    Arguments that are patterns come as `Matched`, others as numbers, strings, truth values and
    tuples, `None` for an extent that is no number. A result of `None` refuses the match.
    Verification does not see what a function does, and says so.

    >>> from gsl import Subst, attr, op, pat
    >>> def is_short(x):
    ...     return x.shape is not None and all(isinstance(n, int) and n < 64 for n in x.shape)
    >>> x = pat.Wildcard()
    >>> rule = Subst(op.ReLU(x), op.Maximum(x, 0.0), where=[attr.Call(is_short, x)])
    >>> print(rule.check())
    unknown: unverified: it calls `native is-short`, a function that verification does not see
    """

    __slots__ = ("args", "function")

    def __init__(self, function: Callable[..., typing.Any], *args: Pattern | AttrLike) -> None:
        self.function: Callable[..., typing.Any] = function
        self.args: tuple[AttrLike | Pattern, ...] = args


class Symbol(Attr):
    """An index, bound by what counts with it."""

    __slots__ = ()


class Unary(Attr):
    """A unary operation."""

    __slots__ = ("op", "value")

    def __init__(self, op: UnaryOp, value: AttrLike) -> None:
        self.op: UnaryOp = op
        self.value: Attr = to_attr(value)


class Binary(Attr):
    """A binary operation."""

    __slots__ = ("left", "op", "right")

    def __init__(self, op: BinaryOp, left: AttrLike, right: AttrLike) -> None:
        self.op: BinaryOp = op
        self.left: Attr = to_attr(left)
        self.right: Attr = to_attr(right)


class Tuple(Attr):
    """A tuple of fields."""

    __slots__ = ("fields",)

    def __init__(self, *fields: AttrLike) -> None:
        self.fields: list[Attr] = [to_attr(field) for field in fields]


class TupleLen(Attr):
    """The number of fields of a tuple."""

    __slots__ = ("tup",)

    def __init__(self, tup: AttrLike) -> None:
        self.tup: Attr = to_attr(tup)


class GetItem(Attr):
    """A field of a tuple, counted from 0."""

    __slots__ = ("index", "tup")

    def __init__(self, tup: AttrLike, index: AttrLike) -> None:
        self.tup: Attr = to_attr(tup)
        self.index: Attr = to_attr(index)


class Slice:
    """Which fields of a tuple: from `start`, before `stop`, every `step`-th."""

    __slots__ = ("start", "step", "stop")

    def __init__(
        self, start: AttrLike = None, stop: AttrLike = None, step: AttrLike = None
    ) -> None:
        self.start: Attr | None = None if start is None else to_attr(start)
        self.stop: Attr | None = None if stop is None else to_attr(stop)
        self.step: Attr | None = None if step is None else to_attr(step)


class GetSlice(Attr):
    """Some fields of a tuple."""

    __slots__ = ("slice", "tup")

    def __init__(self, tup: AttrLike, slice: Slice) -> None:
        self.tup: Attr = to_attr(tup)
        self.slice: Slice = slice


class Range(Attr):
    """The integers from `start`, before `stop`, every `step`-th."""

    __slots__ = ("start", "step", "stop")

    def __init__(self, stop: AttrLike, start: AttrLike = None, step: AttrLike = None) -> None:
        self.stop: Attr = to_attr(stop)
        self.start: Attr | None = None if start is None else to_attr(start)
        self.step: Attr | None = None if step is None else to_attr(step)


class In(Attr):
    """Whether a value is a field of a tuple."""

    __slots__ = ("tup", "value")

    def __init__(self, value: AttrLike, tup: AttrLike) -> None:
        self.value: Attr = to_attr(value)
        self.tup: Attr = to_attr(tup)


class Reverse(Attr):
    """The fields in opposite order."""

    __slots__ = ("tup",)

    def __init__(self, tup: AttrLike) -> None:
        self.tup: Attr = to_attr(tup)


class Cond(Attr):
    """One of two values, by a condition."""

    __slots__ = ("else_", "pred", "then")

    def __init__(self, pred: AttrLike, then: AttrLike, else_: AttrLike) -> None:
        self.pred: Attr = to_attr(pred)
        self.then: Attr = to_attr(then)
        self.else_: Attr = to_attr(else_)


class Match(Attr):
    """A value for each option of an alternative: that of the option that matched."""

    __slots__ = ("alt", "clauses")

    def __init__(self, alt: Alt, clauses: Iterable[AttrLike]) -> None:
        self.alt: Alt = alt
        self.clauses: list[Attr] = [to_attr(clause) for clause in clauses]


class LayoutRemap(Attr):
    """The permutation that takes one layout to another, as `"NCHW"` to `"NHWC"`."""

    __slots__ = ("source", "target")

    def __init__(self, source: AttrLike, target: AttrLike) -> None:
        self.source: Attr = to_attr(source)
        self.target: Attr = to_attr(target)


class Variadic(Attr):
    """The tuple of `func(i)` for `i` from 0 to `length` - 1, at least one."""

    __slots__ = ("body", "length", "symbol")

    def __init__(self, func: Callable[[Symbol], AttrLike], length: AttrLike) -> None:
        self.symbol: Symbol = Symbol()
        self.body: Attr = to_attr(func(self.symbol))
        self.length: Attr = to_attr(length)


class Map(Attr):
    """The tuple of `func(field)` for each field."""

    __slots__ = ("body", "symbol", "tup")

    def __init__(self, tup: AttrLike, func: Callable[[Symbol], AttrLike]) -> None:
        self.tup: Attr = to_attr(tup)
        self.symbol: Symbol = Symbol()
        self.body: Attr = to_attr(func(self.symbol))


class Zip(Attr):
    """The tuple of the i-th fields of each tuple."""

    __slots__ = ("tuples",)

    def __init__(self, tuples: Iterable[AttrLike]) -> None:
        self.tuples: list[Attr] = [to_attr(tup) for tup in tuples]


class ReduceIndexed(Attr):
    """A reduction of `func(i)` for `i` from 0 to `length` - 1, at least one: Σ and its kin."""

    __slots__ = ("body", "length", "op", "symbol")

    def __init__(
        self,
        op: BinaryOp,
        func: Callable[[Symbol], AttrLike],
        length: AttrLike,
        init: AttrLike = None,
    ) -> None:
        self.op: BinaryOp = _reducible(op)
        self.symbol: Symbol = Symbol()
        self.body: Attr = to_attr(func(self.symbol))
        self.length: Attr = to_attr(length)
        _no_init(init)


class ReduceTuple(Attr):
    """A reduction of the fields of a tuple, at least one."""

    __slots__ = ("op", "tup")

    def __init__(self, op: BinaryOp, tup: AttrLike, init: AttrLike = None) -> None:
        self.op: BinaryOp = _reducible(op)
        self.tup: Attr = to_attr(tup)
        _no_init(init)


class Mean(Attr):
    """The mean of the fields of a tuple, at least one."""

    __slots__ = ("tup",)

    def __init__(self, tup: AttrLike) -> None:
        self.tup: Attr = to_attr(tup)


class Function(Attr):
    """A mathematical function of numbers: see `sqrt` and its kin."""

    __slots__ = ("args", "name")

    def __init__(self, name: str, *args: AttrLike) -> None:
        self.name: str = name
        self.args: list[Attr] = [to_attr(arg) for arg in args]


def sqrt(x: AttrLike) -> Attr:
    """The square root, which negative numbers have not."""
    return Function("sqrt", x)


def rsqrt(x: AttrLike) -> Attr:
    """One divided by the square root."""
    return Function("rsqrt", x)


def exp(x: AttrLike) -> Attr:
    """The exponential."""
    return Function("exp", x)


def log(x: AttrLike) -> Attr:
    """The natural logarithm."""
    return Function("log", x)


def tanh(x: AttrLike) -> Attr:
    """The hyperbolic tangent."""
    return Function("tanh", x)


def pow(x: AttrLike, exponent: AttrLike) -> Attr:
    """A power."""
    return Function("pow", x, exponent)


def floor(x: AttrLike) -> Attr:
    """The greatest integer that is not greater."""
    return Function("floor", x)


def ceil(x: AttrLike) -> Attr:
    """The least integer that is not less."""
    return Function("ceil", x)


def mean(tup: AttrLike) -> Attr:
    """The mean of the fields of a tuple."""
    return Mean(tup)


REDUCTIONS = {
    BinaryOp.ADD: "sum",
    BinaryOp.MUL: "product",
    BinaryOp.MAX: "max",
    BinaryOp.MIN: "min",
    BinaryOp.AND: "all",
    BinaryOp.OR: "any",
}
"""The operations that reduce, and what the reduction is called."""


def _reducible(op: BinaryOp) -> BinaryOp:
    if op not in REDUCTIONS:
        names = ", ".join(known.name for known in REDUCTIONS)
        raise ValueError(f"{op} does not reduce; one of {names} does")
    return op


def _no_init(init: AttrLike) -> None:
    if init is not None:
        raise ValueError("a reduction has no initial value: add it to the result, `init + ...`")


def to_attr(value: AttrLike) -> Attr:
    """Returns an expression for a Python value; `None` is any value."""
    if isinstance(value, Attr):
        return value
    if value is None:
        return NoneAttr()
    if isinstance(value, (bool, int, float, str)):
        return Const(value)
    if isinstance(value, (tuple, list)):
        return Tuple(*value)
    if hasattr(type(value), "item"):
        return Const(value.item())
    raise TypeError(f"{value!r} is no attribute: an expression, number, string or tuple is")
