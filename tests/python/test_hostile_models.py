"""Whatever a model says, each command ends soon and within its memory, with a result or a message."""

from __future__ import annotations

import pathlib
import resource
import subprocess
import time

import onnx
import pytest

from hostile_models import Hostile

MEMORY = 2 << 30
SECONDS = 30
LIMITS = ["--max-seconds", "3", "--max-memory", "512M"]
MODES: list[list[str]] = [
    ["show", "m.onnx"],
    ["show", "m.onnx", "--format", "json"],
    ["show", "m.onnx", "--format", "mlir"],
    ["show", "m.onnx", "--format", "svg", "--limit", "50"],
    ["show", "m.onnx", "--format", "dot"],
    ["view", "m.onnx", "-o", "m.html", "--rules"],
    ["opt", "m.onnx", "-o", "o.onnx", "--check", "--trace", "t.html", "--json", "r.json", *LIMITS],
    ["opt", "m.onnx", "-o", "o.onnx", "--strategy", "saturate", "--max-nodes", "2000", *LIMITS],
    ["opt", "m.onnx", "-o", "o.onnx", "--to", "float16", *LIMITS],
    ["opt", "m.onnx", "-o", "o.onnx", "--opset", "21", "--external-data", "always", *LIMITS],
    ["opt", "m.onnx", "-o", "o.onnx", "--fold-limit", "none", *LIMITS],
    ["check", "m.onnx", "m.onnx", *LIMITS],
    ["diff", "m.onnx", "m.onnx"],
    ["run", "m.onnx", "--random", "--interpret", "--no-rules", "-o", "o.npz", *LIMITS],
    ["run", "m.onnx", "--random", "--json", *LIMITS],
    ["compile", "m.onnx", "-o", "m.mlir", "--emit", "mlir"],
    ["compile", "m.onnx", "-o", "m.c", "--emit", "c"],
]


def limited() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def fault(binary: pathlib.Path, folder: pathlib.Path, seed: int, mode: list[str]) -> str | None:
    """What is wrong with a command on a model, if anything."""
    try:
        (folder / "m.onnx").write_bytes(Hostile(seed).model().SerializeToString())
    except (ValueError, UnicodeEncodeError):
        return None
    start = time.monotonic()
    what = f"seed {seed}: {' '.join(mode)}"
    try:
        done = subprocess.run(
            [binary, *mode], cwd=folder, preexec_fn=limited, capture_output=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return f"{what}: no end"
    if done.returncode not in (0, 1, 2, 3) or b"panicked" in done.stderr:
        return f"{what}: {done.returncode} after {time.monotonic() - start:.1f} s: {done.stderr[-400:]!r}"
    if b"\x1b" in done.stdout + done.stderr:
        return f"{what}: an escape sequence is printed as it is"
    return None


@pytest.mark.slow
def test_a_sample_of_models(tangram_bin, tmp_path) -> None:
    # Each mode some times, each time on another model.
    tried = [(seed, MODES[seed % len(MODES)]) for seed in range(6 * len(MODES))]
    found = [wrong for seed, mode in tried if (wrong := fault(tangram_bin, tmp_path, seed, mode))]
    assert not found, "\n".join(found)


def test_models_are_of_all_kinds() -> None:
    """The generator reaches what it is for, and some of what it makes can be read."""
    models = [Hostile(seed).model() for seed in range(300)]
    nodes = [node for model in models for node in model.graph.node]
    assert len({node.op_type for node in nodes}) > 150
    assert any(attribute.HasField("g") for node in nodes for attribute in node.attribute)
    assert any(value.type.HasField("sequence_type") for model in models for value in model.graph.input)
    assert any(tensor.external_data for model in models for tensor in model.graph.initializer)
    sound = 0
    for model in models:
        try:
            onnx.checker.check_model(model)
            sound += 1
        except Exception:
            continue
    assert sound > 0


@pytest.mark.long
def test_ten_thousand_models(tangram_bin, tmp_path) -> None:
    found = []
    for seed in range(10_000):
        wrong = fault(tangram_bin, tmp_path, seed, MODES[seed % len(MODES)])
        found += [wrong] if wrong else []
    assert not found, "\n".join(found)
