//! Loops in parallel: local variables of which each thread has its own, and diamonds.

mod support;

use support::{budget, marked, run};
use tangram_polyhedral::ast::{Ast, AstOptions};
use tangram_polyhedral::optimise::Recipe;
use tangram_scop::{Emit, Part, rewrite};

fn function(name: &str, body: &str) -> String {
    format!(
        "void {name}(int n, double A[30][30], double B[30][30]) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    )
}

fn part(text: &str) -> Part {
    marked(text).remove(0)
}

/// Writes a function anew, with pragmas for OpenMP; names what is private.
fn parallel(text: &str, recipe: &Recipe) -> (String, Vec<String>) {
    parallel_from(text, recipe, 0)
}

/// The same, with threads for loops of so many instances.
fn parallel_from(text: &str, recipe: &Recipe, threads_from: u64) -> (String, Vec<String>) {
    let budget = budget();
    let part = part(text);
    let best = part.scop.optimise(recipe, &budget).expect("a schedule");
    let ast = Ast::of_tree(&best.tree, None, &AstOptions::default(), &budget).expect("code");
    let private = best.private.iter().map(|name| (0, name.clone())).collect();
    let emit = Emit { parallel: true, threads_from, vectorize: true, private, ..Emit::default() };
    let code = rewrite(text, &[(&part, Some(&ast))], &emit).expect("text");
    (code, best.private)
}

const ROWS: &str = "  for (int i = 0; i < n; i++) {
    double t = A[i][0] * 2;
    double w[2];
    w[0] = t;
    w[1] = t + A[i][1];
    for (int j = 0; j < n; j++)
      B[i][j] += A[i][j] * w[0] + w[1] + t;
  }";

const STEPS: &str = "  for (int t = 0; t < n - 1; t++)
    for (int i = 1; i < n - 1; i++)
      A[t + 1][i] = A[t][i - 1] * 0.25 + A[t][i] * 0.5 + A[t][i + 1] * 0.25;";

/// Two statements, the second of which copies back.
const COPIES: &str = "  for (int t = 0; t < n; t++) {
    for (int i = 1; i < n - 1; i++)
      B[0][i] = A[0][i - 1] * 0.25 + A[0][i] * 0.5 + A[0][i + 1] * 0.25;
    for (int i = 1; i < n - 1; i++)
      A[0][i] = B[0][i];
  }";

fn plain() -> Recipe {
    Recipe::default()
}

fn diamonds() -> Recipe {
    let mut recipe = Recipe::default();
    recipe.diamond = true;
    recipe.tile = Some(vec![4, 6]);
    recipe
}

#[test]
fn tiles_of_a_stencil_start_at_once() {
    for body in [STEPS, COPIES] {
        let (code, _) = parallel(&function("f", body), &diamonds());
        // Lines of tiles one after the other, the tiles of a line at once.
        let pragma = code.find("#pragma omp parallel for").unwrap_or_else(|| panic!("{code}"));
        let loops: Vec<usize> = code.match_indices("for (long long").map(|(at, _)| at).collect();
        assert!(loops.len() >= 4 && loops[0] < pragma && pragma < loops[1], "{code}");
    }
}

const SUMS: &str = "  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int j = 0; j < n; j++) {
      s += A[i][j];
      B[i][j] = s;
    }
  }";

#[test]
fn local_variables_do_not_keep_loops_from_being_parallel() {
    let (code, private) = parallel(&function("f", ROWS), &plain());
    assert_eq!(private, ["t", "w"]);
    assert!(code.contains("#pragma omp parallel for private("), "{code}");
    let (code, private) = parallel(&function("f", SUMS), &plain());
    assert_eq!(private, ["s"]);
    assert_eq!(code.matches("#pragma omp parallel for").count(), 1, "{code}");
    assert!(code.contains("#pragma omp parallel for private(s)"), "{code}");
}

/// Values of a loop that another statement reads.
const BEHIND: &str = "  {
    double w[30];
    for (int i = 0; i < 30; i++) w[i] = A[i][0] * 2;
    for (int i = 0; i < n; i++) B[i][0] = w[29] + w[2];
  }";

