"""Ends a command at each of its system calls, once by a kill and once by an error, as SQLite is tested.

A `Case` is a folder, a command, and what its files are before and after. Whatever happens in
between, each output is the old one or the new one, all files of a model are of one of both, and
nothing else lies there when the command has run once more.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import hashlib
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator

import numpy as np
import onnx
from onnx import numpy_helper

import small

# Calls that files have to do with; those on memory and threads are the run-time system's own.
CALLS = [
    "openat", "read", "pread64", "write", "pwrite64", "lseek", "ftruncate", "fsync", "fdatasync", "flock",
    "fchmod", "linkat", "link", "rename", "renameat", "renameat2", "unlink", "unlinkat", "mkdir", "statx",
    "newfstatat", "fstat", "readlink", "copy_file_range", "sendfile", "getdents64", "close", "mmap", "munmap",
]
ERRORS = ["EIO", "ENOSPC", "EACCES"]


@dataclasses.dataclass
class Case:
    """A command that writes."""

    name: str
    arguments: list[str]
    outputs: list[str]
    prepare: Callable[[pathlib.Path], None]
    allowed_codes: tuple[int, ...] = (0,)
    # Outputs are of one model together, once another command has looked at the folder.
    together: bool = False
    # The compiler that a command calls makes calls of its own, which are not what is looked at.
    alone: bool = False


def digest(path: pathlib.Path) -> str | None:
    """What an output is: a model by its graph and the bytes of its weights, another file by its own."""
    if not path.exists():
        return None
    if path.suffix != ".onnx":
        return hashlib.sha256(path.read_bytes()).hexdigest()
    model = onnx.load(path)
    found = hashlib.sha256()
    for tensor in model.graph.initializer:
        found.update(tensor.name.encode() + numpy_helper.to_array(tensor).tobytes())
    del model.graph.initializer[:]
    return found.hexdigest() + hashlib.sha256(model.SerializeToString()).hexdigest()


@functools.cache
def weights(seed: int) -> dict[str, np.ndarray]:
    """Numbers for the model."""
    random_ = np.random.default_rng(seed)
    return {name: random_.standard_normal((24, 24)).astype("f") for name in "uvw"}


def pair(path: pathlib.Path, seed: int) -> None:
    """Writes a model whose result has other weights than it has itself: their sum is folded."""
    model = small.model(
        "(float[2, 24] x) => (float[2, 24] y) { s = Add(v, w)  m = MatMul(x, s)  y = MatMul(m, u) }", weights=weights(seed)
    )
    onnx.save(model, path, save_as_external_data=True, location=path.name + ".data", size_threshold=64)


def inline(path: pathlib.Path, seed: int) -> None:
    """Writes the same with the weights in it."""
    pair(path, seed)
    onnx.save(onnx.load(path), path)
    path.with_name(path.name + ".data").unlink()


def cases() -> list[Case]:
    """All writing commands."""

    def with_old(*outputs: str) -> Callable[[pathlib.Path], None]:
        def prepare(folder: pathlib.Path) -> None:
            pair(folder / "m.onnx", 0)
            for output in outputs:
                (folder / output).write_text("old")

        return prepare

    def in_place(folder: pathlib.Path) -> None:
        pair(folder / "m.onnx", 0)

    def over_another(folder: pathlib.Path) -> None:
        pair(folder / "m.onnx", 0)
        pair(folder / "out.onnx", 1)

    def script(folder: pathlib.Path) -> None:
        (folder / "s.calc").write_text('write "set.txt" { [i] : 0 <= i < 4 };\n')
        (folder / "set.txt").write_text("old")

    def rules(folder: pathlib.Path) -> None:
        (folder / "r.gsl").write_text("rule r alias { let x = *;  match relu(relu(x));   rewrite relu(x); }\n")

    def loops(folder: pathlib.Path) -> None:
        (folder / "k.c").write_text(
            "void f(int n, double a[n]) {\n#pragma scop\n  for (int i = 0; i < n; i++) a[i] = 2 * a[i];\n"
            "#pragma endscop\n}\n"
        )
        (folder / "out.c").write_text("old")

    opt = ["opt", "m.onnx", "--no-library", "-q"]
    return [
        Case("in-place", [*opt, "-o", "m.onnx"], ["m.onnx"], in_place),
        Case("over-another", [*opt, "-o", "out.onnx"], ["out.onnx"], over_another),
        Case("new", [*opt, "-o", "out.onnx"], ["out.onnx"], in_place),
        Case("inline", [*opt, "-o", "out.onnx", "--external-data", "inline"], ["out.onnx"], over_another),
        Case(
            "reports",
            [*opt, "-o", "out.onnx", "--trace", "t.json"],
            ["out.onnx", "t.json"],
            with_old("t.json"),
        ),
        Case("show", ["show", "m.onnx", "--format", "mlir", "-o", "m.mlir"], ["m.mlir"], with_old("m.mlir")),
        Case("view", ["view", "m.onnx", "-o", "m.html", "--rules"], ["m.html"], with_old("m.html")),
        Case(
            "run",
            ["run", "m.onnx", "--random", "--interpret", "--no-rules", "-o", "o.npz"],
            ["o.npz"],
            with_old("o.npz"),
        ),
        Case(
            "compile",
            ["compile", "m.onnx", "--no-rules", "--emit", "c", "--machine", "sse2", "-o", "m.c"],
            ["m.c", "m.h", "m.weights"],
            with_old("m.c", "m.h", "m.weights"),
            together=True,
        ),
        Case(
            "library",
            ["compile", "m.onnx", "--no-rules", "--machine", "sse2", "-o", "m.so"],
            ["m.so", "m.h", "m.weights"],
            with_old("m.so", "m.h"),
            together=True,
            alone=True,
        ),
        Case("calc", ["calc", "s.calc", "--allow-files"], ["set.txt"], script),
        Case("fmt", ["rules", "fmt", "r.gsl"], ["r.gsl"], rules),
        Case("scop", ["scop", "k.c", "-o", "out.c"], ["out.c"], loops),
    ]


@dataclasses.dataclass(frozen=True)
class Point:
    """A call of a thread, and what becomes of it."""

    call: str
    number: int
    fault: str


class Suite:
    """One case with its points."""

    def __init__(self, case: Case, binary: pathlib.Path, folder: pathlib.Path) -> None:
        self.case, self.binary = case, binary
        self.start, self.work = folder / "start", folder / "work"
        self.log = folder / "log"
        self.start.mkdir()
        case.prepare(self.start)
        self.old = self._digests(self.start)
        self._reset()
        done = self._run("-e", f"trace={','.join(CALLS)}")
        assert done.returncode in case.allowed_codes, done.stderr
        self.new = self._digests(self.work)
        assert self.new != self.old
        self.files = self._files()
        self.counts = self._counted()

    def _digests(self, folder: pathlib.Path) -> dict[str, str | None]:
        return {name: digest(folder / name) for name in self.case.outputs}

    def _files(self) -> set[str]:
        return {str(path.relative_to(self.work)) for path in self.work.rglob("*")}

    def _reset(self) -> None:
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.copytree(self.start, self.work)

    def _command(self) -> list[str]:
        return [str(self.binary), *self.case.arguments]

    def _run(self, *options: str, seconds: int = 300) -> subprocess.CompletedProcess[str]:
        threads = [] if self.case.alone else ["-f"]
        words = ["strace", *threads, "-qq", "-o", str(self.log), *options, *self._command()]
        pipe = subprocess.PIPE
        with subprocess.Popen(words, cwd=self.work, stdout=pipe, stderr=pipe, text=True, start_new_session=True) as process:
            try:
                out, err = process.communicate(timeout=seconds)
            finally:
                # What strace runs goes with it, whatever ended the wait: nothing would end this one.
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def _counted(self) -> dict[str, int]:
        """How often the thread with the most of them makes each call."""
        found: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
        for line in self.log.read_text(errors="replace").splitlines():
            if named := re.match(r"(?:(\d+) +)?(\w+)\(", line):
                found[named[2]][named[1] or ""] += 1
        return {call: max(counter.values()) for call, counter in found.items()}

    def points(self) -> Iterator[Point]:
        """All of them."""
        for call, count in sorted(self.counts.items()):
            for number in range(1, count + 1):
                yield Point(call, number, "signal=SIGKILL")
                # Memory that is refused ends any process in Rust.
                if call not in ("mmap", "munmap"):
                    yield Point(call, number, f"error={ERRORS[number % len(ERRORS)]}")

    def sample(self, count: int, seed: int) -> list[Point]:
        """Some: all that change what is there, the rest by chance."""
        changing = {"linkat", "link", "rename", "renameat", "renameat2", "unlink", "unlinkat", "fsync", "flock"}
        every = list(self.points())
        first = [point for point in every if point.call in changing]
        rest = [point for point in every if point.call not in changing]
        random_ = random.Random(seed)
        random_.shuffle(first)
        random_.shuffle(rest)
        return (first[:count] + rest)[: count + count // 2]

    def check(self, point: Point) -> list[str]:
        """What is wrong after a run that ended, or failed, at this point."""
        self._reset()
        words = ["-e", f"trace={point.call}", "-e", f"inject={point.call}:{point.fault}:when={point.number}"]
        is_withheld = point.call == "close" and "error" in point.fault
        try:
            done = self._run(*words, seconds=20 if is_withheld else 300)
        except subprocess.TimeoutExpired:
            # A pipe that strace keeps open has a reader that waits; the system closes it with an error, too.
            if is_withheld:
                return []
            raise
        faults = []
        try:
            found = self._digests(self.work)
            if self.case.together and found not in (self.old, self.new) and "signal" in point.fault:
                self._look()
                found = self._digests(self.work)
                if found not in (self.old, self.new):
                    faults.append(f"{point}: of two models")
        except Exception as error:
            return [f"{point}: not to be read: {error}"]
        for name, value in found.items():
            if value not in (self.old[name], self.new[name]):
                faults.append(f"{point}: {name} is neither the old nor the new one")
        # Before the first line of ours the loader of programs reads libraries.
        if "signal" not in point.fault and "shared libraries" not in done.stderr:
            if done.returncode not in (0, 1, 2, 3) or "panicked" in done.stderr:
                faults.append(f"{point}: ended with {done.returncode}: {done.stderr[:300]}")
            if done.returncode not in self.case.allowed_codes and not done.stderr.strip():
                faults.append(f"{point}: no message")
            if done.returncode in self.case.allowed_codes and found != self.new:
                faults.append(f"{point}: reported as done, and is not")
            extra = self._files() - self.files - set(self.start_files())
            if extra:
                faults.append(f"{point}: left behind after an error: {sorted(extra)}")
        return faults + self._again(point)

    def _look(self) -> None:
        """Has another command write into the folder."""
        look = [str(self.binary), "show", "m.onnx", "--format", "mlir", "-o", "look.mlir"]
        subprocess.run(look, cwd=self.work, capture_output=True, timeout=300, check=True)
        (self.work / "look.mlir").unlink()

    def start_files(self) -> list[str]:
        """What was there at the beginning."""
        return [str(path.relative_to(self.start)) for path in self.start.rglob("*")]

    def _again(self, point: Point) -> list[str]:
        """The next run gives the new output, and takes away what the last one left."""
        for path in self.work.glob(".tangram-*"):
            # Ten seconds are the grace of a writer that has just begun.
            subprocess.run(["touch", "-d", "1 minute ago", path], check=True)
        done = subprocess.run(
            self._command(), cwd=self.work, capture_output=True, text=True, timeout=300, check=False
        )
        if done.returncode not in self.case.allowed_codes:
            return [f"{point}: the next run ended with {done.returncode}: {done.stderr[:300]}"]
        extra = self._files() - self.files - set(self.start_files())
        hidden = [name for name in extra if name.startswith(".")]
        return [f"{point}: still there after the next run: {hidden}"] if hidden else []
