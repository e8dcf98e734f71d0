//! In which types C computes what the generated code says.
//!
//! Iterators are of a type of 64 bits, parameters of the types that the source gives them. A sum of
//! parameters alone would be computed in `int`, though the source computes no such sum: it could
//! overflow where the source does not. So the values that an expression can have are bounded, by
//! the types of the parameters ([`CStyle::types`](super::CStyle::types)) and by the loops and
//! conditions around it; what may leave 32 bits is computed in 64.
//!
//! ```text
//! for (c0 = 0; c0 <= floord(n - 1, 32); ...)        n may be the least `int`: floord(n - 1LL, 32)
//!   for (c1 = 32 * c0; c1 <= min(n - 1, ..); ...)   0 <= c0 <= (n - 1) / 32, so n is at least 1
//! ```
//!
//! Bounds are those of interval arithmetic and of propagation through linear inequalities, as
//! constraint solvers do it (Schulte, Stuckey: When Do Bounds and Domain Propagation Lead to the
//! Same Search Space?, TOPLAS 2005).

use std::collections::BTreeMap;
use std::rc::Rc;

use super::Writer;
use crate::ast::{Ast, AstNode, AstNodeKind, CStyle, Comparison, Expr, ExprKind};

/// What values a parameter can have, and how C computes with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParamType {
    /// The least value.
    pub least: i128,
    /// The greatest value.
    pub greatest: i128,
    /// Whether C computes with it in 64 bits, wherever it runs; else in 32 or more.
    pub wide: bool,
}

/// Rounds of propagation: what takes more is not worth it.
const ROUNDS: usize = 4;
/// Inequalities with larger factors are left out.
const MOST: i128 = 1 << 40;

/// The values from `least` to `greatest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Interval {
    least: i128,
    greatest: i128,
}

impl Interval {
    /// All that any computation here can give.
    const ALL: Self = Self { least: i128::MIN / 4, greatest: i128::MAX / 4 };

    fn of(least: i128, greatest: i128) -> Self {
        let within = |value: i128| value.clamp(Self::ALL.least, Self::ALL.greatest);
        Self { least: within(least), greatest: within(greatest) }
    }

    fn plus(self, other: Self) -> Self {
        Self::of(
            self.least.saturating_add(other.least),
            self.greatest.saturating_add(other.greatest),
        )
    }

    fn times(self, factor: i128) -> Self {
        let ends = [self.least.saturating_mul(factor), self.greatest.saturating_mul(factor)];
        Self::of(ends[0].min(ends[1]), ends[0].max(ends[1]))
    }

    fn divided(self, by: i128) -> Self {
        Self::of(self.least.div_euclid(by), self.greatest.div_euclid(by))
    }

    fn within(self, other: Self) -> bool {
        other.least <= self.least && self.greatest <= other.greatest
    }

    /// The values of both; those of the first, if there are none.
    fn meet(self, other: Self) -> Self {
        let both = Self {
            least: self.least.max(other.least),
            greatest: self.greatest.min(other.greatest),
        };
        if both.least <= both.greatest { both } else { self }
    }
}

const NARROW: Interval = Interval { least: i32::MIN as i128, greatest: i32::MAX as i128 };
const WIDE: Interval = Interval { least: i64::MIN as i128, greatest: i64::MAX as i128 };

/// What inequalities are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Variable {
    Param(u32),
    Iterator(u32),
}

/// A constant and multiples of variables.
#[derive(Debug, Clone, Default)]
struct Linear {
    constant: i128,
    terms: BTreeMap<Variable, i128>,
}

impl Linear {
    fn constant(constant: i128) -> Self {
        Self { constant, terms: BTreeMap::new() }
    }

    fn variable(variable: Variable) -> Self {
        Self { constant: 0, terms: BTreeMap::from([(variable, 1)]) }
    }

