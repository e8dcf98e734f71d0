//! `unit-transpose`: a transpose that only moves dimensions of extent 1 is a reshape, which merges
//! with one before it or behind it.
//!
//! ```text
//! reshape(transpose(x: [1, n, 48]) { axes = [1, 0, 2] }) { newshape = [-1, 2, 24] }
//! reshape(reshape(x) { newshape = [-1, 1, 48] }) { newshape = [-1, 2, 24] }
//! ```
//!
//! By itself neither form is better; only where there is something to merge with it is rewritten.

use tangram_ir::{Context, Dim, Module, Op, Value};
use tangram_rewrite::{NoMatch, Rewriter};

use super::{Matched, Native, present, rebuild, roots};
use crate::attrs::Attrs;

/// Operations that change extents and no order of elements.
const VIEWS: [&str; 5] =
    ["nn.reshape", "nn.expand_dims", "nn.squeeze", "nn.batch_flatten", "nn.flatten"];

pub(super) fn pattern(context: &Context) -> Native {
    let roots = roots(context, ["nn.transpose"]);
    Native::new("unit-transpose", "simplify", roots, 300, rewrite)
}

fn rewrite(rewriter: &mut Rewriter<'_>, op: Op) -> Matched {
    let module = rewriter.module();
    let data = present(module, op, 0).ok_or(NoMatch::SILENT)?;
    if !merges(module, op, data) {
        return Err(NoMatch::SILENT);
    }
    let context = module.context();
    let axes = Attrs::new(context, module.attrs(op)).ints("axes").ok_or(NoMatch::SILENT)?;
    let (dims, _) = context.as_tensor(module.value_type(data)).ok_or(NoMatch::SILENT)?;
    let shape = new_shape(dims, &axes).ok_or(NoMatch::SILENT)?;
    let attrs = context.dict([(context.str("newshape"), context.i64s_attr(&shape))]);
    let reshape = context.name("nn.reshape");
    rebuild(rewriter, op, reshape, &[data], attrs)
}

/// Returns whether there is a view right before `op` that nobody else reads, or nothing else behind.
fn merges(module: &Module, op: Op, data: Value) -> bool {
    let is_view = |op: Op| VIEWS.contains(&module.name_text(op));
    let before = module.def_op(data).is_some_and(is_view) && module.has_one_use(data);
    let result = module.result(op, 0);
    before || module.has_uses(result) && module.uses(result).all(|used| is_view(used.op))
}

/// The extents after the transpose, one open one as -1; nothing if elements change their order, or
/// the extents cannot be written.
fn new_shape(dims: &[Dim], axes: &[i64]) -> Option<Vec<i64>> {
    let rank = dims.len();
    let place = |&axis: &i64| usize::try_from(if axis < 0 { axis + rank as i64 } else { axis });
    let axes: Vec<usize> = axes.iter().map(place).collect::<Result<_, _>>().ok()?;
    let extents: Vec<Option<i64>> =
        axes.iter().map(|&axis| Some(dims.get(axis)?.as_static())).collect::<Option<_>>()?;
    let moving: Vec<usize> =
        axes.iter().zip(&extents).filter(|(_, n)| **n != Some(1)).map(|(&axis, _)| axis).collect();
    let open = extents.iter().filter(|extent| extent.is_none()).count();
    let clear = axes.len() == rank && open <= 1 && !extents.contains(&Some(0));
    let kept = moving.windows(2).all(|pair| pair[0] < pair[1]);
    (clear && kept).then(|| extents.into_iter().map(|extent| extent.unwrap_or(-1)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_extents_of_one_may_move() {
        let (one, n) = (Dim::fixed(1), Dim::UNKNOWN);
        let fixed = |n| Dim::fixed(n);
        assert_eq!(new_shape(&[one, n, fixed(48)], &[1, 0, 2]), Some(vec![-1, 1, 48]));
        assert_eq!(new_shape(&[one, n, fixed(48)], &[1, 2, 0]), Some(vec![-1, 48, 1]));
        assert_eq!(new_shape(&[fixed(3), one, fixed(2)], &[0, -1, 1]), Some(vec![3, 2, 1]));
        assert_eq!(new_shape(&[one, n, fixed(48)], &[0, 2, 1]), None);
        assert_eq!(new_shape(&[one, n, n], &[1, 0, 2]), None);
        assert_eq!(new_shape(&[one, n, fixed(0)], &[1, 0, 2]), None);
        assert_eq!(new_shape(&[one, n], &[1, 2]), None);
    }
}
