//! Operations that change how elements are arranged, not which there are, and those that read
//! extents.

use fastrand::Rng;
use smallvec::smallvec;
use tangram_affine::symbolic::Expr;
use tangram_ir::{AttrDef, AttrKind, Dim, InferCx, OpDef, Traits};

use tangram_tensor::{element_count, shape as kernels};

use super::fill::listed;
use super::{
    Form, NnOp, Numbers, either, maybe, needed, operand, optional, result,
    sample::{Call, Tried, axis_among, ints},
};
use crate::eval::{EvalCx, EvalError, Evaluated, single};
use crate::infer::{Contents, Dims, InferExt, Result, Shaped, axes, axis, one, one_with};
use crate::structured::{self, Stage, Structured, StructuredCx};
use crate::{dims, infer_error};

/// The operations of this family.
pub(super) static OPS: &[NnOp] = &[
    NnOp::new(OpDef {
        operands: &[
            operand("data", "any shape"),
            optional("shape", "the new extents, when they are no attribute"),
        ],
        results: &[result("reshaped", "the new extents")],
        attrs: &[
            maybe(
                "newshape",
                AttrKind::Ints,
                "the new extents: 0 keeps the extent of `data` at that place (unless \
                     `allowzero`), one -1 takes what is left",
            ),
            maybe("allowzero", AttrKind::Bool, "0 means the extent 0; false if absent"),
        ],
        traits: Traits::PURE,
        infer: Some(infer_reshape),
        ..OpDef::new("nn.reshape", "the elements of `data` in row-major order, in a new shape")
    })
    .eval(eval_reshape)
    .structured(structured::reshape)
    .moves()
    .either(&[either(1, "newshape", Form::Shape)])
    .tried(tried_shape),
    NnOp::new(OpDef {
        operands: &[operand("data", "any shape")],
        results: &[result("flat", "rank 2: the first extent, and the product of the others")],
        traits: Traits::PURE,
        infer: Some(infer_flatten),
        ..OpDef::new("nn.batch_flatten", "`data` with all extents but the first merged")
    })
    .eval(eval_flatten)
    .structured(structured::reshape)
    .moves(),
    NnOp::new(OpDef {
        operands: &[operand("data", "any shape")],
        results: &[result("flat", "rank 2")],
        attrs: &[needed(
            "axis",
            AttrKind::Int,
            "extents before it are merged into the first, the others into the second",
        )],
        traits: Traits::PURE,
        infer: Some(infer_flatten),
        ..OpDef::new("nn.flatten", "`data` as a matrix")
    })
    .eval(eval_flatten)
    .structured(structured::reshape)
    .moves(),
    NnOp::new(OpDef {
        operands: &[operand("data", "any shape")],
        results: &[result("transposed", "extent `i` is extent `axes[i]` of `data`")],
        attrs: &[maybe("axes", AttrKind::Ints, "a permutation; reversal if absent")],
        traits: Traits::PURE,
        infer: Some(infer_transpose),
        ..OpDef::new("nn.transpose", "`data` with its dimensions in another order")
    })
    .eval(eval_transpose)
    .structured(structured_transpose)
    .moves(),
    NnOp::new(OpDef {
        operands: &[
            operand("data", "any shape"),
            optional("axes", "dimensions to drop, when they are no attribute"),
        ],
        results: &[result("squeezed", "the extents that stay")],
        attrs: &[maybe(
            "axis",
            AttrKind::Ints,
            "dimensions of extent 1 to drop; every such dimension if absent",
        )],
        traits: Traits::PURE,
        infer: Some(infer_squeeze),
        ..OpDef::new("nn.squeeze", "`data` without some dimensions of extent 1")
    })
    .eval(eval_squeeze)
    .structured(structured::reshape)
    .moves()
    .either(&[either(1, "axis", Form::Ints)])
    .tried(tried_units),
    NnOp::new(OpDef {
        operands: &[
            operand("data", "any shape"),
            optional("axes", "places of the new dimensions, when they are no attribute"),
        ],
        results: &[result("expanded", "the extents of `data` and the new ones")],
        attrs: &[maybe(
            "axis",
            AttrKind::Ints,
            "places of the new dimensions, counted in the result",
        )],
        traits: Traits::PURE,
        infer: Some(infer_expand_dims),
        ..OpDef::new("nn.expand_dims", "`data` with new dimensions of extent 1")
    })
    .eval(eval_expand_dims)
    .structured(structured::reshape)
    .moves()
    .either(&[either(1, "axis", Form::Ints)])
    .tried(tried_places),
    NnOp::new(OpDef {
        operands: &[operand("data", "any shape")],
        results: &[result("shape", "the extents of `data`, `i64`")],
        attrs: &[
            maybe("start", AttrKind::Int, "first dimension; 0 if absent; may be negative"),
            maybe("end", AttrKind::Int, "end of the dimensions; the rank if absent"),
        ],
        traits: Traits::PURE,
        infer: Some(infer_shape_of),
        ..OpDef::new("nn.shape_of", "the extents of `data`")
    })
    .eval(eval_shape_of)
    .structured(structured_shape_of)
    .numbers(Numbers::CHOSEN.union(Numbers::OF_EXTENTS)),
    NnOp::new(OpDef {
        operands: &[operand("data", "any shape")],
        results: &[result("size", "a scalar, `i64`")],
        traits: Traits::PURE,
        infer: Some(infer_size),
        ..OpDef::new("nn.ndarray_size", "the number of elements of `data`")
    })
    .eval(|cx| Ok(vec![kernels::size_of(cx.need(0)?)]))
    .structured(structured_size)
    .numbers(Numbers::CHOSEN.union(Numbers::OF_EXTENTS)),
];

