//! What the semantics admits, by enumeration.
//!
//! For every number of branches of every variadic pattern and every option of every alternative,
//! the rule is a fixed graph of pattern instances. Each instance is given every target there is,
//! and what then satisfies all conditions is a match.

use std::collections::{BTreeMap, BTreeSet};

use tangram_gsl::ast::{
    BinaryOp, ExprId, ExprKind, OpChoice, OpId, PatId, PatternKind, Rule, subexpressions,
};
use tangram_ir::{AttrData, Module, Op, Value};

/// An instance of a pattern: in no branch, or in one of a variadic pattern.
pub type Node = (PatId, Option<(PatId, usize)>);

/// What each instance stands for; nothing where no option that was taken has it.
pub type Assignment = Vec<(Node, Option<Value>)>;

/// The most branches and fields that the graphs have room for.
const MOST: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    Value(Value),
    Results(Op),
}

type Environment = BTreeMap<Node, Target>;

/// A choice of lengths and options.
#[derive(Clone, Debug, Default)]
struct Expansion {
    lengths: BTreeMap<PatId, usize>,
    options: BTreeMap<Node, usize>,
}

/// Lists the instances by which matches are compared.
pub fn keys(rule: &Rule, count: impl Fn(PatId) -> Option<usize>) -> Vec<Node> {
    let mut found = Vec::new();
    let mut inside = BTreeSet::new();
    for (id, pattern) in rule.patterns() {
        let PatternKind::Variadic { templates, .. } = &pattern.kind else { continue };
        for template in templates {
            inside.insert(template.pattern);
            let skip = usize::from(template.first.is_some());
            let branches = skip..count(id).unwrap_or(0);
            found.extend(branches.map(|i| (template.pattern, Some((id, i)))));
        }
    }
    let order = subexpressions(rule, rule.sources());
    found.extend(order.into_iter().filter(|id| !inside.contains(id)).map(|id| (id, None)));
    found
}

pub struct Brute<'a> {
    rule: &'a Rule,
    module: &'a Module,
    values: Vec<Target>,
    tuples: Vec<Target>,
    variadics: Vec<PatId>,
}

impl<'a> Brute<'a> {
    pub fn new(rule: &'a Rule, module: &'a Module) -> Self {
        let body = module.body();
        let mut values: Vec<Value> = module.args(body).to_vec();
        values.extend(module.ops(body).flat_map(|op| module.results(op)));
        let is_variadic =
            |id: &PatId| matches!(rule.pattern(*id).kind, PatternKind::Variadic { .. });
        let order = subexpressions(rule, rule.sources());
        Self {
            rule,
            module,
            values: values.into_iter().map(Target::Value).collect(),
            tuples: module.ops(body).map(Target::Results).collect(),
            variadics: order.into_iter().filter(is_variadic).collect(),
        }
    }

    /// Lists root, number of branches and assignment of every match.
    pub fn all(&self) -> Vec<(Op, usize, Assignment)> {
        let mut found = BTreeSet::new();
        let mut stack = vec![Expansion::default()];
        while let Some(expansion) = stack.pop() {
            if let Some(&open) = self.variadics.iter().find(|v| !expansion.lengths.contains_key(v))
            {
                for length in 1..=MOST {
                    let mut next = expansion.clone();
                    next.lengths.insert(open, length);
                    stack.push(next);
                }
                continue;
            }
            match self.expand(&expansion) {
                Some(Ok(nodes)) => self.assign(&expansion, &nodes, &mut found),
                Some(Err((open, count))) => stack.extend((0..count).map(|option| {
                    let mut next = expansion.clone();
                    next.options.insert(open, option);
                    next
                })),
                None => {}
            }
        }
        found.into_iter().collect()
    }

    /// Lists the instances that are part of the outputs, parts first; or an alternative whose
    /// option is not chosen yet; or nothing if an instance is asked for that does not exist.
    fn expand(&self, expansion: &Expansion) -> Option<Result<Vec<Node>, (Node, usize)>> {
        let mut nodes = Vec::new();
        let mut stack: Vec<(Node, bool)> =
            self.outputs(expansion)?.into_iter().rev().map(|node| (node, false)).collect();
        while let Some((node, done)) = stack.pop() {
            if nodes.contains(&node) {
                continue;
            }
            if done {
                nodes.push(node);
                continue;
            }
            if let PatternKind::Alt(options) = &self.rule.pattern(node.0).kind
                && !expansion.options.contains_key(&node)
            {
                return Some(Err((node, options.len())));
            }
            stack.push((node, true));
            let parts = self.parts(expansion, node)?;
            stack.extend(parts.into_iter().rev().map(|part| (part, false)));
        }
        Some(Ok(nodes))
    }

