"""One run over many models: what is known of each, what is sent, what is written."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import tempfile
from collections.abc import Iterable
from typing import Any

from tangram import _native
from tangram._report import Report
from tangram._workload import Workload
from tangram.fleet.names import is_path
from tangram.fleet.scratch import Scratch
from tangram.fleet.unit import digest
from tangram.fleet.wire import pack

JOURNAL = "tangram-fleet.jsonl"
# A model without nodes, as a file holds it: IR version 8, a graph `e`, operator set 17.
_EMPTY = b"\x08\x08:\x03\x12\x01eB\x04\n\x00\x10\x11"


@dataclasses.dataclass(frozen=True)
class Result:
    """What became of one model."""

    model: str
    """Its name: below the folder that was asked for, or as it was given."""
    state: str
    """`done`, `unchanged`, `unchecked`, `different` or `failed`; see `Table`."""
    seconds: float
    """What it took at the worker."""
    report: Report | None
    """What was done; none for `unchanged` and `failed`."""
    error: str | None
    """Why there is no result."""
    path: pathlib.Path | None
    """Where the result is, if `out` was given and there is one."""
    row: dict[str, Any] = dataclasses.field(repr=False)
    """Its row in the table."""
    content: bytes | None = dataclasses.field(default=None, repr=False)
    """The optimised model, where `out` was not given and it has no external weights."""
    worker: str | None = None
    """Who did it, as `machine:process`."""

    def workload(self) -> Workload:
        """Opens the optimised model."""
        where = self.path if self.path is not None else self.content
        if where is None:
            raise _native.ModelError(self.error or "the result was not kept: give `out`")
        return Workload.from_onnx(where)


@dataclasses.dataclass
class Source:
    """A model to do, and what is known of it."""

    name: str
    row: dict[str, Any]
    path: pathlib.Path | None = None
    content: bytes | None = None
    files: list[tuple[str, pathlib.Path]] = dataclasses.field(default_factory=list)
    """The model file and those of its weights, by their names below the model's folder."""
    peak: int = 0

    def read(self) -> list[tuple[str, bytes]]:
        """The files by name, the model first."""
        if self.content is not None:
            return [(pathlib.PurePath(self.name).name, self.content)]
        return [(name, path.read_bytes()) for name, path in self.files]


