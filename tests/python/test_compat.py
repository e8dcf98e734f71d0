"""Scripts that were written for onnxsim and onnxslim run with one line changed."""

from __future__ import annotations

import warnings

import numpy as np
import onnx
import pytest

from conftest import ROOT
import tangram
from tangram.compat import _passes
from tangram.compat.onnxsim import simplify
from tangram.compat.onnxslim import slim
from test_functions import model as calls
from test_model_edits import FEED, dynamic, run, shape

CNN = str(ROOT / "examples" / "models" / "cnn.onnx")


def newest_opset() -> int:
    """The newest version in which something of ONNX's own operator set has changed."""
    return max(s.since_version for s in onnx.defs.get_all_schemas_with_history() if s.domain == "")


def test_what_a_script_does_with_onnxsim(tmp_path) -> None:
    model = onnx.load(CNN)
    model_simp, check = simplify(model)
    assert check, "Simplified ONNX model could not be validated"
    onnx.save(model_simp, tmp_path / "simp.onnx")
    assert len(model_simp.graph.node) < len(model.graph.node)
    onnx.checker.check_model(model_simp, full_check=True)


def test_the_keywords_of_onnxsim() -> None:
    fixed, ok = simplify(CNN, check_n=2, overwrite_input_shapes={"image": [1, 3, 32, 32]})
    assert ok and shape(fixed.graph.input[0]) == [1, 3, 32, 32]
    same, ok = simplify(CNN, 1, overwrite_input_shapes=[1, 3, 32, 32])
    assert ok and shape(same.graph.input[0]) == [1, 3, 32, 32]
    less, ok = simplify(dynamic(), check_n=1, unused_output=["z"], test_input_shapes={"x": [2, 5, 3], "mask": [2, 20]})
    assert ok and [v.name for v in less.graph.output] == ["y"]
    np.testing.assert_allclose(run(less, **FEED)[0], run(dynamic(), **FEED)[0], rtol=1e-6)
    newer, ok = simplify(CNN, check_n=1, target_opset_version="latest", check_rtol=1e-2, check_atol=1e-5)
    assert ok and newer.opset_import[0].version == newest_opset()
    merged, _ = simplify(str(ROOT / "examples" / "models" / "inception.onnx"), extra_optimizers=["parallel-conv2d-bias"])
    assert "Split" in {node.op_type for node in merged.graph.node}
    inlined, ok = simplify(calls(), check_n=1, inline_functions=True)
    assert ok and not inlined.functions
    with pytest.warns(UserWarning, match="`custom_lib` has no effect"):
        simplify(CNN, custom_lib="ops.so")


def test_what_a_script_does_with_onnxslim(tmp_path) -> None:
    slimmed = slim(onnx.load(CNN))
    onnx.checker.check_model(slimmed, full_check=True)
    assert slim(CNN, str(tmp_path / "slim.onnx"), model_check=True) is None
    assert len(onnx.load(tmp_path / "slim.onnx").graph.node) == len(slimmed.graph.node)


def test_the_keywords_of_onnxslim(tmp_path, capsys) -> None:
    for given in ({"image": [1, 3, 32, 32]}, ["image:1,3,32,32"]):
        fixed = slim(CNN, input_shapes=given, model_check=True)
        assert shape(fixed.graph.input[0]) == [1, 3, 32, 32]
    np.save(tmp_path / "x.npy", FEED["x"])
    part = slim(dynamic(), outputs=["r"], model_check=True, model_check_inputs=[f"x:{tmp_path / 'x.npy'}"])
    assert [v.name for v in part.graph.output] == ["r"]
    slim(CNN, inspect=True)
    assert "nodes" in capsys.readouterr().out
    half = slim(CNN, dtype="fp16", model_check=True)
    assert {t.data_type for t in half.graph.initializer} == {onnx.TensorProto.FLOAT16, onnx.TensorProto.INT64}
    assert half.graph.input[0].type.tensor_type.elem_type == onnx.TensorProto.FLOAT
    with pytest.warns(UserWarning, match="`dtype` has no effect"):
        slim(CNN, dtype="fp32")


def other_passes() -> list[str]:
    """The passes that onnxsim runs by default, as the installed one names them."""
    exported = pytest.importorskip("onnxsim.onnxsim_cpp2py_export")
    return list(exported._list_optimizers())  # noqa: SLF001: what its command line prints


def other_patterns() -> list[str]:
    """The patterns of the installed onnxslim."""
    pytest.importorskip("onnxslim")
    from onnxslim.core.pattern import elimination, fusion, registry  # noqa: F401: these register them

    return list(registry.DEFAULT_FUSION_PATTERNS)


def test_every_pass_of_onnxsim_is_mapped_or_told() -> None:
    for name in other_passes():
        assert name in _passes.ONNXSIM, name
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            _, ok = simplify(CNN, skipped_optimizers=[name])
        assert ok and bool(told) == (not _passes.ONNXSIM[name]), name


def test_every_pattern_of_onnxslim_is_mapped() -> None:
    for name in [*other_patterns(), "FusionGelu"]:
        assert _passes.ONNXSLIM[name], name
        assert slim(CNN, skip_fusion_patterns=[name]).graph.node


def test_rules_may_be_switched_off_where_none_are_asked_for() -> None:
    model, ok = simplify(CNN, skip_fuse_bn=True, perform_optimization=False)
    assert ok and "BatchNormalization" in {node.op_type for node in model.graph.node}
    model, _ = simplify(CNN, skipped_optimizers=["fuse_bn_into_conv"])
    assert "BatchNormalization" in {node.op_type for node in model.graph.node}
    assert "BatchNormalization" not in {node.op_type for node in simplify(CNN)[0].graph.node}
    with pytest.raises(tangram.RuleError, match="no-such-pass"):
        simplify(CNN, skipped_optimizers=["no-such-pass"])
