//! Extents of sliding windows, as convolutions and pools have them.

use fastrand::Rng;
use tangram_affine::symbolic::Expr;
use tangram_ir::{AttrDef, AttrKind, Context, Dim, InferCx, OpDef};
use tangram_tensor::linear::{AutoPad, WindowParams};

use super::conv::spatial_rank;
use super::maybe;
use super::sample::{Call, Tried, Value, any_of, ints};
use crate::attrs::Attrs;
use crate::budget::{Sizes, count};
use crate::infer::{Dims, InferExt, Result};
use crate::{dims, infer_error};

/// What happens at the border of the input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Border {
    /// This many elements are added before and after.
    Padded(i64, i64),
    /// As many as make the result `ceil(extent / stride)`: `SAME_UPPER` and `SAME_LOWER`, which
    /// differ in where an odd element goes.
    Same,
}

/// A window that moves along one dimension.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// Number of elements in the window.
    pub kernel: Dim,
    /// Distance of windows.
    pub stride: i64,
    /// Distance of elements within a window.
    pub dilation: i64,
    /// What happens at the border.
    pub border: Border,
    /// Whether a last window may reach over the end.
    pub ceil: bool,
}

impl Window {
    /// From the first to the last element of the window: `dilation * (kernel - 1) + 1`.
    fn span(&self, context: &Context) -> Dim {
        let one = Dim::fixed(1);
        let gaps = dims::sub(context, self.kernel, one);
        dims::add(context, dims::mul(context, gaps, Dim::fixed(self.dilation)), one)
    }

    /// The number of windows in a dimension of extent `input`.
    pub(super) fn count(&self, context: &Context, input: Dim) -> Result<Dim> {
        let Border::Padded(before, after) = self.border else {
            return Ok(dims::ceil_div(context, input, self.stride));
        };
        let span = self.span(context);
        let from_start = shift(context, input, before)?;
        let room = dims::sub_signed(context, shift(context, from_start, after)?, span);
        let Some(room) = room else { return Ok(Dim::UNKNOWN) };
        if !self.ceil && room.as_int().is_some_and(|room| room < 0 && room % self.stride != 0) {
            // Not even one window fits: the standard's formula says -1 + 1 / stride windows, of
            // which its own inference and onnxruntime make one, its evaluator none.
            return Ok(Dim::UNKNOWN);
        }
        let count = self.count_in(context, &room, (from_start, after), span);
        match count.as_ref().and_then(Expr::as_int) {
            Some(n) if n < 0 => Err(infer_error!(
                "a window of span {} does not fit an extent of {} with padding {before} and {after}",
                dims::text(context, span),
                dims::text(context, input),
            )),
            _ => Ok(count.map_or(Dim::UNKNOWN, |count| dims::dim(context, &count))),
        }
    }

    fn count_in(
        &self,
        context: &Context,
        room: &Expr,
        (from_start, after): (Dim, i64),
        span: Dim,
    ) -> Option<Expr> {
        let (stride, one) = (Expr::int(self.stride), Expr::int(1));
        if !self.ceil {
            return room.floor_div(&stride)?.try_add(&one);
        }
        let count = room.ceil_div(&stride)?.try_add(&one)?;
        // A window that would start in the padding after the input is left out.
        let starts_inside =
            span.as_static().is_some_and(|span| after.saturating_add(self.stride - 1) < span);
        if starts_inside {
            return Some(count);
        }
        Expr::min(&count, &dims::expr(context, from_start)?.ceil_div(&stride)?)
    }

    /// The extent of which `input` is the number of windows: that of a transposed convolution.
    pub(super) fn covered(&self, context: &Context, input: Dim, extra: i64) -> Result<Dim> {
        let last =
            dims::mul(context, dims::sub(context, input, Dim::fixed(1)), Dim::fixed(self.stride));
        let span = self.span(context);
        let whole = dims::add(context, last, span);
        let Border::Padded(before, after) = self.border else {
            // `stride * input`, of which there is less if windows do not even touch.
            let reach = span.as_static().map(|span| span.saturating_add(extra));
            return match reach {
                Some(reach) if reach >= self.stride => {
                    Ok(dims::mul(context, input, Dim::fixed(self.stride)))
                }
                Some(_) => shift(context, whole, extra),
                None => Ok(Dim::UNKNOWN),
            };
        };
        shift(context, whole, extra.saturating_sub(before).saturating_sub(after))
    }
}

