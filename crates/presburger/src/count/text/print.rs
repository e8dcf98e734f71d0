//! Printing piecewise quasi-polynomials in isl's notation.

use std::fmt;

use crate::count::bound::bernstein::{PwQPolynomialFold, Side};
use crate::count::piecewise::pw_qpolynomial::PwQPolynomial;
use crate::count::quasi_polynomial::floors::Floors;
use crate::count::quasi_polynomial::guard::Guard;
use crate::count::quasi_polynomial::{Monomial, QPolynomial};
use crate::{Integer, Rational, Tuple};

impl fmt::Display for PwQPolynomial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        pieces(f, &self.params, self.texts())
    }
}

impl fmt::Display for PwQPolynomialFold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        pieces(f, &self.params, self.texts())
    }
}

impl PwQPolynomial {
    /// Returns the texts of the pieces; without any, that of the value 0.
    pub(in crate::count) fn texts(&self) -> Vec<String> {
        let (names, domain) = (self.names(), arguments(self.domain.as_ref()));
        if self.pieces.all.is_empty() {
            return vec![format!("{domain}0")];
        }
        let pieces = self.pieces.all.iter();
        let text = |(guard, value): &(Guard, QPolynomial)| {
            let guard = condition(guard, &names, self.params.len());
            format!("{domain}{}{guard}", polynomial(value, &names))
        };
        pieces.map(text).collect()
    }
}

impl PwQPolynomialFold {
    /// Returns the texts of the pieces.
    pub(in crate::count) fn texts(&self) -> Vec<String> {
        let (space, domain) = (self.space(), arguments(self.domain.as_ref()));
        let names: Vec<String> = space.params.into_iter().chain(space.output.dims).collect();
        let fold = match self.side {
            Side::Lower => "min",
            Side::Upper => "max",
        };
        let text = |(guard, values): &(Guard, Vec<QPolynomial>)| {
            let values: Vec<String> =
                values.iter().map(|value| polynomial(value, &names)).collect();
            let guard = condition(guard, &names, self.params.len());
            format!("{domain}{fold}({}){guard}", values.join(", "))
        };
        self.pieces.iter().map(text).collect()
    }
}

/// Writes the texts of pieces behind the parameters.
pub(in crate::count) fn pieces(
    f: &mut fmt::Formatter<'_>,
    params: &[String],
    texts: impl IntoIterator<Item = String>,
) -> fmt::Result {
    if !params.is_empty() {
        write!(f, "[{}] -> ", params.join(", "))?;
    }
    write!(f, "{{ {} }}", texts.into_iter().collect::<Vec<_>>().join("; "))
}

fn arguments(domain: Option<&Tuple>) -> String {
    domain.map_or(String::new(), |tuple| format!("{tuple} -> "))
}

/// Returns the texts of all variables and floors.
fn atoms(floors: &Floors, names: &[String]) -> Vec<String> {
    let mut texts = names.to_vec();
    for floor in &floors.all {
        texts.push(crate::print::floor(&sum(&floor.num, &texts), &floor.den));
    }
    texts
}

/// Writes a sum of terms; several are put in parentheses.
pub(crate) fn polynomial(value: &QPolynomial, names: &[String]) -> String {
    let atoms = atoms(&value.floors, names);
    let mut text = String::new();
    for (monomial, factor) in &value.terms {
        term(&mut text, factor, &product(monomial, &atoms));
    }
    if let Some(value) = value.as_non_finite() {
        return value.to_string();
    }
    match value.terms.len() {
        0 => "0".into(),
        1 => text,
        _ => format!("({text})"),
    }
}

fn product(monomial: &Monomial, atoms: &[String]) -> String {
    let mut factors = Vec::new();
    for run in monomial.chunk_by(|a, b| a == b) {
        let atom = &atoms[run[0] as usize];
        factors.push(if run.len() == 1 { atom.clone() } else { format!("{atom}^{}", run.len()) });
    }
    factors.join(" * ")
}

/// Writes a guard as conditions of sets are written; `params` of the names come first.
fn condition(guard: &Guard, names: &[String], params: usize) -> String {
    let text = crate::print::conjunction(&guard.to_basic(), names, params);
    if text.is_empty() { text } else { format!(" : {text}") }
}

fn sum(row: &[Integer], atoms: &[String]) -> String {
    let mut text = String::new();
    for (value, atom) in row[1..].iter().zip(atoms).filter(|(value, _)| !value.is_zero()) {
        term(&mut text, &Rational::from(value.clone()), atom);
    }
    if !row[0].is_zero() || text.is_empty() {
        term(&mut text, &Rational::from(row[0].clone()), "");
    }
    text
}

/// Appends `factor * product`.
fn term(text: &mut String, factor: &Rational, product: &str) {
    let negative = factor.numer().sign() < 0;
    text.push_str(match (text.is_empty(), negative) {
        (true, true) => "-",
        (true, false) => "",
        (false, true) => " - ",
        (false, false) => " + ",
    });
    let size = if negative { factor.neg() } else { factor.clone() };
    if product.is_empty() {
        text.push_str(&size.to_string());
    } else if size == Rational::ONE {
        text.push_str(product);
    } else {
        text.push_str(&format!("{size} * {product}"));
    }
}
