"""Processes of this machine as an executor.

Python's own pool ends as a whole when one of its processes is killed, and starts the main module
of a script anew in each. Here each worker is an interpreter that knows this module alone, and its
end is the end of one task.
"""

from __future__ import annotations

import concurrent.futures
import os
import queue
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any, BinaryIO

from tangram.fleet.unit import work

_LENGTH = struct.Struct("<Q")


class WorkerDied(concurrent.futures.BrokenExecutor):
    """The process of a worker ended while it had a task."""


class ProcessExecutor(concurrent.futures.Executor):
    """Runs `unit.work`, and nothing else, in processes of this machine."""

    def __init__(self, max_workers: int | None = None) -> None:
        self.workers: int = max_workers or os.cpu_count() or 1
        self._tasks: queue.SimpleQueue[tuple[concurrent.futures.Future[bytes], bytes] | None]
        self._tasks = queue.SimpleQueue()
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        self._threads: list[threading.Thread] = []
        self._closed = False
        self._lock = threading.Lock()

    @property
    def pids(self) -> list[int]:
        """The processes that run."""
        return [process.pid for process in list(self._processes.values()) if process.poll() is None]

    def submit(  # type: ignore[override]
        self, function: Callable[..., Any], /, *args: Any, **kwargs: Any
    ) -> concurrent.futures.Future[bytes]:
        """Gives a task to the next worker that is free."""
        if function is not work or len(args) != 1 or kwargs:
            raise ValueError("this executor runs `tangram.fleet.unit.work` on bytes")
        with self._lock:
            if self._closed:
                raise RuntimeError("the executor is shut down")
            if len(self._threads) < self.workers:
                lane = threading.Thread(target=self._serve, args=(len(self._threads),), daemon=True)
                self._threads.append(lane)
                lane.start()
        future: concurrent.futures.Future[bytes] = concurrent.futures.Future()
        self._tasks.put((future, args[0]))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Ends the workers when they have done what was given to them, or at once."""
        with self._lock:
            self._closed = True
        while cancel_futures:
            try:
                task = self._tasks.get_nowait()
            except queue.Empty:
                break
            if task is not None:
                task[0].cancel()
        if cancel_futures and not wait:
            for process in list(self._processes.values()):
                process.kill()
        for _ in self._threads:
            self._tasks.put(None)
        if wait:
            for lane in self._threads:
                lane.join()

    def _serve(self, lane: int) -> None:
        """Passes tasks to one process after the other, each as long as it lives."""
        while (task := self._tasks.get()) is not None:
            future, data = task
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(self._ask(lane, data))
            except BaseException as error:  # noqa: BLE001: whoever waits has to hear of it
                future.set_exception(error)
        if (process := self._processes.get(lane)) is not None:
            if process.stdin is not None:
                process.stdin.close()
            process.wait()

    def _ask(self, lane: int, data: bytes) -> bytes:
        """The answer of the process of a lane; one that gives none is ended."""
        process = self._process(lane)
        try:
            send(process.stdin, data)
            answer = receive(process.stdout)
        except OSError:
            answer = None
        if answer is None:
            process.kill()
            del self._processes[lane]
            raise WorkerDied(f"a worker ended with code {process.wait()}")
        return answer

    def _process(self, lane: int) -> subprocess.Popen[bytes]:
        process = self._processes.get(lane)
        if process is None or process.poll() is not None:
            command = [sys.executable, "-c", "from tangram.fleet.processes import main; main()"]
            # Ctrl-C is for the one who asks: a worker ends when nobody asks any more.
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
            )
            self._processes[lane] = process
        return process


def send(stream: BinaryIO | Any, data: bytes) -> None:
    """Writes a length and so many bytes."""
    stream.write(_LENGTH.pack(len(data)))
    stream.write(data)
    stream.flush()


def receive(stream: BinaryIO | Any) -> bytes | None:
    """Reads what `send` wrote; nothing where the other side is gone."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    data = stream.read(length)
    return data if len(data) == length else None


def main() -> None:
    """Answers tasks from standard input until there are no more."""
    answers = os.fdopen(os.dup(1), "wb")
    # What a library prints must not stand among the answers.
    os.dup2(2, 1)
    while (task := receive(sys.stdin.buffer)) is not None:
        send(answers, work(task))
