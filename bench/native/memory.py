"""What a run needs beside the weights: by how much a process grows in the first run of a session."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable

from peers import Feed, Runner

Make = Callable[[pathlib.Path, Feed, int], Runner]


def anonymous() -> int:
    """Bytes of this process that no file stands for."""
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return 1024 * int(line.split()[1])
    raise OSError("/proc/self/status does not say RssAnon")


def growth(make: Make, path: pathlib.Path, feed: Feed) -> float | None:
    """MiB by which a process of its own grows in the first run on one thread, its outputs included.

    Both keep what they need between runs, so nothing that was needed at once is given back; mapped
    weights do not count, and weights that were copied are there before the run. `None` where the
    system does not say it, or the run fails.
    """
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            runner = make(path, feed, 1)
            before = anonymous()
            outputs = runner()
            os.write(sink, str(anonymous() - before).encode())
            del outputs
        finally:
            os._exit(0)
    os.close(sink)
    with os.fdopen(source) as answers:
        answer = answers.read()
    os.waitpid(child, 0)
    return int(answer) / 2**20 if answer else None
