"""Rules that compute with constants, with infinities, NaN, zeros and limits as these constants."""

from __future__ import annotations

import re

import numpy as np
import pytest

import oracle
import small
import tangram
from conftest import ROOT

# The least and greatest numbers of a type, what is no number, and both zeros.
SPECIAL = ["inf", "-inf", "nan", "0", "-0", "max", "-max", "tiny", "least"]
IMAGE, FILTERS = "float[1, 2, 5, 5] x", {"w": (3, 2, 3, 3)}
CHANNELS = {"g": (3,), "b": (3,), "m": (3,), "v": (3,)}
LINE = {"w": (4, 3)}
GELU = "d = Div(x, root)  e = Erf(d)  s = Add(e, one)"
NORM = """mu = ReduceMean <axes = [-1]> (x)  d = Sub(x, mu)  p = Pow(d, two)  var = ReduceMean <axes = [-1]> (p)
          sum = Add(var, k)  s = Sqrt(sum)  n = Div(d, s)  ng = Mul(n, g)  y = Add(ng, b)"""
FIXED = {"root": np.float32(1.4142135623730951), "one": np.float32(1), "two": np.float32(2), "half": np.float32(0.5)}
# A graph, the extents of its constants, and the rules that are to fire on it.
MODELS = [
    (IMAGE, "c = Conv(x, w)  y = BatchNormalization(c, g, b, m, v)", FILTERS | CHANNELS, "conv-batch-norm"),
    (IMAGE, "c = Conv(x, w, k)  y = BatchNormalization(c, g, b, m, v)", FILTERS | CHANNELS | {"k": (3,)}, "conv-bias-batch-norm"),
    (IMAGE, "c = ConvTranspose(x, w)  y = BatchNormalization(c, g, b, m, v)", {"w": (2, 3, 3, 3)} | CHANNELS, "conv-transpose-batch-norm"),
    (IMAGE, "c = ConvTranspose(x, w, k)  y = BatchNormalization(c, g, b, m, v)", {"w": (2, 3, 3, 3)} | CHANNELS | {"k": (3,)}, "conv-transpose-bias-batch-norm"),
    (IMAGE, "c = Conv(x, w)  y = Mul(c, k)", FILTERS | {"k": (3, 1, 1)}, "conv-multiply"),
    (IMAGE, "c = Conv(x, w, b)  y = Mul(c, k)", FILTERS | {"k": (3, 1, 1), "b": (3,)}, "conv-bias-multiply"),
    (IMAGE, "c = Conv(x, w)  y = Mul(c, k)", FILTERS | {"k": ()}, "conv-scale"),
    (IMAGE, "c = Conv(x, w, b)  y = Mul(c, k)", FILTERS | {"k": (), "b": (3,)}, "conv-bias-scale"),
    (IMAGE, "c = Mul(x, k)  y = Conv(c, w)", FILTERS | {"k": ()}, "scale-conv"),
    (IMAGE, "c = Div(x, k)  y = Conv(c, w)", FILTERS | {"k": ()}, "divided-conv"),
    (IMAGE, "c = Mul(x, k)  y = Conv(c, w)", FILTERS | {"k": (2, 1, 1)}, "multiply-conv"),
    (IMAGE, "c = Conv(x, w)  y = Add(c, k)", FILTERS | {"k": (3, 1, 1)}, "conv-add"),
    (IMAGE, "c = Conv(x, w)  y = Add(c, k)", FILTERS | {"k": ()}, "conv-add-number"),
    (IMAGE, "c = Conv(x, w)  y = Sub(c, k)", FILTERS | {"k": (3, 1, 1)}, "conv-subtract"),
    (IMAGE, "c = Conv(x, w)  y = Sub(c, k)", FILTERS | {"k": ()}, "conv-subtract-number"),
    (IMAGE, "c = Conv(x, w, b)  y = Sub(c, k)", FILTERS | {"k": (3, 1, 1), "b": (3,)}, "bias-subtract-constant"),
    (IMAGE, "c = Conv(x, w, b)  y = Sub(c, k)", FILTERS | {"k": (), "b": (3,)}, "bias-subtract-number"),
    (IMAGE, "c = Conv(x, w, b)  y = Add(c, k)", FILTERS | {"k": (3, 1, 1), "b": (3,)}, "bias-add-constant"),
    (IMAGE, "c = Conv(x, w, b)  y = Add(c, k)", FILTERS | {"k": (), "b": (3,)}, "bias-add-number"),
    ("float[2, 4] x", "c = MatMul(x, w)  y = Add(c, k)", LINE | {"k": (3,)}, "matmul-add"),
    ("float[2, 4] x", "c = MatMul(x, w)  y = Add(c, k)", LINE | {"k": (1, 3)}, "matmul-add-row"),
    ("float[2, 4] x", "c = MatMul(x, w)  y = Mul(c, k)", LINE | {"k": ()}, "matmul-scale"),
    ("float[2, 4] x", "c = Mul(x, k)  y = MatMul(c, w)", LINE | {"k": ()}, "scale-matmul"),
    ("float[2, 4] x", "c = Gemm <transB = 1> (x, w)  y = Add(c, k)", {"w": (3, 4), "k": (3,)}, "dense-add"),
    ("float[2, 4] x", "c = Gemm <transB = 1> (x, w)  y = BatchNormalization(c, g, b, m, v)", {"w": (3, 4)} | CHANNELS, "dense-batch-norm"),
    ("float[2, 4] x", "c = Add(x, k)  y = Add(c, l)", {"k": (), "l": ()}, "add-add-constants"),
    ("float[2, 4] x", "c = Mul(x, k)  y = Mul(c, l)", {"k": (), "l": (4,)}, "multiply-multiply-constants"),
    ("float[2, 4] x", "c = Div(x, k)  y = Mul(c, l)", {"k": (), "l": (4,)}, "divide-multiply-constants"),
    ("float[2, 4] x", f"{GELU}  m = Mul(x, s)  y = Mul(m, half)", {}, "gelu"),
    ("float[2, 4] x", f"{GELU}  h = Mul(x, half)  y = Mul(h, s)", {}, "gelu-half-first"),
    ("float[2, 4] x", f"{GELU}  h = Mul(s, half)  y = Mul(x, h)", {}, "gelu-half-inside"),
    ("float[2, 4] x", NORM, {"k": (), "g": (4,), "b": (4,)}, "layer-norm"),
    ("float[2, 5, 4] x", "p = MatMul(x, w)  q = MatMul(x, w1)  r = MatMul(x, w2)  s = Mul(p, q)  y = Mul(s, r)",
     LINE | {"w1": (4, 3), "w2": (4, 3)}, "parallel-matmul"),
    ("float[2, 6] x", "p, q = Split <axis = 1> (x)  r = Add(p, k)  s = Add(q, l)  y = Mul(r, s)",
     {"k": (3,), "l": (3,)}, "split-add"),
]  # fmt: skip
# The same of rules that put a sum and a factor, or two products, in another order.
ORDERS = [
    ("float[2, 3, 4] x", "c = Mul(x, k)  y = ReduceSum <keepdims = 0> (c)", {"k": ()}, "sum-of-scaled"),
    ("float[2, 3, 4] x", "c = Div(x, k)  y = ReduceMean <keepdims = 0> (c)", {"k": ()}, ""),
    ("float[2, 3, 4] x", "c = Mul(x, k)  y = ReduceMean <axes = [2]> (c)", {"k": (3, 1)}, ""),
    ("float[2, 3, 4] x", "c = Add(x, k)  y = ReduceMean <axes = [2]> (c)", {"k": (3, 1)}, ""),
    ("float[2, 3, 4] x", "c = MatMul(x, w)  y = ReduceMean <axes = [1]> (c)", {"w": (4, 5)}, "mean-of-product"),
    ("float[8, 2] x", "c = MatMul(x, w)  y = MatMul(c, v)", {"w": (2, 9), "v": (9, 3)}, "matmul-associate"),
    ("float[8, 4] x", "c = MatMul(x, w)  d = MatMul(x, v)  y = Add(c, d)", {"w": (4, 5), "v": (4, 5)}, ""),
    ("float[8, 4] x", "c = Mul(x, k)  d = MatMul(c, w)  e = MatMul(d, v)  y = Add(e, l)",
     {"k": (), "w": (4, 5), "v": (5, 2), "l": (2,)}, ""),
    ("float[8, 4] x", "c = Add(x, k)  y = Softmax <axis = -1> (c)", {"k": (8, 1)}, ""),
    ("float[8, 4] x", "c = Mul(x, k)  d = Mul(x, l)  y = Add(c, d)", {"k": (), "l": ()}, ""),
    ("float[1, 2, 5, 5] x", "c = Conv(x, w)  y = GlobalAveragePool(c)", {"w": (3, 2, 1, 1)}, ""),
    ("float[1, 2, 5, 5] x", "c = Conv(x, w)  d = Conv(c, v)  y = Relu(d)", {"w": (6, 2, 1, 1), "v": (2, 6, 1, 1)}, ""),
]  # fmt: skip
MODELS += ORDERS
# Rules with constants that no numbers are computed of: places, extents, or bounds.
# Biases of parts are left only by rules on request.
APART = {"sequence-at-of-even-split", "sequence-at-of-split", "bias-bias", "parallel-matmul-add", "split-bias-add"}


