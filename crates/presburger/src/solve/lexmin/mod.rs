//! Parametric integer programming: lexicographic minima as functions of parameters.
//!
//! The tableau is kept lexicographically dual feasible. Each unknown `x` is stored as
//! `x' = x + M >= 0` for a parameter `M` that counts as larger than everything and
//! divisible by everything. A row whose sign the context leaves open splits the context; a row
//! with a fractional value gets a cut, whose remainder is a new division of the parameters if
//! the value depends on them.
//!
//! Source: P. Feautrier, "Parametric integer programming", RAIRO 1988; the tableau of
//! S. Verdoolaege, "isl", 2010: rows that nothing can raise become facts of the context at once,
//! and equations of the context take parameters out of the tableau, so that cuts make no
//! divisions that those settle. Divergence: the context keeps an integer point, so no piece is
//! empty and no sign is decided twice.

mod context;
mod tableau;
#[cfg(test)]
mod tests;

use super::lattice::value;
use super::number::{Number, fit, opposites, reduce, widening};
use crate::div::Div;
use crate::{Budget, Error, Integer};
use context::Context;
use tableau::{BIG, FIRST, Tableau};

/// A system over `[constant, parameters.., unknowns..]`.
#[derive(Debug, Default)]
pub(crate) struct Query {
    pub params: usize,
    pub unknowns: usize,
    /// Rows over the parameters alone, not negative.
    pub context: Vec<Vec<Integer>>,
    /// Parameters that are divisions of others, as column and definition.
    pub floors: Vec<(usize, Div)>,
    /// Rows that are not negative.
    pub rows: Vec<Vec<Integer>>,
}

/// The minimum on one part of the context; parts are disjoint.
#[derive(Debug)]
pub(crate) struct Piece<T = Integer> {
    /// New divisions: columns after the parameters.
    pub floors: Vec<Div<T>>,
    /// What holds beside the context of the query, over parameters and new divisions.
    pub context: Vec<Vec<T>>,
    /// The least value of each unknown as a row, up to the first that decreases without bound.
    pub values: Vec<Vec<T>>,
}

/// Solves `query`; parameter values without a piece have no solution.
pub(crate) fn lexmin(query: &Query, budget: &Budget) -> Result<Vec<Piece>, Error> {
    widening!(T => {
        let pieces = solve::<T>(query, budget)?;
        Ok(pieces.iter().map(Piece::exact).collect())
    })
}

impl<T: Number> Piece<T> {
    fn exact(&self) -> Piece {
        let row = |row: &Vec<T>| row.iter().map(Number::integer).collect::<Vec<_>>();
        let rows = |rows: &[Vec<T>]| rows.iter().map(row).collect::<Vec<_>>();
        Piece {
            floors: self.floors.iter().map(Div::exact).collect(),
            context: rows(&self.context),
            values: rows(&self.values),
        }
    }
}

/// One part of the context, and the row to make 0 on entry.
struct Branch<T> {
    tableau: Tableau<T>,
    context: Context<T>,
    lift: Option<usize>,
}

enum Next {
    Lift(usize),
    /// A row that nothing can raise: where it is negative, there is no solution.
    Require(usize),
    Split(usize),
    Cut(usize),
    Done,
}

fn solve<T: Number>(query: &Query, budget: &Budget) -> Result<Vec<Piece<T>>, Error> {
    let Some(context) = Context::of(query, budget)? else { return Ok(Vec::new()) };
    let mut stack = vec![Branch { tableau: Tableau::of(query)?, context, lift: None }];
    let mut pieces = Vec::new();
    while let Some(mut branch) = stack.pop() {
        if branch.run(&mut stack, budget)? {
            pieces.push(Piece {
                floors: branch.context.added_floors(),
                context: branch.context.added(),
                values: branch.tableau.values(),
            });
        }
    }
    Ok(pieces)
}

