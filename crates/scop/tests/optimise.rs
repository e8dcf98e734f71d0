//! C from C: the example kernels, before and after, through a compiler with sanitizers.
//!
//! `TANGRAM_ONLY=gemm` takes one kernel and prints its code.

mod support;

use support::budget;
use support::kernel::{self, Pair, text};
use tangram_polyhedral::ast::{Ast, AstOptions};
use tangram_polyhedral::optimise::Recipe;
use tangram_scop::{Emit, Part, parts, rewrite};

/// Writes a kernel with other loops.
fn optimised(name: &str, text: &str, recipe: &Recipe, emit: &Emit) -> String {
    let budget = budget();
    let found = parts(text, &budget).unwrap_or_else(|problems| panic!("{name}: {problems:?}"));
    let mut generated: Vec<(&Part, Option<Ast>)> = Vec::new();
    for part in &found {
        let best = part.scop.optimise(recipe, &budget).expect("a schedule");
        if let Some(reason) = &best.fallback {
            panic!("{name}: {reason}");
        }
        let ast = (!best.original)
            .then(|| Ast::of_tree(&best.tree, None, &AstOptions::default(), &budget))
            .transpose();
        generated.push((part, ast.unwrap_or_else(|error| panic!("{name}: {error}"))));
    }
    let pairs: Vec<_> = generated.iter().map(|(part, ast)| (*part, ast.as_ref())).collect();
    rewrite(text, &pairs, emit).unwrap_or_else(|problem| panic!("{name}: {problem}"))
}

/// Optimises kernels, compares both forms of them, and lists those that differ.
fn differing(
    kernels: &[&'static str],
    recipe: &Recipe,
    emit: &Emit,
    flags: &[&str],
) -> Vec<String> {
    let pair = |name: &&'static str| {
        let before = text(name);
        let after = optimised(name, &before, recipe, emit);
        Pair { name, before, after }
    };
    let pairs: Vec<Pair> = kernels.iter().map(pair).collect();
    kernel::differing(&pairs, "", flags)
}

const SANITIZED: &[&str] = &["-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover"];

/// Kernels in groups that take about the same time.
const QUICK: &[&[&str]] = &[
    &["gemm", "two_products", "three_products", "atax", "bicg", "mvt", "gesummv"],
    &["gemver", "syrk", "trmm", "trisolv", "lu", "cholesky", "jacobi_1d", "jacobi_2d"],
];
const SLOW: &[&[&str]] =
    &[&["covariance", "doitgen", "conv2d"], &["seidel_2d", "fdtd_2d", "floyd_warshall"]];

