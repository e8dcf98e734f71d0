"""Every notebook runs from a clean namespace, and its stored outputs are what comes."""

from __future__ import annotations

import json
import re

import pytest

import notebooks


def test_there_are_notebooks() -> None:
    assert notebooks.NOTEBOOKS


@pytest.mark.parametrize("path", notebooks.NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_what_comes(path) -> None:
    stored = json.loads(path.read_text())
    assert (stored["nbformat"], stored["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in stored["cells"]]
    assert len(set(ids)) == len(ids)
    for cell, fresh in zip(stored["cells"], notebooks.run(path)["cells"], strict=True):
        assert cell == fresh, f"{path.name}: cell {cell['id']}; `python tests/python/notebooks.py` stores what comes"


@pytest.mark.parametrize("path", notebooks.NOTEBOOKS, ids=lambda path: path.stem)
def test_pictures_keep_their_styles_to_themselves(path) -> None:
    """All pictures of a notebook stand on one page, where the rules of each style hold for all."""
    for cell in json.loads(path.read_text())["cells"]:
        for output in cell.get("outputs", []):
            picture = "".join(output.get("data", {}).get("image/svg+xml", []))
            for style in re.findall(r"<style>(.*?)</style>", picture, re.DOTALL):
                root = re.match(r'<svg [^>]*class="(tangram-\w+)"', picture)
                assert root, picture[:100]
                rules = re.sub(r"\{[^{}]*\}", ";", re.sub(r"@media\([^)]*\)", "", style))
                selectors = [one.strip(" {}") for one in re.split("[;,]", rules) if one.strip(" {}")]
                assert selectors and all(one.split()[0] == f".{root[1]}" for one in selectors), style
