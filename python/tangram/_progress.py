"""How far an optimisation is: what a callback is told, and the bars that come with the package."""

from __future__ import annotations

import dataclasses
import html
import shutil
import sys
import time
from collections.abc import Callable
from typing import Any

_WIDTH = 30


@dataclasses.dataclass(frozen=True)
class Progress:
    """How far an optimisation is."""

    operations: int
    """The operations that the program had at the start; 0 until that is known."""
    visited: int
    """How often an operation was looked at: at the end, each at least once."""
    rewrites: int
    """How many rewrites there were."""
    round: int = 0
    """The round of a saturation; 0 where there is none."""
    nodes: int = 0
    """The e-nodes of a saturation."""

    @property
    def share(self) -> float:
        """The part of the program that was looked at, from 0 to 1."""
        return min(1.0, self.visited / self.operations) if self.operations else 0.0

    def __str__(self) -> str:
        if self.round:
            return f"round {self.round}, {self.nodes} e-nodes"
        return f"{self.rewrites} rewrites"


ProgressLike = Callable[[Progress], object] | bool | None
Told = Callable[[int, int, int, int, int], None]


def listener(progress: ProgressLike) -> tuple[Told | None, Bar | None]:
    """What the native half calls, if anything, and the bar that this shows, if it does."""
    if progress is False or (progress is None and not in_notebook()):
        return None, None
    if progress is None or progress is True:
        bar = Bar()
        return (lambda *counts: bar.follow(Progress(*counts))), bar
    return (lambda *counts: _call(progress, counts)), None


def _call(progress: Callable[[Progress], object], counts: tuple[int, ...]) -> None:
    progress(Progress(*counts))


def in_notebook() -> bool:
    """Whether what is shown is shown in a notebook: IPython runs with a kernel."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    return shell is not None and getattr(shell, "kernel", None) is not None


class Bar:
    """A bar in a notebook or on a terminal; silent where neither is. Shown after half a second."""

    _PATIENCE = 0.5

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._handle: Any = None
        self._notebook = in_notebook()
        self._terminal = not self._notebook and sys.stderr is not None and sys.stderr.isatty()

    def follow(self, progress: Progress) -> None:
        """Shows how far an optimisation is."""
        self.show(progress.share, str(progress))

    def show(self, share: float, text: str) -> None:
        """Shows which share is done, the time that is left by that, and `text`."""
        spent = time.monotonic() - self._start
        if self._handle is None and spent < self._PATIENCE:
            return
        if 0.02 < share < 1.0:
            text = f"{spent * (1 - share) / share:.0f} s left, {text}"
        if self._notebook:
            self._display(share, text)
        elif self._terminal:
            self._handle = True
            done = round(_WIDTH * share)
            # Names may hold anything, and a line that wraps cannot be written over.
            room = max(0, shutil.get_terminal_size().columns - _WIDTH - 4)
            text = "".join(c if c.isprintable() else "?" for c in text)[:room]
            sys.stderr.write(f"\r\x1b[K[{'#' * done}{'.' * (_WIDTH - done)}] {text}")
            sys.stderr.flush()

    def close(self) -> None:
        """Takes the bar off the terminal; in a notebook it stays as it is."""
        if self._terminal and self._handle:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def _display(self, share: float, text: str) -> None:
        from IPython import display

        shown = display.HTML(
            f'<progress max="1" value="{share:.3f}" style="width:20em"></progress> {html.escape(text)}'
        )
        if self._handle is None:
            self._handle = display.display(shown, display_id=True)
        else:
            self._handle.update(shown)
