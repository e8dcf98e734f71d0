//! Equality, direct subexpression and subexpression of pattern expressions.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{ExprId, OpId, PatId, Reference, Rule, SymId};

/// Returns whether `p` is an operand, field or branch of `q`: `p ⊏ q` in the GSL thesis.
pub fn is_direct_subexpression(rule: &Rule, p: PatId, q: PatId) -> bool {
    rule.pattern(q).parts().contains(&p)
}

/// Returns whether `p` is `q` or a direct subexpression of a subexpression of it: `p ⊆ q`.
pub fn is_subexpression(rule: &Rule, p: PatId, q: PatId) -> bool {
    subexpressions(rule, &[q]).contains(&p)
}

/// Lists the subexpressions of `roots`, each once, operands before their users.
pub fn subexpressions(rule: &Rule, roots: &[PatId]) -> Vec<PatId> {
    let mut seen = FxHashSet::default();
    let mut order = Vec::new();
    let mut stack: Vec<_> = roots.iter().rev().map(|root| (*root, false)).collect();
    while let Some((id, left)) = stack.pop() {
        if left {
            order.push(id);
        } else if seen.insert(id) {
            stack.push((id, true));
            stack.extend(rule.pattern(id).parts().into_iter().rev().map(|part| (part, false)));
        }
    }
    order
}

/// Returns whether two sequences of pattern expressions are equal.
///
/// They are when one can be turned into the other by exchanging handles: same forms, same constants,
/// and the same vertices shared. Names and flags count; `x + x` does not equal `x + y`.
pub fn equal(a: (&Rule, &[PatId]), b: (&Rule, &[PatId])) -> bool {
    let mut pairs = Pairs { a: a.0, b: b.0, maps: Default::default() };
    let outputs = a.1.iter().zip(b.1);
    a.1.len() == b.1.len() && outputs.into_iter().all(|(p, q)| pairs.patterns(*p, *q))
}

/// The bijections found so far, each with its inverse.
#[derive(Default)]
struct Maps {
    patterns: FxHashMap<PatId, PatId>,
    matched: FxHashSet<PatId>,
    symbols: FxHashMap<SymId, SymId>,
    bound: FxHashSet<SymId>,
}

struct Pairs<'r> {
    a: &'r Rule,
    b: &'r Rule,
    maps: Maps,
}

impl Pairs<'_> {
    fn patterns(&mut self, p: PatId, q: PatId) -> bool {
        if let Some(&known) = self.maps.patterns.get(&p) {
            return known == q;
        }
        if !self.maps.matched.insert(q) {
            return false;
        }
        self.maps.patterns.insert(p, q);
        let (mut left, mut right) = (self.a.pattern(p).clone(), self.b.pattern(q).clone());
        let references: Vec<_> = left.references().into_iter().zip(right.references()).collect();
        left.change_references(&mut erase);
        right.change_references(&mut erase);
        left == right && references.into_iter().all(|(p, q)| self.references(p, q))
    }

    fn exprs(&mut self, a: ExprId, b: ExprId) -> bool {
        let (mut left, mut right) = (self.a.expr(a).clone(), self.b.expr(b).clone());
        let references: Vec<_> = left.references().into_iter().zip(right.references()).collect();
        left.change_references(&mut erase);
        right.change_references(&mut erase);
        left == right && references.into_iter().all(|(p, q)| self.references(p, q))
    }

    fn references(&mut self, p: Reference, q: Reference) -> bool {
        match (p, q) {
            (Reference::Part(p), Reference::Part(q))
            | (Reference::Mention(p), Reference::Mention(q)) => self.patterns(p, q),
            (Reference::Expr(a), Reference::Expr(b)) => self.exprs(a, b),
            (Reference::Op(f), Reference::Op(g)) => self.a.op(f) == self.b.op(g),
            (Reference::Symbol(s), Reference::Symbol(t))
            | (Reference::Binder(s), Reference::Binder(t)) => self.symbols(s, t),
            _ => false,
        }
    }

    fn symbols(&mut self, s: SymId, t: SymId) -> bool {
        match self.maps.symbols.get(&s) {
            Some(&known) => known == t,
            None => {
                self.maps.symbols.insert(s, t);
                self.maps.bound.insert(t)
            }
        }
    }
}

/// Makes every reference alike, so that only the form is left to compare.
fn erase(reference: &mut Reference) {
    *reference = match reference {
        Reference::Part(_) => Reference::Part(PatId(0)),
        Reference::Mention(_) => Reference::Mention(PatId(0)),
        Reference::Expr(_) => Reference::Expr(ExprId(0)),
        Reference::Op(_) => Reference::Op(OpId(0)),
        Reference::Symbol(_) => Reference::Symbol(SymId(0)),
        Reference::Binder(_) => Reference::Binder(SymId(0)),
    };
}
