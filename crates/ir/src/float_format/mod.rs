//! The bit patterns of the floating-point formats, converted to and from `f64` and decimal text.
//!
//! A finite number is `(-1)^sign * m * 2^e` with a 128-bit `m`; packing it into a format rounds
//! once, to nearest, ties to even. Narrow formats without infinities turn overflow into NaN as
//! LLVM's `APFloat` does, or saturate where they have no NaN either.

mod decimal;

use crate::types::FloatKind;

/// What the patterns with the largest exponent mean.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Special {
    /// Infinities and NaNs, as in IEEE 754.
    Ieee,
    /// No infinities; only the pattern of ones is NaN.
    Ones,
    /// No infinities and no negative zero; the pattern of negative zero is NaN.
    NegativeZero,
    /// No sign, no fraction, no zero; the pattern of ones is NaN.
    ExponentOnly,
    /// Every pattern is a finite number.
    None,
}

/// The layout of a format. `fraction` leaves out the integer bit, also where it is stored.
struct Layout {
    exponent: u32,
    fraction: u32,
    bias: i32,
    special: Special,
}

/// A number taken apart.
enum Parts {
    Finite {
        sign: bool,
        m: u128,
        e: i32,
    },
    Infinite {
        sign: bool,
    },
    /// The payload is left-aligned in 128 bits.
    Nan {
        sign: bool,
        payload: u128,
    },
}

fn layout(kind: FloatKind) -> Layout {
    let (exponent, fraction, bias, special) = match kind {
        FloatKind::F16 => (5, 10, 15, Special::Ieee),
        FloatKind::BF16 => (8, 7, 127, Special::Ieee),
        FloatKind::F32 => (8, 23, 127, Special::Ieee),
        FloatKind::F64 => (11, 52, 1023, Special::Ieee),
        FloatKind::F80 => (15, 63, 16383, Special::Ieee),
        FloatKind::F128 => (15, 112, 16383, Special::Ieee),
        FloatKind::TF32 => (8, 10, 127, Special::Ieee),
        FloatKind::F8E4M3FN => (4, 3, 7, Special::Ones),
        FloatKind::F8E4M3FNUZ => (4, 3, 8, Special::NegativeZero),
        FloatKind::F8E5M2 => (5, 2, 15, Special::Ieee),
        FloatKind::F8E5M2FNUZ => (5, 2, 16, Special::NegativeZero),
        FloatKind::F8E4M3 => (4, 3, 7, Special::Ieee),
        FloatKind::F8E3M4 => (3, 4, 3, Special::Ieee),
        FloatKind::F8E4M3B11FNUZ => (4, 3, 11, Special::NegativeZero),
        FloatKind::F6E2M3FN => (2, 3, 1, Special::None),
        FloatKind::F6E3M2FN => (3, 2, 3, Special::None),
        FloatKind::F8E8M0FNU => (8, 0, 127, Special::ExponentOnly),
        FloatKind::F4E2M1FN => (2, 1, 1, Special::None),
    };
    Layout { exponent, fraction, bias, special }
}

impl FloatKind {
    /// How many bits a number takes.
    pub fn width(self) -> u32 {
        match self {
            FloatKind::F80 => 80,
            FloatKind::F8E8M0FNU => 8,
            _ => {
                let layout = layout(self);
                1 + layout.exponent + layout.fraction
            }
        }
    }

    /// How many significant bits a number has, the leading one counted.
    pub fn precision(self) -> u32 {
        layout(self).fraction + 1
    }

    /// The pattern of `value` in this format, rounded to nearest, ties to even.
    pub fn encode(self, value: f64) -> u128 {
        match self {
            FloatKind::F64 => value.to_bits().into(),
            _ => self.pack(FloatKind::F64.unpack(value.to_bits().into())),
        }
    }

    /// Returns whether this format has numbers that `f64` does not have.
    pub fn is_wide(self) -> bool {
        matches!(self, FloatKind::F80 | FloatKind::F128)
    }

    /// The pattern that stands for the same number as `pattern` and is the one that is written.
    ///
    /// `f80` stores the leading bit: where it disagrees with the exponent, a number has the exponent
    /// that it needs, or is none, as LLVM's `APFloat` reads it.
    pub(crate) fn canonical(self, pattern: u128) -> u128 {
        let exponent = pattern >> 64 & 0x7FFF;
        match (self, exponent, pattern >> 63 & 1) {
            (FloatKind::F80, 0, 1) => pattern | 1 << 64,
            (FloatKind::F80, 1.., 0) => pattern | 0x7FFF << 64,
            _ => pattern,
        }
    }

