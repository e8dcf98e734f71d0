"""Reading rules that are written as text."""

from __future__ import annotations

import os
import pathlib

from gsl._subst import Subst
from tangram import _native


def parse(text: str) -> list[Subst]:
    """Reads the rules of a text; raises `tangram.RuleError` with all that is wrong."""
    return [Subst._from_text(canonical) for _, canonical, _ in _native.parse_rules("<text>", text)]


def load(path: str | os.PathLike[str]) -> list[Subst]:
    """Reads the rules of a file."""
    text = pathlib.Path(path).read_text()
    return [Subst._from_text(canonical) for _, canonical, _ in _native.parse_rules(str(path), text)]
