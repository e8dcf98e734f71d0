//! Evaluation of attribute expressions: `Γ; a ⇓ v`.

use super::arithmetic::{binary, boolean, equal, integer, wrong};
use super::function::{call, reduce, remap};
use super::{AttrValue, EvalError, MAX_ELEMENTS};
use crate::ast::{
    BinaryOp, ExprId, ExprKind, NativeArg, PatId, PatternKind, Reduction, Reference, Rule, SymId,
    UnaryOp,
};

type Result<T> = std::result::Result<T, EvalError>;

/// The environment Γ: what symbols stand for and what patterns matched.
pub trait Env {
    /// Returns the value of a symbol.
    fn symbol(&self, symbol: SymId) -> Option<AttrValue>;

    /// Binds a symbol, or with none unbinds it.
    fn bind(&mut self, symbol: SymId, value: Option<AttrValue>);

    /// Returns attribute `name` of what `pattern` matched. `path` chooses among the instances of a
    /// template: variadic patterns, outermost first, each with the number of a branch.
    fn access(&self, pattern: PatId, path: &[(PatId, usize)], name: &str) -> Option<AttrValue>;

    /// Returns which option of an alternative matched.
    fn option(&self, alternative: PatId) -> Option<usize>;

    /// Hears which way a conditional went; does nothing unless somebody wants to know.
    fn decided(&self, _conditional: ExprId, _holds: bool) {}

    /// Calls a registered function on patterns (left) and values (right).
    fn native(
        &self,
        name: &str,
        args: &[std::result::Result<PatId, AttrValue>],
    ) -> Option<AttrValue>;
}

/// Evaluates an expression of a rule. Recursion is bounded by the depth of a rule.
///
/// # Errors
/// Why there is no value; the match or rewrite that asked is refused.
///
/// # Source
/// The rules AE-Value, -Symbol, -Access, -Binary, -Tuple, -Proj, -Var and -Sum of the GSL thesis.
pub fn evaluate(rule: &Rule, expr: ExprId, env: &mut dyn Env) -> Result<AttrValue> {
    let mut eval = |id: ExprId| evaluate(rule, id, env);
    Ok(match &rule.expr(expr).kind {
        ExprKind::Int(value) => AttrValue::Int(*value),
        ExprKind::Bool(value) => AttrValue::Bool(*value),
        ExprKind::Float(value) => AttrValue::Float(value.get()),
        ExprKind::Str(text) => AttrValue::Str(text.clone()),
        ExprKind::Any => return Err(EvalError::Any),
        ExprKind::Symbol(symbol) => env.symbol(*symbol).ok_or(EvalError::Symbol)?,
        ExprKind::Access { pattern, attribute } => return access(rule, *pattern, attribute, env),
        ExprKind::Unary { op: UnaryOp::Not, operand } => {
            AttrValue::Bool(!boolean(&eval(*operand)?)?)
        }
        ExprKind::Unary { op: UnaryOp::Neg, operand } => match eval(*operand)?.into_plain() {
            AttrValue::Float(value) => AttrValue::Float(-value),
            AttrValue::Single(value) => AttrValue::Single(-value),
            value => binary(BinaryOp::Sub, &AttrValue::Int(0), &value)?,
        },
        ExprKind::Binary { op, lhs, rhs } => {
            let lhs = eval(*lhs)?;
            // The right side may have no value where the left decides: `i < n && t[i] == 1`.
            match (op, &lhs) {
                (BinaryOp::And, AttrValue::Bool(false)) => AttrValue::Bool(false),
                (BinaryOp::Or, AttrValue::Bool(true)) => AttrValue::Bool(true),
                _ => binary(*op, &lhs, &eval(*rhs)?)?,
            }
        }
        ExprKind::Tuple(fields) => {
            AttrValue::Tuple(fields.iter().map(|id| eval(*id)).collect::<Result<_>>()?)
        }
        ExprKind::Proj { tuple, index } => {
            let fields = fields(eval(*tuple)?)?;
            let index = integer(&eval(*index)?)?;
            let field = usize::try_from(index).ok().and_then(|at| fields.get(at));
            field.cloned().ok_or(EvalError::Range { index, length: fields.len() })?
        }
        ExprKind::Slice { tuple, start, stop, step } => {
            let fields = fields(eval(*tuple)?)?;
            let mut bound = |id: &Option<ExprId>, default: usize| match id {
                Some(id) => integer(&eval(*id)?),
                None => Ok(default as i64),
            };
            let bounds = [bound(start, 0)?, bound(stop, fields.len())?, bound(step, 1)?];
            slice(&fields, bounds)?
        }
        ExprKind::Len(tuple) => AttrValue::Int(fields(eval(*tuple)?)?.len() as i64),
        ExprKind::In { value, tuple } => member(&eval(*value)?, &fields(eval(*tuple)?)?)?,
        ExprKind::Reverse(tuple) => {
            AttrValue::Tuple(fields(eval(*tuple)?)?.into_iter().rev().collect())
        }
        ExprKind::Range { start, stop, step } => {
            let start = start.map_or(Ok(AttrValue::Int(0)), &mut eval)?;
            let stop = integer(&eval(*stop)?)?;
            let step = step.map_or(Ok(AttrValue::Int(1)), &mut eval)?;
            range(integer(&start)?, stop, integer(&step)?)?
        }
        ExprKind::Zip(tuples) => {
            let tuples = tuples.iter().map(|id| fields(eval(*id)?)).collect::<Result<Vec<_>>>()?;
            zip(&tuples)?
        }
        ExprKind::Map { symbol, tuple, body } => {
            let fields = fields(eval(*tuple)?)?;
            let value = |field| with_symbol(env, *symbol, field, |env| evaluate(rule, *body, env));
            AttrValue::Tuple(fields.into_iter().map(value).collect::<Result<_>>()?)
        }
        ExprKind::Var { symbol, length, body } => {
            AttrValue::Tuple(each(rule, *symbol, *length, *body, env)?)
        }
        ExprKind::ReduceRange { op, symbol, length, body } => {
            reduce(*op, &each(rule, *symbol, *length, *body, env)?)?
        }
        ExprKind::ReduceTuple { op, tuple } => reduce(*op, &fields(eval(*tuple)?)?)?,
        ExprKind::Cond { condition, then, otherwise } => {
            let holds = boolean(&eval(*condition)?)?;
            env.decided(expr, holds);
            evaluate(rule, if holds { *then } else { *otherwise }, env)?
        }
        ExprKind::Case { subject, arms } => {
            let arm = env.option(*subject).and_then(|option| arms.get(option));
            let missing = || EvalError::Access(*subject, "option".to_owned());
            evaluate(rule, *arm.ok_or_else(missing)?, env)?
        }
        ExprKind::Remap { source, target } => remap(&eval(*source)?, &eval(*target)?)?,
        ExprKind::Call { function, args } => {
            let args = args.iter().map(|id| eval(*id)).collect::<Result<Vec<_>>>()?;
            call(*function, &args)?
        }
        ExprKind::Native { name, args } => {
            let mut values = Vec::new();
            for arg in args {
                values.push(match arg {
                    NativeArg::Pattern(id) => Ok(*id),
                    NativeArg::Expr(id) => Err(eval(*id)?.into_plain()),
                });
            }
            env.native(name, &values).ok_or_else(|| EvalError::Native(name.clone()))?
        }
    })
}

