//! Row-major integer matrices in one allocation, with checked row arithmetic.

use crate::Error;

/// Rows of `cols` integers each; column 0 is the constant.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Matrix {
    pub cols: usize,
    data: Vec<i128>,
}

impl Matrix {
    pub fn new(cols: usize) -> Self {
        Self { cols: cols.max(1), data: Vec::new() }
    }

    pub fn len(&self) -> usize {
        self.data.len() / self.cols
    }

    pub fn rows(&self) -> std::slice::ChunksExact<'_, i128> {
        self.data.chunks_exact(self.cols)
    }

    pub fn rows_mut(&mut self) -> std::slice::ChunksExactMut<'_, i128> {
        self.data.chunks_exact_mut(self.cols)
    }

    pub fn row(&self, index: usize) -> &[i128] {
        &self.data[index * self.cols..][..self.cols]
    }

    pub fn row_mut(&mut self, index: usize) -> &mut [i128] {
        &mut self.data[index * self.cols..][..self.cols]
    }

    /// Appends `row`, padded with zeros on the right.
    pub fn push(&mut self, row: &[i128]) {
        let end = self.data.len() + self.cols;
        self.data.extend_from_slice(row);
        self.data.resize(end, 0);
    }

    pub fn swap_remove(&mut self, index: usize) {
        let last = self.len() - 1;
        if index != last {
            self.data.copy_within(last * self.cols.., index * self.cols);
        }
        self.data.truncate(last * self.cols);
    }

    /// Rewrites every row into `cols` columns; column `i` goes to `to[i]`, or away.
    pub fn remap(&self, cols: usize, to: &[Option<usize>]) -> Self {
        let mut result = Self::new(cols);
        result.data.resize(self.len() * result.cols, 0);
        for (row, new) in self.rows().zip(result.data.chunks_exact_mut(cols.max(1))) {
            place(row, new, to);
        }
        result
    }
}

/// Rewrites one row into `cols` columns; column `i` goes to `to[i]`, or away.
///
/// Columns that go to the same one are added up. An overflow leaves `i128::MIN`, which all
/// arithmetic refuses.
pub(crate) fn remap(row: &[i128], cols: usize, to: &[Option<usize>]) -> Vec<i128> {
    let mut result = vec![0; cols];
    place(row, &mut result, to);
    result
}

fn place(row: &[i128], result: &mut [i128], to: &[Option<usize>]) {
    for (value, target) in row.iter().zip(to) {
        if let Some(target) = target {
            result[*target] = match result[*target] {
                0 => *value,
                old => old.checked_add(*value).unwrap_or(i128::MIN),
            };
        }
    }
}

/// Multiplies; `i128::MIN` counts as an overflow, so every result can be negated.
pub(crate) fn mul(a: i128, b: i128) -> Result<i128, Error> {
    a.checked_mul(b).filter(|v| *v != i128::MIN).ok_or(Error::Overflow)
}

/// Adds; `i128::MIN` counts as an overflow, so every result can be negated.
pub(crate) fn add(a: i128, b: i128) -> Result<i128, Error> {
    a.checked_add(b).filter(|v| *v != i128::MIN).ok_or(Error::Overflow)
}

/// Returns `a * x + b * y`, row by row; the shorter row counts as padded.
pub(crate) fn combine(a: i128, x: &[i128], b: i128, y: &[i128]) -> Result<Vec<i128>, Error> {
    let at = |row: &[i128], index: usize| row.get(index).copied().unwrap_or(0);
    (0..x.len().max(y.len())).map(|i| add(mul(a, at(x, i))?, mul(b, at(y, i))?)).collect()
}

pub(crate) fn negated(row: &[i128]) -> Result<Vec<i128>, Error> {
    row.iter().map(|v| v.checked_neg().ok_or(Error::Overflow)).collect()
}

/// Returns the greatest common divisor, at least 0; `i128::MIN` is an overflow.
pub(crate) fn gcd(row: &[i128]) -> Result<i128, Error> {
    let mut result = 0_i128;
    for value in row.iter().filter(|value| **value != 0) {
        result = common(result, value.checked_abs().ok_or(Error::Overflow)?);
        if result == 1 {
            break;
        }
    }
    Ok(result)
}

/// Returns the greatest common divisor of two numbers that are not negative.
fn common(mut a: i128, mut b: i128) -> i128 {
    // Division of 128 bits is slow, and numbers are small as a rule.
    if let (Ok(mut a), Ok(mut b)) = (u64::try_from(a), u64::try_from(b)) {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        return i128::from(a);
    }
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Evaluates `row` at `point`; the point has no constant entry.
pub(crate) fn evaluate(row: &[i128], point: &[i128]) -> Result<i128, Error> {
    let mut sum = row[0];
    for (c, v) in row[1..].iter().zip(point) {
        if *c != 0 {
            sum = add(sum, mul(*c, *v)?)?;
        }
    }
    Ok(sum)
}
