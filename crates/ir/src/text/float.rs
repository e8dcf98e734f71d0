//! Floating-point literals as MLIR writes them.

use std::fmt;

use crate::types::FloatKind;

/// Writes the number of format `kind` with this pattern so that it reads back as the same number.
///
/// Six digits in exponent form if they are exact; else as many as the format can need; else, and
/// for infinities and NaNs, the bit pattern in hexadecimal. Divergence: numbers that no `f64` is are
/// written as bits too; MLIR writes digits of them, which it reads as an `f64`.
pub(super) fn write(out: &mut impl fmt::Write, pattern: u128, kind: FloatKind) -> fmt::Result {
    match decimal(pattern, kind) {
        Some(text) => out.write_str(&text),
        None => write!(out, "0x{:X}", kind.canonical(pattern)),
    }
}

/// The decimal form of a number, where it reads back as the same number of format `kind`.
///
/// Whole numbers of more than six digits have none: without a point they would be integers.
pub(super) fn decimal(pattern: u128, kind: FloatKind) -> Option<String> {
    let pattern = kind.canonical(pattern);
    let value = kind.decode(pattern);
    if !value.is_finite() {
        return None;
    }
    let same = |text: &str| {
        let to_mlir = text.parse::<f64>().is_ok_and(|read| kind.encode(read) == pattern);
        to_mlir && kind.literal(text) == Some(pattern)
    };
    let short = exponent_form(value);
    if kind.nearest(&short) == Some(pattern) && same(&short) {
        return Some(short);
    }
    // Enough digits for every number of this precision: log10(2) is about 59/196.
    let digits = 2 + kind.precision() as usize * 59 / 196;
    let long = general_form(value, digits);
    (long.contains('.') && same(&long)).then_some(long)
}

/// The first digits of a number: `0.d1d2d3... * 10^(leading + 1)`.
struct Digits {
    negative: bool,
    /// At least one, without trailing zeros.
    digits: String,
    /// The power of ten of the first digit.
    leading: i32,
}

/// At most `precision` digits of `value`, chosen as LLVM's `APFloat::toString` does: the decimal
/// expansion is first cut, by a number of digits that is estimated from its length in bits, and
/// then rounded, ties up. A cut to exactly `precision` digits is thus not rounded.
fn digits(value: f64, precision: usize) -> Digits {
    let negative = value.is_sign_negative();
    if value == 0.0 {
        return Digits { negative, digits: "0".into(), leading: 0 };
    }
    let kept = kept_digits(value, precision);
    let exact = format!("{:.*e}", kept.max(precision) + 20, value.abs());
    let (mantissa, exponent) = exact.split_once('e').unwrap_or((&exact, "0"));
    let mut leading: i32 = exponent.parse().unwrap_or(0);
    let mut digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).take(kept).collect();
    if digits.get(precision).is_some_and(|&next| next >= b'5') {
        digits.truncate(precision);
        while digits.last() == Some(&b'9') {
            digits.pop();
        }
        match digits.last_mut() {
            Some(last) => *last += 1,
            None => {
                digits.push(b'1');
                leading += 1;
            }
        }
    }
    digits.truncate(precision);
    while digits.len() > 1 && digits.last() == Some(&b'0') {
        digits.pop();
    }
    Digits { negative, digits: digits.into_iter().map(char::from).collect(), leading }
}

/// How many digits of the decimal expansion of `value` stay after the cut.
fn kept_digits(value: f64, precision: usize) -> usize {
    let bits = value.to_bits();
    let stored = (bits >> 52 & 0x7FF) as i32;
    let fraction = bits & ((1 << 52) - 1);
    let m = if stored == 0 { fraction } else { fraction | 1 << 52 };
    let zeros = m.trailing_zeros() as i32;
    let m = m >> zeros;
    let e = stored.max(1) - 1075 + zeros;
    // The expansion as an integer is `m * 2^e`, or `m * 5^-e` times a negative power of ten.
    let scale = if e < 0 { 5f64.log2() * f64::from(-e) } else { f64::from(e) };
    let length = ((m as f64).log2() + scale).floor() as i64 + 1;
    let text = format!("{:.25e}", value.abs());
    let leading: i64 = text.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let count = leading + 1 + i64::from((-e).max(0));
    let required = (precision as i64 * 196 + 58) / 59;
    let removed = if length <= required { 0 } else { (length - required) * 59 / 196 };
    (count - removed).max(1) as usize
}

