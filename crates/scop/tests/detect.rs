//! Parts that no pragma marks, and code in their place.

mod support;

use support::{SANITIZED, budget, detected, in_tiles, run};
use tangram_scop::{Detected, parts};

fn lines(found: &Detected) -> Vec<(usize, usize)> {
    found.parts.iter().map(|part| (part.first_line, part.last_line)).collect()
}

const SEVERAL: &str = "\
static int calls;
static void note(void) { calls++; }
void f(int n, double A[20][20], double B[20][20], double *x) {
  double s = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      A[j][i] += B[j][i];
  s = 1;
  for (int i = 0; i < n; i++) {
    x[i] = s;
  }
  s = 2;
  note();
  for (int t = 0; t < 3; t++) {
    note();
    for (int i = 1; i < n; i++)
      for (int j = 0; j < n; j++) B[j][i] += A[j][i - 1] * s;
  }
  for (int t = 0; x[0] < 40; t++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        x[i] += A[j][i] * t + 1;
}
void g(int n, double *x) {
  int i;
#pragma scop
  for (i = 0; i < n; i++) x[i] = 2 * x[i];
#pragma endscop
  for (int k = 0; k < n; k++)
    x[k] += k;
}
";

#[test]
fn parts_reach_from_a_loop_to_a_loop() {
    let found = detected(SEVERAL);
    assert_eq!(lines(&found), [(5, 11), (16, 17), (20, 22), (26, 28), (29, 30)]);
    let marked: Vec<bool> = found.parts.iter().map(|part| part.marked).collect();
    assert_eq!(marked, [false, false, false, true, false]);
    assert_eq!(found.parts[0].scop.statements.len(), 3);
    assert!(found.parts[2].braced && !found.parts[1].braced);
    let refused: Vec<(usize, &str)> =
        found.refused.iter().map(|problem| (problem.line, problem.message.as_str())).collect();
    assert_eq!(refused.len(), 2, "{refused:?}");
    assert!(
        refused[0].0 == 15 && refused[0].1.contains("`note()` calls a function"),
        "{refused:?}"
    );
    assert!(refused[1].0 == 19 && refused[1].1.contains("`x[0] < 40`"), "{refused:?}");
    assert_eq!(parts(SEVERAL, &budget()).expect("the marked part").len(), 1);
}

#[track_caller]
fn refuses(body: &str, message: &str) {
    let text =
        format!("int g;\nvoid f(int n, double *x, volatile int *v) {{\n  int i;\n{body}\n}}\n");
    let found = detected(&text);
    let first = found.refused.first().map_or("", |problem| problem.message.as_str());
    assert!(found.parts.is_empty() && first.contains(message), "{body}: {found:?}");
}

#[test]
fn what_cannot_be_replaced_is_left_alone() {
    refuses(
        "  int *p = &i;\n  for (i = 0; i < n; i++)\n    x[i] = 0;\n  x[*p] = 1;",
        "`i` is used behind",
    );
    refuses("  for (g = 0; g < n; g++) x[g] = 0;", "`g` is global");
    refuses(
        "  for (i = 0; i < n; i++) {\n    if (i == 3) break;\n    x[i] = 0;\n  }\n  x[i] = 1;",
        "`i` is used behind its loop",
    );
    refuses("  for (i = 0; i < n; i++) x[i] = v[0];", "is volatile");
    refuses("  for (i = 0; i < n; i++) {\n    if (x[i] > 0) return;\n  }", "leaves the loop");
}

#[test]
fn variables_that_are_used_behind_a_part_are_set_there() {
    let loops = "for (i = 0; i < n; i++)\n      x[i] = 0;";
    for body in [
        format!("  {loops}\n  x[i] = 1;"),
        format!("  {loops}\n  if (n) i = 1;\n  x[i] = 1;"),
        format!("  while (n-- > 0) {{\n    x[0] = i;\n    {loops}\n  }}"),
        format!("  while (x[0] < 1) {{\n    x[i] += 1;\n    {loops}\n  }}"),
    ] {
        let text = format!("void f(int n, double *x) {{\n  int i;\n{body}\n}}\n");
        let parts = detected(&text).parts;
        assert_eq!(parts.len(), 1, "{text}");
        let finals: Vec<&str> = parts[0].finals.iter().map(|own| own.text.as_str()).collect();
        assert_eq!(finals, ["for (i = 0; i < n; i++) { }"], "{text}");
    }
}

#[test]
fn loops_inside_a_condition_on_data_are_parts() {
    let text = "void f(int n, double *x) {
  for (int t = 0; t < n; t++)
    if (x[t] > 0)
      for (int i = 0; i < n; i++)
        x[i] += 1;
    else
      x[t] = 3;
}
";
    let found = detected(text);
    assert_eq!(lines(&found), [(4, 5)]);
    assert!(found.parts[0].braced);
}