def built(head: str, body: str, extents: dict, dtype: str = "float32"):
    """A model with benign constants, and these."""
    rng = np.random.default_rng(3)
    weights = {name: np.abs(rng.standard_normal(shape)).astype(dtype) + 0.5 for name, shape in extents.items()}
    weights = {name: np.asarray(value, dtype) for name, value in weights.items()}
    weights |= {name: np.asarray(value, dtype) for name, value in FIXED.items() if re.search(rf"\b{name}\b", body)}
    kind = {"float32": "float", "float64": "double", "float16": "float16"}[dtype]
    head = head.replace("float[", f"{kind}[")
    opset = 20 if "Erf" in body else 17
    output = onnx_output(body)
    return small.model(f"({head}) => ({kind}[...] {output}) {{ {body} }}".replace("[...]", ""), opset, weights), weights


def onnx_output(body: str) -> str:
    """The name of the last value."""
    return re.findall(r"(\w+) = ", body)[-1] if " y = " not in f" {body}" else "y"


def special(name: str, dtype: np.dtype):
    """A number by its name in `SPECIAL`."""
    info = np.finfo(dtype)
    named = {"max": info.max, "-max": -info.max, "tiny": info.tiny, "least": info.smallest_subnormal}
    return named.get(name, dtype.type(float(name)) if name not in named else None)


