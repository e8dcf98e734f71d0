//! Constants as numbers: scalars, splats and dense elements.
//!
//! A [`Number`] is of any width up to 64 bits, its type beside it; those of structured definitions
//! (`structured/body`) carry an element type of tensors.

use smallvec::SmallVec;
use tangram_ir::{Attr, AttrData, Context, FloatKind, Type, TypeData};

/// Dense constants with more elements than this are not computed with.
pub(crate) const MAX_ELEMENTS: usize = 1 << 16;
/// Integers wider than this are not computed with.
const MAX_WIDTH: u32 = 64;

/// An element of a constant.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Number {
    /// An integer, sign-extended.
    Int(i128),
    /// A float of any format.
    Float(f64),
}

/// How an element is held.
#[derive(Clone, Copy)]
enum Element {
    Int(u32),
    Float(FloatKind),
}

/// The type of the elements of `ty`, which is `ty` for a scalar.
pub(crate) fn element_type(context: &Context, ty: Type) -> Type {
    match context.type_data(ty) {
        TypeData::Tensor(tensor) => tensor.element,
        TypeData::UnrankedTensor(element) | TypeData::Vector { element, .. } => *element,
        _ => ty,
    }
}

/// How many bits the integers of `ty` have; 64 for `index`; `None` where they are too wide.
pub(crate) fn int_width(context: &Context, ty: Type) -> Option<u32> {
    match context.type_data(element_type(context, ty)) {
        TypeData::Index => Some(64),
        TypeData::Integer { width, .. } if (1..=MAX_WIDTH).contains(width) => Some(*width),
        _ => None,
    }
}

/// The format of the floats of `ty`, where `f64` holds its numbers and their sums exactly enough
/// to round once more.
pub(crate) fn float_kind(context: &Context, ty: Type) -> Option<FloatKind> {
    match context.type_data(element_type(context, ty)) {
        TypeData::Float(FloatKind::F80 | FloatKind::F128) => None,
        TypeData::Float(kind) => Some(*kind),
        _ => None,
    }
}

/// The low `width` bits of `value`, sign-extended.
pub(crate) fn wrap(value: i128, width: u32) -> i128 {
    let shift = 128 - width;
    value << shift >> shift
}

/// The low `width` bits of `value`, zero-extended.
pub(crate) fn unsigned(value: i128, width: u32) -> i128 {
    value & ((1i128 << width) - 1)
}

/// The integer that `attr` is, or that all its elements are; sign-extended.
pub(crate) fn as_int(context: &Context, attr: Attr) -> Option<i128> {
    match context.attr_data(attr) {
        AttrData::Bool(b) => Some(-i128::from(*b)),
        AttrData::Integer { value, ty } => Some(wrap(*value, int_width(context, *ty)?)),
        AttrData::Dense { .. } => match splat(context, attr)? {
            Number::Int(value) => Some(value),
            Number::Float(_) => None,
        },
        _ => None,
    }
}

/// The float that `attr` is, or that all its elements are.
pub(crate) fn as_float(context: &Context, attr: Attr) -> Option<f64> {
    match context.attr_data(attr) {
        AttrData::Float { bits, .. } => Some(f64::from_bits(*bits)),
        AttrData::Dense { .. } => match splat(context, attr)? {
            Number::Float(value) => Some(value),
            Number::Int(_) => None,
        },
        _ => None,
    }
}

/// The attribute of type `ty` in which every element is `value`, cut to the width of `ty`.
pub(crate) fn int_attr(context: &Context, ty: Type, value: i128) -> Option<Attr> {
    constant(context, ty, Number::Int(value))
}

