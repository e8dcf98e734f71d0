//! Evaluation of attribute expressions: `Γ; a ⇓ v`.

use rustc_hash::{FxHashMap, FxHashSet};

use super::arithmetic::{binary, boolean, equal, integer, wrong};
use super::function::{call, reduce, remap};
use super::{AttrValue, EvalError, MAX_ELEMENTS, MAX_STEPS, TAKEN};
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
/// What an `attr` names is evaluated once for each value of the symbols that it reads, however often
/// it is part of others. Takes at most [`MAX_STEPS`].
///
/// # Errors
/// Why there is no value; the match or rewrite that asked is refused.
///
/// # Source
/// The rules AE-Value, -Symbol, -Access, -Binary, -Tuple, -Proj, -Var and -Sum of the GSL thesis.
pub fn evaluate(rule: &Rule, expr: ExprId, env: &mut dyn Env) -> Result<AttrValue> {
    Evaluation::new(rule, env).compute(expr)
}

/// Returns the branches that lead to an instance, outermost first: variadic patterns, each with the
/// number of a branch.
pub(crate) fn instance_path(
    rule: &Rule,
    instance: PatId,
    env: &mut dyn Env,
) -> Result<Vec<(PatId, usize)>> {
    Evaluation::new(rule, env).instance_path(instance)
}

/// An evaluation under way.
struct Evaluation<'e> {
    rule: &'e Rule,
    env: &'e mut dyn Env,
    /// The values of named expressions. All that is shared has a name, but for what is small.
    known: FxHashMap<ExprId, Known>,
    /// Those of them that read symbols.
    dependent: Vec<ExprId>,
    /// The symbols that the innermost named expression has read, without those that it binds.
    read: Vec<SymId>,
    steps: usize,
}

impl Drop for Evaluation<'_> {
    fn drop(&mut self) {
        TAKEN.set(TAKEN.get().wrapping_add(self.steps as u64));
    }
}

/// The value of a named expression.
struct Known {
    value: AttrValue,
    /// The steps that a copy of it takes.
    size: usize,
    /// The symbols that it depends on.
    read: Vec<SymId>,
}

impl<'e> Evaluation<'e> {
    fn new(rule: &'e Rule, env: &'e mut dyn Env) -> Self {
        let known = FxHashMap::default();
        Self { rule, env, known, dependent: Vec::new(), read: Vec::new(), steps: 0 }
    }

