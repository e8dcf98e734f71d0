//! Convolutions, products and pools against their definitions, and laws between kernels.

#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use tangram_tensor::elementwise::cast;
use tangram_tensor::image::{GridParams, affine_grid, col2im, grid_sample, max_unpool};
use tangram_tensor::linear::*;
use tangram_tensor::norm::layer_norm;
use tangram_tensor::{DType, KernelError, Tensor, f16};

/// Small whole numbers: all sums are exact in any float type.
fn whole(shape: &[usize], seed: u64) -> Tensor {
    let len = shape.iter().product::<usize>() as u64;
    let mix = |i: u64| (i + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 59;
    Tensor::from_vec(shape, (0..len).map(|i| mix(i) as f32 - 16.0).collect::<Vec<_>>()).unwrap()
}

#[derive(Clone, Debug)]
struct Convolution {
    x: Tensor,
    w: Tensor,
    groups: usize,
    params: WindowParams,
}

prop_compose! {
    fn convolution()(
        input in prop::collection::vec(4usize..7, 2),
        kernel in prop::collection::vec(1usize..4, 2),
        strides in prop::collection::vec(1i64..4, 2),
        dilations in prop::collection::vec(1i64..3, 2),
        pads in prop::collection::vec(0i64..3, 4),
        (batch, groups, c, m) in (1usize..3, 1usize..3, 1usize..3, 1usize..3),
        seed in any::<u32>(),
    ) -> Convolution {
        let x = whole(&[batch, groups * c, input[0], input[1]], seed.into());
        let w = whole(&[groups * m, c, kernel[0], kernel[1]], u64::from(seed) + 7);
        let params = WindowParams { strides, dilations, pads, auto_pad: AutoPad::NotSet };
        Convolution { x, w, groups, params }
    }
}

/// The definition: one sum for each element.
fn conv_by_definition(case: &Convolution, shape: &[usize]) -> Vec<f64> {
    let (x, w) = (case.x.f64s().unwrap(), case.w.f64s().unwrap());
    let (xs, ws, p) = (case.x.shape(), case.w.shape(), &case.params);
    let mut out = Vec::new();
    for (n, m) in (0..shape[0]).flat_map(|n| (0..shape[1]).map(move |m| (n, m))) {
        for (i, j) in (0..shape[2]).flat_map(|i| (0..shape[3]).map(move |j| (i, j))) {
            let mut sum = 0.0;
            for (c, a, b) in (0..ws[1] * ws[2] * ws[3])
                .map(|t| (t / (ws[2] * ws[3]), t / ws[3] % ws[2], t % ws[3]))
            {
                let channel = m / (ws[0] / case.groups) * ws[1] + c;
                let row = i as i64 * p.strides[0] + a as i64 * p.dilations[0] - p.pads[0];
                let column = j as i64 * p.strides[1] + b as i64 * p.dilations[1] - p.pads[1];
                let inside =
                    (0..xs[2] as i64).contains(&row) && (0..xs[3] as i64).contains(&column);
                if inside {
                    let at = ((n * xs[1] + channel) * xs[2] + row as usize) * xs[3];
                    sum += x[at + column as usize] * w[((m * ws[1] + c) * ws[2] + a) * ws[3] + b];
                }
            }
            out.push(sum);
        }
    }
    out
}

fn dot(a: &Tensor, b: &Tensor) -> f64 {
    assert_eq!(a.shape(), b.shape());
    a.f64s().unwrap().iter().zip(b.f64s().unwrap()).map(|(a, b)| a * b).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn convolutions_follow_the_definition(case in convolution()) {
        let Ok(y) = conv(&case.x, &case.w, None, case.groups, &case.params) else {
            // Nothing fits: a window longer than the padded input by more than a stride.
            return Ok(());
        };
        prop_assert_eq!(y.f64s().unwrap(), conv_by_definition(&case, y.shape()));
        for dtype in [DType::F64, DType::F16] {
            let (x, w) = (cast(&case.x, dtype).unwrap(), cast(&case.w, dtype).unwrap());
            let typed = conv(&x, &w, None, case.groups, &case.params).unwrap();
            prop_assert_eq!(&typed, &cast(&y, dtype).unwrap());
        }
    }

    /// The transposed convolution is the adjoint: `<conv(x), y> = <x, transposed(y)>`.
    #[test]
    fn transposed_convolutions_are_adjoint(case in convolution()) {
        let Ok(y) = conv(&case.x, &case.w, None, case.groups, &case.params) else { return Ok(()) };
        prop_assume!(!y.is_empty());
        let other = whole(y.shape(), 3);
        let spatial = case.x.shape()[2..].iter();
        let p = &case.params;
        // Elements that no window reaches come back as output padding.
        let extra = |axis: usize| {
            let kernel = case.w.shape()[2 + axis] as i64;
            let span = p.dilations[axis] * (kernel - 1) + 1;
            let covered = p.strides[axis] * (y.shape()[2 + axis] as i64 - 1) + span;
            case.x.shape()[2 + axis] as i64 + p.pads[axis] + p.pads[2 + axis] - covered
        };
        let transpose = TransposeParams {
            output_padding: (0..spatial.len()).map(extra).collect(),
            output_shape: Vec::new(),
        };
        // The filters of a transposed convolution have the channels of its input first, as they
        // are.
        let back = conv_transpose(&other, &case.w, None, case.groups, p, &transpose).unwrap();
        prop_assert_eq!(back.shape(), case.x.shape());
        prop_assert_eq!(dot(&y, &other), dot(&case.x, &back));
    }

    #[test]
    fn products_follow_the_definition(m in 1usize..6, k in 0usize..9, n in 1usize..6, ta: bool, tb: bool) {
        let (a, b) = (whole(&[m, k], 1), whole(&[k, n], 2));
        let (left, right) = (a.f64s().unwrap(), b.f64s().unwrap());
        let sum = |i: usize| (0..k).map(|t| left[i / n * k + t] * right[t * n + i % n]).sum();
        let expected: Vec<f64> = (0..m * n).map(sum).collect();
        prop_assert_eq!(&matmul(&a, &b).unwrap().f64s().unwrap(), &expected);
        let whole_numbers = |t: &Tensor| cast(t, DType::I64).unwrap();
        let exact = matmul(&whole_numbers(&a), &whole_numbers(&b)).unwrap();
        prop_assert_eq!(&exact.f64s().unwrap(), &expected);
        prop_assert_eq!(&einsum("ik,kj->ij", &[&a, &b]).unwrap().f64s().unwrap(), &expected);
        let flip = |t: &Tensor, yes: bool| match yes {
            true => tangram_tensor::shape::transpose(t, None).unwrap(),
            false => t.clone(),
        };
        let params = GemmParams { alpha: 2.0, beta: -1.0, trans_a: ta, trans_b: tb };
        let c = whole(&[1, n], 5);
        let out = gemm(&flip(&a, ta), &flip(&b, tb), Some(&c), params).unwrap();
        let c = c.f64s().unwrap();
        let expected: Vec<f64> = (0..m * n).map(|i| 2.0 * expected[i] - c[i % n]).collect();
        prop_assert_eq!(out.f64s().unwrap(), expected);
    }

    /// Pooling what was put back gives the maxima again.
    #[test]
    fn unpooling_inverts_pooling(h in 2usize..9, w in 2usize..9, k in 1usize..3) {
        let len = 2 * h * w;
        let x = Tensor::from_vec([1, 2, h, w], (1..=len as i32).rev().collect::<Vec<_>>()).unwrap();
        let k_i64 = k as i64;
        let window = WindowParams { strides: vec![k_i64; 2], ..WindowParams::default() };
        let params = PoolParams { kernel: vec![k; 2], window: window.clone(), ceil_mode: false };
        // Whole windows only: then indices count in the tensor that is put back.
        prop_assume!(h % k == 0 && w % k == 0);
        let (y, at) = max_pool(&x, &params, StorageOrder::RowMajor).unwrap();
        let back = max_unpool(&y, &at, &[k; 2], &window, None).unwrap();
        prop_assert_eq!(back.shape(), x.shape());
        prop_assert_eq!(max_pool(&back, &params, StorageOrder::RowMajor).unwrap(), (y, at));
    }

    /// Sampling at the places of the elements changes nothing.
    #[test]
    fn the_identity_grid_is_the_identity(h in 2usize..6, w in 2usize..6, align: bool) {
        let x = whole(&[1, 2, h, w], 11);
        let theta = Tensor::from_vec([1, 2, 3], vec![1f32, 0.0, 0.0, 0.0, 1.0, 0.0]).unwrap();
        let grid = affine_grid(&cast(&theta, DType::F64).unwrap(), &[1, 2, h, w], align).unwrap();
        let params = GridParams { align_corners: align, ..GridParams::default() };
        let same = grid_sample(&x, &grid, params).unwrap();
        let pairs = same.f64s().unwrap().into_iter().zip(x.f64s().unwrap());
        for (found, expected) in pairs {
            prop_assert!((found - expected).abs() < 1e-5, "{found} {expected}");
        }
    }
}

#[test]
fn patches_of_ones_count_windows() {
    let ones = Tensor::from_vec([1, 4, 4], vec![1f32; 16]).unwrap();
    let sums = col2im(&ones, &[3, 3], &[2, 2], &WindowParams::default()).unwrap();
    assert_eq!(sums.f64s().unwrap(), [1.0, 2.0, 1.0, 2.0, 4.0, 2.0, 1.0, 2.0, 1.0]);
}

#[test]
fn convolutions_add_bias_and_pad_on_demand() {
    let x = Tensor::from_vec([1, 1, 4], vec![1f32, 2.0, 3.0, 4.0]).unwrap();
    let w = Tensor::from_vec([2, 1, 2], vec![1f32, 1.0, 1.0, -1.0]).unwrap();
    let bias = Tensor::vector(vec![10f32, 0.5]);
    let run = |auto_pad| {
        let params = WindowParams { auto_pad, ..WindowParams::default() };
        conv(&x, &w, Some(&bias), 1, &params).unwrap().f64s().unwrap()
    };
    assert_eq!(run(AutoPad::Valid), [13.0, 15.0, 17.0, -0.5, -0.5, -0.5]);
    assert_eq!(run(AutoPad::SameUpper), [13.0, 15.0, 17.0, 14.0, -0.5, -0.5, -0.5, 4.5]);
    assert_eq!(run(AutoPad::SameLower), [11.0, 13.0, 15.0, 17.0, -0.5, -0.5, -0.5, -0.5]);
}

#[test]
fn data_of_no_extent_is_padding() {
    let w = Tensor::from_vec([2, 1, 1], vec![f32::INFINITY, 3.0]).unwrap();
    let params = WindowParams { pads: vec![1, 0], ..WindowParams::default() };
    let run = |x: &Tensor| conv(x, &w, None, 1, &params).unwrap().f64s().unwrap();
    // The window on the padding alone is the same whether data follow or not.
    let beside = run(&Tensor::from_vec([2, 1, 1], vec![1f32, 1.0]).unwrap());
    assert!(beside[0].is_nan() && beside[2] == 0.0 && beside[4].is_nan(), "{beside:?}");
    let alone = run(&Tensor::from_vec([2, 1, 0], Vec::<f32>::new()).unwrap());
    let shown = |of: &[f64]| of.iter().map(f64::to_string).collect::<Vec<_>>();
    assert_eq!(shown(&alone), ["NaN", "0", "NaN", "0"]);
}

#[test]
fn means_count_padding_only_on_demand() {
    let x = Tensor::from_vec([1, 1, 3], vec![3f32, 6.0, 9.0]).unwrap();
    let window = WindowParams { strides: vec![2], pads: vec![1, 0], ..WindowParams::default() };
    let params = PoolParams { kernel: vec![3], window, ceil_mode: true };
    let run = |count| avg_pool(&x, &params, count).unwrap().f64s().unwrap();
    // Windows [pad 3 6] and [6 9 beyond]: what lies beyond the padding never counts.
    assert_eq!(run(false), [4.5, 7.5]);
    assert_eq!(run(true), [3.0, 7.5]);
}

#[test]
fn maxima_find_nan_and_indices_in_both_orders() {
    let x = Tensor::from_vec([1, 1, 2, 3], vec![1f32, 5.0, 2.0, 7.0, 0.0, f32::NAN]).unwrap();
    let params = PoolParams { kernel: vec![2, 2], ..PoolParams::default() };
    let (y, at) = max_pool(&x, &params, StorageOrder::RowMajor).unwrap();
    assert_eq!(y.f64s().unwrap()[0], 7.0);
    assert!(y.f64s().unwrap()[1].is_nan());
    assert_eq!(at.i64s().unwrap(), [3, 5]);
    let (_, at) = max_pool(&x, &params, StorageOrder::ColumnMajor).unwrap();
    assert_eq!(at.i64s().unwrap(), [1, 5]);
}

#[test]
fn halves_round_once() {
    // 2048 + 1 + 1 is 2050, though 2048 + 1 rounds back to 2048 in half precision.
    let ones = Tensor::from_vec([1, 3], [1.0, 1.0, 1.0].map(f16::from_f32).to_vec()).unwrap();
    let column = [2048.0, 1.0, 1.0].map(f16::from_f32).to_vec();
    let sum = matmul(&ones, &Tensor::from_vec([3, 1], column).unwrap()).unwrap();
    assert_eq!((sum.dtype(), sum.f64s().unwrap()), (DType::F16, vec![2050.0]));
}

#[test]
fn products_take_vectors_and_batches() {
    let v = Tensor::vector(vec![1i32, 2]);
    assert_eq!(matmul(&v, &v).unwrap(), Tensor::scalar(5i32));
    let a = Tensor::from_vec([2, 1, 1, 2], vec![1i32, 2, 3, 4]).unwrap();
    let b = Tensor::from_vec([2, 2, 1], vec![1i32, 0, 0, 1]).unwrap();
    let both = matmul(&a, &b).unwrap();
    assert_eq!((both.shape(), both.i64s().unwrap()), (&[2, 2, 1, 1][..], vec![1, 2, 3, 4]));
    let wrapped = matmul(&Tensor::vector(vec![i8::MAX]), &Tensor::vector(vec![2i8])).unwrap();
    assert_eq!(wrapped, Tensor::scalar(-2i8));
    assert!(matches!(matmul(&v, &Tensor::scalar(1i32)), Err(KernelError::BadShape { .. })));
    assert!(matches!(
        matmul(&v, &cast(&v, DType::I64).unwrap()),
        Err(KernelError::MixedDTypes { .. })
    ));
}

#[test]
fn equations_are_checked() {
    let m = whole(&[2, 3], 0);
    let expectations = [
        ("ij->ji", true),
        ("ij->", true),
        ("...->...", true),
        ("ij,jk->ik", false),
        ("ijk->i", false),
        ("ij->ii", false),
        ("ij->k", false),
        ("ii->i", false),
        ("i1->i", false),
        ("i..j", false),
        ("", false),
        ("ij->i->j", false),
    ];
    for (equation, valid) in expectations {
        assert_eq!(einsum(equation, &[&m]).is_ok(), valid, "{equation}");
    }
    assert!(einsum("", &[]).is_err());
}

#[test]
fn normalised_rows_have_mean_0_and_variance_1() {
    let x = whole(&[3, 8], 4);
    let norm = layer_norm(&x, None, None, -1, 0.0, DType::F64).unwrap();
    for (row, source) in norm.y.f64s().unwrap().chunks(8).zip(x.f64s().unwrap().chunks(8)) {
        assert!(row.iter().sum::<f64>().abs() < 1e-6);
        assert!((row.iter().map(|x| x * x).sum::<f64>() - 8.0).abs() < 1e-5);
        let mean = source.iter().sum::<f64>() / 8.0;
        assert!(norm.mean.f64s().unwrap().contains(&mean));
    }
    assert_eq!(norm.inv_std.shape(), [3, 1]);
}

#[test]
fn determinants_change_sign_with_rows() {
    let matrix = |data: [f32; 9]| Tensor::from_vec([3, 3], data.to_vec()).unwrap();
    let of = |data| det(&matrix(data)).unwrap().f64s().unwrap()[0];
    assert_eq!(of([2.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0, 4.0]), 24.0);
    assert_eq!(of([0.0, 3.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 4.0]), -24.0);
    assert_eq!(of([1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 1.0, 1.0, 1.0]), 0.0);
    assert_eq!(det(&whole(&[2, 0, 0], 0)).unwrap().f64s().unwrap(), [1.0, 1.0]);
}