fn access(rule: &Rule, pattern: PatId, name: &str, env: &mut dyn Env) -> Result<AttrValue> {
    let found = match rule.pattern(pattern).kind {
        PatternKind::Inst { template, .. } => {
            let path = instance_path(rule, pattern, env)?;
            env.access(template, &path, name)
        }
        _ => env.access(pattern, &[], name),
    };
    found.ok_or_else(|| EvalError::Access(pattern, name.to_owned()))
}

/// Returns the branches that lead to an instance, outermost first: variadic patterns, each with the
/// number of a branch.
pub(crate) fn instance_path(
    rule: &Rule,
    instance: PatId,
    env: &mut dyn Env,
) -> Result<Vec<(PatId, usize)>> {
    let (mut path, mut at) = (Vec::new(), instance);
    while let PatternKind::Inst { variadic, template, index } = rule.pattern(at).kind {
        let index = integer(&evaluate(rule, index, env)?)?;
        let none = |_| EvalError::Access(template, "length".to_owned());
        path.push((variadic_of(rule, variadic), usize::try_from(index).map_err(none)?));
        at = variadic;
    }
    path.reverse();
    Ok(path)
}

/// Returns the variadic pattern that `id` is, or of which it is an instance.
pub(crate) fn variadic_of(rule: &Rule, id: PatId) -> PatId {
    match rule.pattern(id).kind {
        PatternKind::Inst { template, .. } => template,
        _ => id,
    }
}

/// Runs `body` with a symbol bound, and restores what it stood for.
pub(crate) fn with_symbol<T>(
    env: &mut dyn Env,
    symbol: SymId,
    value: AttrValue,
    body: impl FnOnce(&mut dyn Env) -> T,
) -> T {
    let outer = env.symbol(symbol);
    env.bind(symbol, Some(value));
    let result = body(env);
    env.bind(symbol, outer);
    result
}

/// The values of `body` for each index below `length`, which must be positive.
fn each(
    rule: &Rule,
    symbol: SymId,
    length: ExprId,
    body: ExprId,
    env: &mut dyn Env,
) -> Result<Vec<AttrValue>> {
    let length = integer(&evaluate(rule, length, env)?)?;
    if length < 1 {
        return Err(EvalError::Empty);
    }
    if length > MAX_ELEMENTS as i64 {
        return Err(EvalError::TooLong);
    }
    if let ExprKind::ReduceRange { op, symbol: inner, length: end, body: summand } =
        rule.expr(body).kind
        && op != Reduction::Mean
        && !reads(rule, summand, symbol)
    {
        let prefix = Prefix { op, symbol: inner, body: summand, values: Vec::new() };
        return prefixes(rule, (symbol, length), end, prefix, env);
    }
    (0..length)
        .map(|i| with_symbol(env, symbol, AttrValue::Int(i), |env| evaluate(rule, body, env)))
        .collect()
}

