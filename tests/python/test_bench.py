"""The benchmark's own parts: its counts, its verdicts, its measurements, its generators."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import oracle
from conftest import ROOT

sys.path.insert(0, str(ROOT / "bench" / "onnx"))
import judge  # noqa: E402
import large  # noqa: E402
import measure  # noqa: E402
import report  # noqa: E402
import run as bench  # noqa: E402
import scale  # noqa: E402

FLOAT = TensorProto.FLOAT


def unary(operator: str = "Relu", output: str = "y", domain: str = "", **attributes):
    """A model of one operator, with an optional weight that is an input as well."""
    node = helper.make_node(operator, ["x"], [output], domain=domain, **attributes)
    x, y = (helper.make_tensor_value_info(name, FLOAT, ["N"]) for name in ("x", output))
    weight = numpy_helper.from_array(np.ones(1, np.float32), "w")
    inputs = [x, helper.make_tensor_value_info("w", FLOAT, [1])]
    graph = helper.make_graph([node], "unary", inputs, [y], [weight])
    imports = [helper.make_opsetid("", 17)]
    imports += [helper.make_opsetid(domain, 1)] if domain else []
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def without_optional(model: onnx.ModelProto) -> onnx.ModelProto:
    """Leaves out the input that has an initializer."""
    del model.graph.input[1]
    return model


def misspelt() -> onnx.ModelProto:
    """A model that the checker refuses."""
    model = unary()
    model.graph.node[0].op_type = "Rellu"
    return model


def verdicts(tmp_path, **models: onnx.ModelProto) -> dict[str, dict]:
    """Judges models against a plain `Relu`, in a process of its own."""
    original = tmp_path / "original.onnx"
    onnx.save(unary(), original)
    named = []
    for name, model in models.items():
        path = tmp_path / name / "out.onnx"
        path.parent.mkdir()
        onnx.save(model, path)
        named.append(f"{name}={path}")
    command = [sys.executable, ROOT / "bench/onnx/judge.py", original, *named]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found: dict[str, dict] = {}
    for line in output.splitlines():
        found |= json.loads(line)
    return found


# A judge whose engine ends with the first two sizes, and with the result `bad`.
FRAIL = """
import json, os, sys
first, original, *named = int(sys.argv[2]), *sys.argv[3:]
for number in range(first, 7):
    print(json.dumps({"trying": number}), flush=True)
    if number < 2:
        os.abort()
    break
print(json.dumps({"original": {"size": number}}))
for name in (words.partition("=")[0] for words in named):
    print(json.dumps({"begun": name}), flush=True)
    if name == "bad":
        os.abort()
    print(json.dumps({name: {"verdict": "ok"}}), flush=True)
