"""Optimises models with more weights than memory, and measures what that takes.

    cargo xtask bench large-weights [--gigabytes 2.5] [--gigabytes 10] [--peers onnxsim,...]

The weights lie in a sparse file (bench/onnx/large.py). What counts is the peak of *anonymous*
memory: mapped pages of the file cost nothing that the system could not take back.
"""

from __future__ import annotations

import argparse
import pathlib
import shutil
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "onnx"))
import judge  # noqa: E402: one way to count, to run and to generate
import large  # noqa: E402
import onnx  # noqa: E402
import peers  # noqa: E402
import run as bench  # noqa: E402

HEADER = ("GB", "optimiser", "nodes", "after", "seconds", "peak MB", "anon MB", "out GB", "on disk")


def options() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gigabytes", type=float, action="append")
    parser.add_argument("--peers", default="", help="comma-separated; none when not given")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for one run")
    parser.add_argument("--tangram-args", default="", help="more arguments for `tangram opt`")
    return parser.parse_args()


def present(name: str) -> bool:
    """Returns whether an optimiser can be run here."""
    return bool(bench.our_command() if name == bench.OURS else peers.version(name))


def nodes(path: pathlib.Path) -> int:
    """Counts the nodes of a model without reading its weights."""
    return judge.count(onnx.load(path, load_external_data=False))


def row(gigabytes: float, name: str, source: pathlib.Path, arguments) -> tuple:
    """Runs one optimiser on one model; gives a row of the table."""
    folder = source.parent / name
    folder.mkdir()
    target = folder / "out.onnx"
    result = bench.optimise(name, source, target, arguments)
    if "verdict" in result:
        shutil.rmtree(folder)
        return (gigabytes, name, nodes(source), f"{result['verdict']}: {result['why']}")
    files = list(folder.glob("out.onnx*"))
    held = sum(file.stat().st_blocks for file in files) * 512
    written = sum(file.stat().st_size for file in files)
    memory = (result["peak_bytes"], result["peak_anonymous_bytes"])
    figures = [f"{result['work'] + result['start']:.2f}", *(f"{b / 1e6:.0f}" for b in memory)]
    after = nodes(target)
    shutil.rmtree(folder)
    sizes = [f"{size / 1e9:.2f}" for size in (written, held)]
    return (gigabytes, name, nodes(source), after, *figures, *sizes)


def main() -> int:
    """Runs all sizes and prints a table."""
    arguments = options()
    names = [bench.OURS, *filter(None, arguments.peers.split(","))]
    absent = {name for name in names if not present(name)}
    for name in sorted(absent):
        print(f"{name}: absent")
    print("  ".join(HEADER))
    # The default folder may lie in memory; a sparse file in the tree's own file system does not.
    (ROOT / "target").mkdir(exist_ok=True)
    for gigabytes in arguments.gigabytes or [2.5, 10.0]:
        with tempfile.TemporaryDirectory(prefix="large-", dir=ROOT / "target") as folder:
            source = pathlib.Path(folder) / "in.onnx"
            large.build(source, int(gigabytes * 1e9))
            for name in names:
                if name not in absent:
                    print("  ".join(map(str, row(gigabytes, name, source, arguments))), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
