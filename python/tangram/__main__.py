"""The command `tangram`, also as `python -m tangram`: the same program that cargo installs.

`opt DIR -o DIR --dask ADDRESS | --ray ADDRESS` is for many models on many machines, whose engines
are reached through Python; all else is native.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import signal
import sys
from typing import Any

from tangram._native import TangramError, command
from tangram._options import ALL
from tangram.fleet.models import optimize_many, table


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line `arguments`, by default that of the process, and returns its exit status."""
    words = sys.argv[1:] if arguments is None else arguments
    if words[:1] == ["opt"] and any(word.split("=")[0] in ("--dask", "--ray") for word in words):
        return on_engine(words)
    # Python's handler would wait for native code to return; the command has one where it needs one.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return command(["tangram", *words], [sys.executable, "-m", "tangram"])


def on_engine(arguments: list[str]) -> int:
    """Optimises many models on an engine; 1 if one has no result or one that differs, 130 after Ctrl-C."""
    given = _parser().parse_args(arguments)
    executor, close = _executor(given)
    results = []
    code = 0
    try:
        models = given.models[0] if len(given.models) == 1 else given.models
        for result in optimize_many(models, given.rules, executor=executor, **_options(given)):
            results.append(result)
    except KeyboardInterrupt:
        code = 130
    except (ValueError, OSError, TangramError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    finally:
        close()
    rows = table(results)
    if not given.quiet:
        print(rows, end="")
        if code:
            print("interrupted: run it again to go on")
    for path in given.table:
        rows.save(path)
    bad = any(row["state"] in ("failed", "different") for row in rows)
    return code or int(bad)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tangram", description="Optimise many ONNX models.")
    commands = parser.add_subparsers(required=True, metavar="opt")
    opt = commands.add_parser("opt", help="optimise the models of a folder or a pattern")
    opt.add_argument("models", metavar="DIR|GLOB|FILE", nargs="+")
    opt.add_argument("-o", "--output", dest="out", required=True, metavar="DIR")
    engine = opt.add_mutually_exclusive_group()
    engine.add_argument("--dask", metavar="ADDRESS", help="a scheduler of Dask: tcp://HOST:8786, or a file")
    engine.add_argument("--ray", metavar="ADDRESS", help="a cluster of Ray: auto, or ray://HOST:10001")
    opt.add_argument("-j", "--jobs", type=int, help="how many at a time")
    opt.add_argument("--max-memory", type=_size, metavar="BYTES", help="of all at work, such as 8G")
    opt.add_argument("--table", action="append", default=[], metavar="FILE", help=".csv, .json, .html or text")
    opt.add_argument("--rules", action="append", default=[], metavar="FILE|DIR|NAME")
    for name, option in ALL.items():
        if option.flag is not None:
            flag = {"help": option.help, "default": option.default, **option.flag, "dest": name}
            if flag.get("action") == "append":
                flag["default"] = []
            opt.add_argument(flag.pop("name", f"--{name.replace('_', '-')}"), **flag)
    opt.add_argument("--external-data", choices=["auto", "inline", "external"], default="auto")
    opt.add_argument("--check", action="store_true", help="compare each model with its result")
    opt.add_argument("-q", "--quiet", action="store_true")
    return parser


def _options(given: argparse.Namespace) -> dict[str, Any]:
    outside = ("models", "rules", "dask", "ray", "table", "quiet")
    options = {name: value for name, value in vars(given).items() if name not in outside}
    return options | {"progress": False if given.quiet else None}


def _size(text: str) -> int:
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
    number = text.upper().removesuffix("B").removesuffix("I")
    return int(float(number.rstrip("KMGT")) * units.get(number[-1:], 1))


def _executor(given: argparse.Namespace) -> tuple[concurrent.futures.Executor | None, Any]:
    """The executor of the engine that is asked for, and what leaves it."""
    if given.dask is not None:
        from distributed import Client

        file = not given.dask.startswith(("tcp:", "tls:", "ws:", "inproc:")) and ":" not in given.dask
        client = Client(scheduler_file=given.dask) if file else Client(given.dask)
        return client.get_executor(), client.close
    if given.ray is not None:
        from tangram.fleet.ray_executor import RayExecutor

        return RayExecutor(given.ray), lambda: None
    return None, lambda: None


if __name__ == "__main__":
    sys.exit(main())
