//! Elementwise kernels, reductions and softmax, against tables by hand.

use tangram_tensor::elementwise::*;
use tangram_tensor::reduce::{Reduce, reduce};
use tangram_tensor::softmax::{Softmax, softmax, softmax_flattened};
use tangram_tensor::{DType, KernelError, Tensor, f16};

const INF: f32 = f32::INFINITY;
const NAN: f32 = f32::NAN;

fn v<T: tangram_tensor::Element>(data: &[T]) -> Tensor {
    Tensor::vector(data.to_vec())
}

/// Equal, or within a few roundings of `f32` at the scale of 1 or of the value; NaN equals NaN.
#[track_caller]
fn close(found: &Tensor, expected: &[f64]) {
    let found = found.f64s().unwrap();
    assert_eq!(found.len(), expected.len());
    for (f, e) in found.iter().zip(expected) {
        let same = f == e || f.is_nan() && e.is_nan();
        assert!(same || (f - e).abs() <= 3e-7 * e.abs().max(1.0), "{found:?} is not {expected:?}");
    }
}

#[test]
fn integers_divide_and_wrap() {
    let (a, b) = (v(&[7i32, -7, 7, -7, i32::MIN]), v(&[2i32, 2, -2, -2, -1]));
    let ints = |t: tangram_tensor::Result<Tensor>| t.unwrap().i64s().unwrap();
    assert_eq!(ints(divide(&a, &b)), [3, -3, -3, 3, i64::from(i32::MIN)]);
    assert_eq!(ints(modulo(&a, &b, false)), [1, 1, -1, -1, 0]);
    assert_eq!(ints(modulo(&a, &b, true)), [1, -1, 1, -1, 0]);
    assert_eq!(ints(add(&v(&[i8::MAX]), &v(&[1i8]))), [-128]);
    assert_eq!(ints(modulo(&v(&[255u8, 7]), &v(&[255u8, 4]), false)), [0, 3]);
    assert_eq!(
        divide(&a, &Tensor::scalar(0i32)),
        Err(KernelError::DivisionByZero { kernel: "divide" })
    );
    assert!(divide(&v::<i32>(&[]), &Tensor::scalar(0i32)).is_ok());
    assert!(add(&a, &v(&[1i64])).is_err());
}

#[test]
fn float_remainders_take_signs() {
    let (a, b) = (v(&[5.3f64, -5.5, 5.5, -0.0, 2.0]), v(&[0.0f64, 2.0, -2.0, 3.0, f64::INFINITY]));
    close(&modulo(&a, &b, true).unwrap(), &[f64::NAN, -1.5, 1.5, 0.0, 2.0]);
    close(&modulo(&a, &b, false).unwrap(), &[f64::NAN, 0.5, -0.5, 0.0, 2.0]);
}

#[test]
fn powers_keep_the_type_of_the_base() {
    let two = |exponent: &Tensor| power(&v(&[2i32, -1, 1, 3]), exponent).unwrap();
    assert_eq!(two(&v(&[10i64, 3, -5, -1])).i64s().unwrap(), [1024, -1, 1, 0]);
    assert_eq!(two(&v(&[0.5f32, 2.0, 0.0, 1.5])).i64s().unwrap(), [1, 1, 1, 5]);
    close(&power(&v(&[2f32, 9.0]), &v(&[-1i64, 2])).unwrap(), &[0.5, 81.0]);
    close(&power(&v(&[2f32, 9.0]), &Tensor::scalar(3f32)).unwrap(), &[8.0, 729.0]);
    close(&power(&v(&[4f32]), &v(&[0.5f32])).unwrap(), &[2.0]);
    assert!(power(&v(&[0i32]), &v(&[-1i32])).is_err());
}

