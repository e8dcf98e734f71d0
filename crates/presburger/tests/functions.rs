//! Quasi-affine functions against their values on a grid, and against the relations they are.

use tangram_presburger::count::Rational;
use tangram_presburger::{Aff, Budget, Error, MultiAff, MultiPwAff, PwAff, PwMultiAff};
use tangram_presburger::{Relation, Tuple, Union, UnionPwMultiAff};

fn limit() -> Budget {
    Budget::steps(20_000_000)
}

fn pw(text: &str) -> PwAff {
    PwAff::parse(text, &limit()).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn set(text: &str) -> Relation {
    Relation::parse(text, &limit()).unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// Evaluates at `[n, i]`, as a fraction.
fn value(f: &PwAff, n: i128, i: i128) -> Option<Rational> {
    f.eval(&[n, i]).expect("two coordinates")
}

const F: &str = "[n] -> { [i] -> [(i + n)] : i >= 0; [i] -> [floor(i/3) - 2n] : i < -2 }";
const G: &str = "[n] -> { [i] -> [(2i)/3] : i <= 4; [i] -> [(i mod 4)] : i > 5 }";

/// Compares `h` with what `f` makes of the values of F and G where both have some.
fn check(h: &PwAff, f: impl Fn(Rational, Rational) -> Rational) {
    let (a, b) = (pw(F), pw(G));
    for (n, i) in (-3..4).flat_map(|n| (-9..10).map(move |i| (n, i))) {
        let want = value(&a, n, i).zip(value(&b, n, i)).map(|(x, y)| f(x, y));
        assert_eq!(value(h, n, i), want, "{h} at n = {n}, i = {i}");
        let read: PwAff = h.to_string().parse().expect("printed functions are read");
        assert_eq!(value(&read, n, i), want, "{read}");
    }
}

#[test]
fn arithmetic_is_that_of_the_values() -> Result<(), Error> {
    let (a, b, limit) = (pw(F), pw(G), limit());
    check(&a.add(&b, &limit)?, |x, y| x.add(&y));
    check(&a.sub(&b, &limit)?, |x, y| x.sub(&y));
    check(&a.min(&b, &limit)?, |x, y| x.min(y));
    check(&a.max(&b, &limit)?, |x, y| x.max(y));
    check(&a.add(&b, &limit)?.neg()?, |x, y| x.add(&y).neg());
    check(&a.add(&b, &limit)?.floor()?, |x, y| x.add(&y).floor().into());
    check(&a.add(&b, &limit)?.ceil()?, |x, y| Rational::from(x.add(&y).neg().floor()).neg());
    let tenths = a.add(&b, &limit)?.scale(3, -10)?;
    check(&tenths, |x, y| x.add(&y).mul(&fraction(-3, 10)));
    let rest = a.add(&b, &limit)?.modulo(5)?;
    check(&rest, |x, y| {
        let sum = x.add(&y);
        sum.sub(&Rational::from(sum.mul(&fraction(1, 5)).floor()).mul(&Rational::from(5)))
    });
    Ok(())
}

fn fraction(num: i64, den: i64) -> Rational {
    Rational::new(num.into(), den.into()).expect("no zero below")
}

#[test]
fn comparisons_hold_where_the_values_compare() -> Result<(), Error> {
    let (a, b, limit) = (pw(F), pw(G), limit());
    type Holds = fn(&Rational, &Rational) -> bool;
    let cases: [(Relation, Holds); 6] = [
        (a.le_set(&b, &limit)?, |x, y| x <= y),
        (a.lt_set(&b, &limit)?, |x, y| x < y),
        (a.ge_set(&b, &limit)?, |x, y| x >= y),
        (a.gt_set(&b, &limit)?, |x, y| x > y),
        (a.eq_set(&b, &limit)?, |x, y| x == y),
        (a.ne_set(&b, &limit)?, |x, y| x != y),
    ];
    for (index, (set, holds)) in cases.iter().enumerate() {
        for (n, i) in (-3..4).flat_map(|n| (-9..10).map(move |i| (n, i))) {
            let want = value(&a, n, i).zip(value(&b, n, i)).is_some_and(|(x, y)| holds(&x, &y));
            assert_eq!(set.contains(&[n, i])?, want, "case {index} at n = {n}, i = {i}");
        }
    }
    Ok(())
}

#[test]
fn unions_and_choices_take_the_value_of_either() -> Result<(), Error> {
    let (a, b, limit) = (pw(F), pw(G), limit());
    let (add, least) = (a.union_add(&b, &limit)?, a.union_min(&b, &limit)?);
    let chosen = a.cond(&b, &a.neg()?, &limit)?;
    for (n, i) in (-3..4).flat_map(|n| (-9..10).map(move |i| (n, i))) {
        let (x, y) = (value(&a, n, i), value(&b, n, i));
        let both = x.clone().zip(y.clone());
        let either = x.clone().or(y.clone());
        assert_eq!(value(&add, n, i), both.clone().map(|(x, y)| x.add(&y)).or(either.clone()));
        assert_eq!(value(&least, n, i), both.map(|(x, y)| x.min(y)).or(either));
        let want = x.and_then(|x| if x.is_zero() { Some(x.neg()) } else { y });
        assert_eq!(value(&chosen, n, i), want, "n = {n}, i = {i}");
    }
    Ok(())
}

#[test]
fn a_pullback_is_a_value_of_a_value() -> Result<(), Error> {
    let inner: PwMultiAff =
        "[n] -> { [j] -> [2j - n] : j > 0; [j] -> [(j)/2] : j <= 0 }".parse()?;
    let (f, limit) = (pw(F), limit());
    let composed = f.pullback(&inner, &limit)?;
    for (n, j) in (-3..4).flat_map(|n| (-9..10).map(move |j| (n, j))) {
        let i = match j {
            1.. => Some(2 * j - n),
            // A fraction is no point of the domain.
            _ => (j % 2 == 0).then_some(j / 2),
        };
        let want = i.and_then(|i| value(&f, n, i));
        assert_eq!(value(&composed, n, j), want, "n = {n}, j = {j}");
    }
    Ok(())
}

#[test]
fn overlapping_pieces_must_agree() {
    let apart = PwAff::parse("{ [i] -> [1] : i > 0; [i] -> [2] : i < 3 }", &limit());
    assert_eq!(apart.unwrap_err(), Error::NotSingleValued);
    let alike = pw("{ [i] -> [i] : i >= 0; [i] -> [-i] : i <= 0 }");
    assert_eq!(alike.eval(&[0]).unwrap(), Some(0.into()));
}

#[test]
fn extrema_of_sets_are_functions_of_their_parameters() -> Result<(), Error> {
    let s = set("[n] -> { [i, j] : 0 <= i < n and 2i <= 3j <= n + 7 and i + j <= 20 }");
    let (low, high) = (s.dim_min(1, &limit())?, s.dim_max(0, &limit())?);
    for n in -3..25 {
        let here = s.intersect_params(&set(&format!("[n] -> {{ : n = {n} }}")), &limit())?;
        let points = here.points(&limit())?;
        let of = |f: &PwAff| f.eval(&[n]).map(|v| v.and_then(|v| v.to_integer()));
        assert_eq!(of(&low)?, points.iter().map(|p| p[2].clone()).min(), "n = {n}");
        assert_eq!(of(&high)?, points.iter().map(|p| p[1].clone()).max(), "n = {n}");
    }
    // What has no bound has no value.
    assert!(set("{ [i] : i >= 0 }").dim_max(0, &limit())?.domain().is_empty(&limit())?);
    assert!(set("{ [i] : i >= 0 }").dim_max(1, &limit()).is_err());
    Ok(())
}

#[test]
fn single_valued_relations_are_functions() -> Result<(), Error> {
    for text in [
        "[n] -> { S[i, j] -> A[i + j, n - 1] : 0 <= i < n; S[i, j] -> A[0, i] : i < 0 }",
        "{ [i] -> [a, b] : 2a <= i <= 2a + 1 and b = i mod 2 }",
        "{ [i] -> [j] : 3j = i }",
        "{ [i] -> [j] : i = 2j or i = 2j + 1 }",
        "{ [i, k] -> [a, b] : a + b = i and a - b = k }",
    ] {
        let map = set(text);
        let function = map.to_pw_multi_aff(&limit())?;
        assert!(function.to_relation()?.is_equal(&map, &limit())?, "{text}: {function}");
        let read: PwMultiAff = function.to_string().parse()?;
        assert!(read.is_equal(&function, &limit())?, "{function}");
    }
    let two = set("{ [i] -> [j] : i <= j <= i + 1 }").to_pw_multi_aff(&limit());
    assert_eq!(two.unwrap_err(), Error::NotSingleValued);
    let total = set("{ A[i] -> B[i + 1, 2i] }").to_multi_aff(&limit())?;
    assert_eq!(total.to_string(), "{ A[i] -> B[(i + 1), (2i)] }");
    assert!(set("{ A[i] -> B[i] : i > 0 }").to_multi_aff(&limit()).is_err());
    Ok(())
}

#[test]
fn expressions_have_names_divisions_and_errors() -> Result<(), Error> {
    let f: Aff = "[n] -> { S[i, j] -> [(n + 3i)/2 - floor(j/3)] }".parse()?;
    assert_eq!(f.eval(&[1, 2, 7])?, fraction(3, 2));
    assert_eq!(f.to_string(), "[n] -> { S[i, j] -> [((n + 3i - 2*floor(j/3))/2)] }");
    assert_eq!(f.eval(&[1]).unwrap_err(), Error::Row { expected: 3, found: 1 });
    let domain = f.space().input.clone().expect("an input");
    let space = tangram_presburger::Space::set(vec!["n".into()], domain);
    let i = Aff::coordinate(&space, 1)?;
    let three = Aff::constant(&space, 3, 1)?;
    assert_eq!(
        i.mul(&three)?.div(&Aff::constant(&space, 2, 1)?)?.eval(&[0, 5, 0])?,
        fraction(15, 2)
    );
    assert_eq!(f.mul(&i).unwrap_err(), Error::NotAffine);
    assert_eq!(i.div(&i).unwrap_err(), Error::NotAffine);
    let other: Aff = "{ T[i] -> [i] }".parse()?;
    assert!(matches!(f.add(&other), Err(Error::Space { .. })));
    let both = MultiAff::of(&space, Tuple::new("P", ["a", "b"]), &[i.clone(), three])?;
    assert_eq!(both.to_string(), "[n] -> { S[i, j] -> P[(i), (3)] }");
    assert_eq!(both.eval(&[0, 5, 6])?, vec![5.into(), 3.into()]);
    let swap: MultiAff = "{ S[i, j] -> S[j, i + 1] }".parse()?;
    let twice = swap.pullback(&swap)?;
    assert_eq!(twice.to_string(), "{ S[i, j] -> S[(i + 1), (j + 1)] }");
    Ok(())
}

#[test]
fn tuples_of_functions_keep_their_own_pieces() -> Result<(), Error> {
    let text = "{ S[i] -> A[(i : i >= 0; 0 : i < 0), (2i : i < 5)] }";
    let f: MultiPwAff = text.parse()?;
    assert!(f.domain(&limit())?.is_equal(&set("{ S[i] : i < 5 }"), &limit())?);
    let joint = f.to_pw_multi_aff(&limit())?;
    assert_eq!(joint.eval(&[3])?, Some(vec![3.into(), 6.into()]));
    assert_eq!(joint.eval(&[-3])?, Some(vec![0.into(), (-6).into()]));
    assert_eq!(joint.eval(&[5])?, None);
    let back = MultiPwAff::from_pw_multi_aff(&joint)?;
    assert!(!back.is_equal(&f, &limit())?, "the second member lost nothing");
    let read: MultiPwAff = f.to_string().parse()?;
    assert!(read.is_equal(&f, &limit())?, "{read}");
    let low = set("[n] -> { [i, j] : 0 <= i < n and i <= j <= 7 }").max_multi_pw_aff(&limit())?;
    assert_eq!(low.to_pw_multi_aff(&limit())?.eval(&[4])?, Some(vec![3.into(), 7.into()]));
    Ok(())
}

#[test]
fn unions_of_functions_work_space_by_space() -> Result<(), Error> {
    let f: UnionPwMultiAff = "{ A[i] -> B[i + 1] : i > 0; B[j] -> C[2j, j] }".parse()?;
    let graph = f.to_union()?;
    let want: Union = "{ A[i] -> B[i + 1] : i > 0; B[j] -> C[2j, j] }".parse()?;
    assert!(graph.is_equal(&want, &limit())?);
    let composed = f.pullback(&f, &limit())?.to_union()?;
    let want: Union = "{ A[i] -> C[2i + 2, i + 1] : i > 0 }".parse()?;
    assert!(composed.is_equal(&want, &limit())?, "{composed}");
    let read = UnionPwMultiAff::parse(&f.to_string(), &limit())?;
    assert!(read.is_equal(&f, &limit())?);
    assert!(UnionPwMultiAff::from_union(&graph, &limit())?.is_equal(&f, &limit())?);
    Ok(())
}

#[test]
fn preimages_are_compositions() -> Result<(), Error> {
    let f: PwMultiAff = "{ S[i] -> A[2i, i - 1] : i >= 0; S[i] -> A[i, 0] : i < 0 }".parse()?;
    let s = set("{ A[a, b] : a <= 2b + 9 and b >= -4 and a mod 2 = 0 }");
    let back = s.preimage(&f, &limit())?;
    let want = s.apply_range(&f.to_relation()?.inverse()?, &limit())?;
    assert!(back.is_equal(&want, &limit())?, "{back} is not {want}");
    Ok(())
}

#[test]
fn a_value_that_is_never_an_integer_is_no_argument() -> Result<(), Error> {
    let f = pw("{ [i] -> [(2i + 1)/2] : i < 0; [i] -> [i/2] : i >= 0 }");
    let composed = pw("{ [i] -> [i + 5] }").pullback(&f.into(), &limit())?;
    assert!(composed.is_equal(&pw("{ [i] -> [i/2 + 5] : i >= 0 and i mod 2 = 0 }"), &limit())?);
    Ok(())
}

#[test]
fn what_is_not_a_number_stays_so_and_satisfies_nothing() -> Result<(), Error> {
    let i: Aff = "{ [i] -> [i] }".parse()?;
    let zero: Aff = "{ [i] -> [0] }".parse()?;
    let nan = i.div(&zero)?;
    assert_eq!(nan.to_string(), "{ [i] -> [(NaN)] }");
    assert!(
        nan.to_string().parse::<Aff>()?.is_nan()
            && "{ [i] -> [2nan + i] }".parse::<Aff>()?.is_nan()
    );
    assert!(Aff::nan(set("{ [i] }").space()).is_nan() && !i.is_nan());
    let shift: MultiAff = "{ [i] -> [i + 1] }".parse()?;
    let into: MultiAff = nan.clone().into();
    for value in [
        nan.scale(0, 3)?,
        nan.neg()?,
        nan.floor()?,
        nan.ceil()?,
        nan.modulo(3)?,
        nan.sub(&nan)?,
        zero.mul(&nan)?,
        nan.div(&i)?,
        zero.div(&zero)?,
        nan.pullback(&shift)?,
        i.pullback(&into)?,
    ] {
        assert!(value.is_nan(), "{value}");
        assert_eq!(value.eval(&[3]), Err(Error::NotANumber));
    }
    assert!(!nan.is_plainly_equal(&nan));
    for compare in [Aff::le_set, Aff::lt_set, Aff::ge_set, Aff::gt_set, Aff::eq_set, Aff::ne_set] {
        assert!(compare(&nan, &i, &limit())?.is_empty(&limit())?);
        assert!(compare(&i, &nan, &limit())?.is_empty(&limit())?);
    }
    let part = pw("{ [i] -> [NaN] : i < 0; [i] -> [i - 2] : i >= 0 }");
    assert!(part.involves_nan() && !part.is_equal(&part, &limit())?);
    assert_eq!((part.eval(&[-1]), part.eval(&[5])?), (Err(Error::NotANumber), Some(3.into())));
    assert!(part.to_relation()?.is_equal(&set("{ [i] -> [i - 2] : i >= 0 }"), &limit())?);
    let (one, two) = (pw("{ [i] -> [1] }"), pw("{ [i] -> [2] }"));
    for value in [part.min(&one, &limit())?, part.max(&one, &limit())?, part.add(&one, &limit())?] {
        assert_eq!(value.eval(&[-7]), Err(Error::NotANumber));
        assert!(value.eval(&[7])?.is_some());
    }
    let chosen = part.cond(&one, &two, &limit())?;
    assert_eq!(chosen.eval(&[-1]), Err(Error::NotANumber));
    assert_eq!((chosen.eval(&[2])?, chosen.eval(&[4])?), (Some(2.into()), Some(1.into())));
    let composed = one.pullback(&part.clone().into(), &limit())?;
    assert_eq!((composed.eval(&[-1])?, composed.eval(&[0])?), (None, Some(1.into())));
    for text in ["min(i, NaN)", "-max(NaN, 3, i)", "min(i, 3) + NaN", "(i > 0 ? NaN : i) + NaN"] {
        let read = pw(&format!("{{ [i] -> [{text}] }}"));
        assert_eq!(read.eval(&[1]), Err(Error::NotANumber), "{text}");
    }
    assert!(set("{ [i] : min(i, NaN) <= 3 or NaN >= i or i = NaN }").is_empty(&limit())?);
    let clash = PwAff::parse("{ [i] -> [NaN] : i < 1; [i] -> [i] : i > -1 }", &limit());
    assert_eq!(clash.unwrap_err(), Error::NotSingleValued);
    Ok(())
}
