//! From loops, conditions and statements to a program part.

use std::collections::BTreeSet;

use lang_c::ast::{
    BinaryOperator, BinaryOperatorExpression, BlockItem, Declaration, DeclarationSpecifier,
    Declarator, Expression, ForInitializer, ForStatement, Initializer, Statement, UnaryOperator,
    UnaryOperatorExpression,
};
use lang_c::span::{Node, Span};
use lang_c::visit::{self, Visit};
use tangram_polyhedral::scop::{self, Scop};
use tangram_polyhedral::{Band, Member, NodeKind, ScheduleTree};
use tangram_presburger::{Budget, Union};

use crate::Problem;
use crate::access::{Access, Accesses, is_assignment, is_step};
use crate::affine::{Affine, Case, compared, integer};
use crate::declare::{self, Names, is_integer, is_longest};
use crate::find::{Source, declared, declared_name, is_call};
use crate::words::with_types;

/// Words of the notation of sets, which cannot name a variable there.
const WORDS: &[&str] = &[
    "and", "or", "not", "exists", "mod", "floor", "ceil", "min", "max", "true", "false", "implies",
    "infty", "NaN", "rat",
];

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
    statements: Vec<Raw>,
    problems: Vec<Problem>,
    /// Variables that are declared in the block of the part itself.
    kept: Vec<String>,
    /// Variables inside a statement that is not followed.
    pub(crate) hidden: Vec<String>,
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

/// The order of the source.
pub(crate) enum Item {
    Statement(usize),
    Loop { depth: usize, forwards: bool, body: Vec<Item> },
}

/// The iterations of a loop.
pub(crate) struct Head {
    name: String,
    element: String,
    forwards: bool,
    conditions: Vec<String>,
}

/// How a loop steps.
struct Steps<'a> {
    name: String,
    declared: Option<&'a [Node<DeclarationSpecifier>]>,
    start: &'a Node<Expression>,
    by: i128,
}

