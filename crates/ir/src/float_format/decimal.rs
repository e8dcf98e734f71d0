//! Decimal text as the nearest number of a format that is wider than `f64`.

use num_bigint::BigUint;

use super::Parts;
use crate::types::FloatKind;

/// Digits that can matter: halfway between two numbers of `f128` are 11,564 of them. What follows
/// only says on which side of it a number is.
const DIGITS: usize = 11_600;
/// Powers of ten beyond which every number is infinite, or nothing.
const POWERS: i64 = 5_000;

/// As many digits as it takes to tell numbers of `f64` apart.
const DOUBLE_DIGITS: usize = 17;

impl FloatKind {
    /// The pattern of the number that a literal `text` stands for; `None` if it is not `-`, digits
    /// with a point in them, `e` and an exponent, of which the sign, the point and the exponent may
    /// be absent.
    ///
    /// MLIR takes the nearest `f64` and makes that a number of the type. So does this; but where
    /// the text has more digits than an `f64` can need, or no `f64` is as large or as small, it
    /// means the nearest number of the format itself: such text is what MLIR writes.
    pub(crate) fn literal(self, text: &str) -> Option<u128> {
        let (mantissa, _) = text.split_once(['e', 'E']).unwrap_or((text, ""));
        let digits = mantissa.bytes().filter(u8::is_ascii_digit);
        let digits: Vec<u8> = digits.skip_while(|&b| b == b'0').collect();
        let value: f64 = text.parse().ok()?;
        let near = value.is_normal() && digits.len() <= DOUBLE_DIGITS || digits.is_empty();
        if near { Some(self.encode(value)) } else { self.nearest(text) }
    }

    /// The pattern of the number that `text` says, rounded to nearest, ties to even; by way of the
    /// nearest `f64` where the format is no wider.
    pub(crate) fn nearest(self, text: &str) -> Option<u128> {
        if !self.is_wide() {
            return Some(self.encode(text.parse().ok()?));
        }
        let (sign, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, power) = match text.split_once(['e', 'E']) {
            Some((mantissa, power)) => (mantissa, saturating(power)?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = whole.bytes().chain(fraction.bytes());
        let digits: Vec<u8> = all.skip_while(|&b| b == b'0').collect();
        if whole.is_empty() && fraction.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        Some(self.pack(rounded(sign, digits, power.saturating_sub(fraction.len() as i64))))
    }
}

/// A power of ten, no further away than what can be counted.
fn saturating(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let far = if text.starts_with('-') { i64::MIN / 2 } else { i64::MAX / 2 };
    Some(text.parse().unwrap_or(far))
}

/// The number of these digits times `10^power`, to 127 bits, of which the last one is set if
/// anything is behind it.
fn rounded(sign: bool, mut digits: Vec<u8>, mut power: i64) -> Parts {
    let leading = power.saturating_add(digits.len() as i64);
    if digits.is_empty() || leading < -POWERS {
        return Parts::Finite { sign, m: 0, e: 0 };
    }
    if leading > POWERS {
        return Parts::Infinite { sign };
    }
    if digits.len() > DIGITS {
        let more = digits[DIGITS..].iter().any(|&digit| digit != b'0');
        power += (digits.len() - DIGITS) as i64;
        digits.truncate(DIGITS);
        digits[DIGITS - 1] |= u8::from(more);
    }
    let number = BigUint::parse_bytes(&digits, 10).unwrap_or_default();
    let fives = BigUint::from(5u8).pow(u32::try_from(power.unsigned_abs()).unwrap_or(u32::MAX));
    let mut e = power as i32;
    let (number, exact) = if power >= 0 {
        (number * fives, true)
    } else {
        // Enough bits in front that the quotient has 128.
        let bits = 128 + fives.bits().saturating_sub(number.bits());
        let shifted = number << bits;
        let quotient = &shifted / &fives;
        e -= bits as i32;
        let exact = &quotient * &fives == shifted;
        (quotient, exact)
    };
    let drop = number.bits().saturating_sub(127);
    let lost = number.trailing_zeros().is_some_and(|zeros| zeros < drop);
    let m = u128::try_from(number >> drop).unwrap_or(0);
    Parts::Finite { sign, m: m | u128::from(lost || !exact), e: e + drop as i32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_make_the_nearest_number() {
        let cases = [
            (FloatKind::F80, "1.0", 0x3FFF_8000_0000_0000_0000),
            (FloatKind::F80, "3.14159265358979323851", 0x4000_C90F_DAA2_2168_C235),
            (FloatKind::F80, "1.00000000000000000011", 0x3FFF_8000_0000_0000_0001),
            (FloatKind::F80, "1e4000", 0x73E6_D1BA_8323_FE55_8C61),
            (FloatKind::F80, "3.645200e-4951", 1),
            (FloatKind::F128, "0.1", 0x3FFB_9999_9999_9999_9999_9999_9999_999A),
            (FloatKind::F128, "-0.1", 0xBFFB_9999_9999_9999_9999_9999_9999_999A),
            (FloatKind::F128, "1.18973149535723176508575932662800702E+4932", {
                0x7FFE_FFFF_FFFF_FFFF_FFFF_FFFF_FFFF_FFFF
            }),
            (FloatKind::F128, "3.3621031431120935062626778173217526E-4932", 1 << 112),
            (FloatKind::F128, "1e5000", 0x7FFF << 112),
            (FloatKind::F128, "1.0e99999999999999999999", 0x7FFF << 112),
            (FloatKind::F128, "1.0e-99999999999999999999", 0),
            (FloatKind::F128, "-0.0", 1 << 127),
        ];
        for (kind, text, expected) in cases {
            let found = kind.nearest(text).expect("a number");
            assert_eq!(found, expected, "{text}: {found:#X}");
        }
        for text in ["", ".", "1.0e", "e5", "1.0e+-5", "inf", "1.x"] {
            assert_eq!(FloatKind::F80.nearest(text), None, "{text}");
        }
    }

    #[test]
    fn short_literals_are_those_of_doubles() {
        let cases = [
            (FloatKind::F80, "0.1", 0x3FFB_CCCC_CCCC_CCCC_D000),
            (FloatKind::F80, "0.100000000000000005551", 0x3FFB_CCCC_CCCC_CCCC_D000),
            (FloatKind::F80, "0.100000000000000000000", 0x3FFB_CCCC_CCCC_CCCC_CCCD),
            (FloatKind::F80, "0.00000000000000000000000001", FloatKind::F80.encode(1e-26)),
            (FloatKind::F80, "-0.0000000000000000000", 0x8000 << 64),
            (FloatKind::F80, "1e4000", 0x73E6_D1BA_8323_FE55_8C61),
            (FloatKind::F80, "3.645200e-4951", 1),
            (FloatKind::F32, "0.1", 0x3DCC_CCCD),
        ];
        for (kind, text, expected) in cases {
            let found = kind.literal(text).expect("a number");
            assert_eq!(found, expected, "{text}: {found:#X}");
        }
    }

    /// Halfway between 1 and its neighbour, which is odd; and one digit more, far behind it.
    #[test]
    fn ties_go_to_even_and_no_digit_is_too_far_away() {
        let one = 0x3FFF_8000_0000_0000_0000;
        // 1 + 2^-64
        let tie = "1.000000000000000000054210108624275221700372640043497085571289062500";
        assert_eq!(FloatKind::F80.nearest(tie), Some(one));
        for zeros in [0, 100, 20_000] {
            let more = format!("{tie}{}1", "0".repeat(zeros));
            assert_eq!(FloatKind::F80.nearest(&more), Some(one + 1), "{zeros}");
        }
    }
}