/// The attribute of type `ty` in which every element is `value`.
pub(crate) fn constant(context: &Context, ty: Type, value: Number) -> Option<Attr> {
    let element = element_type(context, ty);
    let form = form(context, element)?;
    if element == ty {
        return scalar(context, ty, form, value);
    }
    // How many elements there are need not be known.
    if !matches!(context.type_data(ty), TypeData::Vector { .. }) {
        static_count(context, ty)?;
    }
    let mut bytes = Vec::new();
    encode(context, element, form, value, &mut bytes)?;
    Some(context.attr(AttrData::Dense { ty, bytes: bytes.into(), splat: true }))
}

/// `f` of the elements of `args`, element by element, as a constant of type `ty`.
///
/// `None` where `f` is, where the types do not hold numbers, or for too many elements.
pub(crate) fn map(
    context: &Context,
    ty: Type,
    args: &[Attr],
    f: impl Fn(&[Number]) -> Option<Number>,
) -> Option<Attr> {
    mapped(context, ty, args, &f)
}

/// [`map`], compiled once for all functions.
fn mapped(
    context: &Context,
    ty: Type,
    args: &[Attr],
    f: &dyn Fn(&[Number]) -> Option<Number>,
) -> Option<Attr> {
    let ones: Option<SmallVec<[Number; 3]>> = args.iter().map(|&a| splat(context, a)).collect();
    if let Some(ones) = ones {
        return constant(context, ty, f(&ones)?);
    }
    let element = element_type(context, ty);
    let form = form(context, element)?;
    let count = static_count(context, ty).filter(|&count| count <= MAX_ELEMENTS)?;
    let columns: Option<SmallVec<[Vec<Number>; 3]>> =
        args.iter().map(|&attr| elements(context, attr, count)).collect();
    let columns = columns?;
    let mut bytes = Vec::new();
    for i in 0..count {
        let row: SmallVec<[Number; 3]> = columns.iter().map(|column| column[i]).collect();
        encode(context, element, form, f(&row)?, &mut bytes)?;
    }
    Some(dense(context, ty, bytes, count))
}

/// The constant of type `ty` with these elements, each a constant.
pub(crate) fn listed(context: &Context, ty: Type, attrs: &[Attr]) -> Option<Attr> {
    let numbers: Option<Vec<Number>> = attrs.iter().map(|&attr| splat(context, attr)).collect();
    of_numbers(context, ty, &numbers?)
}

/// The constant of type `ty`, a scalar or of so many elements, that holds `numbers`.
pub(crate) fn of_numbers(context: &Context, ty: Type, numbers: &[Number]) -> Option<Attr> {
    let element = element_type(context, ty);
    let form = form(context, element)?;
    if let (true, &[one]) = (element == ty, numbers) {
        return scalar(context, ty, form, one);
    }
    static_count(context, ty).filter(|&count| count == numbers.len() && count <= MAX_ELEMENTS)?;
    let mut bytes = Vec::new();
    for &number in numbers {
        encode(context, element, form, number, &mut bytes)?;
    }
    Some(dense(context, ty, bytes, numbers.len()))
}

/// The constant of `count` elements in `bytes`.
fn dense(context: &Context, ty: Type, mut bytes: Vec<u8>, count: usize) -> Attr {
    let size = bytes.len() / count.max(1);
    let splat = count > 0 && bytes.chunks(size).all(|chunk| *chunk == bytes[..size]);
    bytes.truncate(if splat { size } else { bytes.len() });
    context.attr(AttrData::Dense { ty, bytes: bytes.into(), splat })
}

fn form(context: &Context, element: Type) -> Option<Element> {
    int_width(context, element)
        .map(Element::Int)
        .or_else(|| float_kind(context, element).map(Element::Float))
}

fn scalar(context: &Context, ty: Type, form: Element, value: Number) -> Option<Attr> {
    Some(match (form, value) {
        (Element::Int(1), Number::Int(value)) if context.is_boolean(ty) => {
            context.bool_attr(value & 1 != 0)
        }
        (Element::Int(width), Number::Int(value)) => {
            context.attr(AttrData::Integer { value: wrap(value, width), ty })
        }
        (Element::Float(kind), Number::Float(value)) => {
            let bits = kind.decode(kind.encode(value)).to_bits();
            context.attr(AttrData::Float { bits, ty })
        }
        _ => return None,
    })
}

