//! Loops that take steps of several: which order suits memory.

mod support;

use support::budget;
use tangram_polyhedral::ast::{Ast, AstOptions};
use tangram_polyhedral::optimise::{Optimised, Recipe, WORTH};
use tangram_scop::parts;

/// The order that is found for the only part of a text, and its loops.
fn optimised(text: &str) -> (Optimised, String) {
    let budget = budget();
    let found = parts(text, &budget).unwrap_or_else(|problems| panic!("{problems:?}"));
    let [part] = &found[..] else { panic!("{} parts", found.len()) };
    let mut recipe = Recipe::default();
    recipe.keep_source = true;
    let best = part.scop.optimise(&recipe, &budget).expect("a schedule");
    let ast = Ast::of_tree(&best.tree, None, &AstOptions::default(), &budget).expect("loops");
    (best, ast.to_string())
}

fn nest(step: usize, body: &str) -> String {
    format!(
        "void f(int n, double A[n][64], double B[n][64]) {{\n#pragma scop\n\
         for (int i = 3; i < 50; i += {step})\n  for (int j = 1; j < n; j++)\n    {body}\n\
         #pragma endscop\n}}\n"
    )
}

#[test]
fn a_loop_with_steps_of_two_goes_inside_where_it_walks_along_rows() {
    // The textbook's motivating example: every line of the cache was loaded for one element.
    let (best, code) = optimised(&nest(2, "A[j][i] = 0;"));
    assert!(!best.original && best.ratio.is_some_and(|ratio| ratio < WORTH), "{:?}", best.ratio);
    let lines: Vec<&str> = code.lines().map(str::trim).collect();
    assert!(lines[0].contains("c0 = 1; c0 < n"), "{code}");
    assert!(lines[1].contains("c1 += 2"), "{code}");
}

#[test]
fn bounds_that_depend_on_each_other_are_exchanged_as_well() {
    let text = nest(2, "A[j][i] = 0;").replace("j = 1", "j = i");
    let (best, code) = optimised(&text);
    assert!(!best.original, "{:?}", best.ratio);
    assert!(code.contains("min(49, c0)") && code.contains("c1 += 2"), "{code}");
}

#[test]
fn steps_that_leave_the_line_or_loops_that_walk_along_rows_stay() {
    for text in [nest(16, "A[j][i] = 0;"), nest(2, "A[i][j] = 0;"), nest(2, "A[j][i] = B[i][j];")] {
        let (best, code) = optimised(&text);
        assert!(best.original, "{code}");
    }
}

#[test]
fn an_exchange_that_turns_dependences_around_is_not_made() {
    let (best, code) = optimised(&nest(2, "A[j][i] = A[j - 1][i + 2] + A[j + 1][i + 2];"));
    assert!(best.original, "{code}");
}
