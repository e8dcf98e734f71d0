"""Giving tasks to an executor, and taking results as they come."""

from __future__ import annotations

import collections
import concurrent.futures
import os
import queue
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tangram._progress import Bar
from tangram.fleet.processes import ProcessExecutor
from tangram.fleet.unit import work
from tangram.fleet.width import Width
from tangram.fleet.wire import unpack

AHEAD = 64
"""How many tasks are looked through for one that memory is left for."""
AHEAD_BYTES = 1 << 28
"""How much of content may lie with those who wait at a worker."""
TRIES = 3
"""How often a task is given to a worker before it is reported as failed."""


class Task:
    """A task: what it is about, what makes the bytes to send, how much memory it takes, and how
    much of the whole it is.

    One that has nothing to send is done: it comes back as it is.
    """

    def __init__(
        self,
        name: str,
        make: Callable[[], bytes] | None,
        memory: int = 0,
        about: Any = None,
        weight: float = 1.0,
    ) -> None:
        self.name = name
        self.weight = weight
        self.make = make
        self.memory = memory
        self.about = about
        self.size = 0
        self.tries = 0
        self.failure = ""


Outcome = tuple[Task, dict[str, Any], list[bytes]]


class Engine:
    """Runs tasks on an executor, as many at a time as it is wide.

    A worker that dies gives its task back: it is tried on another, up to `TRIES` times in all.
    """

    def __init__(
        self, executor: concurrent.futures.Executor | None, jobs: int | None, max_memory: int | None
    ) -> None:
        self._own = executor is None
        self._executor = executor if executor is not None else ProcessExecutor(jobs)
        self._jobs = jobs
        self._width = Width(self._executor)
        self._max_memory = max_memory
        self._memory = 0
        self._shipped = 0
        self._more: Iterator[Task] = iter(())
        self._waiting: collections.deque[Task] = collections.deque()
        self._running: dict[concurrent.futures.Future[bytes], Task] = {}
        self._ended: queue.SimpleQueue[concurrent.futures.Future[bytes]] = queue.SimpleQueue()

    def run(
        self, tasks: Iterable[Task], bar: Bar | None = None, total: int = 0, weight: float = 0.0
    ) -> Iterator[Outcome]:
        """Yields tasks with the headers and pieces of their results, in the order they end.

        Tasks are taken as they are needed: what prepares them goes on while others are at work.
        `total`, `weight`: how many there are, and the sum of their weights, for the bar.
        """
        self._more = iter(tasks)
        done, ended = 0, 0.0
        try:
            while True:
                yield from self._start()
                if not self._running:
                    break
                outcome = self._take(self._wait())
                if outcome is None:
                    continue
                if "missing" not in outcome[1]:
                    done, ended = done + 1, ended + outcome[0].weight
                if bar is not None:
                    text = f"{done} of {max(total, done)}: {outcome[0].name}"
                    bar.show(ended / max(weight or total, ended), text)
                yield outcome
        except KeyboardInterrupt:
            yield from self._ended_meanwhile()
            raise
        finally:
            for future in self._running:
                future.cancel()
            if bar is not None:
                bar.close()
            if self._own:
                self._executor.shutdown(wait=False, cancel_futures=True)

    def again(self, task: Task) -> None:
        """Puts a task in front of those that wait: it needs something else to be sent."""
        self._waiting.appendleft(task)

    def _start(self) -> Iterator[Outcome]:
        """Gives out tasks while workers and memory are left; the first that fits."""
        while len(self._running) < self._most():
            task = self._fitting()
            if task is None:
                return
            if task.make is None:
                yield task, {}, []
                continue
            try:
                data = task.make()
            except Exception as error:  # noqa: BLE001: a bad model never ends the run
                yield task, {"error": str(error), "type": type(error).__name__, "seconds": 0.0}, []
                continue
            self._submit(task, data)

    def _most(self) -> int:
        """How many tasks may be given out.

        As many again as there are workers wait at theirs: for an engine that takes a while to ask
        for the next, nobody is idle between two. Of large contents one waits. Whoever sets a limit
        gets no more than that.
        """
        wide = self._width.now()
        most = self._jobs or wide
        if self._max_memory is not None or most < wide:
            return most
        return most + (most if self._shipped < AHEAD_BYTES else 1)

    def _fitting(self) -> Task | None:
        """The first task that memory is left for; where nothing runs, the first of all."""
        for at, task in enumerate(self._waiting):
            if self._fits(task):
                del self._waiting[at]
                return task
        for task in self._more:
            if self._fits(task):
                return task
            self._waiting.append(task)
            if len(self._waiting) >= AHEAD:
                break
        return None

    def _fits(self, task: Task) -> bool:
        free = self._max_memory is None or self._memory + task.memory <= self._max_memory
        return free or not self._running

    def _submit(self, task: Task, data: bytes) -> None:
        task.tries += 1
        task.size = len(data)
        self._memory += task.memory
        self._shipped += task.size
        try:
            future = self._executor.submit(work, data)
        except concurrent.futures.BrokenExecutor as error:
            # Python's pools break as a whole and take no more work: go on with processes here.
            jobs = min(self._jobs or self._width.now(), os.cpu_count() or 1)
            warnings.warn(f"{error}: going on with {jobs} processes of this machine", stacklevel=2)
            self._executor, self._own = ProcessExecutor(jobs), True
            self._width = Width(self._executor)
            future = self._executor.submit(work, data)
        self._running[future] = task
        future.add_done_callback(self._ended.put)

    def _ended_meanwhile(self) -> Iterator[Outcome]:
        """The results that were there when somebody pressed Ctrl-C."""
        while not self._ended.empty():
            if (outcome := self._take(self._ended.get())) is not None:
                yield outcome

    def _take(self, future: concurrent.futures.Future[bytes]) -> Outcome | None:
        """The result of a task; none if its worker died and another is to try."""
        task = self._running.pop(future)
        self._memory -= task.memory
        self._shipped -= task.size
        try:
            header, pieces = unpack(future.result())
        except (Exception, concurrent.futures.CancelledError) as error:  # noqa: BLE001
            # Errors of the task itself are results: this is one of the worker or of the engine.
            task.failure = f"{type(error).__name__}: {error}"
            # Dask has tried other workers itself before it says this.
            final = type(error).__name__ == "KilledWorker"
            if task.tries < TRIES and not final:
                self._waiting.append(task)
                return None
            tried = "several" if final else task.tries
            why = f"given up after {tried} workers failed; {task.failure}"
            return task, {"error": why, "type": "WorkerFailed", "seconds": 0.0}, []
        return task, header, pieces

    def _wait(self) -> concurrent.futures.Future[bytes]:
        """Waits for a future, and lets Ctrl-C come through."""
        while True:
            try:
                return self._ended.get(timeout=1.0)
            except queue.Empty:
                continue
