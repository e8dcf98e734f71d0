//! One arm for each operator of the standard.

use tangram_tensor::attention as heads;
use tangram_tensor::image::*;
use tangram_tensor::linear::*;
use tangram_tensor::loss::{nll_loss, softmax_cross_entropy};
use tangram_tensor::norm::*;
use tangram_tensor::quant::*;
use tangram_tensor::recurrent::{gru, lstm, rnn};
use tangram_tensor::signal::*;
use tangram_tensor::{DType, KernelError, Result, Tensor};

use crate::case::Case;
use crate::convert::*;

type Results = Result<Vec<Tensor>>;

fn one(result: Result<Tensor>) -> Results {
    Ok(vec![result?])
}

/// Runs the kernel that a case is about.
pub fn run(case: &Case) -> Results {
    let families = [linear, norm, quant, recurrent, image, attention, signal, loss];
    families.into_iter().find_map(|family| family(case)).unwrap_or_else(|| {
        Err(KernelError::Unsupported { kernel: "oracle", what: case.op.clone() })
    })
}

fn linear(case: &Case) -> Option<Results> {
    let (x, groups) = (case.input(0), case.int("group", 1) as usize);
    let all = || case.inputs.iter().flatten().collect::<Vec<_>>();
    Some(match case.op.as_str() {
        "Conv" => one(conv(x, case.input(1), case.get(2), groups, &window(case))),
        "ConvTranspose" => {
            let transpose = TransposeParams {
                output_padding: case.ints("output_padding"),
                output_shape: case.ints("output_shape"),
            };
            one(conv_transpose(x, case.input(1), case.get(2), groups, &window(case), &transpose))
        }
        "MaxPool" => max_pool(x, &pool(case), storage_order(case)).map(|(y, at)| vec![y, at]),
        "AveragePool" => one(avg_pool(x, &pool(case), case.flag("count_include_pad"))),
        "LpPool" => one(lp_pool(x, &pool(case), case.int("p", 2))),
        "GlobalLpPool" => one(global_lp_pool(x, case.int("p", 2))),
        "GlobalAveragePool" => one(global_avg_pool(x)),
        "GlobalMaxPool" => one(global_max_pool(x)),
        "MatMul" => one(matmul(x, case.input(1))),
        "Gemm" => one(gemm(
            x,
            case.input(1),
            case.get(2),
            GemmParams {
                alpha: case.float("alpha", 1.0),
                beta: case.float("beta", 1.0),
                trans_a: case.flag("transA"),
                trans_b: case.flag("transB"),
            },
        )),
        "Einsum" => one(einsum(case.text("equation", ""), &all())),
        "Det" => one(det(x)),
        _ => return None,
    })
}

fn norm(case: &Case) -> Option<Results> {
    let (x, epsilon) = (case.input(0), case.float("epsilon", 1e-5));
    Some(match case.op.as_str() {
        "BatchNormalization" if case.outputs.len() == 1 => {
            let [scale, bias, mean, variance] = [1, 2, 3, 4].map(|i| case.input(i));
            one(batch_norm(x, scale, bias, mean, variance, epsilon))
        }
        "LayerNormalization" => {
            let axis = case.int("axis", -1);
            layer_norm(x, case.get(1), case.get(2), axis, epsilon, DType::F32)
                .map(|norm| vec![norm.y, norm.mean, norm.inv_std])
        }
        "RMSNormalization" => one(rms_norm(x, case.get(1), case.int("axis", -1), epsilon)),
        "InstanceNormalization" => one(instance_norm(x, case.input(1), case.input(2), epsilon)),
        "GroupNormalization" => {
            let groups = case.int("num_groups", 1) as usize;
            one(group_norm(x, case.input(1), case.input(2), groups, epsilon))
        }
        "LpNormalization" => one(lp_norm(x, case.int("axis", -1), case.int("p", 2))),
        "MeanVarianceNormalization" => {
            let axes = if case.has("axes") { case.ints("axes") } else { vec![0, 2, 3] };
            one(mean_variance_norm(x, &axes))
        }
        "LRN" => {
            let (alpha, beta) = (case.float("alpha", 1e-4), case.float("beta", 0.75));
            one(lrn(x, case.int("size", 1) as usize, alpha, beta, case.float("bias", 1.0)))
        }
        _ => return None,
    })
}

fn quant(case: &Case) -> Option<Results> {
    let groups = case.int("group", 1) as usize;
    let params = quantize(case);
    let quantized = |first: usize| Quantized {
        values: case.input(first),
        scale: case.input(first + 1),
        zero_point: case.input(first + 2),
    };
    let x = case.input(0);
    Some(match case.op.as_str() {
        "QuantizeLinear" => one(quantize_linear(x, case.input(1), case.get(2), params)),
        "DequantizeLinear" => {
            let (axis, block) = (params.axis, params.block_size);
            one(dequantize_linear(x, case.input(1), case.get(2), axis, block, params.output))
        }
        "DynamicQuantizeLinear" => dynamic_quantize_linear(x).map(|(y, s, z)| vec![y, s, z]),
        "MatMulInteger" => one(matmul_integer(x, case.input(1), case.get(2), case.get(3))),
        "ConvInteger" => {
            let (x_zero, w_zero) = (case.get(2), case.get(3));
            one(conv_integer(x, case.input(1), x_zero, w_zero, groups, &window(case)))
        }
        "QLinearMatMul" => {
            one(qlinear_matmul(quantized(0), quantized(3), case.input(6), case.input(7)))
        }
        "QLinearConv" => {
            let (scale, zero, bias) = (case.input(6), case.input(7), case.get(8));
            let params = window(case);
            one(qlinear_conv(quantized(0), quantized(3), scale, zero, bias, groups, &params))
        }
        _ => return None,
    })
}