    fn outputs(&self, expansion: &Expansion) -> Option<Vec<Node>> {
        let each = self.rule.sources().iter().map(|id| self.fields(expansion, *id, None));
        Some(each.collect::<Option<Vec<_>>>()?.concat())
    }

    /// The instances that stand where pattern `id` is an operand: one, or one for each branch.
    fn fields(
        &self,
        expansion: &Expansion,
        id: PatId,
        branch: Option<(PatId, usize)>,
    ) -> Option<Vec<Node>> {
        match self.rule.pattern(id).kind {
            PatternKind::Variadic { field, .. } => {
                let instance = |i| self.resolve(expansion, field, Some((id, i)));
                (0..expansion.lengths[&id]).map(instance).collect()
            }
            _ => Some(vec![self.resolve(expansion, id, branch)?]),
        }
    }

    /// Instantiation: what pattern `id` is, seen from a branch.
    fn resolve(
        &self,
        expansion: &Expansion,
        id: PatId,
        branch: Option<(PatId, usize)>,
    ) -> Option<Node> {
        if let PatternKind::Inst { variadic, template, index } = self.rule.pattern(id).kind {
            let ExprKind::Int(index) = self.rule.expr(index).kind else { panic!("an index") };
            let index = usize::try_from(index).ok()?;
            let there = index < expansion.lengths[&variadic];
            return there.then(|| self.resolve(expansion, template, Some((variadic, index))))?;
        }
        let Some((variadic, index)) = branch else { return Some((id, None)) };
        let PatternKind::Variadic { templates, .. } = &self.rule.pattern(variadic).kind else {
            panic!("a variadic pattern")
        };
        match templates.iter().find(|template| template.pattern == id) {
            Some(template) if index == 0 && template.first.is_some() => {
                Some((template.first?, None))
            }
            Some(_) => Some((id, branch)),
            None => Some((id, None)),
        }
    }

    fn parts(&self, expansion: &Expansion, node: Node) -> Option<Vec<Node>> {
        let (id, branch) = node;
        match &self.rule.pattern(id).kind {
            PatternKind::Call { args, .. } => {
                let each = args.iter().map(|arg| self.fields(expansion, *arg, branch));
                Some(each.collect::<Option<Vec<_>>>()?.concat())
            }
            PatternKind::Proj { tuple, .. } => self.fields(expansion, *tuple, branch),
            PatternKind::Alt(options) => {
                self.fields(expansion, options[expansion.options[&node]], branch)
            }
            _ => Some(Vec::new()),
        }
    }

    fn assign(
        &self,
        expansion: &Expansion,
        nodes: &[Node],
        found: &mut BTreeSet<(Op, usize, Assignment)>,
    ) {
        let mut stack = vec![Environment::new()];
        while let Some(known) = stack.pop() {
            let Some(&node) = nodes.get(known.len()) else {
                if self.conditions(expansion, &known) {
                    found.extend(self.result(expansion, &known));
                }
                continue;
            };
            for target in self.candidates(node) {
                let mut next = known.clone();
                next.insert(node, target);
                if self.is_injective(&known, node, target) && self.fits(expansion, &next, node) {
                    stack.push(next);
                }
            }
        }
    }

    /// Nothing if the first output is no operation: matches are looked for at operations.
    fn result(
        &self,
        expansion: &Expansion,
        known: &Environment,
    ) -> Option<(Op, usize, Assignment)> {
        let outputs = self.outputs(expansion).expect("outputs");
        let value = |target: &Target| match *target {
            Target::Value(value) => value,
            Target::Results(op) => self.module.result(op, 0),
        };
        let root = self.module.def_op(value(&known[&outputs[0]]))?;
        // What is replaced is made by an operation.
        if outputs.iter().any(|output| self.module.def_op(value(&known[output])).is_none()) {
            return None;
        }
        let reached = |id: PatId| {
            known.keys().any(|(_, branch)| matches!(branch, Some((v, _)) if *v == id)) || {
                let PatternKind::Variadic { templates, .. } = &self.rule.pattern(id).kind else {
                    return false;
                };
                templates
                    .iter()
                    .any(|t| t.first.is_some_and(|first| known.contains_key(&(first, None))))
            }
        };
        let keys = keys(self.rule, |id| reached(id).then(|| expansion.lengths[&id]));
        let assigned = keys.into_iter().map(|key| (key, known.get(&key).map(value)));
        Some((root, outputs.len(), assigned.collect()))
    }

