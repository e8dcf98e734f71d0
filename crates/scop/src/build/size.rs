//! How much of a program a part may be: what is done to one takes the square of its statements.

use lang_c::ast::{BlockItem, Statement};
use lang_c::span::Node;

use crate::Problem;
use crate::source::{Source, below};

/// Loops in one another; a relation has a dimension for each.
const LOOPS: usize = 32;
/// Conditions in one another, `else if` included; each statement has all of them above it.
const CONDITIONS: usize = 200;
const STATEMENTS: usize = 1_000;

/// Says which statement is one too many or too deep, if any is. Ends at the first, and takes no
/// stack that the source decides.
pub(crate) fn too_large<'a>(
    part: impl DoubleEndedIterator<Item = &'a Node<Statement>>,
    source: &Source<'_>,
) -> Option<Problem> {
    let inside = |statement| Inside { statement, loops: 0, conditions: 0 };
    let mut open: Vec<Inside<'_>> = part.rev().map(inside).collect();
    let mut statements = 0;
    while let Some(Inside { statement, loops, conditions }) = open.pop() {
        let (loops, conditions) = match &statement.node {
            Statement::Compound(items) => {
                let inner = self::statements(items).rev();
                open.extend(inner.map(|statement| Inside { statement, loops, conditions }));
                continue;
            }
            Statement::For(_) | Statement::While(_) | Statement::DoWhile(_) => {
                (loops + 1, conditions)
            }
            Statement::If(_) | Statement::Switch(_) => (loops, conditions + 1),
            _ => (loops, conditions),
        };
        let inner = below(&statement.node);
        statements += usize::from(inner.is_empty());
        let most = [
            (loops, LOOPS, "loops in one another"),
            (conditions, CONDITIONS, "conditions in one another"),
            (statements, STATEMENTS, "statements in one part"),
        ];
        if let Some((_, most, what)) = most.into_iter().find(|(found, most, _)| found > most) {
            let message = format!("expected at most {most} {what}");
            return Some(source.problem(statement.span.start, message));
        }
        open.extend(inner.into_iter().rev().map(|statement| Inside {
            statement,
            loops,
            conditions,
        }));
    }
    None
}

struct Inside<'a> {
    statement: &'a Node<Statement>,
    loops: usize,
    conditions: usize,
}

/// The statements among the items of a block.
pub(crate) fn statements(
    items: &[Node<BlockItem>],
) -> impl DoubleEndedIterator<Item = &Node<Statement>> {
    items.iter().filter_map(|item| match &item.node {
        BlockItem::Statement(statement) => Some(statement),
        _ => None,
    })
}
