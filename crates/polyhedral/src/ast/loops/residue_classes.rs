//! Statements of one loop in different residue classes: one iteration runs them all.

use tangram_presburger::{Error as Failure, Relation, Tuple, Union};

use super::stride::centred;
use crate::ast::basic_set::{BasicSet, combine};
use crate::ast::generate::build::{Builder, Classes, Executed, Graft, Next, Surroundings};
use crate::ast::separation::pieces::Domain;
use crate::number::gcd;
use crate::{Error, NodeKind, ScheduleTree};

/// Returns whether no node and no option of a tree refers to values of outer dimensions.
pub(in crate::ast) fn free_dimensions(tree: &ScheduleTree) -> bool {
    tree.nodes().all(|node| match tree.kind(node) {
        NodeKind::Band(band) => band.options.relations().all(|option| {
            let space = option.space();
            space.input.is_none() && space.output.name != "isolate"
        }),
        NodeKind::Context(set) | NodeKind::Guard(set) => set.space().output.dims.is_empty(),
        NodeKind::Extension(_) => false,
        _ => true,
    })
}

/// Returns whether no option of a schedule map refers to values of a dimension.
fn is_free(choices: &Union, depth: usize) -> Result<bool, Failure> {
    for option in choices.relations() {
        let col = 1 + option.space().params.len() + depth;
        for cell in BasicSet::all_of(option)? {
            let divisions = cell.part.divisions.iter().map(|division| &division.numerator);
            let mut rows =
                cell.part.equalities.iter().chain(&cell.part.inequalities).chain(divisions);
            if rows.any(|row| row.get(col).is_some_and(|v| *v != 0)) {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

impl Builder<'_> {
    /// Replaces values `m q + b + c` of the dimension by `q` if every statement has a constant `c`
    /// less than `m`, where `b` is one form over outer dimensions; returns these constants as well.
    ///
    /// The order stays: by `q`, then by `c`. There is nothing to replace if all `c` are the same.
    pub fn residues(
        &self,
        domains: &[Domain],
        place: &Surroundings,
    ) -> Result<Option<(Executed, Classes)>, Error> {
        if domains.len() < 2 || !self.free_dimensions || !is_free(&self.map_options, place.depth)? {
            return Ok(None);
        }
        let col = self.col(place.depth);
        let mut base: Option<Vec<i128>> = None;
        let (mut modulus, mut offsets) = (0, Vec::new());
        let mut scratch = BasicSet::universe(self.vars(place.depth + 1));
        for domain in domains {
            let mut offset = None;
            for level in &domain.levels {
                let Some(stride) = &level.stride else { return Ok(None) };
                let row = scratch.row_of(&stride.offset);
                let base = base.get_or_insert_with(|| row.clone());
                let constant = *offset.get_or_insert(row[0]);
                let others = combine(1, &row, -1, base)?;
                modulus = others[1..].iter().fold(gcd(modulus, stride.modulus), |g, v| gcd(g, *v));
                modulus = gcd(modulus, row[0] - constant);
            }
            let tuple = &domain.executed.space().output;
            offsets.extend(offset.map(|offset| (tuple.clone(), offset)));
        }
        let (Some(mut base), true) = (base, modulus > 1) else { return Ok(None) };
        base[0] = 0;
        base.iter_mut().for_each(|v| *v = centred(*v, modulus));
        // Divisions would have to come before those that use the dimension.
        if base[1 + scratch.vars..].iter().any(|v| *v != 0) {
            return Ok(None);
        }
        base.truncate(1 + scratch.vars);
        for (_, offset) in &mut offsets {
            *offset = offset.rem_euclid(modulus);
        }
        let same = offsets.iter().all(|(_, offset)| *offset == offsets[0].1);
        let distinct = (1..offsets.len())
            .all(|index| offsets[..index].iter().all(|(old, _)| *old != offsets[index].0));
        if offsets.len() < domains.len() || same || !distinct {
            return Ok(None);
        }
        let mut result = Executed::new();
        for (domain, (_, offset)) in domains.iter().zip(&offsets) {
            base[0] = *offset;
            result.push(divided(&domain.executed, col, modulus, &base)?);
        }
        Ok(Some((result, offsets)))
    }

    /// Generates what comes after a dimension, for one residue after the other.
    pub fn after_classes(
        &mut self,
        executed: &Executed,
        place: &Surroundings,
        classes: &[(Tuple, i128)],
        next: Next,
    ) -> Result<Vec<Graft>, Error> {
        let class = |map: &Relation| {
            let found = classes.iter().find(|(tuple, _)| *tuple == map.space().output);
            found.map_or(0, |(_, offset)| *offset)
        };
        let mut offsets: Vec<i128> = executed.iter().map(class).collect();
        offsets.sort_unstable();
        offsets.dedup();
        let mut grafts = Vec::new();
        for offset in offsets {
            let part = executed.iter().filter(|map| class(map) == offset).cloned().collect();
            grafts.extend(self.after(&part, place, next)?);
        }
        Ok(grafts)
    }
}

/// Puts `modulus * x + offset` in the place of the variable `x` of a column.
fn divided(map: &Relation, col: usize, modulus: i128, offset: &[i128]) -> Result<Relation, Error> {
    let mut parts = Vec::new();
    for mut cell in BasicSet::all_of(map)? {
        let divisions = cell.part.divisions.iter_mut().map(|division| &mut division.numerator);
        let rows = cell.part.equalities.iter_mut().chain(&mut cell.part.inequalities);
        for row in divisions.chain(rows).filter(|row| row[col] != 0) {
            let factor = row[col];
            *row = combine(1, row, factor, offset)?;
            row[col] = factor.checked_mul(modulus).ok_or(Failure::Overflow)?;
        }
        parts.push(cell.reduced()?.part);
    }
    Ok(Relation::from_conjunctions(map.space().clone(), &parts)?)
}