    fn candidates(&self, (id, _): Node) -> Vec<Target> {
        let is_tuple = |(_, pattern): (PatId, &tangram_gsl::ast::Pattern)| matches!(pattern.kind, PatternKind::Proj { tuple, .. } if tuple == id);
        if self.rule.patterns().any(is_tuple) { self.tuples.clone() } else { self.values.clone() }
    }

    /// An alternative is what its option is; all others have targets of their own.
    /// The branches of a variadic output are apart in any case: there would be no most of them.
    fn is_injective(&self, known: &Environment, (id, _): Node, target: Target) -> bool {
        let is_option = |id: PatId| matches!(self.rule.pattern(id).kind, PatternKind::Alt(_));
        let taken = known.iter().any(|((other, _), held)| {
            *held == target && !is_option(*other) && !self.is_written_alike(*other, id)
        });
        let is_branch = |id: PatId| match &self.rule.pattern(self.rule.sources()[0]).kind {
            PatternKind::Variadic { field, templates, .. } => {
                let root = templates.iter().find(|t| t.pattern == *field);
                id == *field || root.is_some_and(|root| root.first == Some(id))
            }
            _ => false,
        };
        let repeated = is_branch(id)
            && known.iter().any(|((other, _), held)| is_branch(*other) && *held == target);
        // Outputs are values of their own, unless one of them says otherwise.
        let is_output =
            |id: PatId| self.rule.sources().contains(&id) && !self.rule.pattern(id).may_alias;
        let replaced_twice = is_output(id)
            && known
                .iter()
                .any(|((other, _), held)| *other != id && is_output(*other) && *held == target);
        !replaced_twice && ((self.rule.may_alias() && !repeated) || is_option(id) || !taken)
    }

    /// Whether two patterns are calls of the same operators on the same values, written twice: equal
    /// operations are one value.
    fn is_written_alike(&self, a: PatId, b: PatId) -> bool {
        let is_call = |id: PatId| {
            matches!(
                self.rule.pattern(id).kind,
                PatternKind::Call { .. } | PatternKind::Proj { .. }
            )
        };
        let is_output = |id: PatId| self.rule.sources().contains(&id);
        a != b
            && !(is_output(a) && is_output(b))
            && is_call(a)
            && is_call(b)
            && self.written(a) == self.written(b)
    }

    fn written(&self, id: PatId) -> String {
        let list = |ids: &[PatId]| ids.iter().map(|id| self.written(*id)).collect::<Vec<_>>();
        match &self.rule.pattern(id).kind {
            PatternKind::Call { op, args, commutative, associative, .. } => {
                let (name, args) = (self.names(*op), list(args));
                format!("{name:?}{commutative}{associative}({args:?})")
            }
            PatternKind::Proj { tuple, index } => {
                format!("{}[{:?}]", self.written(*tuple), self.rule.expr(*index).kind)
            }
            PatternKind::Tuple(fields) => format!("{:?}", list(fields)),
            _ => format!("{id:?}"),
        }
    }

    /// Whether an instance fits its parts, which are known.
    fn fits(&self, expansion: &Expansion, known: &Environment, node: Node) -> bool {
        let target = known[&node];
        let parts = self.parts(expansion, node).expect("parts");
        let parts: Vec<Target> = parts.iter().map(|part| known[part]).collect();
        match &self.rule.pattern(node.0).kind {
            PatternKind::Call { op, commutative, .. } => {
                let Some(made) = self.made(target) else { return false };
                let operands: Vec<Target> = self.module.operands(made).map(Target::Value).collect();
                let turned: Vec<Target> = operands.iter().rev().copied().collect();
                let swaps = *commutative && self.module.name_text(made) == "nn.add";
                self.names(*op).contains(&self.module.name_text(made))
                    && (parts == operands || (swaps && parts == turned))
            }
            PatternKind::Proj { .. } => match (target, parts[0]) {
                (Target::Value(value), Target::Results(op)) => {
                    self.module.def_op(value) == Some(op)
                }
                _ => false,
            },
            PatternKind::Alt(_) => parts[0] == target,
            _ => true,
        }
    }

    /// The operation whose first result, or all of whose results, the target is.
    fn made(&self, target: Target) -> Option<Op> {
        match target {
            Target::Results(op) => Some(op),
            Target::Value(value) => {
                let op = self.module.def_op(value)?;
                (self.module.result(op, 0) == value).then_some(op)
            }
        }
    }

