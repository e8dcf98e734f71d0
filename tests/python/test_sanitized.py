"""Random models as C: every access is in its block, and the results are those of the kernels."""

from __future__ import annotations

import pathlib
import shutil
import subprocess

import pytest

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


@pytest.mark.long
@pytest.mark.parametrize("machine", ["scalar", "native"])
def test_a_thousand_random_models_stay_in_their_blocks(tangram_bin, tmp_path, sanitizers, machine) -> None:
    found = judged(tangram_bin, tmp_path, range(1000, 2000), machine)
    assert found.pop("right") > 200 and not found
