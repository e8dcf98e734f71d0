//! Loop variables that have their last values behind new loops.
//!
//! ```c
//! int i, j;
//! for (i = 0; i < n; i++)
//!     for (j = 0; j < m; j++) A[i][j] = 0;
//! use(i, j);
//! ```
//!
//! New loops have variables of their own. So what the source's loops do to theirs is done behind new
//! ones, without what they do else; compilers make one value of it:
//!
//! ```c
//! for (i = 0; i < n; ) { for (j = 0; j < m; j++) { } break; }     // m or 0, if there is a row
//! for (i = 0; i < n; i++) { }                                     // n or 0
//! ```
//!
//! Bounds of inner loops that depend on outer ones have no such form.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use lang_c::ast::{BlockItem, Declaration, Expression, ForInitializer, ForStatement, Statement};
use lang_c::span::{Node, Span};
use lang_c::visit::{self, Visit};

use crate::FinalValue;
use crate::black_box::jumps;
use crate::build::{assigned, loop_variable};
use crate::c_tokens::{one_line, words};
use crate::live_out::outer_variables;
use crate::source::{Source, declared_name};

/// The place of an item, and the loops in it around what is set.
type Order = (usize, Reverse<usize>);

/// Finds what gives loop variables of a part their values behind it; the variables of which that is not
/// found stay in `needed`.
///
/// `is_seen`: whether others could read a variable while the part runs.
pub(crate) fn final_values(
    items: &[Node<BlockItem>],
    needed: &mut Vec<String>,
    is_seen: &dyn Fn(&str) -> bool,
    source: &Source,
) -> Vec<FinalValue> {
    let inside = Declared::of(items);
    let mut found: Vec<(Order, FinalValue)> = Vec::new();
    needed.retain(|name| {
        if inside.names.contains(name) || is_seen(name) {
            return true;
        }
        match of_variable(items, name, &inside.names, source) {
            Some(all) => {
                found.extend(all);
                false
            }
            None => true,
        }
    });
    // What gives an inner variable its value changes outer ones, which are set behind it.
    found.sort_by_key(|(order, _)| *order);
    found.into_iter().map(|(_, value)| value).collect()
}

/// Names that items declare, at any depth.
#[derive(Default)]
struct Declared {
    names: BTreeSet<String>,
}

impl Declared {
    fn of(items: &[Node<BlockItem>]) -> Self {
        let mut all = Self::default();
        items.iter().for_each(|item| all.visit_block_item(&item.node, &item.span));
        all
    }
}

impl<'ast> Visit<'ast> for Declared {
    fn visit_declaration(&mut self, declaration: &'ast Declaration, span: &'ast Span) {
        let all = declaration.declarators.iter();
        self.names.extend(all.filter_map(|own| declared_name(&own.node.declarator.node)));
        visit::visit_declaration(self, declaration, span);
    }
}

/// Writes what all items of a part do to a variable, each with its place and the number of loops around.
fn of_variable(
    items: &[Node<BlockItem>],
    name: &str,
    inside: &BTreeSet<String>,
    source: &Source,
) -> Option<Vec<(Order, FinalValue)>> {
    let mut all = Vec::new();
    for (at, item) in items.iter().enumerate().filter(|(_, item)| sets(item, name)) {
        let BlockItem::Statement(statement) = &item.node else { return None };
        let way = way_to(statement, name, source)?;
        let (last, outer) = way.split_last()?;
        let Step::Loop(last) = last else { return None };
        // Outer variables have many values, inner names none here.
        let mut closed: Vec<&str> = inside.iter().map(String::as_str).collect();
        for step in &way {
            if !step.texts().flat_map(words).all(|word| !closed.contains(&word) || step.sets(word))
            {
                return None;
            }
            closed.extend(step.variable());
        }
        if !last.is_outside {
            return None;
        }
        let mut text = last.whole();
        for step in outer.iter().rev() {
            text = match step {
                Step::Loop(head) => format!("{} {{ {text} break; }}", head.once()),
                Step::If(condition) => format!("if ({condition}) {{ {text} }}"),
            };
        }
        all.push(((at, Reverse(outer.len())), FinalValue { name: name.to_owned(), text }));
    }
    Some(all)
}

