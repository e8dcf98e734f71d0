//! Unroll and jam: several iterations of a loop side by side inside the loops below it.
//!
//! ```text
//! for i: for j: S(i, j)
//!
//! for i by 2 while a pair is left: for j: { S(i, j); S(i + 1, j) }
//! for the i that is left: for j: S(i, j)
//! ```
//!
//! A value that both copies use is loaded once, and their chains of operations run at the
//! same time. The order changes; whether it may is decided on the schedule tree.

use std::collections::HashMap;

use super::{Ast, AstNode, AstNodeKind, Expr, ExprKind};

/// A loop of a nest without anything between its loops.
struct Level {
    kind: AstNodeKind,
    iterator: u32,
    factor: i128,
}

/// How far the iterators are ahead in one copy of a body.
type Offsets = Vec<(u32, i128)>;

impl Ast {
    /// Jams the loops of `wanted`, with their factors, into the loops below them.
    ///
    /// A loop stays as it is if something stands between it and the loops below, or if
    /// their bounds depend on it.
    pub(super) fn jam(&mut self, wanted: &HashMap<AstNode, i128>) {
        if wanted.is_empty() {
            return;
        }
        let mut open: Vec<AstNode> = self.root().into_iter().collect();
        while let Some(node) = open.pop() {
            if wanted.contains_key(&node) {
                let (nest, leaf) = self.nest(node, wanted);
                if nest.iter().any(|level| level.factor > 1) {
                    let whole = self.jammed(&nest, leaf, &[Vec::new()]);
                    let kind = self.node(whole).clone();
                    self.put(node, kind);
                    continue;
                }
            }
            open.extend(self.children(node));
        }
    }

    /// Collects the loops from `node` inwards, and what the innermost one runs.
    fn nest(&self, node: AstNode, wanted: &HashMap<AstNode, i128>) -> (Vec<Level>, AstNode) {
        let mut nest: Vec<Level> = Vec::new();
        let mut at = node;
        while let AstNodeKind::For { iterator, lower, upper, step, body, .. } = self.node(at) {
            for outer in &mut nest {
                let mut bounds = upper.iter().chain([lower]);
                if bounds.any(|bound| self.uses(*bound, outer.iterator)) {
                    outer.factor = 1;
                }
            }
            let limited = *step == 1 && upper.is_some();
            let factor = if limited { wanted.get(&at).copied().unwrap_or(1) } else { 1 };
            nest.push(Level { kind: self.node(at).clone(), iterator: *iterator, factor });
            at = *body;
        }
        let mut open = vec![at];
        while let Some(inner) = open.pop() {
            if matches!(self.node(inner), AstNodeKind::For { .. }) {
                nest.iter_mut().for_each(|level| level.factor = 1);
            }
            open.extend(self.children(inner));
        }
        // Copies of the innermost body alone would be plain unrolling.
        if let Some(last) = nest.last_mut() {
            last.factor = 1;
        }
        (nest, at)
    }

    /// Writes a nest with a copy of the body for each of `copies`.
    fn jammed(&mut self, nest: &[Level], leaf: AstNode, copies: &[Offsets]) -> AstNode {
        let Some((head, below)) = nest.split_first() else {
            let bodies: Vec<AstNode> = copies.iter().map(|ahead| self.copy(leaf, ahead)).collect();
            return self.block(bodies).unwrap_or(leaf);
        };
        let mut whole = head.kind.clone();
        let factor = head.factor;
        if factor > 1 {
            let side_by_side: Vec<Offsets> = copies
                .iter()
                .flat_map(|copy| (0..factor).map(move |ahead| (copy, ahead)))
                .map(|(copy, ahead)| [copy.as_slice(), &[(head.iterator, ahead)]].concat())
                .collect();
            let inner = self.jammed(below, leaf, &side_by_side);
            let rest = self.jammed(below, leaf, copies);
            let (mut many, mut one) = (head.kind.clone(), head.kind.clone());
            if let AstNodeKind::For { upper: Some(upper), step, body, .. } = &mut many {
                (*upper, *step, *body) = (self.plus(*upper, 1 - factor), factor, inner);
            }
            if let AstNodeKind::For { lower, upper: Some(upper), body, .. } = &mut one {
                (*lower, *body) = (self.remainder(*lower, *upper, factor), rest);
            }
            let parts = vec![self.add(many), self.add(one)];
            return self.add(AstNodeKind::Block(parts));
        }
        let inner = self.jammed(below, leaf, copies);
        if let AstNodeKind::For { body, .. } = &mut whole {
            *body = inner;
        }
        self.add(whole)
    }

    /// Returns the first value after the whole groups of `factor` values.
    ///
    /// With no values at all the division rounds up, to something behind `upper`.
    fn remainder(&mut self, lower: Expr, upper: Expr, factor: i128) -> Expr {
        let end = self.plus(upper, 1);
        let start = (self.expr(lower) != &ExprKind::Int(0)).then_some(lower);
        let count = match start {
            Some(start) => self.intern(ExprKind::Sub(end, start)),
            None => end,
        };
        let groups = self.intern(ExprKind::Quotient(count, factor));
        let skipped = self.intern(ExprKind::Mul(factor, groups));
        match start {
            Some(start) => self.intern(ExprKind::Add(start, skipped)),
            None => skipped,
        }
    }

