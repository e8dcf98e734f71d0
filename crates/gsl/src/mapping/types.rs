//! Whether a target may stand for a source, by its type.

use tangram_dialects::dims;
use tangram_ir::{Context, Diagnostic, Dim, Module, Op, Type, Value};
use tangram_presburger::symbolic::Truth;

use super::refuse;
use crate::matching::type_text;
use crate::plan::Plan;

/// Refuses a target whose type is not that of the source, as far as both are known.
///
/// Element types are equal; so are extents for all values of their symbols, unless one is unknown.
pub(super) fn compatible(
    plan: &Plan,
    module: &Module,
    root: Op,
    old: Value,
    new: Value,
) -> Result<(), Diagnostic> {
    let context = module.context();
    let (old, new) = (module.value_type(old), module.value_type(new));
    if merged(context, old, new).is_some() {
        return Ok(());
    }
    let (old, new) = (type_text(context, old), type_text(context, new));
    let message = format!("the source has type {old}, the target {new}");
    Err(refuse(plan, module, root, "target-type", &message))
}

/// Returns what two types of one value say together; none if they contradict each other.
pub fn merged(context: &Context, old: Type, new: Type) -> Option<Type> {
    if old == new {
        return Some(new);
    }
    let (element, other) = (context.element_type(old)?, context.element_type(new)?);
    if element != other {
        return None;
    }
    match (context.as_tensor(old), context.as_tensor(new)) {
        (Some((a, _)), Some((b, _))) if a.len() == b.len() => {
            let dims = a.iter().zip(b).map(|(a, b)| merged_dim(context, *a, *b));
            Some(context.tensor_type(&dims.collect::<Option<Vec<_>>>()?, element))
        }
        (Some(_), Some(_)) => None,
        (Some(_), None) => Some(old),
        (None, _) => Some(new),
    }
}

fn merged_dim(context: &Context, old: Dim, new: Dim) -> Option<Dim> {
    if new.is_unknown() {
        Some(old)
    } else if old.is_unknown() || dims::equal(context, old, new) == Truth::True {
        Some(new)
    } else {
        None
    }
}
