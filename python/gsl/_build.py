"""Patterns and expressions as the arenas of the abstract syntax."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from gsl import attr, pat

_MAX_DEPTH = 200


class Builder:
    """Numbers patterns, expressions, operators and symbols in the order in which they are met."""

    def __init__(self) -> None:
        self.patterns: list[dict[str, Any]] = []
        self.exprs: list[dict[str, Any]] = []
        self.ops: list[dict[str, Any]] = []
        self.symbols: list[dict[str, str]] = []
        self.functions: dict[str, Callable[..., Any]] = {}
        self._numbers: dict[int, int] = {}
        self._depth = 0
        # Numbers go by identity: what is numbered has to live.
        self._kept: list[Any] = []
        self._names: Iterator[str] = itertools.chain("ijklmn", (f"i{n}" for n in itertools.count()))

    def pattern(self, pattern: pat.Pattern) -> int:
        """Returns the number of a pattern, which is the same each time."""
        number = self._numbers.get(id(pattern))
        if number is not None:
            return number
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise RecursionError(f"patterns are nested deeper than {_MAX_DEPTH}")
        node: dict[str, Any] = {"kind": self._kind(pattern)}
        self._depth -= 1
        if pattern.only:
            node["only"] = True
        if not pattern.injective:
            node["may_alias"] = True
        return self._number(pattern, self.patterns, node)

    def declare(self, attributes: Sequence[attr.Given]) -> None:
        """Adds the attributes that nothing reads."""
        for given in attributes:
            if id(given) not in self._numbers:
                self.exprs[self.expr(given)]["name"] = f"given_{given.name}"

    def _number(self, thing: Any, arena: list[Any], node: Any) -> int:
        arena.append(node)
        self._numbers[id(thing)] = len(arena) - 1
        self._kept.append(thing)
        return len(arena) - 1

    def _kind(self, p: pat.Pattern) -> Any:
        match p:
            case pat.Wildcard():
                return "wildcard"
            case pat.Variable():
                return {"variable": self._fields(p._fields)}
            case pat.Const() if (made := self._made_of_arrays(p)) is not None:
                return made
            case pat.Const():
                node = self._fields(p._fields)
                if p._value is not None:
                    node |= {"value": self.expr(p._value), "splat": p._splat}
                return {"const": node}
            case pat.Call():
                op = self._op(p._op)
                args = [self.pattern(arg) for arg in p._args]
                attrs = [{"name": n, "value": self.expr(v)} for n, v in p._attrs.items()]
                node = {"op": op, "args": args, "attrs": attrs}
                flags = {"commutative": p._commutative, "associative": p._associative}
                return {"call": node | flags}
            case pat.Tuple():
                return {"tuple": [self.pattern(field) for field in p._fields]}
            case pat.GetItem():
                return {"proj": {"tuple": self.pattern(p._tup), "index": self.expr(p._index)}}
            case pat.Alt():
                return {"alt": [self.pattern(option) for option in p._pats]}
            case pat.Not():
                return {"not": self.pattern(p._pat)}
            case pat.Cond():
                condition = self.expr(p._predicate)
                arms = {"then": self.pattern(p._then), "otherwise": self.pattern(p._else)}
                return {"cond": {"condition": condition} | arms}
            case pat.Match():
                arms = [self.pattern(clause) for clause in p._clauses]
                return {"case": {"subject": self.pattern(p._alt), "arms": arms}}
            case pat.Variadic():
                return {"variadic": self._variadic(p)}
            case pat.GetInst():
                return {
                    "inst": {
                        "variadic": self.pattern(p._variadic),
                        "template": self.pattern(p._template),
                        "index": self.expr(p._inst_index),
                    }
                }
        raise TypeError(f"{type(p).__name__} is an operator, not a value")

    def _variadic(self, p: pat.Variadic) -> dict[str, Any]:
        # What stands for templates in branch 0 comes first: templates refer to it.
        first = [None if f is None else self.pattern(f) for f in p._first]
        node: dict[str, Any] = {"field": self.pattern(p._field)}
        templates = [p._field] if p._templates is None else p._templates
        pairs = itertools.zip_longest(templates, first)
        node["templates"] = [{"pattern": self.pattern(t), "first": f} for t, f in pairs]
        if p._index is not None:
            node["index"] = self._symbol(p._index)
        if p._length is not None:
            node["length"] = self.expr(p._length)
        if p._min_len is not None:
            node["min_len"] = p._min_len
        return node

    def _fields(self, fields: dict[str, attr.Attr]) -> dict[str, Any]:
        return {name: self.expr(value) for name, value in fields.items()}

    def _op(self, op: pat.Pattern) -> int:
        if isinstance(op, pat.ConcreteOp):
            node = {"choice": op._choice}
            if node in self.ops:
                return self.ops.index(node)
        elif not isinstance(op, (pat.OpTrait, pat.OpAlt)):
            raise TypeError(f"{type(op).__name__} is no operator")
        number = self._numbers.get(id(op))
        if number is None:
            # Two choices of the same operators are two choices: a name keeps them apart.
            node = {"choice": op._choice}
            if not isinstance(op, pat.ConcreteOp):
                node["name"] = f"op{len(self.ops)}"
            number = self._number(op, self.ops, node)
        return number

    def _symbol(self, symbol: attr.Symbol) -> int:
        number = self._numbers.get(id(symbol))
        if number is None:
            number = self._number(symbol, self.symbols, {"name": next(self._names)})
        return number

    def expr(self, value: attr.Attr) -> int:
        """Returns the number of an expression."""
        key = id(value)
        if not isinstance(value, attr.Symbol) and key in self._numbers:
            return self._numbers[key]
        kind = self._expr_kind(value)
        if isinstance(value, attr.Symbol):
            self.exprs.append({"kind": kind})
            return len(self.exprs) - 1
        return self._number(value, self.exprs, {"kind": kind})

    def _optional(self, value: attr.Attr | None) -> int | None:
        return None if value is None else self.expr(value)

    def _expr_kind(self, a: attr.Attr) -> Any:
        expr = self.expr
        match a:
            case attr.NoneAttr():
                return "any"
            case attr.Const():
                return _constant(a.value)
            case attr.GetAttr():
                return {"access": {"pattern": self.pattern(a.pat), "attribute": a.name}}
            case attr.Symbol():
                return {"symbol": self._symbol(a)}
            case attr.Unary():
                return {"unary": {"op": a.op.value, "operand": expr(a.value)}}
            case attr.Binary():
                return {"binary": {"op": a.op.value, "lhs": expr(a.left), "rhs": expr(a.right)}}
            case attr.Tuple():
                return {"tuple": [expr(field) for field in a.fields]}
            case attr.TupleLen():
                return {"len": expr(a.tup)}
            case attr.GetItem():
                return {"proj": {"tuple": expr(a.tup), "index": expr(a.index)}}
            case attr.GetSlice():
                return {"slice": {"tuple": expr(a.tup)} | self._bounds(a.slice)}
            case attr.Range():
                return {"range": self._bounds(a)}
            case attr.In():
                return {"in": {"value": expr(a.value), "tuple": expr(a.tup)}}
            case attr.Reverse():
                return {"reverse": expr(a.tup)}
            case attr.Zip():
                return {"zip": [expr(tup) for tup in a.tuples]}
            case attr.Cond():
                arms = {"then": expr(a.then), "otherwise": expr(a.else_)}
                return {"cond": {"condition": expr(a.pred)} | arms}
            case attr.Match():
                arms = [expr(clause) for clause in a.clauses]
                return {"case": {"subject": self.pattern(a.alt), "arms": arms}}
            case attr.LayoutRemap():
                return {"remap": {"source": expr(a.source), "target": expr(a.target)}}
            case attr.Map():
                body = {"tuple": expr(a.tup), "body": expr(a.body)}
                return {"map": {"symbol": self._symbol(a.symbol)} | body}
            case attr.Variadic():
                return {"var": self._counted(a)}
            case attr.ReduceIndexed():
                return {"reduce-range": {"op": attr.REDUCTIONS[a.op]} | self._counted(a)}
            case attr.Call():
                return {"native": {"name": self._function(a.function), "args": self._arguments(a)}}
            case attr.Given():
                absent = [{"pattern": self.pattern(a.call)}, {"expr": self.expr(attr.to_attr(a.name))}]
                self.exprs.append({"kind": {"native": {"name": "absent", "args": absent}}})
                condition = len(self.exprs) - 1
                arms = {"then": expr(a.default), "otherwise": expr(attr.GetAttr(a.call, a.name))}
                return {"cond": {"condition": condition} | arms}
            case attr.Function():
                return {"call": {"function": a.name, "args": [expr(one) for one in a.args]}}
            case attr.Mean():
                return {"reduce-tuple": {"op": "mean", "tuple": expr(a.tup)}}
            case attr.ReduceTuple():
                return {"reduce-tuple": {"op": attr.REDUCTIONS[a.op], "tuple": expr(a.tup)}}
        raise TypeError(f"{type(a).__name__} is no attribute expression")

    def _function(
        self, function: Callable[..., Any], kind: Callable[..., Any] | None = None
    ) -> str:
        """The name of a function in the text of the rule: its own, with a number if that is taken."""
        own = getattr(function, "__name__", "")
        words = re.findall(r"[a-z0-9]+", own.lower()) if own.isidentifier() else []
        stem = "-".join(words) or "function"
        names = itertools.chain([stem], (f"{stem}-{n}" for n in itertools.count(2)))
        given = function if kind is None else kind(function)
        name = next(n for n in names if self.functions.get(n, given) == given)
        self.functions[name] = given
        return name

    def _made_of_arrays(self, p: pat.Const) -> Any:
        """A constant that a function makes of the elements of others: of arrays, to an array."""
        call = p._value
        if not isinstance(call, attr.Call) or not call.args or set(p._fields) - {"dtype"}:
            return None
        read = [one for one in call.args if isinstance(one, attr.GetAttr) and one.name == "value"]
        if len(read) != len(call.args):
            return None
        node: dict[str, Any] = {
            "name": self._function(call.function, ArrayFunction),
            "args": [self.pattern(one.pat) for one in read],
            "attrs": [{"name": n, "value": self.expr(v)} for n, v in p._fields.items()],
        }
        return {"native": node}

    def _arguments(self, a: attr.Call) -> list[dict[str, int]]:
        return [
            {"pattern": self.pattern(one)} if isinstance(one, pat.Pattern) else {"expr": self.expr(attr.to_attr(one))}
            for one in a.args
        ]

    def _bounds(self, a: attr.Slice | attr.Range) -> dict[str, Any]:
        names: Sequence[str] = ("start", "stop", "step")
        return {name: self._optional(getattr(a, name)) for name in names}

    def _counted(self, a: attr.Variadic | attr.ReduceIndexed) -> dict[str, Any]:
        node = {"length": self.expr(a.length), "body": self.expr(a.body)}
        return {"symbol": self._symbol(a.symbol)} | node


class ArrayFunction:
    """A function of arrays, as the native half calls it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ArrayFunction) and self.function is other.function

    def __hash__(self) -> int:
        return hash(self.function)

    def __call__(self, *operands: Any) -> Any:
        # Only who computes needs numpy.
        import numpy as np

        from tangram._arrays import from_native, to_native

        made = self.function(*(from_native(one) for one in operands))
        return None if made is None else to_native(np.asarray(made))


def _constant(value: Any) -> Any:
    match value:
        case bool():
            return {"bool": value}
        case int():
            return {"int": value}
        case float():
            finite = value - value == 0
            return {"float": value if finite else ("NaN" if value != value else ("inf" if value > 0 else "-inf"))}
        case str():
            return {"str": value}
    raise TypeError(f"{value!r} is no constant of an attribute expression")
