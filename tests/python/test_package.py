"""The installed wheel: both packages, typed, of the version that the workspace says."""

from __future__ import annotations

import importlib
import importlib.resources
import tomllib

import pytest


def test_the_version_is_that_of_the_workspace(root) -> None:
    tangram = importlib.import_module("tangram")
    manifest = tomllib.loads((root / "Cargo.toml").read_text())
    assert tangram.__version__ == manifest["workspace"]["package"]["version"]


@pytest.mark.parametrize("package", ["tangram", "gsl"])
def test_the_packages_are_typed(package: str) -> None:
    assert importlib.resources.files(package).joinpath("py.typed").is_file()
