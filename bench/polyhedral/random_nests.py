"""Nests of loops drawn at random, which know nothing of what is done to them.

Each is a C file with global arrays and `void kernel(void)`: one to three statements in two to four
loops of constant sizes, rectangular or triangular, with sums in variables or elements, over numbers of
one type; subscripts are loop variables with offsets, at times with a factor, in any order.
"""

from __future__ import annotations

import pathlib
import random

TYPES = {"float": "float", "double": "double", "int": "int", "short": "int", "signed char": "int"}
LOOPS = "ijkl"
# Instances of the innermost statement.
WORK = 600_000


class Nest:
    """One nest."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.read_type = self.random.choice(list(TYPES))
        self.sum_type = TYPES[self.read_type]
        self.depth = self.random.choice((2, 3, 3, 4))
        self.extents = self.sizes()
        self.arrays: dict[str, tuple[str, list[int]]] = {}

    def sizes(self) -> list[int]:
        """The extents of the loops: short ones at times, and all together about as much work."""
        short = {at for at in range(self.depth) if self.random.random() < 0.3}
        short.discard(self.random.randrange(self.depth))
        sizes = [self.random.randint(3, 9) if at in short else 0 for at in range(self.depth)]
        left = WORK
        for size in filter(None, sizes):
            left //= size
        each = left ** (1 / sizes.count(0))
        return [size or max(4, int(each * self.random.uniform(0.7, 1.4))) for size in sizes]

    def access(self, name: str, loops: list[int], kind: str, plain: bool = False) -> str:
        """An access by some loops; the array grows to hold it."""
        subscripts, needed = [], []
        for loop in loops:
            factor = 1 if plain or self.random.random() < 0.9 else 2
            offset = 0 if plain else self.random.choice((0, 0, 0, 1, 2))
            subscripts.append(("2 * " if factor == 2 else "") + LOOPS[loop] + (f" + {offset}" if offset else ""))
            needed.append((self.extents[loop] - 1) * factor + offset + 1)
        before = self.arrays.get(name, (kind, needed))[1]
        self.arrays[name] = (kind, [max(pair) for pair in zip(before, needed)])
        return name + "".join(f"[{subscript}]" for subscript in subscripts)

    def some_loops(self, least: int = 1) -> list[int]:
        """Some of the loops, mostly in their order."""
        chosen = self.random.sample(range(self.depth), self.random.randint(least, self.depth))
        return chosen if self.random.random() < 0.3 else sorted(chosen)

    def term(self, names: str) -> str:
        """What is added: a product, a difference, or a choice of two elements."""
        first, second = (self.access(name, self.some_loops(), self.read_type) for name in names)
        form = self.random.choice(("{a} * {b}", "{a} * {b}", "{a} - {b}", "({a} > {b} ? {a} : {b})", "{a} + 3 * {b}"))
        return form.format(a=first, b=second)

    def text(self) -> str:
        """The file."""
        reduced = self.random.sample(range(self.depth), self.random.randint(0, self.depth - 1))
        outer = [loop for loop in range(self.depth) if loop not in reduced]
        in_variable = bool(reduced) and self.random.random() < 0.5
        order = outer + sorted(reduced) if in_variable else self.random.sample(range(self.depth), self.depth)
        target = self.access("out", outer, self.sum_type, plain=True)
        lines, indent = [], "  "
        for at, loop in enumerate(order):
            if in_variable and at == len(outer):
                lines.append(f"{indent}{self.sum_type} s = {self.random.choice(('0', target))};")
            lines.append(f"{indent}for (int {LOOPS[loop]} = 0; {LOOPS[loop]} < {self.bound(order, at)}; {LOOPS[loop]}++)")
            opens = in_variable and at == len(outer) - 1
            lines[-1] += " {" if opens or at == self.depth - 1 else ""
            indent += "  "
        inside = "s" if in_variable else target
        lines.append(f"{indent}{inside} {'+=' if reduced else '='} {self.term('ab')};")
        if self.random.random() < 0.3:
            second = self.access("more", self.some_loops(2), self.sum_type, plain=True)
            lines.append(f"{indent}{second} += {self.term('cd')};")
        lines.append(f"{indent[:-2]}}}")
        if in_variable:
            inner = "  " * (len(outer) + 1)
            lines += [f"{inner}{target} = s;", f"{inner[:-2]}}}"]
        declared = "".join(
            f"{kind} {name}{''.join(f'[{extent}]' for extent in extents)};\n"
            for name, (kind, extents) in self.arrays.items()
        )
        return declared + "\nvoid kernel(void) {\n" + "\n".join(lines) + "\n}\n"

    def bound(self, order: list[int], at: int) -> str:
        """The end of a loop: at times the variable of one around it, if that is never larger."""
        loop = order[at]
        around = [other for other in order[:at] if self.extents[other] <= self.extents[loop]]
        if around and self.random.random() < 0.15:
            return f"{LOOPS[self.random.choice(around)]} + 1"
        return str(self.extents[loop])


def write(folder: pathlib.Path, count: int, seed: int) -> list[pathlib.Path]:
    """Writes nests into a folder."""
    paths = [folder / f"nest{at:03}.c" for at in range(count)]
    for at, path in enumerate(paths):
        path.write_text(Nest(seed * 1_000 + at).text())
    return paths
