//! Blocks that follow each other and are equal, such as the layers of a transformer: drawn once.
//!
//! A block is a stretch of the items in their order. The next stretch of that length equals it if
//! the items have the same text pairwise, and each reads what is as far behind it, or the very same
//! place, as its partner does. What the first block reads from before itself the second may read
//! from the first: that is how a layer hangs on the one before it, and in each block something does.
//!
//! ```text
//! x  a b c  a b c  a b c  y      one block of 3 items at 1, three times
//! ```
//!
//! Blocks are found from left to right, of those that begin at an item the one that covers most.
//! Cost: for each item at most [`TRIES`] lengths, each no longer than [`LONGEST`], are compared.

use rustc_hash::FxHashMap;

/// The shortest block, and how many items the picture has to save.
const SHORTEST: usize = 4;
const SAVES: usize = 8;
const LONGEST: usize = 2000;
/// How many lengths are tried at each item.
const TRIES: usize = 12;

/// What the search looks at of an item.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Row {
    /// What is written in and under its box; the type alone of an input.
    pub(super) text: String,
    /// The items that it reads, in order.
    pub(super) reads: Vec<usize>,
    /// Whether it is an input.
    pub(super) input: bool,
}

/// A stretch of items that stands there several times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Repeat {
    pub(super) first: usize,
    pub(super) length: usize,
    pub(super) times: usize,
}

impl Repeat {
    /// The item of the first block that `item` equals, if it is in a later one.
    pub(super) fn partner(&self, item: usize) -> Option<usize> {
        let later = self.first + self.length..self.first + self.length * self.times;
        later.contains(&item).then(|| self.first + (item - self.first) % self.length)
    }
}

/// The blocks that are there several times, from left to right.
pub(super) fn repeats(rows: &[Row]) -> Vec<Repeat> {
    let next = next_alike(rows);
    let mut found = Vec::new();
    let mut at = 0;
    while at < rows.len() {
        match longest(rows, &next, at) {
            Some(repeat) => {
                found.push(repeat);
                at += repeat.length * repeat.times;
            }
            None => at += 1,
        }
    }
    found
}

/// For each item the next one from which on [`SHORTEST`] items have the same texts.
fn next_alike(rows: &[Row]) -> Vec<Option<usize>> {
    let mut next = vec![None; rows.len()];
    let mut last: FxHashMap<Vec<&str>, usize> = FxHashMap::default();
    for at in (0..rows.len().saturating_sub(SHORTEST - 1)).rev() {
        let texts = rows[at..at + SHORTEST].iter().map(|row| row.text.as_str()).collect();
        next[at] = last.insert(texts, at);
    }
    next
}

/// The blocks from `first` on that cover most.
fn longest(rows: &[Row], next: &[Option<usize>], first: usize) -> Option<Repeat> {
    let mut best: Option<Repeat> = None;
    let later = std::iter::successors(next[first], |&at| next[at]).take(TRIES);
    for length in later.map(|at| at - first).take_while(|&length| length <= LONGEST) {
        // What is looked at is no longer than two blocks, until they are layers.
        if length < SHORTEST || rows[first].input || !is_layer(rows, first, length) {
            continue;
        }
        let alike = (first..rows.len() - length)
            .take_while(|&at| is_alike(rows, at, first, length))
            .count();
        if alike < length {
            continue;
        }
        let repeat = Repeat { first, length, times: 1 + alike / length };
        let saved = |repeat: Repeat| repeat.length * (repeat.times - 1);
        if saved(repeat) >= SAVES.max(best.map_or(0, |best| saved(best) + 1)) {
            best = Some(repeat);
        }
    }
    best
}

/// Whether the second block reads from the first, and not all of its items look the same: branches
/// side by side are no layers, nor are parts of a mesh.
fn is_layer(rows: &[Row], first: usize, length: usize) -> bool {
    let Some(both) = rows.get(first..first + 2 * length) else { return false };
    let (block, second) = both.split_at(length);
    let reads = |row: &Row| row.reads.iter().any(|read| (first..first + length).contains(read));
    second.iter().any(reads) && block.iter().any(|row| row.text != block[0].text)
}

