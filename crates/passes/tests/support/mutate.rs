//! Programs that nobody would write: generated ones with some of their words changed.
//!
//! Words are put in the place of others of their kind (values, blocks, numbers, names, types), lines are
//! moved, repeated and dropped, and now and then a byte is. Many of the results are not valid; those that
//! are have dead blocks, loops without an end, operations that use themselves and the like.

use super::generate::{Random, function};

/// Program number `seed`.
pub fn program(seed: u64) -> String {
    let mut random = Random::new(seed);
    let size = 4 + random.below(20) as usize;
    let first = random.below(1 << 20) + 1;
    let mut source = function(first, size, false);
    if random.below(2) == 0 {
        source += &function(first + 1, size / 2, true);
    }
    changed(&mut random, source)
}

/// A program with a few changes.
pub fn changed(random: &mut Random, mut source: String) -> String {
    for _ in 0..=random.below(4) {
        source = match random.below(12) {
            0 => lines(random, &source, |random, lines, i| {
                let to = random.below(lines.len() as u64) as usize;
                let line = lines.remove(i);
                lines.insert(to.min(lines.len()), line);
            }),
            1 => lines(random, &source, |_, lines, i| drop(lines.remove(i))),
            2 => lines(random, &source, |_, lines, i| lines.insert(i, lines[i].clone())),
            3 => bytes(random, &source),
            _ => words(random, &source),
        };
    }
    source
}

fn lines(
    random: &mut Random,
    source: &str,
    edit: impl Fn(&mut Random, &mut Vec<String>, usize),
) -> String {
    let mut lines: Vec<String> = source.lines().map(str::to_owned).collect();
    if lines.is_empty() {
        return String::new();
    }
    let at = random.below(lines.len() as u64) as usize;
    edit(random, &mut lines, at);
    lines.join("\n") + "\n"
}

/// Changes, drops or repeats one byte.
fn bytes(random: &mut Random, source: &str) -> String {
    let mut bytes = source.as_bytes().to_vec();
    if bytes.is_empty() {
        return String::new();
    }
    let at = random.below(bytes.len() as u64) as usize;
    match random.below(3) {
        0 => drop(bytes.remove(at)),
        1 => bytes.insert(at, bytes[at]),
        _ => bytes[at] = b" %^<>(){}[]\":,-x0"[random.below(17) as usize],
    }
    String::from_utf8(bytes).unwrap_or_default()
}

/// The kind of the word that begins with `first`: words of a kind may stand for each other.
fn kind(word: &str) -> u8 {
    match word.as_bytes() {
        [b'%', ..] => 1,
        [b'^', ..] => 2,
        [b'0'..=b'9', ..] => 3,
        [b'i' | b'f', b'0'..=b'9', ..] => 4,
        [b'a'..=b'z', rest @ ..] if rest.contains(&b'.') => 5,
        _ => 0,
    }
}

/// Puts one word in the place of another of its kind.
fn words(random: &mut Random, source: &str) -> String {
    let part = |c: char| c.is_ascii_alphanumeric() || "%^_.#@".contains(c);
    let mut spans: Vec<(usize, usize)> = Vec::new();
    let mut start = None;
    for (i, c) in source.char_indices().chain([(source.len(), ' ')]) {
        match (part(c), start) {
            (true, None) => start = Some(i),
            (false, Some(from)) => {
                spans.push((from, i));
                start = None;
            }
            _ => {}
        }
    }
    let spans: Vec<_> = spans.into_iter().filter(|&(a, b)| kind(&source[a..b]) > 0).collect();
    if spans.is_empty() {
        return source.to_owned();
    }
    let (from, to) = spans[random.below(spans.len() as u64) as usize];
    let wanted = kind(&source[from..to]);
    let same: Vec<&str> =
        spans.iter().map(|&(a, b)| &source[a..b]).filter(|word| kind(word) == wanted).collect();
    let extreme = ["0", "1", "2147483647", "9223372036854775807", "18446744073709551616"];
    let word = match wanted {
        3 if random.below(2) == 0 => extreme[random.below(5) as usize],
        _ => same[random.below(same.len() as u64) as usize],
    };
    let minus = if wanted == 3 && random.below(4) == 0 { "-" } else { "" };
    format!("{}{minus}{word}{}", &source[..from], &source[to..])
}
