"""Optimises real models with every peer and with ours, side by side in one run.

    cargo xtask bench onnx [--models DIR] [--only REGEX] [--rounds N] [--latency N] [--json FILE]

Each optimiser runs in a process of its own, in turn on each model, the turns interleaved and their
order rotated; medians count. Time is that of load, optimise and save; the start of the process
stands apart. Processor time stands beside it, since a machine with other work to do stretches the
time of whoever waits; of ours it is that of the whole process, start included. A result counts
where it is right (against unoptimised onnxruntime), passes onnx's checker, has the interface of the
original and no operator of a vendor's domain.

Ours is there twice: with its defaults, and once without its limit on what a folded constant may
add (`tangram_folded`), as peers fold. Nodes are compared of the latter, time of the former.
`--latency` runs every right result under onnxruntime, with its defaults and one thread.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import pathlib
import re
import shlex
import statistics
import sys
import tempfile

import collection
import measure
import peers
import report

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
OURS, FOLDED = report.OURS, report.FOLDED


def options() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=pathlib.Path, action="append", default=[], metavar="DIR")
    parser.add_argument("--no-packages", action="store_true", help="leave out what wheels carry that are downloaded")
    parser.add_argument("--no-converters", action="store_true", help="leave out what is converted")
    parser.add_argument("--only", default="", metavar="REGEX", help="models by name")
    parser.add_argument("--peers", help="comma-separated; all when not given")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for one run")
    parser.add_argument("--latency", type=int, default=0, metavar="N", help="run each result N times")
    parser.add_argument("--tangram-args", default="", help="more arguments for `tangram opt`")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    return parser.parse_args()


def choose_models(arguments: argparse.Namespace) -> dict[str, pathlib.Path]:
    """Gathers the models, by name."""
    found = collection.from_onnx()
    if not arguments.no_packages:
        more, absent = collection.from_packages(ROOT / "target" / "bench-models")
        for requirement in absent:
            print(f"absent: models of {requirement}")
        found |= more
    if not arguments.no_converters:
        converted, absent = collection.from_converters(ROOT / "target" / "bench-models")
        for converter in absent:
            print(f"absent: models of {converter}")
        found |= converted
    for folder in arguments.models:
        found |= collection.from_folder(folder)
    return {name: path for name, path in found.items() if re.search(arguments.only, name)}


def our_command() -> pathlib.Path | None:
    """Finds the built command."""
    named = pathlib.Path(os.environ.get("TANGRAM_BIN", ROOT / "target" / "dist" / "tangram"))
    return named if named.exists() else None


def optimise(name: str, source: pathlib.Path, target: pathlib.Path, arguments) -> dict:
    """Runs one optimiser on one model in a process of its own."""
    if name in (OURS, FOLDED):
        return _optimise_ours(name, source, target, arguments)
    command = [sys.executable, str(HERE / "peers.py"), name, str(source), str(target)]
    ran = measure.run(command, arguments.limit)
    if not ran.ok or not target.exists():
        return _failed(ran)
    # A peer may print on its own, before and after.
    told = json.loads(next(x for x in ran.output.splitlines() if x.startswith('{"seconds"')))
    work = sum(told["seconds"].values())
    told |= {"work": work, "start": ran.seconds - work}
    return told | {"peak_anonymous_bytes": ran.peak_anonymous_bytes}


def _optimise_ours(name: str, source: pathlib.Path, target: pathlib.Path, arguments) -> dict:
    said = target.with_suffix(".json")
    command = [str(our_command()), "opt", str(source), "-o", str(target)]
    # Figures are wanted, not an account of each change.
    command += ["--json", str(said), "--steps", "0"]
    command += ["--fold-limit", "none"] if name == FOLDED else []
    ran = measure.run(command + shlex.split(arguments.tangram_args), arguments.limit)
    if not ran.ok or not target.exists():
        return _failed(ran)
    told = json.loads(said.read_text()) if said.exists() else {}
    seconds = {
        step: told.get("seconds", {}).get(step) for step in ("load", "optimise", "save")
    }
    # Without the command's own account all of its time counts as work.
    known = all(value is not None for value in seconds.values())
    work = sum(seconds.values()) if known else ran.seconds
    return {
        "seconds": seconds,
        "work": work,
        "start": ran.seconds - work,
        "cpu": ran.cpu_seconds,
        "peak_bytes": ran.peak_bytes,
        "peak_anonymous_bytes": ran.peak_anonymous_bytes,
        "shares": told.get("shares"),
    }


def _failed(ran: measure.Run) -> dict:
    lines = [line for line in ran.output.strip().splitlines() if line.strip()]
    verdict = "timeout" if ran.ended == "timeout" else "failed"
    ended = "wrote no model" if ran.ok else ran.ended
    return {"verdict": verdict, "why": f"{ended}: {lines[-1][:200] if lines else ''}"}


def judge(source: pathlib.Path, targets: dict[str, pathlib.Path], limit: float) -> dict:
    """Judges the results on one model; a result that ends the judge is wrong, a size that does is
    not taken."""
    verdicts: dict[str, dict] = {}
    left, first = dict(targets), 0
    while True:
        named = [f"{name}={path}" for name, path in left.items()]
        command = [sys.executable, str(HERE / "judge.py"), "--from", str(first), str(source)]
        ran = measure.run([*command, *named], 4 * limit)
        begun, trying = None, None
        for line in ran.output.splitlines():
            if line.startswith("{"):
                told = json.loads(line)
                begun, trying = told.pop("begun", begun), told.pop("trying", trying)
                verdicts |= told
        if ran.ok:
            return verdicts
        if begun is None and trying is not None:
            first = trying + 1
        elif begun is None or begun in verdicts:
            return verdicts | {name: {"verdict": "unjudged", "why": ran.ended} for name in left}
        else:
            verdicts[begun] = {"verdict": "wrong", "why": f"the judge ended: {ran.ended}"}
            left = {name: path for name, path in left.items() if name not in verdicts}


def latency(source: pathlib.Path, targets: dict[str, pathlib.Path], arguments) -> dict[str, float]:
    """Milliseconds of a run under onnxruntime; nothing where it does not run."""
    named = [f"{name}={path}" for name, path in targets.items()]
    command = [sys.executable, str(HERE / "latency.py"), str(arguments.latency), str(source), *named]
    ran = measure.run(command, 4 * arguments.limit)
    lines = [line for line in ran.output.splitlines() if line.startswith("{")]
    return json.loads(lines[-1]) if ran.ok and lines else {}


def bench_model(source: pathlib.Path, names: list[str], arguments) -> dict:
    """Runs all optimisers on one model, interleaved, and judges what they wrote."""
    rounds: dict[str, list[dict]] = {name: [] for name in names}
    digests: dict[str, set[str]] = {name: set() for name in names}
    with tempfile.TemporaryDirectory(prefix="tangram-bench-") as folder:
        targets = {name: pathlib.Path(folder) / name / "out.onnx" for name in names}
        for target in targets.values():
            target.parent.mkdir()
        for turn in range(arguments.rounds):
            for name in names[turn % len(names) :] + names[: turn % len(names)]:
                if any("verdict" in one for one in rounds[name]) or name == FOLDED and turn > 0:
                    continue
                for old in targets[name].parent.iterdir():
                    old.unlink()
                rounds[name].append(optimise(name, source.resolve(), targets[name], arguments))
                if targets[name].exists():
                    content = targets[name].read_bytes()
                    digests[name].add(hashlib.sha256(content).hexdigest())
        written = {name: path for name, path in targets.items() if path.exists()}
        verdicts = judge(source, written, arguments.limit)
        usable = {n: p for n, p in written.items() if verdicts.get(n, {}).get("verdict") == "ok"}
        times = latency(source, usable, arguments) if arguments.latency else {}
    results = {name: _median(rounds[name]) | verdicts.get(name, {}) for name in names}
    for name in names:
        results[name]["same_bytes"] = len(digests[name]) <= 1
        results[name]["latency"] = times.get(name)
    verdicts.setdefault("original", {})["latency"] = times.get("original")
    for name in {OURS, FOLDED} & set(names):
        # Of ourselves we ask that every input stays, of peers only those that a caller must give.
        if results[name].get("interface"):
            results[name]["verdict"] = "interface"
    return {"original": verdicts.get("original", {}), "results": results}


def _median(turns: list[dict]) -> dict:
    """Takes the median of each figure over the turns; a failure in any turn is the result."""
    for turn in turns:
        if "verdict" in turn:
            return dict(turn)
    result = dict(turns[-1])
    for figure in ("work", "start", "cpu"):
        result[figure] = statistics.median(turn[figure] for turn in turns)
    for figure in ("peak_bytes", "peak_anonymous_bytes"):
        result[figure] = max(turn[figure] for turn in turns)
    result["turns"] = [turn["work"] for turn in turns]
    return result


def main() -> int:
    """Runs the benchmark and prints its tables."""
    arguments = options()
    chosen = arguments.peers.split(",") if arguments.peers else [OURS, FOLDED, *peers.PEERS]
    versions = {name: "present" if our_command() else None for name in (OURS, FOLDED)}
    versions |= {name: peers.version(name) for name in chosen if name not in versions}
    present = [name for name in chosen if versions[name]]
    for name in chosen:
        print(f"{name}: {versions[name] or 'absent'}")
    records: dict[str, dict] = {}
    models = choose_models(arguments)
    for number, (name, path) in enumerate(models.items(), 1):
        print(f"[{number}/{len(models)}] {name}", file=sys.stderr, flush=True)
        record = bench_model(path, present, arguments)
        for missing in set(chosen) - set(present):
            record["results"][missing] = {"verdict": "absent"}
        records[name] = record
        if arguments.json:
            arguments.json.write_text(json.dumps(records, indent=1) + "\n")
    if records:
        sections = [report.models, report.processor, report.memory]
        sections += [report.latency] if arguments.latency else []
        print("\n\n".join(section(records, chosen) for section in sections))
        print(f"\n{report.shares(records)}\n\n{report.summary(records, chosen)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
