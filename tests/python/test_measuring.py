"""`--for`, `--objective` and `--measure`: of several rewritings the best is taken, and why is told."""

from __future__ import annotations

import collections
import concurrent.futures
import json
import sys

import numpy as np
import onnx
import pytest

import measured
import oracle
import small
import tangram
from tangram.fleet import wire

# Two transposes that undo each other: every strategy takes them away.
UNDONE = "(float[4, 6] x) => (float[4, 6] y) { a = Transpose <perm = [1, 0]> (x)  b = Transpose <perm = [1, 0]> (a)  y = Relu(b) }"
# One row of a product: rules take the row before, and one in 64 multiplications is left.
ROW = "(float[64, 256] x) => (float[1, 128] y) { a = MatMul(x, w)  y = Slice(a, s, e, d) }"
WEIGHTS = {
    "w": np.random.default_rng(0).standard_normal((256, 128)).astype(np.float32),
    "s": np.array([5]), "e": np.array([6]), "d": np.array([0]),
}  # fmt: skip
# A rule that makes five nodes of one.
WORSE = """rule worse { let x = *; match sigmoid(x) ;
    rewrite reciprocal(exp(negative(x)) + const(splat 1.0)); }"""
SIGMOID = "(float[4, 6] x) => (float[4, 6] y) { y = Sigmoid(x) }"


@pytest.fixture
def clock(tmp_path, monkeypatch) -> measured.Clock:
    return measured.Clock(tmp_path, monkeypatch)


def taken(workload: tangram.Workload) -> dict:
    """The row of what was taken."""
    choice = workload.report.choice
    return next(row for row in choice["candidates"] if row["name"] == choice["taken"])


def row(workload: tangram.Workload, name: str) -> dict:
    return next(row for row in workload.report.choice["candidates"] if row["name"] == name)


def test_what_is_faster_is_taken(clock) -> None:
    found = tangram.optimize(small.model(UNDONE), target="onnxruntime", measure=5)
    assert small.operators(found.to_onnx()) == ["Relu"]
    choice = found.report.choice
    assert (choice["basis"], choice["runtime"], choice["inputs"]) == ("measured", "onnxruntime made up 1", "x: float32[4, 6]")
    assert taken(found)["gain"] == pytest.approx(3.0) and taken(found)["why"] == "the best"
    assert choice["control"] == 1.0 and row(found, "as it came")["gain"] is None
    assert row(found, "saturate")["why"] == "the same as `greedy`"


def test_what_is_slower_is_not_taken_whatever_was_asked_for(clock) -> None:
    clock.set(seconds={"Sigmoid": 1.0})
    model = small.model(SIGMOID)
    assert "Exp" in small.operators(tangram.optimize(model, WORSE).to_onnx())
    found = tangram.optimize(model, WORSE, target="onnxruntime", measure=5)
    assert small.operators(found.to_onnx()) == ["Sigmoid"]
    assert found.to_onnx().graph.node == model.graph.node
    assert found.report.choice["taken"] == "as it came"
    slow = row(found, "greedy")
    assert slow["why"] == "worse than the model as it came" and slow["gain"] == pytest.approx(0.25)
    assert found.report.fired == {} and found.report.nodes_before == found.report.nodes_after == 1
    # Where that form is the faster one, it is taken.
    clock.set(version="made up 2", seconds={"Sigmoid": 9.0})
    found = tangram.optimize(model, WORSE, target="onnxruntime", measure=5)
    assert "Exp" in small.operators(found.to_onnx()) and found.report.choice["taken"] == "greedy"


def test_what_noise_hides_is_no_loss_and_no_gain(clock) -> None:
    """Of what is as fast, as far as can be told, what was asked for is taken."""
    clock.set(seconds={"Transpose": 0.001}, noise=0.3)
    found = tangram.optimize(small.model(UNDONE), target="onnxruntime", measure=5)
    assert found.report.choice["taken"] == "greedy" and taken(found)["noise"] >= 0.01
    assert abs(found.report.choice["control"] - 1) <= 0.3


def test_rounds_are_in_random_order_with_a_control(clock) -> None:
    tangram.optimize(small.model(UNDONE), target="onnxruntime", measure=5)
    runs = clock.runs()
    # The model as it came and what was made of it once, to see that they run; then each twice, to see
    # how long that takes.
    assert runs[:8] == [0, 2, 0, 0, 1, 1, 2, 2]
    rest = runs[8:]
    assert len(rest) % 3 == 0
    rounds = [tuple(rest[at : at + 3]) for at in range(0, len(rest), 3)]
    assert all(sorted(one) == [0, 1, 2] for one in rounds)
    orders = collections.Counter(rounds)
    assert len(orders) == 6 and max(orders.values()) < len(rounds) / 3


