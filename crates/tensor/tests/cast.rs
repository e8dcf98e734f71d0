//! Conversions, against tables made with `ml_dtypes` and by hand.

use half::{bf16, f16};
use tangram_tensor::elementwise::{CastOptions, cast, cast_with};
use tangram_tensor::packed::ExponentRounding;
use tangram_tensor::{DType, KernelError, Tensor};

const NAN: f32 = f32::NAN;
const INF: f32 = f32::INFINITY;

/// Codes without saturation, from `ml_dtypes`: e4m3fn, e4m3fnuz, e5m2, e5m2fnuz.
#[rustfmt::skip]
const SMALL: [(f32, [u8; 4]); 21] = [
    (0.0, [0, 0, 0, 0]),
    (-0.0, [128, 0, 128, 0]),
    (1.0, [56, 64, 60, 64]),
    (1.0625, [56, 64, 60, 64]),
    (1.1875, [58, 66, 61, 65]),
    (448.0, [126, 128, 95, 99]),
    (464.0, [126, 128, 95, 99]),
    (465.0, [127, 128, 95, 99]),
    (500.0, [127, 128, 96, 100]),
    (-1e9, [255, 128, 252, 128]),
    (0.0009765625, [0, 1, 20, 24]),
    (0.00048828125, [0, 0, 16, 20]),
    (0.0029296875, [2, 3, 26, 30]),
    (240.0, [119, 127, 92, 96]),
    (248.0, [120, 128, 92, 96]),
    (249.0, [120, 128, 92, 96]),
    (57344.0, [127, 128, 123, 127]),
    (61440.0, [127, 128, 124, 128]),
    (7e-6, [0, 0, 0, 1]),
    (INF, [127, 128, 124, 128]),
    (-INF, [255, 128, 252, 128]),
];

const SMALL_TYPES: [DType; 4] =
    [DType::F8E4M3FN, DType::F8E4M3FNUZ, DType::F8E5M2, DType::F8E5M2FNUZ];

#[test]
fn small_floats_round_to_nearest_even() {
    let values = Tensor::vector(SMALL.map(|(value, _)| value).to_vec());
    let options = CastOptions { saturate: false, ..CastOptions::default() };
    for (column, dtype) in SMALL_TYPES.into_iter().enumerate() {
        let codes = cast_with(&values, dtype, options).unwrap();
        let expected: Vec<u8> = SMALL.iter().map(|(_, codes)| codes[column]).collect();
        assert_eq!(codes.bytes(), &expected, "{dtype}");
    }
}

#[test]
fn small_floats_saturate() {
    let values = Tensor::vector(vec![1e9f32, -1e9, INF, -INF]);
    for (dtype, greatest) in SMALL_TYPES.into_iter().zip([448.0, 240.0, 57344.0, 57344.0]) {
        let codes = cast(&values, dtype).unwrap();
        assert_eq!(codes.f64s().unwrap(), [greatest, -greatest, greatest, -greatest], "{dtype}");
    }
}

#[test]
fn every_small_code_survives_a_round_trip() {
    let options = CastOptions { saturate: false, ..CastOptions::default() };
    for dtype in SMALL_TYPES.into_iter().chain([DType::F4E2M1, DType::F8E8M0]) {
        let len = if dtype == DType::F4E2M1 { 16 } else { 256 };
        let codes: Vec<u8> = if len == 16 {
            (0..8).map(|i| (2 * i) | ((2 * i + 1) << 4)).collect()
        } else {
            (0..=255).collect()
        };
        let tensor = Tensor::from_bytes(dtype, [len], codes.clone()).unwrap();
        let floats = cast(&tensor, DType::F32).unwrap();
        let back = cast_with(&floats, dtype, options).unwrap();
        let values = floats.to_vec::<f32>().unwrap();
        let nan_codes = values.iter().filter(|v| v.is_nan()).count();
        let differing = tensor.bytes().iter().zip(back.bytes()).filter(|(a, b)| a != b).count();
        // Only the codes of NaN may come back as another code of NaN.
        assert!(differing <= nan_codes.saturating_sub(1), "{dtype}: {differing}");
    }
}

#[test]
fn four_bit_floats_follow_ml_dtypes() {
    let values =
        vec![0.48f32, 0.25, 0.75, 1.05, -3.5, -8.0, 9.0, 5.0, 2.5, NAN, INF, -INF, 0.0, -0.0, -0.1];
    let expected = [1u8, 0, 2, 2, 14, 15, 7, 6, 4, 8, 7, 15, 0, 8, 8];
    let codes = cast(&Tensor::vector(values), DType::F4E2M1).unwrap();
    assert_eq!(tangram_tensor::packed::unpack(codes.bytes(), DType::F4E2M1, 15), expected);
}

#[test]
fn powers_of_two_round_as_asked() {
    let values = Tensor::vector(vec![1.0f32, 1.25, 1.5, 1.75, 3.0, INF, NAN]);
    use ExponentRounding::{Down, Nearest, Up};
    for (rounding, expected) in [
        (Up, [127, 128, 128, 128, 129, 254, 255]),
        (Down, [127, 127, 127, 127, 128, 254, 255]),
        (Nearest, [127, 127, 128, 128, 129, 254, 255]),
    ] {
        let codes = cast_with(&values, DType::F8E8M0, CastOptions { saturate: true, rounding });
        assert_eq!(codes.unwrap().bytes(), &expected[..], "{rounding:?}");
    }
}