#[test]
fn values_that_are_read_behind_a_loop_are_shared() {
    let (code, private) = parallel(&function("f", BEHIND), &plain());
    assert!(private.is_empty() && !code.contains("private("), "{private:?}\n{code}");
}

#[test]
fn values_that_come_from_elsewhere_are_shared() {
    let names = |body: &str| {
        let part = part(&function("f", body));
        part.scop.privatisable(&budget()).expect("decided")
    };
    assert_eq!(names(ROWS), ["t", "w"]);
    // What follows the part may use it.
    assert!(names("  double t = 1;\n  for (int i = 0; i < n; i++) A[i][0] = t;").is_empty());
    let open = "  for (int i = 0; i < n; i++) {\n    double t;\n    if (i > 3) t = 1;\n    A[i][0] = t;\n  }";
    // A declaration ends the value of the iteration before, so that none comes from there.
    assert_eq!(names(open), ["t"]);
    let maybe = "  for (int i = 0; i < n; i++) {\n    double t;\n    if (A[i][1] > 3) t = 1;\n    A[i][0] = t;\n  }";
    assert_eq!(names(maybe), ["t"]);
    // Uncertain writes leave what was there before.
    let outside = "  double t;\n  for (int i = 0; i < n; i++) {\n    if (A[i][1] > 3) t = 1;\n    A[i][0] = t;\n  }";
    assert!(names(outside).is_empty());
}

#[test]
fn threads_with_their_own_variables_compute_the_same() {
    let mut code = String::from("#include <string.h>\n");
    let mut main = String::from("int main(void) {\n  int wrong = 0;\n");
    let programs = [
        ("rows", ROWS, plain()),
        ("sums", SUMS, plain()),
        ("behind", BEHIND, plain()),
        ("steps", STEPS, diamonds()),
        ("copies", COPIES, diamonds()),
    ];
    for (name, body, recipe) in programs {
        let text = function(name, body);
        code.push_str(&text.replace(name, &format!("before_{name}")));
        code.push_str(&parallel(&text, &recipe).0);
        code.push_str("#undef floord\n#undef min\n#undef max\n#undef TANGRAM_SIMD\n");
        main.push_str(&format!(
            "  for (int n = 0; n <= 30; n += 5) {{\n    fill(&one), fill(&two);\n    \
             before_{name}(n, one.A, one.B), {name}(n, two.A, two.B);\n    \
             wrong |= memcmp(&one, &two, sizeof one);\n  }}\n"
        ));
    }
    code.push_str(
        "static struct Data { double A[30][30], B[30][30]; } one, two;
static void fill(struct Data *data) {
  double *cell = (double *)data;
  for (unsigned i = 0; i < sizeof *data / sizeof *cell; i++) cell[i] = i % 17 + 1;
}
",
    );
    code.push_str(&main);
    code.push_str("  return wrong;\n}\n");
    let flags = ["-std=c99", "-O1", "-fopenmp", "-fsanitize=address,undefined"];
    let Some(runs) = run("private", &code, &flags, &[&[]]) else { return };
    let errors = String::from_utf8_lossy(&runs[0].stderr);
    assert!(runs[0].status.success(), "{code}\n{errors}");
}

/// Loops for several threads, in the place of those of the source where that gains.
fn threads() -> Recipe {
    let mut recipe = Recipe::default();
    (recipe.parallel, recipe.wavefront, recipe.keep_source) = (true, true, true);
    recipe
}

/// A function of two matrices and two vectors of any size, with steps in time.
fn any_size(name: &str, body: &str) -> String {
    format!(
        "void {name}(int steps, int n, double A[n][n], double B[n][n], double x[n], double y[n]) \
         {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    )
}

const SWEEPS: &str = "  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        B[i][j] = 0.2 * (A[i][j] + A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        A[i][j] = 0.2 * (B[i][j] + B[i - 1][j] + B[i + 1][j] + B[i][j - 1] + B[i][j + 1]);
  }";

