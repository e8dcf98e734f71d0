//! Quasi-polynomials that are equal at all integer points, and others.

use tangram_presburger::count::PwQPolynomial;
use tangram_presburger::{Budget, Error};

fn limit() -> Budget {
    Budget::steps(5_000_000)
}

fn read(text: &str) -> PwQPolynomial {
    let function = PwQPolynomial::parse(text, &limit());
    function.unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn values_count_not_forms() -> Result<(), Error> {
    for (a, b, equal) in [
        ("{ [i] -> floor((2 * i)/2) }", "{ [i] -> i }", true),
        ("{ [i] -> floor((i)/2) + floor((i + 1)/2) }", "{ [i] -> i }", true),
        ("{ [i] -> floor((i)/2) + floor((i + 2)/2) }", "{ [i] -> i }", false),
        ("{ [i] -> floor((floor((i)/2))/3) }", "{ [i] -> floor((i)/6) }", true),
        // The square of a remainder by 2 is the remainder, by 3 it is not.
        ("{ [i] -> (i - 2 * floor((i)/2))^2 }", "{ [i] -> i - 2 * floor((i)/2) }", true),
        ("{ [i] -> (i - 3 * floor((i)/3))^2 }", "{ [i] -> i - 3 * floor((i)/3) }", false),
        (
            "{ [i] -> (i^2 - i) - 2 * floor((i^1)/2) * (2 * floor((i)/2)) : false }",
            "{ [i] -> 0 }",
            true,
        ),
        ("{ [i] -> 1/2 * i^2 - 1/2 * i }", "{ [i] -> 1/2 * i * (i - 1) }", true),
        // Few points.
        ("{ [i] -> i^2 : 0 <= i <= 1 }", "{ [i] -> i : 0 <= i <= 1 }", true),
        ("{ [i] -> i^2 : 0 <= i <= 2 }", "{ [i] -> i : 0 <= i <= 2 }", false),
        (
            "{ [i, j] -> i * j : 0 <= i <= 1 and 0 <= j <= i }",
            "{ [i, j] -> j : 0 <= i <= 1 and 0 <= j <= i }",
            true,
        ),
        (
            "[n] -> { [i] -> i * (n - i) : n <= i <= n + 1 }",
            "[n] -> { [i] -> -i * (i - n)^3 : n <= i <= n + 1 }",
            true,
        ),
        (
            "[n] -> { [i] -> i : 0 <= i <= n }",
            "[n] -> { [i] -> i : 0 <= i < n; [n] -> n : n >= 0 }",
            true,
        ),
        ("[n] -> { n^2 : n >= 0 }", "[n] -> { n^2 : n > 0 }", true),
        ("[n] -> { n^2 + 1 : n >= 0 }", "[n] -> { n^2 + 1 : n > 0 }", false),
        // A stride, and an equation.
        ("{ [i] -> floor((i)/2) : i mod 2 = 1 }", "{ [i] -> 1/2 * (i - 1) : i mod 2 = 1 }", true),
        ("{ [i, j] -> i^2 : i = 3j }", "{ [i, j] -> 9 * j^2 : i = 3j }", true),
        ("{ [i, j] -> i^2 : i = 3j }", "{ [i, j] -> 6 * j^2 : i = 3j }", false),
    ] {
        let (x, y) = (read(a), read(b));
        assert_eq!(x.is_equal(&y, &limit())?, equal, "{a} and {b}");
        assert_eq!(y.is_equal(&x, &limit())?, equal, "{b} and {a}");
    }
    assert!(read("{ [i] -> i }").is_equal(&read("{ A[i] -> i }"), &limit()).is_err());
    Ok(())
}

#[test]
fn sums_in_two_orders_are_equal() -> Result<(), Error> {
    use tangram_presburger::Relation;
    let set = Relation::parse("[n] -> { [i, j] : 0 <= 2i <= n and i <= 3j <= n }", &limit())?;
    let turned = Relation::parse("{ [i, j] -> [j, i] }", &limit())?;
    let (a, b) = (set.card(&limit())?, set.apply_range(&turned, &limit())?.card(&limit())?);
    assert!(a.is_equal(&b, &limit())?, "{a} and {b}");
    let more = b.add(&read("[n] -> { 1 : n = 40 }"), &limit())?;
    assert!(!a.is_equal(&more, &limit())?);
    Ok(())
}
