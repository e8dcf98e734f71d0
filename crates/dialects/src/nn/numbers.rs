//! What operations do to numbers: facts of their definitions that no structured form states, as far
//! as it matters where the results of two programs are compared.

use tangram_tensor::elementwise::cast;
use tangram_tensor::{DType, Tensor, element_count};

use crate::eval::EvalCx;

/// What is known of the numbers that an operation gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Numbers(u16);

impl Numbers {
    /// Nothing: results may be rounded.
    pub const NOTHING: Numbers = Numbers(0);
    /// Results are exact whatever the operands: they are moved, chosen or compared, or no more than
    /// the sign changes.
    pub const EXACT: Numbers = Numbers(1);
    /// Small integers give integers.
    pub const INTEGRAL: Numbers = Numbers(1 << 1);
    /// Integers fit into the element type of the operands.
    pub const FITS: Numbers = Numbers(1 << 2);
    /// Results are among the elements of the operands, places, or truth values.
    pub const CHOSEN: Numbers = Self::EXACT.union(Self::INTEGRAL).union(Self::FITS);
    /// Results jump: a difference in rounding before them may become any.
    pub const JUMPS: Numbers = Numbers(1 << 3);
    /// An element in another element type, which may have no such number.
    pub const CONVERTS: Numbers = Numbers(1 << 4);
    /// A product or quotient is 0 only where a factor is: another 0 is too small a number.
    pub const PRODUCT: Numbers = Numbers(1 << 5);
    /// A quotient: infinite where what it is divided by is 0.
    pub const QUOTIENT: Numbers = Numbers(1 << 6).union(Self::PRODUCT);
    /// The exact result is 0 of no number: another 0 is too small a number.
    pub const EXPONENTIAL: Numbers = Numbers(1 << 7);
    /// Infinite at finite numbers by definition.
    pub const POLES: Numbers = Numbers(1 << 8);
    /// The result is a function of extents alone.
    pub const OF_EXTENTS: Numbers = Numbers(1 << 9);

    /// What either says.
    pub const fn union(self, other: Numbers) -> Numbers {
        Numbers(self.0 | other.0)
    }

    /// Returns whether all that `other` says holds.
    pub const fn contains(self, other: Numbers) -> bool {
        self.0 & other.0 == other.0
    }
}

/// Returns whether the standard leaves open what an operation gives on its operands, although its
/// kernel gives `results`.
pub type OpenFn = fn(cx: &EvalCx<'_>, results: &[Tensor]) -> bool;

/// A function of a number and of a small one that is added to it, by an addition theorem.
///
/// In one unit of the last place of a great number lie many periods of a sine, and such units may be
/// nearly whole numbers of periods: the numbers next to one say that the function hardly changes
/// there. The sum of angles has no such gaps.
pub type AdditionFn = fn(f64, f64) -> f64;

/// The elements of a tensor of integers or truth values, unsigned ones of 64 bits among them.
pub fn whole(tensor: &Tensor) -> Option<Vec<i128>> {
    match tensor.dtype() {
        DType::U64 => Some(tensor.to_vec::<u64>().ok()?.into_iter().map(i128::from).collect()),
        _ => Some(tensor.i64s().ok()?.into_iter().map(i128::from).collect()),
    }
}

/// Elements that are all 0.
pub fn zeros(dtype: DType, shape: &[usize]) -> Option<Tensor> {
    cast(&Tensor::from_vec(shape, vec![0.0; element_count(shape)?]).ok()?, dtype).ok()
}

/// Exponents of the greatest and the least normal number, and of the smallest of all.
pub fn exponents(dtype: DType) -> (i64, i64, i64) {
    match dtype {
        DType::F16 => (15, -14, -24),
        DType::BF16 => (127, -126, -133),
        DType::F32 => (127, -126, -149),
        DType::F64 => (1023, -1022, -1074),
        _ => (7, -6, -9),
    }
}

/// Bits behind the leading one.
pub fn mantissa(dtype: DType) -> i32 {
    match dtype {
        DType::F16 => 10,
        DType::BF16 => 7,
        DType::F32 => 23,
        DType::F64 => 52,
        _ => 2,
    }
}

/// The least and greatest integer of a type.
pub fn limits(dtype: DType) -> Option<(i128, i128)> {
    let signed = |bits: u32| Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1));
    let unsigned = |bits: u32| Some((0, (1 << bits) - 1));
    match dtype {
        DType::I8 => signed(8),
        DType::I16 => signed(16),
        DType::I32 => signed(32),
        DType::I64 => signed(64),
        DType::U8 => unsigned(8),
        DType::U16 => unsigned(16),
        DType::U32 => unsigned(32),
        DType::U64 => unsigned(64),
        DType::I4 => signed(4),
        DType::U4 => unsigned(4),
        DType::I2 => signed(2),
        DType::U2 => unsigned(2),
        _ => None,
    }
}

/// An integer in `f64`, whose last bit is set where others are lost: rounded again, it is what
/// rounding once gives. (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums", 2008.)
pub fn to_odd(n: i128) -> f64 {
    let near = n as f64;
    match near as i128 - n {
        0 => near,
        off => {
            let other = if off > 0 { near.next_down() } else { near.next_up() };
            if near.to_bits() & 1 == 1 { near } else { other }
        }
    }
}
