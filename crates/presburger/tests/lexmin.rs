//! Least and greatest outputs of unions, against enumeration; disjuncts may be unbounded.

use tangram_presburger::{Budget, Error, Relation};

fn read(text: &str) -> Relation {
    Relation::parse(text, &budget()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn budget() -> Budget {
    Budget::steps(50_000_000)
}

#[test]
fn an_unbounded_disjunct_leaves_no_extremum() {
    // Set, least points, greatest points.
    let cases = [
        ("{ [i] : i <= 0 or 5 <= i <= 7 }", "{ [i] : false }", "{ [7] }"),
        ("{ [i] : 5 <= i <= 7 or i <= 0 or i >= 9 }", "{ [i] : false }", "{ [i] : false }"),
        (
            "[n] -> { [i] : (i <= 0 and n > 0) or (5 <= i <= n) }",
            "[n] -> { [i] : false }",
            "[n] -> { [i] : (i = 0 and 0 < n < 5) or (i = n and n >= 5) }",
        ),
        (
            "{ [n] -> [i] : (i <= 0 and n > 8) or (5 <= i <= n) }",
            "{ [n] -> [5] : 5 <= n <= 8 }",
            "{ [n] -> [n] : n >= 5 }",
        ),
        // What comes before an unbounded part is a least point none the less.
        ("{ [0, j]; [-1, 3]; [2, 2] }", "{ [-1, 3] }", "{ [2, 2] }"),
        ("{ [0, j]; [0, 3]; [1, 2] }", "{ [i, j] : false }", "{ [1, 2] }"),
        (
            "{ [0, 3]; [i, j] : 2i = 2j + 1 or i = 3j + 1 and i <= 0 and j >= -2 }",
            "{ [-5, -2] }",
            "{ [0, 3] }",
        ),
        // The division has no least value either.
        (
            "{ [i, j] : i = 0 and j mod 3 = 1 or i = j and 0 <= j <= 1 }",
            "{ [i, j] : false }",
            "{ [1, 1] }",
        ),
    ];
    for (text, least, greatest) in cases {
        let set = read(text);
        let (low, high) = (set.lexmin(&budget()).unwrap(), set.lexmax(&budget()).unwrap());
        assert!(low.is_equal(&read(least), &budget()).unwrap(), "{text}: {low}");
        assert!(high.is_equal(&read(greatest), &budget()).unwrap(), "{text}: {high}");
    }
    let set = read("{ [i] : 5 <= i <= 7 or i <= 0 }");
    let extents = set.bounding_box(&budget()).unwrap();
    assert_eq!(extents, Some(vec![(None, Some(7.into()))]));
}

/// `constant + n N + i I + j J >= 0`
type Row = [i64; 4];

const FIRST: i64 = 24;
const SECOND: i64 = 90;

#[test]
fn a_missing_extremum_is_said_where_all_are_asked_for() {
    // Set or map, dimension, end, and where there is none; isl fails for each.
    let cases = [
        ("[N] -> { [i] : i <= N }", "dimension 0 (`i`)", "least", "[N] -> { : }"),
        ("{ S[i, j] : i >= 0 }", "dimension 1 (`j`) of `S`", "least", "{ : }"),
        ("{ S[i, j] : i >= 0 }", "dimension 0 (`i`) of `S`", "greatest", "{ : }"),
        ("{ [i] : i <= 0 or 5 <= i <= 7 }", "dimension 0 (`i`)", "least", "{ : }"),
        (
            "[N] -> { [i] : 0 <= i <= N or (i <= 0 and N > 5) }",
            "dimension 0 (`i`)",
            "least",
            "[N] -> { : N >= 6 }",
        ),
        (
            "{ A[a] -> B[b] : a >= 0 and b >= 0 and (b <= 5 or a >= 7) }",
            "dimension 0 (`b`) of `B`",
            "greatest",
            "{ A[a] : a >= 7 }",
        ),
    ];
    for (text, expected, expected_end, place) in cases {
        let set = read(text);
        let ends = [("least", true), ("greatest", false)];
        let (_, least) = ends.into_iter().find(|(name, _)| *name == expected_end).expect("an end");
        let found = if least { set.total_lexmin(&budget()) } else { set.total_lexmax(&budget()) };
        let Err(Error::NoOptimum { dimension, end, inputs }) = found else {
            panic!("{text}: {found:?}");
        };
        assert_eq!((dimension.as_str(), end), (expected, expected_end), "{text}");
        assert!(read(&inputs).is_equal(&read(place), &budget()).unwrap(), "{text}: {inputs}");
        let functions = if least {
            set.total_lexmin_pw_multi_aff(&budget())
        } else {
            set.total_lexmax_pw_multi_aff(&budget())
        };
        assert!(matches!(functions, Err(Error::NoOptimum { .. })), "{text}");
    }
    // Nothing is missing where there are no points, or where all inputs have an extremum.
    for text in [
        "{ [i] : i < 0 and i > 0 }",
        "{ [i, j] : 2i = 1 and j >= 0 }",
        "[N] -> { [i] : 0 <= i <= N }",
        "{ A[a] -> B[b] : a >= 0 and 0 <= b <= a }",
        "{ A[a] -> B[b] : a >= 0 and b = 1 + 2a or a = 7 and 0 <= b <= 3 }",
    ] {
        let set = read(text);
        for (total, partial) in [
            (set.total_lexmin(&budget()), set.lexmin(&budget())),
            (set.total_lexmax(&budget()), set.lexmax(&budget())),
        ] {
            assert!(total.unwrap().is_equal(&partial.unwrap(), &budget()).unwrap(), "{text}");
        }
    }
    // isl fails although this has a least point, which comes before the unbounded part.
    let least = read("{ [0, j]; [-1, 3] }").total_lexmin(&budget()).unwrap();
    assert!(least.is_equal(&read("{ [-1, 3] }"), &budget()).unwrap());
}

/// Returns the least output by search; none if it lies at the rim.
///
/// Coefficients of `i` and `j` are at most 1, those of the rest small: what has a least value has
/// it well inside.
fn least(parts: &[Vec<Row>], n: i64, sign: i64) -> Option<(i64, i64)> {
    let holds = |i: i64, j: i64| {
        let row = |row: &Row| row[0] + row[1] * n + row[2] * i + row[3] * j >= 0;
        parts.iter().any(|rows| rows.iter().all(row))
    };
    let all = (-FIRST..=FIRST).flat_map(|i| (-SECOND..=SECOND).map(move |j| (sign * i, sign * j)));
    let (i, j) = all.into_iter().find(|(i, j)| holds(*i, *j))?;
    (i != -sign * FIRST && j != -sign * SECOND).then_some((i, j))
}

#[test]
fn unions_have_the_extrema_that_search_finds() {
    let mut state = 11_u64;
    let mut random = move |low: i64, high: i64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        low + ((state >> 33) % (high - low + 1) as u64) as i64
    };
    let (mut found, mut missing) = (0, 0);
    for _ in 0..60 {
        let parts: Vec<Vec<Row>> = (0..random(2, 3))
            .map(|_| {
                (0..random(2, 4))
                    .map(|_| [random(-3, 3), random(-1, 1), random(-1, 1), random(-1, 1)])
                    .collect()
            })
            .collect();
        let row = |[c, n, i, j]: &Row| format!("{c} + {n}n + {i}i + {j}j >= 0");
        let part = |rows: &Vec<Row>| rows.iter().map(row).collect::<Vec<_>>().join(" and ");
        let text = parts.iter().map(part).collect::<Vec<_>>().join(" or ");
        let set = read(&format!("[n] -> {{ [i, j] : {text} }}"));
        for (sign, extremum) in [(1, set.lexmin(&budget())), (-1, set.lexmax(&budget()))] {
            let near = read("[n] -> { [i, j] : -2 <= n <= 2 }");
            let points = extremum.and_then(|e| e.intersect(&near, &budget())?.points(&budget()));
            let expected: Vec<Vec<i64>> = (-2..=2)
                .filter_map(|n| least(&parts, n, sign).map(|(i, j)| vec![n, i, j]))
                .collect();
            assert_eq!(points.unwrap(), expected, "{sign}: {text}");
            found += expected.len();
            missing += 5 - expected.len();
        }
    }
    assert!(found > 50 && missing > 50, "{found} found, {missing} missing");
}
