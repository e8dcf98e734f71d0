//! Sequences, optional values and maps.
//!
//! `!nn.sequence<T>` and `!nn.optional<T>` have the type of what they hold as their parameter,
//! `!nn.map<K, V>` has those of its keys and values. Operations on maps are in `learned`.

use fastrand::Rng;
use smallvec::{SmallVec, smallvec};
use tangram_ir::{
    AttrData, AttrDef, AttrKind, Context, Dim, FloatKind, InferCx, InferError, Inferred,
    OperandDef, ResultDef, Type, TypeData,
};

use super::{
    NnOp, Numbers, maybe, needed, op, operand, optional, result,
    sample::{Extents, Role, Wanted},
    variadic,
};
use crate::infer::{Dims, InferExt, Result, Shaped, axis, one};
use crate::{dims, infer_error};

const SEQUENCE: OperandDef = operand("sequence", "a sequence of tensors");
const POSITION: OperandDef = operand("position", "a scalar; negative from the end");
const OUT: &[ResultDef] = &[result("output", "a sequence")];
const BOOL: &[ResultDef] = &[result("output", "a scalar, `i1`")];
const AXIS: AttrDef = maybe("axis", AttrKind::Int, "0 if absent");

/// The operations of this family.
pub(super) static OPS: &[NnOp] = &[
    op(
        "nn.sequence_construct",
        "a sequence of the inputs",
        &[variadic("inputs", "tensors of one element type")],
        OUT,
        &[],
        infer_construct,
    )
    .numbers(Numbers::CHOSEN),
    op(
        "nn.sequence_empty",
        "a sequence of no tensors",
        &[],
        OUT,
        &[maybe("dtype", AttrKind::DType, "the element type of its tensors; `f32` if absent")],
        infer_empty,
    ),
    op(
        "nn.sequence_at",
        "the tensor at a position",
        &[SEQUENCE, POSITION],
        &[result("output", "a tensor")],
        &[],
        infer_held,
    )
    .numbers(Numbers::CHOSEN)
    .roles(&[Role::Data, Role::Places]),
    op(
        "nn.sequence_insert",
        "the sequence with one tensor more",
        &[
            SEQUENCE,
            operand("tensor", "the tensor to insert"),
            optional("position", "a scalar; the end if absent"),
        ],
        OUT,
        &[],
        infer_insert,
    ),
    op(
        "nn.sequence_erase",
        "the sequence without the tensor at a position",
        &[SEQUENCE, optional("position", "a scalar; the last if absent")],
        OUT,
        &[],
        infer_same,
    ),
    op(
        "nn.sequence_length",
        "the number of tensors",
        &[SEQUENCE],
        &[result("output", "a scalar, `i64`")],
        &[],
        infer_length,
    ),
    op(
        "nn.split_to_sequence",
        "a tensor cut along a dimension into a sequence",
        &[
            operand("x", "any shape"),
            optional("split", "the extent of all parts, or of each; 1 if absent"),
        ],
        OUT,
        &[
            AXIS,
            maybe(
                "keepdims",
                AttrKind::Bool,
                "parts of extent 1 keep the dimension; true if absent",
            ),
        ],
        infer_split,
    )
    .numbers(Numbers::CHOSEN)
    .roles(&[Role::Data, Role::Places])
    .extents(tried_sizes),
    op(
        "nn.concat_from_sequence",
        "the tensors of a sequence joined along a dimension",
        &[SEQUENCE],
        &[result("output", "a tensor")],
        &[
            needed("axis", AttrKind::Int, "the dimension along which to join"),
            maybe("new_axis", AttrKind::Bool, "stack along a new dimension; false if absent"),
        ],
        infer_concat,
    ),
    op(
        "nn.optional",
        "an optional value that holds `x`, or nothing",
        &[optional("x", "a tensor or a sequence; nothing if absent")],
        &[result("output", "an optional value")],
        &[maybe("type", AttrKind::Type, "of what it might hold, where `x` is absent")],
        infer_optional,
    ),
    op(
        "nn.optional_has_element",
        "whether an optional value holds something",
        &[optional("x", "an optional value, a tensor or a sequence")],
        BOOL,
        &[],
        infer_has_element,
    ),
    op(
        "nn.optional_get_element",
        "what an optional value holds",
        &[operand("x", "an optional value, a tensor or a sequence")],
        &[result("output", "a tensor or a sequence")],
        &[],
        infer_get_element,
    ),
];

