//! Operations that pick, place, search and sort elements by index.

mod running;
mod selection;
mod structured;

use fastrand::Rng;
use smallvec::smallvec;
use tangram_affine::symbolic::Expr;
use tangram_ir::{Arity, AttrDef, AttrKind, Dim, InferCx, ResultDef};

use tangram_tensor::index::{self as kernels, Reduction};
use tangram_tensor::{Tensor, shape};

use super::{
    Form, NnOp, Numbers, either, maybe, op, operand, optional, result,
    sample::{self, Extents, Role, Wanted},
};
use crate::eval::{EvalCx, EvalError, Evaluated, single, sizes};
use crate::infer::{Contents, Dims, InferExt, Result, Shaped, axis, one, one_with, several};
use crate::structured::{Binary, Number};
use crate::{dims, infer_error};

pub(super) use structured::{constant_number, only_element};

const REDUCTION: AttrDef = maybe(
    "reduction",
    AttrKind::Enum(&["none", "add", "mul", "max", "min"]),
    "how updates combine with what is there; `none` (the last one stays) if absent",
);
const LIKE_DATA: &[ResultDef] = &[result("output", "the shape of `data`")];

/// The operations of this family.
pub(super) static OPS: &[NnOp] = &[
    op(
        "nn.take",
        "the slices of `data` along `axis` that `indices` name",
        &[operand("data", "any shape"), operand("indices", "integers; negative from the end")],
        &[result("output", "the extents of `indices` in place of extent `axis` of `data`")],
        &[maybe("axis", AttrKind::Int, "0 if absent")],
        infer_take,
    )
    .structured(structured::take)
    .eval(|cx| along(cx, kernels::take))
    .moves()
    .roles(&[Role::Data, Role::Places])
    .extents(any_places),
    op(
        "nn.gather_elements",
        "for each index, the element of `data` at that place along `axis`",
        &[operand("data", "any shape"), operand("indices", "the rank of `data`")],
        &[result("output", "the shape of `indices`")],
        &[maybe("axis", AttrKind::Int, "0 if absent")],
        infer_gather_elements,
    )
    .structured(structured::gather_elements)
    .eval(|cx| along(cx, kernels::gather_elements))
    .moves()
    .roles(&[Role::Data, Role::Places])
    .extents(some_places),
    op(
        "nn.gather_nd",
        "the slices of `data` at the index vectors in the last dimension of `indices`",
        &[operand("data", "any shape"), operand("indices", "at least rank 1")],
        &[result("output", "the outer extents of `indices`, then what is left of `data`")],
        &[maybe("batch_dims", AttrKind::Int, "leading dimensions in common; 0 if absent")],
        infer_gather_nd,
    )
    .structured(structured::gather_nd)
    .eval(eval_gather_nd)
    .moves()
    .roles(&[Role::Data, Role::Places]),
    op(
        "nn.scatter_elements",
        "`data` with single elements replaced along `axis`",
        &[
            operand("data", "any shape"),
            operand("indices", "the rank of `data`"),
            operand("updates", "the shape of `indices`"),
        ],
        LIKE_DATA,
        &[maybe("axis", AttrKind::Int, "0 if absent"), REDUCTION],
        infer_like_data,
    )
    .eval(eval_scatter_elements)
    .roles(&[Role::Data, Role::Places]),
    op(
        "nn.scatter_nd",
        "`data` with the slices replaced that the index vectors name",
        &[
            operand("data", "any shape"),
            operand("indices", "at least rank 1"),
            operand("updates", "the outer extents of `indices`, then what is left of `data`"),
        ],
        LIKE_DATA,
        &[REDUCTION],
        infer_like_data,
    )
    .eval(eval_scatter_nd)
    .roles(&[Role::Data, Role::Places]),
    op(
        "nn.tensor_scatter",
        "a cache with a run of positions replaced, from the write index of each batch on",
        &[
            operand("data", "the cache"),
            operand("updates", "the shape of `data` but along `axis`"),
            optional("write_indices", "rank 1, one for each batch; 0 if absent"),
        ],
        LIKE_DATA,
        &[
            maybe("axis", AttrKind::Int, "-2 if absent"),
            maybe("mode", AttrKind::Enum(&["linear", "circular"]), "`linear` if absent"),
        ],
        infer_like_data,
    )
    .structured(structured::tensor_scatter)
    .eval(eval_tensor_scatter)
    .roles(&[Role::Data, Role::Data, Role::Places]),
    op(
        "nn.nonzero",
        "the index vectors of all elements that are not 0, in row-major order",
        &[operand("data", "any shape")],
        &[result("indices", "rank of `data` by number of such elements, `i64`")],
        &[],
        infer_nonzero,
    )
    .eval(|cx| single(kernels::nonzero(cx.need(0)?)))
    .numbers(Numbers::CHOSEN.union(Numbers::JUMPS)),
    op(
        "nn.topk",
        "the `k` greatest or least elements along `axis`, and where they were",
        &[operand("data", "any shape"), optional("k", "one integer, when it is no attribute")],
        &[
            result("values", "extent `k` along `axis`"),
            result("indices", "the shape of `values`, `i64`"),
        ],
        &[
            maybe("k", AttrKind::Int, "how many"),
            maybe("axis", AttrKind::Int, "-1 if absent"),
            maybe("largest", AttrKind::Bool, "true if absent"),
            maybe("sorted", AttrKind::Bool, "true if absent"),
        ],
        infer_topk,
    )
    .structured(selection::topk)
    .eval(eval_topk)
    .numbers(Numbers::CHOSEN.union(Numbers::JUMPS))
    .either(&[either(1, "k", Form::Int)]),
    op(
        "nn.unique",
        "the different elements, or slices along `axis`, of `data`",
        &[operand("data", "any shape")],
        &[
            result("values", "each once"),
            many("rest", "up to three: first index, inverse, count; rank 1, `i64`"),
        ],
        &[
            maybe("axis", AttrKind::Int, "the flattened tensor if absent"),
            maybe("sorted", AttrKind::Bool, "true if absent"),
        ],
        infer_unique,
    )
    .eval(eval_unique)
    .numbers(Numbers::JUMPS),
    op(
        "nn.argmax",
        "the index of the greatest element along `axis`",
        &[operand("data", "any shape")],
        &[result("indices", "`i64`")],
        ARG_ATTRS,
        infer_arg,
    )
    .structured(|cx| structured::extreme(cx, true))
    .eval(|cx| extreme(cx, kernels::argmax))
    .numbers(Numbers::CHOSEN.union(Numbers::JUMPS)),
    op(
        "nn.argmin",
        "the index of the least element along `axis`",
        &[operand("data", "any shape")],
        &[result("indices", "`i64`")],
        ARG_ATTRS,
        infer_arg,
    )
    .structured(|cx| structured::extreme(cx, false))
    .eval(|cx| extreme(cx, kernels::argmin))
    .numbers(Numbers::CHOSEN.union(Numbers::JUMPS)),
    op(
        "nn.cumsum",
        "running sums along `axis`",
        &[operand("data", "any shape"), optional("axis", "a scalar, when it is no attribute")],
        LIKE_DATA,
        SCAN_ATTRS,
        infer_like_data,
    )
    .structured(|cx| running::running(cx, (Binary::Add, Number::zero)))
    .eval(|cx| running(cx, kernels::cumsum))
    .sums()
    .either(&[either(1, "axis", Form::Int)])
    .steps(|sizes| sizes.elements(0).isqrt()),
    op(
        "nn.cumprod",
        "running products along `axis`",
        &[operand("data", "any shape"), optional("axis", "a scalar, when it is no attribute")],
        LIKE_DATA,
        SCAN_ATTRS,
        infer_like_data,
    )
    .structured(|cx| running::running(cx, (Binary::Mul, Number::one)))
    .eval(|cx| running(cx, kernels::cumprod))
    .either(&[either(1, "axis", Form::Int)])
    .steps(|sizes| sizes.elements(0).isqrt()),
    op(
        "nn.one_hot",
        "for each index a vector with one element on",
        &[
            operand("indices", "any shape"),
            operand("depth", "one number: the extent of the new dimension"),
            operand("values", "two elements: off, on"),
        ],
        &[result("output", "the extents of `indices` and `depth` at `axis`")],
        &[maybe("axis", AttrKind::Int, "-1 if absent")],
        infer_one_hot,
    )
    .structured(structured::one_hot)
    .eval(eval_one_hot)
    .numbers(Numbers::EXACT.union(Numbers::FITS))
    .roles(&[Role::Places, Role::Places]),
    op(
        "nn.compress",
        "the slices along `axis` whose flag is true",
        &[operand("data", "any shape"), operand("condition", "rank 1, booleans")],
        &[result("output", "as many slices as flags are true")],
        &[maybe("axis", AttrKind::Int, "the flattened tensor if absent")],
        infer_compress,
    )
    .structured(selection::compress)
    .eval(eval_compress)
    .roles(&[Role::Data, Role::Truth]),
];

