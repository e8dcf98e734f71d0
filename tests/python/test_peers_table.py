"""The page for people who come from onnxsim and onnxslim names all that these packages have."""

from __future__ import annotations

import fnmatch
import importlib.util
import re
import subprocess
import sys

import pytest

from conftest import ROOT

PAGE = (ROOT / "docs" / "from-onnxsim.md").read_text()


def section(title: str) -> set[str]:
    """The words in code of the first columns of a section's table."""
    text = PAGE.split(f"## {title}\n")[1].split("\n## ")[0]
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| ") and "---" not in line]
    return {word for row in rows[1:] for code in re.findall(r"`([^`]+)`", row) for word in code.split()}


def flags(package: str) -> set[str]:
    """The flags that the help of a package lists."""
    words = [sys.executable, "-m", package, "--help"]
    told = subprocess.run(words, capture_output=True, text=True, check=True, timeout=300).stdout
    listed = re.findall(r"^  (-[^\n]*)$", told, re.MULTILINE)
    return {flag for line in listed for flag in re.findall(r"(?<![\w-])--?[a-z][\w-]*", re.split(r"\s{2,}", line)[0])}


@pytest.mark.parametrize("package", ["onnxsim", "onnxslim"])
def test_every_flag_is_in_the_table(package) -> None:
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"needs the package {package}")
    found = flags(package)
    assert len(found) > 15
    assert sorted(found - section(f"Flags of {package}")) == []


@pytest.mark.parametrize("package", ["onnxsim", "onnxslim"])
def test_every_function_is_in_the_table(package) -> None:
    module = pytest.importorskip(package, reason=f"needs the package {package}")
    public = getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]
    # Modules and names of the standard library are no functions of the package.
    names = [n for n in public if callable(getattr(module, n)) and getattr(module, n).__module__.startswith(package)]
    patterns = section(f"Functions of {package}")
    missing = [name for name in names if not any(fnmatch.fnmatch(name, p) for p in patterns)]
    assert missing == [] and len(names) > 1


def test_what_stands_on_our_side_is_there(tangram_bin) -> None:
    """Flags in the second columns are flags of `tangram opt`, `show`, `check` or `rules`."""
    told = ""
    for command in (["opt"], ["show"], ["check"], ["diff"], ["rules", "check"]):
        told += subprocess.run([tangram_bin, *command, "--help"], capture_output=True, text=True, check=True).stdout
    known = set(re.findall(r"--[a-z][\w-]*", told)) | {"--version", "--help"}
    rows = [line.split("|")[2] for line in PAGE.splitlines() if line.startswith("| ") and line.count("|") >= 3]
    ours = {flag for row in rows for code in re.findall(r"`([^`]+)`", row) for flag in re.findall(r"--[a-z][\w-]*", code)}
    assert sorted(ours - known) == []
