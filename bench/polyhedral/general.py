"""Kernels that no other benchmark has, and nests drawn at random: ours beside compilers.

Each file of `general/` is a C file as people write them: global arrays and `void kernel(void)`. A
program holds, for each compiler, the source, the source again as a control, and our loops where they
differ. Versions take turns in random order on the same data; a row has the least processor time of the
source in milliseconds, and how many times faster ours and the control are. A second program, without
fused operations, compares all bytes that the versions leave.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import re
import statistics
import subprocess
import tempfile

import random_nests

FOLDER = pathlib.Path(__file__).resolve().parent / "general"
# How many nests are drawn.
NESTS = 200
DECLARED = re.compile(r"^(signed char|unsigned char|short|unsigned|int|float|double) (.*);$", re.MULTILINE)
STRUCTURE = re.compile(r"^(struct (\w+) {.*?^}) (\w+)(\[\d+\]);$", re.MULTILINE | re.DOTALL)
SCORE = re.compile(r"^score: ([\d.]+)$", re.MULTILINE)

DRIVER = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
{declared}
{prototypes}
static double bench_now(void) {{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}}
static unsigned long bench_state;
static unsigned bench_next(void) {{
  bench_state = bench_state * 6364136223846793005u + 1442695040888963407u;
  return bench_state >> 40;
}}
static void bench_fill(void) {{
  bench_state = 5;
{filled}}}
static unsigned long bench_bytes(unsigned long hash, const void *at, size_t size) {{
  const unsigned char *x = at;
  for (size_t i = 0; i < size; i++) hash = hash * 33 + x[i];
  return hash;
}}
static unsigned long bench_hash(void) {{
  unsigned long hash = 5381;
{hashed}  return hash;
}}
static void bench_run(int version) {{
  switch (version) {{
{cases}  }}
}}
int main(int argc, char **argv) {{
  int rounds = atoi(argv[1]), order[{count}];
  (void)argc;
  srand(atoi(argv[2]));
  for (int v = 0; v < {count}; v++) order[v] = v;
  for (int round = 0; round < rounds; round++) {{
    for (int v = {count} - 1; v > 0; v--) {{
      int other = rand() % (v + 1), kept = order[v];
      order[v] = order[other];
      order[other] = kept;
    }}
    for (int v = 0; v < {count}; v++) {{
      bench_fill();
      double start = bench_now();
      bench_run(order[v]);
      double seconds = bench_now() - start;
      printf("%d %.9f %lu\\n", order[v], seconds, round ? 0 : bench_hash());
    }}
  }}
  return 0;
}}
"""


def arrays(text: str) -> list[tuple[str, str]]:
    """The global arrays of a file, each with the type of its numbers."""
    found = [("float", match[3]) for match in STRUCTURE.finditer(text)]
    for match in DECLARED.finditer(STRUCTURE.sub("", text)):
        found += [(match[1], name) for name in re.findall(r"(\w+)(?:\[\d+\])+", match[2])]
    return found


def declarations(text: str) -> str:
    """The declarations of a file's arrays."""
    structures = [match[0] for match in STRUCTURE.finditer(text)]
    return "\n".join([*structures, *(match[0] for match in DECLARED.finditer(STRUCTURE.sub("", text)))])


def version(text: str, name: str) -> str:
    """A file's function under another name, on arrays of the program."""
    text = STRUCTURE.sub(r"\1;\nextern struct \2 \3\4;", text)
    return re.sub(r"\bkernel\(void\)", f"{name}(void)", DECLARED.sub(r"extern \1 \2;", text))


def driver(text: str, versions: list[str]) -> str:
    """The program that runs a file's versions."""
    filled, hashed = "", ""
    for kind, name in arrays(text):
        value = "bench_next() % 997 / 499.0 - 1" if kind in ("float", "double") else "bench_next() % 30"
        step = f"for (size_t i = 0; i < sizeof {name} / sizeof({kind}); i++)"
        filled += f"  {step} (({kind} *){name})[i] = {value};\n"
        hashed += f"  hash = bench_bytes(hash, {name}, sizeof {name});\n"
    return DRIVER.format(
        declared=declarations(text),
        prototypes="\n".join(f"void {name}(void);" for name in versions),
        cases="".join(f"    case {at}: {name}(); break;\n" for at, name in enumerate(versions)),
        filled=filled,
        hashed=hashed,
        count=len(versions),
    )