    fn spend(&mut self, steps: usize) -> Result<()> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > MAX_STEPS { Err(EvalError::TooMuch) } else { Ok(()) }
    }

    fn note_read(&mut self, symbols: &[SymId]) {
        for symbol in symbols {
            if !self.read.contains(symbol) {
                self.read.push(*symbol);
            }
        }
    }

    fn value(&mut self, expr: ExprId) -> Result<AttrValue> {
        if self.rule.expr(expr).name.is_none() {
            return self.compute(expr);
        }
        if let Some(known) = self.known.get(&expr) {
            let (value, size, read) = (known.value.clone(), known.size, known.read.clone());
            self.note_read(&read);
            return self.spend(size).map(|()| value);
        }
        let outer = std::mem::take(&mut self.read);
        let value = self.compute(expr)?;
        let read = std::mem::replace(&mut self.read, outer);
        self.note_read(&read);
        if !read.is_empty() {
            self.dependent.push(expr);
        }
        self.known.insert(expr, Known { value: value.clone(), size: size(&value), read });
        Ok(value)
    }

    fn values(&mut self, exprs: &[ExprId]) -> Result<Vec<AttrValue>> {
        exprs.iter().map(|id| self.value(*id)).collect()
    }

    fn fields(&mut self, expr: ExprId) -> Result<Vec<AttrValue>> {
        fields(self.value(expr)?)
    }

    fn integer(&mut self, expr: ExprId) -> Result<i64> {
        integer(&self.value(expr)?)
    }

    fn integer_or(&mut self, expr: Option<ExprId>, default: i64) -> Result<i64> {
        expr.map_or(Ok(default), |id| self.integer(id))
    }

    fn compute(&mut self, expr: ExprId) -> Result<AttrValue> {
        self.spend(1)?;
        let rule = self.rule;
        Ok(match &rule.expr(expr).kind {
            ExprKind::Int(value) => AttrValue::Int(*value),
            ExprKind::Bool(value) => AttrValue::Bool(*value),
            ExprKind::Float(value) => AttrValue::Float(value.get()),
            ExprKind::Str(text) => AttrValue::Str(text.clone()),
            ExprKind::Any => return Err(EvalError::Any),
            ExprKind::Symbol(symbol) => self.symbol(*symbol)?,
            ExprKind::Access { pattern, attribute } => self.access(*pattern, attribute)?,
            ExprKind::Unary { op: UnaryOp::Not, operand } => {
                AttrValue::Bool(!boolean(&self.value(*operand)?)?)
            }
            ExprKind::Unary { op: UnaryOp::Neg, operand } => negated(self.value(*operand)?)?,
            ExprKind::Binary { op, lhs, rhs } => self.binary(*op, *lhs, *rhs)?,
            ExprKind::Tuple(fields) => AttrValue::Tuple(self.values(fields)?),
            ExprKind::Proj { tuple, index } => {
                let fields = self.fields(*tuple)?;
                let index = self.integer(*index)?;
                let field = usize::try_from(index).ok().and_then(|at| fields.get(at));
                field.cloned().ok_or(EvalError::Range { index, length: fields.len() })?
            }
            ExprKind::Slice { tuple, start, stop, step } => {
                let fields = self.fields(*tuple)?;
                let start = self.integer_or(*start, 0)?;
                let stop = self.integer_or(*stop, fields.len() as i64)?;
                slice(&fields, [start, stop, self.integer_or(*step, 1)?])?
            }
            ExprKind::Len(tuple) => AttrValue::Int(self.fields(*tuple)?.len() as i64),
            ExprKind::In { value, tuple } => member(&self.value(*value)?, &self.fields(*tuple)?)?,
            ExprKind::Reverse(tuple) => {
                AttrValue::Tuple(self.fields(*tuple)?.into_iter().rev().collect())
            }
            ExprKind::Range { start, stop, step } => {
                let start = self.integer_or(*start, 0)?;
                let stop = self.integer(*stop)?;
                range(start, stop, self.integer_or(*step, 1)?)?
            }
            ExprKind::Zip(tuples) => {
                let tuples =
                    tuples.iter().map(|id| self.fields(*id)).collect::<Result<Vec<_>>>()?;
                zip(&tuples)?
            }
            ExprKind::Map { symbol, tuple, body } => {
                let fields = self.fields(*tuple)?;
                let value = |field| self.with_symbol(*symbol, field, *body);
                AttrValue::Tuple(fields.into_iter().map(value).collect::<Result<_>>()?)
            }
            ExprKind::Var { symbol, length, body } => {
                AttrValue::Tuple(self.each(*symbol, *length, *body)?)
            }
            ExprKind::ReduceRange { op, symbol, length, body } => {
                reduce(*op, &self.each(*symbol, *length, *body)?)?
            }
            ExprKind::ReduceTuple { op, tuple } => reduce(*op, &self.fields(*tuple)?)?,
            ExprKind::Cond { condition, then, otherwise } => {
                let holds = boolean(&self.value(*condition)?)?;
                self.env.decided(expr, holds);
                self.value(if holds { *then } else { *otherwise })?
            }
            ExprKind::Case { subject, arms } => {
                let arm = self.env.option(*subject).and_then(|option| arms.get(option));
                let missing = || EvalError::Access(*subject, "option".to_owned());
                self.value(*arm.ok_or_else(missing)?)?
            }
            ExprKind::Remap { source, target } => {
                remap(&self.value(*source)?, &self.value(*target)?)?
            }
            ExprKind::Call { function, args } => call(*function, &self.values(args)?)?,
            ExprKind::Native { name, args } => self.native(name, args)?,
        })
    }

    fn symbol(&mut self, symbol: SymId) -> Result<AttrValue> {
        self.note_read(&[symbol]);
        let value = self.env.symbol(symbol).ok_or(EvalError::Symbol)?;
        self.spend(size(&value))?;
        Ok(value)
    }

    fn binary(&mut self, op: BinaryOp, lhs: ExprId, rhs: ExprId) -> Result<AttrValue> {
        let lhs = self.value(lhs)?;
        // The right side may have no value where the left decides: `i < n && t[i] == 1`.
        match (op, &lhs) {
            (BinaryOp::And, AttrValue::Bool(false)) => Ok(AttrValue::Bool(false)),
            (BinaryOp::Or, AttrValue::Bool(true)) => Ok(AttrValue::Bool(true)),
            _ => binary(op, &lhs, &self.value(rhs)?),
        }
    }

    fn native(&mut self, name: &str, args: &[NativeArg]) -> Result<AttrValue> {
        let mut values = Vec::new();
        for arg in args {
            values.push(match arg {
                NativeArg::Pattern(id) => Ok(*id),
                NativeArg::Expr(id) => Err(self.value(*id)?.into_plain()),
            });
        }
        self.env.native(name, &values).ok_or_else(|| EvalError::Native(name.to_owned()))
    }

    fn access(&mut self, pattern: PatId, name: &str) -> Result<AttrValue> {
        let found = match self.rule.pattern(pattern).kind {
            PatternKind::Inst { template, .. } => {
                let path = self.instance_path(pattern)?;
                self.env.access(template, &path, name)
            }
            _ => self.env.access(pattern, &[], name),
        };
        found.ok_or_else(|| EvalError::Access(pattern, name.to_owned()))
    }

    fn instance_path(&mut self, instance: PatId) -> Result<Vec<(PatId, usize)>> {
        let (rule, mut path, mut at) = (self.rule, Vec::new(), instance);
        while let PatternKind::Inst { variadic, template, index } = rule.pattern(at).kind {
            let index = self.integer(index)?;
            let none = |_| EvalError::Access(template, "length".to_owned());
            path.push((variadic_of(rule, variadic), usize::try_from(index).map_err(none)?));
            at = variadic;
        }
        path.reverse();
        Ok(path)
    }

    fn bind(&mut self, symbol: SymId, value: Option<AttrValue>) {
        let known = &mut self.known;
        self.dependent.retain(|id| {
            let stays = known.get(id).is_some_and(|known| !known.read.contains(&symbol));
            if !stays {
                known.remove(id);
            }
            stays
        });
        self.env.bind(symbol, value);
    }

    /// The value of `body` with a symbol bound; restores what it stood for.
    fn with_symbol(&mut self, symbol: SymId, value: AttrValue, body: ExprId) -> Result<AttrValue> {
        let outer = self.env.symbol(symbol);
        self.bind(symbol, Some(value));
        let read_before = std::mem::take(&mut self.read);
        let result = self.value(body);
        let mut read = std::mem::replace(&mut self.read, read_before);
        read.retain(|other| *other != symbol);
        self.note_read(&read);
        self.bind(symbol, outer);
        result
    }

    /// The values of `body` for each index below `length`, which must be positive.
    fn each(&mut self, symbol: SymId, length: ExprId, body: ExprId) -> Result<Vec<AttrValue>> {
        let length = self.integer(length)?;
        if length < 1 {
            return Err(EvalError::Empty);
        }
        if length > MAX_ELEMENTS as i64 {
            return Err(EvalError::TooLong);
        }
        if let ExprKind::ReduceRange { op, symbol: inner, length: end, body: summand } =
            self.rule.expr(body).kind
            && op != Reduction::Mean
            && !reads(self.rule, summand, symbol)
        {
            let prefix = Prefix { op, symbol: inner, body: summand, values: Vec::new() };
            return self.prefixes((symbol, length), end, prefix);
        }
        (0..length).map(|i| self.with_symbol(symbol, AttrValue::Int(i), body)).collect()
    }

    /// `[sum(body for k < end) for j < length]`, in time for the longest of the sums.
    fn prefixes(
        &mut self,
        (symbol, length): (SymId, i64),
        end: ExprId,
        mut prefix: Prefix,
    ) -> Result<Vec<AttrValue>> {
        let mut out = Vec::new();
        for j in 0..length {
            let end = integer(&self.with_symbol(symbol, AttrValue::Int(j), end)?)?;
            if end > MAX_ELEMENTS as i64 {
                return Err(EvalError::TooLong);
            }
            let end = usize::try_from(end).ok().filter(|end| *end > 0).ok_or(EvalError::Empty)?;
            while prefix.values.len() < end {
                let k = AttrValue::Int(prefix.values.len() as i64);
                let value = self.with_symbol(prefix.symbol, k, prefix.body)?;
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
}

/// The steps that a copy of a value takes.
fn size(value: &AttrValue) -> usize {
    match value {
        AttrValue::Tuple(fields) => fields.iter().map(size).fold(1, usize::saturating_add),
        AttrValue::Spelled(both) => size(&both.0).saturating_add(size(&both.1)),
        _ => 1,
    }
}

fn negated(value: AttrValue) -> Result<AttrValue> {
    match value.into_plain() {
        AttrValue::Float(value) => Ok(AttrValue::Float(-value)),
        AttrValue::Single(value) => Ok(AttrValue::Single(-value)),
        value => binary(BinaryOp::Sub, &AttrValue::Int(0), &value),
    }
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

/// Reductions of the first values of one sequence: each continues the one before.
struct Prefix {
    op: Reduction,
    symbol: SymId,
    body: ExprId,
    /// The reductions of the first values, the first at least.
    values: Vec<AttrValue>,
}

/// Whether an expression, or an index in it, reads a symbol.
fn reads(rule: &Rule, expr: ExprId, symbol: SymId) -> bool {
    let mut seen = FxHashSet::default();
    let mut stack = vec![Reference::Expr(expr)];
    while let Some(reference) = stack.pop() {
        match reference {
            Reference::Symbol(read) if read == symbol => return true,
            Reference::Expr(id) if seen.insert(id) => stack.extend(rule.expr(id).references()),
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
