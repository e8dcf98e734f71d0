//! Sizes of elements and shapes of types that hold elements.

use crate::context::Context;
use crate::types::{Signedness, Type, TypeData};

impl Context {
    /// How many bytes an element of type `ty` takes in a dense attribute: the bits of a number
    /// rounded up to bytes, eight for `index`, twice those of the part for `complex`.
    pub fn element_bytes(&self, ty: Type) -> Option<usize> {
        let scalar = |ty: Type| match self.type_data(ty) {
            TypeData::Integer { width, .. } => Some(width.div_ceil(8).max(1) as usize),
            TypeData::Float(kind) => Some(kind.width().div_ceil(8) as usize),
            TypeData::Index => Some(8),
            _ => None,
        };
        match self.type_data(ty) {
            TypeData::Complex(part) => Some(2 * scalar(*part)?),
            _ => scalar(ty),
        }
    }

    /// Returns whether `ty` is `i1`.
    pub fn is_boolean(&self, ty: Type) -> bool {
        *self.type_data(ty) == TypeData::Integer { width: 1, sign: Signedness::Signless }
    }
}

/// The static extents and the element type of a tensor, vector or buffer.
pub(crate) fn shape(context: &Context, ty: Type) -> Option<(Vec<i64>, Type)> {
    match context.type_data(ty) {
        TypeData::Tensor(tensor) => {
            let dims = tensor.dims.iter().map(|dim| dim.as_static()).collect::<Option<_>>()?;
            Some((dims, tensor.element))
        }
        TypeData::MemRef { dims, element, .. } => {
            let dims = dims.iter().map(|dim| dim.as_static()).collect::<Option<_>>()?;
            Some((dims, *element))
        }
        TypeData::Vector { dims, element, .. } => Some((dims.to_vec(), *element)),
        _ => None,
    }
}

/// The type of what a tensor, vector or buffer holds, ranked or not.
pub(crate) fn element(context: &Context, ty: Type) -> Option<Type> {
    match context.type_data(ty) {
        TypeData::Tensor(tensor) => Some(tensor.element),
        TypeData::UnrankedTensor(element)
        | TypeData::Vector { element, .. }
        | TypeData::MemRef { element, .. }
        | TypeData::UnrankedMemRef { element, .. } => Some(*element),
        _ => None,
    }
}
