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

use std::collections::HashMap;

use tangram_polyhedral::ast::Kept;
use tangram_presburger::formula::Expr;

use crate::polynomial::Polynomial;
use crate::{Declared, Flat};

use crate::c_tokens::{Token, tokens};

/// Writes innermost loops with elements in local variables.
pub(crate) struct Accumulators<'a> {
    /// The arrays of a part by name.
    arrays: HashMap<&'a str, &'a Declared>,
    /// What the names of local variables start with.
    start: &'a str,
    flat: &'a [Flat],
}

/// An element of an array at a place of a line.
struct Use<'a> {
    array: &'a Declared,
    line: usize,
    from: usize,
    to: usize,
    subscripts: Vec<Polynomial>,
    written: bool,
    /// Whether the iterator stands in a subscript, even where it cancels out.
    varies: bool,
}

impl<'a> Accumulators<'a> {
    pub fn new(arrays: &'a [Declared], flat: &'a [Flat], start: &'a str) -> Self {
        let arrays = arrays.iter().map(|array| (array.name.as_str(), array)).collect();
        Self { arrays, start, flat }
    }

    /// Returns what is known to be at least 1 where an array is used.
    fn sizes(&self, array: &Declared) -> &[String] {
        let flat = self.flat.iter().find(|flat| flat.name == array.name);
        flat.map_or(&[], |flat| flat.sizes.as_slice())
    }

    /// Rewrites the statements of a loop over `iterator`; nothing if no element that stays is
    /// written.
    pub fn keep(&self, iterator: &str, lines: &[String]) -> Option<Kept> {
        if !lines.iter().all(|line| is_assignment(line)) {
            return None;
        }
        let mut uses: Vec<Use> = Vec::new();
        let mut refused: Vec<&str> = Vec::new();
        // A subscript with one of these does not stay.
        let targets = lines.iter().filter_map(|line| names(line).find(|(from, _)| *from == 0));
        let targets: Vec<&str> = targets.map(|(_, name)| name).collect();
        for (index, line) in lines.iter().enumerate() {
            for (from, name) in names(line) {
                let Some(array) = self.arrays.get(name).filter(|a| !a.extents.is_empty()) else {
                    continue;
                };
                match element(array, line, from, name) {
                    Some((to, _))
                        if names(&line[from + name.len()..to])
                            .any(|(_, name)| targets.contains(&name)) =>
                    {
                        refused.push(&array.name);
                    }
                    Some((to, subscripts)) => {
                        let written = from == 0;
                        let varies = names(&line[from..to]).any(|(_, name)| name == iterator);
                        let line = index;
                        uses.push(Use { array, line, from, to, subscripts, written, varies });
                    }
                    None => refused.push(&array.name),
                }
            }
        }
        let clear = |array: &Declared| {
            !refused.contains(&array.name.as_str())
                && is_clear(uses.iter().filter(|u| u.array.name == array.name), self.sizes(array))
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

/// Returns whether all elements of an array stay in a loop, each apart from the others.
///
/// `sizes`: names of what is at least 1.
fn is_clear<'a>(uses: impl Iterator<Item = &'a Use<'a>>, sizes: &[String]) -> bool {
    let uses: Vec<&Use> = uses.collect();
    let is_size =
        |name: &Expr| name.as_name().is_some_and(|name| sizes.iter().any(|size| size == name));
    let distinct = |(a, b): (&Polynomial, &Polynomial)| {
        let difference = a.clone().plus(b, -1);
        let mut terms = difference.terms.iter();
        // All of one sign, so that their sum is not 0.
        let sign = terms.clone().next().map(|(_, factor)| factor.signum());
        sign.is_some()
            && terms
                .all(|(names, factor)| Some(factor.signum()) == sign && names.iter().all(is_size))
    };
    uses.iter().all(|one| !one.varies)
        && uses.iter().enumerate().all(|(at, one)| {
            uses[..at].iter().all(|other| {
                one.subscripts == other.subscripts
                    || one.subscripts.iter().zip(&other.subscripts).any(distinct)
            })
        })
}

/// Returns whether a statement is one assignment that evaluates all its operands.
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

/// Lists the names of a line with their places, without members of structures.
fn names(line: &str) -> impl Iterator<Item = (usize, &str)> {
    tokens(line).filter_map(|(at, token)| match token {
        Token::Name(name) => Some((at, name)),
        Token::Other(_) => None,
    })
}

/// Reads the subscripts behind a name: where they end, and their sums.
fn element(
    array: &Declared,
    line: &str,
    from: usize,
    name: &str,
) -> Option<(usize, Vec<Polynomial>)> {
    let mut at = from + name.len();
    let mut subscripts = Vec::new();
    while line[at..].starts_with('[') {
        let mut depth = 0;
        let close = line[at..].char_indices().find(|(_, c)| {
            depth += i32::from(*c == '[') - i32::from(*c == ']');
            depth == 0
        });
        let end = at + close?.0;
        subscripts.push(Polynomial::read(&line[at + 1..end])?);
        at = end + 1;
    }
    let behind = line[at..].trim_start();
    let plain = !behind.starts_with(['.', '(', '[']) && !behind.starts_with("->");
    (plain && subscripts.len() == array.extents.len() && !array.element.is_empty())
        .then_some((at, subscripts))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(name: &str, extents: usize) -> Declared {
        Declared {
            name: name.into(),
            element: "double".into(),
            extents: vec!["n".into(); extents],
            local: false,
        }
    }

    fn kept(lines: &[&str]) -> Option<Kept> {
        let arrays = [array("C", 2), array("A", 2), array("x", 1)];
        let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        let flat =
            [Flat { name: "x".into(), sizes: vec!["n".into()], strides: Vec::new(), limit: None }];
        Accumulators::new(&arrays, &flat, "s").keep("k", &lines)
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
    fn rows_of_arrays_in_one_dimension_are_apart() {
        let lines = ["x[(i + 1) * n + j] += A[i][k];", "x[i * n + j] += x[2 * n + n * i + j + 1];"];
        let Kept { body, .. } = kept(&lines).expect("kept");
        assert_eq!(body, ["s0 += A[i][k];", "s1 += s2;"]);
        // Nothing is known of `m`, and `n - 1` may be 0.
        assert_eq!(kept(&["x[i * m + j] += x[i * m + m + j];"]), None);
        assert_eq!(kept(&["x[i * n + j] += x[i * n + n + j - 1];"]), None);
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
            &["t = A[i][k];", "x[t] += A[j][k];"],
        ] {
            assert_eq!(kept(lines), None, "{lines:?}");
        }
        let lines = ["C[i][j] += C[i + 1][j] * A[k][i];"];
        assert_eq!(kept(&lines).map(|kept| kept.body), Some(vec!["s0 += s1 * A[k][i];".into()]));
    }
}
