"""What users do with folders of models, and what goes wrong with those."""

from __future__ import annotations

import io
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import onnx
import pytest

import tangram
from conftest import EXAMPLES
from fleet_models import Elsewhere, Slow, folder, heavy, names, slow  # noqa: F401: `folder` is a fixture
from tangram._progress import Bar
from tangram.fleet import unit


@pytest.fixture
def zoo(tmp_path) -> pathlib.Path:
    """Folders of which each has a file `model.onnx`, as collections of models have."""
    for number, path in enumerate(EXAMPLES[:3]):
        (tmp_path / "zoo" / f"m{number}").mkdir(parents=True)
        shutil.copy(path, tmp_path / "zoo" / f"m{number}" / "model.onnx")
    return tmp_path / "zoo"


def hidden(out: pathlib.Path) -> list[str]:
    """What lies among results and is none."""
    return [path.name for path in out.rglob(".*")]


def test_files_of_one_name_in_several_folders(zoo, tmp_path, tangram_bin) -> None:
    files = sorted(zoo.rglob("*.onnx"))
    wanted = {"m0/model.onnx", "m1/model.onnx", "m2/model.onnx"}
    for models in (files, [zoo / "m0", zoo / "m1", files[2]], [str(zoo)]):
        assert {r.model for r in tangram.optimize_many(models, jobs=1)} == wanted
    (one,) = tangram.optimize_many([files[0]], jobs=1)
    assert one.model == "model.onnx"
    subprocess.run([tangram_bin, "opt", *files, "-o", tmp_path / "out", "--quiet"], check=True)
    assert names(tmp_path / "out") == wanted


ODD = [
    "a b", "ümläut", "模型", "-dash", "--help", "'quote\"", "[x]", "star*", "ques?", "new\nline", "tab\t",
    "back\\slash", "dot..dot", "percent%20", "amp&<tag>", "comma,semi;", "$(touch x)", "very" + "long" * 50,
]


def test_models_of_any_name(tmp_path, tangram_bin) -> None:
    models = tmp_path / "[models] *"
    for number, name in enumerate(ODD):
        path = models / ("in here" if number % 2 else "") / f"{name}.onnx"
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(EXAMPLES[number % 2], path)
    shutil.copy(EXAMPLES[0], models / "UPPER.ONNX")
    wanted = {path.relative_to(models).as_posix() for path in models.rglob("*.*")}
    assert len(wanted) == len(ODD) + 1
    found = {r.model: r.state for r in tangram.optimize_many(models, out=tmp_path / "a", jobs=2)}
    assert found == dict.fromkeys(wanted, "done")
    words = [tangram_bin, "opt", models, "-o", tmp_path / "b", "--table", tmp_path / "t.json"]
    said = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    rows = json.loads((tmp_path / "t.json").read_text())
    assert {row["model"]: row["state"] for row in rows} == found
    # One line each, none much longer than what it says.
    assert len(said.splitlines()) == 1 + len(wanted) + 2 and max(map(len, said.splitlines())) < 200
    assert "in here/'quote\".onnx" in said and "new\\nline.onnx" in said
    again = {r.model: r.state for r in tangram.optimize_many(models, out=tmp_path / "a", jobs=2)}
    assert again == dict.fromkeys(wanted, "unchanged")


def test_what_is_missing_is_named(folder, tmp_path, tangram_bin) -> None:
    (folder / "heavy.bin").unlink()
    (folder / "gone.onnx").symlink_to("nowhere")
    os.mkfifo(folder / "pipe.onnx")
    (folder / "folder.onnx").mkdir()
    results = {r.model: r for r in tangram.optimize_many(folder, out=tmp_path / "a", jobs=2)}
    failed = {name: r.error for name, r in results.items() if r.state == "failed"}
    assert set(failed) == {"heavy.onnx", "gone.onnx"}
    assert "heavy.bin" in failed["heavy.onnx"] and "nowhere" in failed["gone.onnx"]
    words = [tangram_bin, "opt", folder, "-o", tmp_path / "b", "--table", tmp_path / "t.json", "--quiet"]
    assert subprocess.run(words).returncode == 1
    rows = {row["model"]: row for row in json.loads((tmp_path / "t.json").read_text())}
    assert {name for name, row in rows.items() if row["state"] == "failed"} == set(failed)
    assert "heavy.bin" in rows["heavy.onnx"]["note"] and "gone.onnx" in rows["gone.onnx"]["note"]


def test_results_never_take_the_place_of_models(zoo, tmp_path) -> None:
    before = {path: path.read_bytes() for path in zoo.rglob("*.onnx")}
    for models, out in [(zoo, zoo), (zoo / "m0", zoo / "m0"), (sorted(before), zoo), ([zoo / "m0" / "model.onnx"], zoo / "m0")]:
        with pytest.raises(ValueError, match="folder"):
            list(tangram.optimize_many(models, out=out, jobs=1))
    for name in ("../a.onnx", "/tmp/a.onnx", "", "a/../../b.onnx"):
        with pytest.raises(ValueError, match="no name below"):
            list(tangram.optimize_many([(name, heavy())], out=tmp_path / "out", jobs=1))
    assert {path: path.read_bytes() for path in zoo.rglob("*.onnx")} == before


