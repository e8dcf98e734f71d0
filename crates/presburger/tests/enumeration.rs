//! Random formulas against enumeration of a small box, and the laws of sets.

use proptest::prelude::*;
use tangram_presburger::{Budget, Relation};

/// A formula over `i` and `j` that knows its text and its meaning.
#[derive(Debug, Clone)]
enum Formula {
    /// `a i + b j + c >= 0`
    AtLeast(i64, i64, i64),
    /// `(a i + b j + c) mod m = r`
    Mod(i64, i64, i64, i64, i64),
    /// `exists k: 0 <= k <= 6 and a i + b k + c <= 0 <= d j + e k + 2`
    Exists([i64; 5]),
    Not(Box<Self>),
    And(Box<Self>, Box<Self>),
    Or(Box<Self>, Box<Self>),
}

impl Formula {
    fn text(&self) -> String {
        match self {
            Self::AtLeast(a, b, c) => format!("{a}*i + {b}*j + {c} >= 0"),
            Self::Mod(a, b, c, m, r) => format!("({a}*i + {b}*j + {c}) mod {m} = {r}"),
            Self::Exists([a, b, c, d, e]) => {
                format!("(exists k: 0 <= k <= 6 and {a}*i + {b}*k + {c} <= 0 <= {d}*j + {e}*k + 2)")
            }
            Self::Not(inner) => format!("not ({})", inner.text()),
            Self::And(l, r) => format!("(({}) and ({}))", l.text(), r.text()),
            Self::Or(l, r) => format!("(({}) or ({}))", l.text(), r.text()),
        }
    }

    fn holds(&self, i: i64, j: i64) -> bool {
        match self {
            Self::AtLeast(a, b, c) => a * i + b * j + c >= 0,
            Self::Mod(a, b, c, m, r) => (a * i + b * j + c).rem_euclid(*m) == *r,
            Self::Exists([a, b, c, d, e]) => {
                (0..=6).any(|k| a * i + b * k + c <= 0 && 0 <= d * j + e * k + 2)
            }
            Self::Not(inner) => !inner.holds(i, j),
            Self::And(l, r) => l.holds(i, j) && r.holds(i, j),
            Self::Or(l, r) => l.holds(i, j) || r.holds(i, j),
        }
    }
}

fn formula() -> impl Strategy<Value = Formula> {
    let c = -4_i64..5;
    let leaf = prop_oneof![
        (c.clone(), c.clone(), c.clone()).prop_map(|(a, b, c)| Formula::AtLeast(a, b, c)),
        (c.clone(), c.clone(), c.clone(), 2_i64..5, 0_i64..3)
            .prop_map(|(a, b, c, m, r)| Formula::Mod(a, b, c, m, r)),
        proptest::array::uniform5(c).prop_map(Formula::Exists),
    ];
    leaf.prop_recursive(2, 4, 2, |inner| {
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            inner.prop_map(|f| Formula::Not(f.into())),
            pair.clone().prop_map(|(l, r)| Formula::And(l.into(), r.into())),
            pair.prop_map(|(l, r)| Formula::Or(l.into(), r.into())),
        ]
    })
}

const BOX: std::ops::RangeInclusive<i64> = -4..=4;

fn boxed(formula: &Formula) -> Relation {
    let text = format!("{{ [i, j] : -4 <= i, j <= 4 and ({}) }}", formula.text());
    Relation::parse(&text, &budget()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn as_map(formula: &Formula) -> Relation {
    let text = format!("{{ [i] -> [j] : -4 <= i, j <= 4 and ({}) }}", formula.text());
    Relation::parse(&text, &budget()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn points(f: impl Fn(i64, i64) -> bool) -> Vec<Vec<i64>> {
    let all = BOX.flat_map(|i| BOX.map(move |j| (i, j)));
    all.filter(|(i, j)| f(*i, *j)).map(|(i, j)| vec![i, j]).collect()
}

fn budget() -> Budget {
    Budget::steps(50_000_000)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 48,
        // The same inputs in every run.
        rng_seed: proptest::test_runner::RngSeed::Fixed(2),
        ..ProptestConfig::default()
    })]

    #[test]
    fn sets_hold_the_points_of_their_formula(a in formula(), b in formula()) {
        let limit = budget();
        let (x, y) = (boxed(&a), boxed(&b));
        let expected = points(|i, j| a.holds(i, j));
        prop_assert_eq!(&x.points(&limit).unwrap(), &expected);
        prop_assert_eq!(x.is_empty(&limit).unwrap(), expected.is_empty());
        for i in BOX {
            for j in BOX {
                prop_assert_eq!(x.contains(&[i, j]).unwrap(), a.holds(i, j));
            }
        }
        let minus = x.subtract(&y, &limit).unwrap();
        prop_assert_eq!(minus.points(&limit).unwrap(), points(|i, j| a.holds(i, j) && !b.holds(i, j)));
        let both = x.intersect(&y, &limit).unwrap();
        prop_assert_eq!(both.points(&limit).unwrap(), points(|i, j| a.holds(i, j) && b.holds(i, j)));
        let subset = points(|i, j| a.holds(i, j) && !b.holds(i, j)).is_empty();
        prop_assert_eq!(x.is_subset(&y, &limit).unwrap(), subset);
    }

    #[test]
    fn printed_sets_read_back_equal(a in formula()) {
        let limit = budget();
        let x = boxed(&a);
        let text = x.to_string();
        let back = Relation::parse(&text, &limit).map_err(|e| TestCaseError::fail(format!("{text}: {e}")))?;
        prop_assert!(back.is_equal(&x, &limit).unwrap(), "{text}");
    }

    #[test]
    fn relations_follow_their_pairs(a in formula(), b in formula()) {
        let limit = budget();
        let (r, s) = (as_map(&a), as_map(&b));
        let some = |f: &dyn Fn(i64) -> bool| BOX.filter(|i| f(*i)).map(|i| vec![i]).collect::<Vec<_>>();
        let domain = some(&|i| BOX.into_iter().any(|j| a.holds(i, j)));
        prop_assert_eq!(r.domain(&limit).unwrap().points(&limit).unwrap(), domain);
        let range = some(&|j| BOX.into_iter().any(|i| a.holds(i, j)));
        prop_assert_eq!(r.range(&limit).unwrap().points(&limit).unwrap(), range);
        let least = points(|i, j| a.holds(i, j) && !BOX.into_iter().any(|k| k < j && a.holds(i, k)));
        prop_assert_eq!(r.lexmin(&limit).unwrap().points(&limit).unwrap(), least);
        let greatest = points(|i, j| a.holds(i, j) && !BOX.into_iter().any(|k| k > j && a.holds(i, k)));
        prop_assert_eq!(r.lexmax(&limit).unwrap().points(&limit).unwrap(), greatest);
        let composed = points(|i, k| BOX.into_iter().any(|j| a.holds(i, j) && b.holds(j, k)));
        let step = r.apply_range(&s, &limit).unwrap();
        prop_assert_eq!(step.points(&limit).unwrap(), composed);
        let unique = BOX.into_iter().all(|i| BOX.filter(|j| a.holds(i, *j)).count() <= 1);
        prop_assert_eq!(r.is_single_valued(&limit).unwrap(), unique);
        let injective = BOX.into_iter().all(|j| BOX.filter(|i| a.holds(*i, j)).count() <= 1);
        prop_assert_eq!(r.is_injective(&limit).unwrap(), injective);
    }
}
