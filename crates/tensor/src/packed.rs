//! Codes narrower than a number of the machine: packed integers and floats of 4 and 8 bits.
//!
//! An element is first a *code*, one byte wide, whatever its type; decoding gives its value.

use crate::dtype::DType;

/// Unpacks `len` elements to one code a byte; the high bits of each byte are 0.
///
/// The first element of a byte is in its lowest bits. A type of 8 bits is copied.
pub fn unpack(bytes: &[u8], dtype: DType, len: usize) -> Vec<u8> {
    let bits = dtype.size_bits();
    if bits >= 8 {
        return bytes.to_vec();
    }
    let mask = (1u8 << bits) - 1;
    let per_byte = 8 / bits;
    let mut codes = Vec::with_capacity(len.next_multiple_of(per_byte));
    for &byte in bytes {
        codes.extend((0..per_byte).map(|slot| (byte >> (slot * bits)) & mask));
    }
    codes.truncate(len);
    codes
}

/// Packs codes; the inverse of [`unpack`]. The unused bits of the last byte are 0.
pub fn pack(codes: &[u8], dtype: DType) -> Vec<u8> {
    let bits = dtype.size_bits();
    if bits >= 8 {
        return codes.to_vec();
    }
    let mask = (1u8 << bits) - 1;
    let join = |chunk: &[u8]| {
        chunk.iter().enumerate().fold(0, |byte, (slot, &c)| byte | ((c & mask) << (slot * bits)))
    };
    codes.chunks(8 / bits).map(join).collect()
}

/// Decodes a packed integer: two's complement for the signed types.
pub fn decode_int(dtype: DType, code: u8) -> i64 {
    let unused = 8 - dtype.size_bits() as u32;
    if dtype.is_signed() { i64::from(((code << unused) as i8) >> unused) } else { i64::from(code) }
}

/// Whether the type is a float of 4 or 8 bits.
pub fn is_small_float(dtype: DType) -> bool {
    dtype.is_float() && dtype.size_bits() <= 8
}

/// Decodes a float of 4 or 8 bits; exact.
pub fn decode_float(dtype: DType, code: u8) -> f32 {
    let Some(format) = Format::of(dtype) else { return f32::NAN };
    format.decode(code)
}

/// How [`encode_float`] rounds to a power of two (`float8_e8m0fnu`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ExponentRounding {
    /// Away from zero.
    #[default]
    Up,
    /// Towards zero.
    Down,
    /// To the nearest; half goes up.
    Nearest,
}

/// Encodes a float of 4 or 8 bits, rounding to nearest, ties to even.
///
/// What lies beyond the greatest number becomes it with `saturate`, and infinity (or NaN, where
/// there is none) without. `rounding` is for the exponent-only type, which has no sign: there,
/// magnitudes are encoded.
pub fn encode_float(dtype: DType, value: f64, saturate: bool, rounding: ExponentRounding) -> u8 {
    match Format::of(dtype) {
        Some(format) if format.exponent_bits < 8 => format.encode(value, saturate),
        _ => encode_exponent(value as f32, saturate, rounding),
    }
}

/// Encodes a power of two; the code is the exponent field of an `f32`.
fn encode_exponent(value: f32, saturate: bool, rounding: ExponentRounding) -> u8 {
    const NAN: u8 = 0xff;
    let bits = value.to_bits();
    let (exponent, fraction) = (((bits >> 23) & 0xff) as u8, bits & 0x7f_ffff);
    if exponent == NAN {
        return if saturate && value.is_infinite() { NAN - 1 } else { NAN };
    }
    // Below the least normal number the code 0 stands for 2^-127, half of it.
    let (exact, half) = if exponent == 0 { (0x40_0000, 0x60_0000) } else { (0, 0x40_0000) };
    let up = match rounding {
        ExponentRounding::Down => false,
        ExponentRounding::Up => fraction > exact,
        ExponentRounding::Nearest => fraction >= half,
    };
    match exponent + u8::from(up) {
        NAN if saturate => NAN - 1,
        code => code,
    }
}

/// How a small float is laid out: sign, exponent, mantissa, and which codes are special.
#[derive(Clone, Copy)]
struct Format {
    exponent_bits: u32,
    mantissa_bits: u32,
    bias: i32,
    special: Special,
}

/// Which codes stand for no finite number.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Special {
    /// None: every code is finite (`float4_e2m1fn`).
    None,
    /// As IEEE 754: the highest exponent is infinity (mantissa 0) or NaN (`float8_e5m2`).
    Ieee,
    /// All ones, of either sign, is NaN; no infinity (`float8_e4m3fn`).
    AllOnesNan,
    /// Minus zero is NaN; no infinity, no minus zero (the `uz` types).
    MinusZeroNan,
}

