"""Requests of `tangram opt`: pipes, checks with shapes and data, weights that stay where they are."""

from __future__ import annotations

import sys

import numpy as np
import onnx
import pytest

import oracle
import small
from conftest import ROOT

sys.path.insert(0, str(ROOT / "bench" / "onnx"))
import large  # noqa: E402: weights in a sparse file


@pytest.fixture
def command(tangram_bin, tmp_path) -> small.Command:
    return small.Command(tangram_bin, tmp_path)


def test_models_go_through_pipes(command, root) -> None:
    content = (root / "examples/models/cnn.onnx").read_bytes()
    ran = command.run("opt", "-", "-o", "-", "--check", input=content, text=False)
    found = onnx.load_from_string(ran.stdout)
    onnx.checker.check_model(found)
    assert b"conv-batch-norm" in ran.stderr and b"equal" in ran.stderr
    both = command.run("opt", "-", "-o", "-", "--json", "-", input=content, text=False, code=2)
    assert not both.stdout
    bad = command.run("opt", "-", "-o", "-", input=b"no model", text=False, code=2)
    assert b"standard input" in bad.stderr and not bad.stdout


def test_errors_name_the_path_once(command) -> None:
    (command.folder / "bad.onnx").write_bytes(b"\xff\xff\xff")
    for name in ("absent.onnx", "bad.onnx"):
        said = command.run("opt", name, "-o", "out.onnx", code=2).stderr
        assert said.count(name) == 1, said
    onnx.save(small.model("(float[2] x) => (float[2] y) { y = Relu(x) }"), command.folder / "m.onnx")
    said = command.run("opt", "m.onnx", "-o", "no/such/folder/o.onnx", code=2).stderr
    assert said.count("no/such/folder") == 1, said


UNEQUAL = {
    # Two symbols that have to be equal.
    "equal": "(float[a, 3] x, float[b, 3] y) => (float[c, 3] z) { t = Add(x, y)  z = Relu(t) }",
    # One that is the sum of two others, as with a cache of earlier steps.
    "sum": """(float[p, 3] past, float[s, 3] new, float[total, 3] mask) => (float[t, 3] z) {
        all = Concat <axis = 0> (past, new)  m = Mul(all, mask)  z = Relu(m)
    }""",
    # A signal that has to be longer than a window.
    "long": """(float[1, 1, n] x) => (float[1, 1, m] y) {
        t = AveragePool <kernel_shape = [400], strides = [160]> (x)  y = Relu(t)
    }""",
}


@pytest.mark.parametrize("name", UNEQUAL)
def test_sizes_are_found_on_which_a_model_can_be_evaluated(command, name) -> None:
    onnx.save(small.model(UNEQUAL[name]), command.folder / "m.onnx")
    said = command.run("opt", "m.onnx", "-o", "o.onnx", "--check").stdout
    assert "equal" in said


def test_shapes_and_data_are_given_and_what_is_not_possible_is_not_different(command) -> None:
    # No size does: an extent would have to be 12345.
    body = """(float[n] x, int64[1] i) => (float[m] y) { t = MatMul(x, w)  y = Gather(t, i) }"""
    weights = {"w": np.ones((12345, 2), np.float32)}
    onnx.save(small.model(body, weights=weights), command.folder / "m.onnx")
    request = ("opt", "m.onnx", "-o", "o.onnx", "--check")
    assert "not possible" in command.run(*request, code=3).stderr
    assert "equal" in command.run(*request, "--shape", "x=12345").stdout
    np.save(command.folder / "i.npy", np.array([99]))
    said = command.run(*request, "--shape", "x=12345", "--data", "i=i.npy", code=3).stderr
    assert "not possible" in said
    assert "no input `z`" in command.run(*request, "--shape", "z=1", code=3).stderr
    command.run(*request, "--shape", "x=one", code=2)
    command.run(*request, "--data", "i=absent.npy", code=2)


