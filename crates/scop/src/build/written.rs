//! What a part writes.

use std::collections::{BTreeMap, BTreeSet};

use lang_c::ast::{
    BinaryOperator, BinaryOperatorExpression, BlockItem, Declaration, DeclaratorKind, Expression,
    ForStatement, InitDeclarator, Statement, UnaryOperator, UnaryOperatorExpression,
};
use lang_c::span::{Node, Span};
use lang_c::visit::{self, Visit};

use super::loops::steps;
use crate::access::{is_assignment, is_step};
use crate::declare::{Names, is_integer};
use crate::structure::{Path, Selector};

/// Variables that a part writes, and those of its loops.
#[derive(Default)]
pub(super) struct Written {
    /// Those around the part: what a block of it declares hides them there.
    pub variables: BTreeSet<String>,
    pub loops: BTreeSet<String>,
    /// Loop variables that live on behind their loops.
    pub outer_loops: BTreeSet<String>,
    /// Names that it uses where no block or loop of it declares them.
    pub outer: BTreeSet<String>,
    /// Variables that get another value themselves, not their elements or members.
    pub assigned: BTreeSet<String>,
    /// How often names are declared.
    pub declared: BTreeMap<String, usize>,
    /// Variables that are used otherwise than down to a number in a member.
    pub whole: BTreeSet<String>,
    /// Variables with members that have subscripts themselves: `p[i].x`.
    pub indexed: BTreeSet<String>,
    /// Members that get another value.
    pub members: BTreeSet<String>,
}

/// Looks for what is written.
struct Search<'a> {
    names: &'a Names,
    written: Written,
    /// Names that are declared in open blocks and loops of the part.
    open: Vec<String>,
    /// Whether writes do not count here.
    reads: bool,
}

impl Written {
    /// Looks through the items of a part, where `names` are those around it.
    pub fn of(items: &[Node<BlockItem>], names: &Names) -> Self {
        let mut search = Search { names, written: Self::default(), open: Vec::new(), reads: false };
        for item in items {
            search.visit_block_item(&item.node, &item.span);
        }
        search.written
    }
}

impl Search<'_> {
    fn declared(&mut self, own: &Node<InitDeclarator>) {
        if let Some(initializer) = &own.node.initializer {
            self.visit_initializer(&initializer.node, &initializer.span);
        }
        if let DeclaratorKind::Identifier(id) = &own.node.declarator.node.kind.node {
            self.open.push(id.node.name.clone());
            *self.written.declared.entry(id.node.name.clone()).or_default() += 1;
        }
    }

    fn is_open(&self, name: &str) -> bool {
        self.open.iter().any(|other| other == name)
    }

    fn note(&mut self, target: &Node<Expression>) {
        if self.reads {
            return;
        }
        self.written.members.extend(Path::of(&target.node).map(|path| path.key()));
        if let Expression::Identifier(id) = &target.node {
            self.written.assigned.insert(id.node.name.clone());
        }
        // With each expression, whether it is a term of a sum that is a pointer.
        let mut open = vec![(target, false)];
        while let Some((target, term)) = open.pop() {
            match &target.node {
                Expression::BinaryOperator(binary) => match binary.node.operator.node {
                    // Either side could be the pointer.
                    BinaryOperator::Plus => {
                        open.extend([(&*binary.node.lhs, true), (&*binary.node.rhs, true)]);
                    }
                    BinaryOperator::Minus => open.push((&binary.node.lhs, true)),
                    _ => open.push((&binary.node.lhs, term)),
                },
                Expression::Member(member) => open.push((&member.node.expression, term)),
                Expression::UnaryOperator(unary) => {
                    let address = unary.node.operator.node == UnaryOperator::Address;
                    open.push((&unary.node.operand, term && !address));
                }
                Expression::Cast(cast) => open.push((&cast.node.expression, term)),
                Expression::Identifier(id) => {
                    let name = &id.node.name;
                    if !(self.is_open(name) || (term && self.is_number(name))) {
                        self.written.variables.insert(name.clone());
                    }
                }
                _ => {}
            }
        }
    }

    /// Returns whether a variable is an integer; one that the part declares counts as written.
    fn is_number(&self, name: &str) -> bool {
        self.names.get(name).is_some_and(|variable| {
            variable.extents.is_empty() && is_integer(&self.names.resolved(&variable.element))
        })
    }
}

impl<'ast> Visit<'ast> for Search<'_> {
    fn visit_for_statement(&mut self, inner: &'ast ForStatement, span: &'ast Span) {
        let Some(steps) = steps(inner) else {
            return visit::visit_for_statement(self, inner, span);
        };
        self.written.loops.insert(steps.name.clone());
        match steps.declared {
            Some(_) => self.open.push(steps.name),
            None => drop(self.written.outer_loops.insert(steps.name)),
        }
        let reads = std::mem::replace(&mut self.reads, true);
        self.visit_expression(&steps.start.node, &steps.start.span);
        for own in steps.beside {
            self.declared(own);
        }
        if let Some(condition) = &inner.condition {
            self.visit_expression(&condition.node, &condition.span);
        }
        self.reads = reads;
        for other in steps.others {
            self.visit_expression(&other.node, &other.span);
        }
        // Start and step write the loop variable alone.
        self.visit_statement(&inner.statement.node, &inner.statement.span);
    }

    fn visit_statement(&mut self, statement: &'ast Statement, span: &'ast Span) {
        let depth = self.open.len();
        visit::visit_statement(self, statement, span);
        self.open.truncate(depth);
    }

    fn visit_declaration(&mut self, declaration: &'ast Declaration, _: &'ast Span) {
        let reads = std::mem::replace(&mut self.reads, true);
        declaration.declarators.iter().for_each(|own| self.declared(own));
        self.reads = reads;
    }

    fn visit_expression(&mut self, expression: &'ast Expression, span: &'ast Span) {
        if let Expression::Identifier(id) = expression {
            self.written.whole.insert(id.node.name.clone());
            if !self.is_open(&id.node.name) {
                self.written.outer.insert(id.node.name.clone());
            }
        }
        let Some(path) = Path::of(expression) else {
            return visit::visit_expression(self, expression, span);
        };
        if !self.is_open(path.base) {
            self.written.outer.insert(path.base.to_owned());
        }
        if self.names.follow(&path).is_none() {
            self.written.whole.insert(path.base.to_owned());
        }
        if let Some(Selector::Subscript(_)) = path.steps.first() {
            self.written.indexed.insert(path.base.to_owned());
        }
        for step in path.steps {
            if let Selector::Subscript(node) = step {
                self.visit_expression(&node.node, &node.span);
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
