"""Optimises a hundred models on every engine, with one, two and four workers.

    cargo xtask bench fleet [--models 100] [--largest 100000] [--workers 1,2,4]
                            [--engines command,processes,pool,dask,ray]

What counts is what an engine adds. `overhead` is the time of workers that is not spent in the work
itself, for each model, up to the last result of each worker; of the command, whose processes are
not told apart, up to the end. `shipping` is its share of that time. `cpu` is the processor time
that all processes of an engine took, the one who asks among them, beyond that of the same work in
one process, for each model: on a machine with other work to do it says more than the wall, which
that work stretches. `asks` is the processor time of the one who asks alone, with Dask's scheduler,
which lives there: what is done one after the other. `single` is the command `tangram opt`, one model
after the other; `in process` is `tangram.optimize`, likewise. An engine that is not installed is
reported as absent; `cores` says how many there are, and `load` how many others wanted them.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import dataclasses
import json
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

HEADER = ("engine", "workers", "models/s", "work s", "wall s", "overhead ms", "shipping", "cpu ms", "asks ms", "load")


def options() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=100)
    parser.add_argument("--largest", type=int, default=100_000)
    parser.add_argument("--workers", default="1,2,4")
    parser.add_argument("--engines", default="command,processes,pool,dask,ray")
    return parser.parse_args()


def make(folder: pathlib.Path, count: int, largest: int) -> int:
    """Writes models of 10 nodes to `largest`, most of them small; returns their nodes.

    The exponents grow with the third power: of a hundred up to 100,000 nodes, half have below 32
    and ten above 10,000. Otherwise a few huge ones would be all that is measured.
    """
    sizes = 10 * (largest / 10) ** (np.linspace(0, 1, count) ** 3)
    sizes = sizes.round().astype(int)
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


def processor() -> float:
    """Processor seconds of this process and of all that it has started."""
    import psutil

    own = psutil.Process()
    total = 0.0
    for process in [own, *own.children(recursive=True)]:
        with contextlib.suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    return total


def in_process(models: pathlib.Path, out: pathlib.Path) -> float:
    """Processor seconds of the work itself: each model in this process, as a worker does it."""
    out.mkdir()
    start = time.process_time()
    for path in sorted(models.iterdir()):
        tangram.optimize(path, steps=0).save(out / path.name)
    return time.process_time() - start


@dataclasses.dataclass
class Times:
    """Seconds of one run."""

    work: float
    busy: float
    """Of all workers, up to the last result of each."""
    wall: float
    processors: float
    asking: float | None = None
    """Of processors, in the one who asks."""


def command(models: pathlib.Path, out: pathlib.Path, workers: int) -> Times:
    """Runs the command for the folder."""
    table = out.with_suffix(".json")
    words = [os.environ["TANGRAM_BIN"], "opt", models, "-o", out, "--jobs", str(workers)]
    before, start = processor(), time.perf_counter()
    subprocess.run([*words, "--quiet", "--table", table], check=True)
    wall, spent = time.perf_counter() - start, processor() - before
    work = sum(row["seconds"] for row in json.loads(table.read_text()))
    return Times(work, wall * workers, wall, spent)


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


def fleet(
    made: concurrent.futures.Executor, models: pathlib.Path, out: pathlib.Path, workers: int
) -> Times:
    """Runs `optimize_many` on an executor."""
    # Workers start, and import what they need, before the clock does.
    small = sorted(models.iterdir())[: 2 * workers]
    list(tangram.optimize_many(small, executor=made, jobs=workers, out=out.with_suffix(".warm")))
    before, own, start = processor(), time.process_time(), time.perf_counter()
    work, ends = 0.0, {}
    for result in tangram.optimize_many(models, executor=made, jobs=workers, out=out):
        assert result.state == "done", result
        work += result.seconds
        ends[result.worker] = time.perf_counter() - start
    asking, wall, spent = time.process_time() - own, time.perf_counter() - start, processor() - before
    return Times(work, sum(ends.values()), wall, spent, asking)


def figures(times: Times, base: float, count: int) -> tuple[str, ...]:
    """The columns of a run behind engine and workers."""
    lost = times.busy - times.work
    return (
        f"{count / times.wall:.1f}",
        f"{times.work:.2f}",
        f"{times.wall:.2f}",
        f"{1e3 * lost / count:.1f}",
        f"{100 * lost / times.busy:.0f} %",
        f"{1e3 * (times.processors - base) / count:.1f}",
        "-" if times.asking is None else f"{1e3 * times.asking / count:.1f}",
        f"{os.getloadavg()[0]:.1f}",
    )


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
        print(f"{count} models, {nodes} nodes, {os.cpu_count()} cores")
        before = processor()
        alone = single(models, base / "single")
        apart = processor() - before
        print(f"single: {alone:.2f} s, {1e3 * alone / count:.1f} ms a model, {apart:.2f} s of processors")
        engines = given.engines.split(",")
        together = in_process(models, base / "together") if set(engines) != {"command"} else 0.0
        print(f"in process: {together:.2f} s of processors\n", flush=True)
        line(HEADER)
        for engine in engines:
            for workers in map(int, given.workers.split(",")):
                out = base / f"{engine}-{workers}"
                if engine == "command":
                    times, base_cpu = command(models, out, workers), apart
                else:
                    with executor(engine, workers) as made:
                        if made is None:
                            line((engine, workers, "absent"))
                            continue
                        times, base_cpu = fleet(made, models, out, workers), together
                line((engine, workers, *figures(times, base_cpu, count)))


if __name__ == "__main__":
    main()
