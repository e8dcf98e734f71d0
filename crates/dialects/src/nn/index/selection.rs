//! Elements that are chosen, as loops: the greatest ones, and those with a flag.

use tangram_affine::AffineExpr;
use tangram_affine::symbolic::Expr;
use tangram_tensor::DType;

use super::running::Steps;
use crate::structured::{
    Binary, Comparison, Loops, Number, ScalarId, Stage, Structured, StructuredCx, TensorRef, Unary,
    axis, wide,
};

/// As each chosen element takes a pass over all, more of them are left to the kernel, which sorts.
const MOST_CHOSEN: i64 = 64;

/// More ranges of flags are left to the kernel.
const MOST_RANGES: usize = 64;

/// The greatest or least elements, one after the other: each is the first of those that come behind
/// the one before it.
struct Choice<'a> {
    steps: Steps<'a>,
    greatest: bool,
    /// The place of the element chosen before each step; -1 in front of the first.
    chosen: TensorRef,
}

/// An element beside the one that was chosen last.
struct Candidate {
    element: ScalarId,
    /// Whether it is a NaN; nothing for integers.
    nan: Option<ScalarId>,
    /// Its place along the dimension.
    place: ScalarId,
    /// Whether it comes behind.
    open: ScalarId,
}

pub(super) fn topk(cx: &StructuredCx<'_>) -> Option<Structured> {
    let x = cx.operand(0).filter(|x| x.element != DType::Bool)?;
    let (values, indices) = (cx.result(0)?, cx.result(1)?);
    let along = axis(cx.attrs().int("axis").unwrap_or(-1), x.rank())?;
    let count = cx.int("k", 1).filter(|k| (0..=MOST_CHOSEN).contains(k))?;
    (values.extents[along].as_int() == Some(count)).then_some(())?;
    let steps = Steps { x: &x, along };
    let mut loops = Loops::default();
    let chosen = loops.temporary(DType::I64, &steps.extents(&Expr::int(count + 1)));
    steps.start(&mut loops, &chosen, Number::Int(DType::I64, -1));
    let greatest = cx.attrs().bool("largest").unwrap_or(true);
    let choice = Choice { steps, greatest, chosen };
    loops.recurrent(|loops| {
        let best = choice.best(loops, count);
        let place = choice.place(loops, &best);
        choice.steps.advance(loops, &place, &choice.chosen);
    });
    choice.results(&mut loops, &values, &indices);
    Some(loops.finish())
}

impl Choice<'_> {
    /// A nest over steps, the other dimensions and, reduced, the elements along the dimension.
    fn over_elements(&self, extents: &[Expr]) -> (Stage, Candidate) {
        let mut stage = Stage::over(extents);
        let inner = stage.reduce_over(&self.steps.x.extents[self.steps.along]);
        let candidate = self.candidate(&mut stage, inner);
        (stage, candidate)
    }

    fn candidate(&self, stage: &mut Stage, inner: usize) -> Candidate {
        let rank = self.steps.x.rank();
        let outer = stage.all(1..rank);
        let mut at = vec![stage.at(inner)];
        at.extend(&outer);
        let element = stage.load(self.steps.x, &self.steps.index(&at));
        let step = stage.all(0..rank);
        let last = stage.load_exact(&self.chosen, &step);
        let zero = stage.int(0);
        let mut places = vec![stage.binary(Binary::Max, last, zero)];
        places.extend((1..rank).map(|i| stage.index(i)));
        let before = stage.lookup(self.steps.x, self.steps.index(&places));
        let before = stage.cast(wide(self.steps.x.element), before);
        let place = stage.index(inner);
        let by = if self.greatest { Comparison::Gt } else { Comparison::Lt };
        let mut better = stage.compare(by, before, element);
        let mut same = stage.compare(Comparison::Eq, before, element);
        let mut nan = None;
        if self.steps.x.element.is_float() {
            // A NaN is above all numbers, and any other one its equal.
            let own = stage.compare(Comparison::Ne, element, element);
            let others = stage.compare(Comparison::Ne, before, before);
            let above = if self.greatest { (others, own) } else { (own, others) };
            let number = stage.unary(Unary::Not, above.1);
            let above = stage.binary(Binary::And, above.0, number);
            better = stage.binary(Binary::Or, better, above);
            let both = stage.binary(Binary::And, own, others);
            same = stage.binary(Binary::Or, same, both);
            nan = Some(own);
        }
        let later = stage.compare(Comparison::Gt, place, last);
        let tied = stage.binary(Binary::And, same, later);
        let behind = stage.binary(Binary::Or, better, tied);
        let first = stage.compare(Comparison::Lt, last, zero);
        let open = stage.binary(Binary::Or, first, behind);
        Candidate { element, nan, place, open }
    }

    /// Adds a nest that finds the best element of each step. Of the least ones, a NaN counts as
    /// infinity.
    fn best(&self, loops: &mut Loops, count: i64) -> TensorRef {
        let extents = self.steps.extents(&Expr::int(count));
        let (mut stage, candidate) = self.over_elements(&extents);
        let element = stage.type_of(candidate.element);
        let (combine, worst) = if self.greatest {
            (Binary::Max, Number::lowest(element))
        } else {
            (Binary::Min, Number::highest(element))
        };
        let none = stage.constant(worst);
        let value = match candidate.nan.filter(|_| !self.greatest) {
            Some(nan) => stage.select(nan, none, candidate.element),
            None => candidate.element,
        };
        let value = stage.select(candidate.open, value, none);
        let best = loops.temporary(element, &extents);
        loops.push(stage.store_reduced(&best, (combine, worst), value));
        best
    }

    /// Adds nests that find the first place of each step that has the best element, or a NaN: where
    /// the least are wanted, only if there is nothing else.
    fn place(&self, loops: &mut Loops, best: &TensorRef) -> TensorRef {
        let (mut stage, candidate) = self.over_elements(&best.extents);
        let Candidate { element, nan, place, open } = candidate;
        let at = stage.all(0..best.rank());
        let own = stage.load(best, &at);
        let nowhere = stage.int(i64::MAX);
        let other = match nan {
            Some(nan) => {
                let size = stage.extent(&self.steps.x.extents[self.steps.along]);
                let beyond = stage.add(place, size);
                stage.select(nan, if self.greatest { place } else { beyond }, nowhere)
            }
            None => nowhere,
        };
        let hit = stage.compare(Comparison::Eq, element, own);
        let value = stage.select(hit, place, other);
        let value = stage.select(open, value, nowhere);
        let first = loops.temporary(DType::I64, &best.extents);
        let combine = (Binary::Min, Number::highest(DType::I64));
        loops.push(stage.store_reduced(&first, combine, value));
        loops.map(&first, |s, first| {
            let size = s.extent(&self.steps.x.extents[self.steps.along]);
            let within = s.compare(Comparison::Lt, first, size);
            let back = s.sub(first, size);
            s.select(within, first, back)
        })
    }

    /// Adds nests that write the places, and the elements there.
    fn results(&self, loops: &mut Loops, values: &TensorRef, indices: &TensorRef) {
        for out in [values, indices] {
            let mut stage = Stage::over(&self.steps.extents(&out.extents[self.steps.along]));
            let steps = stage.all(0..out.rank());
            let mut behind = steps.clone();
            behind[0] = stage.plus(steps[0], &Expr::int(1));
            let mut value = stage.load_exact(&self.chosen, &behind);
            if out == values {
                let mut places = vec![value];
                places.extend((1..out.rank()).map(|i| stage.index(i)));
                value = stage.lookup(self.steps.x, self.steps.index(&places));
            }
            loops.push(stage.store(out, &self.steps.index(&steps), value));
        }
    }
}