class Bench:
    """Makes programs in a folder, and measures them."""

    def __init__(self, folder: pathlib.Path, compilers: dict[str, list[str]], arguments: argparse.Namespace):
        self.folder, self.compilers, self.arguments = folder, compilers, arguments

    def ours(self, source: pathlib.Path) -> tuple[str, list[float], str]:
        """Our text of a file, the scores that decided in its parts, and what was said of them."""
        target = self.folder / f"{source.stem}.ours.c"
        words = [os.environ["TANGRAM_BIN"], "scop", str(source), "-o", str(target), *self.arguments.scop]
        made = subprocess.run(words, capture_output=True, text=True)
        if made.returncode:
            raise SystemExit(f"{source.name}: {made.stderr}")
        words = [os.environ["TANGRAM_BIN"], "scop", str(source), "--print", "score", *self.arguments.scop]
        # A file without a part has none.
        found = subprocess.run(words, capture_output=True, text=True).stdout
        return target.read_text(), [float(number) for number in SCORE.findall(found)], made.stderr

    def program(self, name: str, text: str, own: dict[str, str], flags: list[str]) -> pathlib.Path:
        """Builds the versions `own` of a file, by name the words of a compiler and a text."""
        objects = []
        for kind, (words, content) in own.items():
            path = self.folder / f"{name}.{kind}.c"
            path.write_text(version(content, kind))
            objects.append(str(path.with_suffix(".o")))
            subprocess.run([*words, *flags, "-w", "-c", str(path), "-o", objects[-1]], check=True)
        main = self.folder / f"{name}.main.c"
        main.write_text(driver(text, list(own)))
        program = self.folder / name
        subprocess.run(["cc", "-w", "-O1", str(main), *objects, "-lm", "-o", str(program)], check=True)
        return program

    def versions(self, text: str, ours: str) -> dict[str, tuple[list[str], str]]:
        """All versions of a file; ours only where it differs."""
        found = {}
        for name, words in self.compilers.items():
            found[f"{name}_source"] = (words, text)
            found[f"{name}_again"] = (words, text)
            if ours != text:
                found[f"{name}_ours"] = (words, ours)
        return found

    def run(self, program: pathlib.Path, names: list[str], rounds: int) -> dict[str, tuple[float, str]]:
        """The least time of each version, and the hash of what it leaves."""
        words = [str(program), str(rounds), "7"]
        lines = subprocess.run(words, check=True, capture_output=True, text=True).stdout.splitlines()
        least: dict[str, tuple[float, str]] = {}
        for line in lines:
            at, seconds, hash_ = line.split()
            before = least.get(names[int(at)])
            kept = (float(seconds), hash_) if before is None else (min(before[0], float(seconds)), before[1])
            least[names[int(at)]] = kept
        return least

    def measure(self, source: pathlib.Path, flags: list[str]) -> dict:
        """Measures a file."""
        text = source.read_text()
        ours, scores, said = self.ours(source)
        own = self.versions(text, ours)
        if self.arguments.check and ours != text:
            exact = self.program(f"{source.stem}-exact", text, own, [*flags, "-ffp-contract=off"])
            hashes = {hash_ for _, hash_ in self.run(exact, list(own), 1).values()}
            if len(hashes) > 1:
                print(f"{source.name}: other bits than the source: {said}")
        times = self.run(self.program(source.stem, text, own, flags), list(own), self.arguments.rounds)
        row = {"scores": scores}
        for name in self.compilers:
            seconds = times[f"{name}_source"][0]
            row[name] = {
                "seconds": seconds,
                "control": seconds / times[f"{name}_again"][0],
                "faster": seconds / times[f"{name}_ours"][0] if ours != text else 1.0,
            }
        return row


def show(name: str, row: dict, compilers: list[str]) -> None:
    """Prints the row of a file."""
    cells = [
        f"{cell['seconds'] * 1e3:9.3f} {cell['faster']:6.2f} {cell['control']:6.2f}"
        for cell in (row[compiler] for compiler in compilers)
    ]
    score = " ".join(f"{1 / number:.1f}" for number in row["scores"] if number > 0)
    print(f"{name:32}" + "".join(cells) + f"  {score}", flush=True)


def summary(kind: str, rows: dict[str, dict], compilers: list[str]) -> None:
    """Prints means, and what is slower than the source."""
    for compiler in compilers:
        gains = {name: row[compiler]["faster"] for name, row in rows.items()}
        if not gains:
            continue
        controls = [row[compiler]["control"] for row in rows.values()]
        slower = sorted((gain, name) for name, gain in gains.items() if gain < 0.98)
        print(
            f"{kind}, {compiler}: {statistics.geometric_mean(gains.values()):.2f} times faster in the mean of "
            f"{len(gains)}, control {min(controls):.2f} to {max(controls):.2f}; below 0.98: "
            + (", ".join(f"{name} {gain:.2f}" for gain, name in slower) or "none"),
            flush=True,
        )


def run(arguments: argparse.Namespace, compilers: dict[str, list[str]], flags: list[str]) -> dict:
    """Measures all files, then nests drawn at random."""
    names, result = list(compilers), {}
    print(f"{'':32}" + "".join(f"{name + ' ms':>9} {'ours':>6} {'again':>6}" for name in names) + "  1/score")
    with tempfile.TemporaryDirectory() as own:
        folder = pathlib.Path(arguments.keep or own)
        bench = Bench(folder, compilers, arguments)
        drawn = folder / "drawn"
        drawn.mkdir(parents=True, exist_ok=True)
        kinds = {"kernels": sorted(FOLDER.glob("*.c")), "nests": random_nests.write(drawn, NESTS, arguments.seed)}
        for kind, sources in kinds.items():
            rows = {}
            for source in sources:
                if arguments.kernel and source.stem not in arguments.kernel:
                    continue
                rows[source.stem] = bench.measure(source, flags)
                show(source.stem, rows[source.stem], names)
            summary(kind, rows, names)
            result[kind] = rows
    return result
