//! Forms of C that people write, found without pragmas: each program prints the same before
//! and after, compiled with sanitizers.

mod support;

use support::{budget, detected, in_tiles};
use tangram_presburger::Relation;
use tangram_scop::places;

fn rewritten(text: &str) -> String {
    in_tiles(text, &detected(text).parts)
}

const START: &str = "int printf(const char *, ...);
static double A[16][16], B[16][16], x[300], y[300];
static int k[300];
static void fill(void) {
  for (int i = 0; i < 300; i++) { x[i] = i * 7 % 11 + 1; y[i] = i * 5 % 13 + 2; k[i] = i * 3 % 7; }
  for (int i = 0; i < 256; i++) { A[i / 16][i % 16] = i * 7 % 17 + 1; B[i / 16][i % 16] = i % 5; }
}
static void show(void) {
  double s = 0;
  for (int i = 0; i < 300; i++) s = s * 1.0001 + x[i] + 3 * y[i] + k[i];
  for (int i = 0; i < 256; i++) s = s * 1.0001 + A[i / 16][i % 16] - B[i / 16][i % 16];
  printf(\"%.17g\\n\", s);
}
";

/// Takes functions of `int n`, each on lines of its own, as they are and written anew, and runs
/// them for several sizes. All loops must be in parts, and all parts are written anew.
#[track_caller]
fn print_the_same(name: &str, functions: &[&str]) {
    let (mut text, mut main) = (String::new(), String::new());
    for (at, function) in functions.iter().enumerate() {
        text.push_str(&function.replacen("f(", &format!("f{at}("), 1));
        text.push('\n');
        main.push_str(&format!("    fill(); f{at}(n); printf(\"{at} %d: \", n); show();\n"));
    }
    let declared: String =
        "extern double A[16][16], B[16][16], x[300], y[300];\nextern int k[300];\n".into();
    let found = detected(&format!("{declared}{text}"));
    let refused = found.refused.iter().filter(|refused| !refused.message.contains("`do {"));
    let refused: Vec<_> = refused.collect();
    assert!(refused.is_empty(), "{refused:?}");
    assert!(found.parts.len() >= functions.len());
    let after = rewritten(&format!("{declared}{text}")).replacen(&declared, "", 1);
    let main = format!(
        "int main(void) {{\n  static const int sizes[] = {{0, 1, 2, 7, 12}};\n  \
         for (int at = 0; at < 5; at++) {{\n    int n = sizes[at];\n{main}  }}\n}}\n"
    );
    let [before, after] = [&text, &after].map(|text| format!("{START}{text}{main}"));
    support::print_the_same(name, &before, &after);
}

#[test]
fn what_shares_a_line_with_a_part_stays() {
    let functions = [
        "void f(int n) { for (int i = 0; i < n; i++) x[i] = i; }",
        "void f(int n) { int i, j; x[0] = 3; for (i = 0; i < n; i++) for (j = 0; j < n; j++) A[i][j] += x[i]; y[0] = x[1]; }",
        "void f(int n) { /* \u{e4} */ if (n > 5) for (int i = 0; i < n; i++) x[i] = i; else for (int i = 0; i < n; i++) y[i] = n; x[n] = 1; }",
        "void f(int n) { for (int i = 0; i < n; i++) x[i] = i; // the first\n  k[0]++; for (int i = 0; i < n; i++)\n    x[i] += 2; /* the\n  last */ }",
        "void f(int n) {\n  for (int i = 0; i < n; i++)\n    if (i > 1)\n      x[i] = i;\n\n\n  k[3]++; for (int i = 0; i < n; i++) if (i > 1) x[i] += i;\n}",
        "void f(int n) { do { for (int i = 0; i < n; i++) { x[i] += 1; } k[1] += n; for (int i = 0; i < n; i++) { y[i] += 1; } } while (k[1] < 30 && n > 1); }",
    ];
    print_the_same("lines", &functions);
    let text =
        "int n, x[9];\nvoid f(void) { x[0] = 1; for (int i = 0; i < n; i++) x[i] = 0; // all\n}\n";
    let after = rewritten(text);
    assert!(
        after.contains("void f(void) { x[0] = 1;\n") && after.contains(" // all\n}\n"),
        "{after}"
    );
}

#[test]
fn what_macros_write_is_left_alone() {
    let place = |original: &str, preprocessed: &str| {
        let found = detected(preprocessed);
        places(original, &[&found.parts[0]]).remove(0)
    };
    let text = "int n, x[9];\nvoid f(void) { BOTH(n) }\n";
    let seen = "int n, x[9];\nvoid f(void) { x[0] = 1; for (int i = 0; i < n; i++) x[i] = 0; }\n";
    let problem = place(text, seen).expect_err("no place");
    assert!(problem.line == 2 && problem.message.contains("a macro writes"), "{problem}");
    let text = "int n, x[9];\nvoid f(void)\n{\n  WRAP(\n    for (int i = 0; i < n; i++)\n      x[i] = 0;)\n}\n";
    let seen = "int n, x[9];\nvoid f(void)\n{\n  for (int i = 0; i < n; i++) x[i] = 0;\n\n\n}\n";
    assert!(place(text, seen).expect_err("no place").message.contains("over several lines"));
    // A loop that a macro begins is found on lines of its own.
    let text = "int n, x[9];\nvoid f(void)\n{\n  FOR(i, n)\n    x[i] = 0; // all\n}\n";
    let seen = "int n, x[9];\nvoid f(void)\n{\n  for (int i = 0; i < n; i++)\n    x[i] = 0;\n}\n";
    assert_eq!(&text[place(text, seen).expect("a place")], "  FOR(i, n)\n    x[i] = 0;");
}

#[test]
fn control_under_another_name() {
    let functions = [
        // `continue` under conditions that are affine, and its rest.
        "void f(int n) {
  for (int i = 0; i < n; i++) {
    x[i] += 1;
    if (i == 3) continue;
    for (int j = 0; j < n; j++) {
      if (j == i) continue;
      if (j > 5) { A[i][j] += 2; continue; } else B[i][j] += 1;
      A[i][j] = A[i][j] / x[i];
    }
    y[i] += A[i][i];
  }
}",
        // `continue` where only data knows.
        "void f(int n) {
  for (int i = 0; i < n; i++) {
    double t = x[i];
    y[i] = t;
    if (x[i] > 5) continue;
    double u = x[i];
    if (u > 3) { u -= 1; }
    x[i + 1] += u;
  }
}",
        "void f(int n) {
  for (int i = n; i-- > 0;) {
    for (int j = i + 1; j < n; j++) x[i] -= A[i][j] * x[j];
    x[i] /= A[i][i] + 20;
  }
  for (int i = n; i--;) y[i] += y[i + 1];
  for (unsigned i = n; i-- != 0;) k[i] += k[i + 1];
  for (int i = n; --i >= 2;) y[i] += x[i];
  for (int i = -1; ++i < n;) y[i] += x[i + 1];
}",
        "void f(int n) {
  for (int i = 0; i < n; i++) {
    switch (i % 4) {
    case 0: x[i] = 1; y[i] = x[i]; break;
    case 1:
    case 2: { double t = x[i]; x[i] = y[i]; y[i] = t; } break;
    default: y[i] = 0;
    }
    switch (k[i]) { case 0: k[i] = 9; case 3: k[i] += 2; break; default: k[i]--; }
  }
}",
        "void f(int n) {
  int i;
  double a, b;
  for (i = 0, a = 2; i < n; i++) x[i] = y[i] = a += i;
  for (i = 0; i < n; i++) { b = x[i], y[i] += b * 2; }
  x[n] = a;
}",
        "void f(int n) {
  for (int i = 0; i < n; i += 1) x[!i ? 0 : i - 1] += i > 2 ? y[i - 1] : y[i];
  for (int i = 11; i >= 0; i -= 3) k[i] ^= 1;
  for (unsigned i = 0; i != 12; i = 1 + i) k[i] <<= 1;
  for (unsigned short i = 0; i < 12; i += 1) k[i] += (unsigned char)(x[i] * 255);
}",
    ];
    print_the_same("control", &functions);
}