fn check(groups: &[&[&'static str]], recipe: &Recipe, emit: &Emit, flags: &[&str]) {
    let only = std::env::var("TANGRAM_ONLY").ok();
    let chosen = |group: &&[&'static str]| -> Vec<&'static str> {
        group.iter().filter(|name| only.as_ref().is_none_or(|o| o == *name)).copied().collect()
    };
    let mut wrong = Vec::new();
    std::thread::scope(|scope| {
        let run = |group: Vec<&'static str>| {
            scope.spawn(move || match group.is_empty() {
                true => Vec::new(),
                false => differing(&group, recipe, emit, flags),
            })
        };
        let groups: Vec<&[&'static str]> = groups.to_vec();
        let threads: Vec<_> = groups.iter().map(chosen).map(run).collect();
        for thread in threads {
            wrong.extend(thread.join().expect("no panic"));
        }
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn kernels_compute_the_same_bits() {
    let emit = Emit { vectorize: true, parallel: false, ..Emit::default() };
    check(QUICK, &Recipe::default(), &emit, SANITIZED);
}

#[test]
#[ignore = "takes a minute"]
fn large_kernels_compute_the_same_bits() {
    let emit = Emit { vectorize: true, parallel: false, ..Emit::default() };
    check(SLOW, &Recipe::default(), &emit, SANITIZED);
}

#[test]
fn kernels_compute_the_same_bits_in_parallel_tiles() {
    let emit = Emit { vectorize: true, parallel: true, ..Emit::default() };
    let mut recipe = Recipe::default();
    recipe.tile = Some(vec![4, 8, 5, 3]);
    recipe.wavefront = true;
    for groups in [QUICK, SLOW] {
        check(groups, &recipe, &emit, &["-O2", "-fopenmp"]);
    }
}

#[test]
fn sizes_that_are_given_tile_loops_that_no_vector_runs_along() {
    let mut recipe = Recipe::default();
    recipe.tile = Some(vec![32, 32, 32]);
    let code = optimised("seidel_2d", &text("seidel_2d"), &recipe, &Emit::default());
    assert_eq!(code.matches("for (").count(), 6, "{code}");
}

/// The code of a kernel with an order of its own, if one promises a gain.
fn kept_or_not(name: &str, parallel: bool) -> String {
    let mut recipe = Recipe::default();
    recipe.keep_source = true;
    recipe.parallel = parallel;
    let emit = Emit { vectorize: true, parallel, no_alias: true, ..Emit::default() };
    optimised(name, &text(name), &recipe, &emit)
}

#[test]
fn sums_of_rows_run_side_by_side_in_local_variables() {
    let code = kept_or_not("gesummv", false);
    assert!(code.contains("double s7 = y[i + 3];"), "{code}");
    assert!(code.contains("s7 += B[i + 3][j] * x[j];"), "{code}");
    // Only the first statement of each row's block writes to memory, and the last.
    assert_eq!(code.matches("[j] * x[j]").count(), 8 + 2, "{code}");
}

#[test]
fn loops_whose_order_costs_more_than_threads_give_stay_on_one() {
    let code = kept_or_not("trisolv", true);
    assert!(code.contains("< 8 * c0;") && !code.contains("#pragma omp parallel"), "{code}");
    // Threads share out the rows of a block, then its columns, cut into strips; rows run one after the
    // other in these.
    let code = kept_or_not("atax", true);
    let (_, blocks) = code.split_once(", 128)").unwrap_or_default();
    assert_eq!(blocks.matches("#pragma omp parallel for").count(), 2, "{code}");
    // A division between the loops leaves the others to vectors.
    let code = kept_or_not("lu", true);
    let hint = code.rfind("TANGRAM_SIMD").expect("a vector loop");
    assert!(code[..hint].contains("#pragma omp parallel for"), "{code}");
}

/// Sums in their own order could be taken for a band, if they were skewed: nobody tiles it.
#[test]
fn sums_in_a_scalar_are_not_skewed() {
    let text = "void conv(int n, int m, double I[n + 2][m + 2], double W[3][3], double O[n][m])
{
#pragma scop
    for (int y = 0; y < n; y++)
        for (int x = 0; x < m; x++) {
            double s = 0;
            for (int u = 0; u < 3; u++)
                for (int v = 0; v < 3; v++) s += I[y + u][x + v] * W[u][v];
            O[y][x] = s;
        }
#pragma endscop
}
";
    let emit = Emit { no_alias: true, ..Emit::default() };
    for parallel in [false, true] {
        let mut recipe = Recipe::default();
        recipe.parallel = parallel;
        let code = optimised("conv", text, &recipe, &emit);
        assert_eq!(code.matches(" < 3; ").count() + code.matches(" <= 2; ").count(), 2, "{code}");
    }
}

const STENCILS: &[&str] = &["seidel_2d", "jacobi_1d", "jacobi_2d", "fdtd_2d"];

#[test]
fn tiles_of_stencils_run_by_wavefronts() {
    let emit = Emit { vectorize: true, parallel: true, ..Emit::default() };
    let mut recipe = Recipe::default();
    recipe.tile = Some(vec![6, 9, 7]);
    recipe.wavefront = true;
    for name in STENCILS {
        let code = optimised(name, &text(name), &recipe, &emit);
        // Fronts one after the other, the tiles of one at once.
        let pragma = code.find("#pragma omp parallel for").unwrap_or_else(|| panic!("{code}"));
        let fronts = code[..pragma].matches("for (long long").count();
        assert!(fronts == 1, "{name}: {code}");
    }
    let flags = [SANITIZED, &["-fopenmp"]].concat();
    check(&[&["seidel_2d", "jacobi_1d"], &["jacobi_2d", "fdtd_2d"]], &recipe, &emit, &flags);
}

#[test]
fn tiles_of_stencils_of_several_statements_start_at_once() {
    let emit = Emit { vectorize: true, parallel: true, ..Emit::default() };
    let mut recipe = Recipe::default();
    recipe.tile = Some(vec![6, 9, 7]);
    // The sides of the cones are other loops than those of tiles by wavefronts.
    let plain = optimised("jacobi_1d", &text("jacobi_1d"), &recipe, &emit);
    recipe.diamond = true;
    for name in ["jacobi_1d", "jacobi_2d", "fdtd_2d"] {
        let code = optimised(name, &text(name), &recipe, &emit);
        let pragma = code.find("#pragma omp parallel for").unwrap_or_else(|| panic!("{code}"));
        assert!(code[..pragma].matches("for (long long").count() == 1, "{name}: {code}");
        assert!(code != plain);
    }
    let flags = [SANITIZED, &["-fopenmp"]].concat();
    check(&[&["jacobi_1d", "jacobi_2d"], &["fdtd_2d"]], &recipe, &emit, &flags);
}
