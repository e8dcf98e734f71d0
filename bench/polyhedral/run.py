"""Measures dataflow, scheduling and code generation against isl, and kernels against compilers.

    cargo xtask bench polyhedral [--rounds N] [--kernel NAME]... [--input FILE]...
        [--only tools|growth|kernels|threads|forms|general] [--form NAME]...
        [--seed N] [--json FILE]

Kernels run on one thread; a row has the medians of processor time in milliseconds, runs of all
forms taking turns, and how many times faster ours is than the plain compiler. Then they run on two
threads, by wall time: ours with `--parallel`, compilers as written, Polly with -polly-parallel.
OpenBLAS stands beside the kernels that it has, where it is installed. Tools run on
isl's own inputs, which are read from the folder in `ISL_TESTS` (test_inputs of isl) or from the
checkout of the crate isl-rs, and on a matrix product in tiles (tiled.py); without isl's inputs this
half is said to be skipped. Both sides are library calls, from text to text, inside one process each,
the least processor time of all rounds, which take turns: isl's in this one, ours in the example
`measure` of the crate, built when `TANGRAM_MEASURE` names none.

`--only forms` has all 30 kernels of the PolyBench set in words of our own, and a product and a
convolution of single precision, each in four forms, some in a fifth (description.py); every version's results are compared bit for bit, compiled without fused operations.
`CLANG`, `POLLY` and `BLAS` in the environment are words that compile where the usual ones do not.

`--only general` has kernels of other kinds, one of each, and 200 nests drawn at random (general.py).

`--only growth` is a table of the time of schedules by the number of statements, up to 1,000, for
programs of several shapes (growth.py). isl runs in a process of its own, up to 60 s a program, and
is not asked for more statements of a shape once it was stopped.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import forms as all_forms  # noqa: E402
import general  # noqa: E402
import growth  # noqa: E402
import kernels  # noqa: E402
import tiled  # noqa: E402

FLAGS = ["-O3", "-march=native"]
COMPILERS = {"gcc": ["gcc"], "clang": ["clang", "clang-19", "clang-22"]}
POLLY = ["clang-19"]


def options() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--kernel", action="append", help="kernels; all when not given")
    parser.add_argument("--only", choices=("tools", "growth", "kernels", "threads", "forms", "general"))
    parser.add_argument("--form", action="append", choices=all_forms.FORMS, help="forms; all when not given")
    parser.add_argument("--scop", action="append", default=[], help="a word for `tangram scop`")
    parser.add_argument("--flag", action="append", default=[], help="a word for all compilers")
    parser.add_argument("--no-check", dest="check", action="store_false", help="compare no bits")
    parser.add_argument("--keep", help="a folder where the programs of --only forms stay")
    parser.add_argument("--input", action="append", help="inputs of tools by name; all when not given")
    parser.add_argument("--generated", type=pathlib.Path, help="kernels with new loops, made before")
    parser.add_argument("--seed", type=int, default=1, help="of the nests of --only general")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    return parser.parse_args()


def found(names: list[str]) -> str | None:
    """The first of these commands that is installed."""
    return next((path for name in names if (path := shutil.which(name))), None)


def forms(threads: bool) -> dict[str, tuple[str, list[str]]]:
    """For each form of a kernel: whose loops it has, and the compiler's words."""
    result = {}
    parallel = ["-fopenmp"] if threads else []
    for name, commands in COMPILERS.items():
        if compiler := found(commands):
            result[name] = ("theirs", [compiler, *FLAGS])
            if compiles([compiler, *FLAGS, *parallel]):
                result[f"ours {name}"] = ("ours", [compiler, *FLAGS, *parallel])
            else:
                print(f"skipped: needs {name} with OpenMP")
        else:
            print(f"skipped: needs {name}")
    polly = found(POLLY)
    words = [polly, *FLAGS, "-mllvm", "-polly"] if polly else []
    if threads and polly:
        words += ["-mllvm", "-polly-parallel", "-lgomp"]
    if polly and compiles(words):
        result["polly"] = ("theirs", words)
    else:
        print("skipped: needs clang-19 with Polly")
    blas = [found(COMPILERS["gcc"]) or "cc", *FLAGS, "-lopenblas"]
    if compiles(blas):
        result["openblas"] = ("blas", blas)
    else:
        print("skipped: needs OpenBLAS")
    return result


