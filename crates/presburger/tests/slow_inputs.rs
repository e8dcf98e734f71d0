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

/// Cuts of a row that an equation settles make no further divisions.
#[test]
fn least_points_on_a_line_are_found_for_all_parameters() {
    let (a, b) = (7_245, 4_548);
    let text = format!("[n] -> {{ [i, j] : {a}i + {b}j = n and i >= 0 and j >= 0 }}");
    let budget = Budget::steps(100_000);
    let least = parse(&text).lexmin(&budget).expect("within the budget");
    let mut points = 0;
    for n in (0..40).map(|k| 123_457 * k * k + k) {
        let first = (0..b).find(|i| a * i <= n && (n - a * i) % b == 0);
        points += usize::from(first.is_some());
        for i in (0..b).filter(|i| (n - a * i) % b == 0) {
            let point = [n, i, (n - a * i) / b];
            assert_eq!(least.contains(&point), Ok(first == Some(i)), "{point:?}");
        }
    }
    assert!((10..40).contains(&points), "{points}");
}

/// Says for each `n` whether the least or greatest value that is found is the one that search finds.
fn check_extremum(set: &Relation, found: &Relation, least: bool, values: std::ops::Range<i64>) {
    let mut points = 0;
    for n in -40..40 {
        let inside = |k: &i64| set.contains(&[n, *k]).expect("a point");
        let expected =
            if least { values.clone().find(inside) } else { values.clone().rev().find(inside) };
        points += usize::from(expected.is_some());
        for k in values.clone() {
            assert_eq!(found.contains(&[n, k]), Ok(expected == Some(k)), "{n} and {k} of {set}");
        }
    }
    assert!((10..80).contains(&points), "{points}");
}

/// The least value of a division of `k` settles most of what `k` can be: `k` alone takes many cuts.
#[test]
fn divisions_of_an_output_are_made_least_before_it() {
    let cases = [
        "[n] -> { [k] : exists (e0 = floor((2*floor((3 - n)/2) - k + 8)/12): 0 <= k <= 7 \
         and k <= 24e0 and 2k <= 12e0 - n + 3) }",
        "[n] -> { [k] : exists (e0 = floor((2*floor((4 - n)/2) - k + 10)/12): 0 <= k <= 7 \
         and k <= 24e0 - 6 and 2k <= 12e0 - n) }",
    ];
    for text in cases {
        let set = parse(text);
        let greatest = set.lexmax(&Budget::steps(10_000)).expect("within the budget");
        check_extremum(&set, &greatest, false, -1..9);
        let least = set.lexmin(&Budget::steps(10_000)).expect("within the budget");
        check_extremum(&set, &least, true, -1..9);
    }
}

/// Columns that are divisions of two others and of earlier columns, in one-sided bounds with large
/// numbers: whether a point satisfies two more bounds is known by trying all values of the two.
#[test]
fn sets_of_many_divisions_are_known_to_be_empty() {
    let mut state = 7u64;
    let mut draw = move |low: i64, high: i64| {
        state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        low + ((state >> 33) % (high - low + 1) as u64) as i64
    };
    let mut empty = 0;
    for case in 0..24 {
        let count = 4 + case % 7;
        let mut divisions = Vec::new();
        for known in 2..2 + count {
            let numerator: Vec<i64> = (0..known).map(|_| draw(-60, 60)).collect();
            divisions.push((numerator, draw(-900, 900), [2, 50, 97, 1024][draw(0, 3) as usize]));
        }
        let strip: Vec<i64> = (0..2 + count).map(|_| draw(-40, 40)).collect();
        let (some, width) = ([draw(0, 31), draw(0, 23)], 3);
        let at = |row: &[i64], point: &[i64]| -> i64 {
            row.iter().zip(point).map(|(factor, value)| factor * value).sum()
        };
        let whole = |mut point: Vec<i64>| {
            for (numerator, constant, den) in &divisions {
                point.push((at(numerator, &point) + constant).div_euclid(*den));
            }
            point
        };
        // Half of them hold a point, and others may.
        let low = at(&strip, &whole(some.to_vec())) + [0, draw(-2_000, 2_000)][case % 2];
        let form = |row: &[i64], constant: i64| {
            let terms = row.iter().enumerate().map(|(col, factor)| format!("{factor}*x{col}"));
            format!("{} + {constant}", terms.collect::<Vec<_>>().join(" + ").replace("+ -", "- "))
        };
        let mut text = String::from("0 <= x0 <= 31 and 0 <= x1 <= 23");
        for (at, (numerator, constant, den)) in divisions.iter().enumerate() {
            let (q, last) = (at + 2, den - 1);
            let row = form(numerator, *constant);
            text += &format!(" and 0 <= {row} - {den}*x{q} and {row} - {den}*x{q} <= {last}");
        }
        text += &format!(" and {low} <= {} <= {}", form(&strip, 0), low + width);
        let names: Vec<String> = (0..2 + count).map(|col| format!("x{col}")).collect();
        let set = parse(&format!("{{ [{}] : {text} }}", names.join(", ")));
        let mut points = (0..32).flat_map(|x| (0..24).map(move |y| vec![x, y])).map(whole);
        let has_points = points.any(|point| (low..=low + width).contains(&at(&strip, &point)));
        let budget = Budget::steps(3_000_000);
        assert_eq!(set.is_empty(&budget), Ok(!has_points), "case {case}: {set}");
        empty += usize::from(!has_points);
    }
    assert!((4..20).contains(&empty), "{empty} of 24 are empty");
}

