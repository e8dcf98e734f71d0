//! Sums of quasi-polynomials over sets, against enumeration and against counting.

use tangram_presburger::count::{PwQPolynomial, Rational};
use tangram_presburger::{Budget, Error, Relation, Value};

fn budget() -> Budget {
    Budget::steps(100_000_000)
}

fn function(text: &str) -> PwQPolynomial {
    PwQPolynomial::parse(text, &budget()).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn read(text: &str) -> Relation {
    Relation::parse(text, &budget()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Adds up the values at the points with coordinates from -4 to 14.
fn enumerate(f: &PwQPolynomial, n: i64) -> Rational {
    let dims = f.domain().map_or(0, |tuple| tuple.dims.len());
    let mut point = vec![-4; dims + 1];
    point[0] = n;
    let mut sum = Rational::ZERO;
    loop {
        sum = sum.add(&f.evaluate(&point).expect("the right number of coordinates"));
        let Some(at) = (1..=dims).find(|i| point[*i] < 14) else { return sum };
        point[1..at].fill(-4);
        point[at] += 1;
    }
}

#[test]
fn sums_are_those_of_enumeration() {
    for text in [
        "[n] -> { [i] -> i : 0 <= i <= n }",
        "[n] -> { [i] -> i^3 - 2 * n * i + 1/2 : -2 <= i and 2i <= n }",
        "[n] -> { [i, j] -> i * j : 0 <= i <= n and i <= j <= n + 2 }",
        "[n] -> { [i, j] -> 1/3 * i^2 + n * j : 0 <= i and i <= 2j and j <= 5 and j <= n }",
        "[n] -> { [i] -> floor((i)/3) * i : 0 <= i <= n }",
        "[n] -> { [i] -> floor((i + n)/2) : 0 <= i <= 5 and n >= 0; [i] -> n : 9 <= i <= n }",
        "[n] -> { [i, j] -> i + floor((n)/2) : 3i + 2j = n and i >= 0 and j >= 0 }",
        "[n] -> { [i] -> i^2 : 2i = n and 0 <= n }",
        "[n] -> { [i, j, k] -> i + j * k : 0 <= i <= j and j <= k and 2k <= n }",
    ] {
        let f = function(text);
        let sum = f.sum(&budget()).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert!(sum.domain().is_none());
        let mut nonzero = 0;
        for n in -3..=11 {
            let expected = enumerate(&f, n);
            nonzero += usize::from(!expected.is_zero());
            assert_eq!(sum.evaluate(&[n]), Ok(expected), "{text} for {n}: {sum}");
        }
        assert!(nonzero >= 4, "{text}");
    }
}

#[test]
fn the_powers_follow_faulhaber() {
    let sum = |text| function(text).sum(&budget()).expect("bounded").to_string();
    assert_eq!(
        sum("[n] -> { [i] -> i : 0 <= i <= n }"),
        "[n] -> { (1/2 * n + 1/2 * n^2) : n >= 0 }"
    );
    assert_eq!(
        sum("[n] -> { [i] -> i^3 : 1 <= i <= n }"),
        "[n] -> { (1/4 * n^2 + 1/2 * n^3 + 1/4 * n^4) : n >= 1 }"
    );
}

#[test]
fn counts_of_images_add_up_to_the_pairs() {
    for body in [
        "0 <= i <= n and 0 <= j <= i",
        "0 <= i <= n and i <= 2j <= n + 3",
        "i mod 2 = 1 and 0 <= i <= n and 0 <= 3j <= i + n",
    ] {
        let images = read(&format!("[n] -> {{ [i] -> [j] : {body} }}")).card(&budget());
        let pairs = read(&format!("[n] -> {{ [i, j] : {body} }}")).card(&budget());
        let sum = images.expect("bounded").sum(&budget()).expect("bounded");
        let pairs = pairs.expect("bounded");
        for n in -2..=14 {
            assert_eq!(sum.evaluate(&[n]), pairs.evaluate(&[n]), "{body} for {n}");
        }
    }
}

#[test]
fn a_set_restricts_a_function() {
    let f = function("[n] -> { A[i] -> i * n }");
    assert!(matches!(f.sum(&budget()).map(|sum| sum.value_at(&[5])), Ok(Ok(Value::NaN))));
    let set = read("[n] -> { A[i] : 0 <= i <= n; A[i] : 3 <= i <= 7 }");
    let sum = f.intersect_domain(&set, &budget()).and_then(|f| f.sum(&budget())).expect("bounded");
    for n in -2..=12 {
        let inside = |i: &i64| (0..=n).contains(i) || (3..=7).contains(i);
        let expected: i64 = (0..=20).filter(inside).map(|i| i * n).sum();
        assert_eq!(sum.evaluate(&[n]), Ok(Rational::from(expected)), "{n}");
    }
    let other = read("{ B[i] : 0 <= i <= 3 }");
    assert!(matches!(f.intersect_domain(&other, &budget()), Err(Error::Space { .. })));
}

#[test]
fn dimensions_in_many_floors_are_counted_class_by_class() -> Result<(), Error> {
    let text = "[n] -> { [k] : -3 <= k <= 5 and k >= -n - 7 and \
                k >= -n - 12*floor((5k - 3n + 9*floor((-2k - 8)/3) + 11)/36) - 19 and \
                k >= -n - 12*floor((7k - n + 9*floor((-2k - 8)/3) + 17)/24) - 19; \
                [k] : 0 <= k <= n and (k + n) mod 2 = 0 and floor(k/3) <= 2 + floor((k + n)/4) }";
    let set = read(text);
    // Five dimensions with divisions among them take minutes, and megabytes of terms.
    let count = set.card(&Budget::steps(400_000))?;
    assert!(count.pieces().len() < 40, "{count}");
    let square = function("[n] -> { [k] -> k^2 + floor((k + n)/3) }");
    let sum = square.intersect_domain(&set, &budget())?.sum(&budget())?;
    for n in -15..25 {
        let inside: Vec<i64> =
            (-20..40).filter(|k| set.contains(&[n, *k]).expect("coordinates")).collect();
        assert_eq!(count.evaluate(&[n])?, Rational::from(inside.len() as i64), "n = {n}");
        let expected: i64 = inside.iter().map(|k| k * k + (k + n).div_euclid(3)).sum();
        assert_eq!(sum.evaluate(&[n])?, Rational::from(expected), "n = {n}");
    }
    Ok(())
}

/// Compares the sum of the counts of outputs with the pairs from -7 to 10.
fn adds_up_to_the_pairs(text: &str, params: &[&[i64]]) -> PwQPolynomial {
    // What the test beside isl gives one operation is three times that.
    adds_up_within(1_000_000, text, params)
}

fn adds_up_within(steps: u64, text: &str, params: &[&[i64]]) -> PwQPolynomial {
    let limit = Budget::steps(steps);
    let map = read(text);
    let sum = map.card(&limit).and_then(|count| count.sum(&limit));
    let sum = sum.unwrap_or_else(|error| panic!("{text}: {error}"));
    let space = map.space();
    let dims = space.output.dims.len() + space.input.as_ref().map_or(0, |tuple| tuple.dims.len());
    let mut nonzero = 0;
    for at in params {
        let point = |code| (0..dims as u32).map(move |dim| code / 18_i64.pow(dim) % 18 - 7);
        let inside = |code: &i64| {
            let all: Vec<i64> = at.iter().copied().chain(point(*code)).collect();
            map.contains(&all) == Ok(true)
        };
        let expected = (0..18_i64.pow(dims as u32)).filter(inside).count() as i64;
        nonzero += usize::from(expected > 0);
        assert_eq!(sum.evaluate(at), Ok(Rational::from(expected)), "{text} at {at:?}: {sum}");
    }
    assert!(nonzero >= 3, "{text}");
    sum
}

#[test]
fn bounds_on_floors_of_counted_dimensions_cost_no_dimension() {
    let sum = adds_up_to_the_pairs(
        "[n] -> { [i, j] -> [k] : -2 <= i <= 5 and n + 1 <= j <= 3 and n <= k <= 4 and \
         2n - i - 2j + 2k + 2 >= 0 and (n - 2j) mod 2 = 1 and \
         floor((n + 2i - 2j - k + 3)/3) <= -i - j + k + 5 }",
        &[&[-5], &[-4], &[-3], &[-1], &[0], &[1], &[2], &[3]],
    );
    // At most one piece for each of the few values of `n`, and one where they are all the same.
    assert!(sum.pieces().terms() <= 6, "{sum}");
    adds_up_to_the_pairs(
        "[n, m] -> { [i] -> [j, k] : m - 3 <= i <= 4 and -3 <= j <= 7 and -3 <= k <= 3 and \
         2n + m + 3i - j + 4 >= 0 and floor((2m - 2n - i - j - k)/3) <= n + m - j + k + 6 }",
        &[&[-6, -2], &[-3, 1], &[0, -4], &[0, 0], &[2, 5], &[4, -1], &[9, 3]],
    );
    adds_up_to_the_pairs(
        "[n] -> { [i, j] -> [k] : 1 <= i <= 7 and -2 <= j <= 3 and -1 <= k <= 8 and \
         n - 2i + 3j + 3k + 2 >= 0 and (-2n - i - 2j + k + 1) mod 2 = 0 and \
         floor((n - 2i - j + k + 4)/3) <= -n - i - j + 6 }",
        &[&[-20], &[-9], &[-4], &[-1], &[0], &[1], &[3], &[6]],
    );
}

#[test]
fn floors_in_floors_in_floors_keep_their_places() {
    let f = function("[n] -> { n * floor((floor((floor(n/2) + n)/3) + n)/5) }");
    let sum = f.add(&function("[n] -> { floor(n/7) }"), &budget()).expect("few pieces");
    for n in -40_i64..40 {
        let nested = ((n.div_euclid(2) + n).div_euclid(3) + n).div_euclid(5);
        let expected = Rational::from(n * nested + n.div_euclid(7));
        assert_eq!(sum.evaluate(&[n]), Ok(expected), "{sum} at {n}");
    }
}

#[test]
fn points_of_bounded_dimensions_in_floors_are_added_one_by_one() {
    let set = read(
        "{ [j, k] : 0 <= j and -1 <= k <= 4 and k <= j + 3 and \
         2k <= 3*floor((j + k + 1)/3) - 4j + 17 and 3k >= 4j - 3*floor((j + k + 1)/3) - 17 }",
    );
    let f = function("{ [j, k] -> 3 - 1/3 * k * j + floor((j + k)/2) }");
    // As four dimensions, two of them floors, the square takes more than 20 million steps.
    let limit = Budget::steps(20_000);
    let over = f.intersect_domain(&set, &limit).expect("one piece");
    let sum = over.mul(&f, &limit).and_then(|square| square.sum(&limit)).expect("bounded");
    let points = (0..400).map(|code| [code % 20 - 5, code / 20 - 5]);
    let inside = points.filter(|point| set.contains(point) == Ok(true));
    let square = |point: [i64; 2]| {
        let value = f.evaluate(&point).expect("two coordinates");
        value.mul(&value)
    };
    let expected = inside.map(square).fold(Rational::ZERO, |sum, value| sum.add(&value));
    assert_eq!(sum.constant_value(), Ok(expected));
}

#[test]
fn floors_of_the_weight_alone_make_no_corners() {
    // More than 20 million steps with all floors between bounds.
    adds_up_within(
        400_000,
        "[n] -> { [i] -> [j] : 0 <= i <= 5 and 0 <= j <= 7 and -3n + 2j + 3 >= 0 and \
         floor((2n + 4)/3) <= n + i + j + 4; [i] -> [j] : -3 <= i <= n and -3 <= j <= 7 and \
         3n + 3i - j + 2 >= 0 and (-n + 2i + 2j + 4) mod 3 = 1 and floor((n - 2i + j + 2)/3) \
         <= j + 2 + 4; [i] -> [j] : -2 <= i <= 8 and -1 <= j <= n and 2n - i + 2j + 2 >= 0 \
         and (j + 4) mod 4 = 0 }",
        &[&[-50], &[-31], &[-20], &[-10], &[-3], &[-1], &[0], &[1], &[2], &[5], &[8], &[9], &[10]],
    );
    // Eighteen floors between bounds have too many corners to list.
    adds_up_within(
        2_000_000,
        "[n] -> { [i, j] -> [k] : 1 <= i <= 8 and 1 <= j <= 4 and 1 <= k <= 6 and -2n - 3i - \
         3j - 3k >= 0 and (-i - j + 2k + 3) mod 4 = 1 and i - j - k + 3 = 0; [i, j] -> [k] : \
         -3 <= i <= 3 and 0 <= j <= 6 and n + 1 <= k <= 9 and -3n - 3i - 3j - k + 2 >= 0 and \
         (n - j + 2k) mod 3 = 0 and floor((2n + 2i - 2j - 2k + 4)/3) <= i + j - k + 4 + 4; \
         [i, j] -> [k] : -2 <= i <= 5 and -1 <= j <= 5 and -3 <= k <= 9 and 3n - 2i + k + 2 \
         >= 0 and floor((2i - 2j + 3)/3) <= i + 4 }",
        &[&[-8], &[-5], &[-2], &[-1], &[0], &[2], &[4]],
    );
}

#[test]
fn weights_with_floors_are_added_in_slices() {
    // 9 million steps with each floor a dimension.
    adds_up_within(
        400_000,
        "[n, m] -> { [i, j] -> [k] : 0 <= i <= 7 and -3 <= j <= m and -1 <= k <= 6 and -2n - \
         3i + 2 >= 0 and (2j + 2k + 3) mod 4 = 1; [i, j] -> [k] : m <= i <= 3 and 0 <= j <= m \
         and -2 <= k <= 7 and -3n - m - i + 2j + 3k + 3 >= 0 }",
        &[&[-7, 1], &[-4, 3], &[-2, 2], &[-2, 0], &[-1, 1], &[0, 0], &[0, -2], &[1, 0], &[2, -5]],
    );
}