def run_forms(arguments: argparse.Namespace) -> dict:
    """Measures all kernels in all forms."""
    compilers = {"gcc": [found(["gcc", "cc"]) or "cc"]}
    clang = os.environ.get("CLANG", found(COMPILERS["clang"]) or "").split()
    polly = os.environ.get("POLLY", "").split() or [*[found(POLLY) or "clang-19"], "-mllvm", "-polly"]
    for name, words in (("clang", clang), ("polly", polly)):
        if words and shutil.which(words[0]) and compiles(words):
            compilers[name] = words
        else:
            print(f"skipped: needs {name}")
    blas = os.environ.get("BLAS", "-lopenblas").split()
    if not compiles([*compilers["gcc"], *blas], "#include <cblas.h>\n"):
        print("skipped: needs OpenBLAS")
        blas = None
    return all_forms.run(arguments, compilers, [*FLAGS, *arguments.flag], blas)


def run_general(arguments: argparse.Namespace) -> dict:
    """Measures kernels of other kinds and random nests by all compilers that are there."""
    commands = {name: found(commands) for name, commands in COMPILERS.items()}
    compilers = {name: [command] for name, command in commands.items() if command}
    return general.run(arguments, compilers, [*FLAGS, *arguments.flag])


def compiles(words: list[str], head: str = "") -> bool:
    """Whether a compiler takes these words."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "empty.c"
        source.write_text(f"{head}int main(void) {{ return 0; }}\n")
        words = [*words, str(source), "-o", f"{folder}/empty"]
        return subprocess.run(words, capture_output=True).returncode == 0


def rewritten(name: str, folder: pathlib.Path, generated: pathlib.Path | None, threads: bool) -> pathlib.Path:
    """The kernel with our loops."""
    if generated and not threads:
        return generated / f"{name}.c"
    path = folder / f"{name}.ours.c"
    command = os.environ["TANGRAM_BIN"]
    words = [command, "scop", kernels.FOLDER / f"{name}.c", "-o", path]
    subprocess.run([*words, "--parallel"] if threads else words, check=True)
    return path


def build(
    name: str, folder: pathlib.Path, generated: pathlib.Path | None, threads: bool, forms_found: dict
) -> dict[str, pathlib.Path]:
    """Compiles all forms of a kernel."""
    source = kernels.FOLDER / f"{name}.c"
    main = folder / f"{name}.main.c"
    main.write_text(kernels.driver(source.read_text(), name))
    blas = folder / f"{name}.blas.c"
    blas.write_text(kernels.BLAS.get(name, ""))
    files = {"theirs": source, "ours": rewritten(name, folder, generated, threads), "blas": blas}
    same = files["ours"].read_text() == source.read_text()
    binaries = {}
    for form, (whose, words) in forms_found.items():
        if (whose == "ours" and same) or (whose == "blas" and name not in kernels.BLAS):
            continue
        binaries[form] = folder / f"{name}.{form.replace(' ', '-')}"
        compiler, *flags = words
        words = [compiler, "-w", str(files[whose]), str(main), *flags, "-lm", "-o", str(binaries[form])]
        subprocess.run(words, check=True)
    return binaries


def measure(binaries: dict[str, pathlib.Path], rounds: int, threads: bool) -> dict[str, float]:
    """Median milliseconds of each form, runs taking turns; results must agree."""
    count = "2" if threads else "1"
    environment = {**os.environ, "OMP_NUM_THREADS": count, "OPENBLAS_NUM_THREADS": count}
    times: dict[str, list[float]] = {form: [] for form in binaries}
    sums = {}
    for _ in range(rounds):
        for form, binary in binaries.items():
            cpu, wall, total = subprocess.check_output([str(binary)], text=True, env=environment).split()
            times[form].append(float(wall if threads else cpu) * 1e3)
            sums[form] = float(total)
    first = next(iter(sums.values()))
    for form, total in sums.items():
        if not math.isclose(total, first, rel_tol=1e-9):
            raise SystemExit(f"{form} computes {total}, not {first}")
    return {form: statistics.median(values) for form, values in times.items()}


def run_kernels(chosen: list[str], rounds: int, generated: pathlib.Path | None, threads: bool) -> dict:
    """Measures kernels and prints a row for each."""
    rows = {}
    forms_found = forms(threads)
    print("wall time on two threads" if threads else "processor time on one thread")
    print(f"{'kernel':16}" + "".join(f"{form:>12}" for form in forms_found) + "   faster")
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen:
            binaries = build(name, pathlib.Path(folder), generated, threads, forms_found)
            medians = measure(binaries, rounds, threads)
            rows[name] = medians
            absent = {"ours": "as is"}
            cells = [
                f"{medians[form]:12.2f}" if form in medians else f"{absent.get(whose, ''):>12}"
                for form, (whose, _) in forms_found.items()
            ]
            gains = [
                f"{medians[form] / medians[f'ours {form}']:.2f}x {form}"
                for form in COMPILERS
                if f"ours {form}" in medians
            ]
            print(f"{name:16}" + "".join(cells) + "   " + ", ".join(gains), flush=True)
    for form in COMPILERS:
        ratios = [row[form] / row.get(f"ours {form}", row[form]) for row in rows.values() if form in row]
        if ratios:
            print(f"against {form}: {statistics.geometric_mean(ratios):.2f} times faster in the mean")
    return rows


def keys(text: str) -> dict[str, str]:
    """The values of a file's outermost keys, without quotes."""
    pieces = re.split(r"^(\w+):", text, flags=re.MULTILINE)[1:]
    values = dict(zip(pieces[::2], pieces[1::2]))
    return {key: value if key == "schedule" else value.strip().strip("\"") for key, value in values.items()}


