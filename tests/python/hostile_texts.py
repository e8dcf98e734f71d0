"""Texts that are nearly right, in every language: pieces of sound ones, swapped, doubled, cut and filled
with numbers at limits.
"""

from __future__ import annotations

import pathlib
import random
import re

from conftest import ROOT

PIECE = re.compile(r"\w+|\s+|[^\w\s]")
NUMBERS = ["0", "-1", "1", "2147483648", "9223372036854775807", "-9223372036854775808", "18446744073709551616", "1e400", "nan", "9" * 50]
ODD = ["\0", "\u202e", "\x1b[2J", "é", "\ufeff", "\U0001f600", "`", '"', "'", "\\", "{", "}", "(", ")", "[", "]", "<", ">", ";", "->", "//", "/*", "#"]


def seeds(folder: str, *endings: str) -> list[pathlib.Path]:
    found = [path for path in sorted((ROOT / folder).rglob("*")) if path.suffix in endings and path.stat().st_size < 20_000]
    assert found, folder
    return found


# The file that a command reads, what it is made of, and the command.
LANGUAGES = {
    "rules": ("f.gsl", seeds("rules", ".gsl"), ["rules", "fmt", "f.gsl"]),
    "checked": ("f.gsl", seeds("rules", ".gsl"), ["opt", "m.onnx", "-o", "o.onnx", "--no-library", "--rules", "f.gsl", "--max-seconds", "3"]),
    "programs": ("f.mlir", seeds("crates/dialects/tests/programs", ".mlir"), ["rewrite", "f.mlir", "-o", "o.mlir", "--canonicalize", "--cse"]),
    "sources": ("f.c", seeds("examples/kernels", ".c"), ["scop", "f.c", "-o", "o.c", "--max-steps", "1000000"]),
    "schedules": ("f.yaml", seeds("fuzz/seeds/schedule_tree", "", ".yaml", ".txt"), ["schedule", "f.yaml"]),
    "trees": ("f.yaml", seeds("fuzz/seeds/schedule_tree", "", ".yaml", ".txt"), ["codegen", "f.yaml"]),
    "sets": ("f.calc", seeds("fuzz/seeds/calc", "", ".calc", ".txt"), ["calc", "f.calc"]),
}


def text(seed: int, files: list[pathlib.Path]) -> str:
    """A text from a seed: one file with up to eight changes, pieces of another among them."""
    draw = random.Random(seed)
    first, second = (PIECE.findall(draw.choice(files).read_text(errors="replace")) for _ in range(2))
    pieces = first or [" "]
    for _ in range(draw.choice([1, 1, 2, 3, 8])):
        at, end = sorted(draw.randrange(len(pieces) + 1) for _ in range(2))
        end = min(end, at + draw.choice([1, 3, 20]))
        kind = draw.randrange(7)
        if kind == 0:
            del pieces[at:end]
        elif kind == 1:
            pieces[at:at] = pieces[at:end] * draw.choice([1, 2, 50])
        elif kind == 2:
            from_ = draw.randrange(len(second) + 1)
            pieces[at:end] = second[from_ : from_ + draw.choice([1, 5, 30])]
        elif kind == 3:
            pieces.insert(at, draw.choice(ODD))
        elif kind == 4:
            digits = [k for k, piece in enumerate(pieces) if piece.isdigit()]
            if digits:
                pieces[draw.choice(digits)] = draw.choice(NUMBERS)
        elif kind == 5:
            names = [k for k, piece in enumerate(pieces) if piece.isidentifier()]
            if len(names) > 1:
                pieces[draw.choice(names)] = pieces[draw.choice(names)]
        else:
            del pieces[at:]
        pieces = pieces or [" "]
    return "".join(pieces)
