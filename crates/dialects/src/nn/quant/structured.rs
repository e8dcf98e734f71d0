//! Quantisation as loops.
//!
//! Products of quantised numbers are summed as `i32`, zero points subtracted first. What is
//! quantised again goes through `f64`, as in the kernels.

use tangram_affine::AffineExpr;
use tangram_affine::symbolic::Expr;
use tangram_tensor::DType;

use super::super::conv::{Convolution, convolve};
use super::super::index::only_element;
use super::super::linear::{Side, contract};
use super::super::norm::float_numbered;
use super::super::window::NAMES;
use crate::structured::{
    Binary, Comparison, Loops, Number, ScalarId, Stage, Structured, StructuredCx, TensorRef, Unary,
    axis, equal, scalars, wide,
};

/// Where a nest over `x` finds the scale of an element.
fn scale_index(
    cx: &StructuredCx<'_>,
    stage: &mut Stage,
    x: &TensorRef,
    scale: &TensorRef,
) -> Option<Vec<AffineExpr>> {
    let block = cx.attrs().int("block_size").unwrap_or(0);
    let zero = stage.fixed(&Expr::int(0));
    if block == 0 && (scale.rank() == 0 || (scale.rank() == 1 && is_one(&scale.extents[0]))) {
        return Some(vec![zero; scale.rank()]);
    }
    let along = match x.rank() {
        0 => return None,
        1 => 0,
        rank => axis(cx.attrs().int("axis").unwrap_or(1), rank)?,
    };
    if block == 0 {
        let fits = scale.rank() == 1 && equal(&scale.extents[0], &x.extents[along]);
        return fits.then(|| vec![stage.at(along)]);
    }
    (block > 0 && scale.rank() == x.rank()).then_some(())?;
    let mut at = stage.all(0..x.rank());
    at[along] = stage.quotient(at[along], block);
    Some(at)
}

/// The zero point beside a scale that is read at `index`; of one element, the two may differ in rank.
fn zero_point(
    stage: &mut Stage,
    zero: &TensorRef,
    scale: &TensorRef,
    index: &[AffineExpr],
) -> Option<ScalarId> {
    if zero.extents == scale.extents {
        return Some(stage.load_exact(zero, index));
    }
    scale.extents.iter().all(is_one).then(|| only_element(stage, zero))?
}

fn is_one(extent: &Expr) -> bool {
    extent.as_int() == Some(1)
}

/// `x` as a small integer type: rounded, shifted, within its range; a NaN is the least.
fn quantized(
    stage: &mut Stage,
    x: ScalarId,
    zero: Option<ScalarId>,
    to: DType,
) -> Option<ScalarId> {
    let (Number::Int(_, least), Number::Int(_, greatest)) =
        (Number::lowest(to), Number::highest(to))
    else {
        return None;
    };
    let element = stage.type_of(x);
    let mut value = stage.unary(Unary::Round, x);
    if let Some(zero) = zero {
        let zero = stage.cast(element, zero);
        value = stage.add(value, zero);
    }
    let (low, high) = (stage.number(x, least as f64), stage.number(x, greatest as f64));
    let above = stage.compare(Comparison::Ge, value, low);
    let value = stage.select(above, value, low);
    let value = stage.binary(Binary::Min, value, high);
    Some(stage.cast(to, value))
}

pub(in crate::nn) fn quantize(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (x, scale, out) = (cx.operand(0)?, cx.operand(1)?, cx.result(0)?);
    (out.element.is_int() && out.element.size_bits() <= 16).then_some(())?;
    let precision = cx.attrs().int("precision").and_then(float_numbered);
    let precision = precision.unwrap_or(scale.element);
    precision.is_float().then_some(())?;
    let mut stage = Stage::over(&out.extents);
    let index = scale_index(cx, &mut stage, &x, &scale)?;
    let loops = stage.all(0..x.rank());
    let value = stage.load_exact(&x, &loops);
    let factor = stage.load_exact(&scale, &index);
    let (value, factor) = (stage.cast(precision, value), stage.cast(precision, factor));
    let element = wide(precision);
    let (value, factor) = (stage.cast(element, value), stage.cast(element, factor));
    let quotient = stage.div(value, factor);
    let quotient = stage.rounded(precision, quotient);
    let zero = if cx.has(2) {
        Some(zero_point(&mut stage, &cx.operand(2)?, &scale, &index)?)
    } else {
        None
    };
    let value = quantized(&mut stage, quotient, zero, out.element)?;
    Some(Structured::one(stage.store_parallel(&out, value)))
}

