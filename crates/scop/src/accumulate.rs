//! Elements of arrays that an innermost loop uses in each iteration, kept in local variables.
//!
//! ```text
//! for k: C[i][j] += A[i][k] * B[k][j];
//!
//! double s0 = C[i][j]; for k: s0 += A[i][k] * B[k][j]; C[i][j] = s0;
//! ```
//!
//! Arrays could overlap for all that a compiler knows, so it stores a sum in each iteration.
//! Here they are assumed not to, and subscripts say which elements of one array are the same
//! and which are not; where they say neither, the array is left alone.

use std::collections::{BTreeMap, HashMap};

use tangram_polyhedral::ast::Kept;
use tangram_polyhedral::scop::Array;

/// Writes innermost loops with elements in local variables.
pub(crate) struct Accumulators<'a> {
    /// The arrays of a part by name.
    arrays: HashMap<&'a str, &'a Array>,
    /// What the names of local variables start with.
    start: &'a str,
}

/// A sum of names with factors; the name of the constant is empty.
type Affine = BTreeMap<String, i128>;

/// An element of an array at a place of a line.
struct Use<'a> {
    array: &'a Array,
    line: usize,
    from: usize,
    to: usize,
    subscripts: Vec<Affine>,
    written: bool,
    /// Whether the iterator stands in a subscript, even where it cancels out.
    varies: bool,
}

impl<'a> Accumulators<'a> {
    pub fn new(arrays: &'a [Array], start: &'a str) -> Self {
        let arrays = arrays.iter().map(|array| (array.name.as_str(), array)).collect();
        Self { arrays, start }
    }

    /// Rewrites the statements of a loop over `iterator`; nothing if no element that stays is
    /// written.
    pub fn keep(&self, iterator: &str, lines: &[String]) -> Option<Kept> {
        if !lines.iter().all(|line| is_assignment(line)) {
            return None;
        }
        let mut uses: Vec<Use> = Vec::new();
        let mut refused: Vec<&str> = Vec::new();
        for (index, line) in lines.iter().enumerate() {
            for (from, name) in names(line) {
                let Some(array) = self.arrays.get(name).filter(|a| !a.extents.is_empty()) else {
                    continue;
                };
                match element(array, line, from, name) {
                    Some((to, subscripts)) => {
                        let written = from == 0;
                        let varies =
                            names(&line[from..to]).iter().any(|(_, name)| *name == iterator);
                        let line = index;
                        uses.push(Use { array, line, from, to, subscripts, written, varies });
                    }
                    None => refused.push(&array.name),
                }
            }
        }
        let clear = |array: &Array| {
            !refused.contains(&array.name.as_str())
                && is_clear(uses.iter().filter(|u| u.array.name == array.name))
        };
        let kept: Vec<&Use> = uses.iter().filter(|u| clear(u.array)).collect();
        kept.iter().any(|u| u.written).then(|| self.rewritten(lines, &kept))
    }

    fn rewritten(&self, lines: &[String], kept: &[&Use]) -> Kept {
        let mut elements: Vec<(&Use, bool)> = Vec::new();
        let mut places = Vec::new();
        for one in kept {
            let same = |(other, _): &(&Use, bool)| {
                other.array.name == one.array.name && other.subscripts == one.subscripts
            };
            let at = elements.iter().position(same).unwrap_or_else(|| {
                elements.push((*one, false));
                elements.len() - 1
            });
            elements[at].1 |= one.written;
            places.push((*one, at));
        }
        let mut body: Vec<String> = lines.to_vec();
        // From the right to the left, so that places stay where they are.
        for (one, at) in places.into_iter().rev() {
            body[one.line].replace_range(one.from..one.to, &format!("{}{at}", self.start));
        }
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for (index, (one, written)) in elements.iter().enumerate() {
            let place = &lines[one.line][one.from..one.to];
            let name = format!("{}{index}", self.start);
            before.push(format!("{} {name} = {place};", one.array.element));
            if *written {
                after.push(format!("{place} = {name};"));
            }
        }
        Kept { before, body, after }
    }
}

/// Says whether all elements of an array stay in a loop, each apart from the others.
fn is_clear<'a>(uses: impl Iterator<Item = &'a Use<'a>>) -> bool {
    let uses: Vec<&Use> = uses.collect();
    let distinct = |(a, b): (&Affine, &Affine)| {
        let difference =
            |name: &String| a.get(name).copied().unwrap_or(0) - b.get(name).copied().unwrap_or(0);
        let names = || a.keys().chain(b.keys()).filter(|name| !name.is_empty());
        names().all(|name| difference(name) == 0) && difference(&String::new()) != 0
    };
    uses.iter().all(|one| !one.varies)
        && uses.iter().enumerate().all(|(at, one)| {
            uses[..at].iter().all(|other| {
                one.subscripts == other.subscripts
                    || one.subscripts.iter().zip(&other.subscripts).any(distinct)
            })
        })
}

