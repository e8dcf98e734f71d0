//! How much an expression grows with a variable: `n - 2 * i` by -2 with each step of `i`.

use lang_c::ast::{BinaryOperator, Expression, Identifier, UnaryOperator};
use lang_c::span::{Node, Span};
use lang_c::visit::{self, Visit};

use crate::number::integer;

/// Returns by how much an expression grows when a variable grows by 1; nothing if that is not the
/// same everywhere.
pub(super) fn growth(node: &Node<Expression>, name: &str) -> Option<i128> {
    match &node.node {
        Expression::Identifier(id) => Some(i128::from(id.node.name == name)),
        Expression::UnaryOperator(unary) => {
            let inner = || growth(&unary.node.operand, name);
            match unary.node.operator.node {
                UnaryOperator::Plus => inner(),
                UnaryOperator::Minus => inner()?.checked_neg(),
                _ => still(node, name),
            }
        }
        Expression::BinaryOperator(binary) => {
            let (lhs, rhs) = (&*binary.node.lhs, &*binary.node.rhs);
            match binary.node.operator.node {
                BinaryOperator::Plus => growth(lhs, name)?.checked_add(growth(rhs, name)?),
                BinaryOperator::Minus => growth(lhs, name)?.checked_sub(growth(rhs, name)?),
                BinaryOperator::Multiply => match (integer(&lhs.node), integer(&rhs.node)) {
                    (Some(factor), _) => growth(rhs, name)?.checked_mul(factor),
                    (_, Some(factor)) => growth(lhs, name)?.checked_mul(factor),
                    _ => still(node, name),
                },
                _ => still(node, name),
            }
        }
        _ => still(node, name),
    }
}

/// 0 for an expression without the variable.
fn still(node: &Node<Expression>, name: &str) -> Option<i128> {
    let mut search = Search { name, found: false };
    search.visit_expression(&node.node, &node.span);
    (!search.found).then_some(0)
}

struct Search<'a> {
    name: &'a str,
    found: bool,
}

impl<'ast> Visit<'ast> for Search<'_> {
    fn visit_identifier(&mut self, identifier: &'ast Identifier, span: &'ast Span) {
        self.found |= identifier.name == self.name;
        visit::visit_identifier(self, identifier, span);
    }
}
