//! The shortest form of a conjunction that is quick to find.

use std::collections::BTreeMap;

use crate::basic_map::{BasicMap, Div, merge};
use crate::matrix::{Matrix, combine, gcd};
use crate::solve::redundancy::remove_redundant_given;
use crate::system::System;
use crate::{Budget, Error, Integer};

/// What finding a shorter form may take; a conjunction that needs more is shown as it is.
const STEPS: u64 = 20_000;

/// Returns the same points in fewer constraints; nothing if there obviously are none.
pub(super) fn simplified(part: &BasicMap, params: usize) -> Option<BasicMap> {
    match shorter(part, params, &Budget::steps(STEPS)) {
        Ok(result) => result,
        Err(_) => Some(part.clone()),
    }
}

fn shorter(part: &BasicMap, params: usize, budget: &Budget) -> Result<Option<BasicMap>, Error> {
    let Some(mut part) = part.clone().tidied() else { return Ok(None) };
    loop {
        // Rows in lowest terms tell the values of divisions: 2 = 2 e, of `i mod 2` where i = 2.
        let Some(next) = part.substituted(params).tidied() else { return Ok(None) };
        part = next.with_plain_values().with_plain_bounds();
        let equations = part.system.eqs.len();
        let Some(next) = part.tidied() else { return Ok(None) };
        part = next;
        // Opposite inequalities may have become an equation.
        if part.system.eqs.len() <= equations {
            break;
        }
    }
    essential(&mut part, params, budget)?;
    Ok(part.tidied())
}

impl BasicMap {
    /// Solves each equation for its last dimension with factor 1 and puts that in everywhere.
    fn substituted(mut self, params: usize) -> Self {
        let mut divs = self.divs.to_vec();
        for index in 0..self.system.eqs.len() {
            let eq = self.system.eqs.row(index).to_vec();
            let last = (0..self.dims).rev().find(|dim| eq[1 + dim] != 0);
            let Some(col) = last.map(|dim| 1 + dim).filter(|col| eq[*col].is_unit()) else {
                continue;
            };
            // A definition may use earlier divisions only.
            let first = divs.iter().position(|div| div.num[col] != 0).unwrap_or(divs.len());
            if col <= params || eq[1 + self.dims + first..].iter().any(|v| *v != 0) {
                continue;
            }
            let others = self.system.eqs.rows_mut().enumerate().filter(|(i, _)| *i != index);
            for row in others.map(|(_, row)| row).chain(self.system.ineqs.rows_mut()) {
                let new = combine(&Integer::ONE, row, &(-&row[col] * &eq[col]), &eq);
                row.clone_from_slice(&new);
            }
            for div in divs.iter_mut().filter(|div| div.num[col] != 0) {
                let len = div.num.len();
                let factor = -&div.num[col] * &eq[col];
                div.num = combine(&Integer::ONE, &div.num, &factor, &eq[..len]);
            }
        }
        for index in 0..divs.len() {
            divs[index] = reduced(&divs, index, self.dims);
            if divs[index].den == 1 {
                let (col, value) = (1 + self.dims + index, divs[index].num.clone());
                let later = divs[index + 1..].iter_mut().map(|div| &mut div.num[..]);
                later.chain(self.system.rows_mut()).for_each(|row| put_in(row, col, &value));
            }
        }
        let (merged, to) = merge(self.dims, &[], &divs);
        let mut result = Self::with_divs(self.dims, merged);
        result.system = self.system.remap(result.cols(), &to);
        result
    }

    /// Returns the place of the last dimension that a row depends on; parameters count as 0.
    fn level(&self, row: &[Integer], params: usize) -> usize {
        let mut used = row.to_vec();
        for index in (0..self.divs.len()).rev() {
            if used.get(1 + self.dims + index).is_some_and(|v| *v != 0) {
                for (to, from) in used.iter_mut().zip(&self.divs[index].num) {
                    // Only whether it is 0 matters.
                    *to = if to.is_zero() { from.clone() } else { Integer::ONE };
                }
            }
        }
        (params..self.dims).rev().find(|dim| used[1 + dim] != 0).map_or(0, |dim| dim + 1 - params)
    }
}

