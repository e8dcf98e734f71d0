//! Unrolling: the values of a dimension one by one.

use tangram_presburger::Relation;

use super::bounds::{Level, Shared, shared};
use crate::Error;
use crate::ast::basic_set::{BasicSet, Linear, negated};
use crate::ast::generate::build::{Builder, Surroundings};
use crate::ast::separation::pieces::Domain;

impl Builder<'_> {
    /// Splits the points in `within` by their distance from a lower bound.
    ///
    /// Returns nothing if there is no bound from which the distance is limited.
    pub fn slices(
        &self,
        domains: &[Domain],
        within: &Relation,
        place: &Surroundings,
    ) -> Result<Option<Vec<Relation>>, Error> {
        let (depth, col) = (place.depth + 1, self.col(place.depth));
        let known = place.known.widened(self.vars(depth));
        let mut levels = Vec::new();
        for level in domains.iter().flat_map(|domain| &domain.levels) {
            for part in BasicSet::all_of(within)? {
                let mut cell = level.cell.clone();
                cell.join(&part);
                if !self.is_empty(&cell, &known, depth)? {
                    levels.push(Level { cell, stride: level.stride.clone() });
                }
            }
        }
        if levels.is_empty() {
            return Ok(Some(Vec::new()));
        }
        let shared = shared(&levels, &known, col, self.budget)?;
        let mut best: Option<(i128, Linear)> = None;
        let class = self.class_start(&shared, &levels, &known, col)?;
        for start in class.into_iter().chain(self.starts(&shared, col)) {
            let mut most = Some(0);
            for level in &levels {
                let mut cell = level.cell.clone();
                cell.join(&known);
                let mut distance = negated(&cell.row_of(&start));
                distance[col] += 1;
                let (_, high) = cell.relaxation(self.budget)?.range(&distance, self.budget)?;
                most = most.zip(high.and_then(|high| high.to_i128())).map(|(a, b)| a.max(b));
            }
            if let Some(most) = most.filter(|most| best.as_ref().is_none_or(|old| most < &old.0)) {
                best = Some((most, start));
            }
        }
        let step = shared.stride.as_ref().map_or(1, |stride| stride.modulus.max(1));
        let limit = self.options.unroll_limit as i128;
        let Some((most, start)) = best.filter(|(most, _)| most / step < limit) else {
            return Ok(None);
        };
        let mut slices = Vec::new();
        for index in 0..=most / step {
            let mut value = start.clone();
            value.row[0] += index * step;
            let mut slice = BasicSet::universe(self.vars(depth));
            slice.fix(col, &value);
            let slice = slice.relation(self.space(depth))?.intersect(within, self.budget)?;
            slices.push(slice);
        }
        Ok(Some(slices))
    }

    /// Returns the first value of a residue class that no level is before, if it has no division.
    fn class_start(
        &self,
        shared: &Shared,
        levels: &[Level],
        known: &BasicSet,
        col: usize,
    ) -> Result<Option<Linear>, Error> {
        let Some(stride) = shared.stride.as_ref().filter(|stride| stride.modulus > 1) else {
            return Ok(None);
        };
        let mut start = stride.offset.clone();
        let vars = start.row.len() - 1 - start.divisions.len();
        if start.row[1 + vars..].iter().any(|v| *v != 0) {
            return Ok(None);
        }
        let mut least = Some(i128::MAX);
        for level in levels {
            let mut cell = level.cell.clone();
            cell.join(known);
            let mut distance = negated(&cell.row_of(&start));
            distance[col] += 1;
            let low = cell.relaxation(self.budget)?.range(&distance, self.budget)?.0;
            least = least.zip(low.and_then(|low| low.to_i128())).map(|(a, b)| a.min(b));
        }
        let step = stride.modulus;
        Ok(least.and_then(|least| least.checked_add(step - 1)).map(|least| {
            start.row[0] += least.div_euclid(step) * step;
            start
        }))
    }

    /// Returns first values, in the residue class of the loop.
    fn starts(&self, shared: &Shared, col: usize) -> Vec<Linear> {
        let value = shared.value(col);
        let rows = shared.cell.part.inequalities.iter().filter(|row| row[col] > 0);
        value.into_iter().chain(rows.map(|row| shared.first(row, col))).collect()
    }
}
