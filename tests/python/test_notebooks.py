"""Every notebook runs from a clean namespace, and its stored outputs are what comes."""

from __future__ import annotations

import json

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