#[test]
fn loops_end_where_any_affine_condition_fails() {
    let functions = [
        "void f(int n) {
  for (int i = 0; i + 1 < n; i++) x[i] += y[i + 1];
  for (unsigned i = 1; i + 1 < n; i++) y[i] = x[i - 1] + x[i + 1];
  for (int i = 0; n - i > 0; i++) k[i] += n;
  for (int i = n; 0 < i - 1; i--) x[i] = i;
}",
        "void f(int n) {
  for (int i = 0; 2 * i < n; i++)
    for (int j = i; j + i <= n; j++) A[i][j] += 1;
  for (int i = 1; n >= i * 3 + 1 && i + 2 < 9; i += 2) k[i] = n;
  for (int i = 12; n - i < 3 + i; i -= 4) y[i] *= 2;
}",
    ];
    print_the_same("ends", &functions);
    // These hold again, or never end.
    for end in ["i - 2 * i < n", "i * i < n", "i % 3 < n", "i - i < n", "i + 1 > n"] {
        let text =
            format!("int n, x[9];\nvoid f(void) {{ for (int i = 0; {end}; i++) x[i] = 0; }}\n");
        let message = &detected(&text).refused[0].message;
        assert!(message.contains("must compare the loop variable with a bound"), "{message}");
    }
}

