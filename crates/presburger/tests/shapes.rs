//! Boxes, strides, lifting, and functions after relations, against the points themselves.

use tangram_presburger::count::{PwQPolynomial, Rational};
use tangram_presburger::{Budget, Integer, Relation, Space, Union};

fn relation(text: &str) -> Relation {
    Union::parse(text, &Budget::unlimited())
        .and_then(|union| union.single().cloned())
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

const SETS: [&str; 8] = [
    "{ [i, j] : 0 <= i <= 7 and i <= 2j <= 9 }",
    "{ [i, j] : i mod 3 = 1 and 0 <= i <= 20 and j = 2i }",
    "{ [i, j] : i mod 4 = 1 and 0 <= i, j <= 9 and (i + j) mod 2 = 0 }",
    "{ [i, j] : i mod 6 = 2 and 0 <= i, j <= 12; [i, j] : i mod 4 = 0 and 3 <= i <= 17 and j = 5 }",
    "{ [i, j] : exists k : i = 5k + 2 and j = 3k and -4 <= k <= 4 }",
    "{ [i, j] : (2i) mod 6 = 4 and (3j) mod 5 = 1 and -9 <= i, j <= 9 }",
    "{ [i, j] : i = 3 and j = 4 }",
    "{ [i, j] : i = 3 and j = 4; [i, j] : i = 9 and j = 4 }",
];

#[test]
fn boxes_are_those_of_the_points() {
    let budget = Budget::unlimited();
    for text in SETS {
        let set = relation(text);
        let points = set.points(&budget).expect("bounded");
        let found = set.bounding_box(&budget).expect("computes").expect("has points");
        for (dim, (least, greatest)) in found.into_iter().enumerate() {
            assert_eq!(least, points.iter().map(|p| p[dim].clone()).min(), "{text}");
            assert_eq!(greatest, points.iter().map(|p| p[dim].clone()).max(), "{text}");
        }
    }
    let half = relation("[n] -> { [i, j] : i >= 3 and 0 <= j <= n <= 5 }");
    let found = half.bounding_box(&budget).expect("computes");
    assert_eq!(found, Some(vec![(Some(3.into()), None), (Some(0.into()), Some(5.into()))]));
    let nothing = relation("{ [i] : i > 0 and i < 0 }").bounding_box(&budget);
    assert_eq!(nothing, Ok(None));
}

#[test]
fn fixed_boxes_hold_all_outputs() {
    let budget = Budget::unlimited();
    // The elements that a tile of a stencil reads: from 4t - 1 on, six of them.
    let tile = relation("{ [t] -> [a] : 4t - 1 <= a <= 4t + 4 }");
    let found = tile.simple_fixed_box_hull(&budget).expect("computes").expect("has one");
    assert_eq!(found.size, [Integer::from(6)]);
    assert_eq!(found.offset.eval(&[5]), Ok(vec![Rational::from(19)]));
    // Bounds that depend on several inputs, with a factor.
    let maps = [
        "[n] -> { [i, j] -> [a, b] : i + j <= 2a <= i + j + 7 and n <= b <= n + 3 and 0 <= i, j <= 4 and n = 2 }",
        "{ [i] -> [a, b] : 3i <= a <= 3i + 2 and a <= b <= a + 1 and 0 <= i <= 5 }",
    ];
    for text in maps {
        let map = relation(text);
        let found = map.simple_fixed_box_hull(&budget).expect("computes").expect("has one");
        let inputs =
            map.space().params.len() + map.space().input.as_ref().map_or(0, |t| t.dims.len());
        for point in map.points(&budget).expect("bounded") {
            let corner = found.offset.eval(&point[..inputs]).expect("evaluates");
            for ((value, corner), size) in point[inputs..].iter().zip(corner).zip(&found.size) {
                let distance = Rational::from(value.clone()).sub(&corner);
                assert!(
                    distance >= Rational::ZERO && distance < Rational::from(size.clone()),
                    "{text}"
                );
            }
        }
    }
    let wide = relation("[n] -> { [i] -> [a] : i <= a <= i + n }");
    assert!(wide.simple_fixed_box_hull(&budget).expect("computes").is_none());
}

#[test]
fn strides_divide_all_distances() {
    let budget = Budget::unlimited();
    let expected = [[1, 1], [3, 6], [4, 2], [2, 1], [5, 3], [3, 5], [1, 1], [6, 1]];
    for (text, strides) in SETS.iter().zip(expected) {
        let set = relation(text);
        let points = set.points(&budget).expect("bounded");
        for (dim, stride) in set.lattice_tile(&budget).expect("computes").iter().enumerate() {
            let start = stride.offset.eval::<i64>(&[]).expect("constant");
            let start = start.to_integer().expect("whole");
            let on = points.iter().all(|p| p[dim].sub(&start).is_multiple_of(&stride.stride));
            assert!(on, "{text}: {dim}, {} from {start}", stride.stride);
            // What is found is what the text says; more than one value, or the stride is any.
            if points.iter().any(|p| p[dim] != points[0][dim]) {
                assert_eq!(stride.stride, Integer::from(strides[dim]), "{text}: {dim}");
            }
        }
    }
    let moved = relation("[n] -> { [i] -> [a] : (a - 2i - n) mod 7 = 3 }");
    let stride = moved.stride(0, &budget).expect("computes");
    assert_eq!(stride.stride, Integer::from(7));
    let start = stride.offset.eval(&[4, 5]).expect("evaluates").to_integer();
    assert_eq!(start.and_then(|v| v.to_i64()).map(|v| v.rem_euclid(7)), Some((2 * 5 + 4 + 3) % 7));
    assert!(moved.stride(1, &budget).is_err());
}

#[test]
fn lifted_points_are_the_points() {
    let budget = Budget::unlimited();
    for text in SETS {
        let set = relation(text);
        let lifted = set.lift(&budget).expect("lifts");
        assert!(lifted.conjunctions().iter().all(|part| part.divisions.is_empty()), "{text}");
        if lifted.space().output.nested.is_none() {
            assert!(lifted.is_equal(&set, &budget).expect("compares"), "{text}");
            continue;
        }
        let first = lifted.unwrap().and_then(|map| map.domain(&budget)).expect("has sides");
        assert!(first.is_equal(&set, &budget).expect("compares"), "{text}");
        // Divisions have one value for each point.
        assert_eq!(
            lifted.points(&budget).expect("bounded").len(),
            set.points(&budget).expect("bounded").len()
        );
    }
}

#[test]
fn sums_after_relations_are_those_of_the_outputs() {
    let budget = Budget::unlimited();
    let function = PwQPolynomial::parse("[n] -> { [a] -> n * a^2 + a }", &budget).expect("parses");
    let map = relation("[m] -> { [i, j] -> [a] : i <= 2a <= j + m and (a - i) mod 3 = 0 }");
    let sums = function.apply(&map, &budget).expect("sums");
    assert_eq!(sums.params(), ["n", "m"]);
    for (n, m) in [(0, 0), (2, 3), (-1, 5)] {
        for (i, j) in [(-4, 5), (0, 9), (3, 2), (1, 12)] {
            let outputs =
                (-20..=20_i64).filter(|a| i <= 2 * a && 2 * a <= j + m && (a - i) % 3 == 0);
            let expected: i64 = outputs.map(|a| n * a * a + a).sum();
            assert_eq!(
                sums.evaluate(&[n, m, i, j]),
                Ok(Rational::from(expected)),
                "{n} {m} {i} {j}"
            );
        }
    }
    let half = function.intersect_domain(&relation("{ [a] : 0 <= a and a mod 2 = 0 }"), &budget);
    let support = half.and_then(|half| half.support()).expect("has one");
    let expected = relation("[n] -> { [a] : 0 <= a and a mod 2 = 0 }");
    assert!(support.is_equal(&expected, &budget).expect("compares"));
    let set = Relation::universe(Space::set(Vec::new(), map.space().output.clone()));
    let three = PwQPolynomial::constant(&set, &Rational::from(3), &budget).expect("makes");
    assert_eq!(three.evaluate(&[17]), Ok(Rational::from(3)));
}

#[test]
fn distances_are_found_without_projections() {
    // To project five dimensions with remainders away took more than 100 million steps.
    let map = relation(
        "[n, m] -> { [i, j] -> [k] : -2 <= i <= 8 and -2 <= j <= 7 and -1 <= k <= 5
            and m - 2n - 3i - 2j + 2 >= 0 and (-n - 2m - 2i - 2j) mod 3 = 1
            and floor((m - 2n + 2i - j + 2k + 2)/3) <= n - m - j + 7;
          [i, j] -> [k] : -2 <= i <= 5 and -1 <= j <= m and 1 <= k <= 3
            and 3j + 2k + 4 >= m + 2i
            and floor((2m - n - i - j + 2k + 2)/3) <= m - n - i - j + 8 }",
    );
    let budget = Budget::steps(1_000_000);
    let found = map.simple_fixed_box_hull(&budget).expect("soon").expect("has one");
    let mut held = 0;
    for code in 0..8_i64.pow(5) {
        let at = |power: u32| code / 8_i64.pow(power) % 8 - 2;
        let point = [at(0), at(1), at(2), at(3), at(4)];
        if map.contains(&point).expect("all coordinates") {
            let corner = found.offset.eval(&point[..4]).expect("all arguments")[0].floor();
            let distance = Integer::from(point[4]).sub(&corner);
            assert!(distance >= Integer::ZERO && distance < found.size[0], "{point:?}");
            held += 1;
        }
    }
    assert!(held > 1_000, "{held}");
}