/// In `f32` where a difference of bytes and a product with a scale of the result's type round but
/// once, else in `f64`.
pub(in crate::nn) fn dequantize(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (x, scale, out) = (cx.operand(0)?, cx.operand(1)?, cx.result(0)?);
    (x.element.is_int() && scale.element.is_float() && out.element.is_float()).then_some(())?;
    let small = x.element.size_bits() <= 8 && scale.element == out.element;
    let element = if small { wide(out.element) } else { DType::F64 };
    let mut stage = Stage::over(&out.extents);
    let index = scale_index(cx, &mut stage, &x, &scale)?;
    let loops = stage.all(0..x.rank());
    let value = stage.load_exact(&x, &loops);
    let mut value = stage.cast(element, value);
    if cx.has(2) {
        let zero = zero_point(&mut stage, &cx.operand(2)?, &scale, &index)?;
        let zero = stage.cast(element, zero);
        value = stage.sub(value, zero);
    }
    let factor = stage.load_exact(&scale, &index);
    let factor = stage.cast(element, factor);
    let value = stage.mul(value, factor);
    Some(Structured::one(stage.store_parallel(&out, value)))
}

/// A scale and a zero point for each place along the first loops.
struct Range {
    own: usize,
    scale: TensorRef,
    zero: TensorRef,
}

impl Range {
    /// From the range of the data and 0 at each place along loops `own`, the first coordinates.
    fn of(loops: &mut Loops, x: &TensorRef, own: &[Expr]) -> Range {
        let mut bound = |combine: Binary| {
            let mut stage = Stage::over(own);
            for extent in &x.extents[own.len()..] {
                stage.reduce_over(extent);
            }
            let at = stage.all(0..x.rank());
            let value = stage.load(x, &at);
            // A rank of 0 has no loop that would bring 0 in.
            let zero = stage.number(value, 0.0);
            // What is no number is in no range.
            let is_number = stage.compare(Comparison::Eq, value, value);
            let value = stage.select(is_number, value, zero);
            let value = stage.binary(combine, zero, value);
            let out = loops.temporary(DType::F32, own);
            loops.push(stage.store_reduced(&out, (combine, Number::zero(DType::F32)), value));
            out
        };
        let (least, greatest) = (bound(Binary::Min), bound(Binary::Max));
        let mut stage = Stage::over(own);
        let at = stage.all(0..own.len());
        let (low, high) = (stage.load(&least, &at), stage.load(&greatest, &at));
        let flat = stage.compare(Comparison::Eq, low, high);
        let (one, steps) = (stage.number(low, 1.0), stage.number(low, 255.0));
        let span = stage.sub(high, low);
        let step = stage.div(span, steps);
        let step = stage.select(flat, one, step);
        let scale = loops.temporary(DType::F32, own);
        loops.push(stage.store(&scale, &at, step));
        let mut stage = Stage::over(own);
        let at = stage.all(0..own.len());
        let (low, step) = (stage.load(&least, &at), stage.load(&scale, &at));
        let (none, steps) = (stage.number(low, 0.0), stage.number(low, 255.0));
        let negated = stage.unary(Unary::Neg, low);
        let place = stage.div(negated, step);
        let place = stage.binary(Binary::Max, place, none);
        let place = stage.binary(Binary::Min, place, steps);
        let place = stage.unary(Unary::Round, place);
        let zero = loops.temporary(DType::U8, own);
        loops.push(stage.store(&zero, &at, place));
        Range { own: own.len(), scale, zero }
    }

    /// A nest over as many elements of `x`, and its element quantised.
    fn quantised(&self, x: &TensorRef, extents: &[Expr]) -> Option<(Stage, ScalarId)> {
        let mut stage = Stage::over(extents);
        let (at, own) = (stage.all(0..x.rank()), stage.all(0..self.own));
        let (value, step) = (stage.load(x, &at), stage.load(&self.scale, &own));
        let quotient = stage.div(value, step);
        let shift = stage.load_exact(&self.zero, &own);
        let value = quantized(&mut stage, quotient, Some(shift), DType::U8)?;
        Some((stage, value))
    }
}

