//! Formulas as values: relations built of typed affine expressions.
//!
//! What reads programs knows names, sums and conditions; it needs no notation in between. An
//! [`Expr`] is a sum of names, outputs and rounded quotients with integer factors, a [`Formula`]
//! connects comparisons of them, and [`Relation::such_that`] takes quantifiers and negations
//! away. A name is any text: `mod` or `floor` is a name like others.
//!
//! ```
//! use tangram_presburger::formula::{Comparison, Expr, Formula};
//! use tangram_presburger::{Budget, Relation, Space, Tuple};
//!
//! // [n] -> { S[i] -> A[o] : 0 <= i < n and o = i + 1 }
//! let i = || Expr::name("i");
//! let inside = Formula::all([
//!     i().compared(Comparison::AtLeast, Expr::constant(0)),
//!     i().compared(Comparison::Below, Expr::name("n")),
//!     Expr::output(0).compared(Comparison::Equal, i().plus(&Expr::constant(1))),
//! ]);
//! let space = Space::map(vec!["n".into()], Tuple::new("S", ["i"]), Tuple::new("A", ["o"]));
//! let accesses = Relation::such_that(space, &inside, &Budget::unlimited())?;
//! assert_eq!(accesses.to_string(), "[n] -> { S[i] -> A[o = i + 1] : 0 <= i < n }");
//! # Ok::<(), tangram_presburger::Error>(())
//! ```

mod disjuncts;
mod expr;

use std::borrow::Cow;
use std::mem::take;

pub(crate) use disjuncts::{both, negation, taken_away, widened};
pub use expr::{Atom, Expr};

use crate::basic_map::BasicMap;
use crate::function::affine::Affine;
use crate::{Budget, Error, Integer, Relation, Space};

/// Connectives and quantifiers nest at most this deep.
const DEPTH: usize = 256;

/// How two values compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `=`
    Equal,
    /// `!=`
    Differs,
}

/// Puts parts in one list, with what those hold that `open` takes apart. The first list is gone on
/// with, not copied.
fn chain(
    parts: impl IntoIterator<Item = Formula>,
    open: impl Fn(Formula) -> Result<Vec<Formula>, Formula>,
) -> Vec<Formula> {
    let mut kept = Vec::new();
    for part in parts {
        match open(part) {
            Ok(inner) if kept.is_empty() => kept = inner,
            Ok(inner) => kept.extend(inner),
            Err(part) => kept.push(part),
        }
    }
    kept
}

fn one_or(mut parts: Vec<Formula>, many: fn(Vec<Formula>) -> Formula) -> Formula {
    if parts.len() == 1 { parts.remove(0) } else { many(parts) }
}

/// A condition on the dimensions of a space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Formula {
    /// All of these hold; of none, always.
    All(Vec<Formula>),
    /// One of these holds; of none, never.
    Any(Vec<Formula>),
    /// This does not hold.
    Not(Box<Formula>),
    /// Two values compare as it says.
    Compared(Expr, Comparison, Expr),
    /// There are values of these names for which it holds; they hide outer ones.
    Exists(Vec<String>, Box<Formula>),
}

impl Formula {
    /// Holds always.
    pub fn always() -> Self {
        Self::All(Vec::new())
    }

    /// Holds never.
    pub fn never() -> Self {
        Self::Any(Vec::new())
    }

    /// Returns whether it is written as what always holds.
    pub fn is_always(&self) -> bool {
        matches!(self, Self::All(parts) if parts.is_empty())
    }

    /// Holds where all parts hold. A part that is such a list itself is taken apart, so that a chain
    /// is as deep as one link, and what always holds is left out.
    pub fn all(parts: impl IntoIterator<Item = Self>) -> Self {
        let kept = chain(parts, |mut part| match &mut part {
            Self::All(inner) => Ok(take(inner)),
            _ => Err(part),
        });
        one_or(kept, Self::All)
    }

    /// Holds where one of the parts holds; see [`Formula::all`].
    pub fn any(parts: impl IntoIterator<Item = Self>) -> Self {
        let kept = chain(parts, |mut part| match &mut part {
            Self::Any(inner) => Ok(take(inner)),
            _ => Err(part),
        });
        one_or(kept, Self::Any)
    }

    /// Holds where this does not.
    #[must_use]
    pub fn negated(self) -> Self {
        Self::Not(Box::new(self))
    }

