//! Parsing, and finding the marked parts.

use std::collections::BTreeSet;

use lang_c::ast::{
    BlockItem, DeclarationSpecifier, Declarator, DeclaratorKind, DerivedDeclarator, Expression,
    ExternalDeclaration, FunctionDefinition, Statement, TypeSpecifier,
};
use lang_c::span::{Node, Span};
use tangram_polyhedral::scop::Scop;
use tangram_presburger::Budget;

use crate::build::{Builder, Read};
use crate::constants::Constants;
use crate::counting::as_for_loops;
use crate::declare::Names;
use crate::detect::Detector;
use crate::directives::hindrance;
use crate::final_values::final_values;
use crate::line_index::{Line, LineIndex};
use crate::live_out::{ended, is_addressed, is_needed};
use crate::nesting;
use crate::parse::{Parsed, parsed};
use crate::plain::{FIRST, LAST, marked, without_comments};
use crate::pragma::shared;
use crate::pure::is_without_effects;
use crate::{Around, Beside, Declared, Detected, Member, Part, Problem};

/// The parser descends through all levels of precedence for each pair of parentheses.
const STACK: usize = 256 << 20;

/// A parsed source, for places and texts.
pub(crate) struct Source<'a> {
    pub text: &'a str,
    lines: LineIndex<'a>,
}

impl<'a> Source<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { text, lines: LineIndex::of(text) }
    }

    pub fn line(&self, offset: usize) -> usize {
        self.lines.at(offset).number
    }

    /// Returns whether a place is in the file itself, not in one that it includes.
    pub fn is_in_file(&self, offset: usize) -> bool {
        let Line { file, included, .. } = self.lines.at(offset);
        !included && (file.is_empty() || self.lines.own.is_none_or(|own| own == file))
    }

    /// Returns the name that `#line` gives to the file at a place of its own.
    pub fn renamed(&self, offset: usize) -> Option<&'a str> {
        let line = self.lines.at(offset);
        (!line.included && !self.is_in_file(offset)).then_some(line.file)
    }

    /// Finds the first place of some text that is of another file, and the name of that.
    pub fn foreign(&self, span: Span) -> Option<(usize, &'a str)> {
        let mut at = span.start;
        let text = self.text.get(span.start..span.end).unwrap_or_default();
        text.split_inclusive('\n').find_map(|line| {
            let start = at;
            at += line.len();
            let is_code = !line.trim().is_empty() && !line.starts_with('#');
            (is_code && !self.is_in_file(start)).then(|| (start, self.lines.at(start).file))
        })
    }

    /// Says which directive in some text keeps it from being replaced.
    pub fn hindrance(&self, span: Span) -> Option<Problem> {
        let mut at = span.start;
        let lines = self.text.get(span.start..span.end)?.split_inclusive('\n');
        let directives = lines.filter_map(|line| {
            let start = at;
            at += line.len();
            Some((start, line.strip_prefix('#')?.trim()))
        });
        hindrance(directives).map(|(at, message)| self.problem(at, message))
    }

    pub fn problem(&self, offset: usize, message: impl Into<String>) -> Problem {
        let start = self.text[..offset].rfind('\n').map_or(0, |at| at + 1);
        let column = self.text[start..offset].chars().count() + 1;
        let Line { file, number, .. } = self.lines.at(offset);
        let file = (!self.is_in_file(offset)).then(|| file.to_owned());
        Problem { line: number, column, message: message.into(), file }
    }

    pub fn of<T>(&self, node: &Node<T>) -> &str {
        self.text.get(node.span.start..node.span.end).unwrap_or_default().trim()
    }
}

/// Finds the marked parts and, if `detect`, those that no pragma marks.
pub(crate) fn parts(source: &str, detect: bool, budget: &Budget) -> Result<Detected, Vec<Problem>> {
    let marked = marked(&without_comments(source));
    nesting::check(&marked).map_err(|problem| vec![problem])?;
    std::thread::scope(|scope| {
        let work = || inner(marked, detect, budget);
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        let lost = || vec![Problem::new(1, "out of memory".into())];
        thread.map_err(|_| lost())?.join().map_err(|_| lost())?
    })
}

