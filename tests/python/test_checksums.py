"""Sums of what is published: `sha256sum` reads them, and what differs is named."""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "packaging/checksums.py"


@pytest.mark.skipif(not SCRIPT.is_file(), reason="packaging is not part of the source distribution")
def test_sums_are_those_of_the_files(tmp_path) -> None:
    def run(*words: str) -> subprocess.CompletedProcess:
        return subprocess.run([sys.executable, SCRIPT, *words, tmp_path], capture_output=True, text=True)

    assert "nothing of a release" in run().stderr
    (tmp_path / "tangram-0.1-abi3.whl").write_bytes(b"wheel" * 9)
    (tmp_path / "tangram-0.1.tar.gz").write_bytes(b"")
    (tmp_path / "notes.txt").write_text("no part of it")
    assert run("--check").returncode == 1
    assert run().returncode == 0
    lines = (tmp_path / "SHA256SUMS").read_text().splitlines()
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert lines[1] == f"{empty}  tangram-0.1.tar.gz" and len(lines) == 2
    if shutil.which("sha256sum"):
        subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=tmp_path, check=True)
    assert run("--check").returncode == 0
    (tmp_path / "tangram-0.1-abi3.whl").write_bytes(b"wheel" * 8)
    (tmp_path / "tangram-0.1.tar.gz").unlink()
    (tmp_path / "more.crate").write_bytes(b"crate")
    said = run("--check")
    assert said.returncode == 1
    for name in ("tangram-0.1-abi3.whl", "tangram-0.1.tar.gz", "more.crate"):
        assert name in said.stderr, said.stderr
