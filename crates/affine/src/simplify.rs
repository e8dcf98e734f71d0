//! Affine expressions as sums: the form that composition of maps leaves.
//!
//! An expression is *flattened*: it becomes a sum of dimensions, symbols and *local variables*
//! with integer factors, and a constant. A local variable stands for a quotient; `e mod c` is
//! `e - c * (e floordiv c)`. Factors that a divisor shares with all of a dividend are cancelled,
//! and quotients that look alike share a variable. The sum is then written as an expression again:
//! dimensions, symbols, quotients in the order in which they were met, the constant.
//!
//! `(d0 * 4 + d1 * 2) floordiv 2 - d0` becomes `d0 + d1`.
//!
//! # Source
//! `simplifyAffineExpr` of MLIR, for expressions whose factors and divisors are numbers. Others
//! lose remainders that are 0 only: MLIR has more rules.
//!
//! The sums exist during simplification alone. A form that lasts is an `AffineExpr` (`expr`), as MLIR
//! prints it, or a polynomial of named symbols (`symbolic/expr`).

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::expr::{AffineExpr, AffineExprs, BinaryOp, Node};
use crate::remainder::without_zeros;

/// Larger expressions, in nodes, stay as they are.
const MAX_SIZE: u32 = 1 << 20;

/// A variable of a flat sum; their order is that of the text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Variable {
    Dim(u32),
    Symbol(u32),
    Local(u32),
}

/// A sum of variables with factors other than 0, and a constant.
#[derive(Clone, Default)]
struct Sum {
    terms: BTreeMap<Variable, i64>,
    constant: i64,
}

/// The quotients met so far.
#[derive(Default)]
struct Locals {
    quotients: Vec<AffineExpr>,
    numbers: FxHashMap<AffineExpr, u32>,
}

/// `expr` as a sum, in the same arena. Where a factor or divisor is no number above 0, or a number
/// does not fit in 64 bits, `expr` with 0 for the remainders that are 0.
pub fn simplify(exprs: &mut AffineExprs, expr: AffineExpr) -> AffineExpr {
    flattened(exprs, expr).unwrap_or_else(|| without_zeros(exprs, expr))
}

fn flattened(exprs: &mut AffineExprs, root: AffineExpr) -> Option<AffineExpr> {
    if !exprs.is_pure(root) || exprs.size(root) > MAX_SIZE {
        return None;
    }
    let mut locals = Locals::default();
    let (mut open, mut done) = (vec![(root, false)], Vec::new());
    while let Some((expr, operands_done)) = open.pop() {
        match exprs.node(expr) {
            Node::Dim(i) => done.push(Sum::variable(Variable::Dim(i))),
            Node::Symbol(i) => done.push(Sum::variable(Variable::Symbol(i))),
            Node::Constant(constant) => done.push(Sum { constant, ..Sum::default() }),
            Node::Binary(_, a, b) if !operands_done => {
                open.extend([(expr, true), (b, false), (a, false)]);
            }
            Node::Binary(op, ..) => {
                let (right, left) = (done.pop()?, done.pop()?);
                done.push(locals.joined(exprs, op, left, right)?);
            }
        }
    }
    locals.expression(exprs, &done.pop()?)
}

/// Whether the variable is a symbol, its number, and its factor.
type FlatTerm = (bool, u32, i64);

/// The terms of a sum without quotients, and the constant. `None` for anything else.
pub(crate) fn flat_terms(exprs: &AffineExprs, root: AffineExpr) -> Option<(Vec<FlatTerm>, i64)> {
    if !exprs.is_pure(root) || exprs.size(root) > MAX_SIZE {
        return None;
    }
    let (mut sum, mut open) = (Sum::default(), vec![(root, 1i64)]);
    while let Some((expr, factor)) = open.pop() {
        let term = match exprs.node(expr) {
            Node::Dim(i) => Sum::variable(Variable::Dim(i)),
            Node::Symbol(i) => Sum::variable(Variable::Symbol(i)),
            Node::Constant(constant) => Sum { constant, ..Sum::default() },
            Node::Binary(BinaryOp::Add, a, b) => {
                open.extend([(a, factor), (b, factor)]);
                continue;
            }
            Node::Binary(BinaryOp::Mul, a, b) => {
                open.push((a, factor.checked_mul(exprs.as_constant(b)?)?));
                continue;
            }
            Node::Binary(..) => return None,
        };
        sum = sum.plus(term, factor)?;
    }
    let term = |(&variable, &factor): (&Variable, &i64)| match variable {
        Variable::Dim(i) => Some((false, i, factor)),
        Variable::Symbol(i) => Some((true, i, factor)),
        Variable::Local(_) => None,
    };
    let terms: Option<Vec<_>> = sum.terms.iter().map(term).collect();
    Some((terms?, sum.constant))
}

