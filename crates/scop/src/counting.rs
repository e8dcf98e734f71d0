//! `while` loops that count, as the `for` loops that they are.
//!
//! ```c
//! i = 0;                                  for (i = 0; i < n; i++)
//! while (i < n) {                             x[i] = 0;
//!     x[i] = 0;
//!     i++;
//! }
//! ```
//!
//! The start stands directly in front of the loop, the step is the last statement of its body, and nothing
//! goes on with the next iteration from elsewhere. A loop with the start in front and nothing between
//! `for (` and its condition is read in the same way. Whether the variable counts, and to where, is
//! found out as for all loops.

use lang_c::ast::{
    BinaryOperator, BinaryOperatorExpression, BlockItem, Declaration, Expression, ForInitializer,
    ForStatement, Identifier, Initializer, Statement, WhileStatement,
};
use lang_c::span::{Node, Span};

use crate::black_box::jumps;
use crate::build::{assigned, loop_variable};
use crate::c_tokens::words;
use crate::source::{Source, declared_name};

/// A statement to look through.
struct Open<'a> {
    statement: &'a mut Node<Statement>,
    in_loop: bool,
}

/// Turns the loops of a function's body that count into `for` loops.
pub(crate) fn as_for_loops(body: &mut Node<Statement>, source: &Source) {
    let mut open = vec![Open { statement: body, in_loop: false }];
    while let Some(Open { statement, in_loop }) = open.pop() {
        let mut push = |statement, in_loop| open.push(Open { statement, in_loop });
        match &mut statement.node {
            Statement::Compound(items) => {
                in_block(items, in_loop, source);
                let inner = items.iter_mut().filter_map(|item| match &mut item.node {
                    BlockItem::Statement(statement) => Some(statement),
                    _ => None,
                });
                inner.for_each(|statement| push(statement, in_loop));
            }
            Statement::If(inner) => {
                push(&mut inner.node.then_statement, in_loop);
                if let Some(other) = &mut inner.node.else_statement {
                    push(other, in_loop);
                }
            }
            Statement::For(inner) => push(&mut inner.node.statement, true),
            Statement::While(inner) => push(&mut inner.node.statement, true),
            Statement::DoWhile(inner) => push(&mut inner.node.statement, true),
            Statement::Labeled(inner) => push(&mut inner.node.statement, in_loop),
            Statement::Switch(inner) => push(&mut inner.node.statement, in_loop),
            _ => {}
        }
    }
}

fn in_block(items: &mut Vec<Node<BlockItem>>, in_loop: bool, source: &Source) {
    let mut at = 1;
    while at < items.len() {
        let used_behind = |name: &str| {
            let text = |item: &Node<BlockItem>| words(source.of(item)).any(|word| word == name);
            items[at + 1..].iter().any(text)
        };
        let found = counting(&items[at - 1], &items[at], (in_loop, &used_behind));
        let Some(Counting { new, before }) = found else {
            at += 1;
            continue;
        };
        items[at] = new;
        match before {
            Some(before) => {
                items[at - 1] = before;
                at += 1;
            }
            None => drop(items.remove(at - 1)),
        }
    }
}

/// A loop that counts.
struct Counting {
    new: Node<BlockItem>,
    /// What is left of the item in front of it.
    before: Option<Node<BlockItem>>,
}

fn counting(
    before: &Node<BlockItem>,
    item: &Node<BlockItem>,
    (in_loop, used_behind): (bool, &dyn Fn(&str) -> bool),
) -> Option<Counting> {
    let BlockItem::Statement(statement) = &item.node else { return None };
    let inner = without_start(statement)?;
    let name = match (&inner.step, inner.condition.as_deref()) {
        (None, None) => return None,
        _ => loop_variable(&ForStatement { initializer: start_of(before)?.0, ..inner.clone() })?,
    };
    let (Node { node: initializer, .. }, declaration) = start_of(before)?;
    let whole = Span::span(before.span.start, item.span.end);
    match declaration {
        Some(declaration) if used_behind(&name) => {
            // The text of the loop alone does not say where it starts.
            if in_loop {
                return None;
            }
            let ForInitializer::Declaration(inside) = &initializer else { return None };
            let start = assignment(&name, &inside.node)?;
            let rest = Node::new(BlockItem::Declaration(declaration), before.span);
            let start = ForInitializer::Expression(Box::new(start));
            Some(Counting { new: made(inner, start, before.span, item.span), before: Some(rest) })
        }
        _ => Some(Counting { new: made(inner, initializer, before.span, whole), before: None }),
    }
}

