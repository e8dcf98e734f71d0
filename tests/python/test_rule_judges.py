"""onnxruntime as a second judge of verdicts on rules.

Each case is a rule and both of its sides as a model. The verifier says whether the rule holds;
onnxruntime runs both models on numbers of the kinds on which rules go wrong, which are drawn here
and know nothing of the verifier. Both have to agree.
"""

from __future__ import annotations

import numpy as np
import onnx.parser
import oracle
import pytest

import gsl

F32 = "float32"
KINDS = ["small", "fractions", "tiny", "large", "special"]


def numbers(kind: str, dtype: str, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Numbers of a kind."""
    if dtype.startswith("int"):
        info = np.iinfo(dtype)
        small = rng.integers(-4, 5, shape)
        wide = rng.integers(info.min, info.max, shape, endpoint=True)
        return (small if kind in ("small", "fractions", "tiny") else wide).astype(dtype)
    if kind == "small":
        return rng.integers(-4, 5, shape).astype(dtype)
    if kind == "fractions":
        return (rng.integers(-8, 9, shape) / 2 + rng.choice([0, 0.3], shape)).astype(dtype)
    if kind == "tiny":
        return (rng.standard_normal(shape) * 1e-3).astype(dtype)
    if kind == "large":
        return (rng.standard_normal(shape) * 1e4).astype(dtype)
    return rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5], shape).astype(dtype)


# Rule, inputs, source, target. The text between is that of ONNX's own parser.
CASES = {
    "round": ("round(x)", "x", "x", "y = Round(x)", "y = Identity(x)", F32),
    "floor": ("negative(ceil(x))", "floor(negative(x))", "x",
              "c = Ceil(x) y = Neg(c)", "n = Neg(x) y = Floor(n)", F32),
    "ceil": ("ceil(x)", "floor(x)", "x", "y = Ceil(x)", "y = Floor(x)", F32),
    "truncation": ('cast(cast(x) { dtype = "int32" }) { dtype = "float32" }', "x", "x",
                   "c = Cast<to=6>(x) y = Cast<to=1>(c)", "y = Identity(x)", F32),
    "narrowing": ('cast(cast(x) { dtype = "int8" }) { dtype = "int32" }', "x", "x",
                  "c = Cast<to=3>(x) y = Cast<to=6>(c)", "y = Identity(x)", "int32"),
    "float-of-long": ('cast(cast(x) { dtype = "float32" }) { dtype = "int64" }', "x", "x",
                      "c = Cast<to=1>(x) y = Cast<to=7>(c)", "y = Identity(x)", "int64"),
    "self-equal": ("nn.where(equal(x, x), y, z)", "y", "xyz",
                   "e = Equal(x, x) r = Where(e, y, z) y_ = Identity(r)", "y_ = Identity(y)", F32),
    "difference": ("x - x", "x * 0.0", "x", "y = Sub(x, x)", "y = Mul(x, zero)", F32),
    "swapped": ("less(x, y)", "greater(y, x)", "xy", "r = Less(x, y)", "r = Greater(y, x)", F32),
    "not-less": ("logical_not(less(x, y))", "greater_equal(x, y)", "xy",
                 "l = Less(x, y) r = Not(l)", "r = GreaterOrEqual(x, y)", F32),
    "halves": ("(x + x) / 2", "x", "x", "s = Add(x, x) y = Div(s, two)", "y = Identity(x)", "int32"),
    "doubled": ("x + x", "x * 2", "x", "y = Add(x, x)", "y = Mul(x, two)", "int32"),
    "negatives": ("x + negative(y)", "x - y", "xy", "n = Neg(y) r = Add(x, n)", "r = Sub(x, y)", F32),
    "saturation": ("tanh(x * 100.0)", "sign(x)", "x",
                   "m = Mul(x, hundred) y = Tanh(m)", "y = Sign(x)", F32),
    "clipped": ("clip(x) { a_min = -9.0, a_max = 9.0 }", "x", "x",
                "y = Clip(x, minus_nine, nine)", "y = Identity(x)", F32),
}


def model(body: str, inputs: str, dtype: str) -> onnx.ModelProto:
    """A model of the statements, whose last result is the output."""
    output = body.rsplit(" = ", 1)[0].rsplit(" ", 1)[-1]
    kind = {"float32": "float", "int32": "int32", "int64": "int64"}[dtype]
    out = "bool" if any(op in body.rsplit(" = ", 1)[1] for op in ("Less", "Greater", "Not")) else kind
    names = ["zero", "two", "hundred", "nine", "minus_nine"]
    values = [0, 2, 100, 9, -9]
    used = [(n, v) for n, v in zip(names, values, strict=True) if n in body]
    constants = ", ".join(f"{kind} {n} = {{{v}}}" for n, v in used)
    arguments = ", ".join(f"{kind}[N] {name}" for name in inputs)
    return onnx.parser.parse_model(
        f'<ir_version: 8, opset_import: ["" : 18]> g ({arguments}) => ({out}[N] {output})'
        f" {'<' + constants + '>' if constants else ''} {{ {body} }}"
    )


@pytest.mark.parametrize("name", CASES)
def test_judges_agree(name: str) -> None:
    source, target, inputs, before, after, dtype = CASES[name]
    lets = " ".join(f"let {i} = *;" for i in inputs)
    same = "".join(f", {i}.shape == x.shape, {i}.dtype == x.dtype" for i in inputs if i != "x")
    where = f'where x.ndim == 1, x.dtype == "{dtype}"{same};'
    text = f"rule r alias {{ {lets} match {source}; {where} rewrite {target}; }}"
    holds = gsl.parse(text)[0].check().holds
    rng = np.random.default_rng(7)
    first, second = model(before, inputs, dtype), model(after, inputs, dtype)
    equal = True
    for kind in KINDS:
        data = {i: numbers(kind, dtype, (64,), rng) for i in inputs}
        a, b = oracle.run_ort(first, data)[0], oracle.run_ort(second, data)[0]
        floating = np.issubdtype(a.dtype, np.floating)
        equal &= bool(np.array_equal(a, b, equal_nan=floating))
    assert holds == equal, text
