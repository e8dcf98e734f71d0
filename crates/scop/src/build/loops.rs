//! Which iterations a loop has.

use lang_c::ast::{
    BinaryOperator, BinaryOperatorExpression, Declaration, Expression, ForInitializer,
    ForStatement, InitDeclarator, Initializer, Statement, UnaryOperator,
};
use lang_c::span::Node;
use tangram_presburger::formula::{Comparison, Expr, Formula};

use super::growth::growth;
use super::{Builder, VOLATILE};
use crate::Problem;
use crate::affine::{Case, Claim, always, both, compared, mapped};
use crate::c_integer::{INT, Range};
use crate::c_tokens::words;
use crate::declare::{self, is_integer};
use crate::number::integer;
use crate::source::declared_name;

/// The iterations of a loop.
pub(crate) struct Head {
    /// The part's name of the loop variable.
    pub name: String,
    /// Its name in the source.
    pub own: String,
    pub element: String,
    pub forwards: bool,
    pub conditions: Vec<Formula>,
    /// What else the start does.
    pub before: Vec<Node<Expression>>,
    /// What has to hold in each iteration.
    pub claims: Vec<Claim>,
}

/// How a loop steps.
pub(super) struct Steps<'a> {
    pub name: String,
    pub declared: Option<&'a Node<Declaration>>,
    /// What the start declares beside the variable.
    pub beside: Vec<&'a Node<InitDeclarator>>,
    pub start: &'a Node<Expression>,
    by: i128,
    /// How far the variable has gone from the start in the first iteration.
    ahead: i128,
    /// How far it is behind its value in the body where the end is compared.
    behind: i128,
    pub others: Vec<&'a Node<Expression>>,
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
        if let Some(other) = steps.beside.iter().find(|own| !self.is_value_beside(&steps, own)) {
            return self.wrong(
                *other,
                "is declared in a loop and no value that stays: declare it in front",
            );
        }
        let Some(end) = &inner.condition else { return self.wrong(node, "has no end") };
        let name = match steps.declared {
            Some(_) if self.is_taken(&steps.name) => self.fresh(&steps.name),
            Some(_) => steps.name.clone(),
            None => self.named(&steps.name).to_owned(),
        };
        if self.is_loop(&name) {
            return self.wrong(node, "needs a loop variable of another name");
        }
        let element = match steps.declared {
            Some(own) => declare::element(&own.node.specifiers, self.source),
            None => self.element(&name).unwrap_or("int").to_owned(),
        };
        if self.names.is_volatile(&element) {
            return self.wrong(node, &format!("has a loop variable that {VOLATILE}"));
        }
        if !is_integer(&self.names.resolved(&element)) {
            return self.wrong(node, "has a loop variable that is no integer");
        }
        let mut start = self.bound(steps.start)?;
        let own_range = Range::of(&self.names.resolved(&element));
        let claims = self.claims_of(steps.start, &start, own_range);
        self.note_claims(steps.start, claims);
        if steps.ahead != 0 {
            start = mapped(start, |value| value.plus(&Expr::constant(steps.ahead)));
        }
        let forwards = steps.by > 0;
        let own = always(Expr::name(&name));
        let order = if forwards { Comparison::AtLeast } else { Comparison::AtMost };
        let mut conditions = vec![compared(&own, order, &start)];
        if steps.by.abs() != 1 {
            let stride = |case: &Case| {
                let steps = Expr::name(&name).minus(&case.value).modulo(steps.by.abs());
                both(&case.condition, &steps.compared(Comparison::Equal, Expr::constant(0)))
            };
            conditions.push(Formula::any(start.iter().map(stride)));
        }
        let mark = self.open();
        self.rename(&steps.name, &name);
        let mut ends = Ends { start: start.clone(), own: own_range, by: steps.by, strict: false };
        let read = self.end(end, &name, &steps, (&mut conditions, &mut ends));
        self.close(&mark);
        read?;
        // The last step goes to a bound of the same type at most, or nobody looks at it.
        let steps_out = steps.ahead == 0 && !ends.strict;
        let claims =
            if steps_out { self.step_claims(&name, &element, steps.by) } else { Vec::new() };
        let before = steps.others.into_iter().cloned().collect();
        Ok(Head { name, own: steps.name, element, forwards, conditions, before, claims })
    }

    /// Returns whether a loop variable needs another name: the part may use this one for something
    /// else, be it in the extent of an array alone.
    fn is_taken(&self, name: &str) -> bool {
        self.is_loop(name) || self.names.get(name).is_some() || self.written.outer.contains(name)
    }

    /// Reads the conditions that end a loop: comparisons of its variable with bounds.
    fn end(
        &mut self,
        node: &Node<Expression>,
        name: &str,
        steps: &Steps,
        (conditions, ends): (&mut Vec<Formula>, &mut Ends),
    ) -> Result<(), Problem> {
        let forwards = steps.by > 0;
        let expected = "must compare the loop variable with a bound in the direction of the step";
        let compared_here = |node: &Node<Expression>| match steps.ahead {
            0 => is_name(node, &steps.name),
            _ => stepped(node).is_some_and(|(name, ..)| name == steps.name),
        };
        let own = always(Expr::name(name).plus(&Expr::constant(steps.behind)));
        let Expression::BinaryOperator(binary) = &node.node else {
            // `i--` ends at 0.
            if !forwards && steps.by == -1 && compared_here(node) {
                conditions.push(compared(&own, Comparison::Above, &always(Expr::constant(0))));
                return Ok(());
            }
            return self.wrong(node, expected);
        };
        let (lhs, rhs) = (&*binary.node.lhs, &*binary.node.rhs);
        let operator = &binary.node.operator.node;
        if *operator == BinaryOperator::LogicalAnd {
            self.end(lhs, name, steps, (&mut *conditions, &mut *ends))?;
            return self.end(rhs, name, steps, (conditions, ends));
        }
        let (bound, left) = match (compared_here(lhs), compared_here(rhs)) {
            (true, false) => (rhs, true),
            (false, true) => (lhs, false),
            _ if self.ends(binary, name, steps) => {
                self.loops.push(name.to_owned());
                let condition = self.condition(node);
                self.loops.pop();
                conditions.push(condition?);
                return Ok(());
            }
            _ => return self.wrong(node, expected),
        };
        let strict = match (operator, left == forwards) {
            (BinaryOperator::Less, true) | (BinaryOperator::Greater, false) => true,
            (BinaryOperator::LessOrEqual, true) | (BinaryOperator::GreaterOrEqual, false) => false,
            (BinaryOperator::NotEquals, _) if self.meets(bound, steps, ends) => true,
            _ => return self.wrong(node, expected),
        };
        let order = match (forwards, strict) {
            (true, true) => Comparison::Below,
            (true, false) => Comparison::AtMost,
            (false, true) => Comparison::Above,
            (false, false) => Comparison::AtLeast,
        };
        // It would be read as another variable that has the name outside of the loop.
        if words(self.source.of(bound)).any(|word| word == steps.name) {
            return self.wrong(node, expected);
        }
        let (node, bound) = (bound, self.bound(bound)?);
        self.compare_claims((node, &bound), ends);
        ends.strict |= strict && self.stays_within(node, ends);
        conditions.push(compared(&own, order, &bound));
        Ok(())
    }
}

