//! Coalescing, gist and hulls on cases with a known answer.

use tangram_presburger::{Budget, Relation};

fn budget() -> Budget {
    Budget::steps(20_000_000)
}

fn read(text: &str) -> Relation {
    Relation::parse(text, &budget()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[track_caller]
fn same(got: &Relation, expected: &str) {
    let equal = got.is_equal(&read(expected), &budget()).expect("within the budget");
    assert!(equal, "got {got}, expected {expected}");
}

#[test]
fn coalescing_leaves_as_few_disjuncts_as_isl() {
    for (text, disjuncts) in [
        ("{ [i] : i = 0 or i = 1 or i = 2 }", 1),
        ("{ [i] : 0 <= i <= 3 or 2 <= i <= 9 }", 1),
        ("{ [i] : 0 <= i <= 3 or 5 <= i <= 9 }", 2),
        ("[n] -> { [i] : 0 <= i < n or n <= i <= 2n }", 1),
        ("{ [i, j] : 0 <= i <= j <= 9 or 0 <= j < i <= 9 }", 1),
        ("{ [i] : i mod 2 = 0 or i mod 2 = 1 }", 1),
        // Where one disjunct lies, the divisions of the other are plain to see.
        ("{ [i, j] : i mod 2 = 0 and j mod 2 = 0; [i, i] : i mod 2 = 0 }", 1),
        ("{ [i, j] : i mod 2 = 0 and j mod 2 = 0; [i, i] : i mod 3 = 0 }", 2),
        ("{ [i] : 0 < i <= 5 or i > 0 and 10*floor(i/10) >= i - 5 }", 1),
        ("{ [i] : 0 < i <= 5 or i > 0 and 10*floor(i/10) >= i - 3 }", 2),
        // A book merges these two corner boxes into one; they are two.
        ("[M, N] -> { S[i, j] : 0 <= i <= M and 0 <= j <= N or M <= i <= 2M and N <= j <= 2N }", 2),
    ] {
        let set = read(text);
        let merged = set.coalesce(&budget()).expect("within the budget");
        same(&merged, text);
        assert_eq!(merged.conjunctions().len(), disjuncts, "{text} became {merged}");
    }
}

#[test]
fn gist_drops_what_the_context_implies() {
    let gist = |a: &str, b: &str| read(a).gist(&read(b), &budget()).expect("within the budget");
    let got = gist("[n] -> { [i] : 0 <= i < n and i mod 2 = 0 }", "[n] -> { [i] : 0 <= i }");
    assert_eq!(got.to_string(), "[n] -> { [i] : i mod 2 = 0 and i < n }");
    let all = gist("{ [i] : 0 <= i <= 9 }", "{ [i] : 2 <= i <= 3 }");
    assert_eq!(all.to_string(), "{ [i] }");
    assert!(gist("{ [i] : i > 9 }", "{ [i] : i < 3 }").is_empty(&budget()).expect("an answer"));
}

#[test]
fn what_inequalities_are_together_is_said_as_equations() {
    for (text, short, steps) in [
        (
            "{ [i, k] : i mod 2 = 1 and i >= 1 and 2k <= 3 - i and k >= 1 }",
            "{ [i = 1, k = 1] }",
            60,
        ),
        // One of the odd numbers: no rational point says so.
        (
            "{ [i, k] : i mod 2 = 1 and 0 <= i <= 2 and 2k <= 4 - i and k >= 1 }",
            "{ [i = 1, k = 1] }",
            150,
        ),
        ("{ [i, k = floor(i/16)] : 0 <= i <= 15 }", "{ [i, k = 0] : 0 <= i <= 15 }", 60),
        ("{ [i, j] : 0 <= i <= 3j and 2j <= i }", "{ [i, j] : 3j >= i and 2j <= i }", 60),
    ] {
        let (set, limit) = (read(text), Budget::steps(steps));
        let got = set.remove_redundancies(&limit).expect("within the budget");
        same(&got, text);
        assert_eq!(got.to_string(), short);
    }
}

#[test]
fn gist_drops_what_no_integer_point_needs() {
    for (text, context, short, steps) in [
        (
            "[n] -> { [i] : 0 <= i <= n + floor(n/16) }",
            "[n] -> { [i] : 0 <= n <= 15 }",
            "[n] -> { [i] : 0 <= i <= n }",
            100,
        ),
        ("{ [i] : i mod 4 = 1 and i >= 0 }", "{ [i] : i >= -2 }", "{ [i] : i mod 4 = 1 }", 100),
        (
            "[n] -> { [i] : 0 <= i <= n }",
            "[n] -> { [i] : n <= 0 }",
            "[n] -> { [i = 0] : n = 0 }",
            60,
        ),
        // 2 e <= m <= 3 e + 1, for m = 2 - i, holds at no m < 0 but -2.
        (
            "{ [i] : exists e : 2e <= 2 - i <= 3e + 1 and 1 <= i <= 4 }",
            "{ [i] : 1 <= i <= 3 }",
            "{ [i] : i <= 2 }",
            100,
        ),
    ] {
        let (set, context, limit) = (read(text), read(context), Budget::steps(steps));
        let got = set.gist(&context, &limit).expect("within the budget");
        let both = |set: &Relation| set.intersect(&context, &budget()).expect("an answer");
        same(&both(&got), &both(&set).to_string());
        assert_eq!(got.to_string(), short);
    }
}

#[test]
fn hulls_contain_the_union() {
    let limit = budget();
    let two = read("{ [i, j] : i = 0 and 0 <= j <= 2 or i = 4 and 1 <= j <= 3 }");
    same(&two.simple_hull(&limit).expect("a hull"), "{ [i, j] : 0 <= i <= 4 and 0 <= j <= 3 }");
    same(
        &read("{ [i, j] : 2i = 3j and 0 <= i <= 9 }").affine_hull(&limit).expect("a hull"),
        "{ [i, j] : 2i = 3j }",
    );
    same(
        &read("{ [i, j] : 3 <= 2i <= 5 and j >= 0 }").affine_hull(&limit).expect("a hull"),
        "{ [2, j] }",
    );
    same(
        &read("{ [i, j] : i = j and 0 <= i <= 3 or i = 7 and j = 7 }")
            .affine_hull(&limit)
            .expect("a hull"),
        "{ [i, i] }",
    );
    same(&two.affine_hull(&limit).expect("a hull"), "{ [i, j] }");
}

#[test]
fn convex_hulls_keep_to_strides_and_are_tight_where_equations_are() {
    for (text, hull) in [
        (
            "{ [i] : 0 <= i <= 9 and i mod 2 = 0; [i] : 12 <= i <= 15 and i mod 4 = 0 }",
            "{ [i] : 0 <= i <= 12 and i mod 2 = 0 }",
        ),
        ("{ [i] : 0 <= i <= 9 and i mod 2 = 0; [15] }", "{ [i] : 0 <= i <= 15 }"),
        ("{ [x, y] : 2x = 3y and 1 <= x <= 10 }", "{ [x, y] : 2x = 3y and 3 <= x <= 9 }"),
        // 3 <= x + 2y <= 4 and x = 2y leave x = 2 alone.
        ("{ [x, y] : 3 <= x + 2y <= 4 and x = 2y; [0, 3] }", "{ [x, 3 - x] : 0 <= x <= 2 }"),
    ] {
        same(&read(text).convex_hull(&budget()).expect("a hull"), hull);
    }
}

#[test]
fn equations_are_detected_over_the_integers() {
    for (text, equations, divisions) in [
        // Each text says that many things which no row says.
        ("{ [i, j] : 2 <= 3i <= 5 and i <= 2j <= i + 1 }", 2, 0),
        ("{ [i, j, k] : 0 <= i - j <= 1 and 1 <= 3i - 3j + 6k <= 4 and 0 <= k <= 9 }", 2, 0),
        ("[b] -> { [x] : 8b - 4 <= x <= 8b + 3 and floor((x + 4)/8) >= 3 }", 0, 0),
        ("[b] -> { [x] : 8b - 4 <= x <= 8b + 3 and (x + 4) mod 8 = 3 }", 1, 0),
        ("{ [x, y] : x = floor(y/8) and 0 <= y <= 15 }", 0, 0),
        ("{ [x] : x mod 3 = 1 and x mod 4 = 2 and 0 <= x <= 11 }", 1, 0),
        ("{ [x] : x mod 3 = 1 and 0 <= x <= 11 }", 1, 1),
        ("{ [x, y] : 0 <= 2x + 6y - 1 <= 9 }", 0, 0),
    ] {
        let set = read(text);
        let told = set.detect_equalities(&budget()).expect("within the budget");
        same(&told, text);
        let [part] = &told.conjunctions()[..] else { panic!("{text} became {told}") };
        let found = (part.equalities.len(), part.divisions.len());
        assert_eq!(found, (equations, divisions), "{text} became {told}");
    }
    let none = read("{ [i, j] : 2i = 4j + 1 or 1 <= 3i <= 2 }");
    assert!(none.detect_equalities(&budget()).expect("an answer").conjunctions().is_empty());
}

/// A constraint moves to the integer points that it must let in, not to rational ones beside them;
/// the expected hull is isl's.
#[test]
fn simple_hulls_end_at_integer_points() {
    let union = read(
        "{ [i, j] : -1 <= i <= 1 and -9 <= j <= 12; [i, j] : -9 <= i, j <= 12 \
         and floor((i + 3j + 5)/4) + ((i + 6) mod 4) = i + 2j - 1 }",
    );
    let hull = union.simple_hull(&budget()).expect("a hull");
    let of_isl =
        read("{ [i, j] : -9 <= i, j <= 12 and i - 5j - 52 <= 16*floor((i + 2)/4) <= i - 5j + 71 }");
    assert_eq!(union.is_subset(&hull, &budget()), Ok(true));
    assert_eq!(hull.is_subset(&of_isl, &budget()), Ok(true), "{hull}");
}

#[test]
fn equal_disjuncts_are_kept_once() {
    for count in [3, 40] {
        let disjuncts: Vec<String> = (0..3 * count)
            .map(|at| format!("{0}i <= 1 + j and j <= {0}", at % count + 2))
            .collect();
        let text = format!("{{ [i, j] : {} }}", disjuncts.join(" or "));
        let printed = read(&text).to_string();
        assert_eq!(printed.matches("; [").count() + 1, count, "{printed}");
    }
}
