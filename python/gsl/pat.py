"""Patterns: the vertices of the source and target graphs of a substitution.

A pattern object is one vertex: used twice, it means one value. Patterns may be shared by rules.
"""

from __future__ import annotations

import difflib
import functools
import json
import typing
from collections.abc import Iterable, Sequence
from typing import Any

from gsl import attr
from gsl.attr import Attr, AttrLike, to_attr

PatternLike: typing.TypeAlias = typing.Union["Pattern", int, float, Sequence["PatternLike"]]
"""What stands for a pattern: a pattern, a number (a constant), or a list (a tuple)."""


class Pattern:
    """A pattern. `p.name` is an attribute of what it matches, `p[i]` a field."""

    injective: bool = True
    """Whether it matches a value that no other pattern matches."""
    only: bool = False
    """Whether what it matches has no user outside the match."""

    def __getattr__(self, name: str) -> Attr:
        if name.startswith("_"):
            raise AttributeError(name)
        known = self._attributes()
        if known is not None and name not in known:
            near = difflib.get_close_matches(name, sorted(known), 1)
            hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(sorted(known))}"
            raise AttributeError(f"{self._described()} has no attribute {name!r}; {hint}")
        return attr.GetAttr(self, name)

    def _attributes(self) -> set[str] | None:
        """The attributes of what it matches; none where that is not known before it matches."""
        return None

    def _described(self) -> str:
        return f"a {type(self).__name__.lower()}"

    def __getitem__(self, index: AttrLike) -> GetItem:
        return GetItem(self, index)

    def __iter__(self) -> typing.NoReturn:
        raise TypeError("a pattern has no known number of fields; write `p[i]`")

    def __contains__(self, sub: Pattern) -> bool:
        stack, seen = [self], set()
        while stack:
            pattern = stack.pop()
            if pattern is sub:
                return True
            if id(pattern) not in seen:
                seen.add(id(pattern))
                stack.extend(pattern._parts())
        return False

    def __neg__(self) -> Call:
        return Call("negative", self)

    def __add__(self, other: PatternLike) -> Call:
        return Call("add", self, other)

    def __radd__(self, other: PatternLike) -> Call:
        return Call("add", other, self)

    def __sub__(self, other: PatternLike) -> Call:
        return Call("subtract", self, other)

    def __rsub__(self, other: PatternLike) -> Call:
        return Call("subtract", other, self)

    def __mul__(self, other: PatternLike) -> Call:
        return Call("multiply", self, other)

    def __rmul__(self, other: PatternLike) -> Call:
        return Call("multiply", other, self)

    def __truediv__(self, other: PatternLike) -> Call:
        return Call("divide", self, other)

    def __rtruediv__(self, other: PatternLike) -> Call:
        return Call("divide", other, self)

    def __repr__(self) -> str:
        return _written(self, 4)

    def _written(self, parts: str) -> str:
        """The pattern in the words of GSL, from the text of its parts."""
        return f"{type(self).__name__}({parts})"

    def _parts(self) -> list[Pattern]:
        return []


def _written(pattern: Pattern, depth: int) -> str:
    """A pattern as GSL writes it, as deep as can be read."""
    parts = pattern._parts()
    if parts and not depth:
        return pattern._written("...")
    return pattern._written(", ".join(_written(part, depth - 1) for part in parts))


_TENSOR = {"shape", "dtype", "ndim", "value"}
"""What every value has."""


@functools.cache
def _operations() -> dict[str, set[str]]:
    """The attributes of each operation."""
    from tangram import _native

    known = json.loads(_native.operators())
    return {op["name"]: {attribute["name"] for attribute in op["attributes"]} for op in known}


class Wildcard(Pattern):
    """Any value."""

    def _attributes(self) -> set[str] | None:
        return _TENSOR

    def _written(self, parts: str) -> str:
        return "*"


