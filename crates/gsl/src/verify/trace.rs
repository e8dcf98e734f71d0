//! What happens inside a program while it is evaluated.
//!
//! A difference of two results is judged by what led to it: how great the numbers between were
//! (rounding grows with them), whether one overflowed or vanished, and whether the standard says at
//! all what comes out (an integer of a number that it cannot hold).

use tangram_dialects::interpret::Datum;
use tangram_dialects::nn::numbers::{exponents, mantissa};
use tangram_dialects::nn::{self, Numbers};
use tangram_dialects::{constant, dtype};
use tangram_ir::{Module, Op, Value};
use tangram_tensor::{DType, Tensor, within};

use super::real::MAX_BYTES;
use super::steps::{self, Step};
use super::wide;

/// What was seen inside.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Trace {
    /// The greatest finite magnitude of a floating-point number.
    pub(super) greatest: f64,
    /// An operation made NaN or an infinity of finite numbers.
    pub(super) overflow: bool,
    /// An operation made a number so small that bits are lost, or 0.
    pub(super) underflow: bool,
    /// An operation made a number too small for its type, or 0, of numbers of which none was 0: an
    /// exponential, a product, a quotient.
    pub(super) vanished: bool,
    /// An operation made a number too great for its type of ordinary numbers, or a product too small
    /// for it: not an infinity at a pole, nor NaN outside a domain, nor the 0 of an exponential, which
    /// numbers of no great size have.
    pub(super) left: bool,
    /// An operation made an integer that its type does not hold.
    pub(super) wrapped: bool,
    /// The standard does not say what some operation gives.
    pub(super) undefined: bool,
}

impl Trace {
    /// What was seen in either of two programs; only the first has to be defined and not to vanish.
    pub(super) fn with(self, target: Trace) -> Trace {
        Trace {
            greatest: self.greatest.max(target.greatest),
            overflow: self.overflow || target.overflow,
            underflow: self.underflow || target.underflow,
            vanished: self.vanished,
            left: self.left || target.left,
            wrapped: self.wrapped || target.wrapped,
            undefined: self.undefined,
        }
    }

    fn see(&mut self, dtype: DType, operands: &[Option<Tensor>], result: &Tensor) {
        if !dtype.is_float() {
            return;
        }
        let finite = |t: &Tensor| t.f64s().is_ok_and(|list| list.iter().all(|x| x.is_finite()));
        let finite_in = operands.iter().flatten().all(finite);
        let least = 2f64.powi(exponents(dtype).1 as i32 + mantissa(dtype));
        for x in result.f64s().unwrap_or_default() {
            if x.is_finite() {
                self.greatest = self.greatest.max(x.abs());
                self.underflow |= x.abs() < least;
            } else {
                self.overflow |= finite_in;
            }
        }
    }
}

/// Runs a program on tensors, operation by operation; none where one has no evaluation.
pub(super) fn trace(module: &Module, inputs: &[Datum]) -> Option<Trace> {
    let mut out = Trace::default();
    steps::run(module, inputs, |Step { op, operands, results }| {
        if let Some(op) = op {
            let numbers = nn::numbers(module, op);
            out.undefined |= within(MAX_BYTES, || nn::is_open(module, op, operands, results));
            let vanished = vanishes(numbers, operands, results);
            out.vanished |= vanished;
            out.wrapped |= wraps(module, op, operands, results);
            let product = vanished && !numbers.contains(Numbers::EXPONENTIAL);
            out.left |= product || overflows(numbers, operands, results);
        }
        results.iter().for_each(|result| out.see(result.dtype(), operands, result));
        Some(())
    })?;
    Some(out)
}

/// Whether an operation made nothing of something.
fn vanishes(numbers: Numbers, operands: &[Option<Tensor>], results: &[Tensor]) -> bool {
    let from_zero = numbers.contains(Numbers::EXPONENTIAL);
    if !from_zero && !numbers.contains(Numbers::PRODUCT) {
        return false;
    }
    let usual = |x: &f64| x.is_finite() && (from_zero || *x != 0.0);
    let fits = |t: &Tensor| t.f64s().is_ok_and(|list| list.iter().all(usual));
    let tiny = |t: &Tensor| {
        let least = 2f64.powi(exponents(t.dtype()).1 as i32);
        t.dtype().is_float() && t.f64s().is_ok_and(|list| list.iter().any(|x| x.abs() < least))
    };
    operands.iter().flatten().all(fits) && results.iter().any(tiny)
}

