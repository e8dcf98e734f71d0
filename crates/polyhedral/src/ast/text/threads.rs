//! How much work a loop for several threads must have to run on more than one.
//!
//! Work is counted in instances: the product of the lengths of loops, each the difference of affine
//! bounds. Iterators inside the loop stand at the end that makes it longer; of a sum of products the
//! one with most factors counts, as it decides for large sizes.
//!
//! ```text
//! for c0 in 0..=floord(w - 1, 8): for c1 in 8 * c0..=min(w - 1, 8 * c0 + 7): for c2 in 0..h: S
//!
//! (w / 8 + 7 / 8) * 8 * h >= 16384          if (1.0 * (w + 7) * h >= 16384)
//! ```

use std::collections::BTreeMap;

use super::Writer;
use crate::ast::{AstNode, AstNodeKind, Expr, ExprKind};

/// More values of one expression are left out.
const MOST_VALUES: usize = 16;

/// What a linear form is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Atom {
    Param(u32),
    Iterator(u32),
}

/// A constant and multiples of atoms, none of them zero.
#[derive(Debug, Clone, PartialEq, Default)]
struct Linear {
    constant: f64,
    terms: BTreeMap<Atom, f64>,
}

impl Linear {
    fn constant(constant: f64) -> Self {
        Self { constant, terms: BTreeMap::new() }
    }

    fn atom(atom: Atom) -> Self {
        Self { constant: 0.0, terms: BTreeMap::from([(atom, 1.0)]) }
    }

    fn plus(mut self, other: &Self, factor: f64) -> Self {
        self.constant += factor * other.constant;
        for (atom, value) in &other.terms {
            *self.terms.entry(*atom).or_default() += factor * value;
        }
        self.terms.retain(|_, value| *value != 0.0);
        self
    }

    fn times(self, factor: f64) -> Self {
        Self::default().plus(&self, factor)
    }
}

/// The least and the greatest value of an iterator inside the loop, by those around it.
type Ranges = BTreeMap<u32, [Linear; 2]>;

/// A product: a number of instances for each point of loops of some lengths.
#[derive(Debug, Clone, PartialEq)]
struct Work {
    count: f64,
    lengths: Vec<Linear>,
}

impl Work {
    /// Returns the sum, as far as it counts.
    fn plus(self, other: Self) -> Self {
        if self.lengths == other.lengths {
            return Self { count: self.count + other.count, ..self };
        }
        let rank = |work: &Self| (work.lengths.len(), work.count);
        if rank(&self) < rank(&other) { other } else { self }
    }
}