    /// The number with this pattern; exact except for `f80` and `f128`, which are rounded.
    pub fn decode(self, pattern: u128) -> f64 {
        match self {
            FloatKind::F64 => f64::from_bits(pattern as u64),
            _ => f64::from_bits(FloatKind::F64.pack(self.unpack(pattern)) as u64),
        }
    }

    fn unpack(self, pattern: u128) -> Parts {
        let Layout { exponent, fraction, bias, special } = layout(self);
        let pattern = self.canonical(pattern);
        let leading = self != FloatKind::F80 || pattern >> 63 & 1 == 1;
        let pattern = if self == FloatKind::F80 { without_integer_bit(pattern) } else { pattern };
        let ones = (1u128 << exponent) - 1;
        let f = pattern & ((1u128 << fraction) - 1);
        let e = (pattern >> fraction) & ones;
        let sign = special != Special::ExponentOnly && pattern >> (exponent + fraction) & 1 == 1;
        let nan =
            Parts::Nan { sign, payload: if fraction == 0 { 0 } else { f << (128 - fraction) } };
        match special {
            Special::Ieee if e == ones && f == 0 && leading => return Parts::Infinite { sign },
            Special::Ieee if e == ones => return nan,
            Special::Ones if e == ones && f == (1 << fraction) - 1 => return nan,
            Special::NegativeZero if sign && e == 0 && f == 0 => return nan,
            Special::ExponentOnly if e == ones => return nan,
            _ => {}
        }
        let stored = e as i32;
        let scale = -bias - fraction as i32;
        if stored == 0 && special != Special::ExponentOnly {
            return Parts::Finite { sign, m: f, e: 1 + scale };
        }
        Parts::Finite { sign, m: f | 1 << fraction, e: stored + scale }
    }

    fn pack(self, parts: Parts) -> u128 {
        let Layout { exponent, fraction, special, .. } = layout(self);
        let ones = ((1u128 << exponent) - 1) << fraction;
        let code = match parts {
            Parts::Finite { m, e, .. } => self.round(m, e),
            Parts::Infinite { .. } => self.overflow(),
            Parts::Nan { payload, .. } => match special {
                Special::Ieee => {
                    let f = payload.checked_shr(128 - fraction).unwrap_or(0);
                    ones | if f == 0 { 1 << (fraction - 1) } else { f }
                }
                Special::NegativeZero => return 1 << (exponent + fraction),
                _ => self.overflow(),
            },
        };
        let (Parts::Finite { sign, .. } | Parts::Infinite { sign } | Parts::Nan { sign, .. }) =
            parts;
        let signed = match special {
            Special::ExponentOnly => false,
            // There is one zero, and one NaN, which `overflow` gives with its sign bit.
            Special::NegativeZero => sign && code != 0,
            _ => sign,
        };
        let pattern = code | u128::from(signed) << (exponent + fraction);
        if self == FloatKind::F80 { with_integer_bit(pattern) } else { pattern }
    }

    /// Exponent and fraction of what is too big, without a sign.
    fn overflow(self) -> u128 {
        let Layout { exponent, fraction, special, .. } = layout(self);
        match special {
            Special::Ieee => ((1 << exponent) - 1) << fraction,
            Special::NegativeZero => 1 << (exponent + fraction),
            Special::Ones | Special::ExponentOnly | Special::None => {
                (1 << (exponent + fraction)) - 1
            }
        }
    }

    /// Exponent and fraction of `m * 2^e`, rounded.
    fn round(self, m: u128, e: i32) -> u128 {
        let Layout { exponent, fraction, bias, special } = layout(self);
        if m == 0 {
            return 0;
        }
        let top = 127 - m.leading_zeros() as i32;
        let biased = e + top + bias;
        let lowest = if special == Special::ExponentOnly { 0 } else { 1 };
        // Bits of `m` below the last one that is kept.
        let drop = top - fraction as i32 + (lowest - biased).max(0);
        let kept = shift_round_even(m, drop);
        let code = if biased >= lowest {
            // `kept` carries its leading one, which adds one to the exponent.
            kept + (((biased - lowest) as u128) << fraction)
        } else {
            kept
        };
        let code = if lowest == 0 { code.saturating_sub(1) } else { code };
        let limit = match special {
            Special::Ieee => ((1u128 << exponent) - 1) << fraction,
            Special::Ones | Special::ExponentOnly => (1 << (exponent + fraction)) - 1,
            Special::NegativeZero | Special::None => 1 << (exponent + fraction),
        };
        if code >= limit { self.overflow() } else { code }
    }
}

