"""Tasks and results as bytes: a header in JSON, then pieces of any length.

The form has no pickles: a worker runs nothing that a task brings along.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from typing import Any

_LENGTH = struct.Struct("<Q")


def pack(header: dict[str, Any], pieces: Sequence[bytes] = ()) -> bytes:
    """Writes a header and pieces as one text of bytes."""
    head = json.dumps(header | {"pieces": [len(piece) for piece in pieces]}).encode()
    return b"".join([_LENGTH.pack(len(head)), head, *pieces])


def unpack(data: bytes) -> tuple[dict[str, Any], list[bytes]]:
    """Reads what `pack` wrote."""
    (length,) = _LENGTH.unpack_from(data)
    at = _LENGTH.size + length
    header = json.loads(data[_LENGTH.size : at])
    pieces = []
    for size in header.pop("pieces"):
        pieces.append(bytes(data[at : at + size]))
        at += size
    return header, pieces
