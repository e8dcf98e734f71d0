//! Composition of relations.
//!
//! Relations mostly say what their outputs are: `x -> y` with `y = x + 1` and `y -> z` with
//! `z = 2 y` give `z = 2 (x + 1)`. Such equations are put in place of the shared tuple before
//! anything else, rows and divisions alike; only what they leave of it is projected away.

use std::ops::Range;

use crate::basic_map::{BasicMap, Div, merge};
use crate::system::System;
use crate::{Budget, Error, Integer, Relation, Space};

impl Relation {
    /// Relates `x` to `z` where `self` relates `x` to some `y` and `next` that `y` to `z`.
    ///
    /// For a set `self`, the result is the set of its images under `next`.
    ///
    /// # Errors
    /// [`Error::Space`] unless the output of `self` is the input of `next`.
    pub fn apply_range(&self, next: &Self, budget: &Budget) -> Result<Self, Error> {
        if next.space.input.as_ref() != Some(&self.space.output) {
            return Err(self.space.mismatch(&next.space));
        }
        let params = self.space.joint_params(&next.space);
        let (a, b) = (self.aligned(&params), next.aligned(&params));
        let (p, ins) = (params.len(), a.space.inputs());
        let (mid, outs) = (a.space.output.dims.len(), b.space.output.dims.len());
        // Columns: parameters, input, output, and the middle tuple last.
        let all = p + ins + outs + mid;
        let mut to_a: Vec<usize> = (0..p + ins).collect();
        to_a.extend(all - mid..all);
        let mut to_b: Vec<usize> = (0..p).collect();
        to_b.extend(all - mid..all);
        to_b.extend(p + ins..all - mid);
        let a_parts: Vec<BasicMap> = a.parts.iter().map(|part| part.place(all, &to_a)).collect();
        let b_parts: Vec<BasicMap> = b.parts.iter().map(|part| part.place(all, &to_b)).collect();
        let mut parts = Vec::new();
        for (left, right) in a_parts.iter().flat_map(|l| b_parts.iter().map(move |r| (l, r))) {
            budget.spend(left.system.size() + right.system.size())?;
            parts.extend(linked(left, right, all - mid, budget)?);
        }
        // Coefficients are multiplied here, and powers of a relation double their digits.
        parts.iter().try_for_each(|part: &BasicMap| part.system.check_numbers())?;
        let space = Space { params, input: a.space.input.clone(), output: b.space.output.clone() };
        Ok(Self::of_inhabited(space, parts))
    }
}

/// Intersects two conjunctions and projects the dimensions from `kept` on away.
fn linked(
    left: &BasicMap,
    right: &BasicMap,
    kept: usize,
    budget: &Budget,
) -> Result<Vec<BasicMap>, Error> {
    let all = left.dims;
    let pair = left.joined(right);
    if pair.system.eqs.len() == 0 {
        let Some(pair) = pair.tidied() else { return Ok(Vec::new()) };
        return pair.project_inhabited(kept..all, budget);
    }
    let mut link = Link::new(pair);
    while let Some((index, col)) = link.known(1 + kept..1 + all) {
        link.put_in(index, col);
    }
    if link.uses(1 + kept..1 + all) {
        let Some(pair) = link.compact(all).tidied() else { return Ok(Vec::new()) };
        // The projection has fewer columns to find a point in.
        return pair.project_inhabited(kept..all, budget);
    }
    let Some(part) = link.compact(kept).tidied() else { return Ok(Vec::new()) };
    Ok(if part.is_empty(budget)? { Vec::new() } else { vec![part] })
}

/// A conjunction in which values are put in place of dimensions.
struct Link {
    dims: usize,
    divs: Vec<Div>,
    system: System,
}

impl Link {
    fn new(pair: BasicMap) -> Self {
        Self { dims: pair.dims, divs: pair.divs.to_vec(), system: pair.system }
    }

    /// Finds an equation that says what one of the dimensions in columns `cols` is.
    ///
    /// No division in the equation comes after one that uses the dimension.
    fn known(&self, cols: Range<usize>) -> Option<(usize, usize)> {
        self.system.eqs.rows().enumerate().find_map(|(index, row)| {
            let units = cols.clone().filter(|col| row[*col].is_unit());
            let last = row[1 + self.dims..].iter().rposition(|v| !v.is_zero());
            let mut found = units.filter(|col| {
                let first = self.divs.iter().position(|div| !div.num[*col].is_zero());
                first.is_none_or(|first| last.is_none_or(|last| last < first))
            });
            found.next().map(|col| (index, col))
        })
    }

    /// Puts what equation `index` says column `col` is in its place; the equation goes.
    fn put_in(&mut self, index: usize, col: usize) {
        let equation = self.system.eqs.row(index).to_vec();
        self.system.eqs.swap_remove(index);
        let opposite = equation[col].sign() > 0;
        let replace = |row: &mut [Integer]| {
            if row[col].is_zero() {
                return;
            }
            let factor = if opposite { -&row[col] } else { row[col].clone() };
            for (value, share) in row.iter_mut().zip(&equation) {
                if !share.is_zero() {
                    *value = value.add_mul(&factor, share);
                }
            }
        };
        self.system.rows_mut().for_each(replace);
        self.divs.iter_mut().for_each(|div| replace(&mut div.num[..]));
    }

    fn uses(&self, cols: Range<usize>) -> bool {
        let used = |row: &[Integer]| row[cols.clone()].iter().any(|v| !v.is_zero());
        self.system.eqs.rows().chain(self.system.ineqs.rows()).any(used)
            || self.divs.iter().any(|div| used(&div.num[..]))
    }

    /// Leaves dimensions from `kept` on out, and divisions that have become equal.
    fn compact(self, kept: usize) -> BasicMap {
        let divs = self.divs.into_iter().map(|mut div| {
            div.num.drain(1 + kept..1 + self.dims);
            div
        });
        let (divs, columns) = merge(kept, &[], &divs.collect::<Vec<_>>());
        let mut to = columns[..1 + kept].to_vec();
        to.resize(1 + self.dims, None);
        to.extend_from_slice(&columns[1 + kept..]);
        let cols = 1 + kept + divs.len();
        BasicMap { dims: kept, divs: divs.into(), system: self.system.remap(cols, &to) }
    }
}
