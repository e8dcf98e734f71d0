//! What a part writes.

use std::collections::BTreeSet;

use lang_c::ast::{
    BinaryOperatorExpression, BlockItem, Declaration, Expression, ForStatement,
    UnaryOperatorExpression,
};
use lang_c::span::{Node, Span};
use lang_c::visit::{self, Visit};

use super::loops::steps;
use crate::access::{is_assignment, is_step};

/// Variables that a part writes, and those of its loops.
#[derive(Default)]
pub(super) struct Written {
    pub variables: BTreeSet<String>,
    pub loops: BTreeSet<String>,
}

impl Written {
    /// Looks through the items of a part.
    pub fn of(items: &[Node<BlockItem>]) -> Self {
        let mut written = Self::default();
        for item in items {
            written.visit_block_item(&item.node, &item.span);
        }
        written
    }

    fn note(&mut self, mut target: &Node<Expression>) {
        loop {
            target = match &target.node {
                Expression::BinaryOperator(binary) => &binary.node.lhs,
                Expression::Member(member) => &member.node.expression,
                _ => break,
            };
        }
        if let Expression::Identifier(id) = &target.node {
            self.variables.insert(id.node.name.clone());
        }
    }
}

impl<'ast> Visit<'ast> for Written {
    fn visit_for_statement(&mut self, inner: &'ast ForStatement, _: &'ast Span) {
        if let Some(steps) = steps(inner) {
            self.loops.insert(steps.name);
        }
        // Start and step write the loop variable alone.
        self.visit_statement(&inner.statement.node, &inner.statement.span);
    }

    fn visit_declaration(&mut self, declaration: &'ast Declaration, _: &'ast Span) {
        for declarator in &declaration.declarators {
            let kind = &declarator.node.declarator.node.kind.node;
            if let lang_c::ast::DeclaratorKind::Identifier(id) = kind {
                self.variables.insert(id.node.name.clone());
            }
        }
    }

    fn visit_binary_operator_expression(
        &mut self,
        binary: &'ast BinaryOperatorExpression,
        span: &'ast Span,
    ) {
        if is_assignment(&binary.operator.node) {
            self.note(&binary.lhs);
        }
        visit::visit_binary_operator_expression(self, binary, span);
    }

    fn visit_unary_operator_expression(
        &mut self,
        unary: &'ast UnaryOperatorExpression,
        span: &'ast Span,
    ) {
        if is_step(&unary.operator.node) {
            self.note(&unary.operand);
        }
        visit::visit_unary_operator_expression(self, unary, span);
    }
}
