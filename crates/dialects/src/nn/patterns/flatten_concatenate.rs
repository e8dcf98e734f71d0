//! `flatten-concatenate`: an input of a concatenation that is one itself, along the same dimension,
//! gives its inputs.

use tangram_ir::{Context, Module, Op, Value};
use tangram_rewrite::{NoMatch, Rewriter};

use super::{Matched, Native, roots};
use crate::attrs::Attrs;

pub(super) fn pattern(context: &Context) -> Native {
    let roots = roots(context, ["nn.concatenate"]);
    Native::new("flatten-concatenate", "simplify", roots, 300, rewrite)
}

fn rewrite(rewriter: &mut Rewriter<'_>, op: Op) -> Matched {
    let module = rewriter.module();
    let axis = axis(module, op).ok_or(NoMatch::SILENT)?;
    // One that is used elsewhere as well would be computed in any case.
    let inner = |value: Value| {
        let inner = module.def_op(value)?;
        let flat = module.name_text(inner) == "nn.concatenate"
            && module.has_one_use(value)
            && self::axis(module, inner) == Some(axis);
        flat.then_some(inner)
    };
    let mut inputs = Vec::new();
    let mut found = false;
    for value in module.operands(op) {
        match inner(value) {
            Some(inner) => {
                found = true;
                inputs.extend(module.operands(inner));
            }
            None => inputs.push(value),
        }
    }
    if !found {
        return Err(NoMatch::SILENT);
    }
    rewriter.set_operands(op, &inputs);
    Ok(())
}

/// The dimension, counted from the front.
fn axis(module: &Module, op: Op) -> Option<i64> {
    let context = module.context();
    let axis = Attrs::new(context, module.attrs(op)).int("axis")?;
    let (dims, _) = context.as_tensor(module.value_type(module.result(op, 0)))?;
    Some(if axis < 0 { axis + dims.len() as i64 } else { axis })
}
