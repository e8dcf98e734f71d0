"""The unit of work: one function from bytes to bytes.

A task says what to do and brings what it needs, or says where that is. The result brings what was
made, or says where that was written, and what went wrong: errors in a task are results, so that an
engine never takes them for a failure of its own. Nothing is kept but weights that came by content.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import pathlib
import shutil
import stat
import tempfile
import time
from typing import Any

from tangram import _native
from tangram._options import edited
from tangram._workload import compared
from tangram.fleet.scratch import complete
from tangram.fleet.wire import pack, unpack

KEPT_SECONDS = 86_400.0
"""How long weights that came by content are kept after their last use."""


def work(task: bytes) -> bytes:
    """Does what a task says."""
    header, pieces = unpack(task)
    start = time.perf_counter()
    try:
        _same_version(header)
        result, made = _KINDS[header["kind"]](header, pieces)
    except Exception as error:  # noqa: BLE001: whatever it is, it is what became of this task
        result, made = {"error": f"{error}", "type": type(error).__name__}, []
    return pack(result | {"seconds": time.perf_counter() - start, "worker": worker()}, made)


def _same_version(header: dict[str, Any]) -> None:
    """Refuses work for another version of the package: rules and options differ."""
    here, asked = _native.version(), header.get("version", _native.version())
    if here != asked:
        raise RuntimeError(f"the worker has tangram {here}, the one who asks {asked}")


def worker() -> str:
    """The name of this process among all workers."""
    return f"{os.uname().nodename}:{os.getpid()}"


def _optimise(header: dict[str, Any], pieces: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
    """Optimises a model: from a path to a path, or from content to content."""
    if header["path"] is not None:
        scratch, out = pathlib.Path(header["scratch"]), pathlib.Path(header["out"])
        if not scratch.is_dir():
            return {"missing": "path"}, []
        with complete(scratch, out) as place:
            result = _rewritten(header, pathlib.Path(header["path"]), place)
        return result | {"files": []}, []
    with tempfile.TemporaryDirectory(prefix="tangram-") as folder:
        source = _unpacked(header, pieces, pathlib.Path(folder, "in"))
        if source is None:
            return {"missing": "content"}, []
        out = pathlib.Path(folder, "out", header["name"])
        out.parent.mkdir()
        result = _rewritten(header, source, out)
        names = sorted(path.name for path in out.parent.iterdir())
        return result | {"files": names}, [(out.parent / name).read_bytes() for name in names]


def _rewritten(header: dict[str, Any], source: pathlib.Path, out: pathlib.Path) -> dict[str, Any]:
    """Optimises the model at `source`, writes it to `out`, and says what was done."""
    settings = header["settings"]
    before = edited(_native.Model.open(source), header["edits"])
    model, told, _ = before.optimize([tuple(rule) for rule in header["rules"]], settings)
    result: dict[str, Any] = {"report": json.loads(told)}
    if header["check"]:
        result["check"] = compared(before, model, exact=settings["exact"])
    model.save(out, header["external_data"])
    # The folder is new: what lies there is the model and its weights.
    return result | {"bytes": sum(path.stat().st_size for path in out.parent.iterdir())}


def _unpacked(
    header: dict[str, Any], pieces: list[bytes], folder: pathlib.Path
) -> pathlib.Path | None:
    """The model file, made of the content that came; none if weights are not at hand."""
    folder.mkdir()
    given = dict(zip((digest for _, digest in header["sent"]), pieces, strict=True))
    (model, first), *weights = header["files"]
    (folder / model).write_bytes(given[first])
    for name, digest in weights:
        path, place = _kept(digest, given.get(digest)), folder / name
        if path is None:
            return None
        if not place.resolve().is_relative_to(folder.resolve()):
            raise PermissionError(f"`{name}` is not below the folder of its model")
        place.parent.mkdir(parents=True, exist_ok=True)
        # Not a link: weights are looked for beside the model only.
        os.link(path, place) if _same_disk(path, folder) else shutil.copy(path, place)
    return folder / model


def _same_disk(path: pathlib.Path, folder: pathlib.Path) -> bool:
    return path.stat().st_dev == folder.stat().st_dev


def _kept(digest: str, content: bytes | None) -> pathlib.Path | None:
    """The file of this machine with such content, which is kept for the tasks to come."""
    kept = pathlib.Path(tempfile.gettempdir(), f"tangram-kept-{os.getuid()}")
    path = kept / digest
    kept.mkdir(mode=0o700, exist_ok=True)
    found = kept.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise PermissionError(f"{kept} is not a folder that only its user writes to")
    if content is not None and not path.is_file():
        _forget(kept)
        _native.write_file(path, content)
    if not path.is_file():
        return None
    os.utime(path)
    return path


def _forget(kept: pathlib.Path) -> None:
    """Removes what no task has asked for within a day."""
    for path in kept.iterdir():
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > KEPT_SECONDS:
                path.unlink()


def digest(content: bytes) -> str:
    """The name under which a content is kept."""
    return hashlib.sha256(content).hexdigest()


def _verify(header: dict[str, Any], pieces: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
    """Verifies the rules of a text."""
    verdicts = _native.verify_rules(header["name"], header["text"])
    return {"verdicts": [list(verdict[:3]) + [str(verdict[-1])] for verdict in verdicts]}, []


def _compare(header: dict[str, Any], pieces: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
    """Runs two models under onnxruntime on the same inputs."""
    from tangram.fleet.runtime import compare

    sources = [
        path if path is not None else pieces[index]
        for path, index in zip(header["paths"], (0, len(pieces) - 1), strict=True)
    ]
    return compare(*sources, seed=header["seed"]), []


_KINDS = {"optimise": _optimise, "verify": _verify, "compare": _compare}
