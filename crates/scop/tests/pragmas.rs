//! Pragmas of OpenMP and of compilers around parts that no pragma marks.

mod support;

use support::{PRINTF, budget, detected, in_tiles, marked, run};
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
    // An iteration of the first loop is one thread's.
    assert_eq!(lines, [(5, 6), (21, 21), (23, 23)], "{:?}", refused(&text));
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

/// Loops that threads share, with loops in their iterations.
const SHARED: &str = "static double A[40][40], B[40][40], x[40], y[40];
void f(int n) {
  int i, j, k;
  double s = 0;
  #pragma omp parallel for private(j, k) schedule(static)
  for (i = 0; i < n; i++)
    for (j = 1; j < n; j++)
      for (k = 0; k < n; k++) A[i][k] += B[j][k] * A[i][k] + j;
  #pragma omp parallel for collapse(2) reduction(+:s)
  for (int t = 0; t < 4; t++)
    for (int u = 0; u < 10; u++) {
      double own = 0;
      for (int v = 0; v < n; v++)
        for (int w = 0; w < n; w++) own += A[w][v] * (t + u);
      s += own;
    }
  #pragma omp parallel
  {
    for (int v = 0; v < n; v++) x[v] = v;
    #pragma omp barrier
    #pragma omp for nowait
    for (int t = 0; t < n; t++) {
      for (int v = 0; v < n; v++)
        for (int w = 0; w < 9; w++) B[t][v] += A[t][v] * w;
    }
  }
  #pragma omp parallel for ordered
  for (int t = 0; t < n; t++) {
    for (int v = 0; v < n; v++) y[t] += B[t][v];
  }
  y[0] += s;
}
";

#[test]
fn the_iterations_of_shared_loops_are_one_threads_own() {
    let text = format!(
        "{PRINTF}{SHARED}int main(void) {{
  int c = 0;
  while (c < 1600) {{ A[c / 40][c % 40] = c % 7; B[c / 40][c % 40] = c % 5 * 0.001; c++; }}
  f(40); c = 0;
  while (c < 40) {{ printf(\"%a %a %a\\n\", x[c], y[c], A[c][c]); c++; }}
}}
"
    );
    let parts = detected(&text).parts;
    let inside = parts.iter().filter(|part| part.function == "f");
    let mut lines: Vec<usize> = inside.clone().map(|part| part.first_line - 1).collect();
    lines.sort_unstable();
    assert_eq!(lines, [7, 13, 23], "{:?}", refused(&text));
    assert!(inside.clone().all(|part| part.threaded));
    let after = in_tiles(&text, &parts);
    assert_eq!(after.matches("#pragma omp").count(), text.matches("#pragma omp").count());
    let runs = [text, after.clone()].map(|program| run("shared", &program, &["-fopenmp"], &[&[]]));
    let [Some(one), Some(two)] = runs else { return };
    assert!(one[0].status.success() && !one[0].stdout.is_empty(), "{:?}", one[0]);
    assert_eq!(one[0], two[0], "{after}");
}

#[test]
fn hints_that_operators_and_macros_write_go_away_or_keep_their_loop() {
    let text = |hint: &str, written: &str| {
        let nest = "for (int i = 0; i < n; i++)\n  for (int j = 0; j < n; j++) A[j][i] += p[i];";
        format!("void f(int n, double A[9][9], double *p) {{\n{hint}\n{written}{nest}\n}}\n")
    };
    let place = |read: &str, written: &str| {
        let parts = detected(read).parts;
        assert_eq!(parts.len(), 1, "{:?}", refused(read));
        tangram_scop::places(written, &[&parts[0]]).remove(0)
    };
    let read = text("#pragma omp simd", "");
    for hint in ["#pragma omp simd", "_Pragma(\"omp simd\")", " _Pragma ( \"GCC unroll 4\" ) "] {
        let written = text(hint, "");
        let found = place(&read, &written).unwrap_or_else(|problem| panic!("{problem}"));
        assert!(written[found].starts_with(hint), "{hint}");
    }
    for written in [text("SIMD", ""), text("", "SIMD "), text("", "_Pragma(\"omp simd\") ")] {
        let problem = place(&read, &written).expect_err("kept");
        assert!(problem.message.contains("macro"), "{problem}");
    }
}

#[test]
fn what_is_inside_of_lanes_and_tiles_that_stay_stays() {
    let text = |hint: &str| {
        format!(
            "int lim(int);
static double A[40][40], B[40][40];
void f(int n) {{
  {hint}
  for (int i = lim(0); i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) A[k][j] += B[k][j];
}}
"
        )
    };
    // The outer loop is no part: what is called may do anything.
    for hint in ["", "#pragma GCC ivdep", "#pragma omp unroll"] {
        assert_eq!(detected(&text(hint)).parts.len(), 1, "{hint}");
    }
    for hint in ["#pragma omp simd", "#pragma omp simd collapse(2)", "#pragma omp tile sizes(4, 4)"]
    {
        assert_eq!(detected(&text(hint)).parts.len(), 0, "{hint}");
    }
}
