"""Optimises a hundred models on every engine, with one, two and four workers.

    cargo xtask bench fleet [--models 100] [--largest 100000] [--workers 1,2,4]
                            [--engines command,processes,pool,dask,ray]

What counts is what an engine adds. `overhead` is the time of a worker that is not spent in the
work itself, for each model: `(wall * workers - work) / models`. `shipping` is its share of the
whole. `single` is the command `tangram opt`, one model after the other. An engine that is not
installed is reported as absent. On a machine with fewer cores than workers, or a busy one, the
wall time of more workers says little; `cores` says how many there are.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "onnx"))
import numpy as np  # noqa: E402
import scale  # noqa: E402: models of any size

import tangram  # noqa: E402

HEADER = ("engine", "workers", "models/s", "work s", "wall s", "overhead ms", "shipping")


def options() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=100)
    parser.add_argument("--largest", type=int, default=100_000)
    parser.add_argument("--workers", default="1,2,4")
    parser.add_argument("--engines", default="command,processes,pool,dask,ray")
    return parser.parse_args()


def make(folder: pathlib.Path, count: int, largest: int) -> int:
    """Writes models of 10 nodes to `largest`, evenly on a logarithmic scale; returns their nodes."""
    sizes = np.geomspace(10, largest, count).astype(int)
    for number, size in enumerate(sizes):
        (folder / f"m{number:03}.onnx").write_bytes(scale.build(int(size), number).SerializeToString())
    return int(sizes.sum())


def single(models: pathlib.Path, out: pathlib.Path) -> float:
    """Seconds of the command for each model by itself, all together."""
    out.mkdir()
    start = time.perf_counter()
    for path in sorted(models.iterdir()):
        words = [os.environ["TANGRAM_BIN"], "opt", path, "-o", out / path.name, "--quiet"]
        subprocess.run(words, check=True)
    return time.perf_counter() - start


def command(models: pathlib.Path, out: pathlib.Path, workers: int) -> tuple[float, float]:
    """Seconds of all processes, and of the command for the folder."""
    table = out.with_suffix(".json")
    words = [os.environ["TANGRAM_BIN"], "opt", models, "-o", out, "--jobs", str(workers)]
    start = time.perf_counter()
    subprocess.run([*words, "--quiet", "--table", table], check=True)
    wall = time.perf_counter() - start
    import json

    return sum(row["seconds"] for row in json.loads(table.read_text())), wall


@contextlib.contextmanager
def executor(engine: str, workers: int) -> Iterator[concurrent.futures.Executor | None]:
    """The executor of an engine with so many workers; none if it is not installed."""
    try:
        if engine == "processes":
            with tangram.fleet.ProcessExecutor(workers) as made:
                yield made
        elif engine == "pool":
            with concurrent.futures.ProcessPoolExecutor(workers) as made:
                yield made
        elif engine == "dask":
            from distributed import Client, LocalCluster

            with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster:
                with Client(cluster) as client:
                    yield client.get_executor()
        elif engine == "ray":
            import ray

            ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False)
            yield tangram.fleet.RayExecutor()
            ray.shutdown()
    except ImportError:
        yield None


def fleet(made: concurrent.futures.Executor, models: pathlib.Path, out: pathlib.Path, workers: int) -> tuple[float, float]:
    """Seconds of all workers at work, and of the whole."""
    # Workers start, and import what they need, before the clock does.
    small = sorted(models.iterdir())[: 2 * workers]
    list(tangram.optimize_many(small, executor=made, jobs=workers, out=out.with_suffix(".warm")))
    start = time.perf_counter()
    results = list(tangram.optimize_many(models, executor=made, jobs=workers, out=out))
    wall = time.perf_counter() - start
    bad = [r.model for r in results if r.state != "done"]
    assert not bad, bad
    return sum(r.seconds for r in results), wall


def line(cells: tuple[object, ...]) -> None:
    """Prints cells in columns."""
    print("  ".join(f"{cell!s:>11}" for cell in cells), flush=True)


def main() -> None:
    """Measures each engine with each number of workers."""
    given = options()
    with tempfile.TemporaryDirectory() as folder:
        base = pathlib.Path(folder)
        models = base / "models"
        models.mkdir()
        nodes = make(models, given.models, given.largest)
        count = given.models
        alone = single(models, base / "single")
        print(f"{count} models, {nodes} nodes, {os.cpu_count()} cores")
        print(f"single: {alone:.2f} s, {1e3 * alone / count:.1f} ms a model\n")
        line(HEADER)
        for engine in given.engines.split(","):
            for workers in map(int, given.workers.split(",")):
                out = base / f"{engine}-{workers}"
                if engine == "command":
                    spent, wall = command(models, out, workers)
                else:
                    with executor(engine, workers) as made:
                        if made is None:
                            line((engine, workers, "absent"))
                            continue
                        spent, wall = fleet(made, models, out, workers)
                lost = wall * workers - spent
                figures = (f"{count / wall:.1f}", f"{spent:.2f}", f"{wall:.2f}")
                share = f"{100 * lost / (wall * workers):.0f} %"
                line((engine, workers, *figures, f"{1e3 * lost / count:.1f}", share))


if __name__ == "__main__":
    main()
