"""Models that converters make: of scikit-learn, LightGBM, XGBoost and TensorFlow, quantised, in half.

    python bench/onnx/converted.py OUT

Each group is an origin of its own: its exporter has habits that no other has. What is not
installed is said. Data and seeds are fixed; the weights are those of models fitted to noise.
"""

from __future__ import annotations

import argparse
import pathlib
import warnings
from collections.abc import Callable, Iterator

import numpy as np
import onnx

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parents[1] / "examples" / "models"
FEATURES, ROWS = 8, 120

Named = Iterator[tuple[str, onnx.ModelProto]]


def data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Makes features, classes and targets."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((ROWS, FEATURES)).astype(np.float32)
    target = x[:, 0] * 2 + np.sin(x[:, 1]) + rng.standard_normal(ROWS) * 0.1
    return x, np.digitize(target, [-1, 1]), target


def sklearn() -> Named:
    """Estimators and pipelines of scikit-learn."""
    from skl2onnx import to_onnx
    from sklearn import cluster, ensemble, gaussian_process, linear_model, mixture, naive_bayes
    from sklearn import neighbors, neural_network, pipeline, preprocessing, svm, decomposition
    from sklearn import compose, tree

    x, classes, target = data()
    steps = preprocessing.StandardScaler(), decomposition.PCA(4), linear_model.LogisticRegression()
    columns = compose.ColumnTransformer([
        ("scaled", preprocessing.MinMaxScaler(), [0, 1, 2]),
        ("binned", preprocessing.KBinsDiscretizer(3, encode="onehot-dense"), [3, 4]),
        ("powers", preprocessing.PolynomialFeatures(2), [5, 6]),
    ])
    made = {
        "logistic": (linear_model.LogisticRegression(), classes),
        "ridge": (linear_model.Ridge(), target),
        "sgd": (linear_model.SGDClassifier(random_state=0), classes),
        "svc": (svm.SVC(random_state=0), classes),
        "forest": (ensemble.RandomForestClassifier(8, max_depth=4, random_state=0), classes),
        "boosting": (ensemble.GradientBoostingRegressor(n_estimators=8, random_state=0), target),
        "voting": (ensemble.VotingClassifier([
            ("a", linear_model.LogisticRegression()), ("b", tree.DecisionTreeClassifier(max_depth=3)),
        ], voting="soft", flatten_transform=False), classes),
        "isolation": (ensemble.IsolationForest(n_estimators=6, random_state=0), target),
        "knn": (neighbors.KNeighborsClassifier(3), classes),
        "mlp": (neural_network.MLPClassifier((8,), max_iter=30, random_state=0), classes),
        "bayes": (naive_bayes.GaussianNB(), classes),
        "kmeans": (cluster.KMeans(3, n_init=1, random_state=0), classes),
        "mixture": (mixture.GaussianMixture(2, random_state=0), classes),
        "gaussian_process": (gaussian_process.GaussianProcessRegressor(), target),
        "pipeline": (pipeline.make_pipeline(*steps), classes),
        "columns": (pipeline.make_pipeline(columns, linear_model.Ridge()), target),
    }
    for name, (estimator, wanted) in made.items():
        options = {"zipmap": False} if hasattr(estimator, "predict_proba") and name != "svc" else None
        fitted = estimator.fit(x, wanted)
        # A map of probabilities, which is what the converter writes unless told otherwise.
        if name in ("logistic", "forest", "pipeline"):
            yield f"{name}_zipmap", to_onnx(fitted, x[:1], target_opset={"": 18, "ai.onnx.ml": 3})
        try:
            keyed = {id(fitted): options} if options else None
            converted = to_onnx(fitted, x[:1], options=keyed, target_opset={"": 18, "ai.onnx.ml": 3})
        except (NameError, ValueError, RuntimeError):
            converted = to_onnx(fitted, x[:1], target_opset={"": 18, "ai.onnx.ml": 3})
        yield name, converted


def lightgbm() -> Named:
    """Trees of LightGBM."""
    import lightgbm as lgb
    from onnxmltools import convert_lightgbm
    from onnxmltools.convert.common.data_types import FloatTensorType

    x, classes, target = data()
    types = [("x", FloatTensorType([None, FEATURES]))]
    settings = {"n_estimators": 6, "max_depth": 4, "verbose": -1}
    for name, model, wanted in (
        ("classifier", lgb.LGBMClassifier(**settings), classes),
        ("binary", lgb.LGBMClassifier(**settings), (classes > 1).astype(int)),
        ("regressor", lgb.LGBMRegressor(**settings), target),
    ):
        fitted = model.fit(x, wanted)
        yield name, convert_lightgbm(fitted, initial_types=types, target_opset=15)
        if name != "regressor":
            yield f"{name}_tensors", convert_lightgbm(
                fitted, initial_types=types, target_opset=15, zipmap=False
            )


