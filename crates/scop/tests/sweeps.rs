//! Sweeps tiled in time, and passes over a matrix that become one: the same bits as the source's.

mod support;

use std::fmt::Write;

use support::{PRINTF, budget, marked, print_the_same};
use tangram_polyhedral::ast::{Ast, AstOptions};
use tangram_polyhedral::contraction::KERNEL;
use tangram_polyhedral::optimise::{Optimised, Recipe};
use tangram_scop::{Emit, rewrite};

/// Writes a program anew as the command does; returns what was found for its part, too.
fn rewritten(text: &str) -> (String, Optimised) {
    let parts = marked(text);
    let mut recipe = Recipe::default();
    recipe.keep_source = true;
    recipe.contract = true;
    let best = parts[0].scop.optimise(&recipe, &budget()).expect("a schedule");
    let mut options = AstOptions::default();
    options.outlined = Some(KERNEL);
    let context = parts[0].scop.context.as_ref();
    let ast = Ast::of_tree(&best.tree, context, &options, &budget()).expect("loops");
    let mut emit = Emit { vectorize: true, ..Emit::default() };
    emit.contractions = best.contractions.iter().map(|own| (0, own.clone())).collect();
    let pairs = [(&parts[0], (!best.original).then_some(&ast))];
    (rewrite(text, &pairs, &emit).expect("code"), best)
}

/// A program around a part that prints all bits of its arrays, each of so many elements.
fn program(arrays: &[(&str, &str)], sizes: &str, part: &str) -> String {
    let mut text = String::from(PRINTF);
    text.push_str("double sqrt(double);\n");
    for (name, extents) in arrays {
        let _ = writeln!(text, "static double {name}{extents};");
    }
    text.push_str("static void fill(double *x, int n) { for (int i = 0; i < n; i++) x[i] = (i * 7 + 3) % 11 / 7.0; }\n");
    text.push_str("static void show(double *x, int n) { for (int i = 0; i < n; i++) printf(\"%a\\n\", x[i]); }\n");
    let each = |call: &str| {
        let all = arrays.iter().map(|(name, _)| {
            format!("  {call}((double *){name}, sizeof {name} / sizeof(double));\n")
        });
        all.collect::<String>()
    };
    let _ = write!(
        text,
        "int main(void)\n{{\n  {sizes}\n{}#pragma scop\n{part}\n#pragma endscop\n{}}}\n",
        each("fill"),
        each("show")
    );
    text
}

const JACOBI: &str = "for (int t = 0; t < T; t++) {
  for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++)
    B[i][j] = 0.2 * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j] + A[i - 1][j]);
  for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++) A[i][j] = B[i][j];
}";

#[test]
fn sweeps_are_tiled_in_time() {
    let line = "for (int t = 0; t < T; t++) {
  for (int i = 1; i < n - 1; i++) B[i] = 0.3 * (A[i - 1] + A[i] + A[i + 1]);
  for (int i = 1; i < n - 1; i++) A[i] = 0.3 * (B[i - 1] + B[i] + B[i + 1]);
}";
    let columns = JACOBI.replace(
        "for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++)",
        "for (int j = 1; j < n - 1; j++) for (int i = 1; i < n - 1; i++)",
    );
    let waves = "for (int t = 0; t < T; t++) {
  for (int j = 0; j < n; j++) A[0][j] = t;
  for (int i = 1; i < n; i++) for (int j = 0; j < n; j++) A[i][j] -= 0.5 * (C[i][j] - C[i - 1][j]);
  for (int i = 0; i < n; i++) for (int j = 1; j < n; j++) B[i][j] -= 0.5 * (C[i][j] - C[i][j - 1]);
  for (int i = 0; i < n - 1; i++) for (int j = 0; j < n - 1; j++)
    C[i][j] -= 0.7 * (B[i][j + 1] - B[i][j] + A[i + 1][j] - A[i][j]);
}";
    let plane = "[0 + 43][43]";
    for (name, arrays, sizes, part) in [
        ("line", vec![("A", "[0 + 2500]"), ("B", "[2500]")], "int T = 70, n = 2499;", line),
        ("plane", vec![("A", plane), ("B", plane)], "int T = 37, n = 43;", JACOBI),
        ("columns", vec![("A", plane), ("B", plane)], "int T = 19, n = 41;", columns.as_str()),
        ("waves", vec![("A", plane), ("B", plane), ("C", plane)], "int T = 35, n = 43;", waves),
        ("none", vec![("A", plane), ("B", plane)], "int T = 0, n = 1;", JACOBI),
    ] {
        // Arrays of known small size would stay as they are: a sum is no number.
        let text = program(&arrays, sizes, part);
        let (code, best) = rewritten(&text);
        assert!(best.bands.iter().any(|band| !band.tiles.is_empty()), "{name}: {:?}", best.bands);
        print_the_same(&format!("sweeps-{name}"), &text, &code);
    }
}