const ARG_ATTRS: &[AttrDef] = &[
    maybe("axis", AttrKind::Int, "0 if absent"),
    maybe("keepdims", AttrKind::Bool, "the dimension stays with extent 1; true if absent"),
    maybe("select_last_index", AttrKind::Bool, "of equal elements the last; false if absent"),
];
const SCAN_ATTRS: &[AttrDef] = &[
    maybe("axis", AttrKind::Int, "the dimension, in place of the operand"),
    maybe("exclusive", AttrKind::Bool, "leave out the element itself; false if absent"),
    maybe("reverse", AttrKind::Bool, "run from the end; false if absent"),
];

const fn many(name: &'static str, doc: &'static str) -> ResultDef {
    ResultDef { name, arity: Arity::Variadic, doc }
}

fn infer_like_data(cx: &InferCx<'_>) -> Result {
    one(cx, &cx.tensor(0)?)
}

fn infer_take(cx: &InferCx<'_>) -> Result {
    let (data, indices) = (cx.tensor(0)?, cx.tensor(1)?);
    let (Some(from), Some(at)) = (&data.dims, &indices.dims) else {
        return one(cx, &Shaped::unranked(data.element));
    };
    let along = axis(cx.attrs().int("axis").unwrap_or(0), from.len())?;
    let mut out: Dims = from[..along].into();
    out.extend(at.iter().copied());
    out.extend(from[along + 1..].iter().copied());
    let contents = if from.len() == 1 && at.len() <= 1 { taken(cx) } else { None };
    one_with(cx, &Shaped { dims: Some(out), element: data.element }, contents)
}

