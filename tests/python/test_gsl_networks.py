"""The sample program on networks with parallel branches, as exporters wrote them."""

from __future__ import annotations

import sys

import numpy as np
import onnx
import pytest

import gsl
import oracle
from conftest import ROOT
from networks import light
from sample import mergeable, sample

sys.path.insert(0, str(ROOT / "bench" / "saturate"))
import models  # noqa: E402: ResNeXt with its paths written out

def resnext() -> onnx.ModelProto:
    """Eight paths a block, each with a window of 1 over the same value."""
    return models.resnext()


def inception_v1() -> onnx.ModelProto:
    """GoogLeNet: four branches a module, three of which begin with a window of 1."""
    return light("light_inception_v1")


def inception_v2() -> onnx.ModelProto:
    """Its successor, with batch norms and modules of two kinds."""
    return light("light_inception_v2")


def squeezenet() -> onnx.ModelProto:
    """Branches with different windows: there is nothing to merge."""
    return light("light_squeezenet")


def shufflenet() -> onnx.ModelProto:
    """Convolutions in groups: there is nothing to merge."""
    return light("light_shufflenet")


NETWORKS = {
    resnext: [8, 8, 8],
    inception_v1: [3] * 9,
    inception_v2: [2, 2] + [3] * 8,
    squeezenet: [],
    shufflenet: [],
}


def splits(model: onnx.ModelProto) -> list[int]:
    """How many parts each split has."""
    return sorted(len(node.output) for node in model.graph.node if node.op_type == "Split")


@pytest.mark.slow
@pytest.mark.parametrize("network", NETWORKS, ids=lambda f: f.__name__)
def test_the_sample_merges_every_greatest_group(network) -> None:
    model = network()
    groups = mergeable(model)
    assert groups == NETWORKS[network]
    _, merged = sample(gsl.Workload.from_onnx(model))
    result = merged.to_onnx()
    onnx.checker.check_model(result)
    count = sum(node.op_type == "Conv" for node in model.graph.node)
    convs = sum(node.op_type == "Conv" for node in result.graph.node)
    assert convs == count - sum(n - 1 for n in groups)
    assert splits(result) == sorted(splits(model) + groups)
    assert mergeable(result) == []
    inputs = {}
    for value in model.graph.input:
        shape = [d.dim_value or 1 for d in value.type.tensor_type.shape.dim]
        inputs[value.name] = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    found, expected = oracle.run_ort(result, inputs), oracle.run_ort(model, inputs)
    difference = oracle.same(found, expected)
    assert difference, difference
