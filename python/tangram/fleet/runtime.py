"""Two models under onnxruntime, on the same random inputs. Needs the package `onnxruntime`."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

_TYPES = {
    "float": np.float32, "double": np.float64, "float16": np.float16, "int64": np.int64,
    "int32": np.int32, "int16": np.int16, "int8": np.int8, "uint64": np.uint64,
    "uint32": np.uint32, "uint16": np.uint16, "uint8": np.uint8, "bool": np.bool_,
}
TOLERANCE = {np.dtype(np.float32): 1e-3, np.dtype(np.float16): 5e-3, np.dtype(np.float64): 1e-9}
RUNS = 3


def compare(before: str | bytes, after: str | bytes, *, seed: int) -> dict[str, Any]:
    """Whether the outputs agree, the largest relative difference, and the times of both."""
    sessions = [_session(before), _session(after)]
    feed = _inputs(sessions[0], np.random.default_rng(seed))
    (first, a), (second, b) = (_run(session, feed) for session in sessions)
    worst, holds = 0.0, len(first) == len(second)
    for x, y in zip(first, second, strict=False):
        difference, tolerance = _difference(x, y)
        worst, holds = max(worst, difference), holds and difference <= tolerance
    return {"state": "equal" if holds else "different", "difference": worst, "times": [a, b]}


def _session(model: str | bytes) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _inputs(session: Any, random: np.random.Generator) -> dict[str, Any]:
    sizes: dict[str, int] = {}
    feed = {}
    for value in session.get_inputs():
        shape = [
            d if isinstance(d, int) else sizes.setdefault(str(d), 2 + len(sizes) % 3) for d in value.shape
        ]
        if value.type == "tensor(string)":
            texts = [f"text {i}" for i in range(int(np.prod(shape)))]
            feed[value.name] = np.array(texts, dtype=object).reshape(shape)
            continue
        kind = _TYPES.get(value.type.removeprefix("tensor(").removesuffix(")"))
        if kind is None:
            raise TypeError(f"there are no random inputs of {value.type}")
        if np.issubdtype(kind, np.floating):
            feed[value.name] = random.uniform(-1, 1, shape).astype(kind)
        else:
            # Integers are often indices: small ones stay in range.
            feed[value.name] = random.integers(0, 2, shape).astype(kind)
    return feed


def _run(session: Any, feed: dict[str, Any]) -> tuple[list[Any], float]:
    outputs, best = [], float("inf")
    for _ in range(RUNS):
        start = time.perf_counter()
        outputs = session.run(None, feed)
        best = min(best, time.perf_counter() - start)
    return outputs, best


def _difference(x: Any, y: Any) -> tuple[float, float]:
    """The largest difference relative to the greatest magnitude, and what is tolerated."""
    if not isinstance(x, np.ndarray) or x.dtype.kind not in "fiub":
        return (0.0 if np.array_equal(np.asarray(x, object), np.asarray(y, object)) else float("inf")), 0.0
    tolerance = TOLERANCE.get(x.dtype, 0.0)
    if x.dtype != y.dtype or x.shape != y.shape:
        return float("inf"), tolerance
    a, b = x.astype(np.float64), y.astype(np.float64)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if same.all():
        return 0.0, tolerance
    apart = np.where(same, 0.0, np.abs(a - b))
    scale = np.max(np.abs(a[np.isfinite(a)]), initial=1e-30)
    worst = float(np.max(np.nan_to_num(apart, nan=np.inf, posinf=np.inf)))
    return worst / scale, tolerance