fn taken(cx: &InferCx<'_>) -> Option<Contents> {
    let (all, at) = (cx.contents(0)?, cx.contents(1)?);
    let n = all.len() as i64;
    let pick = |e: &Option<Expr>| {
        let i = e.as_ref()?.as_int()?;
        let i = if i < 0 { i + n } else { i };
        all.get(usize::try_from(i).ok()?)?.clone()
    };
    Some(at.iter().map(pick).collect())
}

fn infer_gather_elements(cx: &InferCx<'_>) -> Result {
    one(cx, &Shaped { element: cx.tensor(0)?.element, ..cx.tensor(1)? })
}

fn infer_gather_nd(cx: &InferCx<'_>) -> Result {
    let (data, indices) = (cx.tensor(0)?, cx.tensor(1)?);
    let open = Shaped::unranked(data.element);
    let (Some(from), Some(at)) = (&data.dims, &indices.dims) else { return one(cx, &open) };
    let Some((last, outer)) = at.split_last() else {
        return Err(infer_error!("`nn.gather_nd` needs indices of at least rank 1"));
    };
    let batch = usize::try_from(cx.attrs().int("batch_dims").unwrap_or(0)).unwrap_or(usize::MAX);
    let Some(depth) = last.as_static().and_then(|n| usize::try_from(n).ok()) else {
        return one(cx, &open);
    };
    let rest = batch.checked_add(depth).and_then(|skip| from.get(skip..));
    let rest = rest.ok_or_else(|| {
        infer_error!("index vectors of length {depth} are too long for rank {}", from.len())
    })?;
    one(cx, &Shaped::ranked(outer.iter().chain(rest).copied(), data.element))
}

fn infer_nonzero(cx: &InferCx<'_>) -> Result {
    let rank = cx.tensor(0)?.rank().map_or(Dim::UNKNOWN, |rank| Dim::fixed(rank.max(1) as i64));
    one(cx, &Shaped::ranked([rank, Dim::UNKNOWN], cx.context().int_type(64)))
}