def xgboost() -> Named:
    """Trees of XGBoost."""
    import xgboost as xgb
    from onnxmltools import convert_xgboost
    from onnxmltools.convert.common.data_types import FloatTensorType

    x, classes, target = data()
    types = [("x", FloatTensorType([None, FEATURES]))]
    for name, model, wanted in (
        ("classifier", xgb.XGBClassifier(n_estimators=6, max_depth=4), classes),
        ("regressor", xgb.XGBRegressor(n_estimators=6, max_depth=4), target),
    ):
        yield name, convert_xgboost(model.fit(x, wanted), initial_types=types, target_opset=15)


def tensorflow() -> Named:
    """Functions of TensorFlow: channels last, shapes computed on the way, loops."""
    import tensorflow as tf
    import tf2onnx

    rng = np.random.default_rng(0)
    weight = lambda *shape: tf.constant(rng.standard_normal(shape).astype(np.float32) * 0.3)  # noqa: E731
    w1, w2, dense = weight(3, 3, 3, 8), weight(3, 3, 8, 8), weight(8, 5)
    ones, zeros = tf.ones(8), tf.zeros(8)
    query, key, value, wide, narrow = (weight(16, 16) for _ in range(5))
    gates, bias, table = weight(12, 32), weight(32), weight(50, 16)

    def cnn(x):
        for w in (w1, w2):
            x = tf.nn.conv2d(x, w, 1, "SAME")
            x, _, _ = tf.compat.v1.nn.fused_batch_norm(x, ones, zeros, zeros, ones, is_training=False)
            x = tf.nn.max_pool2d(tf.nn.relu6(x), 2, 2, "VALID")
        return tf.nn.softmax(tf.matmul(tf.reduce_mean(x, [1, 2]), dense))

    def attention(x):
        shape = tf.shape(x)
        split = lambda w: tf.transpose(  # noqa: E731
            tf.reshape(tf.einsum("bsd,de->bse", x, w), [shape[0], shape[1], 4, 4]), [0, 2, 1, 3])
        scores = tf.matmul(split(query), split(key), transpose_b=True) * 0.5
        seen = tf.matmul(tf.nn.softmax(scores), split(value))
        out = tf.reshape(tf.transpose(seen, [0, 2, 1, 3]), [shape[0], shape[1], 16])
        mean, variance = tf.nn.moments(x + out, [-1], keepdims=True)
        x = (x + out - mean) * tf.math.rsqrt(variance + 1e-5)
        return x + tf.matmul(tf.nn.gelu(tf.matmul(x, wide), approximate=True), narrow)

    def lstm(x):
        h = c = tf.zeros([tf.shape(x)[0], 8])
        for step in range(3):
            i, f, g, o = tf.split(tf.matmul(tf.concat([x[:, step], h], 1), gates) + bias, 4, 1)
            c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
            h = tf.sigmoid(o) * tf.tanh(c)
        return h

    def upsample(x):
        size = tf.shape(x)[1:3] * 2
        big = tf.image.resize(x, size, "nearest")
        return tf.pad(tf.nn.leaky_relu(big, 0.1), [[0, 0], [1, 1], [1, 1], [0, 0]])[:, 1:-1, 1:-1]

    def embedding(ids):
        mask = tf.cast(tf.not_equal(ids, 0), tf.float32)[..., tf.newaxis]
        rows = tf.gather(table, ids) * mask
        return tf.reduce_sum(rows, 1) / tf.maximum(tf.reduce_sum(mask, 1), 1.0)

    made = {
        cnn: tf.TensorSpec([None, 16, 16, 3], tf.float32, "x"),
        attention: tf.TensorSpec([None, None, 16], tf.float32, "x"),
        lstm: tf.TensorSpec([None, 3, 4], tf.float32, "x"),
        upsample: tf.TensorSpec([1, None, None, 3], tf.float32, "x"),
        embedding: tf.TensorSpec([None, 7], tf.int32, "ids"),
    }
    for function, spec in made.items():
        graph = tf.function(function)
        model, _ = tf2onnx.convert.from_function(graph, input_signature=[spec], opset=17)
        yield function.__name__, model


def sources() -> dict[str, pathlib.Path]:
    """Lists the examples that other formats are made of."""
    return {name: EXAMPLES / f"{name}.onnx" for name in ("cnn", "transformer", "inception")}


