"""`tangram scop` on random C files: no result changes, nothing fails to compile, nothing hangs."""

from __future__ import annotations

import os
import shutil

import pytest

import random_c

pytestmark = pytest.mark.skipif(
    not shutil.which("gcc") or not os.environ.get("TANGRAM_BIN"), reason="needs gcc and the command"
)


def check(seeds: range, options: list[str]) -> None:
    outcomes = random_c.sweep(list(seeds), os.environ["TANGRAM_BIN"], options)
    wrong = [f"file {outcome.seed}: {outcome.wrong}" for outcome in outcomes if outcome.wrong]
    assert not wrong, "\n".join(wrong)
    assert sum(outcome.calls for outcome in outcomes) > len(seeds)
    assert sum(outcome.rewritten for outcome in outcomes) > len(seeds) / 2


@pytest.mark.slow
def test_random_files_do_the_same():
    check(range(5), [])


@pytest.mark.slow
def test_random_files_do_the_same_on_threads():
    check(range(100, 103), ["--parallel"])


@pytest.mark.long
@pytest.mark.parametrize("options", [[], ["--parallel"], ["--tile", "3,4"]])
def test_ten_thousand_random_functions_do_the_same(options):
    check(range(1000, 1560), options)
