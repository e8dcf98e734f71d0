//! Inputs that once took too long: results within the budget, checked point by point.

use tangram_presburger::{Budget, Relation};

fn parse(text: &str) -> Relation {
    Relation::parse(text, &Budget::unlimited()).expect("a relation")
}

/// The difference asks for integer points in fifteen dimensions, ten of them floors.
#[test]
fn points_are_found_among_many_floors() {
    let a = parse(
        "[n, m] -> { [i] -> [j, k] : -3 <= i <= n and m - 3 <= j <= 9 and -2 <= k <= 5 \
         and -2n - 3m - 3i - 2j + 3 >= 0 and (n + i + j - 2k + 3) mod 2 = 0 \
         and (exists e: 3e <= k - i + 1 <= 3e + 1); \
         [i] -> [j, k] : 1 <= i <= n and -1 <= j <= 4 and -3 <= k <= 4 \
         and -3n - 3m + 3i + 2j + 2k + 3 >= 0; \
         [i] -> [j, k] : 0 <= i <= 9 and n - 2 <= j <= 4 and n - 1 <= k <= 9 \
         and n + i + 3j - 3k >= 0 and (2j - n + 2) mod 2 = 0 and i + j = n + k }",
    );
    let b = parse(
        "[n, m] -> { [i] -> [j, k] : -2 <= i <= 4 and n - 3 <= j <= 3 and -3 <= k <= 9 \
         and 3n + m - 3i - 2j + 2k + 2 >= 0 and (2m + 2i + j - k + 3) mod 4 = 1 \
         and floor((2i - m + 2j - 2k + 4)/3) <= n + i + j + k + 7 }",
    );
    let budget = Budget::steps(3_000_000);
    let range = b.range(&budget).expect("a range");
    let rest = a.subtract_range(&range, &budget).expect("within the budget");
    let (mut inside, mut outside) = (0, 0);
    for n in [-2, 0, 1, 4] {
        for m in [-3, 0, 2] {
            for (i, j, k) in
                (-3..6).flat_map(|i| (-4..6).flat_map(move |j| (-3..7).map(move |k| (i, j, k))))
            {
                let point = [n, m, i, j, k];
                let image = (-2..=4).any(|i| b.contains(&[n, m, i, j, k]).expect("a point"));
                let expected = a.contains(&point).expect("a point") && !image;
                assert_eq!(rest.contains(&point).expect("a point"), expected, "{point:?}");
                inside += usize::from(expected);
                outside += usize::from(image);
            }
        }
    }
    assert!(inside > 100 && outside > 100, "{inside} and {outside}");
}