#[test]
fn operands_broadcast_both_ways() {
    let column = Tensor::from_vec([2, 1], vec![10i64, 20]).unwrap();
    let row = v(&[1i64, 2, 3]);
    let found = subtract(&column, &row).unwrap();
    assert_eq!((found.shape(), found.i64s().unwrap()), (&[2, 3][..], vec![9, 8, 7, 19, 18, 17]));
    let found = subtract(&row, &column).unwrap();
    assert_eq!(found.i64s().unwrap(), [-9, -8, -7, -19, -18, -17]);
    let cube = Tensor::from_vec([2, 3, 2], (0..12i64).collect()).unwrap();
    let middle = Tensor::from_vec([3, 1], vec![100i64, 200, 300]).unwrap();
    let found = add(&cube, &middle).unwrap().i64s().unwrap();
    assert_eq!(found, [100, 101, 202, 203, 304, 305, 106, 107, 208, 209, 310, 311]);
    assert_eq!(add(&v::<i64>(&[]), &Tensor::scalar(1i64)).unwrap().shape(), [0]);
    let chosen = select(&v(&[true, false, true]), &column, &row).unwrap();
    assert_eq!(chosen.i64s().unwrap(), [10, 2, 10, 20, 2, 20]);
}

#[test]
fn rounding_and_signs() {
    let x = v(&[0.5f32, 1.5, 2.5, -0.5, -2.5, 2.4, NAN, INF, 8388609.0]);
    close(
        &round(&x).unwrap(),
        &[0.0, 2.0, 2.0, 0.0, -2.0, 2.0, f64::NAN, f64::INFINITY, 8388609.0],
    );
    close(&sign(&v(&[-3f32, 0.0, 2.0, NAN])).unwrap(), &[-1.0, 0.0, 1.0, f64::NAN]);
    assert_eq!(abs(&v(&[-3i8, i8::MIN])).unwrap().i64s().unwrap(), [3, -128]);
    assert!(negative(&v(&[1u8])).is_err());
    let nan = maximum(&v(&[NAN, 1.0, -0.5]), &v(&[1.0, NAN, 0.5])).unwrap();
    close(&nan, &[f64::NAN, f64::NAN, 0.5]);
    close(&relu(&v(&[-1f32, 2.0, NAN])).unwrap(), &[0.0, 2.0, f64::NAN]);
    let clipped = clip(&v(&[-5i32, 0, 5]), Some(&Tensor::scalar(-1i32)), None).unwrap();
    assert_eq!(clipped.i64s().unwrap(), [-1, 0, 5]);
    assert_eq!(isinf(&v(&[INF, -INF, 1.0]), false, true).unwrap().i64s().unwrap(), [1, 0, 0]);
}

#[test]
fn activations_have_known_values() {
    let x = v(&[-2f32, 0.0, 2.0]);
    close(&sigmoid(&x).unwrap(), &[0.11920292, 0.5, 0.880797078]);
    close(&gelu(&x, GeluApproximation::None).unwrap(), &[-0.0455002639, 0.0, 1.954499736]);
    close(&gelu(&x, GeluApproximation::Tanh).unwrap(), &[-0.0454023059, 0.0, 1.954597694]);
    close(&softplus(&x).unwrap(), &[0.1269280110, std::f64::consts::LN_2, 2.126928011]);
    close(&elu(&x, 2.0).unwrap(), &[-1.7293294335, 0.0, 2.0]);
    close(&celu(&x, 2.0).unwrap(), &[-1.2642411177, 0.0, 2.0]);
    close(&hard_swish(&x).unwrap(), &[-0.3333333333, 0.0, 1.6666666667]);
    close(&mish(&x).unwrap(), &[-0.2525014827, 0.0, 1.9439589595]);
    close(&softsign(&x).unwrap(), &[-0.6666666667, 0.0, 0.6666666667]);
    close(&erf(&v(&[0.5f32])).unwrap(), &[0.5204998778]);
    close(&sigmoid(&v(&[-1000f32, 1000.0])).unwrap(), &[0.0, 1.0]);
    close(&softplus(&v(&[-1000f32, 1000.0])).unwrap(), &[0.0, 1000.0]);
    close(&shrink(&v(&[-2f32, -1.0, 2.0]), 1.5, 1.5).unwrap(), &[-0.5, 0.0, 0.5]);
}