/// Puts a loop together, with the span of all that it stands for.
fn made(inner: ForStatement, start: ForInitializer, at: Span, whole: Span) -> Node<BlockItem> {
    let inner = ForStatement { initializer: Node::new(start, at), ..inner };
    let statement = Statement::For(Node::new(inner, whole));
    Node::new(BlockItem::Statement(Node::new(statement, whole)), whole)
}

/// Returns a loop that says no start as one of `for`.
fn without_start(statement: &Node<Statement>) -> Option<ForStatement> {
    match &statement.node {
        Statement::For(inner) => {
            let is_empty = matches!(inner.node.initializer.node, ForInitializer::Empty);
            is_empty.then(|| inner.node.clone())
        }
        Statement::While(inner) => {
            let WhileStatement { expression, statement: body } = &inner.node;
            let (body, step) = without_step(body);
            let initializer = Node::new(ForInitializer::Empty, expression.span);
            let condition = Some(expression.clone());
            Some(ForStatement { initializer, condition, step, statement: Box::new(body) })
        }
        _ => None,
    }
}

/// Takes the last statement from a body, if the loop may step in it.
fn without_step(body: &Node<Statement>) -> (Node<Statement>, Option<Box<Node<Expression>>>) {
    let mut body = body.clone();
    let step = match &mut body.node {
        Statement::Compound(items) => match items.last().map(|last| &last.node) {
            Some(BlockItem::Statement(Node {
                node: Statement::Expression(Some(step)), ..
            })) => Some(step.clone()),
            _ => None,
        },
        _ => None,
    };
    // `continue` would leave the step out.
    if step.is_none() || jumps(&body).continues {
        return (body, None);
    }
    if let Statement::Compound(items) = &mut body.node {
        items.pop();
    }
    (body, step)
}

/// Reads what an item in front of a loop starts; of a declaration, with what is left without the
/// value.
fn start_of(item: &Node<BlockItem>) -> Option<(Node<ForInitializer>, Option<Node<Declaration>>)> {
    match &item.node {
        BlockItem::Statement(Node { node: Statement::Expression(Some(start)), .. }) => {
            assigned(&start.node)?;
            Some((Node::new(ForInitializer::Expression(start.clone()), start.span), None))
        }
        BlockItem::Declaration(declaration) => {
            let [declarator] = declaration.node.declarators.as_slice() else { return None };
            declarator.node.initializer.as_ref()?;
            let mut rest = declaration.clone();
            rest.node.declarators.iter_mut().for_each(|own| own.node.initializer = None);
            let start = ForInitializer::Declaration(declaration.clone());
            Some((Node::new(start, declaration.span), Some(rest)))
        }
        _ => None,
    }
}

/// Writes the value of a declaration as an assignment.
fn assignment(name: &str, declaration: &Declaration) -> Option<Node<Expression>> {
    let [declarator] = declaration.declarators.as_slice() else { return None };
    if declared_name(&declarator.node.declarator.node)? != name {
        return None;
    }
    let Initializer::Expression(value) = &declarator.node.initializer.as_ref()?.node else {
        return None;
    };
    let span = declarator.span;
    let name = Node::new(Identifier { name: name.to_owned() }, span);
    let assignment = BinaryOperatorExpression {
        operator: Node::new(BinaryOperator::Assign, span),
        lhs: Box::new(Node::new(Expression::Identifier(Box::new(name)), span)),
        rhs: value.clone(),
    };
    Some(Node::new(Expression::BinaryOperator(Box::new(Node::new(assignment, span))), span))
}
