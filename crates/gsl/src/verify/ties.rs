//! Numbers at which rounding goes one way or the other: ties of narrower types, their limits, and
//! the neighbours of powers of two.
//!
//! ```text
//! int32 -> bfloat16               2²⁵ + 2¹⁷ + 1   is next to a tie, and goes up
//! int32 -> float32 -> bfloat16    2²⁵ + 2¹⁷       float32 makes it the tie, which goes down
//! ```
//!
//! Between which types a program rounds is seen in it ([`types`]): what is a tie of one of them is
//! moved by less than another one of them can tell.

use fastrand::Rng;
use tangram_dialects::dtype;
use tangram_dialects::nn::numbers::{exponents, limits, mantissa};
use tangram_ir::{Module, Value};
use tangram_tensor::DType;

/// The element types of all values of both programs, each once.
pub(super) fn types(modules: [&Module; 2]) -> Vec<DType> {
    let mut types: Vec<DType> = modules.into_iter().flat_map(values).collect();
    types.sort_unstable();
    types.dedup();
    types
}

fn values(module: &Module) -> impl Iterator<Item = DType> {
    let results = module.ops(module.body()).flat_map(|op| module.results(op));
    let all = module.args(module.body()).iter().copied().chain(results);
    let dtype = |value: Value| {
        let element = module.context().element_type(module.value_type(value))?;
        dtype::dtype_of(module.context(), element)
    };
    all.filter_map(dtype)
}

/// Types that a number of `digits` binary digits may be rounded to: those of the program, else all.
fn narrower(types: &[DType], digits: i32, is: impl Fn(&DType) -> bool) -> Vec<DType> {
    const ALL: [DType; 6] =
        [DType::F8E5M2, DType::F8E4M3FN, DType::BF16, DType::F16, DType::F32, DType::F64];
    let fits = |dtype: &DType| is(dtype) && mantissa(*dtype) + 2 <= digits;
    let own: Vec<DType> = types.iter().copied().filter(fits).collect();
    if own.is_empty() { ALL.into_iter().filter(fits).collect() } else { own }
}

/// Digits of a type between `narrow` and `digits`, if the program has one: what it cannot tell from
/// a tie goes the way of the tie.
fn between(types: &[DType], narrow: i32, digits: i32, rng: &mut Rng) -> Option<i32> {
    let digits_of = types.iter().filter(|dtype| dtype.is_float()).map(|dtype| mantissa(*dtype));
    let all: Vec<i32> = digits_of.filter(|d| *d > narrow && *d < digits).collect();
    rng.choice(&all).copied()
}

/// A number of a floating-point type next to one at which some narrower type changes its mind.
pub(super) fn float(dtype: DType, types: &[DType], rng: &mut Rng) -> f64 {
    let digits = mantissa(dtype);
    let sign = if rng.bool() { 1.0 } else { -1.0 };
    let whole: Vec<DType> = types.iter().copied().filter(|dtype| dtype.is_int()).collect();
    if let Some(&to) = rng.choice(&whole).filter(|_| rng.u8(0..8) > 0) {
        return next_to_integer(to, digits, types, rng);
    }
    let narrow = narrower(types, digits, |narrow| narrow.is_float());
    let Some(&narrow) = rng.choice(&narrow) else { return 0.5 };
    let bits = mantissa(narrow);
    // What is tried of a wide type is a number of this one.
    let high = exponents(narrow).0.min(exponents(dtype).0 - 1);
    let least = bits + 2;
    let little = match between(types, bits, digits, rng) {
        Some(between) if between + 2 < digits => rng.i32(between + 2..=digits),
        _ => rng.i32(least..=digits.max(least)),
    };
    let tie = 1.0 + 2f64.powi(-bits) * (f64::from(rng.u32(0..1 << bits.min(8))) + 0.5);
    // So great, now and then, that a tie is an integer.
    let scale = if rng.bool() { rng.i32(0..=(bits + 4).min(high as i32)) } else { rng.i32(-2..=1) };
    sign * 2f64.powi(scale) * nearly(tie, little, rng)
}

