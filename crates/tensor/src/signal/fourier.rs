//! The discrete Fourier transform of one run of complex numbers.
//!
//! Powers of two go by Cooley and Tukey's algorithm, in place; other lengths by the definition if
//! they are short, and else by Bluestein's: with `w = exp(-i pi / n)` and `k j = (k^2 + j^2 - (k -
//! j)^2) / 2`, the transform is a convolution with `w^(-j^2)`, which two longer transforms of a
//! power of two compute.

use std::f64::consts::PI;

/// A complex number.
pub(super) type Complex = (f64, f64);

/// Lengths up to this are transformed by the definition.
const SHORT: usize = 64;

fn times((a, b): Complex, (c, d): Complex) -> Complex {
    (a * c - b * d, a * d + b * c)
}

/// `exp(-2 pi i k / n)`, exact at multiples of a quarter turn.
fn root(k: usize, n: usize) -> Complex {
    let quarter = |k: usize| k as f64 * 2.0 * PI / n as f64;
    match k % n {
        0 => (1.0, 0.0),
        k if 4 * k == n => (0.0, -1.0),
        k if 2 * k == n => (-1.0, 0.0),
        k if 4 * k == 3 * n => (0.0, 1.0),
        k => (quarter(k).cos(), -quarter(k).sin()),
    }
}

/// Transforms, or transforms back with the factor `1 / n`.
pub(super) fn transform(run: &mut Vec<Complex>, inverse: bool) {
    let n = run.len();
    if inverse {
        // The inverse is the conjugate of the transform of the conjugate.
        run.iter_mut().for_each(|x| x.1 = -x.1);
    }
    if n.is_power_of_two() {
        transform_power(run);
    } else if n <= SHORT {
        transform_short(run);
    } else {
        transform_chirp(run);
    }
    if inverse {
        let scale = n as f64;
        run.iter_mut().for_each(|x| *x = (x.0 / scale, -x.1 / scale));
    }
}

fn transform_short(run: &mut Vec<Complex>) {
    let n = run.len();
    let roots: Vec<Complex> = (0..n).map(|k| root(k, n)).collect();
    let term = |k: usize, j: usize| times(run[j], roots[k * j % n]);
    let add = |a: Complex, b: Complex| (a.0 + b.0, a.1 + b.1);
    *run = (0..n).map(|k| (0..n).map(|j| term(k, j)).fold((0.0, 0.0), add)).collect();
}

fn transform_power(run: &mut [Complex]) {
    let n = run.len();
    let bits = n.trailing_zeros();
    for i in 0..n {
        let j = if bits == 0 { 0 } else { i.reverse_bits() >> (usize::BITS - bits) };
        if i < j {
            run.swap(i, j);
        }
    }
    let roots: Vec<Complex> = (0..n / 2).map(|k| root(k, n)).collect();
    let mut half = 1;
    while half < n {
        for block in run.chunks_exact_mut(2 * half) {
            let (low, high) = block.split_at_mut(half);
            for (k, (a, b)) in low.iter_mut().zip(high).enumerate() {
                let turned = times(*b, roots[k * (n / (2 * half))]);
                *b = (a.0 - turned.0, a.1 - turned.1);
                *a = (a.0 + turned.0, a.1 + turned.1);
            }
        }
        half *= 2;
    }
}

fn transform_chirp(run: &mut [Complex]) {
    let n = run.len();
    let padded = (2 * n - 1).next_power_of_two();
    // `k^2` modulo `2 n`, in wide integers.
    let chirp = |k: usize| root((k as u128 * k as u128 % (2 * n as u128)) as usize, 2 * n);
    let conjugate = |(a, b): Complex| (a, -b);
    let mut left = vec![(0.0, 0.0); padded];
    let mut right = vec![(0.0, 0.0); padded];
    for k in 0..n {
        left[k] = times(run[k], chirp(k));
        right[k] = conjugate(chirp(k));
        right[(padded - k) % padded] = right[k];
    }
    transform_power(&mut left);
    transform_power(&mut right);
    left.iter_mut().zip(&right).for_each(|(a, &b)| *a = conjugate(times(*a, b)));
    transform_power(&mut left);
    let scale = padded as f64;
    for k in 0..n {
        let (a, b) = times(conjugate(left[k]), chirp(k));
        run[k] = (a / scale, b / scale);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(n: usize) -> Vec<Complex> {
        (0..n).map(|k| (((k * k) % 7) as f64 - 3.0, ((k * 5) % 11) as f64 / 4.0)).collect()
    }

    #[test]
    fn all_algorithms_agree_with_the_definition() {
        for n in [1, 2, 4, 8, 64, 3, 12, 63, 65, 100, 127] {
            let mut slow = run(n);
            transform_short(&mut slow);
            let mut fast = run(n);
            transform(&mut fast, false);
            for (a, b) in fast.iter().zip(&slow) {
                assert!((a.0 - b.0).abs() + (a.1 - b.1).abs() < 1e-10 * n as f64, "{n}");
            }
            transform(&mut fast, true);
            for (a, b) in fast.iter().zip(run(n)) {
                assert!((a.0 - b.0).abs() + (a.1 - b.1).abs() < 1e-12 * n as f64, "{n}");
            }
        }
    }

    #[test]
    fn a_wave_has_one_frequency() {
        let mut wave: Vec<Complex> = (0..12).map(|k| root(12 - k, 12)).collect();
        transform(&mut wave, false);
        for (k, (re, im)) in wave.into_iter().enumerate() {
            let expected = if k == 1 { 12.0 } else { 0.0 };
            assert!((re - expected).abs() + im.abs() < 1e-13, "{k}");
        }
    }
}