/// `m / 2^by`, to nearest, ties to even; `by` may be negative.
fn shift_round_even(m: u128, by: i32) -> u128 {
    if by <= 0 {
        return m << by.unsigned_abs().min(127);
    }
    if by > 128 {
        return 0;
    }
    let half = 1u128 << (by - 1);
    let (quotient, rest) = match by {
        128 => (0, m),
        _ => (m >> by, m & ((1 << by) - 1)),
    };
    let up = rest > half || rest == half && quotient & 1 == 1;
    quotient + u128::from(up)
}

/// `f80` stores the integer bit, bit 63; this leaves it out.
fn without_integer_bit(pattern: u128) -> u128 {
    (pattern >> 64) << 63 | pattern & ((1 << 63) - 1)
}

fn with_integer_bit(pattern: u128) -> u128 {
    let exponent = (pattern >> 63) & 0x7FFF;
    (pattern >> 63) << 64 | u128::from(exponent != 0) << 63 | pattern & ((1 << 63) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_precision_agrees_with_the_machine() {
        for bits in (0..=u32::MAX).step_by(65_521) {
            let value = f32::from_bits(bits);
            if value.is_nan() {
                continue;
            }
            assert_eq!(FloatKind::F32.decode(bits.into()), f64::from(value), "{bits:#x}");
            assert_eq!(FloatKind::F32.encode(value.into()), u128::from(bits));
        }
        for value in [0.1, 1e-40, 3.4e38, 3.5e38, 1e-46, -7.5e-46, 16_777_217.0, 16_777_219.0] {
            assert_eq!(FloatKind::F32.encode(value), u128::from((value as f32).to_bits()));
        }
    }

    #[test]
    fn every_pattern_of_a_small_format_comes_back() {
        for kind in FloatKind::ALL.into_iter().filter(|kind| kind.width() <= 19) {
            for pattern in 0..1u128 << kind.width() {
                let value = kind.decode(pattern);
                if !value.is_nan() {
                    assert_eq!(kind.encode(value), pattern, "{} {pattern:#x}", kind.name());
                }
            }
        }
    }

    #[test]
    fn wide_formats_hold_every_double() {
        for kind in [FloatKind::F80, FloatKind::F128] {
            for value in [0.0, -0.0, 1.0, -1.5, 5e-324, f64::MAX, f64::MIN_POSITIVE, 0.1] {
                assert_eq!(kind.decode(kind.encode(value)).to_bits(), value.to_bits());
            }
        }
        assert_eq!(FloatKind::F80.encode(5.0), 0x4001_A000_0000_0000_0000);
        assert_eq!(FloatKind::F80.encode(f64::INFINITY), 0x7FFF_8000_0000_0000_0000);
        assert_eq!(FloatKind::F128.encode(1.0), 0x3FFF << 112);
    }

    #[test]
    fn known_patterns() {
        // From the definitions of the formats.
        assert_eq!(FloatKind::F16.encode(65504.0), 0x7BFF);
        assert_eq!(FloatKind::BF16.encode(1.0), 0x3F80);
        assert_eq!(FloatKind::F8E4M3FN.encode(448.0), 0x7E);
        assert!(FloatKind::F8E4M3FN.decode(0x7F).is_nan());
        assert_eq!(FloatKind::F8E4M3FN.encode(1e9), 0x7F);
        assert_eq!(FloatKind::F8E5M2FNUZ.encode(f64::NAN), 0x80);
        assert_eq!(FloatKind::F8E8M0FNU.encode(1.0), 127);
        assert_eq!(FloatKind::F4E2M1FN.decode(0b0111), 6.0);
        assert_eq!(FloatKind::F32.encode(f64::from_bits(0x7FF8_0000_0000_0000)), 0x7FC0_0000);
    }
}