impl<T: Number> Branch<T> {
    /// Works until the minimum is found, or there is none; other parts go on the stack.
    fn run(&mut self, stack: &mut Vec<Self>, budget: &Budget) -> Result<bool, Error> {
        if let Some(row) = self.lift.take()
            && !self.tableau.lift(row, budget)?
        {
            return Ok(false);
        }
        self.learn(budget)?;
        loop {
            match self.next(budget)? {
                Next::Done => return Ok(true),
                Next::Lift(row) => {
                    if !self.tableau.lift(row, budget)? {
                        return Ok(false);
                    }
                }
                Next::Cut(row) => {
                    if !self.cut(row, budget)? {
                        return Ok(false);
                    }
                }
                Next::Require(row) => {
                    let form = self.tableau.form(row);
                    if !self.context.add(form, budget)? {
                        return Ok(false);
                    }
                    self.tableau.settle(row);
                    self.learn(budget)?;
                }
                Next::Split(row) => {
                    let form = self.tableau.form(row);
                    let mut opposite = opposites(&form)?;
                    opposite[0] = fit(opposite[0].minus(&T::one()))?;
                    let mut context = self.context.clone();
                    if context.add(opposite, budget)? {
                        let tableau = self.tableau.clone();
                        stack.push(Self { tableau, context, lift: Some(row) });
                    }
                    if !self.context.add(form, budget)? {
                        return Ok(false);
                    }
                    self.tableau.settle(row);
                    self.learn(budget)?;
                }
            }
        }
    }

    /// Puts what the context says of parameters into the tableau.
    fn learn(&mut self, budget: &Budget) -> Result<(), Error> {
        while let Some(known) = self.context.solve(budget)? {
            self.tableau.substitute(&known)?;
        }
        Ok(())
    }

    fn next(&mut self, budget: &Budget) -> Result<Next, Error> {
        let big = (0..self.tableau.rows()).find(|row| self.tableau.row(*row)[BIG].sign() < 0);
        if let Some(row) = big {
            return Ok(Next::Lift(row));
        }
        let (mut split, mut required) = (None, None);
        for row in 0..self.tableau.rows() {
            if self.tableau.row(row)[BIG].sign() > 0 || self.tableau.is_settled(row) {
                continue;
            }
            let values = self.tableau.row(row);
            if values[self.tableau.params_from()..].iter().all(Number::is_zero) {
                if values[1].sign() < 0 {
                    return Ok(Next::Lift(row));
                }
                continue;
            }
            let form = self.tableau.form(row);
            let here = value(&form, &self.context.point)?.sign() >= 0;
            let is_critical = self.tableau.is_critical(row);
            if here && self.context.simplex.implies(&form, budget)? {
                self.tableau.settle(row);
                if is_critical && let Some(known) = self.context.learn(&form, budget)? {
                    self.tableau.substitute(&known)?;
                }
            } else if !here && self.context.simplex.excludes(&form, budget)? {
                return Ok(Next::Lift(row));
            } else if is_critical {
                required = required.or(Some(row));
            } else if !self.tableau.is_strict(row) && self.context.simplex.caps(&form, budget)? {
                // The pivot changes nothing where the row is 0.
                return Ok(Next::Lift(row));
            } else {
                split = split.or(Some(row));
            }
        }
        if let Some(row) = required {
            return Ok(Next::Require(row));
        }
        if let Some(row) = split {
            return Ok(Next::Split(row));
        }
        Ok(self.tableau.fraction()?.map_or(Next::Done, Next::Cut))
    }

    /// Cuts off the fractional value of a row; false if nothing is left.
    fn cut(&mut self, row: usize, budget: &Budget) -> Result<bool, Error> {
        let source = self.tableau.row(row).to_vec();
        let (den, from) = (source[0].clone(), self.tableau.params_from());
        let rest = |v: &T| -> Result<T, Error> { fit(fit(v.opposite())?.modulo(&den)) };
        let mut floor = vec![rest(&source[1])?];
        for value in &source[from..] {
            floor.push(rest(value)?);
        }
        let mut cut = vec![T::zero(); self.tableau.cols];
        cut[0] = den.clone();
        cut[1] = fit(floor[0].opposite())?;
        for col in FIRST..from {
            cut[col] = fit(source[col].modulo(&den))?;
        }
        let depends = floor[1..].iter().any(|v| !v.is_zero());
        if depends {
            for (col, value) in floor[1..].iter().enumerate() {
                cut[from + col] = fit(value.opposite())?;
            }
            let (col, new) = self.context.floor(floor, den.clone(), budget)?;
            if new {
                self.tableau.add_param();
                cut.push(T::zero());
            }
            cut[from + col] = fit(cut[from + col].plus(&den))?;
        }
        reduce(&mut cut);
        let index = self.tableau.rows();
        self.tableau.push(cut);
        if depends {
            self.learn(budget)?;
        }
        self.tableau.lift(index, budget)
    }
}