impl Writer<'_> {
    /// Says when the loop at a node has work for several threads: `Some` of nothing if it always has,
    /// nothing if it never has.
    pub(super) fn has_work(&self, node: AstNode) -> Option<String> {
        let least = self.style.threads_from as f64;
        let always = Some(String::new());
        if let Some(condition) = self.condition_below(node) {
            return Some(condition);
        }
        let Some(Work { mut count, lengths }) = self.work(node, &mut Ranges::new()) else {
            return always;
        };
        let mut factors = Vec::new();
        for length in lengths {
            let scale = length.terms.values().copied().fold(0.0, |a: f64, b| a.max(b.abs()));
            count *= scale;
            factors.push(length.times(1.0 / scale));
        }
        if count <= 0.0 {
            return always;
        }
        let least = (least / count).ceil();
        let grows = |length: &Linear| length.terms.values().all(|value| *value > 0.0);
        if matches!(&factors[..], [one] if grows(one) && one.constant >= least) {
            return always;
        }
        if factors.iter().map(|one| self.most(one).max(0.0)).product::<f64>() < least {
            return None;
        }
        let factors: Vec<String> = factors.iter().map(|one| self.linear_text(one)).collect();
        match &factors[..] {
            [] if least > 1.0 => None,
            [one] if least > 1.0 => Some(format!("{one} >= {least}")),
            [_, _, ..] if least > 1.0 => {
                let factors: Vec<String> = factors.iter().map(|one| as_factor(one)).collect();
                Some(format!("1.0 * {} >= {least}", factors.join(" * ")))
            }
            _ => always,
        }
    }

    /// Finds a statement below a node that has a condition of its own.
    fn condition_below(&self, node: AstNode) -> Option<String> {
        self.ast.at(node).nodes().into_iter().find_map(|node| match self.ast.node(node) {
            AstNodeKind::Call { statement, .. } => self.style.shared_where.get(statement).cloned(),
            _ => None,
        })
    }

    /// Estimates how many instances run below a node; nothing if that is not known.
    fn work(&self, node: AstNode, ranges: &mut Ranges) -> Option<Work> {
        match self.ast.node(node) {
            AstNodeKind::For { iterator, lower, upper, step, body, .. } => {
                let (lowers, uppers) = (self.values(*lower, true)?, self.values((*upper)?, false)?);
                let length = length((&lowers, &uppers), ranges)?;
                let length = length.times(1.0 / *step as f64).plus(&Linear::constant(1.0), 1.0);
                ranges.insert(*iterator, [lowers.first()?.clone(), uppers.first()?.clone()]);
                let mut work = self.work(*body, ranges)?;
                match length.terms.is_empty() {
                    true => work.count *= length.constant.max(0.0),
                    false => work.lengths.insert(0, length),
                }
                Some(work)
            }
            AstNodeKind::Call { .. } => Some(Work { count: 1.0, lengths: Vec::new() }),
            _ => {
                let mut all = Work { count: 0.0, lengths: Vec::new() };
                for part in self.ast.children(node) {
                    all = all.plus(self.work(part, ranges)?);
                }
                Some(all)
            }
        }
    }

    /// Reads an expression: the values of which it is the least or the greatest. `rounds`: whether what a
    /// division rounds away counts, with its mean; at the end of a loop, that would make two tiles one.
    fn values(&self, expr: Expr, rounds: bool) -> Option<Vec<Linear>> {
        let each = |a: &Expr, change: &dyn Fn(Linear) -> Linear| {
            Some(self.values(*a, rounds)?.into_iter().map(change).collect())
        };
        let sum = |a: &Expr, b: &Expr, sign: f64| {
            let (a, b) = (self.values(*a, rounds)?, self.values(*b, rounds)?);
            let all = a.iter().flat_map(|a| b.iter().map(|b| a.clone().plus(b, sign)));
            Some(all.take(MOST_VALUES).collect())
        };
        match self.ast.expr(expr) {
            ExprKind::Int(value) => Some(vec![Linear::constant(*value as f64)]),
            ExprKind::Param(at) => Some(vec![Linear::atom(Atom::Param(*at))]),
            ExprKind::Iterator(at) => Some(vec![Linear::atom(Atom::Iterator(*at))]),
            ExprKind::Neg(a) => each(a, &|a| a.times(-1.0)),
            ExprKind::Add(a, b) => sum(a, b, 1.0),
            ExprKind::Sub(a, b) => sum(a, b, -1.0),
            ExprKind::Mul(factor, a) => each(a, &|a| a.times(*factor as f64)),
            ExprKind::FloorDiv(a, by) | ExprKind::Quotient(a, by) => {
                let by = *by as f64;
                let rounded = Linear::constant(if rounds { (1.0 - by) / 2.0 } else { 0.0 });
                each(a, &|a| a.plus(&rounded, 1.0).times(1.0 / by))
            }
            ExprKind::Min(list) | ExprKind::Max(list) => {
                let mut all = Vec::new();
                for part in list {
                    all.extend(self.values(*part, rounds)?);
                }
                all.truncate(MOST_VALUES);
                Some(all)
            }
            _ => None,
        }
    }

    /// The greatest value, by what loops around the place and the types of parameters say.
    fn most(&self, linear: &Linear) -> f64 {
        let known = self.known();
        let terms = linear.terms.iter().map(|(atom, factor)| {
            let (least, greatest) = match atom {
                Atom::Param(at) => known.ends_of_param(*at),
                Atom::Iterator(at) => known.ends_of_iterator(*at),
            };
            factor * if *factor > 0.0 { greatest } else { least } as f64
        });
        linear.constant + terms.sum::<f64>()
    }

    fn linear_text(&self, linear: &Linear) -> String {
        let mut text = String::new();
        // What may overflow is computed as a number that cannot.
        let terms = linear.terms.iter().map(|(atom, value)| match atom {
            Atom::Param(at) => (true, *at, *value),
            Atom::Iterator(at) => (false, *at, *value),
        });
        let plain = linear.terms.len() < 2
            && linear.constant == 0.0
            && linear.terms.values().all(|value| *value == 1.0);
        let exact = plain || self.is_safe(terms, linear.constant);
        // The constant makes a number that cannot overflow of the sum.
        let alone = linear.terms.len() == 1 && linear.constant != 0.0;
        let number = |value: f64| if exact { value.to_string() } else { format!("{value:?}") };
        let mut add = |value: f64, name: Option<String>| {
            let sign = match (text.is_empty(), value < 0.0) {
                (true, false) => "",
                (true, true) => "-",
                (false, false) => " + ",
                (false, true) => " - ",
            };
            let size = value.abs();
            let product = match name {
                Some(name) if size == 1.0 && (exact || !text.is_empty() || alone) => name,
                Some(name) => format!("{} * {name}", number(size)),
                None => number(size.round()),
            };
            text = format!("{text}{sign}{product}");
        };
        for (atom, value) in linear.terms.iter().rev().filter(|(_, value)| **value > 0.0) {
            add(*value, Some(self.atom_text(*atom)));
        }
        for (atom, value) in linear.terms.iter().filter(|(_, value)| **value < 0.0) {
            add(*value, Some(self.atom_text(*atom)));
        }
        if linear.constant.round() != 0.0 {
            add(linear.constant, None);
        }
        text
    }

    fn atom_text(&self, atom: Atom) -> String {
        match atom {
            Atom::Iterator(at) => self.iterator(at),
            Atom::Param(at) => {
                let name = self.ast.params().get(at as usize).cloned().unwrap_or_default();
                self.style.params.get(&name).cloned().unwrap_or(name)
            }
        }
    }
}

