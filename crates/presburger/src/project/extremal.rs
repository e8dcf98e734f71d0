//! Lexicographic minima and maxima of a conjunction.
//!
//! Outputs and the divisions of outputs are the unknowns of a parametric integer program. A
//! division that only grows with an output, `q = floor((k + n) / 12)` with `k`, may come before it:
//! the least `k` has the least `q`, and once `q` is known `k` ranges over 12 values in a row. The
//! other way round, rows that tie `q` to `k` leave it a fraction, for which cut after cut makes
//! divisions of parameters. Where plain bounds of `k` decide, `k` first is the shorter way.

use std::ops::Range;

use crate::basic_map::{BasicMap, Div};
use crate::function::affine::Affine;
use crate::function::pieces;
use crate::matrix::{negated, remap};
use crate::solve::lexmin::{Piece, Query, lexmin};
use crate::system::System;
use crate::{Budget, Error, Integer};

/// What the first turn of an order may take.
const FIRST_TURN: u64 = 1_000;

/// The extremal values of some dimensions, on disjoint parts of the other dimensions.
#[derive(Debug, Default)]
pub(crate) struct Extremes {
    /// Where there are some, equal to them.
    pub reached: Vec<BasicMap>,
    /// Where there are none: only so many of the dimensions are equal to extremal ones. The next
    /// goes on without bound there; it is free, and so are those after it.
    pub endless: Vec<(BasicMap, usize)>,
}

/// What a program gives: what its pieces range over, and the values of the outputs on them.
struct Solved {
    outer: BasicMap,
    /// Those that are reached, over the columns of the piece.
    pieces: Vec<(Piece, Vec<Vec<Integer>>)>,
}

/// The columns of a program.
struct Columns {
    /// Those of parameters, then the unknowns in the order in which they are made least.
    order: Vec<usize>,
    /// How many are no unknowns, the constant among them.
    known: usize,
    /// The columns that stand for their opposites.
    turned: Vec<bool>,
}

impl Columns {
    /// Puts what no output decides first, then each output and the divisions that it decides:
    /// all behind the outputs, or, if `coarse`, those that only grow with an output before it.
    fn of(depends: &[Option<(usize, i32)>], dims: usize, coarse: bool) -> Self {
        let mut order: Vec<usize> = (0..depends.len()).collect();
        order.sort_by_key(|col| match depends[*col] {
            None => (0, 0, *col),
            Some(_) if !coarse => (1, 0, *col),
            // Divisions of divisions are coarser.
            Some((last, 0)) => (1 + last, 2, *col),
            Some((last, _)) if *col > dims => (1 + last, 0, depends.len() - col),
            Some((last, _)) => (1 + last, 1, *col),
        });
        let known = depends.iter().filter(|depends| depends.is_none()).count();
        let turned = |(col, found): (usize, &Option<(usize, i32)>)| {
            (coarse || col <= dims) && found.is_some_and(|(_, grows)| grows < 0)
        };
        Self { order, known, turned: depends.iter().enumerate().map(turned).collect() }
    }
}

impl BasicMap {
    /// Finds the least (`sign` 1) or greatest (-1) values of the last `outs` dimensions.
    pub fn extremal(&self, outs: usize, sign: i32, budget: &Budget) -> Result<Extremes, Error> {
        let solved = self.extremes(outs, sign, budget)?;
        let mut extremes = Extremes::default();
        for (piece, values) in &solved.pieces {
            let graph = solved.outer.graph(piece, values, outs, sign);
            let Some(part) = graph.tidied() else { continue };
            if values.len() == outs {
                extremes.reached.push(part);
            } else {
                extremes.endless.push((part, values.len()));
            }
        }
        Ok(extremes)
    }