impl Format {
    fn of(dtype: DType) -> Option<Format> {
        let format = |exponent_bits, mantissa_bits, bias, special| Format {
            exponent_bits,
            mantissa_bits,
            bias,
            special,
        };
        Some(match dtype {
            DType::F8E4M3FN => format(4, 3, 7, Special::AllOnesNan),
            DType::F8E4M3FNUZ => format(4, 3, 8, Special::MinusZeroNan),
            DType::F8E5M2 => format(5, 2, 15, Special::Ieee),
            DType::F8E5M2FNUZ => format(5, 2, 16, Special::MinusZeroNan),
            DType::F4E2M1 => format(2, 1, 1, Special::None),
            // Exponent only, no sign: 255 is NaN, the rest 2^(code - 127).
            DType::F8E8M0 => format(8, 0, 127, Special::AllOnesNan),
            _ => return None,
        })
    }

    /// The code of the greatest finite number.
    fn greatest(self) -> u8 {
        let magnitude = (1u8 << (self.exponent_bits + self.mantissa_bits)) - 1;
        match self.special {
            Special::None | Special::MinusZeroNan => magnitude,
            Special::AllOnesNan => magnitude - 1,
            Special::Ieee => magnitude - (1 << self.mantissa_bits),
        }
    }

    /// Rounds to the nearest code, ties to even. Zero, an infinity and NaN are codes too.
    fn encode(self, value: f64, saturate: bool) -> u8 {
        let sign_bit = 1u8 << (self.exponent_bits + self.mantissa_bits);
        let sign = if value.is_sign_negative() { sign_bit } else { 0 };
        let greatest = self.greatest();
        let overflow = match self.special {
            Special::None => greatest,
            Special::MinusZeroNan => return self.encode_unsigned_zero(value, sign, saturate),
            Special::AllOnesNan | Special::Ieee => greatest + 1,
        };
        if value.is_nan() {
            return if self.special == Special::None { sign_bit } else { sign | (sign_bit - 1) };
        }
        match self.round(value.abs()) {
            Some(code) if code <= u32::from(greatest) => sign | code as u8,
            _ => sign | if saturate { greatest } else { overflow },
        }
    }

    /// Encodes for the types whose minus zero is NaN.
    fn encode_unsigned_zero(self, value: f64, sign: u8, saturate: bool) -> u8 {
        let nan = 1u8 << (self.exponent_bits + self.mantissa_bits);
        match self.round(value.abs()) {
            _ if value.is_nan() => nan,
            Some(0) => 0,
            Some(code) if code <= u32::from(self.greatest()) => sign | code as u8,
            _ if saturate => sign | self.greatest(),
            _ => nan,
        }
    }

    /// Rounds a magnitude to a code, as if exponents went on for ever; `None` for infinity.
    fn round(self, magnitude: f64) -> Option<u32> {
        if !magnitude.is_finite() {
            return None;
        }
        let least = 1 - self.bias;
        let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).max(least);
        // One unit of the last place; the division is exact. A carry ends in the exponent.
        let unit = f64::exp2(f64::from(exponent - self.mantissa_bits as i32));
        let steps = (magnitude / unit).round_ties_even() as u32;
        Some((((exponent - least) as u32) << self.mantissa_bits) + steps)
    }

    fn decode(self, code: u8) -> f32 {
        if self.exponent_bits == 8 {
            return if code == 0xff { f32::NAN } else { exp2(i32::from(code) - self.bias) };
        }
        let sign_bit = 1u8 << (self.exponent_bits + self.mantissa_bits);
        let magnitude = code & (sign_bit - 1);
        let (exponent, mantissa) =
            (magnitude >> self.mantissa_bits, magnitude & ((1 << self.mantissa_bits) - 1));
        let top = (1u8 << self.exponent_bits) - 1;
        let value = match self.special {
            Special::AllOnesNan if magnitude == sign_bit - 1 => f32::NAN,
            Special::MinusZeroNan if code == sign_bit => f32::NAN,
            Special::Ieee if exponent == top && mantissa == 0 => f32::INFINITY,
            Special::Ieee if exponent == top => f32::NAN,
            _ => self.finite(exponent, mantissa),
        };
        if code & sign_bit != 0 { -value } else { value }
    }

    fn finite(self, exponent: u8, mantissa: u8) -> f32 {
        let hidden = if exponent == 0 { 0 } else { 1 << self.mantissa_bits };
        let scale = i32::from(exponent.max(1)) - self.bias - self.mantissa_bits as i32;
        f32::from(mantissa + hidden) * exp2(scale)
    }
}

/// Two to a power that may be as low as that of the least subnormal; exact.
fn exp2(power: i32) -> f32 {
    f64::exp2(f64::from(power)) as f32
}
