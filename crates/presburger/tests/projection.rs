//! Projections that neither elimination nor parametric integer programming ends alone.

use std::collections::BTreeSet;

use tangram_presburger::{Budget, Relation};

/// Many times what each takes, and far less than without a turn for each value.
const STEPS: u64 = 3_000_000;

fn read(text: &str) -> Relation {
    Relation::parse(text, &Budget::steps(STEPS)).unwrap_or_else(|e| panic!("{text}: {e}"))
}

#[test]
fn parameters_of_variables_that_divisions_couple_are_found() {
    let map = read(
        "[n] -> { [i, j] -> [k] : 0 <= i <= 6 and -1 <= j <= 8 and -1 <= k <= 5 and \
         -n - 2i + 2j + 2 >= 0 and (-2n + i + k + 3) mod 4 = 1 and \
         floor((2n - 2i + 2j + 2k + 2)/3) <= -n - j + k + 8 }",
    );
    let params = map.params(&Budget::steps(STEPS)).expect("few steps");
    for n in -30..30_i128 {
        let found = (0..=6).any(|i: i128| {
            (-1..=8).any(|j: i128| {
                (-1..=5).any(|k: i128| {
                    -n - 2 * i + 2 * j + 2 >= 0
                        && (-2 * n + i + k + 3).rem_euclid(4) == 1
                        && (2 * n - 2 * i + 2 * j + 2 * k + 2).div_euclid(3) <= -n - j + k + 8
                })
            })
        });
        assert_eq!(params.contains(&[n]).expect("small"), found, "n = {n} in {params}");
    }
}

#[test]
fn images_under_maps_with_divisions_hold_the_points_they_should() {
    let a = read(
        "[n, m] -> { [i, j] -> [k] : -1 <= i <= 4 and -1 <= j <= 5 and -3 <= k <= 6 and \
         -n + 3m - i - j + 3k + 2 >= 0 and floor((2m - j + 1)/3) <= -n - m + i + k + 4 }",
    );
    let b = read(
        "[n, m] -> { [i, j] -> [k] : -1 <= i <= 4 and 0 <= j <= 5 and m <= k <= 5 and \
         -m - 3i - 3j - k + 4 >= 0 and (2n + 2i + j - 2k + 2) mod 3 = 0 }",
    );
    let image = a.apply_domain(&b, &Budget::steps(STEPS)).expect("few steps");
    let first = |n: i128, m: i128, i: i128, j: i128, k: i128| {
        (-3..=6).contains(&k)
            && -n + 3 * m - i - j + 3 * k + 2 >= 0
            && (2 * m - j + 1).div_euclid(3) <= -n - m + i + k + 4
    };
    let second = |n: i128, m: i128, i: i128, j: i128, k: i128| {
        m <= k
            && k <= 5
            && -m - 3 * i - 3 * j - k + 4 >= 0
            && (2 * n + 2 * i + j - 2 * k + 2).rem_euclid(3) == 0
    };
    for (n, m) in (-4..14).flat_map(|n| (-4..6).map(move |m| (n, m))) {
        for (x, y) in (-5..6).flat_map(|x| (-4..8).map(move |y| (x, y))) {
            let mut middle = (-1..=4).flat_map(|i| (0..=5).map(move |j| (i, j)));
            let found = middle.any(|(i, j)| first(n, m, i, j, y) && second(n, m, i, j, x));
            let has = image.contains(&[n, m, x, y]).expect("small");
            assert_eq!(has, found, "{:?} in {image}", [n, m, x, y]);
        }
    }
}

#[test]
fn a_closure_that_is_hard_is_at_least_a_superset() {
    let map = read(
        "[n, m] -> { [i] -> [j] : -1 <= i <= 5 and 1 <= j <= 8 and m + 3i - 3j + 4 >= 0; \
         [i] -> [j] : m - 1 <= i <= 4 and 0 <= j <= 6 and -2m - 3i + 2j + 4 >= 0 and \
         (exists e: 3e <= -i - j + 1 <= 3e + 1) }",
    );
    let (closure, _) = map.transitive_closure(&Budget::steps(STEPS)).expect("few steps");
    let has = |relation: &Relation, m, x, y| relation.contains(&[0, m, x, y]).expect("small");
    for m in -6..8_i128 {
        for (x, y, z) in
            (-7..6).flat_map(|x| (-1..9).flat_map(move |y| (-1..9).map(move |z| (x, y, z))))
        {
            let two = has(&map, m, x, y) && has(&map, m, y, z);
            assert!(!two || has(&closure, m, x, z), "{x} to {z} by {y} for m = {m} in {closure}");
            assert!(!has(&map, m, x, y) || has(&closure, m, x, y), "{x} to {y} for m = {m}");
        }
    }
}

