//! How much rounding may change a result: stochastic arithmetic.
//!
//! A program is run in `float64` some times, and every number on the way is changed by a random part
//! of it that is some times greater than a rounding error. What then changes in the results is what
//! rounding may do to them: much where numbers cancel, little elsewhere. (Vignes,
//! "A stochastic arithmetic for reliable scientific computation", 1993.)
//!
//! ```text
//! x + y + -y      x = 1, y = 1e16     1, changed by about 50: no digit can be relied on
//! ```

use fastrand::Rng;
use tangram_dialects::interpret::Datum;
use tangram_dialects::nn::{self, AdditionFn};
use tangram_ir::Module;
use tangram_tensor::{DType, Tensor};

use super::steps;
use super::wide;

/// The greatest relative change of a number: 16 units in its last place.
const NUDGE: f64 = 16.0 * f64::EPSILON;

/// How many times a program is run. Of a number that has no digit left, as the sine of a great one,
/// some runs lie near each other by chance; all of these do so for one in a thousand.
const RUNS: u64 = 12;
/// The same of a program whose constants were rounded: two of them are rounded to the same side, which is
/// the furthest, in half of the runs, and thousands of elements are compared for a rule.
const ROUNDED_RUNS: u64 = 24;

/// Runs a program with its numbers changed. None of the results where an operation has no
/// evaluation.
pub(super) fn runs(module: &Module, inputs: &[Datum]) -> Vec<Vec<Tensor>> {
    (0..RUNS).filter_map(|seed| run(module, inputs, &mut Rng::with_seed(seed))).collect()
}

/// Runs a program of a narrower type so in `float64`: what it has for constants was rounded to that
/// type, and is some number that is rounded to them.
///
/// The constants of source and target change apart from each other: what a rule writes on both sides
/// with other digits is another number unless the type has one for both.
pub(super) fn runs_rounded(module: &Module, inputs: &[Datum]) -> Vec<Vec<Tensor>> {
    let one = |seed| {
        let mut rng = Rng::with_seed(seed);
        run(&wide::unrounded(module, &mut rng)?, inputs, &mut rng)
    };
    (0..ROUNDED_RUNS).filter_map(one).collect()
}

fn run(module: &Module, inputs: &[Datum], rng: &mut Rng) -> Option<Vec<Tensor>> {
    let last = module.last_op(module.body())?;
    let found = steps::run(module, inputs, |step| {
        let function = step.op.and_then(|op| nn::entry(module.name_text(op))?.addition);
        if let (Some(function), Some(Some(x))) = (function, step.operands.first()) {
            step.results[0] = turned(function, x, rng)?;
            return Some(());
        }
        for result in step.results {
            *result = nudged(result, rng)?;
        }
        Some(())
    })?;
    module.operands(last).map(|value| found.get(&value).cloned()).collect()
}

/// A function of numbers that are changed, each in its own direction.
fn turned(function: AdditionFn, x: &Tensor, rng: &mut Rng) -> Option<Tensor> {
    if x.dtype() != DType::F64 {
        return None;
    }
    let numbers = x.f64s().ok()?.into_iter();
    let turned = numbers.map(|x| function(x, x * NUDGE * (2.0 * rng.f64() - 1.0)));
    let turned = Tensor::from_vec(x.shape(), turned.collect::<Vec<f64>>()).ok()?;
    nudged(&turned, rng)
}

/// The same numbers, each changed in its own direction.
fn nudged(tensor: &Tensor, rng: &mut Rng) -> Option<Tensor> {
    if tensor.dtype() != DType::F64 {
        return Some(tensor.clone());
    }
    let numbers = tensor.f64s().ok()?.into_iter();
    let numbers = numbers.map(|x| x * (1.0 + NUDGE * (2.0 * rng.f64() - 1.0)));
    Tensor::from_vec(tensor.shape(), numbers.collect::<Vec<f64>>()).ok()
}

/// Whether two numbers differ by no more than rounding may change both, of which each is any of the
/// `nudged` ones with all numbers changed.
pub(super) fn is_rounding(nudged: [&[f64]; 2], both: [f64; 2]) -> bool {
    let mut most = 0.0;
    for (nudged, x) in nudged.into_iter().zip(both) {
        // At a pole, or at the border of a domain.
        let kind = |n: f64| (n.is_finite(), n.is_nan());
        if nudged.iter().any(|n| kind(*n) != kind(x)) {
            return true;
        }
        most += nudged.iter().map(|n| (n - x).abs()).fold(0.0, f64::max);
    }
    (both[0] - both[1]).abs() <= most
}