/// `dim + by`, where `by` may be negative.
fn shift(context: &Context, dim: Dim, by: i64) -> Result<Dim> {
    let out = if by < 0 {
        dims::sub(context, dim, Dim::fixed(by.saturating_neg()))
    } else {
        dims::add(context, dim, Dim::fixed(by))
    };
    match (dim.as_static(), out.as_static()) {
        (Some(n), None) => Err(infer_error!("an extent of {n} is cut by {by}")),
        _ => Ok(out),
    }
}

/// The names under which an operation has the parameters of its windows.
pub(super) struct Names {
    /// Distances of windows.
    pub strides: &'static str,
    /// Distances of elements.
    pub dilation: &'static str,
    /// Begins, then ends.
    pub padding: &'static str,
    /// What says how much there is in place of begins and ends.
    pub mode: &'static str,
}

/// How a window is padded: what decides it is one attribute, so that who copies it copies all.
pub(super) const PADDING: AttrDef = maybe(
    "padding",
    AttrKind::IntsOr(&["VALID", "SAME_UPPER", "SAME_LOWER"]),
    "added before each spatial dimension, then after each; `SAME_*`: so much that there are \
     `ceil(extent / stride)` windows; 0 if absent",
);

/// The names that most operations use.
pub(super) const NAMES: Names =
    Names { strides: "strides", dilation: "dilation", padding: "padding", mode: "padding" };

/// The names that operations use whose attributes come from ONNX as they are.
pub(super) const ONNX_NAMES: Names =
    Names { strides: "strides", dilation: "dilations", padding: "pads", mode: "auto_pad" };

/// Those of convolutions that runtimes have fused.
pub(in crate::nn) const FUSED_NAMES: Names = Names { mode: "auto_pad", ..NAMES };

/// One window for each extent of `kernel`, with the attributes of the operation.
pub(super) fn windows(cx: &InferCx<'_>, kernel: &[Dim], names: &Names) -> Result<Vec<Window>> {
    let rank = kernel.len();
    let strides = per_dim(cx, names.strides, rank, 1)?;
    let dilation = per_dim(cx, names.dilation, rank, 1)?;
    let mut padding = per_dim(cx, names.padding, 2 * rank, 0)?;
    if let Some(&bad) = strides.iter().chain(&dilation).find(|&&n| n < 1) {
        return Err(infer_error!("`{}` has a stride or dilation of {bad}", cx.def.name));
    }
    let mode = cx.attrs().text(names.mode);
    let same = match mode {
        Some("SAME_UPPER" | "SAME_LOWER") => true,
        None | Some("NOTSET" | "VALID") => false,
        Some(other) => return Err(infer_error!("`{}` is `{other}`", names.mode)),
    };
    if mode == Some("VALID") {
        padding.fill(0);
    }
    let ceil = cx.attrs().flag("ceil_mode");
    let window = |i: usize| Window {
        kernel: kernel[i],
        stride: strides[i],
        dilation: dilation[i],
        border: if same { Border::Same } else { Border::Padded(padding[i], padding[rank + i]) },
        ceil,
    };
    Ok((0..rank).map(window).collect())
}

/// The same for a kernel; what is absent is the kernel's default.
pub(super) fn params(attrs: Attrs<'_>, names: &Names) -> WindowParams {
    let list = |name| attrs.ints(name).unwrap_or_default();
    WindowParams {
        strides: list(names.strides),
        dilations: list(names.dilation),
        pads: list(names.padding),
        auto_pad: match attrs.text(names.mode) {
            Some("VALID") => AutoPad::Valid,
            Some("SAME_UPPER") => AutoPad::SameUpper,
            Some("SAME_LOWER") => AutoPad::SameLower,
            _ => AutoPad::NotSet,
        },
    }
}