    /// Returns whether a free name of the formula is `name`.
    pub fn uses(&self, name: &str) -> bool {
        let mut open = vec![self];
        while let Some(formula) = open.pop() {
            match formula {
                Self::All(parts) | Self::Any(parts) => open.extend(parts),
                Self::Not(inner) => open.push(inner),
                Self::Compared(a, _, b) if a.uses(name) || b.uses(name) => return true,
                Self::Exists(bound, inner) if !bound.iter().any(|own| own == name) => {
                    open.push(inner);
                }
                _ => {}
            }
        }
        false
    }

    /// Returns whether a side of a comparison has a constant of at least this magnitude.
    pub fn has_constant(&self, least: u64) -> bool {
        let least = Integer::from(least);
        let mut open = vec![self];
        while let Some(formula) = open.pop() {
            match formula {
                Self::All(parts) | Self::Any(parts) => open.extend(parts),
                Self::Not(inner) | Self::Exists(_, inner) => open.push(inner),
                Self::Compared(a, _, b) => {
                    if [a, b].iter().any(|side| side.constant.abs() >= least) {
                        return true;
                    }
                }
            }
        }
        false
    }

    /// Puts the name `to`, which nothing in the formula has, in the place of a free name.
    pub fn rename(&mut self, from: &str, to: &str) {
        let mut open = vec![self];
        while let Some(formula) = open.pop() {
            match formula {
                Self::All(parts) | Self::Any(parts) => open.extend(parts),
                Self::Not(inner) => open.push(inner),
                Self::Compared(a, _, b) => {
                    a.rename(from, to);
                    b.rename(from, to);
                }
                Self::Exists(bound, inner) => {
                    if !bound.iter().any(|own| own == from) {
                        open.push(inner);
                    }
                }
            }
        }
    }

    /// Returns whether any name of the formula, free or bound, is `name`.
    pub fn mentions(&self, name: &str) -> bool {
        let mut open = vec![self];
        while let Some(formula) = open.pop() {
            match formula {
                Self::All(parts) | Self::Any(parts) => open.extend(parts),
                Self::Not(inner) => open.push(inner),
                Self::Compared(a, _, b) if a.uses(name) || b.uses(name) => return true,
                Self::Exists(bound, _) if bound.iter().any(|own| own == name) => return true,
                Self::Exists(_, inner) => open.push(inner),
                Self::Compared(..) => {}
            }
        }
        false
    }
}

impl Drop for Formula {
    /// Takes nested formulas apart one by one: they may be nested deeper than the stack is.
    fn drop(&mut self) {
        let mut open = match self {
            Self::All(parts) | Self::Any(parts) => take(parts),
            Self::Not(inner) | Self::Exists(_, inner) => {
                vec![std::mem::replace(&mut **inner, Self::Any(Vec::new()))]
            }
            Self::Compared(..) => return,
        };
        while let Some(mut formula) = open.pop() {
            match &mut formula {
                Self::All(parts) | Self::Any(parts) => open.append(parts),
                Self::Not(inner) | Self::Exists(_, inner) => {
                    open.push(std::mem::replace(&mut **inner, Self::Any(Vec::new())));
                }
                Self::Compared(..) => {}
            }
        }
    }
}

impl Relation {
    /// Makes the elements of `space` for which a formula holds.
    ///
    /// Names are those of parameters and dimensions; of several dimensions with one name, the
    /// last one is meant. [`Expr::output`] means a dimension of the last tuple by its position.
    ///
    /// # Errors
    /// [`Error::Undeclared`] for a name that is not in scope, [`Error::Steps`] if the budget ends,
    /// [`Error::Nesting`] for formulas nested more than 256 deep.
    pub fn such_that(space: Space, formula: &Formula, budget: &Budget) -> Result<Self, Error> {
        let inputs = space.input.iter().flat_map(|tuple| &tuple.dims);
        let before: Vec<&str> = space.params.iter().chain(inputs).map(String::as_str).collect();
        let outputs = before.len();
        let all = before.into_iter().chain(space.output.dims.iter().map(String::as_str));
        let names = all.map(|name| Some(Cow::Borrowed(name))).collect();
        let dims = space.dims();
        let mut reader = Reader { names, outputs, dims, budget, depth: 0, keeps: false };
        let mut parts = reader.holds(formula)?;
        if parts.len() > 1 {
            for part in take(&mut parts) {
                if !part.is_empty(budget)? {
                    parts.push(part);
                }
            }
        }
        Ok(Self::new(space, parts))
    }
}

/// Reads formulas over the names in scope.
struct Reader<'a> {
    /// One for each column; none means those of quantifiers that have ended.
    names: Vec<Option<Cow<'a, str>>>,
    /// The column of the first output.
    outputs: usize,
    /// How many dimensions the space has; bound names come after them.
    dims: usize,
    budget: &'a Budget,
    depth: usize,
    /// Whether names that a quantifier binds stay columns until the one around it takes all away.
    keeps: bool,
}