/// Puts a sum in parentheses.
fn as_factor(text: &str) -> String {
    if text.contains(' ') { format!("({text})") } else { text.to_owned() }
}

/// Finds how far bounds of a loop are apart: the least constant distance of any two, or that of the
/// first ones. None is less than the true one.
fn length((lowers, uppers): (&[Linear], &[Linear]), ranges: &Ranges) -> Option<Linear> {
    let pairs = lowers.iter().flat_map(|lower| uppers.iter().map(move |upper| (lower, upper)));
    let mut all = pairs.map(|(lower, upper)| upper.clone().plus(lower, -1.0));
    let first = all.clone().next()?;
    let constants = all.by_ref().filter(|apart| apart.terms.is_empty());
    let least = constants.min_by(|a, b| a.constant.total_cmp(&b.constant));
    Some(least.unwrap_or_else(|| within(&first, ranges, true)))
}

/// Puts the ends of their ranges in the place of iterators, innermost first: what inner bounds have in
/// common with outer ones cancels out.
fn within(linear: &Linear, ranges: &Ranges, up: bool) -> Linear {
    let mut found = linear.clone();
    let innermost = |found: &Linear| {
        found.terms.iter().rev().find_map(|(atom, value)| match atom {
            Atom::Iterator(at) => Some((*atom, *value, ranges.get(at)?.clone())),
            Atom::Param(_) => None,
        })
    };
    while let Some((atom, value, ends)) = innermost(&found) {
        found.terms.remove(&atom);
        found = found.plus(&ends[usize::from(up == (value > 0.0))], value);
    }
    found
}