#[test]
fn bits_and_comparisons() {
    let (a, b) = (v(&[16u8, 4, 255]), v(&[1u8, 2, 9]));
    let left = bit_shift(&a, &b, ShiftDirection::Left).unwrap();
    assert_eq!(left.i64s().unwrap(), [32, 16, 0]);
    let right = bit_shift(&a, &b, ShiftDirection::Right).unwrap();
    assert_eq!(right.i64s().unwrap(), [8, 1, 0]);
    assert_eq!(bitwise_not(&a).unwrap().i64s().unwrap(), [239, 251, 0]);
    assert_eq!(less_equal(&v(&[1f32, NAN]), &v(&[1f32, 1.0])).unwrap().i64s().unwrap(), [1, 0]);
    let words = Tensor::from_strings([2], vec![b"a".to_vec(), b"b".to_vec()]).unwrap();
    let word = Tensor::from_strings([], vec![b"b".to_vec()]).unwrap();
    assert_eq!(equal(&words, &word).unwrap().i64s().unwrap(), [0, 1]);
}

#[test]
fn reductions_over_any_axes() {
    let cube = Tensor::from_vec([2, 3, 2], (1..=12).map(|i| i as f32).collect()).unwrap();
    let sum = |axes: &[i64]| reduce(Reduce::Sum, &cube, axes, false, false).unwrap();
    close(&sum(&[]), &[78.0]);
    close(&sum(&[2]), &[3.0, 7.0, 11.0, 15.0, 19.0, 23.0]);
    close(&sum(&[1]), &[9.0, 12.0, 27.0, 30.0]);
    close(&sum(&[0, 2]), &[18.0, 26.0, 34.0]);
    let kept = reduce(Reduce::Mean, &cube, &[0, -1], true, false).unwrap();
    assert_eq!(kept.shape(), [1, 3, 1]);
    let all = |kind| reduce(kind, &v(&[3f32, -4.0]), &[0], false, false).unwrap();
    close(&all(Reduce::L1), &[7.0]);
    close(&all(Reduce::L2), &[5.0]);
    close(&all(Reduce::Prod), &[-12.0]);
    close(&all(Reduce::SumSquare), &[25.0]);
    close(&all(Reduce::LogSumExp), &[3.00091146645]);
    let huge = reduce(Reduce::LogSumExp, &v(&[1000f32, 1000.0]), &[0], false, false).unwrap();
    close(&huge, &[1000.0 + 2f64.ln()]);
    let square = reduce(Reduce::SumSquare, &v(&[3f32, -4.0]), &[], true, true).unwrap();
    close(&square, &[9.0, 16.0]);
}

#[test]
fn reductions_of_nothing() {
    let nothing = Tensor::from_vec([2, 0], Vec::<f32>::new()).unwrap();
    let of = |kind| reduce(kind, &nothing, &[1], false, false).unwrap();
    close(&of(Reduce::Sum), &[0.0; 2]);
    close(&of(Reduce::Prod), &[1.0; 2]);
    close(&of(Reduce::Max), &[f64::NEG_INFINITY; 2]);
    close(&of(Reduce::Min), &[f64::INFINITY; 2]);
    close(&of(Reduce::Mean), &[f64::NAN; 2]);
    close(&of(Reduce::LogSumExp), &[f64::NEG_INFINITY; 2]);
    let flags = Tensor::from_vec([2, 2], vec![true, false, true, true]).unwrap();
    let least = reduce(Reduce::Min, &flags, &[1], false, false).unwrap();
    assert_eq!((least.dtype(), least.i64s().unwrap()), (DType::Bool, vec![0, 1]));
    let none = Tensor::from_vec([0], Vec::<bool>::new()).unwrap();
    let any = reduce(Reduce::Max, &none, &[0], false, false).unwrap();
    assert_eq!(any.i64s().unwrap(), [0]);
    let ints = reduce(Reduce::Mean, &v(&[-3i32, -4]), &[0], false, false).unwrap();
    assert_eq!(ints.i64s().unwrap(), [-3]);
}

