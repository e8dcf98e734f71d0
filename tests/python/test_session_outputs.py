"""Whose the memory of outputs is: what a caller holds stays as it is, what it lets go of is used again."""

from __future__ import annotations

import random
import subprocess
import sys
import threading

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

import tangram

ENGINES = pytest.mark.parametrize("ort", [onnxruntime, tangram], ids=["onnxruntime", "tangram"])


def model(*operators: str) -> bytes:
    """Outputs `y0`, `y1`... of vectors `x`, each by an operator of its own."""
    tensor = helper.make_tensor_value_info
    nodes = [helper.make_node(op, ["x"], [f"y{at}"]) for at, op in enumerate(operators)]
    outputs = [tensor(f"y{at}", TensorProto.FLOAT, ["n"]) for at in range(len(operators))]
    graph = helper.make_graph(nodes, "g", [tensor("x", TensorProto.FLOAT, ["n"])], outputs)
    opset = [helper.make_opsetid("", 18)]
    return helper.make_model(graph, opset_imports=opset, ir_version=9).SerializeToString()


# Ways to hold a part of an array, each with the elements that it is of.
HOLDS = [
    (lambda y: y, slice(None)),
    (lambda y: y[7:], slice(7, None)),
    (lambda y: y[::-3], slice(None, None, -3)),
    (lambda y: y.reshape(2, -1)[1], slice(-1, None)),
    (lambda y: memoryview(y), slice(None)),
    (lambda y: np.from_dlpack(y), slice(None)),
    (lambda y: y.view(np.int32), slice(None)),
    (lambda y: np.asarray(y, dtype=object) if y.size < 3 else y[1:2], slice(1, 2)),
]


def keeps_and_checks(ort, session, seed: int, wrong: list[str]) -> None:
    """Runs on random sizes, holds some of the outputs in some way, and looks at them again later."""
    choose = random.Random(seed)
    held: list[tuple[object, np.ndarray]] = []
    size = 2 * choose.randrange(1, 60_000)
    for step in range(60):
        if choose.random() < 0.4:
            size = choose.choice([2, 400, size + 2, 2 * choose.randrange(1, 60_000)])
        x = np.full(size, seed * 1000 + step, np.float32)
        outputs = session.run(None, {"x": x})
        for at, y in enumerate(outputs):
            expected = x if at == 0 else -x
            if not (y == expected).all():
                wrong.append(f"step {step}, output {at}")
            if choose.random() < 0.3:
                hold, part = choose.choice(HOLDS)
                copy = hold(y.copy())
                held.append((hold(y), np.array(copy, copy=True)))
        del outputs, y
        if held and choose.random() < 0.3:
            held.pop(choose.randrange(len(held)))
        for kept, copy in held:
            if not (np.asarray(kept) == copy).all():
                wrong.append(f"step {step}: what was held has changed")


@ENGINES
def test_what_is_held_of_outputs_is_left_alone(ort) -> None:
    session = ort.InferenceSession(model("Relu", "Neg"))
    wrong: list[str] = []
    for seed in range(4):
        keeps_and_checks(ort, session, seed, wrong)
    assert not wrong


@ENGINES
def test_threads_do_not_get_each_others_outputs(ort) -> None:
    session = ort.InferenceSession(model("Relu", "Neg"))
    wrong: list[str] = []
    threads = [
        threading.Thread(target=keeps_and_checks, args=(ort, session, seed, wrong))
        for seed in range(10, 14)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@ENGINES
def test_outputs_outlive_a_session_that_used_their_memory_again(ort) -> None:
    session = ort.InferenceSession(model("Relu"))
    for _ in range(3):
        session.run(None, {"x": np.ones(50_000, np.float32)})
    held = [session.run(None, {"x": np.full(50_000, n, np.float32)})[0] for n in range(4)]
    del session
    other = ort.InferenceSession(model("Relu"))
    other.run(None, {"x": np.full(50_000, 9, np.float32)})
    assert [set(y.tolist()) for y in held] == [{0.0}, {1.0}, {2.0}, {3.0}]


PEAK = """
import resource, sys
import numpy as np
ort = __import__(sys.argv[1])
options = ort.SessionOptions()
options.intra_op_num_threads = 1
session = ort.InferenceSession(bytes.fromhex(sys.argv[2]), options)
x = np.ones(8 << 20, np.float32)
session.run(None, {"x": x[:1024]})
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before = peak()
for _ in range(3):
    session.run(None, {"x": x})
faults = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_minflt
known = faults()
for _ in range(5):
    session.run(None, {"x": x})
print((peak() - before) // 1024, faults() - known)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is in other units elsewhere")
@pytest.mark.parametrize("operator", ["Relu", "Softmax"])
def test_outputs_are_had_once_run_after_run(operator: str) -> None:
    """Inputs of 32 MiB are read where they lie; new pages for outputs would be 16 faults a run or more."""
    peaks = {}
    for name in ("onnxruntime", "tangram"):
        command = [sys.executable, "-c", PEAK, name, model(operator).hex()]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        peaks[name], faults = map(int, done.stdout.split())
        assert faults < 40 or name == "onnxruntime"
    assert peaks["tangram"] <= 1.1 * max(32, peaks["onnxruntime"]) + 4, peaks
