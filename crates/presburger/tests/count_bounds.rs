//! Bounds of quasi-polynomials: never crossed, and attained where the optimum is in a vertex.

use tangram_presburger::count::{PwQPolynomial, Rational, Side};
use tangram_presburger::{Budget, Error};

fn budget() -> Budget {
    Budget::steps(100_000_000)
}

fn function(text: &str) -> PwQPolynomial {
    PwQPolynomial::parse(text, &budget()).unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// Lists the values at the points from -4 to 14 on which a piece holds: `guard` says where.
fn values(text: &str, n: i64) -> Vec<Rational> {
    let f = function(text);
    // The same pieces with the value 1 tell points of the set from others.
    let (head, body) = text.split_once('{').expect("pieces");
    let body = body.trim_end_matches('}');
    let ones: Vec<String> = body
        .split(';')
        .map(|piece| {
            let (tuple, rest) = piece.split_once("->").expect("a tuple");
            let (_, guard) = rest.split_once(':').expect("a guard");
            format!("{tuple} -> 1 : {guard}")
        })
        .collect();
    let inside = function(&format!("{head}{{ {} }}", ones.join(";")));
    let points = (-4..=14).flat_map(|i| (-4..=14).map(move |j| [n, i, j]));
    let dims = f.domain().map_or(0, |tuple| tuple.dims.len());
    points
        .map(|point| point[..=dims].to_vec())
        .filter(|point| !inside.evaluate(point).expect("coordinates").is_zero())
        .map(|point| f.evaluate(&point).expect("coordinates"))
        .collect()
}

#[test]
fn no_value_is_beyond_its_bounds() {
    for (text, tight) in [
        ("[n] -> { [i] -> i : 0 <= i <= n }", true),
        ("[n] -> { [i] -> 3 * n - 2 * i : -2 <= i and i <= n }", true),
        ("[n] -> { [i] -> i^2 - n * i : 0 <= i <= n }", false),
        ("[n] -> { [i, j] -> i * j : 0 <= i <= n and 0 <= j <= 5 }", true),
        ("[n] -> { [i, j] -> i * j - i^2 : 0 <= i <= n and i <= j <= n + 2 }", false),
        ("[n] -> { [i] -> floor((i)/3) + i : 0 <= i <= n }", false),
        ("[n] -> { [i] -> i : 0 <= i <= n; [i] -> 2 * n : 7 <= i and i > n and i <= 9 }", false),
        ("[n] -> { [i] -> i^3 : 2i = n and 0 <= n }", true),
    ] {
        let f = function(text);
        let upper = f.bound(Side::Upper, &budget()).unwrap_or_else(|e| panic!("{text}: {e}"));
        let lower = f.bound(Side::Lower, &budget()).unwrap_or_else(|e| panic!("{text}: {e}"));
        let mut checked = 0;
        for n in -3..=9 {
            let all = values(text, n);
            let (Some(least), Some(most)) = (all.iter().min(), all.iter().max()) else { continue };
            let high = upper.evaluate(&[n]).unwrap_or_else(|| panic!("{text} for {n}: {upper}"));
            let low = lower.evaluate(&[n]).unwrap_or_else(|| panic!("{text} for {n}: {lower}"));
            assert!(low <= *least && *most <= high, "{text} for {n}: {lower} and {upper}");
            assert!(!tight || low == *least && high == *most, "{text} for {n}: {lower}, {upper}");
            checked += 1;
        }
        assert!(checked >= 4, "{text}");
    }
}

#[test]
fn many_remainders_are_bounded_together() {
    // A part for each remainder is close to the values, but there are too many of them.
    let text = "[n, m] -> { [k] -> 4 - 3 * n * k + 1/2 * n * m - 2/3 * k * m :
        -2 <= k <= n and k >= -n - 2*floor((3n - m - 5k + 4)/6)
        and k >= n - 2m - 6*floor((6n - 4m - 5k + 16)/12) + 6 and n >= k mod 2
        and m >= n - 2*floor((-k)/2) and m >= n - 2*floor((3n - m - 5k + 4)/6)
        and m >= n - 2*floor((-k)/2) - 3*floor((6n - 4m - 5k + 16)/12) - 3*floor((n + k)/2) + 3 }";
    let f = function(text);
    let limit = Budget::steps(5_000_000);
    let lower = f.bound(Side::Lower, &limit).expect("soon");
    let upper = f.bound(Side::Upper, &limit).expect("soon");
    let inside = f.support().expect("a set");
    let mut checked = 0;
    for (n, m) in (-2..=7).flat_map(|n| (-3..=12).map(move |m| (n, m))) {
        for k in (-2..=n).filter(|k| inside.contains(&[n, m, *k]).expect("coordinates")) {
            let value = f.evaluate(&[n, m, k]).expect("coordinates");
            assert!(lower.evaluate(&[n, m]).is_some_and(|low| low <= value), "{n} {m} {k}");
            assert!(upper.evaluate(&[n, m]).is_some_and(|high| high >= value), "{n} {m} {k}");
            checked += 1;
        }
    }
    assert!(checked > 50, "{checked}");
}

#[test]
fn bounds_print_in_the_notation() {
    let f = function("[n] -> { [i] -> i : 0 <= i <= n }");
    let upper = f.bound(Side::Upper, &budget()).expect("bounded");
    assert_eq!(upper.to_string(), "[n] -> { max(0, n) : n >= 0 }");
    let lower = f.bound(Side::Lower, &budget()).expect("bounded");
    assert_eq!(lower.to_string(), "[n] -> { min(0, n) : n >= 0 }");
    assert_eq!(lower.evaluate(&[-1]), None);
}

#[test]
fn infinite_domains_and_limits_are_errors() {
    let f = function("[n] -> { [i, j] -> i : 0 <= i <= n }");
    assert_eq!(f.bound(Side::Upper, &budget()), Err(Error::Unbounded { dim: 2 }));
    let f =
        function("[n] -> { [i, j] -> i^9 * j^9 : 0 <= i <= n and 0 <= j <= i and i + 2j <= 9 }");
    let few = Budget::steps(1000);
    assert_eq!(f.bound(Side::Upper, &few), Err(Error::Steps { limit: 1000 }));
}