fn sets(item: &Node<BlockItem>, name: &str) -> bool {
    outer_variables(std::slice::from_ref(item)).iter().any(|own| own == name)
}

/// What is around a loop.
enum Step {
    Loop(Head),
    /// What holds, as C.
    If(String),
}

impl Step {
    fn texts(&self) -> impl Iterator<Item = &str> {
        let all = match self {
            Self::Loop(head) => [head.start.as_str(), head.rest.as_str()],
            Self::If(condition) => [condition.as_str(), ""],
        };
        all.into_iter()
    }

    fn variable(&self) -> Option<&str> {
        match self {
            Self::Loop(head) => Some(&head.variable),
            Self::If(_) => None,
        }
    }

    fn sets(&self, name: &str) -> bool {
        self.variable() == Some(name)
    }
}

/// Finds the loops and conditions down to the loop over a variable, if it is certain to run where these
/// let it.
fn way_to(mut statement: &Node<Statement>, name: &str, source: &Source) -> Option<Vec<Step>> {
    let mut way = Vec::new();
    loop {
        match &statement.node {
            Statement::Compound(items) => {
                let mut all = items.iter().filter(|item| sets(item, name));
                let (Some(only), None) = (all.next(), all.next()) else { return None };
                let BlockItem::Statement(inner) = &only.node else { return None };
                statement = inner;
            }
            Statement::For(inner) => {
                let found = jumps(&inner.node.statement);
                if found.breaks || found.continues {
                    return None;
                }
                let head = Head::of(&inner.node, source)?;
                let is_last = head.variable == name;
                way.push(Step::Loop(head));
                if is_last {
                    return Some(way);
                }
                statement = &inner.node.statement;
            }
            Statement::If(inner) => {
                let condition = one_line(source.of(&inner.node.condition));
                let branches = [
                    (Some(&inner.node.then_statement), condition.clone()),
                    (inner.node.else_statement.as_ref(), format!("!({condition})")),
                ];
                let in_branch = |branch: &Node<Statement>| {
                    let item = Node::new(BlockItem::Statement(branch.clone()), branch.span);
                    sets(&item, name)
                };
                let mut all = branches
                    .into_iter()
                    .filter_map(|(branch, text)| Some((branch?, text)))
                    .filter(|(branch, _)| in_branch(branch));
                let (Some((branch, text)), None) = (all.next(), all.next()) else { return None };
                way.push(Step::If(text));
                statement = branch;
            }
            _ => return None,
        }
    }
}

/// The head of a loop, as text.
struct Head {
    variable: String,
    /// With the loop's own declaration.
    start: String,
    /// The condition.
    rest: String,
    step: String,
    /// Whether the variable stands outside of the loop.
    is_outside: bool,
}

impl Head {
    fn of(inner: &ForStatement, source: &Source) -> Option<Self> {
        let variable = loop_variable(inner)?;
        let (start, is_outside) = match &inner.initializer.node {
            ForInitializer::Expression(start) => {
                let (target, value) = assigned(&start.node)?;
                let is_plain = target == variable && !matches!(value.node, Expression::Comma(_));
                (format!("{target} = {}", is_plain.then(|| one_line(source.of(value)))?), true)
            }
            ForInitializer::Declaration(own) => {
                (one_line(source.of(own)).trim_end_matches(';').to_owned(), false)
            }
            _ => return None,
        };
        let text = |node: &Option<Box<Node<Expression>>>| {
            node.as_ref().map(|node| one_line(source.of(node))).unwrap_or_default()
        };
        let (rest, step) = (text(&inner.condition), text(&inner.step));
        Some(Self { variable, start, rest, step, is_outside })
    }

    fn whole(&self) -> String {
        format!("for ({}; {}; {}) {{ }}", self.start, self.rest, self.step)
    }

    fn once(&self) -> String {
        format!("for ({}; {};)", self.start, self.rest)
    }
}