"""


def test_what_ends_the_judge_is_left_out(tmp_path, monkeypatch) -> None:
    (tmp_path / "judge.py").write_text(FRAIL)
    monkeypatch.setattr(bench, "HERE", tmp_path)
    found = bench.judge(tmp_path, dict.fromkeys(("good", "bad", "other"), tmp_path), 60)
    assert found["original"] == {"size": 2}, "the first size that does not end it"
    assert {name: found[name]["verdict"] for name in ("good", "bad", "other")} == {
        "good": "ok", "bad": "wrong", "other": "ok",
    }  # fmt: skip


def test_verdicts(tmp_path) -> None:
    found = verdicts(
        tmp_path,
        same=unary(),
        wrong=unary("Neg"),
        renamed=unary(output="z"),
        invalid=misspelt(),
        optional=without_optional(unary()),
        vendor=unary("FastGelu", domain="com.microsoft"),
    )
    wanted = {
        "same": ("ok", None),
        "wrong": ("wrong", None),
        "renamed": ("interface", "changed"),
        "invalid": ("invalid", None),
        "optional": ("ok", "optional"),
    }
    assert {n: (found[n]["verdict"], found[n]["interface"]) for n in wanted} == wanted
    assert found["vendor"]["vendor"] == ["com.microsoft"]
    assert found["original"]["nodes"] == 1
    assert found["original"]["dimensions"] == {
        "static": 0, "symbolic": 1, "unknown": 0, "unranked": 0,
    }  # fmt: skip


def test_nodes_are_counted_everywhere_but_constants() -> None:
    model = onnx.load(ROOT / "examples" / "models" / "control.onnx")
    every = list(judge.all_nodes(model))
    inside = [node for node in every if node.op_type == "Tanh"]
    assert len(inside) == 1, "the body of the loop counts"
    constants = sum(node.op_type == "Constant" for node in every)
    assert constants > 0 and judge.count(model) == len(every) - constants


def test_a_process_is_measured_and_ended() -> None:
    code = "x = bytearray(64_000_000); print('done'); import time; time.sleep(0.1)"
    ran = measure.run([sys.executable, "-c", code], 60)
    assert ran.ok and ran.output.strip() == "done"
    assert 0.0 < ran.cpu_seconds < ran.seconds + 1.0
    assert ran.peak_anonymous_bytes > 64_000_000 and ran.peak_bytes >= ran.peak_anonymous_bytes
    ended = measure.run([sys.executable, "-c", "import time; time.sleep(60)"], 0.2)
    assert ended.ended == "timeout" and not ended.ok
    assert measure.run([sys.executable, "-c", "import os; os.abort()"], 60).ended == "signal 6"
    assert measure.run([sys.executable, "-c", "raise SystemExit(3)"], 60).ended == "exit 3"


# Stands in for `tangram opt IN -o OUT --json FILE ...`: copies, and reports as the command does.
STAND_IN = """#!{python}
import json, pathlib, sys
_, source, _, target, _, said = sys.argv[1:7]
pathlib.Path(target).write_bytes(pathlib.Path(source).read_bytes())
shares = {{"nn_operators": 1.0, "dimensions": {{"static": 1, "symbolic": 3, "unknown": 0}}}}
seconds = {{"load": 0.25, "optimise": 0.5, "save": 0.25}}
pathlib.Path(said).write_text(json.dumps({{"seconds": seconds, "shares": shares}}))
"""


def test_our_report_is_read(tmp_path, monkeypatch) -> None:
    command = tmp_path / "tangram"
    command.write_text(STAND_IN.format(python=sys.executable))
    command.chmod(0o755)
    monkeypatch.setenv("TANGRAM_BIN", str(command))
    arguments = argparse.Namespace(limit=60.0, tangram_args="", rounds=2, latency=1)
    source = ROOT / "examples" / "models" / "legacy.onnx"
    record = bench.bench_model(source, [bench.OURS], arguments)
    ours = record["results"][bench.OURS]
    assert ours["verdict"] == "ok" and ours["work"] == 1.0 and ours["turns"] == [1.0, 1.0]
    assert ours["same_bytes"] and ours["nodes"] == record["original"]["nodes"]
    times = report.latency({"legacy": record}, [bench.OURS]).splitlines()[-1].split()
    assert times[0] == "legacy" and all(float(time.removesuffix("ms")) > 0 for time in times[1:])
    shown = report.shares({"legacy": record}).splitlines()[-1].split()
    assert shown[-4:] == ["25.0%", "75.0%", "0.0%", "100%"]


def result(nodes: int, work: float, verdict: str = "ok") -> dict:
    """A result as the benchmark records it."""
    return {"verdict": verdict, "nodes": nodes, "work": work, "seconds": {}, "start": 0.0}


@pytest.mark.parametrize(
    ("ours", "peers", "wanted"),
    [
        (result(10, 0.010), [result(10, 0.006)], []),
        (result(11, 0.001), [result(10, 0.006)], ["m: 11 nodes, peer0 has 10"]),
        (result(11, 0.001), [result(10, 0.006, "wrong")], []),
        (result(10, 0.012), [result(10, 0.006)], ["m: 12ms, peer0 6ms"]),
        (result(10, 1.05), [result(10, 1.0)], []),
        (result(9, 0.1, "invalid"), [result(10, 1.0)], ["m: ours is invalid: "]),
    ],
)
def test_shortfalls_are_named(ours, peers, wanted) -> None:
    results = {bench.OURS: ours} | {f"peer{i}": peer for i, peer in enumerate(peers)}
    records = {"m": {"original": {"nodes": 12}, "results": results}}
    assert report.shortfalls(records, list(results)) == wanted


def test_nodes_are_those_without_a_fold_limit_and_time_is_that_of_the_defaults() -> None:
    results = {bench.OURS: result(11, 0.001), bench.FOLDED: result(10, 9.0)}
    results["peer"] = result(10, 0.006)
    records = {"m": {"original": {"nodes": 12}, "results": results}}
    assert report.shortfalls(records, list(results)) == []
    results[bench.FOLDED] = result(10, 0.001, "wrong")
    assert report.shortfalls(records, list(results)) == ["m: ours is wrong: "]


def test_dimensions_are_counted_in_bodies_and_copies_are_not() -> None:
    model = unary()
    before = judge.dimensions(model)
    model.graph.node.append(helper.make_node("Identity", ["w"], ["copy"]))
    assert judge.dimensions(model) == before == {
        "static": 0, "symbolic": 1, "unknown": 0, "unranked": 0,
    }  # fmt: skip
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = -1
    assert judge.dimensions(model)["static"] == 0, "-1 is no number of elements"
    control = onnx.load(ROOT / "examples" / "models" / "control.onnx")
    outermost = onnx.ModelProto()
    outermost.CopyFrom(control)
    kept = [node for node in control.graph.node if not any(a.HasField("g") for a in node.attribute)]
    assert len(kept) < len(control.graph.node), "the example has bodies"
    del outermost.graph.node[:]
    outermost.graph.node.extend(kept)
    outputs = sum(len(n.output) for n in control.graph.node) - sum(len(n.output) for n in kept)
    missing = sum(judge.dimensions(control).values()) - sum(judge.dimensions(outermost).values())
    assert missing > 4 * outputs, "what bodies compute counts, beside the results of their nodes"


def test_what_onnx_knows_and_ours_does_not_is_named() -> None:
    ours = result(10, 0.01) | {
        "shares": {
            "nn_operators": 0.5,
            "dimensions": {"static": 0.5, "symbolic": 0.2, "unknown": 0.3},
        }
    }
    dimensions = {"static": 6, "symbolic": 2, "unknown": 1, "unranked": 1}
    original = {"nodes": 12, "dimensions": dimensions}
    records = {"m": {"original": original, "results": {bench.OURS: ours}}}
    wanted = ["m: 30.0% of dimensions unknown, to onnx 20.0%", "m: 50.0% of operators in nn"]
    assert report.shortfalls(records, [bench.OURS]) == wanted
    dimensions["unknown"] = 3
    assert report.shortfalls(records, [bench.OURS]) == wanted[1:]


@pytest.mark.parametrize("count", [10, 1000])
def test_generated_models_have_the_size_asked_for(count: int) -> None:
    model = scale.build(count)
    assert len(model.graph.node) == count
    onnx.checker.check_model(model, full_check=True)
    assert model.SerializeToString(deterministic=True) == scale.build(count).SerializeToString(
        deterministic=True
    )
    (output,) = oracle.run_ort(model, oracle.random_inputs(model))
    assert np.isfinite(output).all()


def test_a_large_model_takes_no_room(tmp_path) -> None:
    path = tmp_path / "large.onnx"
    written = large.build(path, 3_000_000_000)
    data = path.with_name("large.onnx.data")
    assert data.stat().st_size == written >= 3_000_000_000
    assert data.stat().st_blocks * 512 < 50_000_000
    onnx.checker.check_model(path)
