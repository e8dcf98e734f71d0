//! Expressions as C.

use super::Writer;
use crate::ast::{Comparison, Expr, ExprKind};

/// Binding strengths of C, weakest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    Or,
    And,
    Equality,
    Relation,
    Sum,
    Product,
    Unary,
}

impl Writer<'_> {
    pub(super) fn text(&self, expr: Expr) -> String {
        self.operand(expr, Strength::Or)
    }

    pub(super) fn operand(&self, expr: Expr, at_least: Strength) -> String {
        let (text, strength) = self.written(expr);
        if strength < at_least { format!("({text})") } else { text }
    }

    /// Names an iterator apart from all parameters.
    pub(super) fn iterator(&self, index: u32) -> String {
        if let Some(name) = self.style.names.get(&index) {
            return name.clone();
        }
        let mut name = format!("{}{index}", self.style.iterator);
        while self.ast.params().contains(&name) {
            name.push('_');
        }
        name
    }

    /// Writes an expression in a type of 64 bits; a constant as it is.
    pub(super) fn wide_text(&self, expr: Expr) -> String {
        match self.ast.expr(expr) {
            ExprKind::Int(_) => self.text(expr),
            _ if self.is_wide(expr) => self.text(expr),
            _ => self.widened(expr),
        }
    }

    /// Gives an operand a type of 64 bits.
    fn widened(&self, expr: Expr) -> String {
        match self.ast.expr(expr) {
            ExprKind::Int(value) if *value < 0 => format!("({value}LL)"),
            ExprKind::Int(value) => format!("{value}LL"),
            _ => format!("({}){}", self.style.index, self.operand(expr, Strength::Unary)),
        }
    }

    /// Writes a sum, of which one side gets a type that holds it.
    fn sum(&self, expr: Expr, (a, sign, b): (Expr, char, Expr)) -> String {
        let is_number = |part: Expr| matches!(self.ast.expr(part), ExprKind::Int(_));
        let widened = self.is_widened(expr);
        let left = match widened && !is_number(b) {
            true => self.widened(a),
            false => self.operand(a, Strength::Sum),
        };
        let right = match widened && is_number(b) {
            true => self.widened(b),
            false => self.operand(b, Strength::Product),
        };
        format!("{left} {sign} {right}")
    }

    fn written(&self, expr: Expr) -> (String, Strength) {
        self.note_value(expr);
        use Strength::{And, Equality, Or, Product, Relation, Sum, Unary};
        let join = |list: &[Expr], by: &str, strength: Strength| {
            let parts: Vec<String> =
                list.iter().map(|part| self.operand(*part, strength)).collect();
            (parts.join(by), strength)
        };
        match self.ast.expr(expr) {
            ExprKind::Int(value) if *value < 0 => (value.to_string(), Sum),
            ExprKind::Int(value) => (value.to_string(), Unary),
            ExprKind::Param(index) => {
                let name = self.ast.params().get(*index as usize).cloned().unwrap_or_default();
                (self.style.params.get(&name).cloned().unwrap_or(name), Unary)
            }
            ExprKind::Iterator(index) => (self.iterator(*index), Unary),
            ExprKind::Neg(a) if self.is_widened(expr) => (format!("-{}", self.widened(*a)), Sum),
            ExprKind::Neg(a) => (format!("-{}", self.operand(*a, Product)), Sum),
            ExprKind::Add(a, b) => (self.sum(expr, (*a, '+', *b)), Sum),
            ExprKind::Sub(a, b) => (self.sum(expr, (*a, '-', *b)), Sum),
            ExprKind::Mul(factor, a) => {
                let suffix = if self.is_widened(expr) { "LL" } else { "" };
                (format!("{factor}{suffix} * {}", self.operand(*a, Unary)), Product)
            }
            ExprKind::FloorDiv(a, d) => {
                (format!("{}floord({}, {d})", self.style.prefix, self.text(*a)), Unary)
            }
            ExprKind::Quotient(a, d) => (format!("{} / {d}", self.operand(*a, Unary)), Product),
            ExprKind::Remainder(a, d) => (format!("{} % {d}", self.operand(*a, Unary)), Product),
            ExprKind::Multiple(a, d) => {
                (format!("{} % {d} == 0", self.operand(*a, Unary)), Equality)
            }
            ExprKind::Min(list) => (self.nested("min", list), Unary),
            ExprKind::Max(list) => (self.nested("max", list), Unary),
            ExprKind::And(list) => join(list, " && ", Equality),
            ExprKind::Or(list) => {
                let parts: Vec<String> = list
                    .iter()
                    .map(|part| match self.ast.expr(*part) {
                        // Compilers warn about && within || without parentheses.
                        ExprKind::And(_) => format!("({})", self.text(*part)),
                        _ => self.operand(*part, And),
                    })
                    .collect();
                (parts.join(" || "), Or)
            }
            ExprKind::Compare(how, a, b) => {
                let (sign, strength) = match how {
                    Comparison::Equal => ("==", Equality),
                    Comparison::LessOrEqual => ("<=", Relation),
                    Comparison::Less => ("<", Relation),
                    Comparison::GreaterOrEqual => (">=", Relation),
                };
                (format!("{} {sign} {}", self.operand(*a, Sum), self.operand(*b, Sum)), strength)
            }
        }
    }

    pub(super) fn nested(&self, name: &str, list: &[Expr]) -> String {
        let prefix = &self.style.prefix;
        let mut parts = list.iter().map(|part| self.text(*part));
        let first = parts.next().unwrap_or_default();
        parts.fold(first, |left, right| format!("{prefix}{name}({left}, {right})"))
    }
}
