"""Optimising many models."""

from __future__ import annotations

import collections
import concurrent.futures
import dataclasses
import functools
import json
import os
import pathlib
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal

from tangram import _native
from tangram._progress import Bar, in_notebook
from tangram._report import Report
from tangram._rules import rule_names, rule_sources
from tangram._workload import Workload, _cost_text
from tangram.fleet.engine import Engine, Task
from tangram.fleet.tables import Table
from tangram.fleet.unit import MARK, digest
from tangram.fleet.wire import pack

if TYPE_CHECKING:
    from tangram._rules import NameLike, RuleLike
    from tangram._workload import ModelLike

    Models = str | os.PathLike[str] | Iterable[ModelLike | tuple[str, ModelLike]]

JOURNAL = "tangram-fleet.jsonl"


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
    """Where the result is, if `out` was given."""
    row: dict[str, Any] = dataclasses.field(repr=False)
    """Its row in the table."""
    content: bytes | None = dataclasses.field(default=None, repr=False)
    """The optimised model, where `out` was not given and it has no external weights."""

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
    path: pathlib.Path | None
    content: bytes | None
    row: dict[str, Any]
    files: list[tuple[str, pathlib.Path | None]]
    peak: int = 0
    contents: list[tuple[str, bytes]] | None = None

    def read(self) -> list[tuple[str, bytes]]:
        """The files by name, the model first."""
        if self.content is not None:
            return [(pathlib.PurePath(self.name).name, self.content)]
        return [(name, path.read_bytes()) for name, path in self.files if path is not None]


class Run:
    """One call of `optimize_many`: what is asked for, what was sent, what is written."""

    def __init__(self, out: pathlib.Path | None, request: dict[str, Any], check: bool) -> None:
        self.out = out
        self.request = request
        self.check = check
        self.saturate = request["settings"]["strategy"] == "saturate"
        self.shared = out is not None
        self.sent: set[str] = set()
        self.key = json.dumps([request, check, _texts(request["rules"])])
        self.before: dict[str, Any] = {}
        self.mark = ""
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)
            self.before = {row["model"]: row for row in json.loads(_native.fleet_journal(out))}
            self.mark = str((out / f".tangram-{uuid.uuid4().hex}").resolve())
            pathlib.Path(self.mark).touch()

    def close(self) -> None:
        """Takes away what told workers that they see the same files."""
        if self.mark:
            pathlib.Path(self.mark).unlink(missing_ok=True)

    def look(self, name: str, model: Any) -> Source:
        """Finds out what is known of a model before it is worked on."""
        row = _row(name)
        source = Source(name, None, None, row, [])
        try:
            if isinstance(model, (str, os.PathLike)):
                source.path = pathlib.Path(model).resolve()
            else:
                source.content = Workload.from_onnx(model).to_bytes() if isinstance(model, Workload) else _bytes(model)
            self._fingerprint(source)
        except (_native.TangramError, OSError, TypeError) as error:
            row["note"] = str(error)
        return source

    def _fingerprint(self, source: Source) -> None:
        with tempfile.TemporaryDirectory(prefix="tangram-") as folder:
            path = source.path
            if path is None:
                path = pathlib.Path(folder, "model.onnx")
                path.write_bytes(source.content or b"")
            files, size, peaks, fingerprint = _native.fleet_source(path, self.key, self.saturate)
        source.files = [(file.name, file) for file in files]
        source.peak = peaks[0] if self.check else peaks[1]
        source.row |= {"bytes": [size, 0], "fingerprint": fingerprint}

    def is_unchanged(self, source: Source) -> bool:
        """Whether an earlier run did this very model in this very way."""
        old = self.before.get(source.name)
        return (
            self.out is not None
            and old is not None
            and old["state"] in ("done", "unchanged", "unchecked")
            and old["fingerprint"] == source.row["fingerprint"]
            and (self.out / source.name).is_file()
        )

    def task(self, source: Source, whole: bool) -> bytes:
        """What is sent: paths where files are shared, else contents that were not sent before."""
        header = self.request | {"kind": "optimise", "check": self.check, "path": None, "name": pathlib.PurePath(source.name).name}
        if self.shared and source.path is not None and self.out is not None:
            out = (self.out / source.name).resolve()
            return pack(header | {"path": str(source.path), "out": str(out), MARK: self.mark})
        header["rules"] = _texts(header["rules"])
        contents = [(name, digest(data), data) for name, data in source.read()]
        send = [c for c in contents if whole or c is contents[0] or c[1] not in self.sent]
        self.sent.update(d for _, d, _ in send)
        header |= {"files": [[n, d] for n, d, _ in contents], "sent": [[n, d] for n, d, _ in send]}
        return pack(header, [data for _, _, data in send])

    def finish(self, source: Source, header: dict[str, Any], pieces: list[bytes]) -> Result:
        """Writes what came back, the journal with it, and says what it is."""
        row = source.row | {"seconds": header["seconds"]}
        report = path = content = None
        if "error" in header:
            row |= {"state": "failed", "note": header["error"]}
        else:
            report = Report(header["report"])
            row |= _judged(header, row, report)
            content = self._store(source, header, pieces)
            path = self.out / source.name if self.out is not None else None
        self._note(row)
        error = row["note"] if row["state"] == "failed" else None
        return Result(source.name, row["state"], row["seconds"], report, error, path, row, content)

    def _store(self, source: Source, header: dict[str, Any], pieces: list[bytes]) -> bytes | None:
        files = dict(zip(header["files"], pieces, strict=True))
        if self.out is None:
            return next(iter(files.values())) if len(files) == 1 else None
        target = (self.out / source.name).parent
        target.mkdir(parents=True, exist_ok=True)
        # Weights first: a model that is there finds them.
        for name in sorted(files, key=lambda name: name == pathlib.PurePath(source.name).name):
            temporary = target / f".{name}.{os.getpid()}"
            temporary.write_bytes(files[name])
            temporary.replace(target / name)
        return None

    def _note(self, row: dict[str, Any]) -> None:
        if self.out is not None:
            with open(self.out / JOURNAL, "a", encoding="utf-8") as journal:
                journal.write(json.dumps(row) + "\n")


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


