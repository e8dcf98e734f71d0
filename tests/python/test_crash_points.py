"""No file is mixed, lost or left behind, at whatever system call a command ends or fails."""

from __future__ import annotations

import shutil

import pytest

from crash_points import Case, Suite, cases

CASES = {case.name: case for case in cases()}


@pytest.fixture(autouse=True)
def _strace() -> None:
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")


def suite(case: Case, binary, folder) -> Suite:
    return Suite(case, binary, folder)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_sample_of_the_points(name, tangram_bin, tmp_path) -> None:
    tried = suite(CASES[name], tangram_bin, tmp_path)
    points = tried.sample(12, seed=len(name))
    assert len(points) >= 8, tried.counts
    faults = [fault for point in points for fault in tried.check(point)]
    assert not faults, "\n".join(faults)


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_every_point(name, tangram_bin, tmp_path) -> None:
    tried = suite(CASES[name], tangram_bin, tmp_path)
    faults = [fault for point in tried.points() for fault in tried.check(point)]
    assert not faults, "\n".join(faults)