    fn plus(mut self, other: &Self, factor: i128) -> Self {
        self.constant = self.constant.saturating_add(other.constant.saturating_mul(factor));
        for (variable, value) in &other.terms {
            let own = self.terms.entry(*variable).or_default();
            *own = own.saturating_add(value.saturating_mul(factor));
        }
        self.terms.retain(|_, value| *value != 0);
        self
    }

    fn times(&self, factor: i128) -> Self {
        Self::default().plus(self, factor)
    }

    /// Whether its factors are small enough to compute with.
    fn is_small(&self) -> bool {
        let small = |value: &i128| value.abs() <= MOST;
        small(&(self.constant >> 26)) && self.terms.values().all(small)
    }
}

/// The greatest whole number that is at most `numerator / denominator`.
struct Quotient {
    numerator: Linear,
    denominator: i128,
}

/// What is known of values where a piece of code runs.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    params: Vec<Interval>,
    iterators: BTreeMap<u32, Interval>,
    /// What is not negative.
    facts: Vec<Linear>,
}

impl Known {
    /// What the types of parameters say.
    pub fn of(ast: &Ast, style: &CStyle) -> Self {
        let interval = |name: &String| match style.types.get(name) {
            Some(own) => Interval::of(own.least, own.greatest),
            None => WIDE,
        };
        Self { params: ast.params().iter().map(interval).collect(), ..Self::default() }
    }

    /// The least and the greatest value of a parameter.
    pub fn ends_of_param(&self, at: u32) -> (i128, i128) {
        let Interval { least, greatest } = self.get(Variable::Param(at));
        (least, greatest)
    }

    /// The least and the greatest value of an iterator.
    pub fn ends_of_iterator(&self, at: u32) -> (i128, i128) {
        let Interval { least, greatest } = self.get(Variable::Iterator(at));
        (least, greatest)
    }

    fn get(&self, variable: Variable) -> Interval {
        let known = match variable {
            Variable::Param(at) => self.params.get(at as usize),
            Variable::Iterator(at) => self.iterators.get(&at),
        };
        known.copied().unwrap_or(WIDE)
    }

    fn set(&mut self, variable: Variable, interval: Interval) {
        match variable {
            Variable::Param(at) => {
                if let Some(own) = self.params.get_mut(at as usize) {
                    *own = interval;
                }
            }
            Variable::Iterator(at) => drop(self.iterators.insert(at, interval)),
        }
    }

    fn linear(&self, linear: &Linear) -> Interval {
        let constant = Interval::of(linear.constant, linear.constant);
        let terms = linear.terms.iter();
        terms.fold(constant, |sum, (variable, factor)| sum.plus(self.get(*variable).times(*factor)))
    }

    /// Bounds each variable by the others, as far as inequalities say.
    fn propagate(&mut self) {
        for _ in 0..ROUNDS {
            let mut changed = false;
            for fact in self.facts.clone() {
                for (variable, factor) in &fact.terms {
                    let old = self.get(*variable);
                    let rest =
                        self.linear(&fact.clone().plus(&Linear::variable(*variable), -factor));
                    // factor * variable >= -rest
                    let bound = rest.greatest.saturating_neg();
                    let new = match *factor > 0 {
                        true => Interval { least: -((-bound).div_euclid(*factor)), ..old },
                        false => Interval { greatest: (-bound).div_euclid(-factor), ..old },
                    };
                    let new = old.meet(new);
                    changed |= new != old;
                    self.set(*variable, new);
                }
            }
            if !changed {
                break;
            }
        }
    }
}

impl Ast {
    /// Returns whether the text of [`Self::to_c`] computes nothing that may not fit into 64 bits, for
    /// parameters in the ranges of `style.types`.
    pub fn fits(&self, style: &CStyle) -> bool {
        let none = |_: &str, _: &[String]| String::new();
        let writer = Writer::new(self, style, &none);
        drop(writer.all());
        !writer.exceeds.get()
    }

    /// As [`Self::fits`], for numbers of 32 bits, also where the text computes in wider ones.
    pub fn fits_int(&self, style: &CStyle) -> bool {
        let none = |_: &str, _: &[String]| String::new();
        let writer = Writer::new(self, style, &none);
        drop(writer.all());
        writer.is_typed() && !writer.exceeds_int.get()
    }
}

