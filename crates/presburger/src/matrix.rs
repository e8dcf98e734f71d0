//! Row-major integer matrices in one allocation, and arithmetic on rows.

use crate::Integer;

/// Rows of `cols` integers each; column 0 is the constant.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Matrix<T = Integer> {
    pub cols: usize,
    data: Vec<T>,
}

impl<T: Clone + Default> Matrix<T> {
    pub fn new(cols: usize) -> Self {
        Self { cols: cols.max(1), data: Vec::new() }
    }

    pub fn len(&self) -> usize {
        self.data.len() / self.cols
    }

    pub fn rows(&self) -> std::slice::ChunksExact<'_, T> {
        self.data.chunks_exact(self.cols)
    }

    pub fn rows_mut(&mut self) -> std::slice::ChunksExactMut<'_, T> {
        self.data.chunks_exact_mut(self.cols)
    }

    pub fn row(&self, index: usize) -> &[T] {
        &self.data[index * self.cols..][..self.cols]
    }

    pub fn row_mut(&mut self, index: usize) -> &mut [T] {
        &mut self.data[index * self.cols..][..self.cols]
    }

    /// Appends `row`, padded with zeros on the right.
    pub fn push(&mut self, row: &[T]) {
        let end = self.data.len() + self.cols;
        self.data.reserve(self.cols);
        self.data.extend_from_slice(row);
        self.data.resize(end, T::default());
    }

    /// Appends a row of these numbers, padded with zeros on the right.
    pub fn push_all(&mut self, row: impl Iterator<Item = T>) {
        let end = self.data.len() + self.cols;
        self.data.reserve(self.cols);
        self.data.extend(row.take(self.cols));
        self.data.resize(end, T::default());
    }

    /// Makes room for so many more rows.
    pub fn reserve(&mut self, rows: usize) {
        self.data.reserve_exact(rows * self.cols);
    }

    /// Keeps the first `rows` rows.
    pub fn truncate(&mut self, rows: usize) {
        self.data.truncate(rows * self.cols);
    }

    /// Swaps two rows.
    pub fn swap(&mut self, a: usize, b: usize) {
        let (low, high) = (a.min(b), a.max(b));
        if low != high {
            let (before, after) = self.data.split_at_mut(high * self.cols);
            before[low * self.cols..][..self.cols].swap_with_slice(&mut after[..self.cols]);
        }
    }

    pub fn swap_remove(&mut self, index: usize) {
        let last = self.len() - 1;
        self.swap(index, last);
        self.truncate(last);
    }

    /// Keeps the rows for which there is a true value.
    pub fn retain(&mut self, kept: &[bool]) {
        let mut next = 0;
        for (index, _) in kept.iter().enumerate().filter(|(_, kept)| **kept) {
            self.swap(next, index);
            next += 1;
        }
        self.truncate(next);
    }
}

impl Matrix {
    /// Appends `a * x + b * y`; shorter rows count as padded.
    pub fn push_combined(&mut self, a: &Integer, x: &[Integer], b: &Integer, y: &[Integer]) {
        let end = self.data.len() + self.cols;
        self.data.extend(combined(a, x, b, y));
        self.data.resize(end, Integer::ZERO);
    }

    /// Appends `row`; column `i` goes to `to[i]`, or away.
    pub fn push_placed(&mut self, row: &[Integer], to: &[Option<usize>]) {
        let start = self.data.len();
        self.data.resize(start + self.cols, Integer::ZERO);
        place(row, &mut self.data[start..], to);
    }

    /// Rewrites every row into `cols` columns; column `i` goes to `to[i]`, or away.
    pub fn remap(&self, cols: usize, to: &[Option<usize>]) -> Self {
        let mut result = Self::new(cols);
        result.data.resize(self.len() * result.cols, Integer::ZERO);
        for (row, new) in self.rows().zip(result.data.chunks_exact_mut(cols.max(1))) {
            place(row, new, to);
        }
        result
    }
}

/// Makes a row of zeros.
pub(crate) fn zeros(cols: usize) -> Vec<Integer> {
    vec![Integer::ZERO; cols]
}

/// Rewrites one row into `cols` columns; column `i` goes to `to[i]`, or away.
///
/// Columns that go to the same one are added up.
pub(crate) fn remap(row: &[Integer], cols: usize, to: &[Option<usize>]) -> Vec<Integer> {
    let mut result = zeros(cols);
    place(row, &mut result, to);
    result
}

fn place(row: &[Integer], result: &mut [Integer], to: &[Option<usize>]) {
    for (value, target) in row.iter().zip(to) {
        if let Some(target) = target
            && !value.is_zero()
        {
            result[*target] = match result[*target].is_zero() {
                true => value.clone(),
                false => &result[*target] + value,
            };
        }
    }
}

/// Returns `a * x + b * y`, row by row; the shorter row counts as padded.
pub(crate) fn combine(a: &Integer, x: &[Integer], b: &Integer, y: &[Integer]) -> Vec<Integer> {
    combined(a, x, b, y).collect()
}

fn combined<'a>(
    a: &'a Integer,
    x: &'a [Integer],
    b: &'a Integer,
    y: &'a [Integer],
) -> impl Iterator<Item = Integer> + 'a {
    let both = x.len().min(y.len());
    let sums = x.iter().zip(y).map(move |(x, y)| (a * x).add_mul(b, y));
    let left = x[both..].iter().map(move |x| a * x);
    sums.chain(left).chain(y[both..].iter().map(move |y| b * y))
}

/// Returns the opposite of a row.
pub(crate) fn negated(row: &[Integer]) -> Vec<Integer> {
    row.iter().map(Integer::neg).collect()
}

/// Returns the greatest common divisor, at least 0.
pub(crate) fn gcd(row: &[Integer]) -> Integer {
    let mut result = Integer::ZERO;
    for value in row.iter().filter(|value| !value.is_zero()) {
        result = result.gcd(value);
        if result == Integer::ONE {
            break;
        }
    }
    result
}

/// Divides by a number that divides all of the row.
pub(crate) fn divide(row: &mut [Integer], divisor: &Integer) {
    if *divisor != Integer::ONE {
        row.iter_mut().for_each(|value| *value = value.div_exact(divisor));
    }
}

/// Evaluates `row` at `point`; the point has no constant entry.
pub(crate) fn evaluate(row: &[Integer], point: &[Integer]) -> Integer {
    row[1..].iter().zip(point).fold(row[0].clone(), |sum, (c, v)| sum.add_mul(c, v))
}
