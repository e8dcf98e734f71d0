//! Atoms and the monomials made of them.

use std::cmp::Ordering;
use std::sync::Arc;

use smallvec::SmallVec;

use super::{Expr, MAX_DEGREE};

/// Is what a polynomial ranges over.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Atom {
    Symbol(Arc<str>),
    Compound(Arc<Compound>),
}

/// Is an atom made of other expressions, in normal form.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Compound {
    Floor(Expr, Expr),
    Trunc(Expr, Expr),
    Min(Box<[Expr]>),
    Max(Box<[Expr]>),
}

impl Compound {
    pub(super) fn children(&self) -> SmallVec<[&Expr; 2]> {
        match self {
            Self::Floor(num, den) | Self::Trunc(num, den) => SmallVec::from_slice(&[num, den]),
            Self::Min(args) | Self::Max(args) => args.iter().collect(),
        }
    }
}

impl Atom {
    pub(super) fn depth(&self) -> u32 {
        match self {
            Self::Symbol(_) => 0,
            Self::Compound(compound) => {
                1 + compound.children().iter().map(|child| child.depth()).max().unwrap_or(0)
            }
        }
    }

    pub(super) fn weight(&self) -> u32 {
        match self {
            Self::Symbol(_) => 1,
            Self::Compound(compound) => {
                compound.children().iter().fold(1, |sum, child| sum.saturating_add(child.weight()))
            }
        }
    }

    pub(super) fn as_floor(&self) -> Option<(&Expr, &Expr)> {
        match self {
            Self::Compound(compound) => match &**compound {
                Compound::Floor(num, den) => Some((num, den)),
                _ => None,
            },
            Self::Symbol(_) => None,
        }
    }
}

/// Is a product of powers of atoms: sorted by atom, powers positive. Empty means 1.
///
/// The order is graded lexicographic, a monomial order: products keep it, and 1 is least.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Monomial(pub(super) SmallVec<[(Atom, u32); 1]>);

impl Monomial {
    pub(super) fn atom(atom: Atom) -> Self {
        Self(SmallVec::from_iter([(atom, 1)]))
    }

    pub(super) fn is_one(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn degree(&self) -> u32 {
        self.0.iter().map(|(_, power)| power).sum()
    }

    pub(super) fn as_atom(&self) -> Option<&Atom> {
        match self.0.as_slice() {
            [(atom, 1)] => Some(atom),
            _ => None,
        }
    }

    /// Multiplies; `None` past the limit on degrees.
    pub(super) fn mul(&self, other: &Self) -> Option<Self> {
        if self.degree() + other.degree() > MAX_DEGREE {
            return None;
        }
        let mut factors = SmallVec::with_capacity(self.0.len() + other.0.len());
        let (mut left, mut right) = (self.0.iter().peekable(), other.0.iter().peekable());
        while let (Some((a, i)), Some((b, j))) = (left.peek(), right.peek()) {
            match a.cmp(b) {
                Ordering::Less => factors.extend(left.next().cloned()),
                Ordering::Greater => factors.extend(right.next().cloned()),
                Ordering::Equal => {
                    factors.push((a.clone(), i + j));
                    left.next();
                    right.next();
                }
            }
        }
        factors.extend(left.cloned());
        factors.extend(right.cloned());
        Some(Self(factors))
    }

    /// Divides, where the divisor's powers are all contained.
    pub(super) fn div(&self, other: &Self) -> Option<Self> {
        let mut factors = SmallVec::new();
        let mut divisor = other.0.iter().peekable();
        for (atom, power) in &self.0 {
            let left = match divisor.next_if(|(other, _)| other == atom) {
                Some((_, taken)) => power.checked_sub(*taken)?,
                None => *power,
            };
            if left > 0 {
                factors.push((atom.clone(), left));
            }
        }
        divisor.next().is_none().then_some(Self(factors))
    }

    /// Returns the greatest common divisor.
    pub(super) fn gcd(&self, other: &Self) -> Self {
        let common = self.0.iter().filter_map(|(atom, power)| {
            let (_, also) = other.0.iter().find(|(found, _)| found == atom)?;
            Some((atom.clone(), *power.min(also)))
        });
        Self(common.collect())
    }
}

impl PartialOrd for Monomial {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Monomial {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_degree = self.degree().cmp(&other.degree());
        by_degree.then_with(|| {
            for ((a, i), (b, j)) in self.0.iter().zip(&other.0) {
                // The monomial that has more of the earlier atom is the greater one.
                let order = b.cmp(a).then(i.cmp(j));
                if order.is_ne() {
                    return order;
                }
            }
            self.0.len().cmp(&other.0.len())
        })
    }
}