def test_later_runs_read_what_was_measured(clock, tmp_path) -> None:
    model = small.model(UNDONE)
    first = tangram.optimize(model, target="onnxruntime", measure=5)
    assert len(clock.runs()) > 100
    second = tangram.optimize(model, target="onnxruntime", measure=5)
    # The model as it came is seen to run; nothing is timed.
    assert clock.runs() == [0] and second.report.choice["basis"] == "database"
    assert taken(second)["gain"] == taken(first)["gain"] and second.report.choice["control"] is None
    # Names make no difference, sizes and versions do.
    named = small.model(UNDONE.replace("a = ", "inner = ").replace("(a)", "(inner)"))
    assert tangram.optimize(named, target="onnxruntime", measure=5).report.choice["basis"] == "database"
    wider = small.model(UNDONE.replace("[4, 6]", "[4, 7]"))
    assert tangram.optimize(wider, target="onnxruntime", measure=5).report.choice["basis"] == "measured"
    clock.set(version="made up 2")
    assert tangram.optimize(model, target="onnxruntime", measure=5).report.choice["basis"] == "measured"


def test_lines_that_are_damaged_or_of_others_are_left_out(clock, tmp_path) -> None:
    model, path = small.model(UNDONE), tmp_path / "times.jsonl"
    asked = {"target": "onnxruntime", "measure": 5, "measurements": path}
    tangram.optimize(model, **asked)
    (line,) = path.read_text().splitlines()
    told = json.loads(line)
    assert told["gain"] == pytest.approx(3.0) and told["name"] == "greedy" and told["rounds"] > 6
    clock.runs()
    # Of another machine, and of ours that says the reverse in fewer rounds.
    foreign = json.dumps(told | {"machine": "another", "gain": 0.1})
    fewer = json.dumps(told | {"gain": 0.1, "rounds": 1})
    newer = json.dumps(told | {"format": 2, "gain": 0.1, "rounds": 10**6})
    for lines in ([foreign, fewer, line, newer], [line, foreign, newer, fewer], [line[:50], "[]", "nonsense", line, line[:70]]):
        path.write_text("\n".join(lines))
        found = tangram.optimize(model, **asked)
        assert taken(found)["gain"] == pytest.approx(3.0) and found.report.choice["basis"] == "database"
        damaged = [note for note in found.report.choice["notes"] if "damaged" in note]
        assert len(damaged) == ("nonsense" in lines)
    path.write_text(f"{foreign}\n{line[:60]}")
    found = tangram.optimize(model, **asked)
    assert found.report.choice["basis"] == "measured" and taken(found)["gain"] == pytest.approx(3.0)
    # What was added stands on a line of its own.
    assert tangram.optimize(model, **asked).report.choice["basis"] == "database"


def test_a_budget_that_is_too_small_says_so(clock) -> None:
    found = tangram.optimize(small.model(UNDONE), target="onnxruntime", measure=0)
    choice = found.report.choice
    assert choice["basis"] == "predicted" and any("budget" in note for note in choice["notes"])
    assert small.operators(found.to_onnx()) == ["Relu"]


def test_without_measuring_estimates_decide(clock) -> None:
    found = tangram.optimize(small.model(UNDONE), target="native")
    assert found.report.choice["basis"] == "predicted" and clock.runs() == []
    assert small.operators(found.to_onnx()) == ["Relu"] and taken(found)["gain"] is None


def test_sizes_are_counted() -> None:
    """A product of constants is smaller than its result: the fold that greedy makes is not taken."""
    weights = {"a": np.ones((300, 2), np.float32), "b": np.ones((2, 300), np.float32)}
    model = small.model("(float[4, 300] x) => (float[4, 300] y) { w = MatMul(a, b)  y = MatMul(x, w) }", weights=weights)
    plain = tangram.optimize(model)
    found = tangram.optimize(model, objective="size")
    assert len(found.to_bytes()) <= len(model.SerializeToString())
    assert len(found.to_bytes()) <= len(plain.to_bytes())
    sizes = {row["name"]: row["predicted"] for row in found.report.choice["candidates"]}
    assert sizes[found.report.choice["taken"]] == min(sizes.values())
    assert "control" in found.report.choice and found.report.choice["control"] is None


def test_memory_counts_what_is_alive_at_once() -> None:
    model = small.model("(float[100, 100] x) => (float[1, 100] y) { a = Exp(x)  b = Neg(a)  y = Slice(b, s, e, d) }",
                        weights={"s": np.array([0]), "e": np.array([1]), "d": np.array([0])})  # fmt: skip
    found = tangram.optimize(model, objective="memory")
    rows = {row["name"]: row["predicted"] for row in found.report.choice["candidates"]}
    # Two of 40,000 bytes, and three integers of 8 bytes; a row of each once the slice comes first.
    assert rows["as it came"] == 80_024 and rows[found.report.choice["taken"]] <= 1_000


@pytest.mark.parametrize("wrong", [{"target": "tvm"}, {"objective": "speed"}, {"target": "native", "measure": -1}])
def test_what_cannot_be_asked_for(wrong) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong)) if len(wrong) == 1 else "measure"):
        tangram.optimize(small.model(UNDONE), **wrong)