impl<'a> Builder<'a> {
    /// Reads the items between the pragmas.
    pub(crate) fn scop(
        items: &[Node<BlockItem>],
        names: &Names,
        source: &'a Source<'a>,
        budget: &Budget,
    ) -> Result<Scop, Vec<Problem>> {
        let mut builder = Self::new(items, names, source);
        let order = builder.items(items);
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
        builder.items(items);
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
            statements: Vec::new(),
            problems: Vec::new(),
            kept: declared(items, source),
            hidden: Vec::new(),
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

    /// Returns the type of a variable, as it is written.
    pub(crate) fn element(&self, name: &str) -> Option<&str> {
        self.names.get(name).map(|array| array.element.as_str())
    }

    /// Says whether a function of the source has no effects.
    pub(crate) fn is_pure_here(&self, name: &str) -> bool {
        self.names.is_pure(name)
    }

    pub(crate) fn is_volatile(&self, name: &str) -> bool {
        let element = self.element(name).map(|element| self.names.resolved(element));
        element.is_some_and(|element| element.contains("volatile"))
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
        let Self { source, names, written, params, loops, hidden, .. } = self;
        let mut resolve = |name: &str| -> Result<(), String> {
            if loops.iter().any(|other| other == name) {
                return Ok(());
            }
            if hidden.iter().any(|other| other == name) {
                return Err("is not affine: it is declared inside a statement".into());
            }
            if written.loops.contains(name) {
                return Err("is a loop variable, used outside its loop".into());
            }
            if written.variables.contains(name) {
                return Err("is not affine: it is written inside the part".into());
            }
            if let Some(array) = names.get(name) {
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
            Ok(())
        };
        let outcome = read(&mut Affine { source, resolve: &mut resolve, names: &*names });
        if outcome.is_err() {
            self.params = before;
        }
        outcome
    }

    fn condition(&mut self, node: &Node<Expression>) -> Result<String, Problem> {
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

    fn items(&mut self, items: &[Node<BlockItem>]) -> Vec<Item> {
        let mut order = Vec::new();
        for item in items {
            let result = match &item.node {
                BlockItem::Statement(statement) => self.statement(statement, &mut order),
                BlockItem::Declaration(declaration) => self.declaration(declaration, &mut order),
                BlockItem::StaticAssert(_) => Ok(()),
            };
            self.problems.extend(result.err());
        }
        order
    }

    fn statement(&mut self, node: &Node<Statement>, order: &mut Vec<Item>) -> Result<(), Problem> {
        match &node.node {
            Statement::Compound(items) => {
                order.extend(self.items(items));
                Ok(())
            }
            Statement::Expression(None) => Ok(()),
            Statement::Expression(Some(expression)) if is_call(&node.node, KILL) => {
                let accesses = self.killed(expression)?;
                self.add(expression.span, String::new(), accesses, order);
                Ok(())
            }
            Statement::Expression(Some(expression)) => {
                let accesses = self.effects(expression)?;
                self.add(expression.span, self.source.of(expression).to_owned(), accesses, order);
                Ok(())
            }
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
                Ok(head) => self.for_loop(head, &inner.node, order),
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
            Statement::Break | Statement::Continue | Statement::Goto(_) | Statement::Return(_) => {
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
            conditions: self.conditions.clone(),
            accesses,
        });
    }

    fn declaration(
        &mut self,
        node: &Node<Declaration>,
        order: &mut Vec<Item>,
    ) -> Result<(), Problem> {
        let mut names = self.names.clone();
        for name in names.declare(&node.node, self.source) {
            names.localise(&name);
            if self.names.get(&name).is_some_and(|old| Some(old) != names.get(&name)) {
                return self.wrong(node, "hides another variable: use another name");
            }
        }
        self.names = names;
        for declarator in &node.node.declarators {
            let Some(initializer) = &declarator.node.initializer else {
                self.declared_anew(&declarator.node.declarator, order);
                continue;
            };
            let Initializer::Expression(value) = &initializer.node else {
                return self.wrong(initializer, "is no expression");
            };
            let name = self.source.of(&declarator.node.declarator).to_owned();
            let mut accesses = Accesses::default();
            self.reads(value, &mut accesses)?;
            self.use_array(&name);
            let (cells, condition) = (format!("{name}[]"), String::new());
            accesses.writes.push(Access { cells, condition, exact: true });
            let text = format!("{name} = {}", self.source.of(value));
            self.add(node.span, text, accesses, order);
        }
        Ok(())
    }

    /// A variable that is declared in a loop has no value from the iteration before.
    fn declared_anew(&mut self, declarator: &Node<Declarator>, order: &mut Vec<Item>) {
        let name = declared_name(&declarator.node);
        let known = name.filter(|name| self.names.get(name).is_some());
        if let Some(name) = known.filter(|_| !self.is_outermost()) {
            let kills = vec![self.all_cells(&name)];
            let accesses = Accesses { kills, ..Accesses::default() };
            self.add(declarator.span, String::new(), accesses, order);
        }
    }

    /// Reads which iterations a loop has.
    pub(crate) fn head(
        &mut self,
        node: &Node<Statement>,
        inner: &ForStatement,
    ) -> Result<Head, Problem> {
        let Some(steps) = steps(inner) else {
            return self.wrong(node, "is no loop from a start by a constant step");
        };
        let Some(end) = &inner.condition else { return self.wrong(node, "has no end") };
        let name = steps.name.clone();
        if self.is_loop(&name) || WORDS.contains(&name.as_str()) {
            return self.wrong(node, "needs a loop variable of another name");
        }
        let element = match steps.declared {
            Some(specifiers) => declare::element(specifiers, self.source),
            None => self.element(&name).unwrap_or("int").to_owned(),
        };
        if !is_integer(&self.names.resolved(&element)) {
            return self.wrong(node, "has a loop variable that is no integer");
        }
        let start = self.affine(steps.start)?;
        let forwards = steps.by > 0;
        let own = [Case { condition: String::new(), value: name.clone() }];
        let mut conditions = vec![compared(&own, if forwards { ">=" } else { "<=" }, &start)];
        if steps.by.abs() != 1 {
            let stride = |case: &Case| Case {
                condition: case.condition.clone(),
                value: format!("(({name}) - ({})) mod {} = 0", case.value, steps.by.abs()),
            };
            let each = start.iter().map(stride);
            let each =
                each.map(|case| format!("({})", crate::affine::both(&case.condition, &case.value)));
            conditions.push(each.collect::<Vec<_>>().join(" or "));
        }
        self.end(end, &steps, &mut conditions)?;
        Ok(Head { name, element, forwards, conditions })
    }

    fn for_loop(
        &mut self,
        head: Head,
        inner: &ForStatement,
        order: &mut Vec<Item>,
    ) -> Result<(), Problem> {
        let Head { name, element, forwards, conditions } = head;
        let count = conditions.len();
        self.conditions.extend(conditions);
        let depth = self.loops.len();
        self.loops.push(name);
        self.types.push(element);
        let mut body = Vec::new();
        let result = self.statement(&inner.statement, &mut body);
        self.loops.pop();
        self.types.pop();
        self.conditions.truncate(self.conditions.len() - count);
        if !body.is_empty() {
            order.push(Item::Loop { depth, forwards, body });
        }
        result
    }

    /// Reads the conditions that end a loop: comparisons of its variable with bounds.
    fn end(
        &mut self,
        node: &Node<Expression>,
        steps: &Steps,
        conditions: &mut Vec<String>,
    ) -> Result<(), Problem> {
        let (name, forwards) = (&steps.name, steps.by > 0);
        let expected = "must compare the loop variable with a bound in the direction of the step";
        let Expression::BinaryOperator(binary) = &node.node else {
            return self.wrong(node, expected);
        };
        let (lhs, rhs) = (&*binary.node.lhs, &*binary.node.rhs);
        let operator = &binary.node.operator.node;
        if *operator == BinaryOperator::LogicalAnd {
            self.end(lhs, steps, conditions)?;
            return self.end(rhs, steps, conditions);
        }
        let is_own = |node: &Node<Expression>| matches!(&node.node, Expression::Identifier(id) if id.node.name == *name);
        let (bound, left) = match (is_own(lhs), is_own(rhs)) {
            (true, false) => (rhs, true),
            (false, true) => (lhs, false),
            _ => return self.wrong(node, expected),
        };
        let sign = match (operator, left == forwards) {
            (BinaryOperator::Less, true) | (BinaryOperator::Greater, false) => "<",
            (BinaryOperator::LessOrEqual, true) | (BinaryOperator::GreaterOrEqual, false) => "<=",
            // A loop that starts behind its end would not end.
            (BinaryOperator::NotEquals, _) if steps.by.abs() == 1 => "<",
            _ => return self.wrong(node, expected),
        };
        let sign = if forwards { sign.to_owned() } else { sign.replace('<', ">") };
        let bound = self.affine(bound)?;
        let own = [Case { condition: String::new(), value: name.clone() }];
        conditions.push(compared(&own, &sign, &bound));
        Ok(())
    }

    fn assemble(mut self, order: &[Item], budget: &Budget) -> Result<Scop, Problem> {
        let params: Vec<String> = std::mem::take(&mut self.params).into_iter().collect();
        let prefix =
            if params.is_empty() { String::new() } else { format!("[{}] -> ", params.join(", ")) };
        let mut statements = Vec::new();
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        let (mut may, mut kills) = (Vec::new(), Vec::new());
        for (index, raw) in self.statements.iter().enumerate() {
            let failed =
                |error: &dyn std::fmt::Display| self.source.problem(raw.at, error.to_string());
            let name = format!("S{index}");
            let instance = format!("{name}[{}]", raw.loops.join(", "));
            let parse = |body: &str, conditions: &str| {
                let such =
                    if conditions.is_empty() { String::new() } else { format!(" : {conditions}") };
                Union::parse(&format!("{prefix}{{ {body}{such} }}"), budget)
            };
            let all: Vec<String> = raw.conditions.iter().map(|c| format!("({c})")).collect();
            let domain = parse(&instance, &all.join(" and ")).map_err(|e| failed(&e))?;
            let set = domain.single().map_err(|e| failed(&e))?.clone();
            for (accesses, union) in [
                (&raw.accesses.reads, &mut reads),
                (&raw.accesses.writes, &mut writes),
                (&raw.accesses.may_writes, &mut may),
                (&raw.accesses.kills, &mut kills),
            ] {
                for Access { cells, condition, .. } in accesses {
                    let map = parse(&format!("{instance} -> {cells}"), condition);
                    let map = map.and_then(|map| map.intersect_domain(&domain, budget));
                    union.extend(map.map_err(|e| failed(&e))?.relations().cloned());
                }
            }
            let line = self.source.line(raw.at);
            statements.push(scop::Statement { name, domain: set, text: raw.text.clone(), line });
        }
        let failed = |error: &dyn std::fmt::Display| self.source.problem(0, error.to_string());
        let reads = collected(reads).map_err(|e| failed(&e))?;
        let writes = collected(writes).map_err(|e| failed(&e))?;
        let may = collected(may).and_then(|may| may.union(&writes)).map_err(|e| failed(&e))?;
        let schedule = self.schedule(order, &statements).map_err(|e| failed(&e))?;
        let array = |name: &String| {
            let unknown = || scop::Array {
                name: name.clone(),
                element: String::new(),
                extents: Vec::new(),
                local: false,
                kept: false,
            };
            let array = self.names.get(name).cloned().unwrap_or_else(unknown);
            scop::Array { kept: self.kept.contains(name), ..array }
        };
        let scop = Scop {
            context: None,
            arrays: self.arrays.iter().map(array).collect(),
            statements,
            reads,
            may_writes: may,
            must_writes: writes,
            kills: collected(kills).map_err(|e| failed(&e))?,
            schedule,
        };
        scop.check(budget).map_err(|e| failed(&e))?;
        Ok(scop)
    }

    fn schedule(
        &self,
        order: &[Item],
        statements: &[scop::Statement],
    ) -> Result<ScheduleTree, tangram_presburger::Error> {
        let domain = Union::collect(statements.iter().map(|statement| statement.domain.clone()))?;
        let mut tree = ScheduleTree::new(NodeKind::Domain(domain));
        let mut open = vec![(tree.root(), order)];
        while let Some((parent, items)) = open.pop() {
            let several = items.len() > 1;
            let list = if several { tree.add(parent, NodeKind::Sequence) } else { parent };
            for item in items {
                let inside = within(item);
                let place = if several {
                    tree.add(list, NodeKind::Filter(self.instances(&inside, |_| String::new())?))
                } else {
                    list
                };
                if let Item::Loop { depth, forwards, body } = item {
                    let sign = if *forwards { "" } else { "-" };
                    let value = |raw: &Raw| format!(" -> [{sign}{}]", raw.loops[*depth]);
                    let schedule = self.instances(&inside, value)?;
                    let band = Band {
                        members: vec![Member { schedule, coincident: false }],
                        permutable: false,
                        options: Union::empty(),
                    };
                    open.push((tree.add(place, NodeKind::Band(band)), body));
                }
            }
        }
        tree.close();
        Ok(tree)
    }

    fn instances(
        &self,
        statements: &[usize],
        rest: impl Fn(&Raw) -> String,
    ) -> Result<Union, tangram_presburger::Error> {
        let piece = |index: &usize| {
            let raw = &self.statements[*index];
            format!("S{index}[{}]{}", raw.loops.join(", "), rest(raw))
        };
        let pieces: Vec<String> = statements.iter().map(piece).collect();
        Union::parse(&format!("{{ {} }}", pieces.join("; ")), &Budget::unlimited())
    }
}

fn collected(
    relations: Vec<tangram_presburger::Relation>,
) -> Result<Union, tangram_presburger::Error> {
    Union::collect(relations)
}

/// Lists the statements of an item.
fn within(item: &Item) -> Vec<usize> {
    let (mut found, mut open) = (Vec::new(), vec![item]);
    while let Some(item) = open.pop() {
        match item {
            Item::Statement(index) => found.push(*index),
            Item::Loop { body, .. } => open.extend(body),
        }
    }
    found.sort_unstable();
    found
}

/// Reads start and step of a loop.
fn steps(inner: &ForStatement) -> Option<Steps<'_>> {
    let mut declared = None;
    let (name, start) = match &inner.initializer.node {
        ForInitializer::Expression(expression) => assigned(&expression.node)?,
        ForInitializer::Declaration(declaration) => {
            declared = Some(declaration.node.specifiers.as_slice());
            let [declarator] = declaration.node.declarators.as_slice() else { return None };
            let name = match &declarator.node.declarator.node.kind.node {
                lang_c::ast::DeclaratorKind::Identifier(id) => id.node.name.clone(),
                _ => return None,
            };
            match &declarator.node.initializer.as_ref()?.node {
                Initializer::Expression(start) => (name, &**start),
                Initializer::List(_) => return None,
            }
        }
        _ => return None,
    };
    let is_own = |node: &Node<Expression>| matches!(&node.node, Expression::Identifier(id) if id.node.name == name);
    let by = match &inner.step.as_ref()?.node {
        Expression::UnaryOperator(unary) if is_own(&unary.node.operand) => {
            match unary.node.operator.node {
                UnaryOperator::PostIncrement | UnaryOperator::PreIncrement => 1,
                UnaryOperator::PostDecrement | UnaryOperator::PreDecrement => -1,
                _ => return None,
            }
        }
        Expression::BinaryOperator(binary) if is_own(&binary.node.lhs) => {
            match (&binary.node.operator.node, &binary.node.rhs.node) {
                (BinaryOperator::AssignPlus, value) => integer(value)?,
                (BinaryOperator::AssignMinus, value) => -integer(value)?,
                (BinaryOperator::Assign, Expression::BinaryOperator(sum))
                    if is_own(&sum.node.lhs) =>
                {
                    match sum.node.operator.node {
                        BinaryOperator::Plus => integer(&sum.node.rhs.node)?,
                        BinaryOperator::Minus => -integer(&sum.node.rhs.node)?,
                        _ => return None,
                    }
                }
                _ => return None,
            }
        }
        _ => return None,
    };
    (by != 0).then_some(Steps { name, declared, start, by })
}

pub(crate) fn assigned(expression: &Expression) -> Option<(String, &Node<Expression>)> {
    let Expression::BinaryOperator(binary) = expression else { return None };
    match (&binary.node.operator.node, &binary.node.lhs.node) {
        (BinaryOperator::Assign, Expression::Identifier(id)) => {
            Some((id.node.name.clone(), &*binary.node.rhs))
        }
        _ => None,
    }
}

/// Variables that a part writes, and those of its loops.
#[derive(Default)]
struct Written {
    variables: BTreeSet<String>,
    loops: BTreeSet<String>,
}

impl Written {
    fn of(items: &[Node<BlockItem>]) -> Self {
        let mut written = Self::default();
        for item in items {
            written.visit_block_item(&item.node, &item.span);
        }
        written
    }

    fn note(&mut self, mut target: &Node<Expression>) {
        loop {
            target = match &target.node {
                Expression::BinaryOperator(binary) => &binary.node.lhs,
                Expression::Member(member) => &member.node.expression,
                _ => break,
            };
        }
        if let Expression::Identifier(id) = &target.node {
            self.variables.insert(id.node.name.clone());
        }
    }
}

impl<'ast> Visit<'ast> for Written {
    fn visit_for_statement(&mut self, inner: &'ast ForStatement, _: &'ast Span) {
        if let Some(steps) = steps(inner) {
            self.loops.insert(steps.name);
        }
        // Start and step write the loop variable alone.
        self.visit_statement(&inner.statement.node, &inner.statement.span);
    }

    fn visit_declaration(&mut self, declaration: &'ast Declaration, _: &'ast Span) {
        for declarator in &declaration.declarators {
            let kind = &declarator.node.declarator.node.kind.node;
            if let lang_c::ast::DeclaratorKind::Identifier(id) = kind {
                self.variables.insert(id.node.name.clone());
            }
        }
    }

    fn visit_binary_operator_expression(
        &mut self,
        binary: &'ast BinaryOperatorExpression,
        span: &'ast Span,
    ) {
        if is_assignment(&binary.operator.node) {
            self.note(&binary.lhs);
        }
        visit::visit_binary_operator_expression(self, binary, span);
    }

    fn visit_unary_operator_expression(
        &mut self,
        unary: &'ast UnaryOperatorExpression,
        span: &'ast Span,
    ) {
        if is_step(&unary.operator.node) {
            self.note(&unary.operand);
        }
        visit::visit_unary_operator_expression(self, unary, span);
    }
}
