//! Control that is a condition under another name: `continue`, `switch`, and `,`.

use lang_c::ast::{BlockItem, Expression, Label, Statement, SwitchStatement};
use lang_c::span::Node;
use tangram_presburger::formula::{Comparison, Formula};

use super::{Builder, Item};
use crate::Problem;
use crate::affine::compared;
use crate::black_box::jumps;

/// One way through a `switch`.
struct Way<'a> {
    /// Nothing for `default`.
    labels: Vec<Option<&'a Node<Expression>>>,
    body: Vec<&'a Node<Statement>>,
}

impl Builder<'_> {
    /// What stands behind a `continue` runs where its conditions do not hold.
    pub(super) fn skip(&mut self, node: &Node<Statement>) -> Result<(), Problem> {
        let first = self.firsts.last().copied().unwrap_or_default();
        let all = Formula::all(self.conditions[first..].iter().cloned());
        match self.skipped.last_mut() {
            Some(skipped) if all.is_always() => skipped.push(Formula::never()),
            Some(skipped) => skipped.push(all.negated()),
            None => return self.wrong(node, "leaves the loop: control must be affine"),
        }
        Ok(())
    }

    /// Reads a `switch` over an affine value as conditions.
    pub(super) fn switch(
        &mut self,
        node: &Node<Statement>,
        inner: &SwitchStatement,
        order: &mut Vec<Item>,
    ) -> Result<(), Problem> {
        let value = match self.affine(&inner.expression) {
            Ok(value) => value,
            Err(problem) => return self.black_box(node, problem, order),
        };
        let Some(ways) = ways(&inner.statement) else {
            return self.wrong(node, "falls through a case: each must end with `break`");
        };
        let mut conditions: Vec<Vec<Formula>> = Vec::new();
        for way in &ways {
            let mut own = Vec::new();
            for label in way.labels.iter().flatten() {
                let case = self.affine(label)?;
                own.push(compared(&value, Comparison::Equal, &case));
            }
            conditions.push(own);
        }
        let all: Vec<Formula> = conditions.iter().flatten().cloned().collect();
        for (way, mut own) in ways.iter().zip(conditions) {
            if way.labels.contains(&None) {
                own.push(match all.is_empty() {
                    true => Formula::always(),
                    false => Formula::any(all.clone()).negated(),
                });
            }
            let mark = self.open();
            for statement in &way.body {
                self.within(Formula::any(own.clone()), statement, order);
            }
            self.close(&mark);
        }
        Ok(())
    }

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

/// Splits the block of a `switch`; nothing if a case goes on in the next one.
fn ways(block: &Node<Statement>) -> Option<Vec<Way<'_>>> {
    let Statement::Compound(items) = &block.node else { return None };
    let mut ways: Vec<Way> = Vec::new();
    let mut ended = true;
    for item in items {
        let BlockItem::Statement(first) = &item.node else { return None };
        let mut statement = first;
        let mut labels = Vec::new();
        while let Statement::Labeled(labeled) = &statement.node {
            labels.push(match &labeled.node.label.node {
                Label::Case(value) => Some(&**value),
                Label::Default => None,
                _ => return None,
            });
            statement = &labeled.node.statement;
        }
        if !labels.is_empty() {
            if !ended {
                return None;
            }
            ways.push(Way { labels, body: Vec::new() });
            ended = false;
        }
        match &statement.node {
            Statement::Break => ended = true,
            _ if ended => return None,
            _ if jumps(statement).breaks => return None,
            _ => ways.last_mut()?.body.push(statement),
        }
    }
    Some(ways)
}