/// A nest for each range of flags that are true.
pub(super) fn compress(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (x, out) = (cx.operand(0)?, cx.result(0)?);
    let ranges = ranges(&cx.constant(1)?.i64s().ok()?);
    (ranges.len() <= MOST_RANGES).then_some(())?;
    let along = match cx.attrs().int("axis") {
        Some(listed) => axis(listed, x.rank())?,
        None => 0,
    };
    let flat = match cx.attrs().int("axis") {
        Some(_) => None,
        None => Some(strides(&x.extents)?),
    };
    let mut loops = Loops::default();
    let mut done = 0;
    for (first, count) in ranges {
        let mut extents = out.extents.clone();
        extents[along] = Expr::int(count);
        let mut stage = Stage::over(&extents);
        let mut to = stage.all(0..out.rank());
        let mut from = to.clone();
        from[along] = stage.plus(from[along], &Expr::int(first));
        if let Some(strides) = &flat {
            from = coordinates(&mut stage, from[0], &x, strides)?;
        }
        to[along] = stage.plus(to[along], &Expr::int(done));
        let value = stage.load_exact(&x, &from);
        loops.push(stage.store(&out, &to, value));
        done += count;
    }
    (out.extents[along].as_int() == Some(done)).then(|| loops.finish())
}

/// The ranges of flags that are true: where each begins, and how long it is.
fn ranges(flags: &[i64]) -> Vec<(i64, i64)> {
    let mut ranges: Vec<(i64, i64)> = Vec::new();
    for (place, _) in (0..).zip(flags).filter(|(_, flag)| **flag != 0) {
        match ranges.last_mut() {
            Some((first, count)) if *first + *count == place => *count += 1,
            _ => ranges.push((place, 1)),
        }
    }
    ranges
}

/// How far apart in row-major order the elements of each dimension are, if all extents are numbers.
fn strides(extents: &[Expr]) -> Option<Vec<i64>> {
    let mut strides = vec![1_i64; extents.len()];
    for i in (1..extents.len()).rev() {
        strides[i - 1] = strides[i].checked_mul(extents[i].as_int()?)?;
    }
    strides.iter().all(|&stride| stride > 0).then_some(strides)
}

/// The coordinates of element `place` in row-major order.
fn coordinates(
    stage: &mut Stage,
    place: AffineExpr,
    x: &TensorRef,
    strides: &[i64],
) -> Option<Vec<AffineExpr>> {
    let mut at = Vec::new();
    for (i, &stride) in strides.iter().enumerate() {
        let row = stage.quotient(place, stride);
        at.push(match i {
            0 => row,
            _ => {
                let size = x.extents[i].as_int()?;
                let outer = stage.quotient(place, stride.checked_mul(size)?);
                let done = stage.times(outer, -size);
                stage.sum(row, done)
            }
        });
    }
    Some(at)
}
