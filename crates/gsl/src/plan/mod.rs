//! Rules compiled for matching on IR.
//!
//! A plan holds what can be known before any graph is seen: which operations each call may match,
//! the operand lists with tuples spread out, the [`Prefix`] of cheap tests from the root that
//! reject most operations at once, and the [`Ways`] by which the other outputs are found from
//! what is matched already. The prefix is a flat list of instructions over numbered places; the
//! prefixes of many rules are merged into one [`SharedPlan`].

mod equal;
mod looks;
mod operands;
mod prefix;
mod route;
mod shared;

use rustc_hash::FxHashMap;
use tangram_ir::{Context, Name};
use tangram_rewrite::Roots;

use crate::ast::{OpChoice, OpId, PatId, PatternKind, Reference, Rule, subexpressions};
use crate::schema::{operation_name, operations_with};

pub use operands::Operand;
pub use prefix::{Instruction, Prefix};
pub use route::{Route, Ways};
pub use shared::SharedPlan;

/// A rule and what follows from it and the registered operations.
#[derive(Clone, Debug)]
pub struct MatchPlan {
    rule: Rule,
    /// For each operator of the rule, the operations it stands for.
    names: Vec<Box<[Name]>>,
    /// For each pattern that is a call, its operands.
    operands: Vec<Box<[Operand]>>,
    /// For each pattern, whether it is matched.
    source: Vec<bool>,
    /// For each pattern, whether it stands for all results of an operation.
    tuple: Vec<bool>,
    /// For each pattern that is variadic, its templates and what stands for them in branch 0.
    templates: Vec<FxHashMap<PatId, Option<PatId>>>,
    /// For each pattern, the first that is written alike.
    alike: Vec<PatId>,
    /// For each output, the ways to it from the patterns that it shares with others.
    ways: Vec<Ways>,
    prefix: Prefix,
    /// Of operations the rule reads no more than names, attributes and types.
    reads_looks: bool,
    /// How many calls the longest chain of operands has.
    depth: usize,
}

impl MatchPlan {
    /// Compiles a rule, which should have passed the checker.
    pub fn new(rule: &Rule, context: &Context) -> Self {
        let names = rule.ops().map(|(id, _)| names_of(rule, id, context)).collect();
        let source_order = subexpressions(rule, rule.sources());
        let count = rule.patterns().count();
        let mut source = vec![false; count];
        source_order.iter().for_each(|id| source[id.index()] = true);
        let mut plan = Self {
            rule: rule.clone(),
            names,
            operands: vec![Box::default(); count],
            source,
            tuple: tuples(rule, &source_order),
            templates: rule.patterns().map(|(id, _)| templates(rule, id)).collect(),
            alike: equal::representatives(rule, &source_order),
            ways: Vec::new(),
            prefix: Prefix::default(),
            reads_looks: looks::reads_looks(rule, &source_order),
            depth: looks::depth(rule),
        };
        for (id, _) in rule.patterns() {
            let operands = operands::spread(rule, id, context);
            for operand in &operands {
                if let Operand::Results(all) = operand {
                    plan.tuple[all.index()] = true;
                }
            }
            plan.operands[id.index()] = operands;
        }
        for &output in rule.sources() {
            let root = plan.branch_root(output);
            plan.ways.push(route::ways(&plan, root));
        }
        plan.prefix = prefix::prefix(&plan);
        plan
    }

    /// Returns the rule.
    pub fn rule(&self) -> &Rule {
        &self.rule
    }

    /// Returns the operations that an operator stands for.
    pub fn names(&self, op: OpId) -> &[Name] {
        &self.names[op.index()]
    }

    /// Returns the operands of a call, with tuples spread out.
    pub fn operands(&self, call: PatId) -> &[Operand] {
        &self.operands[call.index()]
    }

    /// Returns whether the source matches a pattern.
    pub fn in_source(&self, id: PatId) -> bool {
        self.source[id.index()]
    }

    /// Returns whether a pattern stands for all results of an operation.
    pub fn is_tuple(&self, id: PatId) -> bool {
        self.tuple[id.index()]
    }

    /// Returns the ways to an output.
    pub fn ways(&self, output: usize) -> &Ways {
        &self.ways[output]
    }

    /// Returns the tests that reject most operations.
    pub fn prefix(&self) -> &Prefix {
        &self.prefix
    }

    /// Returns whether two patterns may match one value though neither says so: they are written
    /// alike, or one is a number.
    pub(crate) fn may_be_one(&self, a: PatId, b: PatId) -> bool {
        let literal = |id| equal::is_literal(self.rule.pattern(id));
        literal(a) || literal(b) || a != b && self.alike[a.index()] == self.alike[b.index()]
    }

    /// Returns how many patterns the rule has.
    pub fn width(&self) -> usize {
        self.source.len()
    }

    /// Returns whether `template` is a template of `variadic`, and what stands for it in branch 0.
    pub fn template(&self, variadic: PatId, template: PatId) -> Option<Option<PatId>> {
        self.templates[variadic.index()].get(&template).copied()
    }

    /// Returns the pattern of a branch of a variadic output, and any other output itself.
    pub fn branch_root(&self, output: PatId) -> PatId {
        match self.rule.pattern(output).kind {
            PatternKind::Variadic { field, .. } => field,
            _ => output,
        }
    }