class Variable(Pattern):
    """An input or parameter of the model."""

    def __init__(
        self, shape: AttrLike = None, dtype: AttrLike = None, ndim: AttrLike = None
    ) -> None:
        self._fields = _given({"shape": shape, "dtype": dtype, "ndim": ndim})

    def _attributes(self) -> set[str] | None:
        return _TENSOR

    def _written(self, parts: str) -> str:
        return "variable"


class Const(Pattern):
    """A constant: of any value, or of this one; in the target, a new one.

    A number stands for a constant all of whose elements are that number.
    """

    def __init__(
        self,
        value: Any = None,
        dtype: AttrLike = None,
        shape: AttrLike = None,
        ndim: AttrLike = None,
    ) -> None:
        if hasattr(type(value), "tolist"):
            value = value.tolist()
        self._value = None if value is None else to_attr(value)
        self._splat = isinstance(value, (int, float)) and not isinstance(value, bool)
        self._fields = _given({"shape": shape, "dtype": dtype, "ndim": ndim})

    def _attributes(self) -> set[str] | None:
        return _TENSOR

    def _written(self, parts: str) -> str:
        value = self._value
        if value is None:
            return "const"
        return f"const({value.value if isinstance(value, attr.Const) else '...'})"


class OpTrait(Pattern):
    """Every operator with a trait: `element_wise`, `broadcasting`, `commutative`..."""

    def __init__(self, name: str) -> None:
        self._choice = {"trait": name}


class ConcreteOp(Pattern):
    """An operator by name."""

    def __init__(self, name: str) -> None:
        self._choice = {"name": name}


class OpAlt(Pattern):
    """One of several operators."""

    def __init__(self, *names: str) -> None:
        self._choice = {"one-of": list(names)}


class OpWithTrait(OpTrait):
    """Every operator with a trait. Calls that share it match the same operator."""


class Call(Pattern):
    """The result of an operator. Attributes that are not given are unconstrained."""

    def __init__(
        self,
        op: Pattern | str,
        *args: PatternLike,
        commutative: bool = False,
        associative: bool = False,
        **attrs: AttrLike,
    ) -> None:
        self._op = ConcreteOp(op) if isinstance(op, str) else op
        self._args = [to_pattern(arg) for arg in args]
        self._attrs = _given(attrs)
        self._commutative = commutative
        self._associative = associative

    def _attributes(self) -> set[str] | None:
        if not isinstance(self._op, ConcreteOp):
            return None
        own = _operations().get(self._op._choice["name"].removeprefix("nn."))
        return None if own is None else own | _TENSOR | {"length", "index"}

    def _described(self) -> str:
        return f"`{self._op._choice['name']}`"

    def _written(self, parts: str) -> str:
        choice = getattr(self._op, "_choice", {})
        if "trait" in choice:
            name = f"trait {choice['trait']}"
        else:
            name = choice.get("name") or " | ".join(choice.get("one-of", ["?"]))
        attributes = f" {{{', '.join(f'{key} = ...' for key in self._attrs)}}}" if self._attrs else ""
        return f"{name}({parts}){attributes}"

    def _parts(self) -> list[Pattern]:
        return self._args


class Tuple(Pattern):
    """A tuple of values."""

    def __init__(self, *fields: PatternLike) -> None:
        self._fields = [to_pattern(field) for field in fields]

    def _written(self, parts: str) -> str:
        return f"({parts})"

    def _parts(self) -> list[Pattern]:
        return self._fields


class GetItem(Pattern):
    """A field of a tuple, or a result of an operator with several."""

    def __init__(self, tup: Pattern, index: AttrLike = None) -> None:
        self._tup = tup
        self._index = to_attr(index)

    def _written(self, parts: str) -> str:
        index = self._index
        return f"{parts}[{index.value if isinstance(index, attr.Const) else '...'}]"

    def _parts(self) -> list[Pattern]:
        return [self._tup]


class Cond(Pattern):
    """One of two patterns, by a condition; in a target."""

    def __init__(self, predicate: AttrLike, then_pat: PatternLike, else_pat: PatternLike) -> None:
        self._predicate = to_attr(predicate)
        self._then = to_pattern(then_pat)
        self._else = to_pattern(else_pat)

    def _parts(self) -> list[Pattern]:
        return [self._then, self._else]


