"""The comparison of machine code: names and order are nothing, a constant and a callee are."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "same-code"))

import objects
import targets

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
