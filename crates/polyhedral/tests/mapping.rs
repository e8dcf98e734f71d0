//! Units, overlapped tiles, and larger trees from smaller ones.

use tangram_polyhedral::ast::{Ast, AstOptions, Instance};
use tangram_polyhedral::transform::Editor;
use tangram_polyhedral::{Error, Node, NodeKind, ScheduleTree, Violation};
use tangram_presburger::{Budget, Union};

fn budget() -> Budget {
    Budget::steps(50_000_000)
}

fn union(text: &str) -> Union {
    Union::parse(text, &budget()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn tree(text: &str) -> ScheduleTree {
    ScheduleTree::parse(text, &budget()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn code(tree: &ScheduleTree) -> Ast {
    Ast::of_tree(tree, None, &AstOptions::default(), &budget()).expect("code")
}

/// Runs code for values of its parameters by name.
fn run(ast: &Ast, values: &[(&str, i128)]) -> Vec<Instance> {
    let value = |name: &String| values.iter().find(|(known, _)| known == name).expect("a value").1;
    let params: Vec<i128> = ast.params().iter().map(value).collect();
    ast.run(&params, 100_000).expect("a run")
}

fn find(editor: &Editor, kind: &str) -> Node {
    editor.find(|found| found.name() == kind).expect("such a node")
}

const ROWS: &str = "domain: \"[N, M] -> { S[i, j] : 0 <= i < N and 0 <= j < M }\"
child:
  schedule: \"[{ S[i, j] -> [(i)] }, { S[i, j] -> [(j)] }]\"
";
/// Sums along rows: each row stays on one unit, columns do not.
const ALONG: &str = "[N, M] -> { S[i, j] -> S[i, j + 1] : 0 <= i < N and 0 <= j < M - 1 }";

#[test]
fn units_run_every_instance_once_and_in_order() {
    let budget = budget();
    let mut editor = Editor::new(tree(ROWS), union(ALONG), &budget).expect("legal");
    let band = find(&editor, "band");
    editor.map_to_units(band, &["b0"], &[4]).expect("legal");
    let tree = editor.into_tree();
    tree.check(&budget).expect("well-formed");
    let ast = code(&tree);
    for (n, m) in [(0, 3), (1, 1), (4, 2), (11, 3)] {
        let mut all = Vec::new();
        for unit in 0..4 {
            let own = run(&ast, &[("N", n), ("M", m), ("b0", unit)]);
            assert!(own.iter().all(|instance| instance.point[0] % 4 == unit));
            assert!(own.is_sorted(), "{own:?}");
            all.extend(own);
        }
        all.sort();
        all.dedup();
        assert_eq!(all.len() as i128, n * m);
    }
}

#[test]
fn blocks_and_threads_of_two_bands() {
    let budget = budget();
    let mut editor = Editor::new(tree(ROWS), union("{ }"), &budget).expect("legal");
    let band = find(&editor, "band");
    let tiles = editor.tile(band, &[4, 2]).expect("legal");
    editor.map_to_units(tiles, &["b0", "b1"], &[2, 3]).expect("legal");
    let points = editor
        .tree()
        .nodes()
        .filter(|node| matches!(editor.tree().kind(*node), NodeKind::Band(_)))
        .last()
        .expect("a band");
    editor.map_to_units(points, &["t0", "t1"], &[4, 2]).expect("legal");
    let ast = code(editor.tree());
    let mut all = Vec::new();
    for unit in 0..2 * 3 * 4 * 2 {
        let (b0, b1, t0, t1) = (unit % 2, unit / 2 % 3, unit / 6 % 4, unit / 24);
        let values = [("N", 13), ("M", 9), ("b0", b0), ("b1", b1), ("t0", t0), ("t1", t1)];
        for instance in run(&ast, &values) {
            let (i, j) = (instance.point[0], instance.point[1]);
            assert_eq!((i / 4 % 2, j / 2 % 3, i % 4, j % 2), (b0, b1, t0, t1));
            all.push((i, j));
        }
    }
    all.sort_unstable();
    let expected: Vec<(i128, i128)> = (0..13).flat_map(|i| (0..9).map(move |j| (i, j))).collect();
    assert_eq!(all, expected);
}

#[test]
fn units_that_would_wait_for_each_other_are_refused() {
    let budget = budget();
    let mut editor = Editor::new(tree(ROWS), union(ALONG), &budget).expect("legal");
    let band = find(&editor, "band");
    let both = editor.map_to_units(band, &["b0", "b1"], &[4, 4]);
    let violation = Violation::Coincident { member: 1 };
    assert_eq!(both.expect_err("refused"), Error::Illegal { node: band, violation });
    // One unit waits for nobody.
    assert!(editor.map_to_units(band, &["b0", "b1"], &[4, 1]).is_ok());
    for (names, sizes) in [
        (&["N"][..], &[4][..]),
        (&["x", "x"], &[1, 1]),
        (&["x"], &[0]),
        (&["x"], &[2, 2]),
        (&[], &[]),
    ] {
        let band = find(&editor, "band");
        let refused = editor.map_to_units(band, names, sizes);
        assert!(matches!(refused, Err(Error::Operand { .. })), "{names:?} {sizes:?}");
    }
}

const STAGES: &str = "domain: \"[N] -> { P[i] : 0 <= i <= N and N > 0; C[i] : 1 <= i <= N }\"
child:
  sequence:
  - filter: \"{ P[i] }\"
    child: { schedule: \"[{ P[i] -> [(i)] }]\" }
  - filter: \"{ C[i] }\"
    child: { schedule: \"[{ C[i] -> [(i)] }]\" }
";
const READS: &str = "[N] -> { P[i] -> C[i] : 1 <= i <= N; P[i] -> C[i + 1] : 0 <= i < N }";

#[test]
fn overlapped_tiles_compute_again_what_they_share() {
    let budget = budget();
    let mut editor = Editor::new(tree(STAGES), union(READS), &budget).expect("legal");
    let list = find(&editor, "sequence");
    editor.overlap(list, &[4]).expect("legal");
    let tree = editor.into_tree();
    tree.check(&budget).expect("well-formed");
    let trace = run(&code(&tree), &[("N", 10)]);
    let mut fresh: Vec<i128> = Vec::new();
    let (mut producers, mut consumers, mut inside) = (0, Vec::new(), true);
    for instance in &trace {
        let at = instance.point[0];
        if instance.statement == "P" {
            // A new tile knows nothing of the one before.
            if !std::mem::replace(&mut inside, true) {
                fresh.clear();
            }
            fresh.push(at);
            producers += 1;
        } else {
            inside = false;
            assert!(fresh.contains(&at) && fresh.contains(&(at - 1)), "{at} in {trace:?}");
            consumers.push(at);
        }
    }
    assert_eq!(consumers, (1..=10).collect::<Vec<i128>>());
    // Tiles 1..=3, 4..=7, 8..=10 need 0..=3, 3..=7, 7..=10: two instances run twice.
    assert_eq!(producers, 11 + 2);
    let map = tree.to_map(&budget).expect("a map");
    assert!(!map.is_single_valued(&budget).expect("decided"));
}

#[test]
fn producers_that_cannot_run_again_are_refused() {
    let refused = |dependences: &str| {
        let budget = budget();
        let mut editor = Editor::new(tree(STAGES), union(dependences), &budget).expect("legal");
        let list = find(&editor, "sequence");
        match editor.overlap(list, &[4]) {
            Err(Error::Operand { expected, .. }) => expected,
            other => panic!("expected a refusal, found {other:?}"),
        }
    };
    let chain = format!("{}; P[i] -> P[i + 1] : 0 <= i < N }}", READS.trim_end_matches(" }"));
    assert_eq!(refused(&chain), "producers that depend on nothing in the tree");
    let some = "[N] -> { P[i] -> C[i] : 1 <= i <= N }";
    assert_eq!(refused(some), "producers that some tile needs");
}

#[test]
fn trees_in_sequence_in_a_set_and_under_a_domain() {
    let one = |name: &str, by: &str| {
        tree(&format!(
            "domain: \"{{ {name}[i] : 0 <= i < 3 }}\"\nchild: {{ schedule: \"[{{ {name}[i] -> [({by})] }}]\" }}\n"
        ))
    };
    let trees = [one("A", "i"), one("B", "-i")];
    let both = ScheduleTree::in_sequence(&trees, &budget()).expect("a tree");
    both.check(&budget()).expect("well-formed");
    let expected = union("{ A[i] -> [0, i] : 0 <= i < 3; B[i] -> [1, -i] : 0 <= i < 3 }");
    let map = both.to_map(&budget()).expect("a map");
    assert!(map.is_equal(&expected, &budget()).expect("decided"), "{map}");
    let any = ScheduleTree::in_set(&trees, &budget()).expect("a tree");
    any.check(&budget()).expect("well-formed");
    assert!(any.nodes().any(|node| matches!(any.kind(node), NodeKind::Set)));
    let less = any.under_domain(&union("{ A[i] : i > 0 }"), &budget()).expect("a tree");
    less.check(&budget()).expect("well-formed");
    let NodeKind::Domain(domain) = less.kind(less.root()) else { panic!("a domain") };
    assert!(domain.is_equal(&union("{ A[1]; A[2] }"), &budget()).expect("decided"), "{domain}");
    let twice = [one("A", "i"), one("A", "-i")];
    assert!(matches!(ScheduleTree::in_sequence(&twice, &budget()), Err(Error::Operand { .. })));
    let none = ScheduleTree::in_sequence(&[], &budget()).expect("an empty tree");
    none.check(&budget()).expect("well-formed");
}
