//! `fold-shapes`: a small integer tensor of which inference knows every element is a constant,
//! although what it was computed from is not: the extents of a tensor, and arithmetic on them.

use tangram_ir::{Module, Op, Traits, Value};
use tangram_rewrite::{NoMatch, Rewriter, Roots};
use tangram_tensor::elementwise::cast;
use tangram_tensor::{DType, Tensor, element_count};

use super::{Matched, Native, key_for, make_constant};
use crate::constant;
use crate::infer::value_contents;

pub(super) fn pattern() -> Native {
    Native::new("fold-shapes", "fold", Roots::Any, 900, rewrite)
}

fn rewrite(rewriter: &mut Rewriter<'_>, op: Op) -> Matched {
    let module = rewriter.module();
    let known = |value: &Value| module.contents(*value).is_some() && module.has_uses(*value);
    let candidates: Vec<Value> = module.results(op).filter(known).collect();
    if candidates.is_empty() || module.has_traits(op, Traits::CONSTANT_LIKE) {
        return Err(NoMatch::SILENT);
    }
    let mut changed = false;
    for value in candidates {
        let Some(tensor) = elements(rewriter.module(), value) else { continue };
        let key = key_for(rewriter.module(), value);
        let new = make_constant(rewriter, op, &tensor, &key);
        let module = rewriter.module_mut_unheard();
        // The name goes with the uses; the old value, unused now, loses it.
        module.set_value_name(new, module.value_name(value));
        module.set_value_name(value, None);
        rewriter.replace_uses(value, new);
        changed = true;
    }
    if changed { Ok(()) } else { Err(NoMatch::SILENT) }
}

/// The tensor that `value` has to be, if every element is a known number.
fn elements(module: &Module, value: Value) -> Option<Tensor> {
    let (dtype, shape) = constant::static_tensor(module.context(), module.value_type(value))?;
    let contents = value_contents(module, value)?;
    let numbers: Vec<i64> =
        contents.iter().map(|entry| entry.as_ref()?.as_int()).collect::<Option<_>>()?;
    if element_count(&shape) != Some(numbers.len()) || !(dtype.is_int() || dtype == DType::Bool) {
        return None;
    }
    let exact = Tensor::from_vec(&shape, numbers).ok()?;
    if dtype == DType::I64 { Some(exact) } else { cast(&exact, dtype).ok() }
}
