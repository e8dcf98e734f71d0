//! Random sequences of operations on sets in a box, beside the same operations on their points.

use std::collections::BTreeSet;

use tangram_presburger::{Budget, Error, Integer, Relation};

/// All points of a box, as bits of one number would be: small enough to compare in full.
pub type Points = BTreeSet<Vec<i64>>;

const SIDE: i64 = 5;

/// A linear congruential generator, behind a list of choices made before.
pub struct Source {
    state: u64,
    /// What is chosen first, the last byte before all others.
    choices: Vec<u8>,
}

impl Source {
    pub fn new(state: u64) -> Source {
        Source { state, choices: Vec::new() }
    }

    /// Chooses by `bytes` until there are none left.
    #[allow(dead_code, reason = "for fuzzing")]
    pub fn choosing(bytes: &[u8]) -> Source {
        Source { state: 1, choices: bytes.iter().rev().copied().collect() }
    }

    pub fn below(&mut self, end: usize) -> usize {
        if let Some(choice) = self.choices.pop() {
            return usize::from(choice) % end;
        }
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) as usize % end
    }

    fn number(&mut self, size: i64) -> i64 {
        self.below(2 * size as usize + 1) as i64 - size
    }
}

fn limit() -> Budget {
    Budget::steps(10_000_000)
}

fn boxed() -> impl Iterator<Item = Vec<i64>> {
    (-SIDE..=SIDE).flat_map(|i| (-SIDE..=SIDE).map(move |j| vec![i, j]))
}

/// A random set in the box, as a text and as its points.
fn leaf(source: &mut Source) -> (Relation, Points) {
    let [a, b, c, d] = [4, 4, 6, 3].map(|size| source.number(size));
    let (m, r) = (source.below(4) as i64 + 1, source.below(3) as i64);
    let (fact, holds): (String, Box<dyn Fn(i64, i64) -> bool>) = match source.below(4) {
        0 => (format!("{a}*i + {b}*j + {c} >= 0"), Box::new(move |i, j| a * i + b * j + c >= 0)),
        1 => (
            format!("({a}*i + {b}*j) mod {m} = {r}"),
            Box::new(move |i, j| (a * i + b * j).rem_euclid(m) == r),
        ),
        2 => (
            format!("floor(({a}*i + {c})/{m}) <= {d}*j + 1"),
            Box::new(move |i, j| (a * i + c).div_euclid(m) <= d * j + 1),
        ),
        _ => (
            format!("exists k: 0 <= k <= 3 and {a}*i + {b}*k = j + {d}"),
            Box::new(move |i, j| (0..=3).any(|k| a * i + b * k == j + d)),
        ),
    };
    let text = format!("{{ [i, j] : -{SIDE} <= i, j <= {SIDE} and ({fact}) }}");
    let set = Relation::parse(&text, &limit()).unwrap_or_else(|e| panic!("{text}: {e}"));
    (set, boxed().filter(|p| holds(p[0], p[1])).collect())
}

/// Applies a random operation to both forms of two sets; returns its name too.
///
/// Nothing if the budget ends it: that is an answer, too.
fn step(
    source: &mut Source,
    x: &(Relation, Points),
    y: &(Relation, Points),
) -> Option<(&'static str, Relation, Points)> {
    let limit = &limit();
    let ((a, p), (b, q)) = (x, y);
    let (name, set) = match source.below(11) {
        0 => return Some(("union", a.union(b).expect("one space"), p | q)),
        1 => ("intersect", a.intersect(b, limit)),
        2 => ("subtract", a.subtract(b, limit)),
        3 => ("coalesce", a.coalesce(limit)),
        4 => ("make_disjoint", a.make_disjoint(limit)),
        5 => ("remove_redundancies", a.remove_redundancies(limit)),
        6 => ("gist", a.gist(b, limit).and_then(|gist| gist.intersect(b, limit))),
        7 => ("print", Relation::parse(&a.to_string(), limit)),
        8 => ("lexmin", a.lexmin(limit)),
        9 => (
            "swap",
            Relation::parse("{ [i, j] -> [j, i] }", limit)
                .and_then(|map| a.apply_range(&map, limit)),
        ),
        _ => (
            "column",
            Relation::parse("{ [i, j] -> [i, k] : 0 <= k <= 1 }", limit)
                .and_then(|map| a.apply_range(&map, limit)),
        ),
    };
    let points: Points = match name {
        "intersect" | "gist" => p & q,
        "subtract" => p - q,
        "lexmin" => p.first().cloned().into_iter().collect(),
        "swap" => p.iter().map(|v| vec![v[1], v[0]]).collect(),
        "column" => p.iter().flat_map(|v| [vec![v[0], 0], vec![v[0], 1]]).collect(),
        _ => p.clone(),
    };
    match set {
        Err(Error::Steps { .. }) => None,
        set => Some((
            name,
            set.unwrap_or_else(|error| panic!("{name} of {a} and {b}: {error}")),
            points,
        )),
    }
}

/// `length` operations on three random sets, each result compared point by point; ends where the
/// budget of one does. Returns how many were done, and how many results have a point.
///
/// # Panics
/// An operation fails, or gives another set than the points say.
pub fn sequence(source: &mut Source, length: usize) -> (usize, usize) {
    let mut sets = [leaf(source), leaf(source), leaf(source)];
    let mut full = 0;
    for done in 0..length {
        let (i, j, k) = (source.below(3), source.below(3), source.below(3));
        let Some((name, set, points)) = step(source, &sets[i], &sets[j]) else {
            return (done, full);
        };
        let found = match set.points(&limit()) {
            Err(Error::Steps { .. }) => return (done, full),
            found => found.expect("bounded"),
        };
        let small = |point: &Vec<Integer>| point.iter().filter_map(Integer::to_i64).collect();
        let found: Points = found.iter().map(small).collect();
        assert_eq!(found, points, "{name} of {} and {} gave {set}", sets[i].0, sets[j].0);
        full += usize::from(!points.is_empty());
        sets[k] = (set, points);
    }
    (length, full)
}
