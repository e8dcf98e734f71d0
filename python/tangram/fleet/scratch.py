"""The folder of one run among its results: a sign for workers, and a place for what is half done.

A worker that sees it sees the files of the one who asks, and may write results itself. It writes
them here and moves them when they are complete: what a worker leaves that is killed goes away with
the run. What a run leaves that was killed itself, the next one removes.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import tempfile
import uuid
from collections.abc import Iterator

from tangram import _native

_PREFIX = ".tangram-"


class Scratch:
    """Such a folder; `close` removes it."""

    def __init__(self, out: pathlib.Path) -> None:
        _remove_abandoned(out)
        self.path: pathlib.Path = (out / f"{_PREFIX}{os.uname().nodename}-{os.getpid()}-{uuid.uuid4().hex}").resolve()
        self.path.mkdir()

    def close(self) -> None:
        """Removes the folder with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)


@contextlib.contextmanager
def complete(scratch: pathlib.Path, out: pathlib.Path) -> Iterator[pathlib.Path]:
    """Gives a path to write `out` at, and moves what was written there, beside files and all."""
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        place = pathlib.Path(folder)
        yield place / out.name
        out.parent.mkdir(parents=True, exist_ok=True)
        _native.place_model(place / out.name, out)


def _remove_abandoned(out: pathlib.Path) -> None:
    """Removes the folders of runs on this machine whose process is gone."""
    for path in out.glob(f"{_PREFIX}{os.uname().nodename}-*"):
        pid = path.name.removeprefix(f"{_PREFIX}{os.uname().nodename}-").split("-")[0]
        if pid.isdigit() and not _is_alive(int(pid)):
            shutil.rmtree(path, ignore_errors=True)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
