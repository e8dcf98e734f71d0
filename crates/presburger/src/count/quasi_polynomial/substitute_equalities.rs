//! What a guard says of values: its equations take variables and floors out of them.
//!
//! Where `n = 2 floor(n/2) + 1`, `floor(n/2)` is `(n - 1)/2`, and where `n = 3` it is 1.

use super::QPolynomial;
use super::floors::{Linear, substituted};
use super::guard::Guard;
use crate::solve::number::{Number, fit, widening};
use crate::solve::redundancy::{add_rows, narrowed};
use crate::solve::simplex::{Optimum, Simplex};
use crate::{Budget, Error, Integer, Rational};

impl QPolynomial {
    /// Writes the values where `guard` holds without what its equations give.
    pub(crate) fn under(&self, guard: &Guard, budget: &Budget) -> Result<Self, Error> {
        if guard.eqs.is_empty() || self.non_finite.is_some() {
            return Ok(self.clone());
        }
        let vars = self.vars();
        let mut floors = self.floors.clone();
        let atoms = floors.merge(&guard.floors);
        let solved = solved(guard.eqs.iter().map(|row| substituted(row, &atoms)));
        let mut forms: Vec<Self> = Vec::new();
        for atom in 0..vars + floors.all.len() {
            budget.spend(forms.len())?;
            let known = solved.iter().find(|(pivot, _)| *pivot as usize == atom);
            let form = match (known, atom.checked_sub(vars)) {
                (Some((_, form)), _) => combination(vars, form, &forms),
                (None, None) => Self::variable(vars, atom),
                (None, Some(index)) => {
                    let floor = &floors.all[index];
                    let terms = floor.num[1..].iter().cloned().enumerate();
                    let terms = terms.map(|(atom, factor)| (atom as u32, factor)).collect();
                    let num = Linear { constant: floor.num[0].clone(), terms };
                    let by = Rational::reduced(Integer::ONE, floor.den.clone());
                    let inner = combination(vars, &(num, Integer::ONE), &forms).scale(&by);
                    // Sums of atoms have no higher degree.
                    inner.floor().unwrap_or_else(|| Self::zero(vars))
                }
            };
            forms.push(form);
        }
        let plain = Self::over_atoms(forms.len(), self.terms.clone());
        plain.substitute(vars, &forms, budget)
    }
}

/// Adds up the forms of the atoms with the factors of `(numerator, denominator)`.
fn combination(vars: usize, form: &(Linear, Integer), forms: &[QPolynomial]) -> QPolynomial {
    let (num, den) = form;
    let over = |value: &Integer| Rational::reduced(value.clone(), den.clone());
    let constant = QPolynomial::constant(vars, over(&num.constant));
    let used = num.terms.iter().filter(|(_, factor)| !factor.is_zero());
    used.fold(constant, |sum, (atom, factor)| sum.add(&forms[*atom as usize].scale(&over(factor))))
}

/// Solves equations for their last atoms: what each is, as numerator and denominator.
fn solved(equations: impl Iterator<Item = Linear>) -> Vec<(u32, (Linear, Integer))> {
    let mut rows: Vec<Linear> = Vec::new();
    for mut row in equations {
        for known in &rows {
            let Some((pivot, lead)) = known.terms.last() else { continue };
            let Ok(at) = row.terms.binary_search_by_key(pivot, |(atom, _)| *atom) else { continue };
            let factor = row.terms[at].1.neg();
            let mut next = Linear::default();
            next.add(lead, &row);
            next.add(&factor, known);
            row = next;
        }
        if !row.terms.is_empty() {
            rows.push(row);
        }
    }
    let value = |mut row: Linear| {
        let (pivot, lead) = row.terms.pop()?;
        let mut rest = Linear::default();
        rest.add(&Integer::from(-i64::from(lead.sign())), &row);
        Some((pivot, (rest, lead.abs())))
    };
    rows.into_iter().filter_map(value).collect()
}

impl Guard {
    /// Turns inequalities that hold with equality everywhere into equations.
    pub(in crate::count) fn with_equations(mut self, budget: &Budget) -> Result<Self, Error> {
        let equal = widening!(T => self.equal_rows::<T>(budget))?;
        let rows = std::mem::take(&mut self.ineqs);
        for (row, equal) in rows.into_iter().zip(equal) {
            match equal {
                true => self.zero_row(row),
                false => self.ineqs.push(row),
            }
        }
        Ok(self)
    }

    fn equal_rows<T: Number>(&self, budget: &Budget) -> Result<Vec<bool>, Error> {
        let part = self.to_basic();
        let mut simplex = Simplex::<T>::new(part.cols() - 1);
        add_rows(&mut simplex, &part.system, &part.bounds(), budget)?;
        for row in part.system.ineqs.rows() {
            simplex.add_inequality(&narrowed(row)?, budget)?;
        }
        let mut equal = Vec::new();
        for row in part.system.ineqs.rows() {
            equal.push(
                !simplex.is_empty()
                    && match simplex.optimum(&narrowed(row)?, 1, budget)? {
                        Optimum::Unbounded => false,
                        Optimum::Value(num, den) => fit(num.minus(&den))?.sign() < 0,
                    },
            );
        }
        Ok(equal)
    }
}
