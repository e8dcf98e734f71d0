//! Local variables of which each thread can have its own.
//!
//! A variable that is declared inside a part has no value behind it. If, in addition, each
//! value that is read in an iteration of a parallel loop was written in that iteration, then
//! iterations need not wait for each other to use the same cell: only values count.
//!
//! ```text
//! for i: { double t = A[i]; B[i] = t * t; }     parallel, with a `t` for each thread
//! ```
//!
//! The order itself still keeps all dependences, so that one copy for all iterations of a
//! thread is enough: no value is overwritten before its last use.

use tangram_presburger::{Budget, Relation, Union};

use crate::scop::{Basis, Kind, Scop};
use crate::{Error, Node, NodeKind, ScheduleTree, legality};

impl Scop {
    /// Names the local arrays whose values all come from inside the part, and of which a thread can have
    /// one.
    ///
    /// # Errors
    /// [`Error::Presburger`] if the budget ends.
    pub fn privatisable(&self, budget: &Budget) -> Result<Vec<String>, Error> {
        let local = self.arrays.iter().filter(|array| array.local && !array.kept && !array.shared);
        let names: Vec<String> = local.map(|array| array.name.clone()).collect();
        if names.is_empty() {
            return Ok(names);
        }
        let mut live = Vec::new();
        for relation in self.live_in(budget)?.relations() {
            if !relation.is_empty(budget)? {
                live.push(relation.space().output.name.clone());
            }
        }
        Ok(names.into_iter().filter(|name| !live.contains(name)).collect())
    }

    /// Returns the pairs that keep a parallel loop from being one, if each iteration has its
    /// own copies of the `private` arrays: those of flow, and others on other arrays.
    pub(crate) fn without_private(
        &self,
        private: &[String],
        budget: &Budget,
    ) -> Result<Union, Error> {
        let mut pairs = self.dependences(Kind::Flow, Basis::Value, budget)?.pairs(budget)?;
        for kind in [Kind::Anti, Kind::Output] {
            let mut found = self.dependences(kind, Basis::Value, budget)?;
            let shared = |relation: &&Relation| !private.iter().any(|name| is_of(relation, name));
            found.tagged = Union::collect(found.tagged.relations().filter(shared).cloned())?;
            pairs = pairs.union(&found.pairs(budget)?)?;
        }
        Ok(pairs)
    }

    /// Returns whether, in all parallel loops of a tree, values of the arrays stay within an
    /// iteration of the loop that writes them.
    pub(super) fn stays_private(
        &self,
        tree: &ScheduleTree,
        private: &[String],
        budget: &Budget,
    ) -> Result<bool, Error> {
        let flow = self.dependences(Kind::Flow, Basis::Value, budget)?;
        for name in private {
            let own = flow.tagged.relations().filter(|relation| is_of(relation, name));
            let mut own_flow = flow.clone();
            own_flow.tagged = Union::collect(own.cloned())?;
            let pairs = own_flow.pairs(budget)?;
            let writes = self.may_writes.relations().filter(|w| w.space().output.name == *name);
            let writers = Union::collect(writes.cloned())?.domain(budget)?;
            for node in tree.nodes() {
                if !stays_within(tree, node, &pairs, &writers, budget)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

/// Returns whether a tagged dependence is one on cells of an array.
pub(super) fn is_of(tagged: &Relation, name: &str) -> bool {
    tagged.space().output.nested.as_ref().is_some_and(|sides| sides.1.name == name)
}

fn stays_within(
    tree: &ScheduleTree,
    node: Node,
    pairs: &Union,
    writers: &Union,
    budget: &Budget,
) -> Result<bool, Error> {
    let NodeKind::Band(band) = tree.kind(node) else { return Ok(true) };
    if band.members.iter().all(|member| !member.coincident) {
        return Ok(true);
    }
    let active = tree.active(node, budget)?;
    // A loop that alone writes what is read behind it leaves its values in copies as well.
    let (into, out_of) =
        (pairs.intersect_range(&active, budget)?, pairs.intersect_domain(&active, budget)?);
    let touching = into.union(&out_of)?;
    if touching.is_empty(budget)? || writers.intersect(&active, budget)?.is_empty(budget)? {
        return Ok(true);
    }
    let mut left = into.intersect_domain(&active, budget)?;
    for above in std::iter::successors(tree.parent(node), |node| tree.parent(*node)) {
        if let NodeKind::Band(outer) = tree.kind(above) {
            for member in &outer.members {
                left = legality::together(&left, &member.schedule, budget)?;
            }
        }
    }
    for member in &band.members {
        left = legality::together(&left, &member.schedule, budget)?;
        if member.coincident && !touching.is_subset(&left, budget)? {
            return Ok(false);
        }
    }
    Ok(true)
}
