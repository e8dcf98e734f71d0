"""`tangram egraph`: terms, rules and e-graphs as text."""

from __future__ import annotations

import json
import subprocess

import pytest

RULES = """# sums
commute:   (+ ?a ?b) => (+ ?b ?a)
associate: (+ ?a (+ ?b ?c)) <=>
    (+ (+ ?a ?b) ?c)
zero:      (+ ?a 0) => ?a
"""


@pytest.fixture
def run(tangram_bin):
    """Runs `tangram egraph`; checks how it ended."""

    def call(*arguments, code: int = 0) -> subprocess.CompletedProcess[str]:
        ran = subprocess.run([tangram_bin, "egraph", *arguments], capture_output=True, text=True)
        assert ran.returncode == code, ran.stderr + ran.stdout
        return ran

    return call


@pytest.fixture
def rules(tmp_path):
    path = tmp_path / "sums.rules"
    path.write_text(RULES)
    return path


def test_a_term_is_simplified_and_explained(run, rules) -> None:
    ran = run("simplify", "--rules", rules, "--explain", "(+ 0 (+ x (+ 0 y)))", "(+ z 0)")
    lines = ran.stdout.splitlines()
    ends = [line for line in lines if not line.startswith(" ")]
    assert ends == ["(+ x y)", "z"]
    assert lines[1] == "  (+ 0 (+ x (+ 0 y)))" and "zero" in ran.stdout
    assert ran.stderr == ""


def test_limits_are_told(run, rules) -> None:
    term = "0"
    for number in range(12):
        term = f"(+ x{number} {term})"
    ran = run("simplify", "--rules", rules, "--nodes", "200", "--statistics", term)
    assert "note: stopped at 2" in ran.stderr and "associate" in ran.stdout


def test_e_graphs_go_out_and_in(run, rules, tmp_path) -> None:
    path = tmp_path / "sums.json"
    run("json", "--rules", rules, "(+ 0 (+ x x))", "-o", path)
    egraph = json.loads(path.read_text())
    assert {node["op"] for node in egraph["nodes"].values()} == {"+", "0", "x"}
    assert len(egraph["root_eclasses"]) == 1
    again = run("json", "--from", path).stdout
    assert len(json.loads(again)["nodes"]) == len(egraph["nodes"])
    assert run("simplify", "--from", path).stdout == "(+ x x)\n"
    assert run("dot", "--from", path).stdout.startswith("digraph")
    printed = run("extract", path).stdout
    assert printed.startswith("(+ x x)\n\n")
    assert "best            2  (proved to be least)" in printed


def test_extract_prints_the_terms_it_chose(run, tmp_path) -> None:
    nodes = {
        "f": {"op": "f", "eclass": "0", "children": ["g", "g"], "cost": 1},
        "g": {"op": "g", "eclass": "1", "children": ["a"], "cost": 2},
        "h": {"op": "h", "eclass": "1", "children": ["a", "b"], "cost": 1},
        "a": {"op": "a", "eclass": "2", "children": [], "cost": 1},
        "b": {"op": "b", "eclass": "3", "children": [], "cost": 5},
    }
    path = tmp_path / "shared.json"
    path.write_text(json.dumps({"nodes": nodes, "root_eclasses": ["0", "2"]}))
    printed = run("extract", path).stdout.split("\n\n")
    assert printed[0] == "%0 = (g a)\n(f %0 %0)\na"
    assert "best            4  (proved to be least)" in printed[1]


def test_errors_say_where(run, tmp_path) -> None:
    path = tmp_path / "bad.rules"
    path.write_text("a: x => y\nb: (f ?x) => (g ?y)\n")
    said = run("simplify", "--rules", path, "x", code=2).stderr
    assert said == f"error: {path}: line 2: the variable ?y is not bound by the left side\n"
    said = run("simplify", "(f", code=2).stderr
    assert said == "error: cannot read the term `(f`: expected `)`, found the end of the text\n"
    path.write_text('{"nodes": {}, "root_eclasses": ["7"]}')
    said = run("extract", path, code=2).stderr
    assert said == f"error: {path}: there is no node of the root class `7`\n"


def test_without_rules_simplify_says_so(run, rules) -> None:
    ran = run("simplify", "(+ a 0)")
    assert ran.stdout == "(+ a 0)\n"
    assert "without rules a term is equal to itself only" in ran.stderr and "--rules" in ran.stderr
    assert run("simplify", "--rules", rules, "(+ a 0)").stderr == ""


def test_a_picture_has_a_box_for_each_class_and_node(run, rules) -> None:
    svg = run("show", "--rules", rules, "(+ a 0)").stdout
    assert svg.startswith("<svg ") and svg.rstrip().endswith("</svg>")
    # 0 is a class of its own; each sum has two summands.
    sums = svg.count(">+</text>")
    assert svg.count('class="c') == 2 and sums >= 2 and svg.count("marker-end") == 2 * sums
    for command in ("show", "dot", "json"):
        assert run(command, "--format", "svg", "--rules", rules, "(+ a 0)").stdout == svg
    dot = run("dot", "--rules", rules, "(+ a 0)").stdout
    assert run("show", "--format", "dot", "--rules", rules, "(+ a 0)").stdout == dot


def test_a_term_that_is_longer_than_memory_is_written_in_parts(run, tmp_path) -> None:
    # Each class has one node, of the next class twice: 2^80 leaves.
    node = lambda at: {"op": "+", "children": [str(at + 1)] * 2, "eclass": str(at)}  # noqa: E731
    nodes = {str(at): node(at) for at in range(80)} | {"80": {"op": "x", "eclass": "80"}}
    path = tmp_path / "doubled.json"
    path.write_text(json.dumps({"nodes": nodes, "root_eclasses": ["0"]}))
    for cost in ("size", "depth", "shared"):
        lines = run("simplify", "--from", path, "--cost", cost).stdout.splitlines()
        assert lines[0] == "%0 = (+ x x)" and lines[-1] == "(+ %78 %78)", lines[-1]
        assert len(lines) == 80


def test_an_explanation_that_has_no_end_is_refused(run, tmp_path) -> None:
    path = tmp_path / "double.rules"
    path.write_text("double: (s (f ?a)) => (g ?a ?a)\n")
    asked = ["simplify", "--rules", path, "--cost", "depth", "(s (f " * 40 + "x" + "))" * 40]
    # Half as deep, and of 2^40 leaves.
    assert run(*asked).stdout.splitlines()[-1] == "(g %38 %38)"
    assert "too many operators to explain" in run(*asked, "--explain", code=2).stderr
