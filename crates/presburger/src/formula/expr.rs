//! Quasi-affine expressions over names.
//!
//! A name has no column before a space gives it one: then the expression becomes a form of
//! `function/affine`.

use super::{Comparison, Formula};
use crate::Integer;

/// What an expression is a sum of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Atom {
    /// A parameter, a dimension, or a bound name.
    Name(String),
    /// A dimension of the last tuple, by its position.
    Output(usize),
    /// An expression divided by a positive number, rounded down.
    Floor(Box<Expr>, Integer),
}

/// A sum of atoms with factors that are not 0, each atom once, and a number.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Expr {
    pub(super) constant: Integer,
    pub(super) terms: Vec<(Atom, Integer)>,
}

impl Expr {
    /// Is a number.
    pub fn constant(value: impl Into<Integer>) -> Self {
        Self { constant: value.into(), terms: Vec::new() }
    }

    /// Is a name.
    pub fn name(name: impl Into<String>) -> Self {
        Self::atom(Atom::Name(name.into()))
    }

    /// Is a dimension of the last tuple.
    pub fn output(at: usize) -> Self {
        Self::atom(Atom::Output(at))
    }

    fn atom(atom: Atom) -> Self {
        Self { constant: Integer::ZERO, terms: vec![(atom, Integer::ONE)] }
    }

    /// Returns the number that it is, if it is one.
    pub fn as_constant(&self) -> Option<&Integer> {
        self.terms.is_empty().then_some(&self.constant)
    }

    /// Returns the name that it is, if it is nothing else.
    pub fn as_name(&self) -> Option<&str> {
        match self.terms.as_slice() {
            [(Atom::Name(name), factor)] if *factor == Integer::ONE && self.constant.is_zero() => {
                Some(name)
            }
            _ => None,
        }
    }

    /// Returns the sum.
    #[must_use]
    pub fn plus(self, other: &Self) -> Self {
        self.plus_times(&Integer::ONE, other)
    }

    /// Returns the difference.
    #[must_use]
    pub fn minus(self, other: &Self) -> Self {
        self.plus_times(&Integer::MINUS_ONE, other)
    }

    /// Returns `self + factor * other`.
    #[must_use]
    pub fn plus_times(mut self, factor: &Integer, other: &Self) -> Self {
        self.constant += factor * &other.constant;
        for (atom, own) in &other.terms {
            let more = factor * own;
            match self.terms.iter().position(|(known, _)| known == atom) {
                Some(at) => self.terms[at].1 += more,
                None => self.terms.push((atom.clone(), more)),
            }
        }
        self.terms.retain(|(_, factor)| !factor.is_zero());
        self
    }

    /// Returns the product with a number.
    #[must_use]
    pub fn times(self, factor: impl Into<Integer>) -> Self {
        Self::constant(0).plus_times(&factor.into(), &self)
    }

    /// Returns the negative.
    #[must_use]
    pub fn negated(self) -> Self {
        self.times(-1)
    }

    /// Returns the greatest integer that is not above the quotient.
    ///
    /// A divisor that is not positive gives an expression that [`super::Relation::such_that`]
    /// takes to be undefined: no comparison with it holds.
    #[must_use]
    pub fn floor_div(self, divisor: impl Into<Integer>) -> Self {
        Self::atom(Atom::Floor(Box::new(self), divisor.into()))
    }

    /// Returns the least integer that is not below the quotient.
    #[must_use]
    pub fn ceil_div(self, divisor: impl Into<Integer>) -> Self {
        self.negated().floor_div(divisor).negated()
    }

    /// Returns the remainder from 0 to `divisor - 1`.
    #[must_use]
    pub fn modulo(self, divisor: impl Into<Integer>) -> Self {
        let divisor = divisor.into();
        let quotient = self.clone().floor_div(divisor.clone());
        self.plus_times(&-divisor, &quotient)
    }

    /// Holds where the two values compare as it says.
    pub fn compared(self, comparison: Comparison, other: Self) -> Formula {
        Formula::Compared(self, comparison, other)
    }

    /// Returns whether a name of the expression is `name`.
    pub fn uses(&self, name: &str) -> bool {
        let mut open = vec![self];
        while let Some(expr) = open.pop() {
            for (atom, _) in &expr.terms {
                match atom {
                    Atom::Name(own) if own == name => return true,
                    Atom::Floor(inner, _) => open.push(inner),
                    _ => {}
                }
            }
        }
        false
    }

    /// Lists the names that it uses.
    pub fn names(&self) -> Vec<&str> {
        let (mut found, mut open) = (Vec::new(), vec![self]);
        while let Some(expr) = open.pop() {
            for (atom, _) in &expr.terms {
                match atom {
                    Atom::Name(own) => found.push(own.as_str()),
                    Atom::Floor(inner, _) => open.push(inner),
                    Atom::Output(_) => {}
                }
            }
        }
        found
    }

    pub(super) fn rename(&mut self, from: &str, to: &str) {
        let mut open = vec![self];
        while let Some(expr) = open.pop() {
            for (atom, _) in &mut expr.terms {
                match atom {
                    Atom::Name(own) if own == from => to.clone_into(own),
                    Atom::Floor(inner, _) => open.push(inner),
                    _ => {}
                }
            }
        }
    }
}