/// The range of the data and 0, from it scale and zero point, and the data quantised with them.
pub(super) fn dynamic(cx: &StructuredCx<'_>) -> Option<Structured> {
    let x = cx.operand(0).filter(|x| x.element == DType::F32)?;
    let mut loops = Loops::default();
    let range = Range::of(&mut loops, &x, &[]);
    let out = cx.result(0)?;
    let (stage, value) = range.quantised(&x, &out.extents)?;
    loops.push(stage.store_parallel(&out, value));
    loops.copy(&range.scale, &cx.result(1)?);
    loops.copy(&range.zero, &cx.result(2)?);
    Some(loops.finish())
}

/// What `x` is after it was quantised dynamically and back, with a scale for each place along the
/// first loops, which have extents `own`.
///
/// Bytes are a tensor of their own: products may take them instead of the real numbers.
pub(in crate::nn) fn there_and_back(
    loops: &mut Loops,
    x: &TensorRef,
    own: &[Expr],
) -> Option<TensorRef> {
    let range = Range::of(loops, x, own);
    let extents: Vec<Expr> = own.iter().chain(&x.extents[own.len()..]).cloned().collect();
    let (stage, value) = range.quantised(x, &extents)?;
    let bytes = loops.temporary(DType::U8, &extents);
    loops.push(stage.store_parallel(&bytes, value));
    let mut stage = Stage::over(&extents);
    let (at, own) = (stage.all(0..x.rank()), stage.all(0..own.len()));
    let (value, shift) = (stage.load_exact(&bytes, &at), stage.load_exact(&range.zero, &own));
    let (value, shift) = (stage.cast(DType::F32, value), stage.cast(DType::F32, shift));
    let (value, step) = (stage.sub(value, shift), stage.load(&range.scale, &own));
    let value = stage.mul(value, step);
    let out = loops.temporary(DType::F32, &extents);
    loops.push(stage.store_parallel(&out, value));
    Some(out)
}

/// What is subtracted of a factor, or multiplied with a sum: one number, or one for each place
/// along a loop.
#[derive(Clone)]
struct PerPlace {
    tensor: TensorRef,
    along: Option<usize>,
}

impl PerPlace {
    /// Operand `i`, if it is there; one that has several numbers has one for each place of loop
    /// `along`, which has `extent`.
    fn new(cx: &StructuredCx<'_>, i: usize, along: usize, extent: Option<&Expr>) -> Option<Self> {
        let tensor = cx.operand(i)?;
        if tensor.extents.iter().all(is_one) {
            return Some(PerPlace { tensor, along: None });
        }
        let fits = tensor.rank() == 1 && extent.is_some_and(|e| equal(e, &tensor.extents[0]));
        fits.then_some(PerPlace { tensor, along: Some(along) })
    }

    fn load(&self, stage: &mut Stage) -> Option<ScalarId> {
        match self.along {
            None => only_element(stage, &self.tensor),
            Some(along) => {
                let at = stage.at(along);
                Some(stage.load_exact(&self.tensor, &[at]))
            }
        }
    }
}

/// A number as `i32`, less its zero point.
fn shifted(stage: &mut Stage, x: ScalarId, zero: Option<ScalarId>) -> ScalarId {
    let x = stage.cast(DType::I32, x);
    match zero {
        None => x,
        Some(zero) => {
            let zero = stage.cast(DType::I32, zero);
            stage.sub(x, zero)
        }
    }
}

fn is_byte(element: DType) -> bool {
    matches!(element, DType::I8 | DType::U8)
}

/// Where a product has its operands: each of values, zero point.
struct Places {
    a: usize,
    a_zero: usize,
    b: usize,
    b_zero: usize,
}

/// Adds the product of the operands to `out`.
fn multiply(cx: &StructuredCx<'_>, loops: &mut Loops, at: &Places, out: &TensorRef) -> Option<()> {
    let (a, b) = (cx.operand(at.a)?, cx.operand(at.b)?);
    (is_byte(a.element) && is_byte(b.element)).then_some(())?;
    let (a, b) = (Side::new(a, 1), Side::new(b, 0));
    let row = out.rank().checked_sub(1 + usize::from(b.extent().is_some()));
    let zero = |i: usize, along: Option<usize>, extent: Option<&Expr>| {
        if cx.has(i) {
            PerPlace::new(cx, i, along.unwrap_or(0), along.and(extent)).map(Some)
        } else {
            Some(None)
        }
    };
    let a_zero = zero(at.a_zero, row.filter(|_| a.extent().is_some()), a.extent())?;
    let b_zero = zero(at.b_zero, out.rank().checked_sub(1), b.extent())?;
    contract(loops, &a, &b, out, |stage, x, y| {
        let load = |stage: &mut Stage, zero: &Option<PerPlace>| match zero {
            Some(zero) => zero.load(stage).map(Some),
            None => Some(None),
        };
        let (x_zero, y_zero) = (load(stage, &a_zero)?, load(stage, &b_zero)?);
        let (x, y) = (shifted(stage, x, x_zero), shifted(stage, y, y_zero));
        Some(stage.mul(x, y))
    })
}

