"""Pictures of sets and relations of up to three dimensions."""

from __future__ import annotations

from tangram import _native
from tangram._native import PresburgerError
from tangram.presburger.budget import limits

_NOTEBOOK_STEPS = 2_000_000


def draw(union: _native.Union, path: str | None) -> str:
    """Draws all points as SVG text; writes it to ``path`` if given."""
    picture = union.svg()
    if path is not None:
        _native.write_file(path, picture.encode())
    return picture


def notebook(union: _native.Union) -> str | None:
    """Draws what can be drawn with little work."""
    try:
        with limits(steps=_NOTEBOOK_STEPS):
            return union.svg()
    except PresburgerError:
        return None