def isl_calls(isl, folder: pathlib.Path, products: list[pathlib.Path]) -> list[tuple[str, pathlib.Path, object]]:
    """What isl does for each input, beside the verb of ours."""

    def schedule_of(path: pathlib.Path):
        return isl.Schedule.read_from_str(isl.DEFAULT_CONTEXT, path.read_text())

    def code(path: pathlib.Path) -> None:
        isl.AstBuild.alloc(isl.DEFAULT_CONTEXT).node_from_schedule(schedule_of(path)).to_C_str()

    def map_code(path: pathlib.Path) -> None:
        text = re.sub("#.*", "", path.read_text())
        schedule, context, choices = re.split(r"(?<=})\s*", text.strip())[:3]
        build = isl.AstBuild.from_context(isl.Set.read_from_str(isl.DEFAULT_CONTEXT, context))
        build = build.set_options(isl.UnionMap.read_from_str(isl.DEFAULT_CONTEXT, choices))
        schedule = isl.UnionMap.read_from_str(isl.DEFAULT_CONTEXT, schedule)
        build.node_from_schedule_map(schedule).to_C_str()

    def schedule(path: pathlib.Path) -> None:
        constraints = isl.ScheduleConstraints.read_from_str(isl.DEFAULT_CONTEXT, path.read_text())
        constraints.compute_schedule().to_str()

    def flow(path: pathlib.Path) -> None:
        parts = keys(path.read_text())
        context = isl.DEFAULT_CONTEXT

        def relation(key: str):
            return isl.UnionMap.read_from_str(context, parts.get(key, "{ }"))

        access = isl.UnionAccessInfo.from_sink(relation("sink"))
        access = access.set_must_source(relation("must_source")).set_may_source(relation("may_source"))
        access = access.set_kill(relation("kill"))
        if "schedule" in parts:
            access = access.set_schedule(isl.Schedule.read_from_str(context, parts["schedule"]))
        else:
            access = access.set_schedule_map(relation("schedule_map"))
        result = access.compute_flow()
        found = [result.get_may_dependence(), result.get_must_dependence()]
        found += [result.get_may_no_source(), result.get_must_no_source()]
        for union in found:
            union.to_str()

    jobs = [("codegen", code, "codegen/**/*.st"), ("map", map_code, "codegen/**/*.in")]
    jobs += [("schedule", schedule, "schedule/*.sc"), ("flow", flow, "flow/*.ai")]
    calls = [(verb, path, call) for verb, call, glob in jobs for path in sorted(folder.glob(glob))]
    return calls + [("tiled", path, code) for path in products]