/// Puts a value in the place of a column.
fn put_in(row: &mut [Integer], col: usize, value: &[Integer]) {
    let factor = std::mem::take(&mut row[col]);
    if !factor.is_zero() {
        for (to, value) in row.iter_mut().zip(value) {
            *to = to.add_mul(&factor, value);
        }
    }
}

/// Writes a division with smaller numbers and without a division inside it, where it can be.
fn reduced(divs: &[Div], index: usize, dims: usize) -> Div {
    let mut div = divs[index].clone();
    let inner = div.num[1..].iter().position(|v| *v != 0).filter(|col| *col >= dims);
    if let Some(col) = inner.map(|col| 1 + col)
        && div.num[col] == 1
        && div.num[1 + col..].iter().all(|v| *v == 0)
    {
        // floor((floor(n/a) + c)/b) is floor((n + a c)/(a b)).
        let inner = &divs[col - 1 - dims];
        let mut num = inner.num.clone();
        num[0] = num[0].add_mul(&inner.den, &div.num[0]);
        num.resize(div.num.len(), Integer::ZERO);
        div = Div { num, den: &inner.den * &div.den };
    }
    // floor((2 n + 1)/4) is floor(n/2).
    let factor = gcd(&div.num[1..]).gcd(&div.den);
    div.num.iter_mut().for_each(|v| *v = v.div_floor(&factor));
    div.den = div.den.div_exact(&factor);
    div
}

/// Drops inequalities that the others imply, and sorts them by the dimension that they bound.
///
/// A bound that follows only from constraints on later dimensions stays if it is the only
/// one of its kind: `0 <= i` is worth reading beside `0 <= j <= i`.
fn essential(part: &mut BasicMap, params: usize, budget: &Budget) -> Result<(), Error> {
    let mut given = part.bounds();
    part.system.eqs.rows().for_each(|row| given.eqs.push(row));
    let mut levels: BTreeMap<usize, System> = BTreeMap::new();
    for row in part.system.ineqs.rows() {
        let system = levels.entry(part.level(row, params));
        system.or_insert_with(|| System::new(part.cols() - 1)).ineqs.push(row);
    }
    let mut kept: Vec<(usize, Vec<Integer>)> = Vec::new();
    for (level, mut system) in levels {
        remove_redundant_given(&mut system, &given, budget)?;
        for row in system.ineqs.rows() {
            given.ineqs.push(row);
            kept.push((level, row.to_vec()));
        }
    }
    let side = |(level, row): &(usize, Vec<Integer>)| {
        let dim = (0..part.dims).rev().find(|dim| row[1 + dim] != 0);
        (*level, dim, dim.map(|dim| row[1 + dim].sign()))
    };
    let single =
        |fact: &&(usize, Vec<Integer>)| kept.iter().filter(|o| side(o) == side(fact)).count() == 1;
    let mut given = part.bounds();
    part.system.eqs.rows().for_each(|row| given.eqs.push(row));
    kept.iter().filter(single).for_each(|(_, row)| given.ineqs.push(row));
    let mut system = System::new(part.cols() - 1);
    kept.iter().filter(|fact| !single(fact)).for_each(|(_, row)| system.ineqs.push(row));
    remove_redundant_given(&mut system, &given, budget)?;
    let mut ineqs = Matrix::new(part.cols());
    for (_, row) in kept.iter().filter(|fact| single(fact) || has(&system.ineqs, &fact.1)) {
        ineqs.push(row);
    }
    part.system.ineqs = ineqs;
    Ok(())
}

fn has(rows: &Matrix, row: &[Integer]) -> bool {
    rows.rows().any(|other| other == row)
}
