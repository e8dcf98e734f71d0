//! Affine systems from expressions: one variable for each monomial, with what is known of it.
//!
//! A symbol has its lower bound; `q = floor(n/d)` has `0 <= n - d*q <= d - 1` where `d` is
//! positive; `max(a, b)` is at least each and equal to one of its arguments; a product of
//! factors that are not negative is not negative, and not less than the product without one
//! factor times that factor's lower bound.

use std::collections::HashMap;

use super::Expr;
use super::facts::Facts;
use super::monomial::{Atom, Compound, Monomial};
use super::omega::{Row, System, proves_empty};

/// Bounds the variables; later ones stay undefined, which is sound.
const MAX_VARIABLES: usize = 48;
/// Bounds the cases that minima and maxima are split into.
const MAX_CASES: usize = 32;

type Sparse = (Vec<(usize, i128)>, i128);

/// Collects constraints; all hold wherever the facts do.
pub(super) struct Linearizer<'a> {
    facts: &'a Facts,
    columns: HashMap<Monomial, usize>,
    /// Monomials by column: those before `defined` have their constraints.
    monomials: Vec<Monomial>,
    defined: usize,
    equalities: Vec<Sparse>,
    inequalities: Vec<Sparse>,
    /// Of each list, at least one holds with equality to zero.
    choices: Vec<Vec<Sparse>>,
}

impl<'a> Linearizer<'a> {
    pub(super) fn new(facts: &'a Facts) -> Self {
        let mut linearizer = Self {
            facts,
            columns: HashMap::new(),
            monomials: Vec::new(),
            defined: 0,
            equalities: Vec::new(),
            inequalities: Vec::new(),
            choices: Vec::new(),
        };
        for expr in facts.zeros() {
            linearizer.assume_zero(expr);
        }
        for expr in facts.nonnegatives() {
            linearizer.assume_nonneg(expr, 0);
        }
        linearizer
    }

    /// Adds `expr + shift >= 0`.
    pub(super) fn assume_nonneg(&mut self, expr: &Expr, shift: i128) {
        let (terms, constant) = self.linear(expr);
        self.inequalities.push((terms, constant + shift));
    }

    pub(super) fn assume_zero(&mut self, expr: &Expr) {
        let row = self.linear(expr);
        self.equalities.push(row);
    }

    /// Returns whether the constraints were proved to contradict each other.
    pub(super) fn contradicts(mut self) -> bool {
        while self.defined < self.monomials.len().min(MAX_VARIABLES) {
            let monomial = self.monomials[self.defined].clone();
            self.defined += 1;
            self.define(&monomial);
        }
        let mut cases = 1;
        self.choices.retain(|choice| {
            let fits = cases * choice.len() <= MAX_CASES;
            cases *= if fits { choice.len() } else { 1 };
            fits
        });
        (0..cases).all(|case| proves_empty(self.system(case)))
    }

    fn system(&self, mut case: usize) -> System {
        let dense = |row: &Sparse| self.dense(row);
        let mut system = System {
            equalities: self.equalities.iter().map(dense).collect(),
            inequalities: self.inequalities.iter().map(dense).collect(),
        };
        for choice in &self.choices {
            system.equalities.push(self.dense(&choice[case % choice.len()]));
            case /= choice.len();
        }
        system
    }

    fn dense(&self, (terms, constant): &Sparse) -> Row {
        let mut row = vec![0; self.monomials.len() + 1];
        for &(column, coeff) in terms {
            row[column] += coeff;
        }
        row[self.monomials.len()] = *constant;
        row
    }

    fn column(&mut self, monomial: &Monomial) -> usize {
        if let Some(&column) = self.columns.get(monomial) {
            return column;
        }
        let column = self.monomials.len();
        self.monomials.push(monomial.clone());
        self.columns.insert(monomial.clone(), column);
        column
    }

    fn linear(&mut self, expr: &Expr) -> Sparse {
        let terms = expr.terms().iter();
        let terms = terms.map(|term| (self.column(&term.monomial), i128::from(term.coeff)));
        (terms.collect(), i128::from(expr.constant()))
    }

    fn define(&mut self, monomial: &Monomial) {
        let column = self.column(monomial);
        if let Some(lower) = self.facts.monomial_lower(monomial) {
            self.inequalities.push((vec![(column, 1)], -lower));
        }
        match monomial.as_atom() {
            Some(Atom::Compound(compound)) => self.define_compound(column, compound),
            Some(Atom::Symbol(_)) => {}
            None => self.define_product(column, monomial),
        }
    }

    fn define_product(&mut self, column: usize, monomial: &Monomial) {
        let lowers: Vec<Option<i128>> =
            monomial.0.iter().map(|(atom, _)| self.facts.atom_lower(atom)).collect();
        if lowers.iter().any(|lower| lower.is_none_or(|lower| lower < 0)) {
            return;
        }
        for ((atom, _), lower) in monomial.0.iter().zip(lowers) {
            let lower = lower.filter(|&lower| lower > 0);
            let rest = monomial.div(&Monomial::atom(atom.clone()));
            if let (Some(lower), Some(rest)) = (lower, rest) {
                let rest = self.column(&rest);
                self.inequalities.push((vec![(column, 1), (rest, -lower)], 0));
            }
        }
    }

    fn define_compound(&mut self, column: usize, compound: &Compound) {
        match compound {
            Compound::Floor(num, den) => self.define_floor(column, num, den),
            Compound::Trunc(num, den) => {
                if self.facts.lower(num).is_some_and(|lower| lower >= 0) {
                    self.define_floor(column, num, den);
                }
            }
            Compound::Min(args) => self.define_extremum(column, args, -1),
            Compound::Max(args) => self.define_extremum(column, args, 1),
        }
    }

    /// States `0 <= num - den*q <= den - 1`.
    fn define_floor(&mut self, column: usize, num: &Expr, den: &Expr) {
        if self.facts.lower(den).is_none_or(|lower| lower < 1) {
            return;
        }
        let quotient = Expr::from_monomial(self.monomials[column].clone(), 1);
        let rest = quotient.and_then(|q| num.try_sub(&den.try_mul(&q)?));
        let gap = rest.as_ref().and_then(|rest| den.try_sub(rest));
        if let (Some(rest), Some(gap)) = (rest, gap) {
            self.assume_nonneg(&rest, 0);
            self.assume_nonneg(&gap, -1);
        }
    }

    /// States `sign*(v - arg) >= 0` for each argument, and equality for one.
    fn define_extremum(&mut self, column: usize, args: &[Expr], sign: i128) {
        let mut choice = Vec::with_capacity(args.len());
        for arg in args {
            let (mut terms, constant) = self.linear(arg);
            terms.iter_mut().for_each(|(_, coeff)| *coeff *= -sign);
            terms.push((column, sign));
            let row = (terms, -sign * constant);
            self.inequalities.push(row.clone());
            choice.push(row);
        }
        self.choices.push(choice);
    }
}
