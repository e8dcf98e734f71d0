//! Residue classes of loop iterators.

use tangram_presburger::Error;

use crate::ast::basic_set::{BasicSet, Linear, combine, negated};
use crate::number::gcd;

/// All values are `offset` plus a multiple of `modulus`; 0 means one value.
#[derive(Debug, Clone)]
pub(in crate::ast) struct Stride {
    pub modulus: i128,
    pub offset: Linear,
}

impl Stride {
    /// Finds what the equations of `cell` say about the variable of `col`, where those of
    /// `known`, over the variables before it, hold as well.
    pub fn of(cell: &BasicSet, col: usize, known: &BasicSet) -> Result<Option<Self>, Error> {
        let depends = cell.dependent(col);
        let mut all: Option<Self> = None;
        for row in &cell.part.equalities {
            let inner = (1 + cell.vars..row.len()).filter(|c| depends[*c]);
            let g = inner.fold(0, |g, c| gcd(g, row[c]));
            let found = match Self::of_row(cell, row, col, g, &depends)? {
                None if g > 1 && gcd(row[col], g) > 1 => {
                    Self::of_row_where(cell, row, col, g, known)?
                }
                found => found,
            };
            let Some(found) = found else { continue };
            all = Some(match all {
                Some(old) => old.both(found, cell.vars)?,
                None => found,
            });
        }
        Ok(all)
    }

    /// Reads a row with the help of outer dimensions: where `y = 4 d + 1`, `4 x = y - 9` modulo
    /// 12 says that `x = d - 2` modulo 3.
    fn of_row_where(
        cell: &BasicSet,
        row: &[i128],
        col: usize,
        g: i128,
        known: &BasicSet,
    ) -> Result<Option<Self>, Error> {
        if known.part.equalities.is_empty() {
            return Ok(None);
        }
        let mut cell = cell.clone();
        let own = cell.part.equalities.len();
        cell.part.inequalities.clear();
        cell.join(&known.widened(cell.vars));
        let depends = cell.dependent(col);
        let h = gcd(row[col], g);
        let mut row = row.to_vec();
        row.resize(cell.cols(), 0);
        for equation in &cell.part.equalities[own..] {
            let unit = |c: &usize| !depends[*c] && row[*c] % h != 0 && gcd(equation[*c], h) == 1;
            let Some(at) = (1..row.len()).find(unit) else { continue };
            let times = -row[at] * inverse(equation[at].rem_euclid(h), h);
            row = combine(1, &row, times % h, equation)?;
        }
        Self::of_row(&cell, &row, col, g, &depends)
    }

    /// Returns the class that both say, or the finer one if they cannot be one.
    fn both(self, other: Self, vars: usize) -> Result<Self, Error> {
        let (old, new) =
            match self.modulus != 0 && (other.modulus == 0 || other.modulus > self.modulus) {
                true => (other, self),
                false => (self, other),
            };
        if old.modulus == 0 || gcd(old.modulus, new.modulus) != 1 {
            return Ok(old);
        }
        let modulus = old.modulus.checked_mul(new.modulus).ok_or(Error::Overflow)?;
        let mut scratch = BasicSet::universe(vars);
        let a = scratch.row_of(&old.offset);
        let b = scratch.row_of(&new.offset);
        let of = |own: i128, other: i128| {
            let inverse = inverse(other.rem_euclid(own), own);
            other.checked_mul(inverse).ok_or(Error::Overflow)
        };
        let offset = combine(of(old.modulus, new.modulus)?, &a, of(new.modulus, old.modulus)?, &b)?;
        let offset: Vec<i128> = offset.iter().map(|v| centred(*v, modulus)).collect();
        Ok(Self { modulus, offset: scratch.linear(&offset) })
    }

    /// Reads `a x + f + g (..) = 0` as `x = -f / a` modulo `g`.
    fn of_row(
        cell: &BasicSet,
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
        let mut scratch = BasicSet::universe(vars);
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
    pub fn constrain(&self, cell: &mut BasicSet, col: usize) -> Result<(), Error> {
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
pub(in crate::ast) fn centred(value: i128, modulus: i128) -> i128 {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Over two variables: the second is `1 + floor(x / 2)`, beside a division nobody uses.
    fn value(idle: Option<i128>) -> Stride {
        let mut cell = BasicSet::universe(2);
        if let Some(denominator) = idle {
            cell.division(&[1, 1, 0], denominator);
        }
        let division = cell.division(&[0, 1, 0], 2);
        let mut row = vec![0; cell.cols()];
        (row[0], row[division]) = (1, 1);
        Stride { modulus: 0, offset: cell.linear(&row) }
    }

    #[test]
    fn a_common_class_has_a_number_for_each_division() {
        let all = [value(None), value(Some(3)), value(Some(5))];
        for (one, other) in all.iter().flat_map(|one| all.iter().map(move |other| (one, other))) {
            let common = one.common(other, 2).expect("small numbers").expect("one value");
            assert_eq!(common.modulus, 0);
            let form = &common.offset;
            assert_eq!(form.row.len(), 1 + 2 + form.divisions.len(), "{form:?}");
        }
    }
}
