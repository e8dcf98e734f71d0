//! Parameters and shapes that make no sense: every kernel returns, soon, and never panics.

#![allow(clippy::unwrap_used)]

use tangram_tensor::attention::*;
use tangram_tensor::image::*;
use tangram_tensor::linear::*;
use tangram_tensor::loss::{Reduction, nll_loss};
use tangram_tensor::norm::*;
use tangram_tensor::quant::*;
use tangram_tensor::recurrent::*;
use tangram_tensor::signal::*;
use tangram_tensor::{DType, Result, Tensor};

/// Shapes of all sorts: scalars, empty tensors, vast empty tensors, odd ranks.
fn tensors() -> Vec<Tensor> {
    let shapes: [&[usize]; 13] = [
        &[],
        &[0],
        &[1],
        &[3],
        &[2, 2],
        &[0, 2],
        &[2, 1, 3],
        &[1, 2, 0],
        &[1, 1, 2, 2],
        &[0, 1 << 40, 3, 3],
        &[1 << 20, 1 << 20, 0, 1 << 20],
        &[1, 2, 2, 2, 1],
        &[1; 12],
    ];
    let make = |shape: &&[usize]| {
        let len = if shape.contains(&0) { 0 } else { shape.iter().product() };
        let data = (0..len).map(|i| i as f32 - 1.5).collect::<Vec<_>>();
        Tensor::from_vec(shape, data).unwrap()
    };
    let floats = shapes.iter().map(make);
    floats.chain([Tensor::vector(vec![-7i64, 9]), Tensor::vector(vec![3u8])]).collect()
}

fn lists() -> Vec<Vec<i64>> {
    vec![
        vec![],
        vec![0],
        vec![1, 1],
        vec![-1, 2],
        vec![i64::MAX, i64::MIN],
        vec![1 << 30, 1 << 31],
        vec![2, 2, 1 << 31, 1 << 31],
        vec![0, 0, i64::MAX, 1],
    ]
}

fn windows() -> Vec<WindowParams> {
    let mut all = vec![WindowParams::default()];
    for list in lists() {
        for auto_pad in [AutoPad::NotSet, AutoPad::SameLower] {
            let pads = WindowParams { pads: list.clone(), auto_pad, ..WindowParams::default() };
            let strides = WindowParams { strides: list.clone(), ..pads.clone() };
            let dilations = WindowParams { dilations: list.clone(), ..pads.clone() };
            all.extend([pads, strides, dilations]);
        }
    }
    all
}

/// A result must have as many elements as its shape says; that it is there is not asked.
fn sound(result: Result<Tensor>) {
    if let Ok(tensor) = result {
        assert_eq!(tensor.f64s().unwrap().len(), tensor.len());
    }
}

#[test]
fn windows_of_all_sorts() {
    let kernels: [&[usize]; 5] = [&[], &[0, 1], &[1, 1], &[1 << 31, 1 << 31], &[usize::MAX, 2]];
    for x in &tensors() {
        for params in windows() {
            for kernel in kernels {
                let pool = |ceil_mode| PoolParams {
                    kernel: kernel.to_vec(),
                    window: params.clone(),
                    ceil_mode,
                };
                sound(max_pool(x, &pool(true), StorageOrder::ColumnMajor).map(|pair| pair.1));
                sound(avg_pool(x, &pool(true), true));
                sound(lp_pool(x, &pool(false), i64::MAX));
                sound(max_unpool(x, x, kernel, &params, Some(kernel)));
                sound(col2im(x, kernel, kernel, &params));
            }
            for w in &tensors() {
                sound(conv(x, w, Some(w), 1, &params));
                let transpose = TransposeParams::default();
                sound(conv_transpose(x, w, None, 1, &params, &transpose));
            }
        }
    }
}

#[test]
fn groups_and_transposes_of_all_sorts() {
    for x in &tensors() {
        for w in &tensors() {
            for groups in [0, 2, usize::MAX] {
                let params = WindowParams::default();
                sound(conv(x, w, None, groups, &params));
                for list in lists() {
                    let transpose =
                        TransposeParams { output_padding: list.clone(), output_shape: list };
                    sound(conv_transpose(x, w, None, groups, &params, &transpose));
                }
                sound(conv_integer(x, w, Some(w), Some(x), groups, &params));
            }
        }
    }
}

#[test]
fn operands_of_all_sorts() {
    let all = tensors();
    for a in &all {
        for b in &all {
            sound(matmul(a, b));
            sound(matmul_integer(a, b, Some(b), Some(a)));
            sound(gemm(a, b, Some(b), GemmParams::default()));
            for equation in ["ij,jk", "...,...", "i...,...i->", "ii,i->i", "a,b->ab"] {
                sound(einsum(equation, &[a, b]));
            }
            sound(layer_norm(a, Some(b), Some(a), 0, 1e-5, DType::F32).map(|norm| norm.mean));
            sound(rms_norm(a, Some(b), -1, 0.0));
            sound(batch_norm(a, b, b, b, b, 0.0));
            sound(instance_norm(a, b, b, 0.0));
            sound(group_norm(a, b, b, 2, 0.0));
            sound(grid_sample(a, b, GridParams::default()));
            sound(rotary_embedding(a, b, b, Some(a), RotaryParams::default()));
            sound(non_max_suppression(a, b, &NmsParams::default()));
            sound(nll_loss(a, b, None, Reduction::None, Some(-7)));
            sound(stft(a, 1, Some(b), None, true));
            sound(dequantize_linear(a, b, None, -1, 2, None));
            sound(quantize_linear(a, b, None, QuantizeParams::default()));
            sound(max_roi_pool(a, b, [2, 1 << 40], 1.0));
            let operands = AttentionOperands { q: a, k: b, v: b, past: Some((b, b)) };
            let mask = AttentionMask { mask: Some(a), causal: true, ..AttentionMask::default() };
            let params =
                AttentionParams { q_heads: Some(1), kv_heads: Some(3), ..Default::default() };
            sound(attention(&operands, &mask, &params).map(|attention| attention.y));
            let operands = AttentionOperands { past: None, ..operands };
            let mask = AttentionMask { valid_keys: Some(b), ..AttentionMask::default() };
            sound(attention(&operands, &mask, &params).map(|attention| attention.y));
        }
    }
}

