//! What equal means for results of a structured definition.

use tangram_dialects::structured::{Scalar, Structured};
use tangram_tensor::{DType, Tensor};

/// Whether an order of summation may show, or a statistic that kernels compute in `f64`.
pub fn has_sum(definition: &Structured) -> bool {
    match definition {
        Structured::Loops { temporaries, stages, .. } => {
            let computes = |scalar: &Scalar| matches!(scalar, Scalar::Binary(..));
            let several = stages.len() > 1;
            !temporaries.is_empty()
                || stages.iter().any(|stage| {
                    stage.reduction.is_some()
                        || several && stage.body.scalars().iter().any(computes)
                })
        }
        Structured::Reshape { .. } => false,
    }
}

/// How far numbers of a type may be apart, relative to the greater of 1 and the greatest element.
pub fn tolerance(element: DType) -> f64 {
    match element {
        DType::F64 => 1e-12,
        DType::F32 => 2e-5,
        DType::F16 => 4e-3,
        DType::BF16 => 3e-2,
        _ => 0.0,
    }
}

/// Where two tensors differ.
pub fn difference(found: &Tensor, expected: &Tensor, sums: bool) -> Option<String> {
    if found.dtype() != expected.dtype() || found.shape() != expected.shape() {
        let (a, b) = (found.dtype(), expected.dtype());
        return Some(format!("{a} {:?} for {b} {:?}", found.shape(), expected.shape()));
    }
    if !found.dtype().is_float() {
        let same = found.bytes() == expected.bytes();
        return (!same).then(|| format!("{:?} for {:?}", found.i64s(), expected.i64s()));
    }
    let (a, b) = (found.f64s().unwrap(), expected.f64s().unwrap());
    let finite = b.iter().filter(|x| x.is_finite()).fold(1.0f64, |most, x| most.max(x.abs()));
    let allowed = if sums { tolerance(found.dtype()) * finite } else { 0.0 };
    let close = |a: f64, b: f64| a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= allowed;
    let at = a.iter().zip(&b).position(|(&a, &b)| !close(a, b))?;
    Some(format!("element {at} of {:?} is {:e}, not {:e}", found.shape(), a[at], b[at]))
}
