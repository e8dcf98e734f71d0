//! Functions and bounds of points in several tuples, against values point by point.

use tangram_presburger::count::{
    PwQPolynomial, PwQPolynomialFold, Rational, Side, UnionPwQPolynomial, UnionPwQPolynomialFold,
};
use tangram_presburger::{Budget, Error, Relation, Tuple, Union};

fn budget() -> Budget {
    Budget::steps(2_000_000)
}

fn function(text: &str) -> PwQPolynomial {
    let read = PwQPolynomial::parse(text, &budget());
    read.unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn bound(text: &str) -> PwQPolynomialFold {
    let read = PwQPolynomialFold::parse(text, &budget());
    read.unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn functions(text: &str) -> UnionPwQPolynomial {
    let read = UnionPwQPolynomial::parse(text, &budget());
    read.unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn bounds(text: &str) -> UnionPwQPolynomialFold {
    let read = UnionPwQPolynomialFold::parse(text, &budget());
    read.unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn relation(text: &str) -> Relation {
    Relation::parse(text, &budget()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn union(text: &str) -> Union {
    Union::parse(text, &budget()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn rational(value: i64) -> Rational {
    Rational::from(value)
}

#[test]
fn texts_of_several_tuples_read_back() {
    for text in [
        "[n] -> { A[i] -> n * i : i >= 0; B[i, j] -> i^2; 7 : n <= 3 }",
        "{ A[] -> 1; A[i] -> i; [A[i] -> B[j]] -> 2 * j : j <= i }",
        "{ A[i] -> 0 }",
    ] {
        assert_eq!(functions(&functions(text).to_string()), functions(text), "{text}");
    }
    for text in [
        "[n] -> { A[i] -> max(n, 2 * i) : i >= 0; B[i, j] -> max(i^2); max(7) : n <= 3 }",
        "{ A[] -> min(1); A[i] -> min(i, 3); [A[i] -> B[j]] -> min(2 * j) : j <= i }",
    ] {
        assert_eq!(bounds(&bounds(text).to_string()), bounds(text), "{text}");
    }
    assert_eq!(functions("{ A[i] -> i; A[j] -> 2 * j : j > 0 }").functions().len(), 1);
    let text = "{ A[i] -> max(i); B[i] -> min(i) }";
    let mixed = UnionPwQPolynomialFold::parse(text, &budget());
    assert!(matches!(mixed, Err(Error::Syntax { column: 27, .. })), "{mixed:?}");
    let two = PwQPolynomialFold::parse("{ A[i] -> max(i); B[i] -> max(i) }", &budget());
    assert!(matches!(two, Err(Error::Space { .. })), "{two:?}");
}

#[test]
fn functions_of_several_tuples_meet_tuple_by_tuple() {
    let a = functions("[n] -> { A[i] -> n * i : i >= 0; B[i] -> i }");
    let b = functions("[m] -> { A[i] -> m : i <= 5; C[i] -> 1 }");
    let check = |result: &UnionPwQPolynomial, of: fn(i64, i64) -> i64, only: [i64; 2]| {
        for (n, m, i) in [(3, 5, -1), (3, 5, 2), (-2, 7, 5), (4, -1, 6)] {
            let (x, y) = (if i >= 0 { n * i } else { 0 }, if i <= 5 { m } else { 0 });
            let at = |name: &str| {
                let Some(f) = result.get(&Tuple::new(name, ["i"])) else { return rational(0) };
                let value = |p: &String| if p == "n" { n } else { m };
                let mut point: Vec<i64> = f.params().iter().map(value).collect();
                point.push(i);
                f.evaluate(&point).expect("a point")
            };
            assert_eq!(at("A"), rational(of(x, y)), "A[{i}] for {n}, {m} of {result}");
            assert_eq!(at("B"), rational(only[0] * i), "B[{i}] of {result}");
            assert_eq!(at("C"), rational(only[1]), "C[{i}] of {result}");
        }
    };
    check(&a.add(&b, &budget()).expect("sums"), |x, y| x + y, [1, 1]);
    check(&a.sub(&b, &budget()).expect("differences"), |x, y| x - y, [1, -1]);
    check(&a.mul(&b, &budget()).expect("products"), |x, y| x * y, [0, 0]);
    assert!(a.is_equal(&functions(&a.to_string()), &budget()).expect("decided"));
    assert!(!a.is_equal(&b, &budget()).expect("decided"));
    let kept = a.intersect_domain(&union("{ B[i] : i > 3; C[5] }"), &budget()).expect("restricted");
    assert_eq!(kept, functions("[n] -> { B[i] -> i : i > 3 }"));
    assert_eq!(a.support().expect("sets").relations().count(), 2);
}

#[test]
fn sums_after_relations_are_of_each_input() {
    let weights = functions("[n] -> { A[i] -> i + n : i <= n; B[i, j] -> i * j }");
    let maps = union("{ S[k] -> A[i] : 0 <= i <= k; S[k] -> B[k, j] : 1 <= j <= 3; T[] -> A[2] }");
    let sums = weights.apply(&maps, &budget()).expect("finite");
    for (n, k) in [(0, 0), (5, 3), (2, 6), (-3, 4)] {
        let of_a: i64 = (0..=k).filter(|i| *i <= n).map(|i| i + n).sum();
        let of_b: i64 = (1..=3).map(|j| k * j).sum();
        let s = sums.get(&Tuple::new("S", ["k"])).expect("a function of S");
        assert_eq!(s.evaluate(&[n, k]).expect("a point"), rational(of_a + of_b), "{n} {k}");
        let t = sums.get(&Tuple::new("T", [""; 0])).expect("a function of T");
        let of_t = if n >= 2 { 2 + n } else { 0 };
        assert_eq!(t.evaluate(&[n]).expect("a point"), rational(of_t), "{n}");
    }
}

/// The extreme value of a bound over points, where it has any.
fn extreme(bound: &PwQPolynomialFold, points: &[Vec<i64>]) -> Option<Rational> {
    let values = points.iter().filter_map(|point| bound.evaluate(point));
    if bound.side() == Side::Upper { values.max() } else { values.min() }
}

#[test]
fn bounds_depend_on_points_as_they_do_on_parameters() {
    let a = bound("[n] -> { A[i] -> max(i * n, 3) : i >= 0 }");
    let b = bound("[m, n] -> { A[i] -> max(m) : i < 4; A[i] -> max(n, i) : i >= 4 }");
    let folded = a.fold(&b, &budget()).expect("one tuple");
    let moved = a.add(&function("[n] -> { A[i] -> n - i }"), &budget()).expect("one tuple");
    let less = a.intersect_domain(&relation("{ A[i] : 2 <= i <= 5 }"), &budget()).expect("cut");
    let short = less.gist(&relation("{ A[i] : i >= 2 }"), &budget()).expect("shorter");
    let minus = a.scale(&rational(-2));
    assert_eq!(minus.side(), Side::Lower);
    assert!(!short.to_string().contains(">="), "{short}");
    for (n, m, i) in [(2, 9, 1), (2, 1, 5), (-3, 4, 3), (5, -2, -1), (1, 1, 2)] {
        let own = (i >= 0).then(|| (i * n).max(3));
        let other = if i < 4 { m } else { n.max(i) };
        let to = |value: Option<i64>| value.map(rational);
        assert_eq!(a.evaluate(&[n, i]), to(own), "{n} {i}");
        let both = own.map_or(other, |own| own.max(other));
        assert_eq!(folded.params(), ["n", "m"]);
        assert_eq!(folded.evaluate(&[n, m, i]), to(Some(both)), "{n} {m} {i}: {folded}");
        assert_eq!(moved.evaluate(&[n, i]), to(own.map(|v| v + n - i)), "{n} {i}: {moved}");
        assert_eq!(minus.evaluate(&[n, i]), to(own.map(|v| -2 * v)), "{n} {i}");
        assert_eq!(less.evaluate(&[n, i]), to(own.filter(|_| (2..=5).contains(&i))), "{n} {i}");
        if i >= 2 {
            assert_eq!(short.evaluate(&[n, i]), less.evaluate(&[n, i]), "{n} {i}");
        }
    }
    assert_eq!(a.evaluate(&[1]), None);
    let elsewhere = a.fold(&bound("{ B[i] -> max(i) }"), &budget());
    assert!(matches!(elsewhere, Err(Error::Space { .. })), "{elsewhere:?}");
    let relation = relation("{ A[i] -> A[i] }");
    assert!(matches!(a.intersect_domain(&relation, &budget()), Err(Error::Space { .. })));
}

#[test]
fn bounds_of_pairs_and_after_relations_are_of_each_input() {
    for side in [Side::Lower, Side::Upper] {
        // Linear values, so that what bounds them at the corners is reached.
        let pairs = function("[n] -> { [A[i] -> B[j]] -> 2 * j - i + n : 0 <= j <= i }");
        let found = pairs.bound_second(side, &budget()).expect("finite");
        let values = PwQPolynomialFold::of(
            &function("[n] -> { B[j] -> j - n : j >= 2; B[j] -> 5 : j < 2 }"),
            side,
        );
        let map = relation("[n] -> { A[i] -> B[j] : i - 1 <= j <= i + n }");
        let after = values.apply(&map, &budget()).expect("finite");
        for (n, i) in [(0, 0), (0, 4), (3, 1), (2, -1), (-1, 3), (-2, 2), (1, 5)] {
            let all: Vec<i64> = (0..=i).map(|j| 2 * j - i + n).collect();
            let expected = if side == Side::Upper { all.iter().max() } else { all.iter().min() };
            assert_eq!(found.evaluate(&[n, i]), expected.map(|v| rational(*v)), "{n} {i} {found}");
            let points: Vec<Vec<i64>> = (i - 1..=i + n).map(|j| vec![n, j]).collect();
            assert_eq!(after.evaluate(&[n, i]), extreme(&values, &points), "{n} {i} {after}");
        }
    }
    // What is 0 counts where it is the greatest.
    let zero = bound("{ A[i] -> max(0, -i - 1) : 0 <= i <= 3 }").bound(&budget()).expect("finite");
    assert_eq!(zero.constant_value(), Some(rational(0)));
    let endless = bound("{ A[i] -> max(i) : i >= 0 }").bound(&budget());
    assert!(matches!(endless, Err(Error::Unbounded { .. })), "{endless:?}");
}

#[test]
fn unions_of_bounds_bound_their_functions() {
    let values =
        functions("{ A[i] -> i^2 - 4 * i : -3 <= i <= 6; B[i, j] -> i * j : 0 <= i, j <= 4 }");
    let upper = values.bound(Side::Upper, &budget()).expect("finite");
    let [all] = upper.bounds() else { panic!("{upper}") };
    // The greatest values are 21 at A[-3] and 16 at B[4, 4].
    let greatest = all.constant_value().expect("there are points");
    assert!(greatest >= rational(21), "{upper}");
    let maps = union("{ S[k] -> A[i] : 0 <= i <= k <= 6; S[k] -> B[k, j] : 0 <= j <= 1 }");
    let own = bounds("{ A[i] -> max(i); B[i, j] -> max(3 - i, j) : i <= 3 }");
    let after = own.apply(&maps, &budget()).expect("finite");
    for k in -1..9_i64 {
        let of_a = if k <= 6 { (0..=k).max() } else { None };
        let of_b = (k <= 3).then(|| (3 - k).max(1));
        let [s] = after.bounds() else { panic!("{after}") };
        assert_eq!(s.evaluate(&[k]), of_a.max(of_b).map(rational), "S[{k}] of {after}");
    }
    let same = |a: &UnionPwQPolynomialFold, b: &str| {
        a.plain_is_equal(&bounds(b), &budget()).expect("decided")
    };
    assert!(same(
        &own,
        "{ B[i, j] -> max(j, 3 - i) : i < 4; A[i] -> max(i); C[] -> max(2) : 1 = 0 }"
    ));
    assert!(same(&bounds("{ A[i] -> max(i - 2 * floor((i)/2)) : i = 5 }"), "{ A[5] -> max(1) }"));
    assert!(!same(&own, "{ B[i, j] -> max(j, 3 - i) : i < 5; A[i] -> max(i) }"));
    assert!(!same(&own, "{ B[i, j] -> max(j, 3 - i) : i < 4; A[i] -> max(i, 2) }"));
    assert!(!same(&own.scale(&rational(-1)), &own.to_string()));
    let sum = own.add(&functions("{ A[i] -> 10 }"), &budget()).expect("sums");
    assert_eq!(sum, bounds("{ A[i] -> max(i + 10); B[i, j] -> max(3 - i, j) : i <= 3 }"));
    let less = own.fold(&bounds("{ B[i, j] -> max(2) : i > 3 }"), &budget()).expect("one side");
    let everywhere = union("{ A[i]; B[i, j] }");
    assert!(less.support().expect("sets").is_equal(&everywhere, &budget()).expect("decided"));
    assert!(own.fold(&bounds("{ min(2) }"), &budget()).is_err());
}