def quantised() -> Named:
    """Networks in 8 bits: weights alone, and weights and activations with their ranges."""
    import tempfile

    from onnxruntime import quantization as q
    from onnxruntime.quantization.shape_inference import quant_pre_process

    class Noise(q.CalibrationDataReader):
        def __init__(self, path: pathlib.Path) -> None:
            import sys

            sys.path.insert(0, str(HERE.parents[1] / "tests" / "python"))
            import oracle

            model = onnx.load(path)
            self.left = [oracle.random_inputs(model, seed=seed) for seed in range(2)]

        def get_next(self):
            return self.left.pop() if self.left else None

    for name, path in sources().items():
        with tempfile.TemporaryDirectory() as folder:
            before, after = pathlib.Path(folder, "a.onnx"), pathlib.Path(folder, "b.onnx")
            quant_pre_process(str(path), str(before), skip_symbolic_shape=True)
            q.quantize_dynamic(before, after)
            yield f"{name}_dynamic", onnx.load(after)
            q.quantize_static(before, after, Noise(before), quant_format=q.QuantFormat.QDQ)
            yield f"{name}_qdq", onnx.load(after)


def half() -> Named:
    """Networks converted to half precision."""
    from onnxconverter_common import float16

    for name, path in sources().items():
        yield name, float16.convert_float_to_float16(onnx.load(path))
        yield f"{name}_kept_io", float16.convert_float_to_float16(onnx.load(path), keep_io_types=True)


def control() -> Named:
    """Loops and sequences, as scripts of them come out."""
    bodies = {
        "loop_sum": """(float[n, 4] x, int64 t) => (float[n, 4] y) {
            yes = Constant <value = bool {1}> ()
            zero = Constant <value = float {0.0}> ()
            start = Mul(x, zero)
            y = Loop (t, yes, start) <body = b (int64 i, bool c, float[n, 4] s)
              => (bool d, float[n, 4] r) { d = Identity(c)  p = Identity(x)  r = Add(s, p) }>
        }""",
        "sequence_map": """(float[n, 4] x) => (float[n, 4] y) {
            one = Constant <value = int64 {1}> ()
            parts = SplitToSequence <axis = 0> (x, one)
            length = SequenceLength(parts)
            yes = Constant <value = bool {1}> ()
            none = SequenceEmpty()
            out = Loop (length, yes, none) <body = b (int64 i, bool c, seq(float[1, 4]) s)
              => (bool d, seq(float[1, 4]) r) {
                d = Identity(c)  part = SequenceAt(parts, i)  act = Relu(part)
                same = Identity(act)  r = SequenceInsert(s, same)
            }>
            y = ConcatFromSequence <axis = 0> (out)
        }""",
        "if_shapes": """(float[1, 4] x) => (float[1, 4] y) {
            s = Shape(x)  zero = Constant <value = int64 {0}> ()  one = Constant <value = int64 {1}> ()
            n = Gather(s, zero)  c = Equal(n, one)
            t = If (c) <then_branch = a () => (float[1, 4] p) { q = Identity(x)  p = Relu(q) },
                        else_branch = b () => (float[1, 4] r) { r = Neg(x) }>
            y = Identity(t)
        }""",
        "scan": """(float[n, 4] x, float[4] h) => (float[4] last, float[n, 4] all) {
            last, all = Scan <num_scan_inputs = 1, body = b (float[4] s, float[4] e)
              => (float[4] r, float[4] o) { t = Add(s, e)  r = Tanh(t)  o = Identity(r) }> (h, x)
        }""",
    }
    head = '<ir_version: 8, opset_import: ["" : 17]>'
    for name, body in bodies.items():
        yield name, onnx.parser.parse_model(f"{head} g {body}")


ORIGINS: dict[str, Callable[[], Named]] = {
    "sklearn": sklearn,
    "lightgbm": lightgbm,
    "xgboost": xgboost,
    "tensorflow": tensorflow,
    "quantised": quantised,
    "half": half,
    "control": control,
}


def write(folder: pathlib.Path) -> list[str]:
    """Writes the models of every origin that is installed; names what is absent."""
    folder.mkdir(parents=True, exist_ok=True)
    absent = []
    for origin, make in ORIGINS.items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for name, model in make():
                    onnx.save(model, folder / f"{origin}_{name}.onnx")
        except ImportError as missing:
            absent.append(f"{origin}: {missing}")
    return absent


def main() -> None:
    """Writes the models to the folder that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    for missing in write(folder):
        print(f"absent: {missing}")
    print(f"{len(list(folder.glob('*.onnx')))} models in {folder}")


if __name__ == "__main__":
    main()