#[test]
fn loops_that_are_left() {
    let functions = [
        "void f(int n) {
  for (int i = 0; i < n; i++) {
    x[i] += y[i];
    if (i == 4) break;
    y[i + 1] += x[i];
    if (2 * i >= n - 1) { k[i]++; break; }
    for (int j = 0; j < n; j++) {
      if (j > i + 2) break;
      A[i][j] += x[j];
      if (j == 2) continue;
      if (i > 3 && j == 5) break; else B[j][i] += A[i][j];
    }
  }
  for (int i = n - 1; i >= 0; i -= 2) { if (i < 3) break; x[i] -= 2; }
  for (int i = 0; i < n; i++) { y[i] = 3; break; }
}",
        // Which one leaves is known for each column, and the others go on.
        "void f(int n) {
  for (int j = 0; j < n; j++)
    for (int i = j; i < n; i++) {
      if ((i + j) % 5 == 4) { x[i] += 1; if (j > 3) break; x[j] -= 2; }
      A[i][j] += x[i];
    }
}",
        // Only data says where a search ends.
        "void f(int n) {
  for (int i = 0; i < n; i++) {
    int at = -1;
    for (int j = 0; j < n; j++) {
      if (A[i][j] < 3) continue;
      if (A[i][j] > 11 + i) { at = j; break; }
      B[j][i] += 1;
    }
    k[i] += at;
  }
}",
    ];
    print_the_same("left", &functions);
}

