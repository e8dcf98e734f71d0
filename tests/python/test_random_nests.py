"""Nests of the general benchmark, drawn at random: new loops leave the bytes that the source leaves."""

from __future__ import annotations

import argparse
import os
import pathlib
import shutil
import sys

import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "bench" / "polyhedral"
sys.path.insert(0, str(FOLDER))
import general  # noqa: E402
import random_nests  # noqa: E402

COMPILER = shutil.which(os.environ.get("CC", "cc"))
SEEDS = 12


def judged(source: pathlib.Path, folder: pathlib.Path, options: list[str]) -> set[str]:
    """The hashes of what the source and our loops leave; one if nothing was rewritten."""
    bench = general.Bench(folder, {"cc": [COMPILER]}, argparse.Namespace(scop=options))
    text = source.read_text()
    ours, _, _ = bench.ours(source)
    own = bench.versions(text, ours)
    program = bench.program(source.stem, text, own, ["-O2", "-ffp-contract=off"])
    return {hash_ for _, hash_ in bench.run(program, list(own), 1).values()}


@pytest.mark.skipif(COMPILER is None, reason="needs a C compiler")
@pytest.mark.parametrize("options", [[], ["--tile", "5,3"]], ids=["chosen", "tiled"])
def test_random_nests_leave_the_same_bytes(tangram_bin, tmp_path, monkeypatch, options) -> None:
    monkeypatch.setenv("TANGRAM_BIN", str(tangram_bin))
    for source in random_nests.write(tmp_path, SEEDS, 90):
        assert len(judged(source, tmp_path, options)) == 1, source.read_text()


@pytest.mark.skipif(COMPILER is None, reason="needs a C compiler")
@pytest.mark.parametrize("source", sorted(general.FOLDER.glob("*.c"))[::7], ids=lambda path: path.stem)
def test_kernels_leave_the_same_bytes(tangram_bin, tmp_path, monkeypatch, source) -> None:
    monkeypatch.setenv("TANGRAM_BIN", str(tangram_bin))
    assert len(judged(source, tmp_path, [])) == 1


@pytest.mark.long
@pytest.mark.skipif(COMPILER is None, reason="needs a C compiler")
def test_many_random_nests_leave_the_same_bytes(tangram_bin, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("TANGRAM_BIN", str(tangram_bin))
    for source in random_nests.write(tmp_path, 2_000, 91):
        assert len(judged(source, tmp_path, [])) == 1, source.read_text()