/// Counts the points of a set without parameters.
fn count(text: &str, budget: &Budget) -> String {
    parse(text).card(budget).expect(text).constant_value().expect("a number").to_string()
}

#[test]
fn excluded_remainders_are_counted_one_set_of_conditions_after_the_other() {
    let excluded = |moduli: &[i64], end: i64| {
        let conditions: Vec<String> = moduli.iter().map(|by| format!("i mod {by} != 0")).collect();
        format!("{{ [i] : {} and 0 <= i < {end} }}", conditions.join(" and "))
    };
    for (moduli, end) in [(&[3, 4, 5, 7, 9][..], 1000), (&[2, 3, 5, 7, 11, 13, 17], 3000)] {
        let expected = (0..end).filter(|i| moduli.iter().all(|by| i % by != 0)).count();
        let budget = Budget::steps(5_000_000);
        assert_eq!(count(&excluded(moduli, end), &budget), expected.to_string(), "{moduli:?}");
    }
    // Six took a second, seven all memory.
    let budget = Budget::steps(20_000_000);
    assert_eq!(count(&excluded(&[2, 3, 5, 7, 11, 13, 17], 10_000_000), &budget), "1805251");
    let classes = "{ [i, j] : 0 <= i, j < 30 and (i + j) mod 7 >= 2 and i mod 5 >= 1 \
                   and (i + 2j) mod 9 <= 7 and j mod 4 != 1 }";
    let inside =
        |i: i64, j: i64| (i + j) % 7 >= 2 && i % 5 >= 1 && (i + 2 * j) % 9 <= 7 && j % 4 != 1;
    let all = (0..30).flat_map(|i| (0..30).map(move |j| (i, j)));
    let expected = all.filter(|(i, j)| inside(*i, *j)).count();
    assert_eq!(count(classes, &Budget::steps(20_000_000)), expected.to_string());
}

#[test]
fn products_are_counted_factor_by_factor() {
    let block = |a: &str, b: &str, c: &str, d: &str| {
        format!(
            "1 <= {a} <= 98 and 0 <= {b} <= 1 and 8{c} + 1 <= {a} + {b} <= 8{c} + 8 \
             and 8{c} + 1 <= {d} <= 8{c} + 8"
        )
    };
    let blocks: Vec<String> = ["abcd", "efgh", "pqrs"]
        .iter()
        .map(|names| {
            let names: Vec<String> = names.chars().map(String::from).collect();
            block(&names[0], &names[1], &names[2], &names[3])
        })
        .collect();
    let text = format!("{{ [a, b, c, d, e, f, g, h, p, q, r, s] : {} }}", blocks.join(" and "));
    // A block has 98 times 2 times 8 points.
    assert_eq!(count(&text, &Budget::steps(2_000_000)), (1568_u64.pow(3)).to_string());

    let budget = Budget::steps(2_000_000);
    let text = "[n, m] -> { [i, j, k] : 0 <= i < n and floor(m/3) <= j <= 2n and n <= 9 \
                and 2k = m and exists e : i = 3e }";
    let counted = parse(text).card(&budget).expect("a count");
    for (n, m) in [(0_i64, 0_i64), (1, 2), (5, 4), (9, 12), (10, 4), (4, -6), (7, 40)] {
        let of_i = (0..n).filter(|i| i % 3 == 0).count() as i64;
        let of_j = (2 * n - m.div_euclid(3) + 1).max(0);
        let expected = if n <= 9 && m % 2 == 0 { of_i * of_j } else { 0 };
        let found = counted.evaluate(&[n, m]).expect("a number").to_string();
        assert_eq!(found, expected.to_string(), "{n} {m}");
    }
}
