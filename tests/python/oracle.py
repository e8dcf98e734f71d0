"""What a model computes, according to others: onnxruntime, or onnx's own evaluator.

Tests and benchmarks share this file, so both judge by the same measure.
"""

from __future__ import annotations

import dataclasses
import zlib

import ml_dtypes
import numpy as np
import onnx
import onnxruntime as ort
from onnx.reference import ReferenceEvaluator

# Relative and absolute tolerance by element type. The relative one is taken of the largest
# magnitude in the expected tensor: folding a batch norm into a convolution moves every element
# by an error that goes with the whole sum, not with the element. All other types are exact.
TOLERANCES = {
    np.dtype(np.float64): (1e-9, 1e-9),
    np.dtype(np.float32): (1e-3, 1e-5),
    np.dtype(np.float16): (5e-3, 1e-3),
    np.dtype(ml_dtypes.bfloat16): (3e-2, 1e-2),
}


@dataclasses.dataclass(frozen=True)
class Difference:
    """How far two lists of outputs lie apart."""

    equal: bool
    largest: float
    why: str = ""

    def __bool__(self) -> bool:
        return self.equal


def session(model: onnx.ModelProto | bytes | str, threads: int = 1) -> ort.InferenceSession:
    """Opens a model in onnxruntime with every optimisation switched off."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    content = model.SerializeToString() if isinstance(model, onnx.ModelProto) else model
    return ort.InferenceSession(content, options, providers=["CPUExecutionProvider"])


def run_ort(model: onnx.ModelProto | bytes | str, inputs: dict) -> list:
    """Runs a model in onnxruntime, unoptimised; gives the outputs in order."""
    return session(model).run(None, inputs)


def run_reference(model: onnx.ModelProto, inputs: dict) -> list:
    """Runs a model in onnx's own evaluator: slow, but it knows every element type."""
    return list(ReferenceEvaluator(model).run(None, inputs))


def same(
    actual, expected, tolerances: dict = TOLERANCES, rtol: float | None = None, atol: float = 0.0
) -> Difference:
    """Compares outputs, or lists of them: types and shapes exactly, values by element type.

    `rtol` and `atol` widen the tolerances of floating-point tensors, element by element, the way
    ONNX's own tests state theirs.
    """
    if isinstance(expected, (list, tuple)):
        return _same_lists(actual, expected, tolerances, rtol, atol)
    if expected is None or actual is None:
        return Difference(actual is expected, 0.0, "" if actual is expected else "one is absent")
    actual, expected = np.asarray(actual), np.asarray(expected)
    if actual.shape != expected.shape:
        return Difference(False, np.inf, f"shape {actual.shape}, expected {expected.shape}")
    if _kind(actual) != _kind(expected):
        return Difference(False, np.inf, f"type {actual.dtype}, expected {expected.dtype}")
    if not is_float(expected.dtype):
        return _same_exact(actual, expected)
    return _same_float(actual, expected, tolerances, rtol, atol)


def _same_lists(actual, expected, tolerances, rtol, atol) -> Difference:
    if not isinstance(actual, (list, tuple)) or len(actual) != len(expected):
        return Difference(False, np.inf, f"{len(expected)} values expected")
    largest = 0.0
    for index, (one, other) in enumerate(zip(actual, expected)):
        found = same(one, other, tolerances, rtol, atol)
        if not found:
            return dataclasses.replace(found, why=f"value {index}: {found.why}")
        largest = max(largest, found.largest)
    return Difference(True, largest)


def _same_exact(actual: np.ndarray, expected: np.ndarray) -> Difference:
    unequal = int(np.count_nonzero(actual != expected))
    why = f"{unequal} of {expected.size} elements differ" if unequal else ""
    return Difference(unequal == 0, float(unequal > 0), why)


