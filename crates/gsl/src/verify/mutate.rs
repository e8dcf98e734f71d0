//! Mutation testing of the verifier: rules that differ in one place from a right one.
//!
//! ```text
//! where p.pad_width[0:2] == [0, 0]     dropped; 0 -> 1; == -> !=
//! transpose(x) { axes = a }            attribute dropped
//! x - y                                y - x; x + y
//! ```
//!
//! Most mutants are wrong, a few are equal to their rule. Each is verified as any rule is; what is
//! said to hold is then put to a search with more instances and another seed, which takes its time.
//! What that one refutes the verifier has missed.

use std::sync::Arc;

use tangram_ir::Context;

use super::{Counterexample, Doubt, Effort, Leaf, Verdict, WORK, refute};
use crate::ast::{
    BinaryOp, Expr, ExprId, ExprKind, OpChoice, PatId, PatternKind, Reference, Rule, RuleData,
};
use crate::rules::Natives;

/// A rule with one change.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// The change.
    pub change: String,
    /// The rule after it.
    pub rule: Rule,
}

/// What became of a mutant, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// What became of it.
    pub fate: Fate,
    /// On what that rests, in a line.
    pub reason: String,
}

/// What became of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was found to be wrong.
    Refuted,
    /// Both sides were the same functions on every instance, or the longer search found nothing
    /// against it.
    Equal,
    /// It was said to hold, and the longer search refutes it.
    Missed,
    /// It is not said to hold: where both sides have one type they are the same, but mostly the
    /// target has another one, and is refused.
    Refused,
    /// No program was found that it changes.
    Inert,
    /// Too little could be compared.
    Unknown,
    /// It is no rule that could be applied.
    Malformed,
}

impl Fate {
    /// What becomes of a mutant of which nothing is known for this reason.
    fn of(doubt: Doubt) -> Fate {
        match doubt {
            Doubt::NeverMatches => Fate::Inert,
            Doubt::Refused => Fate::Refused,
            Doubt::Thin | Doubt::Defect => Fate::Unknown,
        }
    }

    /// Its name in a list.
    pub fn name(self) -> &'static str {
        match self {
            Fate::Refuted => "refuted",
            Fate::Equal => "equal",
            Fate::Missed => "MISSED",
            Fate::Refused => "refused by types",
            Fate::Inert => "inert",
            Fate::Unknown => "not decided",
            Fate::Malformed => "no rule",
        }
    }
}

/// How thoroughly a mutant is searched that was said to hold.
const BRUTE_FORCE: Effort = Effort {
    instances: 600,
    attempts: 12_000,
    covering: 300,
    seed: 0x00C0_FFEE,
    work: WORK,
    interrupted: None,
};

/// Verifies a mutant.
pub fn judge(
    mutant: &Mutant,
    context: &Arc<Context>,
    natives: &Arc<Natives>,
    effort: &Effort,
) -> Judgement {
    let said = |fate, reason: String| Judgement { fate, reason: one_line(&reason) };
    let verdict = match refute(&mutant.rule, context, natives, effort) {
        Ok(verdict) => verdict,
        Err(error) => return said(Fate::Malformed, error.to_string()),
    };
    match &verdict {
        Verdict::Unknown { doubt, why } => return said(Fate::of(*doubt), why.clone()),
        _ if !verdict.holds() => {
            let found = verdict.counterexample().map(|found| found.difference.clone());
            return said(Fate::Refuted, found.unwrap_or_default());
        }
        _ => {}
    }
    match refute(&mutant.rule, context, natives, &BRUTE_FORCE) {
        Ok(longer) if longer.is_wrong() => {
            said(Fate::Missed, longer.counterexample().map(witness).unwrap_or_default())
        }
        Ok(Verdict::Holds(evidence)) => said(Fate::Equal, format!("the same on {evidence}")),
        Ok(Verdict::Unknown { why, .. }) => said(Fate::Equal, why),
        _ => said(Fate::Equal, String::new()),
    }
}

/// Where a mutant that was missed goes wrong, in a line.
fn witness(found: &Counterexample) -> String {
    let leaf = |leaf: &Leaf| format!("{}: {}", leaf.name, leaf.ty);
    let leaves = found.leaves.iter().map(leaf);
    let program: Vec<String> = leaves.chain(found.source.iter().cloned()).collect();
    format!("{} in {}", found.difference, program.join("; "))
}

/// The first line.
fn one_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

