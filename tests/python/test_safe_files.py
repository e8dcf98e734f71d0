"""Outputs: whole or not at all, never an input, never through somebody's link, never two at once."""

from __future__ import annotations

import io
import os
import pathlib
import shutil
import signal
import stat
import subprocess
import time

import numpy as np
import onnx
import pytest

import crash_points
import small

OPT = ["opt", "m.onnx", "--no-library", "-q"]


@pytest.fixture
def command(tangram_bin, tmp_path) -> small.Command:
    return small.Command(tangram_bin, tmp_path)


def names(folder: pathlib.Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def locations(path: pathlib.Path) -> set[str]:
    model = onnx.load(path, load_external_data=False)
    entries = [entry for tensor in model.graph.initializer for entry in tensor.external_data]
    return {entry.value for entry in entries if entry.key == "location"}


def test_in_place_the_data_is_never_written_to(command) -> None:
    """The old file stays as it is for whoever has opened the old model."""
    path = command.folder / "m.onnx"
    crash_points.pair(path, 0)
    with open(command.folder / "m.onnx.data", "rb") as held:
        before = held.read()
        command.run(*OPT, "-o", "m.onnx")
        held.seek(0)
        assert held.read() == before
    (data,) = locations(path)
    assert names(command.folder) == sorted(["m.onnx", data])
    assert data.startswith("m.onnx.") and data.endswith(".data") and data != "m.onnx.data"
    # The same again gives the same.
    first = path.read_bytes()
    command.run(*OPT, "-o", "m.onnx")
    assert path.read_bytes() == first and names(command.folder) == sorted(["m.onnx", data])


def test_a_new_model_has_the_plain_name_and_keeps_it(command) -> None:
    crash_points.pair(command.folder / "m.onnx", 0)
    for _ in range(2):
        command.run(*OPT, "-o", "out.onnx")
        assert locations(command.folder / "out.onnx") == {"out.onnx.data"}
    assert names(command.folder) == ["m.onnx", "m.onnx.data", "out.onnx", "out.onnx.data"]


def test_data_that_another_model_refers_to_stays(command) -> None:
    crash_points.pair(command.folder / "m.onnx", 0)
    shutil.copy(command.folder / "m.onnx", command.folder / "copy.onnx")
    before = crash_points.digest(command.folder / "copy.onnx")
    command.run(*OPT, "-o", "m.onnx")
    assert crash_points.digest(command.folder / "copy.onnx") == before


@pytest.mark.parametrize("fault", ["signal=SIGKILL", "error=EIO"])
def test_between_data_and_model_the_old_pair_stays(command, fault) -> None:
    """A kill or an error where the model should get its place."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    path = command.folder / "m.onnx"
    crash_points.pair(path, 0)
    before = crash_points.digest(path)
    calls = "rename,renameat,renameat2"
    strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={calls}", "-e", f"inject={calls}:{fault}:when=1"]
    done = subprocess.run([*strace, command.binary, *OPT, "-o", "m.onnx"], cwd=command.folder, check=False)
    assert done.returncode != 0 and crash_points.digest(path) == before
    if "error" in fault:
        assert names(command.folder) == ["m.onnx", "m.onnx.data"]
    command.run(*OPT, "-o", "m.onnx")
    assert len([name for name in names(command.folder) if name.endswith(".data")]) == 1


def test_a_second_writer_is_told(command) -> None:
    """What another program wrote while the work went on stays."""
    path = command.folder / "m.onnx"
    crash_points.pair(path, 0)
    pipe = command.folder / "data.npy"
    os.mkfifo(pipe)
    # It waits for the data of its check, which it reads before all else.
    work = subprocess.Popen(
        [command.binary, *OPT, "-o", "out.onnx", "--check", "--data", "x=data.npy"],
        cwd=command.folder, stderr=subprocess.PIPE, text=True,
    )
    with open(pipe, "wb") as feed:
        (command.folder / "out.onnx").write_text("of somebody else")
        held = io.BytesIO()
        np.save(held, np.zeros((2, 24), "f"))
        feed.write(held.getvalue())
    said = work.communicate(timeout=120)[1]
    assert work.returncode == 2 and "another program wrote it" in said, said
    assert (command.folder / "out.onnx").read_text() == "of somebody else"
    assert not list(command.folder.glob("out.onnx.*"))


REFUSED = [
    [*OPT, "-o", "out.onnx", "--json", "m.onnx"],
    [*OPT, "-o", "out.onnx", "--trace", "./m.onnx"],
    [*OPT, "-o", "out.onnx", "--json", "linked.onnx"],
    [*OPT, "-o", "m.onnx.data"],
    [*OPT, "-o", "m.onnx", "--json", "m.onnx"],
    [*OPT, "-o", "out.onnx", "--json", "m.onnx.data"],
    [*OPT, "-o", "out.onnx", "--check", "--data", "x=x.npy", "--json", "x.npy"],
    [*OPT, "-o", "out.onnx", "--rules", "r.gsl", "--json", "r.gsl"],
    ["run", "m.onnx", "--random", "-o", "m.onnx"],
    ["run", "m.onnx", "--input", "x=x.npy", "-o", "x.npy"],
    ["run", "m.onnx", "--input", "x.npy", "-o", "o.npz", "--report", "o.npz"],
    ["run", "m.onnx", "--random", "-o", "m.onnx.data"],
    ["compile", "m.onnx", "-o", "m.onnx"],
    ["compile", "m.h", "-o", "m.so"],
    ["compile", "m.onnx", "--emit", "mlir", "-o", "m.onnx.data"],
    ["show", "m.onnx", "--format", "mlir", "-o", "m.onnx"],
    ["show", "m.onnx", "-o", "hard.onnx"],
    ["codegen", "m.onnx", "-o", "m.onnx"],
    ["rules", "import", "r.gsl", "-o", "r.gsl"],
    ["egraph", "dot", "a", "--rules", "r.gsl", "-o", "r.gsl"],
    # What rules and processors are read from, and what a project says.
    [*OPT, "-o", "rules/x.gsl", "--rules", "rules"],
    [*OPT, "-o", "used.gsl", "--rules", "uses.gsl"],
    ["rewrite", "k.mlir", "-o", "r.gsl", "--rules", "r.gsl"],
    ["rewrite", "k.mlir", "-o", "used.gsl", "--rules", "uses.gsl"],
    ["compile", "m.onnx", "-o", "m.json", "--emit", "c", "--machine", "m.json"],
    ["run", "m.onnx", "--random", "-o", "m.json", "--machine", "m.json"],
    ["scop", "k.c", "-o", "m.json", "--machine", "m.json"],
    ["scop", "k.c", "-o", "k.h"],
    [*OPT, "-o", "tangram.toml"],
]


@pytest.mark.parametrize("arguments", REFUSED, ids=" ".join)
def test_an_output_that_is_an_input_is_refused(command, arguments) -> None:
    crash_points.pair(command.folder / "m.onnx", 0)
    (command.folder / "linked.onnx").symlink_to("m.onnx")
    os.link(command.folder / "m.onnx", command.folder / "hard.onnx")
    for name in ("x.npy", "r.gsl", "k.mlir"):
        (command.folder / name).write_text("in")
    own = {"rules/x.gsl": "in", "used.gsl": "in", "uses.gsl": 'use "used.gsl";\n', "tangram.toml": "[opt]\n",
           "k.h": "int n;\n", "k.c": '#include "k.h"\nint f(void) { return n; }\n'}  # fmt: skip
    for name, text in own.items():
        (command.folder / name).parent.mkdir(exist_ok=True)
        (command.folder / name).write_text(text)
    machine = subprocess.run([command.binary, "machine", "sse2", "--json"], capture_output=True, check=True).stdout
    (command.folder / "m.json").write_bytes(machine)
    shutil.copy(command.folder / "m.onnx", command.folder / "m.h")
    def files() -> dict[pathlib.Path, bytes]:
        return {path: path.read_bytes() for path in command.folder.rglob("*") if path.is_file()}

    before = files()
    said = command.run(*arguments, code=2).stderr
    ways = ("would replace", "two outputs", "is an ONNX model")
    assert any(way in said for way in ways), said
    assert files() == before


def test_a_file_that_may_not_grow_is_an_error(command) -> None:
    """Where the process may write no large files, a signal would end it without a word."""
    crash_points.inline(command.folder / "m.onnx", 0)
    (command.folder / "o.onnx").write_text("old")
    limited = ["sh", "-c", 'ulimit -f 1; exec "$0" "$@"', command.binary, *OPT, "-o", "o.onnx"]
    done = subprocess.run(limited, cwd=command.folder, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "o.onnx" in done.stderr and "large" in done.stderr, done
    assert (command.folder / "o.onnx").read_text() == "old"
    assert names(command.folder) == ["m.onnx", "o.onnx"]


def test_links_permissions_and_long_names_are_kept(command) -> None:
    folder = command.folder
    crash_points.pair(folder / "m.onnx", 0)
    long = "n" * 250 + ".txt"
    (folder / long).write_text("old")
    os.chmod(folder / long, 0o4640)
    (folder / "link").symlink_to(long)
    command.run("show", "m.onnx", "--format", "mlir", "-o", "link")
    assert (folder / "link").is_symlink() and (folder / long).read_text() != "old"
    assert stat.S_IMODE((folder / long).stat().st_mode) == 0o640
    # A link that leads nowhere leads somewhere afterwards.
    (folder / "to-be").symlink_to("made.txt")
    command.run("show", "m.onnx", "--format", "mlir", "-o", "to-be")
    assert (folder / "to-be").is_symlink() and (folder / "made.txt").is_file()
    command.run("show", "m.onnx", "--format", "mlir", "-o", "/dev/null")
    assert not [name for name in names(folder) if name.startswith(".")]


def test_a_name_that_could_be_foreseen_is_not_used(command) -> None:
    folder = command.folder
    crash_points.pair(folder / "m.onnx", 0)
    victim = folder / "victim"
    victim.write_text("mine")
    # The name that writers had once, for every process to come.
    shell = 'ln -s victim ".out.mlir.$$.tmp"; exec "$0" show m.onnx --format mlir -o out.mlir'
    subprocess.run(["sh", "-c", shell, command.binary], cwd=folder, check=True)
    assert victim.read_text() == "mine" and not (folder / "out.mlir").is_symlink()


@pytest.mark.parametrize("ends", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_what_is_ended_leaves_nothing(command, ends) -> None:
    """A signal in the one moment in which a new file has a name that is not its own."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    folder = command.folder
    crash_points.pair(folder / "m.onnx", 0)
    (folder / "out.mlir").write_text("old")
    slow = ["-e", "trace=linkat", "-e", "inject=linkat:delay_exit=4000000"]
    work = subprocess.Popen(
        ["strace", "-f", "-qq", "-o", "/dev/null", *slow, command.binary, "show", "m.onnx", "-o", "out.mlir"],
        cwd=folder,
        # Whoever runs tests in the background lets them inherit signals that are ignored.
        preexec_fn=lambda: signal.signal(ends, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 60
    while not list(folder.glob(".tangram-*")):
        assert time.monotonic() < deadline and work.poll() is None
        time.sleep(0.01)
    (child,) = pathlib.Path(f"/proc/{work.pid}/task/{work.pid}/children").read_text().split()
    os.kill(int(child), ends)
    work.wait(timeout=60)
    assert names(folder) == ["m.onnx", "m.onnx.data", "out.mlir"]
    assert (folder / "out.mlir").read_text() == "old"


def test_scripts_use_files_only_where_that_is_allowed(command) -> None:
    (command.folder / "s.calc").write_text('write "out.txt" { [1] };\n')
    said = command.run("calc", "s.calc", code=2).stderr
    assert "--allow-files" in said and not (command.folder / "out.txt").exists()
    command.run("calc", "s.calc", "--allow-files")
    assert (command.folder / "out.txt").exists()
