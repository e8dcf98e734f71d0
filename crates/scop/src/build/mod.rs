//! From loops, conditions and statements to a program part.

mod assemble;
mod control;
mod delinearise;
mod loops;
mod scope;
mod written;

use std::collections::BTreeSet;

use lang_c::ast::{
    BlockItem, Declaration, Declarator, Expression, ForStatement, Initializer, Statement,
};
use lang_c::span::{Node, Span};
use tangram_polyhedral::ast::Ast;
use tangram_polyhedral::scop::Scop;
use tangram_presburger::Budget;

use crate::access::{Access, Accesses};
use crate::affine::{Affine, Case};
use crate::declare::{Names, element, is_integer, is_longest, is_wide};
use crate::find::{Source, declared, declared_name, is_call};
use crate::words::{with_types, words};
use crate::{Flat, Problem};
use loops::Head;
pub(crate) use loops::{assigned, loop_variable};
use scope::Scopes;
use written::Written;

/// Words of the notation of sets, which cannot name a variable there.
const WORDS: &[&str] = &[
    "and", "or", "not", "exists", "mod", "floor", "ceil", "min", "max", "true", "false", "implies",
    "infty", "NaN", "rat",
];

/// Why nothing may move an access to a variable.
pub(crate) const VOLATILE: &str = "is volatile or atomic: each access must stay where it is";

/// A call that ends the values of its arguments, as in PENCIL.
const KILL: &str = "__pencil_kill";

/// Reads one part.
pub(crate) struct Builder<'a> {
    source: &'a Source<'a>,
    names: Names,
    written: Written,
    pub(crate) params: BTreeSet<String>,
    arrays: Vec<String>,
    /// Loops around the place that is read, outermost first.
    loops: Vec<String>,
    /// The types of their variables, as they are written.
    types: Vec<String>,
    conditions: Vec<String>,
    /// For each loop, how many conditions there were in front of its body.
    firsts: Vec<usize>,
    /// For each loop, where `continue` does not skip what follows.
    skipped: Vec<Vec<String>>,
    scopes: Scopes,
    statements: Vec<Raw>,
    problems: Vec<Problem>,
    /// Variables that are declared in the block of the part itself.
    kept: Vec<String>,
    /// Variables inside a statement that is not followed.
    pub(crate) hidden: Vec<String>,
    /// Arrays in one dimension that are read as several.
    flat: Vec<Flat>,
    /// Why loops that are affine stand in such a statement.
    pub(crate) hides_loops: Option<Problem>,
}

struct Raw {
    at: usize,
    text: String,
    loops: Vec<String>,
    conditions: Vec<String>,
    accesses: Accesses,
}

/// What was read.
pub(crate) struct Read {
    pub scop: Scop,
    pub flat: Vec<Flat>,
    pub test: Option<Ast>,
}

/// The order of the source.
pub(crate) enum Item {
    Statement(usize),
    Loop { depth: usize, forwards: bool, body: Vec<Item> },
}

impl<'a> Builder<'a> {
    /// Reads the items between the pragmas.
    pub(crate) fn scop(
        items: &[Node<BlockItem>],
        names: &Names,
        source: &'a Source<'a>,
        budget: &Budget,
    ) -> Result<Read, Vec<Problem>> {
        let mut builder = Self::new(items, names, source);
        let order = builder.items(items, false);
        if !builder.problems.is_empty() {
            return Err(builder.problems);
        }
        builder.assemble(&order, budget).map_err(|problem| vec![problem])
    }

    /// Says why items are no part, or would hide loops that could be parts.
    pub(crate) fn problems(
        items: &[Node<BlockItem>],
        names: &Names,
        source: &'a Source<'a>,
    ) -> Vec<Problem> {
        let mut builder = Self::new(items, names, source);
        builder.items(items, false);
        builder.problems.extend(builder.hides_loops);
        builder.problems
    }

    fn new(items: &[Node<BlockItem>], names: &Names, source: &'a Source<'a>) -> Self {
        Self {
            source,
            names: names.clone(),
            written: Written::of(items),
            params: BTreeSet::new(),
            arrays: Vec::new(),
            loops: Vec::new(),
            types: Vec::new(),
            conditions: Vec::new(),
            firsts: Vec::new(),
            skipped: Vec::new(),
            scopes: Scopes::default(),
            statements: Vec::new(),
            problems: Vec::new(),
            kept: declared(items, source),
            hidden: Vec::new(),
            flat: Vec::new(),
            hides_loops: None,
        }
    }

    pub(crate) fn wrong<T, U>(&self, node: &Node<T>, message: &str) -> Result<U, Problem> {
        let text: String = self.source.of(node).chars().take(60).collect();
        Err(self.source.problem(node.span.start, format!("`{text}` {message}")))
    }