/// Lists the mutants of a rule, each one change away from it and different from the others.
pub fn mutants(rule: &Rule) -> Vec<Mutant> {
    let mut found = Mutants { rule, out: Vec::new() };
    found.conditions();
    found.operators();
    found.expressions();
    found.patterns();
    found.out
}

struct Mutants<'a> {
    rule: &'a Rule,
    out: Vec<Mutant>,
}

impl Mutants<'_> {
    fn add(&mut self, change: String, data: RuleData) {
        let Ok(rule) = Rule::try_from(data) else { return };
        let known = self.out.iter().any(|mutant| mutant.rule == rule);
        if !known && rule != *self.rule {
            self.out.push(Mutant { change, rule });
        }
    }

    fn data(&self) -> RuleData {
        self.rule.data().clone()
    }

    /// Conditions dropped, whole or by half.
    fn conditions(&mut self) {
        for (i, &condition) in self.rule.conditions().iter().enumerate() {
            let mut data = self.data();
            data.conditions.remove(i);
            self.add(format!("condition {i} dropped"), data);
            let ExprKind::Binary { op: BinaryOp::And | BinaryOp::Or, lhs, rhs } =
                self.rule.expr(condition).kind
            else {
                continue;
            };
            for half in [lhs, rhs] {
                let mut data = self.data();
                data.conditions[i] = half;
                self.add(format!("half of condition {i} dropped"), data);
            }
        }
    }

    /// Other operators of the same operands.
    fn operators(&mut self) {
        for (id, op) in self.rule.ops() {
            let OpChoice::Name(name) = &op.choice else { continue };
            for other in siblings(name) {
                let mut data = self.data();
                data.ops[id.index()].choice = OpChoice::Name((*other).to_owned());
                self.add(format!("`{name}` is `{other}`"), data);
            }
        }
    }

    /// Numbers, truth values, types and comparisons, one use of each at a time.
    fn expressions(&mut self) {
        for (at, expr) in self.rule.exprs() {
            if let ExprKind::Binary { op, lhs, rhs } = expr.kind {
                for other in other_operators(op) {
                    let mut data = self.data();
                    data.exprs[at.index()].kind = ExprKind::Binary { op: *other, lhs, rhs };
                    self.add(format!("`{}` is `{}`", op.text(), other.text()), data);
                }
            }
            if let ExprKind::Tuple(fields) = &expr.kind {
                self.admitted_type(at, fields);
            }
            for (slot, reference) in expr.references().into_iter().enumerate() {
                let Reference::Expr(used) = reference else { continue };
                for (change, kind) in other_values(&self.rule.expr(used).kind) {
                    let mut data = self.data();
                    let new = push(&mut data, kind);
                    redirect(slot, new, |f| data.exprs[at.index()].change_references(f));
                    self.add(change, data);
                }
            }
        }
    }

    /// A type more in a list of types.
    fn admitted_type(&mut self, at: ExprId, fields: &[ExprId]) {
        let names: Vec<&str> = fields
            .iter()
            .filter_map(|f| match &self.rule.expr(*f).kind {
                ExprKind::Str(name) if name.contains(char::is_numeric) => Some(name.as_str()),
                _ => None,
            })
            .collect();
        if names.is_empty() || names.len() < fields.len() {
            return;
        }
        for name in ["int8", "float16", "int64", "float32"] {
            if !names.contains(&name) {
                let mut data = self.data();
                let new = push(&mut data, ExprKind::Str(name.to_owned()));
                let wider = fields.iter().copied().chain([new]).collect();
                data.exprs[at.index()].kind = ExprKind::Tuple(wider);
                self.add(format!("`{name}` admitted"), data);
            }
        }
    }

    /// Operands exchanged, attributes dropped or changed.
    fn patterns(&mut self) {
        for (id, pattern) in self.rule.patterns() {
            if let PatternKind::Call { args, attrs, rest, .. } = &pattern.kind {
                for i in 1..args.len() {
                    let mut data = self.data();
                    if let PatternKind::Call { args, .. } = &mut data.patterns[id.index()].kind {
                        args.swap(i - 1, i);
                    }
                    self.add(format!("operands {} and {i} exchanged", i - 1), data);
                }
                for (i, field) in attrs.iter().enumerate() {
                    let mut data = self.data();
                    if let PatternKind::Call { attrs, .. } = &mut data.patterns[id.index()].kind {
                        attrs.remove(i);
                    }
                    self.add(format!("`{}` dropped", field.name), data);
                }
                if rest.is_some() {
                    let mut data = self.data();
                    if let PatternKind::Call { rest, .. } = &mut data.patterns[id.index()].kind {
                        *rest = None;
                    }
                    self.add("copied attributes dropped".to_owned(), data);
                }
            }
            self.values_of(id);
        }
    }

    fn values_of(&mut self, id: PatId) {
        for (slot, reference) in self.rule.pattern(id).references().into_iter().enumerate() {
            let Reference::Expr(used) = reference else { continue };
            for (change, kind) in other_values(&self.rule.expr(used).kind) {
                let mut data = self.data();
                let new = push(&mut data, kind);
                redirect(slot, new, |f| data.patterns[id.index()].change_references(f));
                self.add(change, data);
            }
        }
    }
}