fn recurrent(case: &Case) -> Option<Results> {
    let (operands, params) = (layer, recurrence);
    Some(match case.op.as_str() {
        "RNN" => rnn(&operands(case), &params(case)).map(Vec::from),
        "GRU" => {
            let linear = case.flag("linear_before_reset");
            gru(&operands(case), &params(case), linear).map(Vec::from)
        }
        "LSTM" => lstm(&operands(case), &lstm_operands(case), &params(case))
            .map(|lstm| vec![lstm.y, lstm.y_h, lstm.y_c]),
        _ => return None,
    })
}

fn image(case: &Case) -> Option<Results> {
    let x = case.input(0);
    let sizes = |index: usize| -> Option<Vec<usize>> {
        Some(case.get(index)?.i64s().unwrap().into_iter().map(|n| n as usize).collect())
    };
    Some(match case.op.as_str() {
        "Resize" => one(with_target(case, |target| resize(x, target, &resizing(case)))),
        "Upsample" => {
            let scales = case.input(1).to_vec::<f32>().unwrap();
            one(upsample(x, &scales, resizing(case).mode))
        }
        "GridSample" => one(grid_sample(x, case.input(1), grid(case))),
        "AffineGrid" => one(affine_grid(x, &sizes(1).unwrap(), case.flag("align_corners"))),
        "RoiAlign" => one(roi_align(x, case.input(1), case.input(2), &roi(case))),
        "MaxRoiPool" => {
            let pooled = case.sizes("pooled_shape");
            let scale = case.float("spatial_scale", 1.0);
            one(max_roi_pool(x, case.input(1), [pooled[0], pooled[1]], scale))
        }
        "MaxUnpool" => {
            let (kernel, params) = (case.sizes("kernel_shape"), window(case));
            one(max_unpool(x, case.input(1), &kernel, &params, sizes(2).as_deref()))
        }
        "Col2Im" => one(col2im(x, &sizes(1).unwrap(), &sizes(2).unwrap(), &window(case))),
        "CenterCropPad" => {
            let axes = case.has("axes").then(|| case.ints("axes"));
            one(center_crop_pad(x, &sizes(1).unwrap(), axes.as_deref()))
        }
        "NonMaxSuppression" => one(non_max_suppression(x, case.input(1), &nms(case))),
        _ => return None,
    })
}

fn attention(case: &Case) -> Option<Results> {
    let x = case.input(0);
    Some(match case.op.as_str() {
        "Attention" => {
            let past = case.get(4).zip(case.get(5));
            let (k, v) = (case.input(1), case.input(2));
            let operands = heads::AttentionOperands { q: x, k, v, past };
            heads::attention(&operands, &mask(case), &attending(case))
                .map(|a| vec![a.y, a.present_key, a.present_value, a.scores])
        }
        "RotaryEmbedding" => {
            let params = heads::RotaryParams {
                interleaved: case.flag("interleaved"),
                rotated: case.int("rotary_embedding_dim", 0) as usize,
                heads: case.has("num_heads").then(|| case.int("num_heads", 0) as usize),
            };
            let (cos, sin) = (case.input(1), case.input(2));
            one(heads::rotary_embedding(x, cos, sin, case.get(3), params))
        }
        _ => return None,
    })
}

fn signal(case: &Case) -> Option<Results> {
    let number = |index: usize| case.input(index).f64s().unwrap()[0];
    let whole = |index: usize| case.scalar(index).map(|n| n as usize);
    let dtype = dtype_attr(case, "output_datatype").unwrap_or(DType::F32);
    let function =
        |kind| one(window_function(kind, whole(0).unwrap(), case.int("periodic", 1) != 0, dtype));
    Some(match case.op.as_str() {
        "DFT" => {
            let old = case.has("axis") || case.name.contains("opset19");
            let usual = if old { case.int("axis", 1) } else { -2 };
            let params = DftParams {
                axis: case.scalar(2).unwrap_or(usual),
                length: whole(1),
                inverse: case.flag("inverse"),
                onesided: case.flag("onesided"),
            };
            one(dft(case.input(0), params))
        }
        "STFT" => {
            let onesided = case.int("onesided", 1) != 0;
            one(stft(case.input(0), whole(1).unwrap(), case.get(2), whole(3), onesided))
        }
        "HannWindow" => function(WindowFunction::Hann),
        "HammingWindow" => function(WindowFunction::Hamming),
        "BlackmanWindow" => function(WindowFunction::Blackman),
        "MelWeightMatrix" => {
            let params = MelParams {
                bands: whole(0).unwrap(),
                dft_length: whole(1).unwrap(),
                sample_rate: number(2),
                lower_edge: number(3),
                upper_edge: number(4),
            };
            one(mel_weight_matrix(&params, dtype))
        }
        _ => return None,
    })
}

fn loss(case: &Case) -> Option<Results> {
    let (x, target) = (case.input(0), || case.input(1));
    let (reduction, weight) = (reduction(case), case.get(2));
    let ignore = case.has("ignore_index").then(|| case.int("ignore_index", 0));
    Some(match case.op.as_str() {
        "NegativeLogLikelihoodLoss" => one(nll_loss(x, target(), weight, reduction, ignore)),
        "SoftmaxCrossEntropyLoss" => softmax_cross_entropy(x, target(), weight, reduction, ignore)
            .map(|(loss, logs)| vec![loss, logs]),
        _ => return None,
    })
}
