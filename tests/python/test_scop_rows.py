"""Rows that pointers lead to, which may be anywhere and overlap, whatever the table of pointers is; and
loops that go around the values of their type."""

from __future__ import annotations

import subprocess

import pytest

PROGRAMS = {
    "pointer to pointers": """
static void f(double **a, int n) {
  for (int r = 0; r < 3; r++)
    for (int j = 1; j < n; j++)
      a[r][j] = a[r][j - 1] * .5 + a[r][j] + r;
}
int main(void) {
  double s[64], *rows[3] = {s, s + 1, s + 2};
  for (int i = 0; i < 64; i++) s[i] = i % 7;
  f(rows, 60);
  print(s, 64);
}
""",
    "array of pointers": """
static void f(double *const a[3], int n) {
  for (int r = 0; r < 3; r++)
    for (int j = 0; j < n; j++)
      a[r][j] += a[(r + 1) % 3][j];
}
int main(void) {
  double s[64], *rows[3] = {s, s, s + 5};
  for (int i = 0; i < 64; i++) s[i] = i % 7;
  f(rows, 50);
  print(s, 64);
}
""",
    "rows beside an array": """
static double A[4][64];
static void f(double (*R)[64], double *const *restrict p, int n) {
  for (int r = 0; r < 3; r++)
    for (int j = 0; j < n; j++)
      R[r][j] = p[r][j] + R[r + 1][j];
}
int main(void) {
  double *rows[3] = {A[1] + 1, A[2], A[1] + 3};
  for (int i = 0; i < 256; i++) A[i / 64][i % 64] = i % 19;
  f(A, rows, 40);
  print(&A[0][0], 256);
}
""",
    "planes of a frame": """
typedef struct { int w, h; double *plane[3]; int stride[3]; } Frame;
static void f(Frame *d, const Frame *s) {
  for (int p = 0; p < 3; p++)
    for (int y = 0; y < d->h; y++)
      for (int x = 0; x < d->w; x++)
        d->plane[p][y * d->stride[p] + x] = s->plane[p][y * s->stride[p] + x] * .5 + p;
}
int main(void) {
  double b[4000];
  for (int i = 0; i < 4000; i++) b[i] = i % 31;
  Frame s = {20, 20, {b, b + 1, b + 900}, {20, 21, 20}}, d = {20, 20, {b + 2, b + 100, b + 901}, {22, 20, 20}};
  f(&d, &s);
  f(&s, &s);
  print(b, 4000);
}
""",
    "a structure that points to itself": """
struct node { double v[8]; struct node *next; };
static void f(struct node *p, int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 8; j++)
      p->v[j] = p->v[j] * .5 + p->next->v[7 - j] + i;
}
int main(void) {
  struct node a;
  a.next = &a;
  for (int j = 0; j < 8; j++) a.v[j] = j;
  f(&a, 20);
  print(a.v, 8);
}
""",
    "bounds that elements lead to": """
struct sizes { int rows, cols; };
static void f(struct sizes *a, int (*v)[4]) {
  for (int j = 0; j < a->cols; j++)
    for (int i = 0; i < a->rows; i++)
      v[i][j] -= 2;
}
static void g(struct sizes *a, int **v) {
  for (int j = 0; j < a->cols; j++)
    for (int i = 0; i < a->rows; i++)
      v[i][j] -= 2;
}
int main(void) {
  union { int x[12]; struct { int before[5]; struct sizes a; int after[5]; } y; } u = {{0}};
  u.y.a.rows = 3, u.y.a.cols = 3;
  f(&u.y.a, (int (*)[4])u.x);
  double seen[12];
  for (int i = 0; i < 12; i++) seen[i] = u.x[i];
  print(seen, 12);
  struct { int x[100]; struct sizes a; } h = {{0}, {2, 3}};
  int *rows[2] = {h.x, &h.a.cols};
  g(&h.a, rows);
  for (int i = 0; i < 12; i++) seen[i] = i < 10 ? h.x[i] : i == 10 ? h.a.rows : h.a.cols;
  print(seen, 12);
}
""",
    "pointers that characters lead to": """
/* The first byte that is written moves the table from its start by as many bytes. */
struct image { int size; double **rows; };
static void f(struct image *s, unsigned char **v) {
  for (int j = 0; j < 2; j++)
    for (int i = 0; i < 2; i++)
      v[i][j] = s->rows[i][j];
}
static double first[2][2] = {{1, 2}, {16, 0}}, second[2][2] = {{3, 4}, {0, 0}};
static _Alignas(65536) double *table[32];
int main(void) {
  struct { unsigned char x[16]; struct image s; } all = {{0}, {0, table}};
  unsigned char *v[2] = {all.x, (unsigned char *)&all.s.rows};
  table[0] = first[0], table[1] = first[1], table[2] = second[0], table[3] = second[1];
  f(&all.s, v);
  double seen[16];
  for (int i = 0; i < 16; i++) seen[i] = all.x[i];
  print(seen, 16);
}
""",
    "around the values of a type": """
static double x[64];
static void f(unsigned a, unsigned b) { for (unsigned i = a; i != b; i++) x[i - a] += 2; }
static void g(unsigned n) { for (unsigned i = 0; i != n; i++) x[i] += 1; }
int main(void) {
  f(4294967275u, 20);
  f(3, 9);
  g(7);
  print(x, 64);
}
""",
}
PRINT = """#include <stdio.h>
static void print(const double *a, int n) {
  double s = 0;
  for (int i = 0; i < n; i++) s = s * .99 + a[i];
  printf("%.17g\\n", s);
}
"""


