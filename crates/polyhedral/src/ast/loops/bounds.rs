//! What disjuncts say about one loop: bounds, shared rows, single values.

use tangram_presburger::{Budget, Error};

use super::stride::Stride;
use crate::ast::basic_set::{
    BasicSet, Linear, combine, essential, negated, share_divisions, tightened,
};
use crate::number::gcd;

/// A disjunct without divisions of the iterator, and its residue class.
///
/// A superset of the disjunct: the rows hold over the rationals.
#[derive(Debug, Clone)]
pub(in crate::ast) struct Level {
    pub cell: BasicSet,
    pub stride: Option<Stride>,
}

impl Level {
    /// Projects the divisions that use column `col` away; `known` holds for the variables before.
    pub fn of(
        cell: &BasicSet,
        col: usize,
        known: &BasicSet,
        budget: &Budget,
    ) -> Result<Self, Error> {
        let stride = Stride::of(cell, col, known)?;
        let depends = cell.dependent(col);
        let inner: Vec<usize> = (1 + cell.vars..cell.cols()).filter(|c| depends[*c]).collect();
        let mut cell = cell.clone();
        for &column in &inner {
            let division = cell.part.divisions[column - 1 - cell.vars].clone();
            let mut low = division.numerator;
            low.resize(cell.cols(), 0);
            low[column] = -division.denominator;
            let mut high = negated(&low);
            high[0] += division.denominator - 1;
            cell.part.inequalities.push(low);
            cell.part.inequalities.push(high);
        }
        let mut inner = inner;
        inner.reverse();
        cell.eliminate(&inner, budget)?;
        Ok(Self { cell: cell.without_idle_divisions(), stride })
    }
}

/// The rows that all disjuncts of a loop satisfy.
#[derive(Debug, Clone)]
pub(in crate::ast) struct Shared {
    /// Rows that `known` does not imply; those without the iterator come first.
    pub cell: BasicSet,
    pub stride: Option<Stride>,
}

/// Finds the rows of any of `levels` that hold in all of them, where `known` holds.
pub(in crate::ast) fn shared(
    levels: &[Level],
    known: &BasicSet,
    col: usize,
    budget: &Budget,
) -> Result<Shared, Error> {
    let stride = common_stride(levels, known.vars)?;
    let mut cells: Vec<BasicSet> = levels.iter().map(|level| level.cell.clone()).collect();
    cells.push(known.clone());
    share_divisions(&mut cells);
    let Some(mut known) = cells.pop() else {
        return Ok(Shared { cell: BasicSet::universe(0), stride });
    };
    if let Some(stride) = &stride {
        let offset = known.row_of(&stride.offset);
        for cell in &mut cells {
            cell.import(&known.part.divisions);
            for row in &mut cell.part.inequalities {
                aligned(row, col, stride.modulus, &offset)?;
            }
        }
    }
    let mut rows: Vec<Vec<i128>> = Vec::new();
    let mut relaxations = Vec::new();
    if cells.len() > 1 {
        for cell in &cells {
            let mut both = cell.clone();
            both.join(&known);
            relaxations.push(both.relaxation(budget)?);
        }
    }
    for (index, cell) in cells.iter().enumerate() {
        for mut row in half_spaces(cell) {
            tightened(&mut row);
            if rows.contains(&row) {
                continue;
            }
            let mut holds = true;
            for (_, other) in relaxations.iter_mut().enumerate().filter(|(i, _)| *i != index) {
                holds = holds && other.implies(&row, budget)?;
            }
            if holds {
                rows.push(row);
            }
        }
    }
    let mut rows = without_divisions(rows, known.vars, col)?;
    // The earlier of two equivalent rows goes: conditions before bounds, long before short.
    rows.sort_by_key(|row| (row[col] != 0, std::cmp::Reverse(weight(row))));
    let rows = essential(&rows, known.relaxation(budget)?, budget)?;
    let mut cell = known.clone();
    cell.part.equalities.clear();
    cell.part.inequalities = rows;
    let mut both = cell.clone();
    both.join(&known);
    let mut relaxation = both.relaxation(budget)?;
    let mut result = cell.clone();
    result.part.inequalities.clear();
    for row in cell.part.inequalities {
        let bounds = row[col] != 0 && !relaxation.is_empty();
        if bounds && relaxation.range(&row, budget)?.1.is_some_and(|most| most.is_zero()) {
            if !result.part.equalities.contains(&negated(&row)) {
                result.part.equalities.push(row);
            }
        } else {
            result.part.inequalities.push(row);
        }
    }
    Ok(Shared { cell: result.without_idle_divisions(), stride })
}

/// Puts the values of divisions in their place in the other rows where two rows give one: a bound in
/// terms of outer loops is compared with what these make sure of.
fn without_divisions(
    mut rows: Vec<Vec<i128>>,
    vars: usize,
    col: usize,
) -> Result<Vec<Vec<i128>>, Error> {
    let width = rows.first().map_or(0, Vec::len);
    for division in 1 + vars..width {
        let gives = |row: &&Vec<i128>| {
            row[division].abs() == 1 && row[col] == 0 && rows.contains(&negated(row))
        };
        let Some(value) = rows.iter().find(gives).cloned() else { continue };
        for row in rows.iter_mut().filter(|row| row[division] != 0) {
            if *row != value && *row != negated(&value) {
                let factor = -row[division] * value[division];
                *row = combine(1, row, factor, &value)?;
            }
        }
    }
    Ok(rows)
}

