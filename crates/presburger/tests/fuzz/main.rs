//! Random sequences of operations against sets of points, and random texts for the parser.

mod sequences;

use sequences::{Source, sequence};
use tangram_presburger::{Budget, Union};

fn sequences(seed: u64, count: usize) {
    let mut source = Source::new(seed);
    let (mut done, mut full) = (0, 0);
    for _ in 0..count {
        let (steps, inhabited) = sequence(&mut source, 8);
        (done, full) = (done + steps, full + inhabited);
    }
    println!("{done} of {} steps, {full} of them with a point", 8 * count);
    assert!(done > 7 * count, "most sequences end at the budget");
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
    let mut source = Source::new(seed);
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
