//! Equations and chains of bounds.

use super::terms::{Atom, Atoms, Form, Term};
use crate::Integer;
use crate::basic_map::BasicMap;

/// The bounds of one term: those below it and those above.
struct Bounds {
    term: Term,
    low: Vec<Bound>,
    high: Vec<Bound>,
}

/// What a term is compared with, and whether it must differ from that.
struct Bound {
    form: Form,
    strict: bool,
}

/// Writes the constraints of `part`, joined by `and`; nothing for no constraints.
pub(super) fn constraints(part: &BasicMap, atoms: &Atoms) -> String {
    constraints_of(part, None, atoms)
}

/// As [`constraints`]; over the rationals, `strict` says so of each inequality.
pub(super) fn constraints_of(part: &BasicMap, strict: Option<&[bool]>, atoms: &Atoms) -> String {
    let mut texts: Vec<String> =
        part.system.eqs.rows().map(|row| equation(&atoms.form(row), atoms)).collect();
    let mut groups: Vec<Bounds> = Vec::new();
    for (position, row) in part.system.ineqs.rows().enumerate() {
        let form = atoms.form(row);
        let Some(index) = subject(&form, atoms) else {
            texts.push(format!("{} >= 0", form.constant));
            continue;
        };
        let below = form.terms[index].factor.sign() > 0;
        let (term, form) = form.solve(index);
        let bound = match strict {
            Some(strict) => Bound { form, strict: strict[position] },
            None => Bound::of_integers(form, if below { 1 } else { -1 }),
        };
        let at = groups.iter().position(|group| group.term == term).unwrap_or_else(|| {
            groups.push(Bounds { term, low: Vec::new(), high: Vec::new() });
            groups.len() - 1
        });
        let group = &mut groups[at];
        if below { group.low.push(bound) } else { group.high.push(bound) }
    }
    texts.extend(groups.iter().flat_map(Bounds::texts));
    let text = texts.join(" and ");
    if atoms.named.is_empty() {
        return text;
    }
    let define = |(index, value): &(usize, String)| format!("{} = {value}", atoms.name(*index));
    let definitions: Vec<String> = atoms.named.iter().map(define).collect();
    format!("exists ({}: {})", definitions.join(", "), if text.is_empty() { "true" } else { &text })
}

/// Picks the term that a constraint bounds: the last dimension, else a remainder or division.
fn subject(form: &Form, atoms: &Atoms) -> Option<usize> {
    let rank = |term: &Term| match term.atom {
        Atom::Column(col) if col <= atoms.dims => (2, col),
        Atom::Column(col) => (1, col),
        Atom::Remainder(..) => (1, usize::MAX),
    };
    (0..form.terms.len()).max_by_key(|index| rank(&form.terms[*index]))
}

fn equation(form: &Form, atoms: &Atoms) -> String {
    if let [Term { factor, atom: Atom::Remainder(row, den), .. }] = &form.terms[..]
        && factor.is_unit()
    {
        let value = -&form.constant * factor;
        if let Some(text) = atoms.remainder_equals(row, den, value) {
            return text;
        }
    }
    let plain = |term: &Term| matches!(term.atom, Atom::Column(col) if col <= atoms.dims);
    let simple = form.terms.iter().rposition(|term| plain(term) && term.factor.is_unit());
    let Some(index) = simple.or_else(|| subject(form, atoms)) else {
        return format!("{} = 0", form.constant);
    };
    let (term, value) = form.clone().solve(index);
    format!("{} = {}", term.product(), value.text())
}

impl Bounds {
    /// Pairs the first lower with the first upper bound, and so on.
    fn texts(&self) -> Vec<String> {
        let term = self.term.product();
        let mut texts = Vec::new();
        for index in 0..self.low.len().max(self.high.len()) {
            let written = |bound: &Bound| (bound.form.text(), bound.strict);
            let low = self.low.get(index).map(written);
            let high = self.high.get(index).map(written);
            let sign = |strict: bool| if strict { "<" } else { "<=" };
            if let Some(value) = self.only_remainder(index) {
                texts.push(format!("{term} = {value}"));
                continue;
            }
            texts.push(match (low, high) {
                (Some((low, a)), Some((high, b))) => {
                    format!("{low} {} {term} {} {high}", sign(a), sign(b))
                }
                (Some((low, a)), None) => format!("{term} {} {low}", if a { ">" } else { ">=" }),
                (None, Some((high, b))) => format!("{term} {} {high}", sign(b)),
                (None, None) => continue,
            });
        }
        texts
    }
}

impl Bounds {
    /// Returns the one value that bounds leave to `n mod d`: nothing is beyond 0 and `d - 1`.
    fn only_remainder(&self, index: usize) -> Option<Integer> {
        let Atom::Remainder(_, den) = &self.term.atom else { return None };
        let number = |bounds: &[Bound]| {
            let form = bounds.get(index).map(|bound| &bound.form);
            form.filter(|form| form.terms.is_empty()).map(|form| form.constant.clone())
        };
        let only = match (number(&self.low), number(&self.high)) {
            (None, Some(high)) if high.is_zero() && self.low.len() <= index => Some(high),
            (Some(low), None) if low == den - 1 && self.high.len() <= index => Some(low),
            _ => None,
        };
        only.filter(|_| self.term.factor == Integer::ONE)
    }
}

impl Bound {
    /// Makes a bound of integers; one that is `step` off a sum of terms becomes strict.
    fn of_integers(mut form: Form, step: i64) -> Self {
        let strict = form.constant == step && !form.terms.is_empty();
        if strict {
            form.constant = Integer::ZERO;
        }
        Self { form, strict }
    }
}
