//! Windows that slide over a dimension, as indices.

use tangram_affine::AffineExpr;
use tangram_affine::symbolic::Expr;
use tangram_tensor::linear::{AutoPad, WindowParams};

use super::Stage;

/// A window along one dimension: element `k` of window `o` is `o * stride + k * dilation - before`.
pub(crate) struct Slide {
    /// The number of elements of a window.
    pub kernel: Expr,
    /// Distance of windows.
    pub stride: i64,
    /// Distance of elements of a window.
    pub dilation: i64,
    /// The padding before the first element.
    pub before: Expr,
    /// The padding behind the last.
    pub after: Expr,
    /// Whether a window may reach out of the tensor.
    pub padded: bool,
}

impl Slide {
    /// The place in the tensor of element `k` of window `o`.
    pub fn index(&self, stage: &mut Stage, o: AffineExpr, k: AffineExpr) -> Option<AffineExpr> {
        let first = stage.times(o, self.stride);
        let step = stage.times(k, self.dilation);
        let padded = stage.sum(first, step);
        Some(stage.plus(padded, &self.before.neg()?))
    }
}

/// The windows that `params` describe, for the extents of the tensor, of the window, and the
/// numbers of windows; `None` where the parameters do not fit them.
///
/// With `ceil`, a last window may reach over the padding.
pub(crate) fn slides(
    params: &WindowParams,
    [input, kernel, count]: [&[Expr]; 3],
    ceil: bool,
) -> Option<Vec<Slide>> {
    let rank = input.len();
    let fits = |list: &[i64], n: usize| list.is_empty() || list.len() == n;
    let lists = fits(&params.strides, rank)
        && fits(&params.dilations, rank)
        && (params.auto_pad != AutoPad::NotSet || fits(&params.pads, 2 * rank));
    (lists && kernel.len() == rank && count.len() == rank).then_some(())?;
    let entry = |list: &[i64], i: usize, or: i64| list.get(i).copied().unwrap_or(or);
    let slide = |i: usize| {
        let stride = entry(&params.strides, i, 1);
        let dilation = entry(&params.dilations, i, 1);
        (stride > 0 && dilation > 0).then_some(())?;
        let (before, after) = match params.auto_pad {
            AutoPad::NotSet => (entry(&params.pads, i, 0), entry(&params.pads, rank + i, 0)),
            AutoPad::Valid => (0, 0),
            auto => {
                let total = missing(&input[i], &kernel[i], &count[i], (stride, dilation))?;
                return same(auto, &total, &kernel[i], (stride, dilation));
            }
        };
        Some(Slide {
            kernel: kernel[i].clone(),
            stride,
            dilation,
            before: Expr::int(before),
            after: Expr::int(after),
            padded: before > 0 || after > 0 || ceil,
        })
    };
    (0..rank).map(slide).collect()
}

/// How much the windows cover beyond the extent.
fn missing(
    input: &Expr,
    kernel: &Expr,
    count: &Expr,
    (stride, dilation): (i64, i64),
) -> Option<Expr> {
    let one = Expr::int(-1);
    let steps = count.try_add(&one)?.try_mul(&Expr::int(stride))?;
    let gaps = kernel.try_add(&one)?.try_mul(&Expr::int(dilation))?;
    let covered = steps.try_add(&gaps)?.try_add(&Expr::int(1))?;
    Expr::max(&covered.try_sub(input)?, &Expr::int(0))
}

/// The window whose padding is `total`.
fn same(
    auto: AutoPad,
    total: &Expr,
    kernel: &Expr,
    (stride, dilation): (i64, i64),
) -> Option<Slide> {
    let smaller = total.floor_div(&Expr::int(2))?;
    let larger = total.try_sub(&smaller)?;
    let (before, after) = match auto {
        AutoPad::SameUpper => (smaller, larger),
        _ => (larger, smaller),
    };
    let padded = total.as_int() != Some(0);
    Some(Slide { kernel: kernel.clone(), stride, dilation, before, after, padded })
}
