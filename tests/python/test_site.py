"""The book as a site: every page is listed once, and every link of a page leads somewhere."""

from __future__ import annotations

import pathlib
import re
import tomllib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
SUMMARY = DOCS / "SUMMARY.md"
PAGES = sorted(page for page in DOCS.rglob("*.md") if page != SUMMARY)
LINK = re.compile(r"\]\(([^()\s]+)\)")
FENCE = re.compile(r"^(`{3,}|~{3,}).*?^\1[`~]*\s*$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$", re.MULTILINE)


def anchors(page: pathlib.Path) -> set[str]:
    """The anchors of a page's headings, numbered where several read the same, and those it sets."""
    text = FENCE.sub("", page.read_text())
    found: set[str] = set(re.findall(r"<[^>]*\b(?:id|name)=\"([^\"]+)\"", text))
    seen: dict[str, int] = {}
    for heading in HEADING.findall(text):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        anchor = re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", words.lower()))
        count = seen.get(anchor, 0)
        seen[anchor] = count + 1
        found.add(f"{anchor}-{count}" if count else anchor)
    return found


def links(page: pathlib.Path) -> list[str]:
    """The targets of a page's links to files and headings."""
    text = CODE.sub("", FENCE.sub("", page.read_text()))
    return [link for link in LINK.findall(text) if not re.match(r"[a-z]+:", link)]


def test_the_book_is_made_of_docs() -> None:
    settings = tomllib.loads((ROOT / "book.toml").read_text())
    assert settings["book"]["src"] == "docs"
    assert settings["build"]["create-missing"] is False, "an entry without a page would become an empty one"


def test_every_page_is_in_the_summary_once() -> None:
    assert sorted(links(SUMMARY)) == sorted(str(page.relative_to(DOCS)) for page in PAGES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_resolve(page) -> None:
    broken = []
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.is_relative_to(DOCS):
            broken.append(f"{link} (not on the site: mdBook copies what lies in docs)")
        elif not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            broken.append(link)
    assert not broken, f"{page.name}: {', '.join(broken)}"
