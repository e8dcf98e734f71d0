//! Subscripts that are computed in types that wrap around.
//!
//! Relations are over numbers without limits, and new loops run over `long long`. A subscript of type
//! `unsigned` may wrap around and stay in its array all the same:
//!
//! ```c
//! x[i + m]                                     // x[i - 1] for m = 4294967295
//! x[j * n + j]                                 // x[0] for j = 2 and n = 2147483647
//! ```
//!
//! An affine subscript claims that it does not. Where that holds for some parameters only, code tests them
//! ([`Part::test`](crate::Part::test)); where it holds for none, the access is one of any element, and its
//! text computes in the types of the source. A product says in which type it has to fit
//! ([`Flat::limit`](crate::Flat::limit)).

use lang_c::ast::{BinaryOperator, Expression, UnaryOperator};
use lang_c::span::Node;

use crate::affine::Claim;
use crate::build::Builder;
use crate::c_integer::{Range, SIZE};
use crate::subscript::Subscript;

/// In which types that wrap around a value is computed.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) enum Wrapping {
    #[default]
    Never,
    /// In one, so that only the whole value has to fit.
    In(Range),
    /// In several.
    Mixed,
}

/// What an access needs of the types in which its subscripts are computed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wraps {
    /// What has to hold for them to be the values that they are read as.
    pub claims: Vec<Claim>,
    /// The type of a product that has to fit.
    pub product: Option<Range>,
    /// Whether a wider type would change values that do not fit: not so for as many bits as a pointer has.
    pub narrow: bool,
}

impl Wrapping {
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Never, one) | (one, Self::Never) => one,
            (a, b) if a == b => a,
            _ => Self::Mixed,
        }
    }

    /// Converts the value to a type.
    pub fn converted(self, to: Option<Range>) -> Self {
        match self {
            Self::In(range) if to.is_none_or(|to| to.promoted() != range) => Self::Mixed,
            same => same,
        }
    }

    pub fn is_narrow(self) -> bool {
        !matches!(self, Self::Never | Self::In(SIZE))
    }
}

impl Builder<'_> {
    /// Says in which types a subscript is computed.
    pub(crate) fn wrapping(&self, subscript: &Subscript) -> Wrapping {
        let start = subscript.start.as_ref().map_or(Wrapping::Never, |start| start.wrapping);
        let terms = subscript.terms.iter();
        let all = terms.map(|(_, term)| self.wrapping_of(term)).fold(start, Wrapping::and);
        // Each moves the pointer by itself.
        let alone = subscript.terms.len() + usize::from(subscript.start.is_some()) < 2;
        match all {
            Wrapping::In(range) if !alone && range != SIZE => Wrapping::Mixed,
            all => all,
        }
    }

    /// Says in which types a value is computed.
    pub(crate) fn wrapping_of(&self, node: &Node<Expression>) -> Wrapping {
        let (mut found, mut open) = (Wrapping::Never, vec![node]);
        while let Some(node) = open.pop() {
            match &node.node {
                Expression::BinaryOperator(binary)
                    if binary.node.operator.node != BinaryOperator::Index =>
                {
                    open.extend([&*binary.node.lhs, &*binary.node.rhs]);
                }
                Expression::UnaryOperator(unary)
                    if unary.node.operator.node != UnaryOperator::Indirection =>
                {
                    open.push(&unary.node.operand);
                }
                Expression::Cast(cast) => open.push(&cast.node.expression),
                Expression::Conditional(choice) => {
                    open.extend([&*choice.node.then_expression, &*choice.node.else_expression]);
                }
                Expression::Identifier(id) => {
                    let value = self.value_of(&id.node.name);
                    found = found.and(value.map_or(Wrapping::Never, |value| value.wrapping));
                    continue;
                }
                _ => continue,
            }
            let own = self.range_of(node).map(Range::promoted).filter(|own| own.wraps());
            found = found.and(own.map_or(Wrapping::Never, Wrapping::In));
        }
        found.converted(self.range_of(node))
    }
}
