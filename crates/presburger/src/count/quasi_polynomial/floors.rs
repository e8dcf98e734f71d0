//! Floors of affine expressions, each made of earlier ones, and linear forms over them.
//!
//! A [`Linear`] is sparse, as monomials are, and its floors belong to the polynomial; the forms of
//! functions (`function/affine`) are dense rows that own their divisions.

use rustc_hash::FxHashMap;

use crate::Integer;
use crate::count::polytope::cone::Row;
use crate::div::Div;
use crate::matrix::gcd;

/// `constant + sum factor * atom`; atoms are numbered as in a [`Monomial`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Linear {
    pub constant: Integer,
    pub terms: Vec<(u32, Integer)>,
}

impl Linear {
    pub fn add(&mut self, factor: &Integer, other: &Self) {
        self.constant = self.constant.add_mul(factor, &other.constant);
        for (atom, value) in &other.terms {
            let value = value.mul(factor);
            match self.terms.binary_search_by_key(atom, |(atom, _)| *atom) {
                Ok(at) => {
                    self.terms[at].1 = self.terms[at].1.add(&value);
                    if self.terms[at].1.is_zero() {
                        self.terms.remove(at);
                    }
                }
                Err(at) if !value.is_zero() => self.terms.insert(at, (*atom, value)),
                Err(_) => {}
            }
        }
    }
}

/// Floors in an order in which each is made of earlier ones, each stored once; zeros at the end of
/// numerators are left out, so that equal ones are the same.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Floors {
    pub vars: usize,
    pub all: Vec<Div>,
    index: FxHashMap<Div, u32>,
}

impl Floors {
    pub fn new(vars: usize) -> Self {
        Self { vars, ..Self::default() }
    }

    /// Returns `floor(num . (1, variables, floors) / den)` in its simplest form.
    ///
    /// Integer parts leave the floor, common factors go, and of `x` and `-x` the one
    /// with the smaller first factor stays inside.
    pub fn floor(&mut self, mut num: Row, mut den: Integer) -> Linear {
        let mut result = Linear::default();
        take_integers(&mut num, &den, &Integer::ONE, &mut result);
        let g = gcd(&num[1..]).gcd(&den);
        if g > Integer::ONE {
            num.iter_mut().for_each(|v| *v = v.div_floor(&g));
            den = den.div_exact(&g);
        }
        let Some(first) = num[1..].iter().find(|v| !v.is_zero()) else {
            return result;
        };
        let mut sign = Integer::ONE;
        let double = first.add(first);
        let opposite = den.sub(&Integer::ONE).sub(&num[0]);
        if double > den || double == den && opposite < num[0] {
            sign = sign.neg();
            num.iter_mut().for_each(|v| *v = v.neg());
            num[0] = opposite;
            take_integers(&mut num, &den, &sign, &mut result);
        }
        while num.last().is_some_and(Integer::is_zero) {
            num.pop();
        }
        let atom = self.intern(Div { num, den });
        result.add(&sign, &Linear { constant: Integer::ZERO, terms: vec![(atom, Integer::ONE)] });
        result
    }

    pub(in crate::count) fn intern(&mut self, floor: Div) -> u32 {
        let next = (self.vars + self.all.len()) as u32;
        *self.index.entry(floor).or_insert_with_key(|floor| {
            self.all.push(floor.clone());
            next
        })
    }

    /// Adds the floors of `other`; returns what each of its atoms is here.
    pub fn merge(&mut self, other: &Self) -> Vec<Linear> {
        let unit = |atom| Linear { constant: Integer::ZERO, terms: vec![(atom, Integer::ONE)] };
        let mut atoms: Vec<Linear> = (0..self.vars as u32).map(unit).collect();
        for floor in &other.all {
            let num = self.row(&substituted(&floor.num, &atoms));
            atoms.push(self.floor(num, floor.den.clone()));
        }
        atoms
    }

    /// Writes a linear form as a row over `(1, variables, floors)`.
    pub fn row(&self, linear: &Linear) -> Row {
        let mut row = vec![Integer::ZERO; 1 + self.vars + self.all.len()];
        row[0] = linear.constant.clone();
        for (atom, value) in &linear.terms {
            row[1 + *atom as usize] = value.clone();
        }
        row
    }

    /// Returns the floors as divisions: each numerator has a column for all that come before.
    pub fn divisions(&self) -> impl Iterator<Item = Div> {
        self.all.iter().enumerate().map(|(at, floor)| floor.widened(1 + self.vars + at))
    }

    /// Lists the floors: those of variables alone in ascending order, then the nested ones.
    pub fn sorted(&self) -> Vec<usize> {
        let nested = |i: &usize| self.all[*i].num.len() > 1 + self.vars;
        let (last, mut first): (Vec<usize>, Vec<usize>) = (0..self.all.len()).partition(nested);
        first.sort_by(|a, b| {
            let key = |i: &usize| (&self.all[*i].num[1..], &self.all[*i].den, &self.all[*i].num[0]);
            key(a).cmp(&key(b))
        });
        first.extend(last);
        first
    }

    /// Returns the values of variables and floors at a point.
    pub fn values(&self, point: &[Integer]) -> Vec<Integer> {
        let mut values = point.to_vec();
        for floor in &self.all {
            values.push(floor.value(&values));
        }
        values
    }
}

/// Returns the rows `num - den * floor` and `den * floor + den - 1 - num`.
pub(crate) fn bounds(floor: &Div, column: usize) -> (Row, Row) {
    let mut low = floor.num.clone();
    low.resize(column + 1, Integer::ZERO);
    low[column] = floor.den.neg();
    let mut high: Row = low.iter().map(Integer::neg).collect();
    high[0] = high[0].add(&floor.den).sub(&Integer::ONE);
    (low, high)
}

/// Puts linear forms for the atoms of a row over `(1, atoms)`.
pub(crate) fn substituted(row: &[Integer], atoms: &[Linear]) -> Linear {
    let mut sum = Linear { constant: row[0].clone(), terms: Vec::new() };
    for (factor, atom) in row[1..].iter().zip(atoms).filter(|(factor, _)| !factor.is_zero()) {
        sum.add(factor, atom);
    }
    sum
}

/// Moves `sign * floor(num / den)`, entry by entry, to `result`.
fn take_integers(num: &mut Row, den: &Integer, sign: &Integer, result: &mut Linear) {
    let mut whole = Linear::default();
    for (i, value) in num.iter_mut().enumerate() {
        let part = value.div_floor(den);
        if !part.is_zero() {
            *value = value.sub(&part.mul(den));
            match i {
                0 => whole.constant = part,
                _ => whole.terms.push((i as u32 - 1, part)),
            }
        }
    }
    result.add(sign, &whole);
}
