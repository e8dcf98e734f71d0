"""Measures how time and memory of `tangram opt` grow with the graph.

    cargo xtask bench rewrite-scale [--nodes N]... [--rounds N] [--json FILE]

Models come from bench/onnx/scale.py. Near-linear growth shows as a constant column of
microseconds per node.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import shlex
import statistics
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "onnx"))
import measure  # noqa: E402: both benchmarks run their commands the same way
import scale  # noqa: E402

NODES = (1_000, 10_000, 100_000, 1_000_000)
# Taken from the command's own report; the rest of the time is the start of the process.
STEPS = ("load", "optimise", "save")


def options() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, action="append", help="sizes; several when not given")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for one run")
    parser.add_argument("--tangram-args", default="", help="more arguments for `tangram opt`")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    return parser.parse_args()


def once(command: pathlib.Path, source: pathlib.Path, arguments: argparse.Namespace) -> dict:
    """Runs the command once on one model."""
    target, said = source.with_name("out.onnx"), source.with_name("report.json")
    words = [str(command), "opt", str(source), "-o", str(target), "--json", str(said), "--steps", "0"]
    ran = measure.run(words + shlex.split(arguments.tangram_args), arguments.limit)
    if not ran.ok:
        return {"failed": f"{ran.ended}: {ran.output.strip()[-300:]}"}
    told = json.loads(said.read_text()).get("seconds", {}) if said.exists() else {}
    steps = {step: told.get(step, 0.0) for step in STEPS}
    return {
        "seconds": ran.seconds,
        "steps": steps,
        "peak_bytes": ran.peak_bytes,
        "peak_anonymous_bytes": ran.peak_anonymous_bytes,
    }


def measure_size(count: int, command: pathlib.Path, arguments: argparse.Namespace) -> dict:
    """Builds the model of one size and takes the median of its runs."""
    with tempfile.TemporaryDirectory(prefix="tangram-scale-") as folder:
        source = pathlib.Path(folder) / "in.onnx"
        source.write_bytes(scale.build(count).SerializeToString(deterministic=True))
        runs = [once(command, source, arguments) for _ in range(arguments.rounds)]
    bad = [run for run in runs if "failed" in run]
    if bad:
        return {"nodes": count} | bad[0]
    result = {"nodes": count, "seconds": statistics.median(run["seconds"] for run in runs)}
    for step in STEPS:
        result[step] = statistics.median(run["steps"][step] for run in runs)
    result["peak_bytes"] = max(run["peak_bytes"] for run in runs)
    result["peak_anonymous_bytes"] = max(run["peak_anonymous_bytes"] for run in runs)
    return result


def row(result: dict) -> str:
    """Shows one size."""
    if "failed" in result:
        return f"{result['nodes']:>9}  {result['failed']}"
    steps = "".join(f"{result[step]:>10.3f}" for step in STEPS)
    each = 1e6 * result["seconds"] / result["nodes"]
    peak = f"{result['peak_bytes'] / 1e6:>9.0f}{result['peak_anonymous_bytes'] / 1e6:>9.0f}"
    return f"{result['nodes']:>9}{result['seconds']:>10.3f}{steps}{each:>9.2f}{peak}"


def main() -> int:
    """Runs all sizes and prints a table."""
    arguments = options()
    command = pathlib.Path(os.environ.get("TANGRAM_BIN", ROOT / "target" / "dist" / "tangram"))
    if not command.exists():
        print(f"tangram: absent (no command at {command})")
        return 1
    steps = "".join(f"{step + ' s':>12}"[-10:] for step in STEPS)
    print(f"{'nodes':>9}{'total s':>10}{steps}{'us/node':>9}{'MB':>9}{'anon MB':>9}")
    results = []
    for count in arguments.nodes or NODES:
        results.append(measure_size(count, command, arguments))
        print(row(results[-1]), flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1) + "\n")
    return int(any("failed" in result for result in results))


if __name__ == "__main__":
    sys.exit(main())
