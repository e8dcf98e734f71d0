//! Counting products: dimensions that no constraint joins are counted apart.
//!
//! The points of `{ [i, j] : 0 <= i < n and 0 <= j <= 2n }` are pairs, as many as `n` times
//! `2n + 1`; together, their polytope has the product of the corners of both.

use crate::{Conjunction, Division, Integer};

/// Splits a conjunction into conjunctions over the `fixed` dimensions and some of the `outputs`
/// behind them, each with how many these are; all points are the tuples of one of each.
///
/// Constraints on fixed dimensions alone are in the first one.
pub(super) fn components(
    part: &Conjunction,
    fixed: usize,
    outputs: usize,
) -> Vec<(Conjunction, usize)> {
    let columns = fixed + outputs + part.divisions.len();
    let mut groups: Vec<usize> = (0..columns).collect();
    for (index, division) in part.divisions.iter().enumerate() {
        let own = fixed + outputs + index;
        let inside = free(&division.numerator, fixed, &groups, own);
        // What fixed dimensions decide is fixed.
        if inside.is_empty() {
            groups[own] = 0;
        } else {
            join(&mut groups, [vec![own], inside].concat());
        }
    }
    for row in part.equalities.iter().chain(&part.inequalities) {
        let inside = free(row, fixed, &groups, columns);
        join(&mut groups, inside);
    }
    let mut roots: Vec<usize> = (fixed..fixed + outputs).map(|at| groups[at]).collect();
    roots.sort_unstable();
    roots.dedup();
    let first = roots.first().copied();
    roots.iter().map(|root| own_part(part, fixed, outputs, &groups, *root, first)).collect()
}

/// Whether a column is fixed: that of a fixed dimension, or of a division of such alone.
fn is_fixed(column: usize, fixed: usize, groups: &[usize]) -> bool {
    column < fixed || groups[column] < fixed
}

/// Lists the columns before `end` that a row uses and that are not fixed.
fn free(row: &[Integer], fixed: usize, groups: &[usize], end: usize) -> Vec<usize> {
    let used = row[1..].iter().enumerate().filter(|(at, value)| *at < end && !value.is_zero());
    used.map(|(at, _)| at).filter(|at| !is_fixed(*at, fixed, groups)).collect()
}

/// Makes the groups of some columns one.
fn join(groups: &mut [usize], columns: Vec<usize>) {
    let mut old: Vec<usize> = columns.iter().map(|at| groups[*at]).collect();
    old.sort_unstable();
    let Some(to) = old.first().copied() else { return };
    for group in groups.iter_mut().filter(|group| old.contains(group)) {
        *group = to;
    }
}

/// Takes the rows of a group, over the fixed dimensions, those of the group, and its divisions.
fn own_part(
    part: &Conjunction,
    fixed: usize,
    outputs: usize,
    groups: &[usize],
    root: usize,
    first: Option<usize>,
) -> (Conjunction, usize) {
    let mine = |at: &usize| groups[*at] == root;
    let dims: Vec<usize> = (fixed..fixed + outputs).filter(mine).collect();
    let all = fixed + outputs..fixed + outputs + part.divisions.len();
    let kept = |at: &usize| mine(at) || is_fixed(*at, fixed, groups);
    let divisions: Vec<usize> = all.filter(kept).collect();
    let columns: Vec<usize> = (0..fixed).chain(dims.clone()).chain(divisions.clone()).collect();
    let row = |row: &[Integer]| -> Vec<Integer> {
        let value = |at: &usize| row.get(1 + at).cloned().unwrap_or(Integer::ZERO);
        std::iter::once(row[0].clone()).chain(columns.iter().map(value)).collect()
    };
    let wanted = |given: &&Vec<Integer>| {
        let inside = free(given, fixed, groups, groups.len());
        inside.first().map_or(Some(root) == first, |at| groups[*at] == root)
    };
    let rows = |rows: &[Vec<Integer>]| rows.iter().filter(wanted).map(|r| row(r)).collect();
    let division = |(index, at): (usize, &usize)| {
        let Division { numerator, denominator } = &part.divisions[at - fixed - outputs];
        let mut numerator = row(numerator);
        numerator.truncate(1 + fixed + dims.len() + index);
        Division { numerator, denominator: denominator.clone() }
    };
    let own = Conjunction {
        divisions: divisions.iter().enumerate().map(division).collect(),
        equalities: rows(&part.equalities),
        inequalities: rows(&part.inequalities),
    };
    (own, dims.len())
}
