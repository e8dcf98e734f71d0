//! Normalisations over a prime field: quotients of polynomials, with roots that are powers.

use tangram_tensor::Tensor;
use tangram_tensor::shape::reshape;

use crate::field::{Evaluated, Evaluation, minus, plus, prime, sum_over};

/// How many times the degree of the operands a norm has at most: numerator and denominator.
const DEGREE: u32 = 8;

fn epsilon(cx: &Evaluation<'_>) -> f64 {
    cx.attrs().float("epsilon").unwrap_or(1e-5)
}

/// Operand `i`, one number for each channel, so that it broadcasts to rank `rank`.
fn per_channel(cx: &Evaluation<'_>, i: usize, rank: usize) -> Option<Tensor> {
    let mut column = vec![1i64; rank];
    *column.get_mut(1)? = -1;
    reshape(cx.operand(i)?, &column, false).ok()
}

fn scaled(cx: &Evaluation<'_>, normal: &Tensor) -> Option<Evaluated> {
    let (gamma, beta) = (per_channel(cx, 1, normal.rank())?, per_channel(cx, 2, normal.rank())?);
    Some(cx.polynomial(plus(&prime::multiply(normal, &gamma).ok()?, &beta)?, DEGREE))
}

pub(super) fn batch_norm(cx: &Evaluation<'_>) -> Option<Evaluated> {
    let x = cx.operand(0)?;
    let centred = minus(x, &per_channel(cx, 3, x.rank())?)?;
    let scale = cx.scale(&per_channel(cx, 4, x.rank())?, epsilon(cx))?;
    scaled(cx, &prime::multiply(&centred, &scale).ok()?)
}

pub(super) fn layer_norm(cx: &Evaluation<'_>) -> Option<Evaluated> {
    over_last(cx, true)
}

pub(super) fn rms_norm(cx: &Evaluation<'_>) -> Option<Evaluated> {
    over_last(cx, false)
}

fn over_last(cx: &Evaluation<'_>, centre: bool) -> Option<Evaluated> {
    if cx.result_count() != 1 {
        return None;
    }
    let x = cx.operand(0)?;
    let rank = x.rank() as i64;
    let axis = cx.attrs().int("axis").unwrap_or(-1);
    let axes: Vec<i64> = (if axis < 0 { axis + rank } else { axis }..rank).collect();
    let normal = cx.normalised(x, &axes, (centre, epsilon(cx)))?;
    let scaled = prime::multiply(&normal, cx.operand(1)?).ok()?;
    let shifted = match cx.operand(2) {
        Some(beta) => plus(&scaled, beta)?,
        None => scaled,
    };
    Some(cx.polynomial(shifted, DEGREE))
}

pub(super) fn instance_norm(cx: &Evaluation<'_>) -> Option<Evaluated> {
    let x = cx.operand(0)?;
    let axes: Vec<i64> = (2..x.rank() as i64).collect();
    scaled(cx, &cx.normalised(x, &axes, (true, epsilon(cx)))?)
}

pub(super) fn group_norm(cx: &Evaluation<'_>) -> Option<Evaluated> {
    let (x, groups) = (cx.operand(0)?, cx.attrs().int("num_groups")?);
    let batch = *x.shape().first()? as i64;
    let grouped = reshape(x, &[batch, groups, -1], false).ok()?;
    let normal = cx.normalised(&grouped, &[2], (true, epsilon(cx)))?;
    let back: Vec<i64> = x.shape().iter().map(|&n| n as i64).collect();
    scaled(cx, &reshape(&normal, &back, false).ok()?)
}

pub(super) fn lp_norm(cx: &Evaluation<'_>) -> Option<Evaluated> {
    if cx.attrs().int("p").unwrap_or(2) != 2 {
        return None;
    }
    let x = cx.operand(0)?;
    let axis = cx.attrs().int("axis").unwrap_or(-1);
    let squares = sum_over(&prime::multiply(x, x).ok()?, &[axis])?;
    let scale = prime::map(&squares, |s| prime::inverse(prime::root(s))).ok()?;
    Some(cx.polynomial(prime::multiply(x, &scale).ok()?, DEGREE))
}