/// The new extents as written: numbers from the attribute, or the contents of the operand.
/// `Err` holds their number, if at least that is known.
fn requested(cx: &InferCx<'_>) -> std::result::Result<Contents, Option<usize>> {
    if let Some(list) = cx.attrs().ints("newshape") {
        return Ok(list.into_iter().map(|n| Some(Expr::int(n))).collect());
    }
    cx.contents(1).ok_or_else(|| {
        let shape = cx.tensor(1).ok()?.dims?;
        usize::try_from(shape.first()?.as_static()?).ok()
    })
}

fn infer_reshape(cx: &InferCx<'_>) -> Result {
    let data = cx.tensor(0)?;
    let wanted = match requested(cx) {
        Ok(wanted) => wanted,
        Err(Some(rank)) => {
            return one(cx, &Shaped::ranked(vec![Dim::UNKNOWN; rank], data.element));
        }
        Err(None) => return one(cx, &Shaped::unranked(data.element)),
    };
    let out = reshape_dims(cx, &data, &wanted)?;
    check_count(cx, &data, &out)?;
    let shaped = Shaped { dims: Some(out), element: data.element };
    // A reshape between ranks 0 and 1 and back keeps the list of elements.
    let contents = if shaped.rank().is_some_and(|rank| rank <= 1) { cx.contents(0) } else { None };
    one_with(cx, &shaped, contents)
}

/// The extents that `wanted` asks for, with 0 and -1 resolved where possible.
fn reshape_dims(cx: &InferCx<'_>, data: &Shaped, wanted: &Contents) -> Result<Dims> {
    let context = cx.context();
    let keeps_zero = cx.attrs().flag("allowzero");
    let mut out: Dims = smallvec![];
    let mut open = None;
    for (i, entry) in wanted.iter().enumerate() {
        let dim = match entry.as_ref().map(|e| (e, e.as_int())) {
            None => Dim::UNKNOWN,
            Some((_, Some(0))) if !keeps_zero => copied(data, i)?,
            Some((_, Some(-1))) => {
                if open.replace(i).is_some() {
                    return Err(infer_error!("the new shape has more than one -1"));
                }
                Dim::UNKNOWN
            }
            Some((_, Some(n))) if n < -1 => {
                return Err(infer_error!("the new shape has the extent {n}"));
            }
            Some((expr, _)) => dims::dim(context, expr),
        };
        out.push(dim);
    }
    if let (Some(open), Some(total)) = (open, &data.dims) {
        out[open] = remaining(cx, total, &out, open);
    }
    Ok(out)
}

