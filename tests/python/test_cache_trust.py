"""What lies in the cache is run only if this user put it there."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess

import numpy as np
import onnx
import pytest

import small

EVIL = '#include <stdio.h>\n__attribute__((constructor)) static void f(void) { fclose(fopen("%s", "w")); }\n'


@pytest.fixture
def model(tmp_path) -> pathlib.Path:
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    weights = {"w": np.ones((8, 8), "f")}
    path = tmp_path / "m.onnx"
    onnx.save(small.model("(float[4, 8] x) => (float[4, 8] y) { m = MatMul(x, w)  y = Relu(m) }", weights=weights), path)
    return path


def run(binary, model, cache) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [binary, "run", model, "--random"], env=os.environ | {"TANGRAM_CACHE": str(cache)}, capture_output=True,
        text=True, check=False,
    )
    assert done.returncode == 0, done.stderr
    return done


def test_a_folder_that_others_may_write_to_is_not_used(tangram_bin, model, tmp_path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    cache.chmod(0o777)
    link = tmp_path / "link"
    link.symlink_to(cache)
    for folder in (cache, link):
        said = run(tangram_bin, model, folder).stderr
        assert "may be written to by others" in said and not list(cache.iterdir()), said
    cache.chmod(0o700)
    assert run(tangram_bin, model, cache).stderr == "" and (cache / "key").is_file()
    if os.getuid() == 0:
        os.chown(cache, 1234, 1234)
        assert "belongs to somebody else" in run(tangram_bin, model, cache).stderr


def test_a_library_that_somebody_put_there_is_not_run(tangram_bin, model, tmp_path) -> None:
    cache, marker = tmp_path / "cache", tmp_path / "marker"
    first = run(tangram_bin, model, cache).stdout
    (tmp_path / "evil.c").write_text(EVIL % marker)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "evil.so", tmp_path / "evil.c"], check=True)
    libraries = list(cache.rglob("code.so"))
    assert len(libraries) >= 2, "one of the code, one of the session"
    for library in libraries:
        shutil.copy(tmp_path / "evil.so", library)
    again = run(tangram_bin, model, cache).stdout
    assert not marker.exists() and again.split("ms;")[-1] == first.split("ms;")[-1]
    # It would have been run, had it been asked for.
    subprocess.run([tangram_bin, "run", tmp_path / "evil.so"], capture_output=True, check=False)
    assert marker.exists()
