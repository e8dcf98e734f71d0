"""Functions under the names and signatures of other packages, so that a script changes one line.

>>> from tangram.compat.onnxsim import simplify       # in place of: from onnxsim import simplify
>>> from tangram.compat.onnxslim import slim          # in place of: from onnxslim import slim

What has no counterpart here and was asked for is told by a warning, never passed over in silence.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any


def without_effect(function: str, given: Mapping[str, Any]) -> None:
    """Warns of keywords that were given another value than the one that asks for nothing."""
    asked = [name for name, value in given.items() if value]
    if asked:
        listed = ", ".join(f"`{name}`" for name in asked)
        warnings.warn(f"{function}: {listed} has no effect with tangram", stacklevel=3)