#[test]
fn floats_become_integers_by_truncation() {
    let values = Tensor::vector(vec![2.9f32, -2.9, NAN, 3e9, -1.0, 1e30]);
    let to = |dtype| cast(&values, dtype).unwrap();
    assert_eq!(to(DType::I32).i64s().unwrap(), [2, -2, -2147483648, -2147483648, -1, -2147483648]);
    assert_eq!(to(DType::I64).i64s().unwrap(), [2, -2, i64::MIN, 3_000_000_000, -1, i64::MIN]);
    assert_eq!(to(DType::U8).i64s().unwrap()[..2], [2, 254]);
    assert_eq!(to(DType::Bool).i64s().unwrap(), [1; 6]);
    let big = cast(&Tensor::scalar(1.5e19f64), DType::U64).unwrap();
    assert_eq!(big.to_vec::<u64>().unwrap(), [15_000_000_000_000_000_000]);
}

#[test]
fn integers_keep_their_low_bits() {
    let values = Tensor::vector(vec![200i16, -9, 256, 15]);
    assert_eq!(cast(&values, DType::I8).unwrap().i64s().unwrap(), [-56, -9, 0, 15]);
    assert_eq!(cast(&values, DType::U64).unwrap().to_vec::<u64>().unwrap()[1], u64::MAX - 8);
    assert_eq!(cast(&values, DType::I4).unwrap().i64s().unwrap(), [-8, 7, 0, -1]);
    assert_eq!(cast(&values, DType::U4).unwrap().i64s().unwrap(), [8, 7, 0, 15]);
    assert_eq!(cast(&values, DType::I2).unwrap().i64s().unwrap(), [0, -1, 0, -1]);
    let floats = cast(&Tensor::scalar(i64::MAX), DType::F32).unwrap();
    assert_eq!(floats.to_vec::<f32>().unwrap(), [9223372036854775807i64 as f32]);
}

#[test]
fn text_goes_both_ways() {
    let text = ["2.25", " 1e-5", "+INF", "-inf", "NaN", "1000"].map(|s| s.as_bytes().to_vec());
    let tensor = Tensor::from_strings([6], text.to_vec()).unwrap();
    let floats = cast(&tensor, DType::F32).unwrap().to_vec::<f32>().unwrap();
    assert_eq!(floats[..4], [2.25f32, 1e-5, INF, -INF]);
    assert!(floats[4].is_nan());
    assert_eq!(floats[5], 1000.0);
    let written = cast(&Tensor::vector(vec![1.5f32, INF, -0.25]), DType::String).unwrap();
    assert_eq!(written.strings().unwrap(), [&b"1.5"[..], b"INF", b"-0.25"]);
    let bad = Tensor::from_strings([1], vec![b"one".to_vec()]).unwrap();
    let expected = KernelError::BadElement { to: DType::I32, found: "one".to_owned() };
    assert_eq!(cast(&bad, DType::I32), Err(expected));
}

#[test]
fn halves_convert_at_any_length() {
    for len in [0, 1, 7, 8, 9, 31] {
        let values: Vec<f32> = (0..len).map(|i| i as f32 * 0.5 - 3.0).collect();
        let tensor = Tensor::vector(values.clone());
        for dtype in [DType::F16, DType::BF16, DType::F64] {
            let back = cast(&cast(&tensor, dtype).unwrap(), DType::F32).unwrap();
            assert_eq!(back.to_vec::<f32>().unwrap(), values, "{dtype}");
        }
    }
    let overflow = cast(&Tensor::scalar(65520.0f32), DType::F16).unwrap();
    assert_eq!(overflow.f64s().unwrap(), [f64::INFINITY]);
}

/// What lies beside a tie by less than `f32` sees is rounded to its own side.
#[test]
fn doubles_are_rounded_to_halves_once() {
    let pairs = |next: fn(u16) -> f64, count: u16| {
        (0..count).map(|bits| (next(bits), next(bits + 1), bits % 2 == 0)).collect::<Vec<_>>()
    };
    let halves = pairs(|bits| f16::from_bits(bits).to_f64(), f16::MAX.to_bits());
    let brains = pairs(|bits| bf16::from_bits(bits).to_f64(), bf16::MAX.to_bits());
    for (to, pairs) in [(DType::F16, halves), (DType::BF16, brains)] {
        for (below, above, even) in pairs {
            let tie = below / 2.0 + above / 2.0;
            let expected = [below, if even { below } else { above }, above];
            let doubles = vec![tie.next_down(), tie, tie.next_up()];
            let tensor = Tensor::from_vec([3], doubles).expect("numbers");
            let found = cast(&tensor, to).expect("a cast").f64s().expect("numbers");
            assert_eq!(found, expected, "{to:?} around {tie:e}");
        }
    }
}