#[test]
fn small_arrays_and_single_sweeps_stay() {
    let plane = "[43][43]";
    let arrays = [("A", plane), ("B", plane)];
    let (_, best) = rewritten(&program(&arrays, "int T = 37, n = 43;", JACOBI));
    assert!(best.bands.iter().all(|band| band.tiles.is_empty()), "{:?}", best.bands);
}

#[test]
fn passes_over_a_matrix_share_its_rows() {
    let mvt = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) x[i] += A[i][j] * y[j];
for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) z[i] += A[j][i] * y[j];";
    let atax = "for (int i = 0; i < n; i++) z[i] = 0;
for (int i = 0; i < n; i++) {
  x[i] = 0;
  for (int j = 0; j < n; j++) x[i] += A[i][j] * y[j];
  for (int j = 0; j < n; j++) z[j] += A[i][j] * x[i];
}";
    let update = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) A[i][j] += x[i] * y[j];
for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) z[i] += A[j][i] * y[j];
for (int i = 0; i < n; i++) z[i] += x[i];
for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) x[i] += A[i][j] * z[j];";
    // The second pass goes from the last row to the first: blocks would run backwards.
    let backwards = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) x[i] += A[i][j] * y[j];
for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) z[j] += A[n - 1 - i][j] * x[n - 1 - i] * z[j];";
    for (name, part) in [("mvt", mvt), ("atax", atax), ("update", update), ("backwards", backwards)]
    {
        for n in [1, 7, 43] {
            let arrays = [("A", "[0 + 43][43]"), ("x", "[43]"), ("y", "[43]"), ("z", "[43]")];
            let text = program(&arrays, &format!("int n = {n};"), part);
            let (code, best) = rewritten(&text);
            assert!(!best.original, "{name}");
            // Blocks of 8 rows.
            assert!(name == "backwards" || code.contains("8 * c0"), "{name}: {code}");
            print_the_same(&format!("passes-{name}-{n}"), &text, &code);
        }
    }
}

/// Contractions in lists of lists keep their tiles, beside what has nothing to do with them.
#[test]
fn contractions_beside_other_nests_keep_all_tiles() {
    let part = "for (int j = 0; j < m; j++) {
  u[j] = 0.0;
  for (int i = 0; i < n; i++) u[j] += D[i][j];
  u[j] /= n;
}
for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) D[i][j] -= u[j];
for (int i = 0; i < m - 1; i++) {
  C[i][i] = 1.0;
  for (int j = i + 1; j < m; j++) {
    double s = 0.0;
    for (int k = 0; k < n; k++) s += D[k][i] * D[k][j];
    C[i][j] = s / 2;
    C[j][i] = C[i][j];
  }
}
C[m - 1][m - 1] = 1.0;";
    for (n, m) in [(37, 43), (5, 3), (9, 13)] {
        let arrays = [("D", "[43][43]"), ("C", "[43][43]"), ("u", "[43]")];
        let text = program(&arrays, &format!("int n = {n}, m = {m};"), part);
        let (code, best) = rewritten(&text);
        assert_eq!(best.contractions.len(), 1, "{code}");
        // Small ones run the loops of the source.
        assert!(code.contains("if (m >= "), "{code}");
        print_the_same(&format!("lists-{n}"), &text, &code);
    }
}

