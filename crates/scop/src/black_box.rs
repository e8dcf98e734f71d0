//! Statements whose control depends on data, as one statement.
//!
//! What such a statement does inside is not followed: it reads all that it may read, and
//! whatever it writes it may write.
//!
//! ```c
//! if (x[i] > best) { best = x[i]; at = i; }           // one statement for each i
//! for (int k = row[i]; k < row[i + 1]; k++)           // one as well: y[i] and x[..]
//!     y[i] += value[k] * x[column[k]];
//! ```
//!
//! Variables that are declared inside are nobody else's. A subscript that is not affine
//! stands for every place in its dimension.

use lang_c::ast::{
    BlockItem, Declaration, DeclaratorKind, Expression, ForInitializer, ForStatement, Initializer,
    Statement,
};
use lang_c::span::Node;
use lang_c::visit::{self, Visit};

use crate::Problem;
use crate::access::Accesses;
use crate::build::{Builder, Item, VOLATILE, assigned};

impl Builder<'_> {
    /// Reads a statement of any control as one; `reason` says why it is not followed.
    pub(crate) fn black_box(
        &mut self,
        node: &Node<Statement>,
        reason: Problem,
        order: &mut Vec<Item>,
    ) -> Result<(), Problem> {
        if self.is_outermost() && has_loop(node) {
            return Err(reason);
        }
        let depth = self.hidden.len();
        let mut inside = Inside { found: Accesses::default(), declared: String::new() };
        let outcome = self.inside(node, false, &mut inside);
        self.hidden.truncate(depth);
        outcome?;
        let mut found = inside.found;
        found.may_writes.append(&mut found.writes);
        // The preprocessor's lines would end up in the middle of a line.
        let lines = self.source_of(node).lines().filter(|line| !line.trim_start().starts_with('#'));
        let text = lines.map(str::trim).collect::<Vec<_>>().join(" ");
        if self.hides_loops.is_none() && self.is_hiding(node) {
            self.hides_loops = Some(reason);
        }
        self.add(node.span, format!("{{ {}{text} }}", inside.declared), found, order);
        Ok(())
    }

    fn inside(
        &mut self,
        node: &Node<Statement>,
        in_loop: bool,
        to: &mut Inside,
    ) -> Result<(), Problem> {
        match &node.node {
            Statement::Compound(items) => {
                let depth = self.hidden.len();
                for item in items {
                    match &item.node {
                        BlockItem::Declaration(inner) => self.hide_declared(inner, to)?,
                        BlockItem::Statement(inner) => self.inside(inner, in_loop, to)?,
                        BlockItem::StaticAssert(_) => {}
                    }
                }
                self.hidden.truncate(depth);
                Ok(())
            }
            Statement::Expression(None) => Ok(()),
            Statement::Expression(Some(expression)) => self.inside_effects(expression, to),
            Statement::If(choice) => {
                self.reads(&choice.node.condition, &mut to.found)?;
                self.inside(&choice.node.then_statement, in_loop, to)?;
                let other = choice.node.else_statement.as_deref();
                other.map_or(Ok(()), |other| self.inside(other, in_loop, to))
            }
            Statement::For(inner) => {
                let depth = self.hidden.len();
                self.inside_for(&inner.node, to)?;
                self.hidden.truncate(depth);
                Ok(())
            }
            Statement::While(inner) => {
                self.reads(&inner.node.expression, &mut to.found)?;
                self.inside(&inner.node.statement, true, to)
            }
            Statement::DoWhile(inner) => {
                self.reads(&inner.node.expression, &mut to.found)?;
                self.inside(&inner.node.statement, true, to)
            }
            Statement::Break | Statement::Continue if in_loop => Ok(()),
            Statement::Break | Statement::Continue | Statement::Goto(_) | Statement::Return(_) => {
                self.wrong(node, "leaves the loop: control must be affine")
            }
            _ => self.wrong(node, "is not supported in a static control part"),
        }
    }

    fn inside_effects(&mut self, node: &Node<Expression>, to: &mut Inside) -> Result<(), Problem> {
        let more = self.effects(node)?;
        to.found.reads.extend(more.reads);
        to.found.may_writes.extend(more.writes.into_iter().chain(more.may_writes));
        Ok(())
    }

    fn inside_for(&mut self, inner: &ForStatement, to: &mut Inside) -> Result<(), Problem> {
        match &inner.initializer.node {
            ForInitializer::Declaration(declaration) => self.hide_declared(declaration, to)?,
            ForInitializer::Expression(start) => match assigned(&start.node) {
                // Nothing behind the part uses the value, so the variable may be another one.
                Some((name, value)) if !self.hidden.contains(&name) => {
                    self.reads(value, &mut to.found)?;
                    if self.is_volatile(&name) {
                        return self.wrong(start, VOLATILE);
                    }
                    if let Some(element) = self.element(&name) {
                        let declaration = format!("{element} {name}; ");
                        if !to.declared.contains(&declaration) {
                            to.declared.push_str(&declaration);
                        }
                    }
                    self.hide(start, name)?;
                }
                _ => self.inside_effects(start, to)?,
            },
            _ => {}
        }
        if let Some(condition) = &inner.condition {
            self.reads(condition, &mut to.found)?;
        }
        if let Some(step) = &inner.step {
            self.inside_effects(step, to)?;
        }
        self.inside(&inner.statement, true, to)
    }

    fn hide_declared(&mut self, node: &Node<Declaration>, to: &mut Inside) -> Result<(), Problem> {
        if self.declares_volatile(&node.node) {
            return self.wrong(node, VOLATILE);
        }
        for declarator in &node.node.declarators {
            match declarator.node.initializer.as_ref().map(|initializer| &initializer.node) {
                None => {}
                Some(Initializer::Expression(value)) => self.reads(value, &mut to.found)?,
                Some(Initializer::List(_)) => return self.wrong(node, "is no expression"),
            }
            let mut inner = &declarator.node.declarator.node;
            while let DeclaratorKind::Declarator(next) = &inner.kind.node {
                inner = &next.node;
            }
            if let DeclaratorKind::Identifier(id) = &inner.kind.node {
                self.hide(node, id.node.name.clone())?;
            }
        }
        Ok(())
    }

    fn hide<T>(&mut self, node: &Node<T>, name: String) -> Result<(), Problem> {
        if self.is_loop(&name) {
            return self.wrong(node, "hides the variable of a loop: use another name");
        }
        self.hidden.push(name);
        Ok(())
    }

    /// Says whether a loop inside could be one of the part if it stood alone.
    fn is_hiding(&mut self, node: &Node<Statement>) -> bool {
        let mut loops = Loops::default();
        loops.visit_statement(&node.node, &node.span);
        let params = self.params.clone();
        let hiding = loops.found.into_iter().any(|inner| self.head(node, inner).is_ok());
        self.params = params;
        hiding
    }
}

/// What is known of a statement's inside.
struct Inside {
    found: Accesses,
    /// Declarations of loop variables that stand outside in the source.
    declared: String,
}

/// The `for` loops in a statement.
#[derive(Default)]
struct Loops<'ast> {
    found: Vec<&'ast ForStatement>,
    others: bool,
}

impl<'ast> Visit<'ast> for Loops<'ast> {
    fn visit_statement(&mut self, statement: &'ast Statement, span: &'ast lang_c::span::Span) {
        match statement {
            Statement::For(inner) => self.found.push(&inner.node),
            Statement::While(_) | Statement::DoWhile(_) => self.others = true,
            _ => {}
        }
        visit::visit_statement(self, statement, span);
    }
}

/// Says whether a statement has a loop in it, or is one.
pub(crate) fn has_loop(node: &Node<Statement>) -> bool {
    let mut loops = Loops::default();
    loops.visit_statement(&node.node, &node.span);
    loops.others || !loops.found.is_empty()
}
