//! Counts of images under relations with remainders, whose disjuncts overlap, against enumeration.

use std::collections::BTreeSet;

use tangram_presburger::{Budget, Rational, Relation};

/// What the test beside isl gives one operation; pieces cut off each other took many times that.
const STEPS: u64 = 3_000_000;

/// Compares the count of the range with the outputs that are met for inputs from -3 to 9.
fn counts_outputs(text: &str, params: usize) {
    let limit = || Budget::steps(STEPS);
    let map = Relation::parse(text, &limit()).unwrap_or_else(|e| panic!("{text}: {e}"));
    let range = map.range(&limit()).expect("few steps");
    let count = range.card(&limit()).unwrap_or_else(|error| panic!("{text}: {error}"));
    let outputs = map.space().output.dims.len();
    for n in [-9, -4, -1, 0, 2, 5, 8] {
        for m in if params == 2 { vec![-3, -1, 0, 3, 7] } else { vec![0] } {
            let mut met = BTreeSet::new();
            for code in 0..13_i128.pow(3) {
                let point = [code % 13 - 3, code / 13 % 13 - 3, code / 169 - 3];
                let at: Vec<i128> = [n, m][..params].iter().chain(&point).copied().collect();
                if map.contains(&at).expect("all coordinates") {
                    met.insert(point[3 - outputs..].to_vec());
                }
            }
            let found = count.evaluate(&[n, m][..params]).expect("all parameters");
            assert_eq!(found.to_string(), met.len().to_string(), "{text} at {n} {m}");
        }
    }
}

#[test]
fn of_remainders_modulo_different_numbers() {
    counts_outputs(
        "[n] -> { [i] -> [j, k] : 1 <= i <= 6 and 0 <= j <= 6 and -2 <= k <= 5 and \
         -2n - 2i - 2j - 3k >= 0 and (i - 2j + 2k + 2) mod 4 = 1 and \
         floor((-n - i - j + k + 2)/3) <= i + 4; \
         [i] -> [j, k] : 0 <= i <= 3 and -2 <= j <= 4 and -1 <= k <= 9 and \
         -2n + 2i + j + 2k + 3 >= 0 and (2i + k + 4) mod 4 = 0 and \
         (exists e: 4e <= n + i + j - k <= 2e + 1) }",
        1,
    );
}

#[test]
fn of_bounds_that_remainders_couple() {
    counts_outputs(
        "[n, m] -> { [i, j] -> [k] : 0 <= i <= m and m <= j <= 4 and -3 <= k <= 9 and -3n - \
         2m + i + 3k >= 0 and (exists e: 2e <= -n + m + i + j + k <= 2e + 1); [i, j] -> [k] \
         : 1 <= i <= 9 and 0 <= j <= m and 0 <= k <= 6 and 2n + 3i + 3j - 2k + 2 >= 0 and (n \
         + m - 2i + 2j - k) mod 2 = 0 and floor((n - 2m - i - 2j + 4)/3) <= n + m + i + j + \
         1 + 4; [i, j] -> [k] : -3 <= i <= 6 and -2 <= j <= 6 and m <= k <= 7 and -n - 3i - \
         2j - 2k + 3 >= 0 and floor((2m - i - 2j + 4)/3) <= -n + j - k + 4 + 4 }",
        2,
    );
}

#[test]
fn of_one_disjunct_beside_simple_ones() {
    counts_outputs(
        "[n, m] -> { [i, j] -> [k] : m <= i <= 9 and 1 <= j <= 3 and -1 <= k <= 8 and 2n - \
         3m - 2i - 3k + 3 >= 0 and (2n - 2i - 2j - k) mod 3 = 1 and floor((2m - 2j + k + \
         4)/3) <= i + j + 4; [i, j] -> [k] : 1 <= i <= n and -1 <= j <= m and -1 <= k <= 3 \
         and 3n - 3m - 3i + 2j - k + 4 >= 0 and (-2n - m - i - j - 2k + 2) mod 2 = 1 and \
         floor((-n - m - 2i - 2j + k + 4)/3) <= -n - m - i - k + 3 + 4; [i, j] -> [k] : m + \
         1 <= i <= 8 and -1 <= j <= 5 and 0 <= k <= n and 3n + i - 2k + 4 >= 0 and (n + 2m - \
         i - 2j) mod 3 = 0 and -n - j - k + 1 = 0 }",
        2,
    );
}

#[test]
fn divisions_inside_others_are_no_dimensions() {
    // The image has rounded bounds of rounded bounds, each of which is one division.
    let budget = Budget::steps(20_000_000);
    let map = "[n, m] -> { [i] -> [j, k] : n - 1 <= i <= 3 and 1 <= j <= 4 and n < k <= 8
        and n + 2m + 3i - 3j + 2k >= -1 and (-n - m - i + 2j + 2k + 3) mod 4 = 0
        and floor((m - 2n + 2i - 2j + 2k + 2)/3) <= m + k + 5 }";
    let map = Relation::parse(map, &budget).expect("a relation");
    let image = map.range(&budget).expect("soon");
    let begun = budget.used();
    let count = image.card(&budget).expect("soon");
    assert!(budget.used() - begun < 500_000, "{}", budget.used() - begun);
    let mut all = 0;
    for (n, m) in [(-6, 3), (-3, 0), (-1, -4), (0, 1), (2, 2), (3, -2), (4, 5), (5, 0)] {
        let reached = |j: i64, k: i64| {
            (n - 1..=3).any(|i| map.contains(&[n, m, i, j, k]).expect("all coordinates"))
        };
        let points = (1..=4).flat_map(|j| (n + 1..=8).map(move |k| (j, k)));
        let expected = points.filter(|(j, k)| reached(*j, *k)).count() as i64;
        all += expected;
        assert_eq!(count.evaluate(&[n, m]), Ok(Rational::from(expected)), "n = {n}, m = {m}");
    }
    assert!(all > 20);
}
