//! New loops beside those of the source: what types hold, which arrays overlap, where control wraps
//! around, and where definitions stand.

mod support;

use support::{SANITIZED, budget, detected, run};
use tangram_polyhedral::ast::{Ast, AstOptions};
use tangram_polyhedral::optimise::Recipe;
use tangram_scop::{Emit, Part, rewrite};

const PRINTF: &str = support::PRINTF;

/// Writes the parts of a program in another order, as the command does.
#[track_caller]
fn anew(text: &str, emit: &Emit) -> String {
    let parts = detected(text).parts;
    let mut recipe = Recipe::default();
    recipe.tile = Some(vec![3, 4]);
    let mut options = AstOptions::default();
    options.guard_idle_loops = true;
    let code = |part: &Part| {
        let best = part.scop.optimise(&recipe, &budget()).expect("a schedule");
        Ast::of_tree(&best.tree, part.scop.context.as_ref(), &options, &budget()).expect("code")
    };
    let codes: Vec<Ast> = parts.iter().map(code).collect();
    let pairs: Vec<_> = parts.iter().zip(codes.iter().map(Some)).collect();
    rewrite(text, &pairs, emit).unwrap_or_else(|problem| panic!("{problem}\n{text}"))
}

/// Runs both forms of functions that `main` calls; returns the new one.
#[track_caller]
fn same(name: &str, functions: &str, calls: &str) -> String {
    same_by(name, functions, calls, SANITIZED)
}

/// As [`same`], compiled with these flags.
#[track_caller]
fn same_by(name: &str, functions: &str, calls: &str, flags: &[&str]) -> String {
    let show = "
static void show(void) {
  unsigned long long h = 17; int k = 0;
  while (k < 900) { h = h * 31 + (unsigned long long)(x[k] * 4 + y[k]); k++; }
  printf(\"%llx\\n\", h);
}
static void reset(void) { int k = 0; while (k < 900) { x[k] = k * 7 % 31; y[k] = k * 5 % 23; k++; } }
";
    let head = format!("{PRINTF}#include <limits.h>\nstatic double x[900], y[900];\n{functions}");
    let main = format!("int main(void) {{\n{calls}\n  return 0;\n}}\n");
    let before = format!("{head}{show}{main}");
    // What is compiled goes through the preprocessor; what is read does not need it.
    let new = anew(&before.replace("#include <limits.h>\n", "\n"), &Emit::default());
    let after = new.replacen("static double x", "#include <limits.h>\nstatic double x", 1);
    let runs = [before, after.clone()].map(|program| run(name, &program, flags, &[&[]]));
    let [Some(one), Some(two)] = runs else { return after };
    assert!(one[0].status.success() && !one[0].stdout.is_empty(), "{:?}", one[0]);
    assert_eq!(one[0], two[0], "{after}");
    after
}

#[test]
fn bounds_hold_at_the_limits_of_every_type() {
    let types = [
        ("char", "CHAR_MIN", "CHAR_MAX"),
        ("signed char", "-128", "127"),
        ("unsigned char", "0", "255"),
        ("short", "-32768", "32767"),
        ("unsigned short", "0", "65535"),
        ("int", "INT_MIN", "INT_MAX"),
        ("unsigned", "0", "UINT_MAX"),
        ("long", "LONG_MIN", "LONG_MAX"),
        ("unsigned long", "0", "ULONG_MAX"),
        ("long long", "LLONG_MIN", "LLONG_MAX"),
    ];
    let (mut functions, mut calls) = (String::new(), String::new());
    for (at, (ty, least, greatest)) in types.into_iter().enumerate() {
        functions += &format!(
            "void sweep{at}({ty} t, {ty} n) {{
  for (int s = 0; s < t && s < 9; s++)
    for (int i = 1; i < n && i < 40; i++) x[i] = x[i] * 0.5 + x[i - 1] * 0.25;
  for (int j = 0; j < n && j < 20; j++)
    for (int i = 0; i < t && i < 20; i++) y[i * 25 + j] += x[i * 25 + j];
}}
"
        );
        for first in [least, greatest, "0", "7", "33"] {
            for second in [least, greatest, "2", "33"] {
                calls += &format!("  reset(); sweep{at}({first}, {second}); show();\n");
            }
        }
    }
    same("limits", &functions, &calls);
}

