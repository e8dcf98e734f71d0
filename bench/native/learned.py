"""Models that scikit-learn, LightGBM and XGBoost fit, as their converters write them.

Features are normal numbers, as those that the benchmark draws; what is learned are sums and products of
some of them with noise, so that trees grow as deep as they do with real data.
"""

from __future__ import annotations

import pathlib
import warnings

import numpy as np
import onnx

FEATURES = 30
SAMPLES = 4000
OPSETS = {"": 17, "ai.onnx.ml": 3}


def data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, one of three classes, and a number for each sample."""
    random = np.random.default_rng(11)
    x = random.standard_normal((SAMPLES, FEATURES)).astype(np.float32)
    scores = x @ random.standard_normal((FEATURES, 3)) + 3 * x[:, :3] * x[:, 3:6]
    classes = (scores + 2 * random.standard_normal(scores.shape)).argmax(axis=1)
    target = x[:, 0] * x[:, 1] + np.sin(2 * x[:, 2]) + x @ random.standard_normal(FEATURES) / 3
    return x, classes, (target + random.standard_normal(SAMPLES) / 5).astype(np.float32)


def of_sklearn(x: np.ndarray, classes: np.ndarray, target: np.ndarray):
    """Forests, boosted trees, linear models and what prepares features."""
    from skl2onnx import to_onnx
    from sklearn import ensemble, linear_model, pipeline, preprocessing

    steps = [preprocessing.StandardScaler(), preprocessing.Normalizer(), linear_model.LogisticRegression()]
    for name, model, wanted in (
        ("forest_depth_8", ensemble.RandomForestClassifier(200, max_depth=8), classes),
        ("forest_full", ensemble.RandomForestClassifier(100), classes),
        ("forest_numbers", ensemble.RandomForestRegressor(60, max_depth=20), target),
        ("extra_trees", ensemble.ExtraTreesRegressor(80, max_depth=12), target),
        ("boosting", ensemble.GradientBoostingClassifier(n_estimators=60), classes),
        ("boosting_numbers", ensemble.GradientBoostingRegressor(n_estimators=200), target),
        ("ridge", linear_model.Ridge(), target),
        ("pipeline", pipeline.make_pipeline(*steps), classes),
    ):
        fitted = model.fit(x, wanted)
        keyed = {id(fitted): {"zipmap": False}} if wanted is classes else None
        yield name, to_onnx(fitted, x[:1], options=keyed, target_opset=OPSETS)
        if name == "boosting":
            yield f"{name}_zipmap", to_onnx(fitted, x[:1], target_opset=OPSETS)


def of_lightgbm(x: np.ndarray, classes: np.ndarray, target: np.ndarray):
    """Trees of LightGBM."""
    import lightgbm
    from onnxmltools import convert_lightgbm
    from onnxmltools.convert.common.data_types import FloatTensorType

    types = [("x", FloatTensorType([None, FEATURES]))]
    for name, model, wanted, further in (
        ("lightgbm_three", lightgbm.LGBMClassifier(n_estimators=80, verbose=-1), classes, {"zipmap": False}),
        ("lightgbm_two", lightgbm.LGBMClassifier(n_estimators=150, verbose=-1), classes > 0, {"zipmap": False}),
        ("lightgbm_numbers", lightgbm.LGBMRegressor(n_estimators=150, verbose=-1), target, {}),
    ):
        fitted = model.fit(x, wanted.astype(int) if wanted.dtype == bool else wanted)
        yield name, convert_lightgbm(fitted, initial_types=types, target_opset=15, **further)


def of_xgboost(x: np.ndarray, classes: np.ndarray, target: np.ndarray):
    """Trees of XGBoost."""
    import xgboost
    from onnxmltools import convert_xgboost
    from onnxmltools.convert.common.data_types import FloatTensorType

    types = [("x", FloatTensorType([None, FEATURES]))]
    for name, model, wanted in (
        ("xgboost_three", xgboost.XGBClassifier(n_estimators=80, max_depth=6), classes),
        ("xgboost_numbers", xgboost.XGBRegressor(n_estimators=150, max_depth=5), target),
    ):
        yield name, convert_xgboost(model.fit(x, wanted), initial_types=types, target_opset=15)


def written(folder: pathlib.Path) -> list[pathlib.Path]:
    """Fits and writes all models that are not there; returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = sorted(folder.glob("*.onnx"))
    if paths:
        return paths
    warnings.filterwarnings("ignore")
    for kind in (of_sklearn, of_lightgbm, of_xgboost):
        for name, model in kind(*data()):
            onnx.save(model, folder / f"{name}.onnx")
    return sorted(folder.glob("*.onnx"))
