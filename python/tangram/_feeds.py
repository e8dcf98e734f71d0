"""What a caller gives for an input, as the arrays that the model wants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tangram._elements import type_text
from tangram._exceptions import InvalidArgument


def fitting(name: str, value: Any, kind: Any) -> Any:
    """`value` as an array where a tensor is wanted; numbers of Python get the type of the input."""
    if kind[0] == "tensor" and hasattr(value, "dtype"):
        return value
    import numpy as np

    if kind[0] == "seq":
        if not isinstance(value, (list, tuple)):
            raise InvalidArgument(f"input `{name}`: a list expected, {type(value).__name__} given")
        return [fitting(name, item, kind[1]) for item in value]
    if kind[0] == "map":
        return _fitting_map(name, value, kind)
    if kind[0] == "optional":
        return None if value is None else fitting(name, value, kind[1])
    if value is None:
        raise InvalidArgument(f"input `{name}`: an array expected, None given")
    if hasattr(value, "dtype"):
        return np.asarray(value)
    plain = {"str": np.dtype(object), None: None}
    element = kind[1]
    try:
        return np.asarray(value, dtype=plain.get(element, element))
    except (TypeError, ValueError) as error:
        raise InvalidArgument(f"input `{name}`: {type_text(kind)} expected: {error}") from None


def _fitting_map(name: str, value: Any, kind: Any) -> Any:
    """`value` as a dictionary whose keys and values have the types that are wanted."""
    import numpy as np

    if not isinstance(value, Mapping):
        raise InvalidArgument(f"input `{name}`: a map expected, {type(value).__name__} given")
    _, of, key = kind
    element = of[1] if of[0] == "tensor" else None
    parts = []
    for items, dtype in ((value.keys(), key), (value.values(), element)):
        try:
            parts.append(np.array(list(items), dtype=object if dtype == "str" else dtype))
        except (TypeError, ValueError) as error:
            text = f"input `{name}`: {type_text(kind)} expected: {error}"
            raise InvalidArgument(text) from None
    return dict(zip(*parts, strict=True))
