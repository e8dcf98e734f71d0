"""Whole C files through `tangram scop`: what is written compiles, and prints what the file prints."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")

SANITIZED = ["-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


KERNELS = sorted((Path(__file__).resolve().parents[2] / "examples" / "kernels").glob("*.c"))


class Files:
    """Files in a folder, and the command on them."""

    def __init__(self, binary: Path, folder: Path) -> None:
        self.binary, self.folder = binary, folder

    def scop(self, name: str, *flags: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        words = [self.binary, "scop", self.folder / name, *flags]
        ran = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
        assert ran.returncode == code, ran.stderr
        return ran

    def printed(self, name: str, *arguments: str, flags: list[str]) -> str:
        program = self.folder / "program"
        warned = ["-Wall", "-Wextra", "-Wno-unknown-pragmas", "-Wno-unused", "-Wno-sign-compare"]
        words = ["gcc", *warned, *flags, self.folder / name, "-o", program, "-lm"]
        made = subprocess.run(words, capture_output=True, text=True, check=False)
        assert made.returncode == 0, made.stderr
        ran = subprocess.run([program, *arguments], capture_output=True, text=True, check=True, timeout=120)
        return ran.stdout

    def same(self, text: str, *arguments: str, flags: tuple[str, ...] = ()) -> str:
        """Writes the loops of a file anew, and runs both; returns the new file."""
        (self.folder / "old.c").write_text(text)
        ran = self.scop("old.c", "-o", str(self.folder / "new.c"), *flags)
        new = (self.folder / "new.c").read_text()
        assert "rewritten" in ran.stderr, ran.stderr
        for compiled in (SANITIZED, ["-O2"]):
            old = self.printed("old.c", *arguments, flags=compiled)
            assert old and self.printed("new.c", *arguments, flags=compiled) == old, new
        return new


@pytest.fixture
def files(tangram_bin, tmp_path) -> Files:
    return Files(tangram_bin, tmp_path)


SHOW = """
static double sum(const double *p, int n) { double s = 0; int k = 0; while (k < n) s = s * 0.5 + p[k++]; return s; }
"""


def test_macros_with_their_own_name_are_put_in_their_place_once(files):
    text = f"""#include <stdio.h>
#include "names.h"
{SHOW}
static struct {{ double A[60][60], B[60][60]; int n; }} all;
#define A all.A
#define n all.n
#define half(x) (half(x))
double (half)(double x) {{ return x / 2; }}
static void f(double *p)
{{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            A[i][j] = 2 * all.B[i][j] + p[j];
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            all.B[i][j] += A[i][j] * c1;
}}
int main(void)
{{
    n = 50;
    for (int i = 0; i < 3600; i++) (&A[0][0])[i] = (&all.B[0][0])[i] = i % 17;
    f(&all.B[3][0]);
    printf("%a %a %a\\n", sum(&A[0][0], 3600), sum(&all.B[0][0], 3600), half(3));
    return 0;
}}
"""
    # Names that only a header takes.
    (files.folder / "names.h").write_text("#define c1 7\n#define c0 nothing\n#define min none\n#define s0 (\n")
    new = files.same(text)
    assert '#pragma push_macro("A")' in new and new.count("pop_macro") == new.count("push_macro")
    files.same(new)


def test_sweeps_beyond_32_bits_end_with_the_right_numbers(files):
    text = """#include <stdio.h>
