"""Verdicts on models, reached in a process of its own for each: some models end that of an engine."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
from collections.abc import Callable

# Seconds after which a process is taken to wait for nothing, and how often one is begun.
LATE = 120
TRIES = 3


@dataclasses.dataclass
class Verdict:
    """What became of one model."""

    kind: str
    why: str = ""


def apart(work: Callable[[Callable[[], object]], Verdict]) -> Verdict:
    """Calls `work` in a process of its own, with what it calls once the model itself ran.

    A process that is forked has the locks of threads that it does not have, those of onnxruntime
    among them: one that waits for such a lock is ended, and another takes its place.
    """
    for _ in range(TRIES):
        found, is_late = attempt(work)
        if not is_late:
            return found
    return Verdict("wrong", f"no end within {LATE} s, {TRIES} times")


def attempt(work: Callable[[Callable[[], object]], Verdict]) -> tuple[Verdict, bool]:
    """What a process of its own says of it, and whether it was ended for being late."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ours)
        signal.alarm(LATE)
        # What it says of its end is nobody's concern.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            found = work(lambda: os.write(theirs, b"runs\n"))
        except Exception as error:  # noqa: BLE001: the child must end here, whatever happens
            found = Verdict("not judged", repr(error))
        os.write(theirs, json.dumps([found.kind, found.why]).encode())
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours) as pipe:
        told = pipe.read()
    _, status = os.waitpid(child, 0)
    is_late = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM
    begun, _, verdict = told.rpartition("\n")
    if verdict:
        return Verdict(*json.loads(verdict)), False
    ended = Verdict("wrong", "the engine ended on the result") if begun else Verdict("does not run")
    return ended, is_late
