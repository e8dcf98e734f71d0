"""No model ends the process: what asks for too much memory or time gets a message."""

from __future__ import annotations

import ctypes
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import small

LIMIT = 4 << 30
HUGE = {"2^63-1": 2**63 - 1, "2^62": 2**62, "2^34": 2**34, "2^40": 2**40}


def loop(trips: int, body: list[onnx.NodeProto], condition: str = "ci") -> onnx.ModelProto:
    """A loop over a vector that starts with one element."""
    value = helper.make_tensor_value_info
    inner = helper.make_graph(
        [helper.make_node("Identity", [condition], ["co"]), *body],
        "body",
        [value("i", TensorProto.INT64, []), value("ci", TensorProto.BOOL, []), value("vi", TensorProto.FLOAT, None)],
        [value("co", TensorProto.BOOL, []), value("vo", TensorProto.FLOAT, None)],
    )
    outer = helper.make_graph(
        [helper.make_node("Loop", ["t", "c", "v"], ["y"], body=inner)],
        "g",
        [value("v", TensorProto.FLOAT, [1])],
        [value("y", TensorProto.FLOAT, None)],
        [helper.make_tensor("t", TensorProto.INT64, [], [trips]), helper.make_tensor("c", TensorProto.BOOL, [], [1])],
    )
    return helper.make_model(outer, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def doubling() -> onnx.ModelProto:
    return loop(40, [helper.make_node("Concat", ["vi", "vi"], ["vo"], axis=0)])


def alternating() -> onnx.ModelProto:
    """A loop whose condition is computed, and true for the next 2^62 steps."""
    nodes = [
        helper.make_node("Constant", [], ["far"], value=helper.make_tensor("far", TensorProto.INT64, [], [2**62])),
        helper.make_node("Less", ["i", "far"], ["near"]),
        helper.make_node("Neg", ["vi"], ["vo"]),
    ]
    model = loop(2**62, nodes, "near")
    body = model.graph.node[0].attribute[0].g
    body.node.append(body.node[0])
    del body.node[0]
    return model


def limited() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


@pytest.fixture
def command(tangram_bin, tmp_path) -> small.Command:
    return small.Command(tangram_bin, tmp_path)


def ends(command, *arguments: str, seconds: float = 60) -> str:
    """Runs a command within the limit; it says what is wrong, and does not break."""
    start = time.monotonic()
    done = subprocess.run(
        [command.binary, *arguments], cwd=command.folder, preexec_fn=limited, capture_output=True, text=True,
        timeout=seconds, check=False,
    )
    assert done.returncode in (0, 1, 2, 3), (done.returncode, done.stderr)
    assert "panicked" not in done.stderr
    return f"{done.stdout}{done.stderr} after {time.monotonic() - start:.1f} s"


MODES = {
    "check": ["check", "m.onnx", "m.onnx"],
    "run": ["run", "m.onnx", "--random"],
    "interpret": ["run", "m.onnx", "--random", "--interpret", "--no-rules"],
    "opt": ["opt", "m.onnx", "-o", "o.onnx", "--check"],
    "narrow": ["opt", "m.onnx", "-o", "o.onnx", "--to", "float16"],
    "bench": ["bench", "m.onnx"],
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("size", HUGE)
def test_huge_inputs_are_refused(command, mode, size) -> None:
    graph = small.model("(float[7] x) => (float[7] y) { y = Relu(x) }")
    for value in (graph.graph.input[0], graph.graph.output[0]):
        value.type.tensor_type.shape.dim[0].dim_value = HUGE[size]
    onnx.save(graph, command.folder / "m.onnx")
    said = ends(command, *MODES[mode])
    if mode in ("check", "run", "interpret"):
        assert "bytes" in said or "too large" in said or "memory" in said, said


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "bench"])
def test_a_loop_that_doubles_is_refused(command, mode) -> None:
    onnx.save(doubling(), command.folder / "m.onnx")
    said = ends(command, *MODES[mode])
    if mode != "narrow":
        assert "bytes are left" in said or "exceeds the limit" in said or "left of the memory" in said, said
    if mode not in ("opt", "narrow"):
        said = ends(command, *MODES[mode], "--max-memory", "300M")
        assert "left of the memory that may be taken" in said, said


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "bench"])
def test_a_loop_without_end_is_not_begun(command, mode) -> None:
    onnx.save(loop(2**62, [helper.make_node("Neg", ["vi"], ["vo"])]), command.folder / "m.onnx")
    said = ends(command, *MODES[mode], seconds=30)
    if mode != "narrow":
        assert "does not come to an end" in said, said


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "bench"])
def test_time_is_bounded_where_that_is_asked_for(command, mode) -> None:
    onnx.save(alternating(), command.folder / "m.onnx")
    said = ends(command, *MODES[mode], "--max-seconds", "1", seconds=45)
    if mode != "narrow":
        assert "takes longer than 1 s" in said, said


def large(kind: str) -> onnx.ModelProto:
    """One operation that takes long."""
    value = helper.make_tensor_value_info
    shapes = {"Conv": [[1, 64, 512, 512], [64, 64, 7, 7]], "NonMaxSuppression": [[1, 30000, 4], [1, 20, 30000]],
              "LSTM": [[3000, 1, 512], [1, 2048, 512], [1, 2048, 512]]}[kind]  # fmt: skip
    names = [f"x{at}" for at in range(len(shapes))]
    more = {"LSTM": {"hidden_size": 512}}.get(kind, {})
    inputs = [value(name, TensorProto.FLOAT, shape) for name, shape in zip(names, shapes)]
    given = []
    if kind == "NonMaxSuppression":
        # All that do not lie on each other are chosen, and each is compared with all of these.
        given = [helper.make_tensor("most", TensorProto.INT64, [], [30000]), helper.make_tensor("share", TensorProto.FLOAT, [], [1.0])]
        names = [*names, "most", "share"]
    kept = TensorProto.INT64 if kind == "NonMaxSuppression" else TensorProto.FLOAT
    graph = helper.make_graph([helper.make_node(kind, names, ["y"], **more)], "g", inputs, [value("y", kept, None)], given)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize("kind", ["Conv", "NonMaxSuppression", "LSTM"])
