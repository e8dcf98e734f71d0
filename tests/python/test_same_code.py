"""The comparison of machine code: names and order are nothing, a constant and a callee are.

And what it counts beside: vectors, which a loop of another shape may have lost.
"""

from __future__ import annotations

import importlib.util
import pathlib
import subprocess
import sys

import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "bench" / "same-code"
sys.path.append(str(FOLDER))

import objects
import targets
import vectors
from vectors import Count

# Each benchmark has a "run.py": whose comes first on the path depends on what else is tested.
SPEC = importlib.util.spec_from_file_location("same_code_run", FOLDER / "run.py")
run = importlib.util.module_from_spec(SPEC)
sys.modules[SPEC.name] = run
SPEC.loader.exec_module(run)

HEAD = """#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noinline, noclone, noipa))
#endif
static const int table[4] = {3, 1, 4, 1};
"""
AXPY = """APART void %s(int n, const double *x, double *y) {
  for (int i = 0; i < n; i++) y[i] += 2.5 * x[i];
}
"""
LOOKUP = "int %s(unsigned i) { return table[i & 3]; }\n"
CALLER = "void %s(double *y) { extern void beyond(double *); %s(8, y, y + 8); beyond(y); }\n"
SCALED = "double %s(double x) { return x * 0.3 + 1.7; }\n"
BUILDS = [(machine, build) for machine in ("avx2", "neon") for build in targets.builds(machine, True, True)]


def identities(text: str, build: targets.Build, folder: pathlib.Path) -> dict[str, str]:
    """The identity of each function of a text."""
    source, output = folder / "code.c", folder / "code.o"
    source.write_text(text)
    subprocess.run([*build.command, source, "-o", output], check=True)
    return {one.name: one.identity for one in objects.functions(output)}


@pytest.fixture(params=BUILDS or [pytest.param(None, marks=pytest.mark.skip("no C compiler"))], 
                ids=lambda pair: pair and f"{pair[0]}-{pair[1].name}".replace(" ", ""))
def build(request) -> targets.Build:
    """A way to build code."""
    return request.param[1]


def plain() -> str:
    """Four functions: one calls another, one reads a table, two have constants in a pool."""
    return HEAD + AXPY % "axpy" + LOOKUP % "lookup" + CALLER % ("caller", "axpy") + SCALED % "scaled"


def test_names_order_and_comments_are_nothing(build, tmp_path) -> None:
    """Functions that are only called otherwise are the same."""
    before = identities(plain(), build, tmp_path)
    other = HEAD.replace("table", "numbers") + SCALED % "f0" + "/* text */" + AXPY % "f1"
    other += CALLER % ("f2", "f1") + (LOOKUP % "f3").replace("table", "numbers")
    after = identities(other, build, tmp_path)
    assert len(before) == 4 == len(set(before.values()))
    assert {"axpy": before["axpy"], "lookup": before["lookup"], "caller": before["caller"],
            "scaled": before["scaled"]} == {"scaled": after["f0"], "axpy": after["f1"],
                                            "caller": after["f2"], "lookup": after["f3"]}


@pytest.mark.parametrize("old, new, changed", [
    ("2.5", "2.25", {"axpy", "caller"}),
    ("y[i] += ", "y[i] -= ", {"axpy", "caller"}),
    ("4, 1}", "4, 2}", {"lookup"}),
    ("1.7", "1.75", {"scaled"}),
    ("beyond", "outside", {"caller"}),
    ("y + 8", "y + 9", {"caller"}),
])
def test_what_a_function_computes_is_seen(build, tmp_path, old, new, changed) -> None:
    """A constant, an operation, a table, a callee and a name from outside make another function."""
    before = identities(plain(), build, tmp_path)
    after = identities(plain().replace(old, new), build, tmp_path)
    assert {name for name in before if before[name] != after[name]} == changed


OPTIMISED = [(machine, build) for machine in ("avx2", "avx512", "neon") for build in targets.builds(machine, True, False)]
# The step of a loop that stays in vectors, and of one in which each element waits for the one before.
STEP, WAITS = "y[i] = 2 * x[i] + y[i];", "y[i + 1] = 2 * x[i] + y[i];"
LOOP = """void %s(int n, const float *restrict x, float *restrict y) {
  for (int k = 0; k < 8; k++, x += n, y += n)
    for (int i = 0; i < n; i++) %s
}
"""


@pytest.fixture(params=OPTIMISED or [pytest.param(None, marks=pytest.mark.skip("no C compiler"))],
                ids=lambda pair: pair and f"{pair[0]}-{pair[1].name}")
def counts(request, tmp_path):
    """Counts the vectors in functions, as a compiler builds them for a machine."""
    machine, build = request.param
    source = tmp_path / "code.c"

    def counted(text: str) -> dict[str, Count]:
        source.write_text(text)
        return vectors.listed(source, build, targets.MACHINES[machine][0])

    return counted


def test_a_loop_that_fell_back_to_single_elements_is_seen(counts) -> None:
    """One of two loops of a function waits for itself: the bits would not say so."""
    both = LOOP % ("f", STEP) + LOOP % ("g", STEP)
    before, after = counts(both), counts(LOOP % ("f", STEP) + LOOP % ("g", WAITS))
    assert before["g"].loops >= 1 and after["g"] == Count(0, 0)
    assert [text.split(":")[0] for text in vectors.lost(before, after)] == ["g"]
    assert vectors.lost(before, before) == vectors.lost(after, before) == []


def test_functions_of_other_names_are_taken_together(counts) -> None:
    """What is called otherwise has lost nothing; one of several that has is seen in their sum."""
    before = counts(LOOP % ("f", STEP) + LOOP % ("g", STEP))
    assert vectors.lost(before, counts(LOOP % ("h", STEP) + LOOP % ("i", STEP))) == []
    (one,) = vectors.lost(before, counts(LOOP % ("h", STEP) + LOOP % ("i", WAITS)))
    assert one.startswith("the others: ")


def test_other_unrolling_loses_nothing() -> None:
    """A loop that is unrolled whole is no loop, one that is unrolled less has fewer instructions."""
    assert not Count(4, 1).lost(Count(16, 0))
    assert not Count(16, 1).lost(Count(8, 1))
    assert Count(16, 2).lost(Count(12, 1)) and Count(16, 1).lost(Count(7, 1))


def test_the_comparison_itself_says_what_lost_vectors(tmp_path) -> None:
    """Two commands that differ in one loop: the functions differ, and one has lost its vectors."""
    commands = []
    for name, step in [("before", STEP), ("after", WAITS)]:
        command = tmp_path / name
        # Called as the real one is: scop FILE -o OUTPUT ..
        command.write_text(f'#!/bin/sh\ncat > "$4" <<END\n{LOOP % ("f", STEP)}{LOOP % ("g", step)}END\n')
        command.chmod(0o755)
        commands.append(str(command))
    case = run.Case(tmp_path / "kernel.c", "avx2", "default", ())
    builds = [one.name for one in targets.builds("avx2", False, False)]
    result = run.compared(case, (commands[0], commands[1]), False)
    assert list(result.differences) == list(result.lost) == builds
    # Both functions were one code before, of which one is left.
    assert all(names == ["-f", "-g", "+g"] for names in result.differences.values())
    assert all(text.startswith("g: ") for (text,) in result.lost.values())
    back = run.compared(case, (commands[1], commands[0]), False)
    assert list(back.differences) == builds and not back.lost and not back.fault
