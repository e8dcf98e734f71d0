//! What a program says beside what it does: assumptions, assertions, attributes, and labels.

mod support;

use support::{PRINTF, budget, detected, in_tiles, marked, print_the_same};
use tangram_scop::parts;

fn function(body: &str) -> String {
    format!("void f(int n, int m, double *restrict x, double *restrict y) {{\n{body}\n}}\n")
}

/// What glibc makes of `assert(n > 2)`.
const ASSERTED: &str = "((void) sizeof ((n > 2) ? 1 : 0), __extension__ ({ if (n > 2) ; else \
                        __assert_fail (\"n > 2\", \"f.c\", 2, __extension__ __PRETTY_FUNCTION__); }));";

/// Loops over `x` as rows of `n` that need the knowledge that rows do not overlap.
const ROWS: &str = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) x[i * n + j] += j;";

#[test]
fn facts_make_tests_of_sizes_needless() {
    let tests = |facts: &str| {
        let text = function(&format!("#pragma scop\n{facts} {ROWS}\n#pragma endscop"));
        let part = marked(&text).remove(0);
        assert_eq!(part.scop.context.is_some(), !facts.is_empty() || part.test.is_some());
        part.test.is_some()
    };
    assert!(tests(""));
    assert!(tests("__builtin_assume(n > 2);"));
    assert!(!tests("__builtin_assume(m <= n);"));
    assert!(!tests("__pencil_assume(n > 2 && m == n);"));
    assert!(!tests("(void)n; assert(m <= n);"));
    // What holds in some cases only is nothing to go by.
    assert!(tests("if (n < 9) __builtin_assume(m <= n);"));
    assert!(tests("if (x[0] < 9) { (void)x; __builtin_assume(m <= n); x[0] += 1; }"));
    // In front of a part that no pragma marks.
    let test = |before: &str| {
        let text = function(&format!("{before} {ROWS}"));
        detected(&text).parts.remove(0).test.is_some()
    };
    assert!(test("m = m + 1;") && !test("assert(m <= n);"));
    assert!(test("assert(m <= n); m = y[0];") && !test("assert(m <= n); (assert)(n > 1);"));
}

#[test]
fn assertions_stay_in_front_of_the_loops() {
    let body = format!("#pragma scop\n{ASSERTED}\n{ROWS}\n#pragma endscop");
    let text = function(&body);
    let after = in_tiles(&text, &marked(&text));
    let (check, loops) = (after.find("assert(n > 2);"), after.find("for ("));
    assert!(check.is_some() && check < loops, "{after}");
    let unknown = |body: &str| {
        let text = function(&format!("#pragma scop\n{body}\n#pragma endscop"));
        let problems = parts(&text, &budget()).expect_err("refused");
        let expected = "is asserted inside the part: move it in front of the loops";
        assert!(problems.iter().any(|p| p.message.contains(expected)), "{problems:?}");
    };
    unknown("for (int i = 0; i < n; i++) { assert(x[i] > 0); x[i] = 0; }");
    unknown("for (int i = 0; i < n; i++) x[i] = 0; assert(n > 0);");
    unknown("assert(x[0] > 0); for (int i = 0; i < n; i++) x[i] = 0;");
}

#[test]
fn attributes_and_labels_change_nothing() {
    let text = format!(
        "{PRINTF}__attribute__((const)) double twice(double);
double half(double) __attribute__((__const__, noinline)), other(double);
double twice(double v) {{ static int calls; calls++; return 2 * v; }}
double half(double v) {{ static int calls; calls++; return v / 2; }}
static double x[40][40];
int main(void) {{
  int n = 40;
#pragma scop
  __builtin_assume(n > 0);
  for (int i = 1; i < n; i++)
S1: for (int j = 0; j < n - 1; j++) {{
      (void)j;
S2:   x[j][i] = twice(x[j + 1][i - 1]) + half(j);
S3:   if (x[j][i] > 8) x[j][i] = 1;
    }}
#pragma endscop
  double s = 0;
  for (int i = 0; i < 40; i++) for (int j = 0; j < 40; j++) s = s * 1.01 + x[i][j];
  printf(\"%.17g\\n\", s);
}}
"
    )
    // The other one is clang's alone.
    .replace("__builtin_assume(n", "__pencil_assume(n")
    .replacen("int main", "static void __pencil_assume(int c) { (void)c; }\nint main", 1);
    print_the_same("facts", &text, &in_tiles(&text, &marked(&text)));
    let call = |name: &str| {
        let body = format!("#pragma scop\nfor (int i = 0; i < n; i++) {name};\n#pragma endscop");
        let text = format!("__attribute__((const)) double twice(double);\n{}", function(&body));
        parts(&text, &budget()).err().map(|problems| problems[0].message.clone())
    };
    assert_eq!(call("x[i] = twice(i)"), None);
    let message = call("x[i] = thrice(i)").expect("refused");
    assert!(message.contains("`__attribute__((const))`"), "{message}");
    let message = call("twice(i)").expect("refused");
    assert!(message.contains("calls a function that may change anything"), "{message}");
    let message = call("{ goto next; next: x[i] = 0; }").expect("refused");
    assert!(!message.contains('\n'), "{message}");
}
