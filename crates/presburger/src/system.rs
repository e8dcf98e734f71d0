//! Conjunctions of linear equations and inequalities over the integers.
//!
//! The one representation of rows below relations: [`BasicMap`](crate::basic_map::BasicMap) is such
//! a system with definitions of divisions, [`Conjunction`](crate::Conjunction) its rows on the way
//! in and out. Guards of counts (`count/quasi_polynomial/guard`) hold rows of their own, over
//! floors that they share with polynomials.
//!
//! A row `[c, a1, .., an]` stands for `c + a1 x1 + .. + an xn`, which is zero in
//! an equation and not negative in an inequality.

use crate::matrix::{Matrix, divide, gcd, negated};
use crate::{Error, Integer};

/// The most bits of a number in a system: the 100,000 digits that texts may have.
const MOST_BITS: u64 = 332_193;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct System {
    pub eqs: Matrix,
    pub ineqs: Matrix,
}

impl System {
    pub fn new(vars: usize) -> Self {
        Self { eqs: Matrix::new(1 + vars), ineqs: Matrix::new(1 + vars) }
    }

    pub fn cols(&self) -> usize {
        self.eqs.cols
    }

    pub fn size(&self) -> usize {
        self.eqs.len() + self.ineqs.len()
    }

    pub fn remap(&self, cols: usize, to: &[Option<usize>]) -> Self {
        Self { eqs: self.eqs.remap(cols, to), ineqs: self.ineqs.remap(cols, to) }
    }

    /// Refuses numbers of more than [`MOST_BITS`]: operations on longer ones do not end.
    ///
    /// # Errors
    /// [`Error::Overflow`].
    pub fn check_numbers(&self) -> Result<(), Error> {
        let mut rows = self.eqs.rows().chain(self.ineqs.rows());
        let is_long = rows.any(|row| row.iter().any(|number| number.bits() > MOST_BITS));
        if is_long { Err(Error::Overflow) } else { Ok(()) }
    }

    pub fn rows_mut(&mut self) -> impl Iterator<Item = &mut [Integer]> {
        self.eqs.rows_mut().chain(self.ineqs.rows_mut())
    }

    /// Adds all rows of `other`.
    pub fn extend(&mut self, other: &Self) {
        other.eqs.rows().for_each(|row| self.eqs.push(row));
        other.ineqs.rows().for_each(|row| self.ineqs.push(row));
    }

    pub fn uses(&self, col: usize) -> bool {
        self.eqs.rows().chain(self.ineqs.rows()).any(|row| !row[col].is_zero())
    }

    /// Returns all rows as inequalities.
    pub fn half_spaces(&self) -> Vec<Vec<Integer>> {
        let mut rows: Vec<Vec<Integer>> = self.ineqs.rows().map(<[Integer]>::to_vec).collect();
        for row in self.eqs.rows() {
            rows.push(row.to_vec());
            rows.push(negated(row));
        }
        rows
    }

    /// Divides by common factors, tightens constants, keeps the tightest of
    /// parallel rows and turns opposite pairs into equations.
    ///
    /// Returns false if a row, or a pair of rows, has no integer solution.
    pub fn normalize(&mut self) -> bool {
        let Some(hashes) = self.tighten() else { return false };
        let mut pairs = Matrix::new(self.cols());
        let mut closed: Vec<usize> = Vec::new();
        for (index, row) in self.ineqs.rows().enumerate() {
            let mut others = hashes.iter().zip(self.ineqs.rows());
            let wanted = hashes[index].wrapping_neg();
            let found = others.find(|(hash, other)| **hash == wanted && opposite(row, other));
            match found.map(|(_, other)| (&row[0] + &other[0]).sign()) {
                Some(-1) => return false,
                // Both rows of the pair come by; the one with the larger normal stays.
                Some(0) => {
                    closed.push(index);
                    if row[1..].iter().find(|v| **v != 0).is_some_and(|v| v.sign() > 0) {
                        pairs.push(row);
                    }
                }
                _ => {}
            }
        }
        if pairs.len() > 0 {
            let mut rest = Matrix::new(self.cols());
            let rows = self.ineqs.rows().enumerate().filter(|(index, _)| !closed.contains(index));
            rows.for_each(|(_, row)| rest.push(row));
            self.ineqs = rest;
            self.eqs.rows().for_each(|row| pairs.push(row));
            self.eqs = pairs;
        }
        self.normalize_equations()
    }

    /// Divides inequalities by common factors, tightens constants and keeps the tightest of
    /// parallel rows; returns the hashes of the normals, nothing if a row cannot hold.
    fn tighten(&mut self) -> Option<Vec<u64>> {
        let mut hashes: Vec<u64> = Vec::with_capacity(self.ineqs.len());
        for index in 0..self.ineqs.len() {
            let row = self.ineqs.row_mut(index);
            let g = gcd(&row[1..]);
            if g.is_zero() {
                if row[0].sign() < 0 {
                    return None;
                }
                continue;
            }
            if g != Integer::ONE {
                row[0] = row[0].div_floor(&g);
                divide(&mut row[1..], &g);
            }
            let (hash, kept) = (hash(&row[1..]), hashes.len());
            let rows = &self.ineqs;
            let parallel = (0..kept)
                .find(|old| hashes[*old] == hash && rows.row(*old)[1..] == rows.row(index)[1..]);
            match parallel {
                Some(old) if rows.row(index)[0] < rows.row(old)[0] => {
                    self.ineqs.swap(old, index);
                }
                Some(_) => {}
                None => {
                    self.ineqs.swap(kept, index);
                    hashes.push(hash);
                }
            }
        }
        self.ineqs.truncate(hashes.len());
        Some(hashes)
    }

    /// Divides equations by common factors and drops those that are there already.
    fn normalize_equations(&mut self) -> bool {
        let mut kept = 0;
        for index in 0..self.eqs.len() {
            let row = self.eqs.row_mut(index);
            let g = gcd(&row[1..]);
            if g.is_zero() || !row[0].is_multiple_of(&g) {
                if !row[0].is_zero() {
                    return false;
                }
                continue;
            }
            divide(row, &g);
            if row[1..].iter().find(|v| !v.is_zero()).is_some_and(|v| v.sign() < 0) {
                row.iter_mut().for_each(|v| *v = -&*v);
            }
            if (0..kept).all(|old| self.eqs.row(old) != self.eqs.row(index)) {
                self.eqs.swap(kept, index);
                kept += 1;
            }
        }
        self.eqs.truncate(kept);
        true
    }
}

/// Returns whether the rows are opposite but for their constants.
pub(crate) fn opposite(a: &[Integer], b: &[Integer]) -> bool {
    a[1..].iter().zip(&b[1..]).all(|(a, b)| match (a, b) {
        (Integer::Small(a), Integer::Small(b)) if *b != i64::MIN => *a == -*b,
        _ => *a == -b,
    })
}

/// Hashes a row; the hash of the opposite row is the opposite number.
pub(crate) fn hash(row: &[Integer]) -> u64 {
    let mut weight = 0x9e37_79b9_7f4a_7c15_u64;
    row.iter().fold(0, |sum: u64, value| {
        weight = weight.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(0x2545_f491_4f6c_dd1d);
        sum.wrapping_add(value.low_bits().wrapping_mul(weight | 1))
    })
}
