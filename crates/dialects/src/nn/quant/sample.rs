//! What is tried for quantised numbers: scales and zero points of one number, of one for each place
//! along a dimension, or of one for each block.

use fastrand::Rng;
use tangram_ir::AttrDef;

use crate::nn::conv::convolution;
use crate::nn::linear::sample::{Layout, product};
use crate::nn::sample::{Call, Extents, Role, Tried, Value, Wanted, any_of, place, role};

/// Numbers, their scale, and what they become.
pub(super) const QUANTIZE: &[Role] = &[Role::Real, Role::RealScale, Role::Quantised];
/// The other way round.
pub(super) const DEQUANTIZE: &[Role] = &[Role::Quantised, Role::RealScale, Role::Quantised];

/// One number, one for each place along the axis, or one for each block; zero points alike.
pub(super) fn scales(wanted: &Wanted<'_>, rng: &mut Rng) -> Option<Extents> {
    match (wanted.index, wanted.of(0), wanted.of(1)) {
        (0, ..) => None,
        (2.., _, Some(scale)) => Some(scale.to_vec()),
        (_, Some(like), _) if like.len() > 1 && rng.u8(0..4) == 0 => {
            let mut like = like.to_vec();
            let at = wanted.axis.and_then(|axis| place(axis, like.len()));
            let at = at.filter(|at| *at < like.len()).unwrap_or(like.len() - 1);
            like[at] = like[at].div_ceil(rng.usize(2..=3));
            Some(like)
        }
        (_, Some(like), _) if rng.u8(0..3) == 0 => {
            let at = place(wanted.axis.unwrap_or(1), like.len()).and_then(|at| like.get(at));
            Some(at.map(|n| vec![*n]).unwrap_or_default())
        }
        _ => Some(Extents::new()),
    }
}

/// Attributes of quantisation. Types follow from the operands where they say them.
pub(in crate::nn) fn tried(call: &Call<'_>, attr: &AttrDef, rng: &mut Rng) -> Tried {
    const TYPES: [&str; 5] = ["uint8", "int8", "int16", "uint16", "float8_e4m3fn"];
    let blocked = blocked(call);
    match attr.name {
        "axis" => blocked.map_or(Tried::Usual, |(at, _)| Value::Int(at as i64).into()),
        "saturate" => Value::Bool(rng.bool()).into(),
        "block_size" => {
            let size = |(at, scales): (usize, usize)| call.x()[at].div_ceil(scales.max(1));
            blocked.map(|block| Value::Int(size(block) as i64)).into()
        }
        // Most say nothing, so that a rule that reads what it wrote is tried.
        "output_dtype" if quantises(call) && rng.u8(0..6) == 0 => any_of(&TYPES, rng),
        _ => Tried::Absent,
    }
}

/// Whether the result is quantised, and no zero point says to which type.
fn quantises(call: &Call<'_>) -> bool {
    role(call.def, 0) == Role::Real && call.shapes.len() == 2
}

/// Along which dimension places share a scale, and how many scales there are.
fn blocked(call: &Call<'_>) -> Option<(usize, usize)> {
    let x = call.x();
    let scale = call.shapes.get(1).filter(|scale| scale.len() == x.len() && x.len() > 1)?;
    let at = scale.iter().zip(x).position(|(a, b)| a != b).unwrap_or(0);
    Some((at, scale[at]))
}

/// Quantised matrices, then their zero points.
pub(super) fn matmul_integer(wanted: &Wanted<'_>, rng: &mut Rng) -> Option<Extents> {
    let operands = [wanted.of(0), wanted.of(1)].map(|x| x.map(<[usize]>::to_vec));
    match wanted.index {
        index @ 0..2 => Some(matrix(wanted, &operands, index, rng)),
        index => Some(each(along_matrix(&operands, index - 2), rng)),
    }
}

/// Quantised matrices, each followed by its scale and its zero point: one, or one for each row of
/// the left one, each column of the right one.
pub(super) fn qlinear_matmul(wanted: &Wanted<'_>, rng: &mut Rng) -> Option<Extents> {
    let operands = [wanted.of(0), wanted.of(3)].map(|x| x.map(<[usize]>::to_vec));
    match part(wanted) {
        Part::Values(index) => Some(matrix(wanted, &operands, index, rng)),
        Part::Zero(scale) => Some(scale),
        Part::Scale(number) => Some(each(along_matrix(&operands, number), rng)),
    }
}

/// As for matrices, with a scale for each filter.
pub(super) fn qlinear_conv(wanted: &Wanted<'_>, rng: &mut Rng) -> Option<Extents> {
    let operands = [wanted.of(0), wanted.of(3)].map(|x| x.map(<[usize]>::to_vec));
    match part(wanted) {
        Part::Values(index) => {
            let inner = Wanted { index, known: &operands, want: None, ..*wanted };
            Some(convolution(&inner, false, rng))
        }
        Part::Zero(scale) => Some(scale),
        Part::Scale(number) => {
            let filters = operands[1].as_ref().and_then(|w| w.first().copied());
            Some(each(filters.filter(|_| number == 1), rng))
        }
    }
}

/// Data and filters, then zero points of one number.
pub(super) fn conv_integer(wanted: &Wanted<'_>, rng: &mut Rng) -> Option<Extents> {
    Some(if wanted.index > 1 { Extents::new() } else { convolution(wanted, false, rng) })
}

/// What an operand is, where each of two is followed by its scale and its zero point, and those of
/// the result stand last.
enum Part {
    Values(usize),
    Scale(usize),
    /// A zero point has the extents of its scale.
    Zero(Extents),
}

fn part(wanted: &Wanted<'_>) -> Part {
    let index = wanted.index;
    let (number, part) = (index / 3, if index < 6 { index % 3 } else { index % 3 + 1 });
    match (part, index.checked_sub(1).and_then(|before| wanted.of(before))) {
        (0, _) => Part::Values(number),
        (2, Some(scale)) => Part::Zero(scale.to_vec()),
        _ => Part::Scale(number),
    }
}

fn matrix(
    wanted: &Wanted<'_>,
    operands: &[Option<Extents>],
    index: usize,
    rng: &mut Rng,
) -> Extents {
    let inner = Wanted { index, known: operands, want: None, ..*wanted };
    product(&inner, Layout::Broadcast, rng)
}

/// The rows of the left matrix or of the result, the columns of the right one.
fn along_matrix(operands: &[Option<Extents>; 2], number: usize) -> Option<usize> {
    let (shape, from_end) = if number == 1 { (&operands[1], 1) } else { (&operands[0], 2) };
    let shape = shape.as_deref().unwrap_or_default();
    shape.len().checked_sub(from_end).and_then(|at| shape.get(at).copied())
}

/// Now and then as many numbers, most of the time one.
fn each(along: Option<usize>, rng: &mut Rng) -> Extents {
    along.filter(|_| rng.u8(0..3) == 0).map(|n| vec![n]).unwrap_or_default()
}
