"""Packages that run their models by onnxruntime run on this, unmodified, with the import replaced.

`requirements-clients.txt` lists them. A few that need nothing else are in the environment of all tests;
the long run makes an environment of its own for the others, which have large dependencies.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import pathlib
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import clients

HERE = pathlib.Path(__file__).parent
SAMPLE = ["magika", "arabic-name-romanizer", "text2tashkeel"]
# Results of networks of eight bits round at other places; the largest share of the greatest magnitude
# by which they may differ.
TOLERANCE = {"text2tashkeel": 0.02, "pipecat-ai": 0.05, "efficientword-net": 0.02}


def installed(name: str) -> bool:
    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def run(python: str, name: str, engine: str, folder: pathlib.Path) -> Any:
    """What a client returns with an engine; some write files where they run."""
    place = folder / engine
    place.mkdir()
    command = [python, str(HERE / "clients.py"), name, engine]
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        command, cwd=place, env=environment, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, f"{name} with {engine}:\n{done.stderr[-3000:]}"
    return json.loads(done.stdout.splitlines()[-1])


def numbers(value: Any, into: list[float]) -> Any:
    """Takes the numbers out of a result; what is left has to be the same."""
    if isinstance(value, dict):
        return {key: numbers(item, into) for key, item in value.items()}
    if isinstance(value, list):
        return [numbers(item, into) for item in value]
    if isinstance(value, float):
        into.append(value)
        return None
    return value


def difference(expected: Any, found: Any) -> tuple[bool, float]:
    """Whether all but numbers is the same, and by how much these differ at most, as a share."""
    ours: list[float] = []
    theirs: list[float] = []
    same = numbers(expected, theirs) == numbers(found, ours)
    if not same or not theirs:
        return same, 0.0
    left, right = np.array(theirs), np.array(ours)
    scale = np.abs(left[np.isfinite(left)]).max(initial=1e-30)
    both = np.nan_to_num(left - right, nan=0.0)
    return bool((np.isnan(left) == np.isnan(right)).all()), float(np.abs(both).max() / scale)


def check(python: str, name: str, folder: pathlib.Path) -> None:
    expected, found = run(python, name, "onnxruntime", folder), run(python, name, "tangram", folder)
    same, most = difference(expected, found)
    assert same, f"{name}: {str(expected)[:300]} and {str(found)[:300]}"
    assert most <= TOLERANCE.get(name, 2e-4), f"{name}: numbers differ by {most:.1e}"


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLE)
def test_a_package_runs_unmodified(name: str, tmp_path) -> None:
    if not installed(name):
        pytest.skip(f"{name} is not installed")
    check(sys.executable, name, tmp_path)


@pytest.fixture(scope="session")
def python(tmp_path_factory) -> str:
    """An environment with all clients; `TANGRAM_CLIENTS` names the Python of one that is there."""
    if given := os.environ.get("TANGRAM_CLIENTS"):
        return given
    folder = tmp_path_factory.mktemp("clients")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    made = str(folder / "bin" / "python")
    install = [made, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    lines = (HERE / "requirements-clients.txt").read_text().splitlines()
    packages = [line for line in lines if line and not line.startswith("#")]
    needs = [line for line in packages if not line.startswith("! ")]
    subprocess.run([*install, *needs], check=True)
    # Their own requirements would bring engines of other makers.
    alone = [line[2:] for line in packages if line.startswith("! ")]
    subprocess.run([*install, "--no-deps", *alone], check=True)
    ours = pathlib.Path(importlib.metadata.distribution("tangram-compiler").locate_file(""))
    there = subprocess.check_output(
        [made, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], text=True
    )
    (pathlib.Path(there.strip()) / "tangram").symlink_to(ours / "tangram")
    return made


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(clients.CLIENTS))
def test_every_package_runs_unmodified(name: str, python, tmp_path) -> None:
    check(python, name, tmp_path)


def test_every_client_is_a_package_of_the_list() -> None:
    text = (HERE / "requirements-clients.txt").read_text()
    listed = {line[2:].split("==")[0] for line in text.splitlines() if line.startswith("! ")}
    assert set(clients.CLIENTS) <= listed and len(clients.CLIENTS) >= 20
