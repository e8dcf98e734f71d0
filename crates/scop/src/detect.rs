//! Parts that no pragma marks: from a loop to a loop, as long as all in between is affine.
//!
//! In a block, a part starts at the first statement with a loop that could be a part, and
//! goes on over the statements behind it while they could belong to it; what has no loop is
//! left out at its end. What is inside a loop that is not affine is looked through in turn.
//!
//! A part whose loop variables have values that what follows needs, and that no plain loop gives them,
//! is none.

use std::collections::BTreeMap;

use lang_c::ast::{BlockItem, FunctionDefinition, Statement};
use lang_c::span::{Node, Span};
use tangram_polyhedral::scop::Scop;
use tangram_presburger::Budget;

use crate::black_box::has_loop;
use crate::build::Builder;
use crate::build::size::too_large;
use crate::declare::Names;
use crate::final_values::final_values;
use crate::live_out::{ended, is_addressed, is_needed};
use crate::plain::{FIRST, LAST};
use crate::pragma::{is_about_inner_loops, is_hinted, is_region, shared, workshared};
use crate::source::{Source, below, is_call, is_global, part};
use crate::{Beside, FinalValue, Part, Problem};

/// Looks through one function after the other.
pub(crate) struct Detector<'a> {
    pub source: &'a Source<'a>,
    pub globals: &'a Names,
    pub budget: &'a Budget,
    pub parts: &'a mut Vec<Part>,
    /// Loops that are in no part, and why.
    pub refused: &'a mut Vec<Problem>,
}

/// A statement to look through.
struct Open<'a> {
    statement: &'a Node<Statement>,
    names: Names,
    /// Whether it runs on one of several threads.
    threaded: bool,
}

/// Where a part stands.
#[derive(Clone, Copy)]
struct Kind {
    /// Whether code in its place needs braces.
    braced: bool,
    threaded: bool,
}

/// So many pairs of a write and another access to one array may be in a part of several items: each
/// may be a dependence. As many as fit into a second or two.
const MOST_MEETING: usize = 8_000;

/// Counts the pairs of a write and another access to one array.
fn accesses_that_may_meet(scop: &Scop) -> usize {
    let mut counts: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    for (kind, accesses) in [&scop.reads, &scop.may_writes].into_iter().enumerate() {
        for access in accesses.relations() {
            counts.entry(&access.space().output.name).or_default()[kind] += 1;
        }
    }
    counts.values().map(|[reads, writes]| writes * (reads + writes)).sum()
}

/// The function that is looked through.
struct Function<'a> {
    definition: &'a FunctionDefinition,
}

