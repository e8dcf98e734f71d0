//! From loops, conditions and statements to a program part.

mod assemble;
mod break_statement;
mod claims;
mod control;
mod declared;
mod delicm;
mod delinearise;
mod facts;
mod growth;
mod loops;
mod members;
mod relations;
mod rows;
mod scope;
pub(crate) mod size;
mod statement;
mod switch;
mod values;
mod wraps;
mod written;

use std::collections::{BTreeMap, BTreeSet};

use lang_c::ast::{BlockItem, Declaration, Expression};
use lang_c::span::Node;
use tangram_polyhedral::ast::Ast;
use tangram_polyhedral::scop::Scop;
use tangram_presburger::formula::{Expr, Formula};
use tangram_presburger::{Budget, Relation};

use crate::access::Accesses;
use crate::affine::{Affine, Case, Claim, always, range_of};
use crate::c_integer::Range;
use crate::contraction::Operands;
use crate::declare::{Names, element, is_integer, is_wide};
use crate::source::{Source, declared};
use crate::{Body, Declared, Flat, Member, Problem};
use break_statement::Breakable;
use claims::Claimed;
pub(crate) use loops::{assigned, loop_variable};
use scope::Scopes;
use written::Written;

/// Why nothing may move an access to a variable.
pub(crate) const VOLATILE: &str = "is volatile or atomic: each access must stay where it is";

/// Why a label of a `switch` is not followed.
pub(crate) const NESTED_CASE: &str = "is a case inside another statement: put it directly into the \
                                      block of its `switch`";

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
    conditions: Vec<Formula>,
    /// Loops and `switch`es around the place that is read, outermost first.
    breakable: Vec<Breakable>,
    scopes: Scopes,
    statements: Vec<Raw>,
    problems: Vec<Problem>,
    /// Variables of the part, each with the number of statements in front of its declaration.
    declarations: Vec<(String, usize)>,
    /// Variables that are declared in the block of the part itself.
    kept: Vec<String>,
    /// Variables of the function that the part writes and nothing reads behind it.
    dead: BTreeSet<String>,
    /// Variables inside a statement that is not followed.
    pub(crate) hidden: Vec<String>,
    /// Arrays in one dimension that are read as several.
    flat: Vec<Flat>,
    /// Members of structures that are arrays of their own.
    members: Vec<Member>,
    /// Members in affine expressions: names of parameters, or why they are none.
    numbers: BTreeMap<String, Result<String, String>>,
    /// Pointers that lead to a structure wherever the part runs.
    reached: BTreeSet<String>,
    /// Conditions on parameters that hold.
    facts: Vec<Formula>,
    /// What has to hold for control to be what it is read as.
    claims: Vec<Claimed>,
    /// Conditions under which the expression that is read is computed.
    pub(crate) assumed: Vec<Formula>,
    /// How many conditions an operand stands behind, as far as they are looked at.
    pub(crate) nested: usize,
    /// The parameters for which no subscript wraps around.
    unwrapped: Option<Relation>,
    /// Assertions in front of all statements, as C.
    checks: Vec<String>,
    /// Why loops that are affine stand in such a statement.
    pub(crate) hides_loops: Option<Problem>,
    /// How many problems are conditions on data around loops, outside of all loops.
    pub(crate) guards: usize,
}

/// Why items are no part.
pub(crate) struct Refused {
    pub problems: Vec<Problem>,
    /// Whether all that keeps them from being one is conditions on data around loops, which may be
    /// parts of their own.
    pub guards_only: bool,
}

/// Writes the start of a piece of the source in one line.
pub(crate) fn quoted(text: &str) -> String {
    const LONGEST: usize = 60;
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
    let line = words.join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", line[..end].trim_end()),
        None => line,
    }
}

struct Raw {
    at: usize,
    text: String,
    loops: Vec<String>,
    /// The types of their variables.
    types: Vec<String>,
    conditions: Vec<Formula>,
    accesses: Accesses,
    /// The text for subscripts that may wrap around in a type that is not that of new loops.
    typed: Option<String>,
}

/// What was read.
pub(crate) struct Read {
    pub scop: Scop,
    pub bodies: Vec<Body>,
    pub arrays: Vec<Declared>,
    pub types: Vec<Vec<String>>,
    pub checks: Vec<String>,
    pub members: Vec<Member>,
    pub flat: Vec<Flat>,
    pub test: Option<Ast>,
    pub operands: Vec<Option<Operands>>,
}

/// The order of the source.
pub(crate) enum Item {
    Statement(usize),
    Loop { depth: usize, forwards: bool, body: Vec<Item> },
}

