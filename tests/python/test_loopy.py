"""loopy, which is built on islpy, runs on our sets and functions."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("tangram._native")
# Its package asks for islpy, which would overwrite islpy-barvinok: `pip install --no-deps`.
pytest.importorskip("loopy", reason="needs loopy", exc_type=ImportError)


@pytest.mark.slow
def test_loopy_generates_right_code_with_tangram() -> None:
    script = pathlib.Path(__file__).with_name("loopy_on_tangram.py")
    ran = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert ran.returncode == 0 and ran.stdout.endswith("right\n"), ran.stdout + ran.stderr
