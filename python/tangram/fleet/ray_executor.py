"""Ray as an executor. Needs the package `ray`, here and at the workers."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Callable
from typing import Any


class RayExecutor(concurrent.futures.Executor):
    """Runs functions as tasks of Ray: `RayExecutor("ray://head:10001")`, or where `ray.init` led.

    Workers that die are dealt with here, as with every engine; Ray itself tries nothing again.
    """

    def __init__(self, address: str | None = None, **options: Any) -> None:
        import ray

        if not ray.is_initialized():
            ray.init(address=address, log_to_driver=False, **options)
        self._ray = ray
        self._remote: dict[Callable[..., Any], Any] = {}

    @property
    def workers(self) -> int:
        """How many processors the cluster has now."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def submit(  # type: ignore[override]
        self, function: Callable[..., Any], /, *args: Any, **kwargs: Any
    ) -> concurrent.futures.Future[Any]:
        """Starts a task; large arguments go through Ray's object store."""
        if function not in self._remote:
            self._remote[function] = self._ray.remote(max_retries=0)(function)
        return self._remote[function].remote(*args, **kwargs).future()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leaves Ray as it is: it may be used by others."""