/// The type of a sequence of `element`.
pub fn sequence_type(context: &Context, element: Type) -> Type {
    wrap(context, "nn.sequence", element)
}

/// The type of an optional `element`.
pub fn optional_type(context: &Context, element: Type) -> Type {
    wrap(context, "nn.optional", element)
}

/// The type of a map from `key`, the type of an element, to `value`.
pub fn map_type(context: &Context, key: Type, value: Type) -> Type {
    let params = Box::new([context.type_attr(key), context.type_attr(value)]);
    context.ty(TypeData::Dialect { name: context.str("nn.map"), params })
}

/// Key and value of the map type `ty`.
pub fn map_types(context: &Context, ty: Type) -> Option<(Type, Type)> {
    let TypeData::Dialect { name, params } = context.type_data(ty) else { return None };
    let of = |attr: tangram_ir::Attr| match context.attr_data(attr) {
        AttrData::Type(ty) => Some(*ty),
        _ => None,
    };
    match (context.text(*name), &params[..]) {
        ("nn.map", &[key, value]) => Some((of(key)?, of(value)?)),
        _ => None,
    }
}

pub(super) fn wrap(context: &Context, name: &str, held: Type) -> Type {
    let params = Box::new([context.type_attr(held)]);
    context.ty(TypeData::Dialect { name: context.str(name), params })
}

/// What the sequence or optional type `ty` (by name) holds.
pub fn held_type(context: &Context, ty: Type, wrapper: &str) -> Option<Type> {
    let TypeData::Dialect { name, params } = context.type_data(ty) else { return None };
    match (context.text(*name) == wrapper, &params[..]) {
        (true, [held]) => match context.attr_data(*held) {
            AttrData::Type(ty) => Some(*ty),
            _ => None,
        },
        _ => None,
    }
}

/// Whether values of the type are sequences or optional values.
pub(super) fn is_container(context: &Context, ty: Type) -> bool {
    ["nn.sequence", "nn.optional"].iter().any(|name| held_type(context, ty, name).is_some())
        || map_types(context, ty).is_some()
}

/// One result of that type.
pub(super) fn plain(ty: Type) -> Inferred {
    Inferred { types: smallvec![ty], contents: SmallVec::new() }
}

fn held(cx: &InferCx<'_>) -> Result<Type> {
    let ty = cx.operand_type(0);
    let no_sequence = || infer_error!("operand 0 of `{}` is no sequence", cx.def.name);
    ty.and_then(|ty| held_type(cx.context(), ty, "nn.sequence")).ok_or_else(no_sequence)
}

fn shaped(cx: &InferCx<'_>, ty: Type) -> Result<Shaped> {
    match cx.context().type_data(ty) {
        TypeData::Tensor(t) => Ok(Shaped::ranked(t.dims.iter().copied(), t.element)),
        TypeData::UnrankedTensor(element) => Ok(Shaped::unranked(*element)),
        _ => Err(infer_error!("`{}` needs a sequence of tensors", cx.def.name)),
    }
}

/// What is true of both.
fn common(a: &Shaped, b: &Shaped) -> Result<Shaped> {
    if a.element != b.element {
        return Err(infer_error!("a sequence holds tensors of different element types"));
    }
    let dims = match (&a.dims, &b.dims) {
        (Some(a), Some(b)) if a.len() == b.len() => {
            let same = |(&a, &b): (&Dim, &Dim)| if a == b { a } else { Dim::UNKNOWN };
            Some(a.iter().zip(b).map(same).collect())
        }
        _ => None,
    };
    Ok(Shaped { dims, element: a.element })
}

fn infer_construct(cx: &InferCx<'_>) -> Result {
    let context = cx.context();
    let first = cx.tensor(0)?;
    let all = (1..cx.operands.len()).try_fold(first, |acc, i| common(&acc, &cx.tensor(i)?))?;
    Ok(plain(sequence_type(context, all.ty(context))))
}

