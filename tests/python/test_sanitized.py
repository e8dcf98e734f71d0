"""Random models as C: every access is in its block, and the results are those of the kernels."""

from __future__ import annotations

import pathlib
import shutil
import subprocess

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import sanitized


@pytest.fixture(scope="module")
def sanitizers(tmp_path_factory) -> None:
    """Skips where the compiler has no sanitizers, or its programs do not run."""
    folder = tmp_path_factory.mktemp("sanitizers")
    (folder / "main.c").write_text("int main(void) { return 0; }\n")
    compiler = sanitized.compiler()
    if shutil.which(compiler[0]) is None:
        pytest.skip("no C compiler")
    build = [*compiler, *sanitized.SANITIZERS, "main.c", "-o", "main"]
    if subprocess.run(build, cwd=folder, capture_output=True).returncode or subprocess.run([folder / "main"]).returncode:
        pytest.skip("no sanitizers")


def judged(tangram_bin: pathlib.Path, folder: pathlib.Path, seeds: range, machine: str) -> dict:
    """Judges a model for each seed; gives the verdicts that are wrong, and counts the right ones."""
    found: dict = {"right": 0}
    for seed in seeds:
        verdict = sanitized.judge_apart(seed, 8, tangram_bin, folder, machine)
        if verdict.kind in sanitized.WRONG:
            found[seed] = verdict
        found["right"] += verdict.kind == "right"
    return found


@pytest.mark.parametrize("machine", ["scalar", "avx2"])
def test_random_models_stay_in_their_blocks(tangram_bin, tmp_path, sanitizers, machine) -> None:
    cpu = pathlib.Path("/proc/cpuinfo")
    if machine == "avx2" and not (cpu.exists() and "avx2" in cpu.read_text()):
        pytest.skip("no AVX2 here")
    found = judged(tangram_bin, tmp_path, range(16), machine)
    assert found.pop("right") > 2 and not found


def test_a_weight_is_a_result_as_well(tangram_bin, tmp_path, sanitizers) -> None:
    """What is packed for a convolution and returned as it came is in the weights twice."""
    rng = np.random.default_rng(5)
    weights = {"w": rng.standard_normal((2, 2, 2)), "v": rng.standard_normal((4,))}
    model = helper.make_model(
        helper.make_graph(
            [
                helper.make_node("Conv", ["x", "w"], ["y"]),
                helper.make_node("CastLike", ["w", "v"], ["same"]),
                helper.make_node("Shape", ["w"], ["shape"]),
                helper.make_node("Neg", ["v"], ["minus"]),
            ],
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 2, 2])],
            [
                helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 2, 1]),
                helper.make_tensor_value_info("same", TensorProto.FLOAT, [2, 2, 2]),
                helper.make_tensor_value_info("shape", TensorProto.INT64, [3]),
                helper.make_tensor_value_info("minus", TensorProto.FLOAT, [4]),
            ],
            [numpy_helper.from_array(value.astype(np.float32), name) for name, value in weights.items()],
        ),
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=8,
    )
    verdict = sanitized.judge_model(model, tangram_bin, tmp_path, "scalar", lambda: None)
    assert verdict.kind == "right", verdict.why


def test_a_double_is_as_exact_as_the_floats_it_is_made_of() -> None:
    model = helper.make_model(
        helper.make_graph(
            [
                helper.make_node("Cast", ["x"], ["wide"], to=TensorProto.DOUBLE),
                helper.make_node("Exp", ["x"], ["power"]),
                helper.make_node("Cast", ["power"], ["power64"], to=TensorProto.DOUBLE),
                helper.make_node("Add", ["wide", "power64"], ["sum"]),
                helper.make_node("Exp", ["wide"], ["exact"]),
                helper.make_node("Shape", ["x"], ["shape"]),
            ],
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])],
            [
                helper.make_tensor_value_info("sum", TensorProto.DOUBLE, [2]),
                helper.make_tensor_value_info("exact", TensorProto.DOUBLE, [2]),
                helper.make_tensor_value_info("shape", TensorProto.INT64, [1]),
            ],
        ),
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=8,
    )
    assert sanitized.precisions(model) == [np.float32, np.float64, None]


@pytest.mark.long
@pytest.mark.parametrize("machine", ["scalar", "native"])
def test_a_thousand_random_models_stay_in_their_blocks(tangram_bin, tmp_path, sanitizers, machine) -> None:
    found = judged(tangram_bin, tmp_path, range(1000, 2000), machine)
    assert found.pop("right") > 200 and not found
