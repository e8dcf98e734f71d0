"""Writes the programs of the benchmark, in MLIR's generic form.

A chain is one function in which each operation uses the one before; `mixed` is functions of a
hundred operations of which about half fold, merge or are dead; `loops` is nests of `scf`.
"""

from __future__ import annotations

import random

HEAD = '"func.func"() <{{sym_name = "f{n}", function_type = ({types}) -> i32}}> ({{\n^bb0({args}):\n'
TAIL = '  "func.return"({value}) : (i32) -> ()\n}}) : () -> ()\n'
CHAIN = {
    "fold": ("arith.addi", "%zero"),
    "assoc": ("arith.addi", "%three"),
    "live": ("arith.muli", "%b"),
    "dead": ("arith.muli", "%b"),
}


def head(n: int) -> str:
    """The start of function `n`, which takes two integers."""
    return HEAD.format(n=n, types="i32, i32", args="%a: i32, %b: i32")


def constant(name: str, value: int, ty: str = "i32") -> str:
    """A constant."""
    return f'  {name} = "arith.constant"() <{{value = {value} : {ty}}}> : () -> {ty}\n'


def binary(name: str, operation: str, a: str, b: str) -> str:
    """An operation on two integers."""
    return f'  {name} = "{operation}"({a}, {b}) : (i32, i32) -> i32\n'


def chain(kind: str, count: int) -> str:
    """One function of `count` operations."""
    operation, other = CHAIN[kind]
    lines = [head(0), constant("%zero", 0), constant("%three", 3)]
    last = "%a"
    for i in range(count):
        lines.append(binary(f"%v{i}", operation, "%a" if kind == "dead" else last, other))
        last = last if kind == "dead" else f"%v{i}"
    return "".join([*lines, TAIL.format(value=last)])


def mixed(count: int) -> str:
    """Functions of a hundred operations each, every third value of which is kept alive."""
    rng = random.Random(1)
    sink = '"func.func"() <{sym_name = "sink", sym_visibility = "private", function_type = (i32) -> ()}> ({\n}) : () -> ()\n'
    out = [sink]
    for n in range(count // 100):
        out += [head(n), constant("%z", 0), constant("%o", 1)]
        values, seen = ["%a", "%b"], []
        for i in range(72):
            name, kind = f"%v{i}", rng.randrange(100)
            a, b = rng.choice(values[-64:]), rng.choice(values[-64:])
            if kind < 12:
                out.append(constant(name, rng.randrange(50)))
            elif kind < 22:
                out.append(binary(name, "arith.addi", a, "%z"))
            elif kind < 30:
                out.append(binary(name, "arith.muli", a, "%o"))
            elif kind < 42:
                out.append(constant(f"%c{i}", rng.randrange(1, 50)))
                out.append(binary(f"%t{i}", "arith.addi", f"%c{i}", a))
                out.append(binary(name, "arith.addi", f"%t{i}", f"%c{i}"))
            elif kind < 48:
                out.append(binary(name, "arith.subi", a, a))
            elif kind < 56 and seen:
                out.append(binary(name, *rng.choice(seen[-64:])))
            else:
                operation = rng.choice(["arith.addi", "arith.muli", "arith.xori", "arith.andi"])
                seen.append((operation, a, b))
                out.append(binary(name, operation, a, b))
            values.append(name)
            if i % 3 == 0:
                out.append(f'  "func.call"({name}) <{{callee = @sink}}> : (i32) -> ()\n')
        out.append(TAIL.format(value=values[-1]))
    return "".join(out)


def loops(count: int) -> str:
    """Functions with a loop around a condition, ten operations each."""
    out = []
    for n in range(count // 12):
        out += [head(n), constant("%low", 0, "index"), constant("%high", 10, "index")]
        out.append(constant("%step", 1, "index"))
        out.append(
            '  %r = "scf.for"(%low, %high, %step, %a) ({\n  ^bb0(%i: index, %x: i32):\n'
            '    %c = "arith.cmpi"(%x, %b) <{predicate = 2 : i64}> : (i32, i32) -> i1\n'
            '    %y = "scf.if"(%c) ({\n'
            '      %s = "arith.addi"(%x, %b) : (i32, i32) -> i32\n'
            '      "scf.yield"(%s) : (i32) -> ()\n    }, {\n'
            '      "scf.yield"(%x) : (i32) -> ()\n    }) : (i1) -> i32\n'
            '    "scf.yield"(%y) : (i32) -> ()\n'
            "  }) : (index, index, index, i32) -> i32\n"
        )
        out.append(TAIL.format(value="%r"))
    return "".join(out)


def program(kind: str, count: int) -> str:
    """The program of a name."""
    if kind in CHAIN:
        return chain(kind, count)
    return {"mixed": mixed, "loops": loops}[kind](count)
