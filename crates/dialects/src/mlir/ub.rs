//! MLIR's `ub` dialect: values and places that only undefined behaviour reaches.

use tangram_ir::{Absence, AttrData, AttrKind, OpDef, Traits, Type, Value};

use super::fold::{Cx, Native, Rewrite};
use super::{RESULT, optional};

/// The patterns, with their roots.
pub(super) const REWRITES: &[Rewrite] =
    &[("select-no-poison", &["arith.select"], select_no_poison)];

/// What is computed of poison is poison.
pub(super) fn poison_operands() -> Native {
    Native::of_traits("poison-operand", Traits::PROPAGATES_POISON, poison_operand)
}

/// Returns whether every element of `value` may be anything.
fn is_poison(cx: &Cx<'_, '_>, value: Value) -> bool {
    let module = cx.module();
    let Some(def) = module.def_op(value).filter(|&op| module.name_text(op) == "ub.poison") else {
        return false;
    };
    let Some(which) = module.attr(def, "value") else { return true };
    match cx.context.attr_data(which) {
        AttrData::Opaque(text) => cx.context.text(*text).trim_start_matches('#') == "ub.poison",
        _ => false,
    }
}

fn poison_operand(cx: &mut Cx<'_, '_>) -> Option<()> {
    let operands: Vec<Value> = cx.module().operands(cx.op).collect();
    let poison = operands.into_iter().find(|&value| is_poison(cx, value))?;
    let def = cx.module().def_op(poison)?;
    let (name, attrs) = (cx.module().name(def), cx.module().attrs(def));
    let results = cx.module().results(cx.op);
    let types: Vec<Type> = results.map(|value| cx.type_of(value)).collect();
    let mut values = Vec::with_capacity(types.len());
    for ty in types {
        values.push(if cx.type_of(poison) == ty {
            poison
        } else {
            let made = cx.make(name, &[], attrs, &[ty]);
            cx.module().result(made, 0)
        });
    }
    cx.replace(&values)
}

/// A choice between a value and one that may be anything is the value.
fn select_no_poison(cx: &mut Cx<'_, '_>) -> Option<()> {
    let [yes, no] = [1, 2].map(|i| cx.operand(i));
    if is_poison(cx, yes) {
        cx.replace(&[no])
    } else if is_poison(cx, no) {
        cx.replace(&[yes])
    } else {
        None
    }
}

/// Every definition of this dialect.
pub static DEFS: &[OpDef] = &[
    OpDef {
        results: RESULT,
        attrs: &[optional("value", AttrKind::Any, "which elements; all where absent")
            .absent(Absence::Means("#ub.poison"))],
        traits: Traits::PURE,
        assembly: Some("attr-dict ( `<` $value `>` )? `:` type($result)"),
        ..OpDef::new("ub.poison", "a value that may be anything")
    },
    OpDef {
        traits: Traits::TERMINATOR,
        assembly: Some("attr-dict"),
        ..OpDef::new("ub.unreachable", "a place that is never reached")
    },
];
