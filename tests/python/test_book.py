"""Every page of the book runs: what it shows is what the commands print."""

from __future__ import annotations

import doctest
import os
import pathlib
import subprocess

import pytest

import book

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUNS = {"console", "pycon"}
PAGES = [
    page
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if any(block.words[:1] and block.words[0] in RUNS for block in book.blocks(page))
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_shows_what_happens(page, tangram_bin, tmp_path, monkeypatch) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "tangram").symlink_to(tangram_bin.resolve())
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in book.blocks(page):
        if block.words[:1] == ("console",):
            console(page, block)
        elif block.words[:1] == ("pycon",):
            session(page, block, names)
        elif len(block.words) == 2:
            (tmp_path / block.words[1]).write_text(block.text)


def console(page: pathlib.Path, block: book.Block) -> None:
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
    ],
)
def test_dots_leave_open_what_they_say(expected: str, printed: str, agree: bool) -> None:
    assert book.agrees(expected, printed) == agree