/// A random program of sweeps through arrays in one or two dimensions.
fn random(seed: u64) -> String {
    let mut rng = fastrand::Rng::with_seed(seed);
    let deep = rng.bool();
    let names = ["A", "B", "C"];
    let extents = if deep { "[0 + 40][40]" } else { "[0 + 1400]" };
    let arrays: Vec<(&str, &str)> = names.iter().map(|name| (*name, extents)).collect();
    let at = |rng: &mut fastrand::Rng, name: &str, far: bool| {
        let mut one = |letter: char| match (far, rng.usize(..3)) {
            (true, 0) => format!("[{letter} - 1]"),
            (true, 1) => format!("[{letter} + 1]"),
            _ => format!("[{letter}]"),
        };
        match deep {
            true => format!("{name}{}{}", one('i'), one('j')),
            false => format!("{name}{}", one('i')),
        }
    };
    let mut part = String::from("for (int t = 0; t < T; t++) {\n");
    for _ in 0..1 + rng.usize(..3) {
        let target = names[rng.usize(..3)];
        let reads: Vec<String> = (0..1 + rng.usize(..4))
            .map(|_| {
                let name = names[rng.usize(..3)];
                // Of its own array, at times the element alone.
                let far = name != target || rng.u8(..4) == 0;
                at(&mut rng, name, far)
            })
            .collect();
        let i = format!("for (int i = {}; i < n - {}; i++)", 1 + rng.u8(..2), 1 + rng.u8(..2));
        let j = "for (int j = 1; j < n - 1; j++)";
        let loops = match (deep, rng.bool()) {
            (false, _) => i,
            (true, false) => format!("{i} {j}"),
            (true, true) => format!("{j} {i}"),
        };
        let target = at(&mut rng, target, false);
        let _ = writeln!(part, "  {loops} {target} = 0.3 * ({});", reads.join(" + "));
    }
    part.push('}');
    let n = if deep { 38 + rng.u8(..3) as usize } else { 1390 + rng.u8(..10) as usize };
    program(&arrays, &format!("int T = {}, n = {n};", 1 + rng.u8(..40)), &part)
}

fn check(seeds: std::ops::Range<u64>) -> usize {
    let mut tiled = 0;
    for seed in seeds {
        let text = random(seed);
        let (code, best) = rewritten(&text);
        tiled += usize::from(best.bands.iter().any(|band| !band.tiles.is_empty()));
        print_the_same(&format!("random-sweeps-{seed}"), &text, &code);
    }
    tiled
}

#[test]
fn random_sweeps_keep_every_bit() {
    let tiled = check(0..12);
    assert!(tiled >= 1, "{tiled} of 12 are tiled");
}

#[test]
#[ignore = "takes minutes: 300 programs"]
fn many_random_sweeps_keep_every_bit() {
    let tiled = check(100..400);
    println!("{tiled} of 300 are tiled");
    assert!(tiled >= 15, "{tiled} of 300");
}

/// In one loop, the ends of rows that statements share apart would keep gcc from using vectors.
#[test]
fn statements_have_loops_along_rows_of_their_own() {
    let part = "for (int t = 0; t < T; t++) {
  for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++) for (int k = 1; k < n - 1; k++)
    B[i][j][k] = 0.2 * (A[i + 1][j][k] + A[i - 1][j][k] + A[i][j + 1][k] + A[i][j][k - 1]) + A[i][j][k];
  for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++) for (int k = 1; k < n - 1; k++)
    A[i][j][k] = 0.2 * (B[i + 1][j][k] + B[i - 1][j][k] + B[i][j + 1][k] + B[i][j][k - 1]) + B[i][j][k];
}";
    let text = format!(
        "void f(int T, int n, double A[n][n][n], double B[n][n][n])\n{{\n#pragma scop\n{part}\n#pragma endscop\n}}\n"
    );
    let (code, best) = rewritten(&text);
    assert!(!best.original);
    let lines: Vec<&str> = code.lines().map(str::trim).collect();
    let hinted = lines.windows(3).filter(|three| three[0] == "TANGRAM_SIMD");
    let inside: Vec<&str> = hinted.map(|three| three[2]).collect();
    assert_eq!(inside.len(), 2, "{code}");
    assert!(inside.iter().all(|line| !line.starts_with("if")), "{code}");
}
