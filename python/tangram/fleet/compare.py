"""Comparing many pairs of models under onnxruntime."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import functools
import os
import pathlib
from collections.abc import Iterable, Iterator
from typing import Any

from tangram import _native
from tangram.fleet.engine import Engine, Task
from tangram.fleet.models import bar
from tangram.fleet.processes import ProcessExecutor
from tangram.fleet.wire import pack

PathLike = str | os.PathLike[str]


@dataclasses.dataclass(frozen=True)
class Comparison:
    """How two models compare."""

    model: str
    state: str
    """`equal`, `different`, or `failed` where one of them does not run."""
    difference: float | None
    """The largest difference of an output, relative to its greatest magnitude."""
    seconds: tuple[float, float]
    """The least of several runs, before and after."""
    error: str | None = None


def compare_many(
    before: PathLike | Iterable[PathLike],
    after: PathLike | Iterable[PathLike],
    *,
    executor: concurrent.futures.Executor | None = None,
    jobs: int | None = None,
    progress: bool | None = None,
    seed: int = 0,
) -> Iterator[Comparison]:
    """Runs models and their optimised forms under onnxruntime on the same random inputs.

    `before`, `after`: two folders, whose models are paired by name, or two lists; a model without
    a partner is a failure. Workers need onnxruntime; those of an engine get models by content,
    external weights by path. `executor`, `jobs`, `progress`: as for `optimize_many`.
    """
    local = executor is None or isinstance(executor, ProcessExecutor)
    tasks = [
        Task(name, functools.partial(_task, first, second, local, seed))
        for name, first, second in _pairs(before, after)
    ]
    return _run(tasks, Engine(executor, jobs, None), progress)


def _pairs(before: Any, after: Any) -> Iterator[tuple[str, pathlib.Path, pathlib.Path]]:
    if isinstance(before, (str, os.PathLike)) and os.path.isdir(before):
        for path, name in _native.fleet_find(before):
            yield name.as_posix(), path, pathlib.Path(after) / name
        return
    several = [[one] if isinstance(one, (str, os.PathLike)) else list(one) for one in (before, after)]
    for first, second in zip(*several, strict=True):
        yield pathlib.Path(first).name, pathlib.Path(first), pathlib.Path(second)


def _task(first: pathlib.Path, second: pathlib.Path, local: bool, seed: int) -> bytes:
    paths: list[str | None] = []
    pieces = []
    for path in (first.resolve(), second.resolve()):
        if not path.is_file():
            raise FileNotFoundError(f"{path}: there is no such model to compare with")
        if local or len(_native.fleet_source(path, "", False)[0]) > 1:
            paths.append(str(path))
        else:
            paths.append(None)
            pieces.append(path.read_bytes())
    return pack({"kind": "compare", "paths": paths, "seed": seed}, pieces)


def _run(tasks: list[Task], engine: Engine, progress: bool | None) -> Iterator[Comparison]:
    for task, header, _ in engine.run(tasks, bar(progress), len(tasks)):
        if "error" in header:
            yield Comparison(task.name, "failed", None, (0.0, 0.0), header["error"])
        else:
            both = tuple(header["times"])
            yield Comparison(task.name, header["state"], header["difference"], both)
