"""Says that a model is compiled, where a person would wonder why nothing happens.

A first start may take seconds: its code is written and built. On a terminal, a line on the standard
error output says so and how far it is, from half a second on, and goes away; elsewhere the logger
`tangram` is told once, at the level of information.
"""

from __future__ import annotations

import logging
import sys
import time
from types import TracebackType

_PATIENCE = 0.5
"""Seconds after which someone wonders."""


class Starting:
    """Listens to a session being made."""

    def __init__(self, quiet: bool = False) -> None:
        self._quiet = quiet
        self._begun = time.monotonic()
        self._shown = 0
        self._logged = False

    def __enter__(self) -> Starting:
        return self

    def heard(self, written: int, built: int, files: int) -> None:
        """Hears how many functions are written, and how many files of them are built of how many."""
        if self._quiet or time.monotonic() - self._begun < _PATIENCE:
            return
        how_far = f"{built} of {files} files built" if files else f"{written} functions written"
        text = f"tangram: compiling the model, once for this machine: {how_far}"
        if sys.stderr is not None and sys.stderr.isatty():
            sys.stderr.write("\r" + text.ljust(self._shown))
            sys.stderr.flush()
            self._shown = len(text)
        elif not self._logged:
            self._logged = True
            logging.getLogger("tangram").info("compiling the model, once for this machine")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._shown:
            sys.stderr.write("\r" + " " * self._shown + "\r")
            sys.stderr.flush()
