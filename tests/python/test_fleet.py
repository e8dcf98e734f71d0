"""Many models at once: the same results on every engine, whoever dies, and nothing done twice."""

from __future__ import annotations

import csv
import json
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import onnx
import pytest

import tangram
from fleet_models import Elsewhere, Slow, folder, heavy, names  # noqa: F401: `folder` is a fixture
from tangram.fleet import Table

def is_right(models: pathlib.Path, out: pathlib.Path, name: str) -> None:
    """The result is what the one-model interface makes, and computes what the model does."""
    onnx.checker.check_model(str(out / name))
    alone = tangram.optimize(models / name).to_onnx()
    together = tangram.Workload.from_onnx(out / name).to_onnx()
    assert [n.op_type for n in together.graph.node] == [n.op_type for n in alone.graph.node], name


def all_right(models: pathlib.Path, out: pathlib.Path, results: list[tangram.fleet.Result]) -> None:
    assert {r.model: r.state for r in results} == dict.fromkeys(names(models), "done")
    for name in names(models):
        is_right(models, out, name)
    compared = list(tangram.compare_many(models, out, jobs=2))
    assert {c.model for c in compared} == names(models)
    assert [c for c in compared if c.state == "different"] == []
    assert [c.error for c in compared if c.state == "failed"] == []


def test_processes_of_this_machine(folder, tmp_path) -> None:
    out = tmp_path / "out"
    results = list(tangram.optimize_many(folder, out=out, jobs=2, check=True))
    states = {r.model: r.state for r in results}
    assert set(states) == names(folder) and set(states.values()) <= {"done", "unchecked"}
    assert states["heavy.onnx"] == "done"
    all_right(folder, out, list(tangram.optimize_many(folder, out=tmp_path / "again", jobs=2)))
    # External weights go along, and lie in a file of their own.
    assert any(path.suffix == ".data" for path in out.iterdir())
    assert [path.name for path in out.iterdir() if path.name.startswith(".")] == []


def test_nothing_is_done_twice(folder, tmp_path) -> None:
    out = tmp_path / "out"
    assert len(list(tangram.optimize_many(folder, out=out, jobs=2))) == len(names(folder))
    written = {path: path.stat().st_mtime_ns for path in out.rglob("*.onnx")}
    again = list(tangram.optimize_many(folder, out=out, jobs=2))
    assert {r.state for r in again} == {"unchanged"}
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*.onnx")} == written
    # What changes is done: a model, weights beside one, a result that is gone, an option.
    cnn = next(name for name in names(folder) if name.endswith("cnn.onnx"))
    proto = onnx.load(folder / cnn)
    proto.doc_string = "changed"
    onnx.save(proto, folder / cnn)
    (folder / "heavy.bin").write_bytes(bytes(64 * 64 * 4))
    gone = sorted(names(folder) - {cnn, "heavy.onnx"})[0]
    (out / gone).unlink()
    done = {r.model for r in tangram.optimize_many(folder, out=out, jobs=2) if r.state == "done"}
    assert done == {cnn, "heavy.onnx", gone}
    other = list(tangram.optimize_many(folder, out=out, jobs=2, disable="gelu"))
    assert {r.state for r in other} == {"done"}


def test_a_bad_model_is_a_result(folder, tmp_path) -> None:
    (folder / "bad.onnx").write_bytes(b"this is no model")
    (folder / "empty.onnx").write_bytes(b"")
    results = {r.model: r for r in tangram.optimize_many(folder, out=tmp_path / "out", jobs=2)}
    assert set(results) == names(folder)
    assert results["bad.onnx"].state == "failed" and results["bad.onnx"].error
    with pytest.raises(tangram.ModelError):
        results["bad.onnx"].workload()
    assert {r.state for name, r in results.items() if name not in ("bad.onnx", "empty.onnx")} == {"done"}


