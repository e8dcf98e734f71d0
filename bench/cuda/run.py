"""Runs kernels as CUDA on a device: the same bits as the source, and the rate beside cuBLAS.

    cargo xtask bench cuda [--kernel NAME]... [--form NAME]... [--scale N] [--rounds N]
        [--scop=WORD]... [--json FILE] [--keep FOLDER]

The kernels and their forms are those of `bench/polyhedral`. `tangram scop --target cuda` writes each
as CUDA, `nvcc` compiles it twice: without fused operations (`-fmad=false`), to compare every byte of
all arrays with what the source leaves, compiled by gcc and run on the host, at the sizes of the
description and at small ones; and as it is, to be timed at sizes `--scale` times as large (less where arrays would take
more than 2 GiB). The time is that from the last copy to the device up to the end of all kernels, the
least of all rounds; the rate is the source's number of operations over it. cuBLAS computes the same
for the kernels that calls of it make up.

Without a device or without nvcc this says so, and ends.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import dataclasses
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "polyhedral"))
import forms  # noqa: E402
from description import FORMS, Kernel  # noqa: E402

# What cuBLAS computes by calls alone: between those of others, loops run on the host.
LIBRARY = ("gemm", "sgemm", "2mm", "3mm", "syrk", "syr2k", "symm", "atax", "bicg", "mvt", "gesummv")
MOST_BYTES = 2 << 30
# A kernel that takes longer is stopped.
MOST_SECONDS = 30
CLOCK = '#include "device_time.h"\nstatic double now(void) { return device_seconds(); }\n'


def options() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kernel", action="append", help="kernels; all when not given")
    parser.add_argument("--form", action="append", choices=FORMS, help="forms; all when not given")
    parser.add_argument("--scale", type=int, default=4, help="how much larger the sizes are that are timed")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scop", action="append", default=[], help="a word for `tangram scop`")
    parser.add_argument("--no-check", dest="check", action="store_false", help="compare no bits")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder where the programs stay")
    return parser.parse_args()


def missing() -> str | None:
    """What is not there that this needs."""
    if not shutil.which("nvcc"):
        return "nvcc, the compiler of the CUDA toolkit"
    query = ["nvidia-smi", "--query-gpu=name,compute_cap", "--format=csv,noheader"]
    if not shutil.which("nvidia-smi") or subprocess.run(query, capture_output=True).returncode:
        return "a device of NVIDIA with its driver"
    return None


def device() -> tuple[str, str]:
    """The name of the device, and the architecture that nvcc compiles for."""
    query = ["nvidia-smi", "--query-gpu=name,compute_cap", "--format=csv,noheader"]
    line = subprocess.run(query, capture_output=True, text=True, check=True).stdout.splitlines()[0]
    name, capability = (word.strip() for word in line.rsplit(",", 1))
    return name, f"sm_{capability.replace('.', '')}"


def scaled(kernel: Kernel, scale: int) -> Kernel:
    """The kernel with larger sizes, as far as arrays fit."""
    for factor in range(scale, 0, -1):
        sizes = {name: ((large - 1) * factor + 1, small) for name, (large, small) in kernel.sizes.items()}
        # More steps of a stencil are only more of the same.
        sizes |= {name: both for name, both in kernel.sizes.items() if name == "steps"}
        larger = dataclasses.replace(kernel, sizes=sizes)
        if sum(counts(larger).values()) * 8 <= MOST_BYTES:
            return larger
    return kernel


def counts(kernel: Kernel) -> dict[str, int]:
    """The number of elements of each array."""
    values = {name: large for name, (large, _) in kernel.sizes.items()}
    return {
        name: math.prod(int(eval(extent, {}, values)) for extent in all_)
        for name, all_ in kernel.extents().items()
    }


def libraries() -> list[list[str]]:
    """Words that may link cuBLAS: the toolkit's, or that of a package of Python."""
    if given := os.environ.get("CUBLAS"):
        return [given.split()]
    found = [["-lcublas"]]
    for folder in map(pathlib.Path, sys.path):
        for library in folder.glob("nvidia/**/lib/libcublas.so*"):
            home = library.parent
            found.append([f"-I{home.parent / 'include'}", "-Xlinker", str(library), "-Xlinker", f"-rpath={home}"])
    return found


class Failed(Exception):
    """A form that is no program for the device."""


