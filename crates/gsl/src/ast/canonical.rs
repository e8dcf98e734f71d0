//! The canonical order of the arenas, by which rules are compared.

use rustc_hash::FxHashMap;

use super::rule::RuleData;
use super::{Expr, ExprId, OpId, OpPattern, PatId, Pattern, PatternKind, Reference, SymId};

/// Renumbers a rule in the order in which its outputs and conditions reach each node.
///
/// Recursion is bounded by [`super::MAX_DEPTH`], which holds for every finished rule.
pub(super) fn canonical(data: &RuleData) -> RuleData {
    let mut order = Renumber::new(data);
    order.to.sources = data.sources.iter().map(|id| order.pattern(*id)).collect();
    order.to.conditions = data.conditions.iter().map(|id| order.expr(*id)).collect();
    order.to.targets = data.targets.iter().map(|id| order.pattern(*id)).collect();
    for i in (0..data.patterns.len()).filter(|i| data.patterns[*i].name.is_some()) {
        order.pattern(PatId::new(i));
    }
    for i in (0..data.exprs.len()).filter(|i| data.exprs[*i].name.is_some()) {
        order.expr(ExprId::new(i));
    }
    order.to
}

struct Renumber<'r> {
    from: &'r RuleData,
    to: RuleData,
    patterns: FxHashMap<PatId, PatId>,
    exprs: FxHashMap<ExprId, ExprId>,
    consed: FxHashMap<Expr, ExprId>,
    ops: FxHashMap<OpId, OpId>,
    plain: FxHashMap<OpPattern, OpId>,
    instances: FxHashMap<Pattern, PatId>,
    symbols: FxHashMap<SymId, SymId>,
}

impl<'r> Renumber<'r> {
    fn new(from: &'r RuleData) -> Self {
        let to = RuleData {
            name: from.name.clone(),
            doc: from.doc.clone(),
            labels: from.labels.clone(),
            benefit: from.benefit,
            priority: from.priority,
            may_alias: from.may_alias,
            exactness: from.exactness,
            tolerance: from.tolerance,
            ..RuleData::default()
        };
        Self {
            from,
            to,
            patterns: FxHashMap::default(),
            exprs: FxHashMap::default(),
            consed: FxHashMap::default(),
            ops: FxHashMap::default(),
            plain: FxHashMap::default(),
            instances: FxHashMap::default(),
            symbols: FxHashMap::default(),
        }
    }

    fn reference(&mut self, reference: &mut Reference) {
        *reference = match *reference {
            Reference::Part(id) => Reference::Part(self.pattern(id)),
            Reference::Mention(id) => Reference::Mention(self.pattern(id)),
            Reference::Expr(id) => Reference::Expr(self.expr(id)),
            Reference::Op(id) => Reference::Op(self.op(id)),
            Reference::Symbol(id) => Reference::Symbol(self.symbol(id)),
            Reference::Binder(id) => Reference::Binder(self.symbol(id)),
        };
    }

    fn pattern(&mut self, id: PatId) -> PatId {
        if let Some(&done) = self.patterns.get(&id) {
            return done;
        }
        let mut pattern = self.from.patterns[id.index()].clone();
        pattern.change_references(&mut |reference| self.reference(reference));
        if let PatternKind::Variadic { templates, .. } = &mut pattern.kind {
            templates.dedup();
        }
        let next = PatId::new(self.to.patterns.len());
        let new = match pattern.kind {
            PatternKind::Inst { .. } => *self.instances.entry(pattern.clone()).or_insert(next),
            _ => next,
        };
        if new == next {
            self.to.patterns.push(pattern);
        }
        self.patterns.insert(id, new);
        new
    }

    fn expr(&mut self, id: ExprId) -> ExprId {
        if let Some(&done) = self.exprs.get(&id) {
            return done;
        }
        let mut expr = self.from.exprs[id.index()].clone();
        expr.change_references(&mut |reference| self.reference(reference));
        let next = ExprId::new(self.to.exprs.len());
        let new = *self.consed.entry(expr.clone()).or_insert(next);
        if new == next {
            self.to.exprs.push(expr);
        }
        self.exprs.insert(id, new);
        new
    }

    fn op(&mut self, id: OpId) -> OpId {
        if let Some(&done) = self.ops.get(&id) {
            return done;
        }
        let op = self.from.ops[id.index()].clone();
        let known = self.plain.get(&op).copied();
        let new = known.unwrap_or_else(|| {
            self.to.ops.push(op.clone());
            OpId::new(self.to.ops.len() - 1)
        });
        if op.name.is_none() {
            self.plain.entry(op).or_insert(new);
        }
        self.ops.insert(id, new);
        new
    }

    fn symbol(&mut self, id: SymId) -> SymId {
        let next = SymId::new(self.to.symbols.len());
        let new = *self.symbols.entry(id).or_insert(next);
        if new == next {
            self.to.symbols.push(self.from.symbols[id.index()].clone());
        }
        new
    }
}