def test_weights_in_a_folder_below_travel_by_content(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "models" / "w").mkdir(parents=True)
    onnx.save(
        heavy(), tmp_path / "models" / "a.onnx", save_as_external_data=True, location="w/a.bin", size_threshold=0
    )
    (result,) = tangram.optimize_many(tmp_path / "models", executor=Elsewhere(), out=tmp_path / "out")
    assert result.state == "done", result.error
    (same,) = tangram.compare_many(tmp_path / "models", tmp_path / "out", jobs=1)
    assert same.state == "equal"


def test_weights_that_nobody_asks_for_are_forgotten(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    old = unit._kept(unit.digest(b"old"), b"old")
    os.utime(old, (1, 1))
    assert unit._kept(unit.digest(b"new"), b"new").is_file() and not old.exists()
    assert unit._kept(unit.digest(b"old"), None) is None


@pytest.mark.parametrize("spoil", [lambda p: p.unlink(), lambda p: p.write_bytes(p.read_bytes()[:-5])])
@pytest.mark.parametrize("ending", ["heavy.onnx", "heavy.onnx*.data"])
def test_a_result_that_is_spoilt_is_done_again(folder, tmp_path, spoil, ending) -> None:
    for _ in range(2):
        states = [r.state for r in tangram.optimize_many(folder / "heavy.onnx", out=tmp_path, jobs=1)]
        assert states == ["done"]
        # Data that is there already is never written over: what is new has a name of its content.
        spoil(max(tmp_path.glob(ending), key=lambda path: path.stat().st_mtime_ns))
    assert [r.state for r in tangram.optimize_many(folder / "heavy.onnx", out=tmp_path, jobs=1)] == ["done"]
    onnx.checker.check_model(str(tmp_path / "heavy.onnx"))


@pytest.mark.parametrize("executor", [None, Elsewhere])
def test_a_result_that_cannot_be_written_is_a_failure(folder, tmp_path, executor) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "0").write_text("a file where a folder is needed")
    states = {r.model: r for r in tangram.optimize_many(folder, out=out, jobs=2, executor=executor and executor())}
    assert {r.state for name, r in states.items() if name.startswith("0/")} == {"failed"}
    assert {r.state for name, r in states.items() if not name.startswith("0/")} == {"done"}
    with pytest.raises(OSError):
        list(tangram.optimize_many(folder, out=out / "0", jobs=1))


def test_what_is_wrong_with_every_model_is_said_once(folder, tmp_path) -> None:
    wrong = {"rules": "rule r { let x = *; match rleu(x); rewrite x; }", "disable": "no-such-rule", "cost": {"a": 1}}
    for option, value in wrong.items():
        with pytest.raises((tangram.RuleError, ValueError)):
            list(tangram.optimize_many(folder, out=tmp_path / "out", jobs=1, **{option: value}))
    with pytest.raises(TypeError, match="no option `disbale`"):
        tangram.optimize_many(folder, out=tmp_path / "out", disbale="gelu")
    assert not list(tmp_path.glob("out/**/*.onnx")) and hidden(tmp_path) == []


def test_a_loop_that_is_left_keeps_what_is_done(folder, tmp_path) -> None:
    out = tmp_path / "out"
    for first in slow(folder, out, jobs=2):
        break
    assert hidden(out) == []
    again = {r.model: r.state for r in slow(folder, out, jobs=2)}
    assert again[first.model] == "unchanged" and set(again) == names(folder)


def test_a_run_that_is_killed_leaves_nothing_behind(folder, tmp_path) -> None:
    out, rules = tmp_path / "out", tmp_path / "slow.gsl"
    rules.write_text(Slow.TEXT)
    engine = "import sys; from tangram.__main__ import on_engine; sys.exit(on_engine(sys.argv[1:]))"
    words = [sys.executable, "-c", engine, "opt", folder, "-o", out, "-j", "2", "--rules", rules]
    words += ["--max-seconds", "0.4", "--max-rewrites", str(10**15)]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    while not (out / "tangram-fleet.jsonl").is_file():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert hidden(out) != []
    ran = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0 and "unchanged" in ran.stdout, ran.stdout + ran.stderr
    assert hidden(out) == [] and names(out) == names(folder)


def test_a_model_without_a_partner_is_told(folder, tmp_path) -> None:
    list(tangram.optimize_many(folder, out=tmp_path / "out", jobs=2))
    gone = sorted(names(folder))[0]
    (tmp_path / "out" / gone).unlink()
    found = {c.model: c for c in tangram.compare_many(folder, tmp_path / "out", jobs=2)}
    assert set(found) == names(folder)
    assert found[gone].state == "failed" and "no such model" in found[gone].error


def test_the_bar_stays_on_its_line_whatever_names_hold(tmp_path, monkeypatch) -> None:
    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    for number, name in enumerate(ODD):
        (tmp_path / "models").mkdir(exist_ok=True)
        shutil.copy(EXAMPLES[number % 2], tmp_path / "models" / f"{name}.onnx")
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(Bar, "_PATIENCE", 0.0)
    monkeypatch.setenv("COLUMNS", "60")
    assert len(list(tangram.optimize_many(tmp_path / "models", jobs=1, out=tmp_path / "out"))) == len(ODD)
    lines = [line for line in screen.getvalue().split("\r\x1b[K") if line]
    assert len(lines) == len(ODD) and all(line.isprintable() and len(line) < 60 for line in lines)
    # The last one is all that there is; before it there is a time that is left.
    assert lines[-1].startswith("[" + 30 * "#" + "]") and " s left, " in lines[len(lines) // 2]