/// Whether item `at` equals the one `length` behind it, in blocks from `first` on.
fn is_alike(rows: &[Row], at: usize, first: usize, length: usize) -> bool {
    let (one, other) = (&rows[at], &rows[at + length]);
    let begins = at < first + length;
    let same = |a: usize, b: usize| {
        let entered = begins && a < first && (first..first + length).contains(&b);
        let inputs = rows[a].input && rows[b].input && rows[a].text == rows[b].text;
        a == b || (b == a + length && a >= first) || entered || inputs
    };
    one.text == other.text
        && one.reads.len() == other.reads.len()
        && one.reads.iter().zip(&other.reads).all(|(&a, &b)| same(a, b))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Items of one letter each; a digit after it is how far before it stands what it reads.
    fn rows(text: &str) -> Vec<Row> {
        let words = text.split_whitespace().enumerate();
        words
            .map(|(at, word)| {
                let (letter, far) = word.split_at(1);
                let reads = far.chars().filter_map(|c| c.to_digit(10)).map(|far| at - far as usize);
                Row { text: letter.to_owned(), reads: reads.collect(), input: letter == "i" }
            })
            .collect()
    }

    fn found(text: &str) -> Vec<(usize, usize, usize)> {
        repeats(&rows(text)).iter().map(|r| (r.first, r.length, r.times)).collect()
    }

    #[test]
    fn layers_are_found_and_what_follows_is_not_one() {
        let layer = "a1 b1 c1 d13 ";
        assert_eq!(found(&format!("x {}y1", layer.repeat(5))), [(1, 4, 5)]);
        assert_eq!(found(&format!("x {}a1 b1 y1", layer.repeat(5))), [(1, 4, 5)]);
        // Two layers of four save too little; two of eight do not.
        assert_eq!(found(&format!("x {}", layer.repeat(2))), []);
        let long = "a1 b1 c1 d1 e1 f1 g1 h1 ";
        assert_eq!(found(&format!("x {}", long.repeat(2))), [(1, 8, 2)]);
    }

    #[test]
    fn the_first_block_may_hang_on_what_is_far_away() {
        // `x` feeds the first block from behind `y`, which all blocks read as it is.
        let text = "x y a2 b1 c1 d1 a1 b1 c1 d1 a1 b1 c1 d1";
        assert_eq!(found(text), [(2, 4, 3)]);
        // A block that reads the one before the last is no equal.
        assert_eq!(found("x y a2 b1 c1 d1 a1 b1 c1 d1 a6 b1 c1 d1"), []);
    }

    #[test]
    fn branches_side_by_side_are_no_layers() {
        // Each begins at `x`, which is the only one before all of them.
        let branches = "a1 b1 c1 d1 a5 b1 c1 d1 a9 b1 c1 d1";
        assert_eq!(found(&format!("x {branches}")), []);
        assert_eq!(found(&format!("x {}", "a1 ".repeat(30))), []);
        assert_eq!(found(&format!("x {}", "a1 b1 c1 d1 ".repeat(3))), [(1, 4, 3)]);
    }

    #[test]
    fn what_differs_inside_ends_a_run() {
        let good = "a1 b1 c1 d1 ".repeat(3);
        // Both runs leave out what differs. The second one begins as early as it may, and so with
        // another node of the layer: `b2` hangs on what is far away, as only a first block may.
        assert_eq!(found(&format!("x {good}a1 b2 c1 d1 {good}")), [(1, 4, 3), (14, 4, 3)]);
        assert_eq!(found(&format!("x {good}a1 e1 c1 d1 {good}")), [(1, 4, 3), (15, 4, 3)]);
    }

    #[test]
    fn each_layer_may_have_an_input_of_its_own() {
        let mut rows = rows(&format!("i i i {}", "a1 b1 c1 d1 ".repeat(3)));
        for (layer, at) in [4, 8, 12].into_iter().enumerate() {
            rows[at].reads = vec![layer];
        }
        let expected = Repeat { first: 3, length: 4, times: 3 };
        assert_eq!(repeats(&rows), [expected]);
        assert_eq!(expected.partner(12), Some(4));
        assert_eq!((expected.partner(4), expected.partner(15)), (None, None));
    }

    #[test]
    fn every_block_that_is_found_is_one() {
        for seed in 0..300 {
            let mut random = fastrand::Rng::with_seed(seed);
            let rows: Vec<Row> = (0..random.usize(1..80))
                .map(|at| {
                    let reads = (0..random.usize(0..3)).filter(|_| at > 0);
                    let reads = reads.map(|_| at - random.usize(1..=at.min(5))).collect();
                    let text = random.choice(["a", "b"]).unwrap_or("a").to_string();
                    Row { text, reads, input: false }
                })
                .collect();
            let mut end = 0;
            for repeat in repeats(&rows) {
                assert!(repeat.first >= end && repeat.times >= 2, "seed {seed}");
                end = repeat.first + repeat.length * repeat.times;
                for item in repeat.first..end - repeat.length {
                    assert_eq!(rows[item].text, rows[item + repeat.length].text, "seed {seed}");
                }
            }
            assert!(end <= rows.len());
        }
    }
}
