//! Ways to write a schedule down, and the way from each to each other.

use tangram_polyhedral::representation::{AffineFunctions, Kelly, Regular};
use tangram_polyhedral::{Error, ScheduleTree};
use tangram_presburger::{Budget, Order, Relation, Tuple, Union};

fn budget() -> Budget {
    Budget::steps(500_000_000)
}

fn union(text: &str) -> Union {
    Union::parse(text, &budget()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn tree(text: &str) -> ScheduleTree {
    ScheduleTree::parse(text, &budget()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[track_caller]
fn same(found: &Union, expected: &Union) {
    assert!(found.is_equal(expected, &budget()).expect("decided"), "{found}\n{expected}");
}

/// Pairs of instances that a map runs one after the other.
fn order(map: &Union) -> Union {
    let tuple = map.relations().next().map_or(Tuple::anonymous(0), |r| r.space().output.clone());
    let later = Relation::lexicographic(Vec::new(), tuple, Order::Less).into();
    let later = map.apply_range(&later, &budget()).expect("a relation");
    later.apply_range(&map.inverse().expect("a relation"), &budget()).expect("a relation")
}

#[track_caller]
fn same_order(found: &Union, expected: &Union) {
    same(&order(found), &order(expected));
}

/// `for i: S1; for i { for j: S2; S3 }`, as the domain says.
const DOMAIN: &str =
    "[M, N] -> { S1[i] : 0 <= i < M; S2[i, j] : 0 <= i < M and 0 <= j <= N; S3[i] : 0 <= i < M }";

fn within(text: &str) -> Union {
    union(text).intersect_domain(&union(DOMAIN), &budget()).expect("a relation")
}

fn as_map() -> Union {
    within("{ S1[i] -> [0, i, 0, 0]; S2[i, j] -> [1, i, 0, j]; S3[i] -> [1, i, 1, 0] }")
}

fn as_kelly() -> Kelly {
    let points = within("{ S1[i] -> [0, i]; S2[i, j] -> [1, i, 0, j]; S3[i] -> [1, i, 1] }");
    Kelly::new(points).expect("Kelly's form")
}

fn as_tree() -> ScheduleTree {
    ScheduleTree::from_map(&as_map(), &budget()).expect("a tree")
}

fn as_regular() -> Regular {
    Regular::of_tree(&as_tree(), &budget()).expect("2d+1 form")
}

#[test]
fn a_map_becomes_the_tree_of_its_program() {
    let found = as_tree();
    found.check(&budget()).expect("well-formed");
    let kinds: Vec<&str> = found.nodes().map(|node| found.kind(node).name()).collect();
    let count = |kind: &str| kinds.iter().filter(|found| **found == kind).count();
    let counts = ["domain", "sequence", "filter", "band", "leaf"].map(count);
    assert_eq!(counts, [1, 2, 4, 3, 3], "{found}");
    same(&found.to_map(&budget()).expect("a map"), &as_map());
}

#[test]
fn forms_of_one_program_have_the_known_points() {
    let kelly = Kelly::of_tree(&as_tree(), &budget()).expect("Kelly's form");
    same(kelly.points(), as_kelly().points());
    let regular = as_regular().points().expect("small numbers");
    let expected =
        within("{ S1[i] -> [0, i, 0]; S2[i, j] -> [1, i, 0, j, 0]; S3[i] -> [1, i, 1] }");
    same(&regular, &expected);
    let affine = AffineFunctions::without_order_of_statements(&as_map(), &budget());
    let affine = affine.expect("affine functions").points().expect("small numbers");
    same(&affine, &within("{ S1[i] -> [i]; S2[i, j] -> [i, j]; S3[i] -> [i] }"));
}

#[test]
fn matrices_of_the_2d_plus_1_form() {
    let regular = as_regular();
    let names: Vec<&str> =
        regular.statements.iter().map(|s| s.domain.space().output.name.as_str()).collect();
    assert_eq!(names, ["S1", "S2", "S3"]);
    assert_eq!(regular.statements[1].positions, [1, 0, 0]);
    // Columns: constant, M, N, i, j.
    let expected = [[1, 0, 0, 0, 0], [0, 0, 0, 1, 0], [0; 5], [0, 0, 0, 0, 1], [0; 5]];
    assert_eq!(regular.statements[1].matrix(), expected.map(Vec::from));
}

#[test]
fn every_form_that_orders_statements_goes_to_every_other() {
    let budget = budget();
    let map = as_map();
    // To maps and trees.
    same_order(&as_kelly().to_map_with_zeros(&budget).expect("a map"), &map);
    let found = as_kelly().to_tree_with_zeros(&budget).expect("a tree");
    same_order(&found.to_map(&budget).expect("a map"), &map);
    same_order(&as_regular().to_map(&budget).expect("a map"), &map);
    let found = as_regular().to_tree(&budget).expect("a tree");
    same_order(&found.to_map(&budget).expect("a map"), &map);
    // To Kelly's form.
    let found = Kelly::of_map(&map, &budget).expect("Kelly's form");
    same(found.points(), as_kelly().points());
    let found = Kelly::new(as_regular().points().expect("small")).expect("Kelly's form");
    same_order(&found.to_map_with_zeros(&budget).expect("a map"), &map);
    // To the 2d+1 form.
    let of_kelly = as_kelly().to_map_with_zeros(&budget).expect("a map");
    for found in [Regular::of_map(&map, &budget), Regular::of_map(&of_kelly, &budget)] {
        let points = found.expect("2d+1 form").points().expect("small");
        same(&points, &as_regular().points().expect("small"));
    }
}

#[test]
fn affine_functions_run_nests_one_after_the_other() {
    let budget = budget();
    let functions = AffineFunctions::without_order_of_statements(&as_map(), &budget);
    let functions = functions.expect("affine functions");
    // The order of `S2` and `S3` within an iteration is lost: all of one, then all of the other.
    let expected = within("{ S1[i] -> [0, i, 0]; S2[i, j] -> [1, i, j]; S3[i] -> [2, i, 0] }");
    same(&functions.to_map_one_after_another(&budget).expect("a map"), &expected);
    let kelly = functions.to_kelly_one_after_another().expect("Kelly's form");
    same(kelly.points(), &within("{ S1[i] -> [0, i]; S2[i, j] -> [1, i, j]; S3[i] -> [2, i] }"));
    let found = functions.to_tree_one_after_another(&budget).expect("a tree");
    same_order(&found.to_map(&budget).expect("a map"), &expected);
    let regular = functions.to_regular_one_after_another().expect("2d+1 form");
    same_order(&regular.to_map(&budget).expect("a map"), &expected);
    let again =
        AffineFunctions::without_order_of_statements(&regular.points().expect("small"), &budget);
    let again = again.expect("affine functions").points().expect("small");
    same(&again, &functions.points().expect("small"));
}

/// Tiles, reversal, skewing and parameters on the way from maps to trees and back.
#[test]
fn maps_come_back_from_trees() {
    let maps = [
        "[N] -> { S[i, j] -> [floor(i/32), floor(j/32), i, j] : 0 <= i, j < N }",
        "[N] -> { S[i] -> [N - i, 0] : 0 <= i < N; T[i] -> [2i, 1] : 0 <= i < N }",
        "{ S[i] -> [0, i] : 0 <= i < 5; S[i] -> [1, -i] : 5 <= i < 9; T[] -> [1, 3] }",
        "{ S[i, j] -> [i + j, i] : 0 <= i, j < 7 }",
        "{ A[] -> [-1]; B[] -> [4]; C[] -> [4] }",
        "[N] -> { A[] -> [N, 2]; B[i] -> [3, i] : 0 <= i < 4 }",
        "{ S[i] -> [7, i, 7, 7] : 0 <= i < 4 }",
    ];
    for text in maps {
        let map = union(text);
        let found = ScheduleTree::from_map(&map, &budget()).expect("a tree");
        found.check(&budget()).expect("well-formed");
        same_order(&found.to_map(&budget()).expect("a map"), &map);
        let kelly = Kelly::of_map(&map, &budget()).expect("Kelly's form");
        same_order(&kelly.to_map_with_zeros(&budget()).expect("a map"), &map);
    }
}

#[test]
fn instances_at_one_time_share_a_leaf() {
    // Many to one: every `i` runs at once.
    let map = union("{ A[i] -> [0] : 0 <= i < 4; B[i] -> [0] : 0 <= i < 4 }");
    let found = ScheduleTree::from_map(&map, &budget()).expect("a tree");
    let kinds: Vec<&str> = found.nodes().map(|node| found.kind(node).name()).collect();
    assert_eq!(kinds, ["domain", "leaf"]);
    same_order(&found.to_map(&budget()).expect("a map"), &map);
}

#[test]
fn an_instance_at_several_times_is_expanded() {
    let map =
        union("{ S[i] -> [t, i] : 0 <= i < 4 and i <= t <= i + 1; T[i] -> [i, 9] : 0 <= i < 3 }");
    let refused = ScheduleTree::from_map(&map, &budget()).expect_err("refused");
    assert_eq!(refused, Error::ManyValued { statement: "S".into() });
    let found = ScheduleTree::from_map_with_copies(&map, &budget()).expect("a tree");
    found.check(&budget()).expect("well-formed");
    same(&found.to_map_of_roots(&budget()).expect("a map"), &map);
    let copies = union(
        "{ S_at[i, t, u] -> [t, i] : 0 <= i < 4 and i <= t <= i + 1 and u = i; T[i] -> [i, 9] : 0 <= i < 3 }",
    );
    same(&found.to_map(&budget()).expect("a map"), &copies);
    // Copies have names of their own, though one is taken.
    let map = union("{ S[i] -> [t] : 0 <= i, t < 2; S_at[i, t] -> [5] : i = 0 and t = 0 }");
    let found = ScheduleTree::from_map_with_copies(&map, &budget()).expect("a tree");
    found.check(&budget()).expect("well-formed");
    same(&found.to_map_of_roots(&budget()).expect("a map"), &map);
}

#[test]
fn tiles_do_not_fit_the_2d_plus_1_form() {
    let map = union("[N] -> { S[i] -> [floor(i/4), i] : 0 <= i < N }");
    let error = Regular::of_map(&map, &budget()).expect_err("refused");
    assert!(matches!(error, Error::Form { ref statement, .. } if statement == "S"), "{error}");
    let map = union("[N] -> { S[i] -> [floor(i/4)] : 0 <= i < N }");
    assert!(matches!(Regular::of_map(&map, &budget()), Err(Error::Form { .. })));
    assert!(matches!(
        AffineFunctions::without_order_of_statements(&map, &budget()),
        Err(Error::Form { .. })
    ));
}

#[test]
fn sequences_without_loops_between_them_share_a_constant() {
    let text = r#"
domain: "{ A[i] : 0 <= i < 3; B[]; C[i, j] : 0 <= i < 2 and 0 <= j < 2; D[] }"
child:
  sequence:
  - filter: "{ A[i]; B[] }"
    child:
      sequence:
      - filter: "{ A[i] }"
        child: { schedule: "[{ A[i] -> [(-i)] }]" }
      - filter: "{ B[] }"
  - filter: "{ C[i, j] }"
    child: { schedule: "[{ C[i, j] -> [(j)] }, { C[i, j] -> [(i)] }]" }
  - filter: "{ D[] }"
"#;
    let regular = Regular::of_tree(&tree(text), &budget()).expect("2d+1 form");
    let expected = union(
        "{ A[i] -> [0, -i, 0] : 0 <= i < 3; B[] -> [1]; C[i, j] -> [2, j, 0, i, 0] : 0 <= i, j < 2; D[] -> [3] }",
    );
    same(&regular.points().expect("small"), &expected);
    same_order(
        &regular.to_map(&budget()).expect("a map"),
        &tree(text).to_map(&budget()).expect("a map"),
    );
}

#[test]
fn extensions_add_points_where_loops_have_iterations() {
    let text = r#"
domain: "[N] -> { S[i, j] : 2 <= i < N and 0 <= j < 3 }"
child:
  schedule: "[{ S[i, j] -> [(i)] }]"
  child:
    extension: "{ [i] -> Copy[i, k] : 0 <= k < 2 }"
    child:
      sequence:
      - filter: "{ Copy[i, k] }"
        child: { schedule: "[{ Copy[i, k] -> [(k)] }]" }
      - filter: "{ S[i, j] }"
        child: { schedule: "[{ S[i, j] -> [(j)] }]" }
"#;
    let found = tree(text).to_map(&budget()).expect("a map");
    let expected = union(
        "[N] -> { Copy[i, k] -> [i, 0, k] : 2 <= i < N and 0 <= k < 2;
           S[i, j] -> [i, 1, j] : 2 <= i < N and 0 <= j < 3 }",
    );
    same(&found, &expected);
    same(&tree(text).to_map_of_roots(&budget()).expect("a map"), &expected);
    let root = "extension: \"{ [] -> A[i] : 0 <= i < 3 }\"\nchild: { schedule: \"[{ A[i] -> [(-i)] }]\" }\n";
    same(&tree(root).to_map(&budget()).expect("a map"), &union("{ A[i] -> [-i] : 0 <= i < 3 }"));
}

#[test]
fn expansions_and_extensions_have_a_regular_form() {
    let extended = r#"
domain: "{ S[i] : 0 <= i < 3 }"
child:
  schedule: "[{ S[i] -> [(-i)] }]"
  child:
    extension: "{ [i] -> L[i, k] : 0 <= k < 2 }"
    child:
      sequence:
      - filter: "{ L[i, k] }"
        child: { schedule: "[{ L[i, k] -> [(k)] }]" }
      - filter: "{ S[i] }"
"#;
    let expanded = r#"
domain: "{ G[i] : 0 <= i < 3 }"
child:
  schedule: "[{ G[i] -> [(i)] }]"
  child:
    contraction: "{ Q[i, k] -> G[(i)] }"
    expansion: "{ G[i] -> Q[i, k] : 0 <= k < 2 }"
    child: { schedule: "[{ Q[i, k] -> [(k)] }]" }
"#;
    let expected = [
        "{ L[i, k] -> [0, i, 0, k, 0] : -2 <= i <= 0 and 0 <= k < 2; S[i] -> [0, -i, 1] : 0 <= i < 3 }",
        "{ Q[i, k] -> [0, i, 0, k, 0] : 0 <= i < 3 and 0 <= k < 2 }",
    ];
    for (text, expected) in [extended, expanded].into_iter().zip(expected) {
        let regular = Regular::of_tree(&tree(text), &budget()).expect("2d+1 form");
        same(&regular.points().expect("small"), &union(expected));
        let map = tree(text).to_map(&budget()).expect("a map");
        same_order(&regular.to_map(&budget()).expect("a map"), &map);
    }
}

#[test]
fn lengths_and_kinds_are_checked() {
    let lengths = union("{ A[i] -> [i]; B[i] -> [i, 0] }");
    assert!(matches!(ScheduleTree::from_map(&lengths, &budget()), Err(Error::Presburger(_))));
    let set = union("{ A[i] }");
    assert!(matches!(ScheduleTree::from_map(&set, &budget()), Err(Error::Presburger(_))));
    assert!(matches!(Kelly::new(set), Err(Error::Form { .. })));
    let twice = union("{ A[i] -> [i]; A[i] -> [i, 0] }");
    assert!(matches!(Kelly::new(twice), Err(Error::Form { .. })));
    let none = ScheduleTree::from_map(&Union::empty(), &budget()).expect("an empty tree");
    none.check(&budget()).expect("well-formed");
}
