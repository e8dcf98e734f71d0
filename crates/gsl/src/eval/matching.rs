//! Matching of an attribute expression against a value: `Γ ⊢ a ≅ v`.

use super::arithmetic::equal;
use super::evaluate::with_symbol;
use super::{AttrValue, Env, evaluate};
use crate::ast::{ExprId, ExprKind, Rule};

/// Returns whether `expr` matches `value`; what does not evaluate or is not decided does not match.
///
/// # Source
/// The rules AM-Any, AM-Tuple, AM-Var and, for all else, AM-Eval of the GSL thesis.
pub fn matches(rule: &Rule, expr: ExprId, value: &AttrValue, env: &mut dyn Env) -> bool {
    match (&rule.expr(expr).kind, value) {
        (ExprKind::Any, _) => true,
        (ExprKind::Tuple(_) | ExprKind::Var { .. }, AttrValue::Spelled(both)) => {
            matches(rule, expr, &both.0, env) || matches(rule, expr, &both.1, env)
        }
        (ExprKind::Tuple(exprs), AttrValue::Tuple(fields)) => {
            exprs.len() == fields.len()
                && exprs.iter().zip(fields).all(|(expr, field)| matches(rule, *expr, field, env))
        }
        // The length is that of the value: it is not looked at when matching.
        (ExprKind::Var { symbol, body, .. }, AttrValue::Tuple(fields)) => {
            fields.iter().enumerate().all(|(i, field)| {
                let index = AttrValue::Int(i as i64);
                with_symbol(env, *symbol, index, |env| matches(rule, *body, field, env))
            })
        }
        _ => evaluate(rule, expr, env).is_ok_and(|found| equal(&found, value) == Ok(true)),
    }
}