class Maker:
    """Builds programs in a folder."""

    def __init__(self, folder: pathlib.Path, architecture: str, scop: list[str]):
        self.folder, self.scop = folder, scop
        self.nvcc = ["nvcc", "-w", "-O3", f"-arch={architecture}", f"-I{HERE}"]
        self.common = [self.compiled(["gcc", "-O2", "-c"], HERE / "device_time.c", "time.o")]
        self.library = self.blas()

    def blas(self) -> list[str]:
        """The words that link cuBLAS, as far as it is installed."""
        failed = ""
        for words in libraries():
            own = [word for word in words if word.startswith("-I")]
            try:
                made = self.compiled([*self.nvcc, *own, "-c"], HERE / "device_blas.cu", "blas.o")
            except Failed as error:
                failed = str(error)
                continue
            main = self.folder / "probe.cu"
            main.write_text("int main() { return 0; }\n")
            link = [*self.nvcc, str(main), *self.common, made, *words, "-o", str(self.folder / "probe")]
            probe = subprocess.run(link, capture_output=True, text=True)
            if not probe.returncode:
                return [made, *words]
            failed = first_line(probe.stderr)
        print(f"skipped: needs cuBLAS: {failed}")
        return []

    def compiled(self, words: list[str], source: pathlib.Path, name: str) -> str:
        """Compiles one file; returns the object's name."""
        output = self.folder / name
        run = subprocess.run([*words, str(source), "-o", str(output)], capture_output=True, text=True)
        if run.returncode:
            raise Failed(f"{source.name}: {first_line(run.stderr)}")
        return str(output)

    def build(self, kernel: Kernel, form: str, timed: bool) -> tuple[pathlib.Path, list[str]]:
        """Builds a program; returns it with the names of what it runs in turns."""
        name = f"{kernel.function}.{form}.{'timed' if timed else 'exact'}"
        source = self.folder / f"{name}.c"
        source.write_text(kernel.source(form))
        cuda = source.with_suffix(".cu")
        words = [os.environ["TANGRAM_BIN"], "scop", str(source), "--target", "cuda", "-o", str(cuda), *self.scop]
        made = subprocess.run(words, capture_output=True, text=True)
        if made.returncode:
            raise Failed(first_line(made.stderr))
        versions, objects = ["ours"], [*self.common]
        objects += self.ours(kernel, source, cuda, ["-DDEVICE_TIME"] if timed else ["-fmad=false"])
        if not timed:
            versions.append("source")
            words = ["gcc", "-w", "-O2", "-ffp-contract=off", f"-D{kernel.function}=run_source", "-c"]
            objects.append(self.compiled(words, source, f"{name}.source.o"))
        elif kernel.name in LIBRARY and form == "parameters" and self.library:
            versions.append("cublas")
            text = source.with_suffix(".blas.c")
            text.write_text(registered(kernel))
            words = ["gcc", "-w", "-O2", f"-I{HERE}", f"-D{kernel.function}=run_cublas", "-c"]
            objects += [self.compiled(words, text, f"{name}.blas.o"), *self.library]
        main = source.with_suffix(".main.c")
        names = [f"run_{version}" for version in versions]
        main.write_text(forms.driver(kernel, form, names, False, CLOCK))
        small = source.with_suffix(".small.c")
        small.write_text(forms.driver(kernel, form, names, True, CLOCK))
        program = self.folder / name
        pairs = [(main, program)] if timed or form == "constants" else [(main, program), (small, small.with_suffix(""))]
        for text, output in pairs:
            own = self.compiled(["gcc", "-w", "-O2", f"-I{HERE}", "-c"], text, f"{text.name}.o")
            link = subprocess.run([*self.nvcc, own, *objects, "-o", str(output)], capture_output=True, text=True)
            if link.returncode:
                raise Failed(f"{text.name}: {first_line(link.stderr)}")
        return program, versions

    def ours(self, kernel: Kernel, source: pathlib.Path, cuda: pathlib.Path, words: list[str]) -> list[str]:
        """Compiles CUDA, and the source with the call in the place of its part where it needs that."""
        nvcc = [*self.nvcc, *words, "-include", str(HERE / "device_time.h"), "-c"]
        text = cuda.read_text()
        call = text.partition("/* In the place of the part: ")[2].partition(" */")[0]
        if not call:
            return [self.compiled([*nvcc, f"-D{kernel.function}=run_ours"], cuda, f"{cuda.name}.o")]
        head = next(line for line in text.splitlines() if line.startswith('extern "C" void '))
        prototype = head.removeprefix('extern "C" ').replace("bool", "_Bool")
        before, _, rest = source.read_text().partition("#pragma scop\n")
        host = source.with_suffix(".host.c")
        host.write_text(f"{prototype};\n{before}    {call}\n{rest.partition('#pragma endscop')[2].lstrip()}")
        gcc = ["gcc", "-w", "-O2", f"-D{kernel.function}=run_ours", "-c"]
        return [self.compiled(nvcc, cuda, f"{cuda.name}.o"), self.compiled(gcc, host, f"{host.name}.o")]


def registered(kernel: Kernel) -> str:
    """The kernel's calls of BLAS, with arrays on the device."""
    size = f"sizeof({kernel.element})"
    lines = [
        f"register_array({name}, {size} * {' * '.join(f'(size_t)({e})' for e in extents)});"
        for name, extents in kernel.extents().items()
    ]
    own = "\n".join([*lines, "begin_library();", kernel.blas, "release_arrays();"])
    text = dataclasses.replace(kernel, blas=own).library()
    return text


