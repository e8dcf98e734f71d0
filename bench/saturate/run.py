"""Compares what greedy rewriting and saturation make of networks: estimated and measured cost.

    cargo xtask bench saturate [--rounds N] [--only NAME]... [--json FILE] [--keep FOLDER]

Greedy applies the rules that are on by default; saturation weighs all rules, those as well that
alone are no improvement. Latencies are of onnxruntime without
its own optimisations, one thread, runs interleaved; outputs have to agree. The last table counts
the rules of each proof; those with several outputs or a variable number of them are marked.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "python"))
import models  # noqa: E402
import oracle  # noqa: E402: tests and benchmarks judge by the same measure

GREEDY = ["--strategy", "greedy"]
# A search with no room for e-nodes only says what the programs are estimated to cost.
ESTIMATE = ["--strategy", "saturate", "--max-nodes", "0"]
SATURATE = ["--strategy", "saturate", "--explain"]


def options() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15, help="pairs of runs")
    parser.add_argument("--only", action="append", choices=sorted(models.MODELS))
    parser.add_argument("--max-nodes", type=int, default=4000)
    parser.add_argument("--max-seconds", type=float, default=20.0)
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER", help="keep the models")
    return parser.parse_args()


def optimise(source: pathlib.Path, target: pathlib.Path, words: list[str]) -> dict:
    """Runs the command; gives its report and the seconds it took."""
    said = target.with_suffix(".json")
    command = [os.environ["TANGRAM_BIN"], "opt", str(source), "-o", str(target)]
    start = time.perf_counter()
    ran = subprocess.run([*command, "--json", str(said), "--quiet", *words], capture_output=True, text=True)
    spent = time.perf_counter() - start
    if ran.returncode != 0:
        raise RuntimeError(f"{source.stem}: {ran.stderr.strip()}")
    return json.loads(said.read_text()) | {"wall": spent}


def inputs(model: onnx.ModelProto) -> dict:
    """Makes random inputs; symbolic extents are 1 for a batch, 16 otherwise."""
    rng = np.random.default_rng(5)
    made = {}
    for declared in model.graph.input:
        dims = declared.type.tensor_type.shape.dim
        shape = [d.dim_value or (1 if d.dim_param == "batch" else 16) for d in dims]
        if declared.type.tensor_type.elem_type == onnx.TensorProto.INT64:
            made[declared.name] = rng.integers(0, 2, shape)
        else:
            made[declared.name] = rng.standard_normal(shape).astype(np.float32)
    return made


def latencies(paths: list[pathlib.Path], feed: dict, rounds: int) -> list[list[float]]:
    """Times each model once a round, in turns; each time is of as many runs as take 5 ms."""
    sessions = [oracle.session(path.read_bytes()) for path in paths]
    times: list[list[float]] = [[] for _ in paths]
    counts = []
    for session in sessions:
        session.run(None, feed)
        start = time.perf_counter()
        session.run(None, feed)
        counts.append(max(1, int(0.005 / (time.perf_counter() - start))))
    for turn in range(rounds):
        order = range(len(paths)) if turn % 2 == 0 else reversed(range(len(paths)))
        for index in order:
            start = time.process_time()
            for _ in range(counts[index]):
                sessions[index].run(None, feed)
            times[index].append((time.process_time() - start) / counts[index] * 1e3)
    return times


def bench(name: str, folder: pathlib.Path, arguments: argparse.Namespace) -> dict:
    """Optimises and measures one network."""
    model = models.MODELS[name]()
    source, greedy, best = (folder / f"{name}.{kind}.onnx" for kind in ("model", "greedy", "saturate"))
    onnx.save(model, source)
    limits = ["--max-nodes", str(arguments.max_nodes), "--max-seconds", str(arguments.max_seconds)]
    by_greedy = optimise(source, greedy, GREEDY)
    costs = optimise(source, folder / "estimate.onnx", ESTIMATE)["saturation"]
    by_search = optimise(source, best, SATURATE + limits)
    # What saturation starts from may be the greedy result: the command takes the better one.
    found = by_search["saturation"]
    feed = inputs(model)
    expected = oracle.run_ort(model, feed)
    same = [oracle.same(oracle.run_ort(path.read_bytes(), feed), expected) for path in (greedy, best)]
    times = latencies([source, greedy, best], feed, arguments.rounds)
    taken = next((run for run in found["runs"] if run["from"] == found["taken"]), None)
    functions = taken["functions"] if taken else []
    proof: dict[str, int] = {}
    for function in functions:
        for step in (function["proof"] or {"steps": []})["steps"]:
            proof[step["rule"]] = proof.get(step["rule"], 0) + 1
    return {
        "estimate": [costs["before"], costs["greedy"], min(found["after"], costs["greedy"])],
        "better": found["after"] < costs["greedy"] * (1 - 1e-9),
        "latency": [statistics.median(each) for each in times],
        "ratios": [statistics.median(a / b for a, b in zip(times[0], t)) for t in times],
        "seconds": [by_greedy["seconds"]["optimise"], found["seconds"]],
        "nodes": sum(function["nodes"] for function in functions),
        "rounds": sum(function["rounds"] for function in functions),
        "stop": ", ".join(function["stop"] for function in functions) or "greedy was taken",
        "extraction": [function["cost"] for function in functions],
        "fired": sum(rule["applied"] for function in functions for rule in function["rules"]),
        "same": [bool(found) for found in same],
        "proof": proof,
    }


def several() -> set[str]:
    """The rules of the library with several outputs."""
    command = [os.environ["TANGRAM_BIN"], "rules", "list", "--json"]
    listed = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return {rule["name"] for rule in listed if "multi-output" in rule["labels"]}


def show(records: dict[str, dict], wide: set[str]) -> None:
    """Prints the tables."""
    print(f"{'':12} {'estimated ms':^32} {'measured ms':^32} {'took s':^16}")
    names = ("model", "greedy", "saturate")
    head = "".join(f"{n:>10} " for n in names) * 2
    print(f"{'network':12} {head}{'greedy':>8}{'saturate':>9} {'e-nodes':>8} {'fired':>7}  equal  stop")
    for name, record in records.items():
        estimates = "".join(f"{1e3 * cost:10.4f} " for cost in record["estimate"])
        times = "".join(f"{cost:10.4f} " for cost in record["latency"])
        took = "{:8.2f}{:9.2f}".format(*record["seconds"])
        equal = "yes" if all(record["same"]) else "NO"
        print(f"{name:12} {estimates}{times}{took} {record['nodes']:8} {record['fired']:7}  {equal:5}  {record['stop']}")
    print(f"\n{'network':12} {'speed-up: greedy':>18} {'saturate':>9}   proof (* several outputs)")
    for name, record in records.items():
        proof = [f"{'*' if rule in wide else ''}{rule} {count}" for rule, count in record["proof"].items()]
        ratios = "{:18.3f} {:9.3f}".format(*record["ratios"][1:])
        print(f"{name:12} {ratios}   {', '.join(proof) or 'greedy was taken'}")


def main() -> int:
    """Measures and prints; fails if outputs differ or a result is estimated worse than greedy."""
    arguments = options()
    records: dict[str, dict] = {}
    with tempfile.TemporaryDirectory(prefix="tangram-saturate-") as temporary:
        folder = arguments.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for name in arguments.only or models.MODELS:
            records[name] = bench(name, folder, arguments)
            print(f"{name} done", file=sys.stderr)
    wide = several()
    show(records, wide)
    won = [n for n, r in records.items() if r["better"] and wide & r["proof"].keys()]
    print(f"\nbetter than greedy through a rule with several outputs: {', '.join(won) or 'none'}")
    if arguments.json:
        arguments.json.write_text(json.dumps(records, indent=2) + "\n")
    return 0 if all(all(r["same"]) for r in records.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
