"""Models written in other versions of ONNX's operator set: they compute the same, or it is said why not."""

from __future__ import annotations

import subprocess

import onnx
import pytest

import oracle
import tangram
from conftest import ROOT
from test_examples import SMALL, given

MODELS = ROOT / "examples" / "models"


@pytest.mark.parametrize("name", ["cnn", "control", "inception", "legacy", "lstm_tagger", "transformer"])
@pytest.mark.parametrize("version", [11, 13, 15, 18, 21])
def test_examples_go_up_and_down(name, version) -> None:
    before = onnx.load(MODELS / f"{name}.onnx")
    after = tangram.optimize(before, opset=version).to_onnx()
    assert {s.domain: s.version for s in after.opset_import}[""] == version
    onnx.checker.check_model(after, full_check=True)
    inputs = oracle.random_inputs(before, {**SMALL, "steps": 3}, given=given(before))
    assert oracle.same(oracle.run_ort(after, inputs), oracle.run_ort(before, inputs))


def test_all_that_cannot_be_said_is_said_at_once(tangram_bin, tmp_path) -> None:
    words = [tangram_bin, "opt", MODELS / "text.onnx", "-o", tmp_path / "o.onnx", "--opset"]
    ran = subprocess.run([*words, "13"], capture_output=True, text=True)
    assert ran.returncode != 0 and not (tmp_path / "o.onnx").exists()
    first, *reasons, hint = ran.stderr.strip().splitlines()
    assert first.endswith("the model cannot be written in operator set 13:")
    # StringConcat and StringSplit came with operator set 20: that is what onnx's schemas say.
    assert [reason.split(":")[0].strip() for reason in reasons] == ["StringConcat", "StringSplit"]
    since = {op: onnx.defs.get_schema(op, 20).since_version for op in ("StringConcat", "StringSplit")}
    assert set(since.values()) == {20} and all("needs operator set 20" in reason for reason in reasons)
    assert hint == "operator set 20 is the first that has all of it"
    assert subprocess.run([*words, "20", "--quiet"]).returncode == 0


def test_attributes_that_came_later_are_no_defect() -> None:
    with pytest.raises(tangram.ModelError, match="DequantizeLinear of operator set 11 has no attribute `axis`") as told:
        tangram.optimize(MODELS / "quantised.onnx", opset=11)
    assert "operator set 13 is the first" in str(told.value) and "defect" not in str(told.value)
