//! Statements of one loop in different residue classes: one iteration runs them all.

use tangram_presburger::{Error as Failure, Relation, Tuple};

use super::build::{Builder, Classes, Executed, Graft, Next, Place};
use super::cell::Cell;
use super::pieces::Domain;
use crate::number::gcd;
use crate::{Error, NodeKind, ScheduleTree};

/// Says whether no node and no option of a tree refers to values of outer dimensions.
pub(super) fn free_dimensions(tree: &ScheduleTree) -> bool {
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

impl Builder<'_> {
    /// Replaces values `m q + c` of the dimension by `q` if every statement has a constant `c`
    /// less than `m`; returns these constants as well.
    ///
    /// The order stays: by `q`, then by `c`. There is nothing to replace if all `c` are the same.
    pub fn residues(
        &self,
        domains: &[Domain],
        place: &Place,
    ) -> Result<Option<(Executed, Classes)>, Error> {
        if domains.len() < 2 || !self.free_dimensions {
            return Ok(None);
        }
        let col = self.col(place.depth);
        let (mut modulus, mut offsets) = (0, Vec::new());
        for domain in domains {
            let mut offset = None;
            for level in &domain.levels {
                let Some(stride) = &level.stride else { return Ok(None) };
                let row = &stride.offset.row;
                let base = *offset.get_or_insert(row[0]);
                let others = row[1..].iter().fold(stride.modulus, |g, v| gcd(g, *v));
                modulus = gcd(gcd(modulus, others), row[0] - base);
            }
            let tuple = &domain.executed.space().output;
            offsets.extend(offset.map(|offset| (tuple.clone(), offset)));
        }
        for (_, offset) in &mut offsets {
            *offset = offset.checked_rem_euclid(modulus).unwrap_or(0);
        }
        let same = offsets.iter().all(|(_, offset)| *offset == offsets[0].1);
        let distinct = (1..offsets.len())
            .all(|index| offsets[..index].iter().all(|(old, _)| *old != offsets[index].0));
        if modulus <= 1 || offsets.len() < domains.len() || same || !distinct {
            return Ok(None);
        }
        let mut result = Executed::new();
        for (domain, (_, offset)) in domains.iter().zip(&offsets) {
            result.push(divided(&domain.executed, col, modulus, *offset)?);
        }
        Ok(Some((result, offsets)))
    }

    /// Generates what comes after a dimension, for one residue after the other.
    pub fn after_classes(
        &mut self,
        executed: &Executed,
        place: &Place,
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
fn divided(map: &Relation, col: usize, modulus: i128, offset: i128) -> Result<Relation, Error> {
    let mut parts = Vec::new();
    for mut cell in Cell::all_of(map)? {
        let divisions = cell.part.divisions.iter_mut().map(|division| &mut division.numerator);
        let rows = cell.part.equalities.iter_mut().chain(&mut cell.part.inequalities);
        for row in divisions.chain(rows) {
            let constant = row[col].checked_mul(offset).and_then(|v| v.checked_add(row[0]));
            let factor = row[col].checked_mul(modulus);
            let (Some(constant), Some(factor)) = (constant, factor) else {
                return Err(Failure::Overflow.into());
            };
            (row[0], row[col]) = (constant, factor);
        }
        parts.push(cell.reduced()?.part);
    }
    Ok(Relation::from_conjunctions(map.space().clone(), &parts)?)
}
