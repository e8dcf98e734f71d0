"""The models of `examples/models`: made by their script, valid, and they run."""

from __future__ import annotations

import importlib.util

import numpy as np
import onnx
import pytest

import oracle

# Every symbolic dimension that an example names, and two bindings of each.
SMALL = {"batch": 1, "sequence": 3, "height": 9, "width": 11, "N": 1, "rows": 2, "W": 3}
LARGE = {"batch": 3, "sequence": 17, "height": 32, "width": 24, "N": 4, "rows": 5, "W": 6}
# The largest file that may be committed.
LIMIT = 300 * 1024


def given(model: onnx.ModelProto) -> dict:
    """Inputs whose meaning a random value would miss."""
    names = {value.name for value in model.graph.input}
    return {"steps": np.array(3, np.int64)} if "steps" in names else {}


def test_the_committed_file_is_what_the_script_builds(example, root) -> None:
    spec = importlib.util.spec_from_file_location("make", root / "examples/models/make.py")
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    content = example.read_bytes()
    assert make.build(example.stem) == content
    assert len(content) < LIMIT


def shape_of(value: onnx.ValueInfoProto, sizes: dict[str, int]) -> list[int | None]:
    """The declared shape with its symbols bound; what the model leaves open stays so."""
    dims = value.type.tensor_type.shape.dim
    return [dim.dim_value or sizes.get(dim.dim_param) for dim in dims]


@pytest.mark.parametrize("sizes", [SMALL, LARGE], ids=["small", "large"])
def test_a_model_computes_what_its_interface_says(example, sizes) -> None:
    model = onnx.load(example)
    sizes = {**sizes, "steps": 3}
    inputs = oracle.random_inputs(model, sizes, given=given(model))
    outputs = oracle.run_ort(model, inputs)
    for declared, array in zip(model.graph.output, outputs, strict=True):
        wanted = shape_of(declared, sizes)
        assert len(wanted) == array.ndim
        assert all(w in (None, found) for w, found in zip(wanted, array.shape))
        if oracle.is_float(array.dtype):
            assert np.isfinite(array).all()
    other = oracle.random_inputs(model, sizes, seed=1, given=given(model))
    assert not oracle.same(oracle.run_ort(model, other), outputs), "the inputs do not matter"
