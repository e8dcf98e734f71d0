"""Whether two commands write the same machine code, function by function.

Each model is written as C by both commands, for each machine, with and without `--exact`; each loop
kernel is rewritten by both. Texts that are equal are the same code. Texts that differ are built by
each compiler, and their functions compared (`objects`): equal functions need no benchmark. A model
that has others is run by both commands here, for equal bits, and timed in turns. A function that has
lost vectors (`vectors`) is a fault before anything is timed.

    cargo xtask same-code --base HEAD~1 --random 1000
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import dataclasses
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile

import corpus
import running
import targets
import vectors
from objects import functions

WAYS = [("exact", ["--exact"]), ("default", [])]
QUICK = pathlib.Path(__file__).with_name("quick-cc")
SECONDS = 300


@dataclasses.dataclass(frozen=True)
class Case:
    """A program, and what it is written for."""

    path: pathlib.Path
    machine: str
    way: str
    options: tuple[str, ...]

    @property
    def is_model(self) -> bool:
        return self.path.suffix == ".onnx"

    def __str__(self) -> str:
        return f"{self.path.stem} ({self.machine}, {self.way})"


@dataclasses.dataclass
class Result:
    """What both commands made of a case."""

    case: Case
    # Why there is no code, where one of the commands or both write none.
    refused: str = ""
    # What is wrong beside other code: one of the commands writes nothing, or what does not compile.
    fault: str = ""
    same_text: bool = False
    # By build: functions that only one of both has.
    differences: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    # By build: functions whose loops fell back to single elements.
    lost: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    functions: int = 0


def written(command: str, case: Case, folder: pathlib.Path) -> tuple[str | None, str]:
    """The C text that a command writes of a case, or nothing and what it said."""
    folder.mkdir()
    output = folder / "code.c"
    arguments = [command, "compile", case.path, "--emit", "c", "-o", output]
    if not case.is_model:
        arguments = [command, "scop", case.path, "-o", output]
    environment = os.environ | {"CC": str(QUICK)}
    done = subprocess.run(
        [*map(str, arguments), "--machine", case.machine, *case.options],
        capture_output=True, text=True, env=environment, timeout=SECONDS,
    )
    if done.returncode:
        return None, done.stderr.strip().replace(str(folder), "")
    return output.read_text(), ""


def built(text: str, build: targets.Build, folder: pathlib.Path) -> list:
    """The functions of a text."""
    source, output = folder / "code.c", folder / "code.o"
    source.write_text(text)
    subprocess.run([*build.command, source, "-o", output], check=True, capture_output=True, timeout=SECONDS)
    return functions(output)


def slower(texts: tuple[str, str], build: targets.Build, machine: str, folder: pathlib.Path) -> list[str]:
    """The functions of the second text that have lost vectors that those of the first have."""
    family, _ = targets.MACHINES[machine]
    source, found = folder / "code.c", []
    for text in texts:
        source.write_text(text)
        found.append(vectors.listed(source, build, family))
    return vectors.lost(*found)


def compared(case: Case, commands: tuple[str, str], every: bool) -> Result:
    """Compares what two commands make of a case."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (before, reason), (after, other) = (
            written(command, case, root / str(at)) for at, command in enumerate(commands))
        if before is None or after is None:
            differ = (before is None) != (after is None)
            fault = f"written by one of both: {reason or other}" if differ else ""
            return Result(case, refused=reason, fault=fault)
        if before == after:
            return Result(case, same_text=True)
        result = Result(case)
        for build in targets.builds(case.machine, case.way == "exact", every):
            try:
                ours, theirs = (built(text, build, root) for text in (before, after))
            except subprocess.CalledProcessError as error:
                said = error.stderr.decode(errors="replace").strip().splitlines()
                result.fault = f"{build.name} refuses what one of both writes: {said[-1] if said else error}"
                return result
            counts = collections.Counter(one.identity for one in ours)
            counts.subtract(one.identity for one in theirs)
            names = [f"-{one.name}" for one in ours if counts[one.identity] > 0]
            names += [f"+{one.name}" for one in theirs if counts[one.identity] < 0]
            result.functions = max(result.functions, len(ours))
            if names:
                result.differences[build.name] = names
                if lost := slower((before, after), build, case.machine, root):
                    result.lost[build.name] = lost
        return result


def cases(options: argparse.Namespace, folder: pathlib.Path):
    """All cases, programs of one kind after the other."""
    own = itertools.chain(corpus.models(options.models), [] if options.no_networks else corpus.networks(folder))
    seeds = iter(range(options.seed, options.seed + options.random))
    programs = itertools.chain(own, corpus.random(folder, seeds, options.size))
    for path in programs:
        for machine in options.machines:
            for way, flags in WAYS:
                yield Case(path, machine, way, tuple(flags))
    if not options.no_kernels:
        for path in corpus.kernels(folder):
            for machine in options.machines:
                yield Case(path, machine, "default", ())


def arguments() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", required=True, help="the command that is trusted")
    parser.add_argument("--after", required=True, help="the command that is judged")
    parser.add_argument("--models", type=pathlib.Path, action="append", default=[], metavar="DIR")
    parser.add_argument("--random", type=int, default=100, metavar="N", help="how many random models")
    parser.add_argument("--seed", type=int, default=0, help="the first random model")
    parser.add_argument("--size", type=int, default=6, help="about how many nodes one has")
    parser.add_argument("--machines", nargs="+", choices=targets.MACHINES, default=list(targets.MACHINES))
    parser.add_argument("--every", action="store_true", help="-O2 and a compiler's default flags as well")
    parser.add_argument("--no-networks", action="store_true")
    parser.add_argument("--no-kernels", action="store_true")
    parser.add_argument("--rounds", type=int, default=20, help="pairs of runs of what differs")
    return parser.parse_args()


def table(results: list[Result]) -> None:
    """Prints how many programs are the same, by machine and way."""
    print(f"{'machine':10}{'way':10}{'programs':>10}{'no code':>10}{'same text':>11}{'same code':>11}{'other':>8}")
    groups = collections.defaultdict(list)
    for result in results:
        groups[result.case.machine, result.case.way].append(result)
    for (machine, way), group in groups.items():
        refused = sum(bool(one.refused) for one in group)
        text = sum(one.same_text for one in group)
        other = sum(bool(one.differences or one.fault) for one in group)
        same = len(group) - refused - text - other + sum(bool(one.refused and one.fault) for one in group)
        print(f"{machine:10}{way:10}{len(group):10}{refused:10}{text:11}{same:11}{other:8}")


def main() -> int:
    """Compares, prints, and runs what differs."""
    options = arguments()
    for name in targets.missing():
        print(f"left out, not installed: {name}")
    commands = (options.before, options.after)
    results = []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        waiting = []
        for case in cases(options, pathlib.Path(folder)):
            waiting.append(pool.submit(compared, case, commands, options.every))
        for one in waiting:
            result = one.result()
            results.append(result)
            if result.fault:
                print(f"{result.case}: {result.fault}")
            for build, names in result.differences.items():
                print(f"{result.case}, {build}: {len(names)} of {result.functions}: {' '.join(names[:6])}")
            for build, names in result.lost.items():
                print(f"{result.case}, {build}: lost vectors: {'; '.join(names[:6])}")
        table(results)
        differ = [one.case for one in results if one.differences and one.case.is_model]
        faults = [one for one in results if one.fault or one.lost]
        wrong = running.judged(differ, commands, options.rounds)
    return 1 if faults or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
