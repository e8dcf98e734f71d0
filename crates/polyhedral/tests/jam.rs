//! Loop orders for machines: tiles, one member innermost, iterations side by side.

use tangram_polyhedral::ast::{Ast, AstNodeKind, AstOptions, Instance};
use tangram_polyhedral::transform::Editor;
use tangram_polyhedral::{Error, Node, NodeKind, ScheduleTree};
use tangram_presburger::{Budget, Union};

const NEST: &str = "domain: \"[N, M] -> { S[i, j, k] : 0 <= i < N and 0 <= j < M and 0 <= k < 5 }\"\n\
                    child:\n  schedule: \"[{ S[i, j, k] -> [(i)] }, { S[i, j, k] -> [(j)] }, \
                    { S[i, j, k] -> [(k)] }]\"\n  permutable: 1\n";

fn code(tree: &ScheduleTree) -> Ast {
    let budget = Budget::steps(5_000_000);
    Ast::of_tree(tree, None, &AstOptions::default(), &budget).expect("code")
}

fn band(editor: &Editor) -> Node {
    editor.find(|kind| matches!(kind, NodeKind::Band(_))).expect("a band")
}

fn editor<'a>(text: &str, dependences: &str, budget: &'a Budget) -> Editor<'a> {
    let tree = ScheduleTree::parse(text, budget).expect("a tree");
    let dependences = Union::parse(dependences, budget).expect("a relation");
    Editor::new(tree, dependences, budget).expect("a legal tree")
}

fn loops(ast: &Ast) -> Vec<i128> {
    let step = |node| match ast.node(node) {
        AstNodeKind::For { step, .. } => Some(*step),
        _ => None,
    };
    ast.nodes().into_iter().filter_map(step).collect()
}

/// Orders by blocks of two loops, then the inner loop, then what is in the block.
fn expected(n: i128, m: i128) -> Vec<Instance> {
    let mut all = Vec::new();
    for i in 0..n {
        for k in 0..5 {
            for j in 0..m {
                // Rows behind the last whole block run alone.
                let row = if i < n / 2 * 2 { i / 2 * 2 } else { i };
                let col = if k < 3 { 0 } else { k };
                all.push(((row, col, j, i, k), [i, j, k]));
            }
        }
    }
    all.sort();
    all.into_iter()
        .map(|(_, point)| Instance { statement: "S".into(), point: point.to_vec() })
        .collect()
}

#[test]
fn arranged_and_jammed_loops_run_in_blocks() {
    let budget = Budget::steps(5_000_000);
    let carried =
        "[N, M] -> { S[i, j, k] -> S[i, j, k + 1] : 0 <= i < N and 0 <= j < M and 0 <= k < 4 }";
    let mut editor = editor(NEST, carried, &budget);
    let node = band(&editor);
    let points = editor.arrange(node, &[None, None, None], &[0, 2, 1]).expect("legal");
    editor.unroll_and_jam(points, &[2, 3]).expect("legal");
    let ast = code(editor.tree());
    for (n, m) in [(0, 3), (1, 1), (4, 2), (5, 3)] {
        assert_eq!(ast.run(&[n, m], 10_000).expect("an end"), expected(n, m), "{ast}");
    }
    // Whole blocks and rests of both loops, the inner loop in each: of five, one block of three needs no
    // loop.
    assert_eq!(loops(&ast), [2, 1, 1, 1, 1, 1, 1, 1], "{ast}");
}