impl Builder<'_> {
    /// Notes that a variable which a loop declares beside its own is the name of a value, if it is:
    /// `n` of `for (int i = 0, n = size(); i < n; i++)`.
    fn is_value_beside(&mut self, steps: &Steps, own: &Node<InitDeclarator>) -> bool {
        let Some(declaration) = steps.declared else { return false };
        let initializer = own.node.initializer.as_ref().map(|value| &value.node);
        let Some(Initializer::Expression(value)) = initializer else { return false };
        // The order of the two says which variable is meant.
        let mentions = |node: &Node<Expression>, name: Option<String>| {
            words(self.source.of(node)).any(|word| name.as_deref() == Some(word))
        };
        let name = declared_name(&own.node.declarator.node);
        !mentions(value, Some(steps.name.clone()))
            && !mentions(steps.start, name)
            && self.declare_value(declaration, own, value)
    }

    /// Returns whether a loop that ends where its variable is a bound has what lies between the start
    /// and the bound for iterations. One that starts behind its bound goes around the values of its
    /// type to meet it, unless the type has no such way.
    fn meets(&self, bound: &Node<Expression>, steps: &Steps, ends: &Ends) -> bool {
        let goes_around = ends.own.least > INT.least;
        let forwards = steps.by > 0;
        let first = if forwards { steps.start } else { bound };
        let is_least = || {
            let text = self.source.of(first).trim_end_matches(['u', 'U', 'l', 'L']);
            (!forwards || steps.ahead == 0) && ends.own.least == 0 && text == "0"
        };
        steps.by.abs() == 1 && (!goes_around || is_least())
    }

    /// Returns whether a comparison as `i + 1 < n` or `n - i > 0` does not hold again once it does
    /// not hold.
    fn ends(&self, binary: &Node<BinaryOperatorExpression>, name: &str, steps: &Steps) -> bool {
        // Of another name, it would stand for an outer variable that this one hides.
        if steps.ahead != 0 || self.named(&steps.name) != name {
            return false;
        }
        let side = |node| growth(node, &steps.name);
        let (Some(left), Some(right)) = (side(&binary.node.lhs), side(&binary.node.rhs)) else {
            return false;
        };
        let towards = left.saturating_sub(right).saturating_mul(steps.by.signum());
        match binary.node.operator.node {
            BinaryOperator::Less | BinaryOperator::LessOrEqual => towards > 0,
            BinaryOperator::Greater | BinaryOperator::GreaterOrEqual => towards < 0,
            _ => false,
        }
    }
}

/// What is known of a loop's variable where its end is read.
struct Ends {
    start: Vec<Case>,
    /// The values of its type.
    own: Range,
    by: i128,
    /// Whether a bound keeps the last step within the type.
    strict: bool,
}

