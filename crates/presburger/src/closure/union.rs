//! Paths through several spaces.

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use super::repeated;
use crate::union::{TupleKey, tuple_key};
use crate::{Budget, Error, Relation, Space, Tuple, Union};

impl Union {
    /// Relates `x` to `y` where one or more steps, in any spaces, lead from `x` to `y`.
    ///
    /// Returns a superset, and whether it is exact.
    ///
    /// # Errors
    /// [`Error::Space`] if there is a set.
    pub fn transitive_closure(&self, budget: &Budget) -> Result<(Self, bool), Error> {
        let mut tuples: BTreeMap<TupleKey, Tuple> = BTreeMap::new();
        for piece in self.relations() {
            let Some(input) = &piece.space().input else { return Err(piece.not_a_relation()) };
            for tuple in [input, &piece.space().output] {
                tuples.entry(tuple_key(tuple)).or_insert_with(|| tuple.clone());
            }
        }
        let (mut all, mut exact) = (self.clone(), true);
        for tuple in tuples.values() {
            let space = Space::map(Vec::new(), tuple.clone(), tuple.clone());
            let rest = match all.get(&space) {
                Some(loops) => {
                    let (closed, is_exact) = loops.transitive_closure(budget)?;
                    exact &= is_exact;
                    Self::from(closed)
                }
                None => Self::empty(),
            };
            // Paths through this tuple: into it, any number of loops, out of it.
            let here = Self::from(Relation::universe(Space::set(Vec::new(), tuple.clone())));
            let into = all.intersect_range(&here, budget)?;
            let out = all.intersect_domain(&here, budget)?;
            let into = into.union(&into.apply_range(&rest, budget)?)?;
            all = all.union(&rest)?.union(&into.apply_range(&out, budget)?)?.union(&into)?;
            all = all.union(&rest.apply_range(&out, budget)?)?.coalesce(budget)?;
        }
        Ok((all, exact))
    }

    /// Composes the relations with one another: `count` steps, at least one.
    ///
    /// # Errors
    /// [`Error::Space`] if there is a set.
    pub fn fixed_power(&self, count: NonZeroU64, budget: &Budget) -> Result<Self, Error> {
        if let Some(set) = self.relations().find(|piece| piece.is_set()) {
            return Err(set.not_a_relation());
        }
        repeated(self.clone(), count, |first, then| first.apply_range(then, budget))
    }
}
