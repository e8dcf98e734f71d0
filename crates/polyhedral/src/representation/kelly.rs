//! Kelly's form: constants between iterators, and tuples as long as they need to be.

use std::fmt;

use tangram_presburger::{Budget, Union};

use super::row::all_padded;
use crate::schedule_tree::from_map::statement;
use crate::{Error, ScheduleTree};

/// A schedule whose statements have points of different lengths.
///
/// Points are compared up to the shorter one: where that is all of it, the order of two
/// instances is open.
#[derive(Debug, Clone)]
pub struct Kelly(Union);

impl Kelly {
    /// Takes a map from instances to points, each statement with points of one length.
    ///
    /// # Errors
    /// [`Error::Form`] for a statement with points of several lengths, or without points.
    pub fn new(map: Union) -> Result<Self, Error> {
        let mut seen: Vec<String> = Vec::new();
        for relation in map.relations() {
            let statement = statement(relation);
            if relation.space().is_set() || seen.contains(&statement) {
                let expected = "a relation to points of one length";
                return Err(Error::Form { statement, expected });
            }
            seen.push(statement);
        }
        Ok(Self(map))
    }

    /// Parses isl's notation: `{ S[i] -> [i, 0]; T[i, j] -> [i, 1, j] }`.
    ///
    /// # Errors
    /// [`Error::Presburger`] with the place; as [`Self::new`].
    pub fn parse(text: &str, budget: &Budget) -> Result<Self, Error> {
        Self::new(Union::parse(text, budget)?)
    }

    /// Takes the order of a tree: positions in sequences and sets, members of bands.
    ///
    /// Lost is what [`ScheduleTree::to_map`] loses.
    ///
    /// # Errors
    /// [`Error::Form`] for a statement at several leaves of different depth, and
    /// [`Error::Presburger`] if the budget ends.
    pub fn of_tree(tree: &ScheduleTree, budget: &Budget) -> Result<Self, Error> {
        let mut all = Union::empty();
        for leaf in tree.leaf_maps(budget)? {
            all = all.union(&leaf)?;
        }
        Self::new(all)
    }

    /// Takes the order of a union map; dimensions that order nothing fall away.
    ///
    /// # Errors
    /// As [`ScheduleTree::from_map`] and [`Self::of_tree`].
    pub fn of_map(map: &Union, budget: &Budget) -> Result<Self, Error> {
        Self::of_tree(&ScheduleTree::from_map(map, budget)?, budget)
    }

    /// Returns the points, of different lengths.
    pub fn points(&self) -> &Union {
        &self.0
    }

    /// Fills points up with zeros to a union map: pairs whose order was open get one.
    ///
    /// # Errors
    /// [`Error::Presburger`] if the budget ends.
    pub fn to_map_with_zeros(&self, budget: &Budget) -> Result<Union, Error> {
        all_padded(&self.0, budget)
    }

    /// Makes a tree; as [`Self::to_map_with_zeros`], pairs whose order was open get one.
    ///
    /// # Errors
    /// As [`ScheduleTree::from_map`].
    pub fn to_tree_with_zeros(&self, budget: &Budget) -> Result<ScheduleTree, Error> {
        ScheduleTree::from_map(&self.to_map_with_zeros(budget)?, budget)
    }
}

impl fmt::Display for Kelly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