#[test]
fn what_is_said_of_other_loops_stays_beside_functions_that_are_not_read() {
    let text = "int f(int n) { what is; }
void g(int n, int *x) {
  for (int i = 0; i < n; i++) h(x);
}
";
    let found = detected(text);
    assert!(found.parts.is_empty());
    let refused: Vec<usize> = found.refused.iter().map(|problem| problem.line).collect();
    assert_eq!(refused, [1, 3]);
}

#[test]
fn headers_stay_as_they_are() {
    let text = "# 1 \"own.c\"\n# 1 \"other.h\" 1\nstatic void g(int n, int *x) {\n  for (int i = 0; i < n; i++)\n    x[i] = 0;\n}\n# 2 \"own.c\" 2\nvoid f(int n, int *x) {\n  for (int i = 0; i < n; i++)\n    x[i] = 0;\n}\n";
    assert_eq!(lines(&detected(text)), [(3, 4)]);
}

#[test]
fn code_in_the_place_of_parts_computes_the_same() {
    let after = in_tiles(SEVERAL, &detected(SEVERAL).parts);
    assert!(!after.contains("#pragma scop") && after.contains("    note();\n"), "{after}");
    let main = "\
int main(void) {
  for (int n = 1; n < 20; n += 3) {
    fill(&one), fill(&two), calls = 0;
    before_f(n, one.A, one.B, one.x), before_g(n, one.x);
    f(n, two.A, two.B, two.x), g(n, two.x);
    if (memcmp(&one, &two, sizeof one)) return 1;
  }
  return calls != 4;
}
";
    let start = "\
#include <string.h>
#define note before_note
#define calls before_calls
#define f before_f
#define g before_g
";
    let data = "\
#undef note
#undef calls
#undef f
#undef g
static struct Data { double A[20][20], B[20][20], x[20]; } one, two;
static void fill(struct Data *data) {
  double *cell = (double *)data;
  for (unsigned i = 0; i < sizeof *data / sizeof *cell; i++) cell[i] = i % 17 + 1;
}
";
    let code = format!("{start}{SEVERAL}{data}{after}{main}");
    let Some(runs) = run("detect", &code, SANITIZED, &[&[]]) else { return };
    assert!(runs[0].status.success(), "{after}\n{}", String::from_utf8_lossy(&runs[0].stderr));
}

#[test]
fn arrays_that_are_assumed_not_to_overlap_are_named() {
    let distinct = |parameters: &str| {
        let text = format!(
            "double G[9], H[9];\nvoid f({parameters}) {{\n  for (int i = 0; i < 9; i++)\n    \
             p[i] = q[i] + G[i] + H[i];\n}}\n"
        );
        detected(&text).parts.remove(0).distinct
    };
    assert_eq!(distinct("double *p, double q[]"), ["q", "G", "H", "p"]);
    assert_eq!(distinct("double *restrict p, const double *q"), [""; 0]);
    // A scalar may stand where a pointer of its type leads; a parameter, if its address is taken.
    let scalars = |declared: &str, bound: &str| {
        let text = format!(
            "double s;\nint k;\nvoid f(double *p, int n) {{\n  {declared}\n  for (int i = 0; i < {bound}; \
             i++)\n    p[i] += s + t;\n}}\n"
        );
        detected(&text).parts.remove(0).distinct
    };
    assert_eq!(scalars("double t = 1;", "n"), ["s", "p"]);
    assert_eq!(scalars("double t = 1, *q = &t;", "k"), ["s", "t", "p"]);
    assert_eq!(scalars("static double t; int *q = &n;", "n"), ["s", "t", "p"]);
    // Nothing is written where `q` could lead.
    assert_eq!(distinct("double p[restrict 9], double q[9]"), [""; 0]);
    assert_eq!(distinct("double p[9], const double *restrict q"), ["G", "H", "p"]);
}

#[test]
fn a_nest_that_is_refused_takes_no_other_along() {
    let deep = (0..150).fold("i != 0".to_owned(), |inner, i| format!("i != {i} && !({inner})"));
    let odd = format!("for (int i = 0; i < n; i++) if ({deep}) A[i][0] = 1;");
    let nest = "for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) A[i][j] += B[i][j];";
    let text = |items: &[&str]| {
        let declared = "static double A[400][400], B[400][400];";
        format!("{declared}\nvoid f(int n) {{\n{}\n}}\n", items.join("\n"))
    };
    let lines = |items: &[&str]| -> Vec<(usize, usize)> {
        detected(&text(items)).parts.iter().map(|part| (part.first_line, part.last_line)).collect()
    };
    assert_eq!(lines(&[nest, nest]), [(3, 4)]);
    assert_eq!(lines(&[nest, &odd]), [(3, 3)]);
    assert_eq!(lines(&[&odd, nest]), [(4, 4)]);
    assert_eq!(lines(&[nest, nest, &odd, nest]), [(3, 4), (6, 6)]);
    // A chain is as deep as one link.
    let terms: Vec<String> = (0..600).map(|i| format!("i != {i}")).collect();
    let chain = format!("for (int i = 0; i < n; i++) if ({}) A[i][0] = 1;", terms.join(" && "));
    assert_eq!(lines(&[nest, &chain]), [(3, 4)]);
}