fn infer_topk(cx: &InferCx<'_>) -> Result {
    let data = cx.tensor(0)?;
    let index = cx.context().int_type(64);
    let Some(mut out) = data.dims.clone() else {
        return several(cx, [data, Shaped::unranked(index)]);
    };
    let along = axis(cx.attrs().int("axis").unwrap_or(-1), out.len())?;
    let k = match cx.attrs().int("k") {
        Some(k) => Some(Expr::int(k)),
        None => cx.contents(1).and_then(|c| c.into_iter().next()?),
    };
    out[along] = k.map_or(Dim::UNKNOWN, |k| dims::dim(cx.context(), &k));
    several(
        cx,
        [Shaped { dims: Some(out.clone()), ..data }, Shaped { dims: Some(out), element: index }],
    )
}

fn infer_unique(cx: &InferCx<'_>) -> Result {
    let data = cx.tensor(0)?;
    let index = Shaped::ranked([Dim::UNKNOWN], cx.context().int_type(64));
    let values = match (cx.attrs().int("axis"), &data.dims) {
        (None, _) => Shaped::ranked([Dim::UNKNOWN], data.element),
        (Some(along), Some(from)) => {
            let mut out = from.clone();
            out[axis(along, from.len())?] = Dim::UNKNOWN;
            Shaped { dims: Some(out), ..data }
        }
        (Some(_), None) => data,
    };
    let count = cx.result_count.unwrap_or(4).clamp(1, 4);
    several(cx, [values, index.clone(), index.clone(), index].into_iter().take(count))
}

fn infer_arg(cx: &InferCx<'_>) -> Result {
    let element = cx.context().int_type(64);
    let Some(mut out) = cx.tensor(0)?.dims else { return one(cx, &Shaped::unranked(element)) };
    let along = axis(cx.attrs().int("axis").unwrap_or(0), out.len())?;
    if cx.attrs().bool("keepdims").unwrap_or(true) {
        out[along] = Dim::fixed(1);
    } else {
        out.remove(along);
    }
    one(cx, &Shaped { dims: Some(out), element })
}

fn infer_one_hot(cx: &InferCx<'_>) -> Result {
    let (indices, values) = (cx.tensor(0)?, cx.tensor(2)?);
    let Some(mut out) = indices.dims else { return one(cx, &Shaped::unranked(values.element)) };
    let at = axis(cx.attrs().int("axis").unwrap_or(-1), out.len() + 1)?;
    let depth = cx.contents(1).and_then(|c| c.into_iter().next()?);
    out.insert(at, depth.map_or(Dim::UNKNOWN, |depth| dims::dim(cx.context(), &depth)));
    one(cx, &Shaped { dims: Some(out), element: values.element })
}

fn infer_compress(cx: &InferCx<'_>) -> Result {
    let data = cx.tensor(0)?;
    let kept = |flags: Vec<i64>| flags.iter().filter(|&&flag| flag != 0).count() as i64;
    let count = cx.constant_ints(1).map_or(Dim::UNKNOWN, |flags| Dim::fixed(kept(flags)));
    let out: Option<Dims> = match (cx.attrs().int("axis"), &data.dims) {
        (None, _) => Some(smallvec![count]),
        (Some(along), Some(from)) => {
            let mut out = from.clone();
            out[axis(along, from.len())?] = count;
            Some(out)
        }
        (Some(_), None) => None,
    };
    one(cx, &Shaped { dims: out, element: data.element })
}

type Kernel<A> = fn(&Tensor, A, i64) -> tangram_tensor::Result<Tensor>;

fn along<'a>(cx: &EvalCx<'a>, kernel: Kernel<&'a Tensor>) -> Evaluated {
    single(kernel(cx.need(0)?, cx.need(1)?, cx.attrs().int("axis").unwrap_or(0)))
}

fn eval_gather_nd(cx: &EvalCx<'_>) -> Evaluated {
    let batch = sizes("batch_dims", &[cx.attrs().int("batch_dims").unwrap_or(0)])?[0];
    single(kernels::gather_nd(cx.need(0)?, cx.need(1)?, batch))
}

fn reduction(cx: &EvalCx<'_>) -> std::result::Result<Reduction, EvalError> {
    match cx.attrs().text("reduction") {
        None | Some("none") => Ok(Reduction::None),
        Some("add") => Ok(Reduction::Add),
        Some("mul") => Ok(Reduction::Mul),
        Some("max") => Ok(Reduction::Max),
        Some("min") => Ok(Reduction::Min),
        Some(other) => Err(EvalError::Value("reduction", other.to_owned())),
    }
}

