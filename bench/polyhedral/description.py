"""What is said of a kernel, and the C functions that are made of it.

A kernel is written down once, for arrays in as many dimensions as they have. `FORMS` are what people
make of it:

- `parameters`: sizes are parameters, arrays are arguments that may overlap as far as a compiler knows;
- `constants`: the same loops, sizes are numbers, arrays are global;
- `inside`: what initialises stands at another place, sums are kept in variables, `restrict`;
- `order`: loops in another order, some arrays transposed, all of them in one dimension;
- `rows`: as `parameters`, with pointers to rows, for kernels that have such a text.
"""

from __future__ import annotations

import dataclasses
import re

FORMS = ("parameters", "constants", "inside", "order", "rows")


@dataclasses.dataclass
class Kernel:
    """A kernel in a notation close to C."""

    name: str
    # For each size a value to measure at and a small one, both odd.
    sizes: dict[str, tuple[int, int]]
    # Arrays as `name:extent,extent`.
    arrays: str
    flops: str
    text: str
    inside: str
    order: str
    # With pointers to rows; few kernels have it.
    rows: str = ""
    scalars: str = ""
    values: str = ""
    # Variables of the function in `text`, declared in front of the part.
    more: str = ""
    # Arrays that are transposed in `order`.
    transposed: str = ""
    element: str = "double"
    fill: str = "usual"
    # The same as calls of BLAS or LAPACK, on arrays in one dimension.
    blas: str = ""
    # Whether compilers and libraries agree on the result: pivots, and fused operations in what is
    # badly conditioned, change it. Bits without fused operations are compared in any case.
    equal: bool = True

    @property
    def function(self) -> str:
        """A name in C."""
        return self.name if self.name.isidentifier() else f"k{self.name}"

    def extents(self, form: str = "parameters") -> dict[str, list[str]]:
        """The extents of each array."""
        pairs = [word.split(":") for word in self.arrays.split()]
        swapped = self.transposed.split() if form == "order" else []
        return {name: all_.split(",")[:: -1 if name in swapped else 1] for name, all_ in pairs}

    def rate(self) -> float:
        """Operations at the measured sizes."""
        return eval(self.flops, {}, {name: both[0] for name, both in self.sizes.items()})

    def has(self, form: str) -> bool:
        """Whether there is such a form of it."""
        return form != "rows" or bool(self.rows)

    def loops(self, form: str) -> str:
        """The loops of a form."""
        text = {"inside": self.inside, "order": self.order, "rows": self.rows}.get(form, self.text)
        return text.strip("\n")

    def source(self, form: str) -> str:
        """A C file with the function of a form."""
        text, extents = self.loops(form), self.extents(form)
        if form == "constants":
            return self.constant(text, extents)
        if form == "order":
            text = flattened(text, extents, self.transposed.split())
        arguments = [f"int {size}" for size in self.sizes]
        arguments += self.scalars.split(", ") if self.scalars else []
        for name, all_ in extents.items():
            words = "restrict " if form == "inside" else ""
            shape = f"{name}[{words}{all_[0]}]" + "".join(f"[{e}]" for e in all_[1:])
            shape = f"*restrict {name}" if form == "order" else shape
            arguments.append(f"{self.element} {shape}")
        return self.wrapped(text, arguments)

    def constant(self, text: str, extents: dict[str, list[str]]) -> str:
        """A C file with numbers as sizes and global arrays."""

        def numbers(text: str) -> str:
            for size, (value, _) in self.sizes.items():
                text = re.sub(rf"\b{size}\b", str(value), text)
            return text

        declared = "".join(
            f"extern {self.element} {name}" + "".join(f"[{numbers(e)}]" for e in all_) + ";\n"
            for name, all_ in extents.items()
        )
        return self.wrapped(numbers(text), self.scalars.split(", ") if self.scalars else [], declared)

    def wrapped(self, text: str, arguments: list[str], declared: str = "") -> str:
        """Puts a function around loops."""
        local = f"    {self.element} {', '.join(self.more.split())};\n"
        local = local if self.more and text.strip("\n") != "" and uses(text, self.more) else ""
        body = "".join(f"    {line}\n" for line in text.split("\n"))
        list_ = ", ".join(arguments) or "void"
        return (
            f"double sqrt(double);\n{declared}void {self.function}({list_})\n{{\n{local}"
            f"#pragma scop\n{body}#pragma endscop\n}}\n"
        )

    def library(self) -> str:
        """A C file that calls BLAS instead."""
        head = "#include <stdlib.h>\n#include <string.h>\n#include <cblas.h>\n"
        head += "void dpotrf_(char *, int *, double *, int *, int *);\n"
        head += "void dgetrf_(int *, int *, double *, int *, int *, int *);\n"
        arguments = [f"int {size}" for size in self.sizes]
        arguments += self.scalars.split(", ") if self.scalars else []
        arguments += [f"{self.element} *{name}" for name in self.extents()]
        return f"{head}void {self.function}({', '.join(arguments)})\n{{\n{self.blas}\n}}\n"


def uses(text: str, names: str) -> bool:
    """Whether a text has one of these names."""
    return any(re.search(rf"\b{name}\b", text) for name in names.split())


def flattened(text: str, extents: dict[str, list[str]], swapped: list[str]) -> str:
    """Writes accesses for arrays in one dimension."""
    result, at = "", 0
    for found in re.finditer(r"\b(\w+)\[", text):
        name = found.group(1)
        if name not in extents or found.start() < at:
            continue
        subscripts, end = subscripts_at(text, found.end() - 1)
        subscripts = subscripts[::-1] if name in swapped else subscripts
        index = bracketed(subscripts[0]) if len(subscripts) > 1 else subscripts[0]
        for own, extent in zip(subscripts[1:], extents[name][1:]):
            index = f"{index} * {extent} + {own}"
            index = index if own is subscripts[-1] else f"({index})"
        result += text[at : found.start()] + f"{name}[{index}]"
        at = end
    return result + text[at:]


def bracketed(text: str) -> str:
    """A factor."""
    return text if text.isalnum() else f"({text})"


def subscripts_at(text: str, at: int) -> tuple[list[str], int]:
    """The subscripts that begin at a bracket, and where they end."""
    subscripts, depth, start = [], 0, at
    while at < len(text) and (depth or text[at] == "["):
        depth += {"[": 1, "]": -1}.get(text[at], 0)
        if depth == 1 and text[at] == "[":
            start = at + 1
        if depth == 0:
            subscripts.append(text[start:at])
        at += 1
    return subscripts, at
