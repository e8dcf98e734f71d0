"""What onnxruntime recognises it recognises after optimising: no fusion of its own is lost."""

from __future__ import annotations

import pathlib

import onnx
import pytest

import fusions
import oracle

NAMES = sorted(fusions.FORMS)


def kept(binary: pathlib.Path, before: onnx.ModelProto) -> onnx.ModelProto:
    """Optimises a model and looks for what is lost."""
    after = fusions.optimised(binary, before)
    assert fusions.lost(before, after) is None
    return after


def written(name: str, opset: int) -> onnx.ModelProto:
    """A form, if onnxruntime runs it in this operator set."""
    model = next(model for found, _, model in fusions.forms([opset]) if found == name)
    try:
        fusions.runtime_graph(model)
    except Exception as error:  # noqa: BLE001: it has many ways to refuse
        pytest.skip(f"onnxruntime does not run it: {str(error)[:80]}")
    return model


def compared(binary: pathlib.Path, name: str, opset: int) -> None:
    before = written(name, opset)
    after = kept(binary, before)
    inputs = oracle.random_inputs(before, seed=1, default_size=2)
    assert oracle.same(oracle.run_ort(after, inputs), oracle.run_ort(before, inputs))


@pytest.mark.parametrize("number", range(len(NAMES)), ids=NAMES)
def test_a_form_is_recognised_as_before(tangram_bin, number) -> None:
    """Each form at two operator sets, other ones for the next form."""
    opsets = fusions.OPSETS
    for opset in {opsets[number % len(opsets)], opsets[(number + 4) % len(opsets)]}:
        compared(tangram_bin, NAMES[number], opset)


@pytest.mark.long
@pytest.mark.parametrize("opset", fusions.OPSETS)
@pytest.mark.parametrize("name", NAMES)
def test_every_form_is_recognised_as_before(tangram_bin, name, opset) -> None:
    compared(tangram_bin, name, opset)


@pytest.mark.parametrize("opset", [13, 17])
def test_a_gelu_keeps_its_half(tangram_bin, opset) -> None:
    """The factor at its end is not taken by the product behind it."""
    found = fusions.runtime_graph(kept(tangram_bin, written("gelu_half_last", opset)))
    assert found.count("BiasGelu") == 1


def test_a_rule_that_is_asked_for_takes_what_it_finds(tangram_bin) -> None:
    """Who names the rule wants it, whatever a runtime would have recognised."""
    after = fusions.optimised(tangram_bin, written("gelu_half_last", 17), "--only", "scale-matmul")
    assert [node.op_type for node in after.graph.node].count("Mul") == 1


def test_examples_are_recognised_as_before(tangram_bin, example) -> None:
    before = onnx.load(example)
    try:
        fusions.runtime_graph(before)
    except Exception as error:  # noqa: BLE001: an example may have operators of its own
        pytest.skip(f"onnxruntime does not run it: {str(error)[:80]}")
    kept(tangram_bin, before)


def test_the_gate_sees_a_fusion_that_is_lost() -> None:
    """Taking the half into the next product is what it was made for."""
    before = written("gelu_half_last", 17)
    after = onnx.ModelProto()
    after.CopyFrom(before)
    half = next(w for w in after.graph.initializer if onnx.numpy_helper.to_array(w).tolist() == 0.5)
    half.CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(half) * 0.5, half.name))
    assert "BiasGelu" in fusions.lost(before, after)