impl Builder<'_> {
    /// Notes what a comparison of a loop's variable with a bound converts both to.
    fn compare_claims(&mut self, (node, bound): (&Node<Expression>, &[Case]), ends: &Ends) {
        let Some(to) = self.range_of(node).map(|other| ends.own.common(other)) else { return };
        if !to.wraps() {
            return;
        }
        let mut claims = self.claims_of(node, bound, to);
        if !to.contains(ends.own) {
            // All values lie between the start and the last step.
            claims.extend(Claim::of(&ends.start, to));
            if ends.by < 0 {
                claims.extend(Claim::of(
                    &mapped(bound.to_vec(), |value| value.plus(&Expr::constant(ends.by))),
                    to,
                ));
            }
        }
        self.note_claims(node, claims);
    }

    /// Returns whether a variable that steps by one up to a bound, exclusive, stays within its type.
    fn stays_within(&self, node: &Node<Expression>, ends: &Ends) -> bool {
        let Some(bound) = self.range_of(node) else { return false };
        let own = if bound == ends.own { bound } else { ends.own.kept() };
        match ends.by {
            1 => bound.greatest <= own.greatest,
            -1 => bound.least >= own.least,
            _ => false,
        }
    }
}

/// Reads start and step of a loop.
pub(super) fn steps(inner: &ForStatement) -> Option<Steps<'_>> {
    let (name, by, ahead, behind) = match (&inner.step, &inner.condition) {
        (Some(step), _) => stepped(step).map(|(name, by, _)| (name, by, 0, 0))?,
        // `for (i = n; i-- > 0;)`: the first iteration has the value behind the first step.
        (None, Some(end)) => {
            let side = match &end.node {
                Expression::BinaryOperator(binary) => {
                    [&binary.node.lhs, &binary.node.rhs].into_iter().find_map(|side| stepped(side))
                }
                _ => stepped(end),
            };
            let (name, by, before) = side.filter(|(_, by, _)| by.abs() == 1)?;
            (name, by, by, if before { 0 } else { -by })
        }
        (None, None) => return None,
    };
    let (mut others, mut beside) = (Vec::new(), Vec::new());
    let (declared, start) = match &inner.initializer.node {
        ForInitializer::Expression(expression) => {
            let all = match &expression.node {
                Expression::Comma(all) => all.as_slice(),
                _ => std::slice::from_ref(&**expression),
            };
            let mut start = None;
            for one in all {
                match assigned(&one.node).filter(|(target, _)| *target == name) {
                    Some((_, value)) => start = Some(value),
                    None => others.push(one),
                }
            }
            (None, start?)
        }
        ForInitializer::Declaration(declaration) => {
            let mut start = None;
            for own in &declaration.node.declarators {
                match declared_name(&own.node.declarator.node)? == name {
                    true => start = own.node.initializer.as_ref(),
                    false => beside.push(own),
                }
            }
            match &start?.node {
                Initializer::Expression(start) => (Some(declaration), &**start),
                Initializer::List(_) => return None,
            }
        }
        _ => return None,
    };
    Some(Steps { name, declared, beside, start, by, ahead, behind, others })
}

/// Returns the variable of a loop that steps by a constant.
pub(crate) fn loop_variable(inner: &ForStatement) -> Option<String> {
    steps(inner).map(|steps| steps.name)
}

fn is_name(node: &Node<Expression>, name: &str) -> bool {
    matches!(&node.node, Expression::Identifier(id) if id.node.name == name)
}

/// Reads which variable an expression steps, by how much, and whether it has the value behind
/// the step.
fn stepped(node: &Node<Expression>) -> Option<(String, i128, bool)> {
    let name = |node: &Node<Expression>| match &node.node {
        Expression::Identifier(id) => Some(id.node.name.clone()),
        _ => None,
    };
    let (name, by, before) = match &node.node {
        Expression::UnaryOperator(unary) => {
            let (by, before) = match unary.node.operator.node {
                UnaryOperator::PostIncrement => (1, false),
                UnaryOperator::PreIncrement => (1, true),
                UnaryOperator::PostDecrement => (-1, false),
                UnaryOperator::PreDecrement => (-1, true),
                _ => return None,
            };
            (name(&unary.node.operand)?, by, before)
        }
        Expression::BinaryOperator(binary) => {
            let own = name(&binary.node.lhs)?;
            let by = match (&binary.node.operator.node, &binary.node.rhs.node) {
                (BinaryOperator::AssignPlus, value) => integer(value)?,
                (BinaryOperator::AssignMinus, value) => -integer(value)?,
                (BinaryOperator::Assign, Expression::BinaryOperator(sum)) => {
                    let (lhs, rhs) = (&*sum.node.lhs, &*sum.node.rhs);
                    match sum.node.operator.node {
                        BinaryOperator::Plus if is_name(lhs, &own) => integer(&rhs.node)?,
                        BinaryOperator::Plus if is_name(rhs, &own) => integer(&lhs.node)?,
                        BinaryOperator::Minus if is_name(lhs, &own) => -integer(&rhs.node)?,
                        _ => return None,
                    }
                }
                _ => return None,
            };
            (own, by, true)
        }
        _ => return None,
    };
    (by != 0).then_some((name, by, before))
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