/// Values spread four rows in a step.
const WIDE: &str = "  for (int t = 0; t < steps; t++) {
    for (int i = 2; i < n - 2; i++)
      for (int j = 1; j < n; j++)
        B[i][j] = 0.2 * (A[i][j] + A[i - 1][j] + A[i - 2][j - 1] + A[i + 1][j] + A[i + 2][j]);
    for (int i = 2; i < n - 2; i++)
      for (int j = 1; j < n; j++)
        A[i][j] = 0.2 * (B[i][j] + B[i - 1][j] + B[i - 2][j - 1] + B[i + 1][j] + B[i + 2][j]);
  }";

/// Values come from one side only.
const UPWIND: &str = "  for (int t = 0; t < steps; t++)
    for (int i = n - 1; i > 0; i--)
      x[i] = x[i] - 0.3 * (x[i] - x[i - 1]);";

const LINE: &str = "  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      y[i] = 0.3 * (x[i - 1] + x[i] + x[i + 1]);
    for (int i = 1; i < n - 1; i++)
      x[i] = 0.3 * (y[i - 1] + y[i] + y[i + 1]);
  }";

/// Each row needs the one before, of the same step.
const GAUSS_SEIDEL: &str = "  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        A[i][j] = (A[i - 1][j] + A[i][j - 1] + A[i][j] + A[i][j + 1] + A[i + 1][j]) / 5.0;";

/// Recurrences along rows that do not depend on each other.
const ROW_CHAINS: &str = "  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n; i++)
      for (int j = 1; j < n; j++)
        A[i][j] = B[j][i] / (1.5 + A[i][j - 1]);
    for (int j = 1; j < n; j++)
      for (int i = 1; i < n; i++)
        B[i][j] = A[j][i] / (1.5 + B[i - 1][j]);
  }";

/// Two products with one matrix.
const PRODUCTS: &str = "  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      x[i] += A[i][j] * B[0][j];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      y[j] += A[i][j] * B[1][i];";

#[test]
fn blocks_of_sweeps_run_at_once_and_then_the_gaps_between_them() {
    for body in [SWEEPS, WIDE, LINE] {
        let (code, _) = parallel(&any_size("f", body), &threads());
        assert_eq!(code.matches("#pragma omp parallel for").count(), 2, "{code}");
        // Threads wait for each other after the blocks of some steps and after their gaps.
        let time = code.find("for (long long").unwrap_or_else(|| panic!("{code}"));
        let pragma = code.find("#pragma omp").unwrap_or_else(|| panic!("{code}"));
        assert_eq!(code[time..pragma].matches("for (").count(), 1, "{code}");
    }
}

#[test]
fn groups_of_rows_of_several_steps_run_at_once() {
    let (code, _) = parallel(&any_size("f", GAUSS_SEIDEL), &threads());
    assert!(code.contains("#pragma omp parallel for"), "{code}");
    let shared = code.split("#pragma omp parallel for").nth(1).unwrap_or_default();
    let shared = shared.lines().nth(1).unwrap_or_default();
    assert!(shared.contains("for (long long t = "), "{code}");
}

#[test]
fn passes_over_one_matrix_stay_shared_on_several_threads() {
    let (code, _) = parallel(&any_size("f", PRODUCTS), &threads());
    let pragma = code.find("#pragma omp").unwrap_or_else(|| panic!("{code}"));
    assert_eq!(code[..pragma].matches("for (long long").count(), 1, "{code}");
    assert!(code.matches("#pragma omp parallel for").count() >= 2, "{code}");
}

/// What caches of a few cores do not hold together, one thread reads once.
#[test]
fn caches_of_few_cores_say_whether_threads_share_passes() {
    let regions = |cores: usize, second: usize| {
        let mut recipe = threads();
        recipe.machine.cores = cores;
        let caches = recipe.machine.caches.iter_mut();
        caches.filter(|cache| cache.level == 2).for_each(|cache| cache.bytes = second);
        let (code, _) = parallel(&any_size("f", PRODUCTS), &recipe);
        (code.matches("#pragma omp parallel for").count(), code)
    };
    let (count, code) = regions(2, 512 << 10);
    assert_eq!(count, 0, "{code}");
    // Eight rows of both products after the other.
    assert_eq!(code.matches("8 * c0").count().min(2), 2, "{code}");
    for (cores, second) in [(2, 2 << 20), (4, 512 << 10), (16, 64 << 10)] {
        let (count, code) = regions(cores, second);
        assert!(count >= 2, "{code}");
    }
}

