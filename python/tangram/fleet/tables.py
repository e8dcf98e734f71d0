"""The table of all models: the same as the command's."""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any

from tangram import _native


class Table(list[dict[str, Any]]):
    """Rows: `model`, `state`, `nodes`, `bytes`, `flops`, `seconds`, `difference`, `note`.

    States are `done`, `unchanged` where an earlier run did it, `unchecked` where both models could
    not be compared, `interrupted`, `different` and `failed`.
    """

    def render(self, kind: str = "text") -> str:
        """Writes the table as `text`, `csv`, `json` or `html`; the page sorts and filters."""
        if kind not in ("text", "csv", "json", "html"):
            raise ValueError(f"`{kind}` is none of `text`, `csv`, `json` and `html`")
        return _native.fleet_table(json.dumps(sorted(self, key=lambda row: row["model"])), f"x.{kind}")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the table, as the ending of the name says."""
        text = _native.fleet_table(json.dumps(sorted(self, key=lambda r: r["model"])), os.fspath(path))
        _native.write_file(path, text.encode())

    def __str__(self) -> str:
        return self.render()

    def _repr_html_(self) -> str:
        from tangram._report import table

        rows = [
            (row["model"], row["state"], *(row["nodes"] or ("", "")), f"{row['seconds']:.2f}", row["note"])
            for row in self
        ]
        return table(("model", "state", "nodes", "after", "seconds", ""), rows)
