//! The numbers that an instance is evaluated on.
//!
//! Rules go wrong on numbers of many kinds: fractions and ties (`round`), large ones (`clip`), what
//! lies at the limits of a type, NaN and infinities. Each kind is a [`Profile`], and every instance
//! is evaluated on all of them, in its own element type.

use fastrand::Rng;
use tangram_dialects::nn::numbers::{exponents, limits, mantissa};
use tangram_tensor::elementwise::cast;
use tangram_tensor::{DType, Tensor, element_count};

use super::ties;

/// A kind of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Profile {
    /// Integers from -4 to 4.
    Small,
    /// Quarters from 1 to 4: where roots and logarithms are defined.
    Positive,
    /// Numbers from -5 to 5, half of them ties between integers; some too small to count beside 1,
    /// some a last bit away from ties between numbers of a narrower type.
    Fractions,
    /// Magnitudes from 2⁻⁸ to 2⁹, some of them integers: products of two leave `float16`.
    Wide,
    /// Magnitudes from the root of the least number of the type to that of the greatest, some to a
    /// hundredth of the greatest: products of two leave the type, sums do not.
    Roots,
    /// The greatest, least and smallest numbers of the type, and any magnitude between.
    Limits,
    /// Small integers among NaN, infinities, 0 and -0; integers next to powers of two and to what
    /// floating-point types round to the one or the other side.
    Special,
}

/// The profiles of one evaluation each; the first twice, since it is the one that is exact.
pub(super) const RUNS: [Profile; 8] = [
    Profile::Small,
    Profile::Small,
    Profile::Positive,
    Profile::Fractions,
    Profile::Wide,
    Profile::Roots,
    Profile::Limits,
    Profile::Special,
];

/// Those that fixed constants are made of: the same numbers in every floating-point type.
pub(super) const CONSTANTS: [Profile; 6] = [
    Profile::Small,
    Profile::Small,
    Profile::Positive,
    Profile::Fractions,
    Profile::Wide,
    Profile::Special,
];

impl Profile {
    /// Its name in the list of what was tried.
    pub(super) fn name(self) -> &'static str {
        match self {
            Profile::Small | Profile::Positive => "small",
            Profile::Fractions => "fractions",
            Profile::Wide => "wide",
            Profile::Roots => "roots of limits",
            Profile::Limits => "limits",
            Profile::Special => "special",
        }
    }
}

/// Random elements of a type; none for types that hold no numbers. `types`: those of the program,
/// between which it rounds.
pub(super) fn tensor(
    dtype: DType,
    shape: &[usize],
    profile: Profile,
    types: &[DType],
    rng: &mut Rng,
) -> Option<Tensor> {
    let count = element_count(shape)?;
    if dtype == DType::Bool {
        // As many as there can be, or any.
        let flags = (0..count).map(|_| profile == Profile::Positive || rng.bool()).collect();
        return Tensor::from_vec(shape, flags).ok();
    }
    if dtype.is_float() {
        let numbers = (0..count).map(|_| real(dtype, profile, types, rng)).collect::<Vec<f64>>();
        return cast(&Tensor::from_vec(shape, numbers).ok()?, dtype).ok();
    }
    let (least, greatest) = match profile {
        Profile::Special => ties::range(limits(dtype)?, types, rng),
        _ => limits(dtype)?,
    };
    let mut one = || integer((least, greatest), profile, types, rng);
    integers(dtype, shape, (0..count).map(|_| one()).collect())
}

/// A tensor of integers that its type has.
pub(super) fn integers(dtype: DType, shape: &[usize], numbers: Vec<i128>) -> Option<Tensor> {
    if dtype == DType::U64 {
        let numbers = numbers.into_iter().map(|n| n as u64).collect::<Vec<u64>>();
        return Tensor::from_vec(shape, numbers).ok();
    }
    let numbers = numbers.into_iter().map(|n| n as i64).collect::<Vec<i64>>();
    cast(&Tensor::from_vec(shape, numbers).ok()?, dtype).ok()
}

/// Scales from any numbers: of others than positive ones the standard says nothing, so that all of
/// a list would say nothing where one is not.
pub(super) fn positive(scales: Tensor) -> Option<Tensor> {
    let dtype = scales.dtype();
    let numbers = scales.f64s().ok()?.into_iter();
    let numbers = numbers.map(|x| if x == 0.0 { 1.0 } else { x.abs() }).collect::<Vec<f64>>();
    cast(&Tensor::from_vec(scales.shape(), numbers).ok()?, dtype).ok()
}

/// Random places along short dimensions, some counted from the end.
pub(super) fn indices(
    dtype: DType,
    shape: &[usize],
    profile: Profile,
    rng: &mut Rng,
) -> Option<Tensor> {
    let (low, high) = match profile {
        Profile::Small => (0, 1),
        Profile::Positive => (0, 3),
        _ => (-2, 2),
    };
    let numbers = (0..element_count(shape)?).map(|_| rng.i64(low..=high)).collect::<Vec<i64>>();
    cast(&Tensor::from_vec(shape, numbers).ok()?, dtype).ok()
}