#[test]
fn arrays_that_overlap_run_as_the_source_does() {
    let new = same(
        "overlap",
        "struct view { double *data; int size; };
void shifted(int n, double *p, double *q) {
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) p[i * 20 + j] = q[i * 20 + j] + 1;
}
void row(int n) {
  double *p = x + 21;
  for (int i = 0; i < n; i++)
    for (int j = 1; j < n; j++) x[j * 20 + i] = p[j - 1] * 0.5 + x[j * 20 - 20 + i];
}
void strided(int n, double *p, double *q) {
  for (int j = 0; j < n && j < 8; j += 3)
    for (int i = 0; i < 9; i++) p[i * 20 + j] += q[j * 20 + i];
}
void members(int n) {
  struct view v = { x + 3, n }, w = { x, n };
  struct view *a = &v, *b = &w;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) a->data[i * 20 + j] += b->data[i * 20 + j];
}",
        "  reset(); shifted(18, x, x + 1); show();
  reset(); shifted(18, x + 21, x); show();
  reset(); shifted(18, x, x + 400); show();
  reset(); shifted(18, x, x + 357); show();
  reset(); shifted(0, x, x); show();
  reset(); shifted(INT_MIN, x, x); show();
  reset(); row(19); show();
  reset(); strided(8, x, x + 1); show(); strided(7, x, y); show(); strided(8, x + 168, x); show();
  reset(); members(17); show();",
    );
    assert_eq!(new.matches(" || TANGRAM_AT(").count(), 4, "{new}");
}

#[test]
fn what_is_said_not_to_overlap_is_not_compared() {
    let text = |restrict: &str| {
        format!(
            "void f(int n, double *{restrict} p, const double *q) {{
  for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) p[i * 20 + j] = q[i * 20 + j];
}}
"
        )
    };
    let is_compared = |text: &str, emit: &Emit| anew(text, emit).contains("TANGRAM_AT");
    assert!(is_compared(&text(""), &Emit::default()));
    assert!(!is_compared(&text("restrict"), &Emit::default()));
    assert!(!is_compared(&text(""), &Emit { no_alias: true, ..Emit::default() }));
}

#[test]
fn control_that_wraps_around_runs_as_the_source_does() {
    same(
        "wraps",
        "void less(unsigned n, unsigned m) {
  for (unsigned j = 0; j < n - 1 && j < 20; j++)
    for (unsigned i = 0; i < m && i < 20; i++) y[i * 25 + j] += x[i * 25 + j];
}
void mixed(int n, unsigned m) {
  for (int j = n; j < m && j < 9; j++)
    for (int i = 0; i < m && i < 20; i++) y[i * 25 + j + 5] += 1;
}
void small(int n, int m) {
  for (unsigned char j = n; j < m && j < n + 9; j++)
    for (short i = 0; i < 20; i++) y[i * 25 + j % 16] += x[i];
}
void cast(long n, int m) {
  for (int j = 0; j < (unsigned)n && j < 20; j++)
    for (int i = 0; i < m && i < 20; i++) y[i * 25 + j] += x[i * 25 + j];
}",
        "  reset(); less(0, 5); less(1, 5); less(UINT_MAX, UINT_MAX); show();
  reset(); mixed(-3, 7); mixed(0, 8); mixed(-1, UINT_MAX); show();
  reset(); small(250, 254); small(1000, 240); small(-2, 5); small(3, 7); show();
  reset(); cast(-1, 4); cast(4294967296 + 3, 5); cast(LONG_MIN, 6); cast(7, 7); show();",
    );
}

