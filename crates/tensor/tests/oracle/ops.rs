//! One arm for each operator of the standard.

use tangram_tensor::linear::*;
use tangram_tensor::norm::*;
use tangram_tensor::reduce::{Reduce, reduce};
use tangram_tensor::{DType, KernelError, Result, Tensor};

use crate::case::Case;
use crate::convert::*;

type Results = Result<Vec<Tensor>>;

fn one(result: Result<Tensor>) -> Results {
    Ok(vec![result?])
}

/// Runs the kernel that a case is about.
pub fn run(case: &Case) -> Results {
    linear(case).or_else(|| norm(case)).unwrap_or_else(|| {
        Err(KernelError::Unsupported { kernel: "oracle", what: case.op.clone() })
    })
}

fn linear(case: &Case) -> Option<Results> {
    let (x, groups) = (case.input(0), case.int("group", 1) as usize);
    let all = || case.inputs.iter().flatten().collect::<Vec<_>>();
    let spatial = || (2..case.input(0).rank() as i64).collect::<Vec<_>>();
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
        "GlobalAveragePool" => one(reduce(Reduce::Mean, x, &spatial(), true, false)),
        "GlobalMaxPool" => one(reduce(Reduce::Max, x, &spatial(), true, false)),
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
