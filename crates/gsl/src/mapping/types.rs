//! Whether a target may stand for a source, by its type.

use tangram_affine::symbolic::Truth;
use tangram_dialects::{defined, dims};
use tangram_ir::{Context, Diagnostic, Dim, Module, Type, Value};

use super::NO_CHANGE;
use super::build::Builder;
use super::extents::{self, Doubt};
use super::progress;
use crate::matching::{Match, type_text};

impl Builder<'_, '_> {
    /// Maps the target outputs, and compares them with those of the source.
    ///
    /// Element types are equal; so are extents, for all values of their symbols and of what is
    /// unknown.
    pub(super) fn checked_outputs(&mut self, found: &Match) -> Result<Vec<Value>, Diagnostic> {
        let (old, new) = (found.outputs(), self.outputs()?);
        if old.len() != new.len() {
            let message = format!("the source has {} outputs, the target {}", old.len(), new.len());
            return Err(self.refuse("output-count", &message));
        }
        if progress::is_same(self.module(), old, &new) {
            return Err(self.refuse(NO_CHANGE, "the target is what was matched"));
        }
        let pairs: Vec<(Value, Value)> = old.iter().copied().zip(new.iter().copied()).collect();
        for &(old, new) in &pairs {
            if !is_unsaid(self.module(), old) && !is_compatible(self.module(), old, new) {
                return Err(self.refuse("target-type", &self.types_text(old, new)));
            }
        }
        self.check_extents(found, &pairs)?;
        Ok(new)
    }

    /// Refuses a rewrite that may be wrong for some values of what is unknown.
    fn check_extents(&mut self, found: &Match, pairs: &[(Value, Value)]) -> Result<(), Diagnostic> {
        if let Some(value) = self.newly_unknown(found) {
            let ty = type_text(self.module().context(), self.module().value_type(value));
            let message = format!(
                "all extents of the source are known, and the target makes {ty}: it may be defined \
                 nowhere"
            );
            return Err(self.refuse("target-type", &message));
        }
        let module = self.module();
        let known = |value: Value| is_known(module, value);
        let made = self.made().iter().flat_map(|op| module.operands(*op));
        let values = pairs.iter().flat_map(|(old, new)| [*old, *new]);
        // Of operators that nobody defined the rule says what they are.
        let foreign = found.ops().iter().any(|op| module.def(*op).is_none());
        if self.settings.trusted || foreign || values.chain(made).all(known) {
            return Ok(());
        }
        let made = self.made().to_vec();
        let module = self.rewriter.module_mut_unheard();
        let Some(doubt) = extents::doubt(module, (found.ops(), &made), pairs) else {
            return Ok(());
        };
        if (self.settings.keeps_extents)() {
            return Ok(());
        }
        let message = match doubt {
            Doubt::Types(old, new) => format!(
                "{}, and whether unknown extents are equal is not known",
                self.types_text(old, new)
            ),
            Doubt::Needs(what) => format!("the target is defined only where {what}"),
        };
        let hint = "; a `where` that compares the extents of the operands decides it";
        Err(self.refuse("unknown-extents", &(message + hint)))
    }

    /// A value of the target with unknown extents, where the source and what is read have none: a
    /// window that does not fit.
    fn newly_unknown(&self, found: &Match) -> Option<Value> {
        let module = self.module();
        let made = self.made();
        let new = made.iter().flat_map(|op| module.results(*op)).find(|v| !is_known(module, *v))?;
        let read = made.iter().flat_map(|op| module.operands(*op));
        let read = read.filter(|v| module.def_op(*v).is_none_or(|op| !made.contains(&op)));
        let old = found.ops().iter().flat_map(|op| module.results(*op));
        read.chain(old).all(|value| is_known(module, value)).then_some(new)
    }

    fn types_text(&self, old: Value, new: Value) -> String {
        let text = |value| type_text(self.module().context(), self.module().value_type(value));
        format!("the source has type {}, the target {}", text(old), text(new))
    }
}

/// Whether nothing is said of the type of a value, which an operator of the caller's makes.
fn is_unsaid(module: &Module, value: Value) -> bool {
    let element = module.context().element_type(module.value_type(value));
    let is_theirs = |op| module.def(op).is_none_or(defined::is_defined);
    element.is_none() && module.def_op(value).is_some_and(is_theirs)
}

/// Whether the types of two values agree as far as they are known.
fn is_compatible(module: &Module, old: Value, new: Value) -> bool {
    let (old, new) = (module.value_type(old), module.value_type(new));
    merged(module.context(), old, new).is_some()
}

/// Whether the extents of a value are numbers.
fn is_known(module: &Module, value: Value) -> bool {
    let (context, ty) = (module.context(), module.value_type(value));
    match context.as_tensor(ty) {
        Some((extents, _)) => extents.iter().all(|extent| extent.as_static().is_some()),
        None => context.element_type(ty).is_none(),
    }
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
