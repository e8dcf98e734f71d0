"""Schedule trees of a matrix product in tiles of 32, as text: what code generation is measured on.

Three tile loops around three point loops, with extents that are known, one parameter or three, and
with full tiles apart from partial ones or not.
"""

from __future__ import annotations

import pathlib

EXTENTS = {"known": ("1000", "1000", "1000"), "square": ("n", "n", "n"), "free": ("l", "m", "n")}
SIZE = 32


def tree(extents: tuple[str, str, str], full_tiles_apart: bool) -> str:
    """The tree with these numbers of rows, columns and products."""
    params = [name for name in dict.fromkeys(extents) if name.isalpha()]
    head = f"[{', '.join(params)}] -> " if params else ""
    dims = list(zip("ijk", extents))
    domain = " and ".join(f"0 <= {dim} < {extent}" for dim, extent in dims)
    tiles = ", ".join(f"{{ S[i, j, k] -> [({SIZE}*floor({dim}/{SIZE}))] }}" for dim in "ijk")
    points = ", ".join(f"{{ S[i, j, k] -> [({dim})] }}" for dim in "ijk")
    lines = [f'domain: "{head}{{ S[i, j, k] : {domain} }}"', "child:", f'  schedule: "[{tiles}]"']
    if full_tiles_apart:
        full = " and ".join(f"0 <= {dim} <= {extent} - {SIZE}" for dim, extent in dims)
        lines.append(f'  options: "{head}{{ isolate[[] -> [i, j, k]] : {full} }}"')
    lines += ["  child:", f'    schedule: "[{points}]"']
    return "\n".join(lines) + "\n"


def write(folder: pathlib.Path) -> list[pathlib.Path]:
    """Writes all trees into a folder."""
    paths = []
    for name, extents in EXTENTS.items():
        for apart in (False, True):
            path = folder / f"matmul-{name}{'-full-tiles' if apart else ''}.st"
            path.write_text(tree(extents, apart))
            paths.append(path)
    return paths
