"""Numbers stay what they are: saturation, the range of half precision, `--exact`."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

import oracle
import small


@pytest.fixture
def command(tangram_bin, tmp_path) -> small.Command:
    return small.Command(tangram_bin, tmp_path)


@pytest.mark.parametrize("to", ["FLOAT8E4M3FN", "FLOAT8E5M2", "FLOAT8E4M3FNUZ"])
@pytest.mark.parametrize("saturate", [0, 1])
def test_casts_in_a_row_keep_the_attributes_of_the_last(command, to, saturate) -> None:
    number = onnx.TensorProto.DataType.Value(to)
    model = small.model(
        f"""(float16[3] x) => ({to.lower()}[3] y) {{
            a = Cast <to = 1> (x)
            y = Cast <to = {number}, saturate = {saturate}> (a)
        }}""",
        opset=19,
        ir=9,
    )
    found, _ = command.optimise(model)
    assert small.operators(found) == ["Cast"]
    # Where `saturate` is 0, what does not fit becomes NaN or infinite.
    x = np.array([1.5, 60000.0, np.inf], np.float16)
    one, other = (ReferenceEvaluator(m).run(None, {"x": x})[0] for m in (model, found))
    assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("source", [10, 9, 6, 3, 2, 12])
def test_a_number_as_text_is_that_of_its_own_type(command, source) -> None:
    kind = {10: "float16", 9: "bool", 6: "int32", 3: "int8", 2: "uint8", 12: "uint32"}[source]
    model = small.model(
        f"""({kind}[2] x) => (string[2] y) {{ a = Cast <to = 11> (x)  y = Cast <to = 8> (a) }}"""
    )
    found, _ = command.optimise(model)
    assert len(small.operators(found)) == 2


# A chain on `x`, its constants, and data on which it is finite although a constant made of both
# would not be.
CHAINS = {
    "mul-mul": ("a = Mul(x, k) y = Mul(a, l)", {"k": 1000.0, "l": 100.0}, 1e-3),
    "mul-mul-small": ("a = Mul(x, k) y = Mul(a, l)", {"k": 1e-4, "l": 1e-4}, 6e4),
    "add-add": ("a = Add(x, k) y = Add(a, l)", {"k": 6e4, "l": 6e4}, -6e4),
    "div-mul": ("a = Div(x, k) y = Mul(a, l)", {"k": 1e-3, "l": 1e3}, 1e-3),
    "div-mul-small": ("a = Div(x, k) y = Mul(a, l)", {"k": 1e4, "l": 1e-4}, 6e4),
}
WEIGHTS = {
    "matmul-scale": "a = MatMul(x, w) y = Mul(a, k)",
    "scale-matmul": "a = Mul(x, k) y = MatMul(a, w)",
}


@pytest.mark.parametrize("name", CHAINS)
def test_constants_are_not_joined_out_of_range(command, name) -> None:
    body, constants, data = CHAINS[name]
    weights = {key: np.float16(value) for key, value in constants.items()}
    model = small.model(f"(float16[2] x) => (float16[2] y) {{ {body} }}", weights=weights)
    x = np.array([data, data], np.float16)
    (expected,) = oracle.run_ort(model, {"x": x})
    assert np.isfinite(expected).all() and (expected != 0).all()
    found, report = command.optimise(model)
    assert oracle.same(oracle.run_ort(found, {"x": x}), [expected])
    assert any(refused["code"] == "range" for refused in report["refused"])


@pytest.mark.parametrize("name", WEIGHTS)
def test_weights_are_not_scaled_out_of_range(command, name) -> None:
    weights = {"w": np.full((2, 2), 1000, np.float16), "k": np.float16(100)}
    model = small.model(
        f"(float16[1, 2] x) => (float16[1, 2] y) {{ {WEIGHTS[name]} }}", weights=weights
    )
    x = np.array([[1e-3, 2e-3]], np.float16)
    (expected,) = oracle.run_ort(model, {"x": x})
    assert np.isfinite(expected).all()
    found, _ = command.optimise(model)
    assert oracle.same(oracle.run_ort(found, {"x": x}), [expected])


def test_within_the_range_constants_are_joined(command) -> None:
    weights = {"k": np.float16(2), "l": np.float16(3)}
    body = "(float16[2] x) => (float16[2] y) { a = Mul(x, k) y = Mul(a, l) }"
    found, _ = command.optimise(small.model(body, weights=weights))
    assert small.operators(found) == ["Mul"]


def test_exact_applies_what_rounds_nothing(command) -> None:
    weights = {"k": np.float32(1.1), "l": np.float32(1.3), "zero": np.float32(0)}
    model = small.model(
        """(float[2, 3] x) => (float[2, 3] y) {
            a = Mul(x, k)  b = Mul(a, l)  c = Add(b, zero)
            d = Transpose <perm = [1, 0]> (c)  y = Transpose <perm = [1, 0]> (d)
        }""",
        weights=weights,
    )
    plain, _ = command.optimise(model)
    assert small.operators(plain) == ["Mul"]
    exact, _ = command.optimise(model, "--exact", "--check")
    # Adding 0.0 makes 0.0 of -0.0.
    assert small.operators(exact) == ["Mul", "Mul", "Add"]


def test_exact_results_are_equal_to_the_last_bit(command, example) -> None:
    target = command.folder / "out.onnx"
    command.run("opt", example, "-o", target, "--exact", "--check", "-q")