fn real(dtype: DType, profile: Profile, types: &[DType], rng: &mut Rng) -> f64 {
    match profile {
        Profile::Small => rng.i64(-4..=4) as f64,
        Profile::Positive => rng.i64(4..=16) as f64 / 4.0,
        Profile::Fractions => match rng.u8(0..16) {
            0 => 2f64.powi(-mantissa(dtype) - 3),
            1 => -2f64.powi(-mantissa(dtype) - 3),
            2..4 => ties::float(dtype, types, rng),
            4..9 => rng.i64(-5..=4) as f64 + 0.5,
            _ => rng.f64() * 10.0 - 5.0,
        },
        Profile::Wide => {
            let x = power(rng.i64(-8..=8), rng);
            if rng.u8(0..4) == 0 { x.round() } else { x }
        }
        Profile::Roots => {
            let high = exponents(dtype).0;
            // Sums still fit.
            let most = if rng.u8(0..8) == 0 { (high - 7).max(high / 2) } else { high / 2 + 1 };
            power(rng.i64(-high / 2 - 1..=most), rng)
        }
        Profile::Limits => {
            let narrower = rng.u8(0..4) == 0;
            let limit = if narrower { ties::limit(dtype, types, rng) } else { None };
            limit.unwrap_or_else(|| extreme(dtype, rng))
        }
        Profile::Special => {
            let pick = rng.usize(0..12);
            let small = rng.i64(-4..=4) as f64;
            [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0].get(pick).map_or(small, |x| *x)
        }
    }
}

/// A number of magnitude 2 to `exponent`, with all its bits.
fn power(exponent: i64, rng: &mut Rng) -> f64 {
    let size = 2f64.powi(exponent as i32) * (1.0 + rng.f64());
    if rng.bool() { size } else { -size }
}

fn extreme(dtype: DType, rng: &mut Rng) -> f64 {
    let (high, low, smallest) = exponents(dtype);
    let greatest = 2f64.powi(high as i32) * (2.0 - 2f64.powi(-mantissa(dtype)));
    let sign = if rng.bool() { 1.0 } else { -1.0 };
    sign * match rng.u8(0..8) {
        0 => greatest,
        1 => 2f64.powi(smallest as i32),
        2 => 2f64.powi(low as i32),
        3 => 2f64.powi(high as i32 / 2 + 1),
        4 => 0.0,
        5 => 1.0,
        _ => power(rng.i64(low..=high), rng).abs().min(greatest),
    }
}

fn integer(
    (least, greatest): (i128, i128),
    profile: Profile,
    types: &[DType],
    rng: &mut Rng,
) -> i128 {
    // One past what `float16`, `float32`, `float64` and the narrower integers hold.
    const EDGES: [i128; 8] =
        [128, 200, 256, 2049, 40_000, (1 << 24) + 1, (1 << 31) + 1, (1 << 53) + 1];
    let number = match profile {
        Profile::Small => rng.i128(-4..=4),
        Profile::Positive => rng.i128(1..=4),
        Profile::Fractions => rng.i128(-20..=20),
        Profile::Wide => rng.i128(-300..=300),
        // Squares fit.
        Profile::Roots => {
            let root = (greatest as u128).isqrt() as i128;
            rng.i128(if least < 0 { -root } else { 0 }..=root)
        }
        Profile::Limits => match rng.u8(0..6) {
            0 => least,
            1 => greatest,
            2 => least + 1,
            3 => rng.i128(-1..=1),
            _ => rng.i128(least..=greatest),
        },
        Profile::Special if rng.u8(0..4) == 0 => *rng.choice(&EDGES).unwrap_or(&0),
        Profile::Special => {
            let bits = u128::BITS - (greatest as u128).leading_zeros();
            let edge = ties::integer(bits, types, rng);
            if least < 0 && rng.bool() { -edge } else { edge }
        }
    };
    if (least..=greatest).contains(&number) {
        return number;
    }
    match profile {
        // Among these, what does not fit says nothing new.
        Profile::Small | Profile::Positive | Profile::Fractions => number.abs().min(greatest),
        _ => rng.i128(least..=greatest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_fits_every_type() {
        let mut rng = Rng::with_seed(3);
        for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64, DType::I8, DType::U64] {
            for profile in RUNS {
                let made = tensor(dtype, &[40], profile, &[dtype], &mut rng).expect("numbers");
                let numbers = made.f64s().expect("numbers");
                if profile != Profile::Special {
                    assert!(numbers.iter().all(|x| x.is_finite()), "{dtype:?} {profile:?}");
                }
            }
        }
    }

    #[test]
    fn ties_limits_and_nan_are_among_them() {
        let mut rng = Rng::with_seed(3);
        let mut numbers = |dtype, profile| {
            tensor(dtype, &[400], profile, &[dtype], &mut rng).unwrap().f64s().unwrap()
        };
        assert!(numbers(DType::F32, Profile::Fractions).contains(&2.5));
        assert!(numbers(DType::F16, Profile::Limits).contains(&65504.0));
        assert!(numbers(DType::F32, Profile::Special).iter().any(|x| x.is_nan()));
        assert!(numbers(DType::I8, Profile::Limits).contains(&-128.0));
        assert!(numbers(DType::I64, Profile::Special).contains(&16_777_217.0));
    }
}
