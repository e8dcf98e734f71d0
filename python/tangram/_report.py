"""What an optimisation did."""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Iterable, Sequence
from typing import Any


@dataclasses.dataclass(frozen=True)
class Report:
    """What an optimisation did: nodes, rules, cost, seconds. A table in notebooks.

    `data` holds everything, in the form of `tangram opt --json`.
    """

    data: dict[str, Any]

    @property
    def nodes_before(self) -> int:
        """Nodes before, constants not counted."""
        return self.data["nodes"]["before"]

    @property
    def nodes_after(self) -> int:
        """Nodes after, constants not counted."""
        return self.data["nodes"]["after"]

    @property
    def fired(self) -> dict[str, int]:
        """How often each rule fired, for those that did."""
        return {rule["name"]: rule["fired"] for rule in self.data["rules"] if rule["fired"]}

    @property
    def steps(self) -> list[dict[str, Any]]:
        """The changes one by one: rule, what was matched, made, removed and modified.

        As many as were asked for; `data["step_count"]` says how many there were.
        """
        return self.data["steps"]

    @property
    def refused(self) -> list[dict[str, Any]]:
        """The matches that were left as they are: rule, where, the kind of reason, the reason."""
        return self.data["refused"]

    @property
    def warnings(self) -> list[str]:
        """What stays as it is since it is not known, and what else is worth a look."""
        return self.data["warnings"]

    @property
    def stopped_by(self) -> str | None:
        """The limit that ended the search early, if one did."""
        return self.data["stopped_by"]

    @property
    def check(self) -> dict[str, Any] | None:
        """How the result compares with the model, if that was asked for.

        `state` is `equal`, `different` or `not possible`; `difference` the largest one relative
        to the greatest magnitude, where there is one; `text` says it in words.
        """
        return self.data.get("check")

    @property
    def narrowed(self) -> dict[str, Any] | None:
        """What became of `float32`, if `to` asked for narrower floats.

        `nodes`, `weights` and `casts` count; `kept` lists operators that stayed with `why` and
        `nodes`; `difference` says how far results are apart, or `unmeasured` why that is not known.
        """
        return self.data["narrowed"]

    @property
    def choice(self) -> dict[str, Any] | None:
        """Why this rewriting was taken, if `target`, `objective` or `measure` asked for several.

        `taken` names it, `basis` says whether it was `measured`, known from the `database`, or
        `predicted`; `candidates` lists all with `predicted_gain`, measured `gain`, `noise` and `why`;
        `control` is what the model as it came seems to gain over itself.
        """
        return self.data.get("choice")

    def __repr__(self) -> str:
        return f"Report({self.nodes_before} -> {self.nodes_after} nodes, {self.fired})"

    def _repr_html_(self) -> str:
        fired = [rule for rule in self.data["rules"] if rule["fired"]]
        rules = (
            (rule["name"], rule["fired"], f"{rule['added'] - rule['removed']:+}", f"{1e3 * rule['seconds']:.2f}")
            for rule in fired
        )
        changed = (
            (name, count["before"], count["after"], f"{count['after'] - count['before']:+}")
            for name, count in self.data["operators"].items()
            if count["before"] != count["after"]
        )
        tables = [
            table(("", "before", "after", ""), self._summary()),
            table(("rule", "fired", "operations", "ms"), rules),
            table(("operator", "before", "after", "change"), changed),
        ]
        notes = [self.check["text"]] if self.check else []
        if choice := self.choice:
            notes.append(f"{choice['taken']} was taken for {choice['objective']} under {choice['runtime']}")
            tables.append(table(("rewriting", "predicted", "measured", "why"), _candidates(choice)))
        if self.stopped_by:
            notes.append(f"stopped early by {self.stopped_by}")
        return "".join(tables) + "".join(f"<p>{html.escape(note)}</p>" for note in notes)

    def _summary(self) -> list[tuple[str, str, str, str]]:
        cost = self.data["cost"]
        both = [("nodes", self.nodes_before, self.nodes_after)]
        both += [(name, cost["before"][name], cost["after"][name]) for name in ("flops", "bytes")]
        return [(name, short(a), short(b), _percent(a, b)) for name, a, b in both]


def _candidates(choice: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    def measured(row: dict[str, Any]) -> str:
        return "" if row["gain"] is None else f"{row['gain']:.2f}x ± {row['noise']:.2f}"

    rows = choice["candidates"]
    return [(row["name"], f"{row['predicted_gain']:.2f}x", measured(row), row["why"]) for row in rows]


def table(header: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """An HTML table; nothing where there is no row. The first column is text."""
    body = "".join(_row(row, "td") for row in rows)
    return f"<table><thead>{_row(header, 'th')}</thead><tbody>{body}</tbody></table>" if body else ""


def _row(cells: Sequence[object], kind: str) -> str:
    align = ["left", *["right"] * (len(cells) - 1)]
    written = (
        f'<{kind} style="text-align:{side}">{html.escape(str(cell))}</{kind}>'
        for side, cell in zip(align, cells, strict=True)
    )
    return f"<tr>{''.join(written)}</tr>"


def short(value: float | None) -> str:
    """A number in three digits and a unit."""
    if value is None:
        return "?"
    for unit, name in ((1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= unit:
            return f"{value / unit:.2f}{name}"
    return f"{value:g}"


def _percent(before: float | None, after: float | None) -> str:
    if not before or after is None:
        return ""
    return f"{100 * (after - before) / before:+.1f} %"