impl<'a> Builder<'a> {
    /// Reads the items of a part; `before`: those in front of it, `is_needed`: whether a variable of
    /// the function may have to have its value behind it.
    pub(crate) fn scop(
        (before, items): (&[Node<BlockItem>], &[Node<BlockItem>]),
        names: &Names,
        source: &'a Source<'a>,
        is_needed: &dyn Fn(&str) -> bool,
        budget: &Budget,
    ) -> Result<Read, Refused> {
        if let Some(problem) = size::too_large(size::statements(items), source) {
            return Err(Refused { problems: vec![problem], guards_only: false });
        }
        let mut builder = Self::new(items, names, source);
        builder.dead = builder.dead_behind(is_needed);
        builder.given(before);
        let mut order = builder.items(items, false);
        if !builder.problems.is_empty() {
            let guards_only = builder.guards == builder.problems.len();
            return Err(Refused { problems: builder.problems, guards_only });
        }
        builder.settle_wraps();
        builder.delay_scalars(&mut order);
        let refused = |problem| Refused { problems: vec![problem], guards_only: false };
        builder.assemble(&order, budget).map_err(refused)
    }

    fn dead_behind(&self, is_needed: &dyn Fn(&str) -> bool) -> BTreeSet<String> {
        let is_dead = |name: &&String| {
            let variable = self.names.get(name);
            variable.is_some_and(|own| !own.local && own.extents.is_empty()) && !is_needed(name)
        };
        self.written.variables.iter().filter(is_dead).cloned().collect()
    }

    /// Says why items are no part, or would hide loops that could be parts.
    pub(crate) fn problems(
        items: &[Node<BlockItem>],
        names: &Names,
        source: &'a Source<'a>,
    ) -> Vec<Problem> {
        if let Some(problem) = size::too_large(size::statements(items), source) {
            return vec![problem];
        }
        let mut builder = Self::new(items, names, source);
        builder.items(items, false);
        builder.problems.extend(builder.hides_loops);
        builder.problems
    }

    fn new(items: &[Node<BlockItem>], names: &Names, source: &'a Source<'a>) -> Self {
        Self {
            source,
            names: names.clone(),
            written: Written::of(items, names),
            params: BTreeSet::new(),
            arrays: Vec::new(),
            loops: Vec::new(),
            types: Vec::new(),
            conditions: Vec::new(),
            breakable: Vec::new(),
            scopes: Scopes::default(),
            statements: Vec::new(),
            problems: Vec::new(),
            declarations: Vec::new(),
            kept: declared(items, source),
            dead: BTreeSet::new(),
            hidden: Vec::new(),
            flat: Vec::new(),
            members: Vec::new(),
            numbers: BTreeMap::new(),
            reached: BTreeSet::new(),
            facts: Vec::new(),
            claims: Vec::new(),
            assumed: Vec::new(),
            nested: 0,
            unwrapped: None,
            checks: Vec::new(),
            hides_loops: None,
            guards: 0,
        }
    }

    pub(crate) fn wrong<T, U>(&self, node: &Node<T>, message: &str) -> Result<U, Problem> {
        let text = quoted(self.source.of(node));
        Err(self.source.problem(node.span.start, format!("`{text}` {message}")))
    }