fn inner(marked: String, detect: bool, budget: &Budget) -> Result<Detected, Vec<Problem>> {
    let Parsed { text, mut unit, left_out } = parsed(marked).map_err(|problem| vec![problem])?;
    let source = Source::new(&text);
    let mut constants = Constants::default();
    for external in &mut unit.0 {
        match &mut external.node {
            ExternalDeclaration::Declaration(own) => constants.declare(&own.node, &source),
            ExternalDeclaration::FunctionDefinition(function)
                if source.is_in_file(function.span.start) =>
            {
                constants.replace(&mut function.node, &source);
                as_for_loops(&mut function.node.statement, &source);
            }
            _ => {}
        }
    }
    let unread = left_out.clone();
    let mut globals = Names::default();
    let (mut found, mut problems, mut refused) = (Vec::new(), Vec::new(), left_out);
    for external in &unit.0 {
        match &external.node {
            ExternalDeclaration::Declaration(declaration) => {
                globals.declare(&declaration.node, &source);
            }
            ExternalDeclaration::FunctionDefinition(function) => {
                if is_without_effects(&function.node, &globals, &source) {
                    globals.note_pure(&function.node);
                }
                let outcome = of_function(&function.node, &globals, &source, budget);
                match outcome {
                    Ok(parts) => {
                        found.extend(parts.parts);
                        refused.extend(parts.refused);
                    }
                    Err(more) => problems.extend(more),
                }
                if detect {
                    let (parts, refused) = (&mut found, &mut refused);
                    Detector { source: &source, globals: &globals, budget, parts, refused }
                        .function(&function.node);
                }
            }
            ExternalDeclaration::StaticAssert(_) => {}
        }
    }
    // What headers declare does not make C of the file.
    let is_own = |external: &Node<ExternalDeclaration>| source.is_in_file(external.span.start);
    let nothing_read =
        !unit.0.iter().any(is_own) && unread.iter().any(|problem| problem.file.is_none());
    if found.is_empty() && problems.is_empty() && refused == unread && !detect {
        // What could not be read may have had the marks.
        problems = unread;
    }
    problems.sort();
    refused.sort();
    refused.dedup();
    found.sort_by_key(|part: &Part| (part.first_line, part.beside.before.len()));
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(Detected { parts: found, refused, nothing_read })
}

