//! Canonicalisation of joined and split indices.
//!
//! `affine.linearize_index [a, b, c] by (2, 3, 5)` is `(a * 3 + b) * 5 + c`, and
//! `affine.delinearize_index i into (2, 3, 5)` gives such `a`, `b` and `c`: indices are *digits*,
//! each with a factor that it stays below. The first factor is not computed with and may be absent;
//! where it is there, an index that is split lies below the product. `disjoint` says that each
//! digit that is joined stays below its factor.

use tangram_ir::{Attr, AttrData, Module, Op, OpState, Point, Value};

use crate::mlir::extents::{DYNAMIC, list};
use crate::mlir::fold::{Cx, Rewrite};
use crate::mlir::mixed::Entry;

/// The patterns, with their roots.
pub(in crate::mlir) const REWRITES: &[Rewrite] = &[
    ("join-fewer-indices", &["affine.linearize_index"], join_fewer),
    ("split-into-fewer-indices", &["affine.delinearize_index"], split_into_fewer),
    ("split-of-join", &["affine.delinearize_index"], split_of_join),
    ("join-of-split", &["affine.linearize_index"], join_of_split),
    ("split-of-quotient", &["affine.delinearize_index"], split_of_quotient),
];

/// The factor of each digit.
pub(super) type Factors = Vec<Option<Entry>>;

/// The factors of `count` digits; dynamic ones are the operands from `first` on.
fn factors(module: &Module, op: Op, count: usize, first: usize) -> Option<Factors> {
    let mut values = module.operands(op).skip(first);
    let numbers = list(module, op, "static_basis")?;
    let mut factors: Factors = Vec::with_capacity(count);
    if numbers.len() + 1 == count {
        factors.push(None);
    }
    for number in numbers {
        factors.push(Some(match number {
            DYNAMIC => Entry::Value(values.next()?),
            number => Entry::Number(number),
        }));
    }
    (factors.len() == count).then_some(factors)
}

/// Indices that are joined.
#[derive(Clone, PartialEq)]
struct Join {
    indices: Vec<Value>,
    factors: Factors,
    disjoint: bool,
}

/// Returns whether the digits that are joined are said to stay below their factors.
pub(in crate::mlir) fn is_disjoint(module: &Module, op: Op) -> bool {
    let flag = module.attr(op, "disjoint").map(|attr| module.context().attr_data(attr));
    flag.is_some_and(|flag| !matches!(flag, AttrData::Bool(false)))
}

impl Join {
    fn of(module: &Module, op: Op) -> Option<Join> {
        let dynamic = list(module, op, "static_basis")?.iter().filter(|&&n| n == DYNAMIC).count();
        let count = module.operand_count(op).checked_sub(dynamic)?;
        let indices = module.operands(op).take(count).collect();
        let factors = factors(module, op, count, count)?;
        let disjoint = is_disjoint(module, op);
        Some(Join { indices, factors, disjoint })
    }

    fn remove(&mut self, at: usize) {
        self.indices.remove(at);
        self.factors.remove(at);
    }

    /// The joined index.
    fn make(&self, cx: &mut Cx<'_, '_>) -> Option<Value> {
        let index = cx.context.ty(tangram_ir::TypeData::Index);
        match self.indices[..] {
            [] => return cx.int_constant(0, index),
            [only] => return Some(only),
            _ => {}
        }
        let (numbers, values) = basis(&self.factors);
        let sizes = cx.module().i32s_attr([self.indices.len(), values.len()]);
        let mut attrs = vec![
            (cx.context.str("static_basis"), cx.context.i64s_attr(&numbers)),
            (cx.known.segments, sizes),
        ];
        if self.disjoint {
            attrs.push((cx.context.str("disjoint"), Attr::UNIT));
        }
        let attrs = cx.context.dict(attrs);
        let name = cx.context.name("affine.linearize_index");
        let made = cx.make(name, &[&self.indices[..], &values].concat(), attrs, &[index]);
        Some(cx.module().result(made, 0))
    }
}

/// Factors as attributes and operands hold them.
fn basis(factors: &[Option<Entry>]) -> (Vec<i64>, Vec<Value>) {
    let numbers = factors.iter().flatten().map(|factor| factor.held()).collect();
    let value = |factor: &Entry| match factor {
        Entry::Number(_) => None,
        Entry::Value(value) => Some(*value),
    };
    (numbers, factors.iter().flatten().filter_map(value).collect())
}

/// An index that is split.
#[derive(Clone, PartialEq)]
pub(super) struct Split {
    pub(super) index: Value,
    pub(super) factors: Factors,
}

impl Split {
    pub(super) fn of(module: &Module, op: Op) -> Option<Split> {
        let factors = factors(module, op, module.result_count(op), 1)?;
        Some(Split { index: module.operands(op).next()?, factors })
    }

    /// The digits.
    fn make(&self, cx: &mut Cx<'_, '_>) -> Vec<Value> {
        self.make_before(cx, cx.op)
    }

