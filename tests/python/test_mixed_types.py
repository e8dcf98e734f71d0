"""Operators whose inputs may be of several types, and types that are wider than an attribute."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import onnx
import pytest

import oracle
import small
import tangram

KINDS = {"float": np.float32, "double": np.float64, "float16": np.float16}
IN_FRONT = {
    "Conv": ("[1, 2, 4, 4]", "c = Conv(x, w)", (2, 2, 1, 1)),
    "Conv with bias": ("[1, 2, 4, 4]", "c = Conv(x, w, k)", (2, 2, 1, 1)),
    "ConvTranspose": ("[1, 2, 4, 4]", "c = ConvTranspose(x, w)", (2, 2, 1, 1)),
    "ConvTranspose with bias": ("[1, 2, 4, 4]", "c = ConvTranspose(x, w, k)", (2, 2, 1, 1)),
    "Gemm": ("[3, 2]", "c = Gemm <transB = 1> (x, w)", (2, 2)),
    "MatMul": ("[3, 2]", "c = MatMul(x, w)", (2, 2)),
    "nothing": ("[1, 2, 4, 4]", "c = Identity(x)", ()),
}


@pytest.mark.parametrize("front", IN_FRONT)
@pytest.mark.parametrize("data", KINDS)
@pytest.mark.parametrize("scale", KINDS)
@pytest.mark.parametrize("statistics", KINDS)
def test_a_batch_normalisation_of_several_types_stays_right(front, data, scale, statistics) -> None:
    extents, body, shape = IN_FRONT[front]
    text = f"({data}{extents} x) => ({data}{extents} y) {{ {body}  y = BatchNormalization(c, s, b, m, v) }}"
    rng = np.random.default_rng(1)
    weights = {"s": KINDS[scale], "b": KINDS[scale], "m": KINDS[statistics], "v": KINDS[statistics]}
    weights = {name: np.abs(rng.standard_normal(2)).astype(kind) for name, kind in weights.items()}
    weights["w"] = rng.standard_normal(shape).astype(KINDS[data])
    weights["k"] = rng.standard_normal(2).astype(KINDS[data])
    used = {name: value for name, value in weights.items() if name in "sbmv" or f", {name}" in body}
    model = small.model(text, 15, used)
    onnx.checker.check_model(model, full_check=True)
    after = tangram.optimize(model, check=True).to_onnx()
    onnx.checker.check_model(after, full_check=True)
    inputs = oracle.random_inputs(model)
    try:
        expected = oracle.run_ort(model, inputs)
    except Exception:  # noqa: BLE001: onnxruntime has no kernel for most mixtures
        expected = oracle.run_reference(model, inputs)
        assert oracle.same(oracle.run_reference(after, inputs), expected)
        return
    assert oracle.same(oracle.run_ort(after, inputs), expected)
    assert len({data, scale, statistics}) > 1 or front in ("nothing", "MatMul") or "BatchNormalization" not in small.operators(after)


# A base and an exponent may be of two types; what rules make of them is not.
@pytest.mark.parametrize("exponent", [2, 3, 0.5, 1, 0, -1])
@pytest.mark.parametrize("kind", ["int32", "int64", "float", "double", "float16"])
def test_a_power_of_two_types_stays_right(exponent, kind) -> None:
    dtype = {"int32": np.int32, "int64": np.int64} | KINDS
    value = np.array(exponent).astype(dtype[kind])
    model = small.model("(float[2, 3] x) => (float[2, 3] y) { p = Pow(x, e)  q = Mul(p, x)  y = Pow(q, e) }", 15, {"e": value})
    after = tangram.optimize(model).to_onnx()
    onnx.checker.check_model(after, full_check=True)
    inputs = {"x": np.abs(oracle.random_inputs(model)["x"]) + np.float32(0.5)}
    assert oracle.same(oracle.run_ort(after, inputs), oracle.run_ort(model, inputs))


@pytest.mark.parametrize("root", [1.4142135, 1.41421354, 2**0.5])
@pytest.mark.parametrize("kind", KINDS)
def test_gelu_is_recognised_by_the_nearest_number_of_its_type(root, kind) -> None:
    dtype = KINDS[kind]
    weights = {"root": np.array(root, dtype), "one": np.array(1, dtype), "half": np.array(0.5, dtype)}
    text = f"({kind}[64] x) => ({kind}[64] y) {{ d = Div(x, root)  e = Erf(d)  a = Add(e, one)  m = Mul(x, a)  y = Mul(m, half) }}"
    model = small.model(text, 20, weights)
    after = tangram.optimize(model).to_onnx()
    assert (small.operators(after) == ["Gelu"]) == (dtype(root) == dtype(2**0.5))
    inputs = oracle.random_inputs(model)
    assert oracle.same(oracle.run_reference(after, inputs), oracle.run_reference(model, inputs), rtol=1e-12 if kind == "double" else None)


def test_an_epsilon_of_float64_is_not_rounded() -> None:
    weights = {"two": np.array(2.0), "e": np.array(0.1234567891234), "g": np.ones(8), "b": np.zeros(8)}
    model = small.model("""(double[n, 8] x) => (double[n, 8] y) {
        mu = ReduceMean <axes = [-1]> (x)  d = Sub(x, mu)  p = Pow(d, two)  v = ReduceMean <axes = [-1]> (p)
        ve = Add(v, e)  s = Sqrt(ve)  n = Div(d, s)  ng = Mul(n, g)  y = Add(ng, b) }""", 17, weights)
    after = tangram.optimize(model).to_onnx()
    inputs = oracle.random_inputs(model)
    exact = {np.dtype(np.float64): (1e-14, 1e-14), np.dtype(ml_dtypes.bfloat16): (0, 0)}
    assert oracle.same(oracle.run_ort(after, inputs), oracle.run_ort(model, inputs), exact)


ABSENT = {
    "LeakyRelu": "y = LeakyRelu(x)", "HardSigmoid": "y = HardSigmoid(x)", "Selu": "y = Selu(x)", "Elu": "y = Elu(x)",
    "Shrink": "y = Shrink <bias = 0.1> (x)",
}  # fmt: skip


@pytest.mark.parametrize("operator", ABSENT)
def test_defaults_are_floats_in_models_of_float64(operator) -> None:
    """What an absent attribute stands for is a `float`, as the attribute is."""
    x = np.linspace(-2, 2, 48).reshape(1, 4, 3, 4)
    model = small.model(f"(double[1, 4, 3, 4] k) => (double[1, 4, 3, 4] y) {{ {ABSENT[operator].replace('(x)', '(k)')} }}", 17)
    expected = oracle.run_reference(model, {"k": x})[0]
    exact = {np.dtype(np.float64): (1e-14, 1e-14)}
    assert oracle.same(tangram.Workload.from_onnx(model)(x), expected, exact)


@pytest.mark.parametrize("operator", ["LeakyRelu", "HardSigmoid", "Elu", "ThresholdedRelu", "Softsign"])
@pytest.mark.parametrize("layer", ["RNN", "GRU"])
def test_defaults_of_gates_are_floats_in_layers_of_float64(layer, operator) -> None:
    """One step of a layer from a state of zeros is the operator that its gates are named for.

    A GRU's update gate is 1/2 where all weights of it are 0.
    """
    gates = {"RNN": 1, "GRU": 3}[layer]
    x = np.linspace(-2, 2, 12).reshape(1, 4, 3)
    own = np.linspace(-1, 1, 15).reshape(5, 3)
    weights = np.concatenate([np.zeros((5 * (gates - 1), 3)), own])[None]
    names = ", ".join(f'"{name}"' for name in ["Sigmoid"] * (gates > 1) + [operator])
    text = f"""(double[1, 4, 3] x, double[1, {5 * gates}, 3] w, double[1, {5 * gates}, 5] r) => (double[1, 4, 5] h)
        {{ e, h = {layer} <hidden_size = 5, activations = [{names}]> (x, w, r) }}"""
    inputs = {"x": x, "w": weights, "r": np.zeros((1, 5 * gates, 5))}
    share = "" if gates == 1 else "k = Constant <value = double {0.5}> ()  z = Mul(y, k)"
    plain = small.model(f"""(double[1, 4, 3] x, double[3, 5] w) => (double[1, 4, 5] {"y" if gates == 1 else "z"})
        {{ p = MatMul(x, w)  y = {operator}(p)  {share} }}""", 17)  # fmt: skip
    expected = oracle.run_reference(plain, {"x": x, "w": own.T})
    exact = {np.dtype(np.float64): (1e-14, 1e-14)}
    got = tangram.Workload.from_onnx(small.model(text, 17))(**inputs)
    assert oracle.same([got], expected, exact)