    /// Returns the operations at which a match may be anchored: those of the first output.
    pub fn roots(&self) -> Roots {
        let Some(&output) = self.rule.sources().first() else { return Roots::Names(Vec::new()) };
        let mut names = Vec::new();
        let mut stack = vec![output];
        while let Some(id) = stack.pop() {
            match &self.rule.pattern(id).kind {
                PatternKind::Call { op, .. } => names.extend_from_slice(self.names(*op)),
                PatternKind::Proj { tuple, .. } => stack.push(*tuple),
                PatternKind::Alt(options) => stack.extend(options),
                PatternKind::Variadic { field, templates, .. } => {
                    let first = templates.iter().find(|t| t.pattern == *field);
                    stack.push(first.and_then(|t| t.first).unwrap_or(*field));
                }
                _ => return Roots::Any,
            }
        }
        names.sort_unstable();
        names.dedup();
        Roots::Names(names)
    }

    /// Says what a pattern matches, for messages.
    pub(crate) fn describe(&self, id: PatId) -> String {
        match &self.rule.pattern(id).kind {
            PatternKind::Call { op, .. } => match &self.rule.op(*op).choice {
                OpChoice::Name(name) => operation_name(name),
                OpChoice::OneOf(names) => format!("one of {}", names.join(", ")),
                OpChoice::Trait(name) => format!("an operation with trait `{name}`"),
            },
            PatternKind::Const { .. } => "a constant".to_owned(),
            PatternKind::Variable(_) => "an input or parameter".to_owned(),
            PatternKind::Proj { .. } => "a result of an operation".to_owned(),
            _ => "a value".to_owned(),
        }
    }

    /// Says how many operands a call has, for messages.
    pub(crate) fn describe_arity(&self, id: PatId) -> String {
        let operands = self.operands(id);
        let exact = operands.iter().all(|operand| matches!(operand, Operand::One(_)));
        let word = if exact { "" } else { "at least " };
        format!("{word}{} operands", operands.len())
    }

    /// Returns how many calls the source has: the default benefit of a rule.
    pub fn call_count(&self) -> usize {
        let calls = self.rule.patterns().filter(|(id, pattern)| {
            self.in_source(*id) && matches!(pattern.kind, PatternKind::Call { .. })
        });
        calls.count()
    }

    /// Returns how many calls the longest chain of operands has.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Returns whether of two operations that look alike one is as good as the other.
    pub(crate) fn reads_looks(&self) -> bool {
        self.reads_looks
    }

    /// Returns how far below an operation the rule looks.
    pub(crate) fn depth_of_looks(&self) -> usize {
        self.depth
    }

    /// Returns whether a match depends on other users of the values that it matches.
    pub fn looks_sideways(&self) -> bool {
        let outputs = self.rule.sources();
        let variadic = outputs.iter().any(|id| self.branch_root(*id) != *id);
        let only = self.rule.patterns().any(|(id, p)| p.only && self.in_source(id));
        outputs.len() > 1 || variadic || only
    }

    /// Lists the operations that the target makes, by name.
    pub fn made_operations(&self, context: &Context) -> Vec<Name> {
        let mut seen = vec![false; self.width()];
        let mut stack = self.rule.targets().to_vec();
        let mut made = Vec::new();
        while let Some(id) = stack.pop() {
            if self.in_source(id) || std::mem::replace(&mut seen[id.index()], true) {
                continue;
            }
            let pattern = self.rule.pattern(id);
            match pattern.kind {
                PatternKind::Call { op, .. } => {
                    let decided = self.rule.op(op).name.is_some() && self.names(op).len() > 1;
                    made.extend(self.names(op).iter().filter(|_| !decided));
                }
                PatternKind::Const { .. } => made.push(context.name("nn.constant")),
                _ => {}
            }
            stack.extend(pattern.parts());
        }
        made.sort_unstable();
        made.dedup();
        made
    }
}

fn names_of(rule: &Rule, id: OpId, context: &Context) -> Box<[Name]> {
    let named = |name: &String| context.name(&operation_name(name));
    match &rule.op(id).choice {
        OpChoice::Name(name) => Box::new([named(name)]),
        OpChoice::OneOf(names) => names.iter().map(named).collect(),
        OpChoice::Trait(name) => operations_with(context, name).into(),
    }
}

fn templates(rule: &Rule, id: PatId) -> FxHashMap<PatId, Option<PatId>> {
    match &rule.pattern(id).kind {
        PatternKind::Variadic { templates, .. } => {
            templates.iter().map(|t| (t.pattern, t.first)).collect()
        }
        _ => FxHashMap::default(),
    }
}

/// Finds the patterns whose fields are taken: they stand for all results of an operation.
fn tuples(rule: &Rule, source: &[PatId]) -> Vec<bool> {
    let mut tuple = vec![false; rule.patterns().count()];
    // Users come after operands, so that going backwards meets an alternative before its options.
    for &id in source.iter().rev() {
        match &rule.pattern(id).kind {
            PatternKind::Proj { tuple: of, .. } => tuple[of.index()] = true,
            PatternKind::Alt(options) if tuple[id.index()] => {
                options.iter().for_each(|option| tuple[option.index()] = true);
            }
            _ => {}
        }
    }
    tuple
}

/// Lists the patterns that are part of `id`, except what is looked at only.
pub(crate) fn parts(rule: &Rule, id: PatId) -> Vec<PatId> {
    let part = |reference| match reference {
        Reference::Part(id) => Some(id),
        _ => None,
    };
    rule.pattern(id).references().into_iter().filter_map(part).collect()
}