#[test]
fn pointers_to_rows() {
    let functions = [
        "void f(int n) {
  for (int i = 0; i < n; i++) {
    const double *row = A[i], *first = &x[2 * i];
    double *out = y + i * n + 1;
    for (int j = 0; j < n; j++) {
      double *last = out + j;
      last[1 - i % 2] += row[j] * first[j] + *(row + 1) + *row;
      *last -= last[3];
    }
  }
}",
        // The name hides another one; values are those where the pointer is declared.
        "void f(int n) {
  double *row = y;
  for (int i = 0; i < n; i++) {
    double *row = B[n - 1 - i], (*rows)[16] = A + i;
    { double x = row[2] + rows[1][5]; row[i] = x; }
    for (int j = 3; j < n; j++) row[j] += i;
  }
  for (int i = 0; i < n; i++) row[i] += 2;
}",
        "void f(int n) {
  for (int c = 0; c < 2; c++)
    for (int i = 1; i < n - 1; i++) {
      double *at = x + (c * n + i) * n, *up = at - n, *down = &at[n];
      for (int j = 0; j < n; j++) {
        if (at[j] > 4) at[j] = up[j] + down[j];
        y[j] += (i > c ? at : at)[0];
      }
    }
}",
    ];
    print_the_same("rows", &functions[..2]);
    print_the_same("flat-rows", &[&functions[2].replace("(i > c ? at : at)[0]", "at[0]")]);
    let refused = |body: &str| {
        let text = format!(
            "void f(int n, double *x, double A[8][8], int *k) {{\n\
             for (int i = 0; i < n; i++) {{ {body} }}\n}}\n"
        );
        let found = detected(&text);
        assert!(found.parts.is_empty(), "{body}");
        found.refused.into_iter().map(|problem| problem.message).collect::<Vec<_>>().join("; ")
    };
    for (body, message) in [
        ("double *p = x; p[i] = 0; p++;", "gets another value in the part"),
        ("double *p = A[k[i]]; p[i] = 0;", "only loops and parameters decide"),
        ("k[i] = 0; double *p = x + k[0]; p[i] = 0;", "only loops and parameters decide"),
        ("float *p = (float *)x; p[i] = 0;", "only loops and parameters decide"),
        ("int *p = A[i]; p[i] = 0;", "another type"),
        ("double *p = &A[0][0]; p[i * 8] = 0;", "use the array itself"),
        ("double *p = x; x[i] = p == x;", "only its elements are followed"),
        ("double *p = x; x[i] = sizeof *p;", "declared in the part"),
    ] {
        let said = refused(body);
        assert!(said.contains(message), "{body}: {said}");
    }
}

#[test]
fn names_that_hide_others_and_pointers() {
    let functions = [
        "double s = 4;
void f(int n) {
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int j = 0; j < n; j++) { double t = A[i][j]; s += t; }
    x[i] = s;
    { double s = 1; { double s = x[i] + 1; y[i] = s; } y[i] += s; }
    y[i] += s;
  }
  x[n] = s;
}",
        "void f(int n) {
  for (int i = 0; i < n; i++) {
    int k = i + 1;
    float x = k * 2, z = x + k;
    if (y[i] > 4) { int k = 7; z += k; }
    y[i] += z;
  }
}",
        "void f(int n) {
  double *p = x, *q = y;
  for (int i = 0; i < n; ++i) *(q + i) = 3 * *(p + i) + *(i + q);
  for (int i = 0; i < n; ++i) *(*(A + i) + 2) += (*B)[i] + **A + *(q + n - i);
  for (int i = 0; i < n; ++i) { *p += q[i]; (*(k + i))++; }
  for (int i = 0; i < n; ++i) { *(y + (n - i + 30)) += i; *(2 * n + x - i) = n; }
}",
        "void f(int n) {
  for (int i = 0; i < n; i++) {
    double t[4], u[2][3];
    for (int j = 0; j < 4; j++) t[j] = x[4 * i + j] * j;
    for (int j = 0; j < 6; j++) u[j / 3][j % 3] = t[3 - j / 2];
    for (int j = 0; j < 4; j++) y[4 * i + j] = t[3 - j] + u[j % 2][j / 2];
  }
}",
    ];
    print_the_same("names", &functions);
}