    pub(crate) fn source_of<T>(&self, node: &Node<T>) -> &'a str {
        self.source.of(node)
    }

    /// Says whether a cast to a type changes no value of a subscript.
    pub(crate) fn is_wide_type(&self, element: &str) -> bool {
        is_wide(&self.names.resolved(element))
    }

    /// Returns the type of a variable, as it is written.
    pub(crate) fn element(&self, name: &str) -> Option<&str> {
        self.names.get(name).map(|array| array.element.as_str())
    }

    /// Says whether a function of the source has no effects.
    pub(crate) fn is_pure_here(&self, name: &str) -> bool {
        self.names.is_pure(name)
    }

    pub(crate) fn is_volatile(&self, name: &str) -> bool {
        self.element(name).is_some_and(|element| self.names.is_volatile(element))
    }

    /// Says whether a declaration is of a type whose accesses must stay where they are.
    pub(crate) fn declares_volatile(&self, node: &Declaration) -> bool {
        self.names.is_volatile(&element(&node.specifiers, self.source))
    }

    pub(crate) fn is_outermost(&self) -> bool {
        self.loops.is_empty()
    }

    pub(crate) fn is_loop(&self, name: &str) -> bool {
        self.loops.iter().any(|other| other == name)
    }

    pub(crate) fn is_loop_variable(&self, name: &str) -> bool {
        self.written.loops.contains(name)
    }

    pub(crate) fn is_written(&self, name: &str) -> bool {
        self.written.variables.contains(name)
    }

    /// Says whether a variable itself, not its elements, gets another value.
    pub(crate) fn is_assigned(&self, name: &str) -> bool {
        self.written.assigned.contains(name)
    }

    /// Returns the number of dimensions of an array, if it is known.
    pub(crate) fn dimensions(&self, name: &str) -> Option<usize> {
        self.names.get(name).map(|array| array.extents.len())
    }

    /// Notes that an array is used; returns the number of its dimensions, if it is known.
    pub(crate) fn use_array(&mut self, name: &str) -> Option<usize> {
        if !self.arrays.iter().any(|other| other == name) {
            self.arrays.push(name.to_owned());
        }
        self.dimensions(name)
    }

    fn reader(
        &mut self,
        read: impl FnOnce(&mut Affine) -> Result<String, Problem>,
    ) -> Result<String, Problem> {
        let before = self.params.clone();
        let Self { source, names, written, params, loops, hidden, scopes, .. } = self;
        let mut resolve = |name: &str| -> Result<String, String> {
            let (raw, name) = (name, scopes.named(name));
            if hidden.iter().any(|other| other == raw) {
                return Err("is not affine: it is declared inside a statement".into());
            }
            if loops.iter().any(|other| other == name) {
                return Ok(name.to_owned());
            }
            if written.loops.contains(raw) {
                return Err("is a loop variable, used outside its loop".into());
            }
            if written.variables.contains(raw) {
                return Err("is not affine: it is written inside the part".into());
            }
            if let Some(array) = names.get(name) {
                if names.is_volatile(&array.element) {
                    return Err(VOLATILE.into());
                }
                if !array.extents.is_empty() {
                    return Err("is not affine: it is an array".into());
                }
                if !is_integer(&names.resolved(&array.element)) {
                    return Err("is not affine: it is not an integer".into());
                }
            }
            if WORDS.contains(&name) {
                return Err("is a word of the notation of sets: use another name".into());
            }
            params.insert(name.to_owned());
            Ok(name.to_owned())
        };
        let outcome = read(&mut Affine { source, resolve: &mut resolve, names: &*names });
        if outcome.is_err() {
            self.params = before;
        }
        outcome
    }

    pub(crate) fn condition(&mut self, node: &Node<Expression>) -> Result<String, Problem> {
        self.reader(|affine| affine.condition(node))
    }

    pub(crate) fn affine(&mut self, node: &Node<Expression>) -> Result<Vec<Case>, Problem> {
        let mut cases = Vec::new();
        self.reader(|affine| {
            cases = affine.value(node)?;
            Ok(String::new())
        })?;
        Ok(cases)
    }

    /// Reads a block; `is_body`: whether a loop has it, so that its rest is what `continue` skips.
    fn items(&mut self, items: &[Node<BlockItem>], is_body: bool) -> Vec<Item> {
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

    fn statement(&mut self, node: &Node<Statement>, order: &mut Vec<Item>) -> Result<(), Problem> {
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
            Statement::Expression(Some(expression)) => self.expression(expression, order),
            Statement::Switch(inner) => self.switch(node, &inner.node, order),
            Statement::Continue => self.skip(node),
            Statement::If(choice) => {
                let condition = match self.condition(&choice.node.condition) {
                    Ok(condition) => condition,
                    Err(problem) => return self.black_box(node, problem, order),
                };
                self.within(condition.clone(), &choice.node.then_statement, order);
                if let Some(other) = &choice.node.else_statement {
                    self.within(format!("not ({condition})"), other, order);
                }
                Ok(())
            }
            Statement::For(inner) => match self.head(node, &inner.node) {
                Ok(head) => {
                    let mark = self.open();
                    let result = self.for_loop(head, &inner.node, order);
                    self.close(&mark);
                    result
                }
                Err(problem) => self.black_box(node, problem.clone(), order).map_err(|_| problem),
            },
            Statement::While(_) | Statement::DoWhile(_) => {
                let expected = "repeats an unknown number of times: expected a `for` loop";
                let problem = self.wrong::<_, ()>(node, expected);
                match problem {
                    Err(problem) if !self.is_outermost() => self.black_box(node, problem, order),
                    problem => problem,
                }
            }
            Statement::Break | Statement::Goto(_) | Statement::Return(_) => {
                self.wrong(node, "leaves the loop: control must be affine")
            }
            _ => self.wrong(node, "is not supported in a static control part"),
        }
    }

    fn within(&mut self, condition: String, inner: &Node<Statement>, order: &mut Vec<Item>) {
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
        // Loops will run over `long long`, which the values of the source may not notice.
        let narrow = |element: &&String| !is_longest(&self.names.resolved(element));
        let types = self.types.iter().map(|element| Some(element).filter(narrow));
        let types =
            self.loops.iter().zip(types).filter_map(|(name, t)| Some((name.as_str(), t?.as_str())));
        self.statements.push(Raw {
            at: span.start,
            text: with_types(&text, &types.collect()),
            loops: self.loops.clone(),
            conditions: [self.conditions.as_slice(), &self.skipped.concat()].concat(),
            accesses,
        });
    }

    fn declaration(
        &mut self,
        node: &Node<Declaration>,
        order: &mut Vec<Item>,
    ) -> Result<(), Problem> {
        if self.declares_volatile(&node.node) {
            return self.wrong(node, VOLATILE);
        }
        for declarator in &node.node.declarators {
            if let Some(Initializer::List(_)) =
                declarator.node.initializer.as_ref().map(|initializer| &initializer.node)
            {
                return self.wrong(declarator, "has a list of values: assign them one by one");
            }
            // The value still sees what the name hides.
            let mut accesses = Accesses::default();
            let mut text = None;
            if let Some(Initializer::Expression(value)) =
                declarator.node.initializer.as_ref().map(|initializer| &initializer.node)
            {
                self.reads(value, &mut accesses)?;
                text = Some(self.text(value.span));
            }
            let Some(name) = self.declare(node, &declarator.node.declarator)? else { continue };
            let Some(text) = text else {
                self.declared_anew(&name, declarator.span, order);
                continue;
            };
            self.use_array(&name);
            accesses.writes.push(Access::certain(format!("{name}[]")));
            self.add(node.span, format!("{name} = {text}"), accesses, order);
        }
        Ok(())
    }

    /// Declares a variable of the part; returns its name there.
    fn declare(
        &mut self,
        node: &Node<Declaration>,
        declarator: &Node<Declarator>,
    ) -> Result<Option<String>, Problem> {
        let before =
            declared_name(&declarator.node).and_then(|name| self.names.get(&name).cloned());
        let declared = self.names.declare_one(&node.node, &declarator.node, self.source);
        let Some(name) = declared else { return Ok(None) };
        let extents = self.names.get(&name).map(|array| array.extents.join(" "));
        if extents.iter().flat_map(|extents| words(extents)).any(|word| self.named(word) != word) {
            return self.wrong(node, "has an extent that hides another variable: use another name");
        }
        self.names.localise(&name);
        let differs = before.as_ref().is_some_and(|before| Some(before) != self.names.get(&name));
        let hides = differs || self.is_declared(&name) || self.is_loop(&name);
        if !hides {
            self.note_declared(&name, &name);
            return Ok(Some(name));
        }
        if self.is_outermost() && self.kept.contains(&name) {
            return self.wrong(node, "hides another variable: use another name");
        }
        let new = self.fresh(&name);
        self.names.rename(&name, &new, before);
        self.note_declared(&name, &new);
        Ok(Some(new))
    }

    /// A variable that is declared in a loop has no value from the iteration before.
    fn declared_anew(&mut self, name: &str, span: Span, order: &mut Vec<Item>) {
        if !self.is_outermost() {
            let kills = vec![self.all_cells(name)];
            let accesses = Accesses { kills, ..Accesses::default() };
            self.add(span, String::new(), accesses, order);
        }
    }

    fn for_loop(
        &mut self,
        head: Head,
        inner: &ForStatement,
        order: &mut Vec<Item>,
    ) -> Result<(), Problem> {
        let Head { name, element, forwards, conditions, before } = head;
        self.each(&before, order)?;
        self.keep_name(&name);
        let count = conditions.len();
        self.conditions.extend(conditions);
        let depth = self.loops.len();
        self.loops.push(name);
        self.types.push(element);
        self.firsts.push(self.conditions.len());
        self.skipped.push(Vec::new());
        let mut body = Vec::new();
        let result = match &inner.statement.node {
            Statement::Compound(items) => {
                body = self.items(items, true);
                Ok(())
            }
            _ => self.statement(&inner.statement, &mut body),
        };
        self.firsts.pop();
        self.skipped.pop();
        self.loops.pop();
        self.types.pop();
        self.conditions.truncate(self.conditions.len() - count);
        if !body.is_empty() {
            order.push(Item::Loop { depth, forwards, body });
        }
        result
    }
}
