//! One affine function for each statement.

use std::fmt;

use tangram_presburger::{Budget, Relation, Union};

use super::row::{row, schedule};
use super::{Kelly, Regular, RegularStatement};
use crate::schedule_tree::from_map::{choice, statement};
use crate::{Error, ScheduleTree};

/// An affine function for each statement, in its own loops.
///
/// Orders the instances of one statement in one nest, and says nothing of two statements.
#[derive(Debug, Clone, Default)]
pub struct AffineFunctions {
    /// Instances and rows `[constant, params.., dims..]` for each loop, outermost first.
    statements: Vec<(Relation, Vec<Vec<i128>>)>,
}

impl AffineFunctions {
    /// Takes the functions of a union map or of Kelly's points; dimensions in which a
    /// statement has a constant, which order it among others, are lost.
    ///
    /// # Errors
    /// [`Error::Form`] for a statement that is not scheduled by an affine function.
    pub fn without_order_of_statements(map: &Union, budget: &Budget) -> Result<Self, Error> {
        let mut statements = Vec::new();
        for relation in map.relations() {
            let length = relation.space().output.dims.len();
            let mut rows = Vec::new();
            for dim in 0..length {
                let Some(row) = row(&relation.apply_range(&choice(dim, length)?, budget)?) else {
                    let expected = "an affine function of its iterators";
                    return Err(Error::Form { statement: statement(relation), expected });
                };
                if row[1..].iter().any(|factor| *factor != 0) {
                    rows.push(row);
                }
            }
            statements.push((relation.domain(budget)?, rows));
        }
        Ok(Self { statements })
    }

    /// Returns the functions as a map, each with as many dimensions as it has.
    ///
    /// # Errors
    /// [`Error::Presburger`] if numbers outgrow 128 bits.
    pub fn points(&self) -> Result<Union, Error> {
        let pieces: Result<Vec<Relation>, Error> =
            self.statements.iter().map(|(domain, rows)| schedule(domain, rows)).collect();
        Ok(Union::collect(pieces?)?)
    }

    /// Makes Kelly's form: the statements' nests run one after the other.
    ///
    /// # Errors
    /// [`Error::Presburger`] if numbers outgrow 128 bits.
    pub fn to_kelly_one_after_another(&self) -> Result<Kelly, Error> {
        let mut pieces = Vec::new();
        for (at, (domain, rows)) in self.statements.iter().enumerate() {
            let space = domain.space();
            let mut first = vec![0; 1 + space.params.len() + space.output.dims.len()];
            first[0] = at as i128;
            let all: Vec<Vec<i128>> = std::iter::once(first).chain(rows.iter().cloned()).collect();
            pieces.push(schedule(domain, &all)?);
        }
        Kelly::new(Union::collect(pieces)?)
    }

    /// Makes the 2d+1 form: the statements' nests run one after the other.
    ///
    /// # Errors
    /// [`Error::Form`] for a statement that has not as many loops as iterators.
    pub fn to_regular_one_after_another(&self) -> Result<Regular, Error> {
        let mut statements = Vec::new();
        for (at, (domain, rows)) in self.statements.iter().enumerate() {
            let tuple = &domain.space().output;
            if tuple.dims.len() != rows.len() {
                let expected = "an affine function for each of its iterators";
                return Err(Error::Form { statement: tuple.name.clone(), expected });
            }
            let mut positions = vec![0; rows.len() + 1];
            positions[0] = at as i128;
            statements.push(RegularStatement {
                domain: domain.clone(),
                positions,
                rows: rows.clone(),
            });
        }
        Ok(Regular { statements })
    }

    /// Makes a union map: the statements' nests run one after the other.
    ///
    /// # Errors
    /// [`Error::Presburger`] if the budget ends.
    pub fn to_map_one_after_another(&self, budget: &Budget) -> Result<Union, Error> {
        self.to_kelly_one_after_another()?.to_map_with_zeros(budget)
    }

    /// Makes a tree: the statements' nests run one after the other.
    ///
    /// # Errors
    /// [`Error::Presburger`] if the budget ends.
    pub fn to_tree_one_after_another(&self, budget: &Budget) -> Result<ScheduleTree, Error> {
        ScheduleTree::from_map(&self.to_map_one_after_another(budget)?, budget)
    }
}

impl fmt::Display for AffineFunctions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        super::show(self.points(), f)
    }
}
