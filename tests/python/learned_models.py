"""Random nodes of the domain `ai.onnx.ml`, evaluated here and by onnxruntime.

    python tests/python/learned_models.py [--seeds N] [--compiled] [--only REGEX]

Each operator has a function that draws inputs and attributes. onnxruntime says what is right where
the standard is silent; a node that it refuses counts as refused. What it does against the standard
is not drawn: see `test_learned.py`.
"""

from __future__ import annotations

import argparse
import collections
import re
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

import tangram
import tangram.onnxruntime

DOMAIN = "ai.onnx.ml"
POSTS = ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO")
VERSIONS = {"TreeEnsemble": 5, "LabelEncoder": 4, "TreeEnsembleClassifier": 3, "TreeEnsembleRegressor": 3}


class Draw:
    """Random numbers, texts and matrices."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def int(self, low: int, high: int) -> int:
        """A number from `low` to `high`."""
        return int(self.rng.integers(low, high + 1))

    def of(self, *choices):
        return choices[self.int(0, len(choices) - 1)]

    def floats(self, count: int, positive: bool = False) -> list[float]:
        """Numbers that floats hold, in quarters, so that sums are exact and ties occur."""
        low = 0 if positive else -8
        return [float(n) / 4 for n in self.rng.integers(low, 9, count)]

    def real(self, count: int) -> list[float]:
        return self.rng.standard_normal(count).astype(np.float32).astype(float).tolist()

    def matrix(self, columns: int, dtypes=(np.float32,), nan: bool = False) -> np.ndarray:
        dtype = self.of(*dtypes)
        rows = self.of(0, 1, 2, 7)
        x = np.array(self.floats(rows * columns)).reshape(rows, columns)
        if nan and np.dtype(dtype).kind == "f":
            x[self.rng.random(x.shape) < 0.2] = np.nan
        return x.astype(dtype)

    def labels(self, count: int, texts: str, numbers: str) -> dict:
        if self.of(True, False):
            return {texts: [f"t{i}" for i in self.rng.permutation(count)]}
        return {numbers: (self.rng.permutation(count * 2)[:count] - 1).tolist()}


NUMBERS = (np.float32, np.float64, np.int64, np.int32)


def binarizer(d: Draw):
    return [d.matrix(3)], {"threshold": d.of(0.0, 0.5, -0.25)}


def scaler(d: Draw):
    n = d.int(1, 4)
    k = d.of(1, n)
    return [d.matrix(n, NUMBERS)], {"offset": d.real(k), "scale": d.real(k)}


def normalizer(d: Draw):
    x = d.matrix(d.int(1, 4), NUMBERS)
    return [d.of(x, x[0] if len(x) else x)], {"norm": d.of("MAX", "L1", "L2")}


def imputer(d: Draw):
    n = d.int(1, 4)
    k = d.of(1, n)
    if d.of(True, False):
        given = {"imputed_value_floats": d.real(k), "replaced_value_float": d.of(0.0, 0.5, float("nan"))}
        return [d.matrix(n, nan=True)], given
    return [d.matrix(n, (np.int64,))], {"imputed_value_int64s": list(range(5, 5 + k))}


def one_hot_encoder(d: Draw):
    if d.of(True, False):
        x = np.array([f"t{d.int(0, 4)}" for _ in range(6)], dtype=object).reshape(d.of((6,), (2, 3)))
        return [x], {"cats_strings": ["t3", "t1", "t0"], "zeros": d.of(0, 1)}
    x = d.matrix(3, (np.float32, np.float64, np.int64))
    return [x], {"cats_int64s": [1, 0, -1, 2], "zeros": d.of(0, 1)}


def array_feature_extractor(d: Draw):
    n = d.int(1, 5)
    x = d.matrix(n, NUMBERS)
    places = d.rng.integers(0, n, d.int(1, 3))
    return [d.of(x, x[0] if len(x) else x), d.of(places, places[None])], {}


def feature_vectorizer(d: Draw):
    dtype = d.of(*NUMBERS)
    parts = [np.array(d.floats(3 * n)).reshape(3, n).astype(dtype) for n in (2, 1, 3)]
    return parts, {"inputdimensions": [d.of(1, 2, 3), 1, d.of(2, 3, 4)]}


def label_encoder(d: Draw):
    keys = d.of(["t0", "t1", "t0"], [3, 1, 2], [0.5, float("nan"), 0.0])
    values = d.of(["a", "b", "c"], [7, 8, 9], [0.25, 1.5, -1.0])
    name = {str: "strings", int: "int64s", float: "floats"}
    dtype = {str: object, int: np.int64, float: np.float32}[type(keys[0])]
    strange = {str: ["x"], int: [9], float: [-0.0, 7.5]}[type(keys[0])]
    x = np.array([d.of(*keys, *strange) for _ in range(6)], dtype=dtype).reshape(2, 3)
    attrs = {f"keys_{name[type(keys[0])]}": keys, f"values_{name[type(values[0])]}": values}
    if d.of(True, False):
        attrs |= {"default_string": "?", "default_int64": 5, "default_float": 2.5}
    return [x], attrs


def category_mapper(d: Draw):
    attrs = {"cats_strings": ["a", "b", "c"], "cats_int64s": [4, 2, 7]}
    if d.of(True, False):
        return [np.array(["c", "a", "?"], dtype=object)], attrs | {"default_int64": d.of(-1, 3)}
    return [np.array([[2, 4], [7, 0]])], attrs | {"default_string": d.of("_Unused", "?")}


def linear_regressor(d: Draw):
    n, targets = d.int(1, 4), d.of(1, 1, 3)
    attrs = {"coefficients": d.floats(n * targets), "targets": targets, "post_transform": d.of(*POSTS)}
    if d.of(True, False):
        attrs["intercepts"] = d.floats(targets)
    return [d.matrix(n)], attrs


def linear_classifier(d: Draw):
    n, classes = d.int(1, 4), d.of(1, 2, 3)
    attrs = {"coefficients": d.floats(n * classes), "intercepts": d.floats(classes)}
    attrs |= d.labels(max(classes, 2), "classlabels_strings", "classlabels_ints")
    return [d.matrix(n, NUMBERS)], attrs | {"post_transform": d.of(*POSTS)}


def machine(d: Draw, n: int, count: int, rows: int, rho: int) -> dict:
    kernel = d.of("LINEAR", "POLY", "RBF", "SIGMOID")
    return {
        "kernel_type": kernel,
        "kernel_params": [0.5, d.of(0.0, 1.0), 2.0 if kernel == "POLY" else 0.0],
        "coefficients": d.real(count * rows),
        "support_vectors": d.real(count * n),
        "rho": d.real(rho),
    }


def svm_regressor(d: Draw):
    n, count = d.int(1, 4), d.int(1, 5)
    attrs = machine(d, n, count, 1, 1) | {"n_supports": count, "one_class": d.of(0, 0, 1)}
    return [d.matrix(n)], attrs


def svm_classifier(d: Draw):
    n, classes = d.int(1, 4), d.of(2, 3, 4)
    per_class = [d.int(1, 3) for _ in range(classes)]
    pairs = classes * (classes - 1) // 2
    attrs = machine(d, n, sum(per_class), classes - 1, pairs) | {"vectors_per_class": per_class}
    if d.of(True, False):
        attrs |= {"prob_a": [-abs(v) for v in d.real(pairs)], "prob_b": d.real(pairs)}
    attrs |= d.labels(classes, "classlabels_strings", "classlabels_ints")
    return [d.matrix(n, NUMBERS)], attrs | {"post_transform": d.of(*POSTS)}


def trees(d: Draw, features: int, votes: str, targets: list[int], positive: bool) -> dict:
    """Random trees whose leaves have a weight for each of `targets`."""
    lists: dict[str, list] = collections.defaultdict(list)
    modes = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]
    modes = modes if d.of(True, False) else [d.of(*modes)]
    for tree in range(d.int(1, 4)):
        open_nodes, following = [(0, 0)], 1
        while open_nodes:
            node, depth = open_nodes.pop(d.int(0, len(open_nodes) - 1))
            leaf = depth > 3 or d.int(0, 3) == 0
            yes, no = (0, 0) if leaf else (following, following + 1)
            if leaf:
                for target in targets:
                    row = [tree, node, target, d.floats(1, positive)[0]]
                    for name, value in zip(("treeids", "nodeids", "ids", "weights"), row):
                        lists[f"{votes}_{name}"].append(value)
            else:
                open_nodes += [(yes, depth + 1), (no, depth + 1)]
                following += 2
            row = {"treeids": tree, "nodeids": node, "truenodeids": yes, "falsenodeids": no}
            row |= {"modes": "LEAF" if leaf else d.of(*modes), "values": d.floats(1)[0]}
            row |= {"featureids": d.int(0, features - 1), "missing_value_tracks_true": d.int(0, 1)}
            for name, value in row.items():
                lists[f"nodes_{name}"].append(value)
    if d.of(True, False):
        del lists["nodes_missing_value_tracks_true"]
    return dict(lists)


def tree_ensemble_regressor(d: Draw):
    n, targets = d.int(1, 4), d.of(1, 1, 3)
    attrs = trees(d, n, "target", list(range(targets)), False) | {"n_targets": targets}
    attrs |= {"aggregate_function": d.of("SUM", "SUM", "AVERAGE", "MIN", "MAX")}
    if d.of(True, False):
        attrs["base_values"] = d.floats(targets)
    return [d.matrix(n, (np.float32, np.float64), nan=True)], attrs | {"post_transform": d.of(*POSTS)}


def tree_ensemble_classifier(d: Draw):
    n, classes = d.int(1, 4), d.of(2, 3, 4)
    # Of two classes, leaves vote for one; see `test_learned.py` on votes for both.
    voted = list(range(classes)) if classes > 2 else [0]
    attrs = trees(d, n, "class", voted, d.of(True, False))
    attrs |= d.labels(classes, "classlabels_strings", "classlabels_int64s")
    if d.of(True, False):
        attrs["base_values"] = d.floats(len(voted))
    return [d.matrix(n, NUMBERS, nan=True)], attrs | {"post_transform": d.of(*POSTS)}


def tree_ensemble(d: Draw):
    dtype, kind = d.of((np.float32, TensorProto.FLOAT), (np.float64, TensorProto.DOUBLE))
    n, inner, targets = d.int(1, 3), d.int(1, 7), d.of(1, 2)
    lists: dict[str, list] = collections.defaultdict(list)
    leaves, members = [], []
    modes = [d.of(0, 1, 2, 3, 4, 5, 6) for _ in range(inner)]
    for node in range(inner):
        for side in ("true", "false"):
            # Children of a complete binary tree; those that are not there are leaves.
            child = 2 * node + (1 if side == "true" else 2)
            leaf = child >= inner
            lists[f"nodes_{side}nodeids"].append(len(leaves) if leaf else child)
            lists[f"nodes_{side}leafs"].append(int(leaf))
            if leaf:
                leaves.append(d.int(0, targets - 1))
        if modes[node] == 6:
            # onnxruntime takes whole numbers only.
            members += [*(float(d.int(-2, 2)) for _ in range(d.int(1, 3))), float("nan")]

    def tensor(name: str, values: list, of: int = kind) -> onnx.TensorProto:
        return helper.make_tensor(name, of, [len(values)], values)

    attrs = dict(lists) | {
        "tree_roots": [0], "n_targets": targets,
        "nodes_featureids": [d.int(0, n - 1) for _ in range(inner)],
        "nodes_modes": tensor("m", modes, TensorProto.UINT8),
        "nodes_splits": tensor("s", d.floats(inner)),
        "leaf_targetids": leaves, "leaf_weights": tensor("w", d.floats(len(leaves))),
        "aggregate_function": d.of(0, 1, 1, 2, 3),
    }  # fmt: skip
    if members:
        attrs["membership_values"] = tensor("v", members)
    x = d.matrix(n, (dtype,))
    # onnxruntime asks whether the whole part is in a set.
    return [np.trunc(x) if members else x], attrs


def zip_map(d: Draw):
    return [d.matrix(3)], d.labels(3, "classlabels_strings", "classlabels_int64s")


OPERATORS = {
    "Binarizer": binarizer, "Scaler": scaler, "Normalizer": normalizer, "Imputer": imputer,
    "OneHotEncoder": one_hot_encoder, "ArrayFeatureExtractor": array_feature_extractor,
    "FeatureVectorizer": feature_vectorizer, "LabelEncoder": label_encoder,
    "CategoryMapper": category_mapper, "LinearRegressor": linear_regressor,
    "LinearClassifier": linear_classifier, "SVMRegressor": svm_regressor,
    "SVMClassifier": svm_classifier, "TreeEnsembleRegressor": tree_ensemble_regressor,
    "TreeEnsembleClassifier": tree_ensemble_classifier, "TreeEnsemble": tree_ensemble,
    "ZipMap": zip_map,
}  # fmt: skip


def model(operator: str, inputs: list[np.ndarray], attributes: dict) -> onnx.ModelProto:
    """A model of one node, whose inputs have open extents."""
    schema = onnx.defs.get_schema(operator, VERSIONS.get(operator, 1), DOMAIN)
    infos = []
    for i, x in enumerate(inputs):
        kind = TensorProto.STRING if x.dtype == object else helper.np_dtype_to_tensor_dtype(x.dtype)
        infos.append(helper.make_tensor_value_info(f"x{i}", kind, [None] * x.ndim))
    outputs = [onnx.ValueInfoProto(name=f"y{i}") for i in range(len(schema.outputs))]
    names = [[value.name for value in values] for values in (infos, outputs)]
    node = helper.make_node(operator, *names, domain=DOMAIN, **attributes)
    graph = helper.make_graph([node], "g", infos, outputs)
    sets = [helper.make_opsetid("", 18), helper.make_opsetid(DOMAIN, VERSIONS.get(operator, 1))]
    return helper.make_model(graph, opset_imports=sets, ir_version=9)


def expected(made: onnx.ModelProto, feed: dict) -> list:
    """What onnxruntime gives, on one thread, so that sums have one order."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    session = onnxruntime.InferenceSession(made.SerializeToString(), options, ["CPUExecutionProvider"])
    return session.run(None, feed)