/// A recurrence along rows, and one across them that vectors run.
const ACROSS: &str = "  for (int i = 0; i < n; i++)
    for (int j = 1; j < n; j++)
      A[i][j] = 0.5 * A[i][j - 1] + B[i][j];
  for (int j = 0; j < n; j++)
    for (int i = 1; i < n; i++)
      B[i][j] = 0.5 * B[i - 1][j] + A[i][j];";

#[test]
fn threads_start_where_they_have_work() {
    let pragmas = |body: &str| -> Vec<String> {
        let (code, _) = parallel_from(&any_size("f", body), &plain(), 16384);
        let lines = code.lines().map(str::trim).filter(|line| line.starts_with("#pragma omp"));
        lines.map(|line| line.trim_start_matches("#pragma omp parallel for").to_owned()).collect()
    };
    let copied = |rows: &str, columns: &str| {
        pragmas(&format!(
            "for (int i = 0; i < {rows}; i++) for (int j = 0; j < {columns}; j++) B[i][j] = A[i][j];"
        ))
    };
    assert_eq!(copied("n", "steps - 1"), [" if (1.0 * n * (steps - 1.0) >= 16384)"]);
    assert_eq!(copied("n", "64"), [" if (n >= 256)"]);
    assert_eq!(copied("512", "64"), [""]);
    assert!(copied("64", "64").is_empty());
    // The tiles of 51 rows are 4 by 4, of which at most 4 are ever free at a time.
    let diagonal = |rows: &str| {
        let body = format!(
            "for (int i = 1; i < {rows}; i++) for (int j = 1; j < {rows}; j++) \
             A[i][j] = A[i - 1][j] + A[i][j - 1];"
        );
        let mut tiles = plain();
        (tiles.tile, tiles.wavefront) = (Some(vec![16, 16]), true);
        parallel_from(&any_size("f", &body), &tiles, 16384).0.matches("#pragma omp").count()
    };
    assert_eq!((diagonal("52"), diagonal("n")), (0, 1));
    // What is cast keeps its brackets.
    let shift = |text: &str| any_size("f", text).replace("int steps", "unsigned steps");
    let body = "for (int i = 0; i < steps; i++) for (int j = 0; j < 64; j++) B[i][j] = A[i][j];";
    let (code, _) = parallel_from(&shift(body), &plain(), 16384);
    assert!(code.contains(" if (((long long)steps) >= 256)"), "{code}");
    // The longest row counts.
    assert_eq!(copied("n", "i + 1"), [" if (1.0 * n * n >= 16384) schedule(dynamic)"]);
    let several = "for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) B[i][j] = A[i][j] + A[0][j];
    for (int j = 0; j < n; j++) B[i][j] += B[i][n - 1 - j];
    x[i] = B[i][0];
  }";
    // Tiles of 8 rows, and one column.
    let both = pragmas(several);
    assert!(
        both[0].starts_with(" if (1.0 * (n + 7.0) * n >= ") && both[1] == " if (n >= 16384)",
        "{both:?}"
    );
}

#[test]
fn threads_have_several_chains_each() {
    let (code, _) = parallel(&any_size("f", ACROSS), &threads());
    let shared = code.split("#pragma omp parallel for").nth(1).unwrap_or_default();
    let shared = shared.split("#pragma").next().unwrap_or_default();
    assert!(shared.contains("+ 7][") && shared.contains("A["), "{code}");
}

/// What stays on one thread still has vectors, also of several statements.
#[test]
fn vectors_run_passes_of_several_statements_on_one_thread() {
    let body = PRODUCTS
        .replace("y[j] += A[i][j] * B[1][i];", "{ y[j] += A[i][j] * B[1][i]; A[i][j] = y[j]; }");
    let mut recipe = threads();
    recipe.machine.cores = 2;
    let caches = recipe.machine.caches.iter_mut();
    caches.filter(|cache| cache.level == 2).for_each(|cache| cache.bytes = 512 << 10);
    let (code, _) = parallel(&any_size("f", &body), &recipe);
    assert!(!code.contains("#pragma omp parallel"), "{code}");
    let hints = code.lines().filter(|line| line.trim() == "TANGRAM_SIMD");
    assert_eq!(hints.count(), 2, "{code}");
}