    fn names(&self, op: OpId) -> Vec<&'static str> {
        let known = ["nn.relu", "nn.tanh", "nn.add", "nn.subtract", "nn.concatenate", "nn.split"];
        let chosen = |name: &&&str| match &self.rule.op(op).choice {
            OpChoice::Name(one) => **name == format!("nn.{one}"),
            OpChoice::OneOf(all) => all.iter().any(|one| **name == format!("nn.{one}")),
            OpChoice::Trait(_) => panic!("no traits here"),
        };
        known.iter().filter(chosen).copied().collect()
    }

    fn conditions(&self, expansion: &Expansion, known: &Environment) -> bool {
        let mut named: BTreeMap<OpId, &str> = BTreeMap::new();
        let each = known.iter().all(|(node, target)| {
            let pattern = self.rule.pattern(node.0);
            let own = match &pattern.kind {
                PatternKind::Call { op, attrs, .. } => {
                    let Some(made) = self.made(*target) else { return false };
                    let name = self.module.name_text(made);
                    *named.entry(*op).or_insert(name) == name
                        && attrs.iter().all(|field| {
                            let wanted = self.value(expansion, known, node.1, field.value);
                            wanted.is_none_or(|n| self.attribute(*target, &field.name) == Some(n))
                        })
                }
                PatternKind::Proj { index, .. } => {
                    let wanted = self.value(expansion, known, node.1, *index);
                    wanted.is_none_or(|n| self.position(*target) == Some(n))
                }
                PatternKind::Not(inner) => !self.matches_alone(*inner, *target),
                _ => true,
            };
            own && (!pattern.only || self.is_only(known, *target))
        });
        each && self.lengths(expansion)
            && self.rule.conditions().iter().all(|condition| {
                let ExprKind::Binary { op: BinaryOp::Eq, lhs, rhs } =
                    self.rule.expr(*condition).kind
                else {
                    panic!("an equation")
                };
                let side = |expr| self.value(expansion, known, None, expr);
                side(lhs).is_some() && side(lhs) == side(rhs)
            })
    }

    fn lengths(&self, expansion: &Expansion) -> bool {
        expansion.lengths.iter().all(|(id, found)| {
            let PatternKind::Variadic { length, min_len, .. } = &self.rule.pattern(*id).kind else {
                return false;
            };
            let wanted = length.map(|length| &self.rule.expr(length).kind);
            *found >= min_len.unwrap_or(1) as usize
                && wanted.is_none_or(|kind| *kind == ExprKind::Int(*found as i64))
        })
    }

    /// The value of an expression; nothing for `_`, and -1 for what has none.
    fn value(
        &self,
        expansion: &Expansion,
        known: &Environment,
        branch: Option<(PatId, usize)>,
        expr: ExprId,
    ) -> Option<i64> {
        match &self.rule.expr(expr).kind {
            ExprKind::Any => None,
            ExprKind::Int(n) => Some(*n),
            ExprKind::Symbol(_) => Some(branch.expect("a branch").1 as i64),
            ExprKind::Access { pattern, attribute } => {
                let node = self.resolve(expansion, *pattern, branch);
                let target = node.and_then(|node| known.get(&node));
                Some(target.and_then(|t| self.attribute(*t, attribute)).unwrap_or(-1))
            }
            other => panic!("{other:?}"),
        }
    }

    fn attribute(&self, target: Target, name: &str) -> Option<i64> {
        let attr = self.module.attr(self.made(target)?, name)?;
        match self.module.context().attr_data(attr) {
            AttrData::Integer { value, .. } => i64::try_from(*value).ok(),
            _ => None,
        }
    }

    fn position(&self, target: Target) -> Option<i64> {
        let Target::Value(value) = target else { return None };
        let op = self.module.def_op(value)?;
        Some(self.module.results(op).position(|result| result == value)? as i64)
    }

    /// Negated patterns are calls of anything, or constants, of which the graphs have none.
    fn matches_alone(&self, inner: PatId, target: Target) -> bool {
        match &self.rule.pattern(inner).kind {
            PatternKind::Call { op, .. } => self
                .made(target)
                .is_some_and(|made| self.names(*op).contains(&self.module.name_text(made))),
            _ => false,
        }
    }

    fn is_only(&self, known: &Environment, target: Target) -> bool {
        let matched: BTreeSet<Op> = known
            .iter()
            .filter(|((id, _), _)| {
                matches!(
                    self.rule.pattern(*id).kind,
                    PatternKind::Call { .. } | PatternKind::Proj { .. }
                )
            })
            .filter_map(|(_, target)| match *target {
                Target::Value(value) => self.module.def_op(value),
                Target::Results(op) => Some(op),
            })
            .collect();
        match target {
            Target::Value(value) => self.module.uses(value).all(|user| matched.contains(&user.op)),
            Target::Results(_) => panic!("only values"),
        }
    }
}
