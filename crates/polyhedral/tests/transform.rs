//! Every operation on schedule trees: the order of instances of a small program afterwards.

use tangram_polyhedral::transform::Editor;
use tangram_polyhedral::{Band, Error, Member, Node, NodeKind, ScheduleTree, Violation};
use tangram_presburger::{Budget, Union};

fn budget() -> Budget {
    Budget::steps(500_000_000)
}

fn union(text: &str) -> Union {
    Union::parse(text, &budget()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn tree(text: &str) -> ScheduleTree {
    ScheduleTree::parse(text, &budget()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Two loops of three iterations.
fn nest() -> ScheduleTree {
    tree(
        "domain: \"{ S[i, j] : 0 <= i < 3 and 0 <= j < 3 }\"\nchild:\n  schedule: \"[{ S[i, j] -> [i] }, { S[i, j] -> [j] }]\"\n",
    )
}

/// Two loops, one after the other.
fn pair() -> ScheduleTree {
    tree(
        "domain: \"{ A[i] : 0 <= i < 3; B[i] : 0 <= i < 3 }\"
child:
  sequence:
  - filter: \"{ A[i] }\"
    child: { schedule: \"[{ A[i] -> [i] }]\" }
  - filter: \"{ B[i] }\"
    child: { schedule: \"[{ B[i] -> [i] }]\" }
",
    )
}

/// Runs an operation on a node and returns the order of instances after it.
fn after(
    tree: ScheduleTree,
    dependences: &str,
    operation: impl FnOnce(&mut Editor, Node) -> Result<Node, Error>,
    kind: &str,
) -> Result<String, Error> {
    let budget = budget();
    let mut editor = Editor::new(tree, union(dependences), &budget)?;
    let node = editor.find(|found| found.name() == kind).expect("such a node");
    operation(&mut editor, node)?;
    Ok(order(editor.tree()))
}

/// Lists instances in the order in which the tree runs them, as `S12 S13 ..`.
fn order(tree: &ScheduleTree) -> String {
    let map = tree.to_map(&budget()).expect("a map");
    let mut all = Vec::new();
    for relation in map.relations() {
        let input = relation.space().input.as_ref().expect("a map");
        for point in relation.points(&budget()).expect("finite") {
            let (instance, time) = point.split_at(input.dims.len());
            let name: String = instance.iter().map(ToString::to_string).collect();
            all.push((time.to_vec(), format!("{}{name}", input.name)));
        }
    }
    all.sort();
    all.into_iter().map(|(_, name)| name).collect::<Vec<_>>().join(" ")
}

const ROWS: &str = "S00 S01 S02 S10 S11 S12 S20 S21 S22";
const COLUMNS: &str = "S00 S10 S20 S01 S11 S21 S02 S12 S22";
/// Each instance needs the one to the right in the row above.
const RIGHT: &str = "{ S[i, j] -> S[i + 1, j - 1] : 0 <= i < 2 and 0 < j < 3 }";
const NONE: &str = "{ }";

fn on_nest(
    dependences: &str,
    operation: impl FnOnce(&mut Editor, Node) -> Result<Node, Error>,
) -> Result<String, Error> {
    after(nest(), dependences, operation, "band")
}

fn refused(outcome: Result<String, Error>) -> Violation {
    match outcome {
        Err(Error::Illegal { violation, .. }) => violation,
        other => panic!("expected a refusal, found {other:?}"),
    }
}

fn operand(outcome: Result<String, Error>) -> &'static str {
    match outcome {
        Err(Error::Operand { expected, .. }) => expected,
        other => panic!("expected a refusal, found {other:?}"),
    }
}

#[test]
fn interchange() {
    let swap = |editor: &mut Editor, node| editor.interchange(node, 0, 1);
    assert_eq!(on_nest(NONE, swap).as_deref(), Ok(COLUMNS));
    assert_eq!(refused(on_nest(RIGHT, swap)), Violation::Backwards { member: 0 });
    assert_eq!(operand(on_nest(NONE, |e, n| e.interchange(n, 0, 2))), "two members of the band");
}

#[test]
fn unimodular() {
    let reverse =
        |editor: &mut Editor, node| editor.unimodular(node, &[vec![2, -1, 0], vec![0, 0, 1]]);
    let expected = "S20 S21 S22 S10 S11 S12 S00 S01 S02";
    assert_eq!(on_nest(NONE, reverse).as_deref(), Ok(expected));
    assert_eq!(refused(on_nest(RIGHT, reverse)), Violation::Backwards { member: 0 });
    let double =
        |editor: &mut Editor, node| editor.unimodular(node, &[vec![0, 2, 0], vec![0, 0, 1]]);
    assert!(operand(on_nest(NONE, double)).starts_with("a unimodular matrix"));
}

#[test]
fn skew_makes_tiles_possible() {
    let tiled = |editor: &mut Editor, node| editor.tile(node, &[2, 2]);
    assert_eq!(refused(on_nest(RIGHT, tiled)), Violation::Backwards { member: 1 });
    let skewed = |editor: &mut Editor, node| {
        let node = editor.skew(node, 1, 0, 1)?;
        editor.tile(node, &[2, 2])
    };
    let expected = "S00 S01 S10 S02 S11 S12 S20 S21 S22";
    assert_eq!(on_nest(RIGHT, skewed).as_deref(), Ok(expected));
}

#[test]
fn tile() {
    let tiled = |editor: &mut Editor, node| editor.tile(node, &[2, 2]);
    let expected = "S00 S01 S10 S11 S02 S12 S20 S21 S22";
    assert_eq!(on_nest(NONE, tiled).as_deref(), Ok(expected));
    assert!(operand(on_nest(NONE, |e, n| e.tile(n, &[2]))).starts_with("a size for each member"));
}

#[test]
fn shift_and_scale() {
    let budget = budget();
    let mut editor = Editor::new(nest(), union(RIGHT), &budget).expect("legal");
    let node = editor.find(|kind| kind.name() == "band").expect("a band");
    let node = editor.shift(node, 0, 5).expect("legal");
    let node = editor.scale(node, 1, 3).expect("legal");
    let map = editor.tree().to_map(&budget).expect("a map");
    let expected = union("{ S[i, j] -> [i + 5, 3j] : 0 <= i < 3 and 0 <= j < 3 }");
    assert!(map.is_equal(&expected, &budget).expect("decided"), "{map}");
    assert!(matches!(editor.scale(node, 0, 0), Err(Error::Operand { .. })));
}

#[test]
fn wavefronts_have_parallel_inner_loops() {
    let budget = budget();
    let pairs = "{ S[i, j] -> S[i + 1, j] : 0 <= i < 2; S[i, j] -> S[i, j + 1] : 0 <= j < 2 }";
    let mut editor = Editor::new(nest(), union(pairs), &budget).expect("legal");
    let node = editor.find(|kind| kind.name() == "band").expect("a band");
    // Flags are found out when an operation touches the band.
    let node = editor.shift(node, 0, 0).expect("legal");
    let node = editor.wavefront(node, 2).expect("legal");
    let NodeKind::Band(band) = editor.tree().kind(node) else { panic!("no band") };
    assert_eq!(band.members.iter().map(|m| m.coincident).collect::<Vec<_>>(), [false, true]);
    assert!(!band.permutable);
    assert_eq!(order(editor.tree()), "S00 S10 S01 S20 S11 S02 S21 S12 S22");
}

#[test]
fn strip_mine_keeps_the_order() {
    let stripped = |editor: &mut Editor, node| editor.strip_mine(node, 1, 2);
    assert_eq!(on_nest(RIGHT, stripped).as_deref(), Ok(ROWS));
}

#[test]
fn split_and_combine() {
    let budget = budget();
    let mut editor = Editor::new(nest(), union(RIGHT), &budget).expect("legal");
    let node = editor.find(|kind| kind.name() == "band").expect("a band");
    let outer = editor.split(node, 1).expect("legal");
    let NodeKind::Band(band) = editor.tree().kind(outer) else { panic!("no band") };
    assert_eq!(band.members.len(), 1);
    assert_eq!(order(editor.tree()), ROWS);
    let inner = editor.tree().children(outer).next().expect("a child");
    assert!(matches!(editor.combine(inner), Err(Error::Operand { .. })));
    let whole = editor.combine(outer).expect("legal");
    let NodeKind::Band(band) = editor.tree().kind(whole) else { panic!("no band") };
    assert_eq!(band.members.len(), 2);
    assert!(matches!(editor.split(whole, 2), Err(Error::Operand { .. })));
}

#[test]
fn fuse() {
    let fused = |editor: &mut Editor, node| editor.fuse(node);
    let straight = "{ A[i] -> B[i] : 0 <= i < 3 }";
    let outcome = after(pair(), straight, fused, "sequence");
    assert_eq!(outcome.as_deref(), Ok("A0 B0 A1 B1 A2 B2"));
    let ahead = "{ A[i] -> B[i - 1] : 0 < i < 3 }";
    let outcome = after(pair(), ahead, fused, "sequence");
    assert_eq!(refused(outcome), Violation::Backwards { member: 0 });
}

#[test]
fn distribute() {
    let fused = "domain: \"{ A[i] : 0 <= i < 3; B[i] : 0 <= i < 3 }\"
child:
  schedule: \"[{ A[i] -> [i]; B[i] -> [i] }]\"
  child: { sequence: [ { filter: \"{ A[i] }\" }, { filter: \"{ B[i] }\" } ] }
";
    let split = |editor: &mut Editor, node| editor.distribute(node);
    let outcome = after(tree(fused), "{ A[i] -> B[i] : 0 <= i < 3 }", split, "band");
    assert_eq!(outcome.as_deref(), Ok("A0 A1 A2 B0 B1 B2"));
    let back = "{ B[i] -> A[i + 1] : 0 <= i < 2 }";
    let outcome = after(tree(fused), back, split, "band");
    assert_eq!(refused(outcome), Violation::Backwards { member: 0 });
}

#[test]
fn distribute_statements_sorts_what_runs_together() {
    let three = "domain: \"{ A[i] : 0 <= i < 3; B[i] : 0 <= i < 3; C[i] : 0 <= i < 3 }\"
child:
  schedule: \"[{ A[i] -> [i]; B[i] -> [i]; C[i] -> [i] }]\"
  child: { set: [ { filter: \"{ A[i] }\" }, { filter: \"{ B[i] }\" }, { filter: \"{ C[i] }\" } ] }
";
    let split = |editor: &mut Editor, node| editor.distribute_statements(node);
    let before = "{ C[i] -> A[i + 1] : 0 <= i < 2 }";
    let outcome = after(tree(three), before, split, "band");
    assert_eq!(outcome.as_deref(), Ok("B0 B1 B2 C0 C1 C2 A0 A1 A2"));
    // Two that need each other stay together.
    let cycle = "{ C[i] -> A[i + 1] : 0 <= i < 2; A[i] -> C[i + 1] : 0 <= i < 2; B[1] -> A[2] }";
    let outcome = after(tree(three), cycle, split, "band");
    assert_eq!(outcome.as_deref(), Ok("B0 B1 B2 A0 C0 A1 C1 A2 C2"));
    let whole = "{ C[i] -> A[i + 1] : 0 <= i < 2; A[i] -> B[i + 1] : 0 <= i < 2; B[i] -> C[i + 1] : 0 <= i < 2 }";
    assert!(operand(after(tree(three), whole, split, "band")).starts_with("a band over several"));
}

#[test]
fn sink() {
    let above = "domain: \"{ A[i] : 0 <= i < 3; B[i] : 0 <= i < 3 }\"
child:
  schedule: \"[{ A[i] -> [-i]; B[i] -> [i] }]\"
  child: { sequence: [ { filter: \"{ A[i] }\" }, { filter: \"{ B[i] }\" } ] }
";
    let down = |editor: &mut Editor, node| editor.sink(node);
    let outcome = after(tree(above), NONE, down, "band");
    assert_eq!(outcome.as_deref(), Ok("A2 A1 A0 B0 B1 B2"));
    let pairs = "{ B[1] -> B[2] }";
    assert!(after(tree(above), pairs, down, "band").is_ok());
    assert!(operand(after(nest(), NONE, down, "band")).starts_with("a band with something"));
}

#[test]
fn bands_sink_through_expansions_that_rename() {
    let text = "domain: \"{ G[i] : 0 <= i < 3 }\"
child:
  schedule: \"[{ G[i] -> [(-i)] }]\"
  child:
    contraction: \"{ P[i, k] -> G[(i)] }\"
    expansion: \"{ G[i] -> P[i, k] : 0 <= k < 2 }\"
    child:
      schedule: \"[{ P[i, k] -> [(k)] }]\"
";
    let before = order(&tree(text));
    assert_eq!(before, "P20 P21 P10 P11 P00 P01");
    // What was inside is outside now.
    let sunk = after(tree(text), "{ }", |e, n| e.sink(n), "band");
    assert_eq!(sunk.as_deref(), Ok("P20 P10 P00 P21 P11 P01"));
    let wrong = after(tree(text), "{ P[i, 1] -> P[i - 1, 0] }", |e, n| e.sink(n), "band");
    assert_eq!(refused(wrong), Violation::Backwards { member: 0 });
}

#[test]
fn members_may_have_no_tiles() {
    let found = after(nest(), "{ }", |e, n| e.tile(n, &[0, 2]), "band");
    assert_eq!(found.as_deref(), Ok("S00 S01 S10 S11 S20 S21 S02 S12 S22"));
    for sizes in [[0, 0], [2, -1]] {
        let none = after(nest(), "{ }", |e, n| e.tile(n, &sizes), "band");
        assert_eq!(operand(none), "a size for each member, some of them positive, 0 for no tiles");
    }
}

#[test]
fn names_that_no_text_can_name_are_refused() {
    for name in ["G[i]", "", "1x", "a b", "and", "x;"] {
        let made = after(nest(), "{ }", |e, n| e.insert_expansion(n, name), "band");
        assert_eq!(operand(made), "a node below the root, and a name of letters and digits");
        let mapped = after(nest(), "{ }", |e, n| e.map_to_units(n, &[name], &[2]), "band");
        let expected = "a different name of letters and digits for each member";
        assert_eq!(operand(mapped), expected, "{name}");
    }
}

#[test]
fn pairs_of_instances_outside_of_the_tree_say_nothing() {
    // Both pairs that run backwards have an end that the domain lacks.
    let outside = "{ A[i] -> A[2 - i] : i > 2; B[i] -> A[i + 3] }";
    after(pair(), outside, |e, n| e.insert_mark(n, "here"), "band").expect("legal");
    let read = "{ A[i] -> B[j] : j <= i <= j + 2 }";
    after(pair(), read, |e, n| e.overlap(n, &[2]), "sequence").expect("recomputed");
}

#[test]
fn reorder_and_group() {
    let swap = |editor: &mut Editor, node| editor.reorder(node, &[1, 0]);
    let outcome = after(pair(), NONE, swap, "sequence");
    assert_eq!(outcome.as_deref(), Ok("B0 B1 B2 A0 A1 A2"));
    let outcome = after(pair(), "{ A[2] -> B[0] }", swap, "sequence");
    assert_eq!(refused(outcome), Violation::Backwards { member: 0 });
    let twice = |editor: &mut Editor, node| editor.reorder(node, &[0, 0]);
    assert_eq!(operand(after(pair(), NONE, twice, "sequence")), "each position once");
    let group = |editor: &mut Editor, node| editor.group(node, 0..2);
    let outcome = after(pair(), "{ A[2] -> B[0] }", group, "sequence");
    assert_eq!(outcome.as_deref(), Ok("A0 A1 A2 B0 B1 B2"));
}

#[test]
fn index_set_splitting_and_ordering() {
    let diagonal = union("{ S[i, i] }");
    let split = |editor: &mut Editor, node| editor.split_index_set(node, &diagonal);
    let expected = "S00 S11 S22 S01 S02 S10 S12 S20 S21";
    assert_eq!(on_nest(NONE, split).as_deref(), Ok(expected));
    let before = |editor: &mut Editor, node| editor.order_before(node, &diagonal);
    assert_eq!(on_nest(NONE, before).as_deref(), Ok(expected));
    let after = |editor: &mut Editor, node| editor.order_after(node, &diagonal);
    assert_eq!(on_nest(NONE, after).as_deref(), Ok("S01 S02 S10 S12 S20 S21 S00 S11 S22"));
    assert_eq!(refused(on_nest(RIGHT, split)), Violation::Backwards { member: 0 });
    let none = union("{ S[i, 9] }");
    let empty = |editor: &mut Editor, node| editor.split_index_set(node, &none);
    assert!(operand(on_nest(NONE, empty)).starts_with("a set with some"));
}

#[test]
fn full_tiles_are_isolated() {
    let budget = budget();
    let text =
        "domain: \"[N] -> { S[i] : 1 <= i < N }\"\nchild:\n  schedule: \"[{ S[i] -> [i] }]\"\n";
    let mut editor = Editor::new(tree(text), Union::empty(), &budget).expect("legal");
    let node = editor.find(|kind| kind.name() == "band").expect("a band");
    let tiles = editor.tile(node, &[4]).expect("legal");
    let tiles = editor.separate_full_tiles(tiles, &[4]).expect("legal");
    let NodeKind::Band(band) = editor.tree().kind(tiles) else { panic!("no band") };
    let expected = union("[N] -> { isolate[[] -> [t]] : t >= 1 and 4t + 3 < N }");
    assert!(band.options.is_equal(&expected, &budget).expect("decided"), "{}", band.options);
}

#[test]
fn insertions_keep_the_order() {
    let budget = budget();
    let mut editor = Editor::new(nest(), union(RIGHT), &budget).expect("legal");
    let set = |text: &str| union(text).single().expect("one set").clone();
    let find = |editor: &Editor| editor.find(|kind| kind.name() == "band").expect("a band");
    let node = find(&editor);
    editor.insert_context(node, set("[N] -> { [] : N > 3 }")).expect("legal");
    let node = find(&editor);
    editor.insert_mark(node, "here").expect("legal");
    let node = find(&editor);
    editor.insert_guard(node, set("[N] -> { [] : N > 4 }")).expect("legal");
    let node = find(&editor);
    editor.insert_filter(node, union("{ S[i, j] }")).expect("legal");
    let kinds: Vec<&str> =
        editor.tree().nodes().map(|node| editor.tree().kind(node).name()).collect();
    assert_eq!(kinds, ["domain", "context", "mark", "guard", "filter", "band", "leaf"]);
    assert_eq!(order(editor.tree()), ROWS);
    let node = find(&editor);
    let lost = editor.insert_filter(node, union("{ S[i, 0] }"));
    assert!(matches!(lost, Err(Error::Operand { .. })));
    assert!(matches!(editor.insert_mark(node, ""), Err(Error::IllFormed { .. })));
    let root = editor.tree().root();
    assert!(matches!(editor.insert_mark(root, "up"), Err(Error::Operand { .. })));
    assert_eq!(order(editor.tree()), ROWS);
}

#[test]
fn insert_band() {
    let band = Band {
        members: vec![Member { schedule: union("{ S[i, j] -> [-j] }"), coincident: false }],
        permutable: false,
        options: Union::empty(),
    };
    let insert = |editor: &mut Editor, node| editor.insert_band(node, band.clone());
    let expected = "S02 S12 S22 S01 S11 S21 S00 S10 S20";
    assert_eq!(on_nest(NONE, insert).as_deref(), Ok(expected));
    let left = "{ S[i, j] -> S[i, j + 1] : 0 <= j < 2 }";
    assert_eq!(refused(on_nest(left, insert)), Violation::Backwards { member: 0 });
}

#[test]
fn insert_sequence_and_set() {
    let halves = || vec![union("{ S[i, j] : j > 0 }"), union("{ S[i, 0] }")];
    let sequence = |editor: &mut Editor, node| editor.insert_sequence(node, halves());
    let expected = "S01 S02 S11 S12 S21 S22 S00 S10 S20";
    assert_eq!(on_nest(NONE, sequence).as_deref(), Ok(expected));
    let set = |editor: &mut Editor, node| editor.insert_set(node, halves());
    assert_eq!(refused(on_nest(RIGHT, set)), Violation::Unordered);
    let some = |editor: &mut Editor, node| editor.insert_set(node, vec![union("{ S[i, 0] }")]);
    assert_eq!(operand(on_nest(NONE, some)), "filters that leave no instance out");
}

#[test]
fn insert_extension() {
    let budget = budget();
    let mut editor = Editor::new(nest(), union(RIGHT), &budget).expect("legal");
    let node = editor.find(|kind| kind.name() == "band").expect("a band");
    let outer = editor.split(node, 1).expect("legal");
    let inner = editor.tree().children(outer).next().expect("a band");
    let copies = union("{ [i] -> C[i, k] : 0 <= k < 2 }");
    editor.insert_extension(inner, copies, true).expect("legal");
    editor.tree().check(&budget).expect("well-formed");
    let kinds: Vec<&str> =
        editor.tree().nodes().map(|node| editor.tree().kind(node).name()).collect();
    let expected =
        ["domain", "band", "extension", "sequence", "filter", "leaf", "filter", "band", "leaf"];
    assert_eq!(kinds.len(), expected.len());
    for kind in expected {
        let count = |all: &[&str]| all.iter().filter(|found| **found == kind).count();
        assert_eq!(count(&kinds), count(&expected), "{kind}");
    }
    let again = editor.find(|kind| kind.name() == "band").expect("a band");
    let old = editor.insert_extension(again, union("{ [] -> S[i, j] : 0 <= i, j < 2 }"), true);
    assert!(matches!(old, Err(Error::Operand { .. })));
}

/// Eight steps of a stencil with three neighbours over 64 places.
fn stencil() -> (ScheduleTree, Union) {
    let tree = tree(
        "domain: \"{ S[t, i] : 0 <= t < 8 and 0 <= i < 64 }\"\nchild:\n  schedule: \"[{ S[t, i] -> [t] }, { S[t, i] -> [t + i] }]\"\n",
    );
    let pairs = union(
        "{ S[t, i] -> S[t + 1, j] : 0 <= t < 7 and 0 <= i < 64 and 0 <= j < 64 and i - 1 <= j <= i + 1 }",
    );
    (tree, pairs)
}

/// Runs tiles by wavefronts; returns how many lines of tiles there are.
fn lines(tiled: impl FnOnce(&mut Editor, Node) -> Result<Node, Error>) -> Result<usize, Error> {
    let budget = budget();
    let (tree, pairs) = stencil();
    let mut editor = Editor::new(tree, pairs, &budget)?;
    let node = editor.find(|kind| kind.name() == "band").expect("a band");
    // Flags are found out when an operation touches the band.
    let node = editor.shift(node, 0, 0)?;
    let tiles = tiled(&mut editor, node)?;
    let node = editor.wavefront(tiles, 2)?;
    let NodeKind::Band(band) = editor.tree().kind(node) else { panic!("no band") };
    assert_eq!(band.members.iter().map(|m| m.coincident).collect::<Vec<_>>(), [false, true]);
    let domain = editor.tree().active(node, &budget)?;
    let values = band.members[0].schedule.intersect_domain(&domain, &budget)?.range(&budget)?;
    Ok(values.single()?.points(&budget)?.len())
}

#[test]
fn diamonds_start_at_once() {
    // Time and space both count in the lines of other tiles.
    assert_eq!(lines(|editor, node| editor.tile(node, &[4, 4])), Ok(19));
    let diamonds = lines(|editor, node| editor.diamond(node, &[4, 4])).expect("legal");
    assert!(diamonds <= 2 * 8 / 4 + 1, "{diamonds}");
}

#[test]
fn diamonds_need_a_cone() {
    let budget = budget();
    // The second member moves without the first one.
    let mut editor = Editor::new(nest(), union(RIGHT), &budget).expect("legal");
    let node = editor.find(|kind| kind.name() == "band").expect("a band");
    let node = editor.shift(node, 0, 0).expect("legal");
    assert!(matches!(editor.diamond(node, &[2, 2]), Err(Error::Operand { .. })));
    assert!(matches!(editor.diamond(node, &[2]), Err(Error::Operand { .. })));
    assert!(matches!(editor.diamond(node, &[2, 0]), Err(Error::Operand { .. })));
}