fn copied(data: &Shaped, i: usize) -> Result<Dim> {
    match &data.dims {
        None => Ok(Dim::UNKNOWN),
        Some(dims) => dims.get(i).copied().ok_or_else(|| {
            infer_error!("the new shape copies extent {i} of a tensor of rank {}", dims.len())
        }),
    }
}

/// What -1 stands for: the product of `total` over the other extents of `out`.
///
/// Extents that stand on both sides are cancelled first, so that one that is unknown but the
/// same needs not be known.
fn remaining(cx: &InferCx<'_>, total: &Dims, out: &Dims, open: usize) -> Dim {
    let context = cx.context();
    let known: Vec<Dim> =
        out.iter().enumerate().filter(|&(i, _)| i != open).map(|(_, &d)| d).collect();
    let exprs = |list: &[Dim]| list.iter().map(|&d| dims::expr(context, d)).collect();
    let (total, known): (Option<Vec<Expr>>, Option<Vec<Expr>>) = (exprs(total), exprs(&known));
    let (Some(total), Some(known)) = (total, known) else { return Dim::UNKNOWN };
    tangram_affine::symbolic::infer_minus_one(&total, &known)
        .map_or(Dim::UNKNOWN, |e| dims::dim(context, &e))
}

/// Refuses a reshape that cannot keep the number of elements.
fn check_count(cx: &InferCx<'_>, data: &Shaped, out: &Dims) -> Result<()> {
    let Some(from) = &data.dims else { return Ok(()) };
    let context = cx.context();
    let (a, b) = (dims::product(context, from), dims::product(context, out));
    let (Some(a), Some(b)) = (a.as_static(), b.as_static()) else {
        // Whatever the open extents are, their product is a whole number.
        let known = out.iter().filter_map(|dim| dim.as_static()).try_fold(1_i64, i64::checked_mul);
        if let (Some(a), Some(known)) = (a.as_static(), known)
            && a.checked_rem(known).is_some_and(|rest| rest != 0)
        {
            return Err(infer_error!("{a} elements do not fit a shape of multiples of {known}"));
        }
        // Symbols say too little to refuse: a factor may be 0.
        dims::differ(context, a, b);
        return Ok(());
    };
    if a == b { Ok(()) } else { Err(infer_error!("{a} elements do not fit a shape of {b}")) }
}

fn infer_flatten(cx: &InferCx<'_>) -> Result {
    let data = cx.tensor(0)?;
    let Some(dims) = &data.dims else {
        return one(cx, &Shaped::ranked([Dim::UNKNOWN; 2], data.element));
    };
    let at = cx.attrs().int("axis").unwrap_or(1);
    let rank = dims.len();
    // The end is a legal place to cut as well.
    let at = if at == rank as i64 { rank } else { axis(at, rank)? };
    let product = |part: &[Dim]| dims::product(cx.context(), part);
    one(cx, &Shaped::ranked([product(&dims[..at]), product(&dims[at..])], data.element))
}

fn infer_transpose(cx: &InferCx<'_>) -> Result {
    let data = cx.tensor(0)?;
    let listed = cx.attrs().ints("axes");
    let Some(dims) = &data.dims else {
        let out = match listed {
            Some(axes) => Shaped::ranked(vec![Dim::UNKNOWN; axes.len()], data.element),
            None => data,
        };
        return one(cx, &out);
    };
    let order: Vec<i64> = listed.unwrap_or_else(|| (0..dims.len() as i64).rev().collect());
    if axes(&order, dims.len())?.len() != dims.len() {
        return Err(infer_error!("{order:?} is no permutation of rank {}", dims.len()));
    }
    let out: Dims =
        order.iter().map(|&a| axis(a, dims.len()).map(|a| dims[a])).collect::<Result<_>>()?;
    let contents = if out.len() <= 1 { cx.contents(0) } else { None };
    one_with(cx, &Shaped { dims: Some(out), element: data.element }, contents)
}

