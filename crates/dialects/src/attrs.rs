//! Reading attribute dictionaries by name and kind.

use tangram_ir::{Attr, AttrData, Context, Type};
use tangram_tensor::DType;

use crate::dtype;

/// A view of an attribute dictionary.
#[derive(Clone, Copy)]
pub struct Attrs<'a> {
    context: &'a Context,
    dict: Attr,
}

impl<'a> Attrs<'a> {
    /// A view of `dict`.
    pub fn new(context: &'a Context, dict: Attr) -> Self {
        Self { context, dict }
    }

    /// The attribute `name`.
    pub fn find(&self, name: &str) -> Option<Attr> {
        self.context.entry_named(self.dict, name)
    }

    /// The integer `name`.
    pub fn int(&self, name: &str) -> Option<i64> {
        self.context.as_i64(self.find(name)?)
    }

    /// The integers `name`.
    pub fn ints(&self, name: &str) -> Option<Vec<i64>> {
        self.context.as_i64s(self.find(name)?)
    }

    /// The number `name`.
    pub fn float(&self, name: &str) -> Option<f64> {
        self.context.as_f64(self.find(name)?)
    }

    /// The numbers `name`.
    pub fn floats(&self, name: &str) -> Option<Vec<f64>> {
        match self.context.attr_data(self.find(name)?) {
            AttrData::Array(items) => items.iter().map(|&i| self.context.as_f64(i)).collect(),
            _ => None,
        }
    }

    /// The flag `name`; `false` if it is absent.
    pub fn flag(&self, name: &str) -> bool {
        self.bool(name).unwrap_or(false)
    }

    /// The boolean `name`.
    pub fn bool(&self, name: &str) -> Option<bool> {
        self.context.as_bool(self.find(name)?)
    }

    /// The text `name`.
    pub fn text(&self, name: &str) -> Option<&'a str> {
        self.context.as_text(self.find(name)?)
    }

    /// The texts `name`.
    pub fn texts(&self, name: &str) -> Option<Vec<&'a str>> {
        match self.context.attr_data(self.find(name)?) {
            AttrData::Array(items) => items.iter().map(|&i| self.context.as_text(i)).collect(),
            _ => None,
        }
    }

    /// The type that the tensor `attr` states itself.
    pub fn tensor_type(&self, attr: Attr) -> Option<Type> {
        match self.context.attr_data(attr) {
            AttrData::Dense { ty, .. } | AttrData::Resource { ty, .. } => Some(*ty),
            _ => None,
        }
    }

    /// The type `name`.
    pub fn ty(&self, name: &str) -> Option<Type> {
        match self.context.attr_data(self.find(name)?) {
            AttrData::Type(ty) => Some(*ty),
            _ => None,
        }
    }

    /// The element type `name`.
    pub fn dtype(&self, name: &str) -> Option<DType> {
        dtype::dtype_of(self.context, self.ty(name)?)
    }
}