/// Says whether a statement is one assignment that evaluates all its operands.
fn is_assignment(line: &str) -> bool {
    let Some(inner) = line.strip_suffix(';') else { return false };
    let bytes = inner.as_bytes();
    let is_one = |at: &usize| {
        let around = |at: Option<&u8>| at.copied().unwrap_or(b' ');
        let before = around(at.checked_sub(1).and_then(|at| bytes.get(at)));
        bytes[*at] == b'=' && !b"=<>!".contains(&before) && around(bytes.get(at + 1)) != b'='
    };
    let assigned = (0..bytes.len()).filter(is_one).count();
    let plain = !inner.contains(['?', '&', '|', ';', '{', '"', '\'', '\n'])
        && !["++", "--", "<<=", ">>="].iter().any(|sign| inner.contains(sign));
    assigned == 1 && plain
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Lists the names of a line with their places, without members of structures.
fn names(line: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = line[at..].find(is_of_word).map(|start| at + start) {
        let end = line[start..].find(|c| !is_of_word(c)).map_or(line.len(), |end| start + end);
        let before = line[..start].trim_end();
        let number = line[start..].starts_with(|c: char| c.is_ascii_digit());
        if !number && !before.ends_with('.') && !before.ends_with("->") {
            found.push((start, &line[start..end]));
        }
        at = end;
    }
    found
}

/// Reads the subscripts behind a name: where they end, and their sums.
fn element(array: &Array, line: &str, from: usize, name: &str) -> Option<(usize, Vec<Affine>)> {
    let mut at = from + name.len();
    let mut subscripts = Vec::new();
    while line[at..].starts_with('[') {
        let mut depth = 0;
        let close = line[at..].char_indices().find(|(_, c)| {
            depth += i32::from(*c == '[') - i32::from(*c == ']');
            depth == 0
        });
        let end = at + close?.0;
        subscripts.push(Reader { rest: &line[at + 1..end] }.whole()?);
        at = end + 1;
    }
    let behind = line[at..].trim_start();
    let plain = !behind.starts_with(['.', '(', '[']) && !behind.starts_with("->");
    (plain && subscripts.len() == array.extents.len() && !array.element.is_empty())
        .then_some((at, subscripts))
}

/// Reads sums and products with numbers.
struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn whole(mut self) -> Option<Affine> {
        // Generated subscripts nest a few levels; deeper ones are left alone.
        let sum = self.sum(16)?;
        self.rest.trim().is_empty().then_some(sum)
    }

    fn take(&mut self, sign: char) -> bool {
        let rest = self.rest.trim_start().strip_prefix(sign);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn sum(&mut self, levels: usize) -> Option<Affine> {
        let mut total = Affine::new();
        let mut sign = if self.take('-') { -1 } else { 1 };
        loop {
            for (name, factor) in self.product(levels)? {
                let entry = total.entry(name).or_insert(0);
                *entry = entry.checked_add(factor.checked_mul(sign)?)?;
            }
            sign = if self.take('+') {
                1
            } else if self.take('-') {
                -1
            } else {
                total.retain(|_, factor| *factor != 0);
                return Some(total);
            };
        }
    }

    fn product(&mut self, levels: usize) -> Option<Affine> {
        let mut all = self.atom(levels)?;
        while self.take('*') {
            let other = self.atom(levels)?;
            let number = |sum: &Affine| match sum.len() {
                0 => Some(0),
                1 => sum.get("").copied(),
                _ => None,
            };
            let (scale, sum) = match (number(&all), number(&other)) {
                (Some(scale), _) => (scale, other),
                (_, Some(scale)) => (scale, all),
                _ => return None,
            };
            let scaled =
                sum.into_iter().map(|(name, factor)| Some((name, factor.checked_mul(scale)?)));
            all = scaled.collect::<Option<_>>()?;
        }
        Some(all)
    }

    fn atom(&mut self, levels: usize) -> Option<Affine> {
        if self.take('(') {
            let inner = self.sum(levels.checked_sub(1)?)?;
            return self.take(')').then_some(inner);
        }
        self.rest = self.rest.trim_start();
        let end = self.rest.find(|c| !is_of_word(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        // What is called or indexed is no name of a number.
        if word.is_empty() || rest.trim_start().starts_with(['(', '[', '.']) {
            return None;
        }
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return Some(Affine::from([(String::new(), word.parse().ok()?)]));
        }
        Some(Affine::from([(word.to_owned(), 1)]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(name: &str, extents: usize) -> Array {
        Array {
            name: name.into(),
            element: "double".into(),
            extents: vec!["n".into(); extents],
            local: false,
            kept: false,
        }
    }

    fn kept(lines: &[&str]) -> Option<Kept> {
        let arrays = [array("C", 2), array("A", 2), array("x", 1)];
        let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        Accumulators::new(&arrays, "s").keep("k", &lines)
    }

    #[test]
    fn sums_side_by_side_are_kept() {
        let lines = ["C[i][j] += A[i][k] * x[k];", "C[i][(j + 1)] -= A[i][k] * x[i];"];
        let Kept { before, body, after } = kept(&lines).expect("kept");
        // What is only read and varies stays where it is; `x` is at two places.
        assert_eq!(before, ["double s0 = C[i][j];", "double s1 = C[i][(j + 1)];"]);
        assert_eq!(body, ["s0 += A[i][k] * x[k];", "s1 -= A[i][k] * x[i];"]);
        assert_eq!(after, ["C[i][j] = s0;", "C[i][(j + 1)] = s1;"]);
    }

    #[test]
    fn elements_that_could_be_the_same_are_left_alone() {
        for lines in [
            &["x[i] -= A[i][k] * x[k];"][..],
            &["C[i][j] += A[i][k];", "C[j][i] += A[i][k];"],
            &["C[i][j] += C[i][n];"],
            &["x[A[i][j]] += A[i][k];"],
            &["C[i][j] = A[i][k] > 0 ? x[k] : C[i][j];"],
            &["x[i] += sum(x);"],
            &["C[i][j] += p->x[k] = x[k];"],
            &["C[i / 2][j] += x[k];"],
            &["C[i + k - k][j] += x[k];"],
        ] {
            assert_eq!(kept(lines), None, "{lines:?}");
        }
        let lines = ["C[i][j] += C[i + 1][j] * A[k][i];"];
        assert_eq!(kept(&lines).map(|kept| kept.body), Some(vec!["s0 += s1 * A[k][i];".into()]));
    }
}
