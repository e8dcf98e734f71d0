//! Functions that the shipped rules call by name.

use std::sync::Arc;

use tangram_gsl::eval::AttrValue;
use tangram_gsl::rules::{NativeArgument, Natives};
use tangram_ir::{Module, ValueDef};

/// The functions that rules may call.
pub fn natives() -> Arc<Natives> {
    let mut natives = Natives::default();
    natives.add_attribute("absent", Arc::new(absent));
    Arc::new(natives)
}

/// `absent(value, "name")`: whether the operation that makes `value` lacks the attribute.
fn absent(module: &Module, args: &[NativeArgument]) -> Option<AttrValue> {
    let [NativeArgument::Value(value), NativeArgument::Attribute(AttrValue::Str(name))] = args
    else {
        return None;
    };
    let ValueDef::Result(op, _) = module.value_def(*value) else { return None };
    Some(AttrValue::Bool(module.attr(op, name).is_none()))
}
