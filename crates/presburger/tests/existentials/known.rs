//! Sets whose quantifiers were once too much.

use std::collections::BTreeSet;

use tangram_presburger::formula::{Comparison, Expr, Formula};
use tangram_presburger::{Budget, Relation, Space, Tuple};

fn read(text: &str, steps: u64) -> Relation {
    Relation::parse(text, &Budget::steps(steps)).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The inner variable alone takes a screen of disjuncts; without the outer one, nothing is left.
#[test]
fn quantifiers_inside_others_go_together() {
    for factor in [13, 100] {
        let set = read(
            &format!(
                "{{ [a] : 0 <= a <= 6 and exists e1 : exists e2 : \
                 ((floor((3e2 - a)/5) + a + e2) mod 7) != 2a + {factor}e1 + 7e2 }}"
            ),
            2_000,
        );
        assert_eq!(set.to_string(), "{ [a] : 0 <= a <= 6 }");
    }
}

/// The value of a division that nothing else uses is no condition.
#[test]
fn divisions_of_what_goes_are_dropped_with_it() {
    let set = read(
        "{ [a] : 0 <= a <= 6 and exists e1, e2 : \
         ((floor((3e2 - a)/5) + a + e2) mod 7) != 2a + 13e1 + 7e2 }",
        2_000,
    );
    assert_eq!(set.to_string(), "{ [a] : 0 <= a <= 6 }");
}

/// The same by typed formulas.
#[test]
fn quantified_formulas_inside_others_go_together() {
    let name = Expr::name;
    let sum = name("a").times(2).plus(&name("e").times(13)).plus(&name("f").times(7));
    let inner = name("f").times(3).plus(&name("a")).floor_div(5).plus(&name("f"));
    let differs = inner.compared(Comparison::Differs, sum);
    let within = [
        name("a").compared(Comparison::AtLeast, Expr::constant(0)),
        name("a").compared(Comparison::AtMost, Expr::constant(6)),
        Formula::Exists(
            vec!["e".into()],
            Box::new(Formula::all([
                Formula::Exists(vec!["f".into()], Box::new(differs)),
                // Bound names that have ended mean nothing any more.
                Formula::Exists(
                    vec!["f".into()],
                    Box::new(name("f").times(2).compared(Comparison::Equal, name("e"))),
                ),
            ])),
        ),
    ];
    let space = Space::set(Vec::new(), Tuple::new("", ["a"]));
    let set = Relation::such_that(space.clone(), &Formula::all(within), &Budget::steps(2_000));
    assert_eq!(set.expect("few steps").to_string(), "{ [a] : 0 <= a <= 6 }");
    let outside = Formula::all([
        Formula::Exists(vec!["f".into()], Box::new(Formula::always())),
        name("f").compared(Comparison::Equal, Expr::constant(0)),
    ]);
    assert!(Relation::such_that(space, &outside, &Budget::steps(2_000)).is_err());
}

/// Sums of three numbers with a bound each: conjunctions are few and use few divisions.
#[test]
fn sums_with_factors_take_few_divisions() {
    let set = read(
        "[n] -> { [x] : exists a, b, c : 0 <= a, b, c <= n and x = 7a + 11b + 13c }",
        2_000_000,
    );
    let parts = set.conjunctions();
    assert!(parts.len() <= 20, "{} conjunctions", parts.len());
    let most = parts.iter().map(|part| part.divisions.len()).max();
    assert!(most <= Some(3), "{most:?} divisions");
    for n in 0..12_i64 {
        let values = || 0..=n;
        let sums: BTreeSet<i64> = values()
            .flat_map(|a| {
                values().flat_map(move |b| values().map(move |c| 7 * a + 11 * b + 13 * c))
            })
            .collect();
        for x in -5..=31 * n + 5 {
            assert_eq!(set.contains(&[n, x]), Ok(sums.contains(&x)), "{n} {x}");
        }
    }
}

/// Parametric integer programming on the whole ends where what elimination leaves is too much.
#[test]
fn sums_that_are_rounded_have_their_points() {
    let set = read(
        "[n] -> { [x, y] : exists a, b, c : 0 <= a <= 2 and 0 <= b, c <= n \
         and x = floor((11a + 12b + 5c - 6)/4) and y = 13c - 7a - 9b - 4 }",
        3_000_000,
    );
    for n in -1..4_i64 {
        let inputs =
            (0..=2).flat_map(|a| (0..=n).flat_map(move |b| (0..=n).map(move |c| (a, b, c))));
        let image: BTreeSet<[i64; 2]> = inputs
            .map(|(a, b, c): (i64, i64, i64)| {
                [(11 * a + 12 * b + 5 * c - 6).div_euclid(4), 13 * c - 7 * a - 9 * b - 4]
            })
            .collect();
        for (x, y) in (-3..22).flat_map(|x| (-50..40).map(move |y| (x, y))) {
            assert_eq!(set.contains(&[n, x, y]), Ok(image.contains(&[x, y])), "{n} {x} {y}");
        }
    }
}

/// Disjuncts with divisions that overlap are too much to take apart; their points are few.
#[test]
fn few_points_are_counted_where_disjuncts_overlap() {
    for end in [8_i64, 24, 64] {
        let map = read(
            &format!(
                "{{ [a, b, c] -> [w, x, y] : 0 <= a, b, c < {end} and w = floor((a + 3b + c)/7) \
                 and x = (c + 5b) mod 11 and y = floor((a + b)/5) }}"
            ),
            10_000,
        );
        let values = || 0..end;
        let image: BTreeSet<[i64; 3]> = values()
            .flat_map(|a| values().flat_map(move |b| values().map(move |c| (a, b, c))))
            .map(|(a, b, c)| [(a + 3 * b + c) / 7, (c + 5 * b) % 11, (a + b) / 5])
            .collect();
        let budget = Budget::steps(8_000_000);
        let range = map.range(&budget).expect("an image");
        let count = range.card(&budget).expect("a count").constant_value().expect("a number");
        assert_eq!(count.to_string(), image.len().to_string());
    }
}

/// Zeros and ones in nine dimensions: few points, and many corners.
#[test]
fn few_points_are_counted_where_there_are_many_corners() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
    let triples: Vec<[usize; 3]> = (0..9).map(|at| [at, (at + 1) % 9, (at + 4) % 9]).collect();
    let bounds: Vec<String> =
        triples.iter().map(|of| of.map(|at| names[at]).join(" + ") + " <= 2").collect();
    let all = names.join(", ");
    let set =
        read(&format!("{{ [{all}] : 0 <= {all} <= 1 and {} }}", bounds.join(" and ")), 10_000);
    let whole = |bits: &u32| triples.iter().all(|of| of.iter().any(|at| bits >> at & 1 == 0));
    let expected = (0..1_u32 << 9).filter(whole).count();
    let count = set.card(&Budget::steps(500_000)).expect("a count");
    assert_eq!(count.constant_value().expect("a number").to_string(), expected.to_string());
}
