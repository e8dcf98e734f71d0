"""Measures what the choice of rewrites gains: `cargo xtask bench choosing [-- --rounds N]`.

Each model of `pairs.py` is timed in onnxruntime with all of its optimisations, one thread: as it
came, once more as it came (the control), as `tangram opt` writes it, and as `--strategy saturate`
does. The four take turns in an order that is drawn anew for each round; a turn is as many runs as
take a few milliseconds of processor time. Printed are medians over the rounds of the model's time
over that of each, and beside the control half the distance of its quartiles.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
import onnxruntime as ort
import pairs

TURN = 4e-3
STRATEGIES = ("greedy", "saturate")


def session(model: onnx.ModelProto) -> ort.InferenceSession:
    """A session of one thread with all of onnxruntime's optimisations."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def feed(model: onnx.ModelProto) -> dict[str, np.ndarray]:
    """Random inputs; indices are small."""
    rng, values = np.random.default_rng(0), {}
    for value in model.graph.input:
        tensor = value.type.tensor_type
        shape = [dim.dim_value for dim in tensor.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        drawn = rng.standard_normal(shape) if dtype.kind == "f" else rng.integers(0, 8, shape)
        values[value.name] = drawn.astype(dtype)
    return values


def optimised(binary: str, model: onnx.ModelProto, strategy: str, extra: list[str]) -> tuple[onnx.ModelProto, dict]:
    """What the command makes of a model, and its report."""
    with tempfile.TemporaryDirectory() as folder:
        source, target, report = (pathlib.Path(folder) / name for name in ("in.onnx", "out.onnx", "r.json"))
        onnx.save(model, source)
        command = [binary, "opt", source, "-o", target, "--json", report, "-q", "--strategy", strategy, *extra]
        started = time.monotonic()
        subprocess.run(command, check=True, capture_output=True)
        return onnx.load(target), json.loads(report.read_text()) | {"wall": time.monotonic() - started}


def turn(run, count: int) -> float:
    """Processor seconds of one run."""
    started = time.thread_time()
    for _ in range(count):
        run()
    return (time.thread_time() - started) / count


def measure(models: list[onnx.ModelProto], rounds: int) -> list[list[float]]:
    """Seconds of each model in each round."""
    values = feed(models[0])
    runs = [lambda s=session(model): s.run(None, values) for model in models]
    counts = []
    for run in runs:
        turn(run, 3)
        counts.append(max(1, math.ceil(TURN / max(turn(run, 3), 1e-7))))
    seconds: list[list[float]] = [[] for _ in models]
    order = list(range(len(models)))
    for _ in range(rounds):
        random.shuffle(order)
        for i in order:
            seconds[i].append(turn(runs[i], counts[i]))
    return seconds


def compare(models: list[onnx.ModelProto], rounds: int) -> tuple[float, list[float], float]:
    """Seconds of the first, how many times as fast the others are, and the control's spread."""
    seconds = measure(models, rounds)
    ratios = [[b / o for b, o in zip(seconds[0], other, strict=True)] for other in seconds[1:]]
    quartiles = statistics.quantiles(ratios[0], n=4)
    return statistics.median(seconds[0]), [statistics.median(r) for r in ratios], (quartiles[2] - quartiles[0]) / 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=os.environ.get("TANGRAM_BIN"), help="the command")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--only", default="", help="part of a pair's name")
    parser.add_argument("--rules", action="append", default=[], help="as for `tangram opt`")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    extra = [word for rules in options.rules for word in ("--rules", rules)]
    rows, logs = [], []
    print(f"onnxruntime {ort.__version__}; microseconds, then times as fast")
    print(f"{'':44} {'base':>8} {'control':>14} {'greedy':>7} {'saturate':>8}   flops")
    for kind, name, model in pairs.all_pairs():
        if options.only not in name:
            continue
        made = [optimised(options.binary, model, strategy, extra) for strategy in STRATEGIES]
        base, gains, spread = compare([model, model, *(model for model, _ in made)], options.rounds)
        cost = made[0][1]["cost"]
        flops = cost["before"]["flops"] / max(1.0, cost["after"]["flops"])
        rows.append({"kind": kind, "name": name, "base": base, "gains": gains, "spread": spread, "flops": flops})
        logs.append([math.log(gain) for gain in gains])
        print(f"{name:44} {base * 1e6:8.0f} {gains[0]:7.2f} ±{spread:5.2f} {gains[1]:7.2f} {gains[2]:8.2f} {flops:7.2f}", flush=True)
    mean = [math.exp(statistics.mean(column)) for column in zip(*logs, strict=True)]
    print(f"{'geometric mean':44} {'':8} {mean[0]:7.2f} {'':6} {mean[1]:7.2f} {mean[2]:8.2f}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    sys.exit(main())
