//! Integers against those of `num-bigint`.

use super::*;
use proptest::prelude::*;

/// Numbers of all sizes, most of them where a width ends.
fn any_number() -> impl Strategy<Value = BigInt> {
    let border = (0_u32..200, -3_i64..4, any::<bool>()).prop_map(|(power, near, negative)| {
        let value = BigInt::from(2).pow(power) + near;
        if negative { -value } else { value }
    });
    prop_oneof![border, any::<i64>().prop_map(BigInt::from), (-9_i64..9).prop_map(BigInt::from)]
}

/// Returns whether a value that fits is stored in one word.
fn canonical(value: &Integer) -> bool {
    match value {
        Small(_) => true,
        Big(value) => value.to_i64().is_none(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn arithmetic_is_that_of_big_integers(a in any_number(), b in any_number()) {
        let (x, y) = (Integer::from(a.clone()), Integer::from(b.clone()));
        let mut pairs = vec![
            (&x + &y, &a + &b),
            (&x - &y, &a - &b),
            (&x * &y, &a * &b),
            (-&x, -&a),
            (x.abs(), a.abs()),
            (x.gcd(&y), a.gcd(&b)),
            (x.lcm(&y), a.lcm(&b)),
            (x.add_mul(&y, &x), &a + &b * &a),
            (Integer::cross(&x, &y, &y, &y), &a * &b - &b * &b),
            (x.pow(3), a.pow(3)),
        ];
        if !y.is_zero() {
            pairs.push((x.div_floor(&y), a.div_floor(&b)));
            pairs.push((x.mod_floor(&y), a.mod_floor(&b)));
            pairs.push(((&x * &y).div_exact(&y), a.clone()));
            prop_assert_eq!(x.is_multiple_of(&y), (&a % &b) == BigInt::ZERO);
        }
        for (found, expected) in pairs {
            prop_assert!(canonical(&found), "{:?}", found);
            prop_assert_eq!(found.to_big(), expected);
        }
    }

    #[test]
    fn order_and_conversions_are_those_of_big_integers(a in any_number(), b in any_number()) {
        let (x, y) = (Integer::from(a.clone()), Integer::from(b.clone()));
        prop_assert_eq!(x.cmp(&y), a.cmp(&b));
        prop_assert_eq!(x == y, a == b);
        prop_assert_eq!(x.sign(), a.signum().to_i32().unwrap_or(9));
        prop_assert_eq!(x.is_zero(), a == BigInt::ZERO);
        prop_assert_eq!(x.is_unit(), a.abs() == BigInt::from(1));
        prop_assert_eq!(x.to_i64(), a.to_i64());
        prop_assert_eq!(x.to_i128(), a.to_i128());
        prop_assert_eq!(x.bits(), a.bits());
        prop_assert_eq!(x.to_string(), a.to_string());
        prop_assert_eq!(Integer::from_signed_bytes(&x.to_signed_bytes()), x.clone());
        prop_assert_eq!(a.to_string().parse::<Integer>(), Ok(x.clone()));
        prop_assert_eq!(x.low_bits().wrapping_neg(), (-&x).low_bits());
        if let Some(value) = b.to_i64() {
            prop_assert_eq!(x.partial_cmp(&value), Some(a.cmp(&b)));
            prop_assert_eq!(x == value, a == b);
            prop_assert_eq!(&x + value, Integer::from(a + b));
        }
    }
}
