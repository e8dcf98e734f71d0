"""Parts of the package onnxruntime that do not run models: they stay there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn


def of(part: str, why: str) -> Callable[[str], Any]:
    """A module's `__getattr__`, which says where its names are."""

    def absent(name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise ImportError(f"onnxruntime.{part}.{name} is not in tangram: {why}")

    return absent
