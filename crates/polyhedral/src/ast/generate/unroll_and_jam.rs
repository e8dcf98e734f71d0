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

use super::copies::Ahead;
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
type Offsets = Vec<Ahead>;

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
            let bodies = copies.iter().filter_map(|ahead| self.copy(node, ahead)).collect();
            return self.block(bodies).unwrap_or_else(|| self.add(AstNodeKind::Block(Vec::new())));
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
        let (mut many, mut one) = (self.node(node).clone(), self.node(node).clone());
        let count = self.iterations(node);
        let (first, residue) = match &many {
            AstNodeKind::For { lower, .. } => (self.constant(*lower), self.residue(*lower, factor)),
            _ => (None, None),
        };
        let only = first.is_some() && count.is_some_and(|count| count / factor == 1);
        let ahead = |by| Ahead { iterator, by, first, step: factor, residue, only };
        let side_by_side: Vec<Offsets> = copies
            .iter()
            .flat_map(|copy| (0..factor).map(move |by| (copy, by)))
            .map(|(copy, by)| [copy.as_slice(), &[ahead(by)]].concat())
            .collect();
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
        let many = if only { inner } else { self.add(many) };
        if count.is_some_and(|count| count % factor == 0) {
            return many;
        }
        let left = count.map(|count| count % factor);
        let start = first.zip(count).map(|(first, count)| first + count / factor * factor);
        let only = start.is_some() && left == Some(1);
        let ahead = Ahead { iterator, by: 0, first: start, step: 1, residue: None, only };
        let ahead = start.map(|_| ahead);
        let rests: Vec<Offsets> =
            copies.iter().map(|copy| copy.iter().copied().chain(ahead).collect()).collect();
        let rest = self.jammed(body, wanted, &rests);
        if only {
            return self.add(AstNodeKind::Block(vec![many, rest]));
        }
        if let AstNodeKind::For { lower, upper: Some(upper), coincident, body, .. } = &mut one {
            (*lower, *body) = (self.remainder(*lower, *upper, factor), rest);
            // No thread is worth starting for these few.
            *coincident = false;
        }
        let parts = vec![many, self.add(one)];
        self.add(AstNodeKind::Block(parts))
    }

    /// Returns what is left of an expression that is divided by a number, if that is known.
    fn residue(&self, expr: Expr, by: i128) -> Option<i128> {
        let value = match *self.expr(expr) {
            ExprKind::Int(value) => value,
            ExprKind::Mul(factor, _) if factor % by == 0 => 0,
            ExprKind::Add(base, c) => self.residue(base, by)?.checked_add(self.constant(c)?)?,
            ExprKind::Sub(base, c) => self.residue(base, by)?.checked_sub(self.constant(c)?)?,
            _ => return None,
        };
        Some(value.rem_euclid(by))
    }

    /// Counts the iterations of a loop between constants, or between a value and a constant more.
    fn iterations(&self, node: AstNode) -> Option<i128> {
        let AstNodeKind::For { lower, upper, step: 1, .. } = self.node(node) else { return None };
        let ((from, lower), (to, upper)) = (self.parted(*lower), self.parted((*upper)?));
        let count = upper.checked_sub(lower)?.checked_add(1)?;
        (from == to).then_some(count.max(0))
    }

    /// Takes the constant off an expression.
    pub(super) fn parted(&self, expr: Expr) -> (Option<Expr>, i128) {
        let constant = |base: Expr, by: Option<i128>| match by {
            Some(by) => (Some(base), by),
            None => (Some(expr), 0),
        };
        match *self.expr(expr) {
            ExprKind::Int(value) => (None, value),
            ExprKind::Add(base, c) => constant(base, self.constant(c)),
            ExprKind::Sub(base, c) => constant(base, self.constant(c).map(|by| -by)),
            _ => (Some(expr), 0),
        }
    }

    /// Returns the first value after the whole groups of `factor` values.
    ///
    /// With no values at all the division rounds up, to something behind `upper`.
    fn remainder(&mut self, lower: Expr, upper: Expr, factor: i128) -> Expr {
        if let (Some(first), Some(last)) = (self.constant(lower), self.constant(upper))
            && let Some(count) = last.checked_sub(first).and_then(|count| count.checked_add(1))
            && let Some(start) = first.checked_add(count.max(0) / factor * factor)
        {
            return self.intern(ExprKind::Int(start));
        }
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
    pub(super) fn plus(&mut self, expr: Expr, by: i128) -> Expr {
        let (base, old) = self.parted(expr);
        let (base, sum) = match old.checked_add(by) {
            Some(sum) => (base, sum),
            None => (Some(expr), by),
        };
        let Some(base) = base else { return self.intern(ExprKind::Int(sum)) };
        if sum == 0 {
            return base;
        }
        let size = self.intern(ExprKind::Int(sum.abs()));
        self.intern(if sum > 0 { ExprKind::Add(base, size) } else { ExprKind::Sub(base, size) })
    }

    pub(super) fn constant(&self, expr: Expr) -> Option<i128> {
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
}
