"""Transposes that meet: fewer of them, the same numbers."""

from __future__ import annotations

import numpy as np
import pytest

import oracle
import small


@pytest.fixture
def command(tangram_bin, tmp_path) -> small.Command:
    return small.Command(tangram_bin, tmp_path)


def tried(command, body: str, shapes: dict[str, tuple[int, ...]], weights=None, opset: int = 17):
    """Optimises, compares on random numbers, and counts transposes and all nodes that are left."""
    before = small.model(body, opset, weights)
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


LAST, FIRST = "perm = [0, 2, 3, 1]", "perm = [0, 3, 1, 2]"
# What speaks of axes, between a transpose to channels last and one back.
BETWEEN = {
    "concatenation": ("float[n, 5, 4, 6]", "c = Concat <axis = 3> (a, a2)  b = Relu(c)"),
    "padding": ("float[n, 3, 6, 9]", "b = Pad(a, widths)"),
    "padding of some axes": ("float[n, 4, 4, 6]", "b = Pad(a, two, none, three)"),
    "slice": ("float[n, 2, 4, 6]", "b = Slice(a, zero, two_one, three)"),
    "slice backwards": ("float[n, 3, 2, 6]", "b = Slice(a, minus, far, one, steps)"),
    "softmax": ("float[n, 3, 4, 6]", "b = Softmax <axis = -1> (a)"),
    "mean": ("float[n, 1, 4, 6]", "b = ReduceMean <axes = [3]> (a)"),
    "greatest over the picture": ("float[n, 3, 1, 1]", "b = ReduceMax <axes = [1, 2]> (a)"),
}
AXES = {
    "widths": np.array([0, 1, 2, 0, 0, 1, 1, 0]), "two": np.array([0, 1]), "three": np.array([3]),
    "none": np.array(0, np.float32), "zero": np.array([0]), "two_one": np.array([2]), "one": np.array([1]),
    "minus": np.array([-1]), "far": np.array([-100]), "steps": np.array([-2]),
}  # fmt: skip


@pytest.mark.parametrize("name", BETWEEN)
def test_transposes_pass_what_speaks_of_axes(command, name) -> None:
    final, lines = BETWEEN[name]
    second = "a2 = Transpose <perm = [0, 2, 3, 1]> (x2)" if "a2" in lines else ""
    body = f"""(float[n, 3, 4, 6] x, float[n, 2, 4, 6] x2) => ({final} y) {{
        a = Transpose <{LAST}> (x)  {second}  {lines}  y = Transpose <{FIRST}> (b)
    }}"""
    used = {weight: value for weight, value in AXES.items() if weight in lines}
    # Paddings name their axes from operator set 18 on.
    opset = 18 if "none" in used else 17
    assert tried(command, body, {"x": (2, 3, 4, 6), "x2": (2, 2, 4, 6)}, used, opset)[0] == 0


def test_transposes_pass_dimensions_that_go_and_come(command) -> None:
    body = f"""(float[1, 3, h, w] x) => (float[1, 3, h, w] y) {{
        a = Transpose <{LAST}> (x)  b = Squeeze(a, axis)  c = Elu(b)  d = Unsqueeze(c, axis)
        y = Transpose <{FIRST}> (d)
    }}"""
    assert tried(command, body, {"x": (1, 3, 4, 6)}, {"axis": np.array([0])})[0] == 0


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


def along_axes(rng: np.random.Generator) -> tuple[str, dict[str, np.ndarray], tuple[int, ...]]:
    """A random chain of operators that speak of axes, between two transposes."""
    rank = int(rng.integers(2, 5))
    shape = tuple(int(n) for n in rng.integers(1, 5, rank))
    order = rng.permutation(rank)
    now = [shape[i] for i in order]
    weights: dict[str, np.ndarray] = {}
    lines = [f"v0 = Transpose <perm = {order.tolist()}> (x)"]

    def listed(*numbers: int) -> str:
        weights[f"w{len(weights)}"] = np.array(numbers, np.int64)
        return f"w{len(weights) - 1}"

    for i in range(int(rng.integers(1, 6))):
        axis, kind = int(rng.integers(len(now))), int(rng.integers(8))
        said = axis - len(now) if rng.random() < 0.5 else axis
        v = f"v{i}"
        if kind == 0:
            widths = rng.integers(0, 3, 2 * len(now)).tolist()
            call = f"Pad({v}, {listed(*widths)})"
            now = [n + a + b for n, a, b in zip(now, widths, widths[len(now):])]
        elif kind == 1 and now[axis] > 1:
            call = f"Slice({v}, {listed(1)}, {listed(100)}, {listed(said)})"
            now[axis] -= 1
        elif kind == 2:
            keeps = int(rng.integers(2)) or int(len(now) < 2)
            call = f"ReduceMax <axes = [{said}], keepdims = {keeps}> ({v})"
            now[axis:axis + 1] = [1] * keeps
        elif kind == 3 and now[axis] == 1 and len(now) > 1:
            call = f"Squeeze({v}, {listed(said)})"
            del now[axis]
        elif kind == 4 and len(now) < 5:
            call = f"Unsqueeze({v}, {listed(axis)})"
            now.insert(axis, 1)
        elif kind == 5:
            call = f"Softmax <axis = {said}> ({v})"
        elif kind == 6:
            call = f"Concat <axis = {said}> ({v}, {v})"
            now[axis] *= 2
        else:
            call = f"{rng.choice(UNARY)}({v})"
        lines.append(f"v{i + 1} = {call}")
    alike = len(now) == rank and rng.random() < 0.7
    back = np.argsort(order) if alike else rng.permutation(len(now))
    lines.append(f"y = Transpose <perm = {back.tolist()}> (v{len(lines) - 1})")
    final = [now[i] for i in back]
    return f"(float{list(shape)} x) => (float{final} y) {{ {' '.join(lines)} }}", weights, shape


def along_axes_compared(command, seeds) -> None:
    for seed in seeds:
        body, weights, shape = along_axes(np.random.default_rng(seed))
        transposes, _, _ = tried(command, body, {"x": shape}, weights)
        assert transposes <= body.count("Transpose"), body


def test_random_chains_along_axes_compute_the_same(command) -> None:
    along_axes_compared(command, range(40))


@pytest.mark.long
def test_many_random_chains_along_axes_compute_the_same(command) -> None:
    along_axes_compared(command, range(100, 1600))


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
