//! How far apart two results are, and which promise of a rule allows that.

use std::cell::OnceCell;
use std::slice::from_ref;

use tangram_dialects::interpret::Datum;
use tangram_dialects::nn::numbers::{mantissa, whole};
use tangram_tensor::{DType, Tensor};

use super::nudge;
use super::trace::Trace;
use super::values::Profile;
use crate::ast::Exactness;

/// How much two results differ; the greater, the less a rule may promise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gap {
    /// Not at all.
    #[default]
    None,
    /// By rounding.
    Rounding,
    /// Because a number between overflows or vanishes next to the limits of the type, or both are
    /// no finite numbers.
    Limits,
    /// Because an input or a constant is no finite number.
    Special,
    /// Because a number between leaves the type for ordinary inputs.
    Range,
}

impl Gap {
    /// What a rule with such results may promise at most.
    pub(super) fn promise(self) -> Exactness {
        match self {
            Gap::None => Exactness::Exact,
            Gap::Rounding | Gap::Limits => Exactness::Reassociates,
            Gap::Special | Gap::Range => Exactness::Range,
        }
    }
}

/// Where two results differ.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Difference {
    /// None where no promise allows it.
    pub(super) gap: Option<Gap>,
    pub(super) text: String,
}

/// What a difference is judged by.
pub(super) struct Judge<'a> {
    pub(super) profile: Profile,
    /// What was seen inside both programs; asked for where results differ.
    pub(super) trace: &'a dyn Fn() -> Trace,
    /// Both results on the same inputs in `float64`, if there are such programs.
    pub(super) wide: &'a dyn Fn() -> Option<(Vec<Datum>, Vec<Datum>)>,
    /// What the source and the target give in `float64` with all numbers changed a little.
    pub(super) nudged: &'a dyn Fn() -> [Vec<Vec<Tensor>>; 2],
    /// Rounding before remains rounding after.
    pub(super) smooth: bool,
    /// Either program has an operation that rounds.
    pub(super) rounds: bool,
    /// Either program has a cast that rounds.
    pub(super) converts: bool,
    /// How far the rule says that results may be apart beside rounding.
    pub(super) tolerance: f64,
}

