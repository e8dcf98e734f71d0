//! Exact linear algebra on short integer rows.

use crate::number::gcd;
use tangram_presburger::Error;

/// Returns the sum of products.
pub(super) fn dot(a: &[i128], b: &[i128]) -> Result<i128, Error> {
    a.iter().zip(b).filter(|(x, y)| **x != 0 && **y != 0).try_fold(0_i128, |sum, (x, y)| {
        x.checked_mul(*y).and_then(|product| sum.checked_add(product)).ok_or(Error::Overflow)
    })
}

/// Returns `x * a + y * b`, divided by the factor that its numbers share.
pub(super) fn combined(x: i128, a: &[i128], y: i128, b: &[i128]) -> Result<Vec<i128>, Error> {
    let mut sum = Vec::with_capacity(a.len());
    for (a, b) in a.iter().zip(b) {
        let term = x.checked_mul(*a).zip(y.checked_mul(*b)).and_then(|(l, r)| l.checked_add(r));
        sum.push(term.ok_or(Error::Overflow)?);
    }
    reduce(&mut sum);
    Ok(sum)
}

/// Divides a row by the factor that its numbers share.
pub(super) fn reduce(row: &mut [i128]) {
    let common = row.iter().fold(0, |common, value| gcd(common, *value));
    if common > 1 {
        row.iter_mut().for_each(|value| *value /= common);
    }
}

/// Brings rows to echelon form; returns the pivot column of each row that is left.
pub(super) fn echelon(rows: &mut Vec<Vec<i128>>, cols: usize) -> Result<Vec<usize>, Error> {
    let mut pivots = Vec::new();
    for col in 0..cols {
        let done = pivots.len();
        let Some(found) = (done..rows.len()).find(|row| rows[*row][col] != 0) else { continue };
        rows.swap(done, found);
        for row in (0..rows.len()).filter(|row| *row != done) {
            let (factor, pivot) = (rows[row][col], rows[done][col]);
            if factor != 0 {
                rows[row] = combined(pivot, &rows[row], -factor, &rows[done])?;
            }
        }
        pivots.push(col);
    }
    rows.truncate(pivots.len());
    Ok(pivots)
}

/// Returns the number of independent rows.
#[cfg(test)]
fn rank(rows: &[Vec<i128>], cols: usize) -> Result<usize, Error> {
    Ok(echelon(&mut rows.to_vec(), cols)?.len())
}

/// Returns a basis of the vectors on which all rows vanish.
pub(super) fn null_space(rows: &[Vec<i128>], cols: usize) -> Result<Vec<Vec<i128>>, Error> {
    let mut rows = rows.to_vec();
    let pivots = echelon(&mut rows, cols)?;
    let mut basis = Vec::new();
    for free in (0..cols).filter(|col| !pivots.contains(col)) {
        // Scaled by the product of the pivots that matter, so that all entries are integers.
        let mut vector = vec![0; cols];
        vector[free] = 1;
        for (row, pivot) in rows.iter().zip(&pivots) {
            let (value, lead) = (row[free], row[*pivot]);
            if value == 0 {
                continue;
            }
            let scale = lead / gcd(lead, value);
            let scaled = value
                .checked_mul(vector[free])
                .and_then(|v| v.checked_mul(scale))
                .ok_or(Error::Overflow)?;
            for entry in &mut vector {
                *entry = entry.checked_mul(scale).ok_or(Error::Overflow)?;
            }
            vector[*pivot] = -scaled / lead;
        }
        reduce(&mut vector);
        if vector.iter().find(|v| **v != 0).is_some_and(|v| *v < 0) {
            vector.iter_mut().for_each(|v| *v = -*v);
        }
        basis.push(vector);
    }
    Ok(basis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_null_space_and_a_rank_add_up() {
        let rows = vec![vec![2, 3, -1, 0], vec![4, 1, 0, 5], vec![6, 4, -1, 5]];
        let basis = null_space(&rows, 4).expect("small");
        assert_eq!((rank(&rows, 4).expect("small"), basis.len()), (2, 2));
        for vector in &basis {
            for row in &rows {
                assert_eq!(dot(row, vector), Ok(0), "{vector:?}");
            }
        }
        assert_eq!(rank(&basis, 4), Ok(2));
    }
}