def first_line(text: str) -> str:
    """The first line with words in it."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "no message")


def runs(program: pathlib.Path, rounds: int, versions: list[str]) -> dict[str, list[tuple[float, str, float]]]:
    """For each version: seconds, hash and sum of each round."""
    try:
        run = subprocess.run([str(program), str(rounds)], capture_output=True, text=True, timeout=MOST_SECONDS)
    except subprocess.TimeoutExpired:
        raise Failed(f"stopped after {MOST_SECONDS} s") from None
    if run.returncode:
        raise Failed(f"ended with {run.returncode}: {first_line(run.stderr)}")
    found: dict[str, list[tuple[float, str, float]]] = {version: [] for version in versions}
    for line in run.stdout.splitlines():
        at, seconds, hash_, sum_ = line.split()
        found[versions[int(at)]].append((float(seconds), hash_, float(sum_)))
    return found


def compared(program: pathlib.Path, versions: list[str]) -> str:
    """Whether ours has the source's bits."""
    wrong = []
    small = program.with_name(f"{program.name}.small")
    for size, path in (("", program), ("small", small)):
        if path.exists():
            found = runs(path, 1, versions)
            if found["ours"][0][1] != found["source"][0][1]:
                wrong.append(f"{size} {found['ours'][0][2]} for {found['source'][0][2]}".strip())
    return f"DIFFERS: {', '.join(wrong)}" if wrong else "same bits"


def checked(exact: concurrent.futures.Future) -> str:
    """Compares the results of a program that was built."""
    return compared(*exact.result())


def measured(kernel: Kernel, check, timed, arguments) -> dict:
    """The row of a form."""
    row: dict = {"sizes": {name: large for name, (large, _) in kernel.sizes.items()}}
    try:
        row["bits"] = check.result() if check else "not compared"
        if timed:
            program, versions = timed.result()
            found = runs(program, arguments.rounds, versions)
            for version, rounds in found.items():
                row[version] = min(seconds for seconds, _, _ in rounds) * 1e3
            sums = [rounds[0][2] for rounds in found.values()]
            if kernel.equal and not all(math.isclose(own, sums[0], rel_tol=1e-6) for own in sums):
                row["bits"] = f"DIFFERS from cuBLAS: {sums}"
    except Failed as error:
        row["bits"] = str(error)
    return row


def show(kernel: Kernel, form: str, row: dict) -> None:
    """Prints a row."""
    cells = ""
    for version in ("ours", "cublas"):
        rate = f"{kernel.rate() / row[version] / 1e6:11.1f}" if version in row else " " * 11
        cells += (f"{row[version]:11.3f}" if version in row else " " * 11) + rate
    print(f"{kernel.name:15}{form:11}{cells}   {row['bits']}", flush=True)


def main() -> None:
    """Builds all programs, then runs one after the other."""
    arguments = options()
    if lacking := missing():
        print(f"skipped: needs {lacking}")
        return
    name, architecture = device()
    print(f"{name}, {architecture}; milliseconds of the kernels, and GFLOP/s")
    print(f"{'kernel':15}{'form':11}{'ours':>11}{'GFLOP/s':>11}{'cuBLAS':>11}{'GFLOP/s':>11}   bits")
    chosen = [kernel for kernel in forms.KERNELS if not arguments.kernel or kernel.name in arguments.kernel]
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        place = arguments.keep or pathlib.Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        maker = Maker(place, architecture, arguments.scop)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            jobs = []
            for kernel in chosen:
                larger = scaled(kernel, arguments.scale)
                for form in filter(kernel.has, arguments.form or FORMS):
                    exact = pool.submit(maker.build, kernel, form, False) if arguments.check else None
                    timed = pool.submit(maker.build, larger, form, True) if arguments.rounds else None
                    jobs.append((larger, form, exact, timed))
            concurrent.futures.wait([job for row in jobs for job in row[2:] if job])
            # Results need no turns; times do.
            checks = [exact and pool.submit(checked, exact) for _, _, exact, _ in jobs]
            concurrent.futures.wait([check for check in checks if check])
            for (larger, form, _, timed), check in zip(jobs, checks):
                row = measured(larger, check, timed, arguments)
                rows[f"{larger.name} {form}"] = row
                show(larger, form, row)
    wrong = [key for key, row in rows.items() if row["bits"].startswith("DIFFERS")]
    same = sum(row["bits"] == "same bits" for row in rows.values())
    print(f"same bits: {same} of {len(rows)}; other results: {len(wrong)}: {', '.join(wrong)}")
    if arguments.json:
        arguments.json.write_text(json.dumps({"device": name, "rows": rows}, indent=1))
    if wrong:
        sys.exit(1)


if __name__ == "__main__":
    main()