/// `1.500000e+00`: six digits, and a zero more.
fn exponent_form(value: f64) -> String {
    let Digits { negative, digits, leading } = digits(value, 6);
    let minus = if negative { "-" } else { "" };
    let (first, rest) = digits.split_at(1);
    let sign = if leading < 0 { '-' } else { '+' };
    format!("{minus}{first}.{rest:0<6}e{sign}{:02}", leading.abs())
}

/// At most `precision` digits, without trailing zeros, in plain form if that needs few zeros.
fn general_form(value: f64, precision: usize) -> String {
    let Digits { negative, digits, leading } = digits(value, precision);
    let count = digits.len() as i32;
    // The value is `digits * 10^scale`.
    let scale = leading - (count - 1);
    let scientific =
        if scale >= 0 { scale > 3 || count + scale > precision as i32 } else { leading < -3 };
    let body = if scientific {
        let rest = if count == 1 { "0" } else { &digits[1..] };
        let sign = if leading < 0 { '-' } else { '+' };
        format!("{}.{rest}E{sign}{}", &digits[..1], leading.abs())
    } else if scale >= 0 {
        format!("{digits}{}", "0".repeat(scale as usize))
    } else if leading >= 0 {
        let (whole, fraction) = digits.split_at(leading as usize + 1);
        format!("{whole}.{fraction}")
    } else {
        format!("0.{}{digits}", "0".repeat((-leading - 1) as usize))
    };
    if negative { format!("-{body}") } else { body }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected texts come from `mlir-opt` 22.
    #[test]
    fn literals() {
        let cases = [
            (1.0, FloatKind::F32, "1.000000e+00"),
            (-1.5e-300, FloatKind::F64, "-1.500000e-300"),
            (f64::from(1.0e38f32), FloatKind::F32, "9.99999968E+37"),
            (f64::from(123_456.79_f32), FloatKind::F32, "123456.789"),
            (1e100, FloatKind::F64, "1.000000e+100"),
            (f64::from(0.000_123_456_78_f32), FloatKind::F32, "1.23456775E-4"),
            (-0.0, FloatKind::F32, "-0.000000e+00"),
            (1_234_567.0, FloatKind::F32, "0x4996B438"),
            (16_777_217.0, FloatKind::F64, "0x4170000010000000"),
            (5e-324, FloatKind::F64, "4.940660e-324"),
            (1.234_567_890_123_45, FloatKind::F64, "1.23456789012345"),
            (0.099_975_585_937_5, FloatKind::F16, "9.997550e-02"),
            (f64::INFINITY, FloatKind::F32, "0x7F800000"),
            (f64::NAN, FloatKind::F32, "0x7FC00000"),
            (f64::INFINITY, FloatKind::F80, "0x7FFF8000000000000000"),
        ];
        for (value, kind, expected) in cases {
            let mut text = String::new();
            write(&mut text, kind.encode(value), kind).expect("a string takes all");
            assert_eq!(text, expected);
        }
    }

    /// What no `f64` is keeps its bits; the other texts come from `mlir-opt`.
    #[test]
    fn wide_literals() {
        let cases = [
            (FloatKind::F80, 0x3FFF_8000_0000_0000_0001, "0x3FFF8000000000000001"),
            (FloatKind::F80, 0x0000_0000_0000_0000_0001, "0x1"),
            (FloatKind::F80, 0x3FFB_CCCC_CCCC_CCCC_D000, "0.100000000000000005551"),
            (FloatKind::F80, 0x7FFF_C000_0000_0000_0000, "0x7FFFC000000000000000"),
            (FloatKind::F128, 0x3FFB_9999_9999_9999_9999_9999_9999_999A, {
                "0x3FFB999999999999999999999999999A"
            }),
            (FloatKind::F128, 0x7FFF_8000_0000_0000_0000_0000_0000_0001, {
                "0x7FFF8000000000000000000000000001"
            }),
            (FloatKind::F128, 0x4000_C000 << 96, "3.500000e+00"),
            // The leading bit disagrees with the exponent.
            (FloatKind::F80, 0x3FFF_0000_0000_0000_0001, "0x7FFF0000000000000001"),
            (FloatKind::F80, 0x7FFF_0000_0000_0000_0000, "0x7FFF0000000000000000"),
            (FloatKind::F80, 0x0000_8000_0000_0000_0000, "0x18000000000000000"),
        ];
        for (kind, pattern, expected) in cases {
            let mut text = String::new();
            write(&mut text, pattern, kind).expect("a string takes all");
            assert_eq!(text, expected, "{pattern:#X}");
        }
    }
}
