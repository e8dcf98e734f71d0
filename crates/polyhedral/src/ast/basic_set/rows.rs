//! Rows of coefficients.

use crate::number::gcd;
use tangram_presburger::Error;

/// Returns `a * x + b * y`; the shorter row counts as padded.
pub(in crate::ast) fn combine(
    a: i128,
    x: &[i128],
    b: i128,
    y: &[i128],
) -> Result<Vec<i128>, Error> {
    let at = |row: &[i128], index: usize| row.get(index).copied().unwrap_or(0);
    let one = |i: usize| {
        let left = a.checked_mul(at(x, i))?;
        left.checked_add(b.checked_mul(at(y, i))?).filter(|v| *v != i128::MIN)
    };
    (0..x.len().max(y.len())).map(|i| one(i).ok_or(Error::Overflow)).collect()
}

/// Divides an inequality by the factor that its coefficients share; tightens the constant.
pub(in crate::ast) fn tightened(row: &mut [i128]) {
    let g = row[1..].iter().fold(0, |g, v| gcd(g, *v));
    if g > 1 {
        row[1..].iter_mut().for_each(|v| *v /= g);
        row[0] = row[0].div_euclid(g);
    }
}

pub(in crate::ast) fn negated(row: &[i128]) -> Vec<i128> {
    row.iter().map(|v| v.wrapping_neg()).collect()
}

/// Takes the entries of a row to other columns; unused entries may share one.
pub(super) fn moved(row: &[i128], to: &[usize], cols: usize) -> Vec<i128> {
    let mut result = vec![0_i128; cols];
    for (value, target) in row.iter().zip(to) {
        if *value != 0 {
            result[*target] = result[*target].wrapping_add(*value);
        }
    }
    result
}
