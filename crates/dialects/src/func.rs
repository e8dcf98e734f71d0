//! MLIR's `func` dialect: functions, calls, returns.

use rustc_hash::FxHashMap;
use tangram_ir::{
    Arity, AttrData, AttrDef, AttrKind, Diagnostic, Module, Op, OpDef, OpState, OperandDef, Point,
    ResultDef, Traits, Type, TypeData, Value,
};

use crate::mlir::fold::{Cx, Rewrite};
use crate::mlir::verify::{Checked, Site};

/// Every definition of this dialect.
pub static DEFS: &[&OpDef] = &[&FUNC, &RETURN, &CALL, &CALL_INDIRECT, &CONSTANT];

const ARG_ATTRS: AttrDef =
    optional("arg_attrs", AttrKind::Any, "a dictionary for each argument, all empty where absent");
const RES_ATTRS: AttrDef =
    optional("res_attrs", AttrKind::Any, "a dictionary for each result, all empty where absent");

const fn optional(name: &'static str, kind: AttrKind, doc: &'static str) -> AttrDef {
    AttrDef::optional(name, kind, doc)
}

/// `func.func`.
pub static FUNC: OpDef = OpDef {
    attrs: &[
        AttrDef::required("sym_name", AttrKind::Str, "the name"),
        AttrDef::required("function_type", AttrKind::Type, "the type"),
        optional("sym_visibility", AttrKind::Str, "who may name it; everyone where absent"),
        ARG_ATTRS,
        RES_ATTRS,
        optional("no_inline", AttrKind::Any, "present where it is not to be inlined"),
    ],
    regions: Some(1),
    traits: Traits::ISOLATED.union(Traits::SYMBOL),
    verify: Some(check_function),
    default_dialect: "func",
    assembly: Some("function attr-dict-with-keyword ( region(0, hidden-args) )?"),
    ..OpDef::new("func.func", "a function")
};

/// `func.return`.
pub static RETURN: OpDef = OpDef {
    operands: &[OperandDef { name: "operands", arity: Arity::Variadic, doc: "the results" }],
    traits: Traits::TERMINATOR.union(Traits::PURE),
    verify: Some(check_return),
    assembly: Some("attr-dict ( $operands `:` type($operands) )?"),
    ..OpDef::new("func.return", "ends a function with its results")
};

/// `func.call`.
pub static CALL: OpDef = OpDef {
    operands: &[OperandDef { name: "operands", arity: Arity::Variadic, doc: "the arguments" }],
    results: &[ResultDef { name: "results", arity: Arity::Variadic, doc: "the results" }],
    attrs: &[
        AttrDef::required("callee", AttrKind::Any, "the symbol of the function"),
        ARG_ATTRS,
        RES_ATTRS,
        optional("no_inline", AttrKind::Any, "present where it is not to be inlined"),
    ],
    assembly: Some("$callee `(` $operands `)` attr-dict `:` functional-type"),
    ..OpDef::new("func.call", "calls a function by name")
};

/// `func.call_indirect`.
pub static CALL_INDIRECT: OpDef = OpDef {
    operands: &[
        OperandDef { name: "callee", arity: Arity::One, doc: "the function" },
        OperandDef { name: "operands", arity: Arity::Variadic, doc: "the arguments" },
    ],
    results: CALL.results,
    attrs: &[ARG_ATTRS, RES_ATTRS],
    assembly: Some("$callee `(` $operands `)` attr-dict `:` callee-type"),
    ..OpDef::new("func.call_indirect", "calls a function that is a value")
};

/// `func.constant`.
pub static CONSTANT: OpDef = OpDef {
    results: &[ResultDef { name: "result", arity: Arity::One, doc: "the function" }],
    attrs: &[AttrDef::required("value", AttrKind::Any, "the symbol of the function")],
    traits: Traits::PURE.union(Traits::CONSTANT_LIKE),
    assembly: Some("attr-dict $value `:` type($result)"),
    result_names: &["f"],
    ..OpDef::new("func.constant", "a function as a value")
};

