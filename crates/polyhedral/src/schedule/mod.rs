//! Computing schedules: which order of the instances is best among the legal ones.
//!
//! Statements that depend on each other in a cycle get bands together; a band is as many
//! independent rows as keep all pairs in order whatever the order of the rows, those that
//! keep coincident pairs together first. Pairs that a band takes apart are out of the way of
//! what is inside it. Where no row is independent, one that carries as many pairs as it can
//! comes in between.
//!
//! ```text
//! for i, j, k: C[i][j] += A[i][k] * B[k][j]
//! ```
//!
//! gets one permutable band `[i, j, k]` in which `i` and `j` are coincident.
//!
//! # Source
//! Pluto (Bondhugula et al., PLDI 2008); P. Feautrier, "Some efficient solutions to the
//! affine scheduling problem" (1992); S. Verdoolaege, "Scheduling for PPCG" (2017).
//! Divergence: conditional validity counts as validity.

mod align;
mod band;
mod build;
mod cluster;
pub(crate) mod components;
mod constraints;
mod generators;
mod graph;
mod integer_program;
mod linear;
mod offsets;
mod places;
mod projection;
mod search;
mod shared;

pub use constraints::Constraints;

use tangram_presburger::{Budget, Union};

use crate::{Error, ScheduleTree, legality};

/// How rows are chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// Permutable bands with short distances.
    #[default]
    Pluto,
    /// Each row carries as many pairs as it can, for parallel inner loops.
    Feautrier,
}

/// Which statements share loops.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Fusion {
    /// Only those that depend on each other in a cycle.
    None,
    /// Those that lose neither parallel nor permutable loops by it and come close.
    #[default]
    Smart,
    /// All that can.
    Max,
}

/// What a schedule should be like.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// How rows are chosen.
    pub algorithm: Algorithm,
    /// Which statements share loops.
    pub fusion: Fusion,
    /// Whether a band whose first row is not coincident gives way to a carrying row.
    pub outer_coincidence: bool,
    /// The largest coefficient of a dimension in a permutable band.
    pub max_coefficient: Option<i128>,
}

/// A schedule and how it came about.
#[derive(Debug, Clone)]
pub struct Scheduled {
    /// The schedule, checked against the constraints.
    pub tree: ScheduleTree,
    /// Why the tree is the original one: no better schedule was found.
    pub fallback: Option<Error>,
}

impl Constraints {
    /// Computes a schedule.
    ///
    /// The result is checked: every validity pair runs in its order, coincident members
    /// keep coincident pairs together, permutable bands carry nothing backwards. With
    /// `original`, a schedule that cannot be found within the budget falls back to it.
    /// Deterministic. Integer programs have a few unknowns for each statement of a cluster.
    ///
    /// # Errors
    /// [`Error::Unschedulable`] if no affine schedule is found, [`Error::Presburger`] if the
    /// budget ends, each only without `original`.
    pub fn schedule(
        &self,
        options: &Options,
        original: Option<&ScheduleTree>,
        budget: &Budget,
    ) -> Result<Scheduled, Error> {
        let outcome = build::tree(self, options, budget).and_then(|tree| {
            self.check(&tree, budget)?;
            Ok(tree)
        });
        match (outcome, original) {
            (Ok(tree), _) => Ok(Scheduled { tree, fallback: None }),
            (Err(error), Some(original)) => {
                Ok(Scheduled { tree: original.clone(), fallback: Some(error) })
            }
            (Err(error), None) => Err(error),
        }
    }

    /// Checks that a tree keeps to the constraints.
    ///
    /// # Errors
    /// [`Error::Illegal`] with the node that takes a pair out of its order.
    pub fn check(&self, tree: &ScheduleTree, budget: &Budget) -> Result<(), Error> {
        let within = |union: &Union| -> Result<Union, Error> {
            let inside = union.intersect_domain(&self.domain, budget)?;
            let inside = inside.intersect_range(&self.domain, budget)?;
            Ok(match &self.context {
                Some(context) => inside.intersect_params(context, budget)?,
                None => inside,
            })
        };
        let validity = within(&self.validity.union(&self.conditional_validity)?)?;
        legality::check(tree, &validity, &within(&self.coincidence)?, budget)
    }
}