/// A block of a substitution has one group of sums side by side: nothing for threads to share.
#[test]
fn blocks_of_substitutions_stay_on_one_thread() {
    let body = "  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++)
      x[i] -= A[i][j] * x[j];
    x[i] /= A[i][i];
  }";
    let (code, _) = parallel(&any_size("f", body), &threads());
    assert!(code.contains("j < 8 * c0;") && !code.contains("#pragma omp"), "{code}");
}

#[test]
fn sweeps_on_several_threads_compute_the_same() {
    let programs = [
        ("sweeps", SWEEPS),
        ("wide", WIDE),
        ("upwind", UPWIND),
        ("line", LINE),
        ("seidel", GAUSS_SEIDEL),
        ("chains", ROW_CHAINS),
        ("products", PRODUCTS),
        ("few", PRODUCTS),
        ("across", ACROSS),
    ];
    let mut code = String::from("#include <stdlib.h>\n#include <string.h>\n");
    let mut calls = String::new();
    for (name, body) in programs {
        let text = any_size(name, body);
        code.push_str(&text.replace(name, &format!("before_{name}")));
        let mut recipe = threads();
        if name == "few" {
            recipe.machine.cores = 2;
        }
        // Small sizes run on one thread.
        code.push_str(&parallel_from(&text, &recipe, 1000).0);
        code.push_str("#undef floord\n#undef min\n#undef max\n#undef TANGRAM_SIMD\n");
        calls.push_str(&format!("  wrong |= differ(steps, n, before_{name}, {name});\n"));
    }
    code.push_str(
        "typedef void sweep(int steps, int n, double (*A)[n], double (*B)[n], double *x, double *y);
static int differ(int steps, int n, sweep *one, sweep *two) {
  size_t rows = n < 2 ? 2 : n, matrix = rows * rows, size = (2 * matrix + 2 * rows) * sizeof(double);
  double *data[2];
  for (int at = 0; at < 2; at++) {
    double *all = data[at] = malloc(size);
    for (size_t i = 0; i < size / sizeof *all; i++) all[i] = i * 7919 % 1009 / 1009.0 + 0.1;
    double *x = all + 2 * matrix;
    (at ? two : one)(steps, n, (void *)all, (void *)(all + matrix), x, x + rows);
  }
  int wrong = memcmp(data[0], data[1], size);
  free(data[0]), free(data[1]);
  return wrong;
}
static int all(int steps, int n) {
  int wrong = 0;
",
    );
    code.push_str(&calls);
    code.push_str(
        "  return wrong;
}
int main(void) {
  int sizes[][2] = {{0, 9}, {1, 2}, {2, 3}, {3, 5}, {1, 70}, {5, 64}, {17, 66}, {20, 131}, {40, 19}};
  int wrong = 0;
  for (int at = 0; at < 9; at++) wrong |= all(sizes[at][0], sizes[at][1]);
  return wrong;
}
",
    );
    let flags =
        ["-std=c99", "-O1", "-ffp-contract=off", "-fopenmp", "-fsanitize=address,undefined"];
    let Some(runs) = run("sweeps", &code, &flags, &[&[]]) else { return };
    let errors = String::from_utf8_lossy(&runs[0].stderr);
    assert!(runs[0].status.success(), "{code}\n{errors}");
}

#[test]
fn the_number_of_iterations_fits_its_type() {
    // OpenMP computes `n - 2` before it tests whether `2 < n`.
    let text = |ty: &str| {
        format!(
            "double x[30][30], y[30][30];
void f({ty} n, int m) {{
#pragma scop
  for ({ty} i = 2; i < n; i++)
    for (int j = 0; j < m; j++) x[i][j] = y[i][j] + 1;
#pragma endscop
}}
"
        )
    };
    let (code, _) = parallel(&text("long"), &plain());
    assert!(code.contains("n >= -(1LL << 60)"), "{code}");
    let (code, _) = parallel(&text("int"), &plain());
    assert!(!code.contains("1LL <<"), "{code}");
}