#include <stdlib.h>
static double C[70][70];
void sweep(int T, int n)
{
    for (int t = 0; t < T; t++)
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                C[i][j] = (C[i - 1][j] + C[i][j - 1] + C[i + 1][j] + C[i][j + 1]) * 0.25 + 1e-9;
}
int main(int argc, char **argv)
{
    for (int i = 0; i < 70; i++)
        for (int j = 0; j < 70; j++) C[i][j] = i * 3 + j;
    sweep(atoi(argv[1]), atoi(argv[2]) + 0 * argc);
    printf("%a %a\\n", C[1][1], C[2][2]);
    return 0;
}
"""
    (files.folder / "old.c").write_text(text)
    for flags in ([], ["--parallel"], ["--tile", "32,4,4"]):
        files.scop("old.c", "-o", str(files.folder / "new.c"), *flags)
        # 32 * T and 16 * T leave 32 bits.
        for count in ("70000000", "140000000")[: 1 if flags else 2]:
            old = files.printed("old.c", count, "3", flags=["-O2"])
            assert files.printed("new.c", count, "3", flags=["-O2", "-ffp-contract=off"]) == old, flags


@pytest.mark.parametrize("before", ["", "#include <stdio.h>\n", "#include <math.h>\n#include <stdint.h>\n"])
def test_prose_is_an_error_whatever_it_includes(files, before):
    (files.folder / "prose.c").write_text(before + "It was a dark and stormy night; the rain fell in torrents.\n")
    ran = files.scop("prose.c", code=2)
    assert re.search(r"prose\.c:\d+:\d+: error: ", ran.stderr), ran.stderr
    # One declaration makes C of it.
    (files.folder / "c.c").write_text(before + "int rain;\nIt was a dark night.\n")
    files.scop("c.c", code=0)


def test_constants_of_the_library_are_values(files):
    text = f"""#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
{SHOW}
static double A[40][40], B[40][40];
static size_t Z[40][40];
int main(void)
{{
    for (int i = 0; i < 40; i++)
        for (int j = 0; j < 40; j++) A[j][i] = i * j;
    for (int i = 0; i < 40; i++)
        for (int j = 0; j < 40; j++) A[j][i] = fmin(A[j][i], j == i ? INFINITY : HUGE_VAL) + (i == 50 ? NAN : 1);
    for (int i = 0; i < 40; i++)
        for (int j = 0; j < 40; j++) B[j][i] = A[i][j] + INT_MAX;
    for (int i = 0; i < 40; i++)
        for (int j = 0; j < 40; j++)
            Z[j][i] = Z[j][i] * 3 + SIZE_MAX;
    printf("%a %a %zu\\n", sum(&A[0][0], 1600), sum(&B[0][0], 1600), Z[3][INT8_MAX / 20]);
    return 0;
}}
"""
    files.same(text)


WHILE = """#include <stdio.h>
static double A[40][40], x[40];
SHOW
static int f(int n, int m)
{
    int i, j, last = 0;
    BODY
    return i * 100 + j + last;
}
int main(void)
{
    for (int k = 0; k < 1600; k++) (&A[0][0])[k] = k % 13;
    int at = 0;
    for (int n = 0; n < 36; n += 7)
        for (int m = 0; m < 36; m += 5) at = at * 3 % 100000 + f(n, m);
    printf("%d %a %a\\n", at, sum(&A[0][0], 1600), sum(x, 40));
    return 0;
}
""".replace("SHOW", SHOW)


@pytest.mark.parametrize(
    "body",
    [
        "i = 0; while (i < n) { j = 0; while (j < m) { A[j][i] = A[j][i] * 2 + 1; j++; } i++; }\n    i = j = 3;",
        "i = n;\n    while (i-- > 0) { for (j = 0; j < m; j++) A[j][i] += 2; }\n    i = j = 3;",
        "i = j = 2; int k = 0; while (k < n) { int l = 1; while (l <= m) { A[l][k] += 3; l += 2; } k += 1; } last = k;",
        "j = 1; i = 0; for (; i < n; i++) for (int l = 0; l < m; l++) A[l][i] += 2; last = i;",
    ],
)
def test_loops_that_count_are_taken(files, body):
    files.same(WHILE.replace("BODY", body))


@pytest.mark.parametrize(
    "body",
    [
        "for (i = 0; i < n; i++) for (j = 0; j < m; j++) A[j][i] += 1;\n    if (n == 0) j = 7;",
        "j = 5; for (i = n; i > 2; i -= 3) for (j = m; j >= 4; j -= 2) A[j][i] += 1;",
        "j = 5; if (m > 3) { for (i = 1; i < n; i += 2) for (j = 0; j < m; j++) A[j][i] += 1; } else i = 2;",
        "j = 9; i = 4; for (int k = 0; k < n; k++) { for (i = 0; i < m; i++) A[i][k] += 1; "
        "for (j = 3; j < n + m; j++) A[j / 2][k] += j; }",
        "for (i = 0; i < n; i++) for (j = 0; j < m; j++) A[j][i] += 1; for (j = 0; j < n; j++) x[j] += 1;\n"
        "    if (n == 0) j = 1;",
        "for (j = 0; j < n; j++) x[j] += 1; for (i = 0; i < n - 9; i++) for (j = 0; j < m; j++) A[j][i] += 1;",
    ],
)
def test_loop_variables_have_their_values_behind_new_loops(files, body):
    # What nothing sets may not be read.
    files.same(WHILE.replace("int i, j, last = 0;", "int i = 1, j = 1, last = 0;").replace("BODY", body))


def test_variables_of_loops_around_a_part_have_their_types(files):
    # In an unsigned type, `m - t - 1` is large where it is less than nothing.
    text = WHILE.replace(
        "BODY",
        """i = j = 0;
    for (unsigned t = 0; t < 12; t++) {
        x[t] = sum(x, 40);
        for (unsigned char k = 0; k < m - t - 1 && k < 6; k++)
            for (int l = 0; l < n; l++) A[l][k] = A[l][k] * 2 + x[t];
    }""",
    )
    files.same(text)


@pytest.mark.parametrize(
    "body",
    [
        "for (i = 0; i < n; i++) for (j = i; j < m; j++) A[j][i] += 1;",
        "int *p = &i; j = 0; for (i = 0; i < n; i++) for (int l = 0; l < m; l++) A[l][i] += 1; last = *p;",
        "j = 0; for (i = 0; i < n; i++) { if (i == m) break; for (int l = 0; l < m; l++) A[l][i] += 1; }",
        "j = i = 0; while (i < n) { if (i == 3) { i = 9; continue; } for (int l = 0; l < m; l++) A[l][i] += 1; i++; }",
    ],
)
def test_loops_whose_last_values_have_no_form_stay_right(files, body):
    text = WHILE.replace("int i, j, last = 0;", "int i = 1, j = 1, last = 0;").replace("BODY", body)
    (files.folder / "old.c").write_text(text)
    files.scop("old.c", "-o", str(files.folder / "new.c"))
    old = files.printed("old.c", flags=SANITIZED)
    assert old == files.printed("new.c", flags=SANITIZED)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda path: path.stem)
def test_what_is_written_of_kernels_compiles(tangram_bin, tmp_path, kernel) -> None:
    """New code with memory, tiles and macros of its own, behind a real preprocessor."""
    files = Files(tangram_bin, tmp_path)
    shutil.copy(kernel, tmp_path / "kernel.c")
    files.scop("kernel.c", "-o", str(tmp_path / "new.c"))
    words = ["gcc", "-Wall", "-Wextra", "-Wno-unknown-pragmas", "-Wno-unused", "-c", tmp_path / "new.c"]
    made = subprocess.run([*words, "-o", tmp_path / "new.o"], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr


PROGRAM = """#include <stdio.h>
static double A[64][64], B[64][64];
FUNCTION
int main(void)
{
    for (int k = 0; k < 4096; k++) (&A[0][0])[k] = k % 71, (&B[0][0])[k] = k % 53;
    f(63);
    printf("%a\\n", sum(&A[0][0], 4096));
    return 0;
}
""".replace("static double A", SHOW + "static double A")

NEST = "    for (int j = 0; j < n; j++)\n        for (int i = 0; i < n; i++) A[i][j] += B[i][j] * 2;\n"


def alike(files: Files, function: str, *flags: str, compiled: tuple[str, ...] = ()) -> tuple[str, str]:
    """Writes the loops of a function anew and runs both; returns the new file and what is said of it."""
    (files.folder / "old.c").write_text(PROGRAM.replace("FUNCTION\n", function))
    ran = files.scop("old.c", "-o", str(files.folder / "new.c"), *flags)
    for more in ([], ["-fopenmp"], *([one] for one in compiled)):
        old = files.printed("old.c", flags=["-O1", "-w", *more])
        new = (files.folder / "new.c").read_text()
        assert files.printed("new.c", flags=["-O1", "-w", *more]) == old, (more, new)
    return new, ran.stderr


INCLUDED = {
    "the same lines": "void g(int n)\n{\n    A[n][n] = 12345;\n}\nvoid f(int n)\n{\n    g(5);\n#include \"own.h\"\n}\n",
    "twice": "#define MORE 1\nvoid f(int n)\n{\n#include \"own.h\"\n#undef MORE\n#define MORE 7\n#include \"own.h\"\n}\n",
    "a statement": "void f(int n)\n{\n    for (int k = 0; k < n; k++)\n#include \"own.h\"\n}\n",
    "an end": "void f(int n)\n{\n    for (int k = 0; k < n; k++)\n        A[k][3] =\n#include \"end.h\"\n}\n",
}


@pytest.mark.parametrize("function", INCLUDED.values(), ids=INCLUDED)
@pytest.mark.parametrize("above", [0, 5, 12])
def test_loops_of_included_files_stay(files, function, above):
    (files.folder / "own.h").write_text("\n" * above + NEST)
    (files.folder / "end.h").write_text("\n" * above + "B[k][k] * 2;\n")
    new, said = alike(files, function)
    assert new == (files.folder / "old.c").read_text()
    assert re.search(r"(own|end)\.h:\d+:\d+: note: the loops are of ", said), said


def test_marked_parts_of_included_files_stay(files):
    (files.folder / "own.h").write_text("\n\n\n#pragma scop\n" + NEST + "#pragma endscop\n")
    new, said = alike(files, 'void f(int n)\n{\n    A[1][2] = 3;\n#include "own.h"\n    A[2][1] = 5;\n    n = 3;\n}\n')
    assert new == (files.folder / "old.c").read_text()
    assert "the part stays as it is" in said and "own.h" in said, said


def test_a_file_that_includes_itself_keeps_what_stands_there_twice(files):
    text = PROGRAM.replace("static double sum", "#ifndef AGAIN\nstatic double sum").replace(
        "FUNCTION\n",
        '#define AGAIN 1\n#include "old.c"\n#undef AGAIN\n#define AGAIN 2\n#include "old.c"\n'
        "void f(int n) { f1(n); f2(n); }\n",
    )
    named = "#define join(a, b) a##b\n#define named(a, b) join(a, b)\n"
    template = f"#else\n{named}static void named(f, AGAIN)(int n)\n{{\n{NEST}}}\n#endif\n"
    text = text + template
    (files.folder / "old.c").write_text(text)
    files.scop("old.c", "-o", str(files.folder / "new.c"))
    assert (files.folder / "new.c").read_text() == text


@pytest.mark.parametrize(
    "function",
    [
        "void f(int n) {\n#ifndef NOPE\nfor (int j = 0; j < n; j++) {\n#else\nfor (int j = 1; j < n; j++) {\n#endif\n"
        "for (int i = 0; i < n; i++) A[i][j] += B[i][j] * 2;\n}\n}\n",
        "void f(int n) {\nfor (int j = 0; j < n; j++) {\nfor (int i = 0; i < n; i++) A[i][j] += B[i][j];\n"
        "#ifndef NOPE\n}\n#else\n A[0][0] = 1; }\n#endif\n}\n",
        "void f(int n) {\nfor (int j = 0; j < n; j++)\nfor (int i = 0; i < n; i++)\n#ifdef NOPE\nA[i][j] = 0;\n"
        "#elif 1\nA[i][j] += B[i][j] * 2;\n#else\n;\n#endif\n}\n",
        "void f(int n) {\nfor (int j = 0; j < n; j++)\nfor (int i = 0; i < n; i++)\n#ifdef NOPE\nA[i][j] = 0; }\n"
        "#else\nA[i][j] += B[i][j] * 2; }\n#endif\n",
        "#ifndef NOPE\nvoid f(int n) { for (int j = 0; j < n; j++)\n#else\nvoid f(int n) { int j = 3;\n#endif\n"
        "for (int i = 0; i < n; i++) A[i][j] += B[i][j] * 2; }\n",
        "void f(int n) {\n#ifndef NOPE\nif (n > 2)\n#endif\nfor (int j = 0; j < n; j++) for (int i = 0; i < n; i++)"
        " A[i][j] += B[i][j] * 2;\n#if 0\n/*\n#endif\n*/\n#endif\nA[0][0] += 1; }\n",
        "void f(int n) {\n#ifdef NOPE\nfor (int j = 0; j < n; j++)\n#else\nfor (int j = n - 1; j >= 0; j--)\n#endif\n"
        "for (int i = 0; i < n; i++) A[i][0] = A[i][j] + B[i][j] * 2;\n}\n",
        "void f(int n) {\n#pragma scop\n#ifndef NOPE\nfor (int j = 0; j < n; j++) for (int i = 0; i < n; i++)"
        " A[i][j] += B[i][j] * 2;\n#pragma endscop\n#endif\n}\n",
    ],
)
def test_conditions_that_are_partly_among_loops_stay(files, function):
    _, said = alike(files, function, compiled=("-DNOPE",))
    assert "only partly among the loops" in said or "rewritten" in said, said


@pytest.mark.parametrize(
    ("directive", "behind"),
    [
        ("#define Q 5", "A[0][0] = Q;"),
        ("#undef R", "\n#ifdef R\nA[0][0] = 3;\n#endif\n"),
        ('#include "q.h"', "A[0][0] = Q;"),
        ("#def\\\nine Q \\\n5", "A[0][0] = Q;"),
        ("%: define Q 5", "A[0][0] = Q;"),
        ("/* of */ # /* a */ define Q 5 // line", "A[0][0] = Q;"),
        ("#if 1\n#define Q 5\n#endif", "A[0][0] = Q;"),
        ('#pragma push_macro("R")\n#undef R\n#define R 4', "A[0][0] = R;"),
    ],
)
@pytest.mark.parametrize("marked", [False, True])
def test_directives_among_loops_stay(files, directive, behind, marked):
    (files.folder / "q.h").write_text("#define Q 5\n")
    first, last = ("#pragma scop\n", "#pragma endscop\n") if marked else ("", "")
    function = (
        f"#define R 1\nvoid f(int n)\n{{\n{first}for (int k = 0; k < n; k++) {{\n{directive}\n"
        f"{NEST}}}\n{last}{behind}\n}}\n"
    )
    new, said = alike(files, function)
    assert directive in new and "would go away" in said, said
    assert ("rewritten" in said) != marked, said


def test_loops_beside_directives_are_written_anew(files):
    other = NEST.replace("* 2", "* Q")
    new, said = alike(files, f"void f(int n)\n{{\n{NEST}#define Q 3\n{other}#undef Q\n#define Q 4\n{other}}}\n")
    assert said.count("rewritten") == 3 and new.count("#define Q") == 2, said


def test_conditions_among_loops_go_away_with_them(files):
    function = (
        "void f(int n)\n{\n    for (int j = 0; j < n; j++)\n        for (int i = 0; i < n; i++) {\n"
        '#ifdef TRACE\n            printf("don\'t %d", i);\n#endif\n            /*\n#define Q\n*/\n'
        '            A[i][j] += B[i][j] * sizeof("\\\n#define Q\\\n");\n        }\n}\n'
    )
    _, said = alike(files, function)
    assert "rewritten" in said, said


def test_lines_with_other_numbers_say_why_loops_stay(files):
    for line in ("#line 500", '#line 500 "else.c"', '# 3 "old.c"', "#line 3"):
        new, said = alike(files, f"{line}\nvoid f(int n)\n{{\n{NEST}}}\n")
        assert new == (files.folder / "old.c").read_text()
        assert "other numbers" in said or "`#line` says that this is of" in said, said
    # As generators of parsers write it.
    number = PROGRAM[: PROGRAM.index("FUNCTION")].count("\n") + 2
    _, said = alike(files, f"#line {number}\nvoid f(int n)\n{{\n{NEST}}}\n")
    assert "rewritten" in said, said


SUM = "    double s = 0;\nPRAGMA\n    for (int j = 0; j < n; j++)\n        for (int i = 0; i < n; i++) s += A[j][i];\n    A[0][0] = s;\n"
DEPENDENT = "PRAGMA\n    for (int j = 0; j < n; j++)\n        for (int i = 1; i < n; i++) A[i][j] += A[i - 1][j] * 0.5 + 1;\n"
DEFINED = "#ifdef _OPENMP\n#define PAR _Pragma(\"omp parallel for\")\n#else\n#define PAR\n#endif\n"
GIVEN = "#if defined(_OPENMP)\n#define OMP(words) _Pragma(#words)\n#define PAR OMP(omp parallel for)\n#else\n#define PAR\n#endif\n"


@pytest.mark.parametrize("flags", [(), ("--parallel",)])
@pytest.mark.parametrize(
    "function",
    [
        "void f(int n)\n{\n" + DEPENDENT.replace("PRAGMA", "#ifdef _OPENMP\n#pragma omp parallel for\n#endif") + "}\n",
        "void f(int n)\n{\n" + DEPENDENT.replace("PRAGMA", '#ifdef _OPENMP\n_Pragma("omp parallel for")\n#endif') + "}\n",
        "void f(int n)\n{\n"
        + DEPENDENT.replace("PRAGMA", "#if 0\n#elif defined _OPENMP\n# pragma omp parallel \\\n for\n#else\n#endif\n")
        + "}\n",
        "void f(int n)\n{\n" + DEPENDENT.replace("PRAGMA", "#ifdef _OPENMP\n#pragma omp parallel\n{\n#pragma omp for\n#endif")
        + DEPENDENT.replace("PRAGMA", "#ifdef _OPENMP\n#pragma omp for\n#endif") + "#ifdef _OPENMP\n}\n#endif\n}\n",
        "void f(int n)\n{\n" + DEPENDENT.replace("PRAGMA", "#ifdef _OPENMP\n#pragma omp parallel\n{\n#pragma omp single\n#endif")
        + NEST + "#ifdef _OPENMP\n#pragma omp single\n#endif\n" + NEST + "#ifdef _OPENMP\n}\n#endif\n" + "}\n",
        DEFINED + "void f(int n)\n{\n" + DEPENDENT.replace("PRAGMA", "PAR") + "}\n",
        DEFINED + "void f(int n)\n{\n" + DEPENDENT.replace("PRAGMA\n    ", "    PAR ") + "}\n",
        GIVEN + "void f(int n)\n{\n" + DEPENDENT.replace("PRAGMA", "PAR") + "}\n",
    ],
)
def test_pragmas_under_conditions_govern_loops(files, function, flags):
    """Loops of a region that only a compiler with OpenMP sees have no threads of their own."""
    new, said = alike(files, function, *flags)
    assert "says how the loop runs" in said, said
    assert new.count("#pragma omp") == function.count("#pragma omp"), new


def test_sums_under_conditional_pragmas_compile(files):
    pragma = "#if defined(_OPENMP)\n#pragma omp parallel for reduction(+:s)\n#endif"
    for flags in ((), ("--parallel",)):
        _, said = alike(files, "void f(int n)\n{\n" + SUM.replace("PRAGMA", pragma) + "}\n", *flags)
        assert "says how the loop runs" in said, said


def test_hints_under_conditions_go_away_with_their_loop(files):
    hint = "#ifdef __INTEL_COMPILER\n#pragma ivdep\n#elif defined(__clang__)\n#pragma clang loop vectorize(enable)\n#endif\n"
    new, said = alike(files, f"void f(int n)\n{{\n    A[1][1] = 7;\n{hint}{NEST}}}\n")
    assert "rewritten" in said and "#pragma ivdep" not in new, (said, new)
    # What else the condition holds must stay, and the hint with it.
    new, said = alike(files, f"void f(int n)\n{{\n#ifdef NOPE\n    n++;\n#pragma ivdep\n#endif\n{NEST}}}\n")
    assert "#pragma ivdep" in new and "rewritten" not in said, (said, new)


def test_pragmas_of_other_loops_govern_none(files):
    branches = f"#ifdef NOPE\n#pragma omp parallel for\n{NEST}#else\n{NEST}#endif\n"
    _, said = alike(files, f"void f(int n)\n{{\n{branches}}}\n", compiled=("-DNOPE",))
    assert "rewritten" in said, said


@pytest.mark.parametrize("compiled", [True, False])
def test_bytes_that_are_no_text_stay(files, compiled):
    before = b"/* caf\xe9 \xff */ static const char *name = \"\xe4\xf6\";\n" + (b"#define N n\n" if compiled else b"")
    function = before + b"void f(int n)\n{\n    n += name[0] == '\\xe4' ? 1 : 0; /* \x80 */\n" + NEST.encode()
    text = PROGRAM.encode().replace(b"FUNCTION\n", function + b"    // \xe9\xe8\n}\n")
    (files.folder / "old.c").write_bytes(text)
    ran = files.scop("old.c", "-o", str(files.folder / "new.c"))
    assert "rewritten" in ran.stderr, ran.stderr
    new = (files.folder / "new.c").read_bytes()
    for own in (b"/* caf\xe9 \xff */", b"\"\xe4\xf6\"", b"/* \x80 */", b"// \xe9\xe8\n"):
        assert own in new, new
    assert files.printed("new.c", flags=["-O1"]) == files.printed("old.c", flags=["-O1"])
    printed = subprocess.run([files.binary, "scop", files.folder / "old.c"], capture_output=True, check=True)
    assert printed.stdout == new
    # Without a part, byte for byte.
    (files.folder / "old.c").write_bytes(before)
    files.scop("old.c", "-o", str(files.folder / "new.c"))
    assert (files.folder / "new.c").read_bytes() == before


@pytest.mark.parametrize(
    "flags", [[], ["--target", "cuda"], ["--target", "cuda", "--device-only"], ["--print", "report"], ["--print", "deps"]]
)
def test_files_without_parts_are_no_error(files, flags):
    (files.folder / "none.c").write_text("int f(int n)\n{\n    return n;\n}\n")
    ran = files.scop("none.c", *flags)
    assert "note: no static control part in the file" in ran.stderr, ran.stderr
    assert "error" not in ran.stderr


def test_the_preprocessor_has_bounds(files):
    doubling = "#define A0 i + i\n" + "".join(f"#define A{k + 1} A{k} + A{k}\n" for k in range(40))
    (files.folder / "d.c").write_text(doubling + "int f(int i) { return A40; }\n#pragma scop\n#pragma endscop\n")
    words = [files.binary, "scop", files.folder / "d.c"]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 2 and "preprocessor" in ran.stderr, ran.stderr[:500]
    # Names of types that hold each other do not hold all before them.
    names = "typedef double T0;\n" + "".join(f"typedef T{k} *T{k + 1};\n" for k in range(20000))
    (files.folder / "t.c").write_text(names + "void f(int n, double *x) { for (int i = 0; i < n; i++) x[i] = 0; }\n")
    assert "void f" in files.scop("t.c").stdout


@pytest.mark.parametrize("flags", [[], ["--device-only"]])
def test_files_without_a_part_for_a_device_are_no_error(files, flags):
    # Each element needs the one before, so nothing runs side by side.
    loop = "    for (int i = 1; i < n; i++) x[i] += x[i - 1] * x[i];\n"
    (files.folder / "order.c").write_text(f"void f(int n, double *x)\n{{\n{loop}}}\n")
    ran = files.scop("order.c", "--target", "cuda", *flags)
    assert "note: no part of the file has a place on a device" in ran.stderr, ran.stderr
    assert "__global__" not in ran.stdout and "error" not in ran.stderr
    # One that was asked for is.
    marked = f"void f(int n, double *x)\n{{\n#pragma scop\n{loop}#pragma endscop\n}}\n"
    (files.folder / "order.c").write_text(marked)
    words = [files.binary, "scop", files.folder / "order.c", "--target", "cuda", *flags]
    assert subprocess.run(words, capture_output=True).returncode == 2


@pytest.mark.parametrize(
    "function",
    [
        "static void g(n, p, q) int n; double *p; double q[]; {\nLOOPS}\n",
        "static void g(n, p, q) unsigned n; double q[64], *restrict p; {\nLOOPS}\n",
        "static void g(n, p, q) short n; double *p, *q; {\nLOOPS}\n",
    ],
)
def test_parameters_in_the_old_way_have_their_types(files, function):
    loops = (
        "    for (int j = 0; j < n - 1 && j < 60; j++)\n        for (int i = 0; i < n; i++) (A[i])[j] += ((B))[i][(j)] * p[j] + q[i];\n"
    )
    calls = "void f(int n)\n{\n    g(n, &A[0][0], B[3]);\n    g(0, B[4], A[5]);\n    g(n - 9, B[4], A[60]);\n}\n"
    _, said = alike(files, function.replace("LOOPS", loops) + calls, "--tile", "8,8")
    assert "rewritten" in said, said


@pytest.mark.parametrize(
    "loops",
    [
        "for (int j = 0; j < n; j += 1 + 1)\n        for (int i = 0; i < n; i++) A[i][j] += B[i][j];",
        "for (int j = 0; j < n; j += sizeof(int))\n        for (int i = n; i > 0; i -= 6 / 2) A[i][j] += B[i][j];",
        "for (unsigned j = 0; j < sizeof(B) / sizeof(double) / 64u; j++)\n"
        "        for (unsigned i = 0; i < sizeof(B) / sizeof(B[0]); i++) A[i][j] += B[i][j];",
        "for (unsigned i = 0; i < sizeof(B[0]) / sizeof(double); i++)\n"
        "        for (int j = 0; j < 9; j++) A[j][i] += B[i][j];\n    for (unsigned j = 2u * sizeof(short int); j < 60; j++)\n"
        "        for (int i = 0; i < (int)sizeof(float) * n / 8; i++) A[i][j] += B[i][j];",
        "for (int j = 0; j < n - (9 - 4); j++)\n        for (int i = 0; i < n / (1 << 2); i++) A[(2 + 1) * i][j] += B[i % (2 * 2)][j];",
    ],
)
def test_constants_are_computed(files, loops):
    _, said = alike(files, f"void f(int n)\n{{\n    {loops}\n}}\n", "--tile", "8,8")
    assert "rewritten" in said, said


def test_constants_that_wrap_around_are_none(files):
    # `1u - 2` is large, and `-1 / 2u` is, too.
    loops = "for (unsigned j = 0; j < 1u - 2 && j < 60; j++)\n        for (int i = 0; i < n; i++) A[i][j + -1 / 2u % 2] += B[i][j];"
    alike(files, f"void f(int n)\n{{\n    {loops}\n}}\n", "--tile", "8,8")
