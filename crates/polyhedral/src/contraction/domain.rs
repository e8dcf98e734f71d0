//! Bounds of the loops of a contraction: a box, a least and greatest column for each row, and a first
//! and last iteration of the sum for each row or column.

use tangram_presburger::{Budget, Conjunction, Relation};

use super::loops::LoopKind;
use crate::Error;

/// A row over `[constant, parameters..]`.
pub(super) type Affine = Vec<i128>;

/// The domain `box and low(row) <= column <= high(row)`, and the same of one reduced loop.
#[derive(Debug, Clone)]
pub(super) struct Bounds {
    /// For each loop its first and its last value.
    pub ranges: Vec<[Affine; 2]>,
    /// For the least and the greatest column: the bound in row 0, and by how much it grows from
    /// row to row; nothing if the box alone bounds columns.
    pub sloped: [Option<Slope>; 2],
    /// For the first and the last iteration of a reduced loop: the loop of rows or columns that
    /// bounds it, too.
    pub ragged: [Option<(usize, Slope)>; 2],
    /// The reduced loop of which these are.
    pub ragged_loop: Option<usize>,
}

/// A bound where the other loop is 0, and by how much it grows with it.
pub(super) type Slope = (Affine, i128);

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
        let params = domain.space().params.len();
        let reduced = (0..kinds.len()).filter(|at| kinds[*at] == LoopKind::Reduced);
        let Some((ragged_loop, ragged)) = ragged(part, params, [row, column], reduced) else {
            return Ok(None);
        };
        let sloped = match ragged_loop {
            None => sloped(part, params, row, column),
            Some(_) => of_target(domain, kinds, [row, column], budget)?,
        };
        let Some(sloped) = sloped else { return Ok(None) };
        let bounds = Self { ranges, sloped, ragged, ragged_loop };
        let params = domain.params(budget)?;
        let whole = bounds.points(domain, row, column)?.intersect_params(&params, budget)?;
        let is_whole = whole.is_equal(domain, budget)?
            && bounds.packs(domain, kinds, budget)?
            && bounds.updates(domain, kinds, [row, column], budget)?;
        Ok(is_whole.then_some(bounds))
    }

    /// Returns whether all that is packed is used: with rows left out, what is between the bounds
    /// of columns and reduced loops alone is in the domain for some row, and the other way round.
    fn packs(&self, domain: &Relation, kinds: &[LoopKind], budget: &Budget) -> Result<bool, Error> {
        if self.ragged_loop.is_none() {
            return Ok(true);
        }
        let params = domain.params(budget)?;
        let groups =
            [[LoopKind::Row, LoopKind::RowOuter], [LoopKind::Column, LoopKind::ColumnOuter]];
        for [left_out, left_out_too] in groups {
            let is_out = |at: usize| [left_out, left_out_too].contains(&kinds[at]);
            let ragged = self.ragged.clone().map(|side| side.filter(|(by, _)| !is_out(*by)));
            let alone = Self { sloped: [None, None], ragged, ..self.clone() };
            let mut packed = alone.points(domain, 0, 0)?.intersect_params(&params, budget)?;
            let mut used = domain.clone();
            for at in (0..kinds.len()).rev().filter(|at| is_out(*at)) {
                packed = packed.project_out(at..at + 1, budget)?;
                used = used.project_out(at..at + 1, budget)?;
            }
            if !packed.is_subset(&used, budget)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns whether all elements between the bounds of rows and columns have a sum: a tile loads and
    /// stores them.
    fn updates(
        &self,
        domain: &Relation,
        kinds: &[LoopKind],
        [row, column]: [usize; 2],
        budget: &Budget,
    ) -> Result<bool, Error> {
        if self.ragged_loop.is_none() {
            return Ok(true);
        }
        let params = domain.params(budget)?;
        let alone = Self { ragged: [None, None], ..self.clone() };
        let elements = alone.points(domain, row, column)?.intersect_params(&params, budget)?;
        let elements = without_sums(&elements, kinds, budget)?;
        Ok(elements.is_subset(&without_sums(domain, kinds, budget)?, budget)?)
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
        let mut bound = |affine: &Affine, sign: i128, at: usize, slope: Option<(usize, i128)>| {
            let mut line: Vec<i128> = affine.iter().map(|value| -sign * value).collect();
            line.resize(columns, 0);
            line[first + at] = sign;
            if let Some((by, slope)) = slope {
                line[first + by] = -sign * slope;
            }
            part.inequalities.push(line);
        };
        for (at, [low, high]) in self.ranges.iter().enumerate() {
            bound(low, 1, at, None);
            bound(high, -1, at, None);
        }
        for (side, sign) in self.sloped.iter().zip([1, -1]) {
            if let Some((affine, slope)) = side {
                bound(affine, sign, column, Some((row, *slope)));
            }
        }
        for (side, sign) in self.ragged.iter().zip([1, -1]) {
            if let (Some((by, (affine, slope))), Some(reduced)) = (side, self.ragged_loop) {
                bound(affine, sign, reduced, Some((*by, *slope)));
            }
        }
        Ok(Relation::from_conjunctions(space, &[part])?)
    }
}

/// Finds the first and last value of a loop over all others, each one affine expression.
pub(super) fn range(
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

/// Projects out reduced loops.
fn without_sums(set: &Relation, kinds: &[LoopKind], budget: &Budget) -> Result<Relation, Error> {
    let mut set = set.clone();
    for at in (0..kinds.len()).rev().filter(|at| kinds[*at] == LoopKind::Reduced) {
        set = set.project_out(at..at + 1, budget)?;
    }
    Ok(set)
}

/// Finds the bounds of columns by rows among the elements that have a sum: those of the sum may say
/// them without words, as `j <= k <= i` does.
fn of_target(
    domain: &Relation,
    kinds: &[LoopKind],
    places: [usize; 2],
    budget: &Budget,
) -> Result<Option<[Option<Slope>; 2]>, Error> {
    let target = without_sums(domain, kinds, budget)?.coalesce(budget)?;
    let target = target.remove_redundancies(budget)?;
    let [part] = &target.narrow_conjunctions()?[..] else { return Ok(None) };
    let before = |at: usize| kinds[..at].iter().filter(|kind| **kind != LoopKind::Reduced).count();
    let [row, column] = places.map(before);
    Ok(match part.divisions.is_empty() {
        true => sloped(part, domain.space().params.len(), row, column),
        false => None,
    })
}

/// Finds the bounds of a loop, `of`, that depend on another one; nothing if there are several of a
/// side, or one depends on a third loop.
fn sloped(
    part: &Conjunction<i128>,
    params: usize,
    by: usize,
    of: usize,
) -> Option<[Option<Slope>; 2]> {
    let (by, of) = (1 + params + by, 1 + params + of);
    let mut sides = [None, None];
    for line in part.inequalities.iter().filter(|line| line[by] != 0 && line[of] != 0) {
        let others = line.iter().enumerate().skip(1 + params);
        let alone = others.filter(|(at, value)| **value != 0 && *at != by && *at != of);
        if alone.count() > 0 || line[of].abs() != 1 {
            return None;
        }
        let sign = line[of];
        let affine = line[..=params].iter().map(|value| -sign * value).collect();
        let side = &mut sides[usize::from(sign < 0)];
        if side.replace((affine, -sign * line[by])).is_some() {
            return None;
        }
    }
    Some(sides)
}

/// A reduced loop, and which of two others bounds it on either side.
type Ragged = (Option<usize>, [Option<(usize, Slope)>; 2]);

/// Finds the bounds of a reduced loop that depend on rows or columns; nothing if there are several of
/// a side, or several loops have such bounds.
fn ragged(
    part: &Conjunction<i128>,
    params: usize,
    others: [usize; 2],
    reduced: impl Iterator<Item = usize>,
) -> Option<Ragged> {
    let (mut found, mut sides) = (None, [None, None]);
    for at in reduced {
        for by in others {
            for (side, slope) in sides.iter_mut().zip(sloped(part, params, by, at)?) {
                let Some(slope) = slope else { continue };
                let is_second = found.is_some_and(|other| other != at);
                if is_second || side.replace((by, slope)).is_some() {
                    return None;
                }
                found = Some(at);
            }
        }
    }
    Some((found, sides))
}
