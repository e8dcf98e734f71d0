//! Operations that a caller defines by others.
//!
//! ```text
//! acme.ScaledTanh(x) {alpha} = multiply(tanh(x), alpha)
//! ```
//!
//! A [`Definition`] says what an operation takes, gives and computes; it holds in a [`Context`].
//! Whatever asks the dialects what an operation is, inference and evaluation among others, knows
//! it then as any other.
//!
//! Definitions may name each other, in any order. How deep and how often one opens others is
//! limited: ten that each name the last one ten times are 10¹⁰ operations.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use parking_lot::RwLock;
use rustc_hash::FxHashMap;
use tangram_ir::{
    Arity, AttrDef, AttrKind, Context, InferCx, InferError, Inferred, Module, Name, Op, OpDef,
    OperandDef, ResultDef, Traits,
};

use crate::eval::{EvalCx, EvalError, EvalTable, Evaluated};

/// What definitions of operations that a caller defines say of themselves.
const SUMMARY: &str = "an operation that the caller defined";

/// How deep definitions open each other.
const DEEPEST: usize = 16;

/// How many definitions are opened to infer or evaluate one operation.
const MOST: usize = 1 << 10;

/// Says what an operation takes, gives and computes. It has one result and no effect.
pub trait Definition: Send + Sync {
    /// The names of its operands.
    fn operands(&self) -> Vec<String>;

    /// The attributes that it reads; none has to be there.
    fn attributes(&self) -> Vec<(String, AttrKind)>;

    /// Infers the result.
    ///
    /// # Errors
    /// Why it is not defined for these operands.
    fn infer(&self, cx: &InferCx<'_>) -> Result<Inferred, InferError>;

    /// Evaluates the result.
    ///
    /// # Errors
    /// Why it is not defined for these operands.
    fn evaluate(&self, cx: &EvalCx<'_>) -> Evaluated;

    /// Estimates how many elementary steps the evaluation of `op`, which it defines, takes: those of
    /// all that it is made of.
    fn work(&self, module: &Module, op: Op) -> u64;

    /// The same in another context.
    fn within(&self, context: &Context) -> Arc<dyn Definition>;
}

/// The definitions of a context.
#[derive(Default)]
struct Defined {
    by_name: RwLock<FxHashMap<Name, Arc<dyn Definition>>>,
}

/// Makes operation `name` known to `context`. The first definition of a name stays.
pub fn define(context: &Context, name: &str, definition: Arc<dyn Definition>) {
    let handle = context.name(name);
    if context.def(handle).is_some() {
        return;
    }
    context.register([op_def(name, &*definition)]);
    context.extension::<EvalTable>().functions.write().insert(handle, evaluate);
    context.extension::<Defined>().by_name.write().insert(handle, definition);
}

/// Returns whether `def` is that of an operation which a caller defined.
pub fn is_defined(def: &OpDef) -> bool {
    def.summary == SUMMARY
}

/// The operations of a context that a caller defined.
pub(crate) fn names(context: &Context) -> Vec<Name> {
    context.extension::<Defined>().by_name.read().keys().copied().collect()
}

/// Estimates how many elementary steps the evaluation of `op` takes, if a caller defined it.
pub(crate) fn work(module: &Module, op: Op) -> Option<u64> {
    let found = definition(module.context(), module.name(op))?;
    // What cannot be opened cannot be evaluated either.
    Some(opened(|| found.work(module, op)).unwrap_or(u64::MAX))
}

/// Makes what is defined in `from` known to `to`.
pub fn copy(from: &Context, to: &Context) {
    let all: Vec<_> = from.extension::<Defined>().by_name.read().clone().into_iter().collect();
    for (name, definition) in all {
        define(to, from.name_text(name), definition.within(to));
    }
}

fn definition(context: &Context, name: Name) -> Option<Arc<dyn Definition>> {
    context.extension::<Defined>().by_name.read().get(&name).cloned()
}

fn infer(cx: &InferCx<'_>) -> Result<Inferred, InferError> {
    let found = definition(cx.context(), cx.name);
    let opened = found.and_then(|definition| opened(|| definition.infer(cx)));
    opened.unwrap_or_else(|| Err(InferError::mismatch(too_deep(cx.def.name))))
}

fn evaluate(cx: &EvalCx<'_>) -> Evaluated {
    let name = cx.def.name;
    let found = definition(cx.context, cx.context.name(name));
    let opened = found.and_then(|definition| opened(|| definition.evaluate(cx)));
    opened.unwrap_or_else(|| Err(EvalError::Undefined(too_deep(name))))
}

fn too_deep(name: &str) -> String {
    format!(
        "the definition of `{name}` opens more than {DEEPEST} others in a row, or {MOST} in all"
    )
}

thread_local! {
    /// How deep definitions are opened here, and how many were since the outermost.
    static OPEN: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// Goes into a definition, unless that is too deep or too often.
fn opened<T>(within: impl FnOnce() -> T) -> Option<T> {
    let (depth, count) = OPEN.get();
    if depth >= DEEPEST || count >= MOST {
        return None;
    }
    /// Comes out again, also where `within` panics.
    struct Out(usize);
    impl Drop for Out {
        fn drop(&mut self) {
            OPEN.set((self.0, if self.0 == 0 { 0 } else { OPEN.get().1 }));
        }
    }
    OPEN.set((depth + 1, count + 1));
    let _out = Out(depth);
    Some(within())
}

/// What two definitions of operations differ in.
type Signature = (String, Vec<String>, Vec<(String, AttrKind)>);

/// Definitions by what they differ in.
type Known = Vec<(Signature, &'static OpDef)>;

/// Definitions live as long as the program: each signature has one, however often it is defined.
static OP_DEFS: LazyLock<Mutex<HashMap<String, Known>>> = LazyLock::new(Mutex::default);

fn op_def(name: &str, definition: &dyn Definition) -> &'static OpDef {
    let signature = (name.to_owned(), definition.operands(), definition.attributes());
    let mut all = OP_DEFS.lock().unwrap_or_else(PoisonError::into_inner);
    let of_name = all.entry(name.to_owned()).or_default();
    if let Some((_, known)) = of_name.iter().find(|(known, _)| *known == signature) {
        return known;
    }
    let made = leaked(&signature);
    of_name.push((signature, made));
    made
}

fn leaked((name, operands, attributes): &Signature) -> &'static OpDef {
    let leak = |text: &String| -> &'static str { String::leak(text.clone()) };
    let operands: Vec<OperandDef> = operands
        .iter()
        .map(|name| OperandDef { name: leak(name), arity: Arity::One, doc: "as defined" })
        .collect();
    let attributes: Vec<AttrDef> = attributes
        .iter()
        .map(|(name, kind)| AttrDef::optional(leak(name), *kind, "as defined"))
        .collect();
    Box::leak(Box::new(OpDef {
        operands: Vec::leak(operands),
        results: &[ResultDef { name: "result", arity: Arity::One, doc: "as defined" }],
        attrs: Vec::leak(attributes),
        traits: Traits::PURE,
        infer: Some(infer),
        ..OpDef::new(leak(name), SUMMARY)
    }))
}