impl Detector<'_> {
    pub fn function(&mut self, function: &FunctionDefinition) {
        let mut names = self.globals.clone();
        names.parameters(function, self.source);
        let statement = &function.statement;
        let start = statement.span.start;
        if !self.source.is_in_file(start) {
            // What headers define is not looked for.
            if let Some(file) = self.source.renamed(start).filter(|_| has_loop(statement)) {
                let message =
                    format!("`#line` says that this is of `{file}`, which stays as it is");
                self.refused.push(self.source.problem(start, message));
            }
            return;
        }
        let within = Function { definition: function };
        self.look_through(vec![Open { statement, names, threaded: false }], &within);
    }

    /// Finds parts in items of a function that are none themselves.
    pub fn inside(
        &mut self,
        items: &[Node<BlockItem>],
        names: &Names,
        definition: &FunctionDefinition,
    ) {
        let (within, mut open) = (Function { definition }, Vec::new());
        self.block(items, (names.clone(), false), &within, &mut open);
        self.look_through(open, &within);
    }

    fn look_through<'a>(&mut self, mut open: Vec<Open<'a>>, within: &Function) {
        while let Some(next) = open.pop() {
            let start = next.statement.span.start;
            if !self.source.is_in_file(start) {
                let problem = self.foreign(next.statement.span);
                self.refused.extend(problem.filter(|_| has_loop(next.statement)));
                continue;
            }
            // Threads that share iterations may need all that is inside as it is.
            if let Some(problem) = shared(self.source, Span::span(start, start)) {
                self.refused.push(problem);
                self.shared(next, &mut open);
            } else if let Statement::Compound(items) = &next.statement.node {
                self.block(items, (next.names, next.threaded), within, &mut open);
            } else {
                self.single(next, within, &mut open);
            }
        }
    }

    /// Opens what one thread runs of a statement that several share.
    fn shared<'a>(&self, next: Open<'a>, open: &mut Vec<Open<'a>>) {
        let Open { statement, mut names, .. } = next;
        let start = statement.span.start;
        if let Some(loops) = workshared(self.source, start) {
            open.extend(self.iteration(statement, names, loops));
        } else if is_region(self.source, start)
            && let Statement::Compound(items) = &statement.node
        {
            for item in items {
                match &item.node {
                    BlockItem::Declaration(declaration) => {
                        names.declare(&declaration.node, self.source);
                    }
                    BlockItem::Statement(inner) => {
                        let loops = workshared(self.source, inner.span.start);
                        let iteration = |loops| self.iteration(inner, names.clone(), loops);
                        open.extend(loops.and_then(iteration));
                    }
                    BlockItem::StaticAssert(_) => {}
                }
            }
        }
    }

    /// Returns the body of the innermost of some loops of which each is all that the one around it does.
    fn iteration<'a>(
        &self,
        mut statement: &'a Node<Statement>,
        mut names: Names,
        loops: usize,
    ) -> Option<Open<'a>> {
        for _ in 0..loops {
            while let Statement::Compound(items) = &statement.node {
                let [Node { node: BlockItem::Statement(inner), .. }] = items.as_slice() else {
                    return None;
                };
                statement = inner;
            }
            let Statement::For(inner) = &statement.node else { return None };
            names.declare_start(&statement.node, self.source);
            statement = &inner.node.statement;
        }
        Some(Open { statement, names, threaded: true })
    }

    fn block<'a>(
        &mut self,
        items: &'a [Node<BlockItem>],
        (mut names, threaded): (Names, bool),
        function: &Function,
        open: &mut Vec<Open<'a>>,
    ) {
        let mut index = 0;
        while let Some(item) = items.get(index) {
            index += 1;
            match &item.node {
                BlockItem::Declaration(declaration) => {
                    names.declare(&declaration.node, self.source);
                }
                BlockItem::Statement(statement) if is_call(&statement.node, FIRST) => {
                    let last = |item: &Node<BlockItem>| match &item.node {
                        BlockItem::Statement(inner) => is_call(&inner.node, LAST),
                        _ => false,
                    };
                    index += items[index..].iter().take_while(|item| !last(item)).count();
                }
                BlockItem::Statement(statement) if has_loop(statement) => {
                    let start = index - 1;
                    if !self.is_affine(&items[start..index], &names) {
                        // It comes back as a single statement, which says why.
                        open.push(Open { statement, names: names.clone(), threaded });
                        continue;
                    }
                    index = self.affine_from(start, items, &names);
                    let kind = Kind { braced: false, threaded };
                    index = self.parts_from(items, (start, index), &names, function, kind);
                    for item in &items[start..index] {
                        if let BlockItem::Declaration(declaration) = &item.node {
                            names.declare(&declaration.node, self.source);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Finds where the items end that are affine together, from the one at `start`, which is. What
    /// follows makes no item affine, so that doubling and halving finds the place: items are read as
    /// often as their number has digits.
    fn affine_from(&self, start: usize, items: &[Node<BlockItem>], names: &Names) -> usize {
        let is_first = |item: &Node<BlockItem>| match &item.node {
            BlockItem::Statement(next) => is_call(&next.node, FIRST),
            _ => false,
        };
        let marked = items[start + 1..].iter().position(is_first);
        // The part ends at `affine` or behind, and in front of `other`.
        let (mut affine, mut step) = (start + 1, 1);
        let mut other = marked.map_or(items.len(), |at| start + 1 + at) + 1;
        while affine + 1 < other {
            let next = affine + step.min((other - affine).div_ceil(2));
            if self.is_affine(&items[start..next], names) {
                (affine, step) = (next, 2 * step);
            } else {
                other = next;
            }
        }
        affine
    }

    /// Takes the items from the first to the last as a part, or fewer of them where these together are
    /// refused: one of them may be, and half the items cost half or less. Returns where it ends.
    fn parts_from(
        &mut self,
        items: &[Node<BlockItem>],
        (start, mut end): (usize, usize),
        names: &Names,
        function: &Function,
        kind: Kind,
    ) -> usize {
        let is_loop = |item: &Node<BlockItem>| match &item.node {
            BlockItem::Statement(inner) => has_loop(inner),
            _ => false,
        };
        loop {
            // The first item is a loop.
            while !is_loop(&items[end - 1]) {
                end -= 1;
            }
            match self.part((&items[..start], &items[start..end]), names, function, kind) {
                Err(problem) if end == start + 1 => self.refused.push(problem),
                Err(_) => {
                    end = start + (end - start) / 2;
                    continue;
                }
                Ok(()) => {}
            }
            return end;
        }
    }

    fn is_affine(&self, items: &[Node<BlockItem>], names: &Names) -> bool {
        self.problems(items, names).is_empty()
    }

    /// Says why items are no part.
    fn problems(&self, items: &[Node<BlockItem>], names: &Names) -> Vec<Problem> {
        let ends = items.first().zip(items.last());
        let span = ends.map(|(first, last)| Span::span(first.span.start, last.span.end));
        let kept = |span| {
            let problem = self.foreign(span).or_else(|| self.source.hindrance(span));
            problem.or_else(|| shared(self.source, span))
        };
        match span.and_then(kept) {
            Some(problem) => vec![problem],
            None => Builder::problems(items, names, self.source),
        }
    }

    /// Says which code is of an included file.
    fn foreign(&self, span: Span) -> Option<Problem> {
        let (at, file) = self.source.foreign(span)?;
        let message =
            format!("the loops are of `{file}`, in part or all: only this file is written anew");
        Some(self.source.problem(at, message))
    }

    /// A statement without braces around it.
    fn single<'a>(&mut self, next: Open<'a>, function: &Function, open: &mut Vec<Open<'a>>) {
        let statement = next.statement;
        if !has_loop(statement) {
            return;
        }
        // Before it is copied: deep nests come back once for each of their loops.
        let limit = too_large(std::iter::once(statement), self.source);
        // The loops of a nest that is too deep all are, down to those that are not: once is enough.
        let last = self.refused.last();
        let is_told =
            limit.as_ref().zip(last).is_some_and(|(limit, last)| limit.message == last.message);
        let copy = || Node::new(BlockItem::Statement(statement.clone()), statement.span);
        let items: Vec<_> = limit.is_none().then(copy).into_iter().collect();
        match limit.or_else(|| self.problems(&items, &next.names).into_iter().next()) {
            None => {
                let kind = Kind { braced: true, threaded: next.threaded };
                let refused = self.part((&[], &items), &next.names, function, kind).err();
                self.refused.extend(refused);
            }
            Some(problem) => {
                if !is_told {
                    self.note(statement, problem);
                }
                if is_about_inner_loops(self.source, statement.span.start) {
                    return;
                }
                let mut names = next.names;
                names.declare_start(&statement.node, self.source);
                let inner = below(&statement.node).into_iter();
                let threaded = next.threaded;
                let inner =
                    inner.map(|own| Open { statement: own, names: names.clone(), threaded });
                open.extend(inner);
            }
        }
    }

    /// `before`: what stands in front of the part in its block.
    fn part(
        &mut self,
        (before, items): (&[Node<BlockItem>], &[Node<BlockItem>]),
        names: &Names,
        function: &Function,
        Kind { braced, threaded }: Kind,
    ) -> Result<(), Problem> {
        let Some((first, last)) = items.first().zip(items.last()) else { return Ok(()) };
        // Of an `if` without `else`, the space behind it belongs to its place.
        let end = self.source.text[..last.span.end].trim_end().len();
        let span = Span::span(first.span.start, end);
        let finals = self.finals(span, names, function, items)?;
        let needed = |name: &str| {
            is_global(name, names, self.globals)
                || is_needed(name, span, &function.definition.statement)
        };
        match Builder::scop((before, items), names, self.source, &needed, self.budget) {
            Ok(read) if items.len() > 1 && accesses_that_may_meet(&read.scop) > MOST_MEETING => {
                let message = "expected fewer accesses to the same arrays in one part".to_owned();
                Err(self.source.problem(span.start, message))
            }
            Ok(read) => {
                let lines = (self.source.line(span.start), self.source.line(span.end));
                let place = (function.definition, span, lines);
                let part = part(read, place, items, names, self.globals, self.source);
                self.parts.push(Part {
                    braced,
                    threaded,
                    beside: self.beside(span),
                    finals,
                    ..part
                });
                Ok(())
            }
            Err(why) => why.problems.into_iter().next().map_or(Ok(()), Err),
        }
    }

    /// Returns the lines of a part, cut at its ends.
    fn beside(&self, span: Span) -> Beside {
        let text = self.source.text;
        let line = |offset: usize| {
            let start = text[..offset].rfind('\n').map_or(0, |at| at + 1);
            let end = text[offset..].find('\n').map_or(text.len(), |at| offset + at);
            (text[start..offset].to_owned(), text[offset..end].to_owned())
        };
        let ((before, first), (last, behind)) = (line(span.start), line(span.end));
        let hinted = is_hinted(text, span.start);
        Beside { before, first, last, behind, hinted }
    }

    /// Finds what sets the loop variables that are used behind a part, or says what forbids to replace
    /// it.
    fn finals(
        &self,
        span: Span,
        names: &Names,
        function: &Function,
        items: &[Node<BlockItem>],
    ) -> Result<Vec<FinalValue>, Problem> {
        let body = &function.definition.statement;
        let is_global = |name: &str| is_global(name, names, self.globals);
        let mut ended = ended(items, span, body, is_global);
        let is_seen = |name: &str| is_global(name) || is_addressed(name, body);
        let finals = final_values(items, &mut ended, &is_seen, self.source);
        let Some(name) = ended.first() else { return Ok(finals) };
        let message = match is_global(name) {
            true => format!("the loop variable `{name}` is global: declare it in the loop"),
            false => format!(
                "the loop variable `{name}` is used behind its loop: declare it in the loop"
            ),
        };
        Err(self.source.problem(span.start, message))
    }

    /// Notes why a loop is no part; what stands inside it may still be one.
    fn note(&mut self, statement: &Node<Statement>, problem: Problem) {
        if matches!(statement.node, Statement::For(_) | Statement::While(_) | Statement::DoWhile(_))
        {
            self.refused.push(problem);
        }
    }
}