/// The list of axes: the attribute `axis`, or a constant operand 1. `Err(())` if it is unknown.
fn listed_axes(cx: &InferCx<'_>) -> std::result::Result<Option<Vec<i64>>, ()> {
    if let Some(list) = cx.attrs().ints("axis") {
        return Ok(Some(list));
    }
    if !cx.has(1) {
        return Ok(None);
    }
    cx.constant_ints(1).map(Some).ok_or(())
}

fn infer_squeeze(cx: &InferCx<'_>) -> Result {
    let data = cx.tensor(0)?;
    let (Some(from), Ok(listed)) = (&data.dims, listed_axes(cx)) else {
        return one(cx, &Shaped::unranked(data.element));
    };
    let dropped: Vec<usize> = match listed {
        Some(list) => axes(&list, from.len())?,
        // Without a list an unknown extent may or may not be dropped.
        None if from.iter().all(|d| d.as_static().is_some()) => {
            (0..from.len()).filter(|&i| from[i] == Dim::fixed(1)).collect()
        }
        None => return one(cx, &Shaped::unranked(data.element)),
    };
    for &i in &dropped {
        if dims::differ(cx.context(), from[i], Dim::fixed(1)) {
            return Err(infer_error!("dimension {i} is dropped although its extent is not 1"));
        }
    }
    let kept = (0..from.len()).filter(|i| !dropped.contains(i)).map(|i| from[i]);
    one_with(cx, &Shaped::ranked(kept, data.element), cx.contents(0))
}

fn infer_expand_dims(cx: &InferCx<'_>) -> Result {
    let data = cx.tensor(0)?;
    let (Some(from), Ok(Some(list))) = (&data.dims, listed_axes(cx)) else {
        return one(cx, &Shaped::unranked(data.element));
    };
    let rank = from.len() + list.len();
    let new = axes(&list, rank)?;
    let mut old = from.iter().copied();
    let out = (0..rank)
        .map(|i| if new.contains(&i) { Dim::fixed(1) } else { old.next().unwrap_or(Dim::UNKNOWN) });
    one_with(cx, &Shaped::ranked(out, data.element), cx.contents(0))
}

fn infer_shape_of(cx: &InferCx<'_>) -> Result {
    let context = cx.context();
    let element = context.int_type(64);
    let Some(from) = cx.tensor(0)?.dims else {
        return one(cx, &Shaped::ranked([Dim::UNKNOWN], element));
    };
    let rank = from.len() as i64;
    let place = |n: i64| (if n < 0 { n + rank } else { n }).clamp(0, rank) as usize;
    let start = place(cx.attrs().int("start").unwrap_or(0));
    let end = place(cx.attrs().int("end").unwrap_or(rank)).max(start);
    let contents = from[start..end].iter().map(|&d| dims::expr(context, d)).collect();
    let shaped = Shaped::ranked([Dim::fixed((end - start) as i64)], element);
    one_with(cx, &shaped, Some(contents))
}

fn infer_size(cx: &InferCx<'_>) -> Result {
    let context = cx.context();
    let shaped = Shaped::ranked([], context.int_type(64));
    let size = cx.tensor(0)?.dims.map(|d| dims::product(context, &d));
    one_with(cx, &shaped, size.map(|size| vec![dims::expr(context, size)]))
}

fn eval_reshape(cx: &EvalCx<'_>) -> Evaluated {
    let shape = cx.ints("newshape", 1)?.ok_or(EvalError::Attribute("newshape"))?;
    single(kernels::reshape(cx.need(0)?, &shape, cx.attrs().flag("allowzero")))
}

fn eval_flatten(cx: &EvalCx<'_>) -> Evaluated {
    single(kernels::flatten(cx.need(0)?, cx.attrs().int("axis").unwrap_or(1)))
}

fn eval_transpose(cx: &EvalCx<'_>) -> Evaluated {
    single(kernels::transpose(cx.need(0)?, cx.attrs().ints("axes").as_deref()))
}

fn eval_squeeze(cx: &EvalCx<'_>) -> Evaluated {
    single(kernels::squeeze(cx.need(0)?, cx.ints("axis", 1)?.as_deref()))
}

