//! Factorisations by blocks: contractions beyond each block, and the same bits as the source's.

mod support;

use std::fmt::Write;

use support::{PRINTF, budget, marked, print_the_same, run};
use tangram_machine::{Isa, Machine};
use tangram_polyhedral::ast::{Ast, AstOptions};
use tangram_polyhedral::contraction::KERNEL;
use tangram_polyhedral::optimise::Recipe;
use tangram_scop::{Emit, rewrite};

/// Writes a program anew, for several threads or for one; returns how many contractions it has.
fn rewritten(text: &str, isa: Isa, parallel: bool) -> (String, usize) {
    let parts = marked(text);
    let mut recipe = Recipe::default();
    recipe.contract = true;
    recipe.parallel = parallel;
    recipe.keep_source = true;
    recipe.machine = Machine::of(isa);
    let best = parts[0].scop.optimise(&recipe, &budget()).expect("a schedule");
    let mut options = AstOptions::default();
    options.outlined = Some(KERNEL);
    let context = parts[0].scop.context.as_ref();
    let ast = Ast::of_tree(&best.tree, context, &options, &budget()).expect("loops");
    let mut emit = Emit { vectorize: true, parallel, ..Emit::default() };
    emit.contractions = best.contractions.iter().map(|own| (0, own.clone())).collect();
    let pairs = [(&parts[0], (!best.original).then_some(&ast))];
    (rewrite(text, &pairs, &emit).expect("code"), best.contractions.len())
}

/// A program that runs a part on matrices of several sizes and prints all of their bits.
fn program(element: &str, parameters: &str, part: &str) -> String {
    let mut text = format!("{PRINTF}double sqrt(double);\nvoid *malloc(unsigned long);\n");
    text.push_str("void free(void *);\n");
    let _ = write!(
        text,
        "static void f({parameters})\n{{\n#pragma scop\n{part}\n#pragma endscop\n}}\n\
         int main(void)\n{{\n  static const int sizes[] = {{1, 2, 23, 24, 25, 31, 97, 131}};\n  \
         for (int s = 0; s < 8; s++) {{\n    int n = sizes[s];\n    \
         {element} *A = malloc(n * n * sizeof *A), *x = malloc(n * sizeof *x);\n    \
         for (int i = 0; i < n * n; i++)\n      \
         A[i] = (i * 7 + 3) % 11 / 7.0 + (i / n == i % n ? 4 * n : 0);\n    \
         for (int i = 0; i < n; i++) x[i] = i % 5 - 1.5;\n    f(n, (void *)A, x);\n    \
         for (int i = 0; i < n * n; i++) printf(\"%a\\n\", A[i]);\n    \
         for (int i = 0; i < n; i++) printf(\"%a\\n\", x[i]);\n    free(A); free(x);\n  }}\n}}\n"
    );
    text
}

#[track_caller]
fn check(name: &str, element: &str, part: &str, contractions: usize, sides: usize) {
    let parameters = format!("int n, {element} A[n][n], {element} *x");
    for isa in [Isa::Avx2, Isa::Avx512] {
        let text = program(element, &parameters, part);
        let (code, found) = rewritten(&text, isa, false);
        assert_eq!(found, contractions, "{name}: {code}");
        print_the_same(&format!("{name}-{isa:?}"), &text, &code);
    }
    let text = program(element, &parameters, part);
    let (code, found) = rewritten(&text, Isa::Avx2, true);
    assert_eq!(found, contractions, "{name}: {code}");
    // Threads share out what is beside a block, the panel of columns, and the blocks of rows that use it.
    let regions = code.matches("#pragma omp parallel for").count();
    assert_eq!(regions, 2 * contractions + sides, "{name}: {code}");
    let flags = &["-std=c99", "-O1", "-fopenmp", "-ffp-contract=off"];
    let runs =
        [&text, &code].map(|program| run(&format!("{name}-threads"), program, flags, &[&[]]));
    let [Some(one), Some(two)] = runs else { return };
    assert!(one[0].status.success() && !one[0].stdout.is_empty(), "{:?}", one[0]);
    assert_eq!(one[0], two[0], "{code}");
}

#[test]
fn cholesky_by_rows_updates_beyond_its_blocks() {
    let part = "for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
        for (int k = 0; k < j; k++)
            A[i][j] -= A[i][k] * A[j][k];
        A[i][j] /= A[j][j];
    }
    for (int k = 0; k < i; k++)
        A[i][i] -= A[i][k] * A[i][k];
    A[i][i] = sqrt(A[i][i]);
}";
    check("cholesky-rows", "double", part, 1, 1);
}

#[test]
fn cholesky_by_columns_updates_beyond_its_blocks() {
    let part = "for (int k = 0; k < n; k++) {
    A[k][k] = sqrt(A[k][k]);
    for (int i = k + 1; i < n; i++)
        A[i][k] /= A[k][k];
    for (int i = k + 1; i < n; i++)
        for (int j = k + 1; j <= i; j++)
            A[i][j] -= A[i][k] * A[j][k];
}";
    check("cholesky-columns", "float", part, 1, 1);
}

#[test]
fn both_triangles_of_lu_are_updated() {
    let part = "for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
        for (int k = 0; k < j; k++)
            A[i][j] -= A[i][k] * A[k][j];
        A[i][j] /= A[j][j];
    }
    for (int j = i; j < n; j++)
        for (int k = 0; k < i; k++)
            A[i][j] -= A[i][k] * A[k][j];
}";
    check("lu-rows", "double", part, 2, 2);
}

/// Sums in variables gather in the elements that they are stored into.
#[test]
fn sums_in_variables_are_those_of_elements() {
    let part = "for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
        double s = A[i][j];
        for (int k = 0; k < j; k++)
            s -= A[i][k] * A[j][k];
        A[i][j] = s / A[j][j];
    }
    double d = A[i][i];
    for (int k = 0; k < i; k++)
        d -= A[i][k] * A[i][k];
    A[i][i] = sqrt(d);
}";
    check("cholesky-sums", "double", part, 1, 1);
}

/// What is behind the factorisation keeps its place.
#[test]
fn a_solve_follows_the_factorisation() {
    let part = "for (int k = 0; k < n; k++) {
    for (int i = k + 1; i < n; i++)
        A[i][k] /= A[k][k];
    for (int i = k + 1; i < n; i++)
        for (int j = k + 1; j < n; j++)
            A[i][j] -= A[i][k] * A[k][j];
}
for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++)
        x[i] -= A[i][j] * x[j];
for (int i = n - 1; i >= 0; i--) {
    for (int j = i + 1; j < n; j++)
        x[i] -= A[i][j] * x[j];
    x[i] /= A[i][i];
}";
    check("lu-solve", "double", part, 1, 2);
}

/// Each row needs the one before it in full: no block can be final before the next one begins.
#[test]
fn what_is_not_final_stays_as_it_is() {
    let part = "for (int k = 1; k < n; k++)
    for (int i = 1; i < n; i++)
        for (int j = 1; j < n; j++)
            A[i][j] -= A[i - 1][k] * A[k][j - 1];";
    let text = program("double", "int n, double A[n][n], double *x", part);
    assert_eq!(rewritten(&text, Isa::Avx2, false).1, 0);
}
