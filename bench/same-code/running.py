"""Models whose code differs: both commands run them here, for equal bits, and in turns for time."""

from __future__ import annotations

import json
import pathlib
import statistics
import subprocess
import tempfile

import numpy as np

# What two commands may differ in before it is said, as a ratio of times.
MARGIN = 0.01
TIMEOUT = 600


def run(command: str, path: pathlib.Path, options: list[str], output: pathlib.Path | None = None) -> dict:
    """Runs a model once as a session does, on made-up inputs; returns what `--json` says."""
    arguments = [command, "run", str(path), "--random", "--seed", "1", "--threads", "1", "--json", *options]
    if output is not None:
        arguments += ["-o", str(output)]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=TIMEOUT)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    return json.loads(done.stdout)


def same_bits(commands: tuple[str, str], path: pathlib.Path, options: list[str]) -> bool:
    """Whether both commands compute the same bits."""
    with tempfile.TemporaryDirectory() as folder:
        found = []
        for at, command in enumerate(commands):
            output = pathlib.Path(folder) / f"{at}.npz"
            run(command, path, options, output)
            with np.load(output, allow_pickle=False) as arrays:
                found.append({name: (a.dtype, a.shape, a.tobytes()) for name, a in arrays.items()})
        return found[0] == found[1]


def ratio(commands: tuple[str, str], path: pathlib.Path, options: list[str], rounds: int) -> float:
    """The time of the second command over that of the first: the median of pairs, each in turn first."""
    ratios = []
    for at in range(rounds):
        order = commands if at % 2 == 0 else commands[::-1]
        times = {command: run(command, path, [*options, "--runs", "20"])["seconds"] for command in order}
        ratios.append(times[commands[1]] / times[commands[0]])
    return statistics.median(ratios)


def judged(cases: list, commands: tuple[str, str], rounds: int) -> int:
    """Runs cases whose code differs and prints what came; returns how many have other bits."""
    wrong = 0
    seen = set()
    for case in cases:
        key = (case.path, case.way)
        if key in seen:
            continue
        seen.add(key)
        options = list(case.options)
        same = same_bits(commands, case.path, options)
        wrong += not same
        line = f"{case.path.stem:32}{case.way:10}{'same bits' if same else 'OTHER BITS':12}"
        if rounds:
            took = ratio(commands, case.path, options, rounds)
            line += f"{took:8.3f}{'  slower' if took > 1 + MARGIN else ''}"
        print(line.rstrip())
    return wrong
