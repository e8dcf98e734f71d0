"""`tangram rewrite`: what its flags for looking inside print, and how bad input is refused."""

from __future__ import annotations

import pathlib
import re
import subprocess

import pytest

LINE = "//===-------------------------------------------===//\n"
BRANCH = """
"func.func"() <{sym_name = "f", function_type = (i1) -> ()}> ({
^bb0(%c: i1):
  "cf.cond_br"(%c)[^bb1, ^bb1] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()
^bb1:
  "test.sink"() : () -> ()
  "func.return"() : () -> ()
}) : () -> ()
"""
LOOP = """
"func.func"() <{sym_name = "f", function_type = (i1) -> ()}> ({
^bb0(%c: i1):
  "scf.if"(%c) ({
    "test.sink"() : () -> ()
    "scf.yield"() : () -> ()
  }, {}) : (i1) -> ()
  "func.return"() : () -> ()
}) : () -> ()
"""
RELU = """
"func.func"() <{sym_name = "f", function_type = (tensor<4xf32>) -> tensor<4xf32>}> ({
^bb0(%x: tensor<4xf32>):
  %0 = "nn.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "nn.relu"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  "func.return"(%1) : (tensor<4xf32>) -> ()
}) : () -> ()
"""


@pytest.fixture
def rewrite(tangram_bin):
    """Rewrites a program; gives what the command printed, and checks how it ended."""

    def call(source: str, *arguments, code: int = 0) -> subprocess.CompletedProcess[str]:
        words = [tangram_bin, "rewrite", *arguments]
        ran = subprocess.run(words, input=source, capture_output=True, text=True)
        assert ran.returncode == code, ran.stderr + ran.stdout
        return ran

    return call


def shape(log: str) -> str:
    """A log without the numbers of operations."""
    return re.sub(r"\(0x[0-9a-f]+\)", "(0x)", log)


def test_the_greedy_driver_logs_as_mlir_does(rewrite) -> None:
    pipeline = "builtin.module(func.func(canonicalize))"
    flags = ("--pass-pipeline", pipeline, "--debug-only=greedy-rewriter")
    log = shape(rewrite(BRANCH, *flags).stderr)
    visits = [visit for visit in log.split(LINE) if "'cf.cond_br'" in visit]
    assert visits[0].startswith(
        "Processing operation : 'cf.cond_br'(0x) {\n"
        '  "cf.cond_br"(%arg0)[^bb1, ^bb1] <{operandSegmentSizes = array<i32: 1, 0, 0>}>'
        " : (i1) -> ()\n"
        "\n"
        "  * Pattern "
    )
    failed, applied = visits[0].split("  * Pattern branch-both-ways-alike : ")
    assert failed.endswith("  } -> failure : pattern failed to match\n\n")
    assert applied == (
        "'cf.cond_br -> ()' {\n"
        "    ** Insert  : 'cf.br'(0x)\n"
        "    ** Replace : 'cf.cond_br'(0x)\n"
        "    ** Erase   : 'cf.cond_br'(0x)\n"
        "  } -> success : pattern applied successfully\n"
        "} -> success : pattern matched\n"
    )


def test_the_walk_driver_logs_visits_and_hits(rewrite, tmp_path: pathlib.Path) -> None:
    rules = tmp_path / "twice.gsl"
    rules.write_text("rule twice { let x = *; match relu(relu(x)); rewrite relu(x); }")
    flags = ("--rules", rules, "--strategy", "walk", "--debug-only=walk-rewriter")
    log = rewrite(RELU, *flags).stderr
    hits = [line for line in log.splitlines() if line.startswith("\t")]
    assert hits == ["\tOp matched and rewritten"]
    visits = [line for line in log.splitlines() if line.startswith("Visiting op: ")]
    assert visits[0] == 'Visiting op: %0 = "nn.relu"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>'
    assert visits[-1].startswith('Visiting op: "func.func"()') and "({...})" in visits[-1]
    assert rewrite(RELU, *flags[:4]).stderr == ""


def test_conversion_logs_what_is_made_legal_because_of_what(rewrite) -> None:
    flags = ("--pass-pipeline", "builtin.module(func.func(convert-scf-to-cf))")
    log = shape(rewrite(LOOP, *flags, "--debug-only=dialect-conversion").stderr)
    start = log.index("Legalizing operation : 'scf.if'(0x) {\n")
    tree = log[start : log.index("\n} -> SUCCESS", start) + 1]
    assert "  * Pattern if-to-branches : 'scf.if -> (" in tree
    for line in (
        "    ** Insert  : 'cf.cond_br'(0x)\n",
        "    ** Replace : 'scf.if'(0x)\n",
        "    ** Erase   : 'scf.if'(0x)\n",
        "  } -> SUCCESS : pattern applied successfully\n",
        "  Legalizing operation : 'cf.cond_br'(0x) {\n",
        "  } -> SUCCESS : operation marked legal by the target\n",
    ):
        assert line in tree, tree


