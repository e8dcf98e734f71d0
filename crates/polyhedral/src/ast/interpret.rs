//! Running generated code: the instances in the order in which they are called.

use std::collections::HashMap;

use super::{Ast, AstNode, AstNodeKind, Expr, ExprKind};
use crate::Error;

/// One call.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Instance {
    /// The statement's name.
    pub statement: String,
    /// The values of the arguments.
    pub point: Vec<i128>,
}

/// What is left to run, innermost last.
enum Task {
    Run(AstNode),
    /// A loop's next value and its last one.
    Again(AstNode, i128, i128),
}

impl Ast {
    /// Runs the code for values of the parameters, in the order of [`Self::params`].
    ///
    /// # Errors
    /// [`tangram_presburger::Error::Steps`] and the like, if `limit` calls and tests do
    /// not suffice, or a value does not fit into 128 bits.
    pub fn run(&self, params: &[i128], limit: usize) -> Result<Vec<Instance>, Error> {
        let mut trace = Vec::new();
        self.run_with(params, limit, |statement, point| {
            trace.push(Instance { statement: statement.to_owned(), point: point.to_vec() });
        })?;
        Ok(trace)
    }

    /// As [`Self::run`], with each call given to `call` and kept nowhere.
    ///
    /// # Errors
    /// As [`Self::run`]; the calls before the error have been made.
    pub fn run_with(
        &self,
        params: &[i128],
        limit: usize,
        mut call: impl FnMut(&str, &[i128]),
    ) -> Result<(), Error> {
        let mut run = Run { ast: self, params, iterators: HashMap::new(), point: Vec::new() };
        let mut open: Vec<Task> = self.root().into_iter().map(Task::Run).collect();
        let mut left = limit;
        while let Some(task) = open.pop() {
            left = left
                .checked_sub(1)
                .ok_or(tangram_presburger::Error::Steps { limit: limit as u64 })?;
            match task {
                Task::Run(node) => run.node(node, &mut open, &mut call)?,
                Task::Again(node, value, last) if value <= last => {
                    let AstNodeKind::For { iterator, step, body, .. } = self.node(node) else {
                        continue;
                    };
                    let next =
                        value.checked_add(*step).ok_or(tangram_presburger::Error::Overflow)?;
                    run.iterators.insert(*iterator, value);
                    open.push(Task::Again(node, next, last));
                    open.push(Task::Run(*body));
                }
                Task::Again(..) => {}
            }
        }
        Ok(())
    }
}

struct Run<'a> {
    ast: &'a Ast,
    params: &'a [i128],
    iterators: HashMap<u32, i128>,
    /// The arguments of a call, one room for all calls.
    point: Vec<i128>,
}

impl Run<'_> {
    fn node(
        &mut self,
        node: AstNode,
        open: &mut Vec<Task>,
        call: &mut impl FnMut(&str, &[i128]),
    ) -> Result<(), Error> {
        match self.ast.node(node) {
            AstNodeKind::For { lower, upper, .. } => {
                let last = upper.map_or(Ok(i128::MAX), |upper| self.value(upper))?;
                let first = self.value(*lower)?;
                open.push(Task::Again(node, first, last));
            }
            AstNodeKind::If { condition, then, otherwise } => {
                if self.value(*condition)? != 0 {
                    open.push(Task::Run(*then));
                } else {
                    open.extend(otherwise.map(Task::Run));
                }
            }
            AstNodeKind::Block(parts) => open.extend(parts.iter().rev().copied().map(Task::Run)),
            AstNodeKind::Mark { body, .. } => open.push(Task::Run(*body)),
            AstNodeKind::Call { statement, arguments } => {
                self.point.clear();
                for argument in arguments {
                    self.point.push(self.value(*argument)?);
                }
                call(statement, &self.point);
            }
        }
        Ok(())
    }

    fn value(&self, expr: Expr) -> Result<i128, Error> {
        let all = |list: &[Expr]| -> Result<Vec<i128>, Error> {
            list.iter().map(|expr| self.value(*expr)).collect()
        };
        let value = match self.ast.expr(expr) {
            ExprKind::Int(value) => Some(*value),
            ExprKind::Param(index) => self.params.get(*index as usize).copied(),
            ExprKind::Iterator(index) => self.iterators.get(index).copied(),
            ExprKind::Neg(a) => self.value(*a)?.checked_neg(),
            ExprKind::Add(a, b) => self.value(*a)?.checked_add(self.value(*b)?),
            ExprKind::Sub(a, b) => self.value(*a)?.checked_sub(self.value(*b)?),
            ExprKind::Mul(factor, a) => self.value(*a)?.checked_mul(*factor),
            ExprKind::FloorDiv(a, d) => self.value(*a)?.checked_div_euclid(*d),
            ExprKind::Quotient(a, d) => self.value(*a)?.checked_div(*d),
            ExprKind::Remainder(a, d) => self.value(*a)?.checked_rem(*d),
            ExprKind::Multiple(a, d) => self.value(*a)?.checked_rem(*d).map(|v| i128::from(v == 0)),
            ExprKind::Min(list) => all(list)?.into_iter().min(),
            ExprKind::Max(list) => all(list)?.into_iter().max(),
            ExprKind::And(list) => {
                for part in list {
                    if self.value(*part)? == 0 {
                        return Ok(0);
                    }
                }
                Some(1)
            }
            ExprKind::Or(list) => {
                for part in list {
                    if self.value(*part)? != 0 {
                        return Ok(1);
                    }
                }
                Some(0)
            }
            ExprKind::Compare(how, a, b) => {
                let (a, b) = (self.value(*a)?, self.value(*b)?);
                Some(i128::from(how.holds(a, b)))
            }
        };
        Ok(value.ok_or(tangram_presburger::Error::Overflow)?)
    }
}
