//! `switch`: what stands in its block runs where control gets to it.
//!
//! ```c
//! switch (m) {
//! case 1: x[0] = 1;                   // m = 1
//! case 2: if (n > 3) break;
//!         x[1] = 1;                   // (m = 1 or m = 2) and not n > 3
//!         break;
//! case 5 ... 7: x[2] = 1; break;      // 5 <= m <= 7
//! default: x[3] = 1;                  // none of these
//! }
//! ```
//!
//! A `switch` over data, or one that data leaves, is one statement.

use lang_c::ast::{BlockItem, Label, Statement, SwitchStatement};
use lang_c::span::Node;
use tangram_presburger::formula::{Comparison, Formula};

use super::break_statement::Breakable;
use super::{Builder, Item};
use crate::Problem;
use crate::affine::{Case, compared};
use crate::black_box::jumps;

/// The labels in front of a statement.
#[derive(Default)]
struct Labels {
    cases: Vec<Formula>,
    default: bool,
}

impl Builder<'_> {
    /// Reads a `switch` over an affine value as conditions.
    pub(super) fn switch(
        &mut self,
        node: &Node<Statement>,
        inner: &SwitchStatement,
        order: &mut Vec<Item>,
    ) -> Result<(), Problem> {
        let value = match self.bound(&inner.expression) {
            Ok(value) => value,
            Err(problem) => return self.black_box(node, problem, order),
        };
        let unknown = "leaves the `switch`, on a condition that is not affine";
        if jumps(&inner.statement).breaks
            && let Some(problem) = self.unknown_jump(&inner.statement, unknown)
        {
            return self.black_box(node, problem, order);
        }
        match &inner.statement.node {
            Statement::Compound(items) => self.switch_block(items, &value, order),
            _ => {
                let span = inner.statement.span;
                let item = Node::new(BlockItem::Statement((*inner.statement).clone()), span);
                self.switch_block(&[item], &value, order)
            }
        }
    }

    fn switch_block(
        &mut self,
        items: &[Node<BlockItem>],
        value: &[Case],
        order: &mut Vec<Item>,
    ) -> Result<(), Problem> {
        let labels = items.iter().map(|item| self.labels(item, value));
        let labels = labels.collect::<Result<Vec<_>, _>>()?;
        let all: Vec<Formula> = labels.iter().flat_map(|labels| labels.cases.clone()).collect();
        let otherwise = match all.is_empty() {
            true => Formula::always(),
            false => Formula::any(all).negated(),
        };
        let mark = self.open();
        self.breakable.push(Breakable::of_switch(self.conditions.len()));
        let mut reached = Vec::new();
        for (item, labels) in items.iter().zip(labels) {
            reached.extend(labels.cases);
            reached.extend(labels.default.then(|| otherwise.clone()));
            self.conditions.push(Formula::any(reached.clone()));
            let result = self.switch_item(item, order);
            self.problems.extend(result.err());
            self.conditions.pop();
            if is_left(item) {
                // No value has two cases: those behind know nothing of what got here.
                reached.clear();
                self.breakable.last_mut().into_iter().for_each(|around| around.skipped.clear());
            }
        }
        self.breakable.pop();
        self.close(&mark);
        Ok(())
    }

    fn switch_item(
        &mut self,
        item: &Node<BlockItem>,
        order: &mut Vec<Item>,
    ) -> Result<(), Problem> {
        match &item.node {
            // It is seen in all cases behind it, also where its value is jumped over.
            BlockItem::Declaration(declaration) => self.declaration(declaration, order),
            BlockItem::Statement(statement) => match without_labels(statement) {
                Node { node: Statement::Break, .. } => Ok(()),
                inner => self.statement(inner, order),
            },
            BlockItem::StaticAssert(_) => Ok(()),
        }
    }

    fn labels(&mut self, item: &Node<BlockItem>, value: &[Case]) -> Result<Labels, Problem> {
        let mut labels = Labels::default();
        let BlockItem::Statement(first) = &item.node else { return Ok(labels) };
        let mut statement = first;
        while let Statement::Labeled(labeled) = &statement.node {
            match &labeled.node.label.node {
                Label::Case(case) => {
                    let case = self.affine(case)?;
                    labels.cases.push(compared(value, Comparison::Equal, &case));
                }
                Label::CaseRange(range) => {
                    let (low, high) =
                        (self.affine(&range.node.low)?, self.affine(&range.node.high)?);
                    let from = compared(value, Comparison::AtLeast, &low);
                    labels
                        .cases
                        .push(Formula::all([from, compared(value, Comparison::AtMost, &high)]));
                }
                Label::Default => labels.default = true,
                Label::Identifier(_) => break,
            }
            statement = &*labeled.node.statement;
        }
        Ok(labels)
    }
}

/// Returns a statement without the labels of a `switch` in front of it.
fn without_labels(mut statement: &Node<Statement>) -> &Node<Statement> {
    while let Statement::Labeled(labeled) = &statement.node
        && !matches!(labeled.node.label.node, Label::Identifier(_))
    {
        statement = &labeled.node.statement;
    }
    statement
}

/// Returns whether control never goes on behind an item.
fn is_left(item: &Node<BlockItem>) -> bool {
    let BlockItem::Statement(statement) = &item.node else { return false };
    match &without_labels(statement).node {
        Statement::Break | Statement::Continue => true,
        Statement::Compound(items) => items.last().is_some_and(is_left),
        _ => false,
    }
}