impl Judge<'_> {
    /// The greatest difference of two lists of results; nothing where they are the same.
    pub(super) fn compare(&self, source: &[Datum], target: &[Datum]) -> Option<Difference> {
        let mut worst: Option<Difference> = None;
        for (output, (a, b)) in source.iter().zip(target).enumerate() {
            let found = match (a, b) {
                (Datum::Tensor(a), Datum::Tensor(b)) => self.tensors(output, a, b),
                (Datum::Sequence(a), Datum::Sequence(b)) if a.len() == b.len() => {
                    let pairs = a.iter().zip(b).filter(|(a, b)| a != b);
                    pairs.map(|(a, b)| self.compare(from_ref(a), from_ref(b))).next().flatten()
                }
                _ if a == b => None,
                _ => Some(Difference { gap: None, text: "the values differ".to_owned() }),
            };
            let Some(found) = found else { continue };
            let text = format!("output {output}: {}", found.text);
            let found = Difference { text, ..found };
            if found.gap.is_none() {
                return Some(found);
            }
            if worst.as_ref().is_none_or(|worst| worst.gap < found.gap) {
                worst = Some(found);
            }
        }
        worst
    }

    fn tensors(&self, output: usize, a: &Tensor, b: &Tensor) -> Option<Difference> {
        if a.dtype() != b.dtype() || a.shape() != b.shape() {
            let ty = |t: &Tensor| format!("{}{:?}", t.dtype().name(), t.shape());
            let text = format!("the source has type {}, the target {}", ty(a), ty(b));
            return Some(Difference { gap: None, text });
        }
        if a.dtype().is_int() || a.dtype() == DType::Bool {
            return self.integers(a, b);
        }
        let (Ok(x), Ok(y)) = (a.f64s(), b.f64s()) else { return None };
        let same = |p: f64, q: f64| p == q || p.is_nan() && q.is_nan();
        if x.iter().zip(&y).all(|(p, q)| same(*p, *q)) {
            return None;
        }
        let trace = (self.trace)();
        let both = OnceCell::new();
        let nudged = OnceCell::new();
        let is_rounding = |i: usize, p: f64, q: f64| {
            let [source, target] = nudged.get_or_init(|| (self.nudged)());
            let at = |runs: &[Vec<Tensor>]| {
                runs.iter().filter_map(|run| number(run.get(output)?, i)).collect::<Vec<f64>>()
            };
            nudge::is_rounding([&at(source), &at(target)], [p, q])
        };
        // What both would be without rounding, as far as `float64` tells; nothing where it does not.
        let judged = |i: usize, (p, q): (f64, f64)| match a.dtype() {
            DType::F64 => Some(is_rounding(i, p, q)),
            _ => {
                let (p, q) = wide_at(both.get_or_init(|| (self.wide)()), output, i)?;
                Some(self.agree(p, q, &trace) || is_rounding(i, p, q))
            }
        };
        let mut worst: Option<Difference> = None;
        for (i, (p, q)) in x.iter().zip(&y).enumerate().filter(|(_, (p, q))| !same(**p, **q)) {
            let gap = self.gap((*p, *q), a.dtype(), &trace, &|| judged(i, (*p, *q)));
            if gap.is_none() || worst.as_ref().is_none_or(|worst| worst.gap < gap) {
                let at = position(i, a.shape());
                let text = format!("at {at:?} the source gives {p}, the target {q}");
                worst = Some(Difference { gap, text });
            }
            if gap.is_none() {
                break;
            }
        }
        worst
    }

    fn integers(&self, a: &Tensor, b: &Tensor) -> Option<Difference> {
        let (Some(x), Some(y)) = (whole(a), whole(b)) else { return None };
        let i = x.iter().zip(&y).position(|(p, q)| p != q)?;
        let at = position(i, a.shape());
        let text = format!("at {at:?} the source gives {}, the target {}", x[i], y[i]);
        Some(Difference { gap: self.wrapped(&(self.trace)()), text })
    }

    /// Sums and products that wrap are left out of a range, and so are numbers that are none.
    fn wrapped(&self, trace: &Trace) -> Option<Gap> {
        match self.profile {
            _ if trace.wrapped => Some(Gap::Range),
            Profile::Limits => Some(Gap::Range),
            Profile::Special => Some(Gap::Special),
            _ => None,
        }
    }

    /// How far two different numbers are apart. `judged`: whether they are the same in exact
    /// arithmetic, as far as wider numbers tell, if there are any.
    fn gap(
        &self,
        (p, q): (f64, f64),
        dtype: DType,
        trace: &Trace,
        judged: &dyn Fn() -> Option<bool>,
    ) -> Option<Gap> {
        let size = || allowed(dtype, p, trace.greatest, self.tolerance);
        // A number that is rounded twice is a unit off at most.
        let unit = || (p.abs() * 2f64.powi(-mantissa(dtype))).max(f64::MIN_POSITIVE);
        let by = (p - q).abs();
        let small = self.rounds && by <= size() || self.converts && by <= unit();
        // In a narrow type other functions are as near as rounding: what is wider decides. Beside
        // great numbers of other elements nearly all is small: what rounding does to this one decides.
        let alone = || by <= allowed(dtype, p, 0.0, self.tolerance);
        let same = || dtype == DType::F64 && alone() || judged().unwrap_or(true);
        if p.is_finite() && q.is_finite() && small && same() {
            return Some(Gap::Rounding);
        }
        let agree = &|| judged() == Some(true);
        let found = match self.profile {
            Profile::Special => Some(match (p.is_finite(), q.is_finite()) {
                (false, false) if p.is_nan() || q.is_nan() => Gap::Limits,
                _ => Gap::Special,
            }),
            Profile::Limits if p.is_finite() && q.is_finite() => {
                (trace.overflow || trace.underflow || agree()).then_some(Gap::Limits)
            }
            Profile::Limits => Some(Gap::Limits),
            _ => self.ordinary((p, q), dtype, trace, agree),
        };
        found.or(self.wrapped(trace))
    }

    /// Whether two results in `float64` are the same, up to rounding and the tolerance of the rule.
    fn agree(&self, p: f64, q: f64, trace: &Trace) -> bool {
        let (relative, absolute) = (self.tolerance.max(1e-9), self.tolerance.max(1e-11));
        p.is_finite() && (p - q).abs() <= relative * p.abs() + absolute * trace.greatest.min(1e3)
    }

    /// The same where no input is near the limits of its type.
    fn ordinary(
        &self,
        (p, q): (f64, f64),
        dtype: DType,
        trace: &Trace,
        agree: &dyn Fn() -> bool,
    ) -> Option<Gap> {
        // No wider type says what it would be without that.
        let left = dtype == DType::F64 && trace.left;
        match (p.is_finite(), q.is_finite()) {
            (true, true) if agree() => match (trace.overflow, self.smooth) {
                (true, _) => Some(Gap::Range),
                (_, true) if self.rounds => Some(Gap::Rounding),
                _ => None,
            },
            // Of a number that nearly vanished some bits are left.
            (true, true) => {
                (left || trace.vanished && (p - q).abs() <= 0.01 * p.abs()).then_some(Gap::Range)
            }
            (true, false) => (trace.left || agree()).then_some(Gap::Range),
            (false, true) if left || agree() => Some(Gap::Limits),
            // The source lost a number on the way that the target does not make, and so does
            // `float64`.
            (false, true) => (trace.left || trace.vanished).then_some(Gap::Range),
            // Both lost a number on the way that a wider type has.
            (false, false) if left || agree() => Some(Gap::Limits),
            // At a pole one side may be an infinity where the other is NaN.
            (false, false) => Some(if p.is_nan() || q.is_nan() { Gap::Limits } else { Gap::Range }),
        }
    }
}

fn wide_at(
    found: &Option<(Vec<Datum>, Vec<Datum>)>,
    output: usize,
    i: usize,
) -> Option<(f64, f64)> {
    let (source, target) = found.as_ref()?;
    let tensor = |list: &[Datum]| match list.get(output)? {
        Datum::Tensor(tensor) => number(tensor, i),
        _ => None,
    };
    Some((tensor(source)?, tensor(target)?))
}

fn number(tensor: &Tensor, i: usize) -> Option<f64> {
    tensor.f64s().ok()?.get(i).copied()
}

/// What two numbers may differ by in rounding: relative to themselves and to the greatest number on
/// the way; as far as the rule says, where that is more.
fn allowed(dtype: DType, p: f64, greatest: f64, tolerance: f64) -> f64 {
    let unit = 2f64.powi(-mantissa(dtype));
    let units = |count: f64| (count * unit).min(0.3).max(tolerance);
    (units(64.0) * p.abs() + units(32.0) * greatest).max(f64::MIN_POSITIVE)
}

fn position(mut index: usize, shape: &[usize]) -> Vec<usize> {
    let mut at = vec![0; shape.len()];
    for (place, &extent) in at.iter_mut().zip(shape).rev() {
        *place = index % extent.max(1);
        index /= extent.max(1);
    }
    at
}
