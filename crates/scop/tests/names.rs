//! Names that generated loops take from the source.

mod support;

use support::budget;
use tangram_polyhedral::ast::{Ast, AstOptions};
use tangram_polyhedral::optimise::Recipe;
use tangram_scop::{Emit, Part, parts, rewrite};

/// The text with the loops that are found for its only part.
fn rewritten(body: &str) -> String {
    let text = format!(
        "void f(int n, double A[n][n], double B[n][n], int k) {{\n  /* before */\n#pragma scop\n\
         {body}\n#pragma endscop\n  /* behind */\n}}\n"
    );
    let budget = budget();
    let found = parts(&text, &budget).unwrap_or_else(|problems| panic!("{problems:?}"));
    let [part] = &found[..] else { panic!("{} parts", found.len()) };
    let best = part.scop.optimise(&Recipe::default(), &budget).expect("a schedule");
    let ast = Ast::of_tree(&best.tree, None, &AstOptions::default(), &budget).expect("loops");
    let pairs: [(&Part, Option<&Ast>); 1] = [(part, Some(&ast))];
    rewrite(&text, &pairs, &Emit::default()).unwrap_or_else(|problem| panic!("{problem}"))
}

#[test]
fn exchanged_loops_keep_their_variables() {
    let code = rewritten("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) A[j][i] = 2.0;");
    assert!(code.contains("for (long long j = 0; j < n; j += 1)"), "{code}");
    assert!(code.contains("for (long long i = 0; i < n; i += 1)"), "{code}");
    assert!(code.contains("A[j][i] = 2.0;"), "{code}");
    assert!(code.contains("/* before */") && code.contains("/* behind */"), "{code}");
}

#[test]
fn a_loop_that_two_statements_name_differently_has_a_name_of_its_own() {
    let code = rewritten(
        "for (int i = 0; i < n; i++) A[0][i] = 1.0;\n\
         for (int l = 0; l < n; l++) B[0][l] = A[0][l];",
    );
    assert!(code.contains("A[0][c0]") && code.contains("B[0][c0]"), "{code}");
}

#[test]
fn a_loop_of_several_steps_keeps_its_variable() {
    let code = rewritten(
        "for (int i = 0; i < n; i++) { A[0][i] = 0.0; for (int j = 0; j < n; j++) A[0][i] += B[i][j]; }",
    );
    assert!(code.contains("for (long long i = 0;"), "{code}");
}
