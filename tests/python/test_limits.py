"""What would never end: rules that go round in a circle or grow, constants without bound."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import oracle
import small

CIRCLES = {
    "itself": "rule r alias { let x = *; let y = *; match add(x, y); rewrite add(x, y); }",
    "exchange": "rule r alias { let x = *; let y = *; match add(x, y); rewrite add(y, x); }",
    "two": """
        rule there alias { let x = *; match negative(relu(x)); rewrite abs(tanh(x)); }
        rule back alias { let x = *; match abs(tanh(x)); rewrite negative(relu(x)); }
    """,
    "rotate": """
        rule right alias { let x = *; let y = *; let z = *; match x + y + z; rewrite x + (y + z); }
        rule swap alias { let x = *; let y = *; match x + y; rewrite y + x; }
    """,
}


@pytest.fixture
def command(tangram_bin, tmp_path) -> small.Command:
    return small.Command(tangram_bin, tmp_path)


@pytest.mark.parametrize("name", CIRCLES)
def test_rules_that_undo_each_other_come_to_an_end(command, name) -> None:
    model = small.model(
        """(float[2] x, float[2] y, float[2] z) => (float[2] s, float[2] n) {
            a = Add(x, y)  s = Add(a, z)  r = Relu(x)  n = Neg(r)
        }"""
    )
    (command.folder / "circle.gsl").write_text(CIRCLES[name])
    found, report = command.optimise(model, "--rules", "circle.gsl", "--no-library")
    assert report["stopped_by"] is None
    fired = sum(rule["fired"] for rule in report["rules"])
    # Every form of the sums at most once.
    assert fired <= {"itself": 0, "exchange": 2, "two": 1, "rotate": 24}[name]
    inputs = oracle.random_inputs(model, seed=0)
    if name != "two":
        assert oracle.same(oracle.run_ort(found, inputs), oracle.run_ort(model, inputs))


GROWTH = {
    "operations": "rule r alias { let x = *; match relu(x); rewrite relu(abs(relu(x))); }",
    "extents": """rule r alias {
        let x = *;
        match negative(x);
        let twice = concatenate(x, x) { axis = 0 };
        let cut = strided_slice(negative(twice)) { begin = [0], end = x.shape, axes = [0] };
        rewrite cut;
    }""",
}


@pytest.mark.parametrize("name", GROWTH)
def test_rules_that_grow_are_stopped_and_that_is_said(command, name) -> None:
    model = small.model("(float[4] x) => (float[4] y) { a = Relu(x)  y = Neg(a) }")
    (command.folder / "grow.gsl").write_text(GROWTH[name])
    found, report = command.optimise(model, "--rules", "grow.gsl", "--no-library")
    assert len(found.graph.node) < 40_000
    told = report["stopped_by"] or str(report["refused"])
    assert "operations more" in told or "growth" in told
    assert "`r`" in str(report["warnings"]) or "growth" in told


def test_an_instance_of_a_variadic_output_may_be_another_output(command) -> None:
    rule = """rule r alias {
        index i;
        let x = *;
        let c = tanh(x);
        let s = variadic c over (c, x) for i min 2;
        match concatenate(s) as joined, relu(s[c, 0]);
        let all = concatenate(variadic s[x, i] for i < s.length) { ..joined };
        rewrite tanh(all), relu(tanh(s[x, 0]));
    }"""
    model = small.model(
        """(float[1, 2] x, float[1, 2] y) => (float[2, 2] j, float[1, 2] r) {
            a = Tanh(x)  b = Tanh(y)  j = Concat <axis = 0> (a, b)  r = Relu(a)
        }"""
    )
    (command.folder / "r.gsl").write_text(rule)
    found, report = command.optimise(model, "--rules", "r.gsl", "--no-library", "--check")
    assert {r["name"]: r["fired"] for r in report["rules"]}["r"] == 1, report["refused"]
    assert small.operators(found).count("Concat") == 1


BOMBS = {
    "one constant": ("y = ConstantOfShape(s)", {"s": np.array([1 << 16, 1 << 16])}),
    "repeated": ("y = Tile(k, s)", {"k": np.ones(4, np.float32), "s": np.array([1 << 30])}),
    "enlarged": (
        "y = Expand(k, s)",
        {"k": np.ones((1, 1), np.float32), "s": np.array([1 << 17, 1 << 15])},
    ),
}


@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.parametrize("limit", ["none", "1048576"])
def test_a_few_bytes_do_not_become_gigabytes(command, name, limit) -> None:
    body, weights = BOMBS[name]
    rank = 2 if name != "repeated" else 1
    dims = ", ".join("abc"[:rank])
    model = small.model(f"() => (float[{dims}] y) {{ {body} }}", weights=weights)
    small_memory = {"preexec_fn": _four_gigabytes} if sys.platform == "linux" else {}
    onnx.save(model, command.folder / "bomb.onnx")
    command.run("opt", "bomb.onnx", "-o", "out.onnx", "--fold-limit", limit, **small_memory)
    assert (command.folder / "out.onnx").stat().st_size < 2_000_000


def _four_gigabytes() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))


def chain_of_products(size: int, length: int) -> onnx.ModelProto:
    """Products of constants that are large to compute and small to write down."""
    lines = [f"a0 = ConstantOfShape <value: tensor = float[1] {{0.001}}> (s)"]
    lines += [f"a{i + 1} = MatMul(a{i}, a{i})" for i in range(length)]
    body = "\n".join(lines) + f"\ny = MatMul(x, a{length})"
    return small.model(
        f"(float[1, {size}] x) => (float[1, {size}] y) {{ {body} }}",
        weights={"s": np.array([size, size])},
    )


def test_folding_has_a_budget_of_time(command) -> None:
    # Each product takes 512 ** 3 steps.
    _, report = command.optimise(chain_of_products(512, 400), "--fold-limit", "none")
    assert any(refused["code"] == "fold-budget" for refused in report["refused"])


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_while_folding_ends_with_its_own_exit_code(command) -> None:
    onnx.save(chain_of_products(512, 400), command.folder / "chain.onnx")
    request = [command.binary, "opt", "chain.onnx", "-o", "out.onnx", "--fold-limit", "none"]
    request += ["--json", "report.json"]
    process = subprocess.Popen(
        request,
        cwd=command.folder,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    time.sleep(0.5)
    os.kill(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 130, said
    assert "cancellation" in said
    onnx.checker.check_model(command.folder / "out.onnx")
    assert '"interrupted": true' in (command.folder / "report.json").read_text()


def test_holes_of_large_weights_stay_holes(command) -> None:
    rows, width = 1 << 20, 1024
    data = command.folder / "w.bin"
    middle = rows // 2 * width * 4
    with data.open("wb") as file:
        file.truncate(rows * width * 4)
        file.seek(middle)
        file.write(np.arange(2 * width, dtype=np.float32).tobytes())
    if data.stat().st_blocks * 512 > 1 << 24:
        pytest.skip("the file system has no holes")
    weight = onnx.TensorProto(name="w", data_type=1, dims=[rows, width], data_location=1)
    for key, value in (("location", "w.bin"), ("offset", "0"), ("length", str(4 * rows * width))):
        weight.external_data.add(key=key, value=value)
    model = small.model(
        f"(int64[2] i) => (float[2, {width}] y) {{ a = Gather(w, i)  y = Identity(a) }}"
    )
    model.graph.initializer.append(weight)
    onnx.save(model, command.folder / "in.onnx")
    command.run("opt", "in.onnx", "-o", "out.onnx", "-q")
    written = command.folder / "out.onnx.data"
    assert written.stat().st_size >= 4 * rows * width
    assert written.stat().st_blocks * 512 < 1 << 24
    inputs = {"i": np.array([rows // 2, 3])}
    (found,) = oracle.run_ort(str(command.folder / "out.onnx"), inputs)
    assert np.array_equal(found[0], np.arange(width)) and not found[1].any()


@pytest.mark.parametrize("other", [False, True], ids=["one input", "an input each"])
def test_operations_of_very_many_operands_take_time_near_to_their_number(command, other) -> None:
    count = 50_000
    names = [f"x{at}" if other else "x" for at in range(count)]
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in dict.fromkeys(names)]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2 * count])
    graph = helper.make_graph([helper.make_node("Concat", names, ["y"], axis=0)], "joined", inputs, [output])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, command.folder / "model.onnx")
    for words in (["compile", "-o", "m.c", "--emit", "c"], ["show"], ["opt", "-o", "out.onnx"], ["run", "--random"]):
        # Where each operand is looked for in all others, this takes minutes.
        done = command.run(words[0], "model.onnx", *words[1:], code=2 if words[0] == "compile" else 0, timeout=60)
        assert words[0] != "compile" or "operands and results, more than are compiled" in done.stderr


@pytest.mark.parametrize("sizes", [[-(2**63), -(2**63)], [2**63 - 1, 2**63 - 1], [-(2**63), 2**63 - 1], [2**62, 2**62]])
@pytest.mark.parametrize("mode", [["run", "m.onnx", "--random", "--interpret"], ["opt", "m.onnx", "-o", "o.onnx", "--check"]])
def test_sizes_of_parts_at_the_limits_are_a_message(command, sizes, mode) -> None:
    body = "(float[2, 3, 4] x) => (float[2, a, 4] y, float[2, b, 4] z) { y, z = Split <axis = 1> (x, sizes) }"
    onnx.save(small.model(body, weights={"sizes": np.array(sizes)}), command.folder / "m.onnx")
    done = subprocess.run([command.binary, *mode], cwd=command.folder, capture_output=True, text=True, check=False)
    assert done.returncode in (1, 2, 3) and "panicked" not in done.stderr and done.stderr, done