fn eval_expand_dims(cx: &EvalCx<'_>) -> Evaluated {
    let axes = cx.ints("axis", 1)?.ok_or(EvalError::Attribute("axis"))?;
    single(kernels::expand_dims(cx.need(0)?, &axes))
}

fn eval_shape_of(cx: &EvalCx<'_>) -> Evaluated {
    let start = cx.attrs().int("start").unwrap_or(0);
    Ok(vec![kernels::shape_of(cx.need(0)?, start, cx.attrs().int("end"))])
}

fn structured_transpose(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (x, out) = (cx.operand(0)?, cx.result(0)?);
    let order = match cx.attrs().ints("axes") {
        Some(list) => {
            list.iter().map(|&a| structured::axis(a, x.rank())).collect::<Option<Vec<_>>>()?
        }
        None => (0..x.rank()).rev().collect(),
    };
    let mut stage = Stage::over(&out.extents);
    let place = |axis| order.iter().position(|&from| from == axis);
    let loops = (0..x.rank()).map(place).collect::<Option<Vec<_>>>()?;
    let at = stage.all(loops);
    let value = stage.load_exact(&x, &at);
    Some(Structured::one(stage.store_parallel(&out, value)))
}

fn structured_shape_of(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (x, out) = (cx.operand(0)?, cx.result(0)?);
    let rank = x.rank() as i64;
    let place = |n: i64| (if n < 0 { n + rank } else { n }).clamp(0, rank) as usize;
    let start = place(cx.attrs().int("start").unwrap_or(0));
    let end = place(cx.attrs().int("end").unwrap_or(rank)).max(start);
    Some(listed(&x.extents[start..end], &out))
}

fn structured_size(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (x, out) = (cx.operand(0)?, cx.result(0)?);
    Some(listed(&[structured::product(&x.extents)?], &out))
}

/// Tensors of more elements are reshaped by no list that is tried.
const MOST_TRIED: usize = 1 << 16;

/// As many elements, now and then with an extent to be computed or copied.
fn tried_shape(call: &Call<'_>, attr: &AttrDef, rng: &mut Rng) -> Tried {
    if attr.name != "newshape" {
        return Tried::Usual;
    }
    let x = call.x();
    // Every divisor of it is looked for.
    let Some(count) = element_count(x).filter(|&count| count <= MOST_TRIED) else {
        return Tried::Usual;
    };
    if let Some(want) = call.want.filter(|want| element_count(want) == Some(count)) {
        return ints(want.iter().map(|&n| n as i64));
    }
    let mut left = count as i64;
    let mut out = Vec::new();
    for _ in 0..rng.usize(0..=3) {
        let divisors: Vec<i64> = (1..=left).filter(|d| left % d == 0).collect();
        let part = rng.choice(&divisors).copied().unwrap_or(1);
        out.push(part);
        left /= part;
    }
    if left > 1 || out.is_empty() && !x.is_empty() {
        out.push(left);
    }
    match rng.u8(0..6) {
        0 if !out.is_empty() => {
            let at = rng.usize(0..out.len());
            out[at] = -1;
        }
        1 => {
            let same: Vec<usize> =
                (0..out.len().min(x.len())).filter(|&at| x[at] as i64 == out[at]).collect();
            if let Some(&at) = rng.choice(&same) {
                out[at] = 0;
            }
        }
        _ => {}
    }
    ints(out)
}

/// Dimensions of extent 1.
fn tried_units(call: &Call<'_>, attr: &AttrDef, rng: &mut Rng) -> Tried {
    if attr.name != "axis" {
        return Tried::Usual;
    }
    let x = call.x();
    let units = (0..x.len()).filter(|&i| x[i] == 1).map(|i| i as i64);
    axis_among(units.collect(), x.len() as i64, rng)
}

/// Dimensions of the result.
fn tried_places(call: &Call<'_>, attr: &AttrDef, rng: &mut Rng) -> Tried {
    if attr.name != "axis" {
        return Tried::Usual;
    }
    let rank = call.x().len() as i64 + 1;
    axis_among((0..rank).collect(), rank, rng)
}
