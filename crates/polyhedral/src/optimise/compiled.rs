//! What compilers make of loops as they are written.
//!
//! A compiler unrolls inner loops of few iterations whole. What is left is one body in the loop around
//! these, and if iterations of that loop are free of each other, vectors run it: a sum in a variable is a
//! register then, and takes no memory.
//!
//! ```c
//! for (int x = 0; x < n; x++) {         // the innermost loop that is left: vectors run it
//!     float s = 0;
//!     for (int u = 0; u < 3; u++)       // 9 additions to a register
//!         for (int v = 0; v < 3; v++) s += in[u][x + v] * w[u][v];
//!     out[x] = s;
//! }
//! ```
//!
//! New loops have to beat this, not the innermost loop of the text.
//!
//! # Source
//! GCC's parameters `max-completely-peel-times` and `max-completely-peeled-insns`, LLVM's
//! `-unroll-full-max-count` and `-unroll-threshold`. Divergence: one limit for both, on iterations, as
//! operations are not counted here; GCC runs somewhat longer loops inside vectors as they are.

use tangram_presburger::{Budget, Union};

use super::cost::{Along, Costs, Form, Jam, costs, shortness};
use super::rates::Rates;
use super::stride::{self, Accesses};
use crate::scop::{Basis, Kind, Scop};
use crate::{Error, Node, NodeKind, ScheduleTree, legality};

/// Iterations of all loops that are unrolled around a statement, together.
const UNROLLED: i128 = 32;

/// A loop around a statement: a member of a band.
#[derive(Debug, Clone, Copy)]
struct Level {
    band: Node,
    member: usize,
}

/// What a compiler leaves of the loops around a leaf.
struct Left {
    /// Loops that are unrolled, innermost first, with their iterations.
    unrolled: Vec<(Level, i128)>,
    /// The innermost loop that is left.
    inner: Option<Level>,
}

impl Scop {
    /// Estimates what an instance of each statement costs as compilers run the source.
    pub(super) fn compiled_costs(
        &self,
        accesses: &Accesses,
        rates: &Rates,
        budget: &Budget,
    ) -> Result<Costs, Error> {
        let mut all = Costs::new();
        let mut flow = None;
        for leaf in self.schedule.nodes() {
            if matches!(self.schedule.kind(leaf), NodeKind::Leaf) {
                let left = left(&self.schedule, leaf, budget)?;
                all.extend(self.left_costs(leaf, &left, (accesses, rates), &mut flow, budget)?);
            }
        }
        Ok(all)
    }

    fn left_costs(
        &self,
        leaf: Node,
        left: &Left,
        (accesses, rates): (&Accesses, &Rates),
        flow: &mut Option<Union>,
        budget: &Budget,
    ) -> Result<Costs, Error> {
        let tree = &self.schedule;
        let Some(inner) = left.inner else { return Ok(Costs::new()) };
        let own = tree.active(leaf, budget)?;
        let along = |level: Level| -> Result<Vec<Along>, Error> {
            let at = (level.band, level.member);
            let next = stride::next_at_leaf(tree, leaf, at, budget)?;
            accesses.along(&next.intersect_domain(&own, budget)?, budget)
        };
        let inside = along(inner)?;
        let mut levels = Vec::new();
        for (level, times) in &left.unrolled {
            levels.push((along(*level)?, *times));
        }
        let Some((first, times)) = levels.first() else {
            return Ok(costs(rates, &inside, true, &[], Form::Source));
        };
        // Compilers may leave a short loop to vectors, too.
        let mut as_it_is = costs(rates, first, true, &[], Form::Source);
        let more = shortness(rates, Some(*times), true);
        as_it_is.values_mut().for_each(|cost| *cost *= more);
        let jams: Vec<Jam<'_>> =
            levels.iter().map(|(along, times)| (along.as_slice(), *times, false)).collect();
        let form = match self.carries_a_variable(inner, &own, flow, budget)? {
            true => Form::Source,
            false => Form::Unrolled,
        };
        let mut unrolled = costs(rates, &inside, true, &jams, form);
        for (statement, cost) in as_it_is {
            let own = unrolled.entry(statement).or_insert(cost);
            *own = own.min(cost);
        }
        Ok(unrolled)
    }

    /// Says whether an iteration of a loop reads what an earlier one left in a variable.
    fn carries_a_variable(
        &self,
        level: Level,
        instances: &Union,
        flow: &mut Option<Union>,
        budget: &Budget,
    ) -> Result<bool, Error> {
        let tree = &self.schedule;
        if flow.is_none() {
            *flow = Some(self.flow_by_variables(budget)?);
        }
        let Some(flow) = flow else { return Ok(false) };
        let mut pairs = flow.intersect_domain(instances, budget)?;
        for node in std::iter::successors(tree.parent(level.band), |node| tree.parent(*node)) {
            if let NodeKind::Band(band) = tree.kind(node) {
                for member in &band.members {
                    pairs = legality::together(&pairs, &member.schedule, budget)?;
                }
            }
        }
        let NodeKind::Band(band) = tree.kind(level.band) else { return Ok(false) };
        for member in &band.members[..level.member] {
            pairs = legality::together(&pairs, &member.schedule, budget)?;
        }
        let same = legality::together(&pairs, &band.members[level.member].schedule, budget)?;
        Ok(!pairs.is_subset(&same, budget)?)
    }

    /// Relates instances to those that read what they leave in a variable.
    fn flow_by_variables(&self, budget: &Budget) -> Result<Union, Error> {
        let names: Vec<&str> = self
            .arrays
            .iter()
            .filter(|array| array.extents.is_empty() && !array.shared)
            .map(|array| array.name.as_str())
            .collect();
        let is_written =
            |name: &&str| self.may_writes.relations().any(|map| map.space().output.name == **name);
        if !names.iter().any(is_written) {
            return Ok(Union::empty());
        }
        let own = self.accessing(&names)?;
        own.dependences(Kind::Flow, Basis::Value, budget)?.pairs(budget)
    }
}

/// Finds out which loops around a leaf are unrolled.
fn left(tree: &ScheduleTree, leaf: Node, budget: &Budget) -> Result<Left, Error> {
    let mut unrolled = Vec::new();
    let mut times = 1;
    for band in std::iter::successors(tree.parent(leaf), |node| tree.parent(*node)) {
        let NodeKind::Band(loops) = tree.kind(band) else { continue };
        for member in (0..loops.members.len()).rev() {
            let level = Level { band, member };
            let own = stride::few_iterations(tree, band, member, UNROLLED / times, budget)?;
            let Some(own) = own else { return Ok(Left { unrolled, inner: Some(level) }) };
            times *= own.max(1);
            unrolled.push((level, own.max(1)));
        }
    }
    // Where all is unrolled, the outermost loop says how accesses go.
    let inner = unrolled.pop().map(|(level, _)| level);
    Ok(Left { unrolled, inner })
}