impl Writer<'_> {
    /// Whether types of parameters are known, so that expressions have to fit.
    fn is_typed(&self) -> bool {
        !self.style.types.is_empty()
    }

    /// What is known where the text is written.
    pub(super) fn known(&self) -> Rc<Known> {
        Rc::clone(&self.known.borrow())
    }

    /// Runs with what is known somewhere else.
    pub(super) fn with_known<T>(&self, known: Rc<Known>, run: impl FnOnce() -> T) -> T {
        let before = self.known.replace(known);
        let result = run();
        self.known.replace(before);
        result
    }

    /// What is known inside the loop at a node.
    pub(super) fn in_loop(&self, node: AstNode) -> Rc<Known> {
        let known = self.known.borrow().clone();
        let AstNodeKind::For { iterator, lower, upper, step, .. } = self.ast.node(node) else {
            return known;
        };
        if !self.is_typed() && self.style.threads_from == 0 {
            return known;
        }
        let mut inside = (*known).clone();
        let (least, greatest) =
            (self.interval(*lower).least, upper.map(|upper| self.interval(upper).greatest));
        let greatest = greatest.unwrap_or(WIDE.greatest);
        inside.iterators.insert(*iterator, Interval::of(least, greatest.max(least)));
        let own = Quotient::of(Linear::variable(Variable::Iterator(*iterator)));
        for bound in self.alternatives(*lower, true) {
            inside.facts.extend(self.quotient(bound).and_then(|bound| at_most(&bound, &own)));
        }
        for bound in upper.iter().flat_map(|upper| self.alternatives(*upper, false)) {
            inside.facts.extend(self.quotient(bound).and_then(|bound| at_most(&own, &bound)));
        }
        inside.facts.retain(Linear::is_small);
        inside.propagate();
        if self.is_typed() {
            // The value that ends the loop.
            let last = inside.get(Variable::Iterator(*iterator)).plus(Interval::of(*step, *step));
            self.note(last);
        }
        Rc::new(inside)
    }

    /// What is known where a condition holds, or does not.
    pub(super) fn where_holds(&self, condition: Expr, holds: bool) -> Rc<Known> {
        let known = self.known.borrow().clone();
        if !self.is_typed() {
            return known;
        }
        let mut inside = (*known).clone();
        let all = match self.ast.expr(condition) {
            ExprKind::And(list) if holds => list.clone(),
            _ => vec![condition],
        };
        for one in all {
            let ExprKind::Compare(how, a, b) = self.ast.expr(one) else { continue };
            let (first, second) = match (how, holds) {
                (Comparison::LessOrEqual | Comparison::Less, true) => (*a, *b),
                (Comparison::GreaterOrEqual, true) => (*b, *a),
                (Comparison::LessOrEqual | Comparison::Less, false) => (*b, *a),
                (Comparison::GreaterOrEqual, false) => (*a, *b),
                (Comparison::Equal, true) => {
                    inside.facts.extend(self.ordered(*b, *a, 0));
                    (*a, *b)
                }
                (Comparison::Equal, false) => continue,
            };
            let strict = match how {
                Comparison::Less => holds,
                Comparison::LessOrEqual | Comparison::GreaterOrEqual => !holds,
                Comparison::Equal => false,
            };
            inside.facts.extend(self.ordered(first, second, i128::from(strict)));
        }
        inside.facts.retain(Linear::is_small);
        inside.propagate();
        Rc::new(inside)
    }

    /// Says that a value and a distance are at most another value.
    fn ordered(&self, a: Expr, b: Expr, apart: i128) -> Vec<Linear> {
        let mut found = Vec::new();
        for a in self.alternatives(a, true) {
            for b in self.alternatives(b, false) {
                let Some((mut a, b)) = self.quotient(a).zip(self.quotient(b)) else { continue };
                a.numerator.constant = a.numerator.constant.saturating_add(apart * a.denominator);
                found.extend(at_most(&a, &b));
            }
        }
        found
    }

    /// Lists the values of which an expression is the greatest, or the least: a bound below is one below
    /// each, and so above.
    fn alternatives(&self, expr: Expr, greatest: bool) -> Vec<Expr> {
        match self.ast.expr(expr) {
            ExprKind::Max(list) if greatest => list.clone(),
            ExprKind::Min(list) if !greatest => list.clone(),
            _ => vec![expr],
        }
    }

    /// Reads an expression as a rounded quotient.
    fn quotient(&self, expr: Expr) -> Option<Quotient> {
        let whole = |a: Expr| self.quotient(a).filter(|a| a.denominator == 1);
        Some(match self.ast.expr(expr) {
            ExprKind::Int(value) => Quotient::of(Linear::constant(*value)),
            ExprKind::Param(at) => Quotient::of(Linear::variable(Variable::Param(*at))),
            ExprKind::Iterator(at) => Quotient::of(Linear::variable(Variable::Iterator(*at))),
            ExprKind::Neg(a) => Quotient::of(whole(*a)?.numerator.times(-1)),
            ExprKind::Mul(factor, a) => Quotient::of(whole(*a)?.numerator.times(*factor)),
            ExprKind::Add(a, b) => match whole(*b) {
                Some(b) => self.quotient(*a)?.plus(&b.numerator, 1),
                None => self.quotient(*b)?.plus(&whole(*a)?.numerator, 1),
            },
            ExprKind::Sub(a, b) => self.quotient(*a)?.plus(&whole(*b)?.numerator, -1),
            ExprKind::FloorDiv(a, by) | ExprKind::Quotient(a, by) => {
                let inner = self.quotient(*a)?;
                let denominator = inner.denominator.checked_mul(*by).filter(|d| *d <= MOST)?;
                Quotient { denominator, ..inner }
            }
            _ => return None,
        })
    }

    /// Bounds the values that an expression can have here, if computed without limits.
    fn interval(&self, expr: Expr) -> Interval {
        let of = |a: &Expr| self.interval(*a);
        let all = |list: &[Expr], join: fn(i128, i128) -> i128| {
            let mut all = list.iter().map(of);
            let first = all.next().unwrap_or(Interval::ALL);
            all.fold(first, |a, b| Interval {
                least: join(a.least, b.least),
                greatest: join(a.greatest, b.greatest),
            })
        };
        let known = self.known.borrow().clone();
        let found = match self.ast.expr(expr) {
            ExprKind::Int(value) => Interval::of(*value, *value),
            ExprKind::Param(at) => known.get(Variable::Param(*at)),
            ExprKind::Iterator(at) => known.get(Variable::Iterator(*at)),
            ExprKind::Neg(a) => of(a).times(-1),
            ExprKind::Add(a, b) => of(a).plus(of(b)),
            ExprKind::Sub(a, b) => of(a).plus(of(b).times(-1)),
            ExprKind::Mul(factor, a) => of(a).times(*factor),
            ExprKind::FloorDiv(a, by) | ExprKind::Quotient(a, by) => of(a).divided(*by),
            ExprKind::Remainder(_, by) => Interval::of(1 - by, by - 1),
            ExprKind::Min(list) => all(list, i128::min),
            ExprKind::Max(list) => all(list, i128::max),
            ExprKind::Multiple(..) | ExprKind::And(_) | ExprKind::Or(_) | ExprKind::Compare(..) => {
                Interval::of(0, 1)
            }
        };
        match self.quotient(expr).filter(|own| own.denominator == 1) {
            Some(own) => found.meet(known.linear(&own.numerator)),
            None => found,
        }
    }

    /// Notes that a value may not fit into 64 bits.
    fn note(&self, interval: Interval) {
        if !interval.within(NARROW) {
            self.exceeds_int.set(true);
        }
        if self.is_typed() && !interval.within(WIDE) {
            self.exceeds.set(true);
        }
    }

    /// Notes whether the value of an expression may not fit into 64 bits.
    pub(super) fn note_value(&self, expr: Expr) {
        if self.is_typed() {
            self.note(self.interval(expr));
        }
    }

    /// Notes whether the number of iterations of a loop may not fit into 64 bits: OpenMP computes it in
    /// the type of the iterator, and before it tests whether there are any.
    pub(super) fn note_count(&self, (lower, upper): (Expr, Expr), step: i128) {
        if self.is_typed() {
            let distance = self.interval(upper).plus(self.interval(lower).times(-1));
            self.note(distance.plus(Interval::of(step, step)));
        }
    }

    /// Returns whether the text of an expression is of a type of 64 bits.
    pub(super) fn is_wide(&self, expr: Expr) -> bool {
        match self.ast.expr(expr) {
            ExprKind::Int(value) => !Interval::of(*value, *value).within(NARROW),
            ExprKind::Param(at) => {
                let name = self.ast.params().get(*at as usize);
                name.and_then(|name| self.style.types.get(name)).is_some_and(|own| own.wide)
            }
            ExprKind::Iterator(_) => true,
            ExprKind::Neg(_) | ExprKind::Add(..) | ExprKind::Sub(..) | ExprKind::Mul(..) => {
                self.has_wide_part(expr) || !self.interval(expr).within(NARROW)
            }
            ExprKind::Multiple(..) | ExprKind::And(_) | ExprKind::Or(_) | ExprKind::Compare(..) => {
                false
            }
            _ => self.has_wide_part(expr),
        }
    }

    fn has_wide_part(&self, expr: Expr) -> bool {
        self.ast.expr(expr).operands().iter().any(|part| self.is_wide(*part))
    }

    /// Returns whether an operation needs a wider type than its operands have.
    pub(super) fn is_widened(&self, expr: Expr) -> bool {
        self.is_typed() && !self.has_wide_part(expr) && self.is_wide(expr)
    }

    /// Returns whether the value of a sum of two operands, as they are, is one of 32 bits: `a - by`.
    pub(super) fn is_narrow_below(&self, a: Expr, by: i128) -> bool {
        let value = self.interval(a).plus(Interval::of(-by, -by));
        self.note(value);
        !self.is_typed() || self.is_wide(a) || value.within(NARROW)
    }

    /// Returns whether a linear form with these factors, and each part of it, is computed without overflow.
    pub(super) fn is_safe(
        &self,
        terms: impl Iterator<Item = (bool, u32, f64)>,
        constant: f64,
    ) -> bool {
        if !self.is_typed() {
            return true;
        }
        let known = self.known.borrow().clone();
        let mut sum = Interval::of(0, 0);
        for (param, at, factor) in terms {
            let variable = if param { Variable::Param(at) } else { Variable::Iterator(at) };
            let size = factor.abs().ceil() as i128;
            let own = known.get(variable).times(size);
            let most = own.least.saturating_abs().max(own.greatest.saturating_abs());
            sum = sum.plus(Interval::of(-most, most));
        }
        let constant = constant.abs().ceil() as i128;
        sum.plus(Interval::of(-constant, constant)).within(NARROW)
    }
}

impl Quotient {
    fn of(numerator: Linear) -> Self {
        Self { numerator, denominator: 1 }
    }

    fn plus(self, other: &Linear, factor: i128) -> Self {
        let factor = factor.saturating_mul(self.denominator);
        Self { numerator: self.numerator.plus(other, factor), ..self }
    }
}

/// Says that a value is at most another one, as what is not negative.
fn at_most(a: &Quotient, b: &Quotient) -> Option<Linear> {
    match (a.denominator, b.denominator) {
        // a <= floor(b / q) where q * a <= b.
        (1, q) => Some(b.numerator.clone().plus(&a.numerator, -q)),
        // floor(a / p) <= b where a <= p * b + p - 1.
        (p, 1) => {
            let bound = b.numerator.times(p).plus(&Linear::constant(p - 1), 1);
            Some(bound.plus(&a.numerator, -1))
        }
        _ => None,
    }
}
