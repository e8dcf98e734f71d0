//! Polynomials over names, as subscripts of arrays that are kept in one dimension have them.
//!
//! A factor of a monomial is an [`Expr`] of formulas, a name or a sum of names that counts as one, so
//! that `A[i * (n + 1) + j]` is seen to have rows of `n + 1`. `tangram_affine::symbolic` would multiply
//! that out, and `QPolynomial` has no names.
//!
//! [`Polynomial::read`] reads lines of generated code and extents of declarations, thousands of them
//! for a file, as the text that they are; subscripts in the source come from the parser of C, through
//! `affine`.

use std::collections::BTreeMap;

use tangram_presburger::formula::Expr;

use crate::c_tokens::is_of_word;

/// A product of names, or of sums that count as one, each as often as it is a factor, in order.
pub(crate) type Monomial = Vec<Expr>;

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

    pub fn name(name: Expr) -> Self {
        Self::default().with(vec![name], 1)
    }

    fn with(mut self, monomial: Monomial, factor: i128) -> Self {
        let entry = self.terms.entry(monomial).or_insert(0);
        *entry = entry.saturating_add(factor);
        self.terms.retain(|_, factor| *factor != 0);
        self
    }

    /// Reads sums and products of names and numbers, as C writes them.
    pub fn read(text: &str) -> Option<Self> {
        Reader { rest: text }.whole()
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

    /// Returns the sum of names with factors that it is; nothing for products of names.
    pub fn affine(&self) -> Option<Expr> {
        self.terms.iter().try_fold(Expr::constant(0), |sum, (monomial, factor)| {
            let term = match monomial.as_slice() {
                [] => Expr::constant(1),
                [name] => name.clone(),
                _ => return None,
            };
            Some(sum.plus_times(&(*factor).into(), &term))
        })
    }
}

/// Returns `whole` without the factors of `part`; nothing if it lacks one of them.
pub(crate) fn divided(whole: &[Expr], part: &[Expr]) -> Option<Monomial> {
    let mut rest = whole.to_vec();
    for name in part {
        let at = rest.iter().position(|other| other == name)?;
        rest.remove(at);
    }
    Some(rest)
}

/// Reads sums and products with numbers.
struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn whole(mut self) -> Option<Polynomial> {
        // Generated subscripts nest a few levels; deeper ones are left alone.
        let sum = self.sum(16)?;
        self.rest.trim().is_empty().then_some(sum)
    }

    fn take(&mut self, sign: char) -> bool {
        let rest = self.rest.trim_start().strip_prefix(sign);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn sum(&mut self, levels: usize) -> Option<Polynomial> {
        let mut total = Polynomial::default();
        let mut sign = if self.take('-') { -1 } else { 1 };
        loop {
            total = total.plus(&self.product(levels)?, sign);
            sign = if self.take('+') {
                1
            } else if self.take('-') {
                -1
            } else {
                return Some(total);
            };
        }
    }

    fn product(&mut self, levels: usize) -> Option<Polynomial> {
        let mut all = self.atom(levels)?;
        while self.take('*') {
            all = all.times(&self.atom(levels)?)?;
        }
        Some(all)
    }

    fn atom(&mut self, levels: usize) -> Option<Polynomial> {
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
            return Some(Polynomial::constant(word.parse().ok()?));
        }
        Some(Polynomial::name(Expr::name(word)))
    }
}
