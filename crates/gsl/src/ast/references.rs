//! What a node refers to, listed in one place for every traversal.

use super::{Expr, ExprId, ExprKind, NativeArg, OpId, PatId, Pattern, PatternKind, SymId};
use super::{Field, TensorFields};

/// A reference from one node of a rule to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reference {
    /// To a pattern that is part of this one.
    Part(PatId),
    /// To a pattern that is only looked at: an access, a template, the subject of a case.
    Mention(PatId),
    /// To an attribute expression.
    Expr(ExprId),
    /// To an operator.
    Op(OpId),
    /// To a symbol that is read.
    Symbol(SymId),
    /// To a symbol that is bound here.
    Binder(SymId),
}

/// A change of one reference in place.
type Change<'a> = &'a mut dyn FnMut(&mut Reference);

fn part(id: &mut PatId, change: Change<'_>) {
    let mut reference = Reference::Part(*id);
    change(&mut reference);
    if let Reference::Part(new) = reference {
        *id = new;
    }
}

fn mention(id: &mut PatId, change: Change<'_>) {
    let mut reference = Reference::Mention(*id);
    change(&mut reference);
    if let Reference::Mention(new) = reference {
        *id = new;
    }
}

fn expr(id: &mut ExprId, change: Change<'_>) {
    let mut reference = Reference::Expr(*id);
    change(&mut reference);
    if let Reference::Expr(new) = reference {
        *id = new;
    }
}

fn binder(id: &mut SymId, change: Change<'_>) {
    let mut reference = Reference::Binder(*id);
    change(&mut reference);
    if let Reference::Binder(new) = reference {
        *id = new;
    }
}

fn parts(ids: &mut [PatId], change: Change<'_>) {
    ids.iter_mut().for_each(|id| part(id, change));
}

fn exprs<'e>(ids: impl IntoIterator<Item = &'e mut ExprId>, change: Change<'_>) {
    ids.into_iter().for_each(|id| expr(id, change));
}

fn tensor(fields: &mut TensorFields, change: Change<'_>) {
    exprs([&mut fields.shape, &mut fields.dtype, &mut fields.ndim].into_iter().flatten(), change);
}

fn attributes(fields: &mut [Field], change: Change<'_>) {
    exprs(fields.iter_mut().map(|field| &mut field.value), change);
}

impl Pattern {
    /// Lists what it refers to, in textual order.
    pub fn references(&self) -> Vec<Reference> {
        let mut found = Vec::new();
        self.clone().change_references(&mut |reference| found.push(*reference));
        found
    }

    /// Lists the patterns that are part of it.
    pub fn parts(&self) -> Vec<PatId> {
        let part = |reference| if let Reference::Part(id) = reference { Some(id) } else { None };
        self.references().into_iter().filter_map(part).collect()
    }

    pub(crate) fn change_references(&mut self, change: Change<'_>) {
        match &mut self.kind {
            PatternKind::Wildcard => {}
            PatternKind::Const { value, tensor: fields, .. } => {
                exprs(value, change);
                tensor(fields, change);
            }
            PatternKind::Variable(fields) => tensor(fields, change),
            PatternKind::Call { op, args, attrs, rest, .. } => {
                let mut reference = Reference::Op(*op);
                change(&mut reference);
                if let Reference::Op(new) = reference {
                    *op = new;
                }
                parts(args, change);
                attributes(attrs, change);
                rest.iter_mut().for_each(|id| mention(id, change));
            }
            PatternKind::Tuple(ids) | PatternKind::Alt(ids) => parts(ids, change),
            PatternKind::Proj { tuple, index } => {
                part(tuple, change);
                expr(index, change);
            }
            PatternKind::Variadic { field, templates, index, length, .. } => {
                index.iter_mut().for_each(|id| binder(id, change));
                part(field, change);
                for template in templates {
                    mention(&mut template.pattern, change);
                    template.first.iter_mut().for_each(|id| part(id, change));
                }
                exprs(length, change);
            }
            PatternKind::Inst { variadic, template, index } => {
                mention(variadic, change);
                mention(template, change);
                expr(index, change);
            }
            PatternKind::Not(id) => part(id, change),
            PatternKind::Cond { condition, then, otherwise } => {
                expr(condition, change);
                part(then, change);
                part(otherwise, change);
            }
            PatternKind::Case { subject, arms } => {
                mention(subject, change);
                parts(arms, change);
            }
            PatternKind::Native { args, attrs, .. } => {
                parts(args, change);
                attributes(attrs, change);
            }
        }
    }
}

impl Expr {
    /// Lists what it refers to, in textual order.
    pub fn references(&self) -> Vec<Reference> {
        let mut found = Vec::new();
        self.clone().change_references(&mut |reference| found.push(*reference));
        found
    }

    pub(crate) fn change_references(&mut self, change: Change<'_>) {
        match &mut self.kind {
            ExprKind::Int(_) | ExprKind::Bool(_) | ExprKind::Float(_) => {}
            ExprKind::Str(_) | ExprKind::Any => {}
            ExprKind::Access { pattern, .. } => mention(pattern, change),
            ExprKind::Symbol(id) => {
                let mut reference = Reference::Symbol(*id);
                change(&mut reference);
                if let Reference::Symbol(new) = reference {
                    *id = new;
                }
            }
            ExprKind::Unary { operand, .. } => expr(operand, change),
            ExprKind::Binary { lhs, rhs, .. } => exprs([lhs, rhs], change),
            ExprKind::Tuple(ids) | ExprKind::Zip(ids) => exprs(ids, change),
            ExprKind::Proj { tuple, index } => exprs([tuple, index], change),
            ExprKind::Slice { tuple, start, stop, step } => {
                expr(tuple, change);
                exprs([start, stop, step].into_iter().flatten(), change);
            }
            ExprKind::Len(id) | ExprKind::Reverse(id) => expr(id, change),
            ExprKind::In { value, tuple } => exprs([value, tuple], change),
            ExprKind::Range { start, stop, step } => {
                exprs(start, change);
                expr(stop, change);
                exprs(step, change);
            }
            ExprKind::Map { symbol, tuple, body } => {
                binder(symbol, change);
                exprs([body, tuple], change);
            }
            ExprKind::Cond { condition, then, otherwise } => {
                exprs([condition, then, otherwise], change);
            }
            ExprKind::Case { subject, arms } => {
                mention(subject, change);
                exprs(arms, change);
            }
            ExprKind::Remap { source, target } => exprs([source, target], change),
            ExprKind::Var { symbol, length, body }
            | ExprKind::ReduceRange { symbol, length, body, .. } => {
                binder(symbol, change);
                exprs([body, length], change);
            }
            ExprKind::ReduceTuple { tuple, .. } => expr(tuple, change),
            ExprKind::Call { args, .. } => exprs(args, change),
            ExprKind::Native { args, .. } => {
                for arg in args {
                    match arg {
                        NativeArg::Pattern(id) => mention(id, change),
                        NativeArg::Expr(id) => expr(id, change),
                    }
                }
            }
        }
    }
}