    /// The digits, computed in front of `op`.
    fn make_before(&self, cx: &mut Cx<'_, '_>, op: Op) -> Vec<Value> {
        match self.factors.len() {
            0 => return Vec::new(),
            1 => return vec![self.index],
            _ => {}
        }
        let (numbers, values) = basis(&self.factors);
        let basis = (cx.context.str("static_basis"), cx.context.i64s_attr(&numbers));
        let types = vec![cx.context.ty(tangram_ir::TypeData::Index); self.factors.len()];
        let (name, attrs) = (cx.context.name("affine.delinearize_index"), cx.context.dict([basis]));
        let mut state = OpState::new(name, cx.module().loc(op));
        state.operands.push(self.index);
        state.operands.extend(values);
        state.attrs = attrs;
        state.results.extend(types);
        let made = cx.rewriter.create(Point::Before(op), state);
        cx.module().results(made).collect()
    }
}

/// Makes constants above 0 among factors numbers.
fn fix(cx: &Cx<'_, '_>, factors: &mut Factors) {
    for factor in factors.iter_mut().flatten() {
        let &mut Entry::Value(value) = factor else { continue };
        let number = cx.int(value).and_then(|n| i64::try_from(n).ok());
        if let Some(number) = number.filter(|&n| n > 0) {
            *factor = Entry::Number(number);
        }
    }
}

/// The product of factors that are all numbers.
fn product(factors: &[Option<Entry>]) -> Option<i64> {
    factors.iter().try_fold(1i64, |product, factor| product.checked_mul((*factor)?.number()?))
}

const ONE: Option<Entry> = Some(Entry::Number(1));

/// Constant factors become numbers; leading zeros, and digits that are 0 because nothing else is
/// below 1, add nothing; what is joined of constants is one.
fn join_fewer(cx: &mut Cx<'_, '_>) -> Option<()> {
    let old = Join::of(cx.module(), cx.op)?;
    if let Some(sum) = joined_constants(cx, &old) {
        let ty = cx.ty();
        let value = cx.int_constant(sum.into(), ty)?;
        return cx.replace(&[value]);
    }
    let mut join = old.clone();
    fix(cx, &mut join.factors);
    let is_zero = |cx: &Cx<'_, '_>, value| cx.int(value) == Some(0);
    for at in (0..join.indices.len()).rev() {
        let counts_nothing = join.factors[at] == ONE;
        let zero = is_zero(cx, join.indices[at]) && (at > 0 || join.indices.len() > 1);
        if counts_nothing && (join.disjoint || zero) {
            join.remove(at);
        }
    }
    while join.indices.len() > 1 && is_zero(cx, join.indices[0]) {
        join.remove(0);
    }
    if join == old && join.indices.len() != 1 {
        return None;
    }
    let value = join.make(cx)?;
    cx.replace(&[value])
}

fn joined_constants(cx: &Cx<'_, '_>, join: &Join) -> Option<i64> {
    let mut sum = 0i64;
    for (at, (&index, factor)) in join.indices.iter().zip(&join.factors).enumerate() {
        let index = i64::try_from(cx.int(index)?).ok()?;
        if at > 0 {
            sum = sum.checked_mul((*factor)?.number()?)?;
        }
        sum = sum.checked_add(index)?;
    }
    Some(sum)
}

/// Constant factors become numbers; a digit that stays below 1 is 0; the digits of a constant are
/// constants.
fn split_into_fewer(cx: &mut Cx<'_, '_>) -> Option<()> {
    let old = Split::of(cx.module(), cx.op)?;
    let index = cx.type_of(old.index);
    if let Some(digits) = constant_digits(cx, &old) {
        let digits: Option<Vec<Value>> =
            digits.into_iter().map(|digit| cx.int_constant(digit.into(), index)).collect();
        return cx.replace(&digits?);
    }
    let mut split = old.clone();
    fix(cx, &mut split.factors);
    let zeros: Vec<bool> = split.factors.iter().map(|factor| *factor == ONE).collect();
    split.factors.retain(|factor| *factor != ONE);
    if split == old && split.factors.len() != 1 {
        return None;
    }
    let mut digits = split.make(cx).into_iter();
    let mut all = Vec::with_capacity(zeros.len());
    for is_zero in zeros {
        all.push(if is_zero { cx.int_constant(0, index)? } else { digits.next()? });
    }
    cx.replace(&all)
}

fn constant_digits(cx: &Cx<'_, '_>, split: &Split) -> Option<Vec<i64>> {
    let mut rest = i64::try_from(cx.int(split.index)?).ok()?;
    let mut digits = Vec::with_capacity(split.factors.len());
    for factor in split.factors.iter().skip(1).rev() {
        let factor = (*factor)?.number().filter(|&n| n > 0)?;
        digits.push(rest.rem_euclid(factor));
        rest = rest.div_euclid(factor);
    }
    digits.push(rest);
    digits.reverse();
    Some(digits)
}