    /// Adds a constant.
    fn plus(&mut self, expr: Expr, by: i128) -> Expr {
        let (base, old) = match self.expr(expr) {
            ExprKind::Int(value) => (None, Some(*value)),
            ExprKind::Add(base, c) => (Some(*base), self.constant(*c)),
            ExprKind::Sub(base, c) => (Some(*base), self.constant(*c).map(|v| -v)),
            _ => (None, None),
        };
        let (base, sum) = match (base, old.and_then(|old| old.checked_add(by))) {
            (base, Some(sum)) => (base, sum),
            (_, None) => (Some(expr), by),
        };
        let Some(base) = base else { return self.intern(ExprKind::Int(sum)) };
        if sum == 0 {
            return base;
        }
        let size = self.intern(ExprKind::Int(sum.abs()));
        self.intern(if sum > 0 { ExprKind::Add(base, size) } else { ExprKind::Sub(base, size) })
    }

    fn constant(&self, expr: Expr) -> Option<i128> {
        match self.expr(expr) {
            ExprKind::Int(value) => Some(*value),
            _ => None,
        }
    }

    fn uses(&self, expr: Expr, iterator: u32) -> bool {
        let mut open = vec![expr];
        while let Some(expr) = open.pop() {
            let kind = self.expr(expr);
            if *kind == ExprKind::Iterator(iterator) {
                return true;
            }
            open.extend(kind.operands());
        }
        false
    }

    /// Copies code without loops, with iterators ahead of their values.
    fn copy(&mut self, node: AstNode, ahead: &[(u32, i128)]) -> AstNode {
        if ahead.iter().all(|(_, by)| *by == 0) {
            return node;
        }
        let kind = match self.node(node).clone() {
            AstNodeKind::If { condition, then, otherwise } => AstNodeKind::If {
                condition: self.ahead(condition, ahead),
                then: self.copy(then, ahead),
                otherwise: otherwise.map(|other| self.copy(other, ahead)),
            },
            AstNodeKind::Block(parts) => {
                AstNodeKind::Block(parts.iter().map(|part| self.copy(*part, ahead)).collect())
            }
            AstNodeKind::Mark { name, body } => {
                AstNodeKind::Mark { name, body: self.copy(body, ahead) }
            }
            AstNodeKind::Call { statement, arguments } => AstNodeKind::Call {
                statement,
                arguments: arguments.iter().map(|a| self.ahead(*a, ahead)).collect(),
            },
            kind @ AstNodeKind::For { .. } => kind,
        };
        self.add(kind)
    }

    fn ahead(&mut self, expr: Expr, ahead: &[(u32, i128)]) -> Expr {
        let kind = self.expr(expr).clone();
        let mut list = |list: Vec<Expr>| -> Vec<Expr> {
            list.into_iter().map(|part| self.ahead(part, ahead)).collect()
        };
        let kind = match kind {
            ExprKind::Iterator(index) => {
                let by = ahead.iter().find(|(iterator, _)| *iterator == index);
                return by.map_or(expr, |(_, by)| self.plus(expr, *by));
            }
            ExprKind::Int(_) | ExprKind::Param(_) => return expr,
            ExprKind::Add(a, b) => {
                let (a, b) = (self.ahead(a, ahead), self.ahead(b, ahead));
                // One constant at the end, not one for each shift.
                if let Some(by) = self.constant(b) {
                    return self.plus(a, by);
                }
                ExprKind::Add(a, b)
            }
            ExprKind::Sub(a, b) => {
                let (a, b) = (self.ahead(a, ahead), self.ahead(b, ahead));
                if let Some(by) = self.constant(b) {
                    return self.plus(a, -by);
                }
                ExprKind::Sub(a, b)
            }
            ExprKind::Neg(a) => ExprKind::Neg(self.ahead(a, ahead)),
            ExprKind::Mul(f, a) => ExprKind::Mul(f, self.ahead(a, ahead)),
            ExprKind::FloorDiv(a, d) => ExprKind::FloorDiv(self.ahead(a, ahead), d),
            ExprKind::Quotient(a, d) => ExprKind::Quotient(self.ahead(a, ahead), d),
            ExprKind::Remainder(a, d) => ExprKind::Remainder(self.ahead(a, ahead), d),
            ExprKind::Multiple(a, d) => ExprKind::Multiple(self.ahead(a, ahead), d),
            ExprKind::Compare(how, a, b) => {
                ExprKind::Compare(how, self.ahead(a, ahead), self.ahead(b, ahead))
            }
            ExprKind::Min(all) => ExprKind::Min(list(all)),
            ExprKind::Max(all) => ExprKind::Max(list(all)),
            ExprKind::And(all) => ExprKind::And(list(all)),
            ExprKind::Or(all) => ExprKind::Or(list(all)),
        };
        self.intern(kind)
    }
}
