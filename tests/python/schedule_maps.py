"""Random schedules as maps, and the calls that generated code makes, run through islpy's interface.

Run as a command it reads maps, a line each, and prints the calls of islpy's code as lines of JSON.
Each map has a process of its own, as islpy can end it.
"""

from __future__ import annotations

import json
import os
import random
import sys
from collections import Counter
from typing import Any

VALUES = (0, 1, 4)
"""What the parameter is when code runs."""


def random_map(seed: int) -> str:
    """Statements with one to three disjuncts each, which may overlap and give many points."""
    rng = random.Random(seed)
    depth = rng.choice([1, 1, 2])
    pieces = []
    for name in ("S", "T")[: rng.choice([1, 1, 2])]:
        dims = ["i", "j"][: rng.choice([1, 2])]
        for _ in range(rng.choice([1, 2, 2, 3])):
            facts = [bounds(rng, dim) for dim in dims]
            times = [f"t{at}" for at in range(depth)]
            for time in times:
                facts += timing(rng, time, dims)
            if rng.random() < 0.3:
                facts.append(f"({form(rng, dims)}) mod {rng.randint(2, 3)} = {rng.randint(0, 1)}")
            if rng.random() < 0.3:
                low = rng.randint(-1, 2)
                facts.append(f"({dims[-1]} = {low} or {dims[-1]} = {low + rng.randint(1, 3)})")
            pieces.append(f"{name}[{', '.join(dims)}] -> [{', '.join(times)}] : {' and '.join(facts)}")
    return f"[N] -> {{ {'; '.join(pieces)} }}"


def form(rng: random.Random, dims: list[str]) -> str:
    return " + ".join([*(f"{rng.randint(-2, 2)}{dim}" for dim in dims), str(rng.randint(-3, 3))])


def bounds(rng: random.Random, dim: str) -> str:
    low = rng.randint(-1, 2)
    high = rng.choice([str(low + rng.randint(0, 5)), "N", "N + 1", "2N"])
    return f"{low} <= {dim} <= {high}"


def timing(rng: random.Random, time: str, dims: list[str]) -> list[str]:
    """How a coordinate of the time follows from the instance."""
    match rng.randrange(6):
        case 0:
            return [f"{time} = {rng.randint(0, 2)}"]
        case 1:
            return [f"{time} = {rng.choice(dims)}"]
        case 2:
            return [f"{time} = floor(({form(rng, dims)}) / {rng.randint(2, 3)})"]
        case 3:
            first = form(rng, dims)
            return [f"{first} <= {time} <= {first} + {rng.randint(0, 2)}"]
        case 4:
            return [f"{rng.randint(2, 3)}{time} = {form(rng, dims)}"]
        case _:
            return [f"{time} = {form(rng, dims)}"]


OPERATIONS = {
    "and": lambda a, b: a and b(), "and_then": lambda a, b: a and b(),
    "or": lambda a, b: a or b(), "or_else": lambda a, b: a or b(),
    "max": max, "min": min, "minus": lambda a: -a,
    "add": lambda *all: sum(all), "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
    "div": lambda a, b: exactly(a, b), "fdiv_q": lambda a, b: a // b,
    "pdiv_q": lambda a, b: truncated(a, b), "pdiv_r": lambda a, b: a - b * truncated(a, b),
    "zdiv_r": lambda a, b: a % b, "eq": lambda a, b: a == b,
    "le": lambda a, b: a <= b, "lt": lambda a, b: a < b,
    "ge": lambda a, b: a >= b, "gt": lambda a, b: a > b,
}  # fmt: skip


def exactly(dividend: int, divisor: int) -> int:
    assert dividend % divisor == 0, "a division with a remainder"
    return dividend // divisor


def truncated(dividend: int, divisor: int) -> int:
    """The quotient in C, which rounds towards zero."""
    return dividend // divisor if dividend >= 0 else -(-dividend // divisor)


def value(expr: Any, names: dict[str, int]) -> Any:
    """The value of an expression."""
    kind = expr.get_type().name
    if kind == "int":
        return int(str(expr.int_get_val()))
    if kind == "id":
        return names[getattr(expr.id_get_id(), "name", expr.id_get_id())]
    operation = expr.op_get_type().name.rstrip("_")
    operands = [expr.op_get_arg(at) for at in range(expr.op_get_n_arg())]
    if operation in {"cond", "select"}:
        return value(operands[1 if value(operands[0], names) else 2], names)
    if operation.startswith(("and", "or")):
        result = value(operands[0], names)
        for operand in operands[1:]:
            result = OPERATIONS[operation](result, lambda operand=operand: value(operand, names))
        return result
    values = [value(operand, names) for operand in operands]
    result = values[0]
    if operation in {"max", "min"}:
        return OPERATIONS[operation](values)
    return OPERATIONS[operation](result, *values[1:])


def run(node: Any, names: dict[str, int], calls: list[str]) -> None:
    """Runs code and notes its calls. Code nests a few levels."""
    kind = node.get_type().name.rstrip("_")
    if kind == "block":
        children = node.block_get_children()
        at = range(children.n_ast_node()) if hasattr(children, "n_ast_node") else None
        for child in children if at is None else map(children.get_at, at):
            run(child, names, calls)
    elif kind == "for":
        iterator = node.for_get_iterator().id_get_id()
        name = getattr(iterator, "name", iterator)
        inner = dict(names)
        inner[name] = value(node.for_get_init(), names)
        condition, step, body = node.for_get_cond(), node.for_get_inc(), node.for_get_body()
        if hasattr(node, "for_is_degenerate") and node.for_is_degenerate():
            run(body, inner, calls)
            return
        while value(condition, inner):
            run(body, inner, calls)
            assert len(calls) < 100_000, "a loop without end"
            inner[name] += value(step, inner)
    elif kind == "if":
        if value(node.if_get_cond(), names):
            run(node.if_get_then_node(), names, calls)
        elif node.if_has_else_node():
            run(node.if_get_else_node(), names, calls)
    elif kind == "mark":
        run(node.mark_get_node(), names, calls)
    else:
        call = node.user_get_expr()
        callee = call.op_get_arg(0).id_get_id()
        arguments = [value(call.op_get_arg(at), names) for at in range(1, call.op_get_n_arg())]
        calls.append(f"{getattr(callee, 'name', callee)}{arguments}")


def calls_of(isl: Any, text: str) -> list[dict[str, int]]:
    """How often code of a map calls each instance, for each value of the parameter."""
    build = isl.AstBuild.from_context(isl.Set("[N] -> { : }"))
    node = build.node_from_schedule_map(isl.UnionMap(text))
    counts = []
    for parameter in VALUES:
        calls: list[str] = []
        run(node, {"N": parameter}, calls)
        counts.append(dict(Counter(calls)))
    return counts


def main() -> None:
    """Prints what islpy's code of each map calls."""
    import islpy

    for text in map(str.strip, sys.stdin):
        if os.fork():
            os.wait()
            continue
        print(json.dumps({"map": text, "calls": calls_of(islpy, text)}), flush=True)
        os._exit(0)


if __name__ == "__main__":
    main()
