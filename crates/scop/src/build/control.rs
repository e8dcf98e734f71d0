//! Expressions as statements, also several with `,` between them.

use lang_c::ast::Expression;
use lang_c::span::Node;

use super::{Builder, Item};
use crate::Problem;

impl Builder<'_> {
    /// Reads expressions that run one behind the other.
    pub(super) fn each(
        &mut self,
        all: &[Node<Expression>],
        order: &mut Vec<Item>,
    ) -> Result<(), Problem> {
        all.iter().try_for_each(|expression| self.expression(expression, order))
    }

    pub(super) fn expression(
        &mut self,
        node: &Node<Expression>,
        order: &mut Vec<Item>,
    ) -> Result<(), Problem> {
        if let Expression::Comma(all) = &node.node {
            return self.each(all, order);
        }
        let accesses = self.effects(node)?;
        self.add(node.span, self.text(node.span), accesses, order);
        Ok(())
    }
}
