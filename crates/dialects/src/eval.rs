//! Reference evaluation of operations on constant operands.

use rustc_hash::FxHashMap;
use tangram_ir::{Attr, Context, Module, Name, Op, OpDef, Type};
use tangram_tensor::{KernelError, Tensor};

use crate::attrs::Attrs;

/// Why an operation was not evaluated.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvalError {
    /// The operation has no reference evaluation.
    #[error("`{0}` has no reference evaluation")]
    Unsupported(String),
    /// An operand that has to be there is absent.
    #[error("operand {0} is absent")]
    AbsentOperand(usize),
    /// An attribute that has to be there is absent or of another kind.
    #[error("attribute `{0}` is absent or of another kind")]
    Attribute(&'static str),
    /// The kernel refused.
    #[error(transparent)]
    Kernel(#[from] KernelError),
}

/// Evaluates an operation: one tensor for each result.
pub type EvalFn = fn(&EvalCx<'_>) -> Result<Vec<Tensor>, EvalError>;

/// What evaluation may look at.
#[derive(Clone, Copy)]
pub struct EvalCx<'a> {
    /// The context.
    pub context: &'a Context,
    /// The definition.
    pub def: &'static OpDef,
    /// The attribute dictionary.
    pub dict: Attr,
    /// The operands; `None` for an absent one.
    pub operands: &'a [Option<Tensor>],
    /// The result types, as inferred.
    pub results: &'a [Type],
}

impl<'a> EvalCx<'a> {
    /// The attributes.
    pub fn attrs(&self) -> Attrs<'a> {
        Attrs::new(self.context, self.dict)
    }

    /// Operand `i`, if it is there.
    pub fn get(&self, i: usize) -> Option<&'a Tensor> {
        self.operands.get(i).and_then(Option::as_ref)
    }

    /// Operand `i`, which has to be there.
    pub fn need(&self, i: usize) -> Result<&'a Tensor, EvalError> {
        self.get(i).ok_or(EvalError::AbsentOperand(i))
    }

    /// Every operand, all of which have to be there.
    pub fn all(&self) -> Result<Vec<&'a Tensor>, EvalError> {
        (0..self.operands.len()).map(|i| self.need(i)).collect()
    }
}

/// The reference evaluations of a context, by operation name.
#[derive(Default)]
pub(crate) struct EvalTable {
    pub(crate) functions: parking_lot::RwLock<FxHashMap<Name, EvalFn>>,
}

/// Evaluates `op` on `operands`.
pub fn evaluate(
    module: &Module,
    op: Op,
    operands: &[Option<Tensor>],
) -> Result<Vec<Tensor>, EvalError> {
    let context = module.context();
    let name = module.name(op);
    let unsupported = || EvalError::Unsupported(context.name_text(name).to_owned());
    let table = context.extension::<EvalTable>();
    let function = table.functions.read().get(&name).copied().ok_or_else(unsupported)?;
    let results: Vec<Type> = module.results(op).map(|v| module.value_type(v)).collect();
    function(&EvalCx {
        context,
        def: context.def(name).ok_or_else(unsupported)?,
        dict: module.attrs(op),
        operands,
        results: &results,
    })
}
