//! Short vectors of lattices: the LLL algorithm in integers.
//!
//! `(1, 100)` and `(0, 101)` span the lattice of the points with `y = 100 x` modulo 101; the
//! algorithm returns `(1, -1)` and a vector of length near 71: short, and nearly orthogonal.
//!
//! Source: A. Lenstra, H. Lenstra, L. Lovász, 1982, in the integral form of
//! H. Cohen, "A Course in Computational Algebraic Number Theory", algorithm 2.6.7.

use crate::Integer;
use crate::count::polytope::cone::{Row, dot};

/// Returns a reduced basis of the lattice that the independent rows of `basis` span.
pub(crate) fn reduce(basis: Vec<Row>) -> Vec<Row> {
    let size = basis.len();
    let mut state = Lll::new(basis);
    if size == 0 {
        return state.basis;
    }
    let (mut k, mut known) = (1, 0);
    while k < size {
        if k > known {
            known = k;
            if !state.orthogonalize(k) {
                return state.basis;
            }
        }
        state.shorten(k, k - 1);
        if state.lovasz_holds(k) {
            (0..k - 1).rev().for_each(|l| state.shorten(k, l));
            k += 1;
        } else {
            state.swap(k, known);
            k = (k - 1).max(1);
        }
    }
    state.basis
}

/// `d[i + 1]` is the determinant of the first `i + 1` vectors' Gram matrix, and
/// `lambda[i][j]` is `d[j + 1]` times the Gram-Schmidt coefficient.
struct Lll {
    basis: Vec<Row>,
    d: Vec<Integer>,
    lambda: Vec<Row>,
}

impl Lll {
    fn new(basis: Vec<Row>) -> Self {
        let size = basis.len();
        let mut d = vec![Integer::ONE; size + 1];
        if let Some(first) = basis.first() {
            d[1] = dot(first, first);
        }
        Self { basis, d, lambda: vec![vec![Integer::ZERO; size]; size] }
    }

    fn orthogonalize(&mut self, k: usize) -> bool {
        for j in 0..=k {
            let mut u = dot(&self.basis[k], &self.basis[j]);
            for i in 0..j {
                let cross =
                    Integer::cross(&self.d[i + 1], &u, &self.lambda[k][i], &self.lambda[j][i]);
                u = cross.div_exact(&self.d[i]);
            }
            if j < k {
                self.lambda[k][j] = u;
            } else {
                self.d[k + 1] = u;
            }
        }
        !self.d[k + 1].is_zero()
    }

    fn shorten(&mut self, k: usize, l: usize) {
        let two = Integer::from(2);
        let double = self.lambda[k][l].mul(&two);
        if double.abs() <= self.d[l + 1] {
            return;
        }
        let times = double.add(&self.d[l + 1]).div_floor(&self.d[l + 1].mul(&two)).neg();
        let other = self.basis[l].clone();
        for (value, other) in self.basis[k].iter_mut().zip(&other) {
            *value = value.add_mul(&times, other);
        }
        self.lambda[k][l] = self.lambda[k][l].add_mul(&times, &self.d[l + 1]);
        for i in 0..l {
            self.lambda[k][i] = self.lambda[k][i].add_mul(&times, &self.lambda[l][i]);
        }
    }

    /// The condition with the constant 3/4.
    fn lovasz_holds(&self, k: usize) -> bool {
        let (four, three) = (Integer::from(4), Integer::from(3));
        let left = self.d[k + 1].mul(&self.d[k - 1]).mul(&four);
        let square = self.d[k].mul(&self.d[k]).mul(&three);
        let mu = &self.lambda[k][k - 1];
        left >= square.sub(&mu.mul(mu).mul(&four))
    }

    fn swap(&mut self, k: usize, known: usize) {
        self.basis.swap(k, k - 1);
        for j in 0..k - 1 {
            let value = std::mem::take(&mut self.lambda[k][j]);
            self.lambda[k][j] = std::mem::replace(&mut self.lambda[k - 1][j], value);
        }
        let lambda = self.lambda[k][k - 1].clone();
        let sum = self.d[k - 1].mul(&self.d[k + 1]).add_mul(&lambda, &lambda);
        let b = sum.div_exact(&self.d[k]);
        for i in k + 1..=known {
            let t = self.lambda[i][k].clone();
            let cross = Integer::cross(&self.d[k + 1], &self.lambda[i][k - 1], &lambda, &t);
            self.lambda[i][k] = cross.div_exact(&self.d[k]);
            let next = b.mul(&t).add_mul(&lambda, &self.lambda[i][k]);
            self.lambda[i][k - 1] = next.div_exact(&self.d[k + 1]);
        }
        self.d[k] = b;
    }
}