pub(super) fn matmul_integer(cx: &StructuredCx<'_>) -> Option<Structured> {
    let out = cx.result(0)?;
    let mut loops = Loops::default();
    multiply(cx, &mut loops, &Places { a: 0, b: 1, a_zero: 2, b_zero: 3 }, &out)?;
    Some(loops.finish())
}

pub(super) fn qlinear_matmul(cx: &StructuredCx<'_>) -> Option<Structured> {
    let out = cx.result(0)?;
    let (a, b) = (Side::new(cx.operand(0)?, 1), Side::new(cx.operand(3)?, 0));
    let mut loops = Loops::default();
    let sum = loops.temporary(DType::I32, &out.extents);
    multiply(cx, &mut loops, &Places { a: 0, a_zero: 2, b: 3, b_zero: 5 }, &sum)?;
    let last = out.rank().saturating_sub(1);
    let row = if b.extent().is_some() { out.rank().checked_sub(2) } else { Some(last) };
    let scales = [
        PerPlace::new(cx, 1, row.unwrap_or(0), row.and(a.extent()))?,
        PerPlace::new(cx, 4, last, b.extent())?,
        PerPlace::new(cx, 6, 0, None)?,
    ];
    requantize(cx, &mut loops, &sum, None, &scales)?;
    Some(loops.finish())
}

/// Adds the convolution of the operands to `out`.
fn convolve_bytes(
    cx: &StructuredCx<'_>,
    loops: &mut Loops,
    at: &Places,
    out: &TensorRef,
) -> Option<()> {
    let (x, w) = (cx.operand(at.a)?, cx.operand(at.b)?);
    (is_byte(x.element) && is_byte(w.element)).then_some(())?;
    let filters = w.extents.first()?.clone();
    let convolution = Convolution { x, w, out: out.clone() };
    convolve(cx, loops, &convolution, &NAMES, |stage, factors| {
        let x_zero = if cx.has(at.a_zero) {
            Some(only_element(stage, &cx.operand(at.a_zero)?)?)
        } else {
            None
        };
        let w_zero = if cx.has(at.b_zero) {
            let zero = PerPlace::new(cx, at.b_zero, 0, Some(&filters))?;
            Some(match zero.along {
                Some(_) => stage.load_exact(&zero.tensor, &[factors.filter]),
                None => zero.load(stage)?,
            })
        } else {
            None
        };
        let mut x = shifted(stage, factors.x, x_zero);
        if let Some(inside) = factors.inside.filter(|_| x_zero.is_some()) {
            let padding = stage.number(x, 0.0);
            x = stage.select(inside, x, padding);
        }
        let w = shifted(stage, factors.w, w_zero);
        Some(stage.mul(x, w))
    })
}

pub(super) fn conv_integer(cx: &StructuredCx<'_>) -> Option<Structured> {
    let out = cx.result(0)?;
    let mut loops = Loops::default();
    convolve_bytes(cx, &mut loops, &Places { a: 0, b: 1, a_zero: 2, b_zero: 3 }, &out)?;
    Some(loops.finish())
}

pub(super) fn qlinear_conv(cx: &StructuredCx<'_>) -> Option<Structured> {
    let out = cx.result(0)?;
    let filters = out.extents.get(1)?.clone();
    let mut loops = Loops::default();
    let sum = loops.temporary(DType::I32, &out.extents);
    convolve_bytes(cx, &mut loops, &Places { a: 0, a_zero: 2, b: 3, b_zero: 5 }, &sum)?;
    let scales = [
        PerPlace::new(cx, 1, 0, None)?,
        PerPlace::new(cx, 4, 1, Some(&filters))?,
        PerPlace::new(cx, 6, 0, None)?,
    ];
    let bias = if cx.has(8) {
        Some(cx.operand(8).filter(|bias| bias.element == DType::I32)?)
    } else {
        None
    };
    requantize(cx, &mut loops, &sum, bias.as_ref(), &scales)?;
    Some(loops.finish())
}

