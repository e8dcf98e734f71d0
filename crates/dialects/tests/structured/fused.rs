//! Fused operations of onnxruntime's domain, which have no reference kernel: against the kernels of
//! what they stand for.

use std::collections::BTreeSet;

use tangram_dialects::structured::{interpret, result_types, structured};
use tangram_tensor::elementwise::{
    GeluApproximation, add, gelu, leaky_relu, multiply, relu, swish,
};
use tangram_tensor::linear::{WindowParams, conv, matmul};
use tangram_tensor::norm::{layer_norm, rms_norm};
use tangram_tensor::shape::transpose;
use tangram_tensor::{DType, Tensor};

use crate::compare::operands;
use crate::difference::difference;
use crate::support::{build, cases_in};

type Operands<'a> = &'a [Option<Tensor>];
type Meaning = fn(Operands<'_>) -> Option<Tensor>;

const TABLE: &[(&str, Meaning)] = &[
    ("contrib_gelu(f32[2,N,5])", |x| gelu(of(x, 0)?, GeluApproximation::None).ok()),
    ("contrib_bias_gelu(f32[2,N,5], f32[5])", |x| {
        gelu(&sum(x, &[0, 1])?, GeluApproximation::None).ok()
    }),
    ("contrib_fast_gelu(f32[N,5], f32[5])", |x| {
        gelu(&sum(x, &[0, 1])?, GeluApproximation::Tanh).ok()
    }),
    ("contrib_fast_gelu(f32[N,5])", |x| gelu(of(x, 0)?, GeluApproximation::Tanh).ok()),
    ("contrib_quick_gelu(f32[N,5])", |x| swish(of(x, 0)?, f64::from(1.702_f32)).ok()),
    ("contrib_quick_gelu(f32[N,5]) {alpha=0.5}", |x| swish(of(x, 0)?, 0.5).ok()),
    ("contrib_bias_add(f32[2,N,5], f32[5], f32[2,N,5])", |x| sum(x, &[0, 1, 2])),
    ("contrib_fused_matmul(f32[3,M,4], f32[4,N]) {alpha=0.5}", |x| product(x, false, false, 0.5)),
    ("contrib_fused_matmul(f32[3,4,M], f32[3,N,4]) {transpose_a=true, transpose_b=true}", |x| {
        product(x, true, true, 1.0)
    }),
    ("contrib_transpose_matmul(f32[4,M], f32[4,5]) {transpose_a=true}", |x| {
        product(x, true, false, 1.0)
    }),
    (
        "contrib_fused_conv(f32[N,4,6,7], f32[6,2,3,3], f32[6]) {groups=2, activation=\"Relu\"}",
        |x| relu(&convolved(x, 2)?).ok(),
    ),
    (
        "contrib_fused_conv(f32[N,3,5,5], f32[2,3,2,2], f32[2], f32[N,2,4,4]) \
         {activation=\"LeakyRelu\", activation_params=[0.25]}",
        |x| leaky_relu(&add(&convolved(x, 1)?, of(x, 3)?).ok()?, 0.25).ok(),
    ),
    (
        "contrib_skip_layer_norm(f32[2,N,6], f32[2,N,6], f32[6], f32[6], f32[6]) {epsilon=0.01}",
        |x| {
            let x4 = sum(x, &[0, 1, 4])?;
            Some(layer_norm(&x4, Some(of(x, 2)?), Some(of(x, 3)?), -1, 0.01, DType::F32).ok()?.y)
        },
    ),
    ("contrib_skip_rms_norm(f32[2,N,6], f32[2,N,6], f32[6]) {epsilon=0.01}", |x| {
        rms_norm(&sum(x, &[0, 1])?, Some(of(x, 2)?), -1, 0.01).ok()
    }),
];

fn of<'a>(operands: Operands<'a>, i: usize) -> Option<&'a Tensor> {
    operands.get(i)?.as_ref()
}

fn sum(operands: Operands<'_>, list: &[usize]) -> Option<Tensor> {
    let (first, rest) = list.split_first()?;
    rest.iter().try_fold(of(operands, *first)?.clone(), |sum, &i| add(&sum, of(operands, i)?).ok())
}

fn product(operands: Operands<'_>, a: bool, b: bool, alpha: f32) -> Option<Tensor> {
    let side = |i: usize, turned: bool| {
        let x = of(operands, i)?;
        let rank = x.rank() as i64;
        let order: Vec<i64> = (0..rank - 2).chain([rank - 1, rank - 2]).collect();
        if turned { transpose(x, Some(&order)).ok() } else { Some(x.clone()) }
    };
    multiply(&matmul(&side(0, a)?, &side(1, b)?).ok()?, &Tensor::scalar(alpha)).ok()
}

fn convolved(operands: Operands<'_>, groups: usize) -> Option<Tensor> {
    let (x, w, bias) = (of(operands, 0)?, of(operands, 1)?, of(operands, 2)?);
    conv(x, w, Some(bias), groups, &WindowParams::default()).ok()
}

#[test]
fn fused_operations_compute_what_they_stand_for() {
    let mut random = fastrand::Rng::with_seed(5);
    let mut judged = BTreeSet::new();
    for (line, meaning) in TABLE {
        let case = cases_in(&format!("{line} -> f32[]"), line).remove(0);
        for n in [1, 3] {
            let numbered = |text: &str| text.replace(['N', 'M'], &n.to_string());
            let (module, op) = build(&case, numbered);
            let op = op.unwrap_or_else(|error| panic!("{line}: {error}"));
            let operands = operands(&module, op, &mut random).unwrap();
            let expected = meaning(&operands).unwrap_or_else(|| panic!("{line}: no meaning"));
            for write in [true, false] {
                let as_written = |text: &str| if write { numbered(text) } else { text.to_owned() };
                let (module, op) = build(&case, as_written);
                let op = op.unwrap();
                let definition = structured(&module, op).unwrap_or_else(|| panic!("{line}: none"));
                let types = result_types(&module, op).unwrap();
                let found = interpret(&definition, &operands, &types, &|_| Some(n));
                let found = found.unwrap_or_else(|error| panic!("{line}: {error}"));
                let why = difference(&found[0], &expected, true);
                assert!(why.is_none(), "{line}: {why:?}");
            }
        }
        judged.insert(format!("nn.{}", case.name));
    }
    let defined: BTreeSet<String> = tangram_dialects::nn::ops()
        .filter(|op| op.structured.is_some() && op.eval.is_none())
        .map(|op| op.def.name.to_owned())
        .collect();
    assert_eq!(judged, defined);
}
