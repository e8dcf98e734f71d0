"""Vector instructions in listings of assembly, function by function.

Compilers turn a loop into vectors by the shape of its text. A loop that fell back to one element at a
time has the same bits and a fraction of the rate: its listing says so without a benchmark.
"""

from __future__ import annotations

import dataclasses
import pathlib
import re
import subprocess

import targets

# Packed arithmetic and comparisons; whatever has a long register; a whole short one in memory.
X86 = re.compile(
    r"v?(?:add|sub|mul|div|max|min|sqrt|fn?m(?:add|sub)\d+|cmp[a-z_]*)p[sd]\s|v?p(?:add|sub|mul|madd|max|min|cmp)\w*\s"
    r"|.*%[yz]mm|v?mov(?:[au]p[sd]|dq[au]\d*)\s.*\("
)
ARM = re.compile(r".*\bv\d+\.(?:16b|8h|4s|2d|8b|4h|2s)\b|.*\bq\d+\b")
VECTOR = {"x86_64": X86, "aarch64": ARM}
LABEL = re.compile(r"(\.?\w+):")
JUMP = re.compile(r"(?:j\w+|b\.?\w*|cbn?z|tbn?z)\s(?:.*[\s,])?(\.L\w+)$")
SIZE = re.compile(r"\.size\s+(\w+),")


@dataclasses.dataclass(frozen=True)
class Count:
    """Vector instructions, and innermost loops that have one."""

    instructions: int
    loops: int

    def __add__(self, other: Count) -> Count:
        return Count(self.instructions + other.instructions, self.loops + other.loops)

    def lost(self, after: Count) -> bool:
        """Whether a loop fell back to single elements.

        A loop that a compiler unrolls whole is no loop any more, and has more instructions; one that
        it unrolls less has fewer, and stays a loop.
        """
        fewer = after.instructions < self.instructions
        return fewer and (after.loops < self.loops or 2 * after.instructions < self.instructions)


NOTHING = Count(0, 0)


def counted(listing: str, family: str) -> dict[str, Count]:
    """What each function of a listing has, of processors of one family."""
    found, lines = {}, []
    starts: dict[str, int] = {}
    for line in map(str.strip, listing.splitlines()):
        if size := SIZE.match(line):
            if size[1] in starts:
                found[size[1]] = _count(lines[starts[size[1]]:], VECTOR[family])
            lines, starts = [], {}
        elif label := LABEL.match(line):
            starts[label[1]] = len(lines)
            lines.append(line)
        elif line and not line.startswith((".", "#", "//")):
            lines.append(line)
    return found


def _count(lines: list[str], vector: re.Pattern) -> Count:
    labels = {label[1]: at for at, line in enumerate(lines) if (label := LABEL.match(line))}
    # From the label that a jump goes back to, up to the jump, which comes in the order of their ends.
    loops: list[tuple[int, int]] = []
    for end, line in enumerate(lines):
        jump = JUMP.match(line)
        start = labels.get(jump[1], end) if jump else end
        if start < end and not any(start <= inner for inner, _ in loops):
            loops.append((start, end))
    instructions = [not LABEL.match(line) and bool(vector.match(line)) for line in lines]
    return Count(sum(instructions), sum(any(instructions[start:end]) for start, end in loops))


def listed(source: pathlib.Path, build: targets.Build, family: str) -> dict[str, Count]:
    """What each function of a source has, as `build` builds it.

    Raises:
        subprocess.CalledProcessError: The compiler refuses it.
    """
    command = ["-S" if option == "-c" else option for option in build.command]
    done = subprocess.run([*command, source, "-o", "-"], check=True, capture_output=True, text=True)
    return counted(done.stdout, family)


def lost(before: dict[str, Count], after: dict[str, Count]) -> list[str]:
    """What has lost vectors: functions that both have, and, of the others, all taken together."""
    def rest(ours: dict[str, Count], theirs: dict[str, Count]) -> Count:
        return sum((count for name, count in ours.items() if name not in theirs), NOTHING)

    pairs = {name: (count, after[name]) for name, count in before.items() if name in after}
    pairs["the others"] = rest(before, after), rest(after, before)
    return [
        f"{name}: {old.instructions} vector instructions, {old.loops} loops with them, "
        f"now {new.instructions} and {new.loops}"
        for name, (old, new) in pairs.items() if old.lost(new)
    ]
