//! Which loop variables of a part must have their values behind it.
//!
//! ```c
//! int i;
//! for (i = 0; i < n; i++) x[i] = 0;
//! last = i;                           // `n`, if the loop runs at all
//! ```
//!
//! Generated loops have variables of their own, so such a part must stay as it is. A value is
//! needed if, on some way from the end of the part, the variable is read before it is assigned,
//! or if others see the variable: its address is taken, or it outlives the function. Where
//! control jumps, any use outside the part counts.

use lang_c::ast::{
    BlockItem, Declaration, DeclarationSpecifier, Expression, ForInitializer, ForStatement,
    Statement, StorageClassSpecifier, UnaryOperator, UnaryOperatorExpression,
};
use lang_c::span::{Node, Span};
use lang_c::visit::{self, Visit};

use crate::build::{assigned, loop_variable};
use crate::source::{below, declared_name};

/// Lists the loop variables of items whose values `body`, which has the items at `part`, needs
/// behind them.
///
/// Linear in the body for each variable.
pub(crate) fn ended(
    items: &[Node<BlockItem>],
    part: Span,
    body: &Node<Statement>,
    is_global: impl Fn(&str) -> bool,
) -> Vec<String> {
    let needed = |name: &String| is_global(name) || is_needed(name, part, body);
    outer_variables(items).into_iter().filter(needed).collect()
}

/// Returns whether `body`, which has a part at `part`, may need the value of one of its variables
/// behind it.
pub(crate) fn is_needed(name: &str, part: Span, body: &Node<Statement>) -> bool {
    let mut uses = Uses::of(name, part);
    uses.visit_statement(&body.node, &body.span);
    let jumping = uses.jumps && uses.outside;
    uses.escapes || jumping || is_live(&uses, body, part)
}

/// Returns whether a function takes the address of one of its variables, or the variable outlives it.
pub(crate) fn is_addressed(name: &str, body: &Node<Statement>) -> bool {
    let mut uses = Uses::of(name, Span::none());
    uses.visit_statement(&body.node, &body.span);
    uses.escapes
}

/// Loop variables that are not declared in their loops.
#[derive(Default)]
struct OuterVariables {
    names: Vec<String>,
}

impl<'ast> Visit<'ast> for OuterVariables {
    fn visit_for_statement(&mut self, inner: &'ast ForStatement, span: &'ast Span) {
        if let ForInitializer::Expression(start) = &inner.initializer.node {
            let all = match (loop_variable(inner), &start.node) {
                (Some(name), _) => vec![name],
                (None, Expression::Comma(all)) => {
                    all.iter().filter_map(|one| Some(assigned(&one.node)?.0)).collect()
                }
                (None, start) => assigned(start).into_iter().map(|(name, _)| name).collect(),
            };
            let new: Vec<String> =
                all.into_iter().filter(|name| !self.names.contains(name)).collect();
            self.names.extend(new);
        }
        visit::visit_for_statement(self, inner, span);
    }
}

/// Lists the loop variables of items that stand outside of their loops.
pub(crate) fn outer_variables(items: &[Node<BlockItem>]) -> Vec<String> {
    let mut outer = OuterVariables::default();
    for item in items {
        outer.visit_block_item(&item.node, &item.span);
    }
    outer.names
}

/// How a function uses a variable.
struct Uses<'a> {
    name: &'a str,
    part: Span,
    /// Whether others could read it.
    escapes: bool,
    /// Whether it is used outside of the part.
    outside: bool,
    /// Whether control goes to labels.
    jumps: bool,
    /// Whether loops are left in their middle.
    leaves: bool,
}

impl<'a> Uses<'a> {
    fn of(name: &'a str, part: Span) -> Self {
        Self { name, part, escapes: false, outside: false, jumps: false, leaves: false }
    }
}