impl Sum {
    fn variable(variable: Variable) -> Sum {
        Sum { terms: BTreeMap::from([(variable, 1)]), constant: 0 }
    }

    fn as_number(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// `self + other * factor`; the shorter one is added to the longer one.
    fn plus(mut self, mut other: Sum, factor: i64) -> Option<Sum> {
        if factor == 1 && self.terms.len() < other.terms.len() {
            std::mem::swap(&mut self, &mut other);
        }
        self.constant = self.constant.checked_add(other.constant.checked_mul(factor)?)?;
        for (variable, coefficient) in other.terms {
            let entry = self.terms.entry(variable).or_default();
            *entry = entry.checked_add(coefficient.checked_mul(factor)?)?;
            if *entry == 0 {
                self.terms.remove(&variable);
            }
        }
        Some(self)
    }

    fn times(mut self, factor: i64) -> Option<Sum> {
        if factor == 0 {
            return Some(Sum::default());
        }
        self.constant = self.constant.checked_mul(factor)?;
        for coefficient in self.terms.values_mut() {
            *coefficient = coefficient.checked_mul(factor)?;
        }
        Some(self)
    }

    /// Divides everything, the divisor too, by what all share.
    fn cancelled(mut self, by: i64) -> Option<(Sum, i64)> {
        let all = self.terms.values().chain([&self.constant]);
        let shared = all.fold(by.unsigned_abs(), |g, c| num_integer::gcd(g, c.unsigned_abs()));
        let shared = i64::try_from(shared).ok()?;
        self.constant /= shared;
        self.terms.values_mut().for_each(|coefficient| *coefficient /= shared);
        Some((self, by / shared))
    }
}

impl Locals {
    fn joined(
        &mut self,
        exprs: &mut AffineExprs,
        op: BinaryOp,
        left: Sum,
        right: Sum,
    ) -> Option<Sum> {
        let number = right.as_number();
        match op {
            BinaryOp::Add => left.plus(right, 1),
            BinaryOp::Mul => match (number, left.as_number()) {
                (Some(factor), _) => left.times(factor),
                (None, factor) => right.times(factor?),
            },
            BinaryOp::FloorDiv | BinaryOp::CeilDiv => {
                self.quotient(exprs, op, left, number.filter(|&by| by > 0)?)
            }
            BinaryOp::Mod => {
                let by = number.filter(|&by| by > 0)?;
                let quotient = self.quotient(exprs, BinaryOp::FloorDiv, left.clone(), by)?;
                left.plus(quotient, by.checked_neg()?)
            }
        }
    }

    fn quotient(&mut self, exprs: &mut AffineExprs, op: BinaryOp, of: Sum, by: i64) -> Option<Sum> {
        let (of, by) = of.cancelled(by)?;
        if by == 1 {
            return Some(of);
        }
        let (dividend, divisor) = (self.expression(exprs, &of)?, exprs.constant(by));
        let quotient = exprs.binary(op, dividend, divisor);
        let next = self.quotients.len() as u32;
        let number = *self.numbers.entry(quotient).or_insert(next);
        if number == next {
            self.quotients.push(quotient);
        }
        Some(Sum::variable(Variable::Local(number)))
    }

    fn expression(&self, exprs: &mut AffineExprs, sum: &Sum) -> Option<AffineExpr> {
        let mut out = exprs.constant(0);
        for (&variable, &coefficient) in &sum.terms {
            let variable = match variable {
                Variable::Dim(i) => exprs.dim(i),
                Variable::Symbol(i) => exprs.symbol(i),
                Variable::Local(i) => *self.quotients.get(i as usize)?,
            };
            let factor = exprs.constant(coefficient);
            let term = exprs.mul(variable, factor);
            out = exprs.add(out, term);
        }
        let constant = exprs.constant(sum.constant);
        Some(exprs.add(out, constant))
    }
}
