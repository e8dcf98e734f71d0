//! What compilers make of the source, and what is left to gain.

mod support;

use support::budget;
use tangram_polyhedral::ast::{Ast, AstOptions};
use tangram_polyhedral::contraction::KERNEL;
use tangram_polyhedral::optimise::Recipe;
use tangram_scop::{Emit, parts, rewrite};

/// A function of a body over some arrays.
fn function(arrays: &str, body: &str) -> String {
    format!("void f({arrays})\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n")
}

/// Writes a part with the loops that the command chooses.
fn rewritten(text: &str) -> String {
    let mut recipe = Recipe::default();
    (recipe.keep_source, recipe.contract) = (true, true);
    let (budget, mut options) = (budget(), AstOptions::default());
    options.outlined = Some(KERNEL);
    let found = parts(text, &budget).expect("a part");
    let (part, best) = found[0].optimise(&recipe, &budget).expect("a schedule");
    let ast = Ast::of_tree(&best.tree, None, &options, &budget).expect("code");
    let contractions = best.contractions.into_iter().map(|own| (0, own)).collect();
    let emit = Emit { vectorize: true, contractions, ..Emit::default() };
    rewrite(text, &[(&part, (!best.original).then_some(&ast))], &emit).expect("a text")
}

/// A compiler unrolls the sums, and runs the loop around them by vectors: with a sum in memory, new
/// loops took two to a hundred times as long.
#[test]
fn loops_that_compilers_unroll_are_left_alone() {
    let window = "for (int y = 0; y < 480; y++)
    for (int x = 0; x < 640; x++) {
        int s = 0;
        for (int u = 0; u < 3; u++)
            for (int v = 0; v < 3; v++) s += in[y + u][x + v];
        out[y][x] = s / 9;
    }";
    let polynomial = "for (int i = 0; i < 30000; i++) {
        double v = c[23];
        for (int k = 22; k >= 0; k--) v = v * x[i] + c[k];
        y[i] = v;
    }";
    let products = "for (int b = 0; b < 2000; b++)
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++) {
            float s = 0;
            for (int k = 0; k < 16; k++) s += A[b][i][k] * B[b][k][j];
            C[b][i][j] = s;
        }";
    let life = "for (int t = 0; t < 6; t++) {
        for (int y = 1; y < 401; y++)
            for (int x = 1; x < 513; x++) {
                int n = 0;
                for (int u = -1; u <= 1; u++)
                    for (int v = -1; v <= 1; v++) n += now[y + u][x + v] & 1;
                next[y][x] = n == 3 || (n == 4 && (now[y][x] & 1));
            }
        for (int y = 1; y < 401; y++)
            for (int x = 1; x < 513; x++) now[y][x] = next[y][x];
    }";
    for (arrays, body) in [
        ("unsigned char in[482][642], unsigned char out[480][640]", window),
        ("double c[24], double x[30000], double y[30000]", polynomial),
        ("float A[2000][16][16], float B[2000][16][16], float C[2000][16][16]", products),
        ("unsigned char now[402][514], unsigned char next[402][514]", life),
    ] {
        let text = function(arrays, body);
        assert_eq!(rewritten(&text), text);
    }
}

#[test]
fn what_starts_a_sum_of_rows_stands_in_loops_of_its_own() {
    let body = "for (int i = 0; i < 150; i++)
    for (int j = 0; j < 240; j++) C[i][j] = 0;
for (int i = 0; i < 150; i++)
    for (int k = 0; k < 256; k++)
        for (int j = 0; j < 240; j++) C[i][j] += (A[i][k] > B[k][j] ? A[i][k] : B[k][j]);";
    let arrays = "float A[150][256], float B[256][240], float C[150][240]";
    let code = rewritten(&function(arrays, body));
    assert!(code.contains("C[c2 + 3][j] +=") || code.contains("C[i + 3][j] +="), "{code}");
    let (new, _) = code.split_once("else").unwrap_or((&code, ""));
    assert!(!new.contains("if (c") && !new.contains("if (k"), "{code}");
}

#[test]
fn sums_of_rows_that_share_nothing_run_side_by_side() {
    let body = "for (int i = 0; i < 900; i++) {
        float mean = 0;
        for (int j = 0; j < 256; j++) mean += x[i][j];
        for (int j = 0; j < 256; j++) y[i][j] = x[i][j] - mean / 256;
    }";
    let code = rewritten(&function("float x[900][256], float y[900][256]", body));
    assert!(code.contains("s7 += x["), "{code}");
}