/// The integer list `name` of `count` entries, `default` throughout if it is absent.
fn per_dim(cx: &InferCx<'_>, name: &str, count: usize, default: i64) -> Result<Vec<i64>> {
    let list = cx.attrs().ints(name).unwrap_or_else(|| vec![default; count]);
    if list.len() != count {
        return Err(infer_error!(
            "`{name}` of `{}` needs {count} entries, found {}",
            cx.def.name,
            list.len()
        ));
    }
    Ok(list)
}

/// `leading`, then the number of windows in each of the extents `spatial`.
pub(super) fn counted(
    cx: &InferCx<'_>,
    leading: [Dim; 2],
    spatial: &[Dim],
    windows: &[Window],
) -> Result<Dims> {
    let mut out: Dims = leading.into_iter().collect();
    for (&extent, window) in spatial.iter().zip(windows) {
        out.push(window.count(cx.context(), extent)?);
    }
    Ok(out)
}

/// What is tried for the windows of convolutions and pools: most of the time those that fit.
pub(super) fn tried(call: &Call<'_>, attr: &AttrDef, rng: &mut Rng) -> Tried {
    let (x, spatial) = (call.x(), call.x().len().saturating_sub(2));
    match attr.name {
        "groups" => Value::Int(groups(call)).into(),
        "auto_pad" => any_of(&["NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"], rng),
        "strides" | "dilation" => {
            let high = if attr.name == "strides" { 4 } else { 3 };
            let (one, all) = (rng.i64(1..=high), rng.u8(0..4));
            let step = |_| match all {
                0 => 1,
                1 => one,
                _ if rng.bool() => 1,
                _ => rng.i64(1..=high),
            };
            ints((0..spatial).map(step).collect::<Vec<_>>())
        }
        "padding" => padding(call, attr.kind, rng),
        // Now and then one window for all of the operand.
        "pool_size" if rng.u8(0..10) == 0 => ints(x.iter().skip(2).map(|&n| n.max(1) as i64)),
        "pool_size" => ints((0..spatial).map(|_| rng.i64(1..=5)).collect::<Vec<_>>()),
        "storage_order" => Value::Int(rng.i64(0..=1)).into(),
        _ => Tried::Usual,
    }
}

/// The number of groups that fits the operands.
fn groups(call: &Call<'_>) -> i64 {
    let [Some(x), Some(w)] = [0, 1].map(|i| call.shapes.get(i).and_then(|s| s.get(1))) else {
        return 1;
    };
    (*x as i64 / (*w).max(1) as i64).max(1)
}

/// Half of the window, nothing, or any.
fn padding(call: &Call<'_>, kind: AttrKind, rng: &mut Rng) -> Tried {
    // Most windows say numbers.
    if let (AttrKind::IntsOr(modes), 0) = (kind, rng.u8(0..8)) {
        return any_of(modes, rng);
    }
    let spatial = call.x().len().saturating_sub(2);
    let same = rng.u8(0..3) == 0;
    let half = |i: usize| {
        let w = call.shapes.get(1).and_then(|w| w.get(2 + i % spatial));
        w.map_or(0, |&k| (k as i64 - 1) / 2)
    };
    let zero = rng.u8(0..3) == 0;
    let width = |i| match (same, zero) {
        (true, _) => half(i),
        (_, true) => 0,
        _ => rng.i64(0..=2),
    };
    ints((0..2 * spatial).map(width).collect::<Vec<_>>())
}

/// Data of the rank that the name of a convolution or pool states.
pub(super) fn stated_rank(def: &OpDef, _: usize) -> Option<usize> {
    spatial_rank(def.name).map(|n| n + 2)
}

/// Steps of an element of a convolution: the elements of a filter.
pub(super) fn filter_steps(sizes: &Sizes<'_>) -> u64 {
    sizes
        .extents(1)
        .map_or(1, |filters| count(&filters) / filters.first().map_or(1, |&n| n.max(1) as u64))
}

/// Steps of an element of a pool: the elements of a window.
pub(super) fn pool_steps(sizes: &Sizes<'_>) -> u64 {
    let window = sizes.attrs().ints("pool_size").unwrap_or_default();
    window.iter().map(|&n| n.unsigned_abs().max(1)).fold(1, u64::saturating_mul)
}
