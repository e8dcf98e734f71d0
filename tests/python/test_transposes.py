"""Transposes that meet: fewer of them, the same numbers."""

from __future__ import annotations

import numpy as np
import pytest

import oracle
import small


@pytest.fixture
def command(tangram_bin, tmp_path) -> small.Command:
    return small.Command(tangram_bin, tmp_path)


def tried(command, body: str, shapes: dict[str, tuple[int, ...]], weights=None):
    """Optimises, compares on random numbers, and counts transposes and all nodes that are left."""
    before = small.model(body, weights=weights)
    after, report = command.optimise(before)
    rng = np.random.default_rng(0)
    inputs = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
    assert oracle.same(oracle.run_ort(after, inputs), oracle.run_ort(before, inputs))
    left = small.operators(after)
    return left.count("Transpose"), len(left), report


SPECTRUM = """(float[n, 3, 4] x, float[n, 3, 4] y) => (float[n, 4, 3] z) {
    a = Transpose <perm = [0, 2, 1]> (x)  b = Transpose <perm = [0, 2, 1]> (y)
    aa = Mul(a, a)  bb = Mul(b, b)  s = Add(aa, bb)  z = Sqrt(s)
}"""

BACK = """(float[n, 3, 4] x) => (float[n, 3, 4] z) {
    a = Transpose <perm = [0, 2, 1]> (x)  b = Add(a, row)  c = Relu(b)  d = Mul(c, half)
    z = Transpose <perm = [0, 2, 1]> (d)
}"""

READ_TWICE = """(float[n, 3, 4] x) => (float[n, 3, 4] z, float[n, 4, 3] c) {
    a = Transpose <perm = [0, 2, 1]> (x)  c = Relu(a)
    z = Transpose <perm = [0, 2, 1]> (c)
}"""

OTHER_ORDER = """(float[4, 4, 4] x, float[4, 4, 4] y) => (float[4, 4, 4] z) {
    a = Transpose <perm = [0, 2, 1]> (x)  b = Transpose <perm = [1, 0, 2]> (y)  z = Add(a, b)
}"""

STRETCHED = """(float[3, 4] x, float[3, 4] y, float[2, 1, 1] w) => (float[2, 4, 3] z) {
    a = Transpose <perm = [1, 0]> (x)  b = Transpose <perm = [1, 0]> (y)
    c = Add(a, w)  d = Add(b, w)  z = Mul(c, d)
}"""

HALVES = {"row": np.arange(3, dtype=np.float32), "half": np.array(0.5, np.float32)}


@pytest.mark.parametrize(
    ("body", "shapes", "transposes"),
    [
        (SPECTRUM, {"x": (2, 3, 4), "y": (2, 3, 4)}, 1),
        (BACK, {"x": (2, 3, 4)}, 0),
        (READ_TWICE, {"x": (2, 3, 4)}, 2),
        (OTHER_ORDER, {"x": (4, 4, 4), "y": (4, 4, 4)}, 2),
        (STRETCHED, {"x": (3, 4), "y": (3, 4), "w": (2, 1, 1)}, 2),
    ],
    ids=["spectrum", "back", "read twice", "other order", "stretched"],
)
def test_transposes_meet_behind_what_works_on_single_elements(
    command, body, shapes, transposes
) -> None:
    weights = HALVES if "row" in body else None
    assert tried(command, body, shapes, weights)[0] == transposes


HEADS = """(float[1, s, 8] x) => (float[2, s, 4] z) {
    a = Transpose <perm = [1, 0, 2]> (x)  b = Reshape(a, shape)
    z = Transpose <perm = [1, 0, 2]> (b)
}"""


@pytest.mark.parametrize("length", [1, 5])
def test_a_transpose_that_moves_ones_merges_with_a_reshape(command, length) -> None:
    weights = {"shape": np.array([-1, 2, 4])}
    found = tried(command, HEADS, {"x": (1, length, 8)}, weights)
    assert found[:2] == (1, 2)


UNARY = ["Relu", "Tanh", "Sigmoid", "Neg", "Abs"]
BINARY = ["Add", "Mul", "Sub", "Max"]


def region(rng: np.random.Generator) -> tuple[str, dict[str, np.ndarray], list[tuple[int, ...]]]:
    """A random graph of transposed inputs, numbers, rows and operators of one element."""
    rank = int(rng.integers(2, 5))
    shape = [int(n) for n in rng.integers(1, 4, rank)]
    order = rng.permutation(rank)
    turned = [shape[i] for i in order]
    weights = {
        "w0": np.array(1.5, np.float32),
        "w1": rng.standard_normal(turned[-1:]).astype(np.float32),
        "w2": rng.standard_normal(turned).astype(np.float32),
    }
    lines, values = [], []
    for i in range(int(rng.integers(1, 4))):
        lines.append(f"t{i} = Transpose <perm = {order.tolist()}> (x{i})")
        values.append(f"t{i}")
    count = len(values)
    for i in range(int(rng.integers(1, 8))):
        a = str(rng.choice(values))
        b = str(rng.choice(values + list(weights)))
        call = f"{rng.choice(UNARY)}({a})" if rng.random() < 0.4 else f"{rng.choice(BINARY)}({a}, {b})"
        lines.append(f"v{i} = {call}")
        values.append(f"v{i}")
    back = rng.permutation(rank) if rng.random() < 0.3 else np.argsort(order)
    lines.append(f"y = Transpose <perm = {back.tolist()}> ({values[-1]})")
    lines.append(f"z = Add({values[-1]}, {rng.choice(values)})")
    dims = ", ".join(map(str, shape))
    inputs = ", ".join(f"float[{dims}] x{i}" for i in range(count))
    final = ", ".join(str(turned[i]) for i in back)
    body = f"({inputs}) => (float[{final}] y, float[{', '.join(map(str, turned))}] z) {{ {' '.join(lines)} }}"
    return body, weights, [tuple(shape)] * count


def compared(command, seeds) -> None:
    for seed in seeds:
        body, weights, shapes = region(np.random.default_rng(seed))
        named = {f"x{i}": shape for i, shape in enumerate(shapes)}
        used = {name: value for name, value in weights.items() if name in body}
        transposes, _, _ = tried(command, body, named, used)
        assert transposes <= body.count("Transpose"), body


def test_random_regions_compute_the_same(command) -> None:
    compared(command, range(25))


@pytest.mark.long
def test_many_random_regions_compute_the_same(command) -> None:
    compared(command, range(100, 1100))