def replaced(model, name: str, value, everywhere: bool):
    """The model with another number in one constant."""
    made = type(model)()
    made.CopyFrom(model)
    for tensor in made.graph.initializer:
        if tensor.name == name:
            array = small.numpy_helper.to_array(tensor).copy()
            array.reshape(-1)[slice(None) if everywhere else slice(1)] = value
            tensor.CopyFrom(small.numpy_helper.from_array(array, name))
    return made


@pytest.mark.parametrize("number", range(len(MODELS)), ids=[f"{at}-{model[3]}" for at, model in enumerate(MODELS)])
@pytest.mark.parametrize("dtype", [
    "float32", *(pytest.param(wide, marks=pytest.mark.long) for wide in ("float16", "float64"))
])  # fmt: skip
def test_special_constants_mean_what_they_meant(number, dtype) -> None:
    head, body, extents, rule = MODELS[number]
    model, weights = built(head, body, extents, dtype)
    known = dtype == "float32"
    assert not (known and rule) or rule in tangram.optimize(model).report.fired
    inputs = oracle.random_inputs(model)
    for name in (name for name in weights if name not in FIXED):
        for text in SPECIAL:
            for everywhere in (True, False):
                case = replaced(model, name, special(text, np.dtype(dtype)), everywhere)
                try:
                    expected = oracle.run_ort(case, inputs)
                except Exception:  # noqa: BLE001: onnxruntime has not every kernel for every type
                    return
                found = oracle.run_ort(tangram.optimize(case).to_onnx(), inputs)
                if "max" in text or (text in ("tiny", "least") and "Div" in body):
                    # What overflows on the way need not do so in another order.
                    finite = np.isfinite(expected[0])
                    found, expected = [found[0][finite]], [expected[0][finite]]
                bounds = {}
                if dtype == "float16" and "max" in text and MODELS[number] in ORDERS:
                    # Terms of 65504 that cancel leave the rounding of the terms.
                    bounds = {"rtol": 2.0**-8, "atol": 65504 * 2.0**-8}
                assert oracle.same(found, expected, **bounds), (name, text, everywhere)


def test_every_rule_with_a_constant_is_tried() -> None:
    with_constants = set()
    for path in ("simplify", "fuse", "merge", "recognise"):
        text = (ROOT / "rules" / f"{path}.gsl").read_text()
        for rule in re.split(r"\nrule ", text)[1:]:
            if re.search(r"= const\b", rule.split("\n}")[0]):
                with_constants.add(rule.split()[0])
    assert with_constants <= {model[3] for model in MODELS} | APART


@pytest.mark.parametrize(("dtype", "x", "factors"), [
    ("float64", 1e300, (1e-200, 1e-200)), ("float64", 1e300, (1e-160, 1e-160)), ("float64", 1e300, (0.5, 5e-324)),
    ("float32", 1e30, (1e-30, 1e-30)), ("float32", 1e30, (1e-20, 1e-20)), ("float16", 1e3, (1e-4, 1e-4)),
])  # fmt: skip
@pytest.mark.parametrize("body", ["c = Mul(x, k)  y = Mul(c, l)", "c = MatMul(x, w)  d = Mul(c, k)  y = Mul(d, l)"])
def test_a_product_of_constants_that_is_too_small_is_not_made(body, dtype, x, factors) -> None:
    kind = {"float32": "float", "float64": "double", "float16": "float16"}[dtype]
    weights = {name: np.asarray(value, dtype) for name, value in zip("kl", factors, strict=True)}
    if "w" in body:
        weights["w"] = np.ones((1, 1), dtype)
    model = small.model(f"({kind}[2, 1] x) => ({kind}[2, 1] y) {{ {body} }}", 17, weights)
    inputs = {"x": np.full((2, 1), x, dtype)}
    after = tangram.optimize(model).to_onnx()
    assert oracle.same(oracle.run_ort(after, inputs), oracle.run_ort(model, inputs))
