//! Random sequences of operations against sets of points, and random texts for the parser.

use std::collections::BTreeSet;

use tangram_presburger::{Budget, Relation, Union};

/// All points of a box, as bits of one number would be: small enough to compare in full.
type Points = BTreeSet<Vec<i128>>;

const SIDE: i128 = 5;

struct Source(u64);

impl Source {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn number(&mut self, size: i128) -> i128 {
        self.below(2 * size as usize + 1) as i128 - size
    }
}

fn limit() -> Budget {
    Budget::steps(20_000_000)
}

fn boxed() -> impl Iterator<Item = Vec<i128>> {
    (-SIDE..=SIDE).flat_map(|i| (-SIDE..=SIDE).map(move |j| vec![i, j]))
}

/// A random set in the box, as a text and as its points.
fn leaf(source: &mut Source) -> (Relation, Points) {
    let [a, b, c, d] = [4, 4, 6, 3].map(|size| source.number(size));
    let (m, r) = (source.below(4) as i128 + 1, source.below(3) as i128);
    let (fact, holds): (String, Box<dyn Fn(i128, i128) -> bool>) = match source.below(4) {
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
fn step(
    source: &mut Source,
    x: &(Relation, Points),
    y: &(Relation, Points),
) -> (&'static str, Relation, Points) {
    let limit = &limit();
    let ((a, p), (b, q)) = (x, y);
    let (name, set) = match source.below(11) {
        0 => return ("union", a.union(b).expect("one space"), p | q),
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
    (name, set.unwrap_or_else(|error| panic!("{name} of {a} and {b}: {error}")), points)
}

fn sequences(seed: u64, count: usize) {
    let mut source = Source(seed);
    let (mut steps, mut full) = (0, 0);
    for _ in 0..count {
        let mut sets = [leaf(&mut source), leaf(&mut source), leaf(&mut source)];
        for _ in 0..8 {
            let (i, j, k) = (source.below(3), source.below(3), source.below(3));
            let (name, set, points) = step(&mut source, &sets[i], &sets[j]);
            let found: Points = set.points(&limit()).expect("bounded").into_iter().collect();
            assert_eq!(found, points, "{name} of {} and {} gave {set}", sets[i].0, sets[j].0);
            steps += 1;
            full += usize::from(!points.is_empty());
            sets[k] = (set, points);
        }
    }
    println!("{steps} steps, {full} of them with a point");
}

const CORPUS: [&str; 8] = [
    "[n, m] -> { A[i, j] -> B[i + 1, floor(j/2)] : 0 <= i < n and exists (k: 3k = i + m) }",
    "{ [[i] -> [j]] -> [k] : i, j << k, 3 or not (i mod 4 = 1) }",
    "{ [x = 2:5, :7, 3:] ; B[] : false }",
    "[n] -> { [min(n, 3)] : forall k: k >= n implies k >= 3 }",
    "{ [i] -> [(i > 0 ? i : -i)] : i != 0 & i <= 2^3 | i % 2 = 0 }",
    "{ [i] : exists (e0 = [i/4], e1 = floor((i + e0)/3): 4e0 + e1 = i) }",
    "{ [a] -> [a - 1 : a > 0; a : a <= 0] }",
    "[N = 2, M] -> { S[i = [(M + N)/4], *] : ((i + 1) * 2) > 8 && i >= 0 }",
];

/// Changes a text in a few places: characters, tokens of other texts, repetitions.
fn damaged(source: &mut Source) -> String {
    let mut text: Vec<char> = CORPUS[source.below(CORPUS.len())].chars().collect();
    for _ in 0..=source.below(4) {
        let at = source.below(text.len().max(1));
        let signs: Vec<char> = "[]{}()<>=:;,+-*/%&|!?^.0123456789inA\u{e9} \"'".chars().collect();
        match source.below(5) {
            0 if at < text.len() => drop(text.remove(at)),
            1 => text.insert(at, signs[source.below(signs.len())]),
            2 if at < text.len() => text[at] = signs[source.below(signs.len())],
            3 => {
                let other: Vec<char> = CORPUS[source.below(CORPUS.len())].chars().collect();
                let from = source.below(other.len());
                let to = (from + source.below(12)).min(other.len());
                text.splice(at..at, other[from..to].iter().copied());
            }
            _ => {
                let to = (at + source.below(9)).min(text.len());
                let copy: Vec<char> = text[at.min(to)..to].to_vec();
                text.splice(to..to, copy);
            }
        }
    }
    text.into_iter().collect()
}

fn texts(seed: u64, count: usize) {
    let mut source = Source(seed);
    let mut read = 0;
    for _ in 0..count {
        let text = damaged(&mut source);
        let limit = Budget::steps(200_000);
        let Ok(value) = Union::parse(&text, &limit) else { continue };
        let printed = value.to_string();
        let Ok(back) = Union::parse(&printed, &limit) else {
            assert!(limit.used() > 200_000, "{text} is printed {printed}, which is not read");
            continue;
        };
        read += 1;
        // A set that takes too long to compare is not compared.
        let same = back.is_equal(&value, &Budget::steps(500_000)).unwrap_or(true);
        assert!(same, "{text} is printed {printed}, which is another set");
    }
    println!("{read} of {count} damaged texts were read");
    assert!(read > count / 50, "hardly any text is read");
}

#[test]
fn sequences_keep_to_the_points() {
    sequences(1, 40);
}

#[test]
fn damaged_texts_are_read_or_refused() {
    texts(1, 1500);
}

#[test]
#[ignore = "minutes of random sequences and texts"]
fn sequences_and_texts_at_length() {
    for seed in 1000..1060 {
        sequences(seed, 100);
        texts(seed, 4000);
    }
}
