//! What a part writes.

use std::collections::BTreeSet;

use lang_c::ast::{
    BinaryOperator, BinaryOperatorExpression, BlockItem, Declaration, Expression, ForStatement,
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
    /// Variables that get another value themselves, not their elements or members.
    pub assigned: BTreeSet<String>,
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

    fn note(&mut self, target: &Node<Expression>) {
        if let Expression::Identifier(id) = &target.node {
            self.assigned.insert(id.node.name.clone());
        }
        let mut open = vec![target];
        while let Some(target) = open.pop() {
            match &target.node {
                Expression::BinaryOperator(binary) => match binary.node.operator.node {
                    // Either side could be the pointer.
                    BinaryOperator::Plus => open.extend([&*binary.node.lhs, &*binary.node.rhs]),
                    _ => open.push(&binary.node.lhs),
                },
                Expression::Member(member) => open.push(&member.node.expression),
                Expression::UnaryOperator(unary) => open.push(&unary.node.operand),
                Expression::Cast(cast) => open.push(&cast.node.expression),
                Expression::Identifier(id) => drop(self.variables.insert(id.node.name.clone())),
                _ => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for Written {
    fn visit_for_statement(&mut self, inner: &'ast ForStatement, span: &'ast Span) {
        let Some(steps) = steps(inner) else {
            return visit::visit_for_statement(self, inner, span);
        };
        self.loops.insert(steps.name);
        for other in steps.others {
            self.visit_expression(&other.node, &other.span);
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
