//! Arithmetic modulo the prime 2³¹ - 1, on numbers and on tensors.
//!
//! An element of the field is an integer below p in an `f64`, so that the reference kernels move
//! it about like any other number. Sums of such integers are exact in `f64`. What is linear in
//! each of two operands (products of matrices, convolutions) is computed by the reference kernel
//! on halves of 16 bits, whose products add up exactly, and put together again.

use tangram_tensor::elementwise::{add, map1, map2};
use tangram_tensor::{Result, Tensor};

/// The prime. It is 3 modulo 4, so that every square has a root that is a power.
pub const P: u64 = (1 << 31) - 1;

/// Reduces an exact integer.
pub fn reduce(value: f64) -> f64 {
    value.rem_euclid(P as f64)
}

/// The product.
pub fn times(a: f64, b: f64) -> f64 {
    ((a as u64 * b as u64) % P) as f64
}

/// The power of an element by a number.
pub fn power(base: f64, mut exponent: u64) -> f64 {
    let (mut base, mut out) = (base as u64 % P, 1);
    while exponent > 0 {
        if exponent & 1 == 1 {
            out = out * base % P;
        }
        base = base * base % P;
        exponent >>= 1;
    }
    out as f64
}

/// The inverse; of 0, which has none, 0.
pub fn inverse(value: f64) -> f64 {
    power(value, P - 2)
}

/// One of the two roots of a square; multiplicative on all of the field.
pub fn root(value: f64) -> f64 {
    power(value, P.div_ceil(4))
}

/// The element that stands for a finite number, which is an integer over a power of 2.
pub fn from_real(value: f64) -> Option<f64> {
    if !value.is_finite() {
        return None;
    }
    let (mut value, mut halvings) = (value, 0);
    while value.fract() != 0.0 {
        value *= 2.0;
        halvings += 1;
    }
    // The remainder of an integer is exact in `f64`, however big it is.
    Some(times(reduce(value), inverse(power(2.0, halvings))))
}

/// A function on the field that has no property but being one.
pub fn opaque(salt: u64, args: [f64; 2]) -> f64 {
    let mut state = salt;
    for arg in args {
        // The mixing steps of splitmix64.
        state = state.wrapping_add(arg as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
        state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        state ^= state >> 31;
    }
    (state % P) as f64
}

/// A function of each element.
///
/// # Errors
/// The operand is not `float64`.
pub fn map(tensor: &Tensor, f: impl Fn(f64) -> f64) -> Result<Tensor> {
    map1::<f64, f64>(tensor, f)
}

/// A function of two elements each, broadcast.
///
/// # Errors
/// The shapes do not broadcast, or an operand is not `float64`.
pub fn zip(a: &Tensor, b: &Tensor, f: impl Fn(f64, f64) -> f64) -> Result<Tensor> {
    map2::<f64, f64, f64>("field", a, b, f)
}

/// The product, broadcast.
///
/// # Errors
/// The shapes do not broadcast, or an operand is not `float64`.
pub fn multiply(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    zip(a, b, times)
}

/// Applies a kernel that is linear in each of its two operands.
///
/// # Errors
/// The kernel refuses.
pub fn bilinear<E>(
    a: &Tensor,
    b: &Tensor,
    kernel: impl Fn(Tensor, Tensor) -> std::result::Result<Tensor, E>,
) -> std::result::Result<Tensor, E>
where
    E: From<tangram_tensor::KernelError>,
{
    const HALF: f64 = 65536.0;
    let halves = |t: &Tensor| -> Result<[Tensor; 2]> {
        Ok([map(t, |x| x % HALF)?, map(t, |x| (x / HALF).floor())?])
    };
    let (a, b) = (halves(a)?, halves(b)?);
    let mut sum: Option<Tensor> = None;
    for (i, left) in a.iter().enumerate() {
        for (j, right) in b.iter().enumerate() {
            let weight = power(HALF, (i + j) as u64);
            let part = kernel(left.clone(), right.clone())?;
            let part = map(&part, |x| times(reduce(x), weight))?;
            sum = Some(match sum {
                Some(sum) => map(&add(&sum, &part)?, reduce)?,
                None => part,
            });
        }
    }
    Ok(sum.expect("there are four parts"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tangram_tensor::linear::matmul;

    #[test]
    fn the_field_is_one() {
        for value in [1.0, 2.0, 65537.0, (P - 1) as f64] {
            assert_eq!(times(value, inverse(value)), 1.0);
            let square = times(value, value);
            assert_eq!(times(root(square), root(square)), square);
        }
        assert_eq!(reduce(-1.0), (P - 1) as f64);
        assert_eq!(times(from_real(0.5).unwrap(), 2.0), 1.0);
        assert_eq!(from_real(-3.0), Some((P - 3) as f64));
        assert_eq!(from_real(f64::NAN), None);
    }

    #[test]
    fn products_of_matrices_are_those_of_the_field() {
        let mut rng = fastrand::Rng::with_seed(1);
        let mut random = |shape: [usize; 2]| {
            let element = |_| rng.u64(0..P) as f64;
            Tensor::from_vec(shape, (0..shape[0] * shape[1]).map(element).collect()).unwrap()
        };
        let (a, b) = (random([3, 4]), random([4, 2]));
        let found = bilinear(&a, &b, |a, b| matmul(&a, &b)).unwrap().f64s().unwrap();
        let (a, b) = (a.f64s().unwrap(), b.f64s().unwrap());
        for i in 0..3 {
            for j in 0..2 {
                let term = |k: usize| u128::from(a[i * 4 + k] as u64) * b[k * 2 + j] as u128;
                let sum: u128 = (0..4).map(term).sum();
                assert_eq!(found[i * 2 + j], (sum % u128::from(P)) as f64);
            }
        }
    }
}
