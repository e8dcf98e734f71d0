"""Limits on the work of operations."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from tangram import _native


@contextlib.contextmanager
def limits(*, steps: int | None = None, seconds: float | None = None) -> Iterator[None]:
    """Ends operations of this thread that take longer, with a :class:`PresburgerError`.

    A step is one row of integers touched, so that a limit on steps strikes at the same place
    in every run. Operations on sets, relations and functions take 20 million steps at the most
    where nothing else is said; within ``limits`` they take what it allows.
    """
    before = _native.set_limits((steps, seconds))
    try:
        yield
    finally:
        _native.set_limits(before)
