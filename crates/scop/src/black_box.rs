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
    Label, Statement,
};
use lang_c::span::{Node, Span};
use lang_c::visit::{self, Visit};

use crate::Problem;
use crate::access::Accesses;
use crate::build::{Builder, Item, NESTED_CASE, VOLATILE, assigned};
use crate::source::below;

impl Builder<'_> {
    /// Reads a statement of any control as one; `reason` says why it is not followed.
    pub(crate) fn black_box(
        &mut self,
        node: &Node<Statement>,
        reason: Problem,
        order: &mut Vec<Item>,
    ) -> Result<(), Problem> {
        if self.is_outermost() && has_loop(node) {
            self.guards +=
                usize::from(matches!(node.node, Statement::If(_) | Statement::Switch(_)));
            return Err(reason);
        }
        let mut inside = Inside::default();
        let depth = self.hidden.len();
        let outcome = self.inside(node, Jumps::default(), &mut inside);
        self.hidden.truncate(depth);
        outcome?;
        let hides = self.is_hiding(std::slice::from_ref(node));
        self.add_box(node.span, ("", ""), inside, hides.then_some(reason), order);
        Ok(())
    }

    /// Reads the rest of a loop's body, which `continue` may skip, as one statement.
    pub(crate) fn black_box_of(
        &mut self,
        items: &[Node<BlockItem>],
        reason: Problem,
        order: &mut Vec<Item>,
    ) -> Result<(), Problem> {
        let Some((first, last)) = items.first().zip(items.last()) else { return Ok(()) };
        let mut inside = Inside::default();
        let depth = self.hidden.len();
        let jumps = Jumps { continues: true, ..Jumps::default() };
        let outcome = items.iter().try_for_each(|item| self.inside_item(item, jumps, &mut inside));
        self.hidden.truncate(depth);
        outcome?;
        let statements = items.iter().filter_map(|item| match &item.node {
            BlockItem::Statement(statement) => Some(statement.clone()),
            _ => None,
        });
        let statements: Vec<Node<Statement>> = statements.collect();
        let hides = self.is_hiding(&statements);
        let span = Span::span(first.span.start, last.span.end);
        // `continue` leaves this loop, which does not repeat.
        self.add_box(span, ("do { ", " } while (0);"), inside, hides.then_some(reason), order);
        Ok(())
    }

    /// Says why a statement, if a condition on data in it skips the rest of a loop's body.
    pub(crate) fn unknown_skip(
        &mut self,
        node: &Node<Statement>,
        is_body: bool,
    ) -> Option<Problem> {
        let Statement::If(choice) = &node.node else { return None };
        if !is_body || !jumps(node).continues {
            return None;
        }
        let mut choice = choice;
        loop {
            if let Err(problem) = self.condition(&choice.node.condition) {
                return Some(problem);
            }
            match choice.node.else_statement.as_deref().map(|other| &other.node) {
                Some(Statement::If(other)) => choice = other,
                _ => return None,
            }
        }
    }

    fn add_box(
        &mut self,
        span: Span,
        (start, end): (&str, &str),
        inside: Inside,
        hides: Option<Problem>,
        order: &mut Vec<Item>,
    ) {
        let Inside { mut found, declared } = inside;
        found.may_writes.append(&mut found.writes);
        // The preprocessor's lines would end up in the middle of a line.
        let text = self.text(span);
        let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
        let text = lines.map(str::trim).collect::<Vec<_>>().join(" ");
        if self.hides_loops.is_none() {
            self.hides_loops = hides;
        }
        self.add(span, format!("{{ {declared}{start}{text}{end} }}"), found, order);
    }

    fn inside_item(
        &mut self,
        item: &Node<BlockItem>,
        jumps: Jumps,
        to: &mut Inside,
    ) -> Result<(), Problem> {
        match &item.node {
            BlockItem::Declaration(inner) => self.hide_declared(inner, to),
            BlockItem::Statement(inner) => self.inside(inner, jumps, to),
            BlockItem::StaticAssert(_) => Ok(()),
        }
    }

    fn inside(
        &mut self,
        node: &Node<Statement>,
        jumps: Jumps,
        to: &mut Inside,
    ) -> Result<(), Problem> {
        match &node.node {
            Statement::Compound(items) => {
                let depth = self.hidden.len();
                items.iter().try_for_each(|item| self.inside_item(item, jumps, to))?;
                self.hidden.truncate(depth);
                Ok(())
            }
            Statement::Expression(None) => Ok(()),
            Statement::Expression(Some(expression)) => {
                match self.is_nothing(expression) || self.is_assumption(expression)? {
                    true => Ok(()),
                    false => self.inside_effects(expression, to),
                }
            }
            Statement::If(choice) => {
                self.reads(&choice.node.condition, &mut to.found)?;
                self.inside(&choice.node.then_statement, jumps, to)?;
                let other = choice.node.else_statement.as_deref();
                other.map_or(Ok(()), |other| self.inside(other, jumps, to))
            }
            Statement::For(inner) => {
                let depth = self.hidden.len();
                self.inside_for(&inner.node, jumps, to)?;
                self.hidden.truncate(depth);
                Ok(())
            }
            Statement::While(inner) => {
                self.reads(&inner.node.expression, &mut to.found)?;
                self.inside(&inner.node.statement, jumps.of_loop(), to)
            }
            Statement::DoWhile(inner) => {
                self.reads(&inner.node.expression, &mut to.found)?;
                self.inside(&inner.node.statement, jumps.of_loop(), to)
            }
            Statement::Switch(inner) => {
                self.reads(&inner.node.expression, &mut to.found)?;
                let inside = Jumps { breaks: true, cases: true, ..jumps };
                self.inside(&inner.node.statement, inside, to)
            }
            Statement::Labeled(inner) => match &inner.node.label.node {
                label @ Label::Identifier(_) if !self.is_idle(label) => {
                    self.wrong(node, "has a label: control must be affine")
                }
                Label::Case(_) | Label::CaseRange(_) | Label::Default if !jumps.cases => {
                    self.wrong(node, NESTED_CASE)
                }
                _ => self.inside(&inner.node.statement, jumps, to),
            },
            Statement::Break if jumps.breaks => Ok(()),
            Statement::Continue if jumps.continues => Ok(()),
            Statement::Break | Statement::Continue | Statement::Goto(_) | Statement::Return(_) => {
                self.wrong(node, "leaves the loop: control must be affine")
            }
            _ => self.wrong(node, "is not supported in a static control part"),
        }
    }

    /// Collects what `({ .. })` reads: it may change its own variables alone.
    pub(crate) fn reads_block(
        &mut self,
        node: &Node<Statement>,
        found: &mut Accesses,
    ) -> Result<(), Problem> {
        let Statement::Compound(items) = &node.node else { return Ok(()) };
        let (mut inside, depth) = (Inside::default(), self.hidden.len());
        let (last, first) = match items.split_last() {
            Some((last, first)) => (Some(last), first),
            None => (None, &items[..]),
        };
        let mut read = || -> Result<(), Problem> {
            for item in first {
                self.inside_item(item, Jumps::default(), &mut inside)?;
            }
            match last.map(|last| &last.node) {
                Some(BlockItem::Statement(Node {
                    node: Statement::Expression(Some(value)),
                    ..
                })) => self.reads(value, &mut inside.found),
                _ => self.wrong(node, "has no value"),
            }
        };
        let outcome = read();
        self.hidden.truncate(depth);
        outcome?;
        let Inside { found: own, declared } = inside;
        if !own.writes.is_empty() || !own.may_writes.is_empty() || !declared.is_empty() {
            return self.wrong(node, "has an effect inside an expression");
        }
        found.reads.extend(own.reads);
        Ok(())
    }

    fn inside_effects(&mut self, node: &Node<Expression>, to: &mut Inside) -> Result<(), Problem> {
        let more = self.effects(node)?;
        to.found.reads.extend(more.reads);
        to.found.may_writes.extend(more.writes.into_iter().chain(more.may_writes));
        Ok(())
    }

    fn inside_for(
        &mut self,
        inner: &ForStatement,
        jumps: Jumps,
        to: &mut Inside,
    ) -> Result<(), Problem> {
        match &inner.initializer.node {
            ForInitializer::Declaration(declaration) => self.hide_declared(declaration, to)?,
            ForInitializer::Expression(start) => match assigned(&start.node) {
                // Nothing behind the part uses the value, so the variable may be another one.
                Some((name, value)) if !self.hidden.contains(&name) => {
                    self.reads(value, &mut to.found)?;
                    let own = self.named(&name).to_owned();
                    if self.is_volatile(&own) {
                        return self.wrong(start, VOLATILE);
                    }
                    if let Some(element) = self.element(&own) {
                        let declaration = format!("{element} {own}; ");
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
        self.inside(&inner.statement, jumps.of_loop(), to)
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

    /// Returns whether a loop inside could be one of the part if it stood alone.
    fn is_hiding(&mut self, all: &[Node<Statement>]) -> bool {
        let (params, claims) = (self.params.clone(), self.claims());
        let hiding = all.iter().any(|node| {
            let mut loops = Loops::default();
            loops.visit_statement(&node.node, &node.span);
            loops.found.into_iter().any(|inner| {
                let mark = self.open();
                let head = self.head(node, inner);
                let hides = head
                    .is_ok_and(|head| self.unknown_leaving(&head.name, &inner.statement).is_none());
                self.close(&mark);
                hides
            })
        });
        self.params = params;
        self.keep_claims(claims);
        hiding
    }
}

/// Which jumps stay inside a statement.
#[derive(Clone, Copy, Default)]
pub(crate) struct Jumps {
    pub breaks: bool,
    pub continues: bool,
    /// From the head of a `switch` to its cases.
    cases: bool,
}

impl Jumps {
    const ALL: Self = Self { breaks: true, continues: true, cases: true };

    /// Returns those of the body of a loop.
    fn of_loop(self) -> Self {
        Self { cases: self.cases, ..Self::ALL }
    }
}

/// Says which jumps leave a statement.
pub(crate) fn jumps(node: &Node<Statement>) -> Jumps {
    let (mut found, mut open) = (Jumps::default(), vec![(node, Jumps::ALL)]);
    while let Some((node, counted)) = open.pop() {
        let within = match &node.node {
            Statement::For(_) | Statement::While(_) | Statement::DoWhile(_) => Jumps::default(),
            Statement::Switch(_) => Jumps { breaks: false, ..counted },
            _ => counted,
        };
        match &node.node {
            Statement::Break => found.breaks |= counted.breaks,
            Statement::Continue => found.continues |= counted.continues,
            Statement::Compound(items) => open.extend(items.iter().filter_map(|item| {
                let BlockItem::Statement(inner) = &item.node else { return None };
                Some((inner, within))
            })),
            other => open.extend(below(other).into_iter().map(|inner| (inner, within))),
        }
    }
    found
}

/// What is known of a statement's inside.
#[derive(Default)]
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
    fn visit_statement(&mut self, statement: &'ast Statement, span: &'ast Span) {
        match statement {
            Statement::For(inner) => self.found.push(&inner.node),
            Statement::While(_) | Statement::DoWhile(_) => self.others = true,
            _ => {}
        }
        visit::visit_statement(self, statement, span);
    }
}

/// Returns whether a statement has a loop in it, or is one.
pub(crate) fn has_loop(node: &Node<Statement>) -> bool {
    let mut loops = Loops::default();
    loops.visit_statement(&node.node, &node.span);
    loops.others || !loops.found.is_empty()
}