def _named(models: Models, out: pathlib.Path | None) -> Iterator[tuple[str, Any]]:
    """Models with their names."""
    if isinstance(models, (str, os.PathLike)):
        if os.path.isfile(models):
            yield pathlib.Path(models).name, models
            return
        inside = out.resolve() if out is not None else None
        for path, name in _native.fleet_find(models):
            if inside is None or inside not in path.resolve().parents:
                yield name.as_posix(), path
        return
    for number, model in enumerate(models):
        if isinstance(model, tuple):
            yield model
        elif isinstance(model, (str, os.PathLike)):
            yield pathlib.Path(model).name, model
        else:
            yield f"model-{number}.onnx", model


def optimize_many(
    models: Models,
    rules: RuleLike | Iterable[RuleLike] = (),
    *,
    executor: concurrent.futures.Executor | None = None,
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    max_memory: int | None = None,
    progress: bool | None = None,
    library: bool = True,
    disable: NameLike | Iterable[NameLike] = (),
    only: NameLike | Iterable[NameLike] = (),
    strategy: Literal["greedy", "walk", "saturate"] = "greedy",
    max_seconds: float | None = None,
    max_rewrites: int | None = None,
    max_nodes: int = 20_000,
    fold_limit: int | None = 1 << 20,
    opset: int | None = None,
    cost: str | os.PathLike[str] | dict[str, Any] | None = None,
    explain: bool = False,
    exact: bool = False,
    check: bool = False,
    external_data: Literal["auto", "inline", "external"] = "auto",
    steps: int = 0,
) -> Iterator[Result]:
    """Optimises many models; yields a `Result` for each as it comes, in any order.

    `models`: a folder, a pattern such as `models/**/*.onnx`, or any number of models, each a path,
    bytes, an `onnx.ModelProto`, or a pair of a name and one of these.
    `executor`: who does the work: any `concurrent.futures.Executor`, such as Dask's
    `client.get_executor()` or `RayExecutor`; processes of this machine if absent.
    `out`: the folder for results. A run that is repeated does what has changed since: a model, the
    rules, the options, or this package.
    `jobs`: how many at a time. `max_memory`: bytes that all at work may take together, estimated
    from their files; a model that needs more is refused.
    `progress`: whether to show a bar; by default where someone looks.
    The other options are those of `optimize`; a check that fails is a state, and raises nothing.

    A model that cannot be done is a result with an error. Work of a worker that dies is given to
    another, three times at most.
    """
    request = {
        "settings": {
            "library": library,
            "disable": rule_names("disable", disable),
            "only": rule_names("only", only),
            "max_seconds": max_seconds,
            "max_rewrites": max_rewrites,
            "max_nodes": max_nodes,
            "fold_limit": fold_limit,
            "strategy": strategy,
            "opset": opset,
            "cost": _cost_text(cost),
            "explain": explain,
            "exact": exact,
            "steps": steps,
        },
        "external_data": external_data,
        "rules": [[_absolute(name, text), text] for name, text in rule_sources(rules)],
    }
    folder = None if out is None else pathlib.Path(out)
    named = list(_named(models, folder))
    count = collections.Counter(name for name, _ in named)
    if twice := [name for name, times in count.items() if times > 1]:
        raise ValueError(f"several models have the same name: {', '.join(twice[:3])}")
    # Nothing starts before the first result is asked for.
    start = functools.partial(Run, folder, request, check)
    return _run(named, start, functools.partial(Engine, executor, jobs, max_memory), max_memory, progress)