def _same_float(actual, expected, tolerances, rtol, atol) -> Difference:
    widest = np.complex128 if expected.dtype.kind == "c" else np.float64
    relative, absolute = tolerances.get(expected.dtype, (0.0, 0.0))
    one, other = actual.astype(widest), expected.astype(widest)
    finite = np.isfinite(other)
    special = np.array_equal(one[~finite], other[~finite], equal_nan=True)
    if not special or not np.isfinite(one[finite]).all():
        return Difference(False, np.inf, "infinities or NaNs differ")
    gap, size = np.abs(one[finite] - other[finite]), np.abs(other[finite])
    if gap.size == 0:
        return Difference(True, 0.0)
    allowed = np.full_like(gap, absolute + relative * float(size.max()))
    if rtol is not None:
        allowed = np.maximum(allowed, atol + rtol * size)
    largest = float(gap.max())
    equal = bool((gap <= allowed).all())
    why = "" if equal else f"largest difference {largest:.3g} at scale {size.max():.3g}"
    return Difference(equal, largest, why)


def is_float(dtype: np.dtype) -> bool:
    """Returns whether the type is a floating-point one, the small formats included."""
    if dtype.kind in "fc":
        return True
    try:
        ml_dtypes.finfo(dtype)
    except (ValueError, TypeError):
        return False
    return True


def _kind(array: np.ndarray) -> str:
    # onnxruntime gives strings as objects, numpy holds literal ones as fixed-width text.
    return "text" if array.dtype.kind in "OUS" else str(array.dtype)


def random_inputs(
    model: onnx.ModelProto,
    sizes: dict[str, int] | None = None,
    seed: int = 0,
    default_size: int = 2,
    high: int = 4,
    given: dict | None = None,
    image: int | None = None,
) -> dict[str, np.ndarray]:
    """Makes an input for each graph input that has no initializer.

    `sizes` binds symbolic dimensions by name, `default_size` the others, but `image` the height
    and width of inputs of four dimensions; integers are drawn from `[0, high)`, so that they serve
    as indices; `given` replaces inputs by name. The values of an input depend on its name, its
    shape and `seed` alone.
    """
    known = {initializer.name for initializer in model.graph.initializer}
    inputs = dict(given or {})
    for value in model.graph.input:
        if value.name in known or value.name in inputs:
            continue
        if value.type.WhichOneof("value") != "tensor_type":
            raise ValueError(f"input {value.name!r} is no tensor: pass it in `given`")
        tensor = value.type.tensor_type
        dims = tensor.shape.dim
        spatial = 2 if image and len(dims) == 4 else len(dims)
        defaults = [default_size if axis < spatial else image for axis in range(len(dims))]
        shape = [_size(dim, sizes or {}, default) for dim, default in zip(dims, defaults)]
        rng = np.random.default_rng([seed, zlib.crc32(value.name.encode())])
        inputs[value.name] = _random(rng, tensor.elem_type, shape, high)
    return inputs


def _size(dim: onnx.TensorShapeProto.Dimension, sizes: dict[str, int], default: int) -> int:
    if dim.WhichOneof("value") == "dim_value":
        return dim.dim_value if dim.dim_value > 0 else default
    return sizes.get(dim.dim_param, default)


def _random(rng: np.random.Generator, element: int, shape: list[int], high: int) -> np.ndarray:
    if element == onnx.TensorProto.STRING:
        return rng.choice(np.array(["", "a", "Tangram", "ünïcode"], dtype=object), shape)
    dtype = onnx.helper.tensor_dtype_to_np_dtype(element)
    if dtype == np.bool_:
        return rng.integers(0, 2, shape).astype(dtype)
    if is_float(dtype):
        return rng.standard_normal(shape).astype(np.float32).astype(dtype)
    return rng.integers(0, high, shape).astype(dtype)


def interface(model: onnx.ModelProto) -> list[tuple[str, str, int]]:
    """Lists inputs and outputs in order: role, name and element type (0 for what is no tensor)."""
    graph = model.graph
    values = [("input", v) for v in graph.input] + [("output", v) for v in graph.output]
    return [(role, value.name, value.type.tensor_type.elem_type) for role, value in values]