def external(folder, name: str = "m.onnx"):
    """Writes a model with a weight beside it, and one that is computed anew."""
    weights = {
        "w": np.arange(600_000, dtype=np.float32).reshape(600, 1000),
        "k": np.zeros((1000, 600), np.float32),
    }
    weights["k"][0, 0] = 3
    model = small.model(
        """(float[1, 600] x) => (float[1, 600] y) {
            a = MatMul(x, w)  r = Relu(a)  b = Identity(r)  y = MatMul(b, k)
        }""",
        weights=weights,
    )
    onnx.save(model, folder / name, save_as_external_data=True, location="m.data")
    # Saving has left nothing but references in it.
    return onnx.load(folder / name)


def test_weights_stay_in_the_files_that_they_came_in(command) -> None:
    model = external(command.folder)
    target = command.folder / "out.onnx"
    command.run("opt", "m.onnx", "-o", target, "--external-data", "keep", "--check")
    found = onnx.load(target, load_external_data=False)
    places = {e.value for t in found.graph.initializer for e in t.external_data if e.key == "location"}
    assert places == {"m.data"} and not list(target.parent.glob("out.onnx.*"))
    onnx.checker.check_model(target)
    inputs = oracle.random_inputs(model, seed=0)
    assert oracle.same(oracle.run_ort(str(target), inputs), oracle.run_ort(model, inputs))


def test_weights_are_not_referred_to_from_another_folder(command) -> None:
    # ONNX looks for them in the folder of the model, and takes no links.
    external(command.folder)
    (command.folder / "to").mkdir()
    request = ("opt", "m.onnx", "-o", "to/out.onnx", "--external-data", "keep")
    said = command.run(*request, code=2).stderr
    assert "m.data" in said and "folder" in said
    assert not (command.folder / "to" / "out.onnx").exists()


@pytest.mark.parametrize("choice", ["auto", "inline", "external"])
def test_weights_go_where_they_are_wanted(command, choice) -> None:
    model = external(command.folder)
    command.run("opt", "m.onnx", "-o", "o.onnx", "--external-data", choice)
    beside = command.folder / "o.onnx.data"
    assert beside.exists() == (choice != "inline")
    inputs = oracle.random_inputs(model, seed=0)
    found = oracle.run_ort(str(command.folder / "o.onnx"), inputs)
    assert oracle.same(found, oracle.run_ort(model, inputs))


def test_holes_in_weights_are_not_filled(command) -> None:
    large.build(command.folder / "m.onnx", 200_000_000)
    command.run("opt", "m.onnx", "-o", "o.onnx", "--disable", "fold")
    before, after = (command.folder / f"{name}.onnx.data" for name in "mo")
    if before.stat().st_blocks * 512 > 1_000_000:
        pytest.skip("this file system has no holes")
    assert after.stat().st_size >= 200_000_000 and after.stat().st_blocks * 512 < 1_000_000
    # Nothing but the names of the files is another one.
    parts = [onnx.load(command.folder / f"{name}.onnx") for name in "mo"]
    weights = [{t.raw_data[:64] for t in part.graph.initializer} for part in parts]
    assert weights[0] == weights[1]


def test_costs_that_are_not_known_are_not_compared(command) -> None:
    known = "(float[n, 4] x) => (float[n, 4] y) { a = Identity(x)  y = Relu(a) }"
    _, report = command.optimise(small.model(known))
    assert report["cost"]["after"]["flops"] is not None
    # How many numbers are not zero is known from the data alone.
    open_ = "(float[n] x) => (int64[1, m] y) { a = NonZero(x)  b = Identity(a)  y = Neg(b) }"
    _, report = command.optimise(small.model(open_))
    assert report["cost"]["before"]["flops"] is None and report["cost"]["after"]["flops"] is None
    assert "unknown" in command.run("opt", "in.onnx", "-o", "out.onnx").stdout