fn of_function(
    function: &FunctionDefinition,
    globals: &Names,
    source: &Source,
    budget: &Budget,
) -> Result<Detected, Vec<Problem>> {
    let mut names = globals.clone();
    names.parameters(function, source);
    let (mut found, mut problems, mut refused) = (Vec::new(), Vec::new(), Vec::new());
    let mut open = vec![(&function.statement, names)];
    while let Some((statement, mut names)) = open.pop() {
        let Statement::Compound(items) = &statement.node else {
            names.declare_start(&statement.node, source);
            open.extend(below(&statement.node).into_iter().map(|inner| (inner, names.clone())));
            continue;
        };
        let mut start = None;
        for (index, item) in items.iter().enumerate() {
            match &item.node {
                BlockItem::Declaration(declaration) if start.is_none() => {
                    names.declare(&declaration.node, source);
                }
                BlockItem::Statement(statement) if is_call(&statement.node, FIRST) => {
                    // The pragma would be one for other loops.
                    let at = statement.span.start;
                    problems.extend(shared(source, Span::span(at, at)));
                    start = Some(index + 1);
                }
                BlockItem::Statement(statement) if is_call(&statement.node, LAST) => {
                    let Some(first) = start.take() else { continue };
                    let inside = &items[first..index];
                    let before = &items[..first - 1];
                    let span = Span::span(items[first - 1].span.start, statement.span.end);
                    let needed = |name: &str| {
                        is_global(name, &names, globals)
                            || is_needed(name, span, &function.statement)
                    };
                    match Builder::scop((before, inside), &names, source, &needed, budget) {
                        Ok(read) => {
                            let lines = (source.line(span.start), source.line(item.span.start));
                            let mut part = part(
                                read,
                                (function, span, lines),
                                inside,
                                &names,
                                globals,
                                source,
                            );
                            let is_global = |name: &str| is_global(name, &names, globals);
                            let body = &function.statement;
                            part.ended = ended(inside, span, body, is_global);
                            let is_seen = |name: &str| is_global(name) || is_addressed(name, body);
                            part.finals = final_values(inside, &mut part.ended, &is_seen, source);
                            part.marked = true;
                            found.push(part);
                        }
                        Err(why) => {
                            let before = found.len();
                            if why.guards_only {
                                let (parts, refused) = (&mut found, &mut refused);
                                Detector { source, globals, budget, parts, refused }
                                    .inside(inside, &names, function);
                            }
                            match found.len() > before {
                                true => refused.extend(why.problems),
                                false => problems.extend(why.problems),
                            }
                        }
                    }
                }
                BlockItem::Statement(statement) if start.is_none() => {
                    open.push((statement, names.clone()));
                }
                _ => {}
            }
        }
        if let Some(first) = start {
            let at = items[first - 1].span.start;
            problems.push(source.problem(at, "expected `#pragma endscop` in the same block"));
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(Detected { parts: found, refused, nothing_read: false })
}

/// Makes a part of what was read of some items of a function, in lines from the first to the last.
pub(crate) fn part(
    read: Read,
    (function, span, lines): (&FunctionDefinition, Span, (usize, usize)),
    items: &[Node<BlockItem>],
    names: &Names,
    globals: &Names,
    source: &Source,
) -> Part {
    let Read { scop, bodies, arrays, types, checks, members, flat, test, operands } = read;
    let leads =
        |name: &str| is_global(name, names, globals) || is_addressed(name, &function.statement);
    let (distinct, overlaps) = overlaps(&scop, names, &members, leads);
    let mut around = around(function, span, &scop, names);
    (around.anything, around.reached) = reached(&scop, names, &members, leads);
    Part {
        function: declared_name(&function.declarator.node).unwrap_or_default(),
        first_line: lines.0,
        last_line: lines.1,
        file: source.foreign(span).map(|(_, file)| file.to_owned()),
        marked: false,
        braced: false,
        threaded: false,
        beside: Beside::default(),
        declared: declared(items, source),
        unsigned: unsigned(&scop, names),
        distinct,
        overlaps,
        ended: Vec::new(),
        finals: Vec::new(),
        around,
        allocated: Vec::new(),
        bodies,
        arrays,
        types,
        checks,
        members,
        flat,
        test,
        operands,
        scop,
    }
}

/// Returns whether a name stands for a variable outside of functions.
pub(crate) fn is_global(name: &str, names: &Names, globals: &Names) -> bool {
    globals.get(name).is_some_and(|global| names.get(name) == Some(global))
}

/// Lists the variables that items declare.
pub(crate) fn declared(items: &[Node<BlockItem>], source: &Source) -> Vec<String> {
    let mut names = Names::default();
    let mut all = Vec::new();
    for item in items {
        if let BlockItem::Declaration(declaration) = &item.node {
            all.extend(names.declare(&declaration.node, source));
        }
    }
    all
}

/// Returns whether a type, in words that no `typedef` names, has a sign.
pub(crate) fn is_signed(element: &str) -> bool {
    const SIGNED: &[&str] = &[
        "int",
        "long",
        "short",
        "char",
        "signed",
        "int8_t",
        "int16_t",
        "int32_t",
        "int64_t",
        "ptrdiff_t",
        "ssize_t",
    ];
    element.split_whitespace().all(|word| SIGNED.contains(&word))
}

/// Lists the parameters whose type is not one of the signed ones.
pub(crate) fn unsigned(scop: &Scop, names: &Names) -> Vec<String> {
    let known = |name: &String| {
        names.get(name).is_some_and(|array| !is_signed(&names.resolved(&array.element)))
    };
    let all = scop.domain().map(|domain| domain.parameters()).unwrap_or_default();
    all.into_iter().filter(known).collect()
}

/// Lists pairs of variables that could overlap, as far as their declarations tell, where one of both is
/// written, and in front the variables of all pairs, as C.
///
/// `leads`: says of a variable that is no array whether a pointer could lead to it.
fn overlaps(
    scop: &Scop,
    names: &Names,
    members: &[Member],
    leads: impl Fn(&str) -> bool,
) -> (Vec<String>, Vec<(String, String)>) {
    let names = with_members(names, members);
    let member = |name: &str| members.iter().find(|member| member.name == name);
    let leads = |name: &str| match member(name) {
        Some(member) => member.is_apart(&names) || leads(&member.base),
        None => leads(name),
    };
    let is_array = |name: &String| names.get(name).is_some_and(|array| !array.extents.is_empty());
    let arrays = scop.arrays.iter().filter(|array| !array.local).map(|array| array.name.clone());
    let params = scop.domain().map(|domain| domain.parameters()).unwrap_or_default();
    let mut all: Vec<String> = arrays.chain(params).collect();
    let mut seen = BTreeSet::new();
    all.retain(|name| seen.insert(name.clone()) && (is_array(name) || leads(name)));
    let is_written =
        |name: &String| scop.may_writes.relations().any(|write| write.space().output.name == *name);
    let rows = |name: &String| names.get(name).is_some_and(Declared::has_rows_apart);
    let meets = |a: &String, b: &String| {
        let restricted = [names.restricted(a), names.restricted(b)];
        // `restrict` speaks of pointers to rows, not of the rows.
        let open = restricted.contains(&Some(false)) && !restricted.contains(&Some(true))
            || rows(a)
            || rows(b);
        let scalar = !is_array(a) || !is_array(b);
        // Members beside each other, not where pointers among them lead.
        let within = |name: &str| member(name).filter(|member| member.restricted.is_none());
        let beside = within(a).zip(within(b)).is_some_and(|(a, b)| a.is_beside(b));
        let apart = (scalar && !names.may_share(a, b)) || beside;
        let is_one = a == b && !rows(a);
        !is_one && open && !apart && (is_written(a) || is_written(b))
    };
    let rest = |at: usize| all.iter().skip(at);
    let pairs = all.iter().enumerate().flat_map(|(at, a)| rest(at).map(move |b| (a, b)));
    let pairs: Vec<(String, String)> =
        pairs.filter(|(a, b)| meets(a, b)).map(|(a, b)| (a.clone(), b.clone())).collect();
    let found = all.iter().filter(|name| pairs.iter().any(|(a, b)| a == *name || b == *name));
    let text = |name: &String| member(name).map_or(name, |member| &member.text).clone();
    (found.map(text).collect(), pairs)
}

/// Adds the members that a part uses to the variables around it.
fn with_members(names: &Names, members: &[Member]) -> Names {
    let mut names = names.clone();
    for member in members {
        let restricted = member.restricted.or(names.restricted(&member.base));
        names.insert(member.array.clone(), restricted);
    }
    names
}

/// Lists the variables whose cells may be a part of anything, and which no `restrict` keeps from it; and
/// the pointers of a part, as C, that such cells may be a part of.
///
/// `leads`: says of a variable whether a pointer could lead to it.
fn reached(
    scop: &Scop,
    names: &Names,
    members: &[Member],
    leads: impl Fn(&str) -> bool,
) -> (Vec<String>, Vec<String>) {
    let names = with_members(names, members);
    let arrays = scop.arrays.iter().filter(|array| !array.local).map(|array| &array.name);
    let arrays: BTreeSet<&String> = arrays.collect();
    let anything =
        |name: &&&String| names.restricted(name) != Some(true) && names.may_be_anything(name);
    let pointer = |name: &&String| match members.iter().find(|member| member.name == **name) {
        Some(member) => {
            let is_reached = member.is_apart(&names) || leads(&member.base);
            (member.restricted.is_some() && is_reached).then(|| member.text.clone())
        }
        None => (names.restricted(name).is_some() && leads(name)).then(|| (*name).clone()),
    };
    let anything = arrays.iter().filter(anything).map(|name| (*name).clone()).collect();
    (anything, arrays.iter().filter_map(pointer).collect())
}

/// Describes the function around a part.
pub(crate) fn around(
    function: &FunctionDefinition,
    part: Span,
    scop: &Scop,
    names: &Names,
) -> Around {
    let parameters = parameters(function);
    // Callers without a prototype pass a `float` as a `double`.
    let is_old = |derived: &Node<DerivedDeclarator>| {
        matches!(derived.node, DerivedDeclarator::KRFunction(_))
    };
    let is_old = function.declarator.node.derived.iter().any(is_old);
    let known = parameters.iter().filter_map(|name| names.get(name.as_ref()?).cloned());
    let known: Vec<Declared> = known.collect();
    let is_void = |specifier: &Node<DeclarationSpecifier>| match &specifier.node {
        DeclarationSpecifier::TypeSpecifier(inner) => inner.node == TypeSpecifier::Void,
        _ => false,
    };
    let returns_nothing =
        function.specifiers.iter().any(is_void) && function.declarator.node.derived.len() == 1;
    let arrays = scop.arrays.iter().filter(|array| !array.local).map(|array| array.name.clone());
    let params = scop.domain().map(|domain| domain.parameters()).unwrap_or_default();
    let used: BTreeSet<String> = arrays.chain(params).collect();
    Around {
        whole: returns_nothing
            && !is_old
            && known.len() == parameters.len()
            && is_all(function, part),
        parameters: known,
        variables: used.iter().filter_map(|name| names.get(name).cloned()).collect(),
        pointers: used.into_iter().filter(|name| names.restricted(name).is_some()).collect(),
        anything: Vec::new(),
        reached: Vec::new(),
        types: names.types(),
        enumerations: names.enumerations().to_vec(),
    }
}

/// Lists the names of a function's parameters; none of one without a name.
fn parameters(function: &FunctionDefinition) -> Vec<Option<String>> {
    let mut all = Vec::new();
    for derived in &function.declarator.node.derived {
        match &derived.node {
            DerivedDeclarator::Function(inner) => {
                let declarators = inner.node.parameters.iter().map(|own| &own.node.declarator);
                let name = |own: &Option<Node<Declarator>>| declared_name(&own.as_ref()?.node);
                all.extend(declarators.map(name));
            }
            DerivedDeclarator::KRFunction(names) => {
                all.extend(names.iter().map(|name| Some(name.node.name.clone())));
            }
            _ => {}
        }
    }
    all
}

/// Returns the name that a declarator gives to something.
pub(crate) fn declared_name(mut declarator: &Declarator) -> Option<String> {
    loop {
        match &declarator.kind.node {
            DeclaratorKind::Identifier(id) => return Some(id.node.name.clone()),
            DeclaratorKind::Declarator(inner) => declarator = &inner.node,
            DeclaratorKind::Abstract => return None,
        }
    }
}

/// Returns whether a function does nothing but what a part of it does.
fn is_all(function: &FunctionDefinition, part: Span) -> bool {
    let Statement::Compound(items) = &function.statement.node else { return false };
    items.iter().all(|item| {
        let inside = part.start <= item.span.start && item.span.end <= part.end;
        inside
            || match &item.node {
                BlockItem::Declaration(declaration) => {
                    declaration.node.declarators.iter().all(|d| d.node.initializer.is_none())
                }
                BlockItem::Statement(statement) => {
                    matches!(statement.node, Statement::Return(None) | Statement::Expression(None))
                }
                BlockItem::StaticAssert(_) => true,
            }
    })
}

/// Returns the statements in a statement that is not a block.
pub(crate) fn below(statement: &Statement) -> Vec<&Node<Statement>> {
    match statement {
        Statement::If(inner) => {
            let mut all = vec![&*inner.node.then_statement];
            all.extend(inner.node.else_statement.as_deref());
            all
        }
        Statement::For(inner) => vec![&*inner.node.statement],
        Statement::While(inner) => vec![&*inner.node.statement],
        Statement::DoWhile(inner) => vec![&*inner.node.statement],
        Statement::Labeled(inner) => vec![&*inner.node.statement],
        Statement::Switch(inner) => vec![&*inner.node.statement],
        _ => Vec::new(),
    }
}

pub(crate) fn is_call(statement: &Statement, name: &str) -> bool {
    let Statement::Expression(Some(expression)) = statement else { return false };
    let Expression::Call(call) = &expression.node else { return false };
    matches!(&call.node.callee.node, Expression::Identifier(id) if id.node.name == name)
}