def test_models_and_results_may_be_content(folder) -> None:
    given = [("a.onnx", heavy()), ("b.onnx", heavy().SerializeToString()), folder / "heavy.onnx"]
    results = {r.model: r for r in tangram.optimize_many(given, jobs=1)}
    for name in ("a.onnx", "b.onnx"):
        assert [n.op_type for n in results[name].workload().to_onnx().graph.node] == ["MatMul"]
    with pytest.raises(ValueError, match="same name"):
        list(tangram.optimize_many([("a.onnx", heavy()), ("a.onnx", heavy())], jobs=1))


def test_weights_travel_by_content_once(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    models = tmp_path / "models"
    models.mkdir()
    for number in range(6):
        proto = heavy()
        proto.graph.name = f"variant {number}"
        onnx.save(proto, models / f"m{number}.onnx", save_as_external_data=True, location="shared.bin", size_threshold=0)
        # Each save appends: all are to share one file.
        if number < 5:
            (models / "shared.bin").unlink()
    executor = Elsewhere()
    results = list(tangram.optimize_many(models, executor=executor, out=tmp_path / "out"))
    assert {r.state for r in results} == {"done"} and len(results) == 6
    weights = 64 * 64 * 4
    assert sum(size > weights for size in executor.sent) <= 3, executor.sent
    for number in range(6):
        is_right(models, tmp_path / "out", f"m{number}.onnx")


def test_memory_is_kept_under_its_limit(folder, tmp_path) -> None:
    peaks = {name: tangram._native.fleet_source(folder / name, "", False)[2][1] for name in names(folder)}
    small, large = min(peaks.values()), max(peaks.values())
    assert 0 < small <= large
    refused = list(tangram.optimize_many(folder, out=tmp_path / "a", jobs=2, max_memory=small - 1))
    assert {r.state for r in refused} == {"failed"} and all("MB" in r.error for r in refused)
    fine = list(tangram.optimize_many(folder, out=tmp_path / "b", jobs=4, max_memory=large))
    assert {r.state for r in fine} == {"done"}


def test_rules_are_verified_one_by_one() -> None:
    wrong = "rule wrong { let x = *; match relu(x); rewrite x; }"
    right = "rule right { let x = *; match relu(relu(x)); rewrite relu(x); }"
    found = {r.name: r for r in tangram.check_rules([wrong, right, "transpose-transpose"], jobs=2)}
    assert set(found) == {"wrong", "right", "transpose-transpose"}
    assert found["wrong"].wrong and not found["wrong"].holds and found["wrong"].text
    assert found["right"].holds and found["transpose-transpose"].holds
    with pytest.raises(tangram.RuleError):
        list(tangram.check_rules("rule bad { let x = *; match rleu(x); rewrite x; }"))


def test_a_comparison_finds_what_differs(folder, tmp_path) -> None:
    proto = heavy()
    proto.graph.node[1].op_type = "Exp"
    onnx.save(proto, tmp_path / "other.onnx")
    onnx.save(heavy(), tmp_path / "same.onnx")
    before = folder / "heavy.onnx"
    pairs = [[before, before], [tmp_path / "other.onnx", tmp_path / "same.onnx"]]
    found = {c.model: c for c in tangram.compare_many(*pairs, jobs=1)}
    assert [c.state for c in tangram.compare_many([before], [tmp_path / "same.onnx"], jobs=1)] == ["equal"]
    assert found["heavy.onnx"].state in ("equal", "different")
    (other,) = tangram.compare_many([before], [tmp_path / "other.onnx"], jobs=1)
    assert other.state == "different" and other.difference > 0.1


@pytest.fixture
def command(tangram_bin):
    """Both commands: of this machine alone, and of the package."""

    def call(form: str, *words: object, code: int = 0) -> subprocess.CompletedProcess[str]:
        first = [tangram_bin, "opt"] if form == "tangram" else [sys.executable, "-m", "tangram", "opt"]
        ran = subprocess.run([*first, *map(str, words)], capture_output=True, text=True, timeout=300)
        assert ran.returncode == code, ran.stdout + ran.stderr
        return ran

    return call


FORMS = ["tangram", "python"]


@pytest.mark.parametrize("form", FORMS)
def test_the_command_does_a_folder_and_resumes(command, form, folder, tmp_path) -> None:
    out = tmp_path / "out"
    page = [f"--table={tmp_path / name}" for name in ("t.csv", "t.json", "t.html", "t.txt")]
    (folder / "bad.onnx").write_bytes(b"this is no model")
    said = command(form, folder, "-o", out, "--jobs", "2", "--disable", "gelu", *page, code=1).stdout
    good = names(folder) - {"bad.onnx"}
    assert {path.relative_to(out).as_posix() for path in out.rglob("*.onnx")} == good
    assert f"{len(good) + 1} models, {len(good)} done, 1 failed" in said
    rows = json.loads((tmp_path / "t.json").read_text())
    assert {row["model"]: row["state"] for row in rows} == dict.fromkeys(good, "done") | {"bad.onnx": "failed"}
    listed = list(csv.DictReader((tmp_path / "t.csv").open()))
    assert [row["model"] for row in listed] == sorted(names(folder))
    for row, line in zip(rows, listed, strict=True):
        if row["state"] == "done":
            assert [int(line["nodes_before"]), int(line["nodes_after"])] == row["nodes"]
            assert row["bytes"][1] > 0 and "gelu" not in json.dumps(row)
    assert (tmp_path / "t.txt").read_text() in said
    again = command(form, folder, "-o", out, "--jobs", "2", "--disable", "gelu", code=1).stdout
    assert f"{len(good)} unchanged" in again
    changed = command(form, folder, "-o", out, "--jobs", "2", code=1).stdout
    assert f"{len(good)} done" in changed


@pytest.mark.parametrize("form", FORMS)
def test_a_pattern_stands_for_models(command, form, folder, tmp_path) -> None:
    command(form, folder / "**" / "*c*.onnx", "-o", tmp_path / "out", "--check")
    chosen = {n for n in names(folder) if "c" in pathlib.PurePath(n).name.removesuffix(".onnx")}
    assert chosen and {p.relative_to(tmp_path / "out").as_posix() for p in (tmp_path / "out").rglob("*.onnx")} == chosen
    assert "no model" in command(form, folder / "none*", "-o", tmp_path / "out", code=2).stderr


def test_the_command_takes_several_files_and_keeps_options(command, folder, tmp_path) -> None:
    files = sorted(folder.rglob("*.onnx"))[:3]
    wrong = tmp_path / "wrong.gsl"
    wrong.write_text("rule wrong { let x = *; match relu(x); rewrite x; }")
    command("tangram", *files, "-o", tmp_path / "out")
    assert {path.name for path in (tmp_path / "out").glob("*.onnx")} == {path.name for path in files}
    said = command("tangram", folder, "-o", tmp_path / "wrong", "--check", "--rules", wrong, "--no-library", code=1)
    assert re.search(r"cnn.onnx .* different: DIFFERENT", said.stdout), said.stdout
    limited = command("tangram", folder, "-o", tmp_path / "small", "--max-memory", "1M", code=1).stdout
    assert "--max-memory" in limited and "failed" in limited
    assert "would have the same" in command("tangram", files[0], files[0], "-o", tmp_path / "x", code=2).stderr


@pytest.mark.parametrize("form", FORMS)
def test_ctrl_c_keeps_what_is_done(form, tangram_bin, folder, tmp_path) -> None:
    rules = tmp_path / "slow.gsl"
    rules.write_text(Slow.TEXT)
    out = tmp_path / "out"
    first = [tangram_bin, "opt"] if form == "tangram" else [sys.executable, "-m", "tangram", "opt"]
    more = ["--rules", rules, "--max-seconds", "0.5", "--max-rewrites", str(10**15)]
    words = [*first, folder, "-o", out, "--jobs", "1", *more]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, preexec_fn=listen)
    journal = out / "tangram-fleet.jsonl"
    while not journal.is_file() or not journal.read_text().endswith("\n"):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 130 and "run it again" in said
    kept = {path.relative_to(out).as_posix() for path in out.rglob("*.onnx")}
    assert kept and kept != names(folder)
    rows = [json.loads(line) for line in journal.read_text().splitlines()]
    assert {row["model"] for row in rows if row["state"] == "done"} <= kept
    ran = subprocess.run(words, capture_output=True, text=True)
    assert ran.returncode == 0 and "unchanged" in ran.stdout and "failed" not in ran.stdout