/// Whether an operation made an infinity of finite numbers because its type has no greater ones.
fn overflows(numbers: Numbers, operands: &[Option<Tensor>], results: &[Tensor]) -> bool {
    let any = |t: &Tensor, is: fn(&f64) -> bool| t.f64s().is_ok_and(|list| list.iter().any(is));
    let at_pole = if numbers.contains(Numbers::QUOTIENT) {
        operands.iter().flatten().any(|t| any(t, |x| *x == 0.0))
    } else {
        // Of nothing the greatest is an infinity. A conversion may have no such number.
        let chosen = numbers.contains(Numbers::EXACT) && !numbers.contains(Numbers::CONVERTS);
        numbers.contains(Numbers::POLES) || chosen
    };
    let finite = |t: &Tensor| !any(t, |x| !x.is_finite());
    !at_pole
        && operands.iter().flatten().all(finite)
        && results.iter().any(|t| t.dtype().is_float() && any(t, |x| x.is_infinite()))
}

/// Whether an operation made an integer that its type does not hold: one that is another number than
/// the operation makes in `float64`.
fn wraps(module: &Module, op: Op, operands: &[Option<Tensor>], results: &[Tensor]) -> bool {
    let is_int = |tensor: &Tensor| tensor.dtype().is_int();
    if !results.iter().any(is_int) {
        return false;
    }
    let other = |result: &Tensor, wide: &Tensor| {
        let (Ok(found), Ok(wide)) = (result.f64s(), wide.f64s()) else { return false };
        let far = |(x, y): (&f64, &f64)| (x - y).abs() > 1e-9 * y.abs();
        is_int(result) && found.iter().zip(&wide).any(far)
    };
    let numbers = nn::numbers(module, op);
    if numbers.contains(Numbers::CONVERTS) {
        let mut pairs = results.iter().zip(operands.iter().flatten());
        return pairs.any(|(result, from)| is_int(from) && other(result, from));
    }
    // What rounds or speaks of bits fits, so that wider numbers say nothing.
    if numbers.contains(Numbers::FITS) {
        return false;
    }
    match wide::results(module, op, operands) {
        Some(wide) => results.iter().zip(&wide).any(|(result, wide)| other(result, wide)),
        // What takes integers only is not looked into.
        None => true,
    }
}

/// Whether a program has an operation that rounds; what has none gives the same or is wrong.
pub(super) fn rounds(module: &Module) -> bool {
    computed(module).any(|op| !nn::numbers(module, op).contains(Numbers::EXACT))
}

/// Whether a program has a cast that rounds.
pub(super) fn converts(module: &Module) -> bool {
    let digits = |dtype: DType| {
        if dtype.is_float() { mantissa(dtype) + 1 } else { dtype.size_bits() as i32 }
    };
    let narrows = |(from, to): (DType, DType)| to.is_float() && digits(to) < digits(from);
    computed(module)
        .filter(|op| nn::numbers(module, *op).contains(Numbers::CONVERTS))
        .any(|op| cast_types(module, op).is_some_and(narrows))
}

/// The operations that compute something.
fn computed(module: &Module) -> impl Iterator<Item = Op> {
    let last = module.last_op(module.body());
    let ops = module.ops(module.body());
    ops.filter(move |op| Some(*op) != last && !constant::is_constant(module, *op))
}

fn cast_types(module: &Module, op: Op) -> Option<(DType, DType)> {
    let from = module.operands(op).next().and_then(|x| type_of(module, x))?;
    Some((from, type_of(module, module.result(op, 0))?))
}

/// The element type of a value.
fn type_of(module: &Module, value: Value) -> Option<DType> {
    let element = module.context().element_type(module.value_type(value))?;
    dtype::dtype_of(module.context(), element)
}

/// Whether small changes of what a program computes remain small.
pub(super) fn is_smooth(module: &Module) -> bool {
    module.ops(module.body()).all(|op| {
        let numbers = nn::numbers(module, op);
        let narrowing = numbers.contains(Numbers::CONVERTS)
            && type_of(module, module.result(op, 0)).is_some_and(|to| !to.is_float());
        !narrowing && !numbers.contains(Numbers::JUMPS)
    })
}
