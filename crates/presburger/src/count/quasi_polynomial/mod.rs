//! Quasi-polynomials: polynomials in variables and in floors of affine expressions of them.
//!
//! Factors are rational and of any size, variables are columns. Polynomials of named extents, in 64
//! bits, are those of `tangram_affine` (`symbolic/polynomial`), below this crate.

mod approximate;
mod equality;
pub(super) mod floors;
pub(super) mod guard;
pub(super) mod nonfinite;
mod substitute_equalities;

use std::collections::BTreeMap;
use std::convert::Infallible;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::barvinok::contribution::add_term;
use crate::div::Div;
use crate::{Budget, Error, Integer, Rational};
use floors::{Floors, Linear};
use nonfinite::NonFinite;

/// The factors of a term, in ascending order, each as often as its power says.
///
/// A number below the number of variables is a variable, the others are floors.
pub(crate) type Monomial = SmallVec<[u32; 6]>;

/// The terms of a polynomial whose floors are kept elsewhere.
type Terms = Vec<(Monomial, Rational)>;

/// A polynomial with rational coefficients in variables and floors of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QPolynomial {
    pub(crate) floors: Floors,
    pub(crate) terms: BTreeMap<Monomial, Rational>,
    /// What the value is instead, without any term.
    pub(crate) non_finite: Option<NonFinite>,
}

impl QPolynomial {
    /// Makes the zero polynomial in `vars` variables.
    pub fn zero(vars: usize) -> Self {
        Self { floors: Floors::new(vars), terms: BTreeMap::new(), non_finite: None }
    }

    /// Makes a constant in `vars` variables.
    pub fn constant(vars: usize, value: Rational) -> Self {
        let mut result = Self::zero(vars);
        result.insert(Monomial::new(), value);
        result
    }

    /// Makes the variable number `index` out of `vars`.
    pub fn variable(vars: usize, index: usize) -> Self {
        let mut result = Self::zero(vars);
        result.insert(Monomial::from_slice(&[index as u32]), Rational::ONE);
        result
    }

    /// Makes a polynomial without floors from its terms.
    pub(crate) fn over_atoms(vars: usize, terms: BTreeMap<Monomial, Rational>) -> Self {
        Self { floors: Floors::new(vars), terms, non_finite: None }
    }

    pub(crate) fn from_linear(floors: Floors, linear: &Linear, den: &Integer) -> Self {
        let mut result = Self { floors, ..Self::zero(0) };
        result.insert(Monomial::new(), Rational::reduced(linear.constant.clone(), den.clone()));
        for (atom, value) in &linear.terms {
            let value = Rational::reduced(value.clone(), den.clone());
            result.insert(Monomial::from_slice(&[*atom]), value);
        }
        result
    }

    /// The number of variables.
    pub fn vars(&self) -> usize {
        self.floors.vars
    }

    /// The number of terms.
    pub fn len(&self) -> usize {
        self.terms.len()
    }

    /// The value of the term without factors.
    pub(crate) fn constant_term(&self) -> Rational {
        self.terms.get(&Monomial::new()).cloned().unwrap_or(Rational::ZERO)
    }

    /// Returns whether all terms but the one without factors are written alike.
    pub(crate) fn is_shift_of(&self, other: &Self) -> bool {
        let (mine, theirs) = (self.terms.iter(), other.terms.iter());
        let varies = |(monomial, _): &(&Monomial, &Rational)| !monomial.is_empty();
        self.floors == other.floors && mine.filter(varies).eq(theirs.filter(varies))
    }

    /// What it takes to go through the terms and the floors.
    pub(crate) fn size(&self) -> usize {
        self.terms.len() + self.floors.all.len()
    }