/// A number next to what a narrower type of the program rounds to its greatest or smallest number, or
/// beyond; none where the program has no such type.
pub(super) fn limit(dtype: DType, types: &[DType], rng: &mut Rng) -> Option<f64> {
    let digits = mantissa(dtype);
    let fits = |narrow: &&DType| narrow.is_float() && mantissa(**narrow) + 2 <= digits;
    let narrow: Vec<&DType> = types.iter().filter(fits).collect();
    let narrow = **rng.choice(&narrow)?;
    let (bits, (high, _, smallest)) = (mantissa(narrow), exponents(narrow));
    let (tie, scale) =
        if rng.bool() { (2.0 - 2f64.powi(-bits - 1), high) } else { (1.0, smallest - 1) };
    let made = 2f64.powi(scale as i32) * nearly(tie, rng.i32(bits + 2..=digits), rng);
    Some(if rng.bool() { made } else { -made })
}

/// A number, or one that differs from it so many binary digits behind the first.
fn nearly(x: f64, digits: i32, rng: &mut Rng) -> f64 {
    x + 2f64.powi(-digits) * f64::from(rng.i8(-1..=1))
}

/// A number next to an integer, at the limits of a type of integers or near 0: most of the time one
/// that a type between takes for the integer, and that the type of integers holds. One number that it
/// does not hold leaves open what comes of all of a tensor.
fn next_to_integer(to: DType, digits: i32, types: &[DType], rng: &mut Rng) -> f64 {
    let (least, greatest) = limits(to).unwrap_or((0, 1));
    let beyond = greatest + 1;
    let whole = match rng.u8(0..8) {
        0 => least,
        1 => beyond,
        _ => rng.i128(least.max(-8)..=beyond.min(8)),
    };
    let exponent = (whole.unsigned_abs().max(1) as f64).log2().floor() as i32;
    let fine = match between(types, 0, digits, rng).filter(|_| rng.u8(0..4) > 0) {
        Some(between) if between < digits => rng.i32(between + 1..=digits),
        _ => rng.i32(1..=digits.max(1)),
    };
    let little = 2f64.powi(exponent - fine);
    let outside = rng.u8(0..8) == 0;
    whole as f64 + if rng.bool() && (whole < beyond || outside) { little } else { -little }
}

/// The limits of a type, or half the time the range that all types of the program have: one number
/// that a narrow type does not hold leaves open what comes of all of a tensor.
pub(super) fn range(all: (i128, i128), types: &[DType], rng: &mut Rng) -> (i128, i128) {
    if rng.bool() {
        return all;
    }
    let range = |dtype: &DType| {
        if dtype.is_float() {
            let most = 1i128 << exponents(*dtype).0.clamp(0, 100);
            (-most, most)
        } else {
            limits(*dtype).unwrap_or(all)
        }
    };
    types
        .iter()
        .map(range)
        .fold(all, |(least, greatest), (low, high)| (least.max(low), greatest.min(high)))
}

/// An integer of at most so many bits next to a power of two, or to one at which a floating-point
/// type changes its mind.
pub(super) fn integer(bits: u32, types: &[DType], rng: &mut Rng) -> i128 {
    let top = bits as i32;
    // An integer of n bits has n - 1 digits behind the first.
    let narrow = narrower(types, top - 1, |narrow| narrow.is_float());
    let Some(&narrow) = rng.choice(&narrow).filter(|_| rng.bool()) else {
        return (1 << rng.u32(0..=bits)) + rng.i128(-1..=1);
    };
    let digits = mantissa(narrow);
    // The exponent of the number, more often a great one.
    let exponent = rng.i32(digits + 2..=top - 1).max(rng.i32(digits + 2..=top - 1));
    let leading = (1i128 << digits) + rng.i128(0..1 << digits);
    let half = exponent - digits - 1;
    let tie = (leading << (exponent - digits)) + (1 << half);
    let little = match between(types, digits, exponent, rng) {
        Some(between) if exponent > between + 1 => rng.i32(0..exponent - between - 1),
        _ => rng.i32(0..half.max(1)),
    };
    tie + rng.i128(-1..=1) * (1 << little)
}

#[cfg(test)]
mod tests {
    use tangram_tensor::Tensor;
    use tangram_tensor::elementwise::cast;

