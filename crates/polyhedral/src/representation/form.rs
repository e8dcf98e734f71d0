//! All forms of a schedule by name, for those who choose one while a program runs.

use tangram_presburger::{Budget, Union};

use super::{AffineFunctions, Kelly, Regular};
use crate::{Error, ScheduleTree};

/// A way to write a schedule as a map of instances to points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One point for each instance, all of one length, in lexicographic order.
    Map,
    /// As a map, but an instance may have several points: it runs several times.
    ManyValued,
    /// Kelly's form: points of different lengths.
    Kelly,
    /// The 2d+1 form.
    Regular,
    /// An affine function for each statement; the order of statements is lost.
    Affine,
}

impl Form {
    /// Every form with its name.
    pub const ALL: [(&'static str, Self); 5] = [
        ("map", Self::Map),
        ("many-valued", Self::ManyValued),
        ("kelly", Self::Kelly),
        ("regular", Self::Regular),
        ("affine", Self::Affine),
    ];

    /// Writes a tree in this form.
    ///
    /// # Errors
    /// [`Error::Form`] with the statement that does not have the form.
    pub fn of_tree(self, tree: &ScheduleTree, budget: &Budget) -> Result<Union, Error> {
        match self {
            Self::Map => tree.to_map(budget),
            Self::ManyValued => tree.to_map_of_roots(budget),
            Self::Kelly => Ok(Kelly::of_tree(tree, budget)?.points().clone()),
            Self::Regular => Regular::of_tree(tree, budget)?.points(),
            Self::Affine => {
                let map = tree.to_map(budget)?;
                AffineFunctions::without_order_of_statements(&map, budget)?.points()
            }
        }
    }

    /// Makes a tree of points in this form. Pairs whose order the form leaves open get one:
    /// points of Kelly's form are filled up with zeros, and of affine functions each statement
    /// runs after the one before it.
    ///
    /// # Errors
    /// [`Error::Form`] with the statement that does not have the form, [`Error::ManyValued`] for
    /// an instance of several points in another form than [`Self::ManyValued`].
    pub fn to_tree(self, points: &Union, budget: &Budget) -> Result<ScheduleTree, Error> {
        match self {
            Self::Map => ScheduleTree::from_map(points, budget),
            Self::ManyValued => ScheduleTree::from_map_with_copies(points, budget),
            // Constants tell statements apart, so that of 2d+1 nothing is open.
            Self::Kelly | Self::Regular => Kelly::new(points.clone())?.to_tree_with_zeros(budget),
            Self::Affine => AffineFunctions::without_order_of_statements(points, budget)?
                .to_tree_one_after_another(budget),
        }
    }
}
