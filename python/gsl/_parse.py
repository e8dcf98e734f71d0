"""Reading rules that are written as text."""

from __future__ import annotations

import json
import os
import pathlib

from gsl._subst import Definition, Subst
from tangram import _native


def parse(text: str) -> list[Subst]:
    """Reads the rules of a text; raises `tangram.RuleError` with all that is wrong."""
    return _parsed("<text>", text)


def load(path: str | os.PathLike[str]) -> list[Subst]:
    """Reads the rules of a file."""
    text = pathlib.Path(path).read_text()
    return _parsed(str(path), text)


def _parsed(name: str, text: str) -> list[Subst]:
    """The rules of a text, those that define operators as `Definition`."""
    return [
        (Definition if "definition" in json.loads(rule)["labels"] else Subst)._from_text(canonical)
        for _, canonical, rule in _native.parse_rules(name, text)
    ]
