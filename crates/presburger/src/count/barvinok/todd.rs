//! Constant terms: what a unimodular cone contributes to the number of points.
//!
//! The points `y >= c` of a unimodular cone, weighted with `exp(t nu . y)`, add up to
//! `exp(t s) / prod (1 - exp(t nu_i))` with `s = nu . c`. Poles at `t = 0` cancel in the
//! sum over all cones, and the constant term is
//! `(-1)^d / prod nu_i * sum_k s^k / k! * tau_(d-k)`, where `sum tau_j t^j` is the product
//! of the Todd series `t nu_i / (exp(t nu_i) - 1)`. From the logarithm of that series,
//! `j tau_j = sum_k h_k p_k tau_(j-k)`, where `p_k` is the sum of the powers `nu_i^k`,
//! `h_1 = -1/2` and `h_k = -B_k / k!`.

use crate::{Integer, Rational};

/// Numbers that depend on the dimension alone.
#[derive(Debug, Clone)]
pub(crate) struct Todd {
    dims: usize,
    /// `steps[j][k]` is `M_j / M_(j-k) * h_k`, an integer, where `M_j tau_j` is one for
    /// integer `nu`: `M_j` is the product of all `p^(j / (p - 1))` over primes `p`.
    steps: Vec<Vec<Integer>>,
    /// `shares[k]` is `W / (M_(d-k) k!)`.
    shares: Vec<Integer>,
    /// The common denominator `W`.
    den: Integer,
}

impl Todd {
    pub fn new(dims: usize) -> Self {
        let logs = logarithm(dims);
        let scales: Vec<Integer> = (0..=dims).map(scale).collect();
        let step = |j: usize, k: usize| {
            let ratio = Rational::from(scales[j].div_exact(&scales[j - k])).mul(&logs[k]);
            ratio.numer().div_exact(ratio.denom())
        };
        let steps = (0..=dims).map(|j| (0..=j).map(|k| step(j, k)).collect()).collect();
        let mut factorial = Integer::ONE;
        let mut parts = Vec::new();
        for k in 0..=dims {
            if k > 0 {
                factorial = factorial.mul(&Integer::from(k as i64));
            }
            parts.push(scales[dims - k].mul(&factorial));
        }
        let den = parts.iter().fold(Integer::ONE, |den, part| den.lcm(part));
        let shares = parts.iter().map(|part| den.div_exact(part)).collect();
        Self { dims, steps, shares, den }
    }

    /// Returns `q` and `den` such that the constant term is `sum_k q_k s^k / den`.
    pub fn constant_term(&self, nu: &[Integer]) -> (Vec<Integer>, Integer) {
        let mut sums = vec![Integer::ZERO; self.dims + 1];
        for value in nu {
            let mut power = Integer::ONE;
            for sum in &mut sums {
                *sum = sum.add(&power);
                power = power.mul(value);
            }
        }
        let mut tau = vec![Integer::ONE];
        for j in 1..=self.dims {
            let mut sum = Integer::ZERO;
            for k in (1..=j).filter(|k| !self.steps[j][*k].is_zero()) {
                sum = sum.add_mul(&self.steps[j][k].mul(&sums[k]), &tau[j - k]);
            }
            tau.push(sum.div_exact(&Integer::from(j as i64)));
        }
        let q = (0..=self.dims).map(|k| tau[self.dims - k].mul(&self.shares[k])).collect();
        let mut den = nu.iter().fold(self.den.clone(), |product, value| product.mul(value));
        if self.dims % 2 == 1 {
            den = den.neg();
        }
        (q, den)
    }
}

/// Returns `M_j`.
fn scale(j: usize) -> Integer {
    let primes = (2..=j + 1).filter(|p| (2..*p).all(|q| p % q != 0));
    let factors = primes.flat_map(|p| std::iter::repeat_n(p, j / (p - 1)));
    factors.fold(Integer::ONE, |product, p| product.mul(&Integer::from(p as i64)))
}

/// Returns `h_0 .. h_d`.
fn logarithm(dims: usize) -> Vec<Rational> {
    let mut result = Vec::new();
    let mut factorial = Rational::ONE;
    for (k, number) in bernoulli(dims).into_iter().enumerate() {
        if k > 0 {
            factorial = factorial.mul(&Rational::from(k as i64));
        }
        let value = Rational::reduced(
            number.numer().mul(factorial.denom()),
            number.denom().mul(factorial.numer()),
        );
        result.push(if k == 1 { value } else { value.neg() });
    }
    result
}

/// Returns the Bernoulli numbers `B_0 .. B_n`, with `B_1 = -1/2`.
pub(crate) fn bernoulli(n: usize) -> Vec<Rational> {
    let mut numbers: Vec<Rational> = vec![Rational::ONE];
    for m in 1..=n {
        let mut sum = Rational::ZERO;
        let mut binomial = Integer::ONE;
        for (k, number) in numbers.iter().enumerate() {
            sum = sum.add(&number.mul(&Rational::from(binomial.clone())));
            let next = Integer::from((m + 1 - k) as i64);
            binomial = binomial.mul(&next).div_exact(&Integer::from(k as i64 + 1));
        }
        let by = Rational::reduced(Integer::from(-1), Integer::from(m as i64 + 1));
        numbers.push(sum.mul(&by));
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rational(num: i64, den: i64) -> Rational {
        Rational::reduced(Integer::from(num), Integer::from(den))
    }

    #[test]
    fn bernoulli_numbers_are_the_known_ones() {
        let known = [(1, 1), (-1, 2), (1, 6), (0, 1), (-1, 30), (0, 1), (1, 42), (0, 1), (-1, 30)];
        assert_eq!(bernoulli(8), known.map(|(n, d)| rational(n, d)));
    }

    #[test]
    fn scales_are_those_of_the_todd_classes() {
        let scales: Vec<_> = (0..=6).filter_map(|j| scale(j).to_i64()).collect();
        assert_eq!(scales, [1, 2, 12, 24, 720, 1440, 60480]);
    }

    #[test]
    fn a_line_of_points_is_counted() {
        // From the cone at `a` upwards and the one at `b` downwards: b - a + 1 points.
        let todd = Todd::new(1);
        let term = |nu: i64, s: i64| {
            let (q, den) = todd.constant_term(&[Integer::from(nu)]);
            Rational::reduced(q[0].add(&q[1].mul(&Integer::from(s))), den)
        };
        assert_eq!(term(3, 3 * 4).add(&term(-3, 3 * 9)), rational(6, 1));
    }
}