#[test]
fn numbers_of_all_sorts() {
    for x in &tensors() {
        for list in lists() {
            sound(mean_variance_norm(x, &list));
            let sizes: Vec<usize> = list.iter().map(|&n| n as usize).collect();
            sound(center_crop_pad(x, &sizes, None));
            sound(affine_grid(x, &sizes, true));
            let scales: Vec<f32> = list.iter().map(|&n| 1.0 / n as f32).collect();
            for mode in [ResizeMode::Nearest, ResizeMode::Cubic { a: f64::NAN }] {
                let antialias = mode != ResizeMode::Nearest;
                let params = ResizeParams { mode, antialias, ..ResizeParams::default() };
                sound(resize(x, ResizeTarget::Sizes(&sizes), &params));
                sound(resize(x, ResizeTarget::Scales(&scales), &params));
                let policy = AspectPolicy::NotSmaller;
                sound(resize(x, ResizeTarget::Sizes(&sizes), &ResizeParams { policy, ..params }));
            }
        }
        for n in [0, 1, 5, usize::MAX] {
            sound(lrn(x, n, 1.0, 1.0, 1.0));
            let params = DftParams { length: Some(n), ..DftParams::default() };
            sound(dft(x, params));
            sound(dft(x, DftParams { inverse: true, onesided: true, ..params }));
            sound(window_function(WindowFunction::Hann, n, true, DType::F16));
            let edges = (f64::NAN, f64::INFINITY);
            let (lower_edge, upper_edge) = edges;
            let params =
                MelParams { bands: n, dft_length: n, sample_rate: 0.0, lower_edge, upper_edge };
            sound(mel_weight_matrix(&params, DType::F32));
        }
        sound(lp_norm(x, 0, 1));
        sound(global_lp_pool(x, 2));
        sound(det(x));
        sound(dynamic_quantize_linear(x).map(|all| all.0));
    }
}

#[test]
fn regions_of_all_sorts() {
    let x = Tensor::from_vec([1, 1, 2, 2], vec![1f32, 2.0, 3.0, 4.0]).unwrap();
    for corner in [f32::NAN, f32::INFINITY, -1e30, 0.5] {
        let rois = Tensor::from_vec([1, 4], vec![0.0, 0.0, corner, corner]).unwrap();
        for sampling_ratio in [0, 2, usize::MAX] {
            let params = RoiAlignParams {
                output_height: 2,
                output_width: 1,
                sampling_ratio,
                spatial_scale: 1.0,
                mode: RoiMode::Max,
                half_pixel: true,
            };
            sound(roi_align(&x, &rois, &Tensor::vector(vec![0i64]), &params));
        }
        let rois = Tensor::from_vec([1, 5], vec![corner, 0.0, 0.0, corner, corner]).unwrap();
        sound(max_roi_pool(&x, &rois, [1, 2], f64::MAX));
        let grid = Tensor::from_vec([1, 1, 1, 2], vec![corner, 0.0]).unwrap();
        for padding in [GridPadding::Zeros, GridPadding::Border, GridPadding::Reflection] {
            for mode in [GridMode::Nearest, GridMode::Linear, GridMode::Cubic] {
                sound(grid_sample(&x, &grid, GridParams { mode, padding, align_corners: true }));
            }
        }
        let params = ResizeParams {
            transform: CoordinateTransform::TfCropAndResize,
            axes: Some(vec![2]),
            roi: vec![corner.into(), 1.0],
            ..ResizeParams::default()
        };
        sound(resize(&x, ResizeTarget::Sizes(&[3]), &params));
    }
}

#[test]
fn layers_of_all_sorts() {
    let all = tensors();
    let three = || all.iter().filter(|t| t.rank() == 3);
    for x in three() {
        for w in three() {
            for bias in all.iter().map(Some).chain([None]) {
                let operands =
                    Operands { x, w, r: w, bias, sequence_lens: bias, initial_h: Some(x) };
                let plain =
                    Operands { bias: None, sequence_lens: None, initial_h: None, ..operands };
                for direction in [Direction::Reverse, Direction::Bidirectional] {
                    let clip = Some(f64::NAN);
                    let params = RecurrentParams { direction, clip, ..RecurrentParams::default() };
                    for operands in [operands, plain] {
                        sound(rnn(&operands, &params).map(|[y, _]| y));
                        sound(gru(&operands, &params, true).map(|[y, _]| y));
                        let more = LstmOperands { peepholes: bias, ..LstmOperands::default() };
                        sound(lstm(&operands, &more, &params).map(|lstm| lstm.y));
                    }
                }
            }
        }
    }
}
