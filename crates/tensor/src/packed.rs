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