/// `round((sum + bias) * (left * right / out)) + zero`, the factor in `f32`, the rest in `f64`.
fn requantize(
    cx: &StructuredCx<'_>,
    loops: &mut Loops,
    sum: &TensorRef,
    bias: Option<&TensorRef>,
    [left, right, scale]: &[PerPlace; 3],
) -> Option<()> {
    let out = cx.result(0).filter(|out| is_byte(out.element))?;
    let mut stage = Stage::over(&out.extents);
    let mut value = stage.broadcast(sum)?;
    if let Some(bias) = bias {
        let bias = stage.broadcast_over(bias, &[1])?;
        value = stage.add(value, bias);
    }
    let factor = |stage: &mut Stage, scale: &PerPlace| {
        let number = scale.load(stage)?;
        Some(stage.cast(DType::F32, number))
    };
    let (left, right) = (factor(&mut stage, left)?, factor(&mut stage, right)?);
    let scale = factor(&mut stage, scale)?;
    let product = stage.mul(left, right);
    let factor = stage.div(product, scale);
    let (value, factor) = (stage.cast(DType::F64, value), stage.cast(DType::F64, factor));
    let real = stage.mul(value, factor);
    let zero = only_element(&mut stage, &cx.operand(7)?)?;
    let value = quantized(&mut stage, real, Some(zero), out.element)?;
    loops.push(stage.store_parallel(&out, value));
    Some(())
}

/// Operands `i` to `i + 2` as a real number: values, scale and zero point of one element each.
fn real(cx: &StructuredCx<'_>, stage: &mut Stage, i: usize) -> Option<ScalarId> {
    let (x, scale) = (cx.operand(i)?, cx.operand(i + 1)?);
    (is_byte(x.element) && scale.element == DType::F32).then_some(())?;
    let loops: Vec<usize> = (0..cx.result(0)?.rank()).collect();
    let value = stage.broadcast_exact(&x, &loops)?;
    let mut value = stage.cast(DType::F32, value);
    if cx.has(i + 2) {
        let zero = only_element(stage, &cx.operand(i + 2)?)?;
        let zero = stage.cast(DType::F32, zero);
        value = stage.sub(value, zero);
    }
    let scale = only_element(stage, &scale)?;
    Some(stage.mul(value, scale))
}

/// A function of real numbers, quantised by operands `target` and `target + 1`.
fn through(
    cx: &StructuredCx<'_>,
    target: usize,
    f: impl FnOnce(&mut Stage) -> Option<ScalarId>,
) -> Option<Structured> {
    let out = cx.result(0).filter(|out| is_byte(out.element))?;
    let scale = cx.operand(target).filter(|scale| scale.element == DType::F32)?;
    let mut stage = Stage::over(&out.extents);
    let value = f(&mut stage)?;
    let scale = only_element(&mut stage, &scale)?;
    let quotient = stage.div(value, scale);
    let zero = if cx.has(target + 1) {
        Some(only_element(&mut stage, &cx.operand(target + 1)?)?)
    } else {
        None
    };
    let value = quantized(&mut stage, quotient, zero, out.element)?;
    Some(Structured::one(stage.store_parallel(&out, value)))
}

pub(in crate::nn) fn qlinear_add(cx: &StructuredCx<'_>) -> Option<Structured> {
    through(cx, 6, |stage| {
        let (a, b) = (real(cx, stage, 0)?, real(cx, stage, 3)?);
        Some(stage.add(a, b))
    })
}

pub(in crate::nn) fn qlinear_multiply(cx: &StructuredCx<'_>) -> Option<Structured> {
    through(cx, 6, |stage| {
        let (a, b) = (real(cx, stage, 0)?, real(cx, stage, 3)?);
        Some(stage.mul(a, b))
    })
}

pub(in crate::nn) fn qlinear_sigmoid(cx: &StructuredCx<'_>) -> Option<Structured> {
    through(cx, 3, |stage| {
        let x = real(cx, stage, 0)?;
        Some(stage.unary(Unary::Sigmoid, x))
    })
}

pub(in crate::nn) fn qlinear_leaky_relu(cx: &StructuredCx<'_>) -> Option<Structured> {
    let alpha = cx.attrs().float("alpha").unwrap_or(f64::from(0.01_f32));
    through(cx, 3, |stage| {
        let x = real(cx, stage, 0)?;
        Some(scalars::leaky_relu(stage, x, alpha))
    })
}
