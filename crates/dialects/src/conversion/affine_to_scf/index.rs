//! `affine.delinearize_index` and `affine.linearize_index` as arithmetic.
//!
//! With the factors `(a, b, c)`, the strides are `b * c`, `c` and 1. The factor of the outermost
//! index, which may be absent, is not needed: that index is whatever remains.

use tangram_ir::{Op, Value};
use tangram_rewrite::Rewriter;

use super::{Maker, finish, malformed};
use crate::conversion::{Matched, SLT};

/// Stands for a factor that an operand gives.
const DYNAMIC: i64 = i64::MIN;

/// Index `i` is `(x mod stride[i - 1]) / stride[i]`, where the remainder is never negative.
pub(super) fn delinearize(rewriter: &mut Rewriter<'_>, op: Op) -> Matched {
    let module = rewriter.module();
    let operands: Vec<Value> = module.operands(op).collect();
    let count = module.result_count(op);
    let Some((&linear, dynamic)) = operands.split_first() else { return Err(malformed(rewriter)) };
    let strides = strides(rewriter, op, dynamic, count).ok_or_else(|| malformed(rewriter))?;
    let mut maker = Maker::new(rewriter, op);
    let mut values = Vec::new();
    for i in 0..count {
        let rest = match i.checked_sub(1).and_then(|outer| strides.get(outer)) {
            None => linear,
            Some(&stride) => {
                let zero = maker.number(0);
                let remainder = maker.binary("arith.remsi", linear, stride);
                let negative = maker.compare(SLT, remainder, zero);
                let raised = maker.binary("arith.addi", remainder, stride);
                maker.select(negative, raised, remainder)
            }
        };
        values.push(match strides.get(i) {
            None => rest,
            Some(&stride) if i == 0 => maker.binary("arith.floordivsi", rest, stride),
            Some(&stride) => maker.binary("arith.divsi", rest, stride),
        });
    }
    finish(rewriter, op, &values)
}

/// The sum of the products of indices and strides.
pub(super) fn linearize(rewriter: &mut Rewriter<'_>, op: Op) -> Matched {
    let module = rewriter.module();
    let operands: Vec<Value> = module.operands(op).collect();
    let sizes = module.attr(op, "operandSegmentSizes").and_then(|attr| module.int_list(attr));
    let count = sizes.and_then(|sizes| usize::try_from(*sizes.first()?).ok());
    let parts = count.and_then(|count| operands.split_at_checked(count));
    let Some((indices, dynamic)) = parts else { return Err(malformed(rewriter)) };
    let strides =
        strides(rewriter, op, dynamic, indices.len()).ok_or_else(|| malformed(rewriter))?;
    let mut maker = Maker::new(rewriter, op);
    let mut sum = None;
    for (i, &index) in indices.iter().enumerate() {
        let scaled = match strides.get(i) {
            None => index,
            Some(&stride) => maker.binary("arith.muli", index, stride),
        };
        sum = Some(match sum {
            None => scaled,
            Some(sum) => maker.binary("arith.addi", sum, scaled),
        });
    }
    let sum = match sum {
        Some(sum) => sum,
        None => maker.number(0),
    };
    finish(rewriter, op, &[sum])
}

/// The strides of all of `count` indices but the last; `None` if the factors do not fit.
fn strides(
    rewriter: &mut Rewriter<'_>,
    op: Op,
    dynamic: &[Value],
    count: usize,
) -> Option<Vec<Value>> {
    let module = rewriter.module();
    let factors =
        module.attr(op, "static_basis").and_then(|attr| module.context().as_i64s(attr))?;
    if factors.len() != count && factors.len() + 1 != count
        || factors.iter().filter(|&&factor| factor == DYNAMIC).count() != dynamic.len()
    {
        return None;
    }
    let mut dynamic = dynamic.iter().copied();
    let mut maker = Maker::new(rewriter, op);
    let factors: Vec<(usize, Option<Value>, i64)> = factors
        .into_iter()
        .enumerate()
        .map(|(i, factor)| (i, if factor == DYNAMIC { dynamic.next() } else { None }, factor))
        .collect();
    // The outermost factor says nothing.
    let inner = &factors[factors.len() + 1 - count.max(1)..];
    let mut strides: Vec<Value> = Vec::new();
    for &(_, value, factor) in inner.iter().rev() {
        let value = match value {
            Some(value) => value,
            None => maker.number(factor),
        };
        let stride = match strides.last() {
            None => value,
            Some(&last) => maker.binary("arith.muli", value, last),
        };
        strides.push(stride);
    }
    strides.reverse();
    Some(strides)
}
