"""What a user installs: the wheel that these tests run against, and the source distribution.

`cargo xtask test` installs the wheel without a link to the sources, so a file that the wheel
lacks fails every test that needs it. `cargo xtask long` builds the source distribution outside
the tree and runs all of this against that.
"""

from __future__ import annotations

import importlib
import importlib.resources
import json
import pathlib
import re
import subprocess
import sys
import tarfile
import tomllib

import pytest

PACKAGES = ["tangram", "gsl"]


def sources(root: pathlib.Path) -> set[str]:
    """The files of both packages in the tree, relative to `python/`."""
    folder = root / "python"
    files = (file for package in PACKAGES for file in (folder / package).rglob("*"))
    kinds = {".py", ".pyi", ".typed", ".html", ".css", ".js"}
    return {str(f.relative_to(folder)) for f in files if f.suffix in kinds or f.name == "py.typed"}


def test_the_version_is_that_of_the_workspace(root) -> None:
    tangram = importlib.import_module("tangram")
    manifest = tomllib.loads((root / "Cargo.toml").read_text())
    assert tangram.__version__ == manifest["workspace"]["package"]["version"]


@pytest.mark.parametrize("package", PACKAGES)
def test_the_packages_are_typed(package: str) -> None:
    assert importlib.resources.files(package).joinpath("py.typed").is_file()


def test_what_is_tested_is_installed_and_whole(root, tmp_path) -> None:
    """A process that knows nothing of the tree finds every file of both packages."""
    script = (
        "import json, pathlib, tangram, gsl; print(json.dumps("
        "[str(pathlib.Path(m.__file__).parent.parent) for m in (tangram, gsl)]))"
    )
    ran = subprocess.run(
        [sys.executable, "-I", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    places = {pathlib.Path(place) for place in json.loads(ran.stdout)}
    (place,) = places
    assert place != root / "python", "the packages are linked to the tree, not installed"
    assert {file for file in sources(root) if not (place / file).is_file()} == set()
    stale = {file for file in sources(root) if (place / file).read_bytes() != (root / "python" / file).read_bytes()}
    assert not stale, "the installed wheel is older than the tree"


INSTALLED = pathlib.Path(sys.executable).with_name("tangram")


def call(*words, cwd: pathlib.Path) -> subprocess.CompletedProcess:
    return subprocess.run([*words], cwd=cwd, capture_output=True, text=True, stdin=subprocess.DEVNULL)


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["--version"],
        ["opt", "--help"],
        ["opt", "absent.onnx", "-o", "out.onnx"],
        ["opt", "--no-such-flag"],
        ["rules", "list"],
        ["machine"],
        ["scop", "absent.c"],
    ],
    ids=" ".join,
)
def test_the_wheel_brings_the_command_that_cargo_builds(tangram_bin, tmp_path, words) -> None:
    built, installed = (call(program, *words, cwd=tmp_path) for program in (tangram_bin, INSTALLED))
    assert (installed.returncode, installed.stdout, installed.stderr) == (
        built.returncode,
        built.stdout,
        built.stderr,
    )


def test_one_model_and_a_folder_by_the_command_of_the_wheel(root, tmp_path) -> None:
    """The models of a folder run in processes of their own, which are this command again."""
    models = root / "examples" / "models"
    alone = call(INSTALLED, "opt", models / "cnn.onnx", "-o", "one.onnx", cwd=tmp_path)
    assert alone.returncode == 0, alone.stderr
    assert (tmp_path / "one.onnx").is_file()
    for name in ("cnn.onnx", "transformer.onnx"):
        (tmp_path / "in" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "in" / name).write_bytes((models / name).read_bytes())
    many = call(INSTALLED, "opt", "in", "-o", "out", cwd=tmp_path)
    assert many.returncode == 0, many.stdout + many.stderr
    assert sorted(file.name for file in (tmp_path / "out").glob("*.onnx")) == ["cnn.onnx", "transformer.onnx"]


def test_python_calls_the_command_as_a_module(tmp_path) -> None:
    (tmp_path / "ten.iscc").write_text("card { [i] : 0 <= i < 10 };\n")
    ran = call(sys.executable, "-m", "tangram", "calc", "ten.iscc", cwd=tmp_path)
    assert (ran.returncode, ran.stdout) == (0, "{ 10 }\n"), ran.stderr
    version = call(sys.executable, "-m", "tangram", "--version", cwd=tmp_path)
    assert version.returncode == 0 and version.stdout.startswith("tangram ")


@pytest.fixture(scope="module")
def unpacked(root, tmp_path_factory) -> pathlib.Path:
    """The source distribution, unpacked outside the tree."""
    folder = tmp_path_factory.mktemp("sdist")
    maturin = [sys.executable, "-m", "maturin", "sdist", "--out", folder]
    ran = subprocess.run(maturin, cwd=root, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    return folder / archive.name.removesuffix(".tar.gz")


def test_the_source_distribution_has_every_file(root, unpacked) -> None:
    assert {file for file in sources(root) if not (unpacked / "python" / file).is_file()} == set()
    for name in ("LICENSE-MIT", "LICENSE-APACHE", "README.md", "Cargo.lock", "PKG-INFO"):
        assert (unpacked / name).is_file(), name


def test_the_source_distribution_has_what_its_crates_include(unpacked) -> None:
    """Files that are compiled in may lie anywhere; each has to be where its crate looks for it."""
    included = re.compile(r'include_(?:str|bytes)!\(\s*"([^"]+)"')
    wanted = [
        (source, source.parent / path)
        for source in unpacked.rglob("src/**/*.rs")
        for path in included.findall(source.read_text())
    ]
    assert len(wanted) > 10
    assert [f"{source}: {path}" for source, path in wanted if not path.is_file()] == []


def test_the_source_distribution_is_a_workspace_of_its_own(unpacked) -> None:
    """Every crate that another one names by path is there; nothing is fetched to find out."""
    command = ["cargo", "metadata", "--offline", "--no-deps", "--format-version=1"]
    ran = subprocess.run(command, cwd=unpacked, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    packages = json.loads(ran.stdout)["packages"]
    names = {package["name"] for package in packages}
    assert "tangram-python" in names
    inside = {d["name"] for p in packages for d in p["dependencies"] if d.get("path") and d["kind"] is None}
    assert inside <= names