/// Tightens `a x + f >= 0`, where `x` is `offset` plus a multiple of `modulus`.
fn aligned(row: &mut [i128], col: usize, modulus: i128, offset: &[i128]) -> Result<(), Error> {
    if row[col] == 0 || modulus <= 1 {
        return Ok(());
    }
    let factor = row[col];
    let mut form = row.to_vec();
    form[col] = 0;
    let form = combine(1, &form, factor, offset)?;
    let step = factor.checked_mul(modulus).ok_or(Error::Overflow)?;
    let g = form[1..].iter().fold(gcd(step, 0), |g, v| gcd(g, *v));
    if g > 1 {
        row[0] -= form[0].rem_euclid(g);
    }
    Ok(())
}

fn common_stride(levels: &[Level], vars: usize) -> Result<Option<Stride>, Error> {
    let mut result: Option<Stride> = None;
    for (index, level) in levels.iter().enumerate() {
        let Some(stride) = &level.stride else { return Ok(None) };
        result = match result {
            None if index > 0 => return Ok(None),
            None => Some(stride.clone()),
            Some(old) => old.common(stride, vars)?,
        };
    }
    Ok(result)
}

fn weight(row: &[i128]) -> usize {
    row.iter().skip(1).filter(|v| **v != 0).count() + usize::from(row[0] != 0)
}

pub(in crate::ast) fn half_spaces(cell: &BasicSet) -> Vec<Vec<i128>> {
    let mut rows = cell.part.inequalities.clone();
    for row in &cell.part.equalities {
        rows.push(row.clone());
        rows.push(negated(row));
    }
    rows
}

impl Shared {
    /// Finds the only value that the iterator can have, if bounds leave one.
    ///
    /// Whether it has that value is for the rows to say, with the value put in.
    pub fn value(&self, col: usize) -> Option<Linear> {
        if let Some(value) = self.cell.solved(col) {
            return Some(value);
        }
        if let Some(stride) = self.stride.as_ref().filter(|stride| stride.modulus == 0) {
            return Some(stride.offset.clone());
        }
        if let Some(row) = self.cell.part.equalities.iter().find(|row| row[col] != 0) {
            let row = if row[col] > 0 { negated(row) } else { row.clone() };
            return Some(last(&self.cell, &row, col));
        }
        let rows = &self.cell.part.inequalities;
        for lower in rows.iter().filter(|row| row[col] > 0) {
            for upper in rows.iter().filter(|row| row[col] == -lower[col]) {
                let gap: Vec<i128> =
                    lower.iter().zip(upper).map(|(a, b)| a.wrapping_add(*b)).collect();
                if gap[1..].iter().any(|v| *v != 0) {
                    continue;
                }
                if gap[0] < lower[col] {
                    return Some(last(&self.cell, upper, col));
                }
                let modulus = self.stride.as_ref().map_or(1, |stride| stride.modulus);
                if lower[col] == 1 && gap[0] < modulus {
                    return Some(self.first(lower, col));
                }
            }
        }
        None
    }

    /// Returns the first value that the bound `row` and the residue class allow.
    pub fn first(&self, row: &[i128], col: usize) -> Linear {
        first(&self.cell, self.stride.as_ref(), row, col)
    }
}

/// Returns the greatest value that `g - a x >= 0` allows.
pub(in crate::ast) fn last(cell: &BasicSet, row: &[i128], col: usize) -> Linear {
    let mut cell = cell.clone();
    let mut value = row.to_vec();
    let factor = -value[col];
    value[col] = 0;
    quotient(&mut cell, value, factor)
}

/// Returns the least value that `a x + f >= 0` and the residue class allow.
pub(in crate::ast) fn first(
    cell: &BasicSet,
    stride: Option<&Stride>,
    row: &[i128],
    col: usize,
) -> Linear {
    let mut cell = cell.clone();
    let mut value = negated(row);
    let factor = row[col];
    value[col] = 0;
    value[0] += factor - 1;
    let low = quotient(&mut cell, value, factor);
    let Some(stride) = stride.filter(|stride| stride.modulus > 1) else { return low };
    let offset = cell.row_of(&stride.offset);
    let mut value = cell.row_of(&low);
    let mut distance: Vec<i128> = value.iter().zip(&offset).map(|(a, b)| a - b).collect();
    let modulus = stride.modulus;
    if distance[1..].iter().all(|v| v % modulus == 0) {
        value[0] += (-distance[0]).rem_euclid(modulus);
        return cell.linear(&value);
    }
    // offset + modulus * ceil((low - offset) / modulus)
    distance[0] += modulus - 1;
    let division = cell.division(&distance, modulus);
    let mut value = offset;
    value.resize(cell.cols(), 0);
    value[division] += modulus;
    cell.linear(&value)
}

/// Returns `floor(value / factor)`.
fn quotient(cell: &mut BasicSet, value: Vec<i128>, factor: i128) -> Linear {
    if factor == 1 {
        return cell.linear(&value);
    }
    let division = cell.division(&value, factor);
    let mut row = vec![0; cell.cols()];
    row[division] = 1;
    cell.linear(&row)
}
