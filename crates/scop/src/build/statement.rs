//! Statements and loops in the order of the source.

use lang_c::ast::{BlockItem, ForStatement, Label, Statement};
use lang_c::span::{Node, Span};
use tangram_presburger::formula::Formula;

use super::break_statement::Breakable;
use super::loops::Head;
use super::{Builder, Item, NESTED_CASE, Raw};
use crate::Problem;
use crate::access::Accesses;
use crate::c_tokens::{Token, tokens, with_types};
use crate::source::is_call;

/// A call that ends the values of its arguments, as in PENCIL.
const KILL: &str = "__pencil_kill";

impl Builder<'_> {
    /// Reads a block; `is_body`: whether a loop has it, so that its rest is what `continue` skips.
    pub(super) fn items(&mut self, items: &[Node<BlockItem>], is_body: bool) -> Vec<Item> {
        let mut order = Vec::new();
        let mark = self.open();
        for (at, item) in items.iter().enumerate() {
            let result = match &item.node {
                BlockItem::Statement(statement) => match self.unknown_skip(statement, is_body) {
                    Some(reason) => {
                        let result = self.black_box_of(&items[at..], reason, &mut order);
                        self.problems.extend(result.err());
                        break;
                    }
                    None => self.statement(statement, &mut order),
                },
                BlockItem::Declaration(declaration) => self.declaration(declaration, &mut order),
                BlockItem::StaticAssert(_) => Ok(()),
            };
            self.problems.extend(result.err());
        }
        self.close(&mark);
        order
    }

    pub(super) fn statement(
        &mut self,
        node: &Node<Statement>,
        order: &mut Vec<Item>,
    ) -> Result<(), Problem> {
        match &node.node {
            Statement::Compound(items) => {
                order.extend(self.items(items, false));
                Ok(())
            }
            Statement::Expression(None) => Ok(()),
            Statement::Expression(Some(expression)) if is_call(&node.node, KILL) => {
                let accesses = self.killed(expression)?;
                self.add(expression.span, String::new(), accesses, order);
                Ok(())
            }
            Statement::Expression(Some(expression)) if self.is_nothing(expression) => Ok(()),
            Statement::Expression(Some(expression)) => match self.fact(expression)? {
                true => Ok(()),
                false => self.expression(expression, order),
            },
            Statement::Labeled(inner) if self.is_idle(&inner.node.label.node) => {
                self.statement(&inner.node.statement, order)
            }
            Statement::Labeled(inner) => match &inner.node.label.node {
                Label::Identifier(_) => self.wrong(node, "has a label: control must be affine"),
                _ => self.wrong(node, NESTED_CASE),
            },
            Statement::Switch(inner) => self.switch(node, &inner.node, order),
            Statement::Continue => self.continue_loop(node),
            Statement::If(choice) => {
                let condition = match self.condition(&choice.node.condition) {
                    Ok(condition) => condition,
                    Err(problem) => return self.black_box(node, problem, order),
                };
                self.within(condition.clone(), &choice.node.then_statement, order);
                if let Some(other) = &choice.node.else_statement {
                    self.within(condition.negated(), other, order);
                }
                Ok(())
            }
            Statement::For(inner) => {
                // What its start declares is known inside alone.
                let mark = self.open();
                let unknown = match self.head(node, &inner.node) {
                    Ok(head) => match self.unknown_leaving(&head.name, &inner.node.statement) {
                        None => {
                            let result = self.for_loop(head, &inner.node, order);
                            self.close(&mark);
                            return result;
                        }
                        Some(problem) => problem,
                    },
                    Err(problem) => problem,
                };
                self.close(&mark);
                self.black_box(node, unknown.clone(), order).map_err(|_| unknown)
            }
            Statement::While(_) | Statement::DoWhile(_) => {
                let expected = "repeats an unknown number of times: expected a `for` loop";
                let problem = self.wrong::<_, ()>(node, expected);
                match problem {
                    Err(problem) if !self.is_outermost() => self.black_box(node, problem, order),
                    problem => problem,
                }
            }
            Statement::Break => self.leave(node),
            Statement::Goto(_) | Statement::Return(_) => self.leaves(node),
            _ => self.wrong(node, "is not supported in a static control part"),
        }
    }

    /// Returns whether a label is one that nothing goes to.
    pub(crate) fn is_idle(&self, label: &Label) -> bool {
        let Label::Identifier(id) = label else { return false };
        let mut goes = false;
        let names = tokens(self.source.text).filter_map(|(_, token)| match token {
            Token::Name(word) => Some(word),
            Token::Other(_) => None,
        });
        !names.into_iter().any(|word| {
            let target = std::mem::replace(&mut goes, word == "goto");
            target && word == id.node.name
        })
    }

    pub(super) fn within(
        &mut self,
        condition: Formula,
        inner: &Node<Statement>,
        order: &mut Vec<Item>,
    ) {
        self.conditions.push(condition);
        let result = self.statement(inner, order);
        self.problems.extend(result.err());
        self.conditions.pop();
    }

    pub(crate) fn add(
        &mut self,
        span: Span,
        text: String,
        accesses: Accesses,
        order: &mut Vec<Item>,
    ) {
        order.push(Item::Statement(self.statements.len()));
        // Loops will run over `long long`, or a number of type `int` will stand for a variable:
        // the values of the source may not notice.
        let types = self.loops.iter().map(String::as_str);
        let types = types.zip(self.types.iter().map(String::as_str)).collect();
        let narrow = || accesses.all().filter(|access| access.wraps.narrow);
        let all = narrow().next().map(|_| with_types(&text, &types, true));
        let (text, typed) = match narrow().any(|access| access.wraps.claims.is_empty()) {
            true => (all.unwrap_or_default(), None),
            false => (with_types(&text, &types, false), all),
        };
        self.statements.push(Raw {
            at: span.start,
            text,
            typed,
            loops: self.loops.clone(),
            types: self.types.clone(),
            conditions: self.all_conditions(),
            accesses,
        });
    }

    fn for_loop(
        &mut self,
        head: Head,
        inner: &ForStatement,
        order: &mut Vec<Item>,
    ) -> Result<(), Problem> {
        let Head { name, own, element, forwards, conditions, before, claims } = head;
        self.each(&before, order)?;
        self.rename(&own, &name);
        let (outside, start) = (self.conditions.len(), self.statements.len());
        self.conditions.extend(conditions);
        let depth = self.loops.len();
        self.loops.push(name);
        self.types.push(element);
        self.breakable.push(Breakable::of_loop(self.conditions.len()));
        self.note_claims(&inner.statement, claims);
        let mut body = Vec::new();
        let result = match &inner.statement.node {
            Statement::Compound(items) => {
                body = self.items(items, true);
                Ok(())
            }
            _ => self.statement(&inner.statement, &mut body),
        };
        let left = self.breakable.pop().map(|around| around.left).unwrap_or_default();
        let head = self.conditions.split_off(outside);
        self.end_at_leaving(&head, left, forwards, start);
        self.loops.pop();
        self.types.pop();
        if !body.is_empty() {
            order.push(Item::Loop { depth, forwards, body });
        }
        result
    }
}
