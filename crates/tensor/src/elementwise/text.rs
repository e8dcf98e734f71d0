//! Numbers as text, both ways.

use crate::dispatch;
use crate::dtype::DType;
use crate::element::Number;
use crate::elementwise::cast::not_a_number;
use crate::error::Result;
use crate::tensor::Tensor;

/// Reads text as numbers of a type from which `to` follows by a plain conversion.
pub(super) fn parse(tensor: &Tensor, to: DType) -> Result<Tensor> {
    let strings = tensor.strings().unwrap_or_default();
    match to {
        DType::F64 => read(tensor, strings, to, |text| text.parse::<f64>().ok()),
        _ if to.is_float() => read(tensor, strings, to, |text| text.parse::<f32>().ok()),
        DType::U64 => read(tensor, strings, to, |text| whole(text).map(|v| v as u64)),
        _ => read(tensor, strings, to, |text| whole(text).map(|v| v as i64)),
    }
}

fn read<T: crate::Element>(
    tensor: &Tensor,
    strings: &[Vec<u8>],
    to: DType,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Tensor> {
    let read = |element: &Vec<u8>| {
        let text = str::from_utf8(element).ok();
        text.and_then(|text| parse(text.trim())).ok_or_else(|| not_a_number(to, element))
    };
    Tensor::from_vec(tensor.shape(), strings.iter().map(read).collect::<Result<Vec<T>>>()?)
}

/// Reads an integer; a fraction is cut off.
fn whole(text: &str) -> Option<i128> {
    match text.parse::<i128>() {
        Ok(value) => Some(value),
        Err(_) => text.parse::<f64>().ok().map(|value| value as i128),
    }
}

/// Writes numbers as text; `from` is the type they had before they were decoded.
pub(super) fn format(numbers: &Tensor, from: DType) -> Result<Tensor> {
    let digits = if from == DType::F64 { 17 } else { 8 };
    let strings: Vec<Vec<u8>> = match numbers.dtype() {
        dtype if dtype.is_float() => dispatch!(float, "cast", dtype, T => {
            let write = |&x: &T| significant(x.to_f64(), digits).into_bytes();
            numbers.view::<T>()?.iter().map(write).collect()
        }),
        dtype => dispatch!(int, "cast", dtype, T => {
            numbers.view::<T>()?.iter().map(|x| format!("{x:?}").into_bytes()).collect()
        }),
    };
    Tensor::from_strings(numbers.shape(), strings)
}

/// Writes a number with so many significant digits, without trailing zeros: C's `%g`.
fn significant(value: f64, digits: usize) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "INF" } else { "-INF" }.to_owned();
    }
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..digits as i32).contains(&exponent) {
        let decimals = (digits as i32 - 1 - exponent) as usize;
        return without_zeros(&format!("{value:.decimals$}")).to_owned();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", without_zeros(mantissa), exponent.abs())
}

fn without_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

#[cfg(test)]
mod tests {
    use super::significant;

    #[test]
    fn numbers_are_written_as_printf_does() {
        let cases = [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (100.0, "100"),
            (0.47892547, "0.47892547"),
            (-2.5, "-2.5"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (12345678.0, "12345678"),
            (123456789.0, "1.2345679e+08"),
            (1e20, "1e+20"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-INF"),
        ];
        for (value, expected) in cases {
            assert_eq!(significant(value, 8), expected);
        }
        assert_eq!(significant(0.1, 17), "0.10000000000000001");
    }
}
