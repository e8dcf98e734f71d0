"""Runs models compiled here and by others, side by side.

    cargo xtask bench native [--models DIR | --packages | --learned] [--sizes 1,128] [--rounds 30]
        [--threads 1] [--exact] [--memory]

Without a folder, the models of `examples/models` and networks with random weights (`networks.py`)
run; with `--packages`, models that Python packages carry (`packages.py`); with `--learned`, trees and
linear models that other packages fit (`learned.py`), whose rows are the sizes. All get the same random
inputs and take turns, and the least time of each counts: a machine that is busy with something else
slows all. On one thread it is processor time, on more the clock's, and each waits before its turn until
the threads of the one before, which watch for more work for a while, have gone to sleep, and runs once
before the run that counts.
`ratio` is ours over onnxruntime's, `best` ours over that of the fastest peer; `difference` is the
largest between our results and onnxruntime's, over the largest magnitude. Sizes that a model leaves
open are bound to the values of `--sizes`, one after the other, in one session of ours and of
onnxruntime's; OpenVINO and tract are given each size when they compile. With `--exact`, a session with
the order of summation of the definition runs as well: `exact` is its time over onnxruntime's. With
`--memory`, `MiB` is what a first run of ours adds to a process, and `theirs` of onnxruntime's
(`memory.py`).
"""

from __future__ import annotations

import argparse
import os
import pathlib
import re
import sys
import tempfile
import time

import learned
import networks
import numpy as np
import onnx
import onnxruntime
import packages
from memory import growth
from onnx import TensorProto, helper, numpy_helper
from peers import PEERS, Feed, Runner, survives

import tangram

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = ("model", "size", "ours ms", *PEERS, "ratio", "best", "difference", "compiled", "cold s", "cached ms")
# Columns that are asked for.
FURTHER = ("exact", "MiB", "theirs")
# Seconds that threads without work may go on watching for some.
LINGERING = 0.15
TYPES = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
}


def options() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=pathlib.Path)
    parser.add_argument("--packages", action="store_true", help="models that Python packages carry")
    parser.add_argument("--learned", action="store_true", help="trees and linear models")
    parser.add_argument("--only", default="", metavar="REGEX", help="models by name")
    parser.add_argument("--sizes", default="1,128")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--exact", action="store_true", help="time exact sums as well")
    parser.add_argument("--memory", action="store_true", help="measure memory as well")
    return parser.parse_args()


def weight(name: str, shape: tuple[int, ...], random: np.random.Generator) -> TensorProto:
    """Random numbers whose products keep the magnitude."""
    scale = (2 / max(1, int(np.prod(shape[1:])))) ** 0.5
    return numpy_helper.from_array((random.standard_normal(shape) * scale).astype(np.float32), name)