impl<'ast> Visit<'ast> for Uses<'_> {
    fn visit_statement(&mut self, statement: &'ast Statement, span: &'ast Span) {
        self.jumps |= matches!(
            statement,
            Statement::Goto(_) | Statement::Labeled(_) | Statement::Switch(_) | Statement::Asm(_)
        );
        self.leaves |= matches!(statement, Statement::Break | Statement::Continue);
        visit::visit_statement(self, statement, span);
    }

    fn visit_declaration(&mut self, declaration: &'ast Declaration, span: &'ast Span) {
        let outlives = |specifier: &Node<DeclarationSpecifier>| match &specifier.node {
            DeclarationSpecifier::StorageClass(class) => matches!(
                class.node,
                StorageClassSpecifier::Static
                    | StorageClassSpecifier::Extern
                    | StorageClassSpecifier::ThreadLocal
            ),
            _ => false,
        };
        self.escapes |=
            declares(declaration, self.name) && declaration.specifiers.iter().any(outlives);
        visit::visit_declaration(self, declaration, span);
    }

    fn visit_unary_operator_expression(
        &mut self,
        unary: &'ast UnaryOperatorExpression,
        span: &'ast Span,
    ) {
        let is_address = unary.operator.node == UnaryOperator::Address;
        let own = |operand: &Expression| matches!(operand, Expression::Identifier(id) if id.node.name == self.name);
        self.escapes |= is_address && own(&unary.operand.node);
        visit::visit_unary_operator_expression(self, unary, span);
    }

    fn visit_expression(&mut self, expression: &'ast Expression, span: &'ast Span) {
        if let Expression::Identifier(id) = expression {
            let inside = self.part.start <= span.start && span.end <= self.part.end;
            self.outside |= id.node.name == self.name && !inside;
        }
        visit::visit_expression(self, expression, span);
    }
}

/// What comes first when a piece of the program runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum First {
    /// The variable may be read.
    Reads,
    /// It is assigned on every way, or nothing runs behind.
    Assigns,
    /// It may keep its value.
    Neither,
}