@pytest.mark.parametrize("options", [[], ["--tile", "16,16"], ["--parallel"]], ids=" ".join)
@pytest.mark.parametrize("name", PROGRAMS)
def test_rows_that_overlap_stay_what_they_are(name, options, tangram_bin, tmp_path) -> None:
    def printed(file: str) -> str:
        flags = ["-O1", "-w", "-std=gnu11", "-ffp-contract=off", "-fopenmp"]
        subprocess.run(["cc", *flags, file, "-o", f"{file}.out"], cwd=tmp_path, check=True)
        return subprocess.run([tmp_path / f"{file}.out"], capture_output=True, text=True, check=True).stdout

    (tmp_path / "a.c").write_text(PRINT + PROGRAMS[name])
    subprocess.run([tangram_bin, "scop", "a.c", "-o", "b.c", *options], cwd=tmp_path, capture_output=True, check=True)
    assert printed("b.c") == printed("a.c")


def test_an_option_says_that_rows_are_apart(tangram_bin, tmp_path) -> None:
    # Rows of rows: nothing compares these.
    (tmp_path / "a.c").write_text("""void f(double ***a, double ***b, int n) {
  for (int k = 0; k < n; k++)
    for (int j = 0; j < n; j++)
      for (int i = 0; i < n; i++)
        a[i][j][k] += b[i][j][k];
}
""")
    command = [tangram_bin, "scop", "a.c", "-o", "b.c"]
    kept = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "pointers lead to the rows of `a`" in kept.stderr and "--no-alias" in kept.stderr
    taken = subprocess.run([*command, "--no-alias"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "a.c:2-5: note: rewritten" in taken.stderr, taken.stderr


# Rows of which nothing but a run can tell whether they overlap: in order, in other orders, one over
# another, over the pointers to them, and none at all, where no pointer may be read.
ROWS = """
#include <stdlib.h>
static void product(double **C, double **A, double **B, int n, int m, int k) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int l = 0; l < k; l++)
        C[i][j] += A[i][l] * B[l][j];
}
static void smooth(double **a, double **b, int n) {
  for (int j = 1; j < n - 1; j++)
    for (int i = 1; i < n - 1; i++)
      b[i][j] = (a[i - 1][j] + a[i][j - 1] + a[i + 1][j]) * .25;
}
static void bytes(unsigned char **a, const unsigned char *b, int n) {
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++)
      a[i][j] += b[i];
}
/* Bounds that are sums. */
static void beyond(double **a, int n, int m) {
  for (int j = 0; j <= m; j++)
    for (int i = 0; i < n; i++)
      a[i][j] = a[i][j] * .5 + a[i][j + 1] + i;
}
/* What rows of integers could lead to, too: their own bounds. */
struct sizes { int rows, cols; };
static void inner(struct sizes *a, int **v) {
  for (int j = 0; j < a->cols; j++)
    for (int i = 0; i < a->rows; i++)
      v[i][j] -= 2;
}
struct matrix { int rows, cols; double **v; };
static void add(struct matrix *x, const struct matrix *y) {
  for (int j = 0; j < x->cols; j++)
    for (int i = 0; i < x->rows; i++)
      x->v[i][j] += y->v[i][j] * .5;
}
static double s[9000];
static double **rows(int n, int first, int step) {
  double **all = malloc((n > 0 ? n : 1) * sizeof *all);
  for (int i = 0; i < n; i++) all[i] = s + first + step * i;
  return all;
}
static void reset(void) { for (int i = 0; i < 9000; i++) s[i] = i % 23; }
int main(void) {
  int firsts[] = {0, 1000, 1003, 5000, 8000}, steps[] = {40, 41, 13, 1, 0, -40};
  for (int f = 0; f < 5; f++)
    for (int a = 0; a < 6; a++)
      for (int b = 0; b < 6; b++) {
        double **A = rows(24, 4000, steps[a]), **B = rows(24, 2000 + firsts[f] / 2, 50);
        double **C = rows(24, firsts[f] < 1000 && steps[b] < 0 ? 1000 : firsts[f], steps[b]);
        reset(); product(C, A, B, 20, 24, 22); print(s, 9000);
        reset(); smooth(A, C, 24); print(s, 9000);
        struct matrix x = {22, 24, C}, y = {22, 24, A};
        reset(); add(&x, &y); print(s, 9000);
        reset(); beyond(C, 24, steps[a] - 2); print(s, 9000);
        free(A); free(B); free(C);
      }
  struct { int x[100]; struct sizes a; } g = {{0}, {2, 3}};
  int *own[2] = {g.x, &g.a.cols};
  inner(&g.a, own);
  double seen[4] = {g.a.rows, g.a.cols, g.x[0], g.x[1]};
  print(seen, 4);
  /* Where nothing is used no pointer is read. */
  product(0, 0, 0, 9, 0, 9); product(0, 0, 0, 0, 9, 9); product(0, 0, 0, 9, 9, 0);
  smooth(0, 0, 2); smooth(0, 0, -3); bytes(0, 0, 0);
  double *one[3] = {s, s + 10, s + 20};
  smooth(one, one, 3); print(s, 9000);
  unsigned char **over = calloc(64, sizeof *over);
  for (int i = 0; i < 20; i++) over[i] = (unsigned char *)over + 200 + 8 * i;
  bytes(over, (unsigned char *)(over + 40), 6);
  double t[64];
  for (int i = 0; i < 64; i++) t[i] = ((unsigned char *)over)[200 + i];
  print(t, 64);
}
"""


@pytest.mark.parametrize("options", [[], ["--tile", "8,8"], ["--parallel"]], ids=" ".join)
def test_rows_are_compared_where_they_are_used(options, tangram_bin, tmp_path) -> None:
    (tmp_path / "a.c").write_text(PRINT + ROWS)
    command = [tangram_bin, "scop", "a.c", "-o", "b.c", *options]
    taken = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    new = (tmp_path / "b.c").read_text()
    assert new.count("tangram_rows_apart(") > 6, (new, taken.stderr)
    printed = []
    for file in ("a.c", "b.c"):
        flags = ["-O1", "-g0", "-w", "-std=gnu11", "-ffp-contract=off", "-fsanitize=address,undefined"]
        flags += ["-fno-sanitize-recover=all", *(["-fopenmp"] if options == ["--parallel"] else [])]
        subprocess.run(["cc", *flags, file, "-o", f"{file}.out"], cwd=tmp_path, check=True)
        ran = subprocess.run([tmp_path / f"{file}.out"], capture_output=True, text=True, check=False,
                             env={"ASAN_OPTIONS": "detect_leaks=0"})
        assert ran.returncode == 0, ran.stderr
        printed.append(ran.stdout)
    assert printed[0] == printed[1]
    # New loops run where rows are in order, and those of the source elsewhere.
    assert len(set(printed[0].splitlines())) > 100
