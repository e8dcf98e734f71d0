"""The rules that are shipped, and rules of others."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

from tangram import _native
from tangram._report import table

if TYPE_CHECKING:
    import gsl

    RuleLike: TypeAlias = "str | os.PathLike[str] | gsl.Subst | Rule"
    NameLike: TypeAlias = "str | Rule"


@dataclasses.dataclass(frozen=True)
class Rule:
    """A substitution rule, as it is listed."""

    name: str
    labels: tuple[str, ...]
    doc: str
    text: str = dataclasses.field(repr=False)

    @property
    def on_request(self) -> bool:
        """Whether the rule is applied only where it is asked for."""
        return "on-request" in self.labels

    def to_gsl(self) -> str:
        """Returns the rule as text."""
        return self.text


class Rules(tuple[Rule, ...]):
    """Rules in order; a table in notebooks."""

    __slots__ = ()

    def __repr__(self) -> str:
        names = [rule.name for rule in self[:4]] + (["..."] if len(self) > 4 else [])
        return f"Rules({len(self)}: {', '.join(names)})"

    def _repr_html_(self) -> str:
        rows = ((r.name, ", ".join(r.labels), (r.doc.splitlines() or [""])[0]) for r in self)
        return table(("rule", "labels", ""), rows)


def rules(*names: str | os.PathLike[str]) -> Rules:
    """Lists rules: of files and folders, or shipped ones by name, label or topic; all if none.

    Raises `RuleError` for a name that stands for nothing, and for text that is wrong.
    """
    listed = _native.list_rules([os.fspath(name) for name in names])
    return Rules(Rule(name, tuple(labels), doc, text) for name, labels, doc, text in listed)


def rule_sources(given: RuleLike | Iterable[RuleLike]) -> list[tuple[str, str | None]]:
    """Each rule as a name and, unless the name says where to find them, the text."""
    several = isinstance(given, Iterable) and not isinstance(given, (str, bytes, os.PathLike))
    return [_source(rule) for rule in (given if several else [given])]  # type: ignore[union-attr, list-item]


def rule_functions(given: RuleLike | Iterable[RuleLike]) -> list[tuple[str, Any]]:
    """The functions of Python that rules made of objects call, by the names that they have there."""
    several = isinstance(given, Iterable) and not isinstance(given, (str, bytes, os.PathLike))
    rules = given if several else [given]
    return [pair for rule in rules for pair in getattr(rule, "functions", {}).items()]  # type: ignore[union-attr]


def _source(rule: RuleLike) -> tuple[str, str | None]:
    if hasattr(rule, "to_gsl"):
        return "<Subst>", rule.to_gsl()
    if isinstance(rule, str) and ("{" in rule or "\n" in rule):
        return "<text>", rule
    return os.fspath(rule), None


def rule_names(option: str, given: NameLike | Iterable[NameLike]) -> list[str]:
    """Names and labels: one, several with commas between them as the command takes them, a list."""
    if isinstance(given, (str, Rule)):
        given = [given]
    names: list[str] = []
    for one in given:
        if not isinstance(one, (str, Rule)):
            raise TypeError(f"`{option}` takes names and labels of rules, not {type(one).__name__}")
        name = one.name if isinstance(one, Rule) else one
        names += [part.strip() for part in name.split(",") if part.strip()]
    return names