class Alt(Pattern):
    """The first of several patterns that matches; in a source."""

    def __init__(self, *pats: PatternLike) -> None:
        if len(pats) < 2:
            raise ValueError("an alternative has two options or more")
        self._pats = [to_pattern(pattern) for pattern in pats]

    def _parts(self) -> list[Pattern]:
        return self._pats


class Not(Pattern):
    """Anything that does not match a pattern; in a source."""

    def __init__(self, pattern: PatternLike) -> None:
        self._pat = to_pattern(pattern)

    def _parts(self) -> list[Pattern]:
        return [self._pat]


class Match(Pattern):
    """A pattern for each option of an alternative: that of the option that matched; in a target."""

    def __init__(self, alt: Alt, clauses: Iterable[PatternLike]) -> None:
        self._alt = alt
        self._clauses = [to_pattern(clause) for clause in clauses]

    def _parts(self) -> list[Pattern]:
        return self._clauses


class Variadic(Pattern):
    """A field repeated: as the fields of a tuple, or as the outputs of a rule.

    `templates`: what each branch has anew; the rest is shared. `first`: for each template the
    pattern that stands for it in branch 0, so that later ones can refer to it. `index`: counts
    branches. `length`: how many there are. `min_len`: how many there are at least.
    """

    def __init__(
        self,
        field: PatternLike,
        templates: Sequence[Pattern] | None = None,
        first: Sequence[Pattern | None] | None = None,
        index: attr.Symbol | None = None,
        length: AttrLike = None,
        min_len: int | None = None,
    ) -> None:
        self._field = to_pattern(field)
        self._templates = None if templates is None else list(templates)
        self._first = list(first) if first is not None else []
        if len(self._first) > len(self._templates or []):
            raise ValueError("`first` has more entries than `templates`")
        self._index = index
        self._length = None if length is None else to_attr(length)
        self._min_len = min_len

    def __call__(self, template: Pattern, index: AttrLike) -> GetInst:
        """Returns instance `index` of a template."""
        return GetInst(self, template, index)

    def _parts(self) -> list[Pattern]:
        first = [pattern for pattern in self._first if pattern is not None]
        return [self._field, *(self._templates or []), *first]


class GetInst(Pattern):
    """Instance `index` of a template of a variadic pattern, counted from 0."""

    def __init__(self, variadic: Variadic, template: Pattern, index: AttrLike) -> None:
        self._variadic = variadic
        self._template = template
        self._inst_index = to_attr(index)

    def _parts(self) -> list[Pattern]:
        return [self._variadic, self._template]


def same_attr(pattern: Pattern, names: Iterable[str]) -> dict[str, Attr]:
    """Returns these attributes of a pattern, by name: to be given to another call."""
    return {name: attr.GetAttr(pattern, name) for name in names}


def only(pattern: Pattern) -> Pattern:
    """Returns the pattern, now for values without user outside the match."""
    pattern.only = True
    return pattern


def commutative(call: Call) -> Call:
    """Returns the call, whose operands now match in any order."""
    call._commutative = True
    return call


def associative(call: Call) -> Call:
    """Returns the call, now matched as one flat call with calls of the same operator inside."""
    call._associative = True
    return call


def to_pattern(value: PatternLike) -> Pattern:
    """Returns a pattern for a number (a constant) or a list (a tuple)."""
    if isinstance(value, Pattern):
        return value
    if isinstance(value, (bool, int, float)):
        return Const(value)
    if isinstance(value, (tuple, list)):
        return Tuple(*value)
    if isinstance(value, Attr):
        return Const(value)
    raise TypeError(f"{value!r} is no pattern")


def _given(fields: dict[str, AttrLike]) -> dict[str, Attr]:
    return {name: to_attr(value) for name, value in fields.items() if value is not None}
