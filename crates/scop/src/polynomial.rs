//! Polynomials over names, as subscripts of arrays that are kept in one dimension have them.

use std::collections::BTreeMap;
use std::fmt::Write;

/// A product of names, each as often as it is a factor, in alphabetical order.
pub(crate) type Monomial = Vec<String>;

/// More terms than this are not worth it.
const MOST_TERMS: usize = 32;

/// Products of names with their factors, none of which is 0.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Polynomial {
    pub terms: BTreeMap<Monomial, i128>,
}

impl Polynomial {
    pub fn constant(value: i128) -> Self {
        Self::default().with(Vec::new(), value)
    }

    pub fn name(name: String) -> Self {
        Self::default().with(vec![name], 1)
    }

    fn with(mut self, monomial: Monomial, factor: i128) -> Self {
        let entry = self.terms.entry(monomial).or_insert(0);
        *entry = entry.saturating_add(factor);
        self.terms.retain(|_, factor| *factor != 0);
        self
    }

    /// Returns `self + factor * other`.
    pub fn plus(self, other: &Self, factor: i128) -> Self {
        let more = other.terms.iter();
        more.fold(self, |sum, (monomial, f)| sum.with(monomial.clone(), f.saturating_mul(factor)))
    }

    /// Returns the product; nothing if it has many terms.
    pub fn times(&self, other: &Self) -> Option<Self> {
        let mut product = Self::default();
        for (a, x) in &self.terms {
            for (b, y) in &other.terms {
                let mut monomial = [a.as_slice(), b].concat();
                monomial.sort();
                product = product.with(monomial, x.saturating_mul(*y));
            }
        }
        (product.terms.len() <= MOST_TERMS).then_some(product)
    }

    /// Returns the value, if there are no names.
    pub fn number(&self) -> Option<i128> {
        match self.terms.len() {
            0 => Some(0),
            1 => self.terms.get(&Vec::new()).copied(),
            _ => None,
        }
    }

    /// Writes a sum of names with factors; nothing for products of names.
    pub fn affine(&self) -> Option<String> {
        let mut text = String::new();
        for (monomial, factor) in &self.terms {
            let separator = if text.is_empty() { "" } else { " + " };
            let _ = match monomial.as_slice() {
                [] => write!(text, "{separator}{factor}"),
                [name] => write!(text, "{separator}{factor} * ({name})"),
                _ => return None,
            };
        }
        Some(if text.is_empty() { "0".to_owned() } else { text })
    }
}

/// Returns `whole` without the factors of `part`; nothing if it lacks one of them.
pub(crate) fn divided(whole: &[String], part: &[String]) -> Option<Monomial> {
    let mut rest = whole.to_vec();
    for name in part {
        let at = rest.iter().position(|other| other == name)?;
        rest.remove(at);
    }
    Some(rest)
}
