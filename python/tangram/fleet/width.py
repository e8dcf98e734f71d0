"""How many tasks an executor can work on at once."""

from __future__ import annotations

import concurrent.futures
import time

UNKNOWN = 8
"""What is assumed of an executor that does not say."""


class Width:
    """The width of an executor, which grows and shrinks where workers come and go."""

    _PATIENCE = 1.0

    def __init__(self, executor: concurrent.futures.Executor) -> None:
        self._executor = executor
        self._known = 0
        self._asked = float("-inf")

    def now(self) -> int:
        """How many tasks it can work on, as of a second ago at most; at least one."""
        if time.monotonic() - self._asked > self._PATIENCE:
            self._known = max(1, _width(self._executor))
            self._asked = time.monotonic()
        return self._known


def _width(executor: concurrent.futures.Executor) -> int:
    # Dask's executor holds the client; clusters that adapt begin with no worker at all.
    client = getattr(executor, "_client", None)
    if client is not None and hasattr(client, "nthreads"):
        return sum(client.nthreads().values())
    for name in ("workers", "_max_workers", "_num_workers", "num_workers"):
        number = getattr(executor, name, None)
        if isinstance(number, int) and number > 0:
            return number
    return UNKNOWN
