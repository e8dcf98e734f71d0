"""Names that `tangram scop` brings into a file are none that the file has, whatever these are.

What it brings is read off its own output: each new word becomes a macro of the source, then a variable, a
parameter and a function, and the file is written anew, with the words of that output too.
"""

from __future__ import annotations

import re
import subprocess

import pytest

KEYWORDS = set(
    "auto break case char const continue default do double else enum extern float for goto if inline int long "
    "register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while "
    "include define undef ifdef ifndef elif endif pragma defined once".split()
)
# What belongs to OpenMP and to the compiler, which a program may not define.
GIVEN = re.compile(r"_.*|omp_get_.*|\d.*")
# Words of pragmas: macros of a program take their place in some of these.
PRAGMAS = {"omp", "simd", "parallel", "firstprivate", "private", "clang", "loop", "vectorize", "assume_safety",
           "GCC", "ivdep", "push_macro", "pop_macro", "aligned"}

# Loops for which each kind of name is needed: hints, comparisons of ranges and of rows, kernels with
# packed blocks, arrays in the place of variables, sums in variables, tiles, tests.
LOOPS = """
static double A[70][70], B[70][70], C[70][70], x[200], y[200];
static void product(int n, double *restrict a, double *restrict b, double *restrict c) {{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        c[i * n + j] += a[i * n + k] * b[k * n + j];
  {used}
}}
static void sums(int n) {{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {{
      double t = 0;
      for (int k = 0; k < n; k++) t += A[k][i] * B[j][k];
      C[i][j] = t * 2 + C[i][j] + {value};
    }}
}}
static void compared(int n, double *p, double *q) {{
  for (int j = 0; j < n; j++)
    for (int i = 0; i < 8; i++)
      p[i * 9 + j] = q[i * 9 + j] + {value};
}}
static void rows(double **p, double **q, int n) {{
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++)
      p[i][j] += q[i][j] + {value};
}}
static void stencil(int n, int m) {{
  for (int t = 0; t < m; t++)
    for (int i = 1; i < n - 1; i++)
      x[i] = (x[i - 1] + x[i] + x[i + 1]) * .25 + {value};
}}
static void bounded(int n, int m) {{
  for (int j = 0; j < n && j < m; j++)
    for (int i = j / 3; i <= n - j && i < 2 * m; i++)
      B[i][j] = A[i][j] * .5 + {value};
}}
static void strided(long n, unsigned s) {{
  for (long j = 0; j < 6; j++)
    for (long i = 0; i < n; i++)
      y[i * s + j] += {value};
}}
"""
MAIN = """
int main(void) {
  double *p[30], *q[30], s = 0;
  for (int i = 0; i < 70; i++) for (int j = 0; j < 70; j++) A[i][j] = i % 7 - j % 3, B[i][j] = i % 5 + j % 2;
  for (int i = 0; i < 30; i++) p[i] = A[i], q[i] = C[i + 30];
  product(64, &A[0][0], &B[0][0], &C[0][0]);
  sums(60); compared(9, x, y); compared(9, x, x + 3); rows(p, q, 29); stencil(150, 20); bounded(40, 30);
  strided(9, 11);
  for (int i = 0; i < 70; i++) for (int j = 0; j < 70; j++) s = s * .99 + A[i][j] + B[i][j] * 3 + C[i][j];
  for (int i = 0; i < 200; i++) s = s * .99 + x[i] + y[i];
  printf("%.17g\\n", s);
}
"""
OPTIONS = [[], ["--parallel"], ["--parallel", "--tile", "8,8"]]


def words(text: str) -> set[str]:
    return set(re.findall(r"\b[A-Za-z_]\w*", re.sub(r'"[^"\n]*"|/\*.*?\*/|//[^\n]*', " ", text, flags=re.DOTALL)))


def source(kind: str, names: list[str]) -> str:
    """The loops in a file where all names are macros, variables and so on, which the loops use."""
    total = " + ".join(names[:40]) or "0"
    loops = lambda value, used="": LOOPS.format(value=value, used=used)
    head = "#include <stdio.h>\n"
    if kind == "macros":
        return head + "".join(f"#define {name} {at % 9}\n" for at, name in enumerate(names)) + loops(f"({total})") + MAIN
    if kind == "macros behind":
        return head + loops("1").replace("static void", "\n".join(f"#define {name} ! {at}" for at, name in
                                                                  enumerate(names)) + "\nstatic void", 1) + MAIN
    if kind == "macros with arguments":
        defined = "".join(f"#define {name}(u) wrong u\n" for name in names)
        return head + defined + loops("1") + MAIN
    if kind == "variables":
        declared = "".join(f"static int {name} = {at % 9};\n" for at, name in enumerate(names))
        return head + declared + loops(f"({total})") + MAIN
    if kind == "functions":
        declared = "".join(f"static int {name}(void) {{ return {at}; }}\n" for at, name in enumerate(names))
        called = " ".join(f"{name}();" for name in names)
        return head + declared + loops("1", called) + MAIN
    assert kind == "parameters"
    text = head + loops(f"({total})") + MAIN
    given = ", ".join(f"double {name}" for name in names[:40])
    for name in ("sums", "compared", "rows", "stencil", "bounded", "strided"):
        text = re.sub(rf"(static void {name}\([^)]*)\)", lambda found: f"{found[1]}, {given})" if given else found[0], text)
        values = ", ".join(str(at % 9) for at in range(len(names[:40])))
        text = re.sub(rf"(\n? {name}\([^)]*)\);", lambda found: f"{found[1]}, {values});" if given else found[0], text)
    return text


@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
@pytest.mark.parametrize("kind", ["macros", "macros behind", "macros with arguments", "variables", "functions",
                                  "parameters"])
def test_new_names_are_none_of_the_source(kind, options, tangram_bin, tmp_path) -> None:
    def printed(file: str) -> str:
        flags = ["-O1", "-g0", "-std=gnu11", "-ffp-contract=off", "-fopenmp", "-Werror", "-Wno-unused"]
        made = subprocess.run(["cc", *flags, file, "-o", f"{file}.out"], cwd=tmp_path, capture_output=True, text=True)
        assert made.returncode == 0, made.stderr
        return subprocess.run([tmp_path / f"{file}.out"], capture_output=True, text=True, check=True).stdout

    names: set[str] = set()
    for turn in range(3):
        text = source(kind, sorted(names))
        (tmp_path / "a.c").write_text(text)
        command = [tangram_bin, "scop", "a.c", "-o", "b.c", *options]
        taken = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert taken.returncode == 0, taken.stderr
        assert taken.stderr.count("rewritten") >= 6, taken.stderr
        assert printed("b.c") == printed("a.c"), (turn, names)
        brought = words((tmp_path / "b.c").read_text()) - words(text) - KEYWORDS
        brought = {name for name in brought if not GIVEN.fullmatch(name)}
        if not kind.startswith("macros"):
            brought -= PRAGMAS
        assert turn or {"TANGRAM_SIMD", "TANGRAM_AT", "tangram_rows_apart"} <= brought, brought
        names |= brought
