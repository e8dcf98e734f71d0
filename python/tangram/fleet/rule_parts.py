"""Verifying many rules."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import functools
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from tangram import _native
from tangram._rules import rule_sources, rules as listed
from tangram.fleet.engine import Engine, Task
from tangram.fleet.models import bar
from tangram.fleet.wire import pack

if TYPE_CHECKING:
    from tangram._rules import RuleLike


@dataclasses.dataclass(frozen=True)
class RuleResult:
    """What verification found of one rule."""

    name: str
    holds: bool
    wrong: bool
    text: str
    seconds: float
    error: str | None = None


def check_rules(
    rules: RuleLike | Iterable[RuleLike] = (),
    *,
    executor: concurrent.futures.Executor | None = None,
    jobs: int | None = None,
    progress: bool | None = None,
) -> Iterator[RuleResult]:
    """Verifies rules, each a task of its own; yields verdicts as they come.

    `rules`: as `optimize` takes them, and all that are shipped if there is none. `executor`,
    `jobs`, `progress`: as for `optimize_many`. Raises `RuleError` for text that is wrong, before anything starts.
    """
    tasks = [
        Task(name, functools.partial(pack, {"kind": "verify", "name": name, "text": text}))
        for name, text in _parts(rule_sources(rules))
    ]
    return _run(tasks, Engine(executor, jobs, None), progress)


def _parts(sources: list[tuple[str, str | None]]) -> Iterator[tuple[str, str]]:
    """Rules one by one: names and texts."""
    if not sources:
        yield from ((rule.name, rule.text) for rule in listed())
    for name, text in sources:
        if text is None:
            yield from ((rule.name, rule.text) for rule in listed(name))
        else:
            yield from ((name, canonical) for name, canonical, _ in _native.parse_rules(name, text))


def _run(tasks: list[Task], engine: Engine, progress: bool | None) -> Iterator[RuleResult]:
    for task, header, _ in engine.run(tasks, bar(progress), len(tasks)):
        if "error" in header:
            yield RuleResult(task.name, False, False, "", header["seconds"], header["error"])
            continue
        ((name, holds, wrong, text),) = header["verdicts"]
        yield RuleResult(name, holds, wrong, text, header["seconds"])
