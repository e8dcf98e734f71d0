"""Optimising many models."""

from __future__ import annotations

import concurrent.futures
import functools
import os
import pathlib
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal, Unpack

from tangram._options import Options, edits_of, settings, with_options
from tangram._progress import Bar, in_notebook
from tangram._rules import rule_sources
from tangram.fleet.engine import Engine, Task
from tangram.fleet.names import named, size
from tangram.fleet.run import Result, Run, Source
from tangram.fleet.tables import Table

if TYPE_CHECKING:
    from tangram._rules import RuleLike
    from tangram.fleet.names import Models

LEAST = 50_000
"""What a model takes however small it is, in bytes of a model that take as long."""


@with_options(steps=0)
def optimize_many(
    models: Models,
    rules: RuleLike | Iterable[RuleLike] = (),
    *,
    executor: concurrent.futures.Executor | None = None,
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    max_memory: int | None = None,
    progress: bool | None = None,
    check: bool = False,
    external_data: Literal["auto", "inline", "external"] = "auto",
    **options: Unpack[Options],
) -> Iterator[Result]:
    """Optimises many models; yields a `Result` for each as it comes, in any order.

    `models`: a folder, a pattern such as `models/**/*.onnx`, or any number of models, each a path,
    bytes, an `onnx.ModelProto`, or a pair of a name and one of these. Results keep the names below
    the folder, or below the last folder that all paths share.
    `executor`: who does the work: any `concurrent.futures.Executor`, such as Dask's
    `client.get_executor()` or `RayExecutor`; processes of this machine if absent.
    `out`: the folder for results. A run that is repeated does what has changed since: a model, the
    rules, the options, or this package.
    `jobs`: how many at a time. `max_memory`: bytes that all at work may take together, estimated
    from their files; a model that needs more is refused.
    `progress`: whether to show a bar; by default where someone looks.
    `check`: compare each model with its result; one that differs is a state, and raises nothing.
    `external_data`: as for `Workload.save`.

    A model that cannot be done is a result with an error. Work of a worker that dies is given to
    another, three times at most.
    """
    request = {
        "settings": settings(options),
        "edits": edits_of(options),
        "external_data": external_data,
        "rules": [[_absolute(name, text), text] for name, text in rule_sources(rules)],
    }
    folder = None if out is None else pathlib.Path(out)
    # Nothing starts before the first result is asked for.
    start = functools.partial(Run, folder, request, check)
    engine = functools.partial(Engine, executor, jobs, max_memory)
    return _run(named(models, folder), start, engine, max_memory, progress)


def _absolute(name: str, text: str | None) -> str:
    return os.path.abspath(name) if text is None and os.path.exists(name) else name


def _run(
    models: list[tuple[str, Any]],
    start: Callable[[], Run],
    make_engine: Callable[[], Engine],
    max_memory: int | None,
    progress: bool | None,
) -> Iterator[Result]:
    run, engine = start(), make_engine()
    try:
        weights = [LEAST + size(model) for _, model in models]
        tasks = (
            _task(run, name, model, max_memory, weight)
            for (name, model), weight in zip(models, weights, strict=True)
        )
        for task, header, pieces in engine.run(tasks, bar(progress), len(models), sum(weights)):
            if isinstance(task.about, Result):
                yield task.about
            elif missing := header.get("missing"):
                # The worker sees other files, or is one that did not get the weights.
                run.shared = False
                task.make = functools.partial(run.task, task.about, missing == "content")
                task.tries -= 1
                engine.again(task)
            else:
                yield run.finish(task.about, header, pieces)
    finally:
        run.close()


def _task(run: Run, name: str, model: Any, max_memory: int | None, weight: float) -> Task:
    source = run.look(name, model)
    if (result := _at_once(run, source, max_memory)) is not None:
        return Task(name, None, about=result, weight=weight)
    make = functools.partial(run.task, source, False)
    return Task(name, make, source.peak, source, weight)


def _at_once(run: Run, source: Source, max_memory: int | None) -> Result | None:
    """The result of a model that nobody has to work on."""
    if run.is_unchanged(source):
        row = run.before[source.name] | {"state": "unchanged"}
        return Result(source.name, "unchanged", 0.0, None, None, run.out and run.out / source.name, row)
    why = source.row["note"]
    if not why and max_memory is not None and source.peak > max_memory:
        why = f"needs about {source.peak >> 20} MB of memory; {max_memory >> 20} MB are allowed"
    return run.finish(source, {"error": why, "seconds": 0.0}, []) if why else None


def bar(progress: bool | None) -> Bar | None:
    """A bar, if one is asked for, or if nothing is said and somebody looks."""
    watched = sys.stderr is not None and sys.stderr.isatty()
    return Bar() if progress or (progress is None and (in_notebook() or watched)) else None


def table(results: Iterable[Result]) -> Table:
    """The table of results."""
    return Table(result.row for result in results)
