"""Kernels of the PolyBench set, and two of single precision, in several forms: ours beside compilers.

A program holds all versions of a form: by each compiler the source and ours, and calls of OpenBLAS.
They take turns on the same data, each round all of them, and are timed by the process's clock. A
second program, without fused operations, compares all bytes of all arrays that they leave.
"""

from __future__ import annotations

import math
import os
import pathlib
import resource
import statistics
import subprocess
import tempfile

import datamining
import floats
import products
import solvers
import stencils
from description import FORMS, Kernel

KERNELS = datamining.KERNELS + products.KERNELS + floats.KERNELS + solvers.KERNELS + stencils.KERNELS
# One version is called slower than another beyond this.
MARGIN = 1.02

FILLS = {
    "usual": "(double)((i * 7 + 3) % 11) / 7 + ({square} && i / {last} == i % {last} ? 4 * {last} : 0)",
    "random": "(double)(i * 2654435761u % 1009) / 1009 + 0.1",
    "decay": "0.3 / ((i + 1.0) * (i + 1.0))",
    "bases": "({square} ? 0 : (i * 7 + 3) % 11 % 4)",
}


CLOCK = """#include <time.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec; }
"""


def driver(kernel: Kernel, form: str, versions: list[str], small: bool, clock: str = CLOCK) -> str:
    """Writes a program that runs versions of a kernel in turns.

    Each line has the version's number, seconds by the clock, a hash of all bytes and a sum.
    `clock` defines `double now(void)`; usual is the time of the processor.
    """
    extents = kernel.extents(form)
    place = 1 if small else 0
    sizes = "".join(f"  int {size} = {both[place]};\n" for size, both in kernel.sizes.items())
    values = kernel.values.split(", ") if kernel.values else []
    scalars = [part.split() for part in kernel.scalars.split(", ")] if kernel.scalars else []
    scalars_text = "".join(f"  {t} {n} = {v};\n" for (t, n), v in zip(scalars, values))
    names = [n for _, n in scalars] if form == "constants" else [*kernel.sizes, *(n for _, n in scalars)]
    number = kernel.element
    declared, filled, hashed, arguments = "", "", "", list(names)
    global_ = ""
    for name, all_ in extents.items():
        count = " * ".join(f"(size_t)({extent})" for extent in all_)
        last, square = all_[-1], int(len(all_) == 2 and all_[0] == all_[1])
        if form == "constants":
            shape = "".join(f"[{both}]" for both in constant(kernel, all_))
            global_ += f"{number} {name}{shape};\n"
            declared += f"  size_t n_{name} = {count}; {number} *a_{name} = ({number} *){name};\n"
        else:
            declared += f"  size_t n_{name} = {count};\n"
            declared += f"  {number} *a_{name} = aligned_alloc(64, (n_{name} * 8 + 64) / 64 * 64);\n"
            arguments.append(f"(void *)a_{name}")
        value = FILLS[kernel.fill].format(last=last, square=square)
        filled += f"    for (size_t i = 0; i < n_{name}; i++) a_{name}[i] = ({number})({value});\n"
        hashed += f"    for (size_t i = 0; i < n_{name}; i++) sum += a_{name}[i] * (1 + i % 5);\n"
        hashed += f"    hash = bytes(hash, a_{name}, n_{name} * sizeof *a_{name});\n"
    call = ", ".join(arguments)
    cases = "".join(f"    case {at}: {version}({call}); break;\n" for at, version in enumerate(versions))
    types = ["int"] * (0 if form == "constants" else len(kernel.sizes)) + [t for t, _ in scalars]
    types += [] if form == "constants" else ["void *"] * len(extents)
    prototypes = "".join(f"void {version}({', '.join(types) or 'void'});\n" for version in versions)
    return f"""#include <stdio.h>
#include <stdlib.h>
{clock}{prototypes}{global_}
static unsigned long bytes(unsigned long hash, const void *at, size_t size) {{
  const unsigned char *x = at;
  for (size_t i = 0; i < size; i++) hash = hash * 33 + x[i];
  return hash; }}
int main(int argc, char **argv) {{
  int rounds = atoi(argv[1]);
{sizes}{scalars_text}{declared}  (void)argc;
  for (int round = 0; round < rounds; round++) for (int v = 0; v < {len(versions)}; v++) {{
{filled}    double start = now();
    switch (v) {{
{cases}    }}
    double time = now() - start, sum = 0;
    unsigned long hash = 5381;
    if (round == 0) {{
{hashed}    }}
    printf("%d %.9f %lu %.17g\\n", v, time, hash, sum);
  }}
  return 0; }}
"""


