//! Which iterations a loop has.

use lang_c::ast::{
    BinaryOperator, DeclarationSpecifier, Expression, ForInitializer, ForStatement, Initializer,
    Statement, UnaryOperator,
};
use lang_c::span::Node;

use super::{Builder, VOLATILE, WORDS};
use crate::Problem;
use crate::affine::{Case, compared, integer};
use crate::declare::{self, is_integer};

/// The iterations of a loop.
pub(crate) struct Head {
    pub name: String,
    pub element: String,
    pub forwards: bool,
    pub conditions: Vec<String>,
}

/// How a loop steps.
pub(super) struct Steps<'a> {
    pub name: String,
    declared: Option<&'a [Node<DeclarationSpecifier>]>,
    start: &'a Node<Expression>,
    by: i128,
}

impl Builder<'_> {
    /// Reads which iterations a loop has.
    pub(crate) fn head(
        &mut self,
        node: &Node<Statement>,
        inner: &ForStatement,
    ) -> Result<Head, Problem> {
        let Some(steps) = steps(inner) else {
            return self.wrong(node, "is no loop from a start by a constant step");
        };
        let Some(end) = &inner.condition else { return self.wrong(node, "has no end") };
        let name = steps.name.clone();
        if self.is_loop(&name) || WORDS.contains(&name.as_str()) {
            return self.wrong(node, "needs a loop variable of another name");
        }
        let element = match steps.declared {
            Some(specifiers) => declare::element(specifiers, self.source),
            None => self.element(&name).unwrap_or("int").to_owned(),
        };
        if self.names.is_volatile(&element) {
            return self.wrong(node, &format!("has a loop variable that {VOLATILE}"));
        }
        if !is_integer(&self.names.resolved(&element)) {
            return self.wrong(node, "has a loop variable that is no integer");
        }
        let start = self.affine(steps.start)?;
        let forwards = steps.by > 0;
        let own = [Case { condition: String::new(), value: name.clone() }];
        let mut conditions = vec![compared(&own, if forwards { ">=" } else { "<=" }, &start)];
        if steps.by.abs() != 1 {
            let stride = |case: &Case| Case {
                condition: case.condition.clone(),
                value: format!("(({name}) - ({})) mod {} = 0", case.value, steps.by.abs()),
            };
            let each = start.iter().map(stride);
            let each =
                each.map(|case| format!("({})", crate::affine::both(&case.condition, &case.value)));
            conditions.push(each.collect::<Vec<_>>().join(" or "));
        }
        self.end(end, &steps, &mut conditions)?;
        Ok(Head { name, element, forwards, conditions })
    }

    /// Reads the conditions that end a loop: comparisons of its variable with bounds.
    fn end(
        &mut self,
        node: &Node<Expression>,
        steps: &Steps,
        conditions: &mut Vec<String>,
    ) -> Result<(), Problem> {
        let (name, forwards) = (&steps.name, steps.by > 0);
        let expected = "must compare the loop variable with a bound in the direction of the step";
        let Expression::BinaryOperator(binary) = &node.node else {
            return self.wrong(node, expected);
        };
        let (lhs, rhs) = (&*binary.node.lhs, &*binary.node.rhs);
        let operator = &binary.node.operator.node;
        if *operator == BinaryOperator::LogicalAnd {
            self.end(lhs, steps, conditions)?;
            return self.end(rhs, steps, conditions);
        }
        let is_own = |node: &Node<Expression>| matches!(&node.node, Expression::Identifier(id) if id.node.name == *name);
        let (bound, left) = match (is_own(lhs), is_own(rhs)) {
            (true, false) => (rhs, true),
            (false, true) => (lhs, false),
            _ => return self.wrong(node, expected),
        };
        let sign = match (operator, left == forwards) {
            (BinaryOperator::Less, true) | (BinaryOperator::Greater, false) => "<",
            (BinaryOperator::LessOrEqual, true) | (BinaryOperator::GreaterOrEqual, false) => "<=",
            // A loop that starts behind its end would not end.
            (BinaryOperator::NotEquals, _) if steps.by.abs() == 1 => "<",
            _ => return self.wrong(node, expected),
        };
        let sign = if forwards { sign.to_owned() } else { sign.replace('<', ">") };
        let bound = self.affine(bound)?;
        let own = [Case { condition: String::new(), value: name.clone() }];
        conditions.push(compared(&own, &sign, &bound));
        Ok(())
    }
}

/// Reads start and step of a loop.
pub(super) fn steps(inner: &ForStatement) -> Option<Steps<'_>> {
    let mut declared = None;
    let (name, start) = match &inner.initializer.node {
        ForInitializer::Expression(expression) => assigned(&expression.node)?,
        ForInitializer::Declaration(declaration) => {
            declared = Some(declaration.node.specifiers.as_slice());
            let [declarator] = declaration.node.declarators.as_slice() else { return None };
            let name = match &declarator.node.declarator.node.kind.node {
                lang_c::ast::DeclaratorKind::Identifier(id) => id.node.name.clone(),
                _ => return None,
            };
            match &declarator.node.initializer.as_ref()?.node {
                Initializer::Expression(start) => (name, &**start),
                Initializer::List(_) => return None,
            }
        }
        _ => return None,
    };
    let is_own = |node: &Node<Expression>| matches!(&node.node, Expression::Identifier(id) if id.node.name == name);
    let by = match &inner.step.as_ref()?.node {
        Expression::UnaryOperator(unary) if is_own(&unary.node.operand) => {
            match unary.node.operator.node {
                UnaryOperator::PostIncrement | UnaryOperator::PreIncrement => 1,
                UnaryOperator::PostDecrement | UnaryOperator::PreDecrement => -1,
                _ => return None,
            }
        }
        Expression::BinaryOperator(binary) if is_own(&binary.node.lhs) => {
            match (&binary.node.operator.node, &binary.node.rhs.node) {
                (BinaryOperator::AssignPlus, value) => integer(value)?,
                (BinaryOperator::AssignMinus, value) => -integer(value)?,
                (BinaryOperator::Assign, Expression::BinaryOperator(sum))
                    if is_own(&sum.node.lhs) =>
                {
                    match sum.node.operator.node {
                        BinaryOperator::Plus => integer(&sum.node.rhs.node)?,
                        BinaryOperator::Minus => -integer(&sum.node.rhs.node)?,
                        _ => return None,
                    }
                }
                _ => return None,
            }
        }
        _ => return None,
    };
    (by != 0).then_some(Steps { name, declared, start, by })
}

pub(crate) fn assigned(expression: &Expression) -> Option<(String, &Node<Expression>)> {
    let Expression::BinaryOperator(binary) = expression else { return None };
    match (&binary.node.operator.node, &binary.node.lhs.node) {
        (BinaryOperator::Assign, Expression::Identifier(id)) => {
            Some((id.node.name.clone(), &*binary.node.rhs))
        }
        _ => None,
    }
}
