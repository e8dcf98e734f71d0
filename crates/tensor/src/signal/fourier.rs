//! Discrete Fourier transforms of many runs of one length, planned once.
//!
//! The transforms are `rustfft`'s scalar ones, so that every machine computes the same bits. Real
//! runs of an even length `2 m` are read as `m` complex numbers `z[j] = x[2 j] + i x[2 j + 1]`: the
//! even and the odd elements' transforms are `(Z[k] + Z*[m - k]) / 2` and `(Z[k] - Z*[m - k]) / 2 i`,
//! and `X[k]` is the first plus `exp(-2 pi i k / 2 m)` times the second.

use rustfft::num_complex::Complex64;
use rustfft::{Fft, FftPlannerScalar};
use std::f64::consts::PI;
use std::sync::Arc;

pub(super) type Complex = Complex64;

/// The transform of runs of `length` numbers, with its working memory.
pub(super) struct Fourier {
    plan: Arc<dyn Fft<f64>>,
    length: usize,
    inverse: bool,
    scratch: Vec<Complex>,
}

impl Fourier {
    /// Of `length` numbers; back, with the factor `1 / length`, if `inverse`.
    pub(super) fn new(length: usize, inverse: bool) -> Fourier {
        let mut planner = FftPlannerScalar::new();
        let plan = match inverse {
            true => planner.plan_fft_inverse(length),
            false => planner.plan_fft_forward(length),
        };
        let scratch = vec![Complex::default(); plan.get_inplace_scratch_len()];
        Fourier { plan, length, inverse, scratch }
    }

    /// Transforms `run`, which has the planned length, in place.
    pub(super) fn transform(&mut self, run: &mut [Complex]) {
        self.plan.process_with_scratch(run, &mut self.scratch);
        if self.inverse {
            let scale = self.length as f64;
            run.iter_mut().for_each(|x| *x /= scale);
        }
    }
}

/// The first `length / 2 + 1` frequencies of runs of `length` real numbers.
pub(super) struct RealFourier {
    /// Of half the length where that is whole.
    inner: Fourier,
    run: Vec<Complex>,
    /// `exp(-2 pi i k / length)` for the frequencies `k` of even lengths; else nothing.
    roots: Vec<Complex>,
}

impl RealFourier {
    pub(super) fn new(length: usize) -> RealFourier {
        let even = length.is_multiple_of(2);
        let size = if even { length / 2 } else { length };
        let root = |k: usize| Complex::from_polar(1.0, -2.0 * PI * k as f64 / length as f64);
        let roots = if even { (0..=size).map(root).collect() } else { Vec::new() };
        let run = vec![Complex::default(); size];
        RealFourier { inner: Fourier::new(size, false), run, roots }
    }

    /// Transforms the numbers `x(0)`, `x(1)`... and appends the frequencies to `out`.
    pub(super) fn transform(&mut self, x: impl Fn(usize) -> f64, out: &mut Vec<Complex>) {
        let even = !self.roots.is_empty();
        for (j, z) in self.run.iter_mut().enumerate() {
            *z = match even {
                true => Complex::new(x(2 * j), x(2 * j + 1)),
                false => Complex::new(x(j), 0.0),
            };
        }
        self.inner.transform(&mut self.run);
        let size = self.run.len();
        if !even {
            out.extend_from_slice(&self.run[..size / 2 + 1]);
            return;
        }
        for (k, root) in self.roots.iter().enumerate() {
            let (front, back) = (self.run[k % size], self.run[(size - k) % size].conj());
            let (even, odd) = ((front + back) / 2.0, (front - back) / 2.0);
            // Divided by `i`.
            out.push(even + root * Complex::new(odd.im, -odd.re));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTHS: [usize; 14] = [1, 2, 3, 4, 8, 12, 63, 64, 65, 100, 127, 400, 512, 1009];

    fn run(n: usize) -> Vec<Complex> {
        let number =
            |k: usize| Complex::new(((k * k) % 7) as f64 - 3.0, ((k * 5) % 11) as f64 / 4.0);
        (0..n).map(number).collect()
    }

    /// The sum that defines a frequency.
    fn frequency(run: &[Complex], k: usize) -> Complex {
        let n = run.len();
        let turn = |j: usize| -2.0 * PI * (j * k % n) as f64 / n as f64;
        run.iter().enumerate().map(|(j, x)| x * Complex::from_polar(1.0, turn(j))).sum()
    }

    #[test]
    fn transforms_follow_the_definition_and_come_back() {
        for n in LENGTHS {
            let mut fast = run(n);
            Fourier::new(n, false).transform(&mut fast);
            for (k, x) in fast.iter().enumerate() {
                assert!((x - frequency(&run(n), k)).norm() < 1e-10 * n as f64, "{n} at {k}");
            }
            Fourier::new(n, true).transform(&mut fast);
            for (a, b) in fast.iter().zip(run(n)) {
                assert!((a - b).norm() < 1e-12 * n as f64, "{n}");
            }
        }
    }

    #[test]
    fn real_runs_have_half_of_the_frequencies() {
        for n in LENGTHS {
            let real: Vec<Complex> = run(n).iter().map(|x| Complex::new(x.re, 0.0)).collect();
            let mut plan = RealFourier::new(n);
            let mut out = Vec::new();
            // Twice: nothing of a run stays behind.
            plan.transform(|j| j as f64, &mut out);
            out.clear();
            plan.transform(|j| real[j].re, &mut out);
            assert_eq!(out.len(), n / 2 + 1);
            for (k, x) in out.iter().enumerate() {
                assert!((x - frequency(&real, k)).norm() < 1e-10 * n as f64, "{n} at {k}");
            }
        }
    }
}
