//! Operators that a caller knows and this crate does not.
//!
//! What they compute stays unknown: no rule looks into them, and nodes are given back as they came.
//! What they give is said by a function, so that what is inferred, folded and rewritten behind them
//! rests on types. Equal ones are merged and those that nobody reads are erased, unless they are
//! declared to have effects.
//!
//! Declarations hold in a context: [`declare`] them before a model is imported into it. So do
//! [definitions](tangram_dialects::defined), which say what an operator computes as well.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError, RwLock, RwLockReadGuard};

use rustc_hash::FxHashMap;
use tangram_dialects::defined;
use tangram_ir::{Arity, Context, Module, OpDef, OperandDef, ResultDef, Traits, Type, Value};

use crate::proto::NodeProto;

/// Says what a node gives: a type for each output, none where that is not known. Inputs that are
/// absent are none.
pub type Infer = dyn Fn(&Module, &NodeProto, &[Option<Value>]) -> Vec<Option<Type>> + Send + Sync;

/// The declared operators of a context, by domain and name.
#[derive(Default)]
struct Declared {
    by_name: RwLock<FxHashMap<(String, String), Arc<Infer>>>,
}

impl Declared {
    fn all(&self) -> RwLockReadGuard<'_, FxHashMap<(String, String), Arc<Infer>>> {
        self.by_name.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes operator `name` of `domain` known to `context`.
///
/// `pure`: whether it gives the same for the same and has no effect beside that.
pub fn declare(context: &Context, domain: &str, name: &str, pure: bool, infer: Arc<Infer>) {
    let key = (domain.to_owned(), name.to_owned());
    let declared = &context.extension::<Declared>().by_name;
    declared.write().unwrap_or_else(PoisonError::into_inner).insert(key, infer);
    if pure {
        context.register([definition(&operation(context, domain, name))]);
    }
}

/// Whether the operator is declared.
pub fn is_declared(context: &Context, domain: &str, name: &str) -> bool {
    let key = (domain.to_owned(), name.to_owned());
    context.extension::<Declared>().all().contains_key(&key)
}

/// Whether the caller said what the operator computes.
pub(crate) fn is_defined(context: &Context, domain: &str, name: &str) -> bool {
    let def = context.def(context.name(&operation(context, domain, name)));
    def.is_some_and(defined::is_defined)
}

/// Makes what is declared in `from` known to `to`.
pub(crate) fn copy(from: &Context, to: &Context) {
    defined::copy(from, to);
    let all = from.extension::<Declared>().all().clone();
    for ((domain, name), infer) in all {
        let pure = from.def(from.name(&operation(from, &domain, &name))).is_some();
        declare(to, &domain, &name, pure, infer);
    }
}

/// What `node` gives, if its operator is declared.
pub(crate) fn result_types(
    module: &Module,
    node: &NodeProto,
    inputs: &[Option<Value>],
) -> Option<Vec<Option<Type>>> {
    let key = (node.domain().to_owned(), node.op_type().to_owned());
    let infer = module.context().extension::<Declared>().all().get(&key).cloned()?;
    Some(infer(module, node, inputs))
}

/// The operation that stands for nodes of an operator which nn does not know.
pub(crate) fn operation(context: &Context, domain: &str, name: &str) -> String {
    let plain = match domain {
        "" | "ai.onnx" => return format!("onnx.{name}"),
        domain => format!("{domain}.{name}"),
    };
    // A domain may well be called `nn`: its operators are not the operations of that dialect.
    let defined = context.def(context.name(&plain));
    match defined.is_some_and(|def| !is_ours(def)) {
        true => format!("onnx.{plain}"),
        false => plain,
    }
}

/// What definitions of declared operators say of themselves.
const SUMMARY: &str = "an operator that the caller declared";

/// Definitions live as long as the program: each name has one, however often it is declared.
static DEFINITIONS: LazyLock<Mutex<HashMap<String, &'static OpDef>>> =
    LazyLock::new(Mutex::default);

pub(crate) fn is_ours(def: &OpDef) -> bool {
    def.summary == SUMMARY || defined::is_defined(def)
}

/// The definition of a pure operation of any operands and results.
fn definition(name: &str) -> &'static OpDef {
    const ANY: Arity = Arity::Variadic;
    let mut all = DEFINITIONS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = all.get(name) {
        return known;
    }
    let def = OpDef {
        operands: &[OperandDef { name: "inputs", arity: ANY, doc: "as declared" }],
        results: &[ResultDef { name: "outputs", arity: ANY, doc: "as declared" }],
        regions: None,
        traits: Traits::PURE,
        ..OpDef::new(String::leak(name.to_owned()), SUMMARY)
    };
    let def: &'static OpDef = Box::leak(Box::new(def));
    all.insert(name.to_owned(), def);
    def
}
