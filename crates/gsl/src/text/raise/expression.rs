//! Attribute expressions: each kind in its form.

use super::super::syntax::{Exp, ExpSyntax, Over};
use super::{Raise, exp, name};
use crate::ast::{ExprId, ExprKind, NativeArg, PatId, PatternKind, SymId};
use crate::diagnostic::Span;

impl Raise<'_> {
    pub(super) fn expression_form(&mut self, id: ExprId) -> ExpSyntax {
        match &self.rule.expr(id).kind {
            ExprKind::Int(value) => ExpSyntax::Int(*value),
            ExprKind::Bool(value) => ExpSyntax::Bool(*value),
            ExprKind::Float(value) => ExpSyntax::Float(value.get()),
            ExprKind::Str(text) => ExpSyntax::Str(text.clone()),
            ExprKind::Any => ExpSyntax::Any,
            ExprKind::Access { pattern, attribute } => {
                ExpSyntax::Access(self.accessed(*pattern), name(attribute))
            }
            ExprKind::Symbol(id) => {
                if !self.bound.contains(id) {
                    self.free.insert(*id);
                }
                ExpSyntax::Name(name(&self.rule.symbol(*id).name))
            }
            ExprKind::Unary { op, operand } => ExpSyntax::Unary(*op, self.expression(*operand)),
            ExprKind::Binary { op, lhs, rhs } => {
                ExpSyntax::Binary(*op, self.expression(*lhs), self.expression(*rhs))
            }
            ExprKind::Tuple(fields) => ExpSyntax::Tuple(self.expressions(fields)),
            ExprKind::Proj { tuple, index } => {
                ExpSyntax::Proj(self.expression(*tuple), self.expression(*index))
            }
            ExprKind::Slice { tuple, start, stop, step } => {
                let bounds = [*start, *stop, *step].map(|b| b.map(|id| self.expression(id)));
                ExpSyntax::Slice(self.expression(*tuple), bounds)
            }
            ExprKind::In { value, tuple } => {
                ExpSyntax::In(self.expression(*value), self.expression(*tuple))
            }
            ExprKind::Map { symbol, tuple, body } => {
                let over = Over::Fields(self.expression(*tuple));
                ExpSyntax::Comprehension(self.generator(*symbol, *body, over))
            }
            ExprKind::Var { symbol, length, body } => {
                let over = Over::Below(self.expression(*length));
                ExpSyntax::Comprehension(self.generator(*symbol, *body, over))
            }
            ExprKind::ReduceRange { op, symbol, length, body } => {
                let over = Over::Below(self.expression(*length));
                let generator = self.generator(*symbol, *body, over);
                ExpSyntax::Call(name(op.text()), vec![generator])
            }
            ExprKind::Cond { condition, then, otherwise } => ExpSyntax::If(
                self.expression(*condition),
                self.expression(*then),
                self.expression(*otherwise),
            ),
            ExprKind::Case { subject, arms } => {
                let options = self.options(*subject);
                let arms = options.into_iter().zip(self.expressions(arms)).collect();
                ExpSyntax::Case(self.pattern_name(*subject), arms)
            }
            ExprKind::Native { name: native, args } => {
                let args = args.iter().map(|arg| self.native_arg(*arg)).collect();
                ExpSyntax::Native(name(native), args)
            }
            other => self.function(other),
        }
    }

    /// The forms that are written as a function of their operands.
    fn function(&mut self, kind: &ExprKind) -> ExpSyntax {
        let (text, args) = match kind {
            ExprKind::Len(tuple) => ("len", vec![*tuple]),
            ExprKind::Reverse(tuple) => ("reverse", vec![*tuple]),
            ExprKind::Zip(tuples) => ("zip", tuples.clone()),
            ExprKind::Remap { source, target } => ("remap", vec![*source, *target]),
            ExprKind::ReduceTuple { op, tuple } => (op.text(), vec![*tuple]),
            ExprKind::Call { function, args } => (function.text(), args.clone()),
            ExprKind::Range { start: None, stop, step: None } => ("range", vec![*stop]),
            ExprKind::Range { start, stop, step } => {
                let zero = Exp::new(ExpSyntax::Int(0), Span::default());
                let start = start.map_or(zero, |id| self.expression(id));
                let mut args = vec![start, self.expression(*stop)];
                args.extend(step.map(|id| self.expression(id)));
                return ExpSyntax::Call(name("range"), args);
            }
            _ => return ExpSyntax::Any,
        };
        ExpSyntax::Call(name(text), self.expressions(&args))
    }

    fn generator(&mut self, symbol: SymId, body: ExprId, over: Over) -> Exp {
        self.bound.push(symbol);
        let body = self.expression(body);
        self.bound.pop();
        exp(ExpSyntax::Generator(body, name(&self.rule.symbol(symbol).name), over))
    }

    /// What stands before the dot of an access: a name, or an instance.
    fn accessed(&mut self, id: PatId) -> Exp {
        let pattern = self.rule.pattern(id);
        match (&pattern.name, &pattern.kind) {
            (None, PatternKind::Inst { variadic, template, index }) => {
                exp(ExpSyntax::Inst(self.instance(*variadic, *template, *index)))
            }
            _ => exp(ExpSyntax::Name(self.pattern_name(id))),
        }
    }

    fn native_arg(&mut self, arg: NativeArg) -> Exp {
        match arg {
            NativeArg::Pattern(id) => exp(ExpSyntax::Name(self.pattern_name(id))),
            NativeArg::Expr(id) => self.expression(id),
        }
    }
}
