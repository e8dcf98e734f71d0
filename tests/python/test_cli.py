"""The command: what it prints, what it exits with, and that bad input loses nothing."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys
import threading

import onnx
import pytest

from conftest import ROOT
from onnx import TensorProto, helper

sys.path.insert(0, str(ROOT / "bench" / "onnx"))
import scale  # noqa: E402: models of any size


@pytest.fixture
def run(tangram_bin):
    """Runs the command; gives what it printed, and checks how it ended."""

    def call(*arguments, code: int = 0) -> subprocess.CompletedProcess[str]:
        ran = subprocess.run([tangram_bin, *arguments], capture_output=True, text=True)
        assert ran.returncode == code, ran.stderr + ran.stdout
        return ran

    return call


@pytest.fixture
def model(root) -> pathlib.Path:
    return root / "examples/models/cnn.onnx"


def test_the_table_says_what_fired(run, model, tmp_path) -> None:
    out = tmp_path / "out.onnx"
    said = run("opt", model, "-o", out).stdout
    assert "conv-batch-norm" in said and "BatchNormalization" in said and "nodes" in said
    onnx.checker.check_model(out)


def test_check_compares_both_models(run, model, tmp_path) -> None:
    said = run("opt", model, "-o", tmp_path / "out.onnx", "--check").stdout
    assert "equal" in said
    wrong = tmp_path / "wrong.gsl"
    wrong.write_text("rule wrong { let x = *; match relu(x); rewrite x; }")
    said = run("opt", model, "-o", tmp_path / "out.onnx", "--check", "--rules", wrong, code=1)
    assert "DIFFERENT" in said.stdout


def test_the_report_is_json(run, model, tmp_path) -> None:
    said = run("opt", model, "-o", tmp_path / "out.onnx", "--json", "-").stdout
    report = json.loads(said)
    assert report["nodes"]["after"] < report["nodes"]["before"]
    assert report["shares"]["nn_operators"] == 1.0
    assert set(report["seconds"]) == {"load", "optimise", "save"}


def test_the_report_tells_of_each_change(run, model, tmp_path) -> None:
    request = ("opt", model, "-o", tmp_path / "out.onnx", "--json", "-")
    report = json.loads(run(*request).stdout)
    fired = {rule["name"] for rule in report["rules"] if rule["fired"]}
    assert fired and fired <= {step["rule"] for step in report["steps"]}
    assert len(report["steps"]) == report["step_count"]
    names = {node["source"][0] for step in report["steps"] for node in step["matched"] if node["source"]}
    known = {node.name for node in onnx.load(model).graph.node}
    assert names & known, "steps name the nodes of the model"
    assert json.loads(run(*request, "--steps", "1").stdout)["steps"] == report["steps"][:1]


@pytest.mark.parametrize("strategy", ["greedy", "walk"])
@pytest.mark.parametrize("limit", [("--max-rewrites", "1"), ("--max-seconds", "0")])
def test_limits_stop_the_search_and_say_so(run, model, tmp_path, limit, strategy) -> None:
    request = ("opt", model, "-o", tmp_path / "out.onnx", "--strategy", strategy)
    said = run(*request, *limit).stdout
    assert "stopped early" in said
    onnx.checker.check_model(tmp_path / "out.onnx")


def test_ctrl_c_keeps_what_is_reached(tangram_bin, tmp_path) -> None:
    """The bar is shown on a terminal; when it counts rewrites, Ctrl-C comes."""
    source, out = tmp_path / "in.onnx", tmp_path / "out.onnx"
    source.write_bytes(scale.build(20_000).SerializeToString())
    terminal, end = os.openpty()
    command = [tangram_bin, "opt", source, "-o", out]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=end, text=True)
    os.close(end)

    def watch() -> None:
        shown, told = b"", False
        while True:
            try:
                shown += os.read(terminal, 4096)
            except OSError:  # the other end is closed
                return
            if b" rewrites" in shown and not told:
                told = True
                process.send_signal(signal.SIGINT)

    reader = threading.Thread(target=watch)
    reader.start()
    said, _ = process.communicate(timeout=300)
    reader.join(timeout=60)
    os.close(terminal)
    assert process.returncode == 130 and "stopped early by cancellation" in said
    onnx.checker.check_model(out)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.onnx", "out.onnx"]


def cyclic() -> bytes:
    nodes = [helper.make_node("Relu", ["b"], ["a"]), helper.make_node("Relu", ["a"], ["b"])]
    value = helper.make_tensor_value_info("b", TensorProto.FLOAT, [1])
    return helper.make_model(helper.make_graph(nodes, "g", [], [value])).SerializeToString()


def old(content: bytes) -> bytes:
    proto = onnx.load_from_string(content)
    proto.opset_import[0].version = 3
    return proto.SerializeToString()


BAD = {
    "empty": lambda good: b"",
    "text": lambda good: b"this is no model",
    "truncated": lambda good: good[: len(good) // 2],
    "cyclic": lambda good: cyclic(),
    "too old": old,
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_models_give_one_error_and_touch_nothing(run, model, tmp_path, kind: str) -> None:
    source, out = tmp_path / "in.onnx", tmp_path / "out.onnx"
    source.write_bytes(BAD[kind](model.read_bytes()))
    out.write_bytes(b"precious")
    ran = run("opt", source, "-o", out, code=2)
    assert ran.stderr.startswith("error: ") and "in.onnx" in ran.stderr
    assert "panicked" not in ran.stderr
    assert out.read_bytes() == b"precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.onnx", "out.onnx"]


def test_other_bad_requests_are_refused(run, model, tmp_path) -> None:
    out = tmp_path / "out.onnx"
    rules = tmp_path / "bad.gsl"
    rules.write_text("rule bad { let x = *; match rleu(x); rewrite x; }")
    for arguments, said in [
        (("opt", tmp_path / "none.onnx", "-o", out), "none.onnx"),
        (("opt", model, "-o", tmp_path / "none" / "out.onnx"), "none"),
        (("opt", model, "-o", out, "--rules", rules), "relu"),
        (("opt", model, "-o", out, "--rules", "no-such-topic"), "no-such-topic"),
        (("opt", model, "-o", out, "--only", "no-such-rule"), "no-such-rule"),
        (("opt", model, "-o", out, "--fold-limit", "much"), "much"),
        (("rules", "show", "no-such-rule"), "no-such-rule"),
    ]:
        assert said in run(*arguments, code=2).stderr
    assert not out.exists()


def test_rules_are_listed_shown_checked_and_formatted(run, root, tmp_path) -> None:
    assert "transpose-transpose" in run("rules", "list").stdout
    names = {rule["name"] for rule in json.loads(run("rules", "list", "--json").stdout)}
    assert "conv-batch-norm" in names
    assert run("rules", "show", "relu-relu").stdout.startswith("/// Applies relu once.")
    run("rules", "check", root / "rules" / "takes.gsl")
    run("rules", "fmt", "--check", root / "rules")
    ugly = tmp_path / "ugly.gsl"
    ugly.write_text("rule r{let x=*;match relu(x);rewrite x;}")
    run("rules", "fmt", "--check", ugly, code=1)
    run("rules", "fmt", ugly)
    run("rules", "fmt", "--check", ugly)


@pytest.mark.long
def test_all_rules_of_the_library_are_checked_without_a_name(run) -> None:
    run("rules", "check")


def test_verdicts_are_json_apart_from_what_is_found_in_the_text(run, tmp_path) -> None:
    rules = tmp_path / "rules.gsl"
    rules.write_text(
        "rule wrong { let x = *; let a = relu(x); match tanh(a); rewrite tanh(x); }\n"
        "rule unused { let x = *; let y = *; match relu(relu(x)); rewrite relu(x); }\n"
    )
    ran = run("rules", "check", "--json", rules, code=1)
    wrong, unused = json.loads(ran.stdout)
    assert "warning[unused]" in ran.stderr and f"{rules}:2:" in ran.stderr.replace("┌─ ", "")
    assert (wrong["rule"], wrong["wrong"], wrong["holds"]) == ("wrong", True, False)
    assert (unused["rule"], unused["wrong"], unused["holds"]) == ("unused", False, True)
    # The numbers, which values the patterns stand for, and the program that they are in.
    found = wrong["counterexample"]
    assert [leaf["name"] for leaf in found["inputs"]] == ["x"]
    assert min(found["inputs"][0]["elements"]) < 0, "only negative numbers tell the two apart"
    assert found["matched"] == ["x = x0", "a = v0"]
    assert any("v0 = relu(x0)" in line for line in found["program"])


@pytest.mark.parametrize("form", ["mlir", "dot", "svg", "table", "json"])
def test_a_model_is_shown(run, model, tmp_path, form: str) -> None:
    start = {"mlir": '"builtin.module"', "dot": "digraph", "svg": "<", "table": "input", "json": "{"}[form]
    assert run("show", model, "--format", form).stdout.lstrip().startswith(start)
    run("show", model, "--format", form, "-o", tmp_path / "out")
    assert (tmp_path / "out").read_text().lstrip().startswith(start)


@pytest.mark.parametrize("command", [("opt",), ("show", "--format", "svg")])
def test_links_and_pipes_are_written_through(run, model, tmp_path, command) -> None:
    target, link, pipe = tmp_path / "target", tmp_path / "link", tmp_path / "pipe"
    run(*command, model, "-o", target)
    expected = target.read_bytes()
    target.write_bytes(b"old")
    link.symlink_to(target)
    run(*command, model, "-o", link)
    assert link.is_symlink() and target.read_bytes() == expected
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
    reader.start()
    run(*command, model, "-o", pipe)
    reader.join(timeout=10)
    assert pipe.is_fifo() and got == [expected]