    /// Returns where the dimensions in `range` have values, each part with least ones of its own
    /// form; the parts are disjoint.
    pub(super) fn witnessed(
        &self,
        range: &Range<usize>,
        budget: &Budget,
    ) -> Result<Vec<Self>, Error> {
        let (gone, kept) = (range.len(), self.dims - range.len());
        let place = |dim: usize| match dim {
            dim if dim < range.start => dim,
            dim if dim < range.end => kept + dim - range.start,
            dim => dim - gone,
        };
        let to: Vec<usize> = (0..self.dims).map(place).collect();
        let solved = self.place(self.dims, &to).extremes_in_turns(gone, 1, budget)?;
        let parts = solved.pieces.iter().map(|(piece, _)| solved.outer.narrowed(piece));
        Ok(parts.filter_map(Self::tidied).collect())
    }

    /// As [`Self::extremal`], with the values that are reached as functions of the other dimensions.
    pub fn extremal_pieces(
        &self,
        outs: usize,
        sign: i32,
        budget: &Budget,
    ) -> Result<Vec<pieces::Piece>, Error> {
        let solved = self.extremes(outs, sign, budget)?;
        let mut result = Vec::new();
        for (piece, values) in solved.pieces.iter().filter(|(_, values)| values.len() == outs) {
            let part = solved.outer.narrowed(piece);
            let form = |row: &Vec<Integer>| {
                let form = Affine::of_row(part.dims, &part.divs, row, Integer::ONE);
                if sign < 0 { form.negated() } else { form }
            };
            let forms = values.iter().map(form).collect();
            let domain = part.tidied();
            result.extend(domain.map(|domain| pieces::Piece { domain, forms }));
        }
        Ok(result)
    }

    /// Solves for the least values of the outputs, or of their opposites.
    ///
    /// Which order of the unknowns ends sooner is not known before: both are tried, in turns that
    /// become longer.
    fn extremes(&self, outs: usize, sign: i32, budget: &Budget) -> Result<Solved, Error> {
        let unknown = self.unknown(&(self.dims - outs..self.dims));
        if let Some(told) = self.with_digits(&unknown, budget)? {
            return told.extremes_in_turns(outs, sign, budget);
        }
        self.extremes_in_turns(outs, sign, budget)
    }

    /// Solves in the order of the outputs, with divisions behind them or before them.
    fn extremes_in_turns(&self, outs: usize, sign: i32, budget: &Budget) -> Result<Solved, Error> {
        let depends = self.depends(outs, sign);
        let [plain, coarse] = [false, true].map(|coarse| Columns::of(&depends, self.dims, coarse));
        if plain.order == coarse.order {
            return self.solved_in(&plain, outs, budget);
        }
        let mut steps = FIRST_TURN;
        loop {
            for columns in [&plain, &coarse] {
                let attempt = |budget: &Budget| self.solved_in(columns, outs, budget);
                if let Some(solved) = budget.attempt(steps, attempt)? {
                    return Ok(solved);
                }
                steps = steps.saturating_mul(2);
            }
        }
    }

    /// Solves for the least values of the unknowns in the order of `columns`.
    fn solved_in(&self, columns: &Columns, outs: usize, budget: &Budget) -> Result<Solved, Error> {
        let Columns { order, known, turned } = columns;
        let mut to = vec![None; self.cols()];
        for (target, col) in order.iter().enumerate() {
            to[*col] = Some(target);
        }
        let (fixed, params) = (self.dims - outs, known - 1);
        let mut outer = Self::with_divs(fixed, self.outer_divs(&order[1 + fixed..*known], &to));
        let mut query = Query { params, unknowns: order.len() - known, ..Query::default() };
        let mut bounds = System::new(self.cols() - 1);
        for index in 0..self.divs.len() {
            if to[1 + self.dims + index].is_some_and(|target| target >= *known) {
                self.bound_div(index, &mut bounds);
            }
        }
        bounds.extend(&self.system);
        let mut all = bounds.remap(order.len(), &to);
        for row in all.rows_mut() {
            for (value, _) in row.iter_mut().zip(order).filter(|(_, col)| turned[**col]) {
                *value = -&*value;
            }
        }
        settle(&mut all, *known);
        let is_known = |row: &[Integer]| row[*known..].iter().all(Integer::is_zero);
        for row in all.eqs.rows() {
            if is_known(row) {
                outer.system.eqs.push(&row[..*known]);
            } else {
                query.rows.extend([negated(row), row.to_vec()]);
            }
        }
        for row in all.ineqs.rows() {
            if is_known(row) {
                outer.system.ineqs.push(&row[..*known]);
            } else {
                query.rows.push(row.to_vec());
            }
        }
        outer.describe(&mut query);
        let unknowns = order[*known..].iter().enumerate();
        let outputs: Vec<usize> =
            unknowns.filter(|(_, col)| **col <= self.dims).map(|(at, _)| at).collect();
        let with_values = |piece: Piece| {
            let values = outputs.iter().map_while(|at| piece.values.get(*at).cloned()).collect();
            (piece, values)
        };
        let pieces = lexmin(&query, budget)?.into_iter().map(with_values).collect();
        Ok(Solved { outer, pieces })
    }

