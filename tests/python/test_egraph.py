"""`tangram.egraph`: terms, rules, saturation, extraction, proofs, pictures."""

from __future__ import annotations

import itertools
import json
import random

import pytest
from tangram.egraph import EGraph, EgraphError

AC = """
commute:   (+ ?a ?b) => (+ ?b ?a)
associate: (+ ?a (+ ?b ?c)) <=> (+ (+ ?a ?b) ?c)
"""


@pytest.mark.parametrize("count", range(2, 6))
def test_sums_saturate_at_their_closed_form(count: int) -> None:
    egraph = EGraph()
    term = "x0"
    for number in range(1, count):
        term = f"(+ x{number} {term})"
    root = egraph.add(term)
    ran = egraph.run(AC, scheduler="simple")
    assert ran.saturated and {rule.name for rule in ran.rules} == {
        "commute",
        "associate",
        "associate-rev",
    }
    assert egraph.number_of_classes == 2**count - 1
    assert egraph.number_of_nodes == count + 3**count - 2 ** (count + 1) + 1
    for order in itertools.islice(itertools.permutations(range(count)), 20):
        other = f"x{order[0]}"
        for number in order[1:]:
            other = f"(+ {other} x{number})"
        assert other in egraph and egraph.equal(egraph.lookup(other), root)


def evaluate(term: str, values: dict[str, int]) -> int:
    words = term.replace("(", " ( ").replace(")", " ) ").split()

    def read() -> int:
        word = words.pop(0)
        if word != "(":
            return values[word] if word in values else int(word)
        op, left, right = words.pop(0), read(), read()
        words.pop(0)
        return left + right if op == "+" else left * right

    return read()


def test_what_is_extracted_and_each_step_of_its_proof_has_the_same_value() -> None:
    rules = AC + "distribute: (* ?a (+ ?b ?c)) <=> (+ (* ?a ?b) (* ?a ?c))\nzero: (+ ?a 0) => ?a\n"
    chance = random.Random(7)

    def some(depth: int) -> str:
        if depth == 0:
            return chance.choice(["x", "y", "z", "0"])
        return f"({chance.choice('+*')} {some(depth - 1)} {some(depth - 1)})"

    for _ in range(8):
        term = some(2)
        egraph = EGraph(proofs=True)
        root = egraph.add(term)
        egraph.run(rules, iterations=4, nodes=2000)
        values = {name: chance.randrange(-9, 9) for name in "xyz"}
        best = egraph.extract(root)
        assert evaluate(best.term, values) == evaluate(term, values)
        assert best.cost == len(best.term.replace("(", "").replace(")", "").split())
        steps = egraph.explain(term, best.term)
        assert steps[0] == term
        assert len(steps) == 1 or any("Rewrite" in step for step in steps[1:])


def test_costs_are_by_size_depth_operator_and_sharing() -> None:
    egraph = EGraph()
    root = egraph.add("(f (g (h a)) (g (h a)))")
    egraph.union(root, egraph.add("(k b c d)"))
    assert (egraph.extract(root).term, egraph.extract(root).cost) == ("(k b c d)", 4)
    assert egraph.extract(root, "depth").cost == 2
    assert egraph.extract(root, {"k": 9}).term.startswith("(f")
    best = egraph.extract(root, shared=True)
    assert (best.cost, best.bound) == (4, 4)
    dear = egraph.extract(root, {"k": 1.5}, shared=True)
    assert (dear.cost, dear.bound) == (4, 4) and dear.term.startswith("(f")


def test_patterns_bind_classes() -> None:
    egraph = EGraph()
    for term in ("(f a b)", "(f a a)"):
        egraph.add(term)
    matches = egraph.search("(f ?x ?y)")
    names = {egraph.lookup(name): name for name in "ab"}
    found = {tuple(names[match.bindings[var]] for var in ("?x", "?y")) for match in matches}
    assert found == {("a", "b"), ("a", "a")}
    assert len(egraph.search("(f ?x ?x)")) == 1
    (node,) = egraph.nodes(egraph.lookup("(f a b)"))
    assert (node.op, [names[child] for child in node.children]) == ("f", ["a", "b"])


def test_e_graphs_are_drawn_stored_and_copied() -> None:
    egraph = EGraph()
    root = egraph.add("(+ a (+ b c))")
    copy = egraph.copy()
    copy.run(AC)
    assert copy.number_of_nodes > egraph.number_of_nodes
    assert copy.dot().startswith("digraph") and '"b"' in copy.dot()
    stored = json.loads(copy.to_json())
    assert len(stored["nodes"]) == copy.number_of_nodes
    again = EGraph.from_json(copy.to_json())
    assert again.extract(again.roots[0]).cost == copy.extract(root).cost == 5
    assert repr(again) == repr(copy)


def test_limits_are_told() -> None:
    egraph = EGraph()
    egraph.add("(+ a (+ b (+ c (+ d (+ e (+ f g))))))")
    assert egraph.copy().run(AC, iterations=1).stopped == "iterations"
    assert egraph.copy().run(AC, nodes=20).stopped == "nodes"
    assert egraph.copy().run(AC, seconds=0).stopped == "seconds"
    assert egraph.run(AC, seconds=float("inf"), iterations=3).stopped == "iterations"


@pytest.mark.parametrize(
    ("what", "message"),
    [
        (lambda e: e.add("(f"), "cannot read the term `(f`: expected `)`, found the end of the text"),
        (lambda e: e.search("(?f x)"), "cannot read the pattern `(?f x)`"),
        (lambda e: e.find(99), "there is no class 99"),
        (lambda e: e.extract(99), "there is no class 99"),
        (lambda e: e.run("a: x -> y"), "line 1"),
        (lambda e: e.explain("a", "a"), "keeps no proofs"),
        (lambda e: EGraph(proofs=True).explain("a", "b"), "`a` and `b` are not equal"),
        (lambda e: EGraph.from_json("{}"), "expected an e-graph in JSON"),
        (lambda e: e.extract(e.add("a"), {"a": -1.0}), "expected a cost of at least 0 for `a`"),
        (lambda e: e.run(AC, seconds=-1), "expected a number of seconds, 0 or more, found -1"),
    ],
)
def test_errors_say_what_was_wrong(what, message: str) -> None:
    with pytest.raises(EgraphError) as raised:
        what(EGraph())
    assert message in str(raised.value)


def test_an_egraph_has_a_picture() -> None:
    egraph = EGraph()
    egraph.add("(+ (* x 1) <y>)")
    picture = egraph._repr_svg_()
    assert picture.startswith("<svg ") and "&lt;y&gt;" in picture and picture.count('class="c') == 5
    assert "4 more classes are left out" in egraph.to_svg(limit=1)


@pytest.mark.parametrize(
    "term",
    [
        "(f " * 20_000 + "x" + ")" * 20_000,
        "(g " + " ".join(f"a{i}" for i in range(20_000)) + ")",
    ],
    ids=["deep", "wide"],
)
def test_deep_and_wide_terms_go_through(term: str) -> None:
    egraph = EGraph(proofs=True)
    root = egraph.add(term)
    assert term in egraph
    assert egraph.extract(root).term == term
    assert egraph.extract(root, "depth").term == term
    assert egraph.explain(term, term) == [term]
    again = EGraph.from_json(egraph.to_json())
    assert again.number_of_nodes == egraph.number_of_nodes
    assert egraph._repr_svg_().startswith("<svg ") and egraph.dot().startswith("digraph")
