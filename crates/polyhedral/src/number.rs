//! Numbers of the rows that schedules and generated code are made from.

/// Returns the greatest common divisor, at least 0.
///
/// That of `i128::MIN` with itself or 0 has no `i128`; 1 divides it as well.
pub(crate) fn gcd(a: i128, b: i128) -> i128 {
    let common = num_integer::gcd(a.unsigned_abs(), b.unsigned_abs());
    i128::try_from(common).unwrap_or(1)
}