    pub(crate) fn source_of<T>(&self, node: &Node<T>) -> &'a str {
        self.source.of(node)
    }

    /// Returns whether a cast to a type changes no value of a subscript.
    pub(crate) fn is_wide_type(&self, element: &str) -> bool {
        is_wide(&self.names.resolved(element))
    }

    /// Returns the type of a variable, as it is written.
    pub(crate) fn element(&self, name: &str) -> Option<&str> {
        self.names.get(name).map(|array| array.element.as_str())
    }

    /// Returns whether a function of the source has no effects.
    pub(crate) fn is_pure_here(&self, name: &str) -> bool {
        self.names.is_pure(name)
    }

    pub(crate) fn is_volatile(&self, name: &str) -> bool {
        self.element(name).is_some_and(|element| self.names.is_volatile(element))
    }

    /// Returns whether a declaration is of a type whose accesses must stay where they are.
    pub(crate) fn declares_volatile(&self, node: &Declaration) -> bool {
        self.names.is_volatile(&element(&node.specifiers, self.source))
    }

    pub(crate) fn is_outermost(&self) -> bool {
        self.loops.is_empty()
    }

    pub(crate) fn is_loop(&self, name: &str) -> bool {
        self.loops.iter().any(|other| other == name)
    }

    /// Returns whether a name is that of a loop variable that lives on behind its loop.
    pub(crate) fn is_outer_loop_variable(&self, name: &str) -> bool {
        self.written.outer_loops.contains(name)
    }

    /// Returns whether the variable that has a name of the source here is written; one that the
    /// part declares counts as such.
    pub(crate) fn is_written(&self, name: &str) -> bool {
        self.is_declared(name) || self.written.variables.contains(name)
    }

    /// Returns whether a variable itself, not its elements, gets another value.
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

    /// Returns the values of the type of a name of the part, if it is an integer.
    pub(crate) fn type_of_name(&self, name: &str) -> Option<Range> {
        if let Some((key, _)) = self.numbers.iter().find(|(_, own)| own.as_deref() == Ok(name)) {
            return self.type_of_member(key);
        }
        let element = self.element(name)?;
        let resolved = self.names.resolved(element);
        is_integer(&resolved).then(|| Range::of(&resolved))
    }

    fn type_of_member(&self, key: &str) -> Option<Range> {
        let name = self.numbers.get(key)?.as_ref().ok()?;
        let member = self.members.iter().find(|member| member.name == *name)?;
        let resolved = self.names.resolved(&member.array.element);
        is_integer(&resolved).then(|| Range::of(&resolved))
    }

    /// Returns the values of the type of a name of the source, or of a member by its key.
    fn type_of_word(&self, word: &str) -> Option<Range> {
        if word.contains('.') {
            return self.type_of_member(word);
        }
        let name = self.named(word);
        if let Some(at) = self.loops.iter().position(|other| other == name) {
            return Some(Range::of(&self.names.resolved(self.types.get(at)?)));
        }
        match self.value_of(word) {
            Some(value) => Some(Range::of(&self.names.resolved(&value.element))),
            // Constants of enumerations are declared nowhere here.
            None if self.names.get(name).is_none() => Some(crate::c_integer::INT),
            None => self.type_of_name(name),
        }
    }

    /// Returns the values of the type of an expression, if it is known.
    pub(crate) fn range_of(&self, node: &Node<Expression>) -> Option<Range> {
        let cast = |node: &Node<_>| Range::of(&self.names.resolved(self.source.of(node)));
        range_of(&node.node, &cast, &|word| self.type_of_word(word))
    }

    fn reader<T>(
        &mut self,
        read: impl FnOnce(&mut Affine) -> Result<T, Problem>,
    ) -> Result<(T, Vec<Claim>), Problem> {
        let before = self.params.clone();
        let mut words = BTreeMap::new();
        let known = self.loops.iter().chain(self.numbers.keys());
        for word in known.chain(self.scopes.words()) {
            words.insert(word.clone(), self.type_of_word(word));
        }
        let names_only = self.names.clone();
        let type_of = |word: &str| match words.get(word) {
            Some(found) => *found,
            None => match names_only.get(word) {
                Some(own) => {
                    let resolved = names_only.resolved(&own.element);
                    is_integer(&resolved).then(|| Range::of(&resolved))
                }
                None => Some(crate::c_integer::INT),
            },
        };
        let mut used: Vec<Claim> = Vec::new();
        let Self { source, names, written, params, loops, hidden, scopes, numbers, .. } = self;
        let mut resolve = |name: &str| -> Result<Vec<Case>, String> {
            if name.contains('.') {
                let none = || Err("is not affine".to_owned());
                let name = numbers.get(name).cloned().unwrap_or_else(none)?;
                params.insert(name.clone());
                return Ok(always(Expr::name(name)));
            }
            let (raw, name) = (name, scopes.named(name));
            if hidden.iter().any(|other| other == raw) {
                return Err("is not affine: it is declared inside a statement".into());
            }
            if loops.iter().any(|other| other == name) {
                return Ok(always(Expr::name(name)));
            }
            if let Some((_, value)) = scopes.values.iter().rev().find(|(own, _)| own == raw) {
                used.extend(value.claims.iter().cloned());
                return value.cases.clone().ok_or_else(|| "is not affine".into());
            }
            if written.outer_loops.contains(raw) {
                return Err("is a loop variable, used outside its loop".into());
            }
            if scopes.is_declared(raw) {
                return Err("is not affine: the part declares it".into());
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
            params.insert(name.to_owned());
            Ok(always(Expr::name(name)))
        };
        let (claims, given) = (Vec::new(), Vec::new());
        let (resolve, type_of) = (&mut resolve, &type_of);
        let mut affine = Affine { source, resolve, names: &*names, type_of, claims, given };
        let outcome = read(&mut affine);
        let mut claims = affine.claims;
        claims.extend(used);
        if outcome.is_err() {
            self.params = before;
        }
        outcome.map(|found| (found, claims))
    }

    pub(crate) fn condition(&mut self, node: &Node<Expression>) -> Result<Formula, Problem> {
        self.note_members(node);
        let (condition, claims) = self.reader(|affine| affine.condition(node))?;
        self.note_claims(node, claims);
        Ok(condition)
    }

    /// Reads a value that control depends on.
    pub(crate) fn bound(&mut self, node: &Node<Expression>) -> Result<Vec<Case>, Problem> {
        self.note_members(node);
        let (cases, claims) = self.reader(|affine| affine.value(node))?;
        self.note_claims(node, claims);
        Ok(cases)
    }

    /// Reads a condition that is what it says whatever the parameters are.
    pub(crate) fn plain_condition(&mut self, node: &Node<Expression>) -> Option<Formula> {
        let read = self.reader(|affine| affine.condition(node)).ok();
        read.filter(|(_, claims)| claims.is_empty()).map(|(condition, _)| condition)
    }

    /// Reads a value, and what has to hold for it to be what is read.
    pub(crate) fn claimed(
        &mut self,
        node: &Node<Expression>,
    ) -> Result<(Vec<Case>, Vec<Claim>), Problem> {
        self.note_members(node);
        self.reader(|affine| affine.value(node))
    }

    pub(crate) fn affine(&mut self, node: &Node<Expression>) -> Result<Vec<Case>, Problem> {
        self.note_members(node);
        self.reader(|affine| affine.value(node)).map(|(cases, _)| cases)
    }
}