#[test]
fn arrays_in_one_dimension() {
    let functions = [
        // Known for all sizes: the code of the source is not kept.
        "void f(int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double s = 0;
      for (int k = 0; k < n; k++) s += x[i * n + k] * A[k][j];
      y[i * n + j] += 2 * s;
    }
}",
        "void f(int n) {
  for (int t = 0; t < 3; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        x[i * n + j] = x[(i - 1) * n + j] + x[i * n + j + n] + *(x + i * n + j - 1) + x[j + 1 + n * i];
}",
        "void f(int n) {
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++) {
      double t = x[i * n + j];
      x[i * n + j] = x[j * n + i];
      x[j * n + i] = t;
    }
}",
        // Rows of an unknown length, and padding.
        "void f(int n) {
  int w = n % 5, h = n - 2, c = 2;
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= w; j++)
      for (int d = 0; d < 3; d++)
        x[(i * n + j) * 2 + d] = y[i * (w + 2) + j + 1] + x[(i * n + j) * 2 + d + 1];
  for (int k = 0; k < c; k++)
    for (int i = 0; i < h; i++)
      for (int j = 0; j < h; j++)
        for (int u = 0; u < 3; u++) y[(k * n + i) * n + j] += x[(k * n + i + u) * n + j + u];
}",
        // Strides that may be 0 or negative.
        "void f(int n) {
  int s = n - 2;
  for (int i = 0; i < n; i++) x[100 + i * s] += y[i * s + 40] + i;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) k[50 + i * s + j] = k[49 + i * s + j] + 1;
}",
        // A place that only data knows, and one that is written on the way.
        "void f(int n) {
  int t = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      if (y[i * n + j] > 7) x[i * n + j] += 1;
      x[k[j]] += x[i * n + j];
    }
  for (int i = 0; i < n; i++) { t = k[i]; x[t] += y[i]; x[0] += t; }
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) { t = k[i]; x[t] += y[i]; }
}",
    ];
    print_the_same("flat", &functions);
    let tests = |body: &str| {
        let text = format!("void f(int n, int m, double *x, double *y) {{\n{body}\n}}\n");
        let part = detected(&text).parts.remove(0);
        assert!(!part.flat.is_empty(), "{body}");
        part.scop.context.map(|context| context.to_string())
    };
    let loops = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) ";
    assert_eq!(tests(&format!("{loops}x[i * m + j] = 0;")), None);
    assert_eq!(tests(&format!("{loops}x[j * n + i] = y[(i + 2) * m + j];")), None);
    let wide = tests(&format!("{loops}x[i * n + j] = 0;")).expect("a test");
    let expected = "[n, m] -> { [] : m <= n }";
    let read = |text: &str| Relation::parse(text, &budget()).expect("a set");
    assert!(read(&wide).is_equal(&read(expected), &budget()).expect("decided"), "{wide}");
}

#[test]
fn integers_that_name_values() {
    let functions = [
        "void f(int n) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++) {
      const int at = i * n + j, up = at - n;
      x[at] = 0.25 * (x[up] + x[at + n] + x[at - 1] + x[1 + at]) + at / 3 - (i - 20) / 7;
    }
}",
        // Types of values, and values of values.
        "void f(int n) {
  for (int i = 0; i < n; i++) {
    long base = (long)i * n, half = i / 2;
    unsigned last = i - 1;
    int rest = (i - 5) % 3, low = -rest - (i - rest);
    for (int j = 0; j < n; j++) {
      size_t at = base + j;
      x[at] += y[half] * rest + low + (last > 7u) + (half - 9) / 2;
      if (x[at] > 30) { int more = at; y[more] += rest * rest; }
      if (rest > 0) k[at] += 1 - rest;
    }
  }
}"
        .replace("size_t", "unsigned long")
        .leak(),
        // Those that change, are declared twice, or hide one another are variables.
        "void f(int n) {
  for (int i = 0; i < n; i++) {
    int at = i * 2;
    { int at = i + 1; x[at] += 1; }
    int moved = i;
    moved += n;
    x[moved + at] += at;
    short narrow = 70000 + i;
    y[narrow & 255] += narrow;
  }
}",
    ];
    print_the_same("values", &functions);
    let text = "void f(int n, float *restrict x, const float *restrict y) {
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { int at = i * n + j; x[at] = y[at]; }
}";
    let part = detected(text).parts.remove(0);
    assert_eq!(part.flat.len(), 2, "{:?}", part.scop.may_writes);
    assert!(part.scop.must_writes.relations().count() == 1);
    assert!(in_tiles(text, &[part]).contains("x[i * n + j] = y[i * n + j];"));
}

