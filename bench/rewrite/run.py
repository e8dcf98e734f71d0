"""Measures parsing, canonicalisation and conversion against `mlir-opt` on the same files.

    cargo xtask bench rewrite [--count N]... [--rounds N] [--json FILE]

Runs of both take turns; a row has the medians of what each says of its own time, in
milliseconds, and the ratio. `mlir-opt` runs on one thread, its conversion without rollback.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import generate  # noqa: E402

PEERS = ("mlir-opt-22", "mlir-opt")
CANONICALIZE = "builtin.module(func.func(canonicalize))"
SCF_TO_CF = "builtin.module(func.func(convert-scf-to-cf{}))"
JOBS = [(kind, CANONICALIZE, CANONICALIZE, "canonicalize") for kind in (*generate.CHAIN, "mixed")]
JOBS += [
    (
        "loops",
        SCF_TO_CF.format(""),
        SCF_TO_CF.format("{allow-pattern-rollback=0}"),
        "convert-scf-to-cf",
    )
]
# What `mlir-opt` calls the passes in its list of times.
THEIR_NAMES = {"canonicalize": "Canonicalizer", "convert-scf-to-cf": "SCFToControlFlowPass"}
# A chain of sums takes `mlir-opt` minutes with locations: see the rows without.
SLOW = {("assoc", 500_000), ("assoc", 50_000)}


def options() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, action="append", help="operations; 50000 and 500000")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--kind", action="append", help="programs; all when not given")
    parser.add_argument("--slow", action="store_true", help="also what takes `mlir-opt` minutes")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    return parser.parse_args()


def said(words: list[str]) -> str:
    """What a command says on standard error."""
    ran = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if ran.returncode:
        raise SystemExit(f"{' '.join(words)} failed:\n{ran.stderr[-2000:]}")
    return ran.stderr


def ours(command: str, file: pathlib.Path, pipeline: str, name: str) -> tuple[float, float]:
    """Milliseconds of parsing and of the pass."""
    words = [command, "rewrite", str(file), "--pass-pipeline", pipeline, "--time-passes"]
    text = said([*words, "--no-verify", "-o", f"{file}.out"])
    times = {what: float(ms) for ms, what in re.findall(r"([\d.]+) ms +([\w-]+)", text)}
    return times["parse"], times[name]


def theirs(command: str, file: pathlib.Path, pipeline: str, name: str) -> tuple[float, float]:
    """As `ours`, of `mlir-opt`."""
    words = [command, str(file), f"--pass-pipeline={pipeline}", "--mlir-timing"]
    words += ["--mlir-timing-display=list", "--mlir-disable-threading", "--verify-each=0"]
    text = said([*words, "-o", os.devnull])
    times = {what: float(s) * 1e3 for s, what in re.findall(r"([\d.]+) \([^)]*\) +(\w+)", text)}
    return times["Parser"], times[THEIR_NAMES[name]]


def measure(job: tuple, count: int, commands: tuple[str, str | None], rounds: int) -> dict:
    """The medians of one program."""
    kind, pipeline, their_pipeline, name = job
    with tempfile.TemporaryDirectory(prefix="tangram-bench-") as folder:
        file = pathlib.Path(folder) / f"{kind}.mlir"
        file.write_text(generate.program(kind, count))
        pairs = []
        for _ in range(rounds):
            mine = ours(commands[0], file, pipeline, name)
            their = (None, None)
            if commands[1]:
                their = theirs(commands[1], file, their_pipeline, name)
            pairs.append((*mine, *their))
    columns = list(zip(*pairs))
    middle = [statistics.median(column) if None not in column else None for column in columns]
    row = dict(zip(("parse", "pass", "their_parse", "their_pass"), middle))
    return {"program": kind, "operations": count, "what": name, **row}


def show(row: dict) -> str:
    """A line of the table."""
    cells = [f"{row['program']:<7} {row['operations']:>8} {row['what']:<18}"]
    for ours_at, theirs_at in (("parse", "their_parse"), ("pass", "their_pass")):
        mine, their = row[ours_at], row[theirs_at]
        peer = "absent" if their is None else f"{their:9.1f}"
        ratio = "" if their is None else f"{mine / max(their, 1e-3):6.2f}"
        cells.append(f"{mine:9.1f} {peer:>9} {ratio:>6}")
    return "  ".join(cells)


def main() -> None:
    """Measures everything and prints the table."""
    arguments = options()
    command = os.environ.get("TANGRAM_BIN") or shutil.which("tangram")
    if not command:
        raise SystemExit("set TANGRAM_BIN to the built command")
    peer = next((path for name in PEERS if (path := shutil.which(name))), None)
    print(f"peer: {peer or 'mlir-opt is absent'}")
    print(f"{'program':<7} {'count':>8} {'pass':<18}  {'parse ms':>9} {'theirs':>9} {'ratio':>6}"
          f"  {'pass ms':>9} {'theirs':>9} {'ratio':>6}")
    rows = []
    for count in arguments.count or (50_000, 500_000):
        for job in JOBS:
            if arguments.kind and job[0] not in arguments.kind:
                continue
            asked = None if (job[0], count) in SLOW and not arguments.slow else peer
            row = measure(job, count, (command, asked), arguments.rounds)
            rows.append(row)
            print(show(row), flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