def _absolute(name: str, text: str | None) -> str:
    return os.path.abspath(name) if text is None and os.path.exists(name) else name


def _run(
    named: list[tuple[str, Any]],
    start: Callable[[], Run],
    make_engine: Callable[[], Engine],
    max_memory: int | None,
    progress: bool | None,
) -> Iterator[Result]:
    run, engine = start(), make_engine()
    bar = Bar() if progress or (progress is None and (in_notebook() or _is_watched())) else None
    sources: dict[int, Source] = {}
    ready: list[Result] = []

    def tasks() -> Iterator[Task]:
        for name, model in named:
            source = run.look(name, model)
            if (result := _at_once(run, source, max_memory)) is not None:
                ready.append(result)
                continue
            task = Task(name, functools.partial(run.task, source, False), source.peak)
            sources[id(task)] = source
            yield task

    try:
        for task, header, pieces in engine.run(tasks(), bar, len(named)):
            yield from ready
            ready.clear()
            source = sources[id(task)]
            if missing := header.get("missing"):
                # The worker sees other files, or is one that did not get the weights.
                run.shared = False
                task.make = functools.partial(run.task, source, missing == "content")
                task.tries -= 1
                engine.again(task)
                continue
            del sources[id(task)]
            yield run.finish(source, header, pieces)
        yield from ready
    finally:
        run.close()


def _at_once(run: Run, source: Source, max_memory: int | None) -> Result | None:
    """The result of a model that nobody has to work on."""
    if run.is_unchanged(source):
        row = run.before[source.name] | {"state": "unchanged"}
        return Result(source.name, "unchanged", 0.0, None, None, run.out and run.out / source.name, row)
    why = source.row["note"]
    if not why and max_memory is not None and source.peak > max_memory:
        why = f"needs about {source.peak >> 20} MB of memory; {max_memory >> 20} MB are allowed"
    return run.finish(source, {"error": why, "seconds": 0.0}, []) if why else None


def _is_watched() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def table(results: Iterable[Result]) -> Table:
    """The table of results."""
    return Table(result.row for result in results)
