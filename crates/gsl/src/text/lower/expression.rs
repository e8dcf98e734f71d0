//! From the syntax of attribute expressions to their tree, names resolved.

use super::{Binding, Diagnostic, Lower, Lowered};
use crate::ast::{BinaryOp, ExprId, ExprKind, Function, NativeArg, Real, Reduction};
use crate::check::suggest;
use crate::text::syntax::{Exp, ExpSyntax, Name, Over};

impl Lower<'_> {
    pub(super) fn expression(&mut self, exp: &Exp) -> Lowered<ExprId> {
        if let ExpSyntax::Name(name) = &*exp.kind
            && let Binding::Expr(id) = self.resolve(name)?
        {
            return Ok(id);
        }
        let kind = self.expression_kind(exp)?;
        let id = self.builder.expr(kind);
        self.spans.exprs.entry(id).or_insert(exp.span);
        Ok(id)
    }

    fn expressions(&mut self, exps: &[Exp]) -> Lowered<Vec<ExprId>> {
        exps.iter().map(|exp| self.expression(exp)).collect()
    }

    pub(super) fn expression_kind(&mut self, exp: &Exp) -> Lowered<ExprKind> {
        Ok(match &*exp.kind {
            ExpSyntax::Int(value) => ExprKind::Int(*value),
            ExpSyntax::Float(value) => ExprKind::Float(Real::new(*value)),
            ExpSyntax::Bool(value) => ExprKind::Bool(*value),
            ExpSyntax::Str(text) => ExprKind::Str(text.clone()),
            ExpSyntax::Any => ExprKind::Any,
            ExpSyntax::Name(name) => return self.name_kind(name),
            ExpSyntax::Access(base, name) => return self.access(base, name),
            ExpSyntax::Inst(_) => return Err(self.bare_pattern(exp)),
            ExpSyntax::Unary(op, operand) => {
                ExprKind::Unary { op: *op, operand: self.expression(operand)? }
            }
            ExpSyntax::Binary(op, lhs, rhs) => {
                ExprKind::Binary { op: *op, lhs: self.expression(lhs)?, rhs: self.expression(rhs)? }
            }
            ExpSyntax::In(value, tuple) => {
                ExprKind::In { value: self.expression(value)?, tuple: self.expression(tuple)? }
            }
            ExpSyntax::Tuple(fields) => ExprKind::Tuple(self.expressions(fields)?),
            ExpSyntax::Comprehension(generator) => return self.generator(generator, None),
            ExpSyntax::Generator(..) => {
                let message = "`for` stands in brackets or in a reduction";
                let error = Diagnostic::error("syntax", exp.span, message)
                    .hint("write `[e for i < n]` or `sum(e for i < n)`");
                return Err(self.report(error));
            }
            ExpSyntax::Proj(tuple, index) => {
                ExprKind::Proj { tuple: self.expression(tuple)?, index: self.expression(index)? }
            }
            ExpSyntax::Slice(tuple, [start, stop, step]) => ExprKind::Slice {
                tuple: self.expression(tuple)?,
                start: self.optional(start)?,
                stop: self.optional(stop)?,
                step: self.optional(step)?,
            },
            ExpSyntax::Call(name, args) => return self.call(name, args),
            ExpSyntax::If(condition, then, otherwise) => ExprKind::Cond {
                condition: self.expression(condition)?,
                then: self.expression(then)?,
                otherwise: self.expression(otherwise)?,
            },
            ExpSyntax::Case(subject, arms) => {
                let (subject, arms) = self.arms(subject, arms)?;
                ExprKind::Case { subject, arms: self.expressions(&arms)? }
            }
            ExpSyntax::Native(name, args) => {
                let args = args.iter().map(|arg| self.native_arg(arg)).collect::<Lowered<_>>()?;
                ExprKind::Native { name: name.text.clone(), args }
            }
        })
    }

    fn optional(&mut self, exp: &Option<Exp>) -> Lowered<Option<ExprId>> {
        exp.as_ref().map(|exp| self.expression(exp)).transpose()
    }

    fn name_kind(&mut self, name: &Name) -> Lowered<ExprKind> {
        match self.resolve(name)? {
            Binding::Symbol(id) => Ok(ExprKind::Symbol(id)),
            // Another name for an expression: a copy of its form.
            Binding::Expr(id) => {
                let kind = self.builder.expr_data(id).map(|expr| expr.kind.clone());
                Ok(kind.expect("bound to an expression of this builder"))
            }
            other => {
                let message = format!("`{}` is {}, not a value", name.text, other.describe());
                let error = Diagnostic::error("wrong-name", name.span, message)
                    .hint(format!("write one of its attributes: `{}.shape`", name.text));
                Err(self.report(error))
            }
        }
    }

    fn bare_pattern(&mut self, exp: &Exp) -> super::Stop {
        let error = Diagnostic::error("wrong-name", exp.span, "a pattern is not a value")
            .hint("write one of its attributes: `.shape`");
        self.report(error)
    }

    fn access(&mut self, base: &Exp, name: &Name) -> Lowered<ExprKind> {
        let pattern = match &*base.kind {
            ExpSyntax::Name(pattern) => self.resolve_pattern(pattern)?,
            ExpSyntax::Inst(inst) => {
                let kind = self.instance(inst)?;
                let id = self.builder.pattern(kind);
                self.spans.patterns.insert(id, base.span);
                id
            }
            _ => {
                let message = "only a pattern has attributes";
                let error = Diagnostic::error("wrong-name", base.span, message)
                    .hint("name the pattern with `let` and write its name");
                return Err(self.report(error));
            }
        };
        Ok(ExprKind::Access { pattern, attribute: name.text.clone() })
    }

    fn native_arg(&mut self, arg: &Exp) -> Lowered<NativeArg> {
        if let ExpSyntax::Name(name) = &*arg.kind
            && let Binding::Pattern(id) = self.resolve(name)?
        {
            return Ok(NativeArg::Pattern(id));
        }
        Ok(NativeArg::Expr(self.expression(arg)?))
    }

    fn generator(&mut self, exp: &Exp, op: Option<Reduction>) -> Lowered<ExprKind> {
        let ExpSyntax::Generator(body, name, over) = &*exp.kind else {
            let tuple = self.expression(exp)?;
            let op = op.unwrap_or(Reduction::Sum);
            return Ok(ExprKind::ReduceTuple { op, tuple });
        };
        // The bound is outside the scope of the symbol.
        let (Over::Below(bound) | Over::Fields(bound)) = over;
        let bound_id = self.expression(bound)?;
        let (symbol, body) = self.with_symbol(name, |s| s.expression(body))?;
        Ok(match (over, op) {
            (Over::Below(_), Some(op)) => {
                ExprKind::ReduceRange { op, symbol, length: bound_id, body }
            }
            (Over::Below(_), None) => ExprKind::Var { symbol, length: bound_id, body },
            (Over::Fields(_), None) => ExprKind::Map { symbol, tuple: bound_id, body },
            (Over::Fields(_), Some(op)) => {
                let map = ExprKind::Map { symbol, tuple: bound_id, body };
                let tuple = self.builder.expr(map);
                self.spans.exprs.entry(tuple).or_insert(exp.span);
                ExprKind::ReduceTuple { op, tuple }
            }
        })
    }

    fn call(&mut self, name: &Name, args: &[Exp]) -> Lowered<ExprKind> {
        let text = name.text.as_str();
        if let ([lhs, rhs], Some(op)) = (args, binary_function(text)) {
            return Ok(ExprKind::Binary {
                op,
                lhs: self.expression(lhs)?,
                rhs: self.expression(rhs)?,
            });
        }
        if let (Some(op), [arg]) = (Reduction::from_text(text), args) {
            return self.generator(arg, Some(op));
        }
        if let Some(function) = Function::from_text(text)
            && args.len() == function.arity()
        {
            return Ok(ExprKind::Call { function, args: self.expressions(args)? });
        }
        let ids = self.expressions(args)?;
        match (text, &*ids) {
            ("len", [tuple]) => Ok(ExprKind::Len(*tuple)),
            ("reverse", [tuple]) => Ok(ExprKind::Reverse(*tuple)),
            ("zip", [_, ..]) => Ok(ExprKind::Zip(ids)),
            ("remap", [source, target]) => Ok(ExprKind::Remap { source: *source, target: *target }),
            ("range", [stop]) => Ok(ExprKind::Range { start: None, stop: *stop, step: None }),
            ("range", [start, stop, step @ ..]) if step.len() < 2 => Ok(ExprKind::Range {
                start: Some(*start),
                stop: *stop,
                step: step.first().copied(),
            }),
            _ => Err(self.unknown_function(name, args.len())),
        }
    }

    fn unknown_function(&mut self, name: &Name, count: usize) -> super::Stop {
        let own = ["len", "reverse", "zip", "remap", "range"];
        let functions = Function::ALL.iter().map(|f| f.text());
        let names: Vec<_> =
            functions.chain(Reduction::ALL.iter().map(|r| r.text())).chain(own).collect();
        let known = names.contains(&name.text.as_str());
        let message = if known {
            format!("`{}` does not take {count} arguments", name.text)
        } else {
            format!("unknown function `{}`", name.text)
        };
        let near =
            suggest::nearest(&name.text, self.found.len(), names.into_iter()).filter(|_| !known);
        let hint = near.map(|near| format!("did you mean `{near}`?"));
        let error = Diagnostic::error("unknown-function", name.span, message).maybe_hint(hint);
        self.report(error)
    }
}

/// `max` and `min` of two arguments are binary operations; of one, reductions.
fn binary_function(name: &str) -> Option<BinaryOp> {
    match name {
        "max" => Some(BinaryOp::Max),
        "min" => Some(BinaryOp::Min),
        _ => None,
    }
}
