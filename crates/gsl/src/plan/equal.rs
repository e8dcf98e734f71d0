//! Patterns that ask for the same value.
//!
//! One-to-one matching is about values that a rule names apart. Equal calls are one value in a
//! program whose equal operations are merged, and so are equal literals: `x * 2.0 + 2.0` has one
//! constant there, `concatenate(relu(x), relu(x))` one `relu`. Patterns that are written alike may
//! therefore match one value, and literals are compared by what they are.

use rustc_hash::FxHashMap;

use crate::ast::{Expr, ExprId, OpId, OpPattern, PatId, Pattern, PatternKind, Reference, Rule};

/// For each pattern the first that is written alike, names and flags aside; of others than calls
/// and what they are made of, each is one of its own.
///
/// `order`: the patterns of the source, operands before their users. Recursion is bounded by the
/// depth of an expression.
pub(super) fn representatives(rule: &Rule, order: &[PatId]) -> Vec<PatId> {
    let mut alike = Alike {
        rule,
        patterns: rule.patterns().map(|(id, _)| id).collect(),
        exprs: FxHashMap::default(),
        known: FxHashMap::default(),
        ops: FxHashMap::default(),
    };
    for (id, op) in rule.ops().filter(|(_, op)| op.name.is_none()) {
        alike.ops.entry(op).or_insert(id);
    }
    let mut first: FxHashMap<Pattern, PatId> = FxHashMap::default();
    for &id in order {
        let Some(shape) = alike.shape(id) else { continue };
        alike.patterns[id.index()] = *first.entry(shape).or_insert(id);
    }
    alike.patterns
}

/// Returns whether a pattern is a number that the rule writes.
pub(super) fn is_literal(pattern: &Pattern) -> bool {
    matches!(pattern.kind, PatternKind::Const { value: Some(_), .. })
}

struct Alike<'r> {
    rule: &'r Rule,
    patterns: Vec<PatId>,
    exprs: FxHashMap<ExprId, ExprId>,
    known: FxHashMap<Expr, ExprId>,
    /// The first of the operators without name that are the same.
    ops: FxHashMap<&'r OpPattern, OpId>,
}

impl Alike<'_> {
    /// A pattern without name and flags, of which what is written alike is the same.
    fn shape(&mut self, id: PatId) -> Option<Pattern> {
        let mut pattern = self.rule.pattern(id).clone();
        let written = match pattern.kind {
            PatternKind::Call { .. } | PatternKind::Proj { .. } | PatternKind::Tuple(_) => true,
            _ => is_literal(&pattern),
        };
        pattern.change_references(&mut |reference| self.reference(reference));
        (pattern.name, pattern.only, pattern.may_alias) = (None, false, false);
        written.then_some(pattern)
    }

    fn reference(&mut self, reference: &mut Reference) {
        *reference = match *reference {
            Reference::Part(id) => Reference::Part(self.patterns[id.index()]),
            Reference::Mention(id) => Reference::Mention(self.patterns[id.index()]),
            Reference::Expr(id) => Reference::Expr(self.expr(id)),
            Reference::Op(id) => {
                Reference::Op(self.ops.get(self.rule.op(id)).copied().unwrap_or(id))
            }
            other => other,
        };
    }

    fn expr(&mut self, id: ExprId) -> ExprId {
        if let Some(&done) = self.exprs.get(&id) {
            return done;
        }
        let mut expr = self.rule.expr(id).clone();
        expr.change_references(&mut |reference| self.reference(reference));
        expr.name = None;
        let done = *self.known.entry(expr).or_insert(id);
        self.exprs.insert(id, done);
        done
    }
}
