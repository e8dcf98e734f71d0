//! Unions over different spaces, and operations that rearrange tuples.

use tangram_presburger::{Budget, Conjunction, Error, Integer, Order, Relation, Union};

fn read(text: &str) -> Union {
    Union::parse(text, &budget()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn budget() -> Budget {
    Budget::steps(20_000_000)
}

#[track_caller]
fn same(got: Result<Union, Error>, expected: &str) {
    let got = got.unwrap_or_else(|error| panic!("{expected}: {error}"));
    let equal = got.is_equal(&read(expected), &budget()).expect("within the budget");
    assert!(equal, "got {got}, expected {expected}");
}

#[test]
fn set_operations_work_space_by_space() {
    let limit = budget();
    let a = read("[N] -> { A[i] : 0 <= i < N; B[i, j] : i = j }");
    let b = read("[M] -> { A[i] : i >= M; B[i] : i > 0 }");
    same(a.intersect(&b, &limit), "[N, M] -> { A[i] : 0 <= i < N and i >= M }");
    same(a.subtract(&b, &limit), "[N, M] -> { A[i] : 0 <= i < N and i < M; B[i, j] : i = j }");
    same(a.union(&b), "[N, M] -> { A[i] : 0 <= i < N or i >= M; B[i, j] : i = j; B[i] : i > 0 }");
    assert!(!a.is_subset(&b, &limit).expect("an answer"));
    assert!(a.intersect(&b, &limit).expect("a set").is_subset(&a, &limit).expect("an answer"));
}

#[test]
fn relations_compose_over_matching_tuples() {
    let limit = budget();
    let first = read("{ S[i] -> A[i + 1]; S[i] -> B[2i]; T[i] -> A[i] }");
    let second = read("{ A[i] -> [0, i]; B[i] -> [1, i] : i >= 0 }");
    same(
        first.apply_range(&second, &limit),
        "{ S[i] -> [0, i + 1]; S[i] -> [1, 2i] : i >= 0; T[i] -> [0, i] }",
    );
    let sets = read("{ S[i] : 0 <= i < 4 }");
    same(
        sets.apply_range(&first, &limit),
        "{ A[i] : 1 <= i <= 4; B[i] : i = 0 or i = 2 or i = 4 or i = 6 }",
    );
    same(
        first.intersect_domain(&sets, &limit),
        "{ S[i] -> A[i + 1] : 0 <= i < 4; S[i] -> B[2i] : 0 <= i < 4 }",
    );
    same(first.intersect_range(&read("{ B[4] }"), &limit), "{ S[2] -> B[4] }");
    assert!(!first.is_single_valued(&limit).expect("an answer"));
    assert!(second.is_single_valued(&limit).expect("an answer"));
    assert!(second.is_bijective(&limit).expect("an answer"));
    assert!(!first.is_injective(&limit).expect("an answer"));
}

#[test]
fn tuples_nest_and_unnest() {
    let limit = budget();
    let map = read("{ A[i] -> B[j] : j = 2i }");
    same(map.wrap(), "{ [A[i] -> B[j]] : j = 2i }");
    same(map.wrap().and_then(|set| set.unwrap()), "{ A[i] -> B[2i] }");
    same(map.domain_map(), "{ [A[i] -> B[2i]] -> A[i] }");
    same(map.range_map(), "{ [A[i] -> B[2i]] -> B[2i] }");
    let pairs = map.product(&read("{ C[k] -> D[k, k] }"), &limit);
    same(pairs.clone(), "{ [A[i] -> C[k]] -> [B[2i] -> D[k, k]] }");
    same(pairs.and_then(|pairs| pairs.zip()), "{ [A[i] -> B[2i]] -> [C[k] -> D[k, k]] }");
    same(
        map.range_product(&read("{ A[i] -> C[i + 1, 0] }"), &limit),
        "{ A[i] -> [B[2i] -> C[i + 1, 0]] }",
    );
    same(
        map.flat_range_product(&read("{ A[i] -> C[i + 1, 0] }"), &limit),
        "{ A[i] -> [2i, i + 1, 0] }",
    );
    let nested = map.wrap().expect("a set").to_string();
    same(Ok(read(&nested)), "{ [A[i] -> B[j]] : j = 2i }");
    let curried = Relation::parse("{ [A[i] -> B[j]] -> C[i + j] }", &limit).expect("a relation");
    let expected = "{ A[i] -> [B[j] -> C[i + j]] }";
    same(curried.curry().map(Union::from), expected);
    let back = read(expected).single().and_then(Relation::uncurry).map(Union::from);
    same(back, "{ [A[i] -> B[j]] -> C[i + j] }");
}

#[test]
fn distances_of_related_points() {
    let limit = budget();
    let map = read("[n] -> { A[i, j] -> A[i + 1, k] : 0 <= j <= k <= n }");
    same(map.deltas(&limit), "[n] -> { A[1, d] : 0 <= d <= n }");
    same(read("{ A[i] -> B[i]; A[i] -> A[i + 3] }").deltas(&limit), "{ A[3] }");
}

#[test]
fn names_that_collide_are_told_apart_in_print() {
    let map = read("{ [i] -> [j] }").apply_range(&read("{ [j] -> [i] : i > 3 }"), &budget());
    let text = map.expect("a relation").to_string();
    same(Ok(read(&text)), "{ [a] -> [b] : b > 3 }");
}

#[test]
fn constraints_go_out_and_in_as_rows() {
    let set = Relation::parse("[n] -> { [i, j] : 0 <= i < n and j = floor(i/3) }", &budget());
    let set = set.expect("a set");
    let rows = set.conjunctions();
    assert_eq!(rows.len(), 1);
    let (row, divisions) = ([0, 0, 1, 0], rows[0].divisions.iter().map(|_| 0));
    let row: Vec<Integer> = row.into_iter().chain(divisions).map(Integer::from).collect();
    assert!(rows[0].inequalities.contains(&row));
    let back = Relation::from_conjunctions(set.space().clone(), &rows).expect("rows that fit");
    assert!(back.is_equal(&set, &budget()).expect("an answer"));
    let short = Conjunction { inequalities: vec![vec![1]], ..Conjunction::default() };
    let error = Relation::from_conjunctions(set.space().clone(), &[short]).expect_err("too short");
    assert_eq!(error, Error::Row { expected: 4, found: 1 });
}

#[test]
fn inputs_are_ordered_as_the_composition_with_the_order_of_outputs() {
    let relation = |text: &str| read(text).single().expect("one space").clone();
    let schedules = [
        "[n] -> { S[i, j] -> [0, i, j] : 0 <= i < n and 0 <= j <= i }",
        "[n] -> { S[i, j] -> [0, i + j, 2] : 0 <= i, j < 5 }",
        "{ S[i, j] -> [1, floor(i/2), -j] : 0 <= i, j < 5; S[i, j] -> [0, j, i] : i, j < 0 }",
        // Outputs that no equation says, and one inside a division.
        "{ S[i, j] -> [a, b, i] : i <= a <= j and 2 b = i and 0 <= i, j < 5 }",
        "{ S[i, j] -> [a, i, 0] : 3 floor(a/3) = a - 1 and i <= a < j and 0 <= i, j < 5 }",
    ];
    let orders = [Order::Less, Order::LessOrEqual, Order::Greater, Order::GreaterOrEqual];
    let all = schedules.iter().flat_map(|a| schedules.iter().map(move |b| (a, b)));
    for ((a, b), order) in all.flat_map(|pair| orders.map(|order| (pair, order))) {
        let second = relation(&b.replace('S', "T"));
        let a = relation(a);
        let points = Relation::lexicographic(Vec::new(), a.space().output.clone(), order);
        let expected = a.apply_range(&points, &budget()).expect("applies");
        let expected = expected.apply_range(&second.inverse().expect("a relation"), &budget());
        let found = a.inputs_ordered(&second, order, &budget()).expect("one space");
        assert!(
            found.is_equal(&expected.expect("applies"), &budget()).expect("decides"),
            "{a} {b}"
        );
    }
}

#[test]
fn pairs_with_a_cell_are_kept_by_the_order_of_their_instances() {
    let touching = read("{ [S[i] -> A[a]] -> T[j] : a = i + j; [S[i] -> A[a]] -> S[j] : a = i }");
    let schedule = read("{ S[i] -> [i, 1]; T[i] -> [2i, 0] }");
    let kept = touching.intersect_ordered(&schedule, Order::Greater, &budget()).expect("orders");
    let expected =
        read("{ [S[i] -> A[a]] -> T[j] : a = i + j and 2j <= i; [S[i] -> A[i]] -> S[j] : j < i }");
    assert!(kept.is_equal(&expected, &budget()).expect("decides"), "{kept}");
}

#[test]
fn a_disjunct_without_a_first_point_leaves_none_after_it() {
    let limit = budget();
    for (set, first) in [
        ("{ [i] : i >= 1; [i] : i <= 9 }", "{ [i] : false }"),
        ("{ [i] : i <= 9; [i] : i >= 1 and i mod 2 = 0 }", "{ [i] : false }"),
        // The other disjunct is before all of them, or not.
        ("{ [i, j] : i = 0 and j <= 3; [-1, 5] }", "{ [-1, 5] }"),
        ("{ [i, j] : i = 0 and j <= 3; [1, 5] }", "{ [i, j] : false }"),
        ("[n] -> { [i] : i <= n and n >= 0; [i] : i >= n }", "[n] -> { [n] : n < 0 }"),
    ] {
        same(read(set).lexmin(&limit), first);
    }
    same(read("{ [i] : i >= 1; [i] : i <= 9 }").lexmax(&limit), "{ [i] : false }");
}

#[test]
fn pairs_are_kept_by_a_composition_through_any_space() {
    let (limit, pairs) = (budget(), read("{ S[i] -> T[j]; S[i] -> U[j] : j = i; V[i] -> T[i] }"));
    let first = read("{ S[i] -> A[i]; S[i] -> B[2i] : i >= 0; V[i] -> C[i] }");
    let second = read("{ A[i] -> T[i + 1]; B[i] -> T[i]; A[i] -> U[i + 1]; W[i] -> T[i] }");
    let expected = "{ S[i] -> T[j] : j = i + 1; S[i] -> T[j] : j = 2i and i >= 0 }";
    same(pairs.intersect_composition(&first, &second, &limit), expected);
    let composed = first.apply_range(&second, &limit).expect("composes");
    same(pairs.intersect(&composed, &limit), expected);
}

#[test]
fn a_union_without_points_is_printed_without_parameters() {
    let empty = read("[n] -> { S[i] : i < i and i < n }");
    assert_eq!(empty.to_string(), "{ }");
    assert_eq!(read("{ }").to_string(), "{ }");
}

#[test]
fn sets_of_parameters_have_no_points_in_an_order() {
    let facts = read("[n] -> { : n > 0 }");
    same(facts.ordered(&facts, Order::LessOrEqual, &budget()), "{ }");
    let point = read("[n] -> { [] : n > 0 }");
    same(point.ordered(&point, Order::LessOrEqual, &budget()), "[n] -> { [] -> [] : n > 0 }");
}