/// What was joined without overlap is split: from the end, a digit is itself where the factors are
/// the same, and is split where its factor is a product of those asked for.
fn split_of_join(cx: &mut Cx<'_, '_>) -> Option<()> {
    let mut split = Split::of(cx.module(), cx.op)?;
    let join = cx.def_of(split.index, cx.context.name("affine.linearize_index"))?;
    let mut join = Join::of(cx.module(), join).filter(|join| join.disjoint)?;
    // From the end: digits of which each gives as many of the results as there are factors.
    let mut parts: Vec<(Value, Factors)> = Vec::new();
    while join.indices.len() > 1 && split.factors.len() > 1 {
        let (&index, &factor) = (join.indices.last()?, join.factors.last()?);
        let most = split.factors.len() - 1;
        let taken = (1..=most).find(|&taken| {
            let asked = &split.factors[most + 1 - taken..];
            asked == [factor]
                || taken > 1
                    && factor.is_some_and(|f| f.number() == product(asked) && f.number().is_some())
        });
        let Some(taken) = taken else { break };
        parts.push((index, split.factors.split_off(most + 1 - taken)));
        join.remove(join.indices.len() - 1);
    }
    if parts.is_empty() {
        return None;
    }
    split.index = join.make(cx)?;
    let mut digits = split.make(cx);
    for (index, factors) in parts.into_iter().rev() {
        digits.extend(Split { index, factors }.make(cx));
    }
    cx.replace(&digits)
}

/// Digits of an index that are joined next to each other by the same factors: all of them are the
/// index, some are one digit of another split.
fn join_of_split(cx: &mut Cx<'_, '_>) -> Option<()> {
    let mut join = Join::of(cx.module(), cx.op)?;
    for at in 0..join.indices.len() {
        let name = cx.context.name("affine.delinearize_index");
        let Some(op) = cx.def_of(join.indices[at], name) else { continue };
        let Some(split) = Split::of(cx.module(), op) else { continue };
        let digits: Vec<Value> = cx.module().results(op).collect();
        let Some(first) = digits.iter().position(|&digit| digit == join.indices[at]) else {
            continue;
        };
        let mut count = 1;
        while join
            .indices
            .get(at + count)
            .is_some_and(|index| digits.get(first + count) == Some(index))
            && join.factors[at + count] == split.factors[first + count]
        {
            count += 1;
        }
        let factor = product(&join.factors[at..at + count]);
        if count == 1 || at > 0 && factor.is_none() {
            continue;
        }
        let digit = if count == digits.len() {
            split.index
        } else {
            match merged(cx, op, &split, first..first + count) {
                // Other digits of the same split are new now.
                Some(digit) => {
                    join.indices = Join::of(cx.module(), cx.op)?.indices;
                    digit
                }
                None => continue,
            }
        };
        join.indices.splice(at..at + count, [digit]);
        join.factors.splice(at..at + count, [factor.map(Entry::Number)]);
        let value = join.make(cx)?;
        return cx.replace(&[value]);
    }
    None
}

/// What stands before the other digits of an index is split, and nothing else looks at it: one
/// split gives all digits.
fn split_of_quotient(cx: &mut Cx<'_, '_>) -> Option<()> {
    let mut split = Split::of(cx.module(), cx.op)?;
    let first = cx.def_of(split.index, cx.context.name("affine.delinearize_index"))?;
    let outer = Split::of(cx.module(), first)?;
    let digits: Vec<Value> = cx.module().results(first).collect();
    let known =
        split.factors.iter().skip(1).all(|factor| factor.is_some_and(|f| f.number().is_some()));
    if digits[0] != split.index || !cx.module().has_one_use(split.index) || !known {
        return None;
    }
    // A bound of the quotient follows from one of the whole, which stays the stronger promise.
    let count = split.factors.len();
    split.factors[0] = None;
    split.factors.extend_from_slice(&outer.factors[1..]);
    split.index = outer.index;
    let mut all = split.make_before(cx, first);
    let lower = all.split_off(count);
    for (&old, new) in digits[1..].iter().zip(lower) {
        cx.rewriter.replace_uses(old, new);
    }
    cx.replace(&all)
}

/// Splits an index anew, as `op` does, with one digit for those numbered `run`, which is returned;
/// these are split from it where they are used.
fn merged(
    cx: &mut Cx<'_, '_>,
    op: Op,
    split: &Split,
    run: std::ops::Range<usize>,
) -> Option<Value> {
    let factors = split.factors[run.clone()].to_vec();
    let factor = product(&factors);
    if run.start > 0 && factor.is_none() {
        return None;
    }
    let mut fewer = split.clone();
    fewer.factors.splice(run.clone(), [factor.map(Entry::Number)]);
    let digits = fewer.make_before(cx, op);
    let whole = digits[run.start];
    let inner = Split { index: whole, factors }.make_before(cx, op);
    let mut all = digits;
    all.splice(run.start..=run.start, inner);
    cx.rewriter.replace(op, &all).ok()?;
    Some(whole)
}
