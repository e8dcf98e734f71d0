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

use crate::ast::{Ast, AstNode, AstNodeKind, Expr, ExprKind};

/// How iterations of a loop are to run side by side.
#[derive(Debug, Clone, Copy)]
pub(in crate::ast) struct Jam {
    /// How many of them.
    pub factor: i128,
    /// Whether they may run in any order, so that whatever stands below may be jammed.
    pub free: bool,
}

/// How far the iterators are ahead in one copy of a body.
type Offsets = Vec<(u32, i128)>;

impl Ast {
    /// Jams the loops of `wanted`, with their factors, into the loops below them.
    ///
    /// A loop stays as it is if bounds of the loops below depend on it, or, where its
    /// iterations are not free, if something stands between it and the loops below.
    pub(in crate::ast) fn jam(&mut self, wanted: &HashMap<AstNode, Jam>) {
        if wanted.is_empty() {
            return;
        }
        let mut open: Vec<AstNode> = self.root().into_iter().collect();
        while let Some(node) = open.pop() {
            if self.factor(node, wanted) > 1 {
                let whole = self.jammed(node, wanted, &[Vec::new()]);
                let kind = self.node(whole).clone();
                self.put(node, kind);
                continue;
            }
            open.extend(self.children(node));
        }
    }

    /// Returns how many iterations of a loop run side by side.
    fn factor(&self, node: AstNode, wanted: &HashMap<AstNode, Jam>) -> i128 {
        let AstNodeKind::For { iterator, upper, step, body, .. } = self.node(node) else {
            return 1;
        };
        let limited = *step == 1 && upper.is_some();
        let Some(jam) = wanted.get(&node).filter(|_| limited) else { return 1 };
        let fits = self.has_loop(*body)
            && !self.bounds_use(*body, *iterator)
            && (jam.free || self.is_perfect(*body));
        if fits { jam.factor } else { 1 }
    }

    fn has_loop(&self, node: AstNode) -> bool {
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            if matches!(self.node(node), AstNodeKind::For { .. }) {
                return true;
            }
            open.extend(self.children(node));
        }
        false
    }

    /// Returns whether bounds of loops, or conditions around loops, depend on an iterator.
    pub(in crate::ast) fn bounds_use(&self, node: AstNode, iterator: u32) -> bool {
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            let uses = match self.node(node) {
                AstNodeKind::For { lower, upper, .. } => {
                    upper.iter().chain([lower]).any(|bound| self.uses(*bound, iterator))
                }
                AstNodeKind::If { condition, .. } => {
                    self.has_loop(node) && self.uses(*condition, iterator)
                }
                _ => false,
            };
            if uses {
                return true;
            }
            open.extend(self.children(node));
        }
        false
    }

    /// Returns whether loops are directly in each other.
    fn is_perfect(&self, mut node: AstNode) -> bool {
        while let AstNodeKind::For { body, .. } = self.node(node) {
            node = *body;
        }
        !self.has_loop(node)
    }

    /// Writes code once for each of `copies`, side by side inside its innermost loops.
    fn jammed(
        &mut self,
        node: AstNode,
        wanted: &HashMap<AstNode, Jam>,
        copies: &[Offsets],
    ) -> AstNode {
        if !self.has_loop(node) {
            let bodies: Vec<AstNode> = copies.iter().map(|ahead| self.copy(node, ahead)).collect();
            return self.block(bodies).unwrap_or(node);
        }
        let factor = self.factor(node, wanted);
        let mut kind = self.node(node).clone();
        match &mut kind {
            AstNodeKind::For { iterator, body, .. } if factor > 1 => {
                let (iterator, body) = (*iterator, *body);
                return self.in_groups((node, iterator, body), factor, wanted, copies);
            }
            AstNodeKind::For { body, .. } | AstNodeKind::Mark { body, .. } => {
                *body = self.jammed(*body, wanted, copies);
            }
            AstNodeKind::If { then, otherwise, .. } => {
                *then = self.jammed(*then, wanted, copies);
                *otherwise = otherwise.map(|other| self.jammed(other, wanted, copies));
            }
            AstNodeKind::Block(parts) => {
                for part in parts {
                    *part = self.jammed(*part, wanted, copies);
                }
            }
            AstNodeKind::Call { .. } => {}
        }
        self.add(kind)
    }

    /// Writes a loop over groups of iterations, and one over those that are left.
    fn in_groups(
        &mut self,
        (node, iterator, body): (AstNode, u32, AstNode),
        factor: i128,
        wanted: &HashMap<AstNode, Jam>,
        copies: &[Offsets],
    ) -> AstNode {
        let side_by_side: Vec<Offsets> = copies
            .iter()
            .flat_map(|copy| (0..factor).map(move |ahead| (copy, ahead)))
            .map(|(copy, ahead)| [copy.as_slice(), &[(iterator, ahead)]].concat())
            .collect();
        let (mut many, mut one) = (self.node(node).clone(), self.node(node).clone());
        let count = self.iterations(node);
        if count.is_some_and(|count| count < factor) {
            if let AstNodeKind::For { body: inner, .. } = &mut one {
                *inner = self.jammed(body, wanted, copies);
            }
            return self.add(one);
        }
        let inner = self.jammed(body, wanted, &side_by_side);
        if let AstNodeKind::For { upper: Some(upper), step, body, .. } = &mut many {
            (*upper, *step, *body) = (self.plus(*upper, 1 - factor), factor, inner);
        }
        if count.is_some_and(|count| count % factor == 0) {
            return self.add(many);
        }
        let rest = self.jammed(body, wanted, copies);
        if let AstNodeKind::For { lower, upper: Some(upper), coincident, body, .. } = &mut one {
            (*lower, *body) = (self.remainder(*lower, *upper, factor), rest);
            // No thread is worth starting for these few.
            *coincident = false;
        }
        let parts = vec![self.add(many), self.add(one)];
        self.add(AstNodeKind::Block(parts))
    }

    /// Counts the iterations of a loop between constants.
    fn iterations(&self, node: AstNode) -> Option<i128> {
        let AstNodeKind::For { lower, upper, step: 1, .. } = self.node(node) else { return None };
        let (lower, upper) = (self.constant(*lower)?, self.constant((*upper)?)?);
        Some(upper.checked_sub(lower)?.checked_add(1)?.max(0))
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

    pub(in crate::ast) fn uses(&self, expr: Expr, iterator: u32) -> bool {
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