    /// Returns whether the value is 0 for want of terms.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty() && self.non_finite.is_none()
    }

    /// The largest number of factors of a term.
    pub fn degree(&self) -> usize {
        self.terms.keys().map(|monomial| monomial.len()).max().unwrap_or(0)
    }

    pub(crate) fn insert(&mut self, monomial: Monomial, value: Rational) {
        if value.is_zero() {
            return;
        }
        match self.terms.entry(monomial) {
            std::collections::btree_map::Entry::Vacant(entry) => {
                entry.insert(value);
            }
            std::collections::btree_map::Entry::Occupied(mut entry) => {
                let sum = entry.get().add(&value);
                if sum.is_zero() {
                    entry.remove();
                } else {
                    *entry.get_mut() = sum;
                }
            }
        }
    }

    /// Adds; both must have the same variables.
    pub fn add(&self, other: &Self) -> Self {
        match (self.non_finite, other.non_finite) {
            (None, None) => {}
            (Some(a), Some(b)) => return Self::non_finite(self.vars(), a.add(b)),
            (Some(value), None) | (None, Some(value)) => {
                return Self::non_finite(self.vars(), value);
            }
        }
        let mut result = self.clone();
        let other = other.over(&mut result.floors);
        for (monomial, value) in other {
            result.insert(monomial, value);
        }
        result.tidied()
    }

    /// Adds up polynomials in the same variables.
    pub(crate) fn total<'a>(vars: usize, summands: impl Iterator<Item = &'a Self>) -> Self {
        let mut result = Self::zero(vars);
        for summand in summands {
            for (monomial, value) in summand.over(&mut result.floors) {
                result.insert(monomial, value);
            }
        }
        result.tidied()
    }

    /// Subtracts; both must have the same variables.
    pub fn sub(&self, other: &Self) -> Self {
        self.add(&other.scale(&Rational::from(-1)))
    }

    /// Multiplies with a number.
    pub fn scale(&self, factor: &Rational) -> Self {
        if let Some(value) = self.non_finite {
            return match factor.numer().sign() {
                0 => Self::zero(self.vars()),
                sign => Self::non_finite(self.vars(), value.signed(sign)),
            };
        }
        let mut result = Self { floors: self.floors.clone(), ..Self::zero(0) };
        for (monomial, value) in &self.terms {
            result.insert(monomial.clone(), value.mul(factor));
        }
        result.tidied()
    }

    /// Multiplies; both must have the same variables.
    pub fn mul(&self, other: &Self) -> Self {
        if let Some(product) = self.non_finite_product(other) {
            return product;
        }
        let mut result = Self { floors: self.floors.clone(), ..Self::zero(0) };
        let other = other.over(&mut result.floors);
        for (left, a) in &self.terms {
            for (right, b) in &other {
                result.insert(joined(left, right), a.mul(b));
            }
        }
        result.tidied()
    }

    /// Raises to a power.
    pub fn pow(&self, exponent: u32) -> Self {
        let one = Self::constant(self.vars(), Rational::ONE);
        (0..exponent).fold(one, |product, _| product.mul(self))
    }

    /// Returns the floor of a polynomial of degree at most 1; `None` for a higher degree.
    pub fn floor(&self) -> Option<Self> {
        if self.degree() > 1 || self.non_finite.is_some() {
            return None;
        }
        let den = self.terms.values().fold(Integer::ONE, |den, value| den.lcm(value.denom()));
        let mut row = vec![Integer::ZERO; 1 + self.vars() + self.floors.all.len()];
        for (monomial, value) in &self.terms {
            let at = monomial.first().map_or(0, |atom| 1 + *atom as usize);
            row[at] = value.numer().mul(&den.div_exact(value.denom()));
        }
        let mut floors = self.floors.clone();
        let linear = floors.floor(row, den);
        Some(Self::from_linear(floors, &linear, &Integer::ONE).tidied())
    }

    /// Writes the terms over `floors`, to which missing floors are added.
    fn over(&self, floors: &mut Floors) -> Terms {
        let atoms = floors.merge(&self.floors);
        let plain = atoms
            .iter()
            .enumerate()
            .all(|(i, atom)| atom.constant.is_zero() && atom.terms == [(i as u32, Integer::ONE)]);
        if plain {
            return self.terms.iter().map(|(m, v)| (m.clone(), v.clone())).collect();
        }
        let renamed = |atom: &Linear| match &atom.terms[..] {
            [(to, factor)] if atom.constant.is_zero() && *factor == Integer::ONE => Some(*to),
            _ => None,
        };
        if let Some(to) = atoms.iter().map(renamed).collect::<Option<Vec<u32>>>() {
            let term = |(m, v): (&Monomial, &Rational)| (in_order(m, &to), v.clone());
            return self.terms.iter().map(term).collect();
        }
        let form = |atom| -> Terms {
            let form = Self::from_linear(Floors::new(floors.vars), atom, &Integer::ONE);
            form.terms.into_iter().collect()
        };
        let forms: Vec<Terms> = atoms.iter().map(form).collect();
        let Ok(terms) = composed(&self.terms, &forms, |_| Ok::<(), Infallible>(()));
        terms.into_iter().filter(|(_, value)| !value.is_zero()).collect()
    }

    /// Puts polynomials for the variables; all of them are over the same variables.
    pub(crate) fn substitute(
        &self,
        vars: usize,
        values: &[Self],
        budget: &Budget,
    ) -> Result<Self, Error> {
        self.composed(vars, values, |steps| budget.spend(steps))
    }

    /// As [`Self::substitute`], for variables by other names.
    pub(crate) fn renamed(&self, vars: usize, values: &[Self]) -> Self {
        let Ok(result) = self.composed(vars, values, |_| Ok::<(), Infallible>(()));
        result
    }

    fn composed<E>(
        &self,
        vars: usize,
        values: &[Self],
        charge: impl Fn(usize) -> Result<(), E>,
    ) -> Result<Self, E> {
        if let Some(value) = self.non_finite {
            return Ok(Self::non_finite(vars, value));
        }
        let mut floors = Floors::new(vars);
        let mut forms: Vec<Terms> = values.iter().map(|value| value.over(&mut floors)).collect();
        for floor in &self.floors.all {
            let mut sum = Self::constant(vars, Rational::from(floor.num[0].clone()));
            sum.floors = floors.clone();
            for (factor, form) in floor.num[1..].iter().zip(&forms).filter(|(v, _)| !v.is_zero()) {
                let factor = Rational::from(factor.clone());
                form.iter().for_each(|(m, value)| sum.insert(m.clone(), value.mul(&factor)));
            }
            let by = Rational::reduced(Integer::ONE, floor.den.clone());
            let whole = sum.scale(&by).floor().unwrap_or_else(|| Self::zero(vars));
            charge(forms.len() + floors.all.len())?;
            forms.push(whole.over(&mut floors));
        }
        let mut result = Self { floors, ..Self::zero(0) };
        for (monomial, value) in composed(&self.terms, &forms, charge)? {
            result.insert(monomial, value);
        }
        Ok(result.tidied())
    }

    /// Drops floors that no term uses and sorts the others.
    pub(crate) fn tidied(self) -> Self {
        let vars = self.vars();
        let mut used = vec![false; self.floors.all.len()];
        for atom in self.terms.keys().flatten().filter(|atom| **atom as usize >= vars) {
            used[*atom as usize - vars] = true;
        }
        for index in (0..used.len()).rev() {
            if used[index] {
                let inner = self.floors.all[index].num.iter().skip(1 + vars);
                inner.enumerate().filter(|(_, v)| !v.is_zero()).for_each(|(i, _)| used[i] = true);
            }
        }
        let order = self.floors.sorted();
        if used.iter().all(|used| *used) && order.is_sorted() {
            return self;
        }
        let mut floors = Floors::new(vars);
        let mut to: Vec<u32> = (0..(vars + used.len()) as u32).collect();
        for index in order.into_iter().filter(|index| used[*index]) {
            let floor = &self.floors.all[index];
            let mut num = vec![Integer::ZERO; 1 + vars + floors.all.len()];
            num[0] = floor.num[0].clone();
            for (i, value) in floor.num[1..].iter().enumerate().filter(|(_, v)| !v.is_zero()) {
                num[1 + to[i] as usize] = value.clone();
            }
            while num.last().is_some_and(Integer::is_zero) {
                num.pop();
            }
            to[vars + index] = floors.intern(Div { num, den: floor.den.clone() });
        }
        let terms = self.terms.into_iter().map(|(m, value)| (in_order(&m, &to), value)).collect();
        Self { floors, terms, non_finite: self.non_finite }
    }

    /// Returns the value at an integer point; 0 for what is no polynomial.
    pub fn evaluate(&self, point: &[Integer]) -> Rational {
        let atoms = self.floors.values(point);
        let mut sum = Rational::ZERO;
        for (monomial, value) in &self.terms {
            let product = monomial.iter().fold(Integer::ONE, |p, a| p.mul(&atoms[*a as usize]));
            sum = sum.add(&value.mul(&Rational::from(product)));
        }
        sum
    }
}