#[test]
fn softmax_normalises() {
    let x = Tensor::from_vec([2, 2], vec![0f32, 2f32.ln(), 1000.0, 1000.0]).unwrap();
    let (third, half) = (1.0 / 3.0, 0.5);
    close(&softmax(Softmax::Softmax, &x, -1).unwrap(), &[third, 2.0 * third, half, half]);
    close(
        &softmax(Softmax::LogSoftmax, &x, 1).unwrap(),
        &[-(3f64.ln()), 2f64.ln() - 3f64.ln(), -(2f64.ln()), -(2f64.ln())],
    );
    close(&softmax(Softmax::Hardmax, &x, 1).unwrap(), &[0.0, 1.0, 1.0, 0.0]);
    close(&softmax(Softmax::Hardmax, &x, 0).unwrap(), &[0.0, 0.0, 1.0, 1.0]);
    close(&softmax_flattened(Softmax::Hardmax, &x, 0).unwrap(), &[0.0, 0.0, 1.0, 0.0]);
    assert_eq!(softmax(Softmax::Softmax, &v::<f32>(&[]), 0).unwrap().shape(), [0]);
}

#[test]
fn halves_compute_in_single_precision() {
    let x = v(&[1.0f32, 1024.0, 65504.0].map(f16::from_f32));
    // 1024 + 0.5 is a tie of half precision, and the even neighbour is 1024.
    let found = add(&x, &v(&[0.5f32, 0.5, 65504.0].map(f16::from_f32))).unwrap();
    assert_eq!(found.f64s().unwrap(), [1.5, 1024.0, f64::INFINITY]);
}

#[test]
fn tensors_mapped_at_odd_addresses_are_read() {
    let mut bytes = vec![0u8];
    bytes.extend(1.5f32.to_le_bytes());
    bytes.extend(2.5f32.to_le_bytes());
    for start in 0..8 {
        let mut shifted = vec![0u8; start];
        shifted.extend(&bytes[1..]);
        let slice = bytes_slice(shifted, start);
        let tensor = Tensor::from_bytes(DType::F32, [2], slice).unwrap();
        close(&multiply(&tensor, &tensor).unwrap(), &[2.25, 6.25]);
    }
}

fn bytes_slice(bytes: Vec<u8>, start: usize) -> bytes::Bytes {
    bytes::Bytes::from(bytes).slice(start..)
}

/// Roots and logarithms of integers are what a cast makes of those of floats, in every type: NaN,
/// infinities and what does not fit included.
#[test]
fn integers_of_roots_and_logarithms_are_those_of_a_cast() {
    let lists: [&[i64]; 9] =
        [&[0], &[1], &[3, 4], &[40], &[100, 100, 55], &[127, 127], &[-1], &[-5, 2], &[-128]];
    let types = [
        DType::I8,
        DType::I16,
        DType::I32,
        DType::I64,
        DType::U8,
        DType::U16,
        DType::U32,
        DType::U64,
    ];
    let kinds = [Reduce::L2, Reduce::LogSum, Reduce::LogSumExp];
    for dtype in types {
        for list in lists {
            let tensor = cast(&Tensor::vector(list.to_vec()), dtype).unwrap();
            let wide = cast(&tensor, DType::F64).unwrap();
            for kind in kinds {
                let found = reduce(kind, &tensor, &[0], false, false).unwrap();
                let exact = reduce(kind, &wide, &[0], false, false).unwrap();
                let expected = cast(&exact, dtype).unwrap();
                assert_eq!(found, expected, "{kind:?} of {dtype:?} {list:?}");
            }
        }
    }
}
