//! Unions over different spaces, and operations that rearrange tuples.

use tangram_presburger::{Budget, Conjunction, Error, Integer, Relation, Union};

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
    assert!(read("{ A[i] -> B[i] }").deltas(&limit).is_err());
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
