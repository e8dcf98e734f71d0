//! How far apart two results are, and which promise of a rule allows that.

use std::cell::OnceCell;
use std::slice::from_ref;

use tangram_dialects::interpret::Datum;
use tangram_tensor::{DType, Tensor};

use super::trace::Trace;
use super::values::{Profile, mantissa};
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
    /// Because a number between leaves the type for ordinary inputs, or an input is no number.
    Range,
}

impl Gap {
    /// What a rule with such results may promise at most.
    pub(super) fn promise(self) -> Exactness {
        match self {
            Gap::None => Exactness::Exact,
            Gap::Rounding | Gap::Limits => Exactness::Reassociates,
            Gap::Range => Exactness::Range,
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
    /// Rounding before remains rounding after.
    pub(super) smooth: bool,
    /// Either program has an operation that rounds.
    pub(super) rounds: bool,
    /// The rule writes constants with many digits.
    pub(super) coarse: bool,
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
        let wide = |i: usize| wide_at(both.get_or_init(|| (self.wide)()), output, i);
        let mut worst: Option<Difference> = None;
        for (i, (p, q)) in x.iter().zip(&y).enumerate().filter(|(_, (p, q))| !same(**p, **q)) {
            let gap = self.gap((*p, *q), a.dtype(), &trace, &|| wide(i));
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
        let (Ok(x), Ok(y)) = (a.i64s(), b.i64s()) else { return None };
        let i = x.iter().zip(&y).position(|(p, q)| p != q)?;
        let at = position(i, a.shape());
        let text = format!("at {at:?} the source gives {}, the target {}", x[i], y[i]);
        // Sums and products that wrap are left out of a range, and so are numbers that are none.
        let gap = matches!(self.profile, Profile::Limits | Profile::Special).then_some(Gap::Range);
        Some(Difference { gap, text })
    }

    /// How far two different numbers are apart.
    fn gap(
        &self,
        (p, q): (f64, f64),
        dtype: DType,
        trace: &Trace,
        wide: &dyn Fn() -> Option<(f64, f64)>,
    ) -> Option<Gap> {
        let size = || allowed(dtype, p, trace, self.coarse);
        if p.is_finite() && q.is_finite() && self.rounds && (p - q).abs() <= size() {
            return Some(Gap::Rounding);
        }
        let agree = || match (dtype, wide()) {
            (DType::F64, _) | (_, None) => false,
            (_, Some((p, q))) => {
                p.is_finite() && (p - q).abs() <= 1e-5 * p.abs() + 1e-6 * trace.greatest.min(1e6)
            }
        };
        match (self.profile, p.is_finite(), q.is_finite()) {
            (Profile::Special, false, false) => match p.is_nan() || q.is_nan() {
                true => Some(Gap::Limits),
                false => Some(Gap::Range),
            },
            (Profile::Special, ..) => Some(Gap::Range),
            (Profile::Limits, true, true) => {
                (trace.overflow || trace.underflow || agree()).then_some(Gap::Limits)
            }
            (Profile::Limits, ..) => Some(Gap::Limits),
            (_, true, true) if agree() => match (trace.overflow, self.smooth) {
                (true, _) => Some(Gap::Range),
                (_, true) if self.rounds => Some(Gap::Rounding),
                _ => None,
            },
            // Of a number that nearly vanished some bits are left.
            (_, true, true) => {
                (trace.vanished && (p - q).abs() <= 0.01 * p.abs()).then_some(Gap::Range)
            }
            (_, true, false) => agree().then_some(Gap::Range),
            (_, false, true) if agree() => Some(Gap::Limits),
            // The source lost a number on the way that the target does not make.
            (_, false, true) => trace.vanished.then_some(Gap::Range),
            // At a pole one side may be an infinity where the other is NaN.
            (_, false, false) => {
                Some(if p.is_nan() || q.is_nan() { Gap::Limits } else { Gap::Range })
            }
        }
    }
}

fn wide_at(
    found: &Option<(Vec<Datum>, Vec<Datum>)>,
    output: usize,
    i: usize,
) -> Option<(f64, f64)> {
    let (source, target) = found.as_ref()?;
    let number = |list: &[Datum]| match list.get(output)? {
        Datum::Tensor(tensor) => tensor.f64s().ok()?.get(i).copied(),
        _ => None,
    };
    Some((number(source)?, number(target)?))
}

/// What two numbers may differ by in rounding: relative to themselves and to the greatest number on
/// the way; where the rule writes constants with many digits, by what seven digits leave open.
fn allowed(dtype: DType, p: f64, trace: &Trace, coarse: bool) -> f64 {
    let unit = 2f64.powi(-mantissa(dtype));
    let units = |count: f64| (count * unit).min(0.3);
    match coarse {
        true => units(256.0).max(1e-6) * p.abs() + units(32.0).max(3e-7) * trace.greatest,
        false => (units(64.0) * p.abs() + units(32.0) * trace.greatest).max(f64::MIN_POSITIVE),
    }
}

fn position(mut index: usize, shape: &[usize]) -> Vec<usize> {
    let mut at = vec![0; shape.len()];
    for (place, &extent) in at.iter_mut().zip(shape).rev() {
        *place = index % extent.max(1);
        index /= extent.max(1);
    }
    at
}
