"""E-graphs: many equal terms at once, grown by rules.

Terms are s-expressions, rules are lines of text as in ``tangram egraph``:

>>> from tangram.egraph import EGraph
>>> egraph = EGraph(proofs=True)
>>> root = egraph.add("(+ (* x y) (+ 0 (* z x)))")
>>> egraph.run('''
... commute-add: (+ ?a ?b) => (+ ?b ?a)
... associate:   (+ ?a (+ ?b ?c)) <=> (+ (+ ?a ?b) ?c)
... zero:        (+ ?a 0) => ?a
... commute-mul: (* ?a ?b) => (* ?b ?a)
... factor:      (+ (* ?a ?b) (* ?a ?c)) => (* ?a (+ ?b ?c))
... ''').stopped
'saturated'
>>> egraph.extract(root).term
'(* x (+ y z))'

A class is named by a number. Numbers that `add` gave stay valid; two of them name the same class
if `find` says so.
"""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tangram._native import EgraphError
from tangram._native import PyEGraph as _Native

__all__ = ["EGraph", "EgraphError", "Extracted", "Match", "Node", "Rule", "Run"]


@dataclass(frozen=True)
class Rule:
    """What a rule did in a run."""

    name: str
    matches: int
    changed: int
    """How many matches made two classes one."""
    nodes: int
    """How many nodes the rule added."""


@dataclass(frozen=True)
class Run:
    """What a run did."""

    stopped: str
    """`saturated`, or the limit that was reached: `iterations`, `nodes`, `seconds`."""
    iterations: int
    rules: tuple[Rule, ...]

    @property
    def saturated(self) -> bool:
        """Whether no rule can add anything more."""
        return self.stopped == "saturated"


@dataclass(frozen=True)
class Extracted:
    """A term that was chosen, and what it costs."""

    cost: float
    term: str
    bound: float
    """No term of the class costs less; as much as `cost` if that is proved to be least."""

    def __str__(self) -> str:
        return self.term


@dataclass(frozen=True)
class Match:
    """Where a pattern was found."""

    eclass: int
    bindings: dict[str, int]
    """The class of each variable."""


@dataclass(frozen=True)
class Node:
    """An operator over classes."""

    op: str
    children: tuple[int, ...]


class EGraph:
    """Classes of equal terms, closed under congruence.

    With `proofs` the e-graph remembers why terms are equal, which `explain` needs.
    """

    def __init__(self, *, proofs: bool = False) -> None:
        self._native = _Native(proofs)
        self.roots: list[int] = []
        """The classes that pictures and files start from: those that were added."""

    def add(self, term: str) -> int:
        """Adds a term and returns its class."""
        root = self._native.add(term)
        self.roots.append(root)
        return root

    def lookup(self, term: str) -> int | None:
        """Returns the class of a term, or `None` if it is not there."""
        return self._native.lookup(term)

    def __contains__(self, term: str) -> bool:
        return self.lookup(term) is not None

    def union(self, left: int, right: int, reason: str = "given") -> bool:
        """Makes two classes one, for a reason that proofs name; false if they were one."""
        return self._native.union(left, right, reason)

    def find(self, eclass: int) -> int:
        """Returns the number by which a class is named now."""
        return self._native.find(eclass)

    def equal(self, left: int | str, right: int | str) -> bool:
        """Tells whether two classes, or two terms, are one class. Terms have to be there."""
        found = []
        for side in (left, right):
            eclass = self.lookup(side) if isinstance(side, str) else self.find(side)
            if eclass is None:
                return False
            found.append(eclass)
        return found[0] == found[1]

    def run(
        self,
        rules: str | os.PathLike[str] | Iterable[str],
        *,
        iterations: int = 30,
        nodes: int = 100_000,
        seconds: float = 10.0,
        scheduler: str = "backoff",
    ) -> Run:
        """Applies rules until nothing is new, or a limit is reached.

        `rules`: text, lines, or the path of a file. `scheduler`: `backoff` lets rules that match
        very often pause for a while, `simple` applies every rule in every iteration.
        """
        if scheduler not in ("backoff", "simple"):
            raise ValueError(f"expected the scheduler `backoff` or `simple`, found {scheduler!r}")
        if isinstance(rules, os.PathLike):
            text = pathlib.Path(rules).read_text(encoding="utf-8")
        else:
            text = rules if isinstance(rules, str) else "\n".join(rules)
        stopped, count, did = self._native.run(
            text, iterations, nodes, float(seconds), scheduler == "backoff"
        )
        return Run(stopped, count, tuple(Rule(*rule) for rule in did))

    def search(self, pattern: str) -> list[Match]:
        """Finds all matches of a pattern such as ``(+ ?a (* ?b ?c))``."""
        found = self._native.search(pattern)
        return [Match(eclass, dict(bindings)) for eclass, bindings in found]

    def extract(
        self,
        eclass: int,
        cost: str | Mapping[str, float] = "size",
        *,
        shared: bool = False,
        seconds: float = 10.0,
    ) -> Extracted:
        """Chooses the cheapest term of a class.

        `cost`: `size`, `depth`, or what operators cost; those that are not named cost 1. With
        `shared` a part counts once however often it is used; then the search for a proof that
        nothing is cheaper ends after `seconds`.
        """
        if isinstance(cost, str) and cost not in ("size", "depth"):
            raise ValueError(f"expected `size`, `depth` or costs of operators, found {cost!r}")
        if shared:
            if cost == "depth":
                raise ValueError("a depth has no shared parts: expected `size` or costs of operators")
            weights = {} if isinstance(cost, str) else dict(cost)
            return Extracted(*self._native.extract_shared(eclass, weights, float(seconds)))
        weights = None if isinstance(cost, str) else dict(cost)
        found, term = self._native.extract(eclass, cost == "depth", weights)
        return Extracted(found, term, found)

    def explain(self, left: str, right: str) -> list[str]:
        """Proves that two terms are equal: each line is the one before with one rule applied.

        Raises `EgraphError` if they are not equal, or if no proofs are kept.
        """
        return self._native.explain(left, right)

    def nodes(self, eclass: int) -> list[Node]:
        """Lists the nodes of a class."""
        return [Node(op, tuple(children)) for op, children in self._native.nodes(eclass)]

    @property
    def number_of_nodes(self) -> int:
        """The number of nodes in all classes."""
        return self._native.size()[0]

    @property
    def number_of_classes(self) -> int:
        """The number of classes."""
        return self._native.size()[1]

    def dot(self) -> str:
        """Draws the e-graph as text for Graphviz, a box for each class."""
        return self._native.dot()

    def to_svg(self, *, limit: int = 500) -> str:
        """Draws the e-graph: a dotted box for each class, at most `limit` of them, with its nodes.

        Those nearest to the classes of terms that were added are drawn first.
        """
        return self._native.svg(self.roots, limit)

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def to_json(self) -> str:
        """Writes the e-graph in the format of the `egraph-serialize` crate."""
        return self._native.to_json(self.roots)

    @classmethod
    def from_json(cls, text: str) -> EGraph:
        """Reads an e-graph in the format of the `egraph-serialize` crate."""
        egraph = cls()
        egraph._native, egraph.roots = _Native.from_json(text)
        return egraph

    def copy(self) -> EGraph:
        """Returns a copy that grows by itself."""
        copy = type(self)()
        copy._native, copy.roots = self._native.copy(), list(self.roots)
        return copy

    def __repr__(self) -> str:
        return f"<EGraph of {self.number_of_nodes} nodes in {self.number_of_classes} classes>"
