//! The examples of the text that this crate was built after, with bounds that are right.
//!
//! Where the text prints other bounds, or none, the comment says what they were.

use tangram_polyhedral::ast::{Ast, AstOptions};
use tangram_polyhedral::transform::Editor;
use tangram_polyhedral::{NodeKind, ScheduleTree};
use tangram_presburger::{Budget, Union};

fn budget() -> Budget {
    Budget::steps(50_000_000)
}

fn tree(text: &str) -> ScheduleTree {
    ScheduleTree::parse(text, &budget()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn code(tree: &ScheduleTree) -> Ast {
    Ast::of_tree(tree, None, &AstOptions::default(), &budget()).expect("code")
}

/// Runs code; points of the only statement, in their order.
fn points(ast: &Ast, params: &[i128]) -> Vec<Vec<i128>> {
    let trace = ast.run(params, 100_000).expect("a run");
    trace.into_iter().map(|instance| instance.point).collect()
}

/// `for i = 3, 5, 7, 9: for j = i .. N-1: A[j][i] = 0`, with both loops interchanged.
///
/// The text lets `j` end at `min(N - 1, 9)`, and prints `i <= j` alone as bound of `i`: rows
/// from 10 on would be lost.
#[test]
fn interchanged_loops_over_a_strided_triangle() {
    let text = "domain: \"[N] -> { S1[i, j] : 3 <= i < 10 and i <= j < N and (i + 1) mod 2 = 0 }\"
child:
  schedule: \"[{ S1[i, j] -> [(i)] }, { S1[i, j] -> [(j)] }]\"
";
    let budget = budget();
    let mut editor = Editor::new(tree(text), Union::empty(), &budget).expect("legal");
    let band = editor.find(|kind| matches!(kind, NodeKind::Band(_))).expect("a band");
    editor.interchange(band, 0, 1).expect("legal");
    let ast = code(editor.tree());
    let expected = "\
for (int64_t c0 = 3; c0 < N; c0 += 1)
  for (int64_t c1 = 3; c1 <= min(9, c0); c1 += 2)
    S1(c1, c0);
";
    assert_eq!(ast.to_string(), expected);
    for n in [0, 3, 4, 8, 30] {
        let rows = (3..n)
            .flat_map(|j| (3..10).step_by(2).filter(move |i| *i <= j).map(move |i| vec![i, j]));
        assert_eq!(points(&ast, &[n]), rows.collect::<Vec<_>>(), "N = {n}");
    }
}

/// `S1(j, i) -> (j/32, i/32, j, i)`; the text lets the second loop test the wrong variable
/// and the last one start at `is` but count `is`.
#[test]
fn tiles_of_32_by_32() {
    let text = "domain: \"[M, N] -> { S1[j, i] : 0 <= j < M and 0 <= i < N }\"
child:
  schedule: \"[{ S1[j, i] -> [(floor((j)/32))] }, { S1[j, i] -> [(floor((i)/32))] }, \
              { S1[j, i] -> [(j)] }, { S1[j, i] -> [(i)] }]\"
";
    let ast = code(&tree(text));
    let loops = ast.to_string().matches("for (").count();
    assert_eq!((loops, ast.to_string().matches("if (").count()), (4, 0), "{ast}");
    for (m, n) in [(1, 1), (40, 33), (64, 70), (0, 5)] {
        let mut expected = Vec::new();
        for js in (0..m).step_by(32) {
            for is in (0..n).step_by(32) {
                for j in js..m.min(js + 32) {
                    expected.extend((is..n.min(is + 32)).map(|i| vec![j, i]));
                }
            }
        }
        assert_eq!(points(&ast, &[m, n]), expected, "{m} by {n}");
    }
}

/// The tree of two nests; the second loop runs to `N`, including it.
#[test]
fn two_nests_as_a_tree() {
    let text = r#"
domain: "[M, N] -> { S1[i] : 0 <= i < M; S2[i, j] : 0 <= i < M and 0 <= j <= N; S3[i] : 0 <= i < M }"
child:
  sequence:
  - filter: "{ S1[i] }"
    child: { schedule: "[{ S1[i] -> [(i)] }]" }
  - filter: "{ S2[i, j]; S3[i] }"
    child:
      schedule: "[{ S2[i, j] -> [(i)]; S3[i] -> [(i)] }]"
      child:
        sequence:
        - filter: "{ S2[i, j] }"
          child: { schedule: "[{ S2[i, j] -> [(j)] }]" }
        - filter: "{ S3[i] }"
"#;
    let expected = "\
for (int64_t c0 = 0; c0 < M; c0 += 1)
  S1(c0);
for (int64_t c0 = 0; c0 < M; c0 += 1) {
  for (int64_t c1 = 0; c1 <= N; c1 += 1)
    S2(c0, c1);
  S3(c0);
}
";
    assert_eq!(code(&tree(text)).to_string(), expected);
}

/// The access relation is `A[j, i]` for `i` up to 9; the text has `i < 9` there and `i < 10`
/// in the set.
#[test]
fn elements_that_the_triangle_touches() {
    let domain = Union::parse(
        "[N] -> { S1[i, j] : 3 <= i < 10 and i <= j < N and (i + 1) mod 2 = 0 }",
        &budget(),
    );
    let access = Union::parse("{ S1[i, j] -> A[j, i] }", &budget()).expect("a relation");
    let access = access.intersect_domain(&domain.expect("a set"), &budget()).expect("a relation");
    let cells = access.range(&budget()).expect("a set");
    let expected = Union::parse(
        "[N] -> { A[j, i] : (i = 3 or i = 5 or i = 7 or i = 9) and i <= j < N }",
        &budget(),
    );
    assert!(cells.is_equal(&expected.expect("a set"), &budget()).expect("decided"), "{cells}");
}
