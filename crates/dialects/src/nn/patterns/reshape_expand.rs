//! `reshape-expand`: a dimension of extent 1 that is put into the result of a reshape is written by
//! the reshape itself.
//!
//! ```text
//! expand_dims(reshape(x) { newshape = [-1, 8] }) { axis = [1] }   is   reshape(x) { newshape = [-1, 1, 8] }
//! ```

use tangram_ir::{Context, Op};
use tangram_rewrite::{NoMatch, Rewriter};

use super::{Matched, Native, present, rebuild, roots};
use crate::attrs::Attrs;

pub(super) fn pattern(context: &Context) -> Native {
    let roots = roots(context, ["nn.expand_dims"]);
    Native::new("reshape-expand", "simplify", roots, 300, rewrite)
}

fn rewrite(rewriter: &mut Rewriter<'_>, op: Op) -> Matched {
    let module = rewriter.module();
    let data = present(module, op, 0).ok_or(NoMatch::SILENT)?;
    let inner = module.def_op(data).ok_or(NoMatch::SILENT)?;
    let fits = module.name_text(inner) == "nn.reshape"
        && module.has_one_use(data)
        && present(module, op, 1).is_none()
        && present(module, inner, 1).is_none();
    if !fits {
        return Err(NoMatch::SILENT);
    }
    let context = module.context();
    let attrs = Attrs::new(context, module.attrs(inner));
    let list = |op: Op, name| Attrs::new(context, module.attrs(op)).ints(name);
    let (shape, axes) = (list(inner, "newshape"), list(op, "axis"));
    let (shape, axes) = shape.zip(axes).ok_or(NoMatch::SILENT)?;
    let shape = expanded(&shape, &axes).ok_or(NoMatch::SILENT)?;
    let mut entries = vec![(context.str("newshape"), context.i64s_attr(&shape))];
    if attrs.flag("allowzero") {
        entries.push((context.str("allowzero"), context.bool_attr(true)));
    }
    let (name, source) = (module.name(inner), module.operand(inner, 0));
    let attrs = context.dict(entries);
    rebuild(rewriter, op, name, &[source], attrs)
}

/// `shape` with an entry 1 at each place that `axes` names in the result; `None` if an entry 0,
/// which means the extent at its own place, would move.
fn expanded(shape: &[i64], axes: &[i64]) -> Option<Vec<i64>> {
    let rank = shape.len() + axes.len();
    let from_front = |&axis: &i64| if axis < 0 { axis + rank as i64 } else { axis };
    let places: Vec<i64> = axes.iter().map(from_front).collect();
    let mut left = shape.iter().copied().enumerate();
    let mut out = Vec::with_capacity(rank);
    for place in 0..rank {
        if places.contains(&(place as i64)) {
            out.push(1);
            continue;
        }
        let (before, entry) = left.next()?;
        if entry == 0 && before != place {
            return None;
        }
        out.push(entry);
    }
    left.next().is_none().then_some(out)
}