/// Goes from the part outwards: what follows in each block, and the next iteration of each loop.
fn is_live(uses: &Uses, body: &Node<Statement>, part: Span) -> bool {
    let name = uses.name;
    let around = around(body, part);
    for (index, statement) in around.iter().enumerate().rev() {
        match &statement.node {
            Statement::Compound(items) => {
                let behind = items.iter().position(|item| item.span.start >= part.end);
                let (before, rest) = items.split_at(behind.unwrap_or(items.len()));
                let in_loop = around[..index].iter().any(|outer| is_loop(outer));
                match in_order(rest, name) {
                    First::Reads => return true,
                    // What leaves the loop may leave the assignment out.
                    First::Assigns if !(in_loop && uses.leaves) => return false,
                    _ => {}
                }
                let here = |item: &Node<BlockItem>| match &item.node {
                    BlockItem::Declaration(declaration) => declares(&declaration.node, name),
                    _ => false,
                };
                if before.iter().any(here) {
                    return false;
                }
            }
            Statement::For(inner) => {
                let again = [inner.node.step.as_deref(), inner.node.condition.as_deref()];
                let again = again.into_iter().flatten().map(|node| expression(node, name));
                if then(again.chain([first(&inner.node.statement, name)])) == First::Reads {
                    return true;
                }
            }
            Statement::While(inner) => {
                let (test, body) = (&inner.node.expression, &inner.node.statement);
                if then([expression(test, name), first(body, name)]) == First::Reads {
                    return true;
                }
            }
            Statement::DoWhile(inner) => {
                let (test, body) = (&inner.node.expression, &inner.node.statement);
                if then([expression(test, name), first(body, name)]) == First::Reads {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

/// Lists the statements around a part, outermost first.
fn around(body: &Node<Statement>, part: Span) -> Vec<&Node<Statement>> {
    let mut all = vec![body];
    while let Some(last) = all.last() {
        let inner = match &last.node {
            Statement::Compound(items) => {
                let statements = items.iter().filter_map(|item| match &item.node {
                    BlockItem::Statement(statement) => Some(statement),
                    _ => None,
                });
                statements.collect()
            }
            other => below(other),
        };
        let holds =
            |node: &&Node<Statement>| node.span.start < part.start && part.end <= node.span.end;
        let Some(next) = inner.into_iter().find(holds) else { break };
        all.push(next);
    }
    all
}

fn is_loop(statement: &Node<Statement>) -> bool {
    matches!(statement.node, Statement::For(_) | Statement::While(_) | Statement::DoWhile(_))
}

/// Says what comes first of things that run one behind the other.
fn then(all: impl IntoIterator<Item = First>) -> First {
    all.into_iter().find(|first| *first != First::Neither).unwrap_or(First::Neither)
}

fn in_order(items: &[Node<BlockItem>], name: &str) -> First {
    for item in items {
        let found = match &item.node {
            BlockItem::Declaration(inner) if declares(&inner.node, name) => return First::Neither,
            BlockItem::Declaration(inner) => {
                let mut uses = Uses::of(name, Span::none());
                uses.visit_declaration(&inner.node, &inner.span);
                if uses.outside { First::Reads } else { First::Neither }
            }
            BlockItem::Statement(inner) => first(inner, name),
            BlockItem::StaticAssert(_) => First::Neither,
        };
        if found != First::Neither {
            return found;
        }
    }
    First::Neither
}

fn first(node: &Node<Statement>, name: &str) -> First {
    let reads = |all: &[First]| match all.contains(&First::Reads) {
        true => First::Reads,
        false => First::Neither,
    };
    match &node.node {
        Statement::Compound(items) => in_order(items, name),
        Statement::Expression(Some(inner)) => expression(inner, name),
        Statement::If(choice) => {
            let choice = &choice.node;
            let yes = first(&choice.then_statement, name);
            let no = choice.else_statement.as_ref().map_or(First::Neither, |no| first(no, name));
            let both = if yes == no { yes } else { reads(&[yes, no]) };
            then([expression(&choice.condition, name), both])
        }
        Statement::For(inner) => {
            let inner = &inner.node;
            let start = match &inner.initializer.node {
                ForInitializer::Declaration(declaration) if declares(&declaration.node, name) => {
                    return First::Neither;
                }
                ForInitializer::Expression(start) => expression(start, name),
                ForInitializer::Declaration(declaration) => {
                    let mut uses = Uses::of(name, Span::none());
                    uses.visit_declaration(&declaration.node, &declaration.span);
                    if uses.outside { First::Reads } else { First::Neither }
                }
                _ => First::Neither,
            };
            let more = [inner.condition.as_deref(), inner.step.as_deref()];
            let more = more.map(|node| node.map_or(First::Neither, |node| expression(node, name)));
            then([start, reads(&[more[0], more[1], first(&inner.statement, name)])])
        }
        Statement::While(inner) => {
            let inner = &inner.node;
            reads(&[expression(&inner.expression, name), first(&inner.statement, name)])
        }
        Statement::DoWhile(inner) => {
            let inner = &inner.node;
            reads(&[expression(&inner.expression, name), first(&inner.statement, name)])
        }
        Statement::Return(None) => First::Assigns,
        Statement::Return(Some(value)) => then([expression(value, name), First::Assigns]),
        _ => First::Neither,
    }
}

fn expression(node: &Node<Expression>, name: &str) -> First {
    if let Some((target, value)) = assigned(&node.node)
        && target == name
    {
        return then([expression(value, name), First::Assigns]);
    }
    if let Expression::Comma(all) = &node.node {
        return then(all.iter().map(|inner| expression(inner, name)));
    }
    let mut uses = Uses::of(name, Span::none());
    uses.visit_expression(&node.node, &node.span);
    if uses.outside { First::Reads } else { First::Neither }
}

fn declares(declaration: &Declaration, name: &str) -> bool {
    let mut all = declaration.declarators.iter();
    all.any(|d| declared_name(&d.node.declarator.node).as_deref() == Some(name))
}