impl<'a> Reader<'a> {
    fn universe(&self) -> BasicMap {
        BasicMap::universe(self.names.len())
    }

    fn holds(&mut self, formula: &'a Formula) -> Result<Vec<BasicMap>, Error> {
        if self.depth == DEPTH {
            return Err(Error::Nesting { limit: DEPTH });
        }
        self.depth += 1;
        let parts = match formula {
            Formula::All(parts) => self.all(parts),
            Formula::Any(parts) => {
                let mut all = Vec::new();
                for part in parts {
                    let part = self.holds(part)?;
                    all = widened(all, self.names.len());
                    all.extend(part);
                }
                Ok(all)
            }
            Formula::Not(inner) => {
                // What is negated has no values for names that it binds.
                let keeps = std::mem::replace(&mut self.keeps, false);
                let parts = self.holds(inner);
                self.keeps = keeps;
                let parts = parts?;
                negation(self.names.len(), &parts, self.budget)
            }
            Formula::Compared(a, comparison, b) => self.compared(a, *comparison, b),
            Formula::Exists(bound, inner) => self.exists(bound, inner),
        };
        self.depth -= 1;
        parts
    }

    fn all(&mut self, parts: &'a [Formula]) -> Result<Vec<BasicMap>, Error> {
        let mut result = vec![self.universe()];
        for part in parts {
            let part = self.holds(part)?;
            result = both(&widened(result, self.names.len()), &part, self.budget)?;
        }
        Ok(result)
    }

    fn exists(&mut self, bound: &'a [String], inner: &'a Formula) -> Result<Vec<BasicMap>, Error> {
        let outer = self.names.len();
        self.names.extend(bound.iter().map(|name| Some(Cow::Borrowed(name.as_str()))));
        let keeps = std::mem::replace(&mut self.keeps, true);
        let body = self.holds(inner);
        self.keeps = keeps;
        let body = body?;
        let dims = self.names.len();
        let body = widened(body, dims);
        if keeps {
            return Ok(match taken_away(&body, &(outer..dims), self.budget)? {
                Some(found) => {
                    self.names.truncate(outer);
                    found
                }
                None => {
                    self.names[outer..].fill(None);
                    body
                }
            });
        }
        self.names.truncate(outer);
        let mut result = Vec::new();
        for part in body {
            result.extend(part.project(outer..dims, self.budget)?);
        }
        Ok(result)
    }

    fn compared(&self, a: &Expr, comparison: Comparison, b: &Expr) -> Result<Vec<BasicMap>, Error> {
        let (a, b) = (self.value(a, 0)?, self.value(b, 0)?);
        self.budget.spend(a.row.len() + b.row.len())?;
        let fact = match comparison {
            Comparison::Below => b.at_least(&a, true),
            Comparison::AtMost => b.at_least(&a, false),
            Comparison::Above => a.at_least(&b, true),
            Comparison::AtLeast => a.at_least(&b, false),
            Comparison::Equal => a.minus(&b).holds(true),
            Comparison::Differs => {
                return Ok([b.at_least(&a, true), a.at_least(&b, true)]
                    .into_iter()
                    .flatten()
                    .collect());
            }
        };
        Ok(fact.into_iter().collect())
    }

    fn value(&self, expr: &Expr, depth: usize) -> Result<Affine, Error> {
        if depth == DEPTH {
            return Err(Error::Nesting { limit: DEPTH });
        }
        let dims = self.names.len();
        let mut sum = Affine::constant(expr.constant.clone(), dims);
        for (atom, factor) in &expr.terms {
            let term = match atom {
                Atom::Name(name) => {
                    let column = self.names.iter().rposition(|own| own.as_deref() == Some(name));
                    Affine::dim(column.ok_or_else(|| Error::Undeclared(name.clone()))?, dims)
                }
                Atom::Output(at) => match self.outputs + at {
                    column if column < self.dims => Affine::dim(column, dims),
                    _ => return Err(Error::Undeclared(format!("output {at}"))),
                },
                Atom::Floor(_, divisor) if divisor.sign() <= 0 => Affine::nan(dims),
                Atom::Floor(inner, divisor) => {
                    let inner = self.value(inner, depth + 1)?;
                    inner.scaled(&Integer::ONE, divisor).floor()
                }
            };
            sum = sum.add_mul(factor, &term);
        }
        Ok(sum)
    }
}
