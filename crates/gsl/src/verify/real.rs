//! Running a program on small integers by reference evaluation, and comparing what comes out.
//!
//! Small integers stay integers under sums, products, extremes and everything that only moves
//! elements, and `f64` holds them exactly: there, equal means equal. Where roots, quotients or
//! transcendental functions take part, the comparison allows for [`bound`].

use tangram_dialects::eval::EvalError;
use tangram_dialects::interpret::{Datum, InterpretError, interpret};
use tangram_dialects::nn::{self, Numbers};
use tangram_dialects::{constant, dtype};
use tangram_ir::{Module, Traits};
use tangram_tensor::{DType, Tensor, within};

/// What a difference may be, relative to the greatest magnitude in a tensor, where evaluation
/// rounds. Extents are looked at with it, not digits: those are for [`compare`](super::compare).
pub(super) fn bound(dtype: DType) -> f64 {
    match dtype {
        DType::F64 => 1e-6,
        DType::F32 => 1e-4,
        DType::F16 => 1e-2,
        DType::BF16 => 5e-2,
        _ if dtype.is_float() => 0.5,
        _ => 0.0,
    }
}

/// Why a program gave nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// An operation has no reference evaluation.
    Unsupported,
    /// An operation does not take its operands.
    Refused,
}

/// The most bytes of a tensor in a program that is run: extents that are operands are any numbers.
pub(super) const MAX_BYTES: usize = 1 << 22;

/// Runs a program.
pub(super) fn run(module: &Module, inputs: &[Datum]) -> Result<Vec<Datum>, Failure> {
    within(MAX_BYTES, || interpret(module, module.root(), inputs)).map_err(|error| match error {
        InterpretError::Operation { source: EvalError::Unsupported(_), .. } => Failure::Unsupported,
        _ => Failure::Refused,
    })
}

/// A difference of two results.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Difference {
    pub(super) output: usize,
    pub(super) text: String,
}

/// How two runs compare.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Comparison {
    Equal,
    Different(Difference),
    /// The source gives no finite number anywhere.
    Void,
}

/// Compares what two programs gave.
pub(super) fn compare(source: &[Datum], target: &[Datum], exact: bool) -> Comparison {
    let mut void = true;
    for (output, (a, b)) in source.iter().zip(target).enumerate() {
        match (a, b) {
            (Datum::Tensor(a), Datum::Tensor(b)) => match compare_tensors(a, b, exact) {
                Ok(finite) => void &= !finite,
                Err(text) => return Comparison::Different(Difference { output, text }),
            },
            _ if a == b => void = false,
            _ => {
                let text = "the values differ".to_owned();
                return Comparison::Different(Difference { output, text });
            }
        }
    }
    if void { Comparison::Void } else { Comparison::Equal }
}

/// Whether anything could be compared, or where two tensors differ.
fn compare_tensors(a: &Tensor, b: &Tensor, exact: bool) -> Result<bool, String> {
    if a.dtype() != b.dtype() || a.shape() != b.shape() {
        let ty = |t: &Tensor| format!("{}{:?}", t.dtype().name(), t.shape());
        return Err(format!("the source has type {}, the target {}", ty(a), ty(b)));
    }
    let (Ok(x), Ok(y)) = (a.f64s(), b.f64s()) else { return Ok(true) };
    let finite = |v: &&f64| v.is_finite();
    let scale = x.iter().filter(finite).fold(1.0_f64, |most, v| most.max(v.abs()));
    let allowed = if exact { 0.0 } else { bound(a.dtype()) * scale };
    for (i, (p, q)) in x.iter().zip(&y).enumerate() {
        // Where the source has no value, the target may have any.
        let difference = (p - q).abs();
        if p.is_finite() && (difference.is_nan() || difference > allowed) {
            let at = position(i, a.shape());
            return Err(format!("at {at:?} the source gives {p}, the target {q}"));
        }
    }
    Ok(x.is_empty() || x.iter().any(|v| v.is_finite()))
}

fn position(mut index: usize, shape: &[usize]) -> Vec<usize> {
    let mut at = vec![0; shape.len()];
    for (place, &extent) in at.iter_mut().zip(shape).rev() {
        *place = index % extent.max(1);
        index /= extent.max(1);
    }
    at
}

/// Whether a program is exact in `f64` on small integers.
pub(super) fn is_exact(module: &Module) -> bool {
    let last = module.last_op(module.body());
    module.ops(module.body()).all(|op| {
        let wide = module.results(op).all(|v| {
            let element = module.context().element_type(module.value_type(v));
            let dtype = element.and_then(|e| dtype::dtype_of(module.context(), e));
            dtype.is_none_or(|dtype| !dtype.is_float() || dtype == DType::F64)
        });
        let constant = module.has_traits(op, Traits::CONSTANT_LIKE);
        let whole = || {
            let value = constant::constant_tensor(module, module.result(op, 0));
            let elements = value.and_then(|t| t.f64s().ok()).unwrap_or_default();
            elements.iter().all(|x| x.fract() == 0.0 && x.abs() < 1e6)
        };
        let integral = || nn::numbers(module, op).contains(Numbers::INTEGRAL);
        wide && if constant { whole() } else { integral() || Some(op) == last }
    })
}