fn infer_empty(cx: &InferCx<'_>) -> Result {
    let context = cx.context();
    let element = cx.attrs().ty("dtype").unwrap_or_else(|| context.float_type(FloatKind::F32));
    Ok(plain(sequence_type(context, Shaped::unranked(element).ty(context))))
}

fn infer_held(cx: &InferCx<'_>) -> Result {
    Ok(plain(held(cx)?))
}

fn infer_same(cx: &InferCx<'_>) -> Result {
    Ok(plain(sequence_type(cx.context(), held(cx)?)))
}

fn infer_insert(cx: &InferCx<'_>) -> Result {
    let context = cx.context();
    let all = common(&shaped(cx, held(cx)?)?, &cx.tensor(1)?)?;
    Ok(plain(sequence_type(context, all.ty(context))))
}

fn infer_length(cx: &InferCx<'_>) -> Result {
    held(cx)?;
    one(cx, &Shaped::ranked([], cx.context().int_type(64)))
}

fn infer_split(cx: &InferCx<'_>) -> Result {
    let context = cx.context();
    let mut x = cx.tensor(0)?;
    let scalar = cx.has(1) && cx.tensor(1)?.rank() == Some(0);
    if let Some(dims) = &mut x.dims {
        let along = axis(cx.attrs().int("axis").unwrap_or(0), dims.len())?;
        let keep = cx.attrs().bool("keepdims").unwrap_or(true);
        if cx.has(1) {
            dims[along] = part(cx, dims[along], scalar);
        } else if keep {
            dims[along] = Dim::fixed(1);
        } else {
            dims.remove(along);
        }
    }
    Ok(plain(sequence_type(context, x.ty(context))))
}

/// The extent that all parts have, if they have one.
fn part(cx: &InferCx<'_>, total: Dim, scalar: bool) -> Dim {
    let context = cx.context();
    let list: Option<Dims> = cx.contents(1).map(|list| dims::known(context, &list));
    let Some((&first, rest)) = list.as_ref().and_then(|list| list.split_first()) else {
        return Dim::UNKNOWN;
    };
    if !scalar {
        return if rest.iter().all(|&d| d == first) { first } else { Dim::UNKNOWN };
    }
    match (total.as_static(), first.as_static()) {
        (Some(total), Some(n)) if n > 0 && total % n == 0 => first,
        _ => Dim::UNKNOWN,
    }
}

fn infer_concat(cx: &InferCx<'_>) -> Result {
    let mut x = shaped(cx, held(cx)?)?;
    let along = cx.need_int("axis")?;
    let new = cx.attrs().flag("new_axis");
    if let Some(dims) = &mut x.dims {
        let along = axis(along, dims.len() + usize::from(new))?;
        if new {
            dims.insert(along, Dim::UNKNOWN);
        } else {
            dims[along] = Dim::UNKNOWN;
        }
    }
    one(cx, &x)
}

fn infer_optional(cx: &InferCx<'_>) -> Result {
    let missing = || infer_error!("`nn.optional` needs an operand or the attribute `type`");
    let held = if cx.has(0) { cx.operand_type(0) } else { cx.attrs().ty("type") };
    Ok(plain(optional_type(cx.context(), held.ok_or_else(missing)?)))
}

fn infer_has_element(cx: &InferCx<'_>) -> Result {
    one(cx, &Shaped::ranked([], cx.context().int_type(1)))
}

fn infer_get_element(cx: &InferCx<'_>) -> Result {
    let absent = || InferError::mismatch("`nn.optional_get_element` has no operand");
    let ty = cx.operand_type(0).ok_or_else(absent)?;
    Ok(plain(held_type(cx.context(), ty, "nn.optional").unwrap_or(ty)))
}

/// Sizes of 1, as many as the extent has.
fn tried_sizes(wanted: &Wanted<'_>, _: &mut Rng) -> Option<Extents> {
    (wanted.index == 1).then(|| vec![wanted.along(0).unwrap_or(2)])
}