/// `floor((i + floor(i/3)) / 2)`.
fn nested(i: i64) -> i64 {
    (i + i.div_euclid(3)).div_euclid(2)
}

/// Lists the values of a set of one dimension that are in `window`.
fn values(set: &Relation, window: std::ops::Range<i64>) -> Vec<i64> {
    window.filter(|i| set.contains(&[*i]).expect("small")).collect()
}

#[test]
fn images_under_nested_floors_hold_the_points_they_should() {
    let map = read("{ [i] -> [floor((i + floor(i/3))/2)] }");
    let limit = Budget::steps(STEPS);
    let mut set = read("{ [i] : -40 <= i <= 500 and i mod 5 = 1 }");
    let mut wanted: BTreeSet<i64> = (-40..=500_i64).filter(|i| i.rem_euclid(5) == 1).collect();
    // Disjuncts multiply: a fourth round has 59 of them, a fifth does not end within the steps.
    for round in 1..=3 {
        set = map.intersect_domain(&set, &limit).and_then(|m| m.range(&limit)).expect("few steps");
        wanted = wanted.into_iter().map(nested).collect();
        let found = values(&set, -60..520);
        assert_eq!(found, wanted.iter().copied().collect::<Vec<_>>(), "round {round}: {set}");
    }
}

#[test]
fn origins_under_nested_floors_stay_small() {
    let map = read("{ [i] -> [floor((i + floor(i/3))/2)] }");
    let limit = Budget::steps(STEPS);
    let mut set = read("{ [i] : 0 <= i <= 20 and i mod 5 = 1 }");
    for round in 1..=6 {
        set = map.intersect_range(&set, &limit).and_then(|m| m.domain(&limit)).expect("few steps");
        let origin = |i: &i64| {
            let end = (0..round).fold(*i, |i, _| nested(i));
            (0..=20).contains(&end) && end.rem_euclid(5) == 1
        };
        assert_eq!(values(&set, -50..400), (-50..400).filter(origin).collect::<Vec<_>>(), "{set}");
        let parts = set.conjunctions();
        let divisions = parts.iter().map(|part| part.divisions.len()).sum::<usize>();
        assert!(parts.len() == 1 && divisions <= 13, "round {round}: {set}");
    }
}

#[test]
fn what_rows_say_about_divisions_is_used_before_bounds_are_rounded() {
    // The quotient of `x + 4` by 8 is `b`, though no row says so.
    let set = read(
        "[b, i] -> { [x] : exists (q = floor((x + 4)/8), e, f: 1 <= x <= 12 and \
         8b - 4 <= x <= 8b + 3 and -9 <= 2e <= -1 and \
         -3 + x - 8q - 8i <= 4e <= 4 + x - 8q - 8i and \
         -6 - x + 8q - 8f <= 4e <= 1 - x + 8q - 8f and \
         -3 + x - 8q - 8f <= 4e <= 4 + x - 8q - 8f) }",
    );
    for (b, i, x) in (-1..4_i128)
        .flat_map(|b| (-3..4_i128).flat_map(move |i| (-1..14_i128).map(move |x| (b, i, x))))
    {
        let r = x - 8 * (x + 4).div_euclid(8);
        let found = (1..=12).contains(&x)
            && (8 * b - 4..=8 * b + 3).contains(&x)
            && (-4..=-1_i128).any(|e| {
                let holds = |low: i128, high: i128, k: i128| {
                    (low - 8 * k..=high - 8 * k).contains(&(4 * e))
                };
                holds(-3 + r, 4 + r, i)
                    && (-9..9).any(|f| holds(-6 - r, 1 - r, f) && holds(-3 + r, 4 + r, f))
            });
        assert_eq!(set.contains(&[b, i, x]).expect("small"), found, "{b}, {i}, {x} in {set}");
    }
    let parts = set.conjunctions();
    let quotient = |column: usize| {
        parts.iter().flat_map(|part| &part.divisions).any(|division| {
            let uses = |c: usize| division.numerator.get(c).is_some_and(|v| !v.is_zero());
            division.denominator.to_i64() == Some(8)
                && (1..division.numerator.len()).all(|c| uses(c) == (c == column))
        })
    };
    assert!(!quotient(3), "{set}");
}
