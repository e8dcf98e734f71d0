"""Brute force as a judge of mutants: rules with one change, applied to every small model of a family.

Models are made here, by enumerating attributes and extents densely, and know nothing of the
verifier. Where a mutant changes what onnxruntime computes for one of them, verification has to
refute it.
"""

from __future__ import annotations

import itertools
import json
import pathlib
import subprocess
from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
import oracle
import pytest
from onnx import TensorProto, helper, numpy_helper

import gsl
import tangram

DTYPES = {
    "float32": TensorProto.FLOAT, "float16": TensorProto.FLOAT16, "float64": TensorProto.DOUBLE,
    "int8": TensorProto.INT8, "int32": TensorProto.INT32, "int64": TensorProto.INT64,
}


def model(
    nodes: list[tuple], shape: tuple[int, ...], dtype: str = "float32", **constants: Any
) -> onnx.ModelProto:
    """A model of `(operator, inputs, outputs, attributes)`, of `x` to the last output."""
    made = [
        helper.make_node(op, inputs.split(), outputs.split(), **attributes)
        for op, inputs, outputs, attributes in nodes
    ]
    weights = [numpy_helper.from_array(np.asarray(v), name) for name, v in constants.items()]
    graph = helper.make_graph(
        made,
        "g",
        [helper.make_tensor_value_info("x", DTYPES[dtype], shape)],
        [onnx.ValueInfoProto(name=nodes[-1][2].split()[0])],
        weights,
    )
    graph = onnx.shape_inference.infer_shapes(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    )
    return graph


def clips() -> Iterator[onnx.ModelProto]:
    bounds = [np.float32(b) for b in (-2, 0, 1, 3)]
    for a, b, c, d in itertools.product(bounds, repeat=4):
        yield model(
            [("Clip", "x a b", "t", {}), ("Clip", "t c d", "y", {})], (64,), a=a, b=b, c=c, d=d
        )


FAMILIES = {"clip-clip": clips}


def numbers(dtype: str, shape: list[int]) -> Iterator[np.ndarray]:
    """Small numbers, and those that the type holds and its neighbours do not."""
    rng = np.random.default_rng(5)
    if dtype.startswith("int"):
        limits = np.iinfo(dtype)
        yield rng.integers(-4, 5, shape).astype(dtype)
        yield rng.integers(limits.min, limits.max, shape, endpoint=True).astype(dtype)
        return
    yield (rng.integers(-16, 17, shape) / 4).astype(dtype)
    # Integers of which a cast is defined.
    yield rng.uniform(-100, 100, shape).astype(dtype)


def distinguished(rule: gsl.Subst, family: list[tuple[gsl.Workload, onnx.ModelProto]]) -> bool:
    """Whether some model of the family computes something else once the rule was applied."""
    for workload, source in family:
        try:
            made = rule(workload)
        except tangram.RuleError:
            continue
        if not made.report.fired:
            continue
        target = made.to_onnx()
        value = source.graph.input[0]
        dtype = next(n for n, t in DTYPES.items() if t == value.type.tensor_type.elem_type)
        shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
        for x in numbers(dtype, shape):
            try:
                expected = oracle.run_ort(source, {"x": x})[0]
            except Exception:
                break
            found = oracle.run_ort(target, {"x": x})[0]
            floating = np.issubdtype(expected.dtype, np.floating)
            same = np.allclose(expected, found, rtol=1e-2, atol=1e-3, equal_nan=True) if (
                floating
            ) else np.array_equal(expected, found)
            if expected.shape != found.shape or not same:
                return True
    return False


def judged(tangram_bin: pathlib.Path, name: str, step: int) -> tuple[int, list[str]]:
    """How many mutants brute force distinguishes, and those of them that are not refuted."""
    words = [tangram_bin, "rules", "mutate", name, "--json", "--step", str(step)]
    mutants = json.loads(subprocess.run(words, capture_output=True, text=True, check=False).stdout)
    family = [(gsl.Workload.from_onnx(m), m) for m in FAMILIES[name]()]
    count, missed = 0, []
    for mutant in mutants:
        rule = gsl.parse(mutant["text"])[0]
        if mutant["fate"] == "no rule" or not distinguished(rule, family):
            continue
        count += 1
        if mutant["fate"] != "refuted":
            missed.append(f"{mutant['change']}: {mutant['fate']}: {mutant['reason']}")
    return count, missed


@pytest.mark.parametrize("name", FAMILIES)
def test_what_brute_force_distinguishes_is_refuted(tangram_bin: pathlib.Path, name: str) -> None:
    count, missed = judged(tangram_bin, name, 4)
    assert count > 0 and not missed, missed


@pytest.mark.long
@pytest.mark.parametrize("name", FAMILIES)
def test_all_that_brute_force_distinguishes_is_refuted(
    tangram_bin: pathlib.Path, name: str
) -> None:
    count, missed = judged(tangram_bin, name, 1)
    print(f"{name}: {count} mutants distinguished by brute force")
    assert count > 0 and not missed, missed
