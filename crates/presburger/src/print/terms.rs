//! Sums of terms: dimensions, divisions, remainders.

use crate::basic::{Basic, Div};

/// From this length on, a division that is used again gets a name.
const LONG: usize = 32;

/// The texts of all columns of a conjunction.
#[derive(Debug)]
pub(super) struct Atoms {
    pub dims: usize,
    divs: Vec<Div>,
    texts: Vec<String>,
    /// The divisions with a name, and what they are.
    pub named: Vec<(usize, String)>,
}

/// A sum of terms and a constant.
#[derive(Debug, Clone)]
pub(super) struct Form {
    pub constant: i128,
    pub terms: Vec<Term>,
}

/// A factor and what it multiplies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Term {
    pub factor: i128,
    pub atom: Atom,
    pub text: String,
}

/// What a term is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Atom {
    Column(usize),
    /// The remainder of a row, without its constant column, by a number.
    Remainder(Vec<i128>, i128),
}

impl Atoms {
    /// Makes texts without names for divisions.
    pub fn inline(divs: &[Div], names: &[String]) -> Self {
        Self::new(divs, names, |_| 1)
    }

    /// Makes texts for the rows of a conjunction.
    pub fn of(part: &Basic, names: &[String]) -> Self {
        let uses = |index: usize| {
            let col = 1 + part.dims + index;
            let rows = part.system.eqs.rows().chain(part.system.ineqs.rows());
            rows.filter(|row| row[col] != 0).count()
                + part.divs[index + 1..].iter().filter(|div| div.num[col] != 0).count()
        };
        Self::new(&part.divs, &names[..part.dims], uses)
    }

    fn new(divs: &[Div], names: &[String], uses: impl Fn(usize) -> usize) -> Self {
        let mut result = Self {
            dims: names.len(),
            divs: divs.to_vec(),
            texts: names.to_vec(),
            named: Vec::new(),
        };
        for (index, div) in divs.iter().enumerate() {
            let text = floor(&result.form(&div.num).text(), &div.den);
            if text.len() < LONG || uses(index) < 2 {
                result.texts.push(text);
                continue;
            }
            let mut count = result.named.len();
            while names.iter().any(|name| *name == format!("e{count}")) {
                count += names.len();
            }
            result.texts.push(format!("e{count}"));
            result.named.push((index, text));
        }
        result
    }

    /// Returns the name of a named division.
    pub fn name(&self, index: usize) -> &str {
        &self.texts[self.dims + index]
    }

    /// Says whether the text of `row` has the name of a division in it.
    pub fn names_any(&self, row: &[i128]) -> bool {
        let mut used = row.to_vec();
        for (index, div) in self.divs.iter().enumerate().rev() {
            if used.get(1 + self.dims + index).is_some_and(|v| *v != 0) {
                if self.named.iter().any(|(named, _)| *named == index) {
                    return true;
                }
                used.iter_mut().zip(&div.num).for_each(|(to, from)| *to |= from);
            }
        }
        false
    }

    /// Splits a row into terms; divisions become remainders where that saves terms.
    pub fn form(&self, row: &[i128]) -> Form {
        let mut row = row.to_vec();
        let mut remainders = Vec::new();
        for (index, div) in self.divs.iter().enumerate().rev() {
            let col = 1 + self.dims + index;
            if let Some((shorter, factor)) = with_remainder(&row, col, div) {
                row = shorter;
                remainders.push(self.remainder(factor, div));
            }
        }
        let column = |col: usize| Term {
            factor: row[col],
            atom: Atom::Column(col),
            text: self.texts[col - 1].clone(),
        };
        let mut terms: Vec<Term> =
            (1..row.len()).filter(|col| row[*col] != 0).map(column).collect();
        terms.extend(remainders);
        Form { constant: row[0], terms }
    }

    fn remainder(&self, factor: i128, div: &Div) -> Term {
        let half = div.den / 2;
        let small = |v: &i128| match v.rem_euclid(div.den) {
            v if v > half => v - div.den,
            v => v,
        };
        let mut row: Vec<i128> = div.num.iter().map(small).collect();
        row[0] = div.num[0].rem_euclid(div.den);
        self.remainder_of(factor, row, div.den)
    }

    fn remainder_of(&self, factor: i128, row: Vec<i128>, den: i128) -> Term {
        let text = format!("{} mod {den}", grouped(&self.form(&row).text()));
        Term { factor, atom: Atom::Remainder(row, den), text }
    }