def test_the_command_measures(clock, tangram_bin, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("TANGRAM_PYTHON", sys.executable)
    command = small.Command(tangram_bin, tmp_path)
    asked = ("--for", "onnxruntime", "--measure=5")
    after, report = command.optimise(small.model(UNDONE), *asked)
    assert small.operators(after) == ["Relu"] and report["choice"]["basis"] == "measured"
    ran = command.run("opt", "in.onnx", "-o", "out.onnx", *asked)
    assert "by what was measured before" in ran.stdout and "greedy (taken)" in ran.stdout
    # The package and the command keep times in one place.
    assert tangram.optimize(small.model(UNDONE), target="onnxruntime", measure=5).report.choice["basis"] == "database"
    monkeypatch.setenv("TANGRAM_PYTHON", str(tmp_path / "no-python"))
    ran = command.run("opt", "in.onnx", "-o", "out.onnx", *asked, code=3)
    assert "not measured" in ran.stdout and "TANGRAM_PYTHON" in ran.stdout
    assert small.operators(onnx.load(tmp_path / "out.onnx")) == ["Relu"]


def test_a_rewriting_that_does_not_run_is_left_out(clock) -> None:
    clock.set(seconds={"Exp": -1.0, "Sigmoid": 5.0})
    found = tangram.optimize(small.model(SIGMOID), WORSE, target="onnxruntime", measure=5)
    assert found.report.choice["taken"] == "as it came" and found.report.choice["basis"] == "measured"
    assert row(found, "greedy")["why"] == "it does not run: no kernel"


def test_without_the_runtime_it_says_so(clock) -> None:
    (clock.folder / "made-up" / "onnxruntime" / "__init__.py").write_text("raise ImportError('not here')")
    found = tangram.optimize(small.model(UNDONE), target="onnxruntime", measure=5)
    assert any("no onnxruntime" in note for note in found.report.choice["notes"])


@pytest.mark.parametrize("target", ["onnxruntime", "native"])
def test_real_runtimes_are_measured(target, tmp_path, monkeypatch) -> None:
    """What is taken computes the same, and is not known to be slower."""
    monkeypatch.setenv("TANGRAM_CACHE", str(tmp_path / "cache"))
    model = small.model(ROW, weights=WEIGHTS)
    found = tangram.optimize(model, target=target, measure=4, check="onnxruntime")
    assert found.report.choice["basis"] == "measured", found.report.choice
    assert found.report.choice["runtime"].startswith(target)
    best = taken(found)
    assert best["gain"] is None or best["gain"] + best["noise"] >= 1
    inputs = oracle.random_inputs(model)
    assert oracle.same(oracle.run_ort(found.to_onnx(), inputs), oracle.run_ort(model, inputs))


def test_many_are_measured_on_any_executor(clock, tmp_path) -> None:
    models = [("a.onnx", small.model(UNDONE)), ("b.onnx", small.model(SIGMOID))]
    asked = {"target": "onnxruntime", "measure": 5, "rules": WORSE}
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        first = {r.model: r for r in tangram.optimize_many(models, executor=executor, **asked)}
    assert {r.state for r in first.values()} <= {"done", "unchecked"}, first
    assert {r.report.choice["taken"] for r in first.values()} == {"greedy", "as it came"}
    second = list(tangram.optimize_many(models, jobs=2, **asked))
    assert {r.report.choice["basis"] for r in second} == {"database"}


class Elsewhere(concurrent.futures.ThreadPoolExecutor):
    """Workers of another machine, which have a file of times of their own."""

    def __init__(self, folder) -> None:
        super().__init__(1)
        self.own = str(folder / "theirs.jsonl")

    def submit(self, function, data):  # type: ignore[no-untyped-def, override]
        return super().submit(self.run, function, data)

    def run(self, function, data: bytes) -> bytes:
        header, pieces = wire.unpack(data)
        header["settings"]["measurements"] = self.own
        header, pieces = wire.unpack(function(wire.pack(header, pieces)))
        return wire.pack(header | {"worker": "elsewhere:1"}, pieces)


def test_what_others_measured_is_brought_home(clock, tmp_path) -> None:
    """Two files are merged by writing one behind the other."""
    path, asked = tmp_path / "ours.jsonl", {"target": "onnxruntime", "measure": 5}
    with Elsewhere(tmp_path) as executor:
        (far,) = tangram.optimize_many(
            [("a.onnx", small.model(UNDONE))], executor=executor, measurements=path, **asked
        )
    assert far.report.choice["basis"] == "measured"
    ours, theirs = ([json.loads(line) for line in file.read_text().splitlines()] for file in (path, tmp_path / "theirs.jsonl"))
    assert ours == theirs and len(ours) == 1
    other = tmp_path / "other.jsonl"
    tangram.optimize(small.model(UNDONE.replace("[4, 6]", "[2, 3]")), measurements=other, **asked)
    merged = tmp_path / "merged.jsonl"
    merged.write_text(other.read_text() + path.read_text())
    for model in (UNDONE, UNDONE.replace("[4, 6]", "[2, 3]")):
        found = tangram.optimize(small.model(model), measurements=merged, **asked)
        assert found.report.choice["basis"] == "database" and taken(found)["gain"] == pytest.approx(3.0)