    use super::super::values::{self, Profile};
    use super::*;
    use tangram_dialects::nn::numbers::{to_odd, whole};

    const FLOATS: [DType; 6] =
        [DType::F64, DType::F32, DType::F16, DType::BF16, DType::F8E4M3FN, DType::F8E5M2];
    const INTEGERS: [DType; 12] = [
        DType::I8,
        DType::I16,
        DType::I32,
        DType::I64,
        DType::U8,
        DType::U16,
        DType::U32,
        DType::U64,
        DType::I4,
        DType::U4,
        DType::I2,
        DType::U2,
    ];

    /// Numbers of a type, of all kinds that instances are evaluated on.
    fn numbers(dtype: DType, types: &[DType], rng: &mut Rng) -> Tensor {
        let profiles = [Profile::Fractions, Profile::Limits, Profile::Special];
        let parts: Vec<Tensor> = profiles
            .iter()
            .map(|profile| values::tensor(dtype, &[20_000], *profile, types, rng).expect("numbers"))
            .collect();
        let bytes = parts.iter().flat_map(|part| part.bytes().to_vec()).collect::<Vec<u8>>();
        Tensor::from_bytes(dtype, [60_000], bytes).expect("one tensor")
    }

    #[test]
    fn the_limits_of_each_type_and_the_neighbours_of_powers_of_two_are_tried() {
        let mut rng = Rng::with_seed(7);
        for dtype in INTEGERS {
            let made = whole(&numbers(dtype, &[dtype], &mut rng)).expect("integers");
            let (least, greatest) = limits(dtype).expect("limits");
            let bits = 128 - greatest.leading_zeros();
            let edges = (0..bits).flat_map(|k| [(1 << k) - 1, 1 << k, (1 << k) + 1]);
            let missing: Vec<i128> = edges
                .chain([least, greatest])
                .filter(|n| *n <= greatest && !made.contains(n))
                .collect();
            assert!(missing.is_empty(), "{dtype:?}: {missing:?}");
        }
        for dtype in FLOATS {
            let made = numbers(dtype, &[dtype], &mut rng).f64s().expect("numbers");
            let (high, _, smallest) = exponents(dtype);
            assert!(made.contains(&2f64.powi(smallest as i32)), "{dtype:?}");
            assert!(
                made.iter().any(|x| x.is_finite() && *x >= 2f64.powi(high as i32)),
                "{dtype:?}"
            );
        }
    }

    /// Whether some number is another one by way of `by` than directly.
    fn differs(made: &Tensor, by: DType, to: DType) -> bool {
        // Integers once, which kernels and runtimes take by way of `float32`.
        let odd = whole(made).filter(|_| made.dtype().is_int());
        let odd = odd.map(|all| all.into_iter().map(to_odd).collect::<Vec<f64>>());
        let once =
            odd.map_or(made.clone(), |odd| Tensor::from_vec(made.shape(), odd).expect("f64"));
        let direct = cast(&once, to).and_then(|t| t.f64s()).expect("a cast");
        let by = cast(made, by).and_then(|t| cast(&t, to)).and_then(|t| t.f64s()).expect("a cast");
        direct.iter().zip(&by).any(|(a, b)| a != b && a.is_finite() && b.is_finite())
    }

    #[test]
    fn every_chain_of_casts_is_told_from_one_cast() {
        let mut rng = Rng::with_seed(9);
        for from in INTEGERS.into_iter().chain(FLOATS) {
            let digits = match limits(from) {
                Some((_, greatest)) => 128 - greatest.leading_zeros() as i32,
                None => mantissa(from) + 1,
            };
            for by in FLOATS {
                for to in FLOATS {
                    // Rounded twice: each has fewer digits than the one before, and of integers
                    // some that the first rounds are in the range of the second.
                    let in_range = from.is_float() || exponents(to).0 > i64::from(mantissa(by)) + 2;
                    let twice = mantissa(by) + 2 < digits && mantissa(to) + 1 < mantissa(by);
                    let twice = twice && in_range;
                    if twice {
                        let made = numbers(from, &[from, by, to], &mut rng);
                        assert!(differs(&made, by, to), "{from:?} by {by:?} to {to:?}");
                    }
                }
            }
        }
    }
}
