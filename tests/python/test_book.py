"""Every page of the book runs: what it shows is what the commands print."""

from __future__ import annotations

import doctest
import os
import pathlib
import subprocess

import pytest

import book

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [
    page
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if any(True for _ in book.blocks(page))
]
READERS = {
    "model.onnx": "examples/models/cnn.onnx",
    "kernel.c": "examples/kernels/trisolv.c",
    "in.mlir": "examples/own-pass/sums.mlir",
}
"""Files of the reader that commands of pages name, and what stands for them."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_shows_what_happens(page, tangram_bin, tmp_path, monkeypatch) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for name, stands in READERS.items():
        (tmp_path / name).write_bytes((ROOT / stands).read_bytes())
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "tangram").symlink_to(tangram_bin.resolve())
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in book.blocks(page):
        if block.reason:
            continue
        if len(block.words) == 2 and block.words[0] == "rust":
            excerpt(page, block)
            continue
        if len(block.words) == 2 and block.words[0] not in ("console", "pycon"):
            (tmp_path / block.words[1]).write_text(block.text)
            continue
        kind = block.words[0] if block.words else ""
        place = f"{page.name}:{block.line}"
        assert kind in RUNS, f"{place}: a block of {kind or 'no language'} does not run, and says not why"
        RUNS[kind](page, block, names)


def excerpt(page: pathlib.Path, block: book.Block) -> None:
    """Compares a part of a source with the source."""
    source = (ROOT / block.words[1]).read_text()
    assert block.text in source, f"{page.name}:{block.line}: {block.words[1]} says something else"


def shell(page: pathlib.Path, block: book.Block, names: dict[str, object]) -> None:
    """Runs commands on the reader's files."""
    ran = subprocess.run(["sh", "-e", "-c", block.text], text=True, capture_output=True)
    assert ran.returncode == 0, f"{page.name}:{block.line}\n{ran.stdout}{ran.stderr}"


def program(page: pathlib.Path, block: book.Block, names: dict[str, object]) -> None:
    """Runs a program in Python; the programs and sessions of a page share their names."""
    exec(compile("\n" * (block.line - 1) + block.text, str(page), "exec"), names)


def rules(page: pathlib.Path, block: book.Block, names: dict[str, object]) -> None:
    """Reads rules, and what they say of operations. Files of the reader are left out."""
    import gsl

    gsl.parse("".join(line for line in block.text.splitlines(True) if not line.startswith("use ")))


def sets(page: pathlib.Path, block: book.Block, names: dict[str, object]) -> None:
    """Reads sets and relations."""
    from tangram.presburger import UnionMap, UnionSet

    for line in block.text.splitlines():
        for text in line.split("    "):
            (UnionMap if "-> [" in text.split("{")[1] else UnionSet)(text)


def tree(page: pathlib.Path, block: book.Block, names: dict[str, object]) -> None:
    """Reads a schedule tree."""
    from tangram.polyhedral import Schedule

    Schedule(block.text)


def console(page: pathlib.Path, block: book.Block, names: dict[str, object]) -> None:
    """Runs the commands of a block and compares what they print."""
    for command in book.commands(block):
        ran = subprocess.run(
            command.command, shell=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        place = f"{page.name}:{command.line}: {command.command}"
        assert (ran.returncode == 0) == (block.words[1:] != ("fails",)), f"{place}\n{ran.stdout}"
        assert book.agrees(command.expected, ran.stdout), f"{place}\n{ran.stdout}"


def session(page: pathlib.Path, block: book.Block, names: dict[str, object]) -> None:
    """Runs a Python session; the sessions of a page share their names."""
    test = doctest.DocTestParser().get_doctest(block.text, names, page.name, str(page), block.line - 1)
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=said.append, clear_globs=False)
    names.update(test.globs)
    assert runner.failures == 0, "".join(said)


RUNS = {
    "console": console, "pycon": session, "python": program, "sh": shell,
    "gsl": rules, "isl": sets, "yaml": tree,
}


@pytest.mark.parametrize(
    ("expected", "printed", "agree"),
    [
        ("a\nb", "a\nb\n", True),
        ("a ... b", "a 1 2 b\n", True),
        ("a\n...\nb", "a\nb\n", True),
        ("a\n...\nb", "a\nx\ny\nb\n", True),
        ("a\n...\nb", "a\nx\n", False),
        ("a", "a\nb\n", False),
        ("", "", True),
        ("", "a\n", False),
        ("a...", "a\nb\n", False),
        ("a  b", "a    b\n", True),
        ("a  b", "a b\n", False),
        ("a b", "a  b\n", False),
    ],
)
def test_dots_leave_open_what_they_say(expected: str, printed: str, agree: bool) -> None:
    assert book.agrees(expected, printed) == agree
