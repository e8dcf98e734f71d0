//! Functions that rules call by name.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use tangram_ir::{Module, Point, Value};
use tangram_rewrite::Rewriter;

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
}

impl fmt::Debug for Natives {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.attributes.keys().chain(self.builders.keys())).finish()
    }
}

impl Natives {
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