fn push(data: &mut RuleData, kind: ExprKind) -> ExprId {
    data.exprs.push(Expr { kind, name: None });
    ExprId::new(data.exprs.len() - 1)
}

/// Changes reference number `slot` to another expression.
fn redirect(slot: usize, new: ExprId, visit: impl FnOnce(&mut dyn FnMut(&mut Reference))) {
    let mut at = 0;
    visit(&mut |reference| {
        if at == slot {
            *reference = Reference::Expr(new);
        }
        at += 1;
    });
}

/// Values next to a constant, each with the change in words.
fn other_values(kind: &ExprKind) -> Vec<(String, ExprKind)> {
    let named = |from: String, to: ExprKind, shown: String| (format!("{from} is {shown}"), to);
    match kind {
        ExprKind::Int(n) => [n - 1, n + 1]
            .into_iter()
            .map(|m| named(n.to_string(), ExprKind::Int(m), m.to_string()))
            .collect(),
        ExprKind::Bool(b) => vec![named(b.to_string(), ExprKind::Bool(!b), (!b).to_string())],
        ExprKind::Float(x) => {
            let other = crate::ast::Real::new(x.get() + 0.5);
            vec![named(x.get().to_string(), ExprKind::Float(other), other.get().to_string())]
        }
        _ => Vec::new(),
    }
}

fn other_operators(op: BinaryOp) -> &'static [BinaryOp] {
    use BinaryOp::{Add, And, Eq, Ge, Gt, Le, Lt, Max, Min, Ne, Or, Sub};
    match op {
        Eq => &[Ne, Le],
        Ne => &[Eq],
        Lt => &[Le],
        Le => &[Lt],
        Gt => &[Ge],
        Ge => &[Gt],
        And => &[Or],
        Or => &[And],
        Add => &[Sub],
        Sub => &[Add],
        Max => &[Min],
        Min => &[Max],
        _ => &[],
    }
}

/// Operations that take the same operands.
fn siblings(name: &str) -> &'static [&'static str] {
    match name {
        "add" => &["subtract"],
        "subtract" => &["add"],
        "multiply" => &["divide"],
        "divide" => &["multiply"],
        "maximum" => &["minimum"],
        "minimum" => &["maximum"],
        "relu" => &["abs"],
        "negative" => &["abs"],
        "sqrt" => &["abs"],
        "floor" => &["ceil"],
        "ceil" => &["floor"],
        "dense" => &["matmul"],
        "sum" => &["mean"],
        "mean" => &["sum"],
        "less" => &["less_equal"],
        "greater" => &["greater_equal"],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{parse, print};

    #[test]
    fn mutants_change_one_place_each() {
        let rule = parse(
            "rule r { let x = *; let y = *; match sum(x - y) { axis = [1], keepdims = true } as s;
             where x.ndim == 2 && y.ndim == 2, x.dtype in [\"float32\"];
             rewrite sum(x) { axis = [1], ..s }; }",
        );
        let rule = rule.expect("a rule").remove(0);
        let all = mutants(&rule);
        let texts: Vec<String> = all.iter().map(|mutant| print(&mutant.rule)).collect();
        for expected in ["y - x", "x + y", "axis = [0]", "\"int8\"", "x.ndim == 3", "x.ndim != 2"] {
            assert!(texts.iter().any(|text| text.contains(expected)), "{expected}: {texts:#?}");
        }
        assert!(all.iter().any(|mutant| mutant.change == "condition 0 dropped"));
        let distinct: std::collections::BTreeSet<&String> = texts.iter().collect();
        assert_eq!(distinct.len(), texts.len());
    }
}