    /// Writes `(n + c) mod d = r` as `n mod d = r - c`, with a positive factor first; nothing
    /// for what is no remainder, such as `n mod 2 = 2`, which no `n` satisfies.
    pub fn remainder_equals(&self, row: &[i128], den: i128, value: i128) -> Option<String> {
        if !(0..den).contains(&value) {
            return None;
        }
        let mut row = row.to_vec();
        let mut value = value.checked_sub(row[0])?;
        row[0] = 0;
        if row.iter().find(|v| **v != 0).is_some_and(|v| *v < 0) {
            row.iter_mut().for_each(|v| *v = -*v);
            value = -value;
        }
        let text = self.remainder_of(1, row, den).text;
        Some(format!("{text} = {}", value.rem_euclid(den)))
    }
}

/// Writes `c * floor(n/d)` with `d | c` as a remainder, if that takes fewer terms.
fn with_remainder(row: &[i128], col: usize, div: &Div) -> Option<(Vec<i128>, i128)> {
    let value = *row.get(col)?;
    if value == 0 || value % div.den != 0 {
        return None;
    }
    let factor = (value / div.den).checked_neg()?;
    let mut rest = row.to_vec();
    rest[col] = 0;
    for (to, from) in rest.iter_mut().zip(&div.num) {
        *to = to.checked_sub(from.checked_mul(factor)?)?;
    }
    let terms = |row: &[i128]| row[1..].iter().filter(|v| **v != 0).count();
    (terms(&rest) + 1 < terms(row)).then_some((rest, factor))
}

impl Form {
    /// Takes the term at `index` out and returns it with the negative of the rest.
    pub fn solve(mut self, index: usize) -> (Term, Self) {
        let term = self.terms.remove(index);
        if term.factor > 0 {
            self.constant = -self.constant;
            self.terms.iter_mut().for_each(|term| term.factor = -term.factor);
        }
        let factor = term.factor.abs();
        (Term { factor, ..term }, self)
    }

    /// Writes the sum, a positive term first if there is one, else a positive constant.
    pub fn text(&self) -> String {
        if let ([term @ Term { factor: 1, .. }], 0) = (&self.terms[..], self.constant) {
            return term.product();
        }
        let positive = self.terms.iter().position(|term| term.factor > 0);
        let first = positive.unwrap_or(0);
        let mut text = String::new();
        if positive.is_none() && self.constant > 0 {
            append(&mut text, self.constant, "");
        }
        let order = self.terms.get(first).into_iter().chain(&self.terms[..first]);
        for term in order.chain(self.terms.get(first + 1..).unwrap_or_default()) {
            append(&mut text, term.factor, &term.text);
        }
        if text.is_empty() || self.constant < 0 || self.constant > 0 && positive.is_some() {
            append(&mut text, self.constant, "");
        }
        text
    }
}

impl Term {
    /// Writes the product.
    pub fn product(&self) -> String {
        if self.factor == 1 {
            return self.text.clone();
        }
        let mut text = String::new();
        append(&mut text, self.factor, &self.text);
        text
    }
}

fn append(text: &mut String, value: i128, atom: &str) {
    text.push_str(match (text.is_empty(), value < 0) {
        (true, true) => "-",
        (true, false) => "",
        (false, true) => " - ",
        (false, false) => " + ",
    });
    let size = value.unsigned_abs();
    if atom.is_empty() || size != 1 {
        text.push_str(&size.to_string());
    }
    if atom.contains(" mod ") && !atom.starts_with("floor(") {
        text.push_str(if size == 1 { "" } else { "*" });
        text.push_str(&format!("({atom})"));
        return;
    }
    text.push_str(if size != 1 && atom.contains('(') { "*" } else { "" });
    text.push_str(atom);
}

/// Writes `floor(text/den)`.
pub(crate) fn floor(text: &str, den: &impl std::fmt::Display) -> String {
    format!("floor({}/{den})", grouped(text))
}

/// Puts a sum or product in parentheses.
fn grouped(text: &str) -> String {
    let number = text.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    if number || text.contains(' ') { format!("({text})") } else { text.to_owned() }
}

/// Writes a row as a sum of its terms.
pub(crate) fn sum(row: &[i128], names: &[String]) -> String {
    let named = row[1..].iter().zip(names).enumerate().filter(|(_, (value, _))| **value != 0);
    let terms = named.map(|(index, (value, name))| Term {
        factor: *value,
        atom: Atom::Column(1 + index),
        text: name.clone(),
    });
    Form { constant: row[0], terms: terms.collect() }.text()
}