/// How many elements the shaped type `ty` has.
fn static_count(context: &Context, ty: Type) -> Option<usize> {
    let product = |a: usize, b: Option<i64>| a.checked_mul(usize::try_from(b?).ok()?);
    match context.type_data(ty) {
        TypeData::Tensor(t) => t.dims.iter().try_fold(1, |a, d| product(a, d.as_static())),
        TypeData::Vector { dims, scalable, .. } if !scalable.contains(&true) => {
            dims.iter().try_fold(1, |a, &d| product(a, Some(d)))
        }
        _ => None,
    }
}

fn encode(
    context: &Context,
    element: Type,
    form: Element,
    value: Number,
    out: &mut Vec<u8>,
) -> Option<()> {
    let size = context.element_bytes(element)?;
    let bits = match (form, value) {
        (Element::Int(1), Number::Int(value)) => (value & 1) as u128,
        (Element::Int(width), Number::Int(value)) => wrap(value, width) as u128,
        (Element::Float(kind), Number::Float(value)) => kind.encode(value),
        _ => return None,
    };
    out.extend_from_slice(&bits.to_le_bytes()[..size]);
    Some(())
}

fn decode(form: Element, bytes: &[u8]) -> Number {
    let mut all = [0u8; 16];
    all[..bytes.len()].copy_from_slice(bytes);
    let bits = u128::from_le_bytes(all);
    match form {
        Element::Int(width) => Number::Int(wrap(bits as i128, width)),
        Element::Float(kind) => Number::Float(kind.decode(bits)),
    }
}

/// The number that `attr` is or repeats.
pub(crate) fn splat(context: &Context, attr: Attr) -> Option<Number> {
    match context.attr_data(attr) {
        AttrData::Float { bits, ty } => {
            float_kind(context, *ty).map(|_| Number::Float(f64::from_bits(*bits)))
        }
        AttrData::Dense { ty, bytes, splat: true } => {
            Some(decode(form(context, element_type(context, *ty))?, bytes))
        }
        AttrData::Dense { .. } => None,
        _ => as_int(context, attr).map(Number::Int),
    }
}

/// The `count` elements of `attr`.
pub(crate) fn elements(context: &Context, attr: Attr, count: usize) -> Option<Vec<Number>> {
    if let Some(one) = splat(context, attr) {
        return Some(vec![one; count]);
    }
    let AttrData::Dense { ty, bytes, .. } = context.attr_data(attr) else { return None };
    let element = element_type(context, *ty);
    let form = form(context, element)?;
    let size = context.element_bytes(element)?;
    (bytes.len() == size.checked_mul(count)?)
        .then(|| bytes.chunks(size).map(|chunk| decode(form, chunk)).collect())
}

/// The first `count` elements of `attr`, which are integers.
pub fn integers(context: &Context, attr: Attr, count: usize) -> Option<Vec<i128>> {
    let all = elements(context, attr, count)?.into_iter();
    all.map(|n| if let Number::Int(value) = n { Some(value) } else { None }).collect()
}

/// Element `at`, in row-major order, of the constant tensor `attr`, as a constant of type `ty`.
pub(crate) fn element(context: &Context, attr: Attr, at: usize, ty: Type) -> Option<Attr> {
    if let Some(one) = splat(context, attr) {
        return constant(context, ty, one);
    }
    let AttrData::Dense { ty: whole, bytes, .. } = context.attr_data(attr) else { return None };
    let element = element_type(context, *whole);
    let size = context.element_bytes(element)?;
    let bytes = bytes.get(at.checked_mul(size)?..)?.get(..size)?;
    constant(context, ty, decode(form(context, element)?, bytes))
}
