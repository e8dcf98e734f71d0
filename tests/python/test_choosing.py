"""Rules that have to pay: they fire where a program takes less by them, and nowhere else.

Models of `bench/choosing/pairs.py` and the same kinds in other surroundings are drawn at random:
what comes out is compared in onnxruntime, and takes no more arithmetic than what went in.
"""

from __future__ import annotations

import importlib.util
import pathlib

import numpy as np
import onnx
import oracle
import pytest
import tangram

# The models that the benchmark times. Its folder is on no path: other benchmarks have a "run.py" too.
FILE = pathlib.Path(__file__).resolve().parents[2] / "bench" / "choosing" / "pairs.py"
SPEC = importlib.util.spec_from_file_location("pairs", FILE)
pairs = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(pairs)

OPERATORS = {
    "row_of_product-96x384x1000": 50.0, "row_of_product-40x192x2000": 30.0, "gathered_row-80x256": 50.0,
    "gathered_row-200x128": 100.0, "row_of_attention-48x320x4": 2.0, "pooled_head-24x96x480": 50.0,
    "pooled_head-14x320x1280": 50.0, "mean_of_rows-120x192x384": 40.0, "mean_over_space-20x128x256": 50.0,
    "two_pointwise-20x48x192x48": 7.0, "two_pointwise-40x32x128x24": 7.0, "window_and_pointwise-24x32x96x32": 3.0,
    "pointwise_of_resized-20x160x40": 3.5, "pointwise_of_resized-36x64x48": 3.5, "low_rank-100x320x320x40": 8.0,
    "low_rank-60x80x640x80": 10.0, "linear_attention-320x40": 7.0, "linear_attention-512x48": 9.0,
    "projected_table-1500x96x80": 100.0, "projected_table-800x48x256": 100.0,
    "shifted_table-1500x96x80": 30.0, "shifted_table-900x128x64": 30.0, "normalised_table-1200x128": 50.0,
    "normalised_table-600x320": 50.0, "joined_global-150x96x64x96": 1.5,
    "joined_global-64x200x300x128": 2.0, "two_products-90x256x256": 1.9, "two_products-300x64x200": 1.9,
    "shared_blocks-90x160x200": 1.9, "shifted_softmax-6x160": 1.3, "shifted_softmax-12x96": 1.3,
    "repvgg-20x64": 1.1, "repvgg-36x40": 1.1, "lora-80x256x8": 1.05, "lora-40x512x16": 1.05,
}  # fmt: skip


def checked(model: onnx.ModelProto, tolerance: float = 2e-4) -> tangram.Optimized:
    """Optimises a model and compares the results."""
    inputs = oracle.random_inputs(model)
    optimised = tangram.optimize(model)
    for a, b in zip(oracle.run_ort(model, inputs), oracle.run_ort(optimised.to_onnx(), inputs), strict=True):
        scale = max(1.0, float(np.abs(a).max()))
        assert a.shape == b.shape and np.abs(a.astype(np.float64) - b).max() <= tolerance * scale
    return optimised


@pytest.mark.parametrize("name", [name for _, name, _ in pairs.PAIRS])
def test_a_pair_takes_as_much_less_as_it_should(name) -> None:
    model = next(make() for _, known, make in pairs.PAIRS if known == name)
    cost = checked(model).report.data["cost"]
    before, after = cost["before"]["flops"], cost["after"]["flops"]
    assert after <= before * (1 + 1e-6)
    assert before >= OPERATORS.get(name, 1.0) * after


def test_paths_are_one_path() -> None:
    for _, name, make in pairs.PAIRS:
        if name.startswith("paths"):
            operators = [node.op_type for node in checked(make()).to_onnx().graph.node]
            assert operators.count("Conv") == 3, operators


def test_gates_of_rows_stay_products() -> None:
    """Each product of rows and what is added to it are one Gemm of the runtime."""
    model = next(make() for _, name, make in pairs.PAIRS if name.startswith("gates"))
    assert "Split" not in [node.op_type for node in checked(model).to_onnx().graph.node]


def cut(g: pairs.Graph, y: str, rank: int, rng: np.random.Generator) -> str:
    """Some of what a value has: a slice with steps, one place, some places, or a reduction."""
    axis = int(rng.integers(0, rank))
    match rng.integers(0, 5):
        case 0:
            start, step = int(rng.integers(-3, 2)), int(rng.choice([1, 2, -1]))
            end = -(2**31) if step < 0 else 2**31
            return g.node("Slice", y, g.ints(start), g.ints(end), g.ints(axis), g.ints(step))
        case 1:
            return g.node("Gather", y, g.constant(int(rng.integers(-2, 2)), np.int64), axis=axis)
        case 2:
            return g.node("Gather", y, g.ints(1, 0, 1), axis=axis)
        case 3:
            return g.node("ReduceMean", y, g.ints(axis), keepdims=int(rng.integers(0, 2)))
        case _:
            return g.node("ReduceSum", y, g.ints(axis), keepdims=int(rng.integers(0, 2)))


