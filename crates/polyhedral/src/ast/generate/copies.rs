//! Copies of a loop's body, each some iterations ahead.
//!
//! What a copy's iterator is known to be decides conditions in it: of four copies beside each other, one
//! may have the first value, and the others lose the code that runs for this one alone.
//!
//! ```text
//! for k by 4: { if (k == 0) T; S(k);  S(k + 1);  S(k + 2);  S(k + 3); }
//! ```

use crate::ast::{Ast, AstNode, AstNodeKind, Comparison, Expr, ExprKind};

/// How far an iterator is ahead in one copy of a body.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ahead {
    pub iterator: u32,
    pub by: i128,
    /// The first value of the loop, if it is a number.
    pub first: Option<i128>,
    /// By how much the iterator grows.
    pub step: i128,
    /// What is left of its values where they are divided by the step, if that is known.
    pub residue: Option<i128>,
    /// Whether the loop is gone, as its first value is the only one.
    pub only: bool,
}

impl Ahead {
    /// Returns the value of the iterator in this copy, if it is the same in all iterations.
    fn value(&self) -> Option<i128> {
        self.first.filter(|_| self.only)?.checked_add(self.by)
    }

    /// Compares the iterator, in this copy, with a number, as far as its first value and its step decide.
    fn compared(&self, how: Comparison, number: i128) -> Option<bool> {
        if how == Comparison::Equal
            && let Some(residue) = self.residue
            && number.checked_sub(self.by)?.checked_sub(residue)? % self.step != 0
        {
            return Some(false);
        }
        let least = self.first?.checked_add(self.by)?;
        if self.only {
            return Some(how.holds(least, number));
        }
        match how {
            Comparison::Equal => (least > number).then_some(false),
            Comparison::GreaterOrEqual => (least >= number).then_some(true),
            Comparison::Less => (least >= number).then_some(false),
            Comparison::LessOrEqual => (least > number).then_some(false),
        }
    }
}

impl Ast {
    /// Copies code without loops, with iterators ahead of their values; nothing if none of it runs.
    pub(super) fn copy(&mut self, node: AstNode, ahead: &[Ahead]) -> Option<AstNode> {
        if ahead.is_empty() {
            return Some(node);
        }
        let kind = match self.node(node).clone() {
            AstNodeKind::If { condition, then, otherwise } => {
                match self.decided(condition, ahead) {
                    Some(true) => return self.copy(then, ahead),
                    Some(false) => return self.copy(otherwise?, ahead),
                    None => {
                        let condition = self.ahead(condition, ahead);
                        let otherwise = otherwise.and_then(|other| self.copy(other, ahead));
                        let then = match self.copy(then, ahead) {
                            Some(then) => then,
                            None if otherwise.is_none() => return None,
                            None => self.add(AstNodeKind::Block(Vec::new())),
                        };
                        AstNodeKind::If { condition, then, otherwise }
                    }
                }
            }
            AstNodeKind::Block(parts) => {
                let parts = parts.iter().filter_map(|part| self.copy(*part, ahead)).collect();
                return self.block(parts);
            }
            AstNodeKind::Mark { name, body } => {
                AstNodeKind::Mark { name, body: self.copy(body, ahead)? }
            }
            AstNodeKind::Call { statement, arguments } => AstNodeKind::Call {
                statement,
                arguments: arguments.iter().map(|a| self.ahead(*a, ahead)).collect(),
            },
            kind @ AstNodeKind::For { .. } => kind,
        };
        Some(self.add(kind))
    }

    /// Decides a condition in one copy, as far as first values of iterators do.
    fn decided(&self, condition: Expr, ahead: &[Ahead]) -> Option<bool> {
        // One part that is false decides `and`, one that is true decides `or`.
        let (parts, decisive) = match self.expr(condition) {
            ExprKind::Compare(how, a, b) => return self.compared(*how, (*a, *b), ahead),
            ExprKind::And(parts) => (parts, false),
            ExprKind::Or(parts) => (parts, true),
            _ => return None,
        };
        let mut open = false;
        for part in parts {
            match self.decided(*part, ahead) {
                Some(value) if value == decisive => return Some(decisive),
                decided => open |= decided.is_none(),
            }
        }
        (!open).then_some(!decisive)
    }

    /// Decides a comparison of an iterator, with a constant added or not, and a number.
    fn compared(&self, how: Comparison, (a, b): (Expr, Expr), ahead: &[Ahead]) -> Option<bool> {
        let (base, added) = self.parted(a);
        let ExprKind::Iterator(index) = *self.expr(base?) else { return None };
        let ahead = ahead.iter().find(|ahead| ahead.iterator == index)?;
        let number = self.constant(b)?.checked_sub(added)?;
        ahead.compared(how, number)
    }

    fn ahead(&mut self, expr: Expr, ahead: &[Ahead]) -> Expr {
        let kind = self.expr(expr).clone();
        let mut list = |list: Vec<Expr>| -> Vec<Expr> {
            list.into_iter().map(|part| self.ahead(part, ahead)).collect()
        };
        let kind = match kind {
            ExprKind::Iterator(index) => {
                let Some(ahead) = ahead.iter().find(|ahead| ahead.iterator == index) else {
                    return expr;
                };
                return match ahead.value() {
                    Some(value) => self.intern(ExprKind::Int(value)),
                    None => self.plus(expr, ahead.by),
                };
            }
            ExprKind::Int(_) | ExprKind::Param(_) => return expr,
            ExprKind::Add(a, b) => {
                let (a, b) = (self.ahead(a, ahead), self.ahead(b, ahead));
                // One constant at the end, not one for each shift.
                if let Some(by) = self.constant(b) {
                    return self.plus(a, by);
                }
                if self.constant(a) == Some(0) {
                    return b;
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
            ExprKind::Mul(f, a) => {
                let a = self.ahead(a, ahead);
                match self.constant(a).and_then(|value| value.checked_mul(f)) {
                    Some(value) => ExprKind::Int(value),
                    None => ExprKind::Mul(f, a),
                }
            }
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
