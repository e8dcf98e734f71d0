//! Projections that neither elimination nor parametric integer programming ends alone.

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