/// Reductions of the first values of one sequence: each continues the one before.
struct Prefix {
    op: Reduction,
    symbol: SymId,
    body: ExprId,
    /// The reductions of the first values, the first at least.
    values: Vec<AttrValue>,
}

/// `[sum(body for k < end) for j < length]`, in time for the longest of the sums.
fn prefixes(
    rule: &Rule,
    (symbol, length): (SymId, i64),
    end: ExprId,
    mut prefix: Prefix,
    env: &mut dyn Env,
) -> Result<Vec<AttrValue>> {
    let mut out = Vec::new();
    for j in 0..length {
        let end = with_symbol(env, symbol, AttrValue::Int(j), |env| evaluate(rule, end, env))?;
        let end = integer(&end)?;
        if end > MAX_ELEMENTS as i64 {
            return Err(EvalError::TooLong);
        }
        let end = usize::try_from(end).ok().filter(|end| *end > 0).ok_or(EvalError::Empty)?;
        while prefix.values.len() < end {
            let k = AttrValue::Int(prefix.values.len() as i64);
            let value = with_symbol(env, prefix.symbol, k, |env| evaluate(rule, prefix.body, env))?;
            let next = match prefix.values.last() {
                Some(before) => reduce(prefix.op, &[before.clone(), value])?,
                None => reduce(prefix.op, &[value])?,
            };
            prefix.values.push(next);
        }
        out.push(prefix.values[end - 1].clone());
    }
    Ok(out)
}

/// Whether an expression, or an index in it, reads a symbol.
fn reads(rule: &Rule, expr: ExprId, symbol: SymId) -> bool {
    let mut stack = vec![Reference::Expr(expr)];
    while let Some(reference) = stack.pop() {
        match reference {
            Reference::Symbol(read) if read == symbol => return true,
            Reference::Expr(id) => stack.extend(rule.expr(id).references()),
            Reference::Mention(id) => {
                if let PatternKind::Inst { .. } = rule.pattern(id).kind {
                    stack.extend(rule.pattern(id).references());
                }
            }
            _ => {}
        }
    }
    false
}

fn fields(value: AttrValue) -> Result<Vec<AttrValue>> {
    match value {
        AttrValue::Tuple(fields) => Ok(fields),
        // Whichever of its spellings is a tuple.
        AttrValue::Spelled(both) => match *both {
            (AttrValue::Tuple(fields), _) | (_, AttrValue::Tuple(fields)) => Ok(fields),
            (value, _) => Err(wrong("a tuple", &value)),
        },
        other => Err(wrong("a tuple", &other)),
    }
}

fn slice(fields: &[AttrValue], [start, stop, step]: [i64; 3]) -> Result<AttrValue> {
    let length = fields.len();
    let bound = |index: i64| {
        let at = usize::try_from(index).ok().filter(|at| *at <= length);
        at.ok_or(EvalError::Range { index, length })
    };
    let (start, stop) = (bound(start)?, bound(stop)?);
    let step = usize::try_from(step).ok().filter(|step| *step > 0);
    let step = step.ok_or(EvalError::Arithmetic("a slice"))?;
    let picked = fields.get(start..stop).unwrap_or_default();
    Ok(AttrValue::Tuple(picked.iter().step_by(step).cloned().collect()))
}

fn member(value: &AttrValue, fields: &[AttrValue]) -> Result<AttrValue> {
    let mut undecided = None;
    for field in fields {
        match equal(value, field) {
            Ok(true) => return Ok(AttrValue::Bool(true)),
            Ok(false) => {}
            Err(error) => undecided = Some(error),
        }
    }
    undecided.map_or(Ok(AttrValue::Bool(false)), Err)
}

fn range(start: i64, stop: i64, step: i64) -> Result<AttrValue> {
    if step == 0 {
        return Err(EvalError::Arithmetic("a range"));
    }
    let inside = |at: &i64| if step > 0 { *at < stop } else { *at > stop };
    let next = |at: &i64| at.checked_add(step);
    let values: Vec<_> = std::iter::successors(Some(start), next)
        .take_while(inside)
        .take(MAX_ELEMENTS + 1)
        .map(AttrValue::Int)
        .collect();
    if values.len() > MAX_ELEMENTS { Err(EvalError::TooLong) } else { Ok(AttrValue::Tuple(values)) }
}

fn zip(tuples: &[Vec<AttrValue>]) -> Result<AttrValue> {
    let length = tuples.first().map_or(0, Vec::len);
    if let Some(other) = tuples.iter().find(|tuple| tuple.len() != length) {
        return Err(EvalError::Range { index: length as i64, length: other.len() });
    }
    let row = |i: usize| AttrValue::Tuple(tuples.iter().map(|tuple| tuple[i].clone()).collect());
    Ok(AttrValue::Tuple((0..length).map(row).collect()))
}
