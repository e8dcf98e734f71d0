"""What grew with the square, or faster, of the size of a model: each ends soon at a size where it did not.

The limits are of the processor's time and of memory, several times what is needed.
"""

from __future__ import annotations

import pathlib
import resource
import subprocess

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import oracle

FLOAT = TensorProto.FLOAT
MEMORY = 1500 << 20


def value(name: str, extent: int = 4) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, FLOAT, [extent])


def model(nodes, inputs, outputs, functions=()) -> bytes:
    graph = helper.make_graph(nodes, "g", inputs, outputs)
    sets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    return helper.make_model(graph, opset_imports=sets, ir_version=8, functions=list(functions)).SerializeToString()


def chain(count: int) -> bytes:
    nodes = [helper.make_node(["Neg", "Relu"][k % 2], [f"v{k}"], [f"v{k + 1}"]) for k in range(count)]
    return model(nodes, [value("v0")], [value(f"v{count}")])


def concat(count: int) -> bytes:
    return model([helper.make_node("Concat", ["x"] * count, ["y"], axis=0)], [value("x")], [value("y", 4 * count)])


def branches(count: int) -> bytes:
    nodes = [helper.make_node(["Neg", "Exp"][k % 2], [f"x{k}"], [f"y{k}"]) for k in range(count)]
    return model(nodes, [value(f"x{k}") for k in range(count)], [value(f"y{k}") for k in range(count)])


def functions(count: int) -> bytes:
    body = [helper.make_node("Neg", ["a"], ["b"])]
    own = [helper.make_function("own", f"F{k}", ["a"], ["b"], body, [helper.make_opsetid("", 17)]) for k in range(count)]
    calls = [helper.make_node(f"F{k}", [f"v{k}"], [f"v{k + 1}"], domain="own") for k in range(count)]
    return model(calls, [value("v0")], [value(f"v{count}")], own)


CASES = {
    # The sets of extraction had 3.4 GB.
    "saturate": (chain, 40_000, ["opt", "m.onnx", "-o", "o.onnx", "--strategy", "saturate", "--max-seconds", "10"], 0),
    # One function of C for each operand, at which the C compiler did not come to an end.
    "run": (concat, 100_000, ["run", "m.onnx", "--random", "--no-rules"], 0),
    "compile": (concat, 100_000, ["compile", "m.onnx", "-o", "m.so", "--no-rules"], 2),
    # Each branch was compared with all others.
    "draw": (branches, 20_000, ["show", "m.onnx", "--format", "svg", "--limit", "50", "-o", "m.svg"], 0),
    "diff": (branches, 20_000, ["diff", "m.onnx", "m.onnx"], 0),
    # Each call, and each function, looked at all functions.
    "functions": (functions, 20_000, ["show", "m.onnx", "--format", "json", "-o", "m.json"], 0),
}


def chain_of_loops(count: int) -> str:
    """Loops that read what those before them wrote, all in three arrays."""
    arrays = "abc"
    loop = "  for (int i = 1; i < n - 1; i++) {to}[i] = {by}[i] * {k}.0 + {by}[i - 1];\n"
    loops = (loop.format(to=arrays[(k + 1) % 3], by=arrays[k % 3], k=k + 1) for k in range(count))
    return f"void f(int n, double *restrict a, double *restrict b, double *restrict c) {{\n{''.join(loops)}}}\n"


def loops_apart(count: int) -> str:
    """Loops over arrays of their own."""
    arrays = "".join(f"double A{k}[100][100], B{k}[100][100];\n" for k in range(count))
    loop = "  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) A{k}[j][i] = B{k}[j][i] * 2.0;\n"
    return arrays + "void f(int n) {\n" + "".join(loop.format(k=k) for k in range(count)) + "}\n"