#[test]
fn conditions_stand_where_a_copy_may_meet_them() {
    let budget = Budget::steps(5_000_000);
    let code_from = |first: i128| {
        let text = format!(
            "domain: \"[N] -> {{ S[k, i] : 0 <= k < 13 and 0 <= i < N; T[i] : 0 <= i < N }}\"\nchild:\n  \
             schedule: \"[{{ S[k, i] -> [(k)]; T[i] -> [({first})] }}]\"\n  options: \
             \"{{ jam[0, 4]; atomic[x] }}\"\n  child:\n    schedule: \"[{{ S[k, i] -> [(i)]; T[i] -> [(i)] \
             }}]\"\n    options: \"{{ atomic[x] }}\"\n    child:\n      sequence:\n      - filter: \
             \"{{ T[i] }}\"\n      - filter: \"{{ S[k, i] }}\"\n"
        );
        let tree = ScheduleTree::parse(&text, &budget).expect("a tree");
        code(&tree)
    };
    for first in [0, 3, 5, 12] {
        let ast = code_from(first);
        let text = ast.to_string();
        // In the block or the rest that has the value, and in one copy of it.
        assert_eq!(text.matches("if (").count(), 1, "{first}: {text}");
        let trace = ast.run(&[2], 10_000).expect("an end");
        assert_eq!(trace.len(), 28, "{text}");
        for i in 0..2 {
            let at = |name: &str, point: &[i128]| {
                trace.iter().position(|call| call.statement == name && call.point == point)
            };
            let (before, after) = (at("S", &[first - 1, i]), at("S", &[first, i]));
            let own = at("T", &[i]).expect("a call");
            assert!(before < Some(own) && Some(own) < after, "{first}: {text}");
        }
    }
}

#[test]
fn arranged_loops_have_tiles_where_sizes_say_so() {
    let budget = Budget::steps(5_000_000);
    let mut editor = editor(NEST, "{ }", &budget);
    let node = band(&editor);
    let top = editor.arrange(node, &[Some(4), None, Some(2)], &[2, 0, 1]).expect("legal");
    let NodeKind::Band(tiles) = editor.tree().kind(top) else { panic!("no band") };
    assert_eq!(tiles.members.len(), 2);
    let trace = code(editor.tree()).run(&[6, 1], 10_000).expect("an end");
    let order: Vec<(i128, i128, i128, i128)> =
        trace.iter().map(|s| (s.point[0] / 4, s.point[2] / 2, s.point[2], s.point[0])).collect();
    assert_eq!(order.len(), 30);
    assert!(order.is_sorted(), "{order:?}");
}

#[test]
fn loops_whose_bounds_depend_on_each_other_are_not_jammed() {
    let budget = Budget::steps(5_000_000);
    let text = "domain: \"[N] -> { S[i, j] : 0 <= j <= i < N }\"\nchild:\n  schedule: \
                \"[{ S[i, j] -> [(i)] }]\"\n  options: \"{ jam[0, 2] }\"\n  child:\n    \
                schedule: \"[{ S[i, j] -> [(j)] }]\"\n";
    let tree = ScheduleTree::parse(text, &budget).expect("a tree");
    assert_eq!(loops(&code(&tree)), [1, 1]);
}

#[test]
fn illegal_blocks_are_refused() {
    let budget = Budget::steps(5_000_000);
    // Row i + 1 needs the next element of row i: rows side by side would read it too early.
    let ahead = "[N, M] -> { S[i, j, k] -> S[i + 1, j - 1, k] : 0 <= i < N - 1 and 0 < j < M and 0 <= k < 5 }";
    let plain = NEST.replace("  permutable: 1\n", "");
    let mut editor = editor(&plain, ahead, &budget);
    let node = band(&editor);
    let points = editor.arrange(node, &[None, None, None], &[0, 2, 1]).expect("legal");
    let before = editor.tree().to_string();
    let refused = editor.unroll_and_jam(points, &[2, 1]);
    assert!(matches!(refused, Err(Error::Illegal { .. })), "{refused:?}");
    let refused = editor.unroll_and_jam(points, &[2, 0]);
    assert!(matches!(refused, Err(Error::Operand { .. })), "{refused:?}");
    assert_eq!(editor.tree().to_string(), before);
    let wrong = editor.arrange(points, &[None, None], &[0, 0]);
    assert!(matches!(wrong, Err(Error::Operand { .. })), "{wrong:?}");
}

const SWEEP: &str = "domain: \"[N, M] -> { S[t, i, j] : 0 <= t < 2 and 3 <= i < N and LOW <= j < M }\"\n\
                     child:\n  schedule: \"[{ S[t, i, j] -> [(t)] }]\"\n  child:\n    \
                     schedule: \"[{ S[t, i, j] -> [(i)] }]\"\n    child:\n      \
                     schedule: \"[{ S[t, i, j] -> [(j)] }]\"\n";