def constant(kernel: Kernel, extents: list[str]) -> list[str]:
    """Extents as numbers."""
    return [str(kernel.sizes[e][0]) if e in kernel.sizes else e for e in extents]


class Maker:
    """Builds programs in a folder."""

    def __init__(self, folder: pathlib.Path, compilers: dict[str, list[str]], flags: list[str], scop: list[str]):
        self.folder, self.compilers, self.flags, self.scop = folder, compilers, flags, scop

    def versions(self, kernel: Kernel, form: str, blas: list[str] | None) -> dict[str, tuple[pathlib.Path, list[str]]]:
        """The source of each version and the words that compile it; ours only where it differs."""
        source = self.folder / f"{kernel.function}.{form}.c"
        source.write_text(kernel.source(form))
        ours = self.folder / f"{kernel.function}.{form}.ours.c"
        words = [os.environ["TANGRAM_BIN"], "scop", str(source), "-o", str(ours), *self.scop]
        made = subprocess.run(words, capture_output=True, text=True)
        result = {}
        for name, compiler in self.compilers.items():
            result[name] = (source, compiler)
            if name != "polly":
                result[f"ours {name}"] = (ours, compiler)
        if made.returncode:
            print(f"{kernel.name} {form}: {made.stderr.strip().splitlines()[-1]}")
        if made.returncode or ours.read_text() == source.read_text():
            result = {name: value for name, value in result.items() if not name.startswith("ours")}
        if blas and kernel.blas and form == "parameters":
            library = self.folder / f"{kernel.function}.blas.c"
            library.write_text(kernel.library())
            result["openblas"] = (library, [*self.compilers["gcc"], *blas])
        return result

    def build(self, kernel: Kernel, form: str, versions: dict, words: list[str], small: bool) -> pathlib.Path:
        """Compiles all versions into one program."""
        objects, names, libraries = [], [], []
        for at, (version, (source, compiler)) in enumerate(versions.items()):
            name = f"version_{at}_{''.join(c for c in version if c.isalnum())}"
            names.append(name)
            output = self.folder / f"{name}.o"
            own = [word for word in compiler if not word.startswith(("-l", "-L", "-Wl"))]
            libraries += [word for word in compiler if word.startswith(("-l", "-L", "-Wl"))]
            command = [*own, "-w", *self.flags, *words, f"-D{kernel.function}={name}", "-c", str(source)]
            subprocess.run([*command, "-o", str(output)], check=True)
            objects.append(str(output))
        main = self.folder / "main.c"
        main.write_text(driver(kernel, form, names, small))
        binary = self.folder / "program"
        compiler = self.compilers["gcc"]
        command = [*compiler, "-w", "-O2", str(main), *objects, *libraries, "-lm", "-o", str(binary)]
        subprocess.run(command, check=True)
        return binary


def unlimited_stack() -> None:
    """Gives a process as much stack as it may have: Polly packs operands there."""
    _, most = resource.getrlimit(resource.RLIMIT_STACK)
    resource.setrlimit(resource.RLIMIT_STACK, (most, most))


def runs(binary: pathlib.Path, rounds: int, count: int) -> list[list[tuple[float, str, float]]]:
    """For each version: seconds, hash and sum of each round."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    found: list[list[tuple[float, str, float]]] = [[] for _ in range(count)]
    command = [str(binary), str(rounds)]
    output = subprocess.run(
        command, capture_output=True, text=True, env=environment, timeout=300, preexec_fn=unlimited_stack
    )
    if output.returncode:
        raise RuntimeError(f"ended with {output.returncode}")
    for line in output.stdout.splitlines():
        at, seconds, hash_, sum_ = line.split()
        found[int(at)].append((float(seconds), hash_, float(sum_)))
    return found


def differing(maker: Maker, kernel: Kernel, form: str, versions: dict) -> list[str]:
    """Versions whose results have other bits than the source's, without fused operations."""
    exact = {name: value for name, value in versions.items() if name not in ("openblas", "polly")}
    wrong = []
    for small in (False, True):
        if small and form == "constants":
            continue
        binary = maker.build(kernel, form, exact, ["-ffp-contract=off"], small)
        found = runs(binary, 1, len(exact))
        hashes = {name: rounds[0][1] for name, rounds in zip(exact, found)}
        first = hashes["gcc"]
        wrong += [f"{name}{' small' if small else ''}" for name, own in hashes.items() if own != first]
    return wrong


