"""The pages of `docs/` and the README as programs: their files, commands and Python sessions run.

What a fenced block is for, by its first word:

- a language and a file name, as ```` ```gsl mine.gsl ````, is a file, written before what follows;
- `rust` and the path of a source, as ```` ```rust crates/ir/src/lib.rs ````, is what stands there;
- ```` ```console ```` holds commands behind `$ ` and what they print, on both streams;
- ```` ```pycon ```` holds a Python session, `python` a program;
- `sh` holds commands on files of the reader, which stand in the folder under the names that pages use;
- `gsl` holds rules, `isl` sets and relations (four blanks between two of a line), `yaml` a schedule
  tree: each is read.

A block that cannot run says why in a remark on the line above it: `<!-- not run: ... -->`.
In what is expected, `...` stands for any text within its line, alone on a line for any lines; two
blanks or more are as wide as columns of a table become, which times decide.
Commands of a `console` block succeed; those of ```` ```console fails ```` do not.
"""

from __future__ import annotations

import dataclasses
import pathlib
import re
from collections.abc import Iterator

FENCE = re.compile(r"^```(.*)$")
COLUMNS = re.compile(r"(?:\\ ){2,}")
REASON = re.compile(r"^<!-- not run: (.+) -->$")


@dataclasses.dataclass(frozen=True)
class Block:
    """A fenced block of a page: the words behind the fence, its text, its first line's number."""

    words: tuple[str, ...]
    text: str
    line: int
    reason: str = ""
    """Why it does not run, if it does not."""


@dataclasses.dataclass(frozen=True)
class Command:
    """A command of a console block and what it should print."""

    line: int
    command: str
    expected: str


def blocks(page: pathlib.Path) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    words: tuple[str, ...] | None = None
    lines: list[str] = []
    start = 0
    before = reason = ""
    for number, line in enumerate(page.read_text().splitlines(), 1):
        fence = FENCE.match(line)
        if words is None and fence:
            words, lines, start = tuple(fence.group(1).split()), [], number + 1
            said = REASON.match(before)
            reason = said.group(1) if said else ""
        elif words is not None and line == "```":
            yield Block(words, "".join(f"{line}\n" for line in lines), start, reason)
            words = None
        elif words is not None:
            lines.append(line)
        before = line
    assert words is None, f"{page}: the block before line {start} has no end"


def commands(block: Block) -> Iterator[Command]:
    """The commands of a console block. A line that ends in a backslash goes on in the next."""
    lines = block.text.splitlines()
    at = 0
    while at < len(lines):
        assert lines[at].startswith("$ "), f"line {block.line + at}: output before any command"
        first, command = at, lines[at][2:]
        while command.endswith("\\"):
            at += 1
            command = command[:-1] + lines[at]
        end = at + 1
        while end < len(lines) and not lines[end].startswith("$ "):
            end += 1
        yield Command(block.line + first, command, "\n".join(lines[at + 1 : end]))
        at = end


def agrees(expected: str, printed: str) -> bool:
    """Whether a text is what a page expects, up to what `...` leaves open."""
    pattern = []
    for line in expected.rstrip().splitlines():
        if line.strip() == "...":
            pattern.append(r"(?:.*\n)*?")
        else:
            parts = (COLUMNS.sub("[ ]{2,}", re.escape(part)) for part in line.rstrip().split("..."))
            pattern.append(r"[^\n]*".join(parts) + r"[ ]*\n")
    return re.fullmatch("".join(pattern), printed.rstrip() + "\n" if printed.strip() else "") is not None
