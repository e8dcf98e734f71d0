"""Operators of `ai.onnx.ml`, which onnxruntime judges; and what the standard says against it."""

from __future__ import annotations

import collections

import learned_models
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import tangram


@pytest.mark.parametrize("operator", learned_models.OPERATORS)
def test_the_kernels_agree_with_onnxruntime(operator: str) -> None:
    verdicts = [learned_models.judge(operator, seed) for seed in range(40)]
    assert not [verdict for verdict in verdicts if verdict[0] == "wrong"]
    counts = collections.Counter(verdict for verdict, _ in verdicts)
    assert counts["right"] >= 20, verdicts


def run(operator: str, x: np.ndarray, **attributes) -> list:
    made = learned_models.model(operator, [x], attributes)
    return tangram.InferenceSession(made).run(None, {"x0": x})


STUMP = {
    "nodes_treeids": [0, 0, 0], "nodes_nodeids": [0, 1, 2], "nodes_featureids": [0, 0, 0],
    "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"], "nodes_values": [0.5, 0.0, 0.0],
    "nodes_truenodeids": [1, 0, 0], "nodes_falsenodeids": [2, 0, 0],
}  # fmt: skip
VOTES = {"class_treeids": [0] * 4, "class_nodeids": [1, 1, 2, 2], "class_ids": [0, 1, 0, 1]}
VALUES = {"target_treeids": [0, 0], "target_nodeids": [1, 2], "target_ids": [0, 0], "n_targets": 1}
X = np.array([[0.0], [1.0]], np.float32)


def test_the_label_is_the_top_class_where_leaves_vote_for_both() -> None:
    """onnxruntime gives 1 for every vote above 0 for the second class, whatever the labels are."""
    votes = VOTES | {"class_weights": [0.75, 0.25, 0.25, 0.75], "classlabels_int64s": [4, 5]}
    labels, scores = run("TreeEnsembleClassifier", X, **STUMP, **votes)
    assert labels.tolist() == [4, 5]
    assert scores.tolist() == [[0.75, 0.25], [0.25, 0.75]]


def test_base_values_are_added_to_what_no_leaf_votes_for() -> None:
    """onnxruntime leaves 0 there."""
    values = VALUES | {"target_ids": [0, 1], "n_targets": 2, "target_weights": [1.0, 2.0]}
    (found,) = run("TreeEnsembleRegressor", X, **STUMP, **values, base_values=[10.0, 20.0])
    assert found.tolist() == [[11.0, 20.0], [10.0, 22.0]]


@pytest.mark.parametrize(
    ("change", "attribute"),
    [
        ({"nodes_truenodeids": [0, 0, 0]}, "nodes_truenodeids"),
        ({"nodes_truenodeids": [7, 0, 0]}, "nodes_truenodeids"),
        ({"nodes_values": [0.5]}, "nodes_values"),
        ({"nodes_nodeids": [0, 1, 1]}, "nodes_nodeids"),
        ({"nodes_featureids": [-1, 0, 0]}, "nodes_featureids"),
        ({"target_ids": [0, 1]}, "target_ids"),
        ({"target_nodeids": [1, 9]}, "target_nodeids"),
        ({"base_values": [1.0, 2.0]}, "base_values"),
        ({"n_targets": -1}, "n_targets"),
    ],
)
def test_a_malformed_tree_is_an_error_that_names_the_attribute(change: dict, attribute: str) -> None:
    with pytest.raises(tangram.Fail, match=attribute):
        run("TreeEnsembleRegressor", X, **(STUMP | VALUES | {"target_weights": [1.0, 2.0]} | change))


def test_a_cycle_is_an_error() -> None:
    nodes = STUMP | {"nodes_modes": ["BRANCH_LEQ", "BRANCH_LEQ", "BRANCH_LEQ"]}
    nodes |= {"nodes_truenodeids": [1, 2, 1], "nodes_falsenodeids": [2, 2, 1]}
    with pytest.raises(tangram.Fail, match="nodes_truenodeids"):
        run("TreeEnsembleRegressor", X, **nodes, **VALUES, target_weights=[1.0, 2.0])


def test_a_row_with_too_few_features_is_an_error() -> None:
    nodes = STUMP | {"nodes_featureids": [3, 0, 0]}
    with pytest.raises(tangram.Fail, match="4 features"):
        run("TreeEnsembleRegressor", X, **nodes, **VALUES, target_weights=[1.0, 2.0])


def mapped(operator: str, key: int, value: int, **attributes) -> onnx.ModelProto:
    kind = helper.make_map_type_proto(key, helper.make_tensor_type_proto(value, None))
    node = helper.make_node(operator, ["m"], ["y"], domain=learned_models.DOMAIN, **attributes)
    outputs = [onnx.ValueInfoProto(name="y")]
    graph = helper.make_graph([node], "g", [helper.make_value_info("m", kind)], outputs)
    sets = [helper.make_opsetid("", 18), helper.make_opsetid(learned_models.DOMAIN, 1)]
    return helper.make_model(graph, opset_imports=sets, ir_version=9)


@pytest.mark.parametrize("form", ["DENSE", "SPARSE"])
@pytest.mark.parametrize("to", ["TO_FLOAT", "TO_INT64", "TO_STRING"])
def test_maps_become_rows(form: str, to: str) -> None:
    made = mapped("CastMap", TensorProto.INT64, TensorProto.FLOAT, map_form=form, cast_to=to, max_map=6)
    feed = {"m": {4: 2.75, 1: -1.5}}
    (found,) = tangram.InferenceSession(made).run(None, feed)
    assert learned_models.same([found], learned_models.expected(made, feed))


def test_a_vocabulary_picks_values_of_a_map() -> None:
    made = mapped(
        "DictVectorizer", TensorProto.STRING, TensorProto.FLOAT, string_vocabulary=["c", "b", "a"]
    )
    session = tangram.InferenceSession(made)
    assert session.get_inputs()[0].type == "map(string,tensor(float))"
    feed = {"m": {"a": 1.0, "c": 2.0, "z": 9.0}}
    (found,) = session.run(None, feed)
    assert learned_models.same([found], learned_models.expected(made, feed))
    with pytest.raises(tangram.InvalidArgument, match="a map expected"):
        session.run(None, {"m": [1.0]})


def test_the_optimiser_gives_nodes_back_as_they_came() -> None:
    for operator in learned_models.OPERATORS:
        inputs, attributes = learned_models.OPERATORS[operator](learned_models.Draw(3))
        made = learned_models.model(operator, inputs, attributes)
        better = tangram.optimize(made).to_onnx()
        assert [node.op_type for node in better.graph.node] == [operator]
        assert better.graph.node[0].attribute == made.graph.node[0].attribute
        feed = {f"x{i}": x for i, x in enumerate(inputs)}
        theirs = learned_models.expected(made, feed)
        assert learned_models.same(learned_models.expected(better, feed), theirs)