class Run:
    """One call of `optimize_many`: what is asked for, what was sent, what is written."""

    def __init__(self, out: pathlib.Path | None, request: dict[str, Any], check: bool) -> None:
        self.out = out
        self.request: dict[str, Any] = request | {"version": _native.version()}
        self.check = check
        self.saturate: bool = request["settings"]["strategy"] == "saturate"
        self.shared: bool = out is not None
        self.sent: set[str] = set()
        self.texts: list[list[str | None]] = _texts(request["rules"])
        # What is wrong with rules and options is wrong for each model, and said at once.
        _native.Model.decode(_EMPTY).optimize([tuple(rule) for rule in self.texts], request["settings"])
        self.key: str = json.dumps([request, check, self.texts])
        self.before: dict[str, Any] = {}
        self.scratch: Scratch | None = None
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)
            self.before = {row["model"]: row for row in json.loads(_native.fleet_journal(out))}
            self.scratch = Scratch(out)

    def close(self) -> None:
        """Takes away what was there for the time of the run."""
        if self.scratch is not None:
            self.scratch.close()

    def look(self, name: str, model: Any) -> Source:
        """Finds out what is known of a model before it is worked on."""
        source = Source(name, _row(name))
        try:
            if is_path(model):
                source.path = pathlib.Path(model).resolve()
                self._fingerprint(source, source.path)
            else:
                source.content = model.to_bytes() if isinstance(model, Workload) else _bytes(model)
                with tempfile.TemporaryDirectory(prefix="tangram-") as folder:
                    path = pathlib.Path(folder, "model.onnx")
                    path.write_bytes(source.content)
                    self._fingerprint(source, path)
        except (_native.TangramError, OSError, TypeError) as error:
            source.row["note"] = str(error)
        return source

    def _fingerprint(self, source: Source, path: pathlib.Path) -> None:
        files, size, peaks, fingerprint = _native.fleet_source(path, self.key, self.saturate)
        source.files = [(os.path.relpath(file, path.parent), file) for file in files]
        source.peak = peaks[0] if self.check else peaks[1]
        source.row |= {"bytes": [size, 0], "fingerprint": fingerprint}

    def is_unchanged(self, source: Source) -> bool:
        """Whether an earlier run did this very model in this very way, and the result is there."""
        old = self.before.get(source.name)
        return (
            self.out is not None
            and old is not None
            and old["state"] in ("done", "unchanged", "unchecked")
            and old["fingerprint"] == source.row["fingerprint"]
            and old["bytes"][1] == _size(self.out / source.name)
        )

    def task(self, source: Source, whole: bool) -> bytes:
        """What is sent: paths where files are shared, else contents that were not sent before."""
        name = pathlib.PurePath(source.name).name
        header = self.request | {"kind": "optimise", "check": self.check, "path": None, "name": name}
        if self.shared and source.path is not None and self.out is not None and self.scratch is not None:
            out = (self.out / source.name).resolve()
            return pack(header | {"path": str(source.path), "out": str(out), "scratch": str(self.scratch.path)})
        header["rules"] = self.texts
        contents = [(name, digest(data), data) for name, data in source.read()]
        send = [c for c in contents if whole or c is contents[0] or c[1] not in self.sent]
        self.sent.update(d for _, d, _ in send)
        header |= {"files": [[n, d] for n, d, _ in contents], "sent": [[n, d] for n, d, _ in send]}
        return pack(header, [data for _, _, data in send])

    def finish(self, source: Source, header: dict[str, Any], pieces: list[bytes]) -> Result:
        """Writes what came back, the journal with it, and says what it is."""
        row = source.row | {"seconds": header["seconds"]}
        report = path = content = None
        if "error" not in header:
            try:
                content = self._store(source, header, pieces)
            except OSError as error:
                header |= {"error": f"the result cannot be written: {error}"}
        if "error" in header:
            row |= {"state": "failed", "note": header["error"]}
        else:
            report = Report(header["report"])
            self._keep(report, header.get("worker", ""))
            row |= _judged(header, row, report)
            path = self.out / source.name if self.out is not None else None
        self._note(row)
        error = row["note"] if row["state"] == "failed" else None
        worker = header.get("worker")
        return Result(source.name, row["state"], row["seconds"], report, error, path, row, content, worker)

    def _store(self, source: Source, header: dict[str, Any], pieces: list[bytes]) -> bytes | None:
        files = dict(zip(header["files"], pieces, strict=True))
        if self.out is None:
            return next(iter(files.values())) if len(files) == 1 else None
        if not files:
            # Its worker has written it where it belongs.
            return None
        target = (self.out / source.name).parent
        target.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target, prefix=".tangram-") as folder:
            for name, content in files.items():
                pathlib.Path(folder, name).write_bytes(content)
            model = pathlib.PurePath(source.name).name
            _native.place_model(pathlib.Path(folder, model), target / model)
        return None

    def _keep(self, report: Report, worker: str) -> None:
        """Adds what a worker on another machine has measured to the file that was named here."""
        path, choice = self.request["settings"]["measurements"], report.choice
        if path is None or choice is None or worker.rpartition(":")[0] == os.uname().nodename:
            return
        with open(path, "a") as file:
            file.write("".join(json.dumps(line) + "\n" for line in choice["lines"]))

    def _note(self, row: dict[str, Any]) -> None:
        if self.out is None:
            return
        try:
            with open(self.out / JOURNAL, "a", encoding="utf-8") as journal:
                journal.write(json.dumps(row) + "\n")
        except OSError:
            # A journal that cannot be written costs the next run time, this one nothing.
            pass


def _size(out: pathlib.Path) -> int | None:
    """Bytes of a result with its weights; none if it is not there or is no model."""
    try:
        return _native.fleet_source(out, "", False)[1]
    except (_native.TangramError, OSError):
        return None


def _row(name: str) -> dict[str, Any]:
    absent = dict.fromkeys(("nodes", "bytes", "flops", "difference"))
    return {"model": name, "state": "failed", **absent, "seconds": 0.0, "note": "", "fingerprint": ""}


def _judged(header: dict[str, Any], row: dict[str, Any], report: Report) -> dict[str, Any]:
    """State and figures of a model that came back."""
    found = header.get("check")
    if found is not None:
        report.data["check"] = found
    states = {"equal": "done", "different": "different", "not possible": "unchecked"}
    cost = report.data["cost"]
    flops = [cost["before"]["flops"], cost["after"]["flops"]]
    return {
        "state": states[found["state"]] if found else "done",
        "note": found["text"] if found and found["state"] != "equal" else "",
        "difference": found["difference"] if found else None,
        "nodes": [report.nodes_before, report.nodes_after],
        "bytes": [row["bytes"][0], header["bytes"]],
        "flops": flops if None not in flops else None,
    }


def _bytes(model: Any) -> bytes:
    if isinstance(model, (bytes, bytearray, memoryview)):
        return bytes(model)
    if hasattr(model, "SerializeToString"):
        return model.SerializeToString()
    raise TypeError(f"a path, bytes or an onnx.ModelProto is needed, not {type(model).__name__}")


def _texts(rules: Iterable[Iterable[str | None]]) -> list[list[str | None]]:
    """Rules with the texts of the files that they name: a worker may not see these."""
    found: list[list[str | None]] = []
    for name, text in rules:
        path = pathlib.Path(name or "")
        if text is not None or not path.exists():
            found.append([name, text])
        else:
            files = sorted(path.glob("*.gsl")) if path.is_dir() else [path]
            found += [[str(file), file.read_text()] for file in files]
    return found