def same(ours, theirs) -> bool:
    """Whether values are equal: texts, integers and keys exactly, floats up to rounding."""
    if isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(theirs, dict):
        values = [np.array(list(values.values()), np.float32) for values in (ours, theirs)]
        return list(ours) == list(theirs) and same(*values)
    if (ours.dtype, ours.shape) != (theirs.dtype, theirs.shape):
        return False
    if ours.dtype.kind != "f":
        return bool((ours == theirs).all())
    return bool(np.allclose(ours, theirs, rtol=1e-4, atol=2e-5, equal_nan=True))


def judge(operator: str, seed: int, compiled: bool = False) -> tuple[str, str]:
    """`right`, `wrong` or `refused` by onnxruntime, and what there is to say.

    By the reference kernels; `compiled`, by the code of a session.
    """
    options = tangram.onnxruntime.SessionOptions()
    options.interpret = not compiled
    inputs, attributes = OPERATORS[operator](Draw(seed))
    made = model(operator, inputs, attributes)
    feed = {f"x{i}": x for i, x in enumerate(inputs)}
    try:
        theirs = expected(made, feed)
    except Exception as error:  # noqa: BLE001: onnxruntime has many ways to refuse
        return "refused", str(error)
    try:
        ours = tangram.onnxruntime.InferenceSession(made, options).run(None, feed)
    except tangram.TangramError as error:
        return "wrong", str(error)
    return ("right", "") if same(ours, theirs) else ("wrong", f"{ours}, not {theirs}")


def main() -> int:
    """Prints how many are right, by operator, and the first that are not."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--compiled", action="store_true", help="judge the code of sessions")
    parser.add_argument("--only", default="", metavar="REGEX")
    given = parser.parse_args()
    wrong = False
    for operator in filter(re.compile(given.only).search, OPERATORS):
        found = [(seed, *judge(operator, seed, given.compiled)) for seed in range(given.seeds)]
        print(f"{operator:<24}", dict(collections.Counter(verdict for _, verdict, _ in found)))
        bad = [row for row in found if row[1] == "wrong"]
        wrong |= bool(bad)
        for seed, _, detail in bad[:3]:
            print(f"  seed {seed}: {detail}"[:600])
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