@pytest.mark.parametrize("make", [chain_of_loops, loops_apart])
def test_hundreds_of_loops_are_a_part_or_a_few(make, tangram_bin, tmp_path: pathlib.Path) -> None:
    # 200 took 15 s, and had no new loops in the end for want of steps.
    (tmp_path / "f.c").write_text(make(300))

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (15, 16))

    command = [tangram_bin, "scop", "f.c", "-o", "o.c"]
    done = subprocess.run(command, cwd=tmp_path, preexec_fn=limited, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "steps" not in done.stderr, (done.returncode, done.stderr[-500:])
    subprocess.run(["cc", "-std=c99", "-fsyntax-only", "-Werror", "-Wno-unknown-pragmas", "o.c"], cwd=tmp_path, check=True)


@pytest.mark.parametrize("text", [
    "int f(int n) {{ return {open}n{close}; }}\n",
    "#ifdef A\n#define N {open}1{close}\n#endif\nint f(int n) {{ return n; }}\n",
], ids=["code", "macro"])  # fmt: skip
def test_brackets_in_each_other_are_looked_at_once(text, tangram_bin, tmp_path: pathlib.Path) -> None:
    # Each bracket looked at all that stand in it: 20,000 took 14 s with optimisation.
    (tmp_path / "f.c").write_text(text.format(open="(" * 30_000, close=")" * 30_000))
    limited = lambda: resource.setrlimit(resource.RLIMIT_CPU, (8, 9))  # noqa: E731
    command = [tangram_bin, "scop", "f.c", "-o", "o.c"]
    done = subprocess.run(command, cwd=tmp_path, preexec_fn=limited, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 2), (done.returncode, done.stderr[-500:])


@pytest.mark.parametrize("end", ["2", "a[1]"])
@pytest.mark.parametrize("condition", ["n > 3", "c"])
def test_what_stands_behind_conditions_is_looked_at_once(condition, end, tangram_bin, tmp_path: pathlib.Path) -> None:
    # Each link looked at all links behind it: 30,000 took 22 s with optimisation.
    links = f"{condition} ? 1 : " * 20_000
    (tmp_path / "f.c").write_text(
        f"void f(int n, int c, double a[n]) {{\n#pragma scop\n  a[0] = {links}{end};\n#pragma endscop\n}}\n"
    )
    limited = lambda: resource.setrlimit(resource.RLIMIT_CPU, (10, 11))  # noqa: E731
    command = [tangram_bin, "scop", "f.c", "-o", "o.c"]
    done = subprocess.run(command, cwd=tmp_path, preexec_fn=limited, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.returncode, done.stderr[-500:])


@pytest.mark.parametrize(
    "text",
    [
        "{ [i] : " + " or ".join(["i = 3"] * 100_000) + " };",
        "{ [i] : " + " and ".join(["i > 3"] * 100_000) + " };",
        "{ " + "; ".join(["[i] : i = 3"] * 100_000) + " };",
        "{ [i] : " + " < ".join(["i"] * 100_000) + " };",
        "{ [i] : i = 3 };\n" * 100_000,
    ],
    ids=["or", "and", "disjuncts", "chain", "statements"],
)
def test_long_sets_are_read_in_time_near_their_length(text, tangram_bin, tmp_path: pathlib.Path) -> None:
    # Each `or` looked at all conjunctions before it: 100,000 took 12 s with optimisation.
    (tmp_path / "f.calc").write_text(text)
    limited = lambda: resource.setrlimit(resource.RLIMIT_CPU, (8, 9))  # noqa: E731
    done = subprocess.run([tangram_bin, "calc", "f.calc"], cwd=tmp_path, preexec_fn=limited, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.returncode, done.stderr[-500:])


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_large_models_end_soon(name, tangram_bin, tmp_path: pathlib.Path) -> None:
    make, count, command, code = CASES[name]
    (tmp_path / "m.onnx").write_bytes(make(count))

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (15, 16))

    done = subprocess.run([tangram_bin, *command], cwd=tmp_path, preexec_fn=limited, capture_output=True, text=True, check=False)
    assert done.returncode == code, (done.returncode, done.stderr[-500:])
    if code:
        assert "Concat" in done.stderr


ORDERED = {
    # Every part was tried behind every other one, with lists of those left: 1,600 took 32 s.
    "parts": """rule r {
        let x = *;  let s = split(x) { axis = 0 };
        match variadic relu(s[i]) for i min 2 as src;
        let w = split(relu(x)) { ..s };
        rewrite variadic w[i] for i; }""",
    "rows": """rule r {
        let x = *;
        match variadic take(x, const(i)) { axis = 0 } over () for i min 2 as src;
        let w = split(x) { axis = 0, indices_or_sections = src.length };
        rewrite variadic squeeze(w[i]) { axis = [0] } for i; }""",
}


def rows(name: str, count: int) -> onnx.ModelProto:
    """The rows of a matrix, each by itself."""
    names, ints = [f"y{k}" for k in range(count)], []
    if name == "parts":
        nodes = [helper.make_node("Split", ["x"], [f"s{k}" for k in range(count)], axis=0)]
        nodes += [helper.make_node("Relu", [f"s{k}"], [names[k]]) for k in range(count)]
    else:
        ints = [helper.make_tensor(f"i{k}", TensorProto.INT64, [], [k]) for k in range(count)]
        nodes = [helper.make_node("Gather", ["x", f"i{k}"], [names[k]], axis=0) for k in range(count)]
    inputs = [helper.make_tensor_value_info("x", FLOAT, [count, 4])]
    outputs = [helper.make_tensor_value_info(one, FLOAT, [1, 4] if name == "parts" else [4]) for one in names]
    graph = helper.make_graph(nodes, "g", inputs, outputs, ints)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize("name", ORDERED)
def test_branches_in_an_order_are_found_soon(name, tangram_bin, tmp_path: pathlib.Path) -> None:
    count = 3000
    before = rows(name, count)
    onnx.save(before, tmp_path / "m.onnx")
    (tmp_path / "r.gsl").write_text(ORDERED[name])

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (15, 16))

    command = [tangram_bin, "opt", "m.onnx", "-o", "o.onnx", "--rules", "r.gsl", "--only", "r"]
    done = subprocess.run(command, cwd=tmp_path, preexec_fn=limited, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.returncode, done.stderr[-500:])
    after = onnx.load(tmp_path / "o.onnx")
    assert [node.op_type for node in after.graph.node].count("Split") == 1
    x = np.arange(4 * count, dtype=np.float32).reshape(count, 4) - count
    assert oracle.same(oracle.run_ort(after, {"x": x}), oracle.run_ort(before, {"x": x}))
