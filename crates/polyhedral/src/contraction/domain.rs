//! Bounds of the loops of a contraction: a box, and a least and greatest column for each row.

use tangram_presburger::{Budget, Conjunction, Relation};

use super::loops::LoopKind;
use crate::Error;

/// A row over `[constant, parameters..]`.
pub(super) type Affine = Vec<i128>;

/// The domain `box and low(row) <= column <= high(row)`.
#[derive(Debug, Clone)]
pub(super) struct Bounds {
    /// For each loop its first and its last value.
    pub ranges: Vec<[Affine; 2]>,
    /// For the least and the greatest column: the bound in row 0, and by how much it grows from
    /// row to row; nothing if the box alone bounds columns.
    pub sloped: [Option<(Affine, i128)>; 2],
}

impl Bounds {
    /// Reads a domain as bounds; nothing if it is not exactly that.
    pub fn of(
        domain: &Relation,
        kinds: &[LoopKind],
        budget: &Budget,
    ) -> Result<Option<Self>, Error> {
        let mut ranges = Vec::new();
        for at in 0..kinds.len() {
            let Some(range) = range(domain, at, kinds.len(), budget)? else { return Ok(None) };
            ranges.push(range);
        }
        let find = |kind| kinds.iter().position(|own| *own == kind).unwrap_or(0);
        let (row, column) = (find(LoopKind::Row), find(LoopKind::Column));
        let simple = domain.remove_redundancies(budget)?;
        let [part] = &simple.narrow_conjunctions()?[..] else { return Ok(None) };
        let Some(sloped) = sloped(part, domain.space().params.len(), row, column) else {
            return Ok(None);
        };
        let bounds = Self { ranges, sloped };
        let params = domain.params(budget)?;
        let whole = bounds.points(domain, row, column)?.intersect_params(&params, budget)?;
        Ok(whole.is_equal(domain, budget)?.then_some(bounds))
    }

    /// Returns how many iterations a loop has, if that is a number.
    pub fn length(&self, at: usize) -> Option<i128> {
        let [low, high] = &self.ranges[at];
        let is_number = low[1..].iter().zip(&high[1..]).all(|(a, b)| a == b);
        is_number.then(|| high[0] - low[0] + 1)
    }

    /// Returns by how much the least and the greatest column grow from row to row.
    pub fn slopes(&self) -> [i128; 2] {
        self.sloped.each_ref().map(|side| side.as_ref().map_or(0, |(_, slope)| *slope))
    }

    /// The points between all bounds.
    fn points(&self, domain: &Relation, row: usize, column: usize) -> Result<Relation, Error> {
        let space = domain.space().clone();
        let first = 1 + space.params.len();
        let columns = first + self.ranges.len();
        let mut part = Conjunction::default();
        let mut bound = |affine: &Affine, sign: i128, at: usize, slope: Option<i128>| {
            let mut line: Vec<i128> = affine.iter().map(|value| -sign * value).collect();
            line.resize(columns, 0);
            line[first + at] = sign;
            if let Some(slope) = slope {
                line[first + row] = -sign * slope;
            }
            part.inequalities.push(line);
        };
        for (at, [low, high]) in self.ranges.iter().enumerate() {
            bound(low, 1, at, None);
            bound(high, -1, at, None);
        }
        for (side, sign) in self.sloped.iter().zip([1, -1]) {
            if let Some((affine, slope)) = side {
                bound(affine, sign, column, Some(*slope));
            }
        }
        Ok(Relation::from_conjunctions(space, &[part])?)
    }
}

/// Finds the first and last value of a loop over all others, each one affine expression.
fn range(
    domain: &Relation,
    at: usize,
    count: usize,
    budget: &Budget,
) -> Result<Option<[Affine; 2]>, Error> {
    let alone = domain.project_out(at + 1..count, budget)?.project_out(0..at, budget)?;
    let alone = alone.coalesce(budget)?.remove_redundancies(budget)?;
    let [part] = &alone.narrow_conjunctions()?[..] else { return Ok(None) };
    if !part.divisions.is_empty() {
        return Ok(None);
    }
    let last = 1 + alone.space().params.len();
    let mut sides: [Vec<Affine>; 2] = [Vec::new(), Vec::new()];
    for row in &part.equalities {
        if row[last].abs() == 1 {
            let value: Affine = row[..last].iter().map(|v| -row[last] * v).collect();
            sides[0].push(value.clone());
            sides[1].push(value);
        } else if row[last] != 0 {
            return Ok(None);
        }
    }
    for row in &part.inequalities {
        match row[last] {
            0 => {}
            1 => sides[0].push(row[..last].iter().map(|v| -v).collect()),
            -1 => sides[1].push(row[..last].to_vec()),
            _ => return Ok(None),
        }
    }
    Ok(match sides {
        [low, high] if low.len() == 1 && high.len() == 1 => Some([low.concat(), high.concat()]),
        _ => None,
    })
}

/// Finds the bounds of columns that depend on rows; nothing if there are several of a side.
fn sloped(
    part: &Conjunction<i128>,
    params: usize,
    row: usize,
    column: usize,
) -> Option<[Option<(Affine, i128)>; 2]> {
    let (row, column) = (1 + params + row, 1 + params + column);
    let mut sides = [None, None];
    for line in part.inequalities.iter().filter(|line| line[row] != 0 && line[column] != 0) {
        let others = line.iter().enumerate().skip(1 + params);
        let alone = others.filter(|(at, value)| **value != 0 && *at != row && *at != column);
        if alone.count() > 0 || line[column].abs() != 1 {
            return None;
        }
        let sign = line[column];
        let affine = line[..=params].iter().map(|value| -sign * value).collect();
        let side = &mut sides[usize::from(sign < 0)];
        if side.replace((affine, -sign * line[row])).is_some() {
            return None;
        }
    }
    Some(sides)
}
