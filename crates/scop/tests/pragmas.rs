//! Pragmas of OpenMP and of compilers around parts that no pragma marks.

mod support;

use support::{PRINTF, budget, detected, in_tiles, marked};
use tangram_scop::parts;

fn refused(text: &str) -> Vec<(usize, String)> {
    detected(text).refused.into_iter().map(|problem| (problem.line, problem.message)).collect()
}

#[test]
fn loops_whose_iterations_threads_share_stay() {
    let text = "void f(int n, double A[9][9], double *restrict x) {
  int i, j;
  #pragma omp parallel for \\
    private(j)
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      A[j][i] += 1;
  #pragma omp parallel
  {
    # pragma omp for
    for (int i = 0; i < n; i++) x[i] = i;
    #pragma omp for
    for (int i = 0; i < n; i++) x[i] += i;
  }
  for (int i = 0; i < n; i++) {
    #pragma omp atomic
    x[0] += x[i];
  }
  for (int t = 0; t < n; t++) {
    #pragma acc kernels
    for (int i = 0; i < n; i++) x[i] = t;
    for (int i = 0; i < n; i++) x[i] += t;
  }
  for (int i = 0; i < n; i++) x[i] = i;
#pragma omp barrier
  for (int i = 0; i < n; i++) x[i] += x[n - i];
}
";
    // As the preprocessor leaves it.
    let text = text.replace(" \\\n   ", "");
    let lines: Vec<(usize, usize)> =
        detected(&text).parts.iter().map(|part| (part.first_line, part.last_line)).collect();
    assert_eq!(lines, [(21, 21), (23, 23)], "{:?}", refused(&text));
    let found = refused(&text);
    let expected = [
        (3, "omp parallel for private(j)`"),
        (7, "omp parallel`"),
        (15, "omp atomic`"),
        (19, "acc kernels`"),
        (24, "omp barrier`"),
    ];
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for ((line, message), (at, words)) in found.iter().zip(expected) {
        assert!(*line == at && message.contains(words), "{line}: {message}");
        assert!(message.contains("take it away, and `--parallel`"), "{message}");
    }
}

#[test]
fn a_pragma_is_not_left_in_front_of_a_marked_part() {
    let text = "void f(int n, double *x) {
  #pragma omp parallel for
  #pragma scop
  for (int i = 0; i < n; i++) x[i] = i;
  #pragma endscop
}
";
    let problems = parts(text, &budget()).expect_err("refused");
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].line == 2 && problems[0].message.contains("take it away"), "{problems:?}");
    // In the part, it is left out.
    let inside = text.replace(
        "  #pragma omp parallel for\n  #pragma scop",
        "  #pragma scop\n  #pragma omp parallel for",
    );
    assert!(!in_tiles(&inside, &marked(&inside)).contains("#pragma omp parallel"));
}

#[test]
fn hints_for_a_loop_go_away_with_it() {
    let text = format!(
        "{PRINTF}static double x[40][40], y[40];
int main(void) {{
  /* kept */
  #pragma STDC FP_CONTRACT OFF
  #pragma GCC ivdep

  #pragma GCC unroll 4
  for (int i = 1; i < 40; i++)
    for (int j = 0; j < 39; j++)
      x[j][i] = x[j + 1][i - 1] + j;
#pragma omp simd
  for (int i = 0; i < 40; i++) {{
    #pragma clang loop unroll(enable)
    for (int j = 0; j < 40; j++)
      y[i] += x[j][i];
  }}
  double s = 0;
  #pragma unroll
  for (int i = 0; i < 40; i++) s = s * 1.01 + y[i];
  printf(\"%.17g\\n\", s);
}}
"
    );
    let after = in_tiles(&text, &detected(&text).parts);
    for hint in ["#pragma GCC", "#pragma clang", "simd\n", "#pragma unroll"] {
        assert!(!after.contains(hint), "{after}");
    }
    assert!(after.contains("/* kept */\n  #pragma STDC FP_CONTRACT OFF\n"), "{after}");
    support::print_the_same("hints", &text, &after);
}
