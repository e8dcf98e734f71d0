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