fn eval_scatter_elements(cx: &EvalCx<'_>) -> Evaluated {
    let axis = cx.attrs().int("axis").unwrap_or(0);
    let (data, indices, updates) = (cx.need(0)?, cx.need(1)?, cx.need(2)?);
    single(kernels::scatter_elements(data, indices, updates, axis, reduction(cx)?))
}

fn eval_scatter_nd(cx: &EvalCx<'_>) -> Evaluated {
    single(kernels::scatter_nd(cx.need(0)?, cx.need(1)?, cx.need(2)?, reduction(cx)?))
}

fn eval_tensor_scatter(cx: &EvalCx<'_>) -> Evaluated {
    let starts = cx.get(2).map(Tensor::i64s).transpose()?;
    let axis = cx.attrs().int("axis").unwrap_or(-2);
    let circular = cx.attrs().text("mode") == Some("circular");
    single(kernels::tensor_scatter(cx.need(0)?, cx.need(1)?, starts.as_deref(), axis, circular))
}

fn eval_topk(cx: &EvalCx<'_>) -> Evaluated {
    let k = cx.int("k", 1)?.ok_or(EvalError::Attribute("k"))?;
    let axis = cx.attrs().int("axis").unwrap_or(-1);
    let largest = cx.attrs().bool("largest").unwrap_or(true);
    let (values, indices) = kernels::topk(cx.need(0)?, sizes("k", &[k])?[0], axis, largest)?;
    Ok(vec![values, indices])
}

fn eval_unique(cx: &EvalCx<'_>) -> Evaluated {
    let sorted = cx.attrs().bool("sorted").unwrap_or(true);
    let found = kernels::unique(cx.need(0)?, cx.attrs().int("axis"), sorted)?;
    Ok(vec![found.values, found.first, found.inverse, found.counts])
}

type Extreme = fn(&Tensor, i64, bool, bool) -> tangram_tensor::Result<Tensor>;

fn extreme(cx: &EvalCx<'_>, kernel: Extreme) -> Evaluated {
    let axis = cx.attrs().int("axis").unwrap_or(0);
    let keepdims = cx.attrs().bool("keepdims").unwrap_or(true);
    single(kernel(cx.need(0)?, axis, keepdims, cx.attrs().flag("select_last_index")))
}

fn running(cx: &EvalCx<'_>, kernel: Extreme) -> Evaluated {
    let axis = cx.int("axis", 1)?.ok_or(EvalError::Attribute("axis"))?;
    let (exclusive, reverse) = (cx.attrs().flag("exclusive"), cx.attrs().flag("reverse"));
    single(kernel(cx.need(0)?, axis, exclusive, reverse))
}

fn eval_one_hot(cx: &EvalCx<'_>) -> Evaluated {
    // The depth is a number of any type.
    let depth = match cx.need(1)?.i64s() {
        Ok(ints) => ints,
        Err(_) => cx.need(1)?.f64s()?.iter().map(|&depth| depth as i64).collect(),
    };
    let depth = sizes("depth", &depth)?.first().copied().ok_or(EvalError::AbsentOperand(1))?;
    let axis = cx.attrs().int("axis").unwrap_or(-1);
    single(shape::one_hot(cx.need(0)?, depth, cx.need(2)?, axis))
}

fn eval_compress(cx: &EvalCx<'_>) -> Evaluated {
    single(shape::compress(cx.need(0)?, cx.need(1)?, cx.attrs().int("axis")))
}

/// Places: any extents.
fn any_places(wanted: &Wanted<'_>, rng: &mut Rng) -> Option<Extents> {
    (wanted.index == 1).then(|| {
        let rank = rng.usize(0..=2);
        sample::free(rng, wanted.cap.min(3), Some(rank))
    })
}

/// Places of some of the elements.
fn some_places(wanted: &Wanted<'_>, rng: &mut Rng) -> Option<Extents> {
    let like = wanted.other().filter(|_| wanted.index == 1)?;
    Some(like.iter().map(|&n| rng.usize(0..=n)).collect())
}