def test_no_log_is_written_of_a_driver_that_was_not_asked_for(rewrite) -> None:
    flags = ("--pass-pipeline", "builtin.module(func.func(canonicalize))")
    assert rewrite(BRANCH, *flags, "--debug-only=dialect-conversion").stderr == ""
    said = rewrite(BRANCH, *flags, "--debug-only=greedy", code=2).stderr
    assert "greedy-rewriter" in said and "walk-rewriter" in said and "dialect-conversion" in said


def test_passes_are_flags_of_their_own_too(rewrite) -> None:
    whole = rewrite(BRANCH, "--pass-pipeline", "builtin.module(canonicalize,cse)").stdout
    for flags in (("--canonicalize", "--cse"), ("-canonicalize", "-cse")):
        assert rewrite(BRANCH, *flags).stdout == whole
    kept = rewrite(BRANCH, "--canonicalize=disable-patterns=branch-both-ways-alike", "--cse").stdout
    assert "cf.cond_br" in kept
    said = rewrite(BRANCH, "--canonicalise", code=2).stderr
    assert "--canonicalise" in said
    assert "cannot be used with" in rewrite(BRANCH, "--cse", "--pass-pipeline", "cse", code=2).stderr


def test_an_error_is_one_message_with_its_place(rewrite) -> None:
    said = rewrite("func.func @f( {", code=2).stderr
    assert re.match(r"-:1:\d+: error: ", said) and said.count("error") == 1, said
    said = rewrite(BRANCH, "--pass-pipeline", "builtin.module(cse,nope)", code=2).stderr
    line = "  builtin.module(cse,nope)\n"
    assert said.startswith("error: --pass-pipeline: no pass `nope`; there are: ") and line in said
    assert said.split(line)[1].rstrip() == " " * 21 + "^"


def test_times_counts_and_programs_are_shown_on_request(rewrite) -> None:
    flags = ("--pass-pipeline", "builtin.module(func.func(canonicalize,cse))")
    said = rewrite(BRANCH, *flags, "--time-passes", "--statistics", "--check-patterns").stderr
    assert re.search(r"[\d.]+ ms +canonicalize on func.func x1", said)
    assert re.search(r"1 of +1 tried +[\d.]+ ms +\+1 -1  branch-both-ways-alike", said)
    said = rewrite(BRANCH, *flags, "--print-after", "cse").stderr
    assert said.startswith("// ----- after cse on func.func -----\n") and "canonicalize" not in said


def test_patterns_are_switched_off_by_name(rewrite) -> None:
    off = "canonicalize{disable-patterns=branch-both-ways-alike}"
    kept = rewrite(BRANCH, "--pass-pipeline", f"builtin.module(func.func({off}))").stdout
    assert "cf.cond_br" in kept
    gone = rewrite(BRANCH, "--pass-pipeline", "builtin.module(func.func(canonicalize))").stdout
    assert "cf.cond_br" not in gone


@pytest.mark.parametrize("option", ["disable-patterns", "enable-patterns"])
def test_patterns_that_do_not_exist_are_refused(rewrite, option) -> None:
    flags = ("--pass-pipeline", f"builtin.module(canonicalize{{{option}=no-such-pattern}})")
    assert "found `no-such-pattern`" in rewrite(BRANCH, *flags, code=2).stderr


def test_pretty_text_is_read_and_printed_part_by_part(rewrite) -> None:
    source = "func.func @f() {\n  return\n}\n// -----\nfunc.func @f() {\n  return\n}\n"
    module = "module {\n  func.func @f() {\n    return\n  }\n}\n"
    assert rewrite(source, "--split-input-file").stdout == f"{module}\n// -----\n{module}"
    generic = rewrite(module, "--mlir-print-op-generic").stdout
    assert '"func.return"() : () -> ()' in generic and rewrite(generic).stdout == module
    wrong = rewrite("// -----\nfunc.func @f(", "--split-input-file", code=2).stderr
    assert re.search(r":[23]:\d+: error", wrong), wrong


def test_errors_name_the_place(rewrite) -> None:
    said = rewrite('"test.a"(%x) : (i1) -> ()\n', code=2).stderr
    assert "<stdin>:1:10" in said or "-:1:10" in said, said
    said = rewrite("", "--pass-pipeline", "builtin.module(canonicalise)", code=2).stderr
    assert "canonicalise" in said and "canonicalize" in said
