//! When two types may describe the same value.

use crate::attributes::{Attr, AttrData};
use crate::context::Context;
use crate::types::{Dim, Type, TypeData};

/// Returns whether some value could have both types: they differ at most in how much they know of
/// a tensor's extents. Two symbolic extents may be equal.
pub fn compatible(context: &Context, a: Type, b: Type) -> bool {
    if a == b {
        return true;
    }
    match (context.type_data(a), context.type_data(b)) {
        (TypeData::Tensor(a), TypeData::Tensor(b)) => {
            a.element == b.element && extents(&a.dims, &b.dims)
        }
        (TypeData::Tensor(ranked), TypeData::UnrankedTensor(element))
        | (TypeData::UnrankedTensor(element), TypeData::Tensor(ranked)) => {
            ranked.element == *element
        }
        // A sequence or an optional value: what it holds.
        (
            TypeData::Dialect { name: a, params: of_a },
            TypeData::Dialect { name: b, params: of_b },
        ) => a == b && of_a.len() == of_b.len() && params(context, of_a, of_b),
        _ => false,
    }
}

/// Returns whether parameters differ at most in types that may describe the same value.
fn params(context: &Context, a: &[Attr], b: &[Attr]) -> bool {
    a.iter().zip(b).all(|(&a, &b)| match (context.attr_data(a), context.attr_data(b)) {
        (AttrData::Type(a), AttrData::Type(b)) => compatible(context, *a, *b),
        _ => a == b,
    })
}

fn extents(a: &[Dim], b: &[Dim]) -> bool {
    let differ = |(a, b): (&Dim, &Dim)| match (a.as_static(), b.as_static()) {
        (Some(a), Some(b)) => a != b,
        _ => false,
    };
    a.len() == b.len() && !a.iter().zip(b).any(differ)
}