def run(arguments, compilers: dict[str, list[str]], flags: list[str], blas: list[str] | None) -> dict:
    """Prints a row for each form of each kernel."""
    chosen = [kernel for kernel in KERNELS if not arguments.kernel or kernel.name in arguments.kernel]
    forms = arguments.form or list(FORMS)
    columns = [column for name in compilers for column in ([name] if name == "polly" else [name, f"ours {name}"])]
    columns += ["openblas"] if blas else []
    print("processor time on one thread, milliseconds; least of", arguments.rounds, "rounds in turns")
    print(f"{'kernel':15}{'form':11}" + "".join(f"{column:>11}" for column in columns) + "   gains, GFLOP/s, bits")
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        maker = Maker(pathlib.Path(arguments.keep or folder), compilers, flags, arguments.scop)
        for kernel in chosen:
            for form in filter(kernel.has, forms):
                row = measured(maker, kernel, form, blas, arguments)
                rows[f"{kernel.name} {form}"] = row
                show(kernel, form, row, columns)
    summary(rows, compilers)
    return rows


def measured(maker: Maker, kernel: Kernel, form: str, blas, arguments) -> dict:
    """Least and median milliseconds of each version of a form, and what differs."""
    versions = maker.versions(kernel, form, blas)
    row: dict = {"wrong": differing(maker, kernel, form, versions) if arguments.check else None}
    binary = maker.build(kernel, form, versions, [], False)
    found = runs(binary, arguments.rounds, len(versions))
    sums = {}
    for name, rounds in zip(versions, found):
        times = [seconds * 1e3 for seconds, _, _ in rounds]
        row[name] = (min(times), statistics.median(times))
        sums[name] = rounds[0][2]
    for name, own in sums.items():
        equal = math.isclose(own, sums["gcc"], rel_tol=1e-6, abs_tol=1e-6)
        if not equal and kernel.equal:
            row["wrong"] = [*(row["wrong"] or []), f"{name}: {own} for {sums['gcc']}"]
    return row


def show(kernel: Kernel, form: str, row: dict, columns: list[str]) -> None:
    """Prints a row."""
    cells = ""
    for column in columns:
        absent = "as is" if column.startswith("ours") else ""
        cells += f"{row[column][0]:11.2f}" if column in row else f"{absent:>11}"
    gains = []
    for name in ("gcc", "clang"):
        if f"ours {name}" in row:
            rate = kernel.rate() / row[f"ours {name}"][0] / 1e6
            gains.append(f"{row[name][0] / row[f'ours {name}'][0]:.2f}x {name} ({rate:.1f})")
    bits = {None: "", (): " same bits"}.get(row["wrong"] if row["wrong"] is None else tuple(row["wrong"]))
    bits = f" DIFFERS: {row['wrong']}" if bits is None else bits
    print(f"{kernel.name:15}{form:11}{cells}   {', '.join(gains)}{bits}", flush=True)


def summary(rows: dict, compilers: dict) -> None:
    """Prints means, and what is slower than its compiler."""
    for name in compilers:
        ours = f"ours {name}"
        pairs = {key: (row[name], row.get(ours, row[name])) for key, row in rows.items()}
        if name == "polly" or not pairs:
            continue
        ratios = [theirs[0] / own[0] for theirs, own in pairs.values()]
        print(f"against {name}: {statistics.geometric_mean(ratios):.2f} times faster in the mean of {len(pairs)}")
        slower = [
            f"{key} {theirs[0] / own[0]:.2f}"
            for key, (theirs, own) in pairs.items()
            if own[0] > MARGIN * theirs[0] and own[1] > MARGIN * theirs[1]
        ]
        print(f"  slower by more than 2 %: {len(slower)}: {', '.join(slower)}")
    wrong = [key for key, row in rows.items() if row["wrong"]]
    print(f"other results: {len(wrong)}: {', '.join(wrong)}")