def listen() -> None:
    """Where tests run in the background, the signal may come ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


ROWS = Table(
    {
        "model": name, "state": state, "nodes": nodes, "bytes": [2000000, 1000000], "flops": None,
        "seconds": seconds, "difference": None, "note": note, "fingerprint": "",
    }
    for name, state, nodes, seconds, note in [
        ("b/two.onnx", "done", [10, 5], 2.0, ""),
        ("a/one.onnx", "done", [9, 9], 10.0, 'a "quoted", note'),
        ("</script><b>three.onnx", "failed", None, 1.0, "no <model>"),
    ]
)

ACT = """
<script>
const names = () => [...document.querySelectorAll("#body tr")].map((row) => row.cells[0].textContent);
const seen = { first: names() };
const press = (i) => document.querySelectorAll("#head button")[i].click();
press(5); seen.up = names(); press(5); seen.down = names(); press(1); seen.nodes = names();
at("filter").value = "ONE"; at("filter").dispatchEvent(new Event("input")); seen.filtered = names();
at("filter").value = ""; at("state").value = "failed"; at("state").dispatchEvent(new Event("change"));
seen.failed = names(); seen.count = at("count").textContent;
document.body.replaceChildren(Object.assign(document.createElement("pre"), { id: "seen", textContent: JSON.stringify(seen) }));
</script>
"""


def test_tables_hold_what_was_found() -> None:
    (_, first, second) = sorted(csv.DictReader(ROWS.render("csv").splitlines()), key=lambda r: r["model"])
    assert first["note"] == 'a "quoted", note' and second["nodes_after"] == "5"
    assert [row["model"] for row in json.loads(ROWS.render("json"))] == sorted(r["model"] for r in ROWS)
    assert "10 -> 5" in str(ROWS) and "3 models, 2 done, 1 failed" in str(ROWS)
    assert "</script><b>" not in ROWS.render("html") and "https://" not in ROWS.render("html")
    assert "<b>three" not in ROWS._repr_html_()


def test_the_page_sorts_and_filters(tmp_path) -> None:
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("needs chromium")
    page = tmp_path / "page.html"
    page.write_text(ROWS.render("html").replace("</body>", ACT + "</body>"))
    words = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    words += [f"--user-data-dir={tmp_path / 'profile'}", page.as_uri()]
    shown = subprocess.run(words, capture_output=True, text=True, check=True, timeout=120).stdout
    found = re.search(r'<pre id="seen">(.*)</pre>', shown, re.DOTALL)
    assert found, shown[-2000:]
    seen = json.loads(found.group(1).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
    one, two, three = "a/one.onnx", "b/two.onnx", "</script><b>three.onnx"
    assert seen["first"] == [three, one, two]
    assert seen["up"] == [three, two, one] and seen["down"] == [one, two, three]
    assert seen["nodes"] == [one, two, three], "what is not known comes last"
    assert seen["filtered"] == [one] and seen["failed"] == [three]
    assert seen["count"] == "1 of 3 models"


def test_a_trace_of_each_model_has_its_steps(tangram_bin, folder, tmp_path) -> None:
    """What children report to the table has no steps; a trace that is asked for does."""
    words = [tangram_bin, "opt", folder, "-o", tmp_path / "out", "--quiet", "--trace", "each.json"]
    subprocess.run(words, check=True, cwd=tmp_path)
    traces = sorted((tmp_path / "out").rglob("*.json"))
    assert {t.with_suffix(".onnx").relative_to(tmp_path / "out").as_posix() for t in traces} == names(folder)
    assert any(json.loads(trace.read_text())["steps"] for trace in traces)
