//! Sums of terms: dimensions, divisions, remainders.

use crate::Integer;
use crate::basic_map::{BasicMap, Div};
use crate::matrix::negated;

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
    pub constant: Integer,
    pub terms: Vec<Term>,
}

/// A factor and what it multiplies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Term {
    pub factor: Integer,
    pub atom: Atom,
    pub text: String,
}

/// What a term is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Atom {
    Column(usize),
    /// The remainder of a row, without its constant column, by a number.
    Remainder(Vec<Integer>, Integer),
}

impl Atoms {
    /// Makes texts without names for divisions.
    pub fn inline(divs: &[Div], names: &[String]) -> Self {
        Self::new(divs, names, |_| 1)
    }

    /// Makes texts for the rows of a conjunction.
    pub fn of(part: &BasicMap, names: &[String]) -> Self {
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

    /// Returns whether the text of `row` has the name of a division in it.
    pub fn names_any(&self, row: &[Integer]) -> bool {
        let mut used = row.to_vec();
        for (index, div) in self.divs.iter().enumerate().rev() {
            if used.get(1 + self.dims + index).is_some_and(|v| *v != 0) {
                if self.named.iter().any(|(named, _)| *named == index) {
                    return true;
                }
                for (to, from) in used.iter_mut().zip(&div.num) {
                    // Only whether it is 0 matters.
                    *to = if to.is_zero() { from.clone() } else { Integer::ONE };
                }
            }
        }
        false
    }

    /// Splits a row into terms; divisions become remainders where that saves terms.
    pub fn form(&self, row: &[Integer]) -> Form {
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
            factor: row[col].clone(),
            atom: Atom::Column(col),
            text: self.texts[col - 1].clone(),
        };
        let mut terms: Vec<Term> =
            (1..row.len()).filter(|col| row[*col] != 0).map(column).collect();
        terms.extend(remainders);
        Form { constant: row[0].clone(), terms }
    }

    fn remainder(&self, factor: Integer, div: &Div) -> Term {
        let small = |v: &Integer| match v.mod_floor(&div.den) {
            v if &v + &v > div.den => v - &div.den,
            v => v,
        };
        let mut row: Vec<Integer> = div.num.iter().map(small).collect();
        row[0] = div.num[0].mod_floor(&div.den);
        self.remainder_of(factor, row, div.den.clone())
    }

    fn remainder_of(&self, factor: Integer, row: Vec<Integer>, den: Integer) -> Term {
        let text = format!("{} mod {den}", grouped(&self.form(&row).text()));
        Term { factor, atom: Atom::Remainder(row, den), text }
    }

    /// Writes `(n + c) mod d = r` as `n mod d = r - c`, with a positive factor first; nothing
    /// for what is no remainder, such as `n mod 2 = 2`, which no `n` satisfies.
    pub fn remainder_equals(
        &self,
        row: &[Integer],
        den: &Integer,
        value: Integer,
    ) -> Option<String> {
        if value.sign() < 0 || value >= *den {
            return None;
        }
        let mut value = value - &row[0];
        let mut row = row.to_vec();
        row[0] = Integer::ZERO;
        if row.iter().find(|v| !v.is_zero()).is_some_and(|v| v.sign() < 0) {
            row = negated(&row);
            value = -value;
        }
        let text = self.remainder_of(Integer::ONE, row, den.clone()).text;
        Some(format!("{text} = {}", value.mod_floor(den)))
    }
}

/// Writes `c * floor(n/d)` with `d | c` as a remainder, if that takes fewer terms.
fn with_remainder(row: &[Integer], col: usize, div: &Div) -> Option<(Vec<Integer>, Integer)> {
    let value = row.get(col)?;
    if value.is_zero() || !value.is_multiple_of(&div.den) {
        return None;
    }
    let factor = -value.div_exact(&div.den);
    let mut rest = row.to_vec();
    rest[col] = Integer::ZERO;
    for (to, from) in rest.iter_mut().zip(&div.num) {
        *to -= from * &factor;
    }
    let terms = |row: &[Integer]| row[1..].iter().filter(|v| **v != 0).count();
    (terms(&rest) + 1 < terms(row)).then_some((rest, factor))
}

impl Form {
    /// Takes the term at `index` out and returns it with the negative of the rest.
    pub fn solve(mut self, index: usize) -> (Term, Self) {
        let term = self.terms.remove(index);
        if term.factor.sign() > 0 {
            self.constant = -self.constant;
            self.terms.iter_mut().for_each(|term| term.factor = -&term.factor);
        }
        let factor = term.factor.abs();
        (Term { factor, ..term }, self)
    }

    /// Writes the sum, a positive term first if there is one, else a positive constant.
    pub fn text(&self) -> String {
        if let ([term], true) = (&self.terms[..], self.constant.is_zero())
            && term.factor == Integer::ONE
        {
            return term.product();
        }
        let positive = self.terms.iter().position(|term| term.factor > 0);
        let first = positive.unwrap_or(0);
        let mut text = String::new();
        if positive.is_none() && self.constant > 0 {
            append(&mut text, &self.constant, "");
        }
        let order = self.terms.get(first).into_iter().chain(&self.terms[..first]);
        for term in order.chain(self.terms.get(first + 1..).unwrap_or_default()) {
            append(&mut text, &term.factor, &term.text);
        }
        if text.is_empty() || self.constant < 0 || self.constant > 0 && positive.is_some() {
            append(&mut text, &self.constant, "");
        }
        text
    }
}

impl Term {
    /// Writes the product.
    pub fn product(&self) -> String {
        if self.factor == Integer::ONE {
            return self.text.clone();
        }
        let mut text = String::new();
        append(&mut text, &self.factor, &self.text);
        text
    }
}

fn append(text: &mut String, value: &Integer, atom: &str) {
    text.push_str(match (text.is_empty(), value.sign() < 0) {
        (true, true) => "-",
        (true, false) => "",
        (false, true) => " - ",
        (false, false) => " + ",
    });
    let one = value.is_unit();
    if atom.is_empty() || !one {
        text.push_str(&value.abs().to_string());
    }
    if atom.contains(" mod ") && !atom.starts_with("floor(") {
        text.push_str(if one { "" } else { "*" });
        text.push_str(&format!("({atom})"));
        return;
    }
    text.push_str(if !one && atom.contains('(') { "*" } else { "" });
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
pub(crate) fn sum(row: &[Integer], names: &[String]) -> String {
    let named = row[1..].iter().zip(names).enumerate().filter(|(_, (value, _))| **value != 0);
    let terms = named.map(|(index, (value, name))| Term {
        factor: value.clone(),
        atom: Atom::Column(1 + index),
        text: name.clone(),
    });
    Form { constant: row[0].clone(), terms: terms.collect() }.text()
}