/// Rows of a sweep that use the next element of the row before, also those of a triangle: groups of four run
/// with two iterations between rows.
#[test]
fn rows_at_a_distance_run_side_by_side() {
    let near = "[N, M] -> { S[t, i, j] -> S[t, i + 1, j - 1]; S[t, i, j] -> S[t, i, j + 1]; \
                S[t, i, j] -> S[t + 1, a, b] }";
    for low in ["0", "i"] {
        let budget = Budget::steps(50_000_000);
        let text = SWEEP.replace("LOW", low);
        let mut editor = editor(&text, near, &budget);
        let top = band(&editor);
        let node = editor.tree().children(top).next().expect("rows");
        for skew in [0, 1] {
            let refused = editor.jam_skewed(node, 4, skew);
            let is_refused = matches!(refused, Err(Error::Operand { .. } | Error::Illegal { .. }));
            assert!(is_refused, "{skew}: {refused:?}");
        }
        editor.jam_skewed(node, 4, 2).expect("legal");
        let ast = code(editor.tree());
        for (n, m) in [(0, 3), (4, 4), (6, 30), (7, 5), (12, 17), (11, 2)] {
            let mut expected = Vec::new();
            for t in 0..2 {
                for i in 3..n {
                    for j in (if low == "i" { i } else { 0 })..m {
                        // Groups start at the first row.
                        expected.push(((t, (i - 3) / 4, j + 2 * (i - 3), i), vec![t, i, j]));
                    }
                }
            }
            expected.sort();
            let expected: Vec<Instance> = expected
                .into_iter()
                .map(|(_, point)| Instance { statement: "S".into(), point })
                .collect();
            assert_eq!(ast.run(&[n, m], 100_000).expect("an end"), expected, "{ast}");
        }
        // Whole groups have no condition.
        assert!(ast.to_string().contains("S(c0, 4 * c1 + 6, "), "{ast}");
    }
}

const UNEVEN: &str = "domain: \"[N] -> { A[i] : 0 <= i < N; S[i, j] : 0 <= i < N and 0 <= j < 4; B[i] : 0 <= i < N }\"\n\
                      child:\n  schedule: \"[{ A[i] -> [(i)]; S[i, j] -> [(i)]; B[i] -> [(i)] }]\"\n  \
                      child:\n    sequence:\n    - filter: \"{ A[i] }\"\n    - filter: \"{ S[i, j] }\"\n      \
                      child:\n        schedule: \"[{ S[i, j] -> [(j)] }]\"\n    - filter: \"{ B[i] }\"\n";

#[test]
fn free_iterations_are_jammed_through_statements_between_loops() {
    let budget = Budget::steps(5_000_000);
    let within = "[N] -> { A[i] -> S[i, 0] : 0 <= i < N; S[i, j] -> S[i, j + 1] : 0 <= i < N and 0 <= j < 3; \
                  S[i, 3] -> B[i] : 0 <= i < N }";
    let mut free = editor(UNEVEN, within, &budget);
    let node = band(&free);
    free.unroll_and_jam(node, &[2]).expect("legal");
    let ast = code(free.tree());
    for n in [0, 1, 4, 5] {
        let mut expected = Vec::new();
        let instance =
            |name: &str, point: &[i128]| Instance { statement: name.into(), point: point.to_vec() };
        for first in (0..n).step_by(2) {
            let rows = first..n.min(first + 2);
            expected.extend(rows.clone().map(|i| instance("A", &[i])));
            for j in 0..4 {
                expected.extend(rows.clone().map(|i| instance("S", &[i, j])));
            }
            expected.extend(rows.map(|i| instance("B", &[i])));
        }
        assert_eq!(ast.run(&[n], 1_000).expect("an end"), expected, "{ast}");
    }
    // Rows that depend on each other stay behind each other.
    let chained = "[N] -> { B[i] -> A[i + 1] : 0 <= i < N - 1 }";
    let mut bound = editor(UNEVEN, chained, &budget);
    let node = band(&bound);
    let refused = bound.unroll_and_jam(node, &[2]);
    assert!(matches!(refused, Err(Error::Operand { .. })), "{refused:?}");
}
