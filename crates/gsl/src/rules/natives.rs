//! Functions that rules call by name.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use tangram_ir::{Context, Module, Point, Value, ValueDef};
use tangram_rewrite::Rewriter;

use crate::definition::Definition;
use crate::eval::AttrValue;

/// An argument of a registered function.
#[derive(Clone, Debug)]
pub enum NativeArgument {
    /// What a pattern matched.
    Value(Value),
    /// An attribute value.
    Attribute(AttrValue),
}

/// Computes an attribute value or a condition; none refuses.
pub type NativeAttribute =
    Arc<dyn Fn(&Module, &[NativeArgument]) -> Option<AttrValue> + Send + Sync>;

/// Makes values at a point from operands and named attributes; none refuses, having made nothing.
pub type NativeBuilder = Arc<
    dyn Fn(&mut Rewriter<'_>, Point, &[Value], &[(String, AttrValue)]) -> Option<Vec<Value>>
        + Send
        + Sync,
>;

/// The registered functions, by name.
#[derive(Clone, Default)]
pub struct Natives {
    attributes: BTreeMap<String, NativeAttribute>,
    builders: BTreeMap<String, NativeBuilder>,
    definitions: Vec<Arc<Definition>>,
}

impl fmt::Debug for Natives {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.attributes.keys().chain(self.builders.keys())).finish()
    }
}

impl Natives {
    /// Makes the functions that every rule may call: `absent(value, "name")`.
    pub fn standard() -> Self {
        let mut natives = Self::default();
        natives.add_attribute("absent", Arc::new(absent));
        natives
    }

    /// Registers a function for attribute expressions.
    pub fn add_attribute(&mut self, name: &str, function: NativeAttribute) -> &mut Self {
        self.attributes.insert(name.to_owned(), function);
        self
    }

    /// Registers a function for targets.
    pub fn add_builder(&mut self, name: &str, function: NativeBuilder) -> &mut Self {
        self.builders.insert(name.to_owned(), function);
        self
    }

    /// Registers what an operator of the caller's computes.
    pub fn add_definition(&mut self, definition: Definition) -> &mut Self {
        self.definitions.push(Arc::new(definition));
        self
    }

    /// Makes the operators of the caller's known to `context`.
    pub fn define_in(&self, context: &Context) {
        for definition in &self.definitions {
            definition.define_in(context);
        }
    }

    /// The names of all functions.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.attributes.keys().chain(self.builders.keys()).map(String::as_str)
    }

    /// Returns whether there is a function of this name for attribute expressions.
    pub fn has_attribute(&self, name: &str) -> bool {
        self.attributes.contains_key(name)
    }

    /// Calls a function for attribute expressions.
    pub fn attribute(
        &self,
        name: &str,
        module: &Module,
        args: &[NativeArgument],
    ) -> Option<AttrValue> {
        self.attributes.get(name)?(module, args)
    }

    /// Returns a function for targets.
    pub fn builder(&self, name: &str) -> Option<&NativeBuilder> {
        self.builders.get(name)
    }
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