def surroundings(g: pairs.Graph, x: str, shape: list[int], rng: np.random.Generator) -> tuple[str, list[int]]:
    """A few operations in a row, products and convolutions among them."""
    rank = len(shape)
    for _ in range(int(rng.integers(1, 5))):
        match rng.integers(0, 8):
            case 0:
                out = int(rng.integers(2, 9))
                x, shape = g.node("MatMul", x, g.weight(shape[-1], out)), [*shape[:-1], out]
            case 1:
                x = g.node("Add", x, g.weight(shape[-1]))
            case 2:
                x = g.node(str(rng.choice(["Relu", "Tanh", "Sigmoid", "Abs"])), x)
            case 3:
                perm = [int(i) for i in rng.permutation(rank)]
                x, shape = g.node("Transpose", x, perm=perm), [shape[i] for i in perm]
            case 4:
                x = g.node("Softmax", x, axis=int(rng.integers(0, rank)))
            case 5:
                x = g.node("Mul", x, g.constant(0.5, g.dtype))
            case 6 if rank == 4:
                window, out = int(rng.choice([1, 1, 3])), 4
                group = 2 if shape[1] % 2 == 0 and rng.random() < 0.3 else 1
                x, shape = g.conv(x, shape[1], out, window, bool(rng.random() < 0.5), group=group), [shape[0], out, *shape[2:]]
            case 7 if rank == 4:
                x, scale = g.node("Resize", x, "", g.constant([1, 1, 2, 2], np.float32), mode="nearest"), 2
                shape = [*shape[:2], shape[2] * scale, shape[3] * scale]
    return x, shape


def random_model(seed: int) -> onnx.ModelProto:
    """A model whose results are parts of what it computes; sometimes all of it is a result too."""
    rng = np.random.default_rng(seed)
    rank = int(rng.choice([2, 3, 4]))
    # The runtime has no convolution of float64.
    g = pairs.Graph(dtype=np.float64 if rank < 4 and seed % 3 == 0 else np.float32)
    g.rng = rng
    shape = [int(n) for n in rng.integers(3, 9, rank)]
    if rank == 4:
        shape[1] = 4
    y, shape = surroundings(g, g.input(*shape), shape, rng)
    results = [g.node("Neg", cut(g, y, rank, rng))]
    if rng.random() < 0.25:
        results.append(g.node("Identity", y))
    return g.model(*results)


def random_models_hold(seeds: range) -> int:
    """Optimises random models and compares the results; tells how often a rule that has to pay fired."""
    fired = 0
    for seed in seeds:
        model = random_model(seed)
        report = checked(model, 1e-3).report
        cost = report.data["cost"]
        assert cost["after"]["flops"] <= cost["before"]["flops"] * (1 + 1e-6), seed
        fired += any("-of-" in rule for rule in report.fired)
    return fired


def test_random_surroundings_mean_what_they_meant() -> None:
    assert random_models_hold(range(120)) > 30


@pytest.mark.long
def test_many_random_surroundings_mean_what_they_meant() -> None:
    random_models_hold(range(120, 5000))


EQUATIONS = [
    "bshd,bthd->bhst", "bhst,bthd->bshd", "bsd,dhk->bshk", "bshk,hkd->bsd", "ij,jk->ki", "ij,kj->ik", "bij,bjk",
    "i,i->", "i,j->ij", "ij,j->i", "abij,abjk->baik", "bc,bcij->bij", "ij,ij->i", "ijk,jil->kl", "ii,ij->j", "ij,ij->ij",
]  # fmt: skip


@pytest.mark.parametrize("equation", EQUATIONS)
@pytest.mark.parametrize("open_batch", [False, True])
def test_an_einsum_is_a_product(equation, open_batch) -> None:
    extents = {letter: 2 + i for i, letter in enumerate("abcdhijklst")}
    terms = equation.split("->")[0].split(",")
    g = pairs.Graph()
    first = terms[0][0]
    shown = [["n" if open_batch and letter == first else extents[letter] for letter in term] for term in terms]
    inputs = [g.input(*shape) for shape in shown]
    g.nodes.append(onnx.helper.make_node("Einsum", inputs, ["y"], equation=equation))
    graph = onnx.helper.make_graph(g.nodes, "g", g.inputs, [onnx.helper.make_tensor_value_info("y", 1, None)])
    model = onnx.helper.make_model(graph, ir_version=9, opset_imports=[onnx.helper.make_opsetid("", 20)])
    rng = np.random.default_rng(1)
    feed = {name: rng.standard_normal([extents[letter] for letter in term]).astype(np.float32)
            for name, term in zip(inputs, terms, strict=True)}  # fmt: skip
    found = tangram.optimize(model).to_onnx()
    for a, b in zip(oracle.run_ort(model, feed), oracle.run_ort(found, feed), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)
    summed = "MatMul" in [node.op_type for node in found.graph.node]
    assert summed or equation in ("i,j->ij", "ij,ij->ij", "ii,ij->j") or open_batch
