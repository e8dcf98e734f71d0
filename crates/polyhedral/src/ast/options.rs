//! How loops are split: options of bands and of schedule maps.

use tangram_presburger::{Relation, Tuple, narrow};

use super::generate::build::{Builder, Next, Surroundings};
use super::generate::unroll_and_jam::Jam;
use crate::{Error, NodeKind};

/// The most iterations that run side by side: code grows with each.
pub(super) const JAM_LIMIT: i128 = 64;

/// What generation may do beyond what the schedule says.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct AstOptions {
    /// The most iterations that an `unroll` option writes out; longer loops stay loops.
    pub unroll_limit: usize,
    /// The mark below which nothing is generated: instances that reach it are called, as groups
    /// of those below an expansion.
    pub outlined: Option<&'static str>,
    /// Whether conditions on parameters stand in front of loops that would go through iterations in
    /// which nothing runs where they do not hold; else inner loops and conditions alone say them.
    pub guard_idle_loops: bool,
}

impl Default for AstOptions {
    fn default() -> Self {
        Self { unroll_limit: 1024, outlined: None, guard_idle_loops: false }
    }
}

/// Where each option holds: sets over the dimensions up to the current one.
#[derive(Debug, Default)]
pub(super) struct Kinds {
    pub atomic: Option<Relation>,
    pub unroll: Option<Relation>,
    pub separate: Option<Relation>,
}

impl Kinds {
    fn put(&mut self, name: &str, set: Relation) {
        let place = match name {
            "atomic" => &mut self.atomic,
            "unroll" => &mut self.unroll,
            "separate" => &mut self.separate,
            _ => return,
        };
        *place = match place.take() {
            Some(old) => old.union(&set).ok().or(Some(old)),
            None => Some(set),
        };
    }
}

impl Builder<'_> {
    /// Returns the options of the dimension after the outer ones.
    pub fn kinds(&self, place: &Surroundings, next: Next, isolated: bool) -> Result<Kinds, Error> {
        match next {
            Next::Member { band, member } => self.band_kinds(place, band, member, isolated),
            Next::Dimension { total } => self.map_kinds(place, total),
        }
    }

    fn band_kinds(
        &self,
        place: &Surroundings,
        band: crate::Node,
        member: usize,
        isolated: bool,
    ) -> Result<Kinds, Error> {
        let mut kinds = Kinds::default();
        let Some(NodeKind::Band(band)) = self.tree.map(|tree| tree.kind(band)) else {
            return Ok(kinds);
        };
        for set in band.options.relations().filter(|set| set.is_set()) {
            let tuple = &set.space().output;
            let name = match tuple.sides() {
                Some((left, right)) if isolated && left.name == "isolate" => right.name,
                Some(_) => continue,
                None if isolated && has_isolated_kinds(band) => continue,
                None => tuple.name.clone(),
            };
            if tuple.dims.len() == 1 && self.holds_at(set, member)? {
                kinds.put(&name, Relation::universe(self.space(place.depth + 1)));
            }
        }
        Ok(kinds)
    }

    /// Returns whether a set of one dimension holds `value` for some parameters.
    fn holds_at(&self, set: &Relation, value: usize) -> Result<bool, Error> {
        let mut cell = super::basic_set::BasicSet::universe(set.space().params.len() + 1);
        let mut row = vec![0; cell.cols()];
        let last = row.len() - 1;
        (row[0], row[last]) = (-(value as i128), 1);
        cell.part.equalities.push(row);
        let at = cell.relation(set.space().clone())?;
        Ok(!set.is_disjoint(&at, self.budget)?)
    }

    fn map_kinds(&self, place: &Surroundings, total: usize) -> Result<Kinds, Error> {
        let mut kinds = Kinds::default();
        for map in self.map_options.relations() {
            let space = map.space();
            let plain = space.input.as_ref().is_some_and(|tuple| tuple.dims.len() == total);
            if !plain || space.output.dims.len() != 1 || space.output.nested.is_some() {
                continue;
            }
            let name = space.output.name.clone();
            let mut cell = super::basic_set::BasicSet::universe(space.params.len() + total + 1);
            let mut row = vec![0; cell.cols()];
            let last = row.len() - 1;
            (row[0], row[last]) = (-(place.depth as i128), 1);
            cell.part.equalities.push(row);
            let at = map.intersect(&cell.relation(space.clone())?, self.budget)?;
            let set = at.domain(self.budget)?.align_params(&self.params)?;
            let set = set.project_out(place.depth + 1..total, self.budget)?;
            if !set.is_empty(self.budget)? {
                kinds.put(&name, set.cast(None, Tuple::anonymous(place.depth + 1))?);
            }
        }
        Ok(kinds)
    }

    /// Returns how many iterations of a member are to run side by side, if a band says so.
    ///
    /// An option `jam[m, f]` asks for `f` iterations of member `m`, `interleave[m, f]` for
    /// iterations that may run in any order.
    pub fn jam_of(&self, next: Next) -> Result<Option<Jam>, Error> {
        let Next::Member { band, member } = next else { return Ok(None) };
        let Some(NodeKind::Band(band)) = self.tree.map(|tree| tree.kind(band)) else {
            return Ok(None);
        };
        for set in band.options.relations().filter(|set| set.is_set()) {
            let space = set.space();
            let free = space.output.name == "interleave";
            let known = free || space.output.name == "jam";
            if !known || space.output.dims.len() != 2 || !space.params.is_empty() {
                continue;
            }
            for point in set.points(self.budget)? {
                if let [at, factor] = narrow(&point)?[..]
                    && at == member as i128
                    && (2..=JAM_LIMIT).contains(&factor)
                {
                    return Ok(Some(Jam { factor, free }));
                }
            }
        }
        Ok(None)
    }

    /// Returns the points that a band isolates, over all its members.
    pub fn isolated_set(&self, next: Next, depth: usize) -> Result<Option<Relation>, Error> {
        let Next::Member { band, member } = next else { return Ok(None) };
        let Some(NodeKind::Band(band)) = self.tree.map(|tree| tree.kind(band)) else {
            return Ok(None);
        };
        let found = band.options.relations().find_map(|set| {
            let tuple = &set.space().output;
            let (outer, inner) =
                tuple.sides().filter(|_| tuple.name == "isolate" && set.is_set())?;
            Some((set, outer.dims.len(), inner.dims.len()))
        });
        let Some((set, outer, inner)) = found else { return Ok(None) };
        // Without outer dimensions it holds whatever these are.
        let free = if outer == 0 { depth - member } else { 0 };
        let (params, dims) = (self.params.len(), outer + inner);
        let to: Vec<usize> = (0..params).chain((0..dims).map(|i| params + free + i)).collect();
        let set = set.align_params(&self.params)?;
        Ok(Some(set.placed(self.space(free + dims), &to)?))
    }
}

fn has_isolated_kinds(band: &crate::Band) -> bool {
    band.options
        .relations()
        .any(|set| set.space().output.sides().is_some_and(|(left, _)| left.name == "isolate"))
}
