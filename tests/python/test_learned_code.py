"""Models of `ai.onnx.ml` as compiled code: the results of the reference kernels and of onnxruntime."""

from __future__ import annotations

import collections
import subprocess

import learned_models
import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

import tangram
import tangram.onnxruntime

COMPILED = [
    "TreeEnsembleClassifier", "TreeEnsembleRegressor", "TreeEnsemble", "LinearClassifier",
    "LinearRegressor", "Scaler", "Normalizer", "Imputer", "Binarizer", "ArrayFeatureExtractor",
    "FeatureVectorizer",
]  # fmt: skip


@pytest.mark.parametrize("operator", COMPILED)
def test_compiled_models_agree_with_onnxruntime(operator: str) -> None:
    verdicts = [learned_models.judge(operator, seed, compiled=True) for seed in range(100, 105)]
    assert not [verdict for verdict in verdicts if verdict[0] == "wrong"]
    assert collections.Counter(verdict for verdict, _ in verdicts)["right"] >= 2, verdicts


@pytest.mark.long
@pytest.mark.parametrize("operator", COMPILED)
def test_many_compiled_models_agree_with_onnxruntime(operator: str) -> None:
    verdicts = [learned_models.judge(operator, seed, compiled=True) for seed in range(200, 500)]
    assert not [verdict for verdict in verdicts if verdict[0] == "wrong"]


def grown(random: np.random.Generator, trees: int, depth: int, features: int) -> dict[str, list]:
    """Nodes of trees of different depths, splits on few numbers so that features meet them."""
    nodes = collections.defaultdict(list)
    for tree in range(trees):
        # Each entry of the list is a node and the levels that may follow it.
        pending, number = [(0, 0)], 1
        while pending:
            node, level = pending.pop()
            leaf = level == depth or (level > 1 and random.random() < 0.2)
            modes = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]
            row = {
                "treeids": tree, "nodeids": node, "modes": "LEAF" if leaf else str(random.choice(modes)),
                "featureids": int(random.integers(features)), "values": float(random.integers(-2, 3)) / 2,
                "truenodeids": 0 if leaf else number, "falsenodeids": 0 if leaf else number + 1,
                "missing_value_tracks_true": int(random.integers(2)),
            }  # fmt: skip
            for key, value in row.items():
                nodes[f"nodes_{key}"].append(value)
            if not leaf:
                pending += [(number, level + 1), (number + 1, level + 1)]
                number += 2
    return dict(nodes)


def classifier(seed: int, trees: int, depth: int, classes: int, labels: str) -> onnx.ModelProto:
    """A classifier whose leaves vote for all classes or for one."""
    random = np.random.default_rng(seed)
    attributes = grown(random, trees, depth, 6)
    votes = collections.defaultdict(list)
    for tree, node, mode in zip(*(attributes[f"nodes_{key}"] for key in ("treeids", "nodeids", "modes"))):
        for label in range(classes) if mode == "LEAF" else ():
            votes["class_treeids"].append(tree)
            votes["class_nodeids"].append(node)
            votes["class_ids"].append(label)
            votes["class_weights"].append(float(random.integers(1, 64)) / 64)
    named = [f"class {n}" for n in range(classes)] if labels == "texts" else [7 * n for n in range(classes)]
    attributes |= votes | {"classlabels_strings" if labels == "texts" else "classlabels_int64s": named}
    node = helper.make_node(
        "TreeEnsembleClassifier", ["x"], ["label", "scores"], domain="ai.onnx.ml",
        post_transform="SOFTMAX" if seed % 2 else "NONE", **attributes,
    )  # fmt: skip
    kind = TensorProto.STRING if labels == "texts" else TensorProto.INT64
    graph = helper.make_graph(
        [node], "trees", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 6])],
        [helper.make_tensor_value_info("label", kind, ["n"]),
         helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["n", classes])],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


@pytest.mark.parametrize(
    ("trees", "depth", "classes", "labels"), [(3, 2, 3, "numbers"), (40, 9, 2, "numbers"), (17, 14, 4, "texts")]
)
@pytest.mark.parametrize("rows", [0, 1, 3, 16, 33, 67, 130])
def test_walks_of_any_depth_and_number_end_at_their_leaves(trees, depth, classes, labels, rows) -> None:
    """Features meet splits, are infinite, and absent; trees have other depths, and more than a block."""
    made = classifier(trees, trees, depth, classes, labels)
    session = tangram.InferenceSession(made)
    random = np.random.default_rng(rows)
    x = (random.integers(-3, 4, (rows, 6)) / 2).astype(np.float32)
    x[random.random(x.shape) < 0.1] = np.nan
    x[random.random(x.shape) < 0.05] = np.inf
    ours = session.run(None, {"x": x})
    options = tangram.onnxruntime.SessionOptions()
    options.interpret = True
    reference = tangram.onnxruntime.InferenceSession(made, options).run(None, {"x": x})
    assert (np.array(ours[0]) == np.array(reference[0])).all()
    np.testing.assert_allclose(ours[1], reference[1], rtol=1e-5, atol=1e-6)
    if rows and classes > 2:
        theirs = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
        label, scores = theirs.run(None, {"x": x})
        assert (np.array(ours[0]) == label).all()
        np.testing.assert_allclose(ours[1], scores, rtol=1e-5, atol=1e-6)


def test_trees_and_linear_models_are_compiled() -> None:
    """What stays is the label where it is a text."""
    for labels, kept in (("numbers", set()), ("texts", {"nn.take"})):
        operations = tangram.InferenceSession(classifier(1, 5, 4, 3, labels)).coverage()
        assert {name for name, counted in operations.items() if counted.reference} == kept
        assert operations["nn.ml_tree_leaves"].compiled == 1


def test_a_classifier_is_written_as_c(tangram_bin, tmp_path) -> None:
    onnx.save(classifier(4, 5, 4, 3, "numbers"), tmp_path / "trees.onnx")
    done = subprocess.run(
        [tangram_bin, "compile", "trees.onnx", "-o", "trees.c"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "trees.c").read_text()
    assert "int trees_run(" in text
