"""Fixtures: the models of the repository and the built command."""

from __future__ import annotations

import os
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples" / "models").glob("*.onnx"))


def pytest_configure(config: pytest.Config) -> None:
    """Declares the marks by which `cargo xtask` chooses tests."""
    config.addinivalue_line("markers", "slow: takes more than a few seconds; not in --fast")
    config.addinivalue_line("markers", "long: only in `cargo xtask long`")


@pytest.fixture(scope="session")
def root() -> pathlib.Path:
    """The root of the workspace."""
    return ROOT


@pytest.fixture(params=EXAMPLES, ids=lambda path: path.stem)
def example(request: pytest.FixtureRequest) -> pathlib.Path:
    """Each model of `examples/models`, one after the other."""
    return request.param


@pytest.fixture(scope="session")
def tangram_bin() -> pathlib.Path:
    """The `tangram` command that `cargo xtask test` has built."""
    named = os.environ.get("TANGRAM_BIN")
    if not named or not pathlib.Path(named).exists():
        pytest.skip("TANGRAM_BIN names no built command: run `cargo xtask test`")
    return pathlib.Path(named)
