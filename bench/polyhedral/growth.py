"""Scheduling problems of any number of statements, to see how time grows with them.

`problem(shape, statements, depth)` is the text of isl's schedule constraints. Statements are
`S0`, `S1`... over boxes of `depth` dimensions with a parameter; a shape says who reads from whom:

- `chain`: each from the one before, at the same place;
- `star`: all from the first;
- `skip`: from the one before and from seven before;
- `stencil`: from the one before, at three places along the last dimension;
- `cycle`: as a chain, and the first from the last of the step before;
- `time`: as `stencil`, with steps of time, and the first from the last of the step before.
"""

from __future__ import annotations

SHAPES = ("chain", "star", "skip", "stencil", "cycle", "time")
SIZES = (10, 20, 50, 100, 200, 500, 1000)


def problem(shape: str, statements: int, depth: int) -> str:
    """The constraints of a program, as a file for isl has them."""
    dims = [f"i{d}" for d in range(depth)]
    point = ", ".join(dims)
    box = " and ".join(f"0 <= {d} < n" for d in dims)
    domain = "; ".join(f"S{s}[{point}] : {box}" for s in range(statements))
    pairs = []

    def reads(source: int, sink: int, at: list[str]) -> None:
        ends = " and ".join(f"0 <= {d} < n" for d in at)
        pairs.append(f"S{source}[{point}] -> S{sink}[{', '.join(at)}] : {box} and {ends}")

    for s in range(1, statements):
        if shape in ("stencil", "time"):
            for shift in ("- 1", "", "+ 1"):
                reads(s - 1, s, [*dims[:-1], f"{dims[-1]} {shift}".strip()])
        else:
            reads(0 if shape == "star" else s - 1, s, dims)
        if shape == "skip" and s >= 7:
            reads(s - 7, s, dims)
    if shape in ("cycle", "time"):
        reads(statements - 1, 0, [f"{dims[0]} + 1", *dims[1:]])
    relation = f"[n] -> {{ {'; '.join(pairs)} }}"
    lines = [f'domain: "[n] -> {{ {domain} }}"']
    lines += [f'{key}: "{relation}"' for key in ("validity", "coincidence", "proximity")]
    return "\n".join(lines) + "\n"