/// Puts forms for the atoms by Horner's scheme: what follows the same factors is added up first.
fn composed<E>(
    terms: &BTreeMap<Monomial, Rational>,
    forms: &[Terms],
    charge: impl Fn(usize) -> Result<(), E>,
) -> Result<FxHashMap<Monomial, Rational>, E> {
    let degree = terms.keys().map(|monomial| monomial.len()).max().unwrap_or(0);
    // For each number of factors, what comes after which of them.
    let mut levels: Vec<FxHashMap<Monomial, FxHashMap<Monomial, Rational>>> =
        (0..=degree).map(|_| FxHashMap::default()).collect();
    for (monomial, value) in terms {
        let rest = levels[monomial.len()].entry(monomial.clone()).or_default();
        add_term(rest, Monomial::new(), value);
    }
    for length in (1..=degree).rev() {
        for (mut factors, sum) in std::mem::take(&mut levels[length]) {
            let Some(last) = factors.pop() else { continue };
            let form = &forms[last as usize];
            charge(sum.len() * form.len() / 4)?;
            let rest = levels[length - 1].entry(factors).or_default();
            for (left, a) in &sum {
                for (right, b) in form {
                    add_term(rest, joined(left, right), &a.mul(b));
                }
            }
        }
    }
    Ok(levels[0].remove(&Monomial::new()).unwrap_or_default())
}

/// Renames the factors of a monomial.
fn in_order(monomial: &Monomial, to: &[u32]) -> Monomial {
    let mut atoms: Monomial = monomial.iter().map(|atom| to[*atom as usize]).collect();
    atoms.sort_unstable();
    atoms
}

/// Multiplies two monomials.
pub(crate) fn joined(a: &Monomial, b: &Monomial) -> Monomial {
    let mut all: Monomial = a.iter().chain(b).copied().collect();
    all.sort_unstable();
    all
}