/// What function `op` takes and gives.
pub(crate) fn signature(site: Site<'_>) -> Result<(Vec<Type>, Vec<Type>), Diagnostic> {
    let ty = site.module.attr(site.op, "function_type");
    let data = ty.map(|attr| site.context().attr_data(attr));
    match data {
        Some(AttrData::Type(ty)) => match site.context().type_data(*ty) {
            TypeData::Function { inputs, results } => Ok((inputs.to_vec(), results.to_vec())),
            _ => Err(site.error("attribute", "expected the type of a function")),
        },
        _ => Err(site.error("attribute", "expected the type of a function")),
    }
}

/// The entry block takes what the type says.
fn check_function(module: &Module, op: Op) -> Checked {
    let site = Site::new(module, op);
    let (inputs, _) = signature(site)?;
    let Some(entry) = site.block(0) else { return Ok(()) };
    let found = site.types(module.args(entry).iter().copied());
    site.fit("block arguments", &inputs, &found)
}

/// The operands are what the type of the function says.
fn check_return(module: &Module, op: Op) -> Checked {
    let site = Site::new(module, op);
    site.inside(&["func.func"])?;
    let Some(function) = module.parent(op) else { return Ok(()) };
    let (_, results) = signature(Site::new(module, function))?;
    site.fit("operands of types", &results, &site.operands())
}

/// Calls below the table of symbols `table` name functions that take and give what the calls say.
pub(crate) fn check_calls(module: &Module, table: Op) -> Checked {
    let (mut functions, mut calls) = (FxHashMap::default(), Vec::new());
    let mut open = vec![table];
    while let Some(op) = open.pop() {
        for block in module.regions(op).iter().flat_map(|&region| module.blocks(region)) {
            for inner in module.ops(block) {
                match module.name_text(inner) {
                    "func.call" => calls.push(inner),
                    "func.func" if op == table => {
                        functions.extend(symbol(module, inner).map(|name| (name, inner)));
                    }
                    _ => {}
                }
                // Names inside another table are its own.
                let has_regions = !module.regions(inner).is_empty();
                if has_regions && !module.has_traits(inner, Traits::SYMBOL_TABLE) {
                    open.push(inner);
                }
            }
        }
    }
    calls.into_iter().try_for_each(|call| check_call(Site::new(module, call), &functions))
}

fn symbol(module: &Module, function: Op) -> Option<&str> {
    module.context().as_text(module.attr(function, "sym_name")?)
}

fn check_call(site: Site<'_>, functions: &FxHashMap<&str, Op>) -> Checked {
    let callee = site.module.attr(site.op, "callee").map(|attr| site.context().attr_data(attr));
    let Some(AttrData::Symbol(path)) = callee else {
        return Err(site.error("callee", "expected a symbol as attribute `callee`"));
    };
    let name = path.first().map_or("", |&name| site.context().text(name));
    let Some(&function) = functions.get(name).filter(|_| path.len() == 1) else {
        return Err(site.error("callee", format_args!("expected a function, found no `@{name}`")));
    };
    let (inputs, results) = signature(Site::new(site.module, function))?;
    site.fit("operands of types", &inputs, &site.operands())?;
    site.fit("results of types", &results, &site.results())
}

/// The patterns, with their roots.
pub(crate) const REWRITES: &[Rewrite] =
    &[("call-known-function", &["func.call_indirect"], call_known_function)];

/// A call of a function that is a constant is a call by name.
fn call_known_function(cx: &mut Cx<'_, '_>) -> Option<()> {
    let module = cx.module();
    let constant = module.def_op(cx.operand(0))?;
    if module.name_text(constant) != "func.constant" {
        return None;
    }
    let callee = module.attr(constant, "value")?;
    let mut state = OpState::new(cx.context.name("func.call"), cx.loc());
    state.operands.extend(module.operands(cx.op).skip(1));
    state.results.extend(module.results(cx.op).map(|value| module.value_type(value)));
    state.attrs = cx.context.dict([(cx.context.str("callee"), callee)]);
    let call = cx.rewriter.create(Point::Before(cx.op), state);
    let results: Vec<Value> = cx.module().results(call).collect();
    cx.replace(&results)
}