    /// Finds the last output on which each column depends, and the sign of its growth with that
    /// output, or with the opposite of it: 0 for a division that both grows and falls.
    fn depends(&self, outs: usize, sign: i32) -> Vec<Option<(usize, i32)>> {
        let mut depends = vec![None; self.cols()];
        for (output, col) in (1 + self.dims - outs..=self.dims).enumerate() {
            depends[col] = Some((output, sign));
        }
        for (index, div) in self.divs.iter().enumerate() {
            let used = div.num.iter().zip(&depends).filter(|(v, _)| !v.is_zero());
            let used =
                used.filter_map(|(v, found)| found.map(|(last, grows)| (last, grows * v.sign())));
            depends[1 + self.dims + index] = used.reduce(|a, b| match a.0 == b.0 {
                true if a.1 != b.1 => (a.0, 0),
                _ => a.max(b),
            });
        }
        depends
    }

    /// Rewrites the divisions of columns `cols`.
    fn outer_divs(&self, cols: &[usize], to: &[Option<usize>]) -> Vec<Div> {
        let rewritten = |col: &usize| {
            let div = &self.divs[col - 1 - self.dims];
            let length = to[*col].unwrap_or(to.len());
            Div { num: remap(&div.num, to.len(), to)[..length].to_vec(), den: div.den.clone() }
        };
        cols.iter().map(rewritten).collect()
    }

    /// Adds `outs` dimensions; the first are equal to `values`, the rest is free.
    fn graph(&self, piece: &Piece, values: &[Vec<Integer>], outs: usize, sign: i32) -> Self {
        let part = self.narrowed(piece);
        let to: Vec<usize> = (0..self.dims).collect();
        let mut result = part.place(self.dims + outs, &to);
        let cols = result.cols();
        let mut placed: Vec<Option<usize>> = (0..=self.dims).map(Some).collect();
        placed.extend((0..part.divs.len()).map(|i| Some(1 + result.dims + i)));
        for (index, value) in values.iter().enumerate() {
            let mut row = remap(value, cols, &placed);
            row[1 + self.dims + index] = Integer::from(-sign);
            result.system.eqs.push(&row);
        }
        result
    }
}

/// Puts what equations say of single unknowns, from column `known` on, into all other rows.
fn settle(system: &mut System, known: usize) {
    let mut settled = vec![false; system.eqs.len()];
    let says = |row: &[Integer]| {
        let mut used = (known..row.len()).filter(|col| !row[*col].is_zero());
        used.next().filter(|col| row[*col].is_unit() && used.next().is_none())
    };
    while let Some((index, col)) = (0..settled.len())
        .filter(|index| !settled[*index])
        .find_map(|index| Some((index, says(system.eqs.row(index))?)))
    {
        settled[index] = true;
        let equation = system.eqs.row(index).to_vec();
        for (at, row) in system.rows_mut().enumerate() {
            if at != index && !row[col].is_zero() {
                let factor = -&row[col] * &equation[col];
                for (value, share) in row.iter_mut().zip(&equation) {
                    *value = value.add_mul(&factor, share);
                }
            }
        }
    }
}