#[test]
fn a_char_has_signs_or_none_as_the_compiler_chooses() {
    let functions = "void down(long m) {
  for (char j = m; j > 0; j -= 2)
    for (short i = 0; i < m % 4 && i < 8; i++) y[j * 3 + i] = x[i] + 0.25;
}
void up(int n, char c) {
  for (char j = n; j < c && j < 20; j++)
    for (int i = 0; i < 9; i++) y[(j + 128) * 2 + i] += (char)n * x[i];
}
void both(char c, char d) {
  for (int j = 0; j < c && j < 12; j++)
    for (char i = 0; i < d; i++) y[j * 25 + i % 16] += x[i % 16 + j * 25] + c;
}";
    let calls =
        "  reset(); down(254); show(); down(126); show(); down(130); show(); down(-2); show();
  reset(); up(200, 5); show(); up(-3, 9); show(); up(0, 19); show(); up(7, -2); show();
  reset(); both(127, 127); show(); both(-1, 4); show(); both(5, -100); show();";
    for sign in ["-fsigned-char", "-funsigned-char"] {
        let flags: Vec<&str> = SANITIZED.iter().copied().chain([sign]).collect();
        let new = same_by(&format!("char{sign}"), functions, calls, &flags);
        assert!(new.contains("fits"), "{new}");
    }
}

#[test]
fn subscripts_that_wrap_around_run_as_the_source_does() {
    let new = same(
        "subscripts",
        "void moved(unsigned m) {
  for (unsigned j = 0; j < 20; j++)
    for (unsigned i = 1; i < 20; i++) y[i * 25 + j] += x[i + m];
}
void product(int n) {
  for (unsigned j = 0; j < 15 && j < n - 6; j += 2)
    for (long i = 0; i < 15 && i <= n / 5; i++) x[j * n + j] = x[j + 2] + y[j * n + j + 1] * i;
}
void wide(unsigned long n) {
  for (unsigned long j = 0; j < 5; j++)
    for (unsigned long i = 0; i < 6; i += 2) x[i * n + j] += y[j * 7 + i];
}
void ends(long n, double *p, double *q) {
  for (long j = 0; j < 8 && j < n; j++)
    for (int i = 0; i < 9; i++) if (j < n - 6) p[j] += q[i];
}
void tested(unsigned n, double *p) {
  for (unsigned j = 0; j < n && j < 20; j++)
    for (unsigned i = 0; i < n && i < 20; i++) y[i * 25 + j] = i > 0 ? p[i - 1] + p[(i - 1) * 20 + j] : 7;
}",
        "  reset(); moved(UINT_MAX); show(); moved(UINT_MAX - 3 + 4); show(); moved(30); show();
  reset(); product(INT_MAX); show(); product(16); show(); product(0); show();
  reset(); wide(1ul << 63); show(); wide(9); show(); wide(0); show(); wide((1ul << 63) + 9); show();
  reset(); ends(LONG_MIN, x, y); ends(LONG_MIN + 1, x, y); ends(LONG_MAX, x, y); show();
  reset(); ends(20, x, x + 1); ends(2, x, y); show();
  reset(); tested(18, x); show(); tested(UINT_MAX, x); show(); tested(0, x); show();",
    );
    for test in ["<= 4294967296.0", "<= 4.6", "-(1LL << 60)"] {
        assert!(new.contains(test), "{test}\n{new}");
    }
}

#[test]
fn other_ways_to_write_loops_are_read() {
    let new = same(
        "ways",
        "static double a[20][25];
#define COUNT(x) (sizeof(x) / sizeof((x)[0]))
void sizes(void) {
  for (unsigned j = 0; j < sizeof(a[0]) / sizeof(a[0][0]); j++)
    for (unsigned i = 0; i < sizeof(a) / sizeof(*a); i++) a[i][j] += x[i * 25 + j];
}
void digraphs(int n) <%
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) y<:i * 20 + j:> += x<:i * 20 + j:>;
%>
void values(int n) {
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++)
      y[i * 20 + j] = ({ double t = a[i][j], u = x[i]; t > u ? t : u; });
}",
        "  reset(); sizes(); digraphs(19); values(20); show();",
    );
    for line in ["a[i][j] += x", "+= x[ ", "({ double t = a["] {
        assert!(new.contains(line), "{line}\n{new}");
    }
}