/// Relations are built of names and numbers, never of text, so that no name means anything else.
#[test]
fn words_of_the_notation_of_sets_are_names_like_others() {
    let functions = [
        "void f(int mod) { for (int floor = 0; floor < mod; floor++) x[floor] = floor % 3; }",
        "void f(int rat) { for (int exists = 0; exists < rat; exists++) for (int not = exists; not < rat; not++) A[exists][not] += x[not + 1]; }",
        "void f(int infty) { for (int and = infty; and > 0; and -= 2) y[and / 2] = and; }",
        "void f(int o0) { for (int i0 = 0; i0 < o0; i0++) for (int o1 = 0; o1 < i0; o1++) A[o1][i0 - o1] += x[i0] * y[o1]; }",
        "void f(int min) { for (int max = 0; max < min; max++) { if (max == min / 2) break; x[max] = 1; } }",
    ];
    print_the_same("words", &functions);
}

#[test]
fn numbers_that_have_names() {
    let functions = [
        "enum { T0 = 4, U0, V0 = T0 * 2 + U0 };\nvoid f(int n) { for (int i = 0; i < n; i += T0) for (int j = i; j < i + T0 && j < n; j++) x[U0 * j] = j + V0; }",
        "enum { N1 = 10, HALF1 = N1 / 2, LESS1 = -HALF1 };\nvoid f(int n) { for (int i = N1; i > 0; i += LESS1) y[i / HALF1 + n] += i % N1; }",
        "static const unsigned short STEP2 = 3;\nvoid f(int n) { for (int i = 0; i < n; i = i + STEP2) { x[i] = 1; y[STEP2 * i] = 2; } }",
        "static const int S3 = 2;\nvoid f(int n) { const int T = 1 << S3; for (int i = 0; i < n; i += T) x[i * T] = i << S3; }",
        "enum { R4, G4, B4 };\nvoid f(int n) { for (int i = 0; i < n; i++) switch (i % 3) { case R4: x[i] = 1; break; case G4: y[i] = 2; break; case B4: x[i] = y[i]; } }",
        // Names of something else: the step of the second is what its function says.
        "enum { S5 = 5 };\nvoid f(int n) { const int S5 = 2; for (int i = 0; i < n; i += S5) x[i] = i; }",
    ];
    print_the_same("numbers", &functions[..5]);
    let hidden = format!("extern double x[300];\n{}", functions[5]);
    assert!(!detected(&hidden).refused.is_empty(), "a name that stands for two numbers");
    let after = rewritten(&format!("extern double x[300], y[300];\n{}", functions[0]));
    assert!(after.contains("x[U0 * ") && after.contains("+ V0"), "{after}");
}

#[test]
fn loops_that_declare_their_bounds() {
    let functions = [
        "void f(int n) { for (int i = 0, m = n / 2; i < m; i++) x[i + m] = i; }",
        "void f(int n) { for (int i = 0; i < n; ++i) for (int m = i + 2, j = 1; j < m; ++j) A[i][j] = m - j; }",
        "void f(int n) { for (long at = 0, end = n, more = 2 * n + 1; at < end; at++) { x[at] = more; y[at + more] = end; } }",
    ];
    print_the_same("beside", &functions);
    for other in [
        // One that changes, one of the variable itself, one that the start hides.
        "void f(int n) { for (int i = 0, m = n; i < m; i++) { x[i] = i; m--; } }",
        "void f(int n) { int m = 3; for (int i = m, m = n; i < m; i++) x[i] = i; }",
        "void f(int n) { for (int i = 1, m = i + n; i < m; i++) x[i] = i; }",
    ] {
        let found = detected(&format!("extern double x[300];\n{other}"));
        assert!(found.parts.is_empty() && !found.refused.is_empty(), "{other}");
    }
}