class Ours:
    """Our library in a process that stays."""

    def __init__(self) -> None:
        self.process = subprocess.Popen([measurer()], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        # Linux' clock of the processor time of another process.
        self.clock = (~self.process.pid << 3) | 2
        self.idle = 1 << 63

    def call(self, verb: str, path: pathlib.Path) -> float:
        """Processor time of a call in milliseconds, the request and its answer not counted."""
        _, time_idle = self.timed("none", path)
        self.idle = min(self.idle, time_idle)
        answer, time_busy = self.timed("codegen" if verb == "tiled" else verb, path)
        if not answer.isdigit():
            raise ValueError(answer or "the process ended")
        return max(time_busy - self.idle, 1) / 1e6

    def timed(self, verb: str, path: pathlib.Path) -> tuple[str, int]:
        """The answer to a request, and nanoseconds of processor time."""
        start = time.clock_gettime_ns(self.clock)
        answer = self.request(verb, path)
        return answer, time.clock_gettime_ns(self.clock) - start

    def request(self, verb: str, path: pathlib.Path) -> str:
        """Sends a line and waits for the answer."""
        self.process.stdin.write(f"{verb} {path}\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()


def measurer() -> str:
    """The binary of the example `measure`."""
    if path := os.environ.get("TANGRAM_MEASURE"):
        return path
    root = pathlib.Path(__file__).resolve().parents[2]
    words = ["cargo", "build", "--profile", "dist", "--package", "tangram-polyhedral", "--example", "measure"]
    output = subprocess.check_output([*words, "--message-format", "json"], cwd=root, text=True)
    messages = [json.loads(line) for line in output.splitlines()]
    return next(m["executable"] for m in reversed(messages) if m.get("executable"))


def isl_inputs() -> pathlib.Path | None:
    """isl's test inputs."""
    if folder := os.environ.get("ISL_TESTS"):
        return pathlib.Path(folder)
    home = pathlib.Path(os.environ.get("CARGO_HOME", pathlib.Path.home() / ".cargo"))
    return next(iter(sorted(home.glob("registry/src/*/isl-rs-*/isl/test_inputs"))), None)


def run_tools(rounds: int, chosen: list[str] | None) -> dict:
    """Measures our calls and isl's on isl's inputs."""
    try:
        import islpy as isl
    except ImportError:
        print("skipped: needs islpy")
        return {}
    folder = isl_inputs()
    if not folder:
        print("skipped: needs isl's test_inputs in ISL_TESTS")
        return {}
    with tempfile.TemporaryDirectory() as products:
        calls = isl_calls(isl, folder, tiled.write(pathlib.Path(products)))
        calls = [call for call in calls if not chosen or call[1].name in chosen]
        return compare(isl, calls, rounds)


def compare(isl, calls: list[tuple[str, pathlib.Path, object]], rounds: int) -> dict:
    """Runs calls of both libraries in turns and prints a row for each."""
    ours_process = Ours()
    rows, ratios, totals = {}, {}, {}
    for verb, path, call in calls:
        ours, theirs = [], []
        try:
            for _ in range(rounds):
                start = time.process_time_ns()
                call(path)
                theirs.append((time.process_time_ns() - start) / 1e6)
                ours.append(ours_process.call(verb, path))
                if ours[0] > 1000:
                    break
        except (isl.Error, ValueError) as error:
            print(f"{verb:9} {path.name:32} failed: {str(error)[:80]}", flush=True)
            continue
        row = (min(ours), min(theirs))
        rows[f"{verb} {path.name}"] = row
        ratios.setdefault(verb, []).append(row[1] / row[0])
        totals[verb] = [sum(pair) for pair in zip(totals.get(verb, (0, 0)), row)]
        print(f"{verb:9} {path.name:32} {row[0]:9.2f} ms, isl {row[1]:9.2f} ms, {row[1] / row[0]:.2f}x", flush=True)
    for verb, values in ratios.items():
        slower = sum(value < 1 for value in values)
        print(
            f"{verb}: {statistics.geometric_mean(values):.2f} times as fast as isl in the mean of "
            f"{len(values)}, slower on {slower}; all together {totals[verb][0]:.0f} ms, isl {totals[verb][1]:.0f} ms"
        )
    return rows


ISL_SCHEDULE = """
import sys, time, islpy as isl
text = open(sys.argv[1]).read()
start = time.process_time()
isl.ScheduleConstraints.read_from_str(isl.DEFAULT_CONTEXT, text).compute_schedule().to_str()
print(time.process_time() - start)
"""


def isl_schedule(path: pathlib.Path) -> float | None:
    """Seconds that isl's schedule takes; nothing if it is stopped."""
    words = [sys.executable, "-c", ISL_SCHEDULE, str(path)]
    try:
        return float(subprocess.run(words, capture_output=True, text=True, timeout=60, check=True).stdout)
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
        return None


def run_growth() -> dict:
    """Prints seconds by shape, depth and statements, ours beside isl's."""
    ours_process = Ours()
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "problem.sc"
        for shape in growth.SHAPES:
            for depth in (2, 3):
                ended = True
                for count in growth.SIZES:
                    path.write_text(growth.problem(shape, count, depth))
                    theirs = isl_schedule(path) if ended else None
                    ended = theirs is not None
                    ours = ours_process.call("schedule", path) / 1e3
                    rows[f"{shape} {depth} {count}"] = (ours, theirs)
                    beside = f"{theirs:8.3f} s, {theirs / ours:7.2f}x" if ended else "stopped or not asked"
                    print(f"{shape:8} depth {depth} {count:5} statements {ours:8.3f} s, isl {beside}", flush=True)
    return rows


if __name__ == "__main__":
    arguments = options()
    report = {}
    names = [name for name in kernels.SIZES if not arguments.kernel or name in arguments.kernel]
    if arguments.only in (None, "tools"):
        report["tools"] = run_tools(arguments.rounds, arguments.input)
    if arguments.only in (None, "growth"):
        report["growth"] = run_growth()
    if arguments.only in (None, "kernels"):
        report["kernels"] = run_kernels(names, arguments.rounds, arguments.generated, False)
    if arguments.only in (None, "threads"):
        report["threads"] = run_kernels(names, arguments.rounds, arguments.generated, True)
    if arguments.only in (None, "forms"):
        report["forms"] = run_forms(arguments)
    if arguments.only in (None, "general"):
        report["general"] = run_general(arguments)
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=1))
