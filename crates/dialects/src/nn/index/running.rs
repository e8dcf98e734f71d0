//! Running sums and products as one loop over the steps, around all others.

use tangram_affine::AffineExpr;
use tangram_affine::symbolic::Expr;
use tangram_tensor::DType;

use crate::structured::{
    Binary, Loops, Number, Stage, Structured, StructuredCx, TensorRef, axis, wide,
};

/// What combines elements, and what it starts from.
pub(super) type Combine = (Binary, fn(DType) -> Number);

/// A tensor, and the dimension along which it is gone through.
pub(super) struct Steps<'a> {
    pub x: &'a TensorRef,
    pub along: usize,
}

impl Steps<'_> {
    /// `count`, and the extents of the other dimensions.
    pub fn extents(&self, count: &Expr) -> Vec<Expr> {
        let others = self.x.extents.iter().enumerate().filter(|(i, _)| *i != self.along);
        [count].into_iter().chain(others.map(|(_, extent)| extent)).cloned().collect()
    }

    /// The index whose first entry is moved to where the dimension is.
    pub fn index<T: Copy>(&self, steps: &[T]) -> Vec<T> {
        let mut index = steps[1..].to_vec();
        index.insert(self.along, steps[0]);
        index
    }

    /// Adds a nest that writes a number in front of all steps of `states`.
    pub fn start(&self, loops: &mut Loops, states: &TensorRef, number: Number) {
        let mut stage = Stage::over(&states.extents[1..]);
        let value = stage.constant(number);
        let mut to: Vec<AffineExpr> = vec![stage.fixed(&Expr::int(0))];
        to.extend(stage.all(0..states.rank() - 1));
        loops.push(stage.store(states, &to, value));
    }

    /// Adds a nest that writes what `from` has for a step to the step behind it of `states`.
    pub fn advance(&self, loops: &mut Loops, from: &TensorRef, states: &TensorRef) {
        let mut stage = Stage::over(&from.extents);
        let mut at = stage.all(0..from.rank());
        let value = stage.load_exact(from, &at);
        at[0] = stage.plus(at[0], &Expr::int(1));
        loops.push(stage.store(states, &at, value));
    }
}

/// What is combined before each step and after it; one of the two is the result.
pub(super) fn running(cx: &StructuredCx<'_>, (combine, start): Combine) -> Option<Structured> {
    let (x, out) = (cx.operand(0).filter(|x| x.element != DType::Bool)?, cx.result(0)?);
    let listed = cx.int("axis", 1)?;
    let steps = Steps { x: &x, along: axis(listed, x.rank())? };
    let count = &x.extents[steps.along];
    let last = count.try_sub(&Expr::int(1))?;
    let reverse = cx.attrs().flag("reverse");
    let place = |stage: &mut Stage| {
        let mut at = stage.all(0..x.rank());
        if reverse {
            let back = stage.times(at[0], -1);
            at[0] = stage.plus(back, &last);
        }
        steps.index(&at)
    };
    let element = wide(x.element);
    let mut loops = Loops::default();
    let before = loops.temporary(element, &steps.extents(&count.try_add(&Expr::int(1))?));
    let after = loops.temporary(element, &steps.extents(count));
    steps.start(&mut loops, &before, start(element));
    loops.recurrent(|loops| {
        let mut stage = Stage::over(&after.extents);
        let (from, at) = (place(&mut stage), stage.all(0..x.rank()));
        let (own, others) = (stage.load(&x, &from), stage.load(&before, &at));
        let value = stage.binary(combine, others, own);
        loops.push(stage.store(&after, &at, value));
        steps.advance(loops, &after, &before);
    });
    let mut stage = Stage::over(&after.extents);
    let (to, at) = (place(&mut stage), stage.all(0..x.rank()));
    let from = if cx.attrs().flag("exclusive") { &before } else { &after };
    let value = stage.load(from, &at);
    loops.push(stage.store(&out, &to, value));
    Some(loops.finish())
}
