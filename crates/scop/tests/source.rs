//! C as people write it: types, members, functions of their own, and what a run prints.

mod support;

use support::{PRINTF, budget, in_tiles, marked, prints_the_same_anew};
use tangram_scop::parts;

/// Writes a file anew with tiles.
fn rewritten(text: &str) -> String {
    in_tiles(text, &marked(text))
}

#[test]
fn iterators_keep_their_types() {
    let text = format!(
        "{PRINTF}typedef unsigned char byte;
typedef double real;
static unsigned A[20][20], h[20];
static byte b[300];
static real y[20];
int main(void) {{
  int n = 20;
  real limit = 7.5;
#pragma scop
  for (int i = 0; i < n; i++)
    for (unsigned j = 0; j < n; j++)
      A[j][i] = (i * 2654435761u) % 1000 + (j - 5) / 3;
  for (int i = 0; i < 300; i++)
    b[(byte)i] = i;
  for (int i = 0; i < n; i++) {{
    h[(i * 2654435761u) >> 28] += i;
    if (i < limit) h[i] += 1;
    if ((double)i / 2 < 3.3) h[i] += 2;
    y[i] = (real)i / n + -i / 3;
  }}
  // The number 1 that stands for `i` must not be an `int`.
  for (long long i = 1; i < n; i++) {{
    if (i < 2) h[i] += (unsigned)(i * 8192) * (i - 5) / 3;
    h[i] += (unsigned)i * (i - 7) / 3;
  }}
#pragma endscop
  real s = 0;
  for (int i = 0; i < 20; i++) {{
    s = s * 1.01 + h[i] + y[i];
    for (int j = 0; j < 20; j++) s += A[i][j];
  }}
  for (int i = 0; i < 300; i++) s = s * 1.01 + b[i];
  printf(\"%.17g\\n\", s);
}}
"
    );
    prints_the_same_anew("types", &text);
    assert!(rewritten(&text).contains("(int)"), "{}", rewritten(&text));
}

#[test]
fn members_functions_and_inequalities() {
    let text = format!(
        "{PRINTF}struct point {{ double x, y, v; }};
typedef double matrix[12][12];
enum {{ W = 2 }};
static struct point p[30];
static double square(double x) {{ double y = x; return y * y + W; }}
static matrix M;
int main(void) {{
  for (int i = 0; i < 30; i++) p[i].x = i, p[i].y = 2 * i, p[i].v = i % 5;
#pragma scop
  for (int t = 0; t < 4; t++)
    for (int i = 0; i != 30; i++) {{
      p[i].x += p[i].v * 0.5;
      p[i].y = square(p[i].x) + p[i].y;
      if (p[i].x > 10) p[i].v = -p[i].v;
    }}
  for (int j = 11; j != 0; j--)
    for (int i = 0; i < 12; i++)
      M[i][j] = M[i][j - 1] + square(i) + j;
#pragma endscop
  double s = 0;
  for (int i = 0; i < 30; i++) s = s * 1.01 + p[i].x + p[i].y + p[i].v;
  for (int i = 0; i < 144; i++) s += (&M[0][0])[i] * i;
  printf(\"%.17g\\n\", s);
}}
"
    );
    prints_the_same_anew("members", &text);
}

#[test]
fn functions_with_effects_are_not_pure() {
    let refused = |definition: &str| {
        let text = format!(
            "static int g;\n{definition}\nvoid f(int n, double *x) {{\n#pragma scop\n  \
             for (int i = 0; i < n; i++) x[i] = h(x[i]);\n#pragma endscop\n}}\n"
        );
        parts(&text, &budget()).is_err()
    };
    assert!(!refused("static double h(double x) { return x < 0 ? -x : x; }"));
    for definition in [
        "static double h(double x) { g++; return x; }",
        "static double h(double x) { return x + g; }",
        "static double h(double x) { static int k; return x + k++; }",
        "static double h(double x) { double *p = &x; return *p; }",
        "static double k(double x) { g = 1; return x; } static double h(double x) { return k(x); }",
        "static double h(double x) { return h(x); }",
        "double h(double x);",
    ] {
        assert!(refused(definition), "{definition}");
    }
}

#[test]
fn declarations_in_loops_and_kills_end_values() {
    let body = |declared: &str, kill: &str| {
        format!(
            "void __pencil_kill();\nvoid f(int n, double *x) {{\n{declared}#pragma scop\n  \
             for (int i = 0; i < n; i++) {{\n    {kill}\n    if (x[i] > 3) t = 1;\n    \
             x[i] = t;\n  }}\n#pragma endscop\n}}\n"
        )
    };
    let from_before = |text: &str| {
        let part = marked(text).remove(0);
        let flow = part.scop.dataflow(&budget()).expect("decided");
        let own = flow.may_dependence.relations().filter(|relation| {
            let sides = relation.space().output.nested.as_ref();
            sides.is_some_and(|sides| sides.1.name == "t")
        });
        let pairs: Vec<String> = own.map(|relation| relation.to_string()).collect();
        pairs.join("; ")
    };
    // The value of the iteration before is seen, unless something ends it.
    assert!(
        from_before(&body("  double t;\n", "")).contains("i'"),
        "{}",
        from_before(&body("  double t;\n", ""))
    );
    for text in [body("", "double t;"), body("  double t;\n", "__pencil_kill(t);")] {
        let pairs = from_before(&text);
        assert!(!pairs.is_empty() && !pairs.contains("i'"), "{pairs}");
        let part = marked(&text).remove(0);
        let live = part.scop.live_in(&budget()).expect("decided");
        let there = live.relations().filter(|map| !map.is_empty(&budget()).expect("decided"));
        let names: Vec<&str> = there.map(|map| map.space().output.name.as_str()).collect();
        assert_eq!(names, ["x"]);
    }
}

#[test]
fn variables_that_end_with_the_loop_are_named() {
    let text = "int f(int n, int *x) {
  int i, j;
#pragma scop
  for (i = 0; i < n; i++) for (j = 0; j < n; j++) x[i] += j;
#pragma endscop
  j = 3;
  return i + j;
}
";
    let part = &marked(text)[0];
    assert_eq!(part.ended, [""; 0]);
    assert_eq!(part.finals.len(), 1);
    assert_eq!(part.finals[0].text, "for (i = 0; i < n; i++) { }");
}

#[test]
fn values_behind_a_part_stay() {
    let part = "#pragma scop
  for (i = 0; i < n; i++) { last = x[i]; for (j = n; j > i; j -= 2) A[j][i] += last + j; }
#pragma endscop
";
    // In each, the loop variable has a value that what follows prints.
    for (declared, behind) in [
        ("int i, j;", "printf(\"%d %d\\n\", i, j);"),
        ("int i, j;", "if (n > 40) i = 0; printf(\"%d\\n\", i);"),
        ("int i, j;", "for (int k = 0; k < 2; k++, i = 7) printf(\"%d\\n\", i);"),
        ("int i, j; int *p = &i;", "printf(\"%d\\n\", *p);"),
        ("static int i; int j;", ""),
        ("int i, j = 1;", "goto end; i = 0; end: printf(\"%d\\n\", i);"),
        ("int j;", "show();"),
    ] {
        let text = format!(
            "{PRINTF}static int x[20], A[24][24], i = 5, turn;
static void show(void) {{ printf(\"global %d\\n\", i); }}
static void f(int n) {{
  int last = 3;
  {declared}
  if (turn++) {{ i += 1; printf(\"again %d\\n\", i - 1); }}
{part}  {behind}
  printf(\"%d\\n\", last);
}}
int main(void) {{
  for (int k = 0; k < 20; k++) x[k] = k * k % 7;
  f(9);
  int s = 0;
  for (int k = 0; k < 24 * 24; k++) s = s * 3 % 1000 + A[k / 24][k % 24];
  printf(\"%d\\n\", s);
}}
"
        );
        let once = text.replace("  if (turn++) { i += 1; printf(\"again %d\\n\", i - 1); }\n", "");
        let text = if declared.starts_with("static") {
            text.replace("f(9);", "f(9), f(3);")
        } else {
            once
        };
        let part = &marked(&text)[0];
        let set = part.finals.iter().any(|own| own.name == "i");
        assert!(set || part.ended.contains(&"i".to_owned()), "{declared} {behind}");
        prints_the_same_anew("behind", &text);
    }
    // A variable that is assigned first on all ways needs no value, and the part is rewritten.
    for behind in [
        "i = 2; x[0] += i;",
        "if (n > 3) i = 1; else i = 2; x[0] += i;",
        "for (i = 0; i < 3; i++) x[i] += i;",
        "for (int i = 0; i < 3; i++) x[i] += i;",
        "{ int i = 4; x[i] += i; }",
    ] {
        let text = format!(
            "{PRINTF}static int x[20], A[24][24];
int main(void) {{
  int last = 3, n = 9, i, j;
  for (int turn = 0; turn < 2; turn++) {{
{part}  {behind}
  }}
  int s = last;
  for (int k = 0; k < 24 * 24; k++) s = s * 3 % 1000 + A[k / 24][k % 24] + x[k % 20];
  printf(\"%d\\n\", s);
}}
"
        );
        assert_eq!(marked(&text)[0].ended, [""; 0], "{behind}");
        assert!(!rewritten(&text).contains("#pragma scop"));
        prints_the_same_anew("assigned", &text);
    }
}

#[test]
fn volatile_and_atomic_accesses_stay_where_they_are() {
    let refused = |before: &str, body: &str| {
        let text = format!(
            "typedef volatile int word;\nstruct port {{ int a; volatile int b; }};\n{before}\n\
             void f(int n, double *x) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
        );
        let problems = parts(&text, &budget()).err().unwrap_or_default();
        problems.iter().any(|problem| problem.message.contains("volatile or atomic"))
    };
    let sum = "for (int i = 0; i < n; i++) v[i] += x[i];";
    assert!(!refused("double v[9];", sum));
    for declaration in [
        "volatile double v[9];",
        "double volatile v[9];",
        "_Atomic int v[9];",
        "_Atomic(int) v[9];",
        "double *volatile v;",
        "word v[9];",
        "typedef _Atomic int atom; atom v[9];",
    ] {
        assert!(refused(declaration, sum), "{declaration}");
    }
    for declaration in
        ["struct port v[9];", "struct hub { struct port p; int a; }; struct hub v[9];"]
    {
        assert!(refused(declaration, "for (int i = 0; i < n; i++) v[i].a = i;"), "{declaration}");
    }
    for (declaration, body) in [
        ("volatile int m;", "for (int i = 0; i < m; i++) x[i] = 0;"),
        ("volatile int m;", "for (int i = 0; i < n; i++) if (m) x[i] = 0;"),
        ("volatile int m;", "for (int i = 0; i < n; i++) x[i] = m;"),
        ("_Atomic int m;", "for (int i = 0; i < n; i++) m += i;"),
        ("volatile int m;", "for (m = 0; m < n; m++) x[m] = 0;"),
        ("", "for (volatile int i = 0; i < n; i++) x[i] = 0;"),
        ("", "for (int i = 0; i < n; i++) { volatile int t = i; x[i] = 0; }"),
        ("", "for (int i = 0; i < n; i++) if (x[i] > 0) { volatile int t = i; x[i] = 0; }"),
        ("volatile int m;", "for (int i = 0; i < n; i++) for (m = 0; x[m] > 0; m++) x[i] = 0;"),
    ] {
        assert!(refused(declaration, body), "{declaration} {body}");
    }
}

#[test]
fn members_of_unions_and_bit_fields_share_their_cells() {
    let text = format!(
        "{PRINTF}union both {{ unsigned u; unsigned char c[4]; float f; }};
struct bits {{ unsigned a : 3, b : 9, c : 20; }};
static union both v[20];
static struct bits w[20][20];
int main(void) {{
  int n = 20;
#pragma scop
  for (int i = 0; i < n; i++) v[i].f = i * 0.37f;
  for (int t = 0; t < 3; t++)
    for (int i = 1; i < n; i++)
      v[i].u = v[i].u * 5u + v[i - 1].u;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {{
      w[j][0].a += j + i;
      w[j][i].b = i * j * 77;
      w[j][i].c -= w[j][i].b + w[j][0].a;
    }}
#pragma endscop
  unsigned s = 0;
  for (int i = 0; i < 20; i++) {{
    s = s * 31 + v[i].u;
    for (int j = 0; j < 20; j++) s = s * 7 + w[i][j].a + w[i][j].b + w[i][j].c;
  }}
  printf(\"%u\\n\", s);
}}
"
    );
    prints_the_same_anew("union", &text);
}

#[test]
fn numbers_in_the_place_of_wide_iterators_are_wide_factors() {
    let text = format!(
        "{PRINTF}static double x[300];
static void f(int m, int n, int q, long d, unsigned e) {{
#pragma scop
  for (long i = 0; i < m; i++)
    if (i == m - 1) {{
      x[i * n - d] += 1;
      x[(i + 1) * q] += 3;
    }}
  for (unsigned i = 40000; i < 40001; i++)
    x[i * 100000 - e] += 2;
#pragma endscop
}}
int main(void) {{
  f(50001, 100000, 0, 5000000000, 4000000000u);
  printf(\"%g %g\\n\", x[0], x[1]);
}}
"
    );
    let after = rewritten(&text);
    assert!(after.contains("x[(long)(m - 1) * n - d]"), "{after}");
    // What would be less than 0 as an `unsigned` is left to the source's loop.
    assert!(after.contains("((long long)e) <= 4000000000"), "{after}");
    prints_the_same_anew("wide", &text);
}

#[test]
fn lines_end_as_those_of_the_file() {
    let text = "#include <stddef.h>\nvoid f(int n, double A[n][n], double B[n][n], double C[n][n]) {\n\
                #pragma scop\n  for (int i = 0; i < n; i++)\n    for (int j = 0; j < n; j++)\n      \
                for (int k = 0; k < n; k++)\n        C[i][j] +=\n          A[i][k] * B[k][j];\n\
                #pragma endscop\n}\n";
    let dos = text.replace('\n', "\r\n");
    let (plain, rewritten) = (in_tiles(text, &marked(text)), in_tiles(&dos, &marked(&dos)));
    assert!(plain.contains("floord") && plain != text, "{plain}");
    assert_eq!(rewritten, plain.replace('\n', "\r\n"));
    // What is not written anew keeps its ends, new lines get those of most others.
    let mixed = dos.replacen("\r\n", "\n", 1);
    let mostly = in_tiles(&mixed, &marked(&mixed));
    assert_eq!(mostly.matches('\n').count(), mostly.matches("\r\n").count() + 1, "{mostly}");
    let mixed = text.replacen('\n', "\r\n", 1);
    let mostly = in_tiles(&mixed, &marked(&mixed));
    assert_eq!(mostly.matches("\r\n").count(), 1, "{mostly}");
}

#[test]
fn what_moves_a_pointer_keeps_its_type() {
    let text = format!(
        "{PRINTF}static double x[400], y[400];
static void moved(unsigned n, int m, double *restrict p) {{
#pragma scop
  for (int j = 0; j < m; j++)
    for (int i = 0; i < m; i++) {{
      y[i * 20 + j] += *(p + i - n + 9) + *(p - n + j);
      const double *row = p - n;
      y[i * 20 + j] += row[j] + *(row + 2 + i);
    }}
#pragma endscop
}}
int main(void) {{
  for (int i = 0; i < 400; i++) x[i] = i % 7, y[i] = i % 3;
  moved(19, 6, x + 100);
  moved(0, 5, x);
  double s = 0;
  for (int i = 0; i < 400; i++) s = s * 1.01 + y[i];
  printf(\"%.17g\\n\", s);
}}
"
    );
    prints_the_same_anew("moved", &text);
}
