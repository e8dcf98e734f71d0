//! Residue classes of loop iterators.

use tangram_presburger::Error;

use super::cell::{Cell, Linear, combine, negated};
use crate::number::gcd;

/// All values are `offset` plus a multiple of `modulus`; 0 means one value.
#[derive(Debug, Clone)]
pub(super) struct Stride {
    pub modulus: i128,
    pub offset: Linear,
}

impl Stride {
    /// Finds what the equations of `cell` say about the variable of `col`.
    pub fn of(cell: &Cell, col: usize) -> Result<Option<Self>, Error> {
        let depends = cell.dependent(col);
        let mut best: Option<Self> = None;
        for row in &cell.part.equalities {
            let inner = (1 + cell.vars..row.len()).filter(|c| depends[*c]);
            let g = inner.fold(0, |g, c| gcd(g, row[c]));
            let Some(found) = Self::of_row(cell, row, col, g, &depends)? else { continue };
            let better =
                |old: &Self| found.modulus == 0 || old.modulus != 0 && found.modulus > old.modulus;
            if best.as_ref().is_none_or(better) {
                best = Some(found);
            }
        }
        Ok(best)
    }

    /// Reads `a x + f + g (..) = 0` as `x = -f / a` modulo `g`.
    fn of_row(
        cell: &Cell,
        row: &[i128],
        col: usize,
        g: i128,
        depends: &[bool],
    ) -> Result<Option<Self>, Error> {
        let a = row[col];
        let outer = |c: &usize| *c != col && !depends[*c];
        let mut f: Vec<i128> = (0..row.len()).map(|c| if outer(&c) { row[c] } else { 0 }).collect();
        if g == 0 {
            if a.abs() != 1 {
                return Ok(None);
            }
            let offset = if a > 0 { negated(&f) } else { f };
            return Ok(Some(Self { modulus: 0, offset: cell.linear(&offset) }));
        }
        let h = gcd(a, g);
        if h == 0 || f.iter().any(|v| v % h != 0) {
            return Ok(None);
        }
        let (a, modulus) = (a / h, g / h);
        f.iter_mut().for_each(|v| *v /= h);
        if modulus <= 1 {
            return Ok(None);
        }
        let inverse = inverse(a.rem_euclid(modulus), modulus);
        let offset = combine(-inverse, &f, 0, &f)?;
        let offset: Vec<i128> = offset.iter().map(|v| centred(*v, modulus)).collect();
        Ok(Some(Self { modulus, offset: cell.linear(&offset) }))
    }

    /// Returns the finest class that holds both.
    pub fn common(&self, other: &Self, vars: usize) -> Result<Option<Self>, Error> {
        let mut scratch = Cell::universe(vars);
        let a = scratch.row_of(&self.offset);
        let b = scratch.row_of(&other.offset);
        let distance = combine(1, &a, -1, &b)?;
        let modulus = distance.iter().fold(gcd(self.modulus, other.modulus), |g, v| gcd(g, *v));
        if modulus == 1 {
            return Ok(None);
        }
        Ok(Some(Self { modulus, offset: scratch.linear(&a) }))
    }

    /// Adds `x = offset` modulo `modulus` to `cell`.
    pub fn constrain(&self, cell: &mut Cell, col: usize) -> Result<(), Error> {
        let offset = cell.row_of(&self.offset);
        let mut row = negated(&offset);
        row[col] += 1;
        if self.modulus != 0 {
            let division = cell.division(&row, self.modulus);
            row.resize(cell.cols(), 0);
            row[division] = -self.modulus;
        }
        cell.part.equalities.push(row);
        Ok(())
    }
}

/// Takes a residue to the representative nearest to 0.
fn centred(value: i128, modulus: i128) -> i128 {
    let value = value.rem_euclid(modulus);
    if value > modulus / 2 { value - modulus } else { value }
}

/// Returns `x` with `a x = 1` modulo `modulus`; they have no common factor.
fn inverse(a: i128, modulus: i128) -> i128 {
    let (mut old, mut new) = ((a, 1), (modulus, 0));
    while new.0 != 0 {
        let quotient = old.0 / new.0;
        (old, new) = (new, (old.0 - quotient * new.0, old.1 - quotient * new.1));
    }
    old.1.rem_euclid(modulus)
}
