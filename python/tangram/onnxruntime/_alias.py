"""One module under two names.

A program that has put this package in the place of onnxruntime imports `onnxruntime.capi`, and gets a
module of that name from here. It is to be the one that `tangram.onnxruntime.capi` is.
"""

from __future__ import annotations

import importlib
import sys


def unify(name: str) -> None:
    """Puts the module of this package in the place of the one that is being loaded under another name."""
    if name.startswith("onnxruntime."):
        sys.modules[name] = importlib.import_module(f"tangram.{name}")