def test_time_is_bounded_within_an_operation(command, kind) -> None:
    onnx.save(large(kind), command.folder / "m.onnx")
    said = ends(command, *MODES["interpret"], "--max-seconds", "1", seconds=30)
    assert "takes longer than 1 s" in said, said


@pytest.mark.parametrize("words", [["check", "m.onnx", "m.onnx", "--with", "onnxruntime", "--max-seconds", "2"],
                                   ["opt", "m.onnx", "-o", "o.onnx", "--for", "onnxruntime", "--measure=1"],
                                   ["opt", "m.onnx", "-o", "o.onnx", "--for", "native", "--measure=1"]], ids=" ".join)  # fmt: skip
def test_another_engine_is_ended_where_time_is_over(command, words, monkeypatch) -> None:
    monkeypatch.setenv("TANGRAM_PYTHON", sys.executable)
    model = alternating()
    # A rewriting to be measured beside the loop.
    model.graph.node.extend([helper.make_node("Identity", ["y"], ["a"]), helper.make_node("Relu", ["a"], ["b"]),
                             helper.make_node("Relu", ["b"], ["z"])])  # fmt: skip
    model.graph.output[0].name = "z"
    onnx.save(model, command.folder / "m.onnx")
    start = time.monotonic()
    done = subprocess.run([command.binary, *words], cwd=command.folder, capture_output=True, text=True, timeout=60, check=False)
    assert time.monotonic() - start < 40, done
    assert done.returncode in (0, 3) and "longer than" in done.stdout + done.stderr, done


def test_ctrl_c_ends_a_check(command) -> None:
    onnx.save(alternating(), command.folder / "m.onnx")
    words = [command.binary, "opt", "m.onnx", "-o", "o.onnx", "--check"]
    with subprocess.Popen(words, cwd=command.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as work:
        # The result is there before it is checked.
        while not (command.folder / "o.onnx").exists():
            assert work.poll() is None
            time.sleep(0.02)
        time.sleep(0.5)
        work.send_signal(signal.SIGINT)
        _, said = work.communicate(timeout=30)
    assert work.returncode == 130 and "interrupted" in said, (work.returncode, said)


SESSION = """
import resource, sys
import numpy as np
import tangram
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
try:
    tangram.InferenceSession(sys.argv[1]).run(None, {"v": np.ones(1, "f")})
except Exception as error:
    print("raised", type(error).__name__)
"""


def test_a_session_raises_what_can_be_caught(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("tangram._native")
    onnx.save(doubling(), tmp_path / "m.onnx")
    done = subprocess.run(
        [sys.executable, "-c", SESSION, tmp_path / "m.onnx"], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0 and done.stdout.startswith("raised"), (done.stdout, done.stderr)


def test_who_writes_to_the_file_changes_nothing_of_a_session(tmp_path: pathlib.Path) -> None:
    tangram = pytest.importorskip("tangram")
    weights = {"w": np.arange(4096, dtype="f").reshape(64, 64)}
    path = tmp_path / "m.onnx"
    onnx.save(small.model("(float[1, 64] x) => (float[1, 64] y) { y = MatMul(x, w) }", weights=weights), path)
    x = {"x": np.ones((1, 64), "f")}
    for interpret in (False, True):
        options = tangram.SessionOptions()
        options.interpret = interpret
        session = tangram.InferenceSession(path, options)
        before, content = session.run(None, x)[0], path.read_bytes()
        with open(path, "r+b") as file:
            file.write(bytes(len(content)))
            file.truncate(10)
        assert (session.run(None, x)[0] == before).all()
        path.write_bytes(content)


DYNAMIC = """(float[N, M] x, float[M, N] z) => (float[N, N] y) {
    a = MatMul(x, z)
    b = Softmax(a)
    y = MatMul(b, b)
}"""


def test_emitted_code_refuses_sizes_beyond_numbers(command) -> None:
    """Sizes of 64 bits whose products are not: a status, and nothing written."""
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    onnx.save(small.model(DYNAMIC), command.folder / "m.onnx")
    command.run("compile", "m.onnx", "-o", "d.so")
    library = ctypes.CDLL(str(command.folder / "d.so"))
    library.d_arena_bytes.restype = ctypes.c_size_t
    weights = (ctypes.c_char * 4096)()
    nothing = (ctypes.c_void_p * 4)()
    beyond = ctypes.c_size_t(-1).value
    for sizes in ([2**62, 1], [2**62, 2**62], [2**63 - 1] * 2, [2**32, 2**32], [2**20, 2**20], [-1, 4], [3, -(2**63)]):
        dims = (ctypes.c_int64 * 2)(*sizes)
        arena = library.d_arena_bytes(dims, None)
        if min(sizes) >= 0 and max(sizes) < 2**32:
            # Large, and a number: the intermediate results alone take that much.
            assert beyond > arena >= 4 * sizes[0] ** 2
            continue
        # Of no element, a block of any size is one.
        if min(sizes) >= 0:
            assert arena == beyond, sizes
        assert library.d_run(weights, weights, nothing, nothing, dims, None) == 1, sizes
    dims = (ctypes.c_int64 * 2)(5, 7)
    assert 100 <= library.d_arena_bytes(dims, None) < 1 << 20