def residual(channels: int, extent: int) -> onnx.ModelProto:
    """Two 3x3 convolutions and an addition, as in a residual network."""
    random = np.random.default_rng(channels)
    nodes = [
        helper.make_node("Conv", ["x", "w0", "b"], ["a"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["r"]),
        helper.make_node("Conv", ["r", "w1", "b"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Add", ["c", "x"], ["s"]),
        helper.make_node("Relu", ["s"], ["y"]),
    ]
    weights = [weight(name, (channels, channels, 3, 3), random) for name in ("w0", "w1")]
    weights.append(weight("b", (channels,), random))
    shape = ["batch", channels, extent, extent]
    return model(nodes, weights, shape, shape)


def feed_forward(width: int) -> onnx.ModelProto:
    """The feed-forward layer of a transformer with exact GELU."""
    random = np.random.default_rng(width)
    nodes = [
        helper.make_node("MatMul", ["x", "w0"], ["a"]),
        helper.make_node("Add", ["a", "b0"], ["h"]),
        helper.make_node("Div", ["h", "root"], ["d"]),
        helper.make_node("Erf", ["d"], ["e"]),
        helper.make_node("Add", ["e", "one"], ["f"]),
        helper.make_node("Mul", ["h", "f"], ["g"]),
        helper.make_node("Mul", ["g", "half"], ["k"]),
        helper.make_node("MatMul", ["k", "w1"], ["m"]),
        helper.make_node("Add", ["m", "x"], ["y"]),
    ]
    weights = [
        weight("w0", (width, 4 * width), random),
        weight("w1", (4 * width, width), random),
        weight("b0", (4 * width,), random),
    ]
    for name, value in (("root", 2**0.5), ("one", 1.0), ("half", 0.5)):
        weights.append(numpy_helper.from_array(np.float32(value), name))
    shape = ["batch", "sequence", width]
    return model(nodes, weights, shape, shape)


def model(nodes, weights, inputs, outputs) -> onnx.ModelProto:
    """A model of one input `x` and one output `y`."""
    ports = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("x", inputs), ("y", outputs))
    ]
    graph = helper.make_graph(nodes, "graph", ports[:1], ports[1:], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def written(folder: pathlib.Path) -> list[pathlib.Path]:
    """Writes the networks of this file; returns all models of the default run."""
    made = {
        "residual_64_56": residual(64, 56),
        "residual_256_14": residual(256, 14),
        "residual_512_7": residual(512, 7),
        "feed_forward_384": feed_forward(384),
    }
    made |= {name: build() for name, build in networks.ALL.items()}
    for name, proto in made.items():
        onnx.save(proto, folder / f"{name}.onnx")
    return sorted(folder.glob("*.onnx")) + sorted((ROOT / "examples/models").glob("*.onnx"))


def inputs(session, size: int, batch: int = 1) -> dict[str, np.ndarray]:
    """Random inputs, with `size` for all that is open but the batch."""
    random = np.random.default_rng(5)
    feed = {}
    for port in session.get_inputs():
        shape = [
            extent if isinstance(extent, int) else batch if at == 0 else size
            for at, extent in enumerate(port.shape)
        ]
        element = TYPES[port.type]
        if np.issubdtype(element, np.floating):
            feed[port.name] = random.standard_normal(shape).astype(element)
        else:
            feed[port.name] = random.integers(0, 2, shape).astype(element)
    return feed


def difference(ours: list[np.ndarray], theirs: list[np.ndarray]) -> float:
    """The largest difference over the largest magnitude."""
    most = 0.0
    for own, other in zip(ours, theirs, strict=True):
        if isinstance(own, list):  # a dictionary for each row
            own, other = (np.array([list(row.values()) for row in rows]) for rows in (own, other))
        if own.size == other.size == 0:
            continue  # onnxruntime gives loops without iterations another rank
        if own.shape != other.shape:
            return float("inf")
        own, other = own.astype(np.float64), other.astype(np.float64)
        scale = max(1.0, float(np.nanmax(np.abs(other))))
        most = max(most, float(np.nanmax(np.abs(own - other))) / scale)
    return most


def least(runners: list[Runner], rounds: int, threads: int) -> list[float]:
    """The least time of each of some functions that take turns, in milliseconds."""
    alone = threads == 1
    clock = time.process_time if alone else time.perf_counter
    times = [float("inf")] * len(runners)
    for _ in range(rounds):
        for at, runner in enumerate(runners):
            if not alone:
                time.sleep(LINGERING)
                runner()
            start = clock()
            runner()
            times[at] = min(times[at], 1e3 * (clock() - start))
    return times


def started(path: pathlib.Path, feed: Feed, threads: int) -> dict[str, Runner]:
    """The peers that run this model."""
    runners = {}
    for name, make in PEERS.items():
        if name != "onnxruntime" and not survives(make, path, feed, threads):
            continue
        try:
            runner = make(path, feed, threads)
            runner()
        except Exception:  # its column stays empty
            continue
        runners[name] = runner
    return runners


def feeds(session, sizes: list[int]) -> list[tuple[object, Feed]]:
    """Random inputs, with the label of each row: the size, if the model leaves one open."""
    is_open = any(not isinstance(e, int) for port in session.get_inputs() for e in port.shape[1:])
    chosen = sizes if is_open else sizes[:1]
    return [(size if is_open else "-", inputs(session, size)) for size in chosen]


def session_of(path: pathlib.Path, threads: int, exact: bool = False):
    """A session of ours."""
    chosen = tangram.SessionOptions()
    chosen.intra_op_num_threads = threads
    chosen.use_deterministic_compute = exact
    return tangram.InferenceSession(path, chosen)


def runner_of(path: pathlib.Path, feed: Feed, threads: int) -> Runner:
    """Ours, as the peers are made."""
    session = session_of(path, threads)
    return lambda: session.run(None, feed)


def measure(path: pathlib.Path, make_feeds, settings: argparse.Namespace) -> list[tuple]:
    """One row for each of the inputs that `make_feeds` gives for a session."""
    threads = settings.threads
    start = time.perf_counter()
    ours = session_of(path, threads)
    cold = time.perf_counter() - start
    start = time.perf_counter()
    session_of(path, threads)
    cached = 1e3 * (time.perf_counter() - start)
    exact = session_of(path, threads, exact=True) if settings.exact else None
    coverage = ours.coverage()
    done = sum(count.compiled for count in coverage.values())
    share = f"{done}/{done + sum(count.reference for count in coverage.values())}"
    rows = []
    for label, feed in make_feeds(ours):
        peers = started(path, feed, threads)
        if "onnxruntime" not in peers:  # a size that the model does not take
            print(f"{path.stem}: onnxruntime refuses the size {label}")
            continue
        wrong = difference(ours.run(None, feed), peers["onnxruntime"]())
        runners = {"ours": lambda feed=feed: ours.run(None, feed), **peers}
        if exact:
            runners["exact"] = lambda feed=feed: exact.run(None, feed)
        found = dict(zip(runners, least(list(runners.values()), settings.rounds, threads), strict=True))
        own, theirs = found["ours"], found["onnxruntime"]
        ratios = (own / theirs, own / min(found[name] for name in peers))
        columns = [found.get(name, "-") for name in PEERS]
        further = [found["exact"] / theirs if exact else "-", "-", "-"]
        if settings.memory:
            further[1:] = [growth(make, path, feed) for make in (runner_of, PEERS["onnxruntime"])]
        rows.append((label, own, *columns, *ratios, wrong, share, cold, cached, *further))
    return rows


def shown(value) -> str:
    """A cell of the table."""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def chosen(settings: argparse.Namespace, folder: pathlib.Path) -> list[tuple]:
    """The models, by name, each with its path and what makes its inputs."""
    sizes = [int(size) for size in settings.sizes.split(",")]
    if settings.packages:
        found, absent = packages.models(ROOT / "target" / "bench-models")
        for requirement in absent:
            print(f"absent: models of {requirement}")
        made = [(n, p, lambda _, n=n, p=p: [("-", packages.feed(n, p))]) for n, p in found.items()]
    elif settings.learned:
        rows = lambda session: [(size, inputs(session, size, batch=size)) for size in sizes]  # noqa: E731
        made = [(path.stem, path, rows) for path in learned.written(ROOT / "target" / "bench-learned")]
    else:
        paths = sorted(settings.models.glob("*.onnx")) if settings.models else written(folder)
        made = [(path.stem, path, lambda session: feeds(session, sizes)) for path in paths]
    return [one for one in made if re.search(settings.only, one[0])]


# A result further from onnxruntime's than this, over the largest magnitude, is looked at: networks
# in integers or half precision are, as each side rounds where it may.
MOST_APART = 1e-3


def main() -> int:
    """Prints the table and the geometric mean of the ratios."""
    settings = options()
    rows: list[tuple] = []
    with tempfile.TemporaryDirectory() as folder:
        cache = pathlib.Path(folder) / "cache"
        cache.mkdir()
        os.environ["TANGRAM_CACHE"] = str(cache)
        asked = FURTHER[0 if settings.exact else 1 : 3 if settings.memory else 1]
        header = HEADER + asked
        print("  ".join(f"{head:>12}" for head in header))
        for name, path, make_feeds in chosen(settings, pathlib.Path(folder)):
            try:
                found = measure(path, make_feeds, settings)
                found = [(name, *row) for row in found]
            except Exception as error:  # one model that a peer refuses does not end the run
                print(f"{name}: {type(error).__name__}: {str(error).splitlines()[0]}")
                continue
            for row in found:
                cells = dict(zip(HEADER + FURTHER, row, strict=True))
                print("  ".join(f"{shown(cells[head]):>12}" for head in header), flush=True)
            rows.extend(found)
    if not rows:
        return 1
    ratio, best, wrong = (HEADER.index(name) for name in ("ratio", "best", "difference"))
    means = {"onnxruntime": ratio, "the fastest peer": best}
    if settings.exact:
        means["onnxruntime, exact"] = len(HEADER)
    for name, at in means.items():
        mean = np.exp(np.mean([np.log(row[at]) for row in rows]))
        print(f"geometric mean over {name}: {mean:.3f}")
    print(f"onnxruntime {onnxruntime.__version__}, {len(rows)} rows, {settings.threads} threads")
    far = [f"{row[0]} ({row[wrong]:.2g})" for row in rows if not row[wrong] < MOST_APART]
    if far:
        print(f"differ by {MOST_APART} of the largest magnitude, or more: {', '.join(far)}")
    return 1 if far else 0


if __name__ == "__main__":
    sys.exit(main())
