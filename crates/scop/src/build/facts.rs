//! What a program says of its parameters: assumptions and assertions.
//!
//! `__builtin_assume(n > 0)` and `__pencil_assume(n > 0)` have no effect. `assert(n > 0)` has one
//! if it fails, so it runs in front of what is generated. A preprocessor leaves of it a call of
//! `__assert_fail` under a condition.

use lang_c::ast::{BlockItem, Expression, SpecifierQualifier, Statement, TypeSpecifier};
use lang_c::span::Node;

use super::Builder;
use crate::Problem;

/// What is wrong with an assertion that is not the first thing of a part.
const ASSERTED: &str = "is asserted inside the part: move it in front of the loops, on parameters \
                        alone, or leave assertions out with `-DNDEBUG`";

/// A condition that holds behind it.
struct Fact<'n> {
    condition: &'n Node<Expression>,
    /// Whether the program ends where it does not hold.
    asserted: bool,
}

fn fact_of(item: &Node<BlockItem>) -> Option<Fact<'_>> {
    match &item.node {
        BlockItem::Statement(statement) => match &statement.node {
            Statement::Expression(Some(expression)) => fact(expression),
            _ => None,
        },
        _ => None,
    }
}

fn fact(node: &Node<Expression>) -> Option<Fact<'_>> {
    match &node.node {
        Expression::Call(call) => {
            let Expression::Identifier(id) = &call.node.callee.node else { return None };
            let [condition] = call.node.arguments.as_slice() else { return None };
            match id.node.name.as_str() {
                "__builtin_assume" | "__pencil_assume" => Some(Fact { condition, asserted: false }),
                "assert" => Some(Fact { condition, asserted: true }),
                _ => None,
            }
        }
        // `(void) sizeof (..), __extension__ ({ if (n > 0) ; else __assert_fail (..); })`
        Expression::Comma(all) => match all.last().map(|last| &last.node) {
            Some(Expression::Statement(block)) => {
                let Statement::Compound(items) = &block.node else { return None };
                let [item] = items.as_slice() else { return None };
                let BlockItem::Statement(inner) = &item.node else { return None };
                let Statement::If(choice) = &inner.node else { return None };
                let other = choice.node.else_statement.as_ref()?;
                let Statement::Expression(Some(call)) = &other.node else { return None };
                let empty = Statement::Expression(None);
                (choice.node.then_statement.node == empty && fails(call))
                    .then_some(Fact { condition: &choice.node.condition, asserted: true })
            }
            _ => None,
        },
        // `(n > 0) ? (void)0 : __assert_fail(..)`
        Expression::Conditional(choice) => {
            let inner = &choice.node;
            (ignored(&inner.then_expression).is_some() && fails(&inner.else_expression))
                .then_some(Fact { condition: &inner.condition, asserted: true })
        }
        _ => None,
    }
}

/// Returns whether an expression ends the program with the message of an assertion.
fn fails(node: &Node<Expression>) -> bool {
    let Expression::Call(call) = &node.node else { return false };
    let Expression::Identifier(id) = &call.node.callee.node else { return false };
    ["__assert_fail", "__assert_rtn", "__assert", "_assert"].contains(&id.node.name.as_str())
}

/// Returns what is cast to `void`.
fn ignored(node: &Node<Expression>) -> Option<&Node<Expression>> {
    let Expression::Cast(cast) = &node.node else { return None };
    let name = &cast.node.type_name.node;
    let is_void = |specifier: &Node<SpecifierQualifier>| match &specifier.node {
        SpecifierQualifier::TypeSpecifier(inner) => inner.node == TypeSpecifier::Void,
        _ => false,
    };
    let to_void = name.declarator.is_none() && name.specifiers.iter().any(is_void);
    to_void.then_some(&*cast.node.expression)
}

impl Builder<'_> {
    /// Returns whether an expression is one for its own sake alone: `(void)n`.
    pub(crate) fn is_nothing(&self, node: &Node<Expression>) -> bool {
        ignored(node).is_some_and(|inner| match &inner.node {
            Expression::Identifier(id) => !self.is_volatile(self.named(&id.node.name)),
            Expression::Constant(_) => true,
            _ => false,
        })
    }

    /// Notes what the statements directly in front of the part say.
    pub(super) fn given(&mut self, before: &[Node<BlockItem>]) {
        for fact in before.iter().rev().map_while(fact_of) {
            // What is not affine is nothing to go by.
            let _ = self.note(fact.condition);
        }
    }

    /// Reads an assumption or an assertion of the part; says whether it is one.
    pub(super) fn fact(&mut self, node: &Node<Expression>) -> Result<bool, Problem> {
        let Some(fact) = fact(node) else { return Ok(false) };
        let (outermost, first) = (self.is_outermost(), self.statements.is_empty());
        let always = outermost && self.conditions.is_empty();
        if !fact.asserted {
            if always {
                let _ = self.note(fact.condition);
            }
            return Ok(true);
        }
        if !always || !first || self.note(fact.condition).is_err() {
            return self.wrong(fact.condition, ASSERTED);
        }
        self.checks.push(format!("assert({});", self.text(fact.condition.span)));
        Ok(true)
    }

    /// Says of a statement that is not followed whether it is an assumption.
    pub(crate) fn is_assumption(&self, node: &Node<Expression>) -> Result<bool, Problem> {
        match fact(node) {
            Some(fact) if fact.asserted => self.wrong(fact.condition, ASSERTED),
            fact => Ok(fact.is_some()),
        }
    }

    fn note(&mut self, condition: &Node<Expression>) -> Result<(), Problem> {
        let condition = self.condition(condition)?;
        self.facts.push(condition);
        Ok(())
    }
}
